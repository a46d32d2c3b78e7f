/* SPDX-License-Identifier: Apache-2.0
 *
 * NormRopeConcatGrad: g' = g cos + R(g sin), in place in w0, on the lines of a tile that are
 * rotated.
 *
 * half: R swaps the two halves of a line, which is a matter of addresses.
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
 * begin, end: lines of the chunk; line, lines: of the tile; rect: its first rectangle, after: where
 * the last ends; rows: of cos and sin. column: of a piece, where the block begins; slot: where the
 * sums of this tile are kept. sums, finish: take the sums along lines; make dx. first, last: tile
 * of the chunk, in this column block. gamma: load it, the block is not that of the step before. */
struct Step {
    int64_t chunk, begin, end, line;
    Rect rect, after;
    uint32_t stream, block, column, slot, lines, rows;
    bool sums, finish, first, last, gamma;
};

/* One tile in UB; count = lines * pitch, in whole repeats if it can be, else 0. */
struct Tile {
    const NrcStreamTiling *s;
    const Step *p;
    uint32_t lines, pitch, half, count, repeats;
};

/* dst = src * table[row] for the lines of a rectangle; in calls along the longer axis. */
AICORE_INLINE void turn_rect(const Tile &v, const Rect &r, const LocalTensor<float> &dst,
                             const LocalTensor<float> &src, const LocalTensor<float> &table) {
    uint32_t pitch = v.pitch, wide = r.heads * pitch, at = r.line * pitch, row = r.row * pitch;
    bool along = r.heads < r.seqs && wide / BLOCK <= REPEATS;
    uint32_t n = along ? r.heads : r.seqs, lines = along ? r.seqs : r.heads;
    uint32_t at_step = along ? pitch : wide, step = along ? wide : pitch;
    uint32_t row_step = along ? 0 : pitch, table_step = along ? pitch : 0;
    for (; n > 0; n--, at += at_step, row += row_step) {
        by_column<MUL>(dst[at], src[at], table[row], lines, pitch, step, table_step);
    }
}

/* a += R(products), where products = g sin (half) or already swapped (interleave). */
AICORE_INLINE void add_rect(const Tiling &t, const Tile &v, const Rect &r,
                            const LocalTensor<float> &w, const LocalTensor<float> &products) {
    uint32_t pitch = v.pitch, h = v.half, at = r.line * pitch;
    if (t.rope == 2) {
        by_column<ADD>(w[at], w[at], products[at + h], r.lines, h, pitch, pitch);
        by_column<SUB>(w[at + h], w[at + h], products[at], r.lines, h, pitch, pitch);
    } else {
        flat<ADD>(w[at], w[at], products[at], r.lines * pitch, repeats_of(r.lines * pitch));
    }
}

/* For every rectangle of the tile that is rotated. */
template <typename F> AICORE_INLINE void rotated(const Tiling &t, const Tile &v, const F &work) {
    const Rect *r = &v.p->rect;
    Rect more;
    for (;;) {
        if (r->rope) work(*r);
        if (r->lines == r->left) return;
        if (r != &more) more = *r;
        r = &more;
        next_rect(t, *v.s, more);
    }
}

AICORE_INLINE void turn(const Tiling &t, const Tile &v, const LocalTensor<float> &dst,
                        const LocalTensor<float> &src, const LocalTensor<float> &table) {
    rotated(t, v, [&](const Rect &r) { turn_rect(v, r, dst, src, table); });
}

AICORE_INLINE void add_turned(const Tiling &t, const Tile &v, const LocalTensor<float> &w,
                              const LocalTensor<float> &products) {
    rotated(t, v, [&](const Rect &r) { add_rect(t, v, r, w, products); });
}

} // namespace norm_rope_concat

#endif
