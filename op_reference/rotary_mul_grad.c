/* SPDX-License-Identifier: Apache-2.0
 *
 * RotaryMulGrad. x, dy, dx [..., D]; r1, r2, dr1, dr2 [..., R] with some leading axes 1, R <= D;
 * h = R / 2. The last D - R elements of a row are not rotated: their dx is dy.
 * The forward is y = r1 * x + r2 * u with u[j] = -x[j+h] for j < h, u[j] = x[j-h] for j >= h.
 *
 *   dx[j] = r1[j] * dy[j] + r2[j+h] * dy[j+h]     j <  h
 *   dx[j] = r1[j] * dy[j] - r2[j-h] * dy[j-h]     j >= h
 *   dr1 = sum of dy * x, dr2 = sum of dy * u      over the axes along which r1 and r2 were
 * broadcast
 *
 * need_backward = false: dx only, dr1 = dr2 = 0.
 */
#include <math.h>

#include "reference.h"

void ref_rotary_mul_grad(const struct ref_tensor *in, const struct ascgrad_attr *attr,
                         struct ref_tensor *out) {
    const struct ref_tensor *x = &in[0], *r1 = &in[1], *r2 = &in[2], *dy = &in[3];
    struct ref_tensor *dx = &out[0], *dr1 = &out[1], *dr2 = &out[2];
    int64_t d = x->shape.dim[x->shape.rank - 1], r = r1->shape.dim[x->shape.rank - 1], h = r / 2;
    int64_t rows = ascgrad_elements(&x->shape, 0, x->shape.rank - 1);
    for (int64_t i = 0; i < ascgrad_elements(&dr1->shape, 0, dr1->shape.rank); i++) {
        dr1->value[i] = dr1->magnitude[i] = dr2->value[i] = dr2->magnitude[i] = 0;
    }
    for (int64_t row = 0; row < rows && d > 0; row++) {
        const double *g = dy->value + row * d, *v = x->value + row * d;
        int64_t at = ref_serving_row(&x->shape, &r1->shape, row) * r;
        const double *c = r1->value + at, *s = r2->value + at;
        for (int64_t j = r; j < d; j++) {
            dx->value[row * d + j] = g[j];
            dx->magnitude[row * d + j] = 0;
        }
        for (int64_t j = 0; j < r; j++) {
            int64_t other = j < h ? j + h : j - h;
            double sign = j < h ? 1 : -1;
            dx->value[row * d + j] = c[j] * g[j] + sign * s[other] * g[other];
            dx->magnitude[row * d + j] = fabs(c[j] * g[j]) + fabs(s[other] * g[other]);
            if (attr[0].i) {
                dr1->value[at + j] += g[j] * v[j];
                dr1->magnitude[at + j] += fabs(g[j] * v[j]);
                dr2->value[at + j] += g[j] * -sign * v[other];
                dr2->magnitude[at + j] += fabs(g[j] * v[other]);
            }
        }
    }
}

ascgrad_min_bytes_fn ascgrad_min_bytes_rotary_mul_grad;

uint64_t ascgrad_min_bytes_rotary_mul_grad(const struct ascgrad_node *node) {
    enum { R1 = 1, DY = 3, NEED_BACKWARD = 0 };
    return ref_rotary_bytes(node, DY, R1, node->attr[NEED_BACKWARD].i != 0);
}
