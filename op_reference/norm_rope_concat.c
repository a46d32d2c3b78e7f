/* SPDX-License-Identifier: Apache-2.0
 *
 * NormRopeConcat, the forward of NormRopeConcatGrad, for the test that holds the gradient against
 * it. Row (b, s, n) of a stream that starts at `offset` of the concatenated sequence, p = offset +
 * s:
 *
 *   norm 0:   y = x
 *   norm 1,2: y = (x - mean) rstd,  rstd = 1 / sqrt(variance + eps);  2: y gamma + beta
 *   norm 3,4: y = x rstd,           rstd = 1 / sqrt(mean of x^2 + eps);  4: y gamma
 *   output[b][n][p] = y cos[p] + R(y) sin[p]     p < seqRope, else y
 *        half:        R(y)[j] = -y[j+h] (j < h),  y[j-h] (j >= h)        h = D / 2
 *        interleave:  R(y)[2i] = -y[2i+1],        R(y)[2i+1] = y[2i]
 *   value:    no norm, no rope
 */
#include "norm_rope_concat.h"

#include <math.h>

static double *at(const struct ref_tensor *t, int64_t index) {
    return t->value + index;
}

/* y of one row of x, with the row's mean and rstd. */
static void normalize(const struct ref_forward *f, const struct ref_stream *s, int64_t row,
                      double *y) {
    const double *x = at(&s->x, row * f->dim), n = (double)f->dim;
    double sum = 0, square = 0;
    for (int64_t j = 0; j < f->dim; j++)
        sum += x[j];
    double mean = s->norm <= 2 ? sum / n : 0;
    for (int64_t j = 0; j < f->dim; j++)
        square += (x[j] - mean) * (x[j] - mean);
    double rstd = 1 / sqrt(square / n + f->eps);
    if (s->norm <= 2) *at(&s->mean, row) = mean;
    *at(&s->rstd, row) = rstd;
    for (int64_t j = 0; j < f->dim; j++) {
        y[j] = (x[j] - mean) * rstd;
        if (s->norm == 2 || s->norm == 4) y[j] *= *at(&s->gamma, j);
        if (s->norm == 2) y[j] += *at(&s->beta, j);
    }
}

static void rotate(const struct ref_forward *f, int rope, int64_t p, const double *y, double *out) {
    int64_t h = f->dim / 2;
    bool turns = rope && p < f->rope_rows;
    for (int64_t j = 0; j < f->dim; j++) {
        bool first = rope == 1 ? j % 2 == 0 : j < h;
        int64_t k = rope == 1 ? j ^ 1 : first ? j + h : j - h;
        out[j] =
            turns ? y[j] * f->cos[p * f->dim + j] + (first ? -1 : 1) * y[k] * f->sin[p * f->dim + j]
                  : y[j];
    }
}

void ref_norm_rope_concat(const struct ref_forward *f) {
    for (int k = 0; k < REF_STREAMS; k++) {
        const struct ref_stream *s = &f->stream[k], *other = &f->stream[k ^ 1];
        bool added = k % 2, value = k >= REF_VALUE;
        int64_t total = s->seq + other->seq;
        int64_t offset = added == f->concat_order ? 0 : other->seq;
        for (int64_t row = 0; row < f->batch * s->seq * f->heads; row++) {
            int64_t n = row % f->heads, t = row / f->heads % s->seq, b = row / f->heads / s->seq;
            double y[REF_FORWARD_DIM];
            if (s->norm)
                normalize(f, s, row, y);
            else
                for (int64_t j = 0; j < f->dim; j++)
                    y[j] = *at(&s->x, row * f->dim + j);
            rotate(f, value ? 0 : f->rope, offset + t, y,
                   f->output[k / 2] + ((b * f->heads + n) * total + offset + t) * f->dim);
        }
    }
}
