/* SPDX-License-Identifier: Apache-2.0
 *
 * What a core works with in RopeGrad, and the steps that everything is made of: load, store, scale
 * by a coefficient, add the other half. A head has D columns, of which the first R = 2 * h are
 * rotated, a row of cos or sin has R. Rows lie in the UB in one of three ways:
 *   packed   as in GM: both halves of every head begin at blocks
 *   split    each half of a head apart, padded to whole blocks, a range of its columns at a time
 *   dense    tokens as in GM, but halves begin anywhere: rope_grad_dense.h
 */
#ifndef ROPE_GRAD_CORE_H
#define ROPE_GRAD_CORE_H

#include "rope_grad_tiling_data.h"
#include "rows.h"

namespace rope {

using namespace AscendC;
using namespace rows;

/* q and q_grad, or k and k_grad. */
template <typename T> struct Stream {
    GlobalTensor<T> x, y;
    uint32_t heads, rows;        /* rows: tokens of a tile, 0 if not even one fits */
    uint32_t pitch;              /* dense: elements from token to token in the UB */
    LocalTensor<uint32_t> turns; /* dense, exact_grad: where the other half of everything is */
    uint32_t entries;            /* how many of them */
};

/* T: q and k; C: cos and sin. */
template <typename T, typename C> struct Core {
    Stream<T> q, k;
    GlobalTensor<C> cos_gm, sin_gm;
    TQue<TPosition::VECIN, 1> table_in, x_in; /* table_in: rows of cos, then rows of sin */
    TQue<TPosition::VECOUT, 1> y_out;
    TBuf<TPosition::VECCALC> table_buf, tile_buf, turn_buf;
    LocalTensor<float> cos, sin;      /* of a block of positions; default formula: cos holds w */
    LocalTensor<half> w;              /* fp16, default formula */
    LocalTensor<float> x_wide;        /* a tile in fp32 */
    LocalTensor<float> x_sin;         /* exact_grad: what comes from the other halves */
    uint32_t head, rotated, half_row; /* D, R, h */
    uint32_t column, columns;         /* split: columns [column, column + columns) of a half */
    uint32_t padded;                  /* split: columns rounded up to whole 32 bytes, else h */
    uint32_t head_step, width;        /* elements of a head in the UB, and of a row of cos */
    uint32_t table_rows;              /* positions in a block */
    uint32_t table;                   /* elements of a block of cos */
    uint32_t piece;                   /* heads of a tile, if a token does not fit one */
    uint32_t layout;
    bool exact;
    bool partial;     /* R < D */
    bool rest;        /* split: the columns that are not rotated have their turn */
    bool table_ahead; /* there is room to load a block of positions before it is needed */
    bool native;      /* w is formed in T itself, see op_tiling/rope_tiling.c */
};

template <typename T> struct IsHalf { static constexpr bool value = false; };
template <> struct IsHalf<half> { static constexpr bool value = true; };

/* fp16 throughout: the default formula rounds w. */
template <typename T, typename C> struct AllHalf {
    static constexpr bool value = IsHalf<T>::value && IsHalf<C>::value;
};

/* `blocks` times `length` elements, `gap` apart in GM, each followed by `pad` zeros and then `skip`
 * blocks of 32 bytes of nothing. */
template <typename T>
__aicore__ inline void copy_in(const LocalTensor<T> &to, const GlobalTensor<T> &from,
                               uint32_t blocks, uint32_t length, uint32_t gap, uint32_t pad,
                               uint32_t skip) {
    DataCopyExtParams sizes(Narrow16(blocks), length * sizeof(T), gap * sizeof(T), skip, 0);
    DataCopyPadExtParams<T> zeros;
    zeros.isPad = pad != 0;
    zeros.rightPadding = Narrow8(pad);
    DataCopyPad(to, from, sizes, zeros);
}

template <typename T>
__aicore__ inline void copy_out(const GlobalTensor<T> &to, const LocalTensor<T> &from,
                                uint32_t blocks, uint32_t length, uint32_t gap, uint32_t skip) {
    DataCopyExtParams sizes(Narrow16(blocks), length * sizeof(T), skip, gap * sizeof(T), 0);
    DataCopyPad(to, from, sizes);
}

/* Both halves of `heads` heads whose first element is at `at`, `head` columns each. */
template <typename T, typename C, typename E>
__aicore__ inline void load_split(const Core<T, C> &c, const LocalTensor<E> &to,
                                  const GlobalTensor<E> &from, int64_t at, uint32_t heads,
                                  uint32_t head) {
    constexpr uint32_t unit = 32 / sizeof(E);
    uint32_t whole = up(c.columns, unit), pad = whole - c.columns, rest = (c.padded - whole) / unit;
    if (head == c.rotated) {
        copy_in(to, from[at + c.column], 2 * heads, c.columns, c.half_row - c.columns, pad, rest);
        return;
    }
    for (uint32_t i = 0; i < 2; i++) {
        copy_in(to[i * c.padded], from[at + i * c.half_row + c.column], heads, c.columns,
                head - c.columns, pad, rest + c.padded / unit);
    }
}

template <typename T, typename C>
__aicore__ inline void store_split(const Core<T, C> &c, const GlobalTensor<T> &to,
                                   const LocalTensor<T> &from, int64_t at, uint32_t heads) {
    if (!c.partial) {
        copy_out(to[at + c.column], from, 2 * heads, c.columns, c.half_row - c.columns, 0);
        return;
    }
    for (uint32_t i = 0; i < 2; i++) {
        copy_out(to[at + i * c.half_row + c.column], from[i * c.padded], heads, c.columns,
                 c.head - c.columns, c.padded * sizeof(T) / 32);
    }
}

/* y[j] = a[j] + b[j+h] and y[j+h] = a[j+h] - b[j], for `lanes` columns j of each of `heads` pairs
 * of half rows, `half` and `head` elements apart. y may be a. */
template <typename F>
__aicore__ inline void cross(const LocalTensor<F> &y, const LocalTensor<F> &a,
                             const LocalTensor<F> &b, uint32_t heads, uint32_t lanes_of_half,
                             uint32_t half, uint32_t head) {
    constexpr uint32_t lanes = 256 / sizeof(F);
    Narrow8 step = Narrow8(head * sizeof(F) / 32);
    BinaryRepeatParams steps(1, 1, 1, step, step, step);
    for (uint32_t n = 0; n < heads; n += REPEATS) {
        uint32_t repeats = least(heads - n, REPEATS);
        for (uint32_t j = 0; j < lanes_of_half; j += lanes) {
            uint32_t mask = least(lanes_of_half - j, lanes), low = head * n + j, high = low + half;
            apply_repeats<ADD>(y[low], a[low], b[high], mask, repeats, steps);
            apply_repeats<SUB>(y[high], a[high], b[low], mask, repeats, steps);
        }
    }
}

/* Elements from head to head, and from token to token. */
struct Apart {
    uint32_t head, row;
};

/* Of `width` lanes those that the bits of `chosen` say. */
template <Op OP, typename F>
__aicore__ inline void apply_chosen(const LocalTensor<F> &y, const LocalTensor<F> &a,
                                    const LocalTensor<F> &b, uint32_t width, uint32_t repeats,
                                    const BinaryRepeatParams &steps, const uint64_t *chosen) {
    uint64_t all = ~(uint64_t)0;
    uint64_t mask[2] = {chosen[0] & (width < 64 ? all >> (64 - width) : all),
                        sizeof(F) == 2 && width > 64 ? chosen[1] & all >> (128 - width) : 0};
    if ((mask[0] | mask[1]) == 0) return;
    if constexpr (OP == MUL) {
        Mul(y, a, b, mask, Narrow8(repeats), steps);
    } else {
        Add(y, a, b, mask, Narrow8(repeats), steps);
    }
}

/* y [rows, heads, width] = a op b; y lies as a does, and is a if SAME. An instruction repeats over
 * rows or over heads, whichever are more. `chosen`, unless it is null: the lanes of a head. */
template <Op OP, bool SAME, typename F>
__aicore__ inline void apply_heads(const LocalTensor<F> &y, const LocalTensor<F> &a, Apart as,
                                   const LocalTensor<F> &b, Apart bs, uint32_t rows, uint32_t heads,
                                   uint32_t width, const uint64_t *chosen) {
    constexpr uint32_t lanes = 256 / sizeof(F), block = 32 / sizeof(F);
    bool by_row = heads < rows && as.row <= REPEATS * block && bs.row <= REPEATS * block;
    uint32_t outer = by_row ? heads : rows, inner = by_row ? rows : heads;
    Apart a_at = by_row ? as : Apart{as.row, as.head}, b_at = by_row ? bs : Apart{bs.row, bs.head};
    Narrow8 a_step = Narrow8(a_at.row / block), b_step = Narrow8(b_at.row / block);
    BinaryRepeatParams steps(1, 1, 1, a_step, a_step, b_step);
    for (uint32_t i = 0; i < inner; i += REPEATS) {
        uint32_t repeats = least(inner - i, REPEATS), at = i * a_at.row, to = i * b_at.row;
        for (uint32_t o = 0; o < outer; o++, at += a_at.head, to += b_at.head) {
            for (uint32_t j = 0; j < width; j += lanes) {
                uint32_t n = least(width - j, lanes);
                LocalTensor<F> result = y[at + j];
                if (chosen != nullptr) {
                    apply_chosen<OP>(result, a[at + j], b[to + j], n, repeats, steps,
                                     chosen + j / 64);
                } else if constexpr (SAME) {
                    apply_repeats<OP>(result, result, b[to + j], n, repeats, steps);
                } else {
                    apply_repeats<OP>(result, a[at + j], b[to + j], n, repeats, steps);
                }
            }
        }
    }
}

/* y [rows, heads, rotated columns] = x * w [rows, 1, rotated columns], packed or split. */
template <typename T, typename C, typename F>
__aicore__ inline void scale(const Core<T, C> &c, const LocalTensor<F> &y, const LocalTensor<F> &x,
                             const LocalTensor<F> &w, uint32_t rows, uint32_t heads) {
    Apart xs{c.head_step, heads * c.head_step}, ws{0, c.width};
    if (sizeof(T) == sizeof(C) || c.padded == c.columns) { /* something is in the gaps, or none */
        apply_heads<MUL, false>(y, x, xs, w, ws, rows, heads, c.width, nullptr);
        return;
    }
    apply_heads<MUL, false>(y, x, xs, w, ws, rows, heads, c.columns, nullptr);
    apply_heads<MUL, false>(y[c.padded], x[c.padded], xs, w[c.padded], ws, rows, heads, c.columns,
                            nullptr);
}

} // namespace rope

#endif
