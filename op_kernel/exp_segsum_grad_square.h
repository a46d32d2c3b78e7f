/* SPDX-License-Identifier: Apache-2.0
 *
 * ExpSegsumGrad for one diagonal square of up to 128 rows: a whole matrix (T <= 128) or a piece of
 * a larger one. The lower triangle is read in strips of 16 rows; strip I has the columns
 * 0 .. 16 (I + 1). For i in strip I the sum over j < i <= k of M[k][j] falls into
 *     j and k in strip I          the 16 x 16 diagonal tile, summed as for small T
 *     j in strip I, k below it    C_I[j], column sums of the strips below: a row under the tile
 *     j left of it, k in strip I  R_I[k], row sums left of the tile: a column before the tile
 *     j left of it, k below it    the corner of that row and that column
 * So a tile becomes rows of 8 + 16 lanes: 8 partial sums of R_I[k], then the tile. The row under it
 * is added to its last row, which every row's suffix sum takes in. Two tiles lie side by side and
 * share all further vector calls. Rows that a ragged last strip has not are filled with zeros.
 * A square comes in two parts, its long strips first: they can be worked on while the short ones
 * come, which take nearly as long to load for a third of the elements.
 */
#ifndef EXP_SEGSUM_GRAD_SQUARE_H
#define EXP_SEGSUM_GRAD_SQUARE_H

#include "exp_segsum_grad.h"

namespace segsum {

constexpr uint32_t SQUARE = EXP_SEGSUM_ROWS, STRIP = EXP_SEGSUM_STRIP, STRIPS = SQUARE / STRIP;
constexpr uint32_t TILE_LANES = EXP_SEGSUM_TILE_LANES, TILE_BLOCKS = TILE_LANES / 8;
/* a row of two tiles, and two tiles */
constexpr uint32_t PAIR_BLOCKS = 2 * TILE_BLOCKS, PAIR_LANES = 8 * PAIR_BLOCKS;
constexpr uint32_t PAIR = STRIP * PAIR_LANES;
/* blocks from one C_I's columns in strip I to the next C_I's */
constexpr uint32_t C_STEP = (SQUARE + STRIP) / 8;
/* strips whose left sums, and whose used columns, fit into a repeat */
constexpr uint32_t NARROW = LANES / STRIP;

/* Scratch inside the second operand, in fp32: in its long strips, which nobody needs once their
 * products are made. */
constexpr uint32_t LEFT_MORE = 3 * STRIP * LANES; /* left sums of columns 64 on, a block per row */
/* Strips on their way to column sums: 8 rows of one or two pieces of 64 columns of every strip but
 * the first. */
constexpr uint32_t HALVED = LEFT_MORE + 8 * STRIP * (STRIPS - 1 - NARROW);
static_assert(HALVED + 8 * LANES * (2 * STRIPS - 2 - NARROW) <= EXP_SEGSUM_TILE, "it fits");

/* Scratch inside the first operand, once the sums of its products are on their way. */
constexpr uint32_t COLUMNS = 0;                         /* row I: C_I */
constexpr uint32_t CORNERS = COLUMNS + STRIPS * SQUARE; /* 16 per strip */
constexpr uint32_t RESULTS = CORNERS + 16 * STRIPS;
constexpr uint32_t ROW_SUMS = RESULTS + SQUARE; /* a block per row of a pair */
/* exp_segsum_grad_large.h: sums of what lies around the square; the row sums, a block per row. */
constexpr uint32_t FROM_BELOW = ROW_SUMS + 8 * SQUARE / 2;
constexpr uint32_t FROM_LEFT = FROM_BELOW + SQUARE;
constexpr uint32_t FROM_CORNER = FROM_LEFT + SQUARE;
constexpr uint32_t SPREAD = FROM_CORNER + SQUARE;
static_assert(SPREAD + 8 * SQUARE <= EXP_SEGSUM_TILE, "the scratch fits into the operand");

AICORE_INLINE uint32_t strips_of(uint32_t rows) {
    return (rows + STRIP - 1) / STRIP;
}

AICORE_INLINE uint32_t start(uint32_t i) { /* where strip i begins */
    return STRIP * STRIP * (i * (i + 1) / 2);
}

AICORE_INLINE uint32_t row_blocks(uint32_t i) { /* of its rows */
    return STRIP / 8 * (i + 1);
}

AICORE_INLINE uint32_t tile_of(uint32_t i) { /* its left sums; a block later, the tile */
    return i / 2 * PAIR + i % 2 * TILE_LANES;
}

using TileBuffer = TBuf<TPosition::VECCALC>;

AICORE_INLINE void open_square(Segsum &s, TileBuffer &tiles, TPipe *pipe,
                               const ExpSegsumGradTilingData &tiling) {
    open_work(s, pipe, tiling);
    pipe->InitBuffer(tiles, tiling.tiles_bytes);
    /* A square with an odd number of strips leaves a tile unwritten. */
    Duplicate(tiles.Get<float>(), 0.0f, STRIPS / 2 * PAIR);
    vector_done();
}

/* The strips from `row` to `rows`. */
AICORE_INLINE void load_strips(Segsum &s, const LocalTensor<Elem> &in, int64_t at, int64_t t,
                               uint32_t row, uint32_t rows, uint32_t end, uint32_t step) {
    constexpr uint32_t BLOCKS = STRIP / IN_BLOCK;
    uint32_t to = start(row / STRIP), lanes = row + STRIP;
    at += row * t;
    if (s.direct && step == STRIP) { /* whole strips, by the short form */
        uint32_t blocks = lanes / IN_BLOCK;
        DataCopyParams copy(STRIP, blocks, t / IN_BLOCK - blocks, 0);
        for (; row + STRIP <= rows; row += STRIP) {
            DataCopy(in[to], s.dy[at], copy);
            DataCopy(in[s.second + to], s.y[at], copy);
            copy.blockLen += BLOCKS;
            copy.srcStride -= BLOCKS;
            at += STRIP * t;
            to += STRIP * lanes;
            lanes += STRIP;
        }
    }
    for (; row < rows; row += step) {
        load_rows(s, in[to], at, t, least(step, rows - row), least(row + step, end), lanes);
        at += step * t;
        to += step * lanes;
        if ((row + step) % STRIP == 0) lanes += STRIP;
    }
}

/* at: element offset of the block's first row and column; t: row pitch of the matrix. `step` rows
 * of a strip are copied at once: 16, or 8 to leave out more of what lies above the diagonal. */
AICORE_INLINE void load_square(Segsum &s, int64_t at, int64_t t, uint32_t rows, uint32_t step) {
    LocalTensor<Elem> in = s.in.AllocTensor<Elem>();
    uint32_t turn = s.loads++ % 2;
    s.block[turn] = in;
    load_strips(s, in, at, t, LANES, rows, rows, step);
    SetFlag<HardEvent::MTE2_V>(s.part[turn]);
    load_strips(s, in, at, t, 0, least(rows, LANES), rows, step);
    s.in.EnQue(in);
}

/* What load_square brings, in elements of one operand. */
AICORE_INLINE uint32_t loaded(uint32_t rows, uint32_t n) {
    return start(n) - (STRIP * n - rows) * STRIP * n;
}

/* Zeros for the rows from `rows` on, and for a repeat and more behind the last strip, which is
 * read with it. */
AICORE_INLINE void fill_square(const LocalTensor<float> &x, uint32_t rows, uint32_t n) {
    uint32_t from = loaded(rows, n), end = start(n) + (n < STRIPS ? SQUARE : 0);
    if (from < end) Duplicate(x[from], 0.0f, end - from);
    uint32_t lanes = STRIP * n, gap = lanes - up(rows, 8);
    if (!WIDEN && gap) { /* the columns that a copy cannot fill */
        Duplicate(x[start(n - 1) + lanes - gap], 0.0f, gap, rows - STRIP * (n - 1), 1, lanes / 8);
    }
}

/* Walks over strips: where the strip and its tile begin, and the blocks of its rows. */
struct Strip {
    uint32_t i, at, tile, step, turn;
};

AICORE_INLINE Strip strip_at(uint32_t i) {
    Strip x = {i, start(i), tile_of(i), row_blocks(i), i % 2 ? PAIR - TILE_LANES : TILE_LANES};
    return x;
}

AICORE_INLINE void go_on(Strip &x) {
    x.at += STRIP * 8 * x.step;
    x.step = row_blocks(++x.i);
    x.tile += x.turn;
    x.turn = PAIR - x.turn;
}

/* Products of the strips [i, end): the diagonal tiles into their own rows, then everything in
 * place. */
AICORE_INLINE void multiply_strips(uint32_t i, uint32_t end, const LocalTensor<float> &a,
                                   const LocalTensor<float> &b, const LocalTensor<float> &tiles) {
    Strip x = strip_at(i);
    uint32_t from = x.at;
    BinaryRepeatParams rows(1, 1, 1, PAIR_BLOCKS, 0, 0);
    SetVectorMask<float>(0, first_lanes(STRIP));
    for (uint32_t left = STRIP * i; left < STRIP * end; left += STRIP) {
        rows.src0RepStride = rows.src1RepStride = x.step;
        Mul<float, false>(tiles[x.tile + 8], a[x.at + left], b[x.at + left], MASK_PLACEHOLDER,
                          STRIP, rows);
        go_on(x);
    }
    /* The left sums of the first 64 rows do not fill their 8 lanes: a block in three. */
    if (i == 0) Duplicate(tiles, 0.0f, LANES, NARROW * STRIP / 8, TILE_BLOCKS, 8 * TILE_BLOCKS);
    vector_done();
    mul_flat(a[from], a[from], b[from], x.at - from);
    vector_done();
}

/* R_I, as 8 partial sums: columns 0..63, then the others on top. */
AICORE_INLINE void sum_left(uint32_t i, uint32_t end, const LocalTensor<float> &a,
                            const LocalTensor<float> &more, const LocalTensor<float> &tiles) {
    Strip x = strip_at(i);
    for (uint32_t lanes = STRIP * i; lanes < STRIP * end; lanes += STRIP) {
        if (lanes <= LANES) SetVectorMask<float>(0, first_lanes(lanes));
        BlockReduceSum<float, false>(tiles[x.tile], a[x.at], STRIP, MASK_PLACEHOLDER, PAIR_BLOCKS,
                                     1, x.step);
        go_on(x);
    }
    x = strip_at(NARROW + 1);
    for (uint32_t lanes = STRIP, to = 0; lanes + LANES < STRIP * end; lanes += STRIP) {
        BlockReduceSum(more[to], a[x.at + LANES], STRIP, lanes, 1, 1, x.step);
        to += STRIP * 8;
        go_on(x);
    }
}

AICORE_INLINE void add_left(uint32_t n, const LocalTensor<float> &more,
                            const LocalTensor<float> &tiles) {
    Strip x = strip_at(NARROW + 1);
    BinaryRepeatParams rows(PAIR_BLOCKS, PAIR_BLOCKS, 1, 8 * PAIR_BLOCKS, 8 * PAIR_BLOCKS, 8);
    uint64_t own = EACH_BLOCK * 3; /* two sums of eight columns, then two more for each strip */
    for (uint32_t i = NARROW + 1, from = 0; i < n; i++) {
        LocalTensor<float> left = tiles[x.tile];
        SetVectorMask<float>(0, own);
        Add<float, false>(left, left, more[from], MASK_PLACEHOLDER, STRIP / 8, rows);
        own = own << 2 | EACH_BLOCK * 3;
        from += STRIP * 8;
        go_on(x);
    }
}

/* Pieces of 64 columns that strips have left of their diagonal tiles, the first strip none. */
AICORE_INLINE uint32_t pieces_of(uint32_t n) {
    return n - 1 + (n > NARROW + 1 ? n - NARROW - 1 : 0);
}

/* The first step of the column sums: the lower half of each strip onto its upper half. n: strips in
 * all. */
AICORE_INLINE void halve_strips(uint32_t i, uint32_t end, uint32_t n, const LocalTensor<float> &a,
                                const LocalTensor<float> &halved) {
    Strip x = strip_at(i);
    BinaryRepeatParams rows(1, 1, 1, pieces_of(n) * LANES / 8, 0, 0);
    SetVectorMask<float>(0, ~0ull);
    for (uint32_t to = pieces_of(i) * LANES; i < end; i++) {
        uint32_t low = x.at + STRIP / 2 * 8 * x.step;
        rows.src0RepStride = rows.src1RepStride = x.step;
        Add<float, false>(halved[to], a[x.at], a[low], MASK_PLACEHOLDER, STRIP / 2, rows);
        to += LANES;
        if (i > NARROW) {
            Add<float, false>(halved[to], a[x.at + LANES], a[low + LANES], MASK_PLACEHOLDER,
                              STRIP / 2, rows);
            to += LANES;
        }
        go_on(x);
    }
}

/* Column sums of every strip into its first row, then C_I for all I from the last strip up. */
AICORE_INLINE void sum_columns(uint32_t n, const LocalTensor<float> &halved,
                               const LocalTensor<float> &columns) {
    uint32_t pieces = pieces_of(n);
    BinaryRepeatParams flat(1, 1, 1, 8, 8, 8), strips(1, 1, 1, STRIP / 8, STRIP / 8, STRIP / 8);
    SetVectorMask<float>(0, ~0ull);
    for (uint32_t repeats = STRIP / 4 * pieces; repeats >= pieces && pieces; repeats /= 2) {
        Add<float, false>(halved, halved, halved[repeats * LANES], MASK_PLACEHOLDER, repeats, flat);
        vector_done();
    }
    SetVectorMask<float>(0, first_lanes(STRIP));
    LocalTensor<float> below = columns[(n - 1) * SQUARE];
    for (uint32_t i = n - 1, from = pieces * LANES; i > 0; i--) {
        LocalTensor<float> to = columns[(i - 1) * SQUARE];
        from -= i > NARROW ? 2 * LANES : LANES;
        Add<float, false>(to, below, halved[from], MASK_PLACEHOLDER, i, strips);
        below = to;
        vector_done();
    }
}

/* 8 lanes per strip, `step` blocks apart, to the left sums of each tile's last row. */
AICORE_INLINE void add_corners(uint32_t n, const LocalTensor<float> &from, uint32_t step,
                               const LocalTensor<float> &tiles) {
    uint32_t pairs = n / 2;
    LocalTensor<float> last = tiles[(STRIP - 1) * PAIR_LANES];
    if (pairs) {
        Add(last, last, from, 2 * 8, pairs,
            BinaryRepeatParams(TILE_BLOCKS, TILE_BLOCKS, step, PAIR / 8, PAIR / 8, 2 * step));
    }
    if (n % 2) add_rows(last[pairs * PAIR], from[2 * pairs * step * 8], 8, 1, 1, 1);
    vector_done();
}

/* The row under each tile, corner and all, added to the tile's last row. */
AICORE_INLINE void add_below(uint32_t n, const LocalTensor<float> &columns,
                             const LocalTensor<float> &corners, const LocalTensor<float> &tiles) {
    LocalTensor<float> last = tiles[(STRIP - 1) * PAIR_LANES + 8];
    BinaryRepeatParams pairs(1, 1, 1, PAIR / 8, PAIR / 8, 2 * C_STEP);
    SetVectorMask<float>(0, first_lanes(STRIP));
    Add<float, false>(last, last, columns, MASK_PLACEHOLDER, (n + 1) / 2, pairs);
    if (n > 1) {
        LocalTensor<float> second = last[TILE_LANES];
        Add<float, false>(second, second, columns[8 * C_STEP], MASK_PLACEHOLDER, n / 2, pairs);
    }
    vector_done();
    Duplicate(columns, 0.0f, STRIP, n, 1, C_STEP); /* the corner is what is left of it */
    vector_done();
    BlockReduceSum(corners, columns, 2 * n, LANES, 1, 1, 8);
    vector_done();
    add_corners(n, corners, 2, tiles);
    add_corners(n, corners[8], 2, tiles);
}

/* Suffix sums over the 16 rows of all pairs of tiles, as in scan(). */
AICORE_INLINE void scan_tiles(const LocalTensor<float> &tiles, uint32_t pairs) {
    SetVectorMask<float>(0, first_lanes(PAIR_LANES));
    for (uint32_t half = PAIR_LANES, groups = STRIP / 2 * pairs; half < PAIR / 2; half *= 2) {
        BinaryRepeatParams steps(1, 1, 1, half / 4, half / 4, half / 4);
        LocalTensor<float> low = tiles[half];
        for (uint32_t at = 0; at < half; at += PAIR_LANES) {
            LocalTensor<float> to = tiles[at];
            Add<float, false>(to, to, low, MASK_PLACEHOLDER, groups, steps);
        }
        groups /= 2;
        vector_done();
    }
    BinaryRepeatParams steps(1, 1, 1, PAIR_BLOCKS, PAIR_BLOCKS, 0);
    for (uint32_t at = 0; at < pairs * PAIR; at += PAIR) {
        LocalTensor<float> to = tiles[at];
        Add<float, false>(to, to, to[PAIR / 2], MASK_PLACEHOLDER, STRIP / 2, steps);
    }
    vector_done();
}

/* From suffix sums to results: row k of a tile owns its left sums and the lanes j < k. */
AICORE_INLINE void sum_tiles(const LocalTensor<float> &tiles, const LocalTensor<float> &sums,
                             const LocalTensor<float> &results, uint32_t pairs) {
    SetVectorMask<float>(0, UPPER);
    for (uint32_t part = 0; part < 2 * TILE_LANES; part += TILE_LANES) {
        for (uint32_t q = 0; q < STRIP; q += 8) {
            Duplicate<float, false>(tiles[q * PAIR_LANES + part + 8 + q], 0.0f, MASK_PLACEHOLDER,
                                    pairs, PAIR_BLOCKS, PAIR / 8);
        }
    }
    vector_done();
    BlockReduceSum(sums, tiles, STRIP * pairs, PAIR_LANES, 1, 1, PAIR_BLOCKS);
    vector_done();
    uint64_t top = EACH_BLOCK * 3, low = EACH_BLOCK * 7; /* rows 0..7 own a block of the tile */
    for (uint32_t part = 0; part < 2; part++) {
        SetVectorMask<float>(0, top << TILE_BLOCKS * part);
        BlockReduceSum<float, false>(results[part * STRIP], sums, pairs, MASK_PLACEHOLDER,
                                     2 * STRIP / 8, 1, STRIP);
        SetVectorMask<float>(0, low << TILE_BLOCKS * part);
        BlockReduceSum<float, false>(results[part * STRIP + 8], sums[LANES], pairs,
                                     MASK_PLACEHOLDER, 2 * STRIP / 8, 1, STRIP);
    }
}

/* Tiles to results; scratch: the first operand. */
AICORE_INLINE void finish_square(Segsum &s, uint32_t n, const LocalTensor<float> &tiles,
                                 const LocalTensor<float> &scratch) {
    uint32_t pairs = (n + 1) / 2;
    scan_tiles(tiles, pairs);
    LocalTensor<Elem> out = s.out.AllocTensor<Elem>();
    LocalTensor<float> results = result_place(out, scratch[RESULTS]);
    sum_tiles(tiles, scratch[ROW_SUMS], results, pairs);
    narrow(out, results, 2 * pairs * STRIP);
    s.out.EnQue(out);
}

AICORE_INLINE void store_square(Segsum &s, const GlobalTensor<Elem> &to, uint32_t rows) {
    LocalTensor<Elem> out = s.out.DeQue<Elem>();
    if (s.direct) {
        DataCopy(to, out, rows);
    } else {
        DataCopyExtParams copy(1, rows * sizeof(Elem), 0, 0, 0);
        DataCopyPad(to, out, copy);
    }
    s.out.FreeTensor(out);
}

/* From the operands to the left sums and half strips of the strips [i, end). */
AICORE_INLINE void begin_strips(uint32_t i, uint32_t end, uint32_t rows, uint32_t n,
                                const LocalTensor<float> &a, const LocalTensor<float> &b,
                                const LocalTensor<float> &tiles) {
    if (rows < SQUARE && end == n) {
        fill_square(a, rows, n);
        fill_square(b, rows, n);
        vector_done();
    }
    multiply_strips(i, end, a, b, tiles);
    uint32_t second = i ? i : 1;
    sum_left(second, end, a, b[LEFT_MORE], tiles);
    halve_strips(second, end, n, a, b[HALVED]);
}

/* How many strips of a square are left for later: the short ones where loading takes longer than
 * the sums. Otherwise all; a buffer is free sooner that way. */
AICORE_INLINE uint32_t late_strips(uint32_t n, bool slow) {
    return slow && n > NARROW ? NARROW : n;
}

/* The square that comes next: its strips from `late` on, while the others are still on their way.
 */
AICORE_INLINE LocalTensor<Elem> begin_square(Segsum &s, uint32_t late, uint32_t rows, uint32_t n,
                                             LocalTensor<float> &a, LocalTensor<float> &b,
                                             const LocalTensor<float> &tiles) {
    uint32_t turn = s.takes++ % 2;
    LocalTensor<Elem> in = s.block[turn];
    operands(s, in, a, b);
    vector_done(); /* the last tile is still being read */
    WaitFlag<HardEvent::MTE2_V>(s.part[turn]);
    if (late < n) {
        uint32_t from = start(late);
        widen_part(s, in, from, loaded(rows, n) - from, a, b);
        begin_strips(late, n, rows, n, a, b, tiles);
    }
    in = s.in.DeQue<Elem>();
    widen_part(s, in, 0, late < n ? start(late) : loaded(rows, n), a, b);
    if constexpr (WIDEN) s.in.FreeTensor(in);
    return in;
}

/* The other strips; then the first operand is free. */
AICORE_INLINE void begin_rest(const Segsum &s, uint32_t late, uint32_t rows, uint32_t n,
                              const LocalTensor<float> &a, const LocalTensor<float> &b,
                              const LocalTensor<float> &tiles) {
    begin_strips(0, late, rows, n, a, b, tiles);
    vector_done();
    add_left(n, b[LEFT_MORE], tiles);
}

AICORE_INLINE void load_matrix(Segsum &s, int64_t &next, int64_t end, int64_t t) {
    if (next >= end) return;
    load_square(s, next * t * t, t, t, STRIP);
    next++;
}

AICORE_FLAT void run_square(Segsum &s, TPipe *pipe, const ExpSegsumGradTilingData &tiling) {
    int64_t t = tiling.size, core = GetBlockIdx(), m = first(tiling.units, core) * tiling.unit;
    int64_t end = first(tiling.units, core + 1) * tiling.unit;
    if (end > tiling.matrices) end = tiling.matrices;
    uint32_t n = strips_of(t);
    int64_t next = m;
    for (uint32_t k = 0; k < AHEAD; k++)
        load_matrix(s, next, end, t);
    TileBuffer buffer;
    open_square(s, buffer, pipe, tiling);
    LocalTensor<float> tiles = buffer.Get<float>();
    for (; m < end; m++) {
        LocalTensor<float> a, b;
        if (!WIDEN) load_matrix(s, next, end, t);
        uint32_t late = late_strips(n, !WIDEN || n == STRIPS);
        LocalTensor<Elem> in = begin_square(s, late, t, n, a, b, tiles);
        if (WIDEN) load_matrix(s, next, end, t);
        begin_rest(s, late, t, n, a, b, tiles);
        Duplicate(a[COLUMNS], 0.0f, LANES, n * SQUARE / LANES, 1, 8);
        vector_done();
        sum_columns(n, b[HALVED], a[COLUMNS]);
        add_below(n, a[COLUMNS], a[CORNERS], tiles);
        finish_square(s, n, tiles, a);
        release(s, in);
        store_square(s, s.dx[m * t], t);
    }
}

} // namespace segsum

#endif
