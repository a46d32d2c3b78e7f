/* SPDX-License-Identifier: Apache-2.0
 *
 * Rotary tiling picks the faster of two ways. The program is linked with --wrap, so that a plan can
 * be forced onto the general path or onto the contiguous one; both are timed in the cycle model, of
 * data in memory and in the L2 cache, the launch included.
 *
 *     rotary_ways      the sample
 *     rotary_ways -v   also prints every call
 *
 * Status 1 if the way not chosen is faster by more than 10 % in both, or if rows have tails and the
 * contiguous path was chosen although it is slower by more than 5 % in one of them.
 */
#include <stdio.h>
#include <string.h>

#include "../../op_tiling/rotary.h"
#include "../../twin/ascgrad.h"

typedef void plan_fn(const struct rotary_work *work, const struct ascgrad_chip *chip,
                     RotaryGradTiling *t, struct ascgrad_launch *launch);
plan_fn __real_ascgrad_rotary_plan, __wrap_ascgrad_rotary_plan;

static enum rotary_path forced;

void __wrap_ascgrad_rotary_plan(const struct rotary_work *work, const struct ascgrad_chip *chip,
                                RotaryGradTiling *t, struct ascgrad_launch *launch) {
    struct rotary_work way = *work;
    way.path = forced;
    __real_ascgrad_rotary_plan(&way, chip, t, launch);
}

/* Types of dy and of cos, their shapes, the mode, the first rotated column, whether there is x. */
struct sample {
    int32_t type, table;
    int64_t dy[4], cos[4], mode, slice;
    bool with_x;
};

enum { B = ASCGRAD_TYPE_BF16, H = ASCGRAD_TYPE_FP16, F = ASCGRAD_TYPE_FP32 };

static const struct sample samples[] = {
    /* partial rotary: GPT-NeoX-20B, StableLM-3B, pythia-410m, phi-1.5, phi-2, GLM, GPT-J */
    {B, B, {1, 1024, 64, 96}, {1, 1024, 1, 24}, 0, 0, true},
    {B, B, {1, 64, 1024, 96}, {1, 1, 1024, 24}, 0, 0, true},
    {F, F, {1, 1024, 64, 96}, {1, 1024, 1, 24}, 0, 0, true},
    {B, F, {1, 1024, 64, 96}, {1, 1024, 1, 24}, 0, 0, false},
    {B, B, {1, 1024, 32, 80}, {1, 1024, 1, 20}, 0, 0, true},
    {B, B, {1, 32, 1024, 80}, {1, 1, 1024, 20}, 0, 0, true},
    {F, F, {2, 512, 32, 80}, {1, 512, 1, 20}, 0, 0, true},
    {B, B, {1, 1024, 16, 64}, {1, 1024, 1, 16}, 0, 0, true},
    {F, F, {1, 1024, 16, 64}, {1, 1024, 1, 16}, 0, 0, true},
    {F, F, {1, 1024, 32, 64}, {1, 1024, 1, 32}, 0, 0, true},
    {B, B, {1, 1024, 32, 80}, {1, 1024, 1, 32}, 0, 0, true},
    {B, B, {1, 1024, 32, 128}, {1, 1024, 1, 64}, 1, 0, true},
    {F, F, {1, 1024, 32, 128}, {1, 1024, 1, 64}, 1, 64, true},
    {B, B, {1, 1024, 16, 256}, {1, 1024, 1, 64}, 1, 0, true},
    /* parts that no model has: odd halves, nearly all of a row, little work */
    {B, B, {2, 128, 64, 128}, {1, 128, 1, 106}, 0, 0, true},
    {H, H, {4096, 1, 8, 192}, {4096, 1, 1, 102}, 0, 0, true},
    {B, B, {1, 512, 1, 112}, {1, 512, 1, 42}, 0, 0, true},
    {F, F, {1, 8, 128, 640}, {1, 1, 128, 598}, 0, 0, false},
    {H, H, {2, 1024, 16, 160}, {1, 1024, 1, 56}, 2, 96, true},
    /* whole rows: heads of models, then rows that no model has */
    {B, B, {2, 2048, 32, 128}, {1, 2048, 1, 128}, 0, 0, true},
    {B, B, {2, 2048, 32, 64}, {1, 2048, 1, 64}, 1, 0, true},
    {B, B, {1, 2048, 16, 72}, {1, 2048, 1, 72}, 0, 0, true},
    {F, F, {1, 2048, 16, 72}, {1, 2048, 1, 72}, 0, 0, false},
    {B, F, {1, 2048, 16, 80}, {1, 2048, 1, 80}, 0, 0, true},
    {H, H, {1, 4096, 16, 40}, {1, 4096, 1, 40}, 1, 0, true},
    {B, B, {1, 4096, 16, 88}, {1, 4096, 1, 88}, 1, 0, true},
    {B, B, {2, 16, 2048, 100}, {1, 1, 2048, 100}, 0, 0, true},
    {H, H, {2, 2048, 32, 16}, {1, 2048, 1, 16}, 0, 0, true},
    {B, B, {1, 2048, 16, 20}, {1, 2048, 1, 20}, 0, 0, true},
    {B, B, {1, 2048, 16, 64}, {1, 2048, 1, 64}, 3, 0, true},
    /* little work */
    {F, F, {4, 128, 4, 100}, {1, 128, 1, 100}, 1, 0, true},
    {B, B, {4, 16, 8, 82}, {4, 16, 1, 82}, 0, 0, true},
    {B, B, {4, 1024, 2, 16}, {1, 1024, 1, 16}, 1, 0, true},
    {B, B, {64, 1, 16, 32}, {64, 1, 1, 32}, 0, 0, true},
    {F, F, {2, 16, 2, 128}, {1, 16, 1, 128}, 0, 0, true},
    /* the same, rows of cos last */
    {H, H, {13, 9, 9, 126}, {1, 9, 9, 126}, 0, 0, true},
    {H, H, {13, 1, 14, 130}, {1, 1, 14, 130}, 0, 0, true},
    {B, B, {63, 1, 3, 126}, {1, 1, 3, 126}, 0, 0, true},
    {F, F, {127, 1, 7, 14}, {1, 1, 7, 14}, 1, 0, false},
};

static bool time_of(const struct sample *s, enum rotary_path path, struct ascgrad_report *report) {
    struct ascgrad_tensor in[4], out[3];
    for (int i = 0; i < 4; i++) {
        bool table = i == 1 || i == 2;
        in[i] = (struct ascgrad_tensor){.dtype = table ? s->table : s->type, .rank = 4};
        memcpy(in[i].dim, table ? s->cos : s->dy, sizeof s->dy);
    }
    in[3].rank = s->with_x ? 4 : -1;
    for (int i = 0; i < 3; i++)
        out[i].rank = -1;
    struct ascgrad_setting attr[2] = {{.set = true, .value = s->mode},
                                      {.set = true, .value = s->slice}};
    struct ascgrad_call call = {.size = sizeof call,
                                .op = "RotaryPositionEmbeddingGrad",
                                .in = in,
                                .inputs = 4,
                                .out = out,
                                .outputs = 3,
                                .attr = attr,
                                .attrs = 2};
    char why[ASCGRAD_WHY];
    forced = path;
    *report = (struct ascgrad_report){.size = sizeof *report};
    if (ascgrad_perf(&call, report, why) == ASCGRAD_OK) return true;
    fprintf(stderr, "%s\n", why);
    return false;
}

static bool picks_faster(const struct sample *s, bool verbose) {
    const double lost = 1.10, harmed = 1.05;
    struct ascgrad_report chosen, way[2];
    if (!time_of(s, CHOSEN, &chosen) || !time_of(s, GENERAL, &way[0]) ||
        !time_of(s, CONTIGUOUS, &way[1]))
        return false;
    bool contiguous = chosen.key % ROTARY_JOIN == ROTARY_CONTIGUOUS;
    const struct ascgrad_report *other = &way[!contiguous];
    double memory = (chosen.time_us + chosen.launch_us) / (other->time_us + other->launch_us);
    double cache = (chosen.time_l2_us + chosen.launch_us) / (other->time_l2_us + other->launch_us);
    bool tails = s->cos[3] < s->dy[3];
    bool wrong = (memory > lost && cache > lost) ||
                 (tails && contiguous && (memory > harmed || cache > harmed));
    if (wrong || verbose)
        printf("%s [%lld,%lld,%lld,%lld] of %lld columns, mode %lld: the %s path, %.2f times the "
               "other in memory, %.2f in the L2\n",
               wrong ? "FAIL" : "    ", (long long)s->dy[0], (long long)s->dy[1],
               (long long)s->dy[2], (long long)s->dy[3], (long long)s->cos[3], (long long)s->mode,
               contiguous ? "contiguous" : "general", memory, cache);
    return !wrong && way[0].key % ROTARY_JOIN != ROTARY_CONTIGUOUS &&
           way[1].key % ROTARY_JOIN == ROTARY_CONTIGUOUS;
}

int main(int argc, char **argv) {
    bool verbose = argc > 1 && strcmp(argv[1], "-v") == 0, good = true;
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
        good &= picks_faster(&samples[i], verbose);
    return !good;
}
