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
    uint32_t step = 2 * padded;
    repeat_rows<ADD>(y, step, a, step, b[padded], step, heads, padded);
    repeat_rows<SUB>(y[padded], step, a[padded], step, b, step, heads, padded);
}

/* y [rows, heads, width] = x * w [rows, 1, width]. An instruction repeats over rows or over heads,
 * whichever are more. y may be x. */
template <typename F>
__aicore__ inline void scale(const LocalTensor<F> &y, const LocalTensor<F> &x,
                             const LocalTensor<F> &w, uint32_t rows, uint32_t heads,
                             uint32_t width) {
    uint32_t row = heads * width;
    if (heads < rows && row * sizeof(F) / 32 <= REPEATS) {
        for (uint32_t n = 0; n < heads; n++) {
            repeat_rows<MUL>(y[n * width], row, x[n * width], row, w, width, rows, width);
        }
        return;
    }
    for (uint32_t r = 0; r < rows; r++) {
        repeat_rows<MUL>(y[r * row], width, x[r * row], width, w[r * width], 0, heads, width);
    }
}

} // namespace rope

#endif
