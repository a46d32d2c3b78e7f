/* SPDX-License-Identifier: Apache-2.0
 *
 * RotaryPositionEmbeddingGrad. dy, x, dx [..., D]; cos, sin, dcos, dsin [..., R] with some leading
 * axes 1, R <= D. R elements of a row, from the attribute slice_start on, are rotated; of the
 * others dx is dy. Of the R elements the forward is y[j] = cos[j] * x[a(j)] + sin[j] * sign(j) *
 * x[b(j)] with, for h = R / 2 and q = R / 4,
 *
 *   mode              a(j)                              b(j), sign(j)
 *   0 half            j                                 j+h, -1 for j < h;         j-h, +1 for j >=
 * h 1 interleave      j                                 j+1, -1 for even j;        j-1, +1 for odd
 * j 2 quarter         j                                 as half, in [0,R/2) and in [R/2,R) on their
 * own 3 interleave-half 2j for j < h, 2(j-h)+1 else       2j+1, -1 for j < h;        2(j-h), +1 for
 * j >= h
 *
 * so that
 *
 *   dx[a(j)] += cos[j] * dy[j],   dx[b(j)] += sign(j) * sin[j] * dy[j]
 *   dcos[j] = sum of dy[j] * x[a(j)],   dsin[j] = sum of dy[j] * sign(j) * x[b(j)]
 *
 * the sums running over the axes along which cos and sin were broadcast. Without x: dx only, dcos =
 * dsin = 0.
 */
#include <math.h>

#include "reference.h"

struct source {
    int64_t a, b;
    double sign;
};

static struct source source_of(int64_t mode, int64_t d, int64_t j) {
    int64_t h = d / 2, q = d / 4;
    switch (mode) {
    case 0:
        return j < h ? (struct source){j, j + h, -1} : (struct source){j, j - h, 1};
    case 1:
        return j % 2 == 0 ? (struct source){j, j + 1, -1} : (struct source){j, j - 1, 1};
    case 2:
        return j % h < q ? (struct source){j, j + q, -1} : (struct source){j, j - q, 1};
    default:
        return j < h ? (struct source){2 * j, 2 * j + 1, -1}
                     : (struct source){2 * (j - h) + 1, 2 * (j - h), 1};
    }
}

static void add(double *value, double *magnitude, int64_t i, double term) {
    value[i] += term;
    magnitude[i] += fabs(term);
}

static void clear(struct ref_tensor *t) {
    for (int64_t i = 0; i < ascgrad_elements(&t->shape, 0, t->shape.rank); i++) {
        t->value[i] = t->magnitude[i] = 0;
    }
}

void ref_rotary_position_embedding_grad(const struct ref_tensor *in,
                                        const struct ascgrad_attr *attr, struct ref_tensor *out) {
    const struct ref_tensor *dy = &in[0], *cos = &in[1], *sin = &in[2], *x = &in[3];
    int64_t d = dy->shape.dim[dy->shape.rank - 1], r = cos->shape.dim[dy->shape.rank - 1];
    int64_t rows = ascgrad_elements(&dy->shape, 0, dy->shape.rank - 1);
    for (int i = 0; i < 3; i++) {
        clear(&out[i]);
    }
    for (int64_t row = 0; row < rows && d > 0; row++) {
        int64_t first = row * d + attr[1].i;
        const double *g = dy->value + first;
        double *dx = out[0].value + first, *dx_magnitude = out[0].magnitude + first;
        int64_t at = ref_serving_row(&dy->shape, &cos->shape, row) * r;
        for (int64_t j = row * d; j < (row + 1) * d; j++) {
            bool rotated = j >= first && j < first + r;
            out[0].value[j] = rotated ? 0 : dy->value[j];
        }
        for (int64_t j = 0; j < r; j++) {
            struct source from = source_of(attr[0].i, r, j);
            add(dx, dx_magnitude, from.a, cos->value[at + j] * g[j]);
            add(dx, dx_magnitude, from.b, from.sign * sin->value[at + j] * g[j]);
            if (x->present) {
                add(out[1].value, out[1].magnitude, at + j, g[j] * x->value[first + from.a]);
                add(out[2].value, out[2].magnitude, at + j,
                    g[j] * from.sign * x->value[first + from.b]);
            }
        }
    }
}

ascgrad_min_bytes_fn ascgrad_min_bytes_rotary_position_embedding_grad;

uint64_t ascgrad_min_bytes_rotary_position_embedding_grad(const struct ascgrad_node *node) {
    enum { DY, COS, SIN, X };
    return ref_rotary_bytes(node, DY, COS, node->in[X].present);
}
