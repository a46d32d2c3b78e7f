/* SPDX-License-Identifier: Apache-2.0
 *
 * NormRopeConcatGrad: dgamma and dbeta. Every chunk leaves one partial sum of each in the
 * workspace, [chunk][dgamma, dbeta][width] (RMSNorm: no dbeta), of a norm across heads with a width
 * for each head; when all cores are done, the
 * partial sums of a stream are added as a binary tree whose shape depends on their number alone.
 */
#ifndef NORM_ROPE_CONCAT_GRAD_SUMS_H
#define NORM_ROPE_CONCAT_GRAD_SUMS_H

#include "norm_rope_concat_grad_tile.h"

namespace norm_rope_concat {

/* The running sums of a chunk and column block go to the workspace. */
template <typename Y> __aicore__ inline void flush_sums(Core<Y> &c, const Step &p) {
    const Tiling &t = *c.t;
    const LocalTensor<float> &dbeta = c.w.dbeta, &dgamma = c.w.dgamma;
    const NrcStreamTiling &s = t.stream[p.stream];
    if (s.across) {
        flush_across(c, p);
        return;
    }
    const Columns &k = columns_at(c, t, p.part);
    bool beta = s.centred;
    uint32_t n = s.sum_lines;
    while (n > 2) {
        if (beta) add_upper(dbeta, n, k.pitch);
        n = add_upper(dgamma, n, k.pitch);
        vector_done();
    }
    const LocalTensor<float> &out = c.sum;
    take(c.sum_slot);
    if (n == 2) {
        apply_run<ADD>(out, dgamma, dgamma[k.pitch], k.pitch);
        if (beta) apply_run<ADD>(out[k.pitch], dbeta, dbeta[k.pitch], k.pitch);
    } else {
        Muls(out, dgamma, 1.0f, (int32_t)k.pitch);
        if (beta) Muls(out[k.pitch], dbeta, 1.0f, (int32_t)k.pitch);
    }
    send(c.sum_slot);
    receive(c.sum_slot);
    uint32_t column = p.part * c.k[0].pitch;
    DataCopy(partial_sums(c, s, p.chunk, 0)[column], out, k.pitch);
    if (beta) DataCopy(partial_sums(c, s, p.chunk, 1)[column], out[k.pitch], k.pitch);
    give_back(c.sum_slot);
}

/* Columns of one vector that are added up together, in the workspace and in the result. */
struct Segment {
    int64_t column, result;
    uint32_t width, padded;
};

template <typename Y>
__aicore__ inline bool segment_of(const Core<Y> &c, const NrcStreamTiling &s, int64_t index,
                                  Segment &g) {
    const Tiling &t = *c.t;
    if (s.segment == NRC_LONG_SEGMENT) { /* lines without padding, one behind the other */
        g.column = g.result = index * NRC_LONG_SEGMENT;
        g.width = g.padded = least64(NRC_LONG_SEGMENT, s.width - g.column);
        return true;
    }
    int64_t each = (t.columns + NRC_SEGMENT - 1) / NRC_SEGMENT, from = index % each * NRC_SEGMENT;
    uint32_t piece = (uint32_t)(index / each % t.pieces);
    int64_t rest = index / each / t.pieces, head = rest / t.blocks;
    uint32_t block = (uint32_t)(rest - head * t.blocks);
    const Columns &k = columns_at(c, t, block);
    if (from >= k.width || head * t.width >= s.width) return false;
    g.width = least64(NRC_SEGMENT, k.width - from);
    g.padded = up(g.width, BLOCK);
    g.column = head * t.width + block * c.k[0].pitch + piece * k.padded + from;
    g.result = head * t.dim + piece * (t.dim >> 1) + block * t.columns + from;
    return true;
}

/* Adds up the partial sums of one segment and stores the result. */
template <typename Y>
__aicore__ inline void add_up(Core<Y> &c, const NrcStreamTiling &s, int which, const Segment &g,
                              const GlobalTensor<typename Y::Weight> &result) {
    using T = typename Y::Weight;
    const Tiling &t = *c.t;
    const LocalTensor<float> &sum = c.w.w2;
    const LocalTensor<float> in = c.in[0].template ReinterpretCast<float>();
    const LocalTensor<T> out = c.out.template ReinterpretCast<T>();
    int64_t count = (s.lines + s.chunk_lines - 1) / s.chunk_lines;
    uint32_t batch = t.batch * NRC_SEGMENT / s.segment;
    vector_done();
    Duplicate(sum, 0.0f, (int32_t)g.padded);
    for (int64_t done = 0; done < count; done += batch) {
        uint32_t rows = least64(batch, count - done);
        take(c.in_slot[0]);
        uint32_t gap = rows > 1 ? (uint32_t)(2 * s.width - g.padded) : 0;
        copy_in(in, partial_sums(c, s, s.first + done, which)[g.column],
                {rows, g.padded, gap, 0, 0});
        send(c.in_slot[0]);
        receive(c.in_slot[0]);
        sum_slabs(in, rows, g.padded);
        vector_done();
        Add(sum, sum, in, (int32_t)g.padded);
        give_back(c.in_slot[0]);
    }
    vector_done();
    take(c.out_slot);
    if constexpr (sizeof(T) == 2) {
        Cast(out, sum, RoundMode::CAST_RINT, g.padded);
    } else {
        Muls(out, sum, 1.0f, (int32_t)g.padded);
    }
    send(c.out_slot);
    receive(c.out_slot);
    DataCopyPad(result[g.result], out, {1, Narrow32(g.width * sizeof(T)), 0, 0, 0});
    give_back(c.out_slot);
}

/* This core's share of the last sums. */
template <typename Y> __aicore__ inline void add_partials(Core<Y> &c) {
    using T = typename Y::Weight;
    const Tiling &t = *c.t;
    for (int64_t u = GetBlockIdx(); u < t.units; u += GetBlockNum()) {
        int64_t share = u; /* of the vector at bit */
        uint32_t bit = 0;
        for (; !(t.vectors >> bit & 1) || share >= t.stream[bit / 2].units; bit++) {
            if (t.vectors >> bit & 1) share -= t.stream[bit / 2].units;
        }
        uint32_t stream = bit / 2;
        int which = (int)(bit % 2);
        const NrcStreamTiling &s = t.stream[stream];
        int64_t begin = share * s.unit_segments;
        GlobalTensor<T> result;
        result.SetGlobalBuffer(
            (__gm__ T *)(c.args->out[6 + 2 * (stream / 2) + 4 * (stream % 2) + which]));
        for (int64_t i = begin; i < begin + s.unit_segments; i++) {
            Segment g;
            if (segment_of(c, s, i, g)) add_up(c, s, which, g, result);
        }
    }
}

} // namespace norm_rope_concat

#endif
