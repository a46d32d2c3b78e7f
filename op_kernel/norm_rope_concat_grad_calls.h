/* SPDX-License-Identifier: Apache-2.0
 *
 * NormRopeConcatGrad: vector calls over lines. All lanes are on between calls, so that whole
 * repeats need no mask of their own; what uses fewer lanes turns them on again.
 */
#ifndef NORM_ROPE_CONCAT_GRAD_CALLS_H
#define NORM_ROPE_CONCAT_GRAD_CALLS_H

#include "grid.h"
#include "norm_rope_concat_grad.h"

#define RARE __aicore__ inline __attribute__((noinline))

namespace norm_rope_concat {

/* Whole repeats in so many numbers, if they are nothing else and not too many for a call; else 0.
 */
AICORE_INLINE uint32_t repeats_of(uint32_t count) {
    return count % LANES == 0 && count <= REPEATS * LANES ? count / LANES : 0;
}

template <Op OP>
AICORE_INLINE void some_lanes(const LocalTensor<float> &dst, const LocalTensor<float> &a,
                              const LocalTensor<float> &b, uint32_t lanes, uint32_t repeats,
                              const BinaryRepeatParams &steps) {
    apply_repeats<OP>(dst, a, b, lanes, repeats, steps);
    ResetMask();
}

/* Widens; fp32 is already what it should be. */
template <typename T>
AICORE_INLINE void widen(const LocalTensor<float> &dst, const LocalTensor<T> &src, uint32_t count) {
    if constexpr (sizeof(T) == 2) {
        cast_run(dst, src, RoundMode::CAST_NONE, count);
    }
}

/* Calls between the two need no mask of their own. */
AICORE_INLINE void narrow(const Columns &k) {
    if (k.narrow) SetVectorMask<float>((int32_t)k.narrow);
}

AICORE_INLINE void all_lanes(const Columns &k) {
    if (k.narrow) ResetMask();
}

/* Numbers as by_line wants them: in a block each, or in two. */
AICORE_INLINE void fill_blocks(const Columns &k, const LocalTensor<float> &to,
                               const LocalTensor<float> &numbers, uint32_t eights) {
    Brcb(to, numbers, Narrow8(eights), k.near);
    if (k.stride == 2) Brcb(to[BLOCK], numbers, Narrow8(eights), k.near);
}

/* A line by itself, where there are fewer lines than repeats in one: with b[j], or a number. */
template <Op OP, bool number>
__aicore__ inline void single_line(const LocalTensor<float> &dst, const LocalTensor<float> &a,
                                   const LocalTensor<float> &b, uint32_t columns) {
    uint32_t whole = columns / LANES, rest = columns % LANES, at = whole * LANES;
    BinaryRepeatParams steps(1, 1, number ? 0 : 1, 8, 8, number ? 0 : 8);
    if (whole) apply_whole<OP>(dst, a, b, whole, steps);
    if (rest) some_lanes<OP>(dst[at], a[at], number ? b : b[at], rest, 1, steps);
}

/* Lines of any length. */
template <Op OP>
RARE void by_line_any(const Columns &k, const LocalTensor<float> &dst, const LocalTensor<float> &a,
                      const LocalTensor<float> &b, uint32_t lines) {
    uint32_t pitch = k.pitch;
    if (k.narrow) {
        narrow(k);
        apply_whole<OP>(dst, a, k.parts == 2 ? b[BLOCK] : b, lines, k.number);
        if (k.parts == 2) apply_whole<OP>(dst[BLOCK], a[BLOCK], b, lines, k.number);
        ResetMask();
        return;
    }
    if (pitch > lines * LANES) {
        for (uint32_t l = 0; l < lines; l++) {
            single_line<OP, true>(dst[l * pitch], a[l * pitch], b[l * BLOCK], pitch);
        }
        return;
    }
    uint32_t j = 0;
    for (; j + LANES <= pitch; j += LANES) {
        apply_whole<OP>(dst[j], a[j], b, lines, k.number);
    }
    if (j < pitch) some_lanes<OP>(dst[j], a[j], b, pitch - j, lines, k.number);
}

/* dst[l][j] = a[l][j] op b[l] */
template <Op OP>
AICORE_INLINE void by_line(const Columns &k, const LocalTensor<float> &dst,
                           const LocalTensor<float> &a, const LocalTensor<float> &b,
                           uint32_t lines) {
    if (k.pitch % LANES || k.pitch > lines * LANES) {
        by_line_any<OP>(k, dst, a, b, lines);
        return;
    }
    apply_whole<OP>(dst, a, b, lines, k.number);
    for (uint32_t j = LANES; j < k.pitch; j += LANES) {
        const LocalTensor<float> to = dst[j];
        apply_whole<OP>(to, &dst == &a ? to : a[j], b, lines, k.number);
    }
}

template <Op OP>
RARE void by_column_any(const LocalTensor<float> &dst, const LocalTensor<float> &a, uint32_t at,
                        const LocalTensor<float> &b, uint32_t b_at, uint32_t lines,
                        uint32_t columns, const BinaryRepeatParams &steps) {
    if (columns > lines * LANES) {
        for (uint32_t l = 0; l < lines; l++) {
            uint32_t line = at + l * steps.dstRepStride * BLOCK;
            single_line<OP, false>(dst[line], a[line], b[b_at + l * steps.src1RepStride * BLOCK],
                                   columns);
        }
        return;
    }
    uint32_t j = 0;
    for (; j + LANES <= columns; j += LANES) {
        apply_whole<OP>(dst[at + j], a[at + j], b[b_at + j], lines, steps);
    }
    if (j < columns) {
        some_lanes<OP>(dst[at + j], a[at + j], b[b_at + j], columns - j, lines, steps);
    }
}

/* dst[l][j] = a[l][j] op b[l][j] for so many columns, dst and a from `at` on, b from b_at on */
template <Op OP>
AICORE_INLINE void by_column(const LocalTensor<float> &dst, const LocalTensor<float> &a,
                             uint32_t at, const LocalTensor<float> &b, uint32_t b_at,
                             uint32_t lines, uint32_t columns, const BinaryRepeatParams &steps) {
    if (columns % LANES || columns > lines * LANES) {
        by_column_any<OP>(dst, a, at, b, b_at, lines, columns, steps);
        return;
    }
    for (uint32_t j = 0; j < columns; j += LANES) {
        const LocalTensor<float> to = dst[at + j];
        apply_whole<OP>(to, &dst == &a ? to : a[at + j], b[b_at + j], lines, steps);
    }
}

} // namespace norm_rope_concat

#endif
