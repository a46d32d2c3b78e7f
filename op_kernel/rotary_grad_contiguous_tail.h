/* SPDX-License-Identifier: Apache-2.0
 *
 * Tails on the contiguous path (rotary_grad_contiguous.h): where cos has fewer columns than dy,
 * whole rows of dy come and whole rows of dx go. The rotated columns become floats that follow each
 * other, as if there were no others; when they are done they go into a copy of the rows.
 *
 *     dy [rows][dy_row]  ->  floats [rows][pitch]  ->  dx [rows][dy_row], which has been dy
 *
 * Of x only the rotated columns come, to the end of a block. A row of floats ends with a block,
 * too: what is in it behind the rotated columns is computed on like them, and stored nowhere.
 */
#ifndef ROTARY_GRAD_CONTIGUOUS_TAIL_H
#define ROTARY_GRAD_CONTIGUOUS_TAIL_H

#include "rotary_grad_contiguous_shape.h"

namespace contiguous {

/* `columns` of n rows, between rows of dy or x and floats that follow each other; rows are at most
 * 255 blocks apart. */
template <typename TO, typename FROM>
__aicore__ inline void convert_columns(const LocalTensor<TO> &to, uint32_t to_row,
                                       const LocalTensor<FROM> &from, uint32_t from_row, uint32_t n,
                                       uint32_t columns) {
    constexpr RoundMode mode = sizeof(TO) == 4 ? RoundMode::CAST_NONE : RoundMode::CAST_RINT;
    UnaryRepeatParams steps(1, 1, Narrow8(to_row * sizeof(TO) / 32),
                            Narrow8(from_row * sizeof(FROM) / 32));
    for (uint32_t done = 0; done < n; done += REPEATS) {
        Narrow8 repeats = Narrow8(least(n - done, REPEATS));
        for (uint32_t c = 0; c < columns; c += LANES) {
            uint64_t lanes = least(columns - c, LANES);
            LocalTensor<TO> out = to[done * to_row + c];
            LocalTensor<FROM> in = from[done * from_row + c];
            if constexpr (sizeof(TO) == sizeof(FROM)) {
                Muls(out, in, 1.0f, lanes, repeats, steps);
            } else {
                Cast(out, in, mode, lanes, repeats, steps);
            }
        }
    }
    ResetMask();
}

/* Rows of a tile. */
AICORE_INLINE uint32_t rows_of(const RotaryGradTiling &t, const Shape &s) {
    return s.elements / t.pitch;
}

/* x, of the rotated columns. */
template <typename T>
AICORE_INLINE void fetch_columns(Kernel<T> &k, const Tile &tile, const LocalTensor<T> &to) {
    const RotaryGradTiling &t = *k.t;
    const Shape &s = *tile.shape;
    GlobalTensor<T> from = k.x[tile.first * t.dy_row + t.slice];
    for (uint32_t i = 0; i < s.x_slabs; i++) {
        move<T, true>(s.x, to[i * s.x_ub], from[i * s.x_gm]);
    }
}

/* x of 16 bits and the rotated columns of dy in fp32, and those of dy with partners swapped. */
template <typename T> AICORE_INLINE void widen_columns(Kernel<T> &k, const Tile &tile) {
    const RotaryGradTiling &t = *k.t;
    const Shape &s = *tile.shape;
    LocalTensor<T> from = k.dy_in[tile.slot][(uint32_t)t.slice];
    uint32_t row = t.pitch, dy_row = (uint32_t)t.dy_row, rows = rows_of(t, s);
    convert_columns(k.w_dy, row, from, dy_row, rows, row);
    if constexpr (sizeof(T) == 2) {
        LocalTensor<T> narrow = k.spare.template ReinterpretCast<T>();
        if (k.with_x) {
            convert_columns(k.w_x, row, k.x_in[0], x_columns<T>(t), rows, row);
            SetFlag<HardEvent::V_MTE2>(k.x_free[0]);
        }
        if (t.turn_unit < 32) {
            gather_tile(s, narrow, from, k.turn, t.turn, t.turn_unit, row, dy_row);
        }
        vector_done();
        if (t.turn_unit == 32) {
            gather_blocks(k.swapped, k.w_dy, k.blocks, s.elements);
        } else {
            convert(k.swapped, narrow, s.all);
        }
    } else {
        vector_done();
        gather_tile(s, k.swapped, k.w_dy, k.turn, t.turn, 4);
    }
}

/* dx begins as what dy is. */
template <typename T> AICORE_INLINE void keep_rows(Kernel<T> &k, const Tile &tile) {
    const RotaryGradTiling &t = *k.t;
    uint32_t blocks = (uint32_t)(rows_of(t, *tile.shape) * t.dy_row * sizeof(T) / 32);
    DataCopy(k.dx_out[k.out], k.dy_in[tile.slot], DataCopyParams(1, Narrow16(blocks), 0, 0));
    if constexpr (sizeof(T) == 2) {
        SetFlag<HardEvent::V_MTE2>(k.slots.in_free[tile.slot]);
    }
}

/* And gets its rotated columns. */
template <typename T>
AICORE_INLINE void put_columns(Kernel<T> &k, const Shape &s, const LocalTensor<float> &dx) {
    const RotaryGradTiling &t = *k.t;
    convert_columns(k.dx_out[k.out][(uint32_t)t.slice], (uint32_t)t.dy_row, dx, t.pitch,
                    rows_of(t, s), (uint32_t)t.row);
}

} // namespace contiguous

#endif
