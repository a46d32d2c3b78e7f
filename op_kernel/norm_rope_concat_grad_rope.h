/* SPDX-License-Identifier: Apache-2.0
 *
 * NormRopeConcatGrad: g' = g cos + R(g sin), in place in w0, on the lines of a tile that are
 * rotated.
 *
 * half: R swaps the two halves of a line, which is a matter of addresses if they begin at blocks.
 * If not, everything is gathered as fp32 interleave is, 16-bit types in pairs.
 * interleave: R swaps neighbours. Of 16-bit types they are the halves of 32-bit words and are
 * swapped by two shifts before they are widened; fp32 is gathered. sin is swapped in the same way
 * and signed, once per row: g'[j] = g[j] cos[j] + g[j^1] s[j] with s[2i] = sin[2i+1],
 * s[2i+1] = -sin[2i].
 */
#ifndef NORM_ROPE_CONCAT_GRAD_ROPE_H
#define NORM_ROPE_CONCAT_GRAD_ROPE_H

#include "norm_rope_concat_grad_calls.h"
#include "norm_rope_concat_grad_move.h"
#include "partners.h"

namespace norm_rope_concat {

/* A tile of a chunk, and what is to be done with it. A line that does not fit is worked on in
 * column blocks: once through all blocks for the sums along the lines, then block by block for
 * dx.
 * block, of `blocks`; part: the column block, which begins at `column` of a piece.
 * begin, end: lines of the chunk; line, lines: of the tile; rect: its first rectangle, after: where
 * the last ends; rows: of cos and sin. slot: where the sums of this tile are kept. sums, finish:
 * take the sums along lines; make dx. first, last: tile of the chunk, in this column block. gamma:
 * load it, the block is not that of the step before. Across heads a token may be too large, too:
 * then a block is also one of heads, the tile begins at `head` of the token that `line` begins, and
 * `next` lines further the next token does; else next is lines. */
struct Step {
    int64_t chunk, begin, end, line;
    Rect rect;
    Place after;
    uint32_t stream, block, blocks, part, column, head, next, slot, lines, rows;
    bool sums, finish, first, last, gamma;
};

/* One tile in UB, as loaded in a slot; count = lines * pitch, in whole repeats if it can be, else
 * 0. one: it is one rectangle, all of it rotated, with more heads than rows. words: 16-bit
 * halves are gathered. Across heads there are `groups` of `group` floats each. */
struct Tile {
    const NrcStreamTiling *s;
    const Step *p;
    const Columns *k;
    uint32_t slot, lines, pitch, count, repeats, groups, group;
    bool one, words;
};

/* dst[l][j] = a[l][j] b[l][j] on whole lines, narrow ones with their lanes set; steps have the
 * stride of k between blocks. */
AICORE_INLINE void by_row(const Columns &k, const LocalTensor<float> &dst,
                          const LocalTensor<float> &a, uint32_t at, const LocalTensor<float> &b,
                          uint32_t b_at, uint32_t lines, const BinaryRepeatParams &steps) {
    if (k.narrow) {
        apply_whole<MUL>(dst[at], a[at], b[b_at], lines, steps);
        if (k.parts == 1) return;
        apply_whole<MUL>(dst[at + BLOCK], a[at + BLOCK], b[b_at + BLOCK], lines, steps);
    } else {
        by_column<MUL>(dst, a, at, b, b_at, lines, k.pitch, steps);
    }
}

/* dst = src * table[row] for the lines of a rectangle: the heads of one row together, or, where
 * they are few, the rows of one head. */
__aicore__ inline void scale_rect(const Tile &v, const Rect &r, const LocalTensor<float> &dst,
                                  const LocalTensor<float> &src, const LocalTensor<float> &table) {
    const Columns &k = *v.k;
    uint32_t pitch = v.pitch, wide = r.heads * pitch, at = r.line * pitch;
    if (r.heads < r.seqs && wide <= REPEATS * BLOCK) {
        Narrow8 step = Narrow8(pitch / BLOCK);
        Narrow8 far = Narrow8(r.heads * step), by = Narrow8(k.stride);
        const BinaryRepeatParams steps(by, by, by, far, far, step);
        for (uint32_t n = 0; n < r.heads; n++) {
            by_row(k, dst, src, at + n * pitch, table, r.row * pitch, r.seqs, steps);
        }
        return;
    }
    for (uint32_t q = r.row, end = q + r.seqs; q < end; q++, at += wide) {
        by_row(k, dst, src, at, table, q * pitch, r.heads, k.shared);
    }
}

/* Tiles of several rectangles. A tile by value, here and elsewhere: the one that compute has stays
 * in registers. */
RARE void scale_rects(const Tiling &t, Tile v, const LocalTensor<float> &dst,
                      const LocalTensor<float> &src, const LocalTensor<float> &table) {
    Rect r = v.p->rect;
    narrow(*v.k);
    do {
        if (r.rope) scale_rect(v, r, dst, src, table);
    } while (!v.one && next_rect(t, *v.s, r));
    all_lanes(*v.k);
}

AICORE_INLINE void scale(const Tiling &t, const Tile &v, const LocalTensor<float> &dst,
                         const LocalTensor<float> &src, const LocalTensor<float> &table) {
    if (!v.one || v.k->narrow) {
        scale_rects(t, v, dst, src, table);
        return;
    }
    uint32_t pitch = v.pitch, heads = v.p->rect.heads, end = v.p->rows * pitch, at = 0;
    for (uint32_t row = 0; row < end; row += pitch, at += heads * pitch) {
        by_column<MUL>(dst, src, at, table, row, heads, pitch, v.k->shared);
    }
}

/* w += R(products), where products = g sin (half) or already swapped. */
AICORE_INLINE void add_lines(const Tiling &t, const Tile &v, uint32_t line, uint32_t lines,
                             const LocalTensor<float> &w, const LocalTensor<float> &products) {
    uint32_t h = v.k->half, at = line * v.pitch, count = lines * v.pitch;
    if (t.rope == 2) {
        by_column<ADD>(w, w, at, products, at + h, lines, h, v.k->each);
        by_column<SUB>(w, w, at + h, products, at, lines, h, v.k->each);
    } else {
        apply_run<ADD>(w[at], w[at], products[at], count);
    }
}

RARE void add_rects(const Tiling &t, Tile v, const LocalTensor<float> &w,
                    const LocalTensor<float> &products) {
    Rect r = v.p->rect;
    do {
        if (r.rope) add_lines(t, v, r.line, r.lines, w, products);
    } while (next_rect(t, *v.s, r));
}

AICORE_INLINE void add_partners(const Tiling &t, const Tile &v, const LocalTensor<float> &w,
                                const LocalTensor<float> &products) {
    if (v.one) {
        add_lines(t, v, 0, v.lines, w, products);
    } else {
        add_rects(t, v, w, products);
    }
}

} // namespace norm_rope_concat

#endif
