/* SPDX-License-Identifier: Apache-2.0
 *
 * ExpSegsumGrad: grad_output, grad_self [..., T, T] -> grad_input [..., T].
 * T alone chooses the algorithm, so a matrix gives the same bits in any batch, on any chip, on any
 * number of cores.
 */
#include "../core/node.h"
#include "../op_kernel/exp_segsum_grad_tiling_data.h"
#include "arith.h"
#include "l2.h"

enum { GRAD_OUTPUT, GRAD_SELF };
enum { SQUARE = EXP_SEGSUM_ROWS, HALF = EXP_SEGSUM_HALF };
enum { MOST_ROWS = 4095 }; /* of one DataCopyPad */

static ascgrad_result check_shapes(const struct ascgrad_node *node, struct ascgrad_error *error) {
    const struct ascgrad_shape *s = node->in[GRAD_OUTPUT].shape, *y = node->in[GRAD_SELF].shape;
    struct ascgrad_text a, b;
    if (s->rank < 2) {
        return ascgrad_refuse(error, node,
                              "grad_output has shape %s, but a rank of 2 or more is needed",
                              ascgrad_shape_text(s, &a));
    }
    if (s->dim[s->rank - 2] != s->dim[s->rank - 1]) {
        return ascgrad_refuse(error, node,
                              "the last two dimensions of grad_output %s must be equal",
                              ascgrad_shape_text(s, &a));
    }
    if (!ascgrad_shape_equal(s, y)) {
        return ascgrad_refuse(error, node, "grad_self %s must have the shape of grad_output %s",
                              ascgrad_shape_text(y, &b), ascgrad_shape_text(s, &a));
    }
    struct ascgrad_shape out = *s;
    out.rank--;
    return ascgrad_need_output(node, 0, &out, node->in[GRAD_OUTPUT].dtype, error);
}

static ascgrad_result check(const struct ascgrad_node *node, struct ascgrad_error *error) {
    if (ascgrad_need_inputs(node, error) != ASCGRAD_DONE ||
        check_shapes(node, error) != ASCGRAD_DONE) {
        return ASCGRAD_REFUSED;
    }
    const struct ascgrad_shape *s = node->in[GRAD_OUTPUT].shape;
    int64_t t = s->dim[s->rank - 1];
    int64_t most = (int64_t)(UINT32_MAX / ascgrad_dtype_size(node->in[GRAD_OUTPUT].dtype));
    if (t > most) { /* the row pitch is a 32-bit field of the copy instruction */
        return ascgrad_refuse(error, node,
                              "T is %lld, but a row pitch of the chip holds %lld elements",
                              (long long)t, (long long)most);
    }
    return ASCGRAD_DONE;
}

/* Matrices per tile: what fits, but four tiles per core if that leaves tiles worth a copy. */
static int64_t small_tile(const ExpSegsumGradTilingData *d, int64_t es, int64_t cores) {
    int64_t t = d->size;
    int64_t pitch = t % 8 == 0 ? t : round_up(t, 32 / es);
    int64_t result = t % 8 == 0 ? t : round_up(t, EXP_SEGSUM_STRIP);
    int64_t fit =
        least(least(EXP_SEGSUM_TILE / (t * pitch), EXP_SEGSUM_OUT / result), MOST_ROWS / t);
    int64_t mine = ceil_div(d->units, cores) * d->unit;
    int64_t wish = ceil_div(mine, 4), enough = ceil_div(2048, t * pitch);
    int64_t tile = least(fit, most(wish, enough));
    tile = ceil_div(mine, ceil_div(mine, tile)); /* tiles of one size */
    int64_t whole = round_up(tile, d->unit);
    return whole <= fit ? whole : tile;
}

/* Off-diagonal tiles of 64 rows x 128 columns in one matrix: row half r has r / 2 of them. */
static int64_t large_tiles(int64_t halves) {
    int64_t pairs = halves / 2;
    return pairs * (pairs - 1) + (halves % 2 ? pairs : 0);
}

/* The tables of partial sums of one matrix, in bytes; see exp_segsum_grad_large.h. */
static int64_t large_tables(int64_t t) {
    int64_t blocks = ceil_div(t, SQUARE), halves = ceil_div(t, HALF);
    return (blocks * halves * SQUARE + blocks * blocks * SQUARE + halves * blocks * 8) * 4;
}

static int64_t large_workspace(const ExpSegsumGradTilingData *d, int64_t es) {
    return d->matrices * (large_tables(d->size) + (d->gather ? round_up(d->size, SQUARE) * es : 0));
}

/* One core per matrix leaves cores idle in the last round; all cores on all matrices synchronise
 * and go to memory once more. The bits are the same. Rough cycles of the cycle model: a unit of
 * work on the vector unit, its copies at a core's part of the memory. */
static bool whole_is_faster(const ExpSegsumGradTilingData *d, int64_t es, int64_t cores) {
    enum { TILE_CYCLES = 1100, SQUARE_CYCLES = 2600, FIRST_COPY = 1300 };
    enum { WITH_TABLES = 800, SYNC_CYCLES = 3500 }; /* more for a block, and in all */
    enum { SHARE = 18, PEAK = 47 };   /* bytes per cycle: of all cores, of one alone */
    enum { SQUARE_ELEMENTS = 10752 }; /* short rows cost more than they have */
    enum { VERY_MANY = 1 << 20 };     /* matrices; no product below overflows */
    if (d->size > EXP_SEGSUM_WHOLE_MOST) return false;
    if (d->matrices > VERY_MANY) return true;
    int64_t tiles = large_tiles(ceil_div(d->size, HALF)), blocks = ceil_div(d->size, SQUARE);
    int64_t unit = rows_per_block(d->size * es), units = ceil_div(d->matrices, unit);
    int64_t vector = ceil_div(units, cores) * unit * (tiles * TILE_CYCLES + blocks * SQUARE_CYCLES);
    int64_t bytes = (tiles * HALF * SQUARE + blocks * SQUARE_ELEMENTS) * 2 * es;
    int64_t whole = most(vector, ceil_div(d->matrices * bytes, cores * SHARE)) + FIRST_COPY;

    int64_t busy = least(cores, d->matrices * most(tiles, blocks));
    int64_t rate = least(PEAK, SHARE * cores / busy);
    int64_t tile = most(TILE_CYCLES, HALF * SQUARE * 2 * es / rate);
    int64_t block = most(SQUARE_CYCLES + WITH_TABLES, SQUARE_ELEMENTS * 2 * es / rate);
    int64_t spread = ceil_div(d->matrices * tiles, cores) * tile +
                     ceil_div(d->matrices * blocks, cores) * block + SYNC_CYCLES;
    return whole <= spread;
}

/* The buffers of the kernel. The operands lie 256 bytes apart modulo 512 in fp32: no two reads of a
 * repeat meet in a bank group. Returns the bytes in all. */
static int64_t lay_out(ExpSegsumGradTilingData *d, uint64_t key, int64_t es) {
    enum { BANKS = 128, SHIFT = 64 }; /* fp32 */
    if (key == EXP_SEGSUM_ZERO) {
        d->out_bytes = (uint32_t)(d->unit * 4);
        return d->out_bytes;
    }
    int64_t tile = EXP_SEGSUM_TILE, span = round_up(tile, BANKS) + SHIFT;
    d->span = (uint32_t)span;
    d->second = (uint32_t)(es == 2 ? tile : span);
    d->in_bytes = (uint32_t)((d->second + tile) * es);
    d->wide_bytes = (uint32_t)(es == 2 ? (span + tile) * 4 : 0);
    int64_t out = key == EXP_SEGSUM_SMALL   ? EXP_SEGSUM_OUT * es
                  : key == EXP_SEGSUM_LARGE ? EXP_SEGSUM_SUMS * 4
                                            : SQUARE * es;
    d->out_bytes = (uint32_t)round_up(out, GM_BLOCK);
    if (key != EXP_SEGSUM_SMALL) {
        d->tiles_bytes = SQUARE * EXP_SEGSUM_TILE_LANES * 4;
    }
    if (key == EXP_SEGSUM_WHOLE) d->sums_bytes = (uint32_t)large_tables(d->size);
    if (key == EXP_SEGSUM_LARGE) {
        d->sums_bytes = 3 * EXP_SEGSUM_LOAD_ROWS * SQUARE * 4;
        d->line_bytes = (uint32_t)(d->gather ? SQUARE * es : 0);
    }
    return 2 * (int64_t)d->in_bytes + 2 * d->out_bytes + d->wide_bytes + d->tiles_bytes +
           d->sums_bytes + 2 * d->line_bytes;
}

ascgrad_tile_fn ascgrad_tile_exp_segsum_grad;

ascgrad_result ascgrad_tile_exp_segsum_grad(const struct ascgrad_node *node,
                                            const struct ascgrad_chip *chip,
                                            struct ascgrad_launch *launch,
                                            struct ascgrad_error *error) {
    if (ascgrad_need_later_chip(node, chip, error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
    if (check(node, error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
    const struct ascgrad_shape *s = node->in[GRAD_OUTPUT].shape;
    int64_t es = (int64_t)ascgrad_dtype_size(node->in[GRAD_OUTPUT].dtype);
    int64_t cores = chip->cores ? chip->cores : 1;
    ExpSegsumGradTilingData d = {.size = s->dim[s->rank - 1], .unit = 1};
    d.matrices = d.size ? ascgrad_elements(s, 0, s->rank - 2) : 0;

    launch->workspace = 0;
    launch->sync_all = false;
    if (d.size <= 1 || d.matrices == 0) {
        launch->key = EXP_SEGSUM_ZERO;
        d.unit = 1024;
        d.units = d.size ? ceil_div(d.matrices, d.unit) : 0;
    } else if (d.size <= SQUARE) {
        launch->key = d.size <= HALF ? EXP_SEGSUM_SMALL : EXP_SEGSUM_SQUARE;
        d.unit = rows_per_block(d.size * es);
        d.units = ceil_div(d.matrices, d.unit);
        if (d.size <= HALF) d.tile = (uint32_t)small_tile(&d, es, cores);
    } else if (whole_is_faster(&d, es, cores)) {
        launch->key = EXP_SEGSUM_WHOLE;
        d.unit = rows_per_block(d.size * es);
        d.units = ceil_div(d.matrices, d.unit);
    } else {
        launch->key = EXP_SEGSUM_LARGE;
        d.units = d.matrices * large_tiles(ceil_div(d.size, HALF));
        d.gather = d.matrices > 1 && d.size * es % 32;
        launch->workspace = (uint64_t)large_workspace(&d, es);
        launch->sync_all = true;
    }
    /* Above 128 rows two tiles may share a line. */
    d.stream = d.size > 1 && d.size <= SQUARE &&
               d.matrices > kept_in_l2(chip) / (2 * d.size * d.size * es);
    d.direct = d.size * es % GM_BLOCK == 0 && d.size * es / GM_BLOCK <= UINT16_MAX;
    int64_t need = lay_out(&d, launch->key, es);
    if ((uint64_t)need > chip->ub) {
        return ascgrad_refuse(error, node, "the kernel needs %lld bytes of UB, the chip has %llu",
                              (long long)need, (unsigned long long)chip->ub);
    }
    /* As few cores as keep the number of rounds: each of them gets more of the memory bandwidth. */
    int64_t diagonal = launch->key == EXP_SEGSUM_LARGE ? d.matrices * ceil_div(d.size, SQUARE) : 0;
    int64_t work = d.units > diagonal ? d.units : diagonal, rounds = ceil_div(work, cores);
    launch->block_dim = (uint32_t)(rounds ? ceil_div(work, rounds) : 1);
    return ascgrad_put(launch, node, &d, sizeof d, error);
}
