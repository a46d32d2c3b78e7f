/* SPDX-License-Identifier: Apache-2.0
 *
 * ExpSegsumGrad for 128 < T <= 384 and many matrices: the sums of exp_segsum_grad_large.h, bit by
 * bit, but all of a matrix on one core, with the tables in the UB. No core waits for another.
 */
#ifndef EXP_SEGSUM_GRAD_WHOLE_H
#define EXP_SEGSUM_GRAD_WHOLE_H

#include "exp_segsum_grad_large.h"

namespace segsum {

struct Whole {
    Large shape;
    TBuf<TPosition::VECCALC> table; /* column sums, row sums, totals of the tiles of square 0 */
};

AICORE_INLINE void open_whole(Segsum &s, Whole &w, TPipe *pipe,
                              const ExpSegsumGradTilingData &tiling) {
    pipe->InitBuffer(w.table, tiling.sums_bytes);
    /* A last square of up to 64 rows leaves half of its row sums unwritten. */
    Duplicate(w.table.Get<float>(), 0.0f, tiling.sums_bytes / sizeof(float));
    open_square(s, w.shape.tiles, pipe, tiling);
}

/* Only one square, the second of three, has tiles both below it and to its left: (r, 0), r >= 4. */
AICORE_INLINE uint32_t whole_total_at(const Large &l, int64_t r) {
    return total_at(l, 0, 0, 0) + r * 8;
}

/* All tiles of a matrix, then its diagonal squares as row half number `halves`. */
AICORE_INLINE void advance_whole(const Large &l, Tile &tile) {
    if (++tile.j < (tile.r < l.halves ? tile.r / 2 : l.squares)) return;
    tile.j = 0;
    if (++tile.r <= l.halves) return;
    tile.r = 2;
    tile.m++;
}

AICORE_INLINE void load_next_whole(Segsum &s, const Large &l, Tile &next, int64_t end) {
    if (next.m >= end) return;
    if (next.r < l.halves) {
        load_tile(s, l, next);
    } else {
        load_diagonal(s, l, next.m, next.j);
    }
    advance_whole(l, next);
}

AICORE_INLINE void gather_whole(const Large &l, const LocalTensor<float> &table, const Around &w,
                                uint32_t n, const LocalTensor<float> &scratch) {
    uint32_t under = 2 * (w.i + 1);
    Parts p = {{table[below_at(l, 0, w.i, under)], table[left_at(l, 0, w.i, 0)],
                table[whole_total_at(l, under)]},
               {w.below, w.left, w.left ? w.below : 0},
               {SQUARE, SQUARE, 8}};
    Duplicate(scratch[COLUMNS], 0.0f, LANES, n * SQUARE / LANES, 1, 8);
    Duplicate(scratch[FROM_BELOW], 0.0f, LANES, 3 * SQUARE / LANES, 1, 8);
    vector_done();
    add_parts(p, scratch[FROM_BELOW]);
    spread_sums(w, n, scratch);
}

AICORE_FLAT void run_whole(Segsum &s, TPipe *pipe, const ExpSegsumGradTilingData &tiling) {
    Whole whole;
    const Large &l = whole.shape;
    measure_large(whole.shape, tiling);
    int64_t core = GetBlockIdx(), m = first(tiling.units, core) * tiling.unit;
    int64_t end = first(tiling.units, core + 1) * tiling.unit;
    if (end > tiling.matrices) end = tiling.matrices;
    Tile tile = {m, 2, 0}, next = tile;
    for (uint32_t k = 0; k < AHEAD; k++)
        load_next_whole(s, l, next, end);
    open_whole(s, whole, pipe, tiling);
    LocalTensor<float> table = whole.table.Get<float>(), tiles = whole.shape.tiles.Get<float>();
    for (; tile.m < end; advance_whole(l, tile)) {
        LocalTensor<float> a, b;
        if (!WIDEN) load_next_whole(s, l, next, end);
        if (tile.r < l.halves) {
            LocalTensor<Elem> in = s.in.DeQue<Elem>();
            uint32_t rows = tile_rows(l, tile);
            widen(s, in, rows * SQUARE, a, b);
            if (WIDEN) load_next_whole(s, l, next, end);
            compute_tile(rows, a, b, table[below_at(l, 0, tile.j, tile.r)],
                         table[left_at(l, 0, tile.r / 2, tile.j) + tile.r % 2 * HALF],
                         table[whole_total_at(l, tile.j == 0 ? tile.r : 0)]);
            release(s, in);
            continue;
        }
        Around w = around(l, tile.j);
        uint32_t rows = square_rows(l, tile.j), n = strips_of(rows);
        uint32_t late = late_strips(n, true);
        LocalTensor<Elem> in = begin_square(s, late, rows, n, a, b, tiles);
        if (WIDEN) load_next_whole(s, l, next, end);
        begin_rest(s, late, rows, n, a, b, tiles);
        gather_whole(l, table, w, n, a);
        finish_diagonal(s, w, n, a, b, tiles);
        release(s, in);
        store_square(s, s.dx[tile.m * l.t + tile.j * SQUARE], rows);
    }
}

} // namespace segsum

#endif
