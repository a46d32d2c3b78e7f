/* SPDX-License-Identifier: Apache-2.0
 *
 * What a plan of RotaryMulGrad or RotaryPositionEmbeddingGrad takes, so that the faster of two ways
 * is chosen: cycles of the busiest core by the constants of twin/cycle_constants.h, on a chip of
 * CORES cores whatever the chip is, for the choice decides the order of sums. Memory and the vector
 * unit work at the same time; what a tile and a core take besides is fitted to the cycle model.
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
    /* cycles for 64 numbers: a gather of words, of blocks, and a call */
    GATHER = 12,
    GATHER_BLOCKS = 2,
    /* Calls for 64 numbers, without x and for the sums; cycles of a tile beside its numbers, and of
     * a core: tables, the first load, the last store. The contiguous path, */
    ODD_CALLS = 6,
    ODD_SUM_CALLS = 5,
    ODD_TILE = 800,
    ODD_CORE = 2500,
    /* and the general one. */
    CALLS = 6,
    SUM_CALLS = 6,
    TAIL_CALLS = 2,
    TILE = 600,
    CORE = 1500,
};

/* Bytes that a copy of a run is charged for. */
static int64_t charged(int64_t bytes, bool blocks) {
    int64_t least_bytes = bytes == 0 ? 0 : most(bytes, DMA_LEAST);
    return blocks ? least_bytes : least_bytes + least_bytes / 4;
}

/* Of a row of dy, both ways, and of x. */
static int64_t row_bytes(const RotaryGradTiling *t, bool pairs, int64_t size) {
    int64_t row = t->row * size, whole = t->dy_row * size, x = t->with_x;
    if (t->with_tails) {
        return 2 * whole + x * charged(round_up(row, GM_BLOCK), true);
    }
    int64_t part = pairs ? row : t->half * size, first = t->slice * size;
    int64_t rotated = row / part * charged(part, part % GM_BLOCK == 0);
    int64_t tails = charged(first, first % GM_BLOCK == 0) +
                    charged(whole - row - first, (whole | row | first) % GM_BLOCK == 0);
    return (2 + x) * rotated + 2 * tails;
}

/* Cycles of the vector unit for a row, times LANES. */
static int64_t odd_work(const RotaryGradTiling *t, int64_t size) {
    int64_t calls = ODD_CALLS + (t->with_x ? ODD_SUM_CALLS : 0);
    int64_t gather = t->turn_unit == 32     ? GATHER_BLOCKS
                     : t->turn_unit == size ? GATHER
                                            : GATHER / 2;
    int64_t converted = 2 + (t->with_x && size == 2);
    return t->pitch * (calls + gather) + round_up(t->pitch, LANES) * converted;
}

static int64_t general_work(const RotaryGradTiling *t, bool gathers, int64_t size) {
    int64_t calls = CALLS + (t->with_x ? SUM_CALLS : 0) + (gathers ? GATHER : 0);
    int64_t row = t->rotations * 2 * round_up(t->width, GM_BLOCK / size);
    return row * calls + (t->with_tails ? TAIL_CALLS * t->dy_row : 0);
}

struct rotary_cost ascgrad_rotary_cost(const RotaryGradTiling *t, uint32_t mode, int64_t size,
                                       int64_t table) {
    bool odd = mode == ROTARY_ODD, pairs = mode == ROTARY_PAIRS;
    int64_t pieces = ceil_div(t->lines, t->unit) * t->segments, cores = least(pieces, CORES);
    int64_t lines =
        least(ceil_div(pieces, CORES) * t->unit, t->lines * t->segments); /* of a core */
    int64_t rows = lines * (t->slab_stride / t->cos_rows) / (t->strips * t->segments);
    int64_t tiles = ceil_div(lines, t->tile_cos) * ceil_div(t->chunks, t->segments);
    int64_t work = odd ? odd_work(t, size) : general_work(t, pairs && table == 4, size);
    int64_t vector = rows * work / LANES + tiles * (odd ? ODD_TILE : TILE);
    int64_t bytes = 2 * rows * row_bytes(t, pairs, size), begin = odd ? ODD_CORE : CORE;
    int64_t memory = bytes / least(MEMORY_PEAK, MEMORY * CORES / cores);
    int64_t cache = bytes / least(CACHE_PEAK, CACHE * CORES / cores);
    return (struct rotary_cost){begin + most(memory, vector), begin + most(cache, vector)};
}
