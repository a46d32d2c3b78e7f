/* SPDX-License-Identifier: Apache-2.0
 *
 * RotaryMulGrad and RotaryPositionEmbeddingGrad for rows, or halves of rows, that do not begin at
 * 32-byte blocks, and for short rows: the contiguous path. Rows move in long copies and lie in the
 * UB as in memory; what a row needs to meet its partners is done to the tile as a whole. A tile is
 *
 *     slabs      what is summed: tile [slabs][span]
 *     span       elements of a slab, cos_rows times a group of rows (rows of cos first), or
 *                cos_rows rows (rows of cos last)
 *     group      rows of dy, with one row of cos, that fill 32-byte blocks: cos and sin are
 *                repeated to a group, and the sum of slabs is folded from groups to rows
 *
 * so that cos and sin of a slab serve all slabs, and sums are of whole slabs. KIND says how dy is
 * brought beside its partner: ODD_HALVES by address, the halves fill blocks of floats; ODD_TURNED
 * by a gather; ODD_PAIRS by shifts of 32-bit words, or in fp32 by a gather; ODD_PLANES: dy, cos and
 * sin are made pairs, as x is, and dcos and dsin halves again.
 *
 * T is the type of dy, x, dx; TC that of cos, sin, dcos, dsin.
 */
#ifndef ROTARY_GRAD_ODD_H
#define ROTARY_GRAD_ODD_H

#include "kernel_operator.h"
#include "grid.h"
#include "partners.h"
#include "rotary_grad.h"
#include "rotary_grad_move.h"
#include "rows.h"
#include "rotary_grad_tiling_data.h"

/* Much code: whoever compiles for another machine may say otherwise. */
#ifndef ODD_INLINE
#define ODD_INLINE AICORE_INLINE
#endif

namespace odd {

using namespace AscendC;
using namespace rows;
using rotary::Args;
using rotary::copy_in;
using rotary::copy_out;

template <typename T, typename TC> struct Kernel {
    const RotaryGradTiling *t;
    GlobalTensor<T> dy, x, dx;
    /* sum: dcos, dsin */
    GlobalTensor<TC> cos, sin, sum[2];
    /* [segment][dcos, dsin][line][row] */
    GlobalTensor<float> partial;
    TQue<TPosition::VECIN, 1> in_dy, in_x, in_cos;
    TQue<TPosition::VECOUT, 1> out_dx, out_sum;
    TBuf<TPosition::VECCALC> work, shift_x, shift_dx;
    /* tiles in fp32; swapped: dy in its partner's place */
    LocalTensor<float> w_dy, swapped, w_x, spare;
    /* a slab each */
    LocalTensor<float> cosines, sines, signs;
    LocalTensor<float> sums;
    /* byte offsets of gathers: partners; rows to groups; groups to rows; halves to pairs and back
     */
    LocalTensor<int32_t> turn, spread, pack, pair, halve;
};

/* Arithmetic on neighbouring floats. Here as in grid.h all lanes are on between calls. */
template <Op OP>
ODD_INLINE void flat(const LocalTensor<float> &to, const LocalTensor<float> &a,
                     const LocalTensor<float> &b, uint32_t count) {
    uint32_t full = count / LANES, rest = count % LANES;
    if (full > 0) {
        apply_whole<OP>(to, a, b, full, BinaryRepeatParams());
    }
    if (rest > 0) {
        uint32_t at = count - rest;
        apply_repeats<OP>(to[at], a[at], b[at], rest, 1, BinaryRepeatParams());
        ResetMask();
    }
}

/* n rows; steps of at most 255 blocks. */
template <Op OP>
ODD_INLINE void strided(const LocalTensor<float> &to, uint32_t to_step, const LocalTensor<float> &a,
                        uint32_t a_step, const LocalTensor<float> &b, uint32_t b_step, uint32_t n,
                        uint32_t columns) {
    BinaryRepeatParams steps(1, 1, 1, (uint8_t)(to_step / BLOCK), (uint8_t)(a_step / BLOCK),
                             (uint8_t)(b_step / BLOCK));
    uint32_t rest = columns % LANES, whole = columns - rest;
    for (uint32_t c = 0; c < whole; c += LANES) {
        apply_whole<OP>(to[c], a[c], b[c], n, steps);
    }
    if (rest > 0) {
        apply_repeats<OP>(to[whole], a[whole], b[whole], rest, n, steps);
        ResetMask();
    }
}

/* Between 16 bits and floats. */
template <typename TO, typename FROM>
ODD_INLINE void convert(const LocalTensor<TO> &to, const LocalTensor<FROM> &from, uint32_t count) {
    constexpr RoundMode mode = sizeof(TO) == 4 ? RoundMode::CAST_NONE : RoundMode::CAST_RINT;
    uint32_t full = count / LANES, rest = count % LANES;
    UnaryRepeatParams steps(1, 1, (uint8_t)(2 * sizeof(TO)), (uint8_t)(2 * sizeof(FROM)));
    if (full > 0) {
        Cast<TO, FROM, false>(to, from, mode, MASK_PLACEHOLDER, (uint8_t)full, steps);
    }
    if (rest > 0) {
        uint32_t at = count - rest;
        Cast(to[at], from[at], mode, (uint64_t)rest, (uint8_t)1, steps);
        ResetMask();
    }
}

/* `count` elements; `unit`: bytes of what an offset stands for, 4 or the element's size. */
template <typename T>
ODD_INLINE void gather(const LocalTensor<T> &to, const LocalTensor<T> &from,
                       const LocalTensor<int32_t> &table, uint32_t base, uint32_t count,
                       uint32_t unit) {
    LocalTensor<uint32_t> offsets = table.template ReinterpretCast<uint32_t>();
    if (unit == 4) {
        Gather(to.template ReinterpretCast<float>(), from.template ReinterpretCast<float>(),
               offsets, base, (uint32_t)(count * sizeof(T) / 4));
    } else {
        Gather(to.template ReinterpretCast<uint16_t>(), from.template ReinterpretCast<uint16_t>(),
               offsets, base, count);
    }
}

/* The same with a table of `entries` for rows that follow each other. */
template <typename T>
ODD_INLINE void gather_rows(const LocalTensor<T> &to, const LocalTensor<T> &from,
                            const LocalTensor<int32_t> &table, uint32_t entries, uint32_t count,
                            uint32_t unit) {
    uint32_t most = (uint32_t)(entries * unit / sizeof(T));
    for (uint32_t done = 0; done < count; done += most) {
        gather(to[done], from, table, (uint32_t)(done * sizeof(T)), least(count - done, most),
               unit);
    }
}

/* Bytes that an offset of the table of partners stands for. */
template <typename T, int KIND> ODD_INLINE uint32_t turn_unit(const RotaryGradTiling &t) {
    return sizeof(T) == 2 && t.half % 2 != 0 ? 2 : 4;
}

/* Whether partners are brought together by shifts. */
template <typename T, int KIND>
constexpr bool SHIFTED = sizeof(T) == 2 && (KIND == ROTARY_ODD_PAIRS || KIND == ROTARY_ODD_PLANES);

/* Partners in each other's place; `count` elements, whole rows that follow each other. spare holds
 * twice as many. */
template <typename T, int KIND, typename K>
ODD_INLINE void swap_row(K &k, const LocalTensor<T> &to, const LocalTensor<T> &from,
                         uint32_t count) {
    if constexpr (SHIFTED<T, KIND>) {
        LocalTensor<uint32_t> left = to.template ReinterpretCast<uint32_t>(),
                              right = to[up(count, 16)].template ReinterpretCast<uint32_t>(),
                              words = from.template ReinterpretCast<uint32_t>();
        ShiftLeft(left, words, (uint32_t)16, (int32_t)(count / 2));
        ShiftRight(right, words, (uint32_t)16, (int32_t)(count / 2));
        vector_done();
        Or(left.template ReinterpretCast<uint16_t>(), left.template ReinterpretCast<uint16_t>(),
           right.template ReinterpretCast<uint16_t>(), (int32_t)count);
    } else {
        gather_rows(to, from, k.turn, k.t->turn, count, turn_unit<T, KIND>(*k.t));
    }
}

/* Everything in its place, in units of `unit` bytes, for `rows` rows of `row` units. */
__aicore__ inline void make_places(const LocalTensor<int32_t> &table, uint32_t entries,
                                   uint32_t unit) {
    make_table(table, entries, 0, (int32_t)unit, (int32_t)unit);
}

/* Groups of `group` units whose second half and first half change places. */
__aicore__ inline void make_turn(const LocalTensor<int32_t> &table, uint32_t entries, uint32_t half,
                                 uint32_t unit) {
    uint32_t all = 2 * half;
    while (all % BLOCK != 0) {
        all *= 2;
    }
    make_places(table, all, unit);
    for (uint32_t at = 0; at < all; at += 2 * half) {
        add_to_range(table, at, at + half, (int32_t)(unit * half));
        add_to_range(table, at + half, at + 2 * half, -(int32_t)(unit * half));
    }
    repeat_table(table, all, entries, (int32_t)(unit * all));
}

/* [rows][row] -> [rows][group][row], in words. */
__aicore__ inline void make_spread(const LocalTensor<int32_t> &table, uint32_t rows, uint32_t group,
                                   uint32_t row) {
    uint32_t all = group * row, fill = 1;
    while (fill * all % BLOCK != 0) {
        fill *= 2;
    }
    make_places(table, fill * all, 4);
    for (uint32_t i = 1; i < fill * group; i++) {
        add_to_range(table, i * row, (i + 1) * row, -(int32_t)(4 * row * (i - i / group)));
    }
    repeat_table(table, fill * all, rows * all, (int32_t)(4 * row * fill));
}

/* [rows][group][row] -> [rows][row], the first of each group, in floats. */
__aicore__ inline void make_pack(const LocalTensor<int32_t> &table, uint32_t rows, uint32_t group,
                                 uint32_t row) {
    uint32_t fill = 1;
    while (fill * row % BLOCK != 0) {
        fill *= 2;
    }
    make_places(table, fill * row, 4);
    for (uint32_t i = 1; i < fill; i++) {
        add_to_range(table, i * row, (i + 1) * row, (int32_t)(4 * row * i * (group - 1)));
    }
    repeat_table(table, fill * row, rows * row, (int32_t)(4 * row * group * fill));
}

/* Halves to pairs, and pairs to halves; unit: bytes of an element. */
__aicore__ inline void make_pair(const LocalTensor<int32_t> &table, uint32_t entries, uint32_t row,
                                 uint32_t unit) {
    uint32_t fill = 1;
    while (fill * row % BLOCK != 0) {
        fill *= 2;
    }
    make_table(table, fill * row, 0, (int32_t)(unit * row / 2), (int32_t)(unit / 2));
    for (uint32_t i = 1; i < fill; i++) {
        add_to_range(table, i * row, (i + 1) * row, (int32_t)(unit * i * row / 2));
    }
    repeat_table(table, fill * row, entries, (int32_t)(unit * fill * row));
}

__aicore__ inline void make_halve(const LocalTensor<int32_t> &table, uint32_t entries, uint32_t row,
                                  uint32_t unit) {
    uint32_t fill = 1, half = row / 2;
    while (fill * row % BLOCK != 0) {
        fill *= 2;
    }
    make_table(table, fill * row, 0, (int32_t)(2 * unit), (int32_t)(2 * unit));
    for (uint32_t i = 0; i < fill; i++) {
        int32_t back = (int32_t)(unit * i * row);
        if (i > 0) {
            add_to_range(table, i * row, i * row + half, -back);
        }
        add_to_range(table, i * row + half, (i + 1) * row, -back - (int32_t)(unit * (row - 1)));
    }
    repeat_table(table, fill * row, entries, (int32_t)(unit * fill * row));
}

/* `plus` for first partners and -`plus` for second ones. */
template <int KIND>
__aicore__ inline void make_odd_signs(const LocalTensor<float> &signs, uint32_t entries,
                                      uint32_t half, float plus) {
    if constexpr (KIND == ROTARY_ODD_PAIRS || KIND == ROTARY_ODD_PLANES) {
        uint64_t mask[2] = {ODD, 0};
        UnaryRepeatParams steps(1, 1, 8, 8);
        Duplicate(signs, plus, (int32_t)entries);
        vector_done();
        for (uint32_t at = 0; at < entries; at += REPEATS * LANES) {
            Muls(signs[at], signs[at], -1.0f, mask,
                 (uint8_t)least((entries - at + LANES - 1) / LANES, REPEATS), steps);
        }
        ResetMask();
        vector_done();
        return;
    }
    uint32_t all = 2 * half;
    while (all % BLOCK != 0) {
        all *= 2;
    }
    Duplicate(signs, plus, (int32_t)all);
    for (uint32_t at = half; at < all; at += 2 * half) {
        add_to_range(signs, at, at + half, -2.0f * plus);
    }
    for (uint32_t done = all; done < entries; done *= 2) {
        vector_done();
        Muls(signs[done], signs, 1.0f, (int32_t)least(entries - done, done));
    }
    vector_done();
}

template <typename T, int KIND, typename K> __aicore__ inline void make_tables(K &k) {
    const RotaryGradTiling &t = *k.t;
    uint32_t row = (uint32_t)t.row, half = (uint32_t)t.half;
    if constexpr (KIND == ROTARY_ODD_TURNED) {
        uint32_t unit = turn_unit<T, KIND>(t);
        make_turn(k.turn, t.turn, (uint32_t)(half * sizeof(T) / unit), unit);
    } else if constexpr (sizeof(T) == 4 && KIND != ROTARY_ODD_HALVES) {
        make_turn(k.turn, t.turn, 1, 4);
    }
    if constexpr (KIND == ROTARY_ODD_PLANES) {
        make_pair(k.pair, t.pair, row, sizeof(T));
        make_halve(k.halve, t.sums, row, sizeof(T));
    }
    if (t.group > 1) {
        make_spread(k.spread, t.tile_cos, t.group, (uint32_t)(row * sizeof(T) / 4));
    }
    if (t.fill > 1) {
        make_pack(k.pack, t.tile_cos, t.group, row);
    }
    if (KIND != ROTARY_ODD_HALVES || t.with_x) {
        make_odd_signs<KIND>(k.signs, t.cosines, half, KIND == ROTARY_ODD_HALVES ? -1.0f : 1.0f);
    }
}

template <typename T, typename TC, int KIND>
__aicore__ inline void set_up(Kernel<T, TC> &k, const RotaryGradTiling &t, const Args &args,
                              TPipe &pipe) {
    k.t = &t;
    k.dy.SetGlobalBuffer((__gm__ T *)args.dy);
    k.x.SetGlobalBuffer((__gm__ T *)args.x);
    k.dx.SetGlobalBuffer((__gm__ T *)args.dx);
    k.cos.SetGlobalBuffer((__gm__ TC *)args.cos);
    k.sin.SetGlobalBuffer((__gm__ TC *)args.sin);
    k.sum[0].SetGlobalBuffer((__gm__ TC *)args.dcos);
    k.sum[1].SetGlobalBuffer((__gm__ TC *)args.dsin);
    if (t.stream) { /* read once, and too much to be in the L2 cache still */
        k.dy.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
        k.x.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
    }
    pipe.InitBuffer(k.work, t.work_bytes);
    pipe.InitBuffer(k.in_dy, 2, t.tile_bytes);
    pipe.InitBuffer(k.shift_x, t.shift_bytes);
    if (t.with_x) {
        pipe.InitBuffer(k.in_x, 2, t.tile_bytes);
    }
    pipe.InitBuffer(k.shift_dx, t.shift_bytes);
    pipe.InitBuffer(k.out_dx, 2, t.tile_bytes);
    pipe.InitBuffer(k.in_cos, 2, t.cos_bytes);
    if (t.with_x) {
        pipe.InitBuffer(k.out_sum, 2, t.sum_bytes);
    }
    LocalTensor<float> all = k.work.template Get<float>();
    k.w_dy = all;
    k.swapped = all[t.swap_at];
    k.w_x = all[t.x_at];
    k.spare = all[t.dx_at];
    k.cosines = all[t.cosines_at];
    k.sines = all[t.other_at];
    k.sums = all[t.sums_at];
    k.signs = all[t.signs_at];
    k.turn = all[t.table_at].template ReinterpretCast<int32_t>();
    k.spread = all[t.spread_at].template ReinterpretCast<int32_t>();
    k.pack = all[t.pack_at].template ReinterpretCast<int32_t>();
    k.pair = all[t.pair_at].template ReinterpretCast<int32_t>();
    k.halve = all[t.halve_at].template ReinterpretCast<int32_t>();
    if (t.gaps) { /* no copy fills all of a slab */
        Duplicate(k.cosines, 0.0f, (int32_t)t.cosines);
        Duplicate(k.sines, 0.0f, (int32_t)t.cosines);
        vector_done();
    }
}

} // namespace odd

#endif
