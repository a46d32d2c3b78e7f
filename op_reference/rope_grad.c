/* SPDX-License-Identifier: Apache-2.0
 *
 * RopeGrad. q [tokens, heads * D], k [tokens, kv heads * D], cos, sin [positions, R], h = R / 2; D
 * is the attribute head_size, or R. Token t is at position p: its place in its sequence, plus
 * start_positions of that sequence if the attribute has entries. For every head of q or k, with x
 * and y from its column slice_start on:
 *
 *   default       y[j] = x[j] * (cos[p][j] + sin[p][j+h])               j <  h
 *                 y[j] = x[j] * (cos[p][j] - sin[p][j-h])          h <= j <  R
 *                 all in fp16: the bracket is rounded to fp16, as the operator that set the
 *                 standard does
 *   exact_grad    y[j] = x[j] * cos[p][j] + x[j+h] * sin[p][j+h]        j <  h
 *                 y[j] = x[j] * cos[p][j] - x[j-h] * sin[p][j-h]   h <= j <  R
 *   both          y[j] = x[j]                                      all other j of the head
 */
#include <math.h>
#include <stdlib.h>

#include "reference.h"

/* Nearest fp16, ties to even. */
static double to_half(double v) {
    if (v == 0 || isnan(v) || isinf(v)) {
        return v;
    }
    int exponent;
    frexp(v, &exponent); /* 2^(exponent-1) <= |v| < 2^exponent */
    double ulp = ldexp(1, (exponent < -13 ? -13 : exponent) - 11);
    double rounded = nearbyint(v / ulp) * ulp;
    return fabs(rounded) > 65504 ? copysign(INFINITY, v) : rounded;
}

static void copy(const double *x, int64_t d, double *y, double *magnitude) {
    for (int64_t j = 0; j < d; j++) {
        y[j] = x[j];
        magnitude[j] = 0;
    }
}

/* r columns are rotated. */
static void turn(const double *x, const double *cos, const double *sin, int64_t r, bool exact,
                 bool half, double *y, double *magnitude) {
    int64_t h = r / 2;
    for (int64_t j = 0; j < r; j++) {
        int64_t other = j < h ? j + h : j - h;
        double sign = j < h ? 1 : -1;
        if (exact) {
            y[j] = x[j] * cos[j] + sign * (x[other] * sin[other]);
            magnitude[j] = fabs(x[j] * cos[j]) + fabs(x[other] * sin[other]);
        } else {
            double w = cos[j] + sign * sin[other];
            y[j] = x[j] * (half ? to_half(w) : w);
            magnitude[j] = half ? fabs(y[j]) : fabs(x[j]) * (fabs(cos[j]) + fabs(sin[other]));
        }
    }
}

void ref_rope_grad(const struct ref_tensor *in, const struct ascgrad_attr *attr,
                   struct ref_tensor *out) {
    const struct ref_tensor *cos = &in[2], *sin = &in[3];
    int64_t r = cos->shape.dim[1], d = attr[2].i ? attr[2].i : r, slice = attr[3].i, t = 0;
    bool exact = attr[1].i != 0, half = in[0].dtype == ASCGRAD_FP16 && cos->dtype == ASCGRAD_FP16;
    for (size_t s = 0; s < attr[0].count; s++) {
        int64_t length = ascgrad_list_at(&attr[0], s);
        int64_t start = attr[4].count ? ascgrad_list_at(&attr[4], s) : 0;
        for (int64_t p = start; p < start + length; p++, t++) {
            for (int tensor = 0; tensor < 2; tensor++) { /* q, then k */
                int64_t hidden = in[tensor].shape.dim[1];
                for (int64_t i = t * hidden; i < (t + 1) * hidden; i += d) {
                    const double *x = in[tensor].value + i;
                    double *y = out[tensor].value + i, *magnitude = out[tensor].magnitude + i;
                    copy(x, d, y, magnitude);
                    turn(x + slice, cos->value + p * r, sin->value + p * r, r, exact, half,
                         y + slice, magnitude + slice);
                }
            }
        }
    }
}

ascgrad_min_bytes_fn ascgrad_min_bytes_rope_grad;

struct piece {
    int64_t from, to; /* rows of cos */
};

static int by_begin(const void *a, const void *b) {
    int64_t from = ((const struct piece *)a)->from, other = ((const struct piece *)b)->from;
    return from < other ? -1 : from > other;
}

/* How many rows of cos have a token. */
static int64_t rows_needed(const struct ascgrad_attr *lengths, const struct ascgrad_attr *starts) {
    int64_t rows = 0, done = 0;
    struct piece *all = malloc((lengths->count + 1) * sizeof *all);
    for (size_t i = 0; all && i < lengths->count; i++) {
        all[i].from = starts->count ? ascgrad_list_at(starts, i) : 0;
        all[i].to = all[i].from + ascgrad_list_at(lengths, i);
    }
    if (all) qsort(all, lengths->count, sizeof *all, by_begin);
    for (size_t i = 0; all && i < lengths->count; i++) {
        int64_t from = all[i].from > done ? all[i].from : done;
        rows += all[i].to > from ? all[i].to - from : 0;
        done = all[i].to > done ? all[i].to : done;
    }
    free(all);
    return rows;
}

/* cos and sin are needed where there is a token, once. */
uint64_t ascgrad_min_bytes_rope_grad(const struct ascgrad_node *node) {
    enum { Q, K, COS };
    uint64_t table = (uint64_t)rows_needed(&node->attr[0], &node->attr[4]) *
                     (uint64_t)node->in[COS].shape->dim[1];
    return 2 * (ref_elements(&node->in[Q]) + ref_elements(&node->in[K])) *
               ascgrad_dtype_size(node->in[Q].dtype) +
           2 * table * ascgrad_dtype_size(node->in[COS].dtype);
}
