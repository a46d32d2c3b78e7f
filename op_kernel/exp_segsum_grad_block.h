/* SPDX-License-Identifier: Apache-2.0
 *
 * ExpSegsumGrad for one diagonal block of up to 128 rows: a whole matrix (T <= 128) or a piece of
 * a larger one. The lower triangle is read in strips of 16 rows; strip I has the columns
 * 0 .. 16 (I + 1). For i in strip I the sum over j < i <= k of M[k][j] falls into
 *     j and k in strip I          the 16 x 16 diagonal tile, summed as for small T
 *     j in strip I, k below it    C_I[j], column sums of the strips below: a row under the tile
 *     j left of it, k in strip I  R_I[k], row sums left of the tile: a column before the tile
 *     j left of it, k below it    the corner of that row and that column
 * So a tile becomes rows of 8 + 16 lanes: 8 partial sums of R_I[k], then the tile. The row under it
 * is added to its last row, which every row's suffix sum takes in. Two tiles lie side by side and
 * share all further vector calls.
 */
#ifndef EXP_SEGSUM_GRAD_BLOCK_H
#define EXP_SEGSUM_GRAD_BLOCK_H

#include "exp_segsum_grad.h"

namespace segsum {

constexpr uint32_t BLOCK = EXP_SEGSUM_ROWS, STRIP = EXP_SEGSUM_STRIP, STRIPS = BLOCK / STRIP;
constexpr uint32_t TILE_LANES = EXP_SEGSUM_TILE_LANES, TILE_BLOCKS = TILE_LANES / 8;
constexpr uint32_t PAIR_BLOCKS = 2 * TILE_BLOCKS,
                   PAIR_LANES = 8 * PAIR_BLOCKS; /* a row of two tiles */
constexpr uint32_t PAIR = STRIP * PAIR_LANES;    /* two tiles */
constexpr uint32_t C_STEP =
    (BLOCK + STRIP) / 8; /* blocks from one C_I's columns in strip I to the next C_I's */

/* Scratch inside the second operand, which nobody needs once the products are made; in fp32. */
constexpr uint32_t ROW_SUMS = 0; /* a block per row of a pair */
constexpr uint32_t LEFT_MORE =
    ROW_SUMS + 8 * BLOCK / 2; /* left sums of columns 64 and up, a block per row */
constexpr uint32_t CORNERS = LEFT_MORE + 8 * BLOCK; /* 16 per strip */
constexpr uint32_t COLUMNS = CORNERS + 16 * STRIPS; /* row I: C_I */
constexpr uint32_t RESULTS = COLUMNS + STRIPS * BLOCK;
constexpr uint32_t HALVED =
    RESULTS + BLOCK; /* strips on their way to column sums: half their rows */
/* exp_segsum_grad_large.h: sums of what lies around the block; the row sums, a block per row. */
constexpr uint32_t FROM_BELOW = HALVED + EXP_SEGSUM_TILE / 2;
constexpr uint32_t FROM_LEFT = FROM_BELOW + BLOCK;
constexpr uint32_t FROM_CORNER = FROM_LEFT + BLOCK;
constexpr uint32_t SPREAD = FROM_CORNER + BLOCK;
static_assert(SPREAD + 8 * BLOCK <= EXP_SEGSUM_TILE, "the scratch fits into the operand");

struct Strips {
    uint32_t n, rows;     /* strips, rows in all */
    uint32_t tail, pitch; /* rows and lanes per row of the last strip */
};

__aicore__ inline Strips strips_of(uint32_t rows) {
    uint32_t n = (rows + STRIP - 1) / STRIP;
    Strips g = {n, rows, rows - STRIP * (n - 1), up(rows, IN_BLOCK)};
    return g;
}

__aicore__ inline uint32_t height(const Strips &g, uint32_t i) {
    return i + 1 < g.n ? STRIP : g.tail;
}

__aicore__ inline uint32_t width(const Strips &g, uint32_t i) {
    return i + 1 < g.n ? STRIP * (i + 1) : g.pitch;
}

__aicore__ inline uint32_t start(uint32_t i) { /* all strips before have their full width */
    return STRIP * STRIP * (i * (i + 1) / 2);
}

__aicore__ inline uint32_t count(const Strips &g) {
    return start(g.n - 1) + g.tail * g.pitch;
}

__aicore__ inline uint32_t
tile_of(uint32_t i) { /* its left sums; the tile itself begins a block later */
    return i / 2 * PAIR + i % 2 * TILE_LANES;
}

using TileBuffer = TBuf<TPosition::VECCALC>;

__aicore__ inline void open_block(TileBuffer &tiles, TPipe *pipe, uint32_t bytes) {
    pipe->InitBuffer(tiles, bytes);
    /* A ragged block leaves lanes unwritten. */
    Duplicate(tiles.Get<float>(), 0.0f, STRIPS / 2 * PAIR);
    vector_done();
}

/* at: element offset of the block's first row and column; t: row pitch of the matrix. `step` rows
 * of a strip are copied at once: 16, or 8 to leave out more of what lies above the diagonal. */
__aicore__ inline void load_block(Segsum &s, int64_t at, int64_t t, uint32_t rows, uint32_t step) {
    Strips g = strips_of(rows);
    LocalTensor<Elem> in = s.in.AllocTensor<Elem>();
    for (uint32_t row = 0; row < rows; row += step) {
        uint32_t i = row / STRIP, columns = least(row + step, rows), lanes = width(g, i);
        uint32_t to = start(i) + row % STRIP * lanes;
        DataCopyExtParams copy(least(step, rows - row), columns * sizeof(Elem),
                               (t - columns) * sizeof(Elem), 0, 0);
        DataCopyPadExtParams<Elem> pad;
        pad.isPad = lanes != columns;
        pad.rightPadding = lanes - columns; /* 32 bytes at most */
        DataCopyPad(in[to], s.dy[at + row * t], copy, pad);
        DataCopyPad(in[s.second + to], s.y[at + row * t], copy, pad);
    }
    s.in.EnQue(in);
}

/* Products: the diagonal tiles into their own rows, then everything in place. */
__aicore__ inline void multiply_block(const Strips &g, const LocalTensor<float> &a,
                                      const LocalTensor<float> &b,
                                      const LocalTensor<float> &tiles) {
    for (uint32_t i = 0; i < g.n; i++) {
        uint32_t at = start(i) + STRIP * i, step = width(g, i) / 8;
        Mul(tiles[tile_of(i) + 8], a[at], b[at], width(g, i) - STRIP * i, height(g, i),
            BinaryRepeatParams(1, 1, 1, PAIR_BLOCKS, step, step));
    }
    /* The left sums of the first 64 rows do not fill their 8 lanes. */
    Duplicate(tiles, 0.0f, LANES, 2 * STRIP / 8, PAIR_BLOCKS, 8 * PAIR_BLOCKS);
    Duplicate(tiles[TILE_LANES], 0.0f, LANES, 2 * STRIP / 8, PAIR_BLOCKS, 8 * PAIR_BLOCKS);
    vector_done();
    Mul(a, a, b, count(g));
    vector_done();
}

/* R_I, as 8 partial sums: columns 0..63, then the others on top. Also the first step of the column
 * sums, because it needs nothing but the products either. */
__aicore__ inline void sum_left(const Strips &g, const LocalTensor<float> &a,
                                const LocalTensor<float> &scratch,
                                const LocalTensor<float> &tiles) {
    LocalTensor<float> more = scratch[LEFT_MORE], halved = scratch[HALVED];
    for (uint32_t i = 1; i < g.n; i++) {
        uint32_t rows = height(g, i), lanes = width(g, i), half = (rows + 1) / 2;
        BlockReduceSum(tiles[tile_of(i)], a[start(i)], rows, least(STRIP * i, LANES), PAIR_BLOCKS,
                       1, lanes / 8);
        if (STRIP * i > LANES) {
            BlockReduceSum(more[STRIP * i * 8], a[start(i) + LANES], rows, STRIP * i - LANES, 1, 1,
                           lanes / 8);
        }
        uint32_t to = start(i) / 2, from = start(i), middle = (half - 1) * lanes;
        if (rows > 1) add_flat(halved[to], a[from], a[from + half * lanes], (rows - half) * lanes);
        if (rows % 2) DataCopy(halved[to + middle], a[from + middle], lanes);
    }
    vector_done();
    for (uint32_t i = LANES / STRIP + 1; i < g.n; i++) {
        uint64_t mask[2] = {lanes_of((1 << (STRIP * i - LANES) / 8) - 1, 8), 0};
        LocalTensor<float> left = tiles[tile_of(i)];
        Add(left, left, more[STRIP * i * 8], mask, (height(g, i) + 7) / 8,
            BinaryRepeatParams(PAIR_BLOCKS, PAIR_BLOCKS, 1, 8 * PAIR_BLOCKS, 8 * PAIR_BLOCKS, 8));
    }
}

/* Column sums of every strip into its first row, then C_I for all I from the last strip up. */
__aicore__ inline void sum_columns(const Strips &g, const LocalTensor<float> &scratch) {
    LocalTensor<float> halved = scratch[HALVED], columns = scratch[COLUMNS];
    uint32_t tail = (g.tail + 1) / 2;
    for (uint32_t rows = STRIP / 2; rows > 1; rows /= 2) {
        uint32_t tail_half = (tail + 1) / 2;
        for (uint32_t i = 1; i < g.n; i++) {
            bool last = i + 1 == g.n;
            uint32_t low = last ? tail_half : rows / 2, sum = last ? tail - tail_half : rows / 2;
            uint32_t lanes = width(g, i);
            LocalTensor<float> top = halved[start(i) / 2];
            if (sum) add_flat(top, top, top[low * lanes], sum * lanes);
        }
        vector_done();
        tail = tail_half;
    }
    for (uint32_t i = g.n - 1; i > 0; i--) {
        Add(columns[(i - 1) * BLOCK], columns[i * BLOCK], halved[start(i) / 2], STRIP * i);
        vector_done();
    }
}

/* 8 lanes per strip, `step` blocks apart, to the left sums of each tile's last row. */
__aicore__ inline void add_corners(const Strips &g, const LocalTensor<float> &from, uint32_t step,
                                   const LocalTensor<float> &tiles) {
    uint32_t pairs = g.n / 2;
    LocalTensor<float> last = tiles[(STRIP - 1) * PAIR_LANES];
    if (pairs) {
        Add(last, last, from, 2 * 8, pairs,
            BinaryRepeatParams(TILE_BLOCKS, TILE_BLOCKS, step, PAIR / 8, PAIR / 8, 2 * step));
    }
    if (g.n % 2) add_rows(last[pairs * PAIR], from[2 * pairs * step * 8], 8, 1, 1, 1);
    vector_done();
}

/* The row under each tile, corner and all, added to the tile's last row. */
__aicore__ inline void add_below(const Strips &g, const LocalTensor<float> &scratch,
                                 const LocalTensor<float> &tiles) {
    LocalTensor<float> last = tiles[(STRIP - 1) * PAIR_LANES + 8];
    LocalTensor<float> columns = scratch[COLUMNS], corners = scratch[CORNERS];
    if (g.tail < STRIP) { /* the rows that a ragged last tile has not */
        Duplicate(tiles[tile_of(g.n - 1) + g.tail * PAIR_LANES], 0.0f, TILE_LANES, STRIP - g.tail,
                  1, PAIR_BLOCKS);
        vector_done();
    }
    add_rows(last, columns, STRIP, (g.n + 1) / 2, PAIR / 8, 2 * C_STEP);
    add_rows(last[TILE_LANES], columns[8 * C_STEP], STRIP, g.n / 2, PAIR / 8, 2 * C_STEP);
    vector_done();
    Duplicate(columns, 0.0f, STRIP, g.n, 1, C_STEP); /* the corner is what is left of it */
    vector_done();
    BlockReduceSum(corners, columns, 2 * g.n, LANES, 1, 1, 8);
    vector_done();
    add_corners(g, corners, 2, tiles);
    add_corners(g, corners[8], 2, tiles);
}

/* Tiles to results. */
__aicore__ inline void finish_block(Segsum &s, const Strips &g, const LocalTensor<float> &tiles,
                                    const LocalTensor<float> &scratch) {
    uint32_t pairs = (g.n + 1) / 2;
    Rows rows = {STRIP, 2, TILE_BLOCKS, 1};
    scan(tiles, STRIP * pairs, STRIP, PAIR_BLOCKS);
    LocalTensor<Elem> out = s.out.AllocTensor<Elem>();
    LocalTensor<float> results = result_place(out, scratch[RESULTS]);
    sum_rows(tiles, scratch[ROW_SUMS], results, pairs, rows, STRIP);
    narrow(out, results, g.rows);
    s.out.EnQue(out);
}

__aicore__ inline void store_block(Segsum &s, const GlobalTensor<Elem> &to, uint32_t rows) {
    LocalTensor<Elem> out = s.out.DeQue<Elem>();
    DataCopyExtParams copy(1, rows * sizeof(Elem), 0, 0, 0);
    DataCopyPad(to, out, copy);
    s.out.FreeTensor(out);
}

__aicore__ inline void run_block(Segsum &s, TileBuffer &buffer,
                                 const ExpSegsumGradTilingData &tiling) {
    int64_t t = tiling.size, core = GetBlockIdx(), m = first(tiling.units, core) * tiling.unit;
    int64_t end = first(tiling.units, core + 1) * tiling.unit;
    if (end > tiling.matrices) end = tiling.matrices;
    Strips g = strips_of(t);
    LocalTensor<float> tiles = buffer.Get<float>();
    if (m < end) load_block(s, m * t * t, t, t, STRIP);
    for (; m < end; m++) {
        LocalTensor<Elem> in = s.in.DeQue<Elem>();
        LocalTensor<float> a, b;
        if (m + 1 < end) load_block(s, (m + 1) * t * t, t, t, STRIP);
        widen(s, in, count(g), a, b);
        multiply_block(g, a, b, tiles);
        Duplicate(b[COLUMNS], 0.0f, g.n * BLOCK);
        sum_left(g, a, b, tiles);
        sum_columns(g, b);
        add_below(g, b, tiles);
        finish_block(s, g, tiles, b);
        release(s, in);
        store_block(s, s.dx[m * t], t);
    }
}

} // namespace segsum

#endif
