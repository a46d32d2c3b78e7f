/* SPDX-License-Identifier: Apache-2.0
 *
 * ExpSegsumGrad: grad_output, grad_self [..., T, T] -> grad_input [..., T].
 * T alone chooses the algorithm, so a matrix gives the same bits in any batch, on any chip, on any
 * number of cores.
 */
#include "../core/node.h"
#include "../op_kernel/exp_segsum_grad_tiling_data.h"
#include "arith.h"

enum { GRAD_OUTPUT, GRAD_SELF };
enum { BLOCK = 128, HALF = 64, STRIP = 16 }; /* as in the kernel */
enum { MOST_ROWS = 4095 };                   /* of one DataCopyPad */

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
    int64_t result = t % 8 == 0 ? t : round_up(t, STRIP);
    int64_t fit = least(least(EXP_SEGSUM_SMALL_TILE / (t * pitch), EXP_SEGSUM_SMALL_OUT / result),
                        MOST_ROWS / t);
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

/* The tables of partial sums; see exp_segsum_grad_large.h. */
static int64_t large_workspace(const ExpSegsumGradTilingData *d, int64_t es) {
    int64_t blocks = ceil_div(d->size, BLOCK), halves = ceil_div(d->size, HALF);
    int64_t floats = blocks * halves * BLOCK + blocks * blocks * BLOCK + halves * blocks * 8;
    return d->matrices * (floats * 4 + (d->gather ? blocks * BLOCK * es : 0));
}

/* Bytes of UB for the kernel's buffers: two tiles of both operands, their fp32 copies, the rest. */
static int64_t ub_need(uint64_t key, int64_t es) {
    enum { PAD = 64, TILES = BLOCK / 2 * 48 * 4, SUMS = 48 * BLOCK * 4 };
    enum { OUT = (BLOCK + HALF + 8) * 4 };
    int64_t tile = key == EXP_SEGSUM_SMALL ? EXP_SEGSUM_SMALL_TILE : EXP_SEGSUM_BLOCK_TILE;
    int64_t both = (2 * tile + PAD) * 4, in = es == 4 ? both : 2 * tile * es;
    int64_t need = 2 * in + (es == 4 ? 0 : both);
    switch (key) {
    case EXP_SEGSUM_ZERO:
        return 4 * 1024;
    case EXP_SEGSUM_SMALL:
        return need + 2 * EXP_SEGSUM_SMALL_OUT * es;
    case EXP_SEGSUM_BLOCK:
        return need + 2 * BLOCK * es + TILES;
    default:
        return need + 2 * OUT + TILES + SUMS + 2 * BLOCK * es;
    }
}

ascgrad_tile_fn ascgrad_tile_exp_segsum_grad;

ascgrad_result ascgrad_tile_exp_segsum_grad(const struct ascgrad_node *node,
                                            const struct ascgrad_chip *chip,
                                            struct ascgrad_launch *launch,
                                            struct ascgrad_error *error) {
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
    } else if (d.size <= BLOCK) {
        launch->key = d.size <= HALF ? EXP_SEGSUM_SMALL : EXP_SEGSUM_BLOCK;
        d.unit = rows_per_block(d.size * es);
        d.units = ceil_div(d.matrices, d.unit);
        if (d.size <= HALF) d.tile = small_tile(&d, es, cores);
    } else {
        launch->key = EXP_SEGSUM_LARGE;
        d.units = d.matrices * large_tiles(ceil_div(d.size, HALF));
        d.gather = d.matrices > 1 && d.size * es % 32;
        launch->workspace = (uint64_t)large_workspace(&d, es);
        launch->sync_all = true;
    }
    if ((uint64_t)ub_need(launch->key, es) > chip->ub) {
        return ascgrad_refuse(error, node, "the kernel needs %lld bytes of UB, the chip has %llu",
                              (long long)ub_need(launch->key, es), (unsigned long long)chip->ub);
    }
    /* As few cores as keep the number of rounds: each of them gets more of the memory bandwidth. */
    int64_t diagonal = launch->key == EXP_SEGSUM_LARGE ? d.matrices * ceil_div(d.size, BLOCK) : 0;
    int64_t work = d.units > diagonal ? d.units : diagonal, rounds = ceil_div(work, cores);
    launch->block_dim = (uint32_t)(rounds ? ceil_div(work, rounds) : 1);
    return ascgrad_put(launch, node, &d, sizeof d, error);
}
