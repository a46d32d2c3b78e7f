/* SPDX-License-Identifier: Apache-2.0
 *
 * NormRopeConcatGrad: g' = g cos + R(g sin), in place in w0, on the lines of a tile that are
 * rotated.
 *
 * half: R swaps the two pieces of a line, which is a matter of addresses.
 * interleave: R swaps neighbours. Of 16-bit types they are the halves of 32-bit words and are
 * swapped by two shifts before they are widened; fp32 is gathered. sin is swapped in the same way
 * and signed, once per row: g'[j] = g[j] cos[j] + g[j^1] s[j] with s[2i] = sin[2i+1],
 * s[2i+1] = -sin[2i].
 */
#ifndef NORM_ROPE_CONCAT_GRAD_ROPE_H
#define NORM_ROPE_CONCAT_GRAD_ROPE_H

#include "norm_rope_concat_grad_move.h"
#include "partners.h"

namespace norm_rope_concat {

/* One tile in UB. */
template <typename T> struct Tile {
    const NrcStreamTiling *s;
    Range range;
    Columns k;
    uint32_t lines, count, rows;          /* count = lines * pitch; rows of cos and sin */
    LocalTensor<T> g, x, cos, sin, gamma; /* as loaded */
    LocalTensor<float> w0, w1, w2;        /* g, x and something between, in fp32 */
    LocalTensor<float> cos_wide, sin_wide;
    LocalTensor<float> mean, rstd; /* a block of 8 per line */
    LocalTensor<float> rstd_row;   /* one number per line */
};

/* Widens n values; fp32 is already what it should be. */
template <typename T>
__aicore__ inline void widen(const LocalTensor<float> &dst, const LocalTensor<T> &src, uint32_t n) {
    if constexpr (sizeof(T) == 2) Cast(dst, src, RoundMode::CAST_NONE, n);
}

/* dst[l] = src[l] * table[row of l] for the rotated lines. */
template <typename T>
__aicore__ inline void turn(const Tiling &t, const Tile<T> &v, const LocalTensor<float> &dst,
                            const LocalTensor<float> &src, const LocalTensor<float> &table) {
    uint32_t pitch = v.k.pitch;
    for (Rect r = first_rect(t, *v.s, v.range); r.left; next_rect(t, *v.s, r)) {
        if (!r.rope) continue;
        if (r.heads < r.seqs && r.heads * pitch / BLOCK <= REPEATS) {
            for (uint32_t n = 0; n < r.heads; n++) {
                uint32_t at = (r.line + n) * pitch;
                by_column<MUL>(dst[at], src[at], table[r.row * pitch], r.seqs, pitch,
                               r.heads * pitch, pitch);
            }
            continue;
        }
        for (uint32_t q = 0; q < r.seqs; q++) {
            uint32_t at = (r.line + q * r.heads) * pitch;
            by_column<MUL>(dst[at], src[at], table[(r.row + q) * pitch], r.heads, pitch, pitch, 0);
        }
    }
}

/* w0 += R(products), where products = g sin (half) or already swapped (interleave). */
template <typename T>
__aicore__ inline void add_turned(const Tiling &t, const Tile<T> &v,
                                  const LocalTensor<float> &products) {
    uint32_t pitch = v.k.pitch, h = v.k.padded;
    for (Rect r = first_rect(t, *v.s, v.range); r.left; next_rect(t, *v.s, r)) {
        if (!r.rope) continue;
        LocalTensor<float> a = v.w0[r.line * pitch], b = products[r.line * pitch];
        if (t.rope == 2) {
            by_column<ADD>(a, a, b[h], r.lines, h, pitch, pitch);
            by_column<SUB>(a[h], a[h], b, r.lines, h, pitch, pitch);
        } else {
            Add(a, a, b, static_cast<int32_t>(r.lines * pitch));
        }
    }
}

} // namespace norm_rope_concat

#endif
