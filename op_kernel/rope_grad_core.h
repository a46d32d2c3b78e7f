/* SPDX-License-Identifier: Apache-2.0
 *
 * What a core works with in RopeGrad, and the steps that everything is made of: load, store, scale
 * by a coefficient, add the other half. A head has D columns, of which R = 2 * h in a row are
 * rotated; a row of cos or sin has R. Heads lie in the UB as they do in memory if their halves
 * begin at blocks, or if a gather brings partners together (rope_grad_gather.h). Else, and where a
 * head is too wide, a tile has a strip of every half head: a range of its columns, filled up to
 * whole blocks. Strips follow each other, the first ones are those of the columns that are not
 * rotated.
 */
#ifndef ROPE_GRAD_CORE_H
#define ROPE_GRAD_CORE_H

#include "moves.h"
#include "rope_grad_tiling_data.h"
#include "rows.h"

namespace rope {

using namespace AscendC;
using namespace rows;

/* q and q_grad, or k and k_grad. */
template <typename T> struct Stream {
    GlobalTensor<T> x, y;
    uint32_t heads, rows;         /* rows: tokens of a tile, 0 if not even one fits */
    uint32_t pitch;               /* gathered: elements from token to token in the UB */
    LocalTensor<uint32_t> places; /* gathered, exact_grad: where the other half of everything is */
    uint32_t entries;             /* how many of them */
};

/* T: q and k; C: cos and sin. */
template <typename T, typename C> struct Core {
    Stream<T> q, k;
    GlobalTensor<C> cos_gm, sin_gm;
    TQue<TPosition::VECIN, 1> table_in, x_in; /* table_in: rows of cos, then rows of sin */
    TQue<TPosition::VECOUT, 1> y_out;
    TBuf<TPosition::VECCALC> table_buf, tile_buf, places_buf;
    LocalTensor<float> cos, sin;      /* of a block of positions; default formula: cos holds w */
    LocalTensor<half> w;              /* fp16, default formula */
    LocalTensor<float> x_wide;        /* a tile in fp32, */
    LocalTensor<float> x_turned;      /* and its first rotated column */
    LocalTensor<float> x_sin;         /* exact_grad: what comes from the other halves */
    uint32_t head, rotated, half_row; /* D, R, h */
    uint32_t slice;                   /* the first column that is rotated */
    uint32_t column, columns;         /* strips: of each half the columns [column, + columns) */
    uint32_t padded;                  /* strips: columns rounded up to whole 32 bytes, else h */
    uint32_t head_step, width;        /* elements of a head in the UB, and of a row of cos */
    uint32_t table_rows;              /* positions in a block */
    uint32_t table;                   /* elements of a block of cos */
    uint32_t piece;                   /* heads of a tile, if a token does not fit one */
    bool exact;
    bool partial; /* R < D */
    bool gathered, strips;
    bool rest;   /* the strip is one of the columns that are not rotated but copied */
    bool native; /* w is formed in T itself, see op_tiling/rope_tiling.c */
};

template <typename T> struct IsHalf { static constexpr bool value = false; };
template <> struct IsHalf<half> { static constexpr bool value = true; };

/* fp16 throughout: the default formula rounds w. */
template <typename T, typename C> struct AllHalf {
    static constexpr bool value = IsHalf<T>::value && IsHalf<C>::value;
};

/* How a strip of `heads` heads of `head` columns is copied: a copy for each half, or one for both
 * where heads are nothing but halves. Blocks have `unit` elements. */
struct StripCopies {
    Runs runs;
    uint32_t copies;
};

template <typename T, typename C>
__aicore__ inline StripCopies strip_copies(const Core<T, C> &c, uint32_t heads, uint32_t head,
                                           uint32_t unit) {
    uint32_t whole = up(c.columns, unit), behind = (c.padded - whole) / unit;
    Runs runs = {heads, c.columns, head - c.columns, whole - c.columns, behind};
    if (c.rest) {
        return {runs, 1};
    }
    if (head == c.rotated) {
        return {{2 * heads, c.columns, c.half_row - c.columns, runs.fill, behind}, 1};
    }
    runs.skip += c.padded / unit;
    return {runs, 2};
}

/* `heads` heads of `head` columns of each of `rows` tokens, from element `at` on. */
template <typename T, typename C, typename E>
AICORE_INLINE void load_heads(const Core<T, C> &c, const LocalTensor<E> &to,
                              const GlobalTensor<E> &from, int64_t at, uint32_t rows,
                              uint32_t heads, uint32_t head) {
    if (!c.strips) {
        copy_rows_in(to, from[at], rows, heads * head);
        return;
    }
    StripCopies s = strip_copies(c, rows * heads, head, 32 / sizeof(E));
    for (uint32_t i = 0; i < s.copies; i++) {
        copy_in(to[i * c.padded], from[at + c.column + i * c.half_row], s.runs);
    }
}

template <typename T, typename C>
AICORE_INLINE void store_heads(const Core<T, C> &c, const GlobalTensor<T> &to,
                               const LocalTensor<T> &from, int64_t at, uint32_t rows,
                               uint32_t heads) {
    if (!c.strips) {
        copy_rows_out(to[at], from, rows, heads * c.head);
        return;
    }
    StripCopies s = strip_copies(c, rows * heads, c.head, 32 / sizeof(T));
    for (uint32_t i = 0; i < s.copies; i++) {
        copy_out(to[at + c.column + i * c.half_row], from[i * c.padded], s.runs);
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

/* y [rows, heads, rotated columns] = x * w [rows, 1, rotated columns]. */
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
