/* SPDX-License-Identifier: Apache-2.0
 *
 * ExpSegsumGrad for T <= 64: several whole matrices per tile, all of them in every vector call.
 * [n, T, T] in, [n, T] out. A row is read whole: below 128 bytes a shorter one would cost the same.
 */
#ifndef EXP_SEGSUM_GRAD_SMALL_H
#define EXP_SEGSUM_GRAD_SMALL_H

#include "exp_segsum_grad.h"

namespace segsum {

struct SmallShape {
    uint32_t t;
    uint32_t pitch;  /* lanes of a row in UB: T, or T padded to 32 bytes by the copy */
    uint32_t result; /* elements from one result to the next in UB */
    bool filled;     /* rows fill 32-byte blocks of fp32: matrices are copied as they lie */
};

AICORE_INLINE SmallShape small_shape(uint32_t t) {
    bool filled = t % BLOCK == 0;
    SmallShape shape = {t, filled ? t : up(t, IN_BLOCK), filled ? t : up(t, 16), filled};
    return shape;
}

AICORE_INLINE void load_small(Segsum &s, const SmallShape &shape, int64_t from, uint32_t n) {
    LocalTensor<Elem> in = s.in.AllocTensor<Elem>();
    uint32_t t = shape.t;
    int64_t at = from * t * t;
    uint32_t rows = shape.filled ? 1 : n * t;
    DataCopyExtParams copy(rows, (shape.filled ? n * t * t : t) * sizeof(Elem), 0, 0, 0);
    DataCopyPadExtParams<Elem> pad;
    pad.isPad = !shape.filled;
    pad.rightPadding = shape.pitch - t;
    DataCopyPad(in, s.dy[at], copy, pad);
    DataCopyPad(in[s.second], s.y[at], copy, pad);
    s.in.EnQue(in);
}

AICORE_INLINE void store_small(Segsum &s, const SmallShape &shape, int64_t from, uint32_t n) {
    LocalTensor<Elem> out = s.out.DeQue<Elem>();
    uint32_t t = shape.t, blocks = shape.filled ? 1 : n;
    uint32_t length = (shape.filled ? n * t : t) * sizeof(Elem);
    uint32_t gap = shape.filled ? 0 : (shape.result * sizeof(Elem) - up(length, 32)) / 32;
    DataCopyExtParams copy(blocks, length, gap, 0, 0);
    DataCopyPad(s.dx[from * t], out, copy);
    s.out.FreeTensor(out);
}

/* sum_rows for T = 8 and 16, whose rows would leave most lanes idle: a matrix is 1 or 4 full
 * repeats, and the lanes that row k does not own are the same bits of a repeat in every matrix. */
AICORE_INLINE void sum_narrow_rows(const LocalTensor<float> &d, const LocalTensor<float> &sums,
                                   const LocalTensor<float> &results, uint32_t n, uint32_t t) {
    uint32_t rows = LANES / t, repeats = t / rows;
    for (uint32_t c = 0; c < repeats; c++) {
        uint64_t mask[2] = {0, 0};
        for (uint32_t r = 0; r < rows; r++) {
            mask[0] |= ((1ull << t) - (1ull << (c * rows + r))) << (r * t);
        }
        for (uint32_t m = 0; m < n; m += REPEATS) {
            Duplicate(d[(m * repeats + c) * LANES], 0.0f, mask, least(n - m, REPEATS), 1,
                      repeats * 8);
        }
    }
    vector_done();
    for (uint32_t i = 0; i < n * repeats; i += REPEATS) {
        BlockReduceSum(repeats == 1 ? results[i * 8] : sums[i * 8], d[i * LANES],
                       least(n * repeats - i, REPEATS), LANES, 1, 1, 8);
    }
    if (repeats == 1) return;
    vector_done();
    if (n > 1) PairReduceSum(results, sums, n / 2, LANES, 1, 1, 8); /* two matrices to a repeat */
    if (n % 2) PairReduceSum(results[n / 2 * 32], sums[n / 2 * LANES], 1, 32, 1, 1, 8);
}

/* The matrices of one core, and those that are to be loaded next. */
struct SmallShare {
    int64_t next, end, tile;
};

AICORE_INLINE void load_next_small(Segsum &s, const SmallShape &shape, SmallShare &share) {
    int64_t left = share.end - share.next;
    if (left <= 0) return;
    load_small(s, shape, share.next, left < share.tile ? left : share.tile);
    share.next += share.tile;
}

AICORE_INLINE void compute_small(Segsum &s, const SmallShape &shape, SmallShare &share,
                                 LocalTensor<Elem> &in, uint32_t n) {
    LocalTensor<float> a, b;
    uint32_t t = shape.t, blocks = shape.pitch / BLOCK, count = n * t * shape.pitch;
    if (!WIDEN) load_next_small(s, shape, share);
    widen(s, in, count, a, b);
    if (WIDEN) load_next_small(s, shape, share);
    mul_flat(a, a, b, count);
    if ((t & (t - 1)) == 0) {
        scan(a, n * t, t, blocks);
    } else {
        scan_any(a, n, t, blocks);
    }
    LocalTensor<Elem> out = s.out.AllocTensor<Elem>();
    LocalTensor<float> results = result_place(out, a); /* a is free once the row sums are in b */
    if (t == 8 || t == 16) {
        sum_narrow_rows(a, b, results, n, t);
    } else {
        sum_rows(a, b, results, n, t, blocks, shape.result);
    }
    narrow(out, results, n * shape.result);
    release(s, in);
    s.out.EnQue(out);
}

AICORE_FLAT void run_small(Segsum &s, const ExpSegsumGradTilingData &tiling) {
    SmallShape shape = small_shape(tiling.size);
    int64_t core = GetBlockIdx(), m = first(tiling.units, core) * tiling.unit;
    int64_t end = first(tiling.units, core + 1) * tiling.unit, tile = tiling.tile;
    if (end > tiling.matrices) end = tiling.matrices;
    SmallShare share = {m, end, tile};
    for (uint32_t k = 0; k < AHEAD; k++)
        load_next_small(s, shape, share);
    for (; m < end; m += tile) {
        LocalTensor<Elem> in = s.in.DeQue<Elem>();
        uint32_t n = end - m < tile ? end - m : tile;
        compute_small(s, shape, share, in, n);
        store_small(s, shape, m, n);
    }
}

} // namespace segsum

#endif
