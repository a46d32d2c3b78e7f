/* SPDX-License-Identifier: Apache-2.0
 *
 * RopeGrad. q [tokens, heads * D], k [tokens, kv heads * D], cos, sin [positions, R], h = R / 2; D
 * is the attribute head_size, or R. Token t is row p of its sequence; positions restart at 0 in
 * every sequence. For every head x of q or k:
 *
 *   default       y[j] = x[j] * (cos[p][j] + sin[p][j+h])               j <  h
 *                 y[j] = x[j] * (cos[p][j] - sin[p][j-h])          h <= j <  R
 *                 all in fp16: the bracket is rounded to fp16, as the operator that set the
 *                 standard does
 *   exact_grad    y[j] = x[j] * cos[p][j] + x[j+h] * sin[p][j+h]        j <  h
 *                 y[j] = x[j] * cos[p][j] - x[j-h] * sin[p][j-h]   h <= j <  R
 *   both          y[j] = x[j]                                      R <= j <  D
 */
#include <math.h>

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

/* The first r of the d columns are rotated, the others copied. */
static void head(const double *x, const double *cos, const double *sin, int64_t d, int64_t r,
                 bool exact, bool half, double *y, double *magnitude) {
    int64_t h = r / 2;
    for (int64_t j = r; j < d; j++) {
        y[j] = x[j];
        magnitude[j] = 0;
    }
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
    int64_t r = cos->shape.dim[1], d = attr[2].i ? attr[2].i : r, t = 0;
    bool exact = attr[1].i != 0, half = in[0].dtype == ASCGRAD_FP16 && cos->dtype == ASCGRAD_FP16;
    for (size_t s = 0; s < attr[0].count; s++) {
        int64_t length = ascgrad_list_at(&attr[0], s);
        for (int64_t p = 0; p < length; p++, t++) {
            for (int tensor = 0; tensor < 2; tensor++) { /* q, then k */
                int64_t hidden = in[tensor].shape.dim[1];
                for (int64_t i = t * hidden; i < (t + 1) * hidden; i += d) {
                    head(in[tensor].value + i, cos->value + p * r, sin->value + p * r, d, r, exact,
                         half, out[tensor].value + i, out[tensor].magnitude + i);
                }
            }
        }
    }
}

ascgrad_min_bytes_fn ascgrad_min_bytes_rope_grad;

/* cos and sin are needed up to the longest sequence, once. */
uint64_t ascgrad_min_bytes_rope_grad(const struct ascgrad_node *node) {
    enum { Q, K, COS };
    const struct ascgrad_attr *lengths = &node->attr[0];
    int64_t longest = 0;
    for (size_t i = 0; i < lengths->count; i++) {
        int64_t length = ascgrad_list_at(lengths, i);
        if (length > longest) longest = length;
    }
    uint64_t table = (uint64_t)longest * (uint64_t)node->in[COS].shape->dim[1];
    return 2 * (ref_elements(&node->in[Q]) + ref_elements(&node->in[K])) *
               ascgrad_dtype_size(node->in[Q].dtype) +
           2 * table * ascgrad_dtype_size(node->in[COS].dtype);
}
