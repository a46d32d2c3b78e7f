/* SPDX-License-Identifier: Apache-2.0
 *
 * The walk of RotaryMulGrad and RotaryPositionEmbeddingGrad: which keys a core works on, their sums
 * from the first chunk to the stored row, and what is left to do when the sum of a row was spread
 * over several cores.
 */
#ifndef ROTARY_GRAD_RUN_H
#define ROTARY_GRAD_RUN_H

#include "rotary_grad_tile.h"

namespace rotary {

constexpr uint32_t FOLD = 32; /* partial sums that are fetched and added at once */

/* An even share: at most `limit` of `n`, so that the last share is not a remainder. */
__aicore__ inline uint32_t Share(int64_t n, uint32_t limit) {
    int64_t shares = (n + limit - 1) / limit;
    return (uint32_t)((n + shares - 1) / shares);
}

/* Rows of dcos (which = 0) or dsin (1), summed up, to T: the sign of dsin, and in SWAPPED modes its
 * order, are put right. Spoils the rows. */
template <typename T, int MODE>
__aicore__ inline void FinishSums(Kernel<T> &k, const Keys &keys, uint32_t which,
                                  const LocalTensor<T> &out, const LocalTensor<float> &rows) {
    const RotaryGradTiling &t = *k.t;
    const Strip &s = keys.strip;
    uint32_t count = keys.count * s.row, groups = keys.count * t.groups, step = 2 * s.pitch;
    if (which == 1) {
        if constexpr (SWAPPED<MODE>) {
            NegateSecond<MODE>(k, rows, keys.count, s.row);
        } else {
            Scaled(rows, step, rows, step, -1.0f, groups, s.pitch);
        }
        PipeBarrier<PIPE_V>();
    }
    if (SWAPPED<MODE> && which == 1) {
        if constexpr (sizeof(T) == 4) {
            GatherAll(out, rows, count, k.table, t.table, 4);
        } else {
            LocalTensor<T> narrow = k.w_dy.template ReinterpretCast<T>();
            Cast(narrow, rows, RoundMode::CAST_RINT, count);
            PipeBarrier<PIPE_V>();
            Swap<T, MODE>(k, out, narrow, k.w_swap, count);
        }
    } else if constexpr (sizeof(T) == 4) {
        Muls(out, rows, 1.0f, (int32_t)count);
    } else {
        Cast(out, rows, RoundMode::CAST_RINT, count);
    }
}

template <typename T, int MODE>
__aicore__ inline void StoreSums(Kernel<T> &k, const Keys &keys, uint32_t which,
                                 const LocalTensor<float> &rows) {
    const RotaryGradTiling &t = *k.t;
    LocalTensor<T> out = k.out_sum.template AllocTensor<T>();
    PipeBarrier<PIPE_V>();
    FinishSums<T, MODE>(k, keys, which, out, rows);
    k.out_sum.EnQue(out);
    out = k.out_sum.template DeQue<T>();
    Area area = {keys.slab * t.keys + keys.key, 1, keys.count, 0};
    Move<T, MODE == 1, false>(out, k.sum[which], area, keys.strip, t);
    k.out_sum.FreeTensor(out);
}

/* The same rows as part of a sum, to the workspace. */
template <typename T>
__aicore__ inline void StorePartial(Kernel<T> &k, const Keys &keys, uint32_t which,
                                    const LocalTensor<float> &rows, int64_t segment) {
    const RotaryGradTiling &t = *k.t;
    int64_t row = t.sum_row;
    uint32_t count = keys.count * keys.strip.row;
    LocalTensor<float> out = k.out_sum.template AllocTensor<float>();
    PipeBarrier<PIPE_V>();
    Muls(out, rows, 1.0f, (int32_t)count);
    k.out_sum.EnQue(out);
    out = k.out_sum.template DeQue<float>();
    Out(k.partial[((segment * 2 + which) * t.lines + keys.line) * row], out, 1, (int64_t)count * 4,
        0, 0);
    k.out_sum.FreeTensor(out);
}

/* From `line` on: as many keys as share a load of cos and sin, not beyond `end`. */
template <typename T, int MODE>
__aicore__ inline Keys KeysAt(const RotaryGradTiling &t, int64_t line, int64_t end) {
    Keys keys;
    keys.line = line;
    int64_t row = line / t.strips;
    keys.strip = StripOf<T, MODE == 1>(t, line - row * t.strips);
    keys.slab = row / t.keys;
    keys.key = row - keys.slab * t.keys;
    int64_t left = t.keys - keys.key < end - line ? t.keys - keys.key : end - line;
    keys.count = t.strips > 1 ? 1 : Share(left, t.group_keys);
    return keys;
}

template <typename T, int MODE>
__aicore__ inline void DoKeys(Kernel<T> &k, Keys &keys, int64_t first_chunk, int64_t end_chunk,
                              int64_t segment) {
    const RotaryGradTiling &t = *k.t;
    LoadCosines<T, MODE>(k, keys);
    if (t.levels > 0) {
        Duplicate(k.sums, 0.0f, (int32_t)(t.levels * 2 * t.cosines));
    }
    uint32_t size = keys.strip.row;
    for (uint32_t done = 0; done < keys.count;) {
        uint32_t count = Share(keys.count - done, t.tile_keys);
        for (int64_t chunk = first_chunk; chunk < end_chunk; chunk++) {
            Tile tile = TileOf<T>(t, keys, done, count, chunk);
            DoTile<T, MODE>(k, keys, tile, chunk - first_chunk + 1);
        }
        done += count;
    }
    FreeCosines<T>(k, keys);
    if (t.ragged && keys.line % t.strips == 0) {
        CloseSeams<T, MODE == 4 ? 0 : MODE>(k, keys, first_chunk, end_chunk);
    }
    if (!t.with_x) {
        return;
    }
    for (uint32_t i = t.levels; i > 1;
         i--) { /* the upper accumulators into the first, the highest first */
        PipeBarrier<PIPE_V>();
        Add(k.sums[(i - 2) * 2 * t.cosines], k.sums[(i - 2) * 2 * t.cosines],
            k.sums[(i - 1) * 2 * t.cosines], (int32_t)(2 * t.cosines));
    }
    if (MODE == 3 && t.levels == 0) { /* 0 + x as in a sum: Pick does not keep the sign of a zero */
        PipeBarrier<PIPE_V>();
        Adds(k.terms, k.terms, 0.0f, (int32_t)(2 * keys.count * size));
    }
    for (uint32_t which = 0; which < 2; which++) {
        LocalTensor<float> rows =
            t.levels > 0 ? k.sums[which * t.cosines] : k.terms[which * keys.count * size];
        if (t.partial) {
            StorePartial<T>(k, keys, which, rows, segment);
        } else {
            StoreSums<T, MODE>(k, keys, which, rows);
        }
    }
}

/* One row of dcos or dsin from its segments, in their order. */
template <typename T, int MODE>
__aicore__ inline void JoinSegments(Kernel<T> &k, Keys &keys, uint32_t which) {
    const RotaryGradTiling &t = *k.t;
    int64_t row = t.sum_row, apart = 2 * t.lines * row;
    uint32_t widest = t.tile * sizeof(T) / 4 / FOLD / BLOCK * BLOCK;
    keys.count = 1;
    PipeBarrier<PIPE_V>();
    Duplicate(k.sums, 0.0f, (int32_t)keys.strip.row);
    for (uint32_t column = 0; column < keys.strip.row; column += widest) {
        uint32_t columns = keys.strip.row - column < widest ? keys.strip.row - column : widest;
        for (int64_t segment = 0; segment < t.segments; segment += FOLD) {
            uint32_t n = (uint32_t)(t.segments - segment < FOLD ? t.segments - segment : FOLD);
            LocalTensor<float> in = k.in_dy.template AllocTensor<float>();
            In(in, k.partial[(segment * 2 + which) * t.lines * row + keys.line * row + column], n,
               columns * 4, (apart - columns) * 4, 0, 0);
            k.in_dy.EnQue(in);
            in = k.in_dy.template DeQue<float>();
            PipeBarrier<PIPE_V>();
            Tree(in, n, columns);
            Add(k.sums[column], k.sums[column], in, (int32_t)columns);
            k.in_dy.FreeTensor(in);
        }
    }
    StoreSums<T, MODE>(k, keys, which, k.sums);
}

/* dcos and dsin where there is nothing to sum. */
template <typename T> __aicore__ inline void ClearSums(Kernel<T> &k) {
    const RotaryGradTiling &t = *k.t;
    constexpr int64_t block = 32 / sizeof(T);
    int64_t blocks = (t.zeros + block - 1) / block, cores = GetBlockNum(), core = GetBlockIdx();
    int64_t from = blocks * core / cores * block, to = blocks * (core + 1) / cores * block;
    to = to < t.zeros ? to : t.zeros;
    if (from >= to) {
        return;
    }
    LocalTensor<T> zero = k.out_dx.template AllocTensor<T>();
    Duplicate(zero.template ReinterpretCast<int32_t>(), (int32_t)0,
              (int32_t)(t.tile * sizeof(T) / 4));
    k.out_dx.EnQue(zero);
    zero = k.out_dx.template DeQue<T>();
    for (; from < to; from += t.tile) {
        int64_t n = to - from < t.tile ? to - from : t.tile;
        Out(k.sum[0][from], zero, 1, n * sizeof(T), 0, 0);
        Out(k.sum[1][from], zero, 1, n * sizeof(T), 0, 0);
    }
    k.out_dx.FreeTensor(zero);
}

/* MODE as in rotary_grad.h; JOIN: the sums of a row are spread over cores. */
template <typename T, int MODE, bool JOIN>
__aicore__ inline void Run(const RotaryGradTiling &t, const Args &args) {
    TPipe pipe;
    Kernel<T> k;
    Setup<T, MODE>(k, t, args, pipe);
    if (t.zeros > 0) {
        ClearSums<T>(k);
    }
    int64_t cores = GetBlockNum(), core = GetBlockIdx();
    int64_t units = (t.lines + t.unit - 1) / t.unit, items = units * t.segments;
    int64_t item = items * core / cores, end = items * (core + 1) / cores;
    k.item = item;
    k.end = end;
    if (JOIN) {
        k.partial.SetGlobalBuffer((__gm__ float *)GetUserWorkspace(args.workspace));
    }
    while (item < end) {
        int64_t unit = item / t.segments, segment = item - unit * t.segments;
        int64_t taken = t.segments == 1
                            ? end - item
                            : 1; /* without segments a core's units are one run of lines */
        int64_t line = unit * t.unit, stop = (unit + taken) * t.unit;
        stop = stop < t.lines ? stop : t.lines;
        int64_t first_chunk = t.chunks * segment / t.segments,
                end_chunk = t.chunks * (segment + 1) / t.segments;
        while (line < stop) {
            Keys keys = KeysAt<T, MODE>(t, line, stop);
            DoKeys<T, MODE>(k, keys, first_chunk, end_chunk, segment);
            line += keys.count;
        }
        item += taken;
    }
    if constexpr (JOIN) {
        SyncAll();
        int64_t rows =
            2 * ((t.lines + t.join_unit - 1) / t.join_unit); /* dcos and dsin of every unit */
        for (int64_t i = rows * core / cores; i < rows * (core + 1) / cores; i++) {
            for (int64_t line = i / 2 * t.join_unit;
                 line < (i / 2 + 1) * t.join_unit && line < t.lines; line++) {
                Keys keys = KeysAt<T, MODE>(t, line, line + 1);
                JoinSegments<T, MODE>(k, keys, (uint32_t)(i & 1));
            }
        }
    }
}

} // namespace rotary

#endif
