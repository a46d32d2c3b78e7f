/* SPDX-License-Identifier: Apache-2.0
 *
 * The operators in double precision, written from the formulas, as plainly as possible. Slow on
 * purpose. Each output element comes with the sum of the absolute values of the terms that make it,
 * so that an error can be judged fairly: |err| <= half an ulp of the output type + 2^-20 *
 * magnitude. Beside each one stands the least number of bytes that the operator must move.
 */
#ifndef ASCGRAD_REFERENCE_H
#define ASCGRAD_REFERENCE_H

#include <stdint.h>

#include "../core/node.h"

struct ref_tensor {
    bool present;
    int32_t dtype; /* of the tensor as given; the values are widened exactly */
    struct ascgrad_shape shape;
    double *value;     /* inputs: given; outputs: to be filled */
    double *magnitude; /* outputs only: sum of |terms| */
};

/* in, attr and out by IR index. The shapes and outputs have been checked by infer and tiling
 * already. */
typedef void ref_fn(const struct ref_tensor *in, const struct ascgrad_attr *attr,
                    struct ref_tensor *out);

/* The row of cos that serves row `row` of dy, where axes of size 1 stand still. */
static inline int64_t ref_serving_row(const struct ascgrad_shape *dy,
                                      const struct ascgrad_shape *cos, int64_t row) {
    int64_t found = 0, stride = 1;
    for (uint64_t axis = dy->rank - 1; axis-- > 0;) {
        int64_t at = row % dy->dim[axis];
        row /= dy->dim[axis];
        found += (cos->dim[axis] == 1 ? 0 : at) * stride;
        stride *= cos->dim[axis];
    }
    return found;
}

static inline uint64_t ref_elements(const struct ascgrad_arg *arg) {
    return arg->present ? (uint64_t)ascgrad_elements(arg->shape, 0, arg->shape->rank) : 0;
}

/* Least bytes of both rotary operators: dy, cos, sin in, and with sums x as far as it is rotated;
 * dx, dcos, dsin out, the last two as zeros without sums. */
static inline uint64_t ref_rotary_bytes(const struct ascgrad_node *node, uint32_t dy, uint32_t cos,
                                        bool sums) {
    uint64_t n = ref_elements(&node->in[dy]), c = ref_elements(&node->in[cos]);
    const struct ascgrad_shape *whole = node->in[dy].shape, *table = node->in[cos].shape;
    uint64_t d = (uint64_t)whole->dim[whole->rank - 1], r = (uint64_t)table->dim[table->rank - 1];
    uint64_t x = sums && d > 0 ? n / d * r : 0;
    return (2 * n + x) * ascgrad_dtype_size(node->in[dy].dtype) +
           4 * c * ascgrad_dtype_size(node->in[cos].dtype);
}

/* <op>.c has ref_<op> (ref_fn) and ascgrad_min_bytes_<op> (ascgrad_min_bytes_fn). */

#endif
