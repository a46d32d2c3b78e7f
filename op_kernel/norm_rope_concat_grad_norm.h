/* SPDX-License-Identifier: Apache-2.0
 *
 * NormRopeConcatGrad: from g' (w0) and x^ (w1) of a tile to the running sums of dgamma and dbeta,
 * g^, the two means of every line, and g^ - mean(g^) - x^ mean(g^ x^). RMSNorm has neither dbeta
 * nor mean(g^).
 */
#ifndef NORM_ROPE_CONCAT_GRAD_NORM_H
#define NORM_ROPE_CONCAT_GRAD_NORM_H

#include "norm_rope_concat_grad_rope.h"

namespace norm_rope_concat {

RARE void times_gamma_narrow(const Work &w, Tile v) {
    narrow(*v.k);
    by_row(*v.k, w.w0, w.w0, 0, w.gamma, 0, v.lines, v.k->shared);
    ResetMask();
}

/* g^ = g' gamma */
AICORE_INLINE void times_gamma(const Work &w, const Tile &v) {
    if (v.k->narrow) {
        times_gamma_narrow(w, v);
    } else {
        by_column<MUL>(w.w0, w.w0, 0, w.gamma, 0, v.lines, v.pitch, v.k->shared);
    }
    vector_done();
}

/* w2 = g x^, of g' or g^ */
AICORE_INLINE void times_x(const Work &w, const Tile &v) {
    apply_run<MUL>(w.w2, w.w0, w.w1, v.count);
}

/* dbeta += g', dgamma += g' x^, `sum_lines` lines at a time, each onto its own line of the
 * running sums; the first whole tile of a chunk needs no zeros to add to. */
AICORE_INLINE void accumulate(const Tile &v, const Work &w, const LocalTensor<float> &dbeta,
                              const LocalTensor<float> &dgamma) {
    uint32_t step = v.s->sum_lines * v.pitch;
    bool beta = v.s->centred;
    times_x(w, v);
    if (v.p->first && v.count == 2 * step) {
        if (beta) apply_run<ADD>(dbeta, w.w0, w.w0[step], step);
        vector_done();
        apply_run<ADD>(dgamma, w.w2, w.w2[step], step);
        return;
    }
    for (uint32_t at = 0; at < v.count; at += step) {
        uint32_t n = least(v.count - at, step);
        if (beta) apply_run<ADD>(dbeta, dbeta, w.w0[at], n);
        vector_done();
        apply_run<ADD>(dgamma, dgamma, w.w2[at], n);
    }
}

/* Lanes of columns [from, from + 64) that hold data: pieces may end in padding. */
__aicore__ inline uint64_t lanes_from(const Columns &k, uint32_t from) {
    uint64_t lanes = 0;
    for (uint32_t p = 0; p < k.pieces; p++) {
        int64_t begin = (int64_t)p * k.padded - from, end = begin + k.width;
        begin = begin < 0 ? 0 : begin;
        end = end > LANES ? LANES : end;
        if (begin >= end) continue;
        uint64_t ones = end - begin == LANES ? ~0ull : (1ull << (end - begin)) - 1;
        lanes |= ones << begin;
    }
    return lanes;
}

/* part[l][c * 8 ..] = sums of the 32-byte blocks of columns [64 c, 64 c + 64). */
RARE void block_sums_of_lines(const Tiling &t, Tile v, const Columns &k,
                              const LocalTensor<float> &part, const LocalTensor<float> &w) {
    int32_t step = (int32_t)(v.pitch / BLOCK), fold = (int32_t)t.fold;
    uint32_t whole = v.pitch / LANES;
    if (k.narrow && k.width == k.padded) {
        narrow(k);
        BlockReduceSum<float, false>(part, w, (int32_t)(v.lines * k.parts), MASK_PLACEHOLDER, 1, 1,
                                     (int32_t)(k.narrow / 8));
        ResetMask();
        return;
    }
    if (k.packed && v.pitch % LANES == 0 && whole > v.lines) {
        for (uint32_t l = 0; l < v.lines; l++) {
            BlockReduceSum<float, false>(part[l * t.fold * 8], w[l * v.pitch], (int32_t)whole,
                                         MASK_PLACEHOLDER, 1, 1, 8);
        }
        return;
    }
    for (uint32_t j = 0; j < v.pitch; j += LANES) {
        uint64_t lanes[2] = {lanes_from(k, j), 0};
        if (lanes[0] == 0) continue;
        BlockReduceSum<float>(part[j / 8], w[j], (int32_t)v.lines, lanes, fold, 1, step);
    }
    ResetMask();
}

AICORE_INLINE void block_sums(const Tiling &t, const Tile &v, const Columns &k,
                              const LocalTensor<float> &part, const LocalTensor<float> &w) {
    if (v.repeats && k.packed && v.pitch == t.fold * LANES) { /* all blocks in a row */
        BlockReduceSum<float, false>(part, w, (int32_t)v.repeats, MASK_PLACEHOLDER, 1, 1, 8);
    } else {
        block_sums_of_lines(t, v, k, part, w);
    }
}

/* Numbers of a tile: two per line, of RMSNorm one; lines in whole eights. */
AICORE_INLINE uint32_t number_rows(const Tile &v) {
    uint32_t eights = up(v.lines, 8);
    return v.s->centred ? 2 * eights : eights;
}

/* dst[i] = sum of the 8 m numbers of row i; n numbers in all. */
AICORE_INLINE void fold_up(const Work &w, const LocalTensor<float> &part, uint32_t n, uint32_t m,
                           const LocalTensor<float> &dst) {
    const LocalTensor<float> *from = &part, *to = &w.fold;
    int32_t repeats = (int32_t)((n + LANES - 1) / LANES);
    n /= 8;
    BlockReduceSum<float, false>(m == 1 ? dst : *to, *from, repeats, MASK_PLACEHOLDER, 1, 1, 8);
    vector_done();
    while (m > 1) {
        repeats = (int32_t)((n + LANES - 1) / LANES);
        from = to;
        to = from == &w.fold ? &w.spare : &w.fold;
        if (m >= 8) {
            m /= 8;
            n /= 8;
            BlockReduceSum<float, false>(m == 1 ? dst : *to, *from, repeats, MASK_PLACEHOLDER, 1, 1,
                                         8);
        } else {
            m /= 2;
            n /= 2;
            PairReduceSum<float, false>(m == 1 ? dst : *to, *from, repeats, MASK_PLACEHOLDER, 1, 1,
                                        8);
        }
        vector_done();
    }
}

/* dst[0..L) = sums of the lines of w0, dst[E..E+L) of w2, E being L rounded up to 8, of the
 * columns at hand. RMSNorm: dst[0..L) of w2. `rows` is number_rows. */
template <typename Y>
AICORE_INLINE void line_sums(const Core<Y> &c, const Tile &v, const Columns &k, uint32_t rows,
                             const LocalTensor<float> &dst) {
    const Tiling &t = *c.t;
    const Work &w = c.w; /* what is never written in part stays 0 */
    uint32_t n = rows * t.fold * 8;
    if (v.p->column && k.width < t.columns) { /* the last block has fewer sums than those before */
        Duplicate(w.part, 0.0f, (int32_t)n);
        vector_done();
    }
    if (v.s->centred) {
        block_sums(t, v, k, w.part, w.w0);
        block_sums(t, v, k, w.part[n / 2], w.w2);
    } else {
        block_sums(t, v, k, w.part, w.w2);
    }
    vector_done();
    fold_up(w, w.part, n, t.fold, dst);
}

RARE void spread_narrow(const LocalTensor<float> &to, const LocalTensor<float> &numbers,
                        Narrow8 eights, const Columns *k) {
    Brcb(to[k->narrow], numbers, eights, k->far);
}

/* Spreads numbers, one per line, over w2, which is free by then: a block for every repeat, at the
 * distance of repeats, so that one call takes all lines. */
AICORE_INLINE void spread(const LocalTensor<float> &to, const LocalTensor<float> &numbers,
                          const Tile &v) {
    Narrow8 eights = Narrow8((v.lines + 7) / 8);
    Brcb(to, numbers, eights, v.k->far);
    if (v.k->narrow) {
        spread_narrow(to, numbers, eights, v.k);
        return;
    }
    for (uint32_t j = LANES; j < v.pitch; j += LANES) {
        Brcb(to[j], numbers, eights, v.k->far);
    }
}

template <Op OP>
RARE void with_spread_narrow(Tile v, const LocalTensor<float> &w, const LocalTensor<float> &b) {
    narrow(*v.k);
    apply_whole<OP>(w, w, b, 2 * v.lines, v.k->spread);
    ResetMask();
}

/* w[l][j] = w[l][j] op b[l]; spread: b is. */
template <Op OP, bool spread>
AICORE_INLINE void with_numbers(const Tile &v, const LocalTensor<float> &w,
                                const LocalTensor<float> &b) {
    if constexpr (spread) {
        if (v.k->narrow) {
            with_spread_narrow<OP>(v, w, b);
        } else {
            apply_whole<OP>(w, w, b, v.repeats, v.k->spread);
        }
    } else {
        by_line<OP>(*v.k, w, w, b, v.lines);
    }
}

/* g^ - mean(g^) - x^ mean(g^ x^), where w0 is g^ and w1 x^, and rstd times that: fp32 straight into
 * the buffer that is stored, 16-bit types into w0. The buffer is not taken before it is needed:
 * that waits for the last store. */
template <bool spread, typename Y>
AICORE_INLINE void subtract(Core<Y> &c, const Tile &v, const LocalTensor<float> &sum,
                            const LocalTensor<float> &dot) {
    using T = typename Y::Data;
    const Work &w = c.w;
    vector_done();
    if (v.s->centred) with_numbers<SUB, spread>(v, w.w0, sum);
    with_numbers<MUL, spread>(v, w.w1, dot);
    vector_done();
    apply_run<SUB>(w.w0, w.w0, w.w1, v.count);
    vector_done();
    if constexpr (sizeof(T) == 2) {
        by_line<MUL>(*v.k, w.w0, w.w0, w.rstd, v.lines);
        vector_done();
    } else {
        take(c.out_slot);
        by_line<MUL>(*v.k, c.out, w.w0, w.rstd, v.lines);
    }
}

/* From g^, x^ and the means to dx. */
template <typename Y>
AICORE_INLINE void subtract_means(Core<Y> &c, const Tile &v, const LocalTensor<float> &stat) {
    const Work &w = c.w;
    uint32_t rows = number_rows(v), eights = up(v.lines, 8);
    bool regular = v.k->narrow ? v.k->parts == 2 : v.repeats && v.k->parts;
    if (regular && eights <= c.t->tile_lines) {
        if (v.s->centred) spread(w.sum, stat, v);
        spread(w.dot, v.s->centred ? stat[eights] : stat, v);
        subtract<true>(c, v, w.sum, w.dot);
    } else {
        fill_blocks(*v.k, w.stat_wide, stat, rows / 8);
        subtract<false>(c, v, w.stat_wide, w.stat_wide[(rows - eights) * 8 * v.k->stride]);
    }
}

/* The sums of a block behind the first are in stat_wide; behind the last they become means. */
AICORE_INLINE void add_block(const Work &w, const Tile &v, uint32_t rows,
                             const LocalTensor<float> &stat) {
    const Step &p = *v.p;
    if (p.block != 0) {
        Add(stat, stat, w.stat_wide, (int32_t)rows);
        vector_done();
    }
    if (p.block + 1 == p.blocks) {
        Muls(stat, stat, v.s->inverse, (int32_t)rows);
        vector_done();
    }
}

/* From g' and x^ to g^ in w0 and the means of the lines in stat. */
template <typename Y>
AICORE_INLINE void do_norm(const Core<Y> &c, const Tile &v, const Columns &k,
                           const LocalTensor<float> &stat) {
    const Work &w = c.w;
    const Step &p = *v.p;
    if (v.s->weighted) {
        if (p.finish) accumulate(v, w, w.dbeta, w.dgamma);
        times_gamma(w, v);
    }
    if (!p.sums) return;
    times_x(w, v);
    vector_done();
    uint32_t rows = number_rows(v);
    line_sums(c, v, k, rows, p.block == 0 ? stat : w.stat_wide);
    add_block(w, v, rows, stat);
}

} // namespace norm_rope_concat

#endif
