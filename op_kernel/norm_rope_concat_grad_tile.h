/* SPDX-License-Identifier: Apache-2.0
 *
 * NormRopeConcatGrad: one tile, from its load to its store. w0 goes g, g', g^, dx; w1 x, x^; w2
 * holds products. Calls between two barriers do not depend on each other; what is independent
 * shares the wait.
 */
#ifndef NORM_ROPE_CONCAT_GRAD_TILE_H
#define NORM_ROPE_CONCAT_GRAD_TILE_H

#include "norm_rope_concat_grad_norm.h"

template <typename T> __aicore__ inline void NrcLoad(NrcCore<T> &c, const NrcStep &p) {
    const NrcTiling &t = *c.t;
    NrcStream<T> s;
    NrcOpen(c, p.stream, s);
    NrcColumns k = NrcColumnsOf<T>(t, p.block);
    LocalTensor<T> in = c.in.template AllocTensor<T>();
    for (NrcRect r = NrcFirst(t, *s.t, p.range); r.left; NrcNext(t, *s.t, r)) {
        NrcLoadRect(t, s, k, r, in);
        if (!r.rope) continue;
        GlobalTensor<T> sin, cos;
        sin.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(c.args->in[19]));
        cos.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(c.args->in[20]));
        NrcLoadRows(t, k, in[t.at_cos / sizeof(T) + r.row * k.pitch], cos, r.position, r.seqs);
        NrcLoadRows(t, k, in[t.at_sin / sizeof(T) + r.row * k.pitch], sin, r.position, r.seqs);
    }
    if (s.t->norm) {
        LocalTensor<float> numbers = in.template ReinterpretCast<float>();
        NrcLoadRows(t, k, in[t.at_x / sizeof(T)], s.x, p.range.line, p.range.lines);
        NrcLoadNumbers(numbers[t.at_mean / sizeof(float)], s.mean, p.range.line, p.range.lines);
        NrcLoadNumbers(numbers[t.at_rstd / sizeof(float)], s.rstd, p.range.line, p.range.lines);
    }
    if (p.gamma) NrcLoadRows(t, k, in[t.at_gamma / sizeof(T)], s.gamma, 0, 1);
    c.in.EnQue(in);
}

template <typename T>
__aicore__ inline NrcTile<T> NrcTileOf(NrcCore<T> &c, const LocalTensor<T> &in, const NrcStep &p) {
    const NrcTiling &t = *c.t;
    NrcTile<T> v;
    v.s = &t.stream[p.stream];
    v.range = p.range;
    v.k = NrcColumnsOf<T>(t, p.block);
    v.lines = p.range.lines;
    v.count = v.lines * v.k.pitch;
    v.rows = 0;
    for (NrcRect r = NrcFirst(t, *v.s, v.range); r.left; NrcNext(t, *v.s, r)) {
        v.rows += r.rope ? r.seqs : 0;
    }
    v.g = in;
    v.w2 = NrcAt(c, t.at_w2);
    if (v.rows) {
        v.cos = in[t.at_cos / sizeof(T)];
        v.sin = in[t.at_sin / sizeof(T)];
        if (sizeof(T) == 2 || t.rope == 1) v.sin_wide = NrcAt(c, t.at_sin_wide);
    }
    if (v.s->norm) {
        v.x = in[t.at_x / sizeof(T)];
        v.mean = NrcAt(c, t.at_mean_wide);
        v.rstd = NrcAt(c, t.at_rstd_wide);
        v.rstd_row = NrcAt(c, t.at_rstd_row);
    }
    if constexpr (sizeof(T) == 2) {
        v.w0 = NrcAt(c, t.at_w0);
        if (v.s->norm) v.w1 = NrcAt(c, t.at_w1);
        if (v.rows) v.cos_wide = NrcAt(c, t.at_cos_wide);
    } else {
        v.w0 = in;
        v.w1 = v.x;
        v.cos_wide = v.cos;
        if (t.rope == 2) v.sin_wide = v.sin;
    }
    return v;
}

/* First the loads become fp32, here also gamma and the numbers that each line has one of. */
template <typename T>
__aicore__ inline void NrcBegin(NrcCore<T> &c, const LocalTensor<T> &in, const NrcTile<T> &v,
                                const NrcStep &p) {
    const NrcTiling &t = *c.t;
    NrcWiden(v.w0, v.g, v.count);
    if (v.s->norm) {
        LocalTensor<float> numbers = in.template ReinterpretCast<float>();
        uint8_t eights = static_cast<uint8_t>((v.lines + 7) / 8);
        NrcWiden(v.w1, v.x, v.count);
        Brcb(v.mean, numbers[t.at_mean / sizeof(float)], eights, {1, 8});
        Brcb(v.rstd, numbers[t.at_rstd / sizeof(float)], eights, {1, 8});
        Muls(v.rstd_row, numbers[t.at_rstd / sizeof(float)], 1.0f,
             static_cast<int32_t>(eights * 8));
    }
    if (p.gamma) {
        LocalTensor<float> gamma = NrcAt(c, t.at_gamma_wide);
        if constexpr (sizeof(T) == 2) {
            Cast(gamma, in[t.at_gamma / sizeof(T)], RoundMode::CAST_NONE, v.k.pitch);
        } else {
            Muls(gamma, in[t.at_gamma / sizeof(T)], 1.0f, static_cast<int32_t>(v.k.pitch));
        }
    }
    if (v.s->norm == 2 && p.finish && p.first) {
        Duplicate(NrcAt(c, t.at_dbeta), 0.0f, static_cast<int32_t>(t.sum_lines * v.k.pitch));
        Duplicate(NrcAt(c, t.at_dgamma), 0.0f, static_cast<int32_t>(t.sum_lines * v.k.pitch));
    }
}

/* x^ in w1. The steps of g' go side by side with it: first is x - mean, second times rstd. */
template <typename T> __aicore__ inline void NrcCentre(const NrcTile<T> &v) {
    if (v.s->norm) NrcByLine<NRC_SUB>(v.w1, v.w1, {v.mean, v.mean, 1}, v.lines, v.k.pitch);
}

template <typename T> __aicore__ inline void NrcScale(const NrcTile<T> &v) {
    if (v.s->norm) NrcByLine<NRC_MUL>(v.w1, v.w1, {v.rstd, v.rstd, 1}, v.lines, v.k.pitch);
}

template <typename T>
__aicore__ inline void NrcHalf(NrcCore<T> &c, LocalTensor<T> &in, const NrcTile<T> &v) {
    const NrcTiling &t = *c.t;
    if (v.rows) {
        NrcWiden(v.cos_wide, v.cos, v.rows * v.k.pitch);
        NrcWiden(v.sin_wide, v.sin, v.rows * v.k.pitch);
    }
    if constexpr (sizeof(T) == 2) c.in.FreeTensor(in);
    NrcBarrier();
    NrcCentre(v);
    if (v.rows) NrcTurn(t, v, v.w2, v.w0, v.sin_wide);
    NrcBarrier();
    NrcScale(v);
    if (v.rows) {
        NrcTurn(t, v, v.w0, v.w0, v.cos_wide);
        NrcBarrier();
        NrcAddTurned(t, v, v.w2);
    }
    NrcBarrier();
}

template <typename T>
__aicore__ inline void NrcInterleave(NrcCore<T> &c, LocalTensor<T> &in, const NrcTile<T> &v) {
    const NrcTiling &t = *c.t;
    LocalTensor<float> turned = v.w2[NRC_PHASE]; // in other banks than w0
    uint32_t table = v.rows * v.k.pitch;
    if constexpr (sizeof(T) == 2) {
        NrcWiden(v.cos_wide, v.cos, table);
        NrcShift(v.g, v.w2, v.count);
        NrcShift(v.sin, v.sin_wide, table);
        NrcBarrier();
        NrcCentre(v);
        NrcJoin(v.g, v.w2, v.count);
        NrcJoin(v.sin, v.sin_wide, table);
        NrcBarrier();
        NrcScale(v);
        NrcTurn(t, v, v.w0, v.w0, v.cos_wide);
        NrcWiden(turned, v.g, v.count);
        NrcWiden(v.sin_wide, v.sin, table);
        c.in.FreeTensor(in);
        NrcBarrier();
        NrcNegateOdd(v.sin_wide, table);
    } else {
        NrcGather(c, turned, v.w0, v.count);
        NrcGather(c, v.sin_wide, v.sin, table);
        NrcBarrier();
        NrcCentre(v);
        NrcTurn(t, v, v.w0, v.w0, v.cos_wide);
        NrcNegateOdd(v.sin_wide, table);
    }
    NrcBarrier();
    if constexpr (sizeof(T) == 4) NrcScale(v);
    NrcTurn(t, v, turned, turned, v.sin_wide);
    NrcBarrier();
    NrcAddTurned(t, v, turned);
    NrcBarrier();
}

/* dx from w0 to GM. 16-bit types go through a cast, fp32 is written straight into the buffer
 * that is stored. */
template <typename T>
__aicore__ inline void NrcStore(NrcCore<T> &c, LocalTensor<T> &in, const NrcTile<T> &v,
                                const NrcStep &p, const LocalTensor<float> &stat) {
    NrcMeans m;
    bool norm = v.s->norm != 0;
    if (norm) {
        m = NrcSpreadMeans(c, v, stat);
        NrcBarrier();
        NrcSubtract(v, m);
        NrcBarrier();
        if constexpr (sizeof(T) == 2) {
            NrcByLine<NRC_MUL>(v.w0, v.w0, m.rstd, v.lines, v.k.pitch);
            NrcBarrier();
        }
    }
    LocalTensor<T> out = c.out.template AllocTensor<T>(); // not before: it waits for the last store
    if constexpr (sizeof(T) == 2) {
        Cast(out, v.w0, RoundMode::CAST_RINT, v.count);
    } else {
        if (norm) {
            NrcByLine<NRC_MUL>(out, v.w0, m.rstd, v.lines, v.k.pitch);
        } else {
            Muls(out, v.w0, 1.0f, static_cast<int32_t>(v.count));
        }
        c.in.FreeTensor(in);
    }
    NrcStream<T> s;
    NrcOpen(c, p.stream, s);
    c.out.EnQue(out);
    out = c.out.template DeQue<T>();
    NrcStoreRows(*c.t, v.k, s.dx, out, v.range.line, v.lines);
    c.out.FreeTensor(out);
}

/* Everything between load and store. `in` is the tile as loaded; it is given back as early as
 * possible. */
template <typename T>
__aicore__ inline void NrcCompute(NrcCore<T> &c, LocalTensor<T> &in, const NrcStep &p) {
    NrcTile<T> v = NrcTileOf(c, in, p);
    NrcBarrier(); // the tile before used the same buffers
    NrcBegin(c, in, v, p);
    if (v.rows && c.t->rope == 1) {
        NrcInterleave(c, in, v);
    } else {
        NrcHalf(c, in, v);
    }
    LocalTensor<float> stat = NrcAt(c, c.t->at_stat + p.slot * c.t->stat_floats * 4);
    if (v.s->norm) NrcNorm(c, v, p, stat);
    if (p.finish) {
        NrcStore(c, in, v, p, stat);
    } else if constexpr (sizeof(T) == 4) {
        c.in.FreeTensor(in);
    }
}

#endif
