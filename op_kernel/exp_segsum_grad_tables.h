/* SPDX-License-Identifier: Apache-2.0
 *
 * ExpSegsumGrad for T > 128, phase 1 (the plan is in exp_segsum_grad_large.h): the tables in the
 * workspace, and the tiles of 64 rows x 128 columns whose sums fill them.
 * Indices: squares I (diagonal), J (columns); row halves r, square I has the halves 2I and 2I + 1.
 */
#ifndef EXP_SEGSUM_GRAD_TABLES_H
#define EXP_SEGSUM_GRAD_TABLES_H

#include "exp_segsum_grad_square.h"

namespace segsum {

/* rows of a tile */
constexpr uint32_t HALF = EXP_SEGSUM_HALF;
/* A load from the tables: this many rows of column sums, of row sums and of totals, 128 fp32 each;
 * such a row holds as many totals. */
constexpr uint32_t LOAD_ROWS = EXP_SEGSUM_LOAD_ROWS;

struct Large {
    int64_t t, matrices, squares, halves;
    int64_t floats; /* of one matrix' tables */
    GlobalTensor<float> table;
    GlobalTensor<Elem> results; /* phase 3: [matrices][squares][128] */
    TQue<TPosition::VECIN, 1> sums;
    TileBuffer tiles;
};

/* Column sums of tile (r, J), row sums of the tiles (2I.., J), total of tile (r, J). */
__aicore__ inline int64_t below_at(const Large &l, int64_t m, int64_t j, int64_t r) {
    return m * l.floats + (j * l.halves + r) * SQUARE;
}
__aicore__ inline int64_t left_at(const Large &l, int64_t m, int64_t i, int64_t j) {
    return m * l.floats + (l.squares * l.halves + i * l.squares + j) * SQUARE;
}
__aicore__ inline int64_t total_at(const Large &l, int64_t m, int64_t r, int64_t j) {
    return m * l.floats + l.squares * (l.halves + l.squares) * SQUARE + (r * l.squares + j) * 8;
}

__aicore__ inline void measure_large(Large &l, const ExpSegsumGradTilingData &tiling) {
    l.t = tiling.size;
    l.matrices = tiling.matrices;
    l.squares = (l.t + SQUARE - 1) / SQUARE;
    l.halves = (l.t + HALF - 1) / HALF;
    l.floats = l.squares * (l.halves + l.squares) * SQUARE + l.halves * l.squares * 8;
}

__aicore__ inline void open_large(Segsum &s, Large &l, TPipe *pipe,
                                  const ExpSegsumGradTilingData &tiling, GM_ADDR workspace) {
    measure_large(l, tiling);
    l.table.SetGlobalBuffer((__gm__ float *)workspace);
    l.results.SetGlobalBuffer((__gm__ Elem *)(workspace + l.matrices * l.floats * sizeof(float)));
    pipe->InitBuffer(l.sums, 1, tiling.sums_bytes);
    open_square(s, l.tiles, pipe, tiling);
}

struct Tile {
    int64_t m, r, j;
};

__aicore__ inline Tile tile_at(int64_t unit, int64_t per_matrix) {
    Tile tile = {unit / per_matrix, 2, unit % per_matrix};
    while (tile.j >= tile.r / 2)
        tile.j -= tile.r++ / 2;
    return tile;
}

__aicore__ inline void advance(const Large &l, Tile &tile) {
    if (++tile.j < tile.r / 2) return;
    tile.j = 0;
    if (++tile.r < l.halves) return;
    tile.r = 2;
    tile.m++;
}

__aicore__ inline uint32_t tile_rows(const Large &l, const Tile &tile) {
    int64_t rows = l.t - tile.r * HALF;
    return rows < HALF ? rows : HALF;
}

__aicore__ inline void load_tile(Segsum &s, const Large &l, const Tile &tile) {
    LocalTensor<Elem> in = s.in.AllocTensor<Elem>();
    int64_t at = (tile.m * l.t + tile.r * HALF) * l.t + tile.j * SQUARE;
    load_rows(s, in, at, l.t, tile_rows(l, tile), SQUARE, SQUARE);
    s.in.EnQue(in);
}

/* 64 rows of 128 into the first one: lower half onto upper half, in place. The mask is full. */
__aicore__ inline void fold_tile(const LocalTensor<float> &a) {
    for (uint32_t repeats = HALF * SQUARE / LANES / 2; repeats > 1; repeats /= 2) {
        vector_done();
        Add<float, false>(a, a, a[repeats * LANES], MASK_PLACEHOLDER, repeats,
                          BinaryRepeatParams(1, 1, 1, 8, 8, 8));
    }
    vector_done();
}

/* Column sums, row sums and the total, in 8 lanes, of a tile as fp32. Rows that the matrix has not
 * are zeros. */
__aicore__ inline void compute_tile(uint32_t rows, const LocalTensor<float> &a,
                                    const LocalTensor<float> &b, const LocalTensor<float> &columns,
                                    const LocalTensor<float> &row_sums,
                                    const LocalTensor<float> &total) {
    mul_flat(a, a, b, rows * SQUARE);
    if (rows < HALF) Duplicate(a[rows * SQUARE], 0.0f, (HALF - rows) * SQUARE);
    LocalTensor<float> eights = b[HALF * LANES], parts = eights[HALF * 8];
    vector_done();
    SetVectorMask<float>(0, ~0ull);
    Add<float, false>(b, a, a[LANES], MASK_PLACEHOLDER, HALF,
                      BinaryRepeatParams(1, 1, 1, 8, 16, 16));
    vector_done();
    BlockReduceSum<float, false>(eights, b, HALF, MASK_PLACEHOLDER, 1, 1, 8);
    fold_tile(a);
    BlockReduceSum<float, false>(row_sums, eights, HALF / 8, MASK_PLACEHOLDER, 1, 1, 8);
    DataCopy(columns, a, SQUARE);
    BlockReduceSum<float, false>(parts, a, 2, MASK_PLACEHOLDER, 1, 1, 8);
    vector_done();
    Add(total, parts, parts[8], 8, 1, BinaryRepeatParams(1, 1, 1, 8, 8, 8));
}

/* In the output buffer: 128 column sums, 64 row sums, the total in 8 lanes. */
constexpr uint32_t TILE_ROW_SUMS = SQUARE, TILE_TOTAL = SQUARE + HALF;
static_assert(TILE_TOTAL + 8 == EXP_SEGSUM_SUMS, "the sums of a tile");

__aicore__ inline void store_tile(Segsum &s, const Large &l, const Tile &tile) {
    LocalTensor<float> out = s.out.DeQue<float>();
    int64_t below = below_at(l, tile.m, tile.j, tile.r);
    int64_t left = left_at(l, tile.m, tile.r / 2, tile.j) + tile.r % 2 * HALF;
    DataCopy(l.table[below], out, SQUARE);
    DataCopy(l.table[left], out[TILE_ROW_SUMS], up(tile_rows(l, tile), 8));
    if (l.squares > 2) { /* with two squares nothing lies both below and to the left of one */
        DataCopy(l.table[total_at(l, tile.m, tile.r, tile.j)], out[TILE_TOTAL], 8);
    }
    s.out.FreeTensor(out);
}

/* Tiles of one core that are still to be loaded. */
struct Loads {
    Tile next;
    int64_t left;
};

__aicore__ inline void load_next_tile(Segsum &s, const Large &l, Loads &loads) {
    if (loads.left <= 0) return;
    load_tile(s, l, loads.next);
    advance(l, loads.next);
    loads.left--;
}

__aicore__ inline void run_tiles(Segsum &s, const Large &l, int64_t units) {
    int64_t core = GetBlockIdx(), unit = first(units, core), end = first(units, core + 1);
    if (unit >= end) return;
    Tile tile = tile_at(unit, units / l.matrices);
    Loads loads = {tile, end - unit};
    for (uint32_t k = 0; k < AHEAD; k++)
        load_next_tile(s, l, loads);
    for (; unit < end; unit++) {
        LocalTensor<Elem> in = s.in.DeQue<Elem>();
        LocalTensor<float> a, b;
        uint32_t rows = tile_rows(l, tile);
        if (!WIDEN) load_next_tile(s, l, loads);
        widen(s, in, rows * SQUARE, a, b);
        if (WIDEN) load_next_tile(s, l, loads);
        LocalTensor<float> out = s.out.AllocTensor<float>();
        compute_tile(rows, a, b, out, out[TILE_ROW_SUMS], out[TILE_TOTAL]);
        release(s, in);
        s.out.EnQue(out);
        store_tile(s, l, tile);
        advance(l, tile);
    }
}

} // namespace segsum

#endif
