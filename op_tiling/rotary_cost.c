/* SPDX-License-Identifier: Apache-2.0
 *
 * What a plan of RotaryMulGrad or RotaryPositionEmbeddingGrad takes, so that the faster of two ways
 * is chosen: cycles of the busiest core by the constants of twin/cycle_constants.h, with the rates
 * of a chip of CORES cores whatever the chip is, for the choice decides the order of sums. Memory
 * and the vector unit work at the same time; what a tile and a core take besides is fitted to the
 * cycle model.
 */
#include "rotary.h"

enum {
    CORES = 48,
    LANES = 64,
    /* bytes that a copy is charged for at least; a quarter more if it is no whole blocks */
    DMA_LEAST = 128,
    /* Bytes that a core moves in two cycles where all move something, and at most: from memory, */
    MEMORY = 29,
    MEMORY_PEAK = 120,
    /* and in the L2 cache. */
    CACHE = 110,
    CACHE_PEAK = 200,
    /* cycles until the cores have met and joined their sums */
    MEETING = 4000,
    /* cycles until the scalar unit has issued a copy of one row, or half of one */
    COPY = 38,
};

/* What a path takes beside that, fitted to the cycle model: cycles of a core once (tables, the
 * first load, the last store), of a tile, and for 64 numbers; `sum`: with x, so much more; gather:
 * of 32-bit words. */
struct path_cost {
    int64_t core, tile, tile_sum, work, work_sum, gather;
};

static const struct path_cost general = {1650, 10, 480, 7, 1, 10};
static const struct path_cost contiguous_wide = {2600, 390, 435, 0, 2, 13};
static const struct path_cost contiguous_narrow = {2600, 390, 435, 3, 5, 19};

/* What a core has to do. */
struct share {
    int64_t cores, lines, rows, tiles;
};

static struct share share_of(const RotaryGradTiling *t, int64_t cores) {
    int64_t pieces = ceil_div(t->lines, t->unit) * t->segments, all = t->lines * t->segments;
    int64_t lines = least(ceil_div(pieces, cores) * t->unit, all);
    return (struct share){.cores = least(pieces, cores),
                          .lines = ceil_div(lines, t->segments),
                          .rows =
                              lines * (t->slab_stride / t->cos_rows) / (t->strips * t->segments),
                          .tiles = ceil_div(lines, t->tile_cos) * ceil_div(t->chunks, t->segments)};
}

/* Bytes that a copy of a run is charged for. */
static int64_t charged(int64_t bytes, bool blocks) {
    int64_t all = bytes == 0 ? 0 : most(bytes, DMA_LEAST);
    return blocks ? all : all + all / 4;
}

/* `bytes` that come in runs of `part`. */
static int64_t in_parts(int64_t bytes, int64_t part) {
    return bytes / part * charged(part, part % GM_BLOCK == 0);
}

/* Of a row of dy, dx and, if there is one, x. */
static int64_t row_bytes(const RotaryGradTiling *t, uint32_t mode, int64_t size) {
    int64_t row = t->row * size, whole = t->dy_row * size, first = t->slice * size;
    int64_t x = t->with_x, rows = t->tile_cos == 1 || mode != ROTARY_ODD ? t->chunk_rows : t->group;
    if (t->with_tails) {
        return 2 * whole + x * charged(round_up(row, GM_BLOCK), true);
    }
    if (mode == ROTARY_ODD || t->flat) {
        int64_t run = (t->cos_last ? t->tile_cos * t->cos_stride : rows) * row;
        return (2 + x) * in_parts(run, run) * row / run;
    }
    int64_t part = mode == ROTARY_PAIRS ? row : t->half * size;
    int64_t tails = charged(first, first % GM_BLOCK == 0) +
                    charged(whole - row - first, (whole | row | first) % GM_BLOCK == 0);
    return (2 + x) * in_parts(row, part) + 2 * tails;
}

/* Copies that the general path issues one by one: where rows of cos are last and rows do not fill
 * blocks, a step of a tile is a copy of its own, or one for each half. */
static int64_t copies_of(const RotaryGradTiling *t, uint32_t mode, const struct share *s) {
    if (mode == ROTARY_ODD || t->flat || !t->cos_last) {
        return 0;
    }
    int64_t parts = mode == ROTARY_PAIRS ? 1 : t->row / t->half;
    return ceil_div(s->rows, t->tile_cos) * parts * (2 + t->with_x);
}

/* Of the tables, and of their gradients. */
static int64_t line_bytes(const RotaryGradTiling *t, uint32_t mode, int64_t table) {
    int64_t row = t->row * table, part = mode == ROTARY_PAIRS ? row : t->half * table;
    bool whole = mode == ROTARY_ODD || t->flat;
    return (2 + 2 * t->with_x) * (whole ? row : in_parts(row, part));
}

/* Cycles of the vector unit, times LANES, for partners and for rows of cos and sin on their way to
 * slabs. */
static int64_t odd_partners(const RotaryGradTiling *t, const struct path_cost *path,
                            const struct share *s, int64_t size, int64_t table) {
    enum { SHIFTS = 2, BLOCKS = 3 };
    int64_t gather = path->gather, fill = t->fill, swap = gather;
    if (size == 2 && t->turn_unit != 2) {
        swap = t->turn_unit == 0 ? SHIFTS : t->turn_unit == 32 ? BLOCKS : gather / 2;
    }
    int64_t converted = t->with_tails ? 2 + (t->with_x && size == 2) : 0;
    int64_t rows = t->pitch * (swap + t->planes * gather) + round_up(t->pitch, LANES) * converted;
    int64_t word = table == 2 && t->reach % 2 == 0 ? gather / 2 : gather;
    int64_t lines = fill * word * (fill > 1 || t->planes ? 2 : 1);
    lines += fill > 1 && t->with_x ? fill * 3 * gather : 0;
    lines += t->group > fill ? t->group * 2 * BLOCKS : 0;
    return s->rows * rows + s->lines * t->pitch * lines;
}

/* Numbers of a row on the general path, padding included. */
static int64_t general_row(const RotaryGradTiling *t, uint32_t mode, int64_t size) {
    int64_t block = GM_BLOCK / size;
    if (t->flat) {
        return t->row;
    }
    return mode == ROTARY_PAIRS ? round_up(2 * t->width, block)
                                : t->rotations * 2 * round_up(t->width, block);
}

/* The same: neighbours to be swapped, planes, halves that begin inside blocks; and calls that go
 * row by row, or half by half, and take a cycle for each however short it is. */
static int64_t general_partners(const RotaryGradTiling *t, uint32_t mode, const struct share *s,
                                int64_t size, int64_t table) {
    bool halves = mode == ROTARY_HALVES || mode == ROTARY_PLANES;
    int64_t gather = general.gather, row = general_row(t, mode, size), swap = 0;
    if (mode == ROTARY_PAIRS) {
        swap = table == 4 ? 4 : 2;
    } else if (mode == ROTARY_PLANES) {
        swap = size == 4 ? gather + 5 : 5;
    } else if (mode == ROTARY_TURNED) {
        swap = gather;
    }
    int64_t parts = halves ? t->row / t->half * round_up(t->half, LANES) : round_up(t->row, LANES);
    int64_t calls = halves ? 3 * t->with_x : 3 + 4 * t->with_x;
    int64_t copied = t->with_tails ? 2 * t->dy_row : 0;
    return s->rows * (row * swap + parts * calls + copied) + s->lines * row * 12;
}

struct rotary_cost ascgrad_rotary_cost(const RotaryGradTiling *t, uint32_t mode, int64_t size,
                                       int64_t table, int64_t cores) {
    bool odd = mode == ROTARY_ODD;
    const struct path_cost *path = size == 4 ? &contiguous_wide : &contiguous_narrow;
    path = odd ? path : &general;
    struct share s = share_of(t, cores);
    int64_t x = t->with_x, row = odd ? t->pitch : general_row(t, mode, size);
    int64_t partners =
        odd ? odd_partners(t, path, &s, size, table) : general_partners(t, mode, &s, size, table);
    int64_t vector = (s.rows * row * (path->work + x * path->work_sum) + partners) / LANES +
                     s.tiles * (path->tile + x * path->tile_sum);
    int64_t bytes = 2 * (s.rows * row_bytes(t, mode, size) + s.lines * line_bytes(t, mode, table));
    int64_t memory = bytes / least(MEMORY_PEAK, MEMORY * CORES / s.cores);
    int64_t cache = bytes / least(CACHE_PEAK, CACHE * CORES / s.cores);
    int64_t once = path->core + (t->partial ? MEETING : 0);
    int64_t work = most(vector, COPY * copies_of(t, mode, &s));
    return (struct rotary_cost){once + most(memory, work), once + most(cache, work)};
}
