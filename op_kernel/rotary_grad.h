/* SPDX-License-Identifier: Apache-2.0
 *
 * The body of RotaryMulGrad (half mode) and RotaryPositionEmbeddingGrad. With A and B the two
 * partners of a rotation,
 *
 *     dxA = cosA * dyA + sinB * dyB      dcosA = sum dyA * xA      dsinA = -sum dyA * xB
 *     dxB = cosB * dyB - sinA * dyA      dcosB = sum dyB * xB      dsinB =  sum dyB * xA
 *
 * MODE, see rotary_grad_tiling_data.h:
 * ROTARY_HALVES (half, quarter): A and B are the halves of a rotation, in all tensors. Addresses
 * find the partner. ROTARY_PAIRS (interleave): A and B are neighbours, in all tensors. A copy of dy
 * with neighbours swapped finds the partner. ROTARY_PLANES (interleave-half): halves in dy, cos,
 * sin, dcos, dsin; neighbours in x and dx. x is dealt into two planes on its way in, dx is made in
 * two planes and interleaved on its way out.
 *
 * 16-bit types are widened to fp32 first and rounded once at the end. cos, sin, dcos and dsin may
 * be fp32 beside 16-bit dy and x: ROTARY_TABLE is their type. rotary_grad_tiling_data.h says how
 * rows are cut into chunks, tiles and segments.
 */
#ifndef ROTARY_GRAD_H
#define ROTARY_GRAD_H

#include "grid.h"
#include "partners.h"
#include "rotary_grad_move.h"
#include "rotary_grad_tiling_data.h"
#include "rows.h"

namespace rotary {

using namespace AscendC;
using namespace rows;

struct Args { /* GM_ADDR is a macro with a star: one name each */
    GM_ADDR dy;
    GM_ADDR cos;
    GM_ADDR sin;
    GM_ADDR x;
    GM_ADDR dx;
    GM_ADDR dcos;
    GM_ADDR dsin;
    GM_ADDR workspace;
};

/* The type of cos, sin, dcos and dsin, and whether it is wider than that of the rest. */
template <typename T> struct TableOf { using type = ROTARY_TABLE; };
template <typename T> using Table = typename TableOf<T>::type;
template <typename T> constexpr bool MIXED = sizeof(Table<T>) > sizeof(T);

/* Two buffers each way, in turn. The flags of queues, without their bookkeeping: a tile has time
 * for about a thousand scalar instructions, and a queue would take a third of them. */
struct Slots {
    TEventID in_full[2], in_free[2], cos_full[2], cos_free[2], out_full[2], out_free[2];
    /* of dcos and dsin there is one buffer each */
    TEventID sum_full, sum_free;
    /* of a slot on the way out through which tails go */
    TEventID tail_free, tail_full;
};

template <typename T> struct Kernel {
    const RotaryGradTiling *t;
    /* the pieces of work of this core */
    int64_t item, end;
    /* sum: dcos, dsin */
    GlobalTensor<T> dy, x, dx;
    GlobalTensor<Table<T>> cos, sin, sum[2];
    /* [segment][dcos, dsin][line][row] */
    GlobalTensor<float> partial;
    TBuf<TPosition::VECIN> in, in_cos;
    TBuf<TPosition::VECOUT> out_dx, out_sum;
    TBuf<TPosition::VECCALC> work;
    /* rows are whole blocks in memory, and follow each other in the UB as there */
    bool whole;
    Slots slots;
    LocalTensor<T> dy_in[2], x_in[2], dx_out[2];
    LocalTensor<Table<T>> cos_in[2], sum_out[2];
    /* the slot that is filled next on the way out */
    uint32_t out;
    /* tiles in fp32: dy, x, dy with partners swapped */
    LocalTensor<float> w_dy, w_x, w_swap;
    /* cos * dy, which becomes dx, and sin * dy */
    LocalTensor<float> w_dx, w_other;
    /* dy of a slot, the same swapped, and dx of a slot in fp32, from the first rotated column on */
    LocalTensor<float> turned_dy[2], turned_swap, turned_dx[2];
    /* both of them at once: what is summed to dcos and dsin */
    LocalTensor<float> terms;
    LocalTensor<float> cosines, sums;
    LocalTensor<int32_t> table;
};

/* The rows of cos at hand: `count` of them from cos_row of the slab on, or one strip of one. */
struct Band {
    int64_t line, slab, cos_row;
    /* the chunks that are summed, which are this segment */
    int64_t segment, first_chunk, end_chunk;
    uint32_t count;
    /* where cos and sin have been fetched to */
    uint32_t slot;
    /* rows of cos of its first tile, and of the others */
    uint32_t head, tile;
    Strip strip;
    /* ROTARY_PAIRS: sin with partners swapped, too, and with the sign it has in dx */
    LocalTensor<float> cos, sin;
};

template <typename T> __aicore__ inline void set_arguments(Kernel<T> &k, const Args &args) {
    k.dy.SetGlobalBuffer((__gm__ T *)args.dy);
    k.cos.SetGlobalBuffer((__gm__ Table<T> *)args.cos);
    k.sin.SetGlobalBuffer((__gm__ Table<T> *)args.sin);
    k.x.SetGlobalBuffer((__gm__ T *)args.x);
    k.dx.SetGlobalBuffer((__gm__ T *)args.dx);
    k.sum[0].SetGlobalBuffer((__gm__ Table<T> *)args.dcos);
    k.sum[1].SetGlobalBuffer((__gm__ Table<T> *)args.dsin);
}

/* What MTE2 and V, V and MTE3 tell each other about a slot. */
template <typename T> AICORE_INLINE void take_in(Kernel<T> &k, uint32_t slot) {
    WaitFlag<HardEvent::V_MTE2>(k.slots.in_free[slot]);
}

template <typename T> AICORE_INLINE void send_in(Kernel<T> &k, uint32_t slot) {
    SetFlag<HardEvent::MTE2_V>(k.slots.in_full[slot]);
}

template <typename T> AICORE_INLINE void wait_in(Kernel<T> &k, uint32_t slot) {
    WaitFlag<HardEvent::MTE2_V>(k.slots.in_full[slot]);
}

template <typename T> AICORE_INLINE void free_in(Kernel<T> &k, uint32_t slot) {
    SetFlag<HardEvent::V_MTE2>(k.slots.in_free[slot]);
}

/* Returns the slot. */
template <typename T> AICORE_INLINE uint32_t take_out(Kernel<T> &k) {
    uint32_t slot = k.out;
    k.out ^= 1;
    WaitFlag<HardEvent::MTE3_V>(k.slots.out_free[slot]);
    return slot;
}

template <typename T> AICORE_INLINE void send_out(Kernel<T> &k, uint32_t slot) {
    SetFlag<HardEvent::V_MTE3>(k.slots.out_full[slot]);
    WaitFlag<HardEvent::V_MTE3>(k.slots.out_full[slot]);
}

template <typename T> AICORE_INLINE void free_out(Kernel<T> &k, uint32_t slot) {
    SetFlag<HardEvent::MTE3_V>(k.slots.out_free[slot]);
}

template <typename T> __aicore__ inline void open_in(Kernel<T> &k, TPipe &pipe) {
    const RotaryGradTiling &t = *k.t;
    constexpr uint32_t size = sizeof(T);
    k.dy_in[0] = k.in.template Get<T>();
    k.dy_in[1] = k.dy_in[0][t.tile];
    if (t.with_x) {
        k.x_in[0] = k.dy_in[1][t.tile + t.shift_bytes / size];
        k.x_in[1] = k.x_in[0][t.tile];
    }
    if (t.lines > 0) {
        k.cos_in[0] = k.in_cos.template Get<Table<T>>();
        k.cos_in[1] = k.cos_in[0][t.cos_bytes / sizeof(Table<T>)];
    }
    for (uint32_t i = 0; i < 2; i++) {
        k.slots.in_full[i] = pipe.AllocEventID<HardEvent::MTE2_V>();
        k.slots.in_free[i] = pipe.AllocEventID<HardEvent::V_MTE2>();
        k.slots.cos_full[i] = pipe.AllocEventID<HardEvent::MTE2_V>();
        k.slots.cos_free[i] = pipe.AllocEventID<HardEvent::V_MTE2>();
        free_in(k, i);
        SetFlag<HardEvent::V_MTE2>(k.slots.cos_free[i]);
    }
}

template <typename T> __aicore__ inline void open_out(Kernel<T> &k, TPipe &pipe) {
    const RotaryGradTiling &t = *k.t;
    constexpr uint32_t size = sizeof(T);
    k.dx_out[0] = k.out_dx.template Get<T>()[t.shift_bytes / size];
    k.dx_out[1] = k.dx_out[0][t.tile];
    if (t.with_x) {
        k.sum_out[0] = k.out_sum.template Get<Table<T>>();
        k.sum_out[1] = k.sum_out[0][t.sum_bytes / sizeof(Table<T>)];
    }
    k.out = 0;
    if (t.dy_row > t.row) {
        k.slots.tail_free = pipe.AllocEventID<HardEvent::V_MTE2>();
        k.slots.tail_full = pipe.AllocEventID<HardEvent::MTE2_MTE3>();
    }
    k.slots.sum_full = pipe.AllocEventID<HardEvent::V_MTE3>();
    k.slots.sum_free = pipe.AllocEventID<HardEvent::MTE3_V>();
    SetFlag<HardEvent::MTE3_V>(k.slots.sum_free);
    for (uint32_t i = 0; i < 2; i++) {
        k.slots.out_full[i] = pipe.AllocEventID<HardEvent::V_MTE3>();
        k.slots.out_free[i] = pipe.AllocEventID<HardEvent::MTE3_V>();
        free_out(k, i);
    }
}

/* No flag stays set behind the kernel. */
template <typename T> __aicore__ inline void close_slots(Kernel<T> &k, TPipe &pipe) {
    if (k.t->dy_row > k.t->row) {
        pipe.ReleaseEventID<HardEvent::V_MTE2>(k.slots.tail_free);
        pipe.ReleaseEventID<HardEvent::MTE2_MTE3>(k.slots.tail_full);
    }
    WaitFlag<HardEvent::MTE3_V>(k.slots.sum_free);
    pipe.ReleaseEventID<HardEvent::V_MTE3>(k.slots.sum_full);
    pipe.ReleaseEventID<HardEvent::MTE3_V>(k.slots.sum_free);
    for (uint32_t i = 0; i < 2; i++) {
        take_in(k, i);
        take_out(k);
        WaitFlag<HardEvent::V_MTE2>(k.slots.cos_free[i]);
        pipe.ReleaseEventID<HardEvent::MTE2_V>(k.slots.cos_full[i]);
        pipe.ReleaseEventID<HardEvent::V_MTE2>(k.slots.cos_free[i]);
        pipe.ReleaseEventID<HardEvent::MTE2_V>(k.slots.in_full[i]);
        pipe.ReleaseEventID<HardEvent::V_MTE2>(k.slots.in_free[i]);
        pipe.ReleaseEventID<HardEvent::V_MTE3>(k.slots.out_full[i]);
        pipe.ReleaseEventID<HardEvent::MTE3_V>(k.slots.out_free[i]);
    }
}

/* Buffers as tiling has laid them out. */
template <typename T>
__aicore__ inline void set_up(Kernel<T> &k, const RotaryGradTiling &t, const Args &args,
                              TPipe &pipe) {
    set_arguments(k, args);
    if (t.stream) { /* read once, and too much to be in the L2 cache still */
        k.dy.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
        k.x.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
    }
    k.t = &t;
    k.whole = t.flat && t.row * sizeof(T) % 32 == 0;
    pipe.InitBuffer(k.work, t.work_bytes);
    /* shift_bytes put x and dx in other banks than dy and work */
    pipe.InitBuffer(k.in, (t.with_x ? 4 : 2) * t.tile_bytes + t.shift_bytes);
    if (t.lines > 0) {
        pipe.InitBuffer(k.in_cos, 2 * t.cos_bytes);
    }
    pipe.InitBuffer(k.out_dx, 2 * t.tile_bytes + t.shift_bytes);
    if (t.with_x) {
        pipe.InitBuffer(k.out_sum, 2 * t.sum_bytes);
    }
    ResetMask();
    open_in(k, pipe);
}

/* What the first transfers need not wait for: the way out, places to work in, and the tables of
 * gathers. */
template <typename T, int MODE> __aicore__ inline void set_up_work(Kernel<T> &k, TPipe &pipe) {
    const RotaryGradTiling &t = *k.t;
    open_out(k, pipe);
    LocalTensor<float> all = k.work.template Get<float>();
    k.w_dy = all;
    k.w_swap = all[t.swap_at];
    k.w_x = all[t.x_at];
    k.w_dx = all[t.dx_at];
    k.w_other = all[t.other_at];
    k.terms = k.w_dx;
    k.cosines = all[t.cosines_at];
    k.sums = all[t.sums_at];
    k.table = all[t.table_at].template ReinterpretCast<int32_t>();
    uint32_t first = t.with_tails ? (uint32_t)t.slice : 0;
    for (uint32_t i = 0; i < 2; i++) {
        if constexpr (sizeof(T) == 4) {
            k.turned_dy[i] = k.dy_in[i][first];
            k.turned_dx[i] = k.dx_out[i][first];
        } else {
            k.turned_dy[i] = k.w_dy[first];
            k.turned_dx[i] = k.w_dx[first];
        }
    }
    k.turned_swap = k.w_swap[first];
    if constexpr (sizeof(Table<T>) == 4 && MODE == ROTARY_PAIRS) {
        make_swap_table(k.table, t.table);
    } else if constexpr (sizeof(T) == 4 && MODE == ROTARY_PLANES) {
        make_interleave_table(k.table, t.table, t.tile / 2);
    }
}

/* sin as ROTARY_PAIRS wants it: sinB for A, -sinA for B. */
template <typename T>
AICORE_INLINE void swap_sines(Kernel<T> &k, const LocalTensor<float> &to,
                              const LocalTensor<Table<T>> &in, uint32_t count) {
    if constexpr (sizeof(Table<T>) == 4) {
        gather_all(to, in, count, k.table, k.t->table, 4);
    } else {
        LocalTensor<T> swapped = k.w_dx.template ReinterpretCast<T>();
        swap_words(swapped, in, k.w_other.template ReinterpretCast<T>(), count);
        vector_done();
        cast_run(to, swapped, RoundMode::CAST_NONE, count);
    }
    vector_done();
    negate_odd(to, count);
}

/* Rows of a 16-bit type are padded to 16 elements. A transfer of fp32 fills up blocks of 8: where
 * that leaves a block of pad, in n rows or halves of them, it is set to 0. */
template <bool PAIRS>
__aicore__ inline void clear_wide_pad(const LocalTensor<float> &tables, uint32_t n, const Strip &s,
                                      uint32_t rotations) {
    uint32_t filled = up(PAIRS ? 2 * s.width : s.width, BLOCK), pitch = PAIRS ? s.row : s.pitch;
    if (filled < pitch) {
        uint64_t mask[2] = {0xff, 0};
        uint32_t parts = PAIRS ? n : 2 * n * rotations;
        for (uint32_t i = 0; i < parts; i += REPEATS) {
            Duplicate(tables[i * pitch + filled], 0.0f, mask, Narrow8(least(parts - i, REPEATS)), 1,
                      Narrow8(pitch / BLOCK));
        }
        ResetMask();
        vector_done();
    }
}

/* Elements from cos to sin in the UB. */
template <typename T> AICORE_INLINE uint32_t sines_at(const Band &band) {
    constexpr uint32_t block = 32 / sizeof(Table<T>);
    return (band.count * band.strip.row + block - 1) / block * block;
}

/* cos and sin of a band, on their way before the tile that comes first. */
template <typename T, int MODE> AICORE_INLINE void fetch_cosines(Kernel<T> &k, const Band &band) {
    const RotaryGradTiling &t = *k.t;
    Area area = {band.slab * t.cos_rows + band.cos_row, 1, band.count, 0};
    const LocalTensor<Table<T>> &in = k.cos_in[band.slot];
    WaitFlag<HardEvent::V_MTE2>(k.slots.cos_free[band.slot]);
    if (k.whole) {
        int64_t at = area.first * t.row;
        uint32_t count = band.count * band.strip.row;
        DataCopy(in, k.cos[at], count);
        DataCopy(in[count], k.sin[at], count);
    } else {
        move_rows<Table<T>, MODE == ROTARY_PAIRS, true>(in, k.cos, area, band.strip, t, t.row);
        move_rows<Table<T>, MODE == ROTARY_PAIRS, true>(in[sines_at<T>(band)], k.sin, area,
                                                        band.strip, t, t.row);
    }
    SetFlag<HardEvent::MTE2_V>(k.slots.cos_full[band.slot]);
}

template <typename T, int MODE> AICORE_INLINE void take_cosines(Kernel<T> &k, Band &band) {
    const RotaryGradTiling &t = *k.t;
    constexpr bool wide = sizeof(Table<T>) == 4;
    uint32_t count = band.count * band.strip.row, each = sines_at<T>(band);
    const LocalTensor<Table<T>> &in = k.cos_in[band.slot];
    WaitFlag<HardEvent::MTE2_V>(k.slots.cos_full[band.slot]);
    vector_done();
    if constexpr (MIXED<T>) {
        if (!t.flat) {
            clear_wide_pad<MODE == ROTARY_PAIRS>(in, band.count, band.strip, t.rotations);
            clear_wide_pad<MODE == ROTARY_PAIRS>(in[each], band.count, band.strip, t.rotations);
        }
    }
    if constexpr (wide) { /* stays in the slot until the band is done */
        band.cos = in;
        band.sin = in[each];
        if constexpr (MODE == ROTARY_PAIRS) {
            band.sin = k.cosines;
            swap_sines(k, band.sin, in[each], count);
        }
    } else {
        band.cos = k.cosines;
        band.sin = k.cosines[count];
        if constexpr (MODE == ROTARY_PAIRS) {
            cast_run(band.cos, in, RoundMode::CAST_NONE, count);
            swap_sines(k, band.sin, in[each], count);
        } else {
            cast_run(band.cos, in, RoundMode::CAST_NONE, 2 * count);
        }
        SetFlag<HardEvent::V_MTE2>(k.slots.cos_free[band.slot]);
    }
    vector_done();
}

template <typename T> AICORE_INLINE void free_cosines(Kernel<T> &k, Band &band) {
    if constexpr (sizeof(Table<T>) == 4) {
        SetFlag<HardEvent::V_MTE2>(k.slots.cos_free[band.slot]);
    }
}

} // namespace rotary

#endif
