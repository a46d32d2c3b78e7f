/* SPDX-License-Identifier: Apache-2.0
 *
 * One tile of the contiguous path (rotary_grad_odd.h): into the UB, dx out of it, the terms of dcos
 * and dsin summed over the slabs.
 */
#ifndef ROTARY_GRAD_ODD_TILE_H
#define ROTARY_GRAD_ODD_TILE_H

#include "rotary_grad_odd.h"

namespace odd {

struct Tile {
    /* row of cos, counted over all slabs; rows of cos */
    int64_t line;
    uint32_t cos_rows;
    /* the first row of dy */
    int64_t first;
    uint32_t slabs, span, elements;
    /* elements of a slab without what fills its last block */
    uint32_t run;
    /* rows of a group in the last slab */
    uint32_t last;
    /* the first and the last chunk of these rows of cos; chunks so far */
    bool opens, closes;
    int64_t done, segment;
};

/* IN: to the UB. A group is a block, or a run of rows of cos is. */
template <typename T, bool IN>
ODD_INLINE void move(const LocalTensor<T> &ub, const GlobalTensor<T> &gm, uint32_t count,
                     int64_t length, int64_t gap, int64_t skip) {
    if (gap == 0 && skip == 0 && length % 32 == 0) {
        length *= count;
        count = 1;
    }
    bool blocks = (length | gap) % 32 == 0 && (length | gap) < 65536 * 32;
    if (blocks) { /* takes a third of the scalar work */
        uint16_t far = (uint16_t)(gap / 32), near = (uint16_t)skip;
        DataCopyParams shape((uint16_t)count, (uint16_t)(length / 32), IN ? far : near,
                             IN ? near : far);
        if constexpr (IN) {
            DataCopy(ub, gm, shape);
        } else {
            DataCopy(gm, ub, shape);
        }
    } else if constexpr (IN) {
        copy_in(ub, gm, count, length, gap, skip, 0);
    } else {
        copy_out(gm, ub, count, length, gap, skip);
    }
}

template <typename T, bool IN>
ODD_INLINE void move_tile(const RotaryGradTiling &t, const Tile &tile, const LocalTensor<T> &ub,
                          const GlobalTensor<T> &gm) {
    constexpr int64_t size = sizeof(T);
    int64_t row = t.row * size;
    if (t.cos_last) {
        int64_t rows = tile.cos_rows * t.cos_stride;
        move<T, IN>(ub, gm[tile.first * t.row], tile.slabs, rows * row,
                    (t.inner_stride - rows) * row, 0);
        return;
    }
    uint32_t group = t.group * (uint32_t)t.row;
    if (tile.cos_rows == 1) { /* as in memory */
        int64_t rows = (tile.slabs - 1) * t.group + tile.last;
        move<T, IN>(ub, gm[tile.first * t.row], 1, rows * row, 0, 0);
        return;
    }
    /* On the way in, what a last group lacks comes from the rows behind it, and is not used. */
    uint32_t whole = IN || tile.last == t.group ? tile.slabs : tile.slabs - 1;
    if (whole > tile.cos_rows) { /* the groups of a row of cos follow each other in memory */
        for (uint32_t i = 0; i < tile.cos_rows; i++) {
            move<T, IN>(ub[i * group], gm[(tile.first + i * t.cos_stride) * t.row], whole,
                        group * size, 0, (tile.cos_rows - 1) * group * size / 32);
        }
    } else {
        for (uint32_t i = 0; i < whole; i++) {
            move<T, IN>(ub[i * tile.span], gm[(tile.first + i * t.group) * t.row], tile.cos_rows,
                        group * size, (t.cos_stride - t.group) * row, 0);
        }
    }
    if (whole < tile.slabs) {
        int64_t length = tile.last * row;
        move<T, IN>(ub[whole * tile.span], gm[(tile.first + whole * t.group) * t.row],
                    tile.cos_rows, length, t.cos_stride * row - length,
                    group * size / 32 - (length + 31) / 32);
    }
}

/* cos or sin as stored, `from`, to a slab of floats. spare holds two slabs of TC. */
template <typename T, typename TC, int KIND>
ODD_INLINE void spread_rows(Kernel<T, TC> &k, const Tile &tile, const LocalTensor<float> &to,
                            const LocalTensor<TC> &from, const LocalTensor<TC> &room) {
    const RotaryGradTiling &t = *k.t;
    uint32_t rows = tile.cos_rows * (uint32_t)t.row;
    LocalTensor<TC> all = from;
    if (t.group > 1) {
        rows = tile.run;
        all = room;
        if constexpr (sizeof(TC) == 4) {
            all = to;
        }
        gather(all, from, k.spread, 0, rows, 4);
        vector_done();
    }
    if constexpr (sizeof(TC) == 2) {
        convert(to, all, rows);
    } else if (t.group <= 1) {
        Muls(to, all, 1.0f, (int32_t)rows);
    }
}

/* cos and sin of a band; sin in its partner's place, with the sign it has in dx. */
template <typename T, typename TC, int KIND>
ODD_INLINE void widen_cosines(Kernel<T, TC> &k, const Tile &tile, LocalTensor<TC> &in) {
    const RotaryGradTiling &t = *k.t;
    uint32_t count = tile.cos_rows * (uint32_t)t.row,
             half = (uint32_t)(t.cos_bytes / 2 / sizeof(TC)), room = t.cosines; /* of a slab */
    LocalTensor<TC> cos = in, sin = in[half], spare = k.spare.template ReinterpretCast<TC>(),
                    more = k.w_dy.template ReinterpretCast<TC>();
    if constexpr (KIND == ROTARY_ODD_PLANES) {
        gather_rows(more, cos, k.pair, t.pair, count, sizeof(TC));
        gather_rows(more[room], sin, k.pair, t.pair, count, sizeof(TC));
        cos = more;
        sin = more[room];
        vector_done();
    }
    if constexpr (KIND != ROTARY_ODD_HALVES) {
        LocalTensor<TC> swapped = k.swapped.template ReinterpretCast<TC>();
        swap_row<TC, KIND>(k, swapped, sin, count);
        sin = swapped;
        vector_done();
    }
    spread_rows<T, TC, KIND>(k, tile, k.cosines, cos, spare);
    spread_rows<T, TC, KIND>(k, tile, k.sines, sin, spare[room]);
    vector_done();
    if constexpr (KIND != ROTARY_ODD_HALVES) {
        flat<MUL>(k.sines, k.sines, k.signs, tile.span);
        vector_done();
    }
}

/* Partners in each other's place, slab by slab where slabs have gaps. */
template <typename T, typename TC, int KIND>
ODD_INLINE void swap_tile(Kernel<T, TC> &k, const Tile &tile, const LocalTensor<T> &to,
                          const LocalTensor<T> &from) {
    if (SHIFTED<T, KIND> || tile.run == tile.span) {
        swap_row<T, KIND>(k, to, from, tile.elements);
        return;
    }
    for (uint32_t i = 0; i < tile.slabs; i++) {
        swap_row<T, KIND>(k, to[i * tile.span], from[i * tile.span], tile.run);
    }
}

/* Halves to pairs. */
template <typename T, typename TC>
ODD_INLINE void pair_tile(Kernel<T, TC> &k, const Tile &tile, const LocalTensor<T> &to,
                          const LocalTensor<T> &from) {
    if (tile.run == tile.span) {
        gather_rows(to, from, k.pair, k.t->pair, tile.elements, sizeof(T));
        return;
    }
    for (uint32_t i = 0; i < tile.slabs; i++) {
        gather_rows(to[i * tile.span], from[i * tile.span], k.pair, k.t->pair, tile.run, sizeof(T));
    }
}

/* dy in fp32, in the layout of the tile, and with partners swapped; false: in the queue's tensor
 * itself. */
template <typename T, typename TC, int KIND>
ODD_INLINE void widen_dy(Kernel<T, TC> &k, const Tile &tile, const LocalTensor<T> &in,
                         LocalTensor<float> &dy, LocalTensor<float> &spare) {
    LocalTensor<T> from = in, narrow_spare = spare.template ReinterpretCast<T>();
    if constexpr (KIND == ROTARY_ODD_PLANES) {
        LocalTensor<T> pairs = k.swapped.template ReinterpretCast<T>();
        if constexpr (sizeof(T) == 4) {
            pairs = spare;
        }
        pair_tile(k, tile, pairs, in);
        from = pairs;
        vector_done();
    }
    if constexpr (sizeof(T) == 4) {
        dy = from;
        if constexpr (KIND != ROTARY_ODD_HALVES) {
            swap_tile<T, TC, KIND>(k, tile, k.swapped, from);
        }
        if constexpr (KIND == ROTARY_ODD_PLANES) {
            spare = in;
        }
    } else {
        convert(dy, from, tile.elements);
        if constexpr (KIND != ROTARY_ODD_HALVES) {
            swap_tile<T, TC, KIND>(k, tile, narrow_spare, from);
            vector_done();
            convert(k.swapped, narrow_spare, tile.elements);
        }
    }
}

/* A slab against every slab of a tile; the last one may be short. */
ODD_INLINE void times_slab(const LocalTensor<float> &to, const LocalTensor<float> &slab,
                           const LocalTensor<float> &from, const Tile &tile) {
    uint32_t span = tile.span, whole = tile.elements / span, rest = tile.elements - whole * span;
    if (span <= REPEATS * BLOCK && span < whole * LANES) {
        strided<MUL>(to, span, slab, 0, from, span, whole, span);
    } else {
        for (uint32_t i = 0; i < whole; i++) {
            flat<MUL>(to[i * span], slab, from[i * span], span);
        }
    }
    if (rest > 0) {
        flat<MUL>(to[whole * span], slab, from[whole * span], rest);
    }
}

/* n groups of eight rotations: the halves of one side against those of a or b, whose halves may be
 * the other ones. */
template <Op OP>
ODD_INLINE void cross(const LocalTensor<float> &to, const LocalTensor<float> &a,
                      const LocalTensor<float> &b, uint32_t half, uint32_t rotations) {
    uint32_t blocks = 2 * half / BLOCK, full = rotations / 8, rest = rotations - full * 8;
    BinaryRepeatParams steps((uint8_t)blocks, (uint8_t)blocks, (uint8_t)blocks,
                             (uint8_t)(8 * blocks), (uint8_t)(8 * blocks), (uint8_t)(8 * blocks));
    for (uint32_t i = 0; i < half; i += BLOCK) {
        if (full > 0) {
            apply_whole<OP>(to[i], a[i], b[i], full, steps);
        }
        if (rest > 0) {
            uint32_t at = i + full * 16 * half;
            apply_repeats<OP>(to[at], a[at], b[at], rest * BLOCK, 1, steps);
            ResetMask();
        }
    }
}

/* Slabs on their way to one. */
struct Heap {
    LocalTensor<float> at;
    uint32_t slabs, span;
};

/* The sum of the slabs, one step further: the shape of the tree depends on their number alone. */
ODD_INLINE void add_slabs(Heap &heap) {
    if (heap.slabs > 1) {
        uint32_t kept = (heap.slabs + 1) / 2;
        flat<ADD>(heap.at, heap.at, heap.at[kept * heap.span], (heap.slabs - kept) * heap.span);
        heap.slabs = kept;
    }
}

/* Slabs that are all whole: the rows of a last one that is not go to the first. */
ODD_INLINE Heap heap_of(const RotaryGradTiling &t, const Tile &tile, const LocalTensor<float> &at) {
    Heap heap = {at, tile.slabs, tile.span};
    if (tile.last < t.group && tile.slabs > 1) {
        uint32_t row = (uint32_t)t.row, group = t.group * row;
        heap.slabs--;
        strided<ADD>(at, group, at, group, at[heap.slabs * tile.span], group, tile.cos_rows,
                     tile.last * row);
        vector_done();
    }
    return heap;
}

/* What a slab of sums is on its way to rows: rows of dcos or dsin from `at` on, `step` apart. */
struct Rows {
    LocalTensor<float> at;
    uint32_t step;
};

/* From groups to rows. room holds `fill` times the sums of a band. */
template <typename K>
ODD_INLINE Rows fold(K &k, const Tile &tile, const LocalTensor<float> &at,
                     const LocalTensor<float> &room) {
    const RotaryGradTiling &t = *k.t;
    uint32_t row = (uint32_t)t.row, group = t.group * row, count = tile.cos_rows * row;
    uint32_t rows = tile.slabs > 1 ? t.group : tile.last;
    if (t.group == 1) {
        return {at, row};
    }
    while (rows > t.fill) {
        uint32_t kept = up((rows + 1) / 2, t.fill);
        strided<ADD>(at, group, at, group, at[kept * row], group, tile.cos_rows,
                     (rows - kept) * row);
        vector_done();
        rows = kept;
    }
    if (t.fill == 1) {
        return {at, group};
    }
    for (uint32_t i = 0; i < rows; i++) {
        gather(room[i * t.sums], at, k.pack, 4 * i * row, count, 4);
    }
    vector_done();
    for (; rows > 1;) {
        uint32_t kept = (rows + 1) / 2;
        for (uint32_t i = kept; i < rows; i++) {
            flat<ADD>(room[(i - kept) * t.sums], room[(i - kept) * t.sums], room[i * t.sums],
                      count);
        }
        vector_done();
        rows = kept;
    }
    return {room, row};
}

/* Adds rows into the accumulators of dcos (0) or dsin (1); the first ones to 0. */
template <typename K>
ODD_INLINE void accumulate(K &k, const Tile &tile, uint32_t which, const Rows &rows) {
    const RotaryGradTiling &t = *k.t;
    uint32_t row = (uint32_t)t.row, count = tile.cos_rows * row;
    LocalTensor<float> level = k.sums[which * t.sums];
    if (tile.opens) {
        UnaryRepeatParams steps(1, 1, (uint8_t)(row / BLOCK), (uint8_t)(rows.step / BLOCK));
        if (rows.step == row) {
            Adds(level, rows.at, 0.0f, (int32_t)count);
        } else {
            for (uint32_t c = 0; c < row; c += LANES) {
                Adds(level[c], rows.at[c], 0.0f, (uint64_t)least(row - c, LANES),
                     (uint8_t)tile.cos_rows, steps);
            }
            ResetMask();
        }
    } else if (rows.step == row) {
        flat<ADD>(level, level, rows.at, count);
    } else {
        strided<ADD>(level, row, level, row, rows.at, rows.step, tile.cos_rows, row);
    }
    int64_t done = tile.done;
    for (uint32_t i = 1; i < t.levels && done % ROTARY_FAN == 0; i++, done /= ROTARY_FAN) {
        LocalTensor<float> next = level[2 * t.sums];
        vector_done();
        flat<ADD>(next, next, level, count);
        vector_done();
        Duplicate(level, 0.0f, (int32_t)count);
        level = next;
    }
}

template <typename T, typename TC>
ODD_INLINE void store_dx(Kernel<T, TC> &k, const Tile &tile, LocalTensor<T> &out) {
    k.out_dx.EnQue(out);
    out = k.out_dx.template DeQue<T>();
    move_tile<T, false>(*k.t, tile, out, k.dx);
    k.out_dx.FreeTensor(out);
}

/* The tile's inputs are in the UB, cos and sin in their slabs. Four products, each where something
 * is not needed any more: between them, steps of the sums fill the time that results take. */
template <typename T, typename TC, int KIND>
ODD_INLINE void do_tile(Kernel<T, TC> &k, const Tile &tile, LocalTensor<T> &dy_in,
                        LocalTensor<T> &x_in) {
    const RotaryGradTiling &t = *k.t;
    constexpr bool wide = sizeof(T) == 4, halves = KIND == ROTARY_ODD_HALVES;
    uint32_t n = tile.elements, half = (uint32_t)t.half, rotations = n / (2 * half);
    LocalTensor<float> dy = k.w_dy, x = k.w_x, spare = k.spare, dx = k.w_dy;
    if constexpr (wide) {
        x = x_in;
    } else if (t.with_x) {
        convert(x, x_in, n);
        k.in_x.FreeTensor(x_in);
    }
    widen_dy<T, TC, KIND>(k, tile, dy_in, dy, spare);
    if constexpr (!wide) {
        k.in_dy.FreeTensor(dy_in);
    }
    LocalTensor<T> out = k.out_dx.template AllocTensor<T>();
    if constexpr (wide) {
        dx = out;
    }
    vector_done();
    times_slab(spare, k.sines, halves ? dy : k.swapped, tile);
    Heap dcos, dsin;
    if (t.with_x) {
        if constexpr (halves) {
            cross<MUL>(k.swapped, dy, x[half], half, rotations);
            cross<MUL>(k.swapped[half], dy[half], x, half, rotations);
        } else {
            vector_done();
            flat<MUL>(k.swapped, k.swapped, x, n);
        }
        vector_done();
        dsin = heap_of(t, tile, k.swapped);
        add_slabs(dsin);
        flat<MUL>(x, dy, x, n);
        vector_done();
        dcos = heap_of(t, tile, x);
        add_slabs(dcos);
        add_slabs(dsin);
    } else if constexpr (halves) {
        vector_done();
    }
    times_slab(dx, k.cosines, dy, tile);
    vector_done();
    if constexpr (halves) {
        cross<ADD>(dx, dx, spare[half], half, rotations);
        cross<SUB>(dx[half], dx[half], spare, half, rotations);
    } else {
        flat<ADD>(dx, dx, spare, n);
    }
    if (t.with_x) {
        add_slabs(dcos);
        add_slabs(dsin);
    }
    if constexpr (!wide) {
        vector_done();
        convert(out, dx, n);
    }
    store_dx(k, tile, out);
    if constexpr (wide) {
        if (KIND != ROTARY_ODD_PLANES) {
            k.in_dy.FreeTensor(dy_in);
        }
    }
    if (t.with_x) {
        while (dcos.slabs > 1 || dsin.slabs > 1) {
            vector_done();
            add_slabs(dcos);
            add_slabs(dsin);
        }
        vector_done();
        if (t.levels > 0) {
            Rows rows = fold(k, tile, x, spare);
            accumulate(k, tile, 0, rows);
            rows = fold(k, tile, k.swapped, spare[t.fill * t.sums]);
            accumulate(k, tile, 1, rows);
        }
    }
    if constexpr (wide && KIND == ROTARY_ODD_PLANES) {
        k.in_dy.FreeTensor(dy_in);
    }
}

} // namespace odd

#endif
