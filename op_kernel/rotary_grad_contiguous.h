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
 *     fill       rows of a group that fill blocks of floats: what is repeated by words, not blocks
 *
 * so that cos and sin of a slab serve all slabs, and sums are of whole slabs. t.turn_unit says how
 * dy is brought beside its partner, `reach` elements away: 32, 4 or 2 are the bytes that a gather
 * takes at a time; 0 shifts 32-bit words, pairs of 16-bit numbers. t.planes: dy, cos and sin are
 * made pairs, as x is, and dcos and dsin halves again.
 *
 * One kernel for all of it: what differs is a call or two in a tile, and each of several kernels
 * would cost as much to compile, and to load, as this one.
 */
#ifndef ROTARY_GRAD_CONTIGUOUS_H
#define ROTARY_GRAD_CONTIGUOUS_H

#include "grid.h"
#include "partners.h"
#include "rotary_grad.h"
#include "rotary_grad_move.h"
#include "rows.h"
#include "rotary_grad_tiling_data.h"

namespace contiguous {

using namespace AscendC;
using namespace rows;
using rotary::Args;
using rotary::copy_in;
using rotary::copy_out;
using rotary::MIXED;
using rotary::Table;

/* T is the type of dy, x and dx; Table<T>, that of cos, sin and their gradients, may be fp32 beside
 * 16 bits. */
template <typename T> struct Kernel {
    const RotaryGradTiling *t;
    /* sum: dcos, dsin */
    GlobalTensor<T> dy, x, dx;
    GlobalTensor<Table<T>> cos, sin, sum[2];
    /* [segment][dcos, dsin][line][row] */
    GlobalTensor<float> partial;
    TBuf<TPosition::VECIN> in, in_cos;
    TBuf<TPosition::VECOUT> out_dx, out_sum;
    TBuf<TPosition::VECCALC> work;
    rotary::Slots slots;
    /* Places for dy: where the vector unit has more to do than memory, it is widened while nothing
     * is fetched, one is enough, and tiles are larger. x of 16 bits has one, the first: it comes
     * last, and is widened first. */
    uint32_t places;
    TEventID x_free[2];
    LocalTensor<T> dy_in[2], x_in[2];
    LocalTensor<Table<T>> cos_in[2], sum_out[2];
    /* places for dx, and the one that is filled next */
    LocalTensor<T> dx_out[2];
    uint32_t outs, out;
    /* what is made of a tile: dx, dcos and dsin */
    bool with_dx, with_x;
    /* the tables are there */
    bool ready;
    /* tiles in fp32; swapped: dy in its partner's place */
    LocalTensor<float> w_dy, swapped, w_x, spare;
    /* a slab each */
    LocalTensor<float> cosines, sines;
    /* cos and sin with rows repeated to fill blocks, in 16 bits and in fp32; the latter may be the
     * slabs */
    LocalTensor<T> coarse[2];
    LocalTensor<float> rows[2], signs, sums;
    /* byte offsets of gathers: partners in a row, and of blocks; where coefficients come from, by
     * words and by blocks; groups to rows; halves to pairs, with partners swapped too, and back */
    LocalTensor<int32_t> turn, blocks, coef[2], spread, pack, pair, pair_sin, halve[2];
    /* turn and pair for elements of a table: others only where these are wider, or where dy has
     * tails between its rows */
    LocalTensor<int32_t> turn_sin, pair_cos;
};

/* Neighbouring numbers: whole repeats, and what is left. */
struct Run {
    uint32_t full, rest;
};

AICORE_INLINE Run run_of(uint32_t count) {
    return {count / LANES, count % LANES};
}

template <Op OP>
__aicore__ inline void apply_rest(const LocalTensor<float> &to, const LocalTensor<float> &a,
                                  const LocalTensor<float> &b, Run run) {
    uint32_t at = run.full * LANES;
    apply_repeats<OP>(to[at], a[at], b[at], run.rest, 1, BinaryRepeatParams());
    ResetMask();
}

/* Arithmetic on neighbouring floats. Here as in grid.h all lanes are on between calls. */
template <Op OP>
AICORE_INLINE void flat(const LocalTensor<float> &to, const LocalTensor<float> &a,
                        const LocalTensor<float> &b, Run run) {
    if (run.full > 0) {
        apply_whole<OP>(to, a, b, run.full, BinaryRepeatParams());
    }
    if (run.rest > 0) {
        apply_rest<OP>(to, a, b, run);
    }
}

/* n rows; steps of at most 255 blocks. */
template <Op OP>
__aicore__ inline void strided(const LocalTensor<float> &to, uint32_t to_step,
                               const LocalTensor<float> &a, uint32_t a_step,
                               const LocalTensor<float> &b, uint32_t b_step, uint32_t n,
                               uint32_t columns) {
    if (columns >= n * LANES) {
        for (uint32_t i = 0; i < n; i++) {
            flat<OP>(to[i * to_step], a[i * a_step], b[i * b_step], run_of(columns));
        }
        return;
    }
    BinaryRepeatParams steps(1, 1, 1, Narrow8(to_step / BLOCK), Narrow8(a_step / BLOCK),
                             Narrow8(b_step / BLOCK));
    uint32_t rest = columns % LANES, whole = columns - rest;
    for (uint32_t c = 0; c < whole; c += LANES) {
        apply_whole<OP>(to[c], a[c], b[c], n, steps);
    }
    if (rest > 0) {
        apply_repeats<OP>(to[whole], a[whole], b[whole], rest, n, steps);
        ResetMask();
    }
}

template <typename TO, typename FROM>
__aicore__ inline void convert_rest(const LocalTensor<TO> &to, const LocalTensor<FROM> &from,
                                    const RoundMode mode, Run run) {
    UnaryRepeatParams steps(1, 1, Narrow8(2 * sizeof(TO)), Narrow8(2 * sizeof(FROM)));
    uint32_t at = run.full * LANES;
    Cast(to[at], from[at], mode, (uint64_t)run.rest, (uint8_t)1, steps);
    ResetMask();
}

/* Between 16 bits and floats. */
template <typename TO, typename FROM>
AICORE_INLINE void convert(const LocalTensor<TO> &to, const LocalTensor<FROM> &from, Run run) {
    constexpr RoundMode mode = sizeof(TO) == 4 ? RoundMode::CAST_NONE : RoundMode::CAST_RINT;
    if (run.full > 0) {
        UnaryRepeatParams steps(1, 1, Narrow8(2 * sizeof(TO)), Narrow8(2 * sizeof(FROM)));
        Cast<TO, FROM, false>(to, from, mode, MASK_PLACEHOLDER, Narrow8(run.full), steps);
    }
    if (run.rest > 0) {
        convert_rest(to, from, mode, run);
    }
}

/* `count` elements; `unit`: bytes of what an offset stands for, 4 or the element's size. */
template <typename T>
AICORE_INLINE void gather(const LocalTensor<T> &to, const LocalTensor<T> &from,
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
    ResetMask();
}

/* The same with a table of `entries` for rows of `row` elements that begin every `pitch` elements.
 */
template <typename T>
AICORE_INLINE void gather_rows(const LocalTensor<T> &to, const LocalTensor<T> &from,
                               const LocalTensor<int32_t> &table, uint32_t entries, uint32_t count,
                               uint32_t unit, uint32_t row = 1, uint32_t pitch = 1) {
    uint32_t most = (uint32_t)(entries * unit / sizeof(T));
    if (count <= most) {
        gather(to, from, table, 0, count, unit);
        return;
    }
    uint32_t step = (uint32_t)(most / row * pitch * sizeof(T));
    for (uint32_t done = 0, base = 0; done < count; done += most, base += step) {
        gather(to[done], from, table, base, least(count - done, most), unit);
    }
}

/* Blocks of floats; `count` floats, rounded up to repeats. */
AICORE_INLINE void gather_blocks(const LocalTensor<float> &to, const LocalTensor<float> &from,
                                 const LocalTensor<int32_t> &table, uint32_t count) {
    Gatherb(to.ReinterpretCast<uint32_t>(), from.ReinterpretCast<uint32_t>(),
            table.ReinterpretCast<uint32_t>(), Narrow8((count + LANES - 1) / LANES),
            GatherRepeatParams(1, 8));
}

/* Bytes that an offset stands for, where rows of T are turned. */
template <typename T> AICORE_INLINE uint32_t row_unit(const RotaryGradTiling &t) {
    return sizeof(T) == 2 && t.reach % 2 != 0 ? 2 : 4;
}

/* Everything in its place, in units of `unit` bytes. */
__aicore__ inline void make_places(const LocalTensor<int32_t> &table, uint32_t entries,
                                   uint32_t unit) {
    make_table(table, entries, 0, (int32_t)unit, (int32_t)unit);
}

/* The least number of periods of n that is a multiple of 8. */
__aicore__ inline uint32_t in_eights(uint32_t n) {
    uint32_t all = n;
    while (all % BLOCK != 0) {
        all *= 2;
    }
    return all;
}

/* Rows for a table of partners, in units: from row to row, what is rotated of them, and half of a
 * rotation; from row to row where it is gathered from. */
struct Turn {
    uint32_t row, used, half, pitch;
};

/* The two halves of every rotation change places. */
__aicore__ inline void make_turn(const LocalTensor<int32_t> &table, uint32_t entries, uint32_t unit,
                                 const Turn &turn) {
    uint32_t half = turn.half, all = in_eights(turn.row);
    int32_t far = (int32_t)(unit * half), gap = (int32_t)(unit * (turn.pitch - turn.row));
    if (half == 1) {
        make_table(table, gap == 0 ? entries : all, (int32_t)unit, -(int32_t)unit, (int32_t)unit);
        if (gap == 0) return;
    } else {
        make_places(table, all, unit);
    }
    for (uint32_t row = 0; row * turn.row < all; row++) {
        uint32_t first = row * turn.row;
        if (row > 0 && gap != 0) {
            add_to_range(table, first, first + turn.row, (int32_t)row * gap);
        }
        for (uint32_t at = first; half > 1 && at < first + turn.used; at += 2 * half) {
            add_to_range(table, at, at + half, far);
            add_to_range(table, at + half, at + 2 * half, -far);
        }
    }
    repeat_table(table, all, entries, (int32_t)(unit * (all / turn.row * turn.pitch)));
}

/* Rows of elements of T, `pitch` elements apart, in units. */
template <typename T>
__aicore__ inline Turn turn_of(const RotaryGradTiling &t, uint32_t pitch, uint32_t unit) {
    constexpr uint32_t size = sizeof(T);
    uint32_t half = t.reach * size / unit;
    if (!t.with_tails) { /* rows are rotations, one after the other */
        return {2 * half, 2 * half, half, 2 * half};
    }
    return {t.pitch * size / unit, (uint32_t)t.row * size / unit, half, pitch * size / unit};
}

/* [rows][row] -> [rows][group][row], in units. */
__aicore__ inline void make_spread(const LocalTensor<int32_t> &table, uint32_t entries,
                                   uint32_t group, uint32_t row, uint32_t unit) {
    uint32_t all = group * row, some = in_eights(all);
    make_places(table, some, unit);
    for (uint32_t i = 1; i < some / row; i++) {
        add_to_range(table, i * row, (i + 1) * row, -(int32_t)(unit * row * (i - i / group)));
    }
    repeat_table(table, some, entries, (int32_t)(unit * row * (some / all)));
}

/* [rows][group][row] -> [rows][row], the first of each group, in floats. */
__aicore__ inline void make_pack(const LocalTensor<int32_t> &table, uint32_t entries,
                                 uint32_t group, uint32_t row) {
    uint32_t all = in_eights(row), fill = all / row;
    make_places(table, all, 4);
    for (uint32_t i = 1; i < fill; i++) {
        add_to_range(table, i * row, (i + 1) * row, (int32_t)(4 * row * i * (group - 1)));
    }
    repeat_table(table, all, entries, (int32_t)(4 * row * group * fill));
}

/* Halves to pairs; `other`: with partners swapped. unit: bytes of an element. */
__aicore__ inline void make_pair(const LocalTensor<int32_t> &table, uint32_t entries, uint32_t row,
                                 uint32_t unit, bool other) {
    uint32_t all = in_eights(row);
    int32_t half = (int32_t)(unit * row / 2);
    make_table(table, all, other ? half : 0, other ? -half : half, (int32_t)(unit / 2));
    for (uint32_t at = row; at < all; at += row) {
        add_to_range(table, at, at + row, (int32_t)(unit * at / 2));
    }
    repeat_table(table, all, entries, (int32_t)(unit * all));
}

/* And back. */
__aicore__ inline void make_halve(const LocalTensor<int32_t> &table, uint32_t entries, uint32_t row,
                                  uint32_t unit, bool other) {
    uint32_t all = in_eights(row), half = row / 2;
    make_table(table, all, other ? (int32_t)unit : 0, (int32_t)(2 * unit), (int32_t)(2 * unit));
    for (uint32_t at = 0; at < all; at += row) {
        int32_t back = (int32_t)(unit * at);
        if (at > 0) {
            add_to_range(table, at, at + half, -back);
        }
        add_to_range(table, at + half, at + row,
                     -back - (int32_t)(unit * (other ? row + 1 : row - 1)));
    }
    repeat_table(table, all, entries, (int32_t)(unit * all));
}

/* 1 for first partners and -1 for second ones. */
__aicore__ inline void make_signs(const LocalTensor<float> &signs, uint32_t entries,
                                  const Turn &turn) {
    uint32_t half = turn.half, all = in_eights(turn.row);
    if (half == 1) {
        Duplicate(signs, 1.0f, (int32_t)entries);
        vector_done();
        negate_odd(signs, up(entries, BLOCK));
        vector_done();
        return;
    }
    Duplicate(signs, 1.0f, (int32_t)all);
    for (uint32_t row = 0; row < all; row += turn.row) {
        for (uint32_t at = row + half; at < row + turn.used; at += 2 * half) {
            add_to_range(signs, at, at + half, -2.0f);
        }
    }
    for (uint32_t done = all; done < entries; done *= 2) {
        vector_done();
        Muls(signs[done], signs, 1.0f, (int32_t)least(entries - done, done));
    }
    vector_done();
}

/* Where coefficients come from whose rows are repeated: first the rows, then what is done to each.
 */
template <typename T> __aicore__ inline void make_coefficients(Kernel<T> &k) {
    const RotaryGradTiling &t = *k.t;
    uint32_t unit = row_unit<Table<T>>(t), items = (uint32_t)(t.pitch * sizeof(Table<T>) / unit),
             count = t.tile_cos * t.fill * items;
    LocalTensor<int32_t> places = k.swapped.template ReinterpretCast<int32_t>();
    make_spread(places, count, t.fill, items, 4); /* offsets in tables */
    LocalTensor<uint32_t> offsets = places.template ReinterpretCast<uint32_t>();
    if (t.planes) {
        Gather(k.coef[0], k.pair_cos, offsets, 0, count);
    } else {
        make_spread(k.coef[0], count, t.fill, items, unit);
    }
    Gather(k.coef[1], t.planes ? k.pair_sin : k.turn_sin, offsets, 0, count);
    ResetMask();
    vector_done();
}

template <typename T> __aicore__ inline void make_tables(Kernel<T> &k) {
    const RotaryGradTiling &t = *k.t;
    if (k.ready) {
        return;
    }
    k.ready = true;
    constexpr uint32_t size = sizeof(T), table = sizeof(Table<T>);
    uint32_t row = t.pitch, unit = row_unit<T>(t),
             each = t.tile_cos * t.fill * row; /* of cos, with rows repeated */
    uint32_t dy_row = t.wide > 0 && t.turn_unit < 32 ? (uint32_t)t.dy_row : row;
    make_turn(k.turn, t.turn, unit, turn_of<T>(t, dy_row, unit));
    if (t.turn_unit == 32) {
        make_turn(k.blocks, t.tile / BLOCK, 32, turn_of<float>(t, row, 32));
        /* gathers read up to a repeat too much, but not beyond the tile */
        Mins(k.blocks, k.blocks, (int32_t)(4 * t.tile - 32), (int32_t)(t.tile / BLOCK));
        Duplicate(k.w_dy, 0.0f, (int32_t)t.tile);
    }
    if (t.wide > 0) {
        uint32_t sin_unit = row_unit<Table<T>>(t);
        make_turn(k.turn_sin, t.sums, sin_unit, turn_of<Table<T>>(t, row, sin_unit));
    }
    if (t.planes) {
        make_pair(k.pair, t.pair, row, size, false);
        if constexpr (MIXED<T>) {
            make_pair(k.pair_cos, t.sums, row, table, false);
        }
        make_pair(k.pair_sin, t.sums, row, table, true);
        make_halve(k.halve[0], t.sums, row, table, false);
        make_halve(k.halve[1], t.sums, row, table, true);
    }
    if (t.fill > 1) {
        make_coefficients(k);
        make_pack(k.pack, t.sums, t.group, row);
        /* what pads a slab of sums comes from where something is */
        Mins(k.pack, k.pack, (int32_t)(4 * (t.tile_cos * t.group * row - 1)), (int32_t)t.sums);
        vector_done();
        Adds(k.pack[t.sums], k.pack, (int32_t)(4 * t.tile_cos * t.group * row), (int32_t)t.sums);
    }
    if (t.group > t.fill) {
        make_spread(k.spread, up(t.cosines / BLOCK, BLOCK), t.group / t.fill, t.fill * row / BLOCK,
                    32);
        Duplicate(k.rows[0], 0.0f, (int32_t)(2 * t.rows_floats));
    }
    make_signs(k.signs, up(each, LANES), turn_of<float>(t, row, 4));
    /* what is rounded up to repeats */
    Duplicate(k.spare, 0.0f, (int32_t)(2 * t.fill * t.sums));
    Duplicate(k.swapped, 0.0f, (int32_t)(2 * t.fill * t.sums));
    if constexpr (sizeof(Table<T>) == 2) {
        Duplicate(k.coarse[0].template ReinterpretCast<int32_t>(), (int32_t)0,
                  (int32_t)up(each, LANES));
    }
    if (t.gaps) { /* no copy fills all of a slab */
        Duplicate(k.cosines, 0.0f, (int32_t)t.cosines);
        Duplicate(k.sines, 0.0f, (int32_t)t.cosines);
    }
    vector_done();
}

template <typename T> __aicore__ inline void open_slots(Kernel<T> &k, TPipe &pipe) {
    for (uint32_t i = 0; i < 2; i++) {
        k.slots.in_full[i] = pipe.AllocEventID<HardEvent::MTE2_V>();
        k.slots.in_free[i] = pipe.AllocEventID<HardEvent::V_MTE2>();
        k.slots.cos_full[i] = pipe.AllocEventID<HardEvent::MTE2_V>();
        k.slots.cos_free[i] = pipe.AllocEventID<HardEvent::V_MTE2>();
        k.x_free[i] = pipe.AllocEventID<HardEvent::V_MTE2>();
        SetFlag<HardEvent::V_MTE2>(k.slots.in_free[i]);
        SetFlag<HardEvent::V_MTE2>(k.slots.cos_free[i]);
        SetFlag<HardEvent::V_MTE2>(k.x_free[i]);
        k.slots.out_full[i] = pipe.AllocEventID<HardEvent::V_MTE3>();
        k.slots.out_free[i] = pipe.AllocEventID<HardEvent::MTE3_V>();
        SetFlag<HardEvent::MTE3_V>(k.slots.out_free[i]);
    }
    k.slots.sum_full = pipe.AllocEventID<HardEvent::V_MTE3>();
    k.slots.sum_free = pipe.AllocEventID<HardEvent::MTE3_V>();
    SetFlag<HardEvent::MTE3_V>(k.slots.sum_free);
}

/* No flag stays set behind the kernel. */
template <typename T> __aicore__ inline void close_slots(Kernel<T> &k, TPipe &pipe) {
    for (uint32_t i = 0; i < 2; i++) {
        WaitFlag<HardEvent::V_MTE2>(k.slots.in_free[i]);
        WaitFlag<HardEvent::V_MTE2>(k.slots.cos_free[i]);
        WaitFlag<HardEvent::V_MTE2>(k.x_free[i]);
        pipe.ReleaseEventID<HardEvent::V_MTE2>(k.x_free[i]);
        pipe.ReleaseEventID<HardEvent::MTE2_V>(k.slots.in_full[i]);
        pipe.ReleaseEventID<HardEvent::V_MTE2>(k.slots.in_free[i]);
        pipe.ReleaseEventID<HardEvent::MTE2_V>(k.slots.cos_full[i]);
        pipe.ReleaseEventID<HardEvent::V_MTE2>(k.slots.cos_free[i]);
        WaitFlag<HardEvent::MTE3_V>(k.slots.out_free[i]);
        pipe.ReleaseEventID<HardEvent::V_MTE3>(k.slots.out_full[i]);
        pipe.ReleaseEventID<HardEvent::MTE3_V>(k.slots.out_free[i]);
    }
    WaitFlag<HardEvent::MTE3_V>(k.slots.sum_free);
    pipe.ReleaseEventID<HardEvent::V_MTE3>(k.slots.sum_full);
    pipe.ReleaseEventID<HardEvent::MTE3_V>(k.slots.sum_free);
}

/* Where copies come and go. */
template <typename T> __aicore__ inline void place_slots(Kernel<T> &k) {
    const RotaryGradTiling &t = *k.t;
    constexpr uint32_t size = sizeof(T);
    uint32_t tile = t.tile_bytes / size, shift = t.shift_bytes / size, places = k.places;
    k.dy_in[0] = k.in.template Get<T>();
    k.dy_in[1] = k.dy_in[0][(places - 1) * tile];
    if (t.with_x) {
        k.x_in[0] = k.dy_in[0][places * tile + shift];
        k.x_in[1] = k.x_in[0][(size / 2 - 1) * (t.x_bytes / size)];
        k.sum_out[0] = k.out_sum.template Get<Table<T>>();
        k.sum_out[1] = k.sum_out[0][t.sum_bytes / sizeof(Table<T>)];
    }
    k.dx_out[0] = k.out_dx.template Get<T>()[shift];
    k.dx_out[1] = k.dx_out[0][(k.outs - 1) * tile];
    k.cos_in[0] = k.in_cos.template Get<Table<T>>();
    k.cos_in[1] = k.cos_in[0][t.cos_bytes / sizeof(Table<T>)];
}

/* Places to work in, as tiling has laid them out. */
template <typename T> __aicore__ inline void place_work(Kernel<T> &k) {
    const RotaryGradTiling &t = *k.t;
    LocalTensor<float> all = k.work.template Get<float>();
    LocalTensor<int32_t> tables = all.template ReinterpretCast<int32_t>();
    k.w_dy = all;
    k.swapped = all[t.swap_at];
    k.w_x = all[t.x_at];
    k.spare = all[t.dx_at];
    k.cosines = all[t.cosines_at];
    k.sines = all[t.other_at];
    k.rows[0] = t.group > t.fill ? all[t.rows_at] : k.cosines;
    k.rows[1] = t.group > t.fill ? k.rows[0][t.rows_floats] : k.sines;
    if constexpr (sizeof(Table<T>) == 2) {
        k.coarse[0] = all[t.coarse_at].template ReinterpretCast<T>();
        k.coarse[1] = k.coarse[0][up(t.tile_cos * t.fill * t.pitch, LANES)];
    }
    k.sums = all[t.sums_at];
    k.signs = all[t.signs_at];
    k.turn = tables[t.table_at];
    k.blocks = tables[t.blocks_at];
    k.coef[0] = tables[t.coef_at];
    k.coef[1] = k.coef[0][t.coefs];
    k.spread = tables[t.spread_at];
    k.pack = tables[t.pack_at];
    k.pair = tables[t.pair_at];
    k.pair_sin = k.pair[t.pair];
    k.turn_sin = t.wide > 0 ? tables[t.wide_at] : k.turn;
    k.pair_cos = MIXED<T> ? k.turn_sin[t.wide] : k.pair;
    k.halve[0] = tables[t.halve_at];
    k.halve[1] = k.halve[0][t.halves];
}

template <typename T>
__aicore__ inline void set_up(Kernel<T> &k, const RotaryGradTiling &t, const Args &args,
                              TPipe &pipe) {
    k.t = &t;
    k.places = ROTARY_PLACES(t.fill, sizeof(T));
    k.outs = ROTARY_PLACES_OUT(t.with_x, k.places);
    k.out = 0;
    k.with_dx = true;
    k.with_x = t.with_x;
    k.ready = false;
    k.dy.SetGlobalBuffer((__gm__ T *)args.dy);
    k.x.SetGlobalBuffer((__gm__ T *)args.x);
    k.dx.SetGlobalBuffer((__gm__ T *)args.dx);
    k.cos.SetGlobalBuffer((__gm__ Table<T> *)args.cos);
    k.sin.SetGlobalBuffer((__gm__ Table<T> *)args.sin);
    k.sum[0].SetGlobalBuffer((__gm__ Table<T> *)args.dcos);
    k.sum[1].SetGlobalBuffer((__gm__ Table<T> *)args.dsin);
    if (t.stream) { /* read once, and too much to be in the L2 cache still */
        k.dy.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
        k.x.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
    }
    pipe.InitBuffer(k.work, t.work_bytes);
    /* shift_bytes put x and dx in other banks than dy and work */
    uint32_t x = t.with_x * (uint32_t)(sizeof(T) / 2) * t.x_bytes;
    pipe.InitBuffer(k.in, k.places * t.tile_bytes + x + t.shift_bytes);
    pipe.InitBuffer(k.out_dx, k.outs * t.tile_bytes + t.shift_bytes);
    pipe.InitBuffer(k.in_cos, 2 * t.cos_bytes);
    if (t.with_x) {
        pipe.InitBuffer(k.out_sum, 2 * t.sum_bytes);
    }
    ResetMask();
    open_slots(k, pipe);
    place_slots(k);
    place_work(k);
}

} // namespace contiguous

#endif
