/* SPDX-License-Identifier: Apache-2.0
 *
 * NormRopeConcatGrad: vector calls over lines. All lanes are on between calls, so that whole
 * repeats need no mask of their own; what uses fewer lanes turns them on again.
 */
#ifndef NORM_ROPE_CONCAT_GRAD_CALLS_H
#define NORM_ROPE_CONCAT_GRAD_CALLS_H

#include "grid.h"
#include "norm_rope_concat_grad.h"

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

/* `count` neighbours, which are so many whole repeats, or 0; steps are flat. */
template <Op OP>
AICORE_INLINE void flat(const LocalTensor<float> &dst, const LocalTensor<float> &a,
                        const LocalTensor<float> &b, uint32_t count, uint32_t repeats,
                        const BinaryRepeatParams &steps) {
    if (repeats) {
        apply_whole<OP>(dst, a, b, repeats, steps);
    } else {
        apply_flat<OP>(dst, a, b, count);
    }
}

template <typename TO, typename FROM>
AICORE_INLINE void cast_flat(const LocalTensor<TO> &dst, const LocalTensor<FROM> &src,
                             RoundMode mode, uint32_t count, uint32_t repeats) {
    if (repeats) {
        Cast<TO, FROM, false>(
            dst, src, mode, MASK_PLACEHOLDER, static_cast<uint8_t>(repeats),
            {1, 1, static_cast<uint8_t>(2 * sizeof(TO)), static_cast<uint8_t>(2 * sizeof(FROM))});
    } else {
        Cast(dst, src, mode, count);
    }
}

/* Widens; fp32 is already what it should be. */
template <typename T>
AICORE_INLINE void widen(const LocalTensor<float> &dst, const LocalTensor<T> &src, uint32_t count) {
    if constexpr (sizeof(T) == 2) {
        cast_flat(dst, src, RoundMode::CAST_NONE, count, repeats_of(count));
    }
}

/* A line by itself, where there are fewer lines than repeats in one: with b[j], or a number. */
template <Op OP, bool number>
__aicore__ inline void line_alone(const LocalTensor<float> &dst, const LocalTensor<float> &a,
                                  const LocalTensor<float> &b, uint32_t columns) {
    uint32_t whole = columns / LANES, rest = columns % LANES, at = whole * LANES;
    BinaryRepeatParams steps(1, 1, number ? 0 : 1, 8, 8, number ? 0 : 8);
    if (whole) apply_whole<OP>(dst, a, b, whole, steps);
    if (rest) some_lanes<OP>(dst[at], a[at], number ? b : b[at], rest, 1, steps);
}

/* Lines of any length. Not inlined: code that every call has must be small. */
template <Op OP>
__aicore__ inline void by_line_any(const LocalTensor<float> &dst, const LocalTensor<float> &a,
                                   const LocalTensor<float> &b, uint32_t lines, uint32_t pitch,
                                   const BinaryRepeatParams &steps) {
    if (pitch > lines * LANES) {
        for (uint32_t l = 0; l < lines; l++) {
            line_alone<OP, true>(dst[l * pitch], a[l * pitch], b[l * BLOCK], pitch);
        }
        return;
    }
    uint32_t j = 0;
    for (; j + LANES <= pitch; j += LANES) {
        apply_whole<OP>(dst[j], a[j], b, lines, steps);
    }
    if (j < pitch) some_lanes<OP>(dst[j], a[j], b, pitch - j, lines, steps);
}

/* dst[l][j] = a[l][j] op b[l]; every number fills a block. */
template <Op OP>
AICORE_INLINE void by_line(const LocalTensor<float> &dst, const LocalTensor<float> &a,
                           const LocalTensor<float> &b, uint32_t lines, uint32_t pitch,
                           const BinaryRepeatParams &steps) {
    if (pitch % LANES || pitch > lines * LANES) {
        by_line_any<OP>(dst, a, b, lines, pitch, steps);
        return;
    }
    apply_whole<OP>(dst, a, b, lines, steps);
    for (uint32_t j = LANES; j < pitch; j += LANES) {
        const LocalTensor<float> to = dst[j];
        apply_whole<OP>(to, &dst == &a ? to : a[j], b, lines, steps);
    }
}

template <Op OP>
__aicore__ inline void by_column_any(const LocalTensor<float> &dst, const LocalTensor<float> &a,
                                     uint32_t at, const LocalTensor<float> &b, uint32_t b_at,
                                     uint32_t lines, uint32_t columns,
                                     const BinaryRepeatParams &steps) {
    if (columns > lines * LANES) {
        for (uint32_t l = 0; l < lines; l++) {
            uint32_t line = at + l * steps.dstRepStride * BLOCK;
            line_alone<OP, false>(dst[line], a[line], b[b_at + l * steps.src1RepStride * BLOCK],
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
