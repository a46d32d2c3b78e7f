/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of small kernels, with what was measured of each in public, and how long the cycle
 * model thinks that they take.
 */
#include "gauges.h"

#include <stdlib.h>
#include <string.h>

extern twin_entry_fn twin_entry_ascgrad_gauge_0_checked;
extern const uint32_t twin_arity_ascgrad_gauge_0_checked;

#define MOVE  "TensorMove of 67 MB, vTriton, 910B3"
#define CALLS "10,000 Adds of 256 fp16, vTriton, 910B3"
#define AGAIN "Add sample with two buffers, asc-devkit"
#define PAST  "Add sample past the L2, asc-devkit"
#define NO                                                                                         \
    { 0, false, NULL }

/* clang-format off */
const struct gauge gauges[] = {
    {"launch", "a kernel that does nothing, on all cores", GAUGE_NOTHING, 0, 0, false, 150,
     {{NO, NO}, {NO, NO}, {NO, NO}}},
    {"vector", "10,000 Adds of 256 fp16 in count form, one core", GAUGE_CHAIN, 10000, 1, false, 25,
     {{{168.1, false, CALLS}, NO}, {NO, NO}, {NO, NO}}},
    {"copy", "a copy, 67 MB moved", GAUGE_COPY, 1024, 0, false, 25,
     {{{52.0, false, MOVE}, {15.0, false, MOVE ", in the L2"}}, {NO, NO}, {NO, NO}}},
    {"add", "z = x + y, 50 MB moved", GAUGE_ADD, 1024, 0, false, 25,
     {{NO, NO}, {NO, NO}, {NO, NO}}},
    {"add-past", "the same, x and y read past the L2", GAUGE_ADD, 1024, 0, true, 25,
     {{NO, NO}, {NO, NO}, {NO, NO}}},
    {"add-large", "z = x + y, 403 MB moved", GAUGE_ADD, 8192, 0, false, 25,
     {{NO, {264, true, AGAIN ", 48 cores at 1850 MHz"}}, {NO, {247.7, true, AGAIN ", 950"}},
      {NO, NO}}},
    {"add-large-past", "the same, x and y read past the L2", GAUGE_ADD, 8192, 0, true, 25,
     {{NO, {184.5, true, PAST ", 48 cores at 1850 MHz"}}, {NO, {182, true, PAST ", 950"}},
      {NO, NO}}},
};
/* clang-format on */
const size_t gauge_count = sizeof gauges / sizeof gauges[0];
_Static_assert(sizeof gauges / sizeof gauges[0] == GAUGES, "every number has its row");

bool gauge_asked(const struct gauge *g, enum question_chip chip) {
    return !(g->past && chip == CHIP_910);
}

AscgradGaugeTilingData gauge_tiling(const struct gauge *g) {
    return (AscgradGaugeTilingData){.what = g->kind, .tiles = g->tiles, .past = g->past};
}

static void sizes(const struct gauge *g, uint32_t tiles, uint64_t *x, uint64_t *y) {
    *x = *y = GAUGE_TAIL;
    if (g->kind == GAUGE_COPY) *x = *y = (uint64_t)tiles * GAUGE_COPY_TILE;
    if (g->kind == GAUGE_ADD) *y = (uint64_t)tiles * GAUGE_ADD_TILE, *x = 2 * *y;
}

void gauge_sizes(const struct gauge *g, uint64_t *x, uint64_t *y) {
    sizes(g, g->tiles, x, y);
}

bool gauge_done(const struct gauge *g, const uint8_t tail[GAUGE_TAIL]) {
    /* fp16: 1 + 1; fp32: x + x; a copy of x; nothing */
    static const uint32_t want[] = {[GAUGE_NOTHING] = 0xa5a5a5a5,
                                    [GAUGE_CHAIN] = 0x40004000,
                                    [GAUGE_COPY] = 0x3c3c3c3c,
                                    [GAUGE_ADD] = 0x3cbc3c3c};
    for (size_t i = 0; i < GAUGE_TAIL; i += 4)
        if (memcmp(tail + i, &want[g->kind], 4) != 0) return false;
    return true;
}

/* Loads and stores of x and y, by what the round before has left in the L2. Who reads past the L2
 * finds nothing there. */
static struct twin_memory memory_of(const struct gauge *g, const struct twin_soc *soc,
                                    enum gauge_place place) {
    uint64_t x, y;
    gauge_sizes(g, &x, &y);
    if (place == GAUGE_COLD) return (struct twin_memory){0, 0};
    const double hits = twin_again((double)(g->past ? y : x + y), (double)soc->l2);
    return (struct twin_memory){g->past ? 0 : hits, hits};
}

/* So many of its tiles. */
static bool run_part(const struct gauge *g, const struct twin_soc *soc, enum gauge_place place,
                     const double *constants, uint32_t tiles, double us[2]) {
    struct twin_gauge part = {
        .name = g->name,
        .entry = twin_entry_ascgrad_gauge_0_checked,
        .arity = twin_arity_ascgrad_gauge_0_checked,
        .cores = g->cores ? g->cores : soc->cores,
        .memory = memory_of(g, soc, place),
    };
    AscgradGaugeTilingData tiling = gauge_tiling(g);
    char why[TWIN_WHY];
    tiling.tiles = tiles;
    part.tiling = &tiling;
    part.tiling_bytes = sizeof tiling;
    sizes(g, tiles, &part.x_bytes, &part.y_bytes);
    part.x = calloc(1, part.x_bytes);
    part.y = calloc(1, part.y_bytes);
    const bool good = part.x && part.y && twin_gauge(&part, soc, constants, us, why) == TWIN_OK;
    free(part.x), free(part.y);
    return good;
}

bool gauge_model(const struct gauge *g, const struct twin_soc *soc, enum gauge_place place,
                 const double *constants, double us[2]) {
    enum { FEW = 2, MORE = 5 };
    const uint32_t each = g->kind == GAUGE_CHAIN ? GAUGE_PLACES : soc->cores;
    const double rounds =
        g->kind == GAUGE_CHAIN ? (double)g->tiles / each : (g->tiles + each - 1) / each;
    double more[2];
    if (rounds <= MORE) return run_part(g, soc, place, constants, g->tiles, us);
    if (!run_part(g, soc, place, constants, FEW * each, us) ||
        !run_part(g, soc, place, constants, MORE * each, more))
        return false;
    us[0] += (rounds - FEW) * (more[0] - us[0]) / (MORE - FEW);
    return true;
}
