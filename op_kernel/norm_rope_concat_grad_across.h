/* SPDX-License-Identifier: Apache-2.0
 *
 * NormRopeConcatGrad: norms across heads. The lines of a token lie one behind the other, so they
 * are one long line wherever a number or a row of gamma meets them; only their sums know of lines,
 * since these may end in padding. gamma stays in UB as long as the stream and the block do, and the
 * running sums are stored as they are: every element of them has its place in the result.
 */
#ifndef NORM_ROPE_CONCAT_GRAD_ACROSS_H
#define NORM_ROPE_CONCAT_GRAD_ACROSS_H

#include "norm_rope_concat_grad_norm.h"

namespace norm_rope_concat {

/* The running sums of a stream. */
template <typename Y> __aicore__ inline LocalTensor<float> dgamma_across(const Core<Y> &c) {
    return c.sum[NRC_PHASE / sizeof(float)];
}

template <typename Y>
__aicore__ inline LocalTensor<float> dbeta_across(const Core<Y> &c, const NrcStreamTiling &s) {
    return dgamma_across(c)[up(s.across * c.k[0].pitch, 2 * OTHER_BANKS)];
}

/* Loads the rows of gamma of a step, if they are not there: before the next tile is loaded, so that
 * they are not behind it. */
template <typename Y> RARE void fetch_gamma(Core<Y> &c, const Step &p) {
    const Tiling &t = *c.t;
    uint32_t wanted = p.stream + NRC_STREAMS * p.block;
    if (c.gammas_of == wanted) return;
    if (c.gammas_of != NO_GAMMA) give_back(c.gamma_slot);
    c.gammas_of = wanted;
    take(c.gamma_slot);
    load_rows(t, columns_at(c, t, p.part), p.column, c.gammas, c.gamma[p.stream], p.head,
              least(p.lines, t.stream[p.stream].across));
    send(c.gamma_slot);
    receive(c.gamma_slot);
}

/* dst = a op b[group] on all lines of a group. */
template <Op OP>
RARE void by_group(Tile v, const LocalTensor<float> &dst, const LocalTensor<float> &a,
                   const LocalTensor<float> &b) {
    for (uint32_t g = 0; g < v.groups; g++) {
        uint32_t at = g * v.group;
        single_line<OP, true>(dst[at], a[at], b[g * BLOCK * v.k->stride], v.group);
    }
}

/* g^ = g' gamma. 16-bit gamma is widened into w2, which is free by then. */
template <typename Y> __aicore__ inline void times_gamma_across(const Core<Y> &c, const Tile &v) {
    const Work &w = c.w;
    LocalTensor<float> gamma;
    if constexpr (sizeof(typename Y::Weight) == 2) {
        gamma = w.w2[OTHER_BANKS]; /* in other banks than w0 */
        vector_done();
        cast_run(gamma, c.gammas, RoundMode::CAST_NONE, v.group);
        vector_done();
    } else {
        gamma = c.gammas;
    }
    for (uint32_t g = 0; g < v.groups; g++) {
        const LocalTensor<float> line = w.w0[g * v.group];
        apply_run<MUL>(line, line, gamma, v.group);
    }
    vector_done();
}

/* dst[0..groups) = sums of the groups of w, of the columns and heads at hand. */
template <typename Y>
__aicore__ inline void group_sums(const Core<Y> &c, const Tile &v, const Columns &k,
                                  const LocalTensor<float> &w, const LocalTensor<float> &dst) {
    const LocalTensor<float> &part = c.w.group;
    uint32_t each = v.s->fold * 8, n = v.groups * each;
    Tile one = v;
    one.lines = v.group / v.pitch;
    one.repeats = repeats_of(v.group);
    if (!k.packed || v.group != v.s->fold * LANES) { /* else every number is written */
        Duplicate(part, 0.0f, (int32_t)up(n, LANES));
        vector_done();
    }
    for (uint32_t g = 0; g < v.groups; g++) {
        block_sums(*c.t, one, k, part[g * each], w[g * v.group]);
    }
    vector_done();
    fold_up(c.w, part, n, v.s->fold, dst);
}

/* From g' and x^ to g^ in w0 and the means of the groups in stat. */
template <typename Y>
RARE void norm_across(const Core<Y> &c, Tile v, const Columns &k, const LocalTensor<float> &stat) {
    const Work &w = c.w;
    const Step &p = *v.p;
    uint32_t eights = up(v.groups, 8), rows = v.s->centred ? 2 * eights : eights;
    if (v.s->weighted) {
        if (p.finish) accumulate(v, w, dbeta_across(c, *v.s), dgamma_across(c));
        times_gamma_across(c, v);
    }
    if (!p.sums) return;
    const LocalTensor<float> &dst = p.block == 0 ? stat : w.stat_wide;
    times_x(w, v);
    vector_done();
    if (v.s->centred) group_sums(c, v, k, w.w0, dst);
    group_sums(c, v, k, w.w2, v.s->centred ? dst[eights] : dst);
    add_block(w, v, rows, stat);
}

/* From g^, x^ and the means to dx: see subtract. */
template <typename Y>
RARE void subtract_across(Core<Y> &c, Tile v, const LocalTensor<float> &stat) {
    using T = typename Y::Data;
    const Work &w = c.w;
    uint32_t eights = up(v.groups, 8), rows = v.s->centred ? 2 * eights : eights;
    fill_blocks(*v.k, w.stat_wide, stat, rows / 8);
    vector_done();
    if (v.s->centred) by_group<SUB>(v, w.w0, w.w0, w.stat_wide);
    by_group<MUL>(v, w.w1, w.w1, w.stat_wide[(rows - eights) * BLOCK * v.k->stride]);
    vector_done();
    apply_run<SUB>(w.w0, w.w0, w.w1, v.count);
    vector_done();
    if constexpr (sizeof(T) == 2) {
        by_group<MUL>(v, w.w0, w.w0, w.rstd);
        vector_done();
    } else {
        take(c.out_slot);
        by_group<MUL>(v, c.out, w.w0, w.rstd);
    }
}

/* The running sums of a chunk and block go to the workspace, [head][width of a line]. */
template <typename Y>
__aicore__ inline void store_sums(const Core<Y> &c, const Step &p, const GlobalTensor<float> &dst,
                                  const LocalTensor<float> &src) {
    const Tiling &t = *c.t;
    uint32_t pitch = columns_at(c, t, p.part).pitch;
    uint32_t heads = least(p.lines, t.stream[p.stream].across);
    const GlobalTensor<float> to = dst[p.head * t.width + p.part * c.k[0].pitch];
    if (t.blocks == 1) {
        DataCopy(to, src, heads * pitch);
    } else {
        copy_out(to, src, {heads, pitch, (uint32_t)(t.width - pitch), 0, 0});
    }
}

template <typename Y> RARE void flush_across(const Core<Y> &c, const Step &p) {
    const NrcStreamTiling &s = c.t->stream[p.stream];
    send(c.sum_slot);
    receive(c.sum_slot);
    store_sums(c, p, partial_sums(c, s, p.chunk, 0), dgamma_across(c));
    if (s.centred) store_sums(c, p, partial_sums(c, s, p.chunk, 1), dbeta_across(c, s));
    give_back(c.sum_slot);
}

/* They begin at 0, when the last ones have been stored. */
template <typename Y> RARE void clear_across(const Core<Y> &c, const Tile &v) {
    take(c.sum_slot);
    Duplicate(dgamma_across(c), 0.0f, (int32_t)v.group);
    if (v.s->centred) Duplicate(dbeta_across(c, *v.s), 0.0f, (int32_t)v.group);
}

} // namespace norm_rope_concat

#endif
