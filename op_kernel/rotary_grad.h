/* SPDX-License-Identifier: Apache-2.0
 *
 * The body of RotaryMulGrad (half mode) and RotaryPositionEmbeddingGrad. With A and B the two
 * partners of a rotation,
 *
 *     dxA = cosA * dyA + sinB * dyB      dcosA = sum dyA * xA      dsinA = -sum dyA * xB
 *     dxB = cosB * dyB - sinA * dyA      dcosB = sum dyB * xB      dsinB =  sum dyB * xA
 *
 * MODE 0 (half, quarter): A and B are the halves of a group, in all tensors. Addresses find the
 * partner. MODE 1 (interleave): A and B are neighbours, in all tensors. A copy of dy with
 * neighbours swapped finds the partner. MODE 3 (interleave-half): halves in dy, cos, sin, dcos,
 * dsin; neighbours in x and dx. x is dealt into two planes on its way in, dx is made in two planes
 * and interleaved on its way out. MODE 4 is MODE 0 for halves that do not begin at 32-byte blocks,
 * although rows of floats do: as MODE 1, with a copy of dy whose halves are swapped.
 *
 * 16-bit types are widened to fp32 first and rounded once at the end. rotary_grad_tiling_data.h
 * says how rows are cut into chunks, tiles and segments.
 */
#ifndef ROTARY_GRAD_H
#define ROTARY_GRAD_H

#include "kernel_operator.h"
#include "rotary_grad_deal.h"
#include "rotary_grad_move.h"
#include "rotary_grad_rows.h"
#include "rotary_grad_tiling_data.h"

namespace rotary {

using namespace AscendC;

struct Args { /* GM_ADDR is a macro with a star: one name each */
    GM_ADDR dy;
    GM_ADDR cos;
    GM_ADDR sin;
    GM_ADDR x;
    GM_ADDR dx;
    GM_ADDR dcos;
    GM_ADDR dsin;
    GM_ADDR workspace;
};

template <int MODE> constexpr bool SWAPPED = MODE == 1 || MODE == 4;

template <typename T> struct Kernel {
    const RotaryGradTiling *t;
    int64_t item, end; /* the pieces of work of this core */
    GlobalTensor<T> dy, cos, sin, x, dx, sum[2]; /* sum: dcos, dsin */
    GlobalTensor<float> partial;                 /* [segment][dcos, dsin][line][row] */
    TQue<TPosition::VECIN, 1> in_dy, in_x, in_cos;
    TQue<TPosition::VECOUT, 1> out_dx, out_sum;
    TBuf<TPosition::VECCALC> work, shift_in, shift_out;
    LocalTensor<float> w_dy, w_x, w_swap; /* tiles in fp32: dy, x, dy with partners swapped */
    LocalTensor<float> w_dx, w_other;     /* cos * dy, which becomes dx, and sin * dy */
    LocalTensor<float> terms; /* both of them at once: what is summed to dcos and dsin */
    LocalTensor<float> cosines, sums, signs;
    LocalTensor<int32_t> table;
};

/* The keys whose cos and sin are at hand. */
struct Keys {
    int64_t line; /* the first one */
    int64_t slab, key;
    uint32_t count;
    Strip strip;
    LocalTensor<float> cos, sin; /* SWAPPED: sin, too, with the sign it has in dx */
};

template <typename T> __aicore__ inline void SetArguments(Kernel<T> &k, const Args &args) {
    k.dy.SetGlobalBuffer((__gm__ T *)args.dy);
    k.cos.SetGlobalBuffer((__gm__ T *)args.cos);
    k.sin.SetGlobalBuffer((__gm__ T *)args.sin);
    k.x.SetGlobalBuffer((__gm__ T *)args.x);
    k.dx.SetGlobalBuffer((__gm__ T *)args.dx);
    k.sum[0].SetGlobalBuffer((__gm__ T *)args.dcos);
    k.sum[1].SetGlobalBuffer((__gm__ T *)args.dsin);
}

/* Buffers. Operands of one call start 256 bytes apart modulo 512, that is in other banks: w_x,
 * w_other (where it is added to w_dx element by element) and the cosines are shifted against the
 * rest. op_tiling counts the same bytes. */
template <typename T, int MODE>
__aicore__ inline void Setup(Kernel<T> &k, const RotaryGradTiling &t, const Args &args,
                             TPipe &pipe) {
    constexpr bool wide = sizeof(T) == 4;
    constexpr uint32_t shift = 64;
    SetArguments(k, args);
    k.t = &t;
    uint32_t tile = t.tile, size = sizeof(T);
    uint32_t dy = 0, swap = dy + (wide ? 0 : tile);
    uint32_t x = swap + (SWAPPED<MODE> ? tile : 0) + shift;
    uint32_t dx = x + (t.with_x && (!wide || MODE == 3) ? tile : 0) + shift;
    uint32_t other = dx + (!wide || MODE == 3 || t.with_x ? tile : 0) + (MODE == 0 ? 0 : shift);
    uint32_t cosines = other + tile + (MODE == 0 ? shift : 0);
    uint32_t sums = cosines + (wide ? (SWAPPED<MODE> ? 1 : 0) : 2) * t.cosines;
    uint32_t table = sums + t.levels * 2 * t.cosines;
    uint32_t signs = table + t.table;
    uint32_t end = signs + (MODE == 4 ? (uint32_t)t.row : 0);
    end = (end + 128) / 128 * 128; /* the last part may be empty, its tensor still begins inside */
    pipe.InitBuffer(k.work, end * 4);
    pipe.InitBuffer(k.in_dy, 2, tile * size);
    pipe.InitBuffer(k.shift_in, shift * 4);
    if (t.with_x) {
        pipe.InitBuffer(k.in_x, 2, tile * size);
    }
    if (t.lines > 0) {
        pipe.InitBuffer(k.in_cos, 2, (2 * t.cosines * size + 511) / 512 * 512);
    }
    pipe.InitBuffer(k.shift_out, shift * 4);
    pipe.InitBuffer(k.out_dx, 2, tile * size);
    if (t.with_x) {
        pipe.InitBuffer(k.out_sum, 2, t.cosines * (t.partial ? 4 : size));
    }
    LocalTensor<float> all = k.work.template Get<float>();
    k.w_dy = all[dy];
    k.w_swap = all[swap];
    k.w_x = all[x];
    k.w_dx = all[dx];
    k.w_other = all[other];
    k.terms = k.w_dx;
    k.cosines = all[cosines];
    k.sums = all[sums];
    k.signs = all[signs];
    k.table = all[table].template ReinterpretCast<int32_t>();
    if constexpr (MODE == 4) {
        MakeTurnTable(k.table, t.table, (uint32_t)t.row,
                      (uint32_t)(t.half * sizeof(T) / 4)); /* of 32-bit words */
        MakeSigns(k.signs, (uint32_t)t.row, (uint32_t)t.half);
    } else if constexpr (wide && MODE == 1) {
        MakeSwapTable(k.table, t.table);
    } else if constexpr (wide && MODE == 3) {
        MakeInterleaveTable(k.table, t.table, tile / 2);
    }
}

/* The second partner changes its sign, in n rows. */
template <int MODE, typename T>
__aicore__ inline void NegateSecond(Kernel<T> &k, const LocalTensor<float> &rows, uint32_t n,
                                    uint32_t row) {
    if constexpr (MODE == 1) {
        NegateOdd(rows, n * row);
    } else {
        Rows<MUL>(rows, row, rows, row, k.signs, 0, n, row);
    }
}

/* Partners of 16-bit types swapped, two at a time as 32-bit words; spare holds as many elements. */
template <typename T, int MODE>
__aicore__ inline void Swap(Kernel<T> &k, const LocalTensor<T> &to, const LocalTensor<T> &from,
                            const LocalTensor<float> &spare, uint32_t count) {
    if constexpr (MODE == 1) {
        SwapWords(to, from, spare.template ReinterpretCast<T>(), count);
    } else {
        GatherAll(to.template ReinterpretCast<float>(), from.template ReinterpretCast<float>(),
                  count / 2, k.table, k.t->table, 4);
    }
}

/* sin as SWAPPED modes want it: sinB for A, -sinA for B. */
template <typename T, int MODE>
__aicore__ inline void SwapSines(Kernel<T> &k, const LocalTensor<float> &to,
                                 const LocalTensor<T> &in, uint32_t n, uint32_t row) {
    uint32_t count = n * row;
    if constexpr (sizeof(T) == 4) {
        GatherAll(to, in, count, k.table, k.t->table, 4);
    } else {
        LocalTensor<T> swapped = k.w_dx.template ReinterpretCast<T>();
        Swap<T, MODE>(k, swapped, in, k.w_other, count);
        PipeBarrier<PIPE_V>();
        Cast(to, swapped, RoundMode::CAST_NONE, count);
    }
    PipeBarrier<PIPE_V>();
    NegateSecond<MODE>(k, to, n, row);
}

template <typename T, int MODE> __aicore__ inline void LoadCosines(Kernel<T> &k, Keys &keys) {
    const RotaryGradTiling &t = *k.t;
    constexpr bool wide = sizeof(T) == 4;
    constexpr uint32_t block = 32 / sizeof(T);
    uint32_t row = keys.strip.row, count = keys.count * row,
             each = (count + block - 1) / block * block;
    Area area = {keys.slab * t.keys + keys.key, 1, keys.count, 0};
    LocalTensor<T> in = k.in_cos.template AllocTensor<T>();
    Move<T, MODE == 1, true>(in, k.cos, area, keys.strip, t);
    Move<T, MODE == 1, true>(in[each], k.sin, area, keys.strip, t);
    k.in_cos.EnQue(in);
    in = k.in_cos.template DeQue<T>();
    PipeBarrier<PIPE_V>();
    if constexpr (wide) { /* stays in the queue until the keys are done */
        keys.cos = in;
        keys.sin = in[each];
        if constexpr (SWAPPED<MODE>) {
            keys.sin = k.cosines;
            SwapSines<T, MODE>(k, keys.sin, in[each], keys.count, row);
        }
    } else {
        keys.cos = k.cosines;
        keys.sin = k.cosines[count];
        if constexpr (SWAPPED<MODE>) {
            Cast(keys.cos, in, RoundMode::CAST_NONE, count);
            SwapSines<T, MODE>(k, keys.sin, in[each], keys.count, row);
        } else {
            Cast(keys.cos, in, RoundMode::CAST_NONE, 2 * count);
        }
        k.in_cos.FreeTensor(in);
    }
    PipeBarrier<PIPE_V>();
}

template <typename T> __aicore__ inline void FreeCosines(Kernel<T> &k, Keys &keys) {
    if constexpr (sizeof(T) == 4) {
        k.in_cos.FreeTensor(keys.cos);
    }
}

} // namespace rotary

#endif
