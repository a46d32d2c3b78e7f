/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of RotaryMulGrad and RotaryPositionEmbeddingGrad in small work, half rotation: with few rows
 * the meeting of the cores that joins the sums of segments would take most of the time. Instead
 * some cores do nothing but sum, each some columns of a half of dcos or dsin over all rows,
 *
 *     dcosA = sum dyA * xA      dsinA = -sum dyA * xB
 *     dcosB = sum dyB * xB      dsinB =  sum dyB * xA
 *
 * and the others make dx. Chunks, and the tree in which their sums are joined, are those of
 * segments that meet, so the bits are, too.
 */
#ifndef ROTARY_GRAD_ALONE_H
#define ROTARY_GRAD_ALONE_H

#include "rotary_grad.h"

namespace rotary {

/* Parts in which the chunks are fetched: the first is soon there, and the last soon done. */
constexpr uint32_t GROUPS = 4;

template <typename T> struct Alone {
    const RotaryGradTiling *t;
    GlobalTensor<T> dy, x;
    GlobalTensor<Table<T>> sum[2];
    TBuf<TPosition::VECIN> in;
    TBuf<TPosition::VECOUT> out;
    TBuf<TPosition::VECCALC> work;
    /* columns of all rows */
    LocalTensor<T> dy_in, x_in;
    /* the same in fp32; w_dy becomes the terms, and their sums */
    LocalTensor<float> w_dy, w_x;
    LocalTensor<Table<T>> sums;
    TEventID full[GROUPS], done;
};

/* Rows [first, first + n) of the chunks of a group. */
struct Group {
    uint32_t from, to, first, n;
};

__aicore__ inline Group group_of(const RotaryGradTiling &t, uint32_t index) {
    Group g;
    g.from = (uint32_t)((t.chunks * index + GROUPS - 1) / GROUPS);
    g.to = (uint32_t)((t.chunks * (index + 1) + GROUPS - 1) / GROUPS);
    g.first = g.from * t.chunk_rows;
    g.n = least(g.to * t.chunk_rows, (uint32_t)t.inner) - g.first;
    return g;
}

template <typename T>
__aicore__ inline void open_alone(Alone<T> &k, const RotaryGradTiling &t, const Args &args,
                                  TPipe &pipe) {
    constexpr uint32_t shift = 64; /* floats that put operands in other banks */
    uint32_t width = t.alone_width, all = (uint32_t)t.inner * width;
    k.t = &t;
    k.dy.SetGlobalBuffer((__gm__ T *)args.dy);
    k.x.SetGlobalBuffer((__gm__ T *)args.x);
    k.sum[0].SetGlobalBuffer((__gm__ Table<T> *)args.dcos);
    k.sum[1].SetGlobalBuffer((__gm__ Table<T> *)args.dsin);
    pipe.InitBuffer(k.in, 2 * all * sizeof(T) + 4 * shift);
    pipe.InitBuffer(k.work, (2 * all + shift) * 4);
    pipe.InitBuffer(k.out, width * sizeof(Table<T>));
    k.dy_in = k.in.template Get<T>();
    k.x_in = k.dy_in[all + 4 * shift / sizeof(T)];
    k.w_dy = k.work.template Get<float>();
    k.w_x = k.w_dy[all + shift];
    k.sums = k.out.template Get<Table<T>>();
    for (uint32_t i = 0; i < GROUPS; i++) {
        k.full[i] = pipe.AllocEventID<HardEvent::MTE2_V>();
    }
    k.done = pipe.AllocEventID<HardEvent::V_MTE3>();
}

/* Columns of some rows; `at`: where they begin in the first row of all. */
template <typename T>
__aicore__ inline void fetch_columns(const RotaryGradTiling &t, const LocalTensor<T> &to,
                                     const GlobalTensor<T> &from, int64_t at, const Group &g) {
    constexpr uint32_t block = 32 / sizeof(T);
    int64_t row = t.inner_stride * t.dy_row;
    DataCopyParams steps(Narrow16(g.n), Narrow16(t.alone_width / block),
                         Narrow16((row - t.alone_width) / block), 0);
    DataCopy(to[g.first * t.alone_width], from[at + g.first * row], steps);
}

/* Chunks that are summed at the same time: `rows` rows are left of each, `last` of the last. */
struct Trees {
    LocalTensor<float> at;
    uint32_t chunks, rows, last;
};

/* Sums them until `left` rows are left, or fewer. */
__aicore__ inline void sum_trees(const RotaryGradTiling &t, Trees &trees, uint32_t left) {
    uint32_t width = t.alone_width, pitch = t.chunk_rows * width;
    while (trees.rows > left) {
        uint32_t rows = trees.rows, kept = (rows + 1) / 2, last = trees.last, half = (last + 1) / 2;
        uint32_t alike = last == rows ? trees.chunks : trees.chunks - 1;
        if (alike > 0) {
            apply_rows<ADD>(trees.at, pitch, trees.at, pitch, trees.at[kept * width], pitch, alike,
                            (rows - kept) * width);
        }
        if (alike < trees.chunks && last > 1) {
            LocalTensor<float> slab = trees.at[alike * pitch];
            apply_run<ADD>(slab, slab, slab[half * width], (last - half) * width);
        }
        vector_done();
        trees.rows = kept;
        trees.last = half;
    }
}

/* The terms of a group's chunks, and their sums: the last of these are short, and calls for all
 * chunks at once do them later, unless chunks are further apart than a call can step. */
template <typename T> __aicore__ inline Trees begin_trees(Alone<T> &k, const Group &g) {
    const RotaryGradTiling &t = *k.t;
    constexpr uint32_t few = 10; /* rows */
    uint32_t left = t.chunk_rows * t.alone_width <= REPEATS * BLOCK ? few : 1;
    uint32_t at = g.first * t.alone_width, count = g.n * t.alone_width;
    LocalTensor<float> terms = k.w_dy[at];
    if constexpr (sizeof(T) == 4) {
        Mul(terms, k.dy_in[at], k.x_in[at], (int32_t)count);
    } else {
        Cast(terms, k.dy_in[at], RoundMode::CAST_NONE, count);
        Cast(k.w_x[at], k.x_in[at], RoundMode::CAST_NONE, count);
        vector_done();
        Mul(terms, terms, k.w_x[at], (int32_t)count);
    }
    vector_done();
    uint32_t chunks = g.to - g.from;
    Trees trees = {terms, chunks, t.chunk_rows, g.n - (chunks - 1) * t.chunk_rows};
    sum_trees(t, trees, left);
    return trees;
}

/* Columns from `column` on of a half of a row of dcos (0) or dsin (1). */
template <typename T>
__aicore__ inline void sum_columns(Alone<T> &k, int64_t line, int64_t half, int64_t column,
                                   uint32_t which) {
    const RotaryGradTiling &t = *k.t;
    uint32_t width = t.alone_width;
    int64_t slab = line / t.cos_rows, at = half * t.half + column;
    int64_t row = slab * t.slab_stride + (line - slab * t.cos_rows) * t.cos_stride;
    int64_t partner = which == 0 ? at : (half ^ 1) * t.half + column;
    for (uint32_t i = 0; i < GROUPS; i++) {
        Group g = group_of(t, i);
        if (g.from < g.to) {
            fetch_columns(t, k.dy_in, k.dy, row * t.dy_row + at, g);
            fetch_columns(t, k.x_in, k.x, row * t.dy_row + partner, g);
            SetFlag<HardEvent::MTE2_V>(k.full[i]);
        }
    }
    Trees trees;
    for (uint32_t i = 0; i < GROUPS; i++) {
        Group g = group_of(t, i);
        if (g.from < g.to) {
            WaitFlag<HardEvent::MTE2_V>(k.full[i]);
            trees = begin_trees(k, g);
        }
    }
    trees.at = k.w_dy;
    trees.chunks = (uint32_t)t.chunks;
    sum_trees(t, trees, 1);
    LocalTensor<float> sum = k.w_dy;
    for (uint32_t n = trees.chunks, pitch = t.chunk_rows * width; n > 1; n = (n + 1) / 2) {
        uint32_t kept = (n + 1) / 2;
        apply_rows<ADD>(sum, pitch, sum, pitch, sum[kept * pitch], pitch, n - kept, width);
        vector_done();
    }
    /* 0 + x, as in any sum */
    Adds(sum, sum, 0.0f, (int32_t)width);
    if (which == 1 && half % 2 == 0) {
        vector_done();
        Muls(sum, sum, -1.0f, (int32_t)width);
    }
    vector_done();
    if constexpr (sizeof(Table<T>) == 4) {
        Muls(k.sums, sum, 1.0f, (int32_t)width);
    } else {
        Cast(k.sums, sum, RoundMode::CAST_RINT, width);
    }
    SetFlag<HardEvent::V_MTE3>(k.done);
    WaitFlag<HardEvent::V_MTE3>(k.done);
    DataCopy(k.sum[which][line * t.row + at], k.sums, width);
}

/* The share of a core in dcos and dsin. */
template <typename T>
__aicore__ inline void sum_alone(const RotaryGradTiling &t, const Args &args, TPipe &pipe,
                                 int64_t core, int64_t cores) {
    int64_t pieces = t.half / t.alone_width, each = 2 * (t.row / t.half) * pieces;
    Alone<T> k;
    ResetMask();
    open_alone(k, t, args, pipe);
    for (int64_t i = t.alone * core / cores, end = t.alone * (core + 1) / cores; i < end; i++) {
        int64_t line = i / each, rest = i - line * each, half = rest / (2 * pieces);
        rest -= half * 2 * pieces;
        sum_columns(k, line, half, rest / 2 * t.alone_width, (uint32_t)(rest % 2));
        PipeBarrier<PIPE_ALL>(); /* cores with several of them are few */
    }
    for (uint32_t i = 0; i < GROUPS; i++) {
        pipe.ReleaseEventID<HardEvent::MTE2_V>(k.full[i]);
    }
    pipe.ReleaseEventID<HardEvent::V_MTE3>(k.done);
}

} // namespace rotary

#endif
