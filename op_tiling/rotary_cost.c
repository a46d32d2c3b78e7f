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
    int64_t lines = least(ceil_div(pieces, cores) * least(t->unit, t->lines), all);
    return (struct share){.cores = least(pieces, cores),
                          .lines = ceil_div(lines, t->segments),
                          .rows =
                              lines * (t->slab_stride / t->cos_rows) / (t->strips * t->segments),
                          .tiles = ceil_div(lines, t->tile_cos) * ceil_div(t->chunks, t->segments)};
}

/* The same for dx apart from sums. */
static struct share apart_of(const RotaryGradTiling *t, int64_t cores) {
    int64_t all = t->lines / t->cos_rows * t->slab_stride, rows = ceil_div(all, cores);
    bool steps = t->cos_last && t->cos_rows <= t->tile_cos; /* several with one load of cos */
    int64_t line = t->cos_stride * (t->across ? t->inner : steps ? t->chunk_rows : 1);
    return (struct share){.cores = cores,
                          .lines = ceil_div(rows, line) * (t->across ? t->apart : 1),
                          .rows = rows,
                          .tiles = ceil_div(rows * t->pitch, t->tile)};
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

/* Of a row of so many tensors: dy, dx and, if there are three, x. */
static int64_t row_bytes(const RotaryGradTiling *t, uint32_t mode, int64_t size, int64_t tensors) {
    int64_t row = t->row * size, whole = t->dy_row * size, first = t->slice * size;
    int64_t rows = t->tile_cos == 1 || mode != ROTARY_CONTIGUOUS ? t->chunk_rows : t->group;
    if (t->with_tails) {
        return 2 * whole + (tensors - 2) * charged(round_up(row, GM_BLOCK), true);
    }
    if (mode == ROTARY_CONTIGUOUS || t->flat) {
        int64_t run = (t->cos_last ? t->tile_cos * t->cos_stride : rows) * row;
        return tensors * in_parts(run, run) * row / run;
    }
    int64_t part = mode == ROTARY_PAIRS ? row : t->half * size;
    int64_t tails = charged(first, first % GM_BLOCK == 0) +
                    charged(whole - row - first, (whole | row | first) % GM_BLOCK == 0);
    return tensors * in_parts(row, part) + 2 * tails;
}

/* Copies that the general path issues one by one: where rows of cos are last and rows do not fill
 * blocks, a step of a tile is a copy of its own, or one for each half. */
static int64_t copies_of(const RotaryGradTiling *t, uint32_t mode, const struct share *s) {
    if (mode == ROTARY_CONTIGUOUS || t->flat || !t->cos_last) {
        return 0;
    }
    int64_t parts = mode == ROTARY_PAIRS ? 1 : t->row / t->half;
    return ceil_div(s->rows, t->tile_cos) * parts * (2 + t->with_x);
}

/* Of the tables, and of their gradients. */
static int64_t line_bytes(const RotaryGradTiling *t, uint32_t mode, int64_t table, int64_t tables) {
    int64_t row = t->row * table, part = mode == ROTARY_PAIRS ? row : t->half * table;
    bool whole = mode == ROTARY_CONTIGUOUS || t->flat;
    return tables * (whole ? row : in_parts(row, part));
}

/* Cycles of the vector unit, times LANES, for partners and for rows of cos and sin on their way to
 * slabs. */
static int64_t contiguous_partners(const RotaryGradTiling *t, const struct path_cost *path,
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
    }
    int64_t parts = halves ? t->row / t->half * round_up(t->half, LANES) : round_up(t->row, LANES);
    int64_t calls = halves ? 3 * t->with_x : 3 + 4 * t->with_x;
    int64_t copied = t->with_tails ? 2 * t->dy_row : 0;
    return s->rows * (row * swap + parts * calls + copied) + s->lines * row * 12;
}

/* What a walk through a share takes: cycles of the vector unit, and bytes. */
struct walk {
    int64_t vector, bytes;
};

/* A walk that moves so many tensors like dy and so many tables, and takes so much for 64 numbers
 * and for a tile. */
struct needs {
    int64_t tensors, tables, work, tile;
};

static struct walk walk_of(const RotaryGradTiling *t, uint32_t mode, const struct path_cost *path,
                           const struct share *s, const struct needs *n, int64_t size,
                           int64_t table) {
    bool contiguous = mode == ROTARY_CONTIGUOUS;
    int64_t row = contiguous ? t->pitch : general_row(t, mode, size);
    int64_t partners = contiguous ? contiguous_partners(t, path, s, size, table)
                                  : general_partners(t, mode, s, size, table);
    return (struct walk){.vector =
                             (s->rows * row * n->work + partners) / LANES + s->tiles * n->tile,
                         .bytes = s->rows * row_bytes(t, mode, size, n->tensors) +
                                  s->lines * line_bytes(t, mode, table, n->tables)};
}

struct rotary_cost ascgrad_rotary_cost(const RotaryGradTiling *t, uint32_t mode, int64_t size,
                                       int64_t table, int64_t cores) {
    const struct path_cost *path = size == 4 ? &contiguous_wide : &contiguous_narrow;
    path = mode == ROTARY_CONTIGUOUS ? path : &general;
    struct share s = share_of(t, cores);
    int64_t x = t->with_x, copies = COPY * copies_of(t, mode, &s);
    struct needs n = {2 + x, 2 + 2 * x, path->work + x * path->work_sum,
                      path->tile + x * path->tile_sum};
    struct walk all = {0, 0};
    if (t->apart) {
        struct share d = apart_of(t, cores);
        const struct needs dx = {2, 2, path->work, path->tile};
        all = walk_of(t, mode, path, &d, &dx, size, table);
        n = (struct needs){2, 2, path->work_sum, path->tile_sum};
        s.cores = d.cores;
    }
    if (!t->apart || x) {
        struct walk sums = walk_of(t, mode, path, &s, &n, size, table);
        all = (struct walk){all.vector + sums.vector, all.bytes + sums.bytes};
    }
    int64_t bytes = 2 * all.bytes, work = most(all.vector, copies);
    int64_t memory = bytes / least(MEMORY_PEAK, MEMORY * CORES / s.cores);
    int64_t cache = bytes / least(CACHE_PEAK, CACHE * CORES / s.cores);
    int64_t once = path->core + (t->partial ? MEETING : 0);
    return (struct rotary_cost){once + most(memory, work), once + most(cache, work)};
}
