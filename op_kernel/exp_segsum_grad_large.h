/* SPDX-License-Identifier: Apache-2.0
 *
 * ExpSegsumGrad for T > 128, over all cores. The matrix is cut into squares of 128 x 128.
 * Phase 1 (exp_segsum_grad_tables.h): every tile of 64 rows x 128 columns left of the diagonal
 * squares gives its row sums, its column sums and its total (in 8 lanes) to tables in the
 * workspace. Phase 2: every diagonal square is summed as in exp_segsum_grad_square.h, starting from
 * what the tables hold of the tiles below it, to its left, and both. No tile is read twice. Phase
 * 3, only where results are not 32-byte aligned: they go from the workspace to their place, whole
 * 32-byte blocks per core.
 */
#ifndef EXP_SEGSUM_GRAD_LARGE_H
#define EXP_SEGSUM_GRAD_LARGE_H

#include "exp_segsum_grad_tables.h"

namespace segsum {

/* What the tables hold for square I of matrix m, in loads of LOAD_ROWS rows of each kind. */
struct Around {
    int64_t m, i;
    uint32_t below, left;             /* rows of column sums, of row sums */
    uint32_t width;                   /* length of the row sums */
    uint32_t below_loads, left_loads; /* totals: a load for each pair of the two */
    uint32_t loads;                   /* in all */
};

__aicore__ inline Around around(const Large &l, int64_t unit) {
    Around w;
    w.m = unit / l.squares;
    w.i = unit % l.squares;
    int64_t below = l.halves - 2 * (w.i + 1), rows = l.t - w.i * SQUARE;
    w.below = below > 0 ? below : 0;
    w.left = w.i;
    w.width = rows < SQUARE ? up(rows, 8) : SQUARE;
    w.below_loads = (w.below + LOAD_ROWS - 1) / LOAD_ROWS;
    w.left_loads = (w.left + LOAD_ROWS - 1) / LOAD_ROWS;
    w.loads = w.below_loads * w.left_loads;
    if (w.loads == 0) w.loads = w.below_loads + w.left_loads; /* one of them is 0 */
    return w;
}

/* What load number n brings: rows of each kind, totals per row, and where the totals begin. */
struct Piece {
    uint32_t below, left, corner, totals, row, column;
};

__aicore__ inline uint32_t rows_of_load(uint32_t all, uint32_t n) {
    return n * LOAD_ROWS < all ? least(all - n * LOAD_ROWS, LOAD_ROWS) : 0;
}

__aicore__ inline Piece piece_of(const Around &w, uint32_t n) {
    Piece p = {rows_of_load(w.below, n), rows_of_load(w.left, n), 0, 0, 0, 0};
    if (w.left_loads == 0) return p;
    uint32_t row = n / w.left_loads, column = n % w.left_loads;
    p.corner = rows_of_load(w.below, row);
    p.totals = rows_of_load(w.left, column);
    p.row = row * LOAD_ROWS;
    p.column = column * LOAD_ROWS;
    return p;
}

__aicore__ inline void load_sums(Large &l, const Around &w, uint32_t n) {
    Piece p = piece_of(w, n);
    int64_t under = 2 * (w.i + 1); /* the first row half below the square */
    LocalTensor<float> in = l.sums.AllocTensor<float>();
    DataCopyPadExtParams<float> pad;
    if (p.below) {
        DataCopy(in, l.table[below_at(l, w.m, w.i, under + n * LOAD_ROWS)], p.below * SQUARE);
    }
    if (p.left) {
        uint32_t length = w.width * sizeof(float), gap = (SQUARE - w.width) * sizeof(float);
        DataCopyExtParams copy(p.left, length, gap, 0, 0);
        int64_t at = left_at(l, w.m, w.i, n * LOAD_ROWS);
        DataCopyPad(in[LOAD_ROWS * SQUARE], l.table[at], copy, pad);
    }
    if (p.corner) {
        DataCopyExtParams copy(p.corner, p.totals * 32, (l.squares - p.totals) * 32, 0, 0);
        int64_t at = total_at(l, w.m, under + p.row, p.column);
        DataCopyPad(in[2 * LOAD_ROWS * SQUARE], l.table[at], copy, pad);
    }
    l.sums.EnQue(in);
}

/* Rows of column sums, row sums and totals. */
struct Parts {
    LocalTensor<float> at[3];
    uint32_t rows[3], length[3];
};

/* Adds them to `sums`, 128 fp32 for each kind. The rows of each are folded first, all kinds in
 * step. */
__aicore__ inline void add_parts(Parts &p, const LocalTensor<float> &sums) {
    for (bool more = true; more;) {
        more = false;
        for (uint32_t k = 0; k < 3; k++) {
            uint32_t half = (p.rows[k] + 1) / 2, length = p.length[k];
            if (p.rows[k] < 2) continue;
            add_flat(p.at[k], p.at[k], p.at[k][half * length], (p.rows[k] - half) * length);
            p.rows[k] = half;
            more = true;
        }
        vector_done();
    }
    for (uint32_t k = 0; k < 3; k++) {
        LocalTensor<float> sum = sums[k * SQUARE];
        if (p.rows[k]) add_flat(sum, sum, p.at[k], p.length[k]);
    }
    vector_done();
}

/* What one load brought. */
__aicore__ inline void add_sums(Large &l, const Around &w, uint32_t n,
                                const LocalTensor<float> &sums) {
    Piece piece = piece_of(w, n);
    LocalTensor<float> in = l.sums.DeQue<float>();
    Parts p = {{in, in[LOAD_ROWS * SQUARE], in[2 * LOAD_ROWS * SQUARE]},
               {piece.below, piece.left, piece.corner},
               {SQUARE, w.width, piece.totals * 8}};
    add_parts(p, sums);
    l.sums.FreeTensor(in);
}

/* All loads. If there are many (T > 11000) every 16 are summed by themselves: no long chains. */
__aicore__ inline void add_all_sums(Large &l, const Around &w, const LocalTensor<float> &scratch) {
    constexpr uint32_t CHAIN = 16;
    LocalTensor<float> total = scratch[FROM_BELOW], part = scratch[ROW_SUMS];
    bool deep = w.loads > CHAIN;
    Duplicate(total, 0.0f, 3 * SQUARE);
    for (uint32_t n = 0; n < w.loads; n++) {
        if (deep && n % CHAIN == 0) Duplicate(part, 0.0f, 3 * SQUARE);
        if (n > 0) load_sums(l, w, n);
        vector_done();
        add_sums(l, w, n, deep ? part : total);
        if (deep && (n % CHAIN == CHAIN - 1 || n + 1 == w.loads)) {
            Add(total, total, part, 3 * SQUARE);
            vector_done();
        }
    }
}

/* Everything around the square into its place: C of its last strip, the row sums to its left, the
 * corner (8 lanes). The columns of C_I from strip I + 1 on are not used; there go the left sums of
 * those rows, which belong into tile I's corner as well. */
__aicore__ inline void spread_sums(const Around &w, uint32_t n, const LocalTensor<float> &scratch) {
    LocalTensor<float> columns = scratch[COLUMNS], left = scratch[FROM_LEFT];
    DataCopy(columns[(n - 1) * SQUARE], scratch[FROM_BELOW], SQUARE);
    if (w.left) {
        Brcb(scratch[SPREAD], left, n * STRIP / 8, BrcbRepeatParams(1, 8));
        for (uint32_t at = 0; at < SQUARE && n > 1; at += LANES) {
            Copy(columns[at], left[at], LANES, n - 1, CopyRepeatParams(1, 1, SQUARE / 8, 0));
        }
    }
    if (w.below && w.left) fold(scratch[FROM_CORNER], least(w.left, LOAD_ROWS), 8);
    vector_done();
}

__aicore__ inline void gather_sums(Large &l, const Around &w, uint32_t n,
                                   const LocalTensor<float> &scratch) {
    Duplicate(scratch[COLUMNS], 0.0f, LANES, n * SQUARE / LANES, 1, 8);
    add_all_sums(l, w, scratch);
    spread_sums(w, n, scratch);
}

/* The left sums of every row get lane 0 of its copy, those of every last row the corner. */
__aicore__ inline void add_around(const Around &w, uint32_t n, const LocalTensor<float> &scratch,
                                  const LocalTensor<float> &tiles) {
    if (w.left == 0) return;
    for (uint32_t row = 0; row < 2 * STRIP; row += 8) {
        uint64_t mask[2] = {lanes_of(1, 8), 0};
        uint32_t strip = row / STRIP;
        LocalTensor<float> left = tiles[strip * TILE_LANES + row % STRIP * PAIR_LANES];
        if (strip < n) {
            Add(left, left, scratch[SPREAD + row * 8], mask, (n + 1 - strip) / 2,
                BinaryRepeatParams(PAIR_BLOCKS, PAIR_BLOCKS, 1, PAIR / 8, PAIR / 8, 2 * STRIP));
        }
    }
    vector_done();
    if (w.below) add_corners(n, scratch[FROM_CORNER], 0, tiles);
}

/* The sums around a square are in its scratch, a; the half strips in b. */
__aicore__ inline void finish_diagonal(Segsum &s, const Around &w, uint32_t n,
                                       const LocalTensor<float> &a, const LocalTensor<float> &b,
                                       const LocalTensor<float> &tiles) {
    sum_columns(n, b[HALVED], a[COLUMNS]);
    add_around(w, n, a, tiles);
    add_below(n, a[COLUMNS], a[CORNERS], tiles);
    finish_square(s, n, tiles, a);
}

__aicore__ inline uint32_t square_rows(const Large &l, int64_t i) {
    int64_t rows = l.t - i * SQUARE;
    return rows < SQUARE ? rows : SQUARE;
}

__aicore__ inline void load_diagonal(Segsum &s, const Large &l, int64_t m, int64_t i) {
    uint32_t step = l.t < SQUARE + 2 * STRIP ? 8 : STRIP; /* so small, the tables weigh enough */
    load_square(s, m * l.t * l.t + i * SQUARE * (l.t + 1), l.t, square_rows(l, i), step);
}

__aicore__ inline void load_next_diagonal(Segsum &s, const Large &l, int64_t &next, int64_t end) {
    if (next >= end) return;
    load_diagonal(s, l, next / l.squares, next % l.squares);
    next++;
}

/* The squares before `next` are on their way already. */
__aicore__ inline void run_diagonals(Segsum &s, Large &l, int64_t unit, int64_t next, int64_t end,
                                     bool gather) {
    LocalTensor<float> tiles = l.tiles.Get<float>();
    Around w = around(l, unit);
    load_sums(l, w, 0);
    for (; unit < end; unit++) {
        LocalTensor<float> a, b;
        uint32_t rows = square_rows(l, w.i), n = strips_of(rows);
        if (!WIDEN) load_next_diagonal(s, l, next, end);
        LocalTensor<Elem> in = begin_square(s, n, rows, n, a, b, tiles);
        if (WIDEN) load_next_diagonal(s, l, next, end);
        begin_rest(s, n, rows, n, a, b, tiles);
        gather_sums(l, w, n, a);
        Around after = around(l, unit + 1);
        if (unit + 1 < end) load_sums(l, after, 0);
        finish_diagonal(s, w, n, a, b, tiles);
        release(s, in);
        store_square(s, gather ? l.results[unit * SQUARE] : s.dx[w.m * l.t + w.i * SQUARE], rows);
        w = after;
    }
}

/* Phase 3. Cores get multiples of 16 results: whole 32-byte blocks of every type. */
__aicore__ inline void run_gather(Segsum &s, const Large &l, TPipe *pipe, uint32_t bytes) {
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> line;
    pipe->InitBuffer(line, 2, bytes);
    int64_t all = l.matrices * l.t, groups = (all + 15) / 16, core = GetBlockIdx();
    int64_t at = first(groups, core) * 16, end = first(groups, core + 1) * 16;
    if (end > all) end = all;
    while (at < end) {
        int64_t m = at / l.t, i = at % l.t, n = l.t - i < SQUARE ? l.t - i : SQUARE;
        if (n > end - at) n = end - at;
        DataCopyExtParams copy(1, n * sizeof(Elem), 0, 0, 0);
        DataCopyPadExtParams<Elem> pad;
        LocalTensor<Elem> x = line.AllocTensor<Elem>();
        DataCopyPad(x, l.results[m * l.squares * SQUARE + i], copy, pad);
        line.EnQue(x);
        x = line.DeQue<Elem>();
        DataCopyPad(s.dx[at], x, copy);
        line.FreeTensor(x);
        at += n;
    }
}

__aicore__ inline void run_large(Segsum &s, Large &l, TPipe *pipe,
                                 const ExpSegsumGradTilingData &tiling) {
    int64_t diagonals = l.matrices * l.squares, core = GetBlockIdx();
    int64_t unit = first(diagonals, core), end = first(diagonals, core + 1);
    run_tiles(s, l, tiling.units);
    /* The first diagonal squares need no table to be loaded: they come while others still finish.
     */
    int64_t next = unit;
    for (uint32_t k = 0; k < AHEAD; k++)
        load_next_diagonal(s, l, next, end);
    SyncAll();
    if (unit < end) run_diagonals(s, l, unit, next, end, tiling.gather != 0);
    if (tiling.gather) {
        SyncAll();
        run_gather(s, l, pipe, tiling.line_bytes);
    }
}

} // namespace segsum

#endif
