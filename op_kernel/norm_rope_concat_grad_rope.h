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

/* One tile in UB. */
template <typename T> struct NrcTile {
    const NrcStreamTiling *s;
    NrcRange range;
    NrcColumns k;
    uint32_t lines, count, rows;          // count = lines * pitch; rows of cos and sin
    LocalTensor<T> g, x, cos, sin, gamma; // as loaded
    LocalTensor<float> w0, w1, w2;        // g, x and something between, in fp32
    LocalTensor<float> cos_wide, sin_wide;
    LocalTensor<float> mean, rstd; // a block of 8 per line
    LocalTensor<float> rstd_row;   // one number per line
};

/* Widens n values; fp32 is already what it should be. */
template <typename T>
__aicore__ inline void NrcWiden(const LocalTensor<float> &dst, const LocalTensor<T> &src,
                                uint32_t n) {
    if constexpr (sizeof(T) == 2) Cast(dst, src, RoundMode::CAST_NONE, n);
}

/* dst[l] = src[l] * table[row of l] for the rotated lines. */
template <typename T>
__aicore__ inline void NrcTurn(const NrcTiling &t, const NrcTile<T> &v,
                               const LocalTensor<float> &dst, const LocalTensor<float> &src,
                               const LocalTensor<float> &table) {
    uint32_t pitch = v.k.pitch;
    for (NrcRect r = NrcFirst(t, *v.s, v.range); r.left; NrcNext(t, *v.s, r)) {
        if (!r.rope) continue;
        if (r.heads < r.seqs && r.heads * pitch / NRC_BLOCK <= NRC_STRIDE) {
            for (uint32_t n = 0; n < r.heads; n++) {
                uint32_t at = (r.line + n) * pitch;
                NrcByColumn<NRC_MUL>(dst[at], src[at], table[r.row * pitch], r.seqs, pitch,
                                     r.heads * pitch, pitch);
            }
            continue;
        }
        for (uint32_t q = 0; q < r.seqs; q++) {
            uint32_t at = (r.line + q * r.heads) * pitch;
            NrcByColumn<NRC_MUL>(dst[at], src[at], table[(r.row + q) * pitch], r.heads, pitch,
                                 pitch, 0);
        }
    }
}

/* w0 += R(products), where products = g sin (half) or already swapped (interleave). */
template <typename T>
__aicore__ inline void NrcAddTurned(const NrcTiling &t, const NrcTile<T> &v,
                                    const LocalTensor<float> &products) {
    uint32_t pitch = v.k.pitch, h = v.k.padded;
    for (NrcRect r = NrcFirst(t, *v.s, v.range); r.left; NrcNext(t, *v.s, r)) {
        if (!r.rope) continue;
        LocalTensor<float> a = v.w0[r.line * pitch], b = products[r.line * pitch];
        if (t.rope == 2) {
            NrcByColumn<NRC_ADD>(a, a, b[h], r.lines, h, pitch, pitch);
            NrcByColumn<NRC_SUB>(a[h], a[h], b, r.lines, h, pitch, pitch);
        } else {
            Add(a, a, b, static_cast<int32_t>(r.lines * pitch));
        }
    }
}

/* Negates every second number, beginning with the second. */
__aicore__ inline void NrcNegateOdd(const LocalTensor<float> &v, uint32_t n) {
    uint64_t odd[2] = {0xaaaaaaaaaaaaaaaaull, 0};
    for (uint32_t at = 0; at < n;) {
        uint32_t repeats = NrcMin(NRC_STRIDE, (n - at) / NRC_LANES);
        if (repeats == 0) { // the rest of a last repeat
            odd[0] &= (1ull << (n - at)) - 1;
            repeats = 1;
        }
        Muls(v[at], v[at], -1.0f, odd, static_cast<uint8_t>(repeats), {1, 1, 8, 8});
        at += repeats * NRC_LANES;
    }
}

/* dst[j] = src[j ^ 1] of fp32. The table of offsets is shorter than a tile. */
template <typename T>
__aicore__ inline void NrcGather(NrcCore<T> &c, const LocalTensor<float> &dst,
                                 const LocalTensor<float> &src, uint32_t n) {
    LocalTensor<uint32_t> swap = NrcAt(c, c.t->at_swap).template ReinterpretCast<uint32_t>();
    for (uint32_t at = 0; at < n; at += c.t->swap_entries) {
        Gather(dst[at], src, swap, at * static_cast<uint32_t>(sizeof(float)),
               NrcMin(c.t->swap_entries, n - at));
    }
}

/* Offsets 4 0 12 8 ...: eight by hand, then doubled. */
template <typename T> __aicore__ inline void NrcMakeSwap(NrcCore<T> &c, TPipe &pipe) {
    LocalTensor<int32_t> swap = NrcAt(c, c.t->at_swap).template ReinterpretCast<int32_t>();
    for (int32_t i = 0; i < 8; i++) {
        swap.SetValue(i, (i ^ 1) * 4);
    }
    TEventID written = pipe.FetchEventID(HardEvent::S_V);
    SetFlag<HardEvent::S_V>(written);
    WaitFlag<HardEvent::S_V>(written);
    for (uint32_t n = 8; n < c.t->swap_entries; n *= 2) {
        uint32_t more = NrcMin(n, c.t->swap_entries - n);
        Adds(swap[n], swap, static_cast<int32_t>(n * 4), static_cast<int32_t>(more));
        NrcBarrier();
    }
}

/* Swaps 16-bit neighbours, v = v << 16 | v >> 16 by words, in two steps with a barrier between.
 * spare is as long as v widened. */
template <typename T>
__aicore__ inline void NrcShift(const LocalTensor<T> &v, const LocalTensor<float> &spare,
                                uint32_t n) {
    LocalTensor<uint32_t> words = v.template ReinterpretCast<uint32_t>();
    LocalTensor<uint32_t> moved = spare.template ReinterpretCast<uint32_t>();
    ShiftLeft(moved, words, 16u, static_cast<int32_t>(n / 2));
    ShiftRight(moved[n / 2], words, 16u, static_cast<int32_t>(n / 2));
}

template <typename T>
__aicore__ inline void NrcJoin(const LocalTensor<T> &v, const LocalTensor<float> &spare,
                               uint32_t n) {
    LocalTensor<uint16_t> moved = spare.template ReinterpretCast<uint16_t>();
    Or(v.template ReinterpretCast<uint16_t>(), moved, moved[n], static_cast<int32_t>(n));
}

#endif
