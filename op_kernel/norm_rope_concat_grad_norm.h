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

/* A tile of a chunk, and what is to be done with it. A line that does not fit is worked on in
 * column blocks: once through all blocks for the sums along the lines, then block by block for
 * dx. */
struct Step {
    int64_t chunk, begin, end; /* lines [begin, end) of the stream */
    Range range;
    uint32_t stream, block, slot; /* slot: where the sums of this tile are kept */
    bool sums, finish;            /* take the sums along lines; make dx */
    bool first, last;             /* tile of the chunk, in this column block */
    bool gamma;                   /* load it: the block is not that of the step before */
};

/* dbeta += g', dgamma += g' x^, `sum_lines` lines at a time, each onto its own line of the
 * running sums; and between them, where its turn comes, w2 = g' x^ and g^ = g' gamma. */
template <typename T>
__aicore__ inline void accumulate(Core<T> &c, const Tile<T> &v, const LocalTensor<float> &gamma) {
    LocalTensor<float> dbeta = work_at(c, c.t->at_dbeta), dgamma = work_at(c, c.t->at_dgamma);
    uint32_t step = c.t->sum_lines * v.k.pitch;
    Mul(v.w2, v.w0, v.w1, static_cast<int32_t>(v.count));
    bool beta = v.s->centred;
    if (beta) Add(dbeta, dbeta, v.w0, static_cast<int32_t>(least64(step, v.count)));
    for (uint32_t at = 0; at < v.count; at += step) {
        uint32_t n = least64(step, v.count - at), next = at + step;
        vector_done();
        Add(dgamma, dgamma, v.w2[at], static_cast<int32_t>(n));
        if (next < v.count) {
            if (!beta) continue;
            Add(dbeta, dbeta, v.w0[next], static_cast<int32_t>(least64(step, v.count - next)));
        } else {
            by_column<MUL>(v.w0, v.w0, gamma, v.lines, v.k.pitch, v.k.pitch, 0);
        }
    }
    vector_done();
}

/* Lanes of columns [from, from + 64) that hold data: pieces may end in padding. */
__aicore__ inline uint64_t lanes_from(const Tiling &t, const Columns &k, uint32_t from) {
    uint64_t lanes = 0;
    for (uint32_t p = 0; p < t.pieces; p++) {
        int64_t begin = static_cast<int64_t>(p) * k.padded - from, end = begin + k.width;
        begin = begin < 0 ? 0 : begin;
        end = end > LANES ? LANES : end;
        if (begin >= end) continue;
        uint64_t ones = end - begin == LANES ? ~0ull : (1ull << (end - begin)) - 1;
        lanes |= ones << begin;
    }
    return lanes;
}

/* part[l][c * 8 ..] = sums of the 32-byte blocks of columns [64 c, 64 c + 64). */
template <typename T>
__aicore__ inline void block_sums(const Tiling &t, const Tile<T> &v, const LocalTensor<float> &part,
                                  const LocalTensor<float> &w) {
    uint32_t pitch = v.k.pitch, whole = pitch / LANES;
    if (v.k.packed && pitch % LANES == 0 && whole > v.lines) {
        for (uint32_t l = 0; l < v.lines; l++) {
            BlockReduceSum<float>(part[l * t.fold * 8], w[l * pitch], static_cast<int32_t>(whole),
                                  64, 1, 1, 8);
        }
        return;
    }
    for (uint32_t j = 0; j < pitch; j += LANES) {
        uint64_t lanes[2] = {lanes_from(t, v.k, j), 0};
        if (lanes[0] == 0) continue;
        BlockReduceSum<float>(part[j / 8], w[j], static_cast<int32_t>(v.lines), lanes,
                              static_cast<int32_t>(t.fold), 1, static_cast<int32_t>(pitch / 8));
    }
}

/* Numbers of a tile: two per line, of RMSNorm one; lines in whole eights. */
template <typename T> __aicore__ inline uint32_t number_rows(const Tile<T> &v) {
    return up(v.lines, 8) * (v.s->centred ? 2 : 1);
}

/* dst[0..L) = sums of the lines of w0, dst[E..E+L) of w2, E being L rounded up to 8, of the
 * columns at hand. RMSNorm: dst[0..L) of w2. */
template <typename T>
__aicore__ inline void line_sums(Core<T> &c, const Tile<T> &v, const LocalTensor<float> &dst) {
    const Tiling &t = *c.t;
    LocalTensor<float> part = work_at(c, t.at_part); /* what is never written in it stays 0 */
    uint32_t eights = up(v.lines, 8), rows = number_rows(v);
    if (v.k.column && v.k.width < t.columns) { /* the last block has fewer sums than those before */
        Duplicate(part, 0.0f, static_cast<int32_t>(rows * t.fold * 8));
        vector_done();
    }
    if (v.s->centred) block_sums(t, v, part, v.w0);
    block_sums(t, v, part[(rows - eights) * t.fold * 8], v.w2);
    vector_done();
    LocalTensor<float> from = part, to = work_at(c, t.at_fold),
                       after = work_at(c, t.at_fold + t.fold_bytes);
    uint32_t n = rows * t.fold * 8; /* numbers that are left, m of each line */
    for (uint32_t m = t.fold * 8; m > 1;) {
        int32_t repeats = static_cast<int32_t>((n + LANES - 1) / LANES);
        uint32_t by = m >= 8 ? 8 : 2;
        m /= by;
        n /= by;
        LocalTensor<float> result = m == 1 ? dst : to;
        if (by == 8) {
            BlockReduceSum<float>(result, from, repeats, 64, 1, 1, 8);
        } else {
            PairReduceSum<float>(result, from, repeats, 64, 1, 1, 8);
        }
        vector_done();
        from = result;
        to = after;
        after = result;
    }
}

constexpr uint32_t SECOND = PHASE + 3 * BLOCK; /* clear of the first copies */

/* Spreads the numbers of a row over the lines of w2, which is free by then: number l into block
 * k of line l, and into a second copy in the other bank groups. Columns of w0 and w1 use the
 * copy that is not in their own. */
template <typename T>
__aicore__ inline void spread(const Tile<T> &v, const LocalTensor<float> &row, uint32_t k) {
    uint8_t eights = static_cast<uint8_t>((v.lines + 7) / 8);
    uint16_t eight = static_cast<uint16_t>(v.k.pitch), step = eight / BLOCK;
    Brcb(v.w2[k * BLOCK], row, eights, {step, eight});
    Brcb(v.w2[k * BLOCK + SECOND], row, eights, {step, eight});
}

/* The means of a line and its rstd where subtracting takes them from. */
struct Means {
    Numbers sum, dot, rstd;
};

template <typename T>
__aicore__ inline Means spread_means(Core<T> &c, const Tile<T> &v, const LocalTensor<float> &stat) {
    uint32_t eights = up(v.lines, 8), dots = number_rows(v) - eights, step = v.k.pitch / BLOCK;
    LocalTensor<float> low = v.w2, high = v.w2[SECOND];
    if (v.k.pitch % LANES == 0 && eights <= c.t->tile_lines) {
        if (v.s->centred) spread(v, stat, 0);
        spread(v, stat[dots], 1);
        spread(v, v.rstd_row, 2);
        return {{high, low, step},
                {low[BLOCK], high[BLOCK], step},
                {high[2 * BLOCK], low[2 * BLOCK], step}};
    }
    LocalTensor<float> wide = work_at(c, c.t->at_stat_wide);
    Brcb(wide, stat, static_cast<uint8_t>(number_rows(v) / 8), {1, 8});
    return {{wide, wide, 1}, {wide[dots * 8], wide[dots * 8], 1}, {v.rstd, v.rstd, 1}};
}

/* w0 = g^ - mean(g^) - x^ mean(g^ x^), where w0 was g^, w1 is x^. */
template <typename T> __aicore__ inline void subtract_means(const Tile<T> &v, const Means &m) {
    if (v.s->centred) by_line<SUB>(v.w0, v.w0, m.sum, v.lines, v.k.pitch);
    by_line<MUL>(v.w1, v.w1, m.dot, v.lines, v.k.pitch);
    vector_done();
    Sub(v.w0, v.w0, v.w1, static_cast<int32_t>(v.count));
}

/* From g' and x^ to g^ in w0 and the means of the lines in stat. */
template <typename T>
__aicore__ inline void do_norm(Core<T> &c, const Tile<T> &v, const Step &p,
                               const LocalTensor<float> &stat) {
    const Tiling &t = *c.t;
    LocalTensor<float> gamma = work_at(c, t.at_gamma_wide);
    bool affine = v.s->weighted;
    uint32_t pitch = v.k.pitch;
    int32_t numbers = static_cast<int32_t>(number_rows(v));
    if (affine && p.finish) {
        accumulate(c, v, gamma);
        if (p.sums) by_column<MUL>(v.w2, v.w2, gamma, v.lines, pitch, pitch, 0);
    } else if (p.sums) {
        if (affine) {
            by_column<MUL>(v.w0, v.w0, gamma, v.lines, pitch, pitch, 0);
            vector_done();
        }
        Mul(v.w2, v.w0, v.w1, static_cast<int32_t>(v.count));
    }
    if (!p.sums) return;
    LocalTensor<float> sums = p.block == 0 ? stat : work_at(c, t.at_stat_wide);
    vector_done();
    line_sums(c, v, sums);
    if (p.block != 0) {
        Add(stat, stat, sums, numbers);
        vector_done();
    }
    if (p.block + 1 == t.blocks) {
        Muls(stat, stat, t.inverse_dim, numbers);
        vector_done();
    }
}

} // namespace norm_rope_concat

#endif
