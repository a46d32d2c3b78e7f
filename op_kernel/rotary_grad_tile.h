/* SPDX-License-Identifier: Apache-2.0
 *
 * One tile of RotaryMulGrad or RotaryPositionEmbeddingGrad: some rows of dy and x against some rows
 * of cos and sin. dx goes out at once; the terms of dcos and dsin are summed over the rows and
 * added to the accumulators. What follows from the shape of a tile is worked out when the shape
 * changes, which is rare.
 */
#ifndef ROTARY_GRAD_TILE_H
#define ROTARY_GRAD_TILE_H

#include "rotary_grad_tail.h"

namespace rotary {

/* The shape of a tile. */
struct Tile {
    /* it follows from these: `rows` rows of dy for each of cos_rows, so wide */
    uint32_t cos_rows, rows, width;
    /* rows of dy, elements in fp32 of them all, and of one row for each of cos */
    uint32_t n, count, size;
    /* elements of a row of dy in the UB, which may have a tail, and of all rows */
    uint32_t wide, all;
    /* elements of a run of neighbouring rows, and from run to run in a 16-bit type */
    uint32_t run, run_pitch, runs;
    /* elements from plane to plane, and of a plane */
    uint32_t plane, half_count;
    /* cos and sin times dy; what the partner gives; products of rows, and of halves of rows */
    Grid multiply, combine, terms, halves;
    /* elements of a row that one walk through `halves` is for */
    uint32_t span;
    /* the grids are there */
    bool planned;
    /* between memory and the UB: whole blocks at regular steps, if `plain` */
    bool plain;
    DataCopyParams in, out;
    Area area;
};

/* Where a tile is. */
struct Spot {
    /* the shape, and the first row of dy */
    Tile *tile;
    int64_t row;
    /* first row of cos in the band; tiles of the same rows of cos so far, this one included */
    uint32_t first;
    int64_t done;
    /* where it has been fetched to */
    uint32_t slot;
};

/* Whether DataCopy is able to move the tile: lengths and gaps in 32-byte blocks, in 16 bits. */
template <typename T> __aicore__ inline void plan_moves(const RotaryGradTiling &t, Tile &tile) {
    const Area &a = tile.area;
    int64_t row = t.dy_row * sizeof(T), length = a.rows * row / 32, gap = 0;
    if (a.runs > 1) {
        gap = (a.stride - a.rows) * row / 32;
    }
    tile.plain = t.flat && row % 32 == 0 && gap <= UINT16_MAX && length <= UINT16_MAX;
    if (tile.plain) {
        tile.in = DataCopyParams(Narrow16(a.runs), Narrow16(length), Narrow16(gap), 0);
        tile.out = DataCopyParams(Narrow16(a.runs), Narrow16(length), 0, Narrow16(gap));
    }
}

/* What it takes to fetch a tile, so that this is soon done. */
template <typename T, int MODE>
__aicore__ inline void shape_tile(const RotaryGradTiling &t, const Strip &s, Tile &tile,
                                  uint32_t cos_rows, uint32_t rows) {
    uint32_t n = cos_rows * rows, wide = t.with_tails ? (uint32_t)t.dy_row : s.row;
    tile.cos_rows = cos_rows;
    tile.rows = rows;
    tile.width = s.width;
    tile.n = n;
    tile.count = n * s.row;
    tile.wide = wide;
    tile.all = n * wide;
    tile.size = cos_rows * s.row;
    tile.half_count = n * s.pitch;
    tile.plane = sizeof(T) == 4 ? t.tile / 2 : (tile.half_count + 15) / 16 * 16;
    tile.runs = t.cos_last ? rows : 1;
    tile.area = {0, tile.runs, t.cos_last ? cos_rows : n, t.inner_stride};
    tile.run = tile.area.rows * wide;
    /* Runs begin at 32-byte blocks in a 16-bit type. If it takes two rows to fill blocks, which
     * pairs do not mind, that may leave a gap between runs. */
    tile.run_pitch = MODE == ROTARY_PAIRS ? (tile.run + 15) / 16 * 16 : tile.run;
    plan_moves<T>(t, tile);
    tile.planned = false;
}

/* The calls of a tile. */
template <typename T, int MODE>
__aicore__ inline void plan_calls(const RotaryGradTiling &t, const Strip &s, Tile &tile) {
    uint32_t cos_rows = tile.cos_rows, rows = tile.rows, rotations = tile.n * t.rotations;
    uint32_t cos_step = t.cos_last ? 1 : rows, row = t.cos_last ? cos_rows : 1;
    Steps cs = {s.row, 0}, to = {s.row, 2 * tile.size};
    Steps steps = {cos_step * tile.wide, row * tile.wide}, xs = {cos_step * s.row, row * s.row};
    Steps planes = {cos_step * s.pitch, row * s.pitch};
    if constexpr (MODE == ROTARY_PLANES) {
        plan_grid(tile.multiply, planes, cs, steps, cos_rows, rows, s.pitch);
        plan_grid(tile.halves, to, planes, steps, cos_rows, rows, s.pitch);
    } else {
        plan_grid(tile.multiply, steps, cs, steps, cos_rows, rows, s.row);
        plan_grid(tile.terms, to, steps, xs, cos_rows, rows, s.row);
    }
    if constexpr (MODE == ROTARY_HALVES) {
        uint32_t step = 2 * s.pitch;
        Steps all = {step, tile.wide};
        bool many = t.with_tails ||
                    (rotations > REPEATS && !is_short({step, step, step}, rotations, s.pitch));
        plan_grid(tile.halves, to, steps, xs, cos_rows, rows, s.pitch);
        tile.span = plan_groups(tile.halves, t.rotations, step) ? s.row : step;
        plan_grid(tile.combine, all, all, all, many ? t.rotations : rotations, many ? tile.n : 1,
                  s.pitch);
    } else if (MODE == ROTARY_PAIRS && t.with_tails) {
        Steps all = {0, tile.wide};
        plan_grid(tile.combine, all, all, all, 1, tile.n, s.row);
    }
    tile.planned = true;
}

/* Between a 16-bit type, where runs may have gaps, and fp32, where they follow each other. */
template <int MODE, typename TO, typename FROM>
AICORE_INLINE void cast_runs(const LocalTensor<TO> &to, const LocalTensor<FROM> &from,
                             const RoundMode mode, const Tile &tile, uint32_t count) {
    if (MODE != ROTARY_PAIRS || tile.run_pitch == tile.run) {
        cast_run(to, from, mode, count);
        return;
    }
    uint32_t to_pitch = sizeof(TO) == 2 ? tile.run_pitch : tile.run;
    uint32_t from_pitch = sizeof(FROM) == 2 ? tile.run_pitch : tile.run;
    for (uint32_t i = 0; i < tile.runs; i++) {
        Cast(to[i * to_pitch], from[i * from_pitch], mode, tile.run);
    }
}

/* dx = cos * dy + what the partner gives. ROTARY_PLANES: in planes. */
template <typename T, int MODE>
AICORE_INLINE void multiply(Kernel<T> &k, const Band &band, const Tile &tile, uint32_t first,
                            const LocalTensor<float> &dx, const LocalTensor<float> &dy,
                            const LocalTensor<float> &partner) {
    const Strip &s = band.strip;
    uint32_t at = first * s.row;
    narrow_lanes(tile.multiply);
    if constexpr (MODE == ROTARY_PLANES) {
        for (uint32_t p = 0; p < 2; p++) {
            uint32_t half = p * s.pitch, plane = p * tile.plane;
            multiply_both(tile.multiply, dx[plane], band.cos[at + half], k.w_other[plane],
                          band.sin[at + half], dy[half]);
        }
    } else if constexpr (MODE == ROTARY_PAIRS) {
        walk<MUL>(tile.multiply, dx, band.cos[at], dy);
        walk<MUL>(tile.multiply, k.w_other, band.sin[at], partner);
    } else {
        multiply_both(tile.multiply, dx, band.cos[at], k.w_other, band.sin[at], dy);
    }
    widen_lanes(tile.multiply);
}

template <typename T, int MODE>
AICORE_INLINE void combine(Kernel<T> &k, const Band &band, const Tile &tile,
                           const LocalTensor<float> &dx) {
    if constexpr (MODE == ROTARY_HALVES) {
        uint32_t b = band.strip.pitch;
        narrow_lanes(tile.combine);
        walk<ADD>(tile.combine, dx, dx, k.w_other[b]);
        walk<SUB>(tile.combine, dx[b], dx[b], k.w_other);
        widen_lanes(tile.combine);
    } else if constexpr (MODE == ROTARY_PAIRS) {
        if (k.t->with_tails) {
            narrow_lanes(tile.combine);
            walk<ADD>(tile.combine, dx, dx, k.w_other);
            widen_lanes(tile.combine);
        } else {
            apply_run<ADD>(dx, dx, k.w_other, tile.count);
        }
    } else {
        apply_run<ADD>(dx, dx, k.w_other[tile.plane], tile.half_count);
        apply_run<SUB>(dx[tile.plane], dx[tile.plane], k.w_other, tile.half_count);
    }
}

/* dx to T and to memory. Where dx has been made in the slot itself there is nothing left to do but
 * to store. */
template <typename T, int MODE>
AICORE_INLINE void store_dx(Kernel<T> &k, const Band &band, const Spot &spot, uint32_t slot) {
    const RotaryGradTiling &t = *k.t;
    const Tile &tile = *spot.tile;
    const LocalTensor<T> &out = k.dx_out[slot];
    if constexpr (MODE == ROTARY_PLANES) {
        vector_done();
        if constexpr (sizeof(T) == 4) {
            gather_all(out, k.w_dx, tile.count, k.table, t.table, 2);
        } else {
            interleave_words<T>(out, k.w_dx, tile.plane, k.w_other, tile.half_count);
        }
    } else if constexpr (sizeof(T) == 2) {
        vector_done();
        if (t.with_tails) {
            narrow_rows(t, out, k.w_dx, tile.n);
        } else {
            cast_runs<MODE>(out, k.w_dx, RoundMode::CAST_RINT, tile, tile.count);
        }
    }
    send_out(k, slot);
    constexpr bool pairs = MODE == ROTARY_PAIRS || MODE == ROTARY_PLANES;
    if (tile.plain) {
        DataCopy(k.dx[spot.row * t.dy_row], out, tile.out);
    } else {
        Area area = tile.area;
        area.first = spot.row;
        move_rows<T, pairs, false>(out, k.dx, area, band.strip, t, t.dy_row);
    }
    free_out(k, slot);
}

/* The terms of dcos and dsin, each row of the tile a slab: [dcos of all rows of cos][dsin of all].
 * In halves and planes the sign of dsinA is left out; for ROTARY_PAIRS the partners stand in each
 * other's place, too. */
template <typename T, int MODE>
AICORE_INLINE void make_terms(Kernel<T> &k, const Band &band, const Tile &tile,
                              const LocalTensor<float> &dy, const LocalTensor<float> &partner,
                              const LocalTensor<float> &x) {
    const Strip &s = band.strip;
    uint32_t dsin = tile.size, b = s.pitch;
    if constexpr (MODE != ROTARY_PLANES) {
        narrow_lanes(tile.terms);
        if constexpr (MODE == ROTARY_PAIRS) {
            multiply_both(tile.terms, k.terms, dy, k.terms[dsin], partner, x);
        } else {
            walk<MUL>(tile.terms, k.terms, dy, x);
        }
        widen_lanes(tile.terms);
    }
    if constexpr (MODE == ROTARY_PAIRS) {
        return;
    }
    narrow_lanes(tile.halves);
    if constexpr (MODE == ROTARY_PLANES) { /* one rotation */
        multiply_both(tile.halves, k.terms, x, k.terms[dsin], x[tile.plane], dy);
        multiply_both(tile.halves, k.terms[b], x[tile.plane], k.terms[dsin + b], x, dy[b]);
    } else {
        for (uint32_t a = 0; a < s.row; a += tile.span) {
            walk<MUL>(tile.halves, k.terms[dsin + a], dy[a], x[a + b]);
            walk<MUL>(tile.halves, k.terms[dsin + a + b], dy[a + b], x[a]);
        }
    }
    widen_lanes(tile.halves);
}

/* Adds the terms of a tile into the accumulators. */
template <typename T>
AICORE_INLINE void accumulate(Kernel<T> &k, const Band &band, const Spot &spot) {
    const RotaryGradTiling &t = *k.t;
    uint32_t size = spot.tile->size, at = spot.first * band.strip.row;
    sum_slabs(k.terms, spot.tile->rows, 2 * size);
    LocalTensor<float> sum = k.sums[at];
    apply_run<ADD>(sum, sum, k.terms, size);
    sum = sum[t.cosines];
    apply_run<ADD>(sum, sum, k.terms[size], size);
    if (t.levels == 1) {
        return;
    }
    LocalTensor<float> level = k.sums[at];
    int64_t done = spot.done;
    for (uint32_t i = 1; i < t.levels && done % ROTARY_FAN == 0; i++, done /= ROTARY_FAN) {
        LocalTensor<float> next = level[2 * t.cosines];
        vector_done();
        apply_run<ADD>(next, next, level, size);
        apply_run<ADD>(next[t.cosines], next[t.cosines], level[t.cosines], size);
        vector_done();
        Duplicate(level, 0.0f, (int32_t)size);
        Duplicate(level[t.cosines], 0.0f, (int32_t)size);
        level = next;
    }
}

/* Where dy, x, and what the partner is read from are in fp32: in the slot itself, if nothing has to
 * change. */
template <typename T, int MODE>
AICORE_INLINE const LocalTensor<float> &dy_of(const Kernel<T> &k, uint32_t slot) {
    if constexpr (sizeof(T) == 4) {
        return k.turned_dy[slot];
    } else {
        return k.turned_dy[0];
    }
}

template <typename T, int MODE>
AICORE_INLINE const LocalTensor<float> &partner_of(const Kernel<T> &k, uint32_t slot) {
    if constexpr (MODE == ROTARY_PAIRS) {
        return k.turned_swap;
    } else {
        return dy_of<T, MODE>(k, slot);
    }
}

template <typename T, int MODE>
AICORE_INLINE const LocalTensor<float> &x_of(const Kernel<T> &k, uint32_t slot) {
    if constexpr (sizeof(T) == 4 && MODE != ROTARY_PLANES) {
        return k.x_in[slot];
    } else {
        return k.w_x;
    }
}

template <typename T, int MODE>
AICORE_INLINE const LocalTensor<float> &dx_of(const Kernel<T> &k, uint32_t slot) {
    if constexpr (sizeof(T) == 4 && MODE != ROTARY_PLANES) {
        return k.turned_dx[slot];
    } else if constexpr (MODE != ROTARY_PLANES) {
        return k.turned_dx[0];
    } else {
        return k.w_dx;
    }
}

/* x to fp32, in planes for ROTARY_PLANES. */
template <typename T, int MODE>
AICORE_INLINE void widen_x(Kernel<T> &k, const Band &band, const Tile &tile,
                           const LocalTensor<T> &in) {
    if constexpr (MODE == ROTARY_PLANES) {
        clear_pad(in, tile.n, band.strip);
        if constexpr (sizeof(T) == 4) {
            deal(k.w_x, tile.plane, in, tile.count);
        } else if constexpr (IsSameType<T, bfloat16_t>::value) {
            deal_words(k.w_x, tile.plane, in.template ReinterpretCast<uint32_t>(), tile.count);
        } else {
            cast_run(k.w_other, in, RoundMode::CAST_NONE, tile.count);
            vector_done();
            deal(k.w_x, tile.plane, k.w_other, tile.count);
        }
    } else if constexpr (sizeof(T) == 2) {
        cast_runs<MODE>(k.w_x, in, RoundMode::CAST_NONE, tile, tile.count);
    }
}

/* dy with partners swapped: 16-bit words are turned before they are widened, in buffers that the
 * tile needs later. */
template <typename T>
AICORE_INLINE void swap_dy(Kernel<T> &k, const Tile &tile, const LocalTensor<T> &in) {
    LocalTensor<T> swapped = k.w_dx.template ReinterpretCast<T>();
    swap_words(swapped, in, k.w_other.template ReinterpretCast<T>(), tile.runs * tile.run_pitch);
    vector_done();
    cast_runs<ROTARY_PAIRS>(k.w_swap, swapped, RoundMode::CAST_NONE, tile, tile.all);
}

template <typename T, int MODE>
AICORE_INLINE void widen_dy(Kernel<T> &k, const Tile &tile, const LocalTensor<T> &in) {
    if constexpr (sizeof(T) == 2) {
        cast_runs<MODE>(k.w_dy, in, RoundMode::CAST_NONE, tile, tile.all);
        if constexpr (MODE == ROTARY_PAIRS) {
            swap_dy(k, tile, in);
        }
    } else if constexpr (MODE == ROTARY_PAIRS) {
        gather_all(k.w_swap, in, tile.all, k.table, k.t->table, 4);
    }
}

/* dy and x of a tile to its slot. */
template <typename T, int MODE>
AICORE_INLINE void fetch_tile(Kernel<T> &k, const Band &band, const Spot &spot) {
    const RotaryGradTiling &t = *k.t;
    const Tile &tile = *spot.tile;
    take_in(k, spot.slot);
    if (tile.plain) {
        int64_t at = spot.row * t.dy_row;
        DataCopy(k.dy_in[spot.slot], k.dy[at], tile.in);
        if (t.with_x && !t.with_tails) {
            DataCopy(k.x_in[spot.slot], k.x[at], tile.in);
        }
    } else {
        Area area = tile.area;
        area.first = spot.row;
        move_rows<T, MODE == ROTARY_PAIRS, true>(k.dy_in[spot.slot], k.dy, area, band.strip, t,
                                                 t.dy_row);
        if (t.with_x && !t.with_tails) {
            move_rows<T, MODE == ROTARY_PAIRS || MODE == ROTARY_PLANES, true>(
                k.x_in[spot.slot], k.x, area, band.strip, t, t.dy_row);
        }
    }
    if (t.with_x && t.with_tails) {
        Area area = tile.area;
        area.first = spot.row;
        fetch_rotated_x(k, spot.slot, area);
    }
    send_in(k, spot.slot);
}

template <typename T, int MODE>
__aicore__ inline void do_tile(Kernel<T> &k, const Band &band, const Spot &spot) {
    const RotaryGradTiling &t = *k.t;
    const Tile &tile = *spot.tile;
    constexpr bool wide = sizeof(T) == 4, direct = wide && MODE != ROTARY_PLANES;
    if (!tile.planned) {
        plan_calls<T, MODE>(t, band.strip, *spot.tile);
    }
    wait_in(k, spot.slot);
    vector_done();
    widen_dy<T, MODE>(k, tile, k.dy_in[spot.slot]);
    if (t.with_x) {
        widen_x<T, MODE>(k, band, tile, k.x_in[spot.slot]);
    }
    uint32_t slot = 0;
    if (direct || t.with_tails) {
        slot = take_out(k);
    }
    if (t.with_tails) {
        keep_tails(t, k.dx_out[slot], k.dy_in[spot.slot], tile.n);
    }
    if constexpr (!wide) {
        free_in(k, spot.slot);
    }
    const LocalTensor<float> &dy = dy_of<T, MODE>(k, spot.slot);
    const LocalTensor<float> &partner = partner_of<T, MODE>(k, spot.slot);
    const LocalTensor<float> &dx = dx_of<T, MODE>(k, slot);
    vector_done();
    multiply<T, MODE>(k, band, tile, spot.first, dx, dy, partner);
    vector_done();
    combine<T, MODE>(k, band, tile, dx);
    if (!direct && !t.with_tails) {
        slot = take_out(k);
    }
    store_dx<T, MODE>(k, band, spot, slot);
    if (t.with_x) {
        vector_done();
        make_terms<T, MODE>(k, band, tile, dy, partner, x_of<T, MODE>(k, spot.slot));
    }
    if constexpr (wide) {
        free_in(k, spot.slot);
    }
    if (t.levels > 0) {
        vector_done();
        accumulate(k, band, spot);
    }
    if (t.dy_row > t.row && !t.with_tails && band.strip.column == 0) {
        Area area = tile.area;
        area.first = spot.row;
        copy_tails(k, area);
    }
}

} // namespace rotary

#endif
