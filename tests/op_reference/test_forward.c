/* SPDX-License-Identifier: Apache-2.0
 *
 * NormRopeConcatGrad's reference is the gradient of NormRopeConcat's: for every norm of both parts,
 * every rope, both orders and both layouts, with heads that differ, each element of every input is
 * moved a little, and the weighted sum of the forward's outputs must follow the gradient.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../../op_reference/norm_rope_concat.h"

enum { BATCH = 2, HEADS = 3, DIM = 6, SEQ = 3, ADDED = 2, KEYS = 4, KEYS_ADDED = 1, ROWS = 4 };
enum { MOST = BATCH * HEADS * DIM * (KEYS + ADDED), IN = 21, OUT = 14 };

ref_fn ref_norm_rope_concat_grad;

static const int64_t heads[] = {HEADS, 2, 1}; /* query's, key's, value's */

static uint64_t state = 20260801;
static double draw(void) { /* -1 to 1 */
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(int64_t)(state >> 11) / (double)(1ull << 52) - 1;
}

/* Everything one setting has; places for what a setting lacks stay unused. */
struct world {
    struct ref_forward f;
    double x[REF_STREAMS][MOST], mean[REF_STREAMS][MOST], rstd[REF_STREAMS][MOST];
    double gamma[REF_STREAMS][HEADS * DIM], beta[REF_STREAMS][HEADS * DIM], table[2][ROWS * DIM];
    double output[3][MOST], weight[3][MOST];
    double dx[REF_STREAMS][MOST], dgamma[REF_STREAMS][HEADS * DIM], dbeta[REF_STREAMS][HEADS * DIM],
        terms[MOST];
};

static struct ref_tensor tensor(double *value, int64_t a, int64_t b, int64_t c, int64_t d) {
    struct ref_tensor t = {true, ASCGRAD_FP32, {4, {a, b, c, d}}, value, NULL};
    if (!b) t.shape = (struct ascgrad_shape){1, {a}};
    return t;
}

static void fill(double *value, size_t n) {
    for (size_t i = 0; i < n; i++)
        value[i] = draw();
}

static bool across(int norm) {
    return norm > 4 && norm < 9;
}

static void build(struct world *w, int norm, int added_norm, int rope, int order) {
    static const int64_t seq[] = {SEQ, ADDED, KEYS, KEYS_ADDED, KEYS, KEYS_ADDED};
    w->f = (struct ref_forward){.batch = BATCH,
                                .heads = {heads[0], heads[1], heads[2]},
                                .dim = DIM,
                                .rope_rows = ROWS,
                                .rope = rope,
                                .concat_order = order,
                                .layout = (norm + added_norm + rope) % 2,
                                .eps = 1e-3,
                                .sin = w->table[0],
                                .cos = w->table[1]};
    fill(w->table[0], ROWS * DIM);
    fill(w->table[1], ROWS * DIM);
    for (int k = 0; k < REF_STREAMS; k++) {
        struct ref_stream *s = &w->f.stream[k];
        fill(w->x[k], MOST);
        fill(w->gamma[k], HEADS * DIM);
        fill(w->beta[k], HEADS * DIM);
        s->seq = seq[k];
        s->norm = k >= REF_VALUE ? 0 : k % 2 ? added_norm : norm;
        int64_t n = heads[k / 2], each = across(s->norm) ? n : 1;
        s->x = tensor(w->x[k], BATCH, seq[k], n, DIM);
        s->mean = tensor(w->mean[k], BATCH, seq[k], n / each, 1);
        s->rstd = tensor(w->rstd[k], BATCH, seq[k], n / each, 1);
        s->gamma = tensor(w->gamma[k], each * DIM, 0, 0, 0);
        s->beta = tensor(w->beta[k], each * DIM, 0, 0, 0);
    }
    for (int k = 0; k < 3; k++) {
        w->f.output[k] = w->output[k];
        fill(w->weight[k], MOST);
    }
}

static int64_t total(const struct world *w, int k) {
    return w->f.stream[2 * k].seq + w->f.stream[2 * k + 1].seq;
}

/* The outputs, each times the gradient it will be given. */
static double loss(struct world *w) {
    double sum = 0;
    ref_norm_rope_concat(&w->f);
    for (int k = 0; k < 3; k++)
        for (int64_t i = 0; i < BATCH * heads[k] * total(w, k) * DIM; i++)
            sum += w->output[k][i] * w->weight[k][i];
    return sum;
}

/* The gradients by the operator's own reference, from the forward's mean and rstd. */
static void differentiate(struct world *w) {
    struct ref_tensor in[IN] = {{0}}, out[OUT] = {{0}};
    const struct ascgrad_attr attr[] = {{.i = w->f.stream[0].norm},
                                        {.i = w->f.stream[1].norm},
                                        {.i = w->f.rope},
                                        {.i = w->f.concat_order},
                                        {.i = w->f.layout}};
    static const int x_of[] = {3, 5, 4, 6}, dx_of[] = {0, 3, 1, 4, 2, 5};
    loss(w);
    for (int k = 0; k < 3; k++)
        in[k] = w->f.layout ? tensor(w->weight[k], BATCH, total(w, k), heads[k], DIM)
                            : tensor(w->weight[k], BATCH, heads[k], total(w, k), DIM);
    for (int k = 0; k < REF_VALUE; k++) {
        const struct ref_stream *s = &w->f.stream[k];
        int weight = 7 + 3 * (k / 2) + 6 * (k % 2), dgamma = 6 + 2 * (k / 2) + 4 * (k % 2);
        in[x_of[k]] = s->x;
        in[weight] = s->gamma, in[weight + 1] = s->mean, in[weight + 2] = s->rstd;
        out[dgamma] = tensor(w->dgamma[k], s->gamma.shape.dim[0], 0, 0, 0);
        out[dgamma + 1] = tensor(w->dbeta[k], s->gamma.shape.dim[0], 0, 0, 0);
    }
    for (int k = 0; k < REF_STREAMS; k++)
        out[dx_of[k]] = tensor(w->dx[k], BATCH, w->f.stream[k].seq, heads[k / 2], DIM);
    in[19] = tensor(w->table[0], ROWS, DIM, 1, 1);
    in[20] = tensor(w->table[1], ROWS, DIM, 1, 1);
    for (int i = 0; i < OUT; i++)
        out[i].magnitude = w->terms;
    ref_norm_rope_concat_grad(in, attr, out);
}

/* How far the gradient of one number is from what the loss does when the number moves. */
static double miss(struct world *w, double *number, double gradient) {
    const double step = 1e-5, was = *number;
    *number = was + step;
    double up = loss(w);
    *number = was - step;
    double down = loss(w);
    *number = was;
    return fabs((up - down) / (2 * step) - gradient) / (1 + fabs(gradient));
}

static double worst_of(struct world *w) {
    double worst = 0;
    for (int k = 0; k < REF_STREAMS; k++) {
        const struct ref_stream *s = &w->f.stream[k];
        for (int64_t i = 0; i < BATCH * s->seq * heads[k / 2] * DIM; i++)
            worst = fmax(worst, miss(w, &w->x[k][i], w->dx[k][i]));
        int64_t size = s->gamma.shape.dim[0];
        for (int j = 0; s->norm % 2 == 0 && s->norm && j < size; j++)
            worst = fmax(worst, miss(w, &w->gamma[k][j], w->dgamma[k][j]));
        for (int j = 0; (s->norm == 2 || s->norm == 6) && j < size; j++)
            worst = fmax(worst, miss(w, &w->beta[k][j], w->dbeta[k][j]));
    }
    return worst;
}

static void every_setting(void **unused) {
    (void)unused;
    struct world *w = calloc(1, sizeof *w);
    int settings = 0;
    double worst = 0;
    for (int norm = 0; norm <= 9; norm++)
        for (int added = 0; added <= 9; added++)
            for (int rope = 0; rope <= 2; rope++)
                for (int order = 0; order <= 1; order++) {
                    build(w, norm, added, rope, order);
                    differentiate(w);
                    worst = fmax(worst, worst_of(w));
                    settings++;
                }
    print_message("%d settings, furthest off %.1e\n", settings, worst);
    assert_true(worst < 1e-7);
    /* the differences would show it: the gradient of another rope is far off */
    build(w, 2, 4, 1, 0);
    differentiate(w);
    w->f.rope = 2;
    assert_true(worst_of(w) > 1e-2);
    free(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_setting)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
