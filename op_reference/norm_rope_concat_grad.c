/* SPDX-License-Identifier: Apache-2.0
 *
 * NormRopeConcatGrad. For row (b, s, n) of a stream that starts at `offset` of the concatenated
 * sequence, p = offset + s:
 *
 *   g  = grad_output[b][n][p][:], with grad_layout 1 grad_output[b][p][n][:]
 *   g' = g cos[p] + R(g sin[p])       p < seqRope, else g' = g
 *        half:        R(t)[j] = t[j+h] (j < h),  -t[j-h] (j >= h)        h = D / 2
 *        interleave:  R(t)[2i] = t[2i+1],        R(t)[2i+1] = -t[2i]
 *   norm 0:   dx = g'
 *   norm 1,2: x^ = (x - mean) rstd,  g^ = g' (1) or g' gamma (2)
 *             dx = rstd (g^ - mean_j(g^) - x^ mean_j(g^ x^))
 *   norm 3,4: x^ = x rstd,  g^ = g' (3) or g' gamma (4)
 *             dx = rstd (g^ - x^ mean_j(g^ x^))
 *   norm 5,6 and 7,8: as 1,2 and 3,4 with j over all heads of a token; gamma is [N * D]
 *   norm 9:   as 3 with the sum over j instead of its mean
 *   weights:  dgamma = sum of g' x^ over b, s, n (2, 4) or b, s (6, 8);  2, 6: dbeta = sum of g'
 *   value:    dx = g
 */
#include <math.h>
#include <stdlib.h>

#include "reference.h"

ref_fn ref_norm_rope_concat_grad;

/* One of query, encoder_query, key, encoder_key, value, encoder_value. */
struct stream {
    const struct ref_tensor *grad, *x, *mean, *rstd, *gamma, *sin, *cos;
    struct ref_tensor *dx, *dgamma, *dbeta;
    int64_t batch, heads, dim, seq, total, offset;
    int norm, rope, layout;
};

/* g' of one row, and the sum of the absolute terms of each element. */
static void unrotate(const struct stream *t, const double *g, int64_t p, double *turned,
                     double *terms) {
    int64_t d = t->dim, h = d / 2, rows = t->rope ? t->cos->shape.dim[0] : 0;
    const double *c = p < rows ? t->cos->value + p * d : NULL,
                 *s = p < rows ? t->sin->value + p * d : NULL;
    for (int64_t j = 0; j < d; j++) {
        if (!c) {
            turned[j] = g[j];
            terms[j] = fabs(g[j]);
            continue;
        }
        int first = t->rope == 1 ? j % 2 == 0 : j < h;
        int64_t k = t->rope == 1 ? j ^ 1 : first ? j + h : j - h;
        turned[j] = g[j] * c[j] + (first ? 1 : -1) * g[k] * s[k];
        terms[j] = fabs(g[j] * c[j]) + fabs(g[k] * s[k]);
    }
}

/* The rows that share a mean and rstd, of which there are `count`, are group number `group`. */
static void normalize(const struct stream *t, int64_t group, int64_t count, const double *turned,
                      const double *terms) {
    int64_t d = count * t->dim;
    const double *x = t->x->value + group * d;
    int kind = t->norm > 4 && t->norm < 9 ? t->norm - 4 : t->norm;
    int weighted = kind == 2 || kind == 4, centred = kind <= 2;
    double mean = centred ? t->mean->value[group] : 0, rstd = t->rstd->value[group];
    double sum = 0, sum_terms = 0, dot = 0, dot_terms = 0;
    for (int64_t j = 0; j < d; j++) {
        double gamma = weighted ? t->gamma->value[j] : 1, hat = (x[j] - mean) * rstd;
        sum += centred ? turned[j] * gamma : 0;
        sum_terms += centred ? terms[j] * fabs(gamma) : 0;
        dot += turned[j] * gamma * hat;
        dot_terms += terms[j] * fabs(gamma * hat);
        if (weighted) {
            t->dgamma->value[j] += turned[j] * hat;
            t->dgamma->magnitude[j] += terms[j] * fabs(hat);
        }
        if (weighted && centred) {
            t->dbeta->value[j] += turned[j];
            t->dbeta->magnitude[j] += terms[j];
        }
    }
    double n = kind == 9 ? 1 : (double)d;
    for (int64_t j = 0; j < d; j++) {
        double gamma = weighted ? t->gamma->value[j] : 1, hat = (x[j] - mean) * rstd;
        t->dx->value[group * d + j] = rstd * (turned[j] * gamma - sum / n - hat * (dot / n));
        t->dx->magnitude[group * d + j] =
            fabs(rstd) * (terms[j] * fabs(gamma) + sum_terms / n + fabs(hat) * (dot_terms / n));
    }
}

static void run(const struct stream *t) {
    int64_t count = t->norm > 4 && t->norm < 9 ? t->heads : 1, d = t->dim;
    double *turned = malloc(2 * (size_t)(count * d + 1) * sizeof *turned),
           *terms = turned + count * d;
    for (int64_t row = 0; turned && row < t->batch * t->seq * t->heads; row++) {
        int64_t n = row % t->heads, s = row / t->heads % t->seq, b = row / t->heads / t->seq,
                p = t->offset + s, at = row % count * d;
        int64_t from =
            t->layout ? (b * t->total + p) * t->heads + n : (b * t->heads + n) * t->total + p;
        unrotate(t, t->grad->value + from * d, p, turned + at, terms + at);
        if (t->norm) {
            if (row % count == count - 1) normalize(t, row / count, count, turned, terms);
            continue;
        }
        for (int64_t j = 0; j < d; j++) {
            t->dx->value[row * d + j] = turned[j];
            t->dx->magnitude[row * d + j] = terms[j];
        }
    }
    free(turned);
}

void ref_norm_rope_concat_grad(const struct ref_tensor *in, const struct ascgrad_attr *attr,
                               struct ref_tensor *out) {
    for (int i = 6; i < 14; i++) { /* sums; a part that is absent adds nothing */
        for (int64_t j = 0; out[i].present && j < out[i].shape.dim[0]; j++) {
            out[i].value[j] = out[i].magnitude[j] = 0;
        }
    }
    for (int k = 0; k < 3; k++) { /* query, key, value */
        for (int added = 0; added < 2; added++) {
            const struct ref_tensor *grad = &in[k], *x = &in[(k ? 4 : 3) + 2 * added];
            const struct ref_tensor *main = &in[k ? 4 : 3], *encoder = &in[k ? 6 : 5];
            if (!x->present || grad->shape.rank != 4) continue; /* [0]: there is no value */
            int64_t main_seq = main->shape.dim[1],
                    added_seq = encoder->present ? encoder->shape.dim[1] : 0;
            int weight = 7 + 3 * k + 6 * added, dgamma = 6 + 2 * k + 4 * added;
            struct stream t = {.grad = grad,
                               .x = x,
                               .sin = &in[19],
                               .cos = &in[20],
                               .dx = &out[k + 3 * added],
                               .batch = x->shape.dim[0],
                               .heads = grad->shape.dim[attr[4].i ? 2 : 1],
                               .dim = x->shape.dim[3],
                               .seq = added ? added_seq : main_seq,
                               .total = main_seq + added_seq,
                               .layout = (int)attr[4].i};
            t.offset = added == (int)attr[3].i ? 0 : added ? main_seq : added_seq;
            if (k < 2) {
                t.norm = (int)attr[added].i, t.rope = (int)attr[2].i;
                t.gamma = &in[weight], t.mean = &in[weight + 1], t.rstd = &in[weight + 2];
                t.dgamma = &out[dgamma], t.dbeta = &out[dgamma + 1];
            }
            run(&t);
        }
    }
}

ascgrad_min_bytes_fn ascgrad_min_bytes_norm_rope_concat_grad;

/* Gradient in and out for every stream; x, rstd and (types 1, 2, 5, 6) mean too where there is a
 * norm; sin and cos once. */
uint64_t ascgrad_min_bytes_norm_rope_concat_grad(const struct ascgrad_node *node) {
    enum { GRAD_VALUE = 2, QUERY, KEY, ENCODER_QUERY, ENCODER_KEY, SIN = 19 };
    enum { NORM_TYPE, NORM_ADDED_TYPE, ROPE_TYPE };
    uint64_t size = ascgrad_dtype_size(node->in[QUERY].dtype);
    uint64_t bytes = 2 * ref_elements(&node->in[GRAD_VALUE]) * size;
    for (uint32_t i = QUERY; i <= ENCODER_KEY; i++) {
        int64_t norm = node->attr[i < ENCODER_QUERY ? NORM_TYPE : NORM_ADDED_TYPE].i;
        uint64_t n = ref_elements(&node->in[i]);
        bytes += (norm ? 3 : 2) * n * size;
        if (!norm || !n) continue;
        const int64_t *dim = node->in[i].shape->dim;
        bool across = norm > 4 && norm < 9;
        uint64_t groups = (uint64_t)(dim[0] * dim[1] * (across ? 1 : dim[2]));
        bytes += (norm == 5 || norm == 6 || norm <= 2 ? 8 : 4) * groups;
    }
    if (node->attr[ROPE_TYPE].i != 0) {
        bytes += 2 * ref_elements(&node->in[SIN]) * ascgrad_dtype_size(node->in[SIN].dtype);
    }
    return bytes;
}
