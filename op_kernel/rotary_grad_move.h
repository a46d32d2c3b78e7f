/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows between memory and the UB. In memory a row is rotations, each [first half, second half],
 * or pairs. In the UB a rotation is [first half, pad, second half, pad] and a row of
 * pairs is [pairs, pad], pad up to what the vector unit can address. Where no pad is needed (flat)
 * many rows move as one block.
 */
#ifndef ROTARY_GRAD_MOVE_H
#define ROTARY_GRAD_MOVE_H

#include "rotary_grad_tiling_data.h"
#include "rows.h"

namespace rotary {

using namespace AscendC;
using namespace rows;

/* `runs` times `rows` neighbouring rows, `stride` rows apart. */
struct Area {
    int64_t first;
    uint32_t runs, rows;
    int64_t stride;
};

/* The columns of a row that are at work: all of them, or one strip. */
struct Strip {
    int64_t column; /* first element of the first half, or first pair, in the row */
    uint32_t width; /* elements of a half, or pairs */
    uint32_t pitch; /* the same in the UB */
    uint32_t row;   /* elements of a row in the UB */
};

/* PAIRS: there are no halves in any tensor. */
template <typename T, bool PAIRS>
__aicore__ inline Strip strip_of(const RotaryGradTiling &t, int64_t index) {
    constexpr uint32_t block = 32 / sizeof(T);
    int64_t group = index / t.strips_half, column = (index - group * t.strips_half) * t.width;
    Strip s;
    s.column = group * 2 * t.half + column;
    s.width = (uint32_t)(t.half - column < t.width ? t.half - column : t.width);
    if constexpr (PAIRS) {
        s.row = t.flat ? 2 * s.width : (2 * s.width + block - 1) / block * block;
        s.pitch = s.row / 2;
    } else {
        s.pitch = t.flat ? s.width : (s.width + block - 1) / block * block;
        s.row = t.rotations * 2 * s.pitch;
    }
    return s;
}

/* One transfer in bytes: `count` blocks of `length`, `gap` apart in memory, `skip` 32-byte blocks
 * apart in the UB; `zeros` elements are put after each block. */
template <typename T>
__aicore__ inline void copy_in(const LocalTensor<T> &to, const GlobalTensor<T> &from,
                               uint32_t count, int64_t length, int64_t gap, int64_t skip,
                               uint32_t zeros) {
    DataCopyExtParams block(Narrow16(count), Narrow32(length), Narrow32(count > 1 ? gap : 0),
                            Narrow32(skip), 0);
    DataCopyPadExtParams<T> pad;
    pad.isPad = zeros > 0;
    pad.rightPadding = Narrow8(zeros);
    DataCopyPad(to, from, block, pad);
}

template <typename T>
__aicore__ inline void copy_out(const GlobalTensor<T> &to, const LocalTensor<T> &from,
                                uint32_t count, int64_t length, int64_t gap, int64_t skip) {
    DataCopyExtParams block(Narrow16(count), Narrow32(length), Narrow32(skip),
                            Narrow32(count > 1 ? gap : 0), 0);
    DataCopyPad(to, from, block);
}

/* Blocks of `width` elements of rows that are `row` elements apart, from `at` on, a block of each
 * row; `pitch`: from block to block in the UB, `apart`: from run to run. */
template <typename T, bool IN>
__aicore__ inline void move_columns(const LocalTensor<T> &ub, const GlobalTensor<T> &gm,
                                    const Area &area, int64_t row, int64_t at, int64_t width,
                                    int64_t pitch, uint32_t apart) {
    constexpr int64_t size = sizeof(T);
    int64_t natural = (width * size + 31) / 32, skip = pitch * size / 32 - natural;
    bool joined = area.rows == 1;
    uint32_t blocks = joined ? area.runs : area.rows, runs = joined ? 1 : area.runs;
    int64_t gap = ((joined ? area.stride : 1) * row - width) * size;
    for (uint32_t run = 0; run < runs; run++) {
        int64_t from = (area.first + run * area.stride) * row + at;
        if constexpr (IN) {
            uint32_t zeros = (uint32_t)(natural * 32 / size - width);
            copy_in(ub[run * apart], gm[from], blocks, width * size, gap, skip, zeros);
        } else {
            copy_out(gm[from], ub[run * apart], blocks, width * size, gap, skip);
        }
    }
}

/* PAIRS: this tensor's rows are pairs. IN: to the UB. row: elements of a row in memory; if they are
 * more than t.row, their tails stay out unless rows are flat. Runs that fall into step with their
 * blocks move at once. */
template <typename T, bool PAIRS, bool IN>
__aicore__ inline void move_rows(const LocalTensor<T> &ub, const GlobalTensor<T> &gm,
                                 const Area &area, const Strip &s, const RotaryGradTiling &t,
                                 int64_t row) {
    constexpr int64_t size = sizeof(T);
    if (t.flat) {
        int64_t length = area.rows * row * size, gap = (area.stride - area.rows) * row * size;
        if constexpr (IN) {
            uint32_t zeros =
                (uint32_t)((32 - length % 32) % 32 / size); /* to the end of a run's block */
            copy_in(ub, gm[area.first * row], area.runs, length, gap, 0, zeros);
        } else {
            copy_out(gm[area.first * row], ub, area.runs, length, gap, 0);
        }
        return;
    }
    if (row > t.row) {
        int64_t column = PAIRS ? 2 * s.column : s.column, width = PAIRS ? 2 * s.width : s.width;
        uint32_t parts = PAIRS ? 1 : 2 * t.rotations, apart = area.rows * s.row;
        for (uint32_t part = 0; part < parts; part++) {
            move_columns<T, IN>(ub[part * s.pitch], gm, area, row, t.slice + column + part * t.half,
                                width, s.row, apart);
        }
        return;
    }
    constexpr uint32_t parts = PAIRS ? 1 : 2; /* a row of pairs is one group */
    int64_t width = PAIRS ? 2 * (int64_t)s.width : s.width,
            pitch = PAIRS ? s.row : 2 * (int64_t)s.pitch;
    int64_t column = PAIRS ? 2 * s.column : s.column;
    int64_t apart = t.strips == 1 && !PAIRS ? 2 * t.half : row; /* from block to block */
    uint32_t blocks = area.rows * (PAIRS ? 1 : t.rotations), runs = area.runs;
    if (runs > 1 && blocks == 1) {
        blocks = runs;
        apart = area.stride * row;
        runs = 1;
    }
    int64_t natural = (width * size + 31) / 32,
            skip = pitch * size / 32 - natural; /* 32-byte blocks */
    for (uint32_t run = 0; run < runs; run++) {
        for (uint32_t part = 0; part < parts; part++) {
            int64_t at = (area.first + run * area.stride) * row + column + part * t.half;
            uint32_t ub_at = run * area.rows * s.row + part * s.pitch;
            if constexpr (IN) {
                uint32_t zeros = (uint32_t)(natural * 32 / size - width);
                copy_in(ub[ub_at], gm[at], blocks, width * size, (apart - width) * size, skip,
                        zeros);
            } else {
                copy_out(gm[at], ub[ub_at], blocks, width * size, (apart - width) * size, skip);
            }
        }
    }
}

/* Pairs that are to be dealt into planes have more pad than a transfer is able to fill: n rows of
 * it are set to 0. */
template <typename T>
__aicore__ inline void clear_pad(const LocalTensor<T> &rows, uint32_t n, const Strip &s) {
    constexpr uint32_t block = 32 / sizeof(T);
    if (s.pitch == s.width) {
        return;
    }
    uint32_t from = 2 * s.width / block * block, skipped = 2 * s.width - from,
             count = 2 * (s.pitch - s.width);
    uint64_t mask[2] = {(((uint64_t)1 << count) - 1) << skipped, 0};
    if constexpr (sizeof(T) == 4) {
        Duplicate(rows[from], 0.0f, mask, Narrow8(n), 1, Narrow8(2 * s.pitch / block));
    } else {
        LocalTensor<int16_t> bits = rows[from].template ReinterpretCast<int16_t>();
        Duplicate(bits, (int16_t)0, mask, Narrow8(n), 1, Narrow8(2 * s.pitch / block));
    }
    ResetMask();
    vector_done();
}

} // namespace rotary

#endif
