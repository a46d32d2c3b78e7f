/* SPDX-License-Identifier: Apache-2.0
 *
 * ExpSegsumGrad for a single matrix of 64 < T <= 256: a core for every strip of 16 rows. Each reads
 * all that its own results need, the rows from its first on and the columns up to its last: more
 * than its share, but in less time than cores take to wait for each other. The sums are those of
 * exp_segsum_grad_block.h and, above 128 rows, exp_segsum_grad_large.h, bit by bit.
 * All rows are on their way at once, in pieces: the strip itself, since the vector unit has nothing
 * else to do then, the strips below it in its block, the halves below the block; of each the last
 * rows first.
 */
#ifndef EXP_SEGSUM_GRAD_ALONE_H
#define EXP_SEGSUM_GRAD_ALONE_H

#include "exp_segsum_grad_tables.h"

namespace segsum {

constexpr uint32_t PIECE = 2 * STRIP;       /* rows; of strips without columns to their left, all */
constexpr uint32_t PIECES = 8;              /* at most; an event for each */
constexpr uint32_t OWN = 2 * STRIP * BLOCK; /* scratch: behind the strip's second operand */

/* Sums around the strip, in fp32. */
constexpr uint32_t CORNER = 0;             /* a row of the block: what the corner is the sum of */
constexpr uint32_t UNDER = CORNER + BLOCK; /* column sums of the rows below, 16 */
constexpr uint32_t COPIES = UNDER + STRIP; /* row sums of the strip left of its block, 8 of each */
constexpr uint32_t CORNER_SUMS = COPIES + BLOCK;
constexpr uint32_t EIGHTS = CORNER_SUMS + STRIP;   /* row sums left of the block, in 8 lanes, */
constexpr uint32_t ROWS_LEFT = EIGHTS + 8 * BLOCK; /* and in one */
static_assert(ROWS_LEFT + BLOCK <= EXP_SEGSUM_ALONE_SUMS, "sums around a strip");

struct Alone {
    Segsum s;
    TPipe *pipe;
    uint32_t t, first, strip; /* first row, and which strip of its block it is */
    uint32_t left, lanes;     /* columns left of the block, and in it up to the strip's last */
    uint32_t width;           /* all of them */
    uint32_t rows;            /* of the strip */
    uint32_t strips;          /* below it in its block, */
    uint32_t below;           /* and where rows below the block begin, counted from `first` */
    uint32_t pieces, row[PIECES], count[PIECES], at[PIECES]; /* first row, rows, place */
    TEventID loaded[PIECES];
    TBuf<TPosition::VECIN> in;
    TBuf<TPosition::VECCALC> wide, tiles, sums;
    LocalTensor<Elem> raw;
    LocalTensor<float> a, b; /* operands; b: WIDEN, of a piece, else all of it */
    LocalTensor<float> work; /* scratch */
    LocalTensor<float> own;  /* products of the strip itself */
    LocalTensor<float> tile, left_sums, around;
};

/* Rows [from, to) in pieces of `step`, the last one first. Those below the block are `shift` floats
 * further apart than they need: two of them are added without a conflict of banks. */
AICORE_INLINE void cut_rows(Alone &x, uint32_t from, uint32_t to, uint32_t step, uint32_t shift) {
    if (from >= to) return;
    for (uint32_t n = (to - from - 1) / step + 1; n-- > 0;) {
        uint32_t row = from + n * step;
        x.row[x.pieces] = row;
        x.at[x.pieces] = row * x.width + n * shift;
        x.count[x.pieces++] = least(step, to - row);
    }
}

AICORE_INLINE void plan_strip(Alone &x, uint32_t t, uint32_t core) {
    x.t = t;
    x.first = core * STRIP;
    x.strip = core % STRIPS;
    x.left = x.first - x.strip * STRIP;
    x.lanes = (x.strip + 1) * STRIP;
    x.width = x.left + x.lanes;
    x.below = least(x.left + BLOCK, t) - x.first;
    x.rows = least(STRIP, x.below);
    x.strips = strips_of(x.below) - 1;
    x.pieces = 0;
    cut_rows(x, 0, x.rows, STRIP, 0);
    if (x.left) {
        cut_rows(x, 2 * STRIP, x.below, PIECE, 0);
        cut_rows(x, STRIP, least(2 * STRIP, x.below), STRIP, 0);
    } else {
        cut_rows(x, STRIP, x.below, BLOCK, 0);
    }
    cut_rows(x, x.below, t - x.first, HALF / 2, LANES);
}

AICORE_INLINE void load_strip(Alone &x) {
    uint32_t columns = least(x.width, x.t);
    for (uint32_t p = 0; p < x.pieces; p++) {
        int64_t from = (x.first + x.row[p]) * x.t;
        load_rows(x.s, x.raw[x.at[p]], from, x.t, x.count[p], columns, x.width);
        x.loaded[p] = x.pipe->AllocEventID<HardEvent::MTE2_V>();
        SetFlag<HardEvent::MTE2_V>(x.loaded[p]);
    }
}

/* Zeros for the rows that a strip or a half below the block has not. */
AICORE_INLINE void fill_strip(const Alone &x) {
    uint32_t rows = x.t - x.first, past = rows - x.below;
    for (uint32_t row = 0; row < up(past, HALF); row += HALF / 2) {
        uint32_t have = past > row ? least(past - row, HALF / 2) : 0;
        uint32_t at = (x.below + row + have) * x.width + row / (HALF / 2) * LANES;
        if (have < HALF / 2) Duplicate(x.a[at], 0.0f, (HALF / 2 - have) * x.width);
    }
    if (past == 0 && rows % STRIP) {
        Duplicate(x.a[rows * x.width], 0.0f, (STRIP - rows % STRIP) * x.width);
    }
    if (x.rows < STRIP) {
        Duplicate(x.own[x.rows * x.width], 0.0f, (STRIP - x.rows) * x.width);
    }
}

AICORE_INLINE LocalTensor<float> other(const Alone &x, uint32_t p) {
    return WIDEN ? x.b[x.at[p] % (2 * LANES)] : x.b[x.at[p]];
}

AICORE_INLINE void widen_piece(Alone &x, uint32_t p) {
    uint32_t at = x.at[p], count = x.count[p] * x.width;
    WaitFlag<HardEvent::MTE2_V>(x.loaded[p]);
    x.pipe->ReleaseEventID<HardEvent::MTE2_V>(x.loaded[p]);
    if constexpr (WIDEN) {
        cast_flat(x.a[at], x.raw[at], RoundMode::CAST_NONE, count);
        cast_flat(other(x, p), x.raw[x.s.second + at], RoundMode::CAST_NONE, count);
    } else if (x.width > x.t && p == 0) { /* columns that a copy cannot fill */
        uint32_t gap = x.width - up(x.t, 8);
        if (gap == 0) return;
        Duplicate(x.a[x.width - gap], 0.0f, gap, x.rows, 1, x.width / 8);
        Duplicate(x.b[x.width - gap], 0.0f, gap, x.rows, 1, x.width / 8);
    }
}

AICORE_INLINE void multiply_piece(Alone &x, uint32_t p) {
    widen_piece(x, p);
    vector_done();
    LocalTensor<float> a = x.a[x.at[p]];
    mul_flat(a, a, other(x, p), x.count[p] * x.width);
    vector_done();
}

/* Products of the strip: the tile's to their own rows, all to scratch. */
AICORE_INLINE void multiply_own(const Alone &x) {
    uint32_t at = x.width - STRIP, step = x.width / 8;
    Mul(x.left_sums[8], x.a[at], x.b[at], STRIP, x.rows,
        BinaryRepeatParams(1, 1, 1, PAIR_BLOCKS, step, step));
    if (at) mul_flat(x.own, x.a, x.b, x.rows * x.width);
}

/* Column sums of rows below the strip: to what the corner is the sum of, and under the tile. */
AICORE_INLINE void add_columns(const Alone &x, const LocalTensor<float> &from) {
    LocalTensor<float> corner = x.around[CORNER], under = x.around[UNDER];
    BinaryRepeatParams strips(1, 1, 1, STRIP / 8, STRIP / 8, STRIP / 8);
    if (x.strip) Add(corner, corner, from, STRIP, x.strip, strips);
    Add(under, under, from[x.strip * STRIP], STRIP, 1, strips);
}

/* A half of rows below the block, `a` the first: step by step as in fold(), then its sums. */
AICORE_INLINE void step_half(const Alone &x, const LocalTensor<float> &a, uint32_t step) {
    uint32_t quarter = HALF / 4 * x.width, half = 2 * quarter >> step;
    if (step == 0) {
        LocalTensor<float> low = a[2 * quarter + LANES], last = low[quarter];
        add_flat(a, a, low, quarter);
        add_flat(last, a[quarter], last, quarter);
    } else if (step == 1) {
        add_flat(a, a, a[3 * quarter + LANES], quarter);
    } else if (step < 6) {
        add_flat(a, a, a[half], half);
    } else {
        add_columns(x, a);
    }
}
constexpr uint32_t HALF_STEPS = 7;

/* n strips, `a` the first: the lower of 2 * `half` rows onto the upper ones. */
AICORE_INLINE void fold_strips(const Alone &x, const LocalTensor<float> &a, uint32_t n,
                               uint32_t half) {
    uint32_t size = STRIP * x.width, width = x.width / 8;
    BinaryRepeatParams rows(1, 1, 1, width, width, width);
    BinaryRepeatParams blocks(width, width, width, 1, 1, 1); /* a block of all rows to a repeat */
    for (uint32_t at = x.left; at < n * size; at += size) {
        LocalTensor<float> to = a[at], from = a[at + half * x.width];
        if (x.left == 0) {
            add_flat(to, to, from, half * x.width);
        } else if (x.lanes == STRIP) {
            Add(to, to, from, half * 8, STRIP / 8, blocks);
        } else {
            Add(to, to, from, least(x.lanes, LANES), half, rows);
            if (x.lanes > LANES)
                Add(to[LANES], to[LANES], from[LANES], x.lanes - LANES, half, rows);
        }
    }
}

/* Rows left of the block: 128 columns to 64, to 8. */
AICORE_INLINE void fold_left(const Alone &x, const LocalTensor<float> &a, uint32_t rows) {
    uint32_t width = x.width / 8;
    Add(a, a, a[LANES], LANES, rows, BinaryRepeatParams(1, 1, 1, width, width, width));
}
AICORE_INLINE void sum_eights(const Alone &x, const LocalTensor<float> &a, uint32_t row,
                              uint32_t rows) {
    BlockReduceSum(x.around[EIGHTS + row * 8], a, rows, LANES, 1, 1, x.width / 8);
}

/* Row sums of those rows; the corner has them, too. */
AICORE_INLINE void sum_rows_left(const Alone &x, uint32_t row, uint32_t rows) {
    LocalTensor<float> sums = x.around[ROWS_LEFT + row], eights = x.around[EIGHTS + row * 8];
    BlockReduceSum(sums, eights, rows / 8, LANES, 1, 1, 8);
}
AICORE_INLINE void add_rows_left(const Alone &x, uint32_t row, uint32_t rows) {
    LocalTensor<float> to = x.around[CORNER + x.strip * STRIP + row];
    Add(to, to, x.around[ROWS_LEFT + row], rows, 1, BinaryRepeatParams(1, 1, 1, 8, 8, 8));
}

/* What is done with one piece of strips while the next is multiplied, and the one after it: column
 * sums of each strip, and row sums. `low`: the second half of a step, behind a barrier. */
AICORE_INLINE void sum_piece(const Alone &x, uint32_t p, uint32_t half, bool low) {
    uint32_t row = x.row[p], n = strips_of(x.count[p]), rows = n * STRIP;
    LocalTensor<float> a = x.a[x.at[p]];
    fold_strips(x, a, n, low ? half / 2 : half);
    if (x.left == 0) return;
    if (half == STRIP / 2) {
        low ? sum_eights(x, a, row, rows) : fold_left(x, a, rows);
    } else {
        low ? add_rows_left(x, row, rows) : sum_rows_left(x, row, rows);
    }
}

/* The sums of all columns, from the last strip up. Without columns to the left it is not yet time
 * for that. */
AICORE_INLINE void chain_piece(const Alone &x, uint32_t p, uint32_t strip) {
    if (x.left == 0 || strip >= strips_of(x.count[p])) return;
    add_columns(x, x.a[x.at[p] + strip * STRIP * x.width + x.left]);
}

/* The strips below the strip; no call waits for the one before. */
AICORE_INLINE void sum_strips(Alone &x, uint32_t from, uint32_t to) {
    for (uint32_t p = from; p < to + 3; p++) {
        uint32_t one = p - 1, two = p - 2, three = p - 3;
        bool first = one >= from && one < to, second = p >= from + 2 && two < to;
        if (p >= from + 3) chain_piece(x, three, 1);
        if (second) sum_piece(x, two, STRIP / 8, false);
        if (first) sum_piece(x, one, STRIP / 2, false);
        if (p < to) widen_piece(x, p);
        vector_done();
        if (p >= from + 3) chain_piece(x, three, 0);
        if (second) sum_piece(x, two, STRIP / 8, true);
        if (first) sum_piece(x, one, STRIP / 2, true);
        if (p < to) mul_flat(x.a[x.at[p]], x.a[x.at[p]], other(x, p), x.count[p] * x.width);
        vector_done();
    }
}

/* The sums left of the tile, as in sum_left() and add_left(). */
AICORE_INLINE void step_left(const Alone &x, uint32_t step) {
    uint32_t lanes = x.strip * STRIP, width = x.width / 8;
    LocalTensor<float> from = x.own[x.left];
    if (lanes == 0) return;
    if (step == 2) {
        BlockReduceSum(x.left_sums, from, x.rows, least(lanes, LANES), PAIR_BLOCKS, 1, width);
    }
    if (lanes <= LANES) return;
    if (step == 2) {
        BlockReduceSum(x.work, from[LANES], x.rows, lanes - LANES, 1, 1, width);
    } else if (step == 3) {
        Add(x.left_sums, x.left_sums, x.work, (lanes - LANES) / 8, x.rows,
            BinaryRepeatParams(1, 1, 1, PAIR_BLOCKS, PAIR_BLOCKS, 1));
    }
}

/* The strip itself; where the block has columns to its left, as in add_around(). There the row sum
 * is added to 0 before it is added to others; here a sum that is -0 becomes 0, which is the same.
 */
AICORE_INLINE void step_own(Alone &x, uint32_t step) {
    BinaryRepeatParams rows(1, 1, 1, PAIR_BLOCKS, PAIR_BLOCKS, 1);
    if (step == 0) widen_piece(x, 0);
    if (step == 1) multiply_own(x);
    step_left(x, step);
    if (x.left == 0) return;
    if (step == 2) fold_left(x, x.own, STRIP);
    if (step == 3) sum_eights(x, x.own, 0, STRIP);
    if (step == 4) {
        BlockReduceSum(x.around[ROWS_LEFT], x.around[EIGHTS], STRIP / 8, LANES, 1, 1, 8);
    }
    if (step == 5) {
        Brcb(x.around[COPIES], x.around[ROWS_LEFT], STRIP / 8, BrcbRepeatParams(1, 8));
    }
    if (step == 4 || step == 6) {
        Add(x.left_sums, x.left_sums, x.around[COPIES], 1, STRIP, rows);
    }
}

/* The row under the tile, and the corner, as in add_below(). */
AICORE_INLINE void add_under(const Alone &x) {
    LocalTensor<float> last = x.left_sums[(STRIP - 1) * PAIR_LANES], tile = last[8];
    LocalTensor<float> corner = x.around[CORNER_SUMS];
    BlockReduceSum(corner, x.around[CORNER], 2, LANES, 1, 1, 8);
    Add(tile, tile, x.around[UNDER], STRIP, 1, BinaryRepeatParams(1, 1, 1, 2, 2, 2));
    vector_done();
    add_rows(last, corner, 8, 1, 1, 1);
    vector_done();
    add_rows(last, corner[8], 8, 1, 1, 1);
    vector_done();
}

AICORE_INLINE void sum_strip(Alone &x) {
    for (uint32_t step = 0; step < (x.left ? 7 : 4); step++) {
        step_own(x, step);
        vector_done();
    }
    uint32_t p = 1;
    while (p < x.pieces && x.row[p] < x.below)
        p++;
    if (p > 1) sum_strips(x, 1, p);
    for (; p < x.pieces; p++) {
        multiply_piece(x, p);
        if ((x.row[p] - x.below) % HALF) continue;
        for (uint32_t step = 0; step < HALF_STEPS; step++) {
            step_half(x, x.a[x.at[p]], step);
            vector_done();
        }
    }
    for (uint32_t i = x.strips; i > 0 && x.left == 0; i--) {
        add_columns(x, x.a[i * STRIP * x.width]);
        vector_done();
    }
    add_under(x);
}

/* The buffers are as tiling has laid them out. The first copies do not wait for all of that. */
AICORE_INLINE void open_alone(Alone &x, const ExpSegsumGradTilingData &tiling) {
    x.pipe->InitBuffer(x.in, tiling.in_bytes);
    x.raw = x.in.Get<Elem>();
    load_strip(x);
    x.pipe->InitBuffer(x.wide, tiling.wide_bytes);
    x.pipe->InitBuffer(x.tiles, tiling.tiles_bytes);
    x.pipe->InitBuffer(x.sums, tiling.sums_bytes);
    x.pipe->InitBuffer(x.s.out, 1, tiling.out_bytes);
    if constexpr (WIDEN) {
        x.a = x.wide.Get<float>();
        x.work = x.b = x.a[x.s.span];
    } else {
        x.a = x.in.Get<float>();
        x.b = x.a[x.s.second];
        x.work = x.wide.Get<float>();
    }
    x.own = x.work[OWN];
    x.tile = x.tiles.Get<float>();
    x.left_sums = x.tile[x.strip % 2 * TILE_LANES];
    x.around = x.sums.Get<float>();
}

AICORE_FLAT void run_alone(Alone &x, const ExpSegsumGradTilingData &tiling) {
    plan_strip(x, tiling.size, GetBlockIdx());
    open_alone(x, tiling);
    Duplicate(x.tile, 0.0f, LANES, PAIR / LANES, 1, 8);
    Duplicate(x.around, 0.0f, LANES, EXP_SEGSUM_ALONE_SUMS / LANES, 1, 8);
    fill_strip(x);
    vector_done();
    sum_strip(x);
    finish_tiles(x.s, x.tile, x.work, 1, x.strip % 2, x.strip % 2 + 1);
    LocalTensor<Elem> out = x.s.out.DeQue<Elem>();
    DataCopyExtParams copy(1, x.rows * sizeof(Elem), 0, 0, 0);
    DataCopyPad(x.s.dx[x.first], out[x.strip % 2 * STRIP], copy);
    x.s.out.FreeTensor(out);
}

} // namespace segsum

#endif
