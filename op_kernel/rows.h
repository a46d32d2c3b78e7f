/* SPDX-License-Identifier: Apache-2.0
 *
 * Words of all kernels: elementwise arithmetic on rows that lie at regular steps in the UB. A
 * vector call walks one regular axis by itself (its repeats); these helpers pick that axis so that
 * calls are few and long.
 */
#ifndef ROWS_H
#define ROWS_H

/* The one door to Ascend C. Nothing here gives a tensor a shape, and the room for one, 80 bytes,
 * would be copied with every tensor. The library that runs kernels on a CPU was built with that
 * room. */
#if !defined(K_MAX_SHAPE_DIM) && !defined(ASCENDC_CPU_DEBUG)
#define K_MAX_SHAPE_DIM 0
#endif
#include "kernel_operator.h"

/* For what runs in every tile: scalar code is a good part of a tile's time, and a call that is not
 * inlined passes its tensors through memory. */
#ifndef AICORE_INLINE
#define AICORE_INLINE __aicore__ inline __attribute__((always_inline))
#endif

/* For a whole path of a kernel; the twin's compiler must be told to inline all that it calls. */
#ifndef AICORE_FLAT
#define AICORE_FLAT AICORE_INLINE
#endif

namespace rows {

using namespace AscendC;

/* Floats of a repeat and of a 32-byte block; repeats of one call, which is also the longest repeat
 * stride in blocks. */
constexpr uint32_t LANES = 64;
constexpr uint32_t BLOCK = 8;
constexpr uint32_t REPEATS = 255;

/* Banks of the UB repeat every 512 bytes: two operands of a call that lie this many floats apart,
 * more or less whole 512 bytes, never meet in one. */
constexpr uint32_t OTHER_BANKS = 64;

/* Repeats, strides and lengths as calls take them: `Narrow8(n)` cuts n off, and is how every kernel
 * does it. The twin has types of these names, which keep n whole up to the call, and stops a kernel
 * whose n does not fit. */
#ifndef TWIN_EVERY_CHIP
using Narrow8 = uint8_t;
using Narrow16 = uint16_t;
using Narrow32 = uint32_t;
#endif

__aicore__ inline uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

__aicore__ inline uint32_t most(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

__aicore__ inline uint32_t up(uint32_t a, uint32_t b) {
    return (a + b - 1) / b * b;
}

/* Everything before this has been written when anything behind it reads. */
AICORE_INLINE void vector_done() {
    PipeBarrier<PIPE_V>();
}

enum Op { MUL, ADD, SUB };

template <Op OP, typename F>
AICORE_INLINE void apply_flat(const LocalTensor<F> &to, const LocalTensor<F> &a,
                              const LocalTensor<F> &b, uint32_t count) {
    if constexpr (OP == MUL) {
        Mul(to, a, b, (int32_t)count);
    } else if constexpr (OP == ADD) {
        Add(to, a, b, (int32_t)count);
    } else {
        Sub(to, a, b, (int32_t)count);
    }
}

template <Op OP, typename F>
__aicore__ inline void apply_repeats(const LocalTensor<F> &to, const LocalTensor<F> &a,
                                     const LocalTensor<F> &b, uint32_t lanes, uint32_t repeats,
                                     const BinaryRepeatParams &steps) {
    if constexpr (OP == MUL) {
        Mul(to, a, b, (uint64_t)lanes, Narrow8(repeats), steps);
    } else if constexpr (OP == ADD) {
        Add(to, a, b, (uint64_t)lanes, Narrow8(repeats), steps);
    } else {
        Sub(to, a, b, (uint64_t)lanes, Narrow8(repeats), steps);
    }
}

/* to = factor * a, row by row; columns is at most a few repeats. */
__aicore__ inline void scale_rows(const LocalTensor<float> &to, uint32_t to_step,
                                  const LocalTensor<float> &a, uint32_t a_step, float factor,
                                  uint32_t n, uint32_t columns) {
    if (to_step == columns && a_step == columns) {
        columns *= n;
        n = 1;
    }
    bool near = to_step <= REPEATS * BLOCK && a_step <= REPEATS * BLOCK;
    if (n == 1 || !near || columns >= n * LANES) {
        for (uint32_t i = 0; i < n; i++) {
            Muls(to[i * to_step], a[i * a_step], factor, (int32_t)columns);
        }
        return;
    }
    UnaryRepeatParams steps(1, 1, Narrow8(to_step / BLOCK), Narrow8(a_step / BLOCK));
    for (uint32_t i = 0; i < n; i += REPEATS) {
        uint32_t repeats = least(n - i, REPEATS);
        for (uint32_t c = 0; c < columns; c += LANES) {
            uint32_t lanes = least(columns - c, LANES);
            Muls(to[i * to_step + c], a[i * a_step + c], factor, (uint64_t)lanes, Narrow8(repeats),
                 steps);
        }
    }
    ResetMask();
}

} // namespace rows

#endif
