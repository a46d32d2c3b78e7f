/* SPDX-License-Identifier: Apache-2.0
 *
 * Tails of RotaryMulGrad and RotaryPositionEmbeddingGrad: where cos has fewer columns than dy, the
 * elements of a row before and behind the rotated ones go from dy to dx as they are. With
 * t.with_tails they are in the UB beside the rotated ones and are copied there; otherwise they take
 * a way of their own.
 */
#ifndef ROTARY_GRAD_TAIL_H
#define ROTARY_GRAD_TAIL_H

#include "rotary_grad.h"

namespace rotary {

/* t.with_tails: `width` elements of n rows, from `at` on. */
template <typename T>
AICORE_INLINE void keep_columns(const RotaryGradTiling &t, const LocalTensor<T> &dx,
                                const LocalTensor<T> &dy, uint32_t n, uint32_t at, uint32_t width) {
    constexpr uint32_t block = 32 / sizeof(T);
    if (width == 0) return;
    Narrow16 gap = Narrow16(((uint32_t)t.dy_row - width) / block);
    DataCopy(dx[at], dy[at], DataCopyParams(Narrow16(n), Narrow16(width / block), gap, gap));
}

/* t.with_tails: the tails of n rows. */
template <typename T>
AICORE_INLINE void keep_tails(const RotaryGradTiling &t, const LocalTensor<T> &dx,
                              const LocalTensor<T> &dy, uint32_t n) {
    uint32_t slice = (uint32_t)t.slice, end = slice + (uint32_t)t.row;
    keep_columns(t, dx, dy, n, 0, slice);
    keep_columns(t, dx, dy, n, end, (uint32_t)t.dy_row - end);
}

/* t.with_tails: the rotated elements of n rows to a 16-bit type. */
template <typename T>
AICORE_INLINE void narrow_rows(const RotaryGradTiling &t, const LocalTensor<T> &to,
                               const LocalTensor<float> &from, uint32_t n) {
    uint32_t end = (uint32_t)(t.slice + t.row), wide = (uint32_t)t.dy_row;
    UnaryRepeatParams steps(1, 1, Narrow8(wide * sizeof(T) / 32), Narrow8(wide / BLOCK));
    for (uint32_t c = (uint32_t)t.slice; c < end; c += LANES) {
        Cast(to[c], from[c], RoundMode::CAST_RINT, (uint64_t)least(end - c, LANES), Narrow8(n),
             steps);
    }
    ResetMask();
}

/* t.with_tails: x of the rotated elements only. */
template <typename T>
AICORE_INLINE void fetch_rotated_x(Kernel<T> &k, uint32_t slot, const Area &area) {
    const RotaryGradTiling &t = *k.t;
    move_columns<T, true>(k.x_in[slot], k.x, area, t.dy_row, t.slice, t.row, t.row,
                          area.rows * (uint32_t)t.row);
}

/* Columns [at, at + width) of these rows, through a slot on the way out. */
template <typename T>
__aicore__ inline void copy_columns(Kernel<T> &k, const Area &area, int64_t at, int64_t width,
                                    int64_t pitch) {
    const RotaryGradTiling &t = *k.t;
    uint32_t slot = take_out(k), apart = area.rows * (uint32_t)pitch;
    SetFlag<HardEvent::V_MTE2>(k.slots.tail_free);
    WaitFlag<HardEvent::V_MTE2>(k.slots.tail_free);
    move_columns<T, true>(k.dx_out[slot], k.dy, area, t.dy_row, at, width, pitch, apart);
    SetFlag<HardEvent::MTE2_MTE3>(k.slots.tail_full);
    WaitFlag<HardEvent::MTE2_MTE3>(k.slots.tail_full);
    move_columns<T, false>(k.dx_out[slot], k.dx, area, t.dy_row, at, width, pitch, apart);
    free_out(k, slot);
}

/* The tails of the rows of a tile, as many at once as a slot holds. */
template <typename T> __aicore__ inline void copy_tails(Kernel<T> &k, const Area &area) {
    const RotaryGradTiling &t = *k.t;
    constexpr int64_t block = 32 / sizeof(T);
    bool single = area.rows == 1; /* then runs are like rows */
    uint32_t runs = single ? 1 : area.runs, rows = single ? area.runs : area.rows;
    for (int64_t at = 0, width;; at += width) {
        if (at == t.slice) at += t.row;
        if (at == t.dy_row) break;
        int64_t rest = (at < t.slice ? t.slice : t.dy_row) - at;
        width = rest < t.tile ? rest : t.tile;
        int64_t pitch = (width + block - 1) / block * block;
        uint32_t most = (uint32_t)(t.tile / pitch);
        for (uint32_t run = 0; run < runs; run++) {
            for (uint32_t done = 0; done < rows; done += most) {
                uint32_t n = least(rows - done, most);
                Area part = {area.first + run * area.stride + done, 1, n, 0};
                if (single) {
                    part = {area.first + done * area.stride, n, 1, area.stride};
                }
                copy_columns(k, part, at, width, pitch);
            }
        }
    }
}

} // namespace rotary

#endif
