/* SPDX-License-Identifier: Apache-2.0
 *
 * What a core works with in RopeGrad, and the four steps that everything is made of: load, store,
 * scale by a coefficient, add the other half. Tensors are seen as rows of h = D / 2 columns, "half
 * rows": a head is two of them, a token is 2 * heads, and so is a row of cos or sin with one head.
 */
#ifndef ROPE_GRAD_CORE_H
#define ROPE_GRAD_CORE_H

#include "kernel_operator.h"
#include "rows.h"

namespace rope {

using namespace AscendC;
using namespace rows;

template <typename T> struct Core {
    GlobalTensor<T> q, k, q_grad, k_grad, cos_gm, sin_gm;
    TQue<TPosition::VECIN, 1> table_in, x_in; /* table_in: rows of cos, then rows of sin */
    TQue<TPosition::VECOUT, 1> y_out;
    TBuf<TPosition::VECCALC> table_buf, tile_buf;
    LocalTensor<float> cos, sin; /* of a block of positions; default formula: cos holds w */
    LocalTensor<half> w;         /* fp16, default formula */
    LocalTensor<float> x_wide;   /* a tile in fp32 */
    LocalTensor<float> x_sin;    /* exact_grad: a tile times sin */
    uint32_t half_head;          /* h */
    uint32_t column, columns;    /* this pass: columns [column, column + columns) of a half row */
    uint32_t padded;             /* columns rounded up to whole 32 bytes */
    uint32_t q_heads, k_heads;
    uint32_t table_rows;  /* positions in a block */
    uint32_t table, tile; /* elements of a block of cos, and of a tile */
    bool exact;
    bool packed; /* rows lie in the UB as in GM */
    bool native; /* w is formed in T itself, see op_tiling/rope_tiling.c */
};

template <typename T> struct IsHalf { static constexpr bool value = false; };
template <> struct IsHalf<half> { static constexpr bool value = true; };

template <typename T>
__aicore__ inline void load(const Core<T> &c, const LocalTensor<T> &dst, const GlobalTensor<T> &src,
                            int64_t row, uint32_t rows) {
    if (c.packed) {
        DataCopy(dst, src[row * c.half_head], rows * c.half_head);
        return;
    }
    DataCopyExtParams blocks(static_cast<uint16_t>(rows), c.columns * sizeof(T),
                             (c.half_head - c.columns) * sizeof(T), 0, 0);
    DataCopyPadExtParams<T> pad; /* the filler is computed on, but never stored: make it 0 */
    pad.isPad = c.padded != c.columns;
    pad.rightPadding = static_cast<uint8_t>(c.padded - c.columns);
    DataCopyPad(dst, src[row * c.half_head + c.column], blocks, pad);
}

template <typename T>
__aicore__ inline void store(const Core<T> &c, const GlobalTensor<T> &dst,
                             const LocalTensor<T> &src, int64_t row, uint32_t rows) {
    if (c.packed) {
        DataCopy(dst[row * c.half_head], src, rows * c.half_head);
        return;
    }
    DataCopyExtParams blocks(static_cast<uint16_t>(rows), c.columns * sizeof(T), 0,
                             (c.half_head - c.columns) * sizeof(T), 0);
    DataCopyPad(dst[row * c.half_head + c.column], src, blocks);
}

/* y[j] = a[j] + b[j+h] and y[j+h] = a[j+h] - b[j], for each of `heads` pairs of half rows.
 * y may be a. */
template <typename F>
__aicore__ inline void cross(const LocalTensor<F> &y, const LocalTensor<F> &a,
                             const LocalTensor<F> &b, uint32_t heads, uint32_t padded) {
    constexpr uint32_t lanes = 256 / sizeof(F);
    uint8_t step = (uint8_t)(2 * padded * sizeof(F) / 32);
    BinaryRepeatParams steps(1, 1, 1, step, step, step);
    for (uint32_t n = 0; n < heads; n += REPEATS) {
        uint32_t repeats = least(heads - n, REPEATS);
        for (uint32_t j = 0; j < padded; j += lanes) {
            uint32_t mask = least(padded - j, lanes), low = 2 * padded * n + j, high = low + padded;
            apply_repeats<ADD>(y[low], a[low], b[high], mask, repeats, steps);
            apply_repeats<SUB>(y[high], a[high], b[low], mask, repeats, steps);
        }
    }
}

/* y [rows, heads, width] = x * w [rows, 1, width]. An instruction repeats over rows or over heads,
 * whichever are more. y may be x. */
template <typename F>
__aicore__ inline void scale(const LocalTensor<F> &y, const LocalTensor<F> &x,
                             const LocalTensor<F> &w, uint32_t rows, uint32_t heads,
                             uint32_t width) {
    constexpr uint32_t lanes = 256 / sizeof(F);
    uint32_t head_step = width * sizeof(F) / 32, row_step = heads * head_step;
    bool by_row = heads < rows && row_step <= REPEATS; /* both have 8 bits */
    uint32_t outer = by_row ? heads : rows, inner = by_row ? rows : heads;
    uint32_t outer_x = by_row ? width : heads * width, inner_x = by_row ? heads * width : width;
    uint32_t outer_w = by_row ? 0 : width, inner_w = by_row ? width : 0;
    uint8_t x_step = (uint8_t)(by_row ? row_step : head_step);
    uint8_t w_step = (uint8_t)(by_row ? head_step : 0);
    BinaryRepeatParams steps(1, 1, 1, x_step, x_step, w_step);
    for (uint32_t o = 0; o < outer; o++) {
        for (uint32_t i = 0; i < inner; i += REPEATS) {
            uint32_t repeats = least(inner - i, REPEATS);
            uint32_t at = o * outer_x + i * inner_x, at_w = o * outer_w + i * inner_w;
            for (uint32_t j = 0; j < width; j += lanes) {
                apply_repeats<MUL>(y[at + j], x[at + j], w[at_w + j], least(width - j, lanes),
                                   repeats, steps);
            }
        }
    }
}

} // namespace rope

#endif
