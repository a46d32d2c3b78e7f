/* SPDX-License-Identifier: Apache-2.0
 *
 * NormRopeConcat, the forward of NormRopeConcatGrad, for the test that holds the gradient against
 * it. Row (b, s, n) of a stream that starts at `offset` of the concatenated sequence, p = offset +
 * s:
 *
 *   norm 0:   y = x
 *   norm 1,2: y = (x - mean) rstd,  rstd = 1 / sqrt(variance + eps);  2: y gamma + beta
 *   norm 3,4: y = x rstd,           rstd = 1 / sqrt(mean of x^2 + eps);  4: y gamma
 *   norm 5,6 and 7,8: as 1,2 and 3,4 over all heads of (b, s), gamma and beta of [N * D]
 *   norm 9:   y = x rstd,           rstd = 1 / sqrt(sum of x^2 + eps)
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

/* y of the row at x, which is row n of `count` that are normed together, of which this is group
 * number `group`; the group's mean and rstd. */
static void normalize(const struct ref_forward *f, const struct ref_stream *s, int64_t group,
                      int64_t count, int64_t n, double *y) {
    int64_t d = count * f->dim;
    const double *x = at(&s->x, group * d), size = (double)d;
    int kind = s->norm > 4 && s->norm < 9 ? s->norm - 4 : s->norm;
    double sum = 0, square = 0;
    for (int64_t j = 0; j < d; j++)
        sum += x[j];
    double mean = kind <= 2 ? sum / size : 0;
    for (int64_t j = 0; j < d; j++)
        square += (x[j] - mean) * (x[j] - mean);
    double rstd = 1 / sqrt((kind == 9 ? square : square / size) + f->eps);
    if (kind <= 2) *at(&s->mean, group) = mean;
    *at(&s->rstd, group) = rstd;
    for (int64_t j = 0; j < f->dim; j++) {
        int64_t k = n * f->dim + j;
        y[j] = (x[k] - mean) * rstd;
        if (kind == 2 || kind == 4) y[j] *= *at(&s->gamma, k);
        if (kind == 2) y[j] += *at(&s->beta, k);
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
        int64_t total = s->seq + other->seq, heads = f->heads[k / 2];
        int64_t offset = added == f->concat_order ? 0 : other->seq;
        int64_t count = s->norm > 4 && s->norm < 9 ? heads : 1;
        for (int64_t row = 0; row < f->batch * s->seq * heads; row++) {
            int64_t n = row % heads, t = row / heads % s->seq, b = row / heads / s->seq;
            int64_t to = f->layout ? (b * total + offset + t) * heads + n
                                   : (b * heads + n) * total + offset + t;
            double y[REF_FORWARD_DIM];
            if (s->norm)
                normalize(f, s, row / count, count, row % count, y);
            else
                for (int64_t j = 0; j < f->dim; j++)
                    y[j] = *at(&s->x, row * f->dim + j);
            rotate(f, value ? 0 : f->rope, offset + t, y, f->output[k / 2] + to * f->dim);
        }
    }
}
