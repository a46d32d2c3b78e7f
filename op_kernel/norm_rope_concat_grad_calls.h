/* SPDX-License-Identifier: Apache-2.0
 *
 * NormRopeConcatGrad: vector calls over lines. All lanes are on between calls, so that whole
 * repeats need no mask of their own; what uses fewer lanes turns them on again.
 */
#ifndef NORM_ROPE_CONCAT_GRAD_CALLS_H
#define NORM_ROPE_CONCAT_GRAD_CALLS_H

#include "norm_rope_concat_grad.h"

namespace norm_rope_concat {

/* Whole repeats in so many numbers, if they are nothing else and not too many for a call; else 0.
 */
AICORE_INLINE uint32_t repeats_of(uint32_t count) {
    return count % LANES == 0 && count <= REPEATS * LANES ? count / LANES : 0;
}

template <Op OP>
AICORE_INLINE void all_lanes(const LocalTensor<float> &dst, const LocalTensor<float> &a,
                             const LocalTensor<float> &b, uint32_t repeats,
                             const BinaryRepeatParams &steps) {
    if constexpr (OP == MUL) {
        Mul<float, false>(dst, a, b, MASK_PLACEHOLDER, static_cast<uint8_t>(repeats), steps);
    } else if constexpr (OP == ADD) {
        Add<float, false>(dst, a, b, MASK_PLACEHOLDER, static_cast<uint8_t>(repeats), steps);
    } else {
        Sub<float, false>(dst, a, b, MASK_PLACEHOLDER, static_cast<uint8_t>(repeats), steps);
    }
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
        all_lanes<OP>(dst, a, b, repeats, steps);
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

/* One number per line, as a 32-byte block that has it eight times. There may be two copies, for
 * columns 0..63, 128..191 and so on, and for the others: see spread. */
struct Numbers {
    const LocalTensor<float> &even, &odd;
    const BinaryRepeatParams &steps;
};

/* A line by itself, where there are fewer lines than repeats in one: with b[j], or a number. */
template <Op OP, bool number>
__aicore__ inline void line_alone(const LocalTensor<float> &dst, const LocalTensor<float> &a,
                                  const LocalTensor<float> &b, uint32_t columns) {
    uint32_t whole = columns / LANES, rest = columns % LANES, at = whole * LANES;
    BinaryRepeatParams steps(1, 1, number ? 0 : 1, 8, 8, number ? 0 : 8);
    if (whole) all_lanes<OP>(dst, a, b, whole, steps);
    if (rest) some_lanes<OP>(dst[at], a[at], number ? b : b[at], rest, 1, steps);
}

template <Op OP>
__aicore__ inline void by_line_alone(const LocalTensor<float> &dst, const LocalTensor<float> &a,
                                     const Numbers &b, uint32_t lines, uint32_t pitch) {
    for (uint32_t l = 0; l < lines; l++) {
        line_alone<OP, true>(dst[l * pitch], a[l * pitch],
                             b.even[l * b.steps.src1RepStride * BLOCK], pitch);
    }
}

/* dst[l][j] = a[l][j] op b[l] */
template <Op OP>
AICORE_INLINE void by_line(const LocalTensor<float> &dst, const LocalTensor<float> &a,
                           const Numbers &b, uint32_t lines, uint32_t pitch) {
    if (pitch > lines * LANES) {
        by_line_alone<OP>(dst, a, b, lines, pitch);
        return;
    }
    if (pitch < LANES) {
        some_lanes<OP>(dst, a, b.even, pitch, lines, b.steps);
        return;
    }
    all_lanes<OP>(dst, a, b.even, lines, b.steps);
    for (uint32_t j = LANES; j < pitch; j += LANES) {
        const LocalTensor<float> to = dst[j], &number = j & LANES ? b.odd : b.even;
        const LocalTensor<float> from = &dst == &a ? to : a[j];
        if (j + LANES <= pitch) {
            all_lanes<OP>(to, from, number, lines, b.steps);
        } else {
            some_lanes<OP>(to, from, number, pitch - j, lines, b.steps);
        }
    }
}

template <Op OP>
__aicore__ inline void by_column_alone(const LocalTensor<float> &dst, const LocalTensor<float> &a,
                                       uint32_t at, const LocalTensor<float> &b, uint32_t b_at,
                                       uint32_t lines, uint32_t columns,
                                       const BinaryRepeatParams &steps) {
    for (uint32_t l = 0; l < lines; l++) {
        uint32_t line = at + l * steps.dstRepStride * BLOCK;
        line_alone<OP, false>(dst[line], a[line], b[b_at + l * steps.src1RepStride * BLOCK],
                              columns);
    }
}

/* dst[l][j] = a[l][j] op b[l][j] for so many columns, dst and a from `at` on, b from b_at on */
template <Op OP>
AICORE_INLINE void by_column(const LocalTensor<float> &dst, const LocalTensor<float> &a,
                             uint32_t at, const LocalTensor<float> &b, uint32_t b_at,
                             uint32_t lines, uint32_t columns, const BinaryRepeatParams &steps) {
    if (columns > lines * LANES) {
        by_column_alone<OP>(dst, a, at, b, b_at, lines, columns, steps);
        return;
    }
    for (uint32_t j = 0; j < columns; j += LANES) {
        const LocalTensor<float> to = dst[at + j];
        const LocalTensor<float> from = &dst == &a ? to : a[at + j];
        if (j + LANES <= columns) {
            all_lanes<OP>(to, from, b[b_at + j], lines, steps);
        } else {
            some_lanes<OP>(to, from, b[b_at + j], columns - j, lines, steps);
        }
    }
}

} // namespace norm_rope_concat

#endif
