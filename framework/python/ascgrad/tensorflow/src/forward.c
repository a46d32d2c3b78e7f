/* SPDX-License-Identifier: Apache-2.0
 *
 * See forward.h.
 */
#include "forward.h"

#include <math.h>
#include <string.h>

/* One row: half pairs j with j + h, interleave 2i with 2i + 1, quarter is half on both halves,
 * interleave-half reads pairs 2i, 2i + 1 and writes halves. */
static void rotate_row(const float *x, const float *cos, const float *sin, float *y, int64_t d,
                       int mode) {
    int64_t h = d / 2, q = d / 4;
    for (int64_t i = 0; i < h; i++) {
        int64_t a = i, b = i + h; /* where the pair is read */
        if (mode == 1 || mode == 3) a = 2 * i, b = 2 * i + 1;
        if (mode == 2) a = i < q ? i : i + q, b = a + q;
        int64_t to_a = mode == 3 ? i : a, to_b = mode == 3 ? i + h : b; /* where it is written */
        y[to_a] = x[a] * cos[to_a] - x[b] * sin[to_a];
        y[to_b] = x[b] * cos[to_b] + x[a] * sin[to_b];
    }
}

/* The same for `r` columns of a row of d, from `start` on; the others stay. */
static void rotate_slice(const float *x, const float *cos, const float *sin, float *y, int64_t d,
                         int64_t r, int64_t start, int mode) {
    int64_t end = start + r;
    memcpy(y, x, (size_t)start * sizeof *y);
    rotate_row(x + start, cos, sin, y + start, r, mode);
    memcpy(y + end, x + end, (size_t)(d - end) * sizeof *y);
}

void forward_rotary(const float *x, const float *cos, const float *sin, float *y, int rank,
                    const int64_t *shape, const int64_t *table, int mode, int64_t start) {
    int64_t d = shape[rank - 1], rotated = table[rank - 1], rows = 1;
    for (int i = 0; i < rank - 1; i++)
        rows *= shape[i];
    for (int64_t row = 0; row < rows; row++) {
        int64_t rest = row, at = 0, stride = 1;
        for (int i = rank - 2; i >= 0; i--) {
            if (table[i] != 1) at += rest % shape[i] * stride;
            rest /= shape[i];
            stride *= table[i];
        }
        rotate_slice(x + row * d, cos + at * rotated, sin + at * rotated, y + row * d, d, rotated,
                     start, mode);
    }
}

void forward_rope(const float *x, const float *cos, const float *sin, float *y, int64_t heads,
                  int64_t d, int64_t r, int64_t start, const int64_t *lengths,
                  const int64_t *positions, int64_t count) {
    int64_t row = 0;
    for (int64_t sequence = 0; sequence < count; sequence++) {
        int64_t first = positions ? positions[sequence] : 0;
        for (int64_t p = first; p < first + lengths[sequence]; p++) {
            for (int64_t n = 0; n < heads; n++, row++) {
                rotate_slice(x + row * d, cos + p * r, sin + p * r, y + row * d, d, r, start, 0);
            }
        }
    }
}

void forward_norm(const float *x, const float *weight, const float *bias, float *y, float *mean,
                  float *rstd, int64_t rows, int64_t d, int kind, float eps) {
    if (kind == 0) {
        memcpy(y, x, (size_t)(rows * d) * sizeof *y);
        return;
    }
    const int centred = kind <= 2;
    for (int64_t r = 0; r < rows; r++, x += d, y += d) {
        double sum = 0, squares = 0;
        for (int64_t j = 0; centred && j < d; j++)
            sum += x[j];
        double middle = sum / (double)d;
        for (int64_t j = 0; j < d; j++)
            squares += (x[j] - middle) * (x[j] - middle);
        mean[r] = (float)middle;
        rstd[r] = (float)(1 / sqrt((kind == 9 ? squares : squares / (double)d) + eps));
        for (int64_t j = 0; j < d; j++) {
            y[j] = (x[j] - mean[r]) * rstd[r];
            if (weight) y[j] *= weight[j];
            if (bias) y[j] += bias[j];
        }
    }
}

void forward_place(const float *x, float *y, const float *sin, const float *cos, int64_t b,
                   int64_t s, int64_t n, int64_t d, int64_t all, int64_t first, int64_t rope_rows,
                   int rope_type) {
    for (int64_t i = 0; i < b; i++) {
        for (int64_t p = first; p < first + s; p++) {
            for (int64_t k = 0; k < n; k++, x += d) {
                float *to = y + ((i * n + k) * all + p) * d;
                if (rope_type != 0 && p < rope_rows) {
                    rotate_row(x, cos + p * d, sin + p * d, to, d, 2 - rope_type);
                } else {
                    memcpy(to, x, (size_t)d * sizeof *to);
                }
            }
        }
    }
}

void forward_exp_segsum(const float *x, float *y, int64_t batches, int64_t t) {
    for (int64_t i = 0; i < batches; i++, x += t, y += t * t) {
        memset(y, 0, (size_t)(t * t) * sizeof *y);
        for (int64_t column = 0; column < t; column++) {
            double sum = 0;
            for (int64_t row = column; row < t; row++) {
                if (row > column) sum += x[row];
                y[row * t + column] = (float)exp(sum);
            }
        }
    }
}
