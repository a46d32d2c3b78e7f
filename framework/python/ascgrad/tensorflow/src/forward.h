/* SPDX-License-Identifier: Apache-2.0
 *
 * The forward of each operator on float arrays, as plain as can be: the CPU kernels of the forward
 * TensorFlow operators.
 */
#ifndef ASCGRAD_TF_FORWARD_H
#define ASCGRAD_TF_FORWARD_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* y = P(x) * cos + R(x) * sin; x, y: shape[rank]; cos, sin: table[rank], leading axes 1 or as x.
 * Where their last is shorter than that of x, so many columns are rotated, from `start` on, and the
 * rest of a row stays as it is. mode 0..3. */
void forward_rotary(const float *x, const float *cos, const float *sin, float *y, int rank,
                    const int64_t *shape, const int64_t *table, int mode, int64_t start);

/* x, y: [tokens, heads, d], r of d columns are rotated, from `start` on; each of the count
 * sequences starts at its position, or at 0 if positions is NULL. */
void forward_rope(const float *x, const float *cos, const float *sin, float *y, int64_t heads,
                  int64_t d, int64_t r, int64_t start, const int64_t *lengths,
                  const int64_t *positions, int64_t count);

/* kind 0: copy; 1, 2: (x - mean) * rstd per row of d; 3, 4: x * rstd, mean is 0; 9: the same with
 * the sum of squares instead of their mean. weight and bias take part where they are not NULL. mean
 * and rstd are not written for 0. */
void forward_norm(const float *x, const float *weight, const float *bias, float *y, float *mean,
                  float *rstd, int64_t rows, int64_t d, int kind, float eps);

/* Puts x [b, s, n, d] into y [b, n, all, d] at position first of the axis all; rows at positions
 * below rope_rows are rotated with their row of cos and sin ([rope_rows, d]): rope_type 0 none, 1
 * interleave, 2 half. */
void forward_place(const float *x, float *y, const float *sin, const float *cos, int64_t b,
                   int64_t s, int64_t n, int64_t d, int64_t all, int64_t first, int64_t rope_rows,
                   int rope_type);

/* y[i, j] = exp(x[j+1] + ... + x[i]) for i >= j, else 0; x: [batches, t], y: [batches, t, t]. */
void forward_exp_segsum(const float *x, float *y, int64_t batches, int64_t t);

#ifdef __cplusplus
}
#endif
#endif
