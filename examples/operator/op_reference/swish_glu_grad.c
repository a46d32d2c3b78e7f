/* SPDX-License-Identifier: Apache-2.0
 *
 * SwishGluGrad. The forward is y = swish(a) * b with swish(a) = a s(a), s(a) = 1 / (1 + exp(-beta
 * a)): db = dy a s            da = dy b (s + beta a s (1 - s)) [+ accumulated]
 */
#include <math.h>

#include "reference.h"

enum { DY, A, B, ACCUMULATED };

void ref_swish_glu_grad(const struct ref_tensor *in, const struct ascgrad_attr *attr,
                        struct ref_tensor *out) {
    int64_t n = ascgrad_elements(&in[A].shape, 0, in[A].shape.rank);
    double beta = attr[0].f;
    for (int64_t i = 0; i < n; i++) {
        double a = in[A].value[i], b = in[B].value[i];
        double gate = in[DY].value[i] / (1 + exp(-beta * a)); /* dy s */
        double slope = beta * a / (1 + exp(beta * a));        /* beta a (1 - s) */
        double more = in[ACCUMULATED].present ? in[ACCUMULATED].value[i] : 0;
        out[0].value[i] = gate * b * (1 + slope) + more;
        out[0].magnitude[i] = fabs(gate * b) * (1 + fabs(slope)) + fabs(more);
        out[1].value[i] = gate * a;
        out[1].magnitude[i] = fabs(gate * a);
    }
}

ascgrad_min_bytes_fn ascgrad_min_bytes_swish_glu_grad;

/* Every input that is there, and both outputs. */
uint64_t ascgrad_min_bytes_swish_glu_grad(const struct ascgrad_node *node) {
    uint64_t tensors = node->in[ACCUMULATED].present ? 6 : 5;
    return tensors * ref_elements(&node->in[A]) * ascgrad_dtype_size(node->in[A].dtype);
}
