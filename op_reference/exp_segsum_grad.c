/* SPDX-License-Identifier: Apache-2.0
 *
 * ExpSegsumGrad, with M = grad_output * grad_self, elementwise, for each [T, T] matrix:
 *     grad_input[i] = sum over j < i <= k of M[k][j]
 * Only the strict lower triangle takes part: j < i <= k implies j < k.
 */
#include <math.h>

#include "reference.h"

void ref_exp_segsum_grad(const struct ref_tensor *in, const struct ascgrad_attr *attr,
                         struct ref_tensor *out) {
    (void)attr;
    const struct ascgrad_shape *s = &in[0].shape;
    int64_t t = s->dim[s->rank - 1];
    int64_t matrices = t == 0 ? 0 : ascgrad_elements(s, 0, s->rank - 2);

    for (int64_t m = 0; m < matrices; m++) {
        const double *g = in[0].value + m * t * t;
        const double *y = in[1].value + m * t * t;
        double *dx = out[0].value + m * t;
        double *size = out[0].magnitude + m * t;
        for (int64_t i = 0; i < t; i++) {
            dx[i] = 0;
            size[i] = 0;
        }
        /* Row by row: within row k, sum runs over j < i, and every i <= k takes its sum. */
        for (int64_t k = 0; k < t; k++) {
            double sum = 0, abs_sum = 0;
            for (int64_t i = 1; i <= k; i++) {
                double product = g[k * t + i - 1] * y[k * t + i - 1];
                sum += product; /* over j < i */
                abs_sum += fabs(product);
                dx[i] += sum; /* over k >= i */
                size[i] += abs_sum;
            }
        }
    }
}

ascgrad_min_bytes_fn ascgrad_min_bytes_exp_segsum_grad;

/* The strict lower triangles of both matrices, and one row out. */
uint64_t ascgrad_min_bytes_exp_segsum_grad(const struct ascgrad_node *node) {
    const struct ascgrad_shape *s = node->in[0].shape;
    uint64_t t = (uint64_t)s->dim[s->rank - 1];
    uint64_t matrices = t ? (uint64_t)ascgrad_elements(s, 0, s->rank - 2) : 0;
    return matrices * t * t * ascgrad_dtype_size(node->in[0].dtype);
}
