/* SPDX-License-Identifier: Apache-2.0
 *
 * RotaryMulGrad on the first generation of the 910, whose kernel is
 * op_kernel/rotary_mul_grad_910.h. Chunks, segments and levels are those of rotary_plan.c, so that
 * the sums have the same bits as on every other chip; tiles, the UB and the cores are this chip's
 * own. A core that owns a line (a row of cos, or a strip of one) adds up everything that belongs to
 * it: the cores never meet.
 */
#include "rotary.h"

enum {
    /* Floats that put two operands of one call in other banks: these repeat after 512 bytes. */
    SHIFT = 64,
    /* Floats in which parts of the UB are counted, for the same reason. */
    PART = 128,
    /* elements of a tile: more would not make calls much longer, but work for fewer cores */
    TILE = 9216,
    /* tiles that share a load of cos */
    TILES = 8,
    /* copies that a tile may be made of */
    ACROSS = 16,
    /* elements worth starting a core for */
    CORE = 2048,
    /* bytes of both halves in the UB up to which they are stored as one */
    PACKED = 896,
};

ascgrad_result ascgrad_rotary_check_910(const struct ascgrad_node *node,
                                        const struct rotary_work *work,
                                        struct ascgrad_error *error) {
    int64_t bytes = work->row * work->size;
    if (node->in[0].dtype == ASCGRAD_BF16) {
        return ascgrad_refuse(error, node, "the first generation of the 910 has no bf16");
    }
    if (work->table != work->size) {
        return ascgrad_refuse(error, node,
                              "on the first generation of the 910 all tensors must have one dtype");
    }
    if (work->dy_row != work->row) {
        return ascgrad_refuse(
            error, node,
            "the first generation of the 910 rotates whole rows only, got %lld of "
            "%lld elements",
            (long long)work->row, (long long)work->dy_row);
    }
    if (bytes < GM_BLOCK) {
        return ascgrad_refuse(error, node,
                              "on the first generation of the 910 a row must have at least %d "
                              "bytes, got %lld",
                              GM_BLOCK, (long long)bytes);
    }
    return ASCGRAD_DONE;
}

/* Places and sizes for tiles of `cos` rows of cos and `rows` rows each, and for the cos of so many
 * tiles. Returns the bytes. */
static int64_t lay_out(RotaryGradTiling *t, int64_t cos, int64_t rows, int64_t tiles,
                       int64_t size) {
    bool narrow = size == 2, x = t->with_x;
    int64_t tile = round_up(cos * rows * t->sum_row, PART);
    int64_t cosines = round_up(tiles * cos * t->sum_row, PART), at = 0;
    t->tile_cos = (uint32_t)cos;
    t->band_tiles = (uint32_t)tiles;
    t->chunk_rows = (uint32_t)rows;
    t->tile = (uint32_t)tile;
    t->cosines = (uint32_t)cosines;
    /* Halves that end inside blocks are turned by way of dx, or of dy that has been turned before;
     * gaps are closed by way of the latter. */
    t->table = t->gaps            ? (uint32_t)most(tile, 4 * PACKED) /* of 16 rows */
               : t->half % 8 != 0 ? (uint32_t)most(tile, ROTARY_LEAST_TILE)
                                  : 0;
    /* dy, dy with halves swapped, x or what replaces it; fp32 stays where it has been loaded */
    at += narrow ? tile : 0;
    t->swap_at = (uint32_t)at;
    at += most(tile, t->table) + SHIFT;
    t->x_at = (uint32_t)at;
    at += narrow ? tile + SHIFT : SHIFT;
    /* the terms of both sums */
    t->dx_at = (uint32_t)at;
    at += x ? 2 * tile + 4 * SHIFT : 0;
    /* cos and sin, the latter swapped, too; in other banks than dy */
    at += at % PART == 0 ? SHIFT : 0;
    t->cosines_at = (uint32_t)at;
    at += (narrow ? 3 : 1) * cosines;
    t->sums_at = (uint32_t)at;
    at += 2 * t->levels * cosines;
    /* The last part may be empty; its tensor still begins inside. */
    t->work_bytes = (uint32_t)(4 * round_up(at + 1, PART));
    t->tile_bytes = (uint32_t)round_up((2 * tile + SHIFT) * size, 512);
    t->cos_bytes = (uint32_t)round_up((2 * cosines + SHIFT) * size, 512);
    t->sum_bytes = (uint32_t)(2 * cosines * (t->partial ? 4 : size));
    t->shift_bytes = (uint32_t)round_up(most(tile, t->table) * size, 512); /* dx on its way out */
    t->ub_bytes = t->work_bytes + (x ? t->sum_bytes : 0) +
                  (narrow ? 1 : 2) * (t->tile_bytes + t->cos_bytes + t->shift_bytes);
    return t->ub_bytes;
}

/* The most rows of cos that a tile has room for, unless cores are then without work. */
static bool choose_tile(RotaryGradTiling *t, const struct ascgrad_chip *chip, int64_t size) {
    int64_t rows = t->chunk_rows, ub = (int64_t)chip->ub;
    while (!t->with_x && rows > 1 && lay_out(t, 1, rows, 1, size) > ub) {
        rows = ceil_div(rows, 2); /* nothing is summed: chunks may have any length */
    }
    int64_t most_cos = 1;
    if (t->strips == 1 && (t->cos_last || rows == t->inner)) {
        most_cos = least(t->cos_rows, most(1, TILE / (rows * t->sum_row)));
        most_cos = least(most_cos, ceil_div(t->lines, chip->cores));
    }
    while (most_cos > 1 && lay_out(t, most_cos, rows, 1, size) > ub) {
        most_cos--;
    }
    /* Few rows of dy for each row of cos: let copies put those of all rows of cos together. */
    t->flat = !t->gaps && t->strips == 1 && !t->cos_last && rows <= ACROSS && t->row * size >= 128;
    t->chunks_inner = ceil_div(t->inner, rows);
    t->chunks = t->chunks_inner * (t->cos_last ? 1 : t->slab_stride / t->outer_stride);
    /* Rows of cos that are fetched, and whose sums are stored, at once. */
    int64_t tiles = least(TILES, ceil_div(ceil_div(t->lines, chip->cores), most_cos));
    tiles =
        t->levels > 0 && t->strips == 1 && !t->partial ? least(tiles, t->cos_rows / most_cos) : 1;
    while (tiles > 1 && lay_out(t, most_cos, rows, tiles, size) > ub) {
        tiles--;
    }
    return lay_out(t, most_cos, rows, most(1, tiles), size) <= ub;
}

/* Rows that are no whole blocks, or that have strips and halves that are none: every half then
 * begins at a block in the UB. */
static void leave_gaps(RotaryGradTiling *t, int64_t size) {
    int64_t block = GM_BLOCK / size, rows = t->lines / t->strips;
    t->width = (uint32_t)(t->strips > 1 ? t->width : round_up(t->half, block));
    while (t->strips > 1 && t->half % t->width > 0 && t->half % t->width < block) {
        t->width -= (uint32_t)block; /* the last strip has a block, too */
    }
    t->strips = t->strips_half = t->strips > 1 ? ceil_div(t->half, t->width) : 1;
    t->lines = rows * t->strips;
    /* Halves that are copied together: there are fewer copies, but more words to move. */
    t->gaps = t->strips == 1 && 2 * t->width * size <= PACKED ? 2 : 1;
    /* Rows of cos that meet inside blocks stay on one core; if those of the next step begin
     * elsewhere in a block, all of a slab do. */
    int64_t steps = t->cos_last ? t->inner : t->slab_stride / t->outer_stride;
    bool even = steps == 1 || t->cos_rows * t->cos_stride * t->row * size % GM_BLOCK == 0;
    int64_t unit = even ? 1 : t->cos_rows;
    t->unit = unit * rows_per_block(unit * t->row * size) * t->strips;
}

ascgrad_result ascgrad_rotary_plan_910(const struct ascgrad_node *node,
                                       const struct rotary_work *work,
                                       const struct ascgrad_chip *chip, RotaryGradTiling *t,
                                       struct ascgrad_launch *launch, struct ascgrad_error *error) {
    struct rotary_work plain = *work;
    plain.path = GENERAL; /* whose order of sums is this kernel's */
    ascgrad_rotary_plan(&plain, chip, t, launch);
    int64_t pieces = 1, whole = (t->strips > 1 ? 1 : 2) * t->half;
    launch->key = ROTARY_FIRST;
    launch->sync_all = false;
    t->unit = 1;
    t->gaps = 0;
    if (whole * work->size % GM_BLOCK != 0) {
        leave_gaps(t, work->size);
    }
    t->sum_row = (uint32_t)(t->strips > 1 ? 2 * t->width : 2 * t->rotations * t->width);
    if (work->elements > 0) {
        if (!choose_tile(t, chip, work->size)) {
            return ascgrad_refuse(error, node, "the kernel needs %u bytes of UB, the chip has %llu",
                                  t->ub_bytes, (unsigned long long)chip->ub);
        }
        if (!t->with_x) { /* nothing is summed: segments are work for more cores */
            int64_t outer = t->cos_last ? 1 : t->slab_stride / t->outer_stride;
            bool may = !t->gaps || ascgrad_rotary_splits_at_blocks(t, outer, work->size);
            t->segments = may ? least(t->chunks, t->segments) : 1;
        }
        pieces = most(1, t->lines / t->unit) * (t->with_x ? 1 : t->segments);
        pieces = least(pieces, ceil_div(work->elements, CORE));
    } else {
        t->sum_row = ROTARY_LEAST_TILE; /* room for the zeros */
        lay_out(t, 1, 1, 1, work->size);
    }
    pieces = most(pieces, ceil_div(t->zeros, 4 * CORE));
    launch->block_dim = (uint32_t)most(1, least(pieces, chip->cores));
    launch->workspace = t->partial ? (uint64_t)(t->segments * 2 * t->lines * t->sum_row * 4) : 0;
    return ASCGRAD_DONE;
}
