/* SPDX-License-Identifier: Apache-2.0
 *
 * One tile of the contiguous path (rotary_grad_contiguous.h): into the UB, dx out of it, the terms
 * of dcos and dsin summed over the slabs.
 */
#ifndef ROTARY_GRAD_CONTIGUOUS_TILE_H
#define ROTARY_GRAD_CONTIGUOUS_TILE_H

#include "rotary_grad_contiguous_tail.h"

namespace contiguous {

/* cos, sin and dy. */
template <typename T> AICORE_INLINE void fetch(Kernel<T> &k, const Tile &tile) {
    const RotaryGradTiling &t = *k.t;
    const Shape &s = *tile.shape;
    if (tile.opens && k.with_dx) {
        const LocalTensor<Table<T>> &in = k.cos_in[tile.cos_slot];
        int64_t at = tile.line * t.row;
        WaitFlag<HardEvent::V_MTE2>(k.slots.cos_free[tile.cos_slot]);
        load_table(t, in, k.cos[at], s.cos_rows);
        load_table(t, in[t.cos_bytes / 2 / sizeof(Table<T>)], k.sin[at], s.cos_rows);
        SetFlag<HardEvent::MTE2_V>(k.slots.cos_full[tile.cos_slot]);
    }
    WaitFlag<HardEvent::V_MTE2>(k.slots.in_free[tile.slot]);
    move<T, true>(s.in, k.dy_in[tile.slot], k.dy[tile.first * t.dy_row]);
}

/* The last of what a tile needs. */
template <typename T> AICORE_INLINE void fetch_x(Kernel<T> &k, const Tile &tile) {
    const RotaryGradTiling &t = *k.t;
    if (k.with_x) {
        uint32_t slot = sizeof(T) == 4 ? tile.slot : 0;
        WaitFlag<HardEvent::V_MTE2>(k.x_free[slot]);
        if (t.with_tails) {
            fetch_columns(k, tile, k.x_in[slot]);
        } else {
            move<T, true>(tile.shape->in, k.x_in[slot], k.x[tile.first * t.dy_row]);
        }
    }
    SetFlag<HardEvent::MTE2_V>(k.slots.in_full[tile.slot]);
}

/* cos and sin of a tile on their way to slabs, in four steps; sin comes to its partner's place,
 * with the sign it has in dx. First: rows are repeated, partners change places, in the table's
 * type. */
template <typename T> AICORE_INLINE void turn_cosines(Kernel<T> &k, const Tile &tile) {
    const RotaryGradTiling &t = *k.t;
    const Shape &s = *tile.shape;
    using C = Table<T>;
    uint32_t unit = row_unit<C>(t);
    LocalTensor<C> cos = k.cos_in[tile.cos_slot], sin = cos[t.cos_bytes / 2 / sizeof(C)];
    LocalTensor<C> to[2];
    if constexpr (sizeof(C) == 4) {
        to[0] = k.rows[0];
        to[1] = k.rows[1];
    } else {
        to[0] = k.coarse[0];
        to[1] = k.coarse[1];
    }
    WaitFlag<HardEvent::MTE2_V>(k.slots.cos_full[tile.cos_slot]);
    if (t.fill > 1) {
        gather(to[0], cos, k.coef[0], 0, s.each, unit);
        gather(to[1], sin, k.coef[1], 0, s.each, unit);
    } else if (t.planes) {
        gather_rows(to[0], cos, k.pair_cos, MIXED<T> ? t.sums : t.pair, s.count, sizeof(C));
        gather(to[1], sin, k.pair_sin, 0, s.count, sizeof(C));
    } else {
        gather_rows(to[1], sin, k.turn_sin, t.wide > 0 ? t.sums : t.turn, s.count, unit);
        if constexpr (sizeof(C) == 4) {
            Muls(to[0], cos, 1.0f, (int32_t)s.count);
        }
    }
}

/* Second: to fp32. What is fp32 already has no step before this one. */
template <typename T> AICORE_INLINE void widen_cosines(Kernel<T> &k, const Tile &tile) {
    const RotaryGradTiling &t = *k.t;
    if constexpr (sizeof(Table<T>) == 2) {
        bool moved = t.fill > 1 || t.planes;
        Run each = run_of(up(tile.shape->each, LANES));
        if (moved) {
            convert(k.rows[0], k.coarse[0], each);
        } else {
            convert(k.rows[0], k.cos_in[tile.cos_slot], run_of(tile.shape->each));
        }
        convert(k.rows[1], k.coarse[1], each);
    } else {
        turn_cosines(k, tile);
    }
    SetFlag<HardEvent::V_MTE2>(k.slots.cos_free[tile.cos_slot]);
}

/* Third: the sign. */
template <typename T> AICORE_INLINE void sign_sines(Kernel<T> &k, const Tile &tile) {
    uint32_t each = tile.shape->each;
    flat<MUL>(k.rows[1], k.rows[1], k.signs,
              run_of(sizeof(Table<T>) == 4 ? each : up(each, LANES)));
}

/* Fourth: what fills blocks is repeated. */
template <typename T> AICORE_INLINE void spread_cosines(Kernel<T> &k, const Tile &tile) {
    if (k.t->group > k.t->fill) {
        gather_blocks(k.cosines, k.rows[0], k.spread, tile.shape->run);
        gather_blocks(k.sines, k.rows[1], k.spread, tile.shape->run);
    }
}

/* dy and x of 16 bits in fp32, and dy with partners swapped: on the way, two tiles of T fit where a
 * tile of floats will be. */
template <typename T> AICORE_INLINE void widen(Kernel<T> &k, const Tile &tile) {
    const RotaryGradTiling &t = *k.t;
    const Shape &s = *tile.shape;
    LocalTensor<T> from = k.dy_in[tile.slot], narrow = k.spare.template ReinterpretCast<T>();
    if (k.with_x) {
        convert(k.w_x, k.x_in[0], s.all);
        SetFlag<HardEvent::V_MTE2>(k.x_free[0]);
    }
    if (t.planes) {
        LocalTensor<T> pairs = k.swapped.template ReinterpretCast<T>();
        gather_tile(s, pairs, from, k.pair, t.pair, sizeof(T));
        vector_done();
        from = pairs;
    }
    if (t.turn_unit == 0) {
        LocalTensor<uint32_t> words = from.template ReinterpretCast<uint32_t>();
        shift_up(narrow.template ReinterpretCast<uint32_t>(), words, s.elements / 2);
        shift_down(narrow[t.tile].template ReinterpretCast<uint32_t>(), words, s.elements / 2);
    } else if (t.turn_unit < 32) {
        gather_tile(s, narrow, from, k.turn, t.turn, t.turn_unit);
    }
    convert(k.w_dy, from, s.all);
    SetFlag<HardEvent::V_MTE2>(k.slots.in_free[tile.slot]);
    vector_done();
    if (t.turn_unit == 32) {
        gather_blocks(k.swapped, k.w_dy, k.blocks, s.elements);
        return;
    }
    if (t.turn_unit == 0) {
        LocalTensor<uint32_t> left = narrow.template ReinterpretCast<uint32_t>();
        join_bits(left, left, narrow[t.tile].template ReinterpretCast<uint32_t>(), s.elements / 2);
        vector_done();
    }
    convert(k.swapped, narrow, s.all);
}

/* A slab against every slab of a tile; the last one may be short. */
AICORE_INLINE void times_slab(const Shape &s, const LocalTensor<float> &to,
                              const LocalTensor<float> &slab, const LocalTensor<float> &from) {
    if (s.whole > 0) {
        narrow_lanes(s.times);
        walk<MUL>(s.times, to, slab, from);
        widen_lanes(s.times);
    }
    if (s.left.full > 0 || s.left.rest > 0) {
        uint32_t at = s.whole * s.span;
        flat<MUL>(to[at], slab, from[at], s.left);
    }
}

/* Slabs on their way to one. */
struct Heap {
    LocalTensor<float> at;
    uint32_t slabs, span;
};

/* The sum of the slabs, one step further, as long as they are more than `few`: the shape of the
 * tree depends on their number alone. */
AICORE_INLINE void add_slabs(Heap &heap, uint32_t few) {
    if (heap.slabs > few) {
        uint32_t kept = (heap.slabs + 1) / 2;
        flat<ADD>(heap.at, heap.at, heap.at[kept * heap.span],
                  run_of((heap.slabs - kept) * heap.span));
        heap.slabs = kept;
    }
}

/* Slabs that are all whole: the rows of a last one that is not go to the first. */
AICORE_INLINE Heap heap_of(const RotaryGradTiling &t, const Shape &s,
                           const LocalTensor<float> &at) {
    Heap heap = {at, s.slabs, s.span};
    if (s.last < t.group && s.slabs > 1) {
        uint32_t row = t.pitch, group = t.group * row;
        heap.slabs--;
        strided<ADD>(at, group, at, group, at[heap.slabs * s.span], group, s.cos_rows,
                     s.last * row);
        vector_done();
    }
    return heap;
}

/* Rows of dcos and dsin that follow each other. */
struct Rows {
    LocalTensor<float> dcos, dsin;
};

/* `count` numbers of rows that do not begin at blocks, n rows of each group: brought side by side,
 * and added. */
template <typename T>
AICORE_INLINE void pack_rows(Kernel<T> &k, const LocalTensor<float> &to,
                             const LocalTensor<float> &from, uint32_t n, uint32_t count) {
    uint32_t step = 2 * k.t->sums;
    for (uint32_t i = 0; i < n; i++) {
        gather(to[i * step], from, k.pack, (uint32_t)(4 * i * k.t->pitch), count, 4);
    }
    vector_done();
    Run run = run_of(up(count, LANES));
    while (n > 1) {
        uint32_t kept = (n + 1) / 2;
        for (uint32_t i = kept; i < n; i++) {
            LocalTensor<float> sum = to[(i - kept) * step];
            flat<ADD>(sum, sum, to[i * step], run);
        }
        vector_done();
        n = kept;
    }
}

/* From groups to rows, in `room`; `count` numbers. */
template <typename T>
AICORE_INLINE void fold(Kernel<T> &k, const Shape &s, const LocalTensor<float> &room,
                        const LocalTensor<float> &at, uint32_t count) {
    const RotaryGradTiling &t = *k.t;
    uint32_t row = t.pitch, n = s.slabs > 1 ? t.group : s.last;
    for (uint32_t i = 0; i < s.folds; i++) {
        const Grid &grid = s.fold[i];
        n = s.kept[i];
        narrow_lanes(grid);
        walk<ADD>(grid, n == 1 ? room : at, at, at[n * row]);
        widen_lanes(grid);
        vector_done();
    }
    if (t.fill > 1) {
        pack_rows(k, room, at, n, count);
    }
}

/* Adds rows into the accumulators; sums that are full go to the next level. */
template <typename T>
__aicore__ inline void accumulate(Kernel<T> &k, const Tile &tile, const Rows &rows) {
    const RotaryGradTiling &t = *k.t;
    Run run = tile.shape->some;
    LocalTensor<float> sum = k.sums;
    flat<ADD>(sum, sum, rows.dcos, run);
    flat<ADD>(sum[t.sums], sum[t.sums], rows.dsin, run);
    int64_t done = tile.done;
    for (uint32_t i = 1; i < t.levels && done % ROTARY_FAN == 0; i++, done /= ROTARY_FAN) {
        LocalTensor<float> next = sum[2 * t.sums];
        run = run_of(2 * t.sums);
        vector_done();
        flat<ADD>(next, next, sum, run);
        vector_done();
        Duplicate(sum, 0.0f, (int32_t)(2 * t.sums));
        sum = next;
    }
}

/* The terms of a tile, as slabs, to rows, and into the accumulators unless these are all there are.
 * Returns where the sums are. */
template <typename T>
AICORE_INLINE Rows add_up(Kernel<T> &k, const Tile &tile, Heap &dcos, Heap &dsin, uint32_t few) {
    const RotaryGradTiling &t = *k.t;
    const Shape &s = *tile.shape;
    while (dcos.slabs > few || dsin.slabs > few) {
        vector_done();
        add_slabs(dcos, few);
        add_slabs(dsin, few);
    }
    vector_done();
    Rows rows = {dcos.at, dsin.at};
    if (s.joined) {
        LocalTensor<float> second = k.spare[s.span];
        Run run = run_of(s.span);
        flat<ADD>(k.spare, dcos.at, dcos.at[s.span], run);
        flat<ADD>(second, dsin.at, dsin.at[s.span], run);
        vector_done();
        fold(k, s, k.swapped, k.spare, t.sums + s.count);
        rows = {k.swapped, k.swapped[t.fill > 1 ? t.sums : s.count]};
    } else if (s.folds > 0 || t.fill > 1) {
        rows = {k.spare, k.spare[t.sums]};
        fold(k, s, rows.dcos, dcos.at, s.count);
        fold(k, s, rows.dsin, dsin.at, s.count);
    }
    if (t.levels == 0 || (tile.opens && tile.closes)) {
        return rows;
    }
    accumulate(k, tile, rows);
    return {k.sums, k.sums[t.sums]};
}

template <typename T> AICORE_INLINE void store_dx(Kernel<T> &k, const Tile &tile) {
    const Shape &s = *tile.shape;
    const LocalTensor<T> &out = k.dx_out[k.out];
    SetFlag<HardEvent::V_MTE3>(k.slots.out_full[k.out]);
    WaitFlag<HardEvent::V_MTE3>(k.slots.out_full[k.out]);
    int64_t row = k.t->dy_row, at = tile.first * row;
    if (s.out.copies > 0) {
        move<T, false>(s.out, out, k.dx[at]);
    }
    if (s.out_last.copies > 0) {
        uint32_t rows = (s.slabs - 1) * k.t->group;
        move<T, false>(s.out_last, out[rows * s.cos_rows * (uint32_t)row], k.dx[at + rows * row]);
    }
    SetFlag<HardEvent::MTE3_V>(k.slots.out_free[k.out]);
    k.out ^= k.outs - 1;
}

/* The tile's inputs to fp32, where they are not, and dy with partners swapped. */
template <typename T>
AICORE_INLINE void take_in(Kernel<T> &k, const Tile &tile, LocalTensor<float> &dy,
                           LocalTensor<float> &spare) {
    const RotaryGradTiling &t = *k.t;
    if (t.with_tails) {
        widen_columns(k, tile);
    } else if constexpr (sizeof(T) == 4) {
        dy = k.dy_in[tile.slot];
        if (t.planes) {
            gather_tile(*tile.shape, k.spare, dy, k.pair, t.pair, 4);
            vector_done();
            spare = dy;
            dy = k.spare;
        }
        gather_tile(*tile.shape, k.swapped, dy, k.turn, t.turn, 4);
    } else {
        widen(k, tile);
    }
}

/* cos * dy to where dx will be. */
template <typename T>
AICORE_INLINE void begin_dx(Kernel<T> &k, const Tile &tile, const LocalTensor<float> &dx,
                            const LocalTensor<float> &dy) {
    WaitFlag<HardEvent::MTE3_V>(k.slots.out_free[k.out]);
    if (k.t->with_tails) {
        keep_rows(k, tile);
    }
    times_slab(*tile.shape, dx, k.cosines, dy);
}

/* dx to its type and to memory. */
template <typename T>
AICORE_INLINE void end_dx(Kernel<T> &k, const Tile &tile, const LocalTensor<float> &dx) {
    const Shape &s = *tile.shape;
    if (k.t->with_tails) {
        put_columns(k, s, dx);
    } else if constexpr (sizeof(T) == 2) {
        convert(k.dx_out[k.out], dx, s.all);
    }
    store_dx(k, tile);
}

/* The tile's inputs are in the UB, cos and sin on their way to slabs. Four products, each where
 * something is not needed any more: between them, steps of the sums and cos and sin of the next
 * tile fill the time that results take. Returns the sums so far. */
template <typename T> AICORE_INLINE Rows do_tile(Kernel<T> &k, const Tile &tile, const Tile &next) {
    const RotaryGradTiling &t = *k.t;
    const Shape &s = *tile.shape;
    constexpr bool wide = sizeof(T) == 4;
    bool opens = next.opens && k.with_dx;
    LocalTensor<float> dy = k.w_dy, x = k.w_x, spare = k.spare, dx = k.w_dy;
    WaitFlag<HardEvent::MTE2_V>(k.slots.in_full[tile.slot]);
    vector_done();
    if (tile.opens && k.with_dx) {
        spread_cosines(k, tile);
    }
    if constexpr (wide) {
        x = k.x_in[tile.slot];
        if (!t.with_tails) {
            dx = k.dx_out[k.out];
        }
    }
    take_in(k, tile, dy, spare);
    if (!wide && next.there) {
        if (k.places == 1) {
            fetch(k, next);
        }
        fetch_x(k, next);
    }
    vector_done();
    if (k.with_dx) {
        times_slab(s, spare, k.sines, k.swapped);
    }
    Heap dcos, dsin;
    uint32_t few = s.joined ? 2 : 1;
    if (k.with_x) {
        vector_done();
        flat<MUL>(k.swapped, k.swapped, x, s.all);
        vector_done();
        dsin = heap_of(t, s, k.swapped);
        add_slabs(dsin, few);
        flat<MUL>(x, dy, x, s.all);
        vector_done();
        dcos = heap_of(t, s, x);
        add_slabs(dcos, few);
        add_slabs(dsin, few);
    }
    if (k.with_dx) {
        begin_dx(k, tile, dx, dy);
        if (sizeof(Table<T>) == 2 && opens) {
            turn_cosines(k, next);
        }
    }
    vector_done();
    if (k.with_dx) {
        flat<ADD>(dx, dx, spare, s.all);
    }
    if (k.with_x) {
        add_slabs(dcos, few);
        add_slabs(dsin, few);
    }
    if (opens) {
        widen_cosines(k, next);
    }
    if (k.with_dx) {
        vector_done();
        end_dx(k, tile, dx);
    }
    if (opens) {
        sign_sines(k, next);
    }
    Rows rows;
    if (k.with_x) {
        rows = add_up(k, tile, dcos, dsin, few);
    }
    return rows;
}

} // namespace contiguous

#endif
