/* SPDX-License-Identifier: Apache-2.0
 *
 * aclnnNormRopeConcatBackward with everything it has: query, key and value with their encoder parts
 * behind them, affine norms, interleaved rope on the first positions of the concatenated sequence.
 * For the gradient g of the row of position p, with x^ = (x - mean) rstd:
 *   g' = g cos[p] + R(g sin[p]) where there is rope, R(t)[2i] = t[2i+1], R(t)[2i+1] = -t[2i]
 *   dx = rstd (g' w - avg(g' w) - x^ avg(g' w x^)),  dw = sum g' x^,  db = sum g';  dvalue = g
 */
#include "aclnn_norm_rope_concat_grad.h"
#include "device.h"

#include <stdlib.h>

enum { HEADS = 10, D = 6, SEQ = 5, ENCODER = 3, ALL = SEQ + ENCODER, ROPE = 5 };
enum { AFFINE = 2, INTERLEAVE = 1, ENCODER_LAST = 0 };

/* Inputs and outputs in the order of the parameters. */
enum { INPUTS = 21, OUTPUTS = 14, SIN = 19, COS = 20 };

/* One of query, key, value, and their encoder parts. */
struct part {
    const struct tensor *grad, *x, *norm; /* norm: weight, mean, rstd; NULL for value */
    struct tensor *dx, *dnorm;            /* dnorm: weight, bias */
    int seq, first;                       /* rows, and the position of the first */
};

static void turn(const struct tensor *in, const float *g, int p, double *turned) {
    for (int j = 0; j < D; j++) {
        const int other = j ^ 1;
        turned[j] = g[j];
        if (p < ROPE) {
            const double back = (double)g[other] * in[SIN].host[p * D + other];
            turned[j] = (double)g[j] * in[COS].host[p * D + j] + (j % 2 ? -back : back);
        }
    }
}

static bool check(const struct tensor *in, const struct part *part, const char *name) {
    static double dx[SEQ * HEADS * D], dw[D], db[D];
    for (int j = 0; j < D; j++) {
        dw[j] = db[j] = 0;
    }
    for (int row = 0; row < part->seq * HEADS; row++) {
        const int p = part->first + row / HEADS;
        const float *g = part->grad->host + (row % HEADS * ALL + p) * D;
        double turned[D], hat[D], sum = 0, dot = 0;
        for (int j = 0; !part->norm && j < D; j++) {
            dx[row * D + j] = g[j];
        }
        if (!part->norm) {
            continue;
        }
        const double mean = part->norm[1].host[row], rstd = part->norm[2].host[row];
        turn(in, g, p, turned);
        for (int j = 0; j < D; j++) {
            const double w = part->norm[0].host[j];
            hat[j] = (part->x->host[row * D + j] - mean) * rstd;
            sum += turned[j] * w / D;
            dot += turned[j] * w * hat[j] / D;
            dw[j] += turned[j] * hat[j];
            db[j] += turned[j];
        }
        for (int j = 0; j < D; j++) {
            dx[row * D + j] = rstd * (turned[j] * part->norm[0].host[j] - sum - hat[j] * dot);
        }
    }
    return agrees(name, part->dx, dx) &&
           (!part->norm || (agrees("  its weight", &part->dnorm[0], dw) &&
                            agrees("  its bias", &part->dnorm[1], db)));
}

static bool check_all(const struct tensor *in, struct tensor *out) {
    static const char *const name[] = {"gradQuery",        "gradKey",        "gradValue",
                                       "gradEncoderQuery", "gradEncoderKey", "gradEncoderValue"};
    bool good = true;
    for (int i = 0; i < 6; i++) {
        const int encoder = i / 3, k = i % 3; /* 0 query, 1 key, 2 value */
        const struct part part = {
            .grad = &in[k],
            .x = &in[3 + 2 * encoder + (k == 1)],
            .norm = k == 2 ? NULL : &in[7 + 6 * encoder + 3 * k],
            .dx = &out[i],
            .dnorm = k == 2 ? NULL : &out[6 + 4 * encoder + 2 * k],
            .seq = encoder ? ENCODER : SEQ,
            .first = encoder ? SEQ : 0,
        };
        good = check(in, &part, name[i]) && good;
    }
    return good;
}

static bool make(struct tensor *in, struct tensor *out) {
    const int64_t grad[] = {1, HEADS, ALL, D}, row[] = {1, SEQ, HEADS, D},
                  encoder[] = {1, ENCODER, HEADS, D}, one[] = {1, SEQ, HEADS, 1},
                  encoder_one[] = {1, ENCODER, HEADS, 1}, width[] = {D}, table[] = {ROPE, D};
    const struct {
        int rank;
        const int64_t *dim;
    } inputs[INPUTS] = {{4, grad},  {4, grad},        {4, grad},        {4, row},
                        {4, row},   {4, encoder},     {4, encoder},     {1, width},
                        {4, one},   {4, one},         {1, width},       {4, one},
                        {4, one},   {1, width},       {4, encoder_one}, {4, encoder_one},
                        {1, width}, {4, encoder_one}, {4, encoder_one}, {2, table},
                        {2, table}};
    bool good = true;
    for (int i = 0; i < INPUTS; i++) {
        good = good && tensor_begin(&in[i], inputs[i].rank, inputs[i].dim);
    }
    for (int i = 0; i < OUTPUTS; i++) {
        const int rank = i < 6 ? 4 : 1;
        good = good && tensor_begin(&out[i], rank, i < 3 ? row : i < 6 ? encoder : width);
    }
    return good;
}

int main(void) {
    struct tensor in[INPUTS] = {{0}}, out[OUTPUTS] = {{0}};
    aclrtStream stream;
    if (!device_begin(&stream)) {
        return EXIT_FAILURE;
    }
    bool good = make(in, out);
    if (good) {
        uint64_t size = 0;
        aclOpExecutor *executor = NULL;
        const aclnnStatus code = aclnnNormRopeConcatBackwardGetWorkspaceSize(
            in[0].acl, in[1].acl, in[2].acl, in[3].acl, in[4].acl, in[5].acl, in[6].acl, in[7].acl,
            in[8].acl, in[9].acl, in[10].acl, in[11].acl, in[12].acl, in[13].acl, in[14].acl,
            in[15].acl, in[16].acl, in[17].acl, in[18].acl, in[19].acl, in[20].acl, AFFINE, AFFINE,
            INTERLEAVE, ENCODER_LAST, out[0].acl, out[1].acl, out[2].acl, out[3].acl, out[4].acl,
            out[5].acl, out[6].acl, out[7].acl, out[8].acl, out[9].acl, out[10].acl, out[11].acl,
            out[12].acl, out[13].acl, &size, &executor);
        good = finish("aclnnNormRopeConcatBackward", code, aclnnNormRopeConcatBackward, size,
                      executor, stream) &&
               check_all(in, out);
    }
    for (int i = 0; i < INPUTS; i++) {
        tensor_end(&in[i]);
    }
    for (int i = 0; i < OUTPUTS; i++) {
        tensor_end(&out[i]);
    }
    device_end(stream);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
