/* SPDX-License-Identifier: Apache-2.0
 *
 * One tile of RotaryMulGrad or RotaryPositionEmbeddingGrad: some rows of dy and x against some rows
 * of cos and sin. dx goes out at once; the terms of dcos and dsin are summed over the rows and
 * added to the accumulators.
 */
#ifndef ROTARY_GRAD_TILE_H
#define ROTARY_GRAD_TILE_H

#include "rotary_grad_seam.h"

namespace rotary {

struct Tile {
    Area area;
    /* first: row of cos in the band */
    uint32_t first, cos_rows, rows;
    /* through the UB, for rows and for planes */
    Steps steps, planes;
    /* from plane to plane */
    uint32_t plane;
    /* elements of a run of neighbouring rows */
    uint32_t run;
};

/* Runs of neighbouring rows begin at 32-byte blocks in a 16-bit type. If it takes two rows to fill
 * blocks, which SWAPPED modes do not mind, that may leave a gap between runs. */
template <int MODE> __aicore__ inline uint32_t run_pitch(const Tile &tile) {
    return SWAPPED<MODE> ? (tile.run + 15) / 16 * 16 : tile.run;
}

/* Between a 16-bit type, where runs may have gaps, and fp32, where they follow each other. */
template <int MODE, typename TO, typename FROM>
__aicore__ inline void cast_runs(const LocalTensor<TO> &to, const LocalTensor<FROM> &from,
                                 const RoundMode mode, const Tile &tile) {
    uint32_t pitch = run_pitch<MODE>(tile), to_pitch = sizeof(TO) == 2 ? pitch : tile.run;
    uint32_t from_pitch = sizeof(FROM) == 2 ? pitch : tile.run;
    if (pitch == tile.run) {
        Cast(to, from, mode, tile.area.runs * tile.run);
        return;
    }
    for (uint32_t i = 0; i < tile.area.runs; i++) {
        Cast(to[i * to_pitch], from[i * from_pitch], mode, tile.run);
    }
}

template <typename T>
__aicore__ inline Tile tile_of(const RotaryGradTiling &t, const Band &band, uint32_t first,
                               uint32_t count, int64_t chunk) {
    int64_t outer = chunk / t.chunks_inner, inner = (chunk - outer * t.chunks_inner) * t.chunk_rows;
    int64_t left = t.inner - inner;
    Tile tile;
    tile.first = first;
    tile.cos_rows = count;
    tile.rows = (uint32_t)(left < t.chunk_rows ? left : t.chunk_rows);
    uint32_t n = tile.cos_rows * tile.rows, cos_step = t.cos_last ? 1 : tile.rows,
             row = t.cos_last ? tile.cos_rows : 1;
    tile.steps = {cos_step * band.strip.row, row * band.strip.row};
    tile.planes = {cos_step * band.strip.pitch, row * band.strip.pitch};
    tile.plane = sizeof(T) == 4 ? t.tile / 2 : (n * band.strip.pitch + 15) / 16 * 16;
    tile.area.first = band.slab * t.slab_stride + outer * t.outer_stride +
                      (band.cos_row + first) * t.cos_stride + inner * t.inner_stride;
    tile.area.runs = t.cos_last ? tile.rows : 1;
    tile.area.rows = t.cos_last ? tile.cos_rows : n;
    tile.area.stride = t.inner_stride;
    tile.run = tile.area.rows * band.strip.row;
    return tile;
}

/* dx = cos * dy + what the partner gives. ROTARY_PLANES: in planes. */
template <typename T, int MODE>
__aicore__ inline void multiply(Kernel<T> &k, const Band &band, const Tile &tile,
                                const LocalTensor<float> &dx, const LocalTensor<float> &dy,
                                const LocalTensor<float> &partner) {
    const Strip &s = band.strip;
    uint32_t at = tile.first * s.row;
    Steps cs = {s.row, 0};
    if constexpr (MODE == ROTARY_PLANES) {
        for (uint32_t p = 0; p < 2; p++) {
            apply_grid<MUL>(dx[p * tile.plane], tile.planes, band.cos[at + p * s.pitch], cs,
                            dy[p * s.pitch], tile.steps, tile.cos_rows, tile.rows, s.pitch);
            apply_grid<MUL>(k.w_other[p * tile.plane], tile.planes, band.sin[at + p * s.pitch], cs,
                            dy[p * s.pitch], tile.steps, tile.cos_rows, tile.rows, s.pitch);
        }
    } else {
        apply_grid<MUL>(dx, tile.steps, band.cos[at], cs, dy, tile.steps, tile.cos_rows, tile.rows,
                        s.row);
        apply_grid<MUL>(k.w_other, tile.steps, band.sin[at], cs, partner, tile.steps, tile.cos_rows,
                        tile.rows, s.row);
    }
}

template <typename T, int MODE>
__aicore__ inline void combine(Kernel<T> &k, const Band &band, const Tile &tile,
                               const LocalTensor<float> &dx) {
    const Strip &s = band.strip;
    uint32_t n = tile.cos_rows * tile.rows;
    if constexpr (MODE == ROTARY_HALVES) {
        uint32_t step = 2 * s.pitch, rotations = n * k.t->rotations;
        apply_rows<ADD>(dx, step, dx, step, k.w_other[s.pitch], step, rotations, s.pitch);
        apply_rows<SUB>(dx[s.pitch], step, dx[s.pitch], step, k.w_other, step, rotations, s.pitch);
    } else if constexpr (SWAPPED<MODE>) {
        apply_flat<ADD>(dx, dx, k.w_other, n * s.row);
    } else {
        apply_flat<ADD>(dx, dx, k.w_other[tile.plane], n * s.pitch);
        apply_flat<SUB>(dx[tile.plane], dx[tile.plane], k.w_other, n * s.pitch);
    }
}

/* dx to T and to memory. Where dx has been made in out itself there is nothing left to do but to
 * store. */
template <typename T, int MODE>
__aicore__ inline void store_dx(Kernel<T> &k, const Band &band, const Tile &tile,
                                LocalTensor<T> &out) {
    const Strip &s = band.strip;
    uint32_t n = tile.cos_rows * tile.rows;
    if constexpr (MODE == ROTARY_PLANES) {
        vector_done();
        if constexpr (sizeof(T) == 4) {
            gather_all(out, k.w_dx, n * s.row, k.table, k.t->table, 2);
        } else {
            interleave_words<T>(out, k.w_dx, tile.plane, k.w_other, n * s.pitch);
        }
    } else if constexpr (sizeof(T) == 2) {
        vector_done();
        cast_runs<MODE>(out, k.w_dx, RoundMode::CAST_RINT, tile);
    }
    k.out_dx.EnQue(out);
    out = k.out_dx.template DeQue<T>();
    constexpr bool pairs = MODE == ROTARY_PAIRS || MODE == ROTARY_PLANES;
    if (k.t->ragged) {
        uint32_t apart = k.t->flat ? run_pitch<MODE>(tile) : tile.run;
        store_runs<T, pairs>(k, out, tile.area, s, apart);
    } else {
        move_rows<T, pairs, false>(out, k.dx, tile.area, s, *k.t);
    }
    k.out_dx.FreeTensor(out);
}

/* The terms of dcos and dsin, each row of the tile a slab: [dcos of all rows of cos][dsin of all].
 * In halves and planes the sign of dsinA is left out; in SWAPPED modes the partners stand in each
 * other's place, too. */
template <typename T, int MODE>
__aicore__ inline void make_terms(Kernel<T> &k, const Band &band, const Tile &tile,
                                  const LocalTensor<float> &dy, const LocalTensor<float> &partner,
                                  const LocalTensor<float> &x) {
    const Strip &s = band.strip;
    Steps to = {s.row, 2 * tile.cos_rows * s.row};
    LocalTensor<float> dcos = k.terms, dsin = k.terms[tile.cos_rows * s.row];
    if constexpr (MODE != ROTARY_PLANES) {
        apply_grid<MUL>(dcos, to, dy, tile.steps, x, tile.steps, tile.cos_rows, tile.rows, s.row);
    }
    if constexpr (SWAPPED<MODE>) {
        apply_grid<MUL>(dsin, to, partner, tile.steps, x, tile.steps, tile.cos_rows, tile.rows,
                        s.row);
        return;
    }
    uint32_t half = MODE == ROTARY_PLANES ? tile.plane : s.pitch; /* of x */
    Steps xs = MODE == ROTARY_PLANES ? tile.planes : tile.steps;
    for (uint32_t g = 0; g < s.row; g += 2 * s.pitch) { /* planes have one rotation */
        uint32_t b = g + s.pitch;
        if constexpr (MODE == ROTARY_PLANES) {
            apply_grid<MUL>(dcos, to, dy, tile.steps, x, xs, tile.cos_rows, tile.rows, s.pitch);
            apply_grid<MUL>(dcos[b], to, dy[b], tile.steps, x[half], xs, tile.cos_rows, tile.rows,
                            s.pitch);
        }
        apply_grid<MUL>(dsin[g], to, dy[g], tile.steps, x[g + half], xs, tile.cos_rows, tile.rows,
                        s.pitch);
        apply_grid<MUL>(dsin[b], to, dy[b], tile.steps, x[g], xs, tile.cos_rows, tile.rows,
                        s.pitch);
    }
}

/* Adds the terms of a tile into the accumulators. done: tiles of the same rows of cos so far, this
 * one included. */
template <typename T>
__aicore__ inline void accumulate(Kernel<T> &k, const Band &band, const Tile &tile, int64_t done) {
    const RotaryGradTiling &t = *k.t;
    uint32_t size = tile.cos_rows * band.strip.row, at = tile.first * band.strip.row;
    add_tree(k.terms, tile.rows, 2 * size);
    LocalTensor<float> level = k.sums[at];
    Add(level, level, k.terms, (int32_t)size);
    Add(level[t.cosines], level[t.cosines], k.terms[size], (int32_t)size);
    for (uint32_t i = 1; i < t.levels && done % ROTARY_FAN == 0; i++, done /= ROTARY_FAN) {
        LocalTensor<float> next = level[2 * t.cosines];
        vector_done();
        Add(next, next, level, (int32_t)size);
        Add(next[t.cosines], next[t.cosines], level[t.cosines], (int32_t)size);
        vector_done();
        Duplicate(level, 0.0f, (int32_t)size);
        Duplicate(level[t.cosines], 0.0f, (int32_t)size);
        level = next;
    }
}

/* x in fp32, in planes for ROTARY_PLANES. The queue's own tensor where nothing has to change. */
template <typename T, int MODE>
__aicore__ inline LocalTensor<float> widen_x(Kernel<T> &k, const Band &band, const Tile &tile,
                                             LocalTensor<T> &in) {
    uint32_t n = tile.cos_rows * tile.rows, count = n * band.strip.row;
    LocalTensor<float> x = k.w_x;
    if constexpr (MODE == ROTARY_PLANES) {
        clear_pad(in, n, band.strip);
        if constexpr (sizeof(T) == 4) {
            deal(x, tile.plane, in, count);
        } else if constexpr (IsSameType<T, bfloat16_t>::value) {
            deal_words(x, tile.plane, in.template ReinterpretCast<uint32_t>(), count);
        } else {
            Cast(k.w_other, in, RoundMode::CAST_NONE, count);
            vector_done();
            deal(x, tile.plane, k.w_other, count);
        }
        k.in_x.FreeTensor(in);
    } else if constexpr (sizeof(T) == 4) {
        x = in;
    } else {
        cast_runs<MODE>(x, in, RoundMode::CAST_NONE, tile);
        k.in_x.FreeTensor(in);
    }
    return x;
}

/* dy in fp32; SWAPPED modes also leave it in w_swap with partners swapped. */
template <typename T, int MODE>
__aicore__ inline LocalTensor<float> widen_dy(Kernel<T> &k, const Tile &tile, LocalTensor<T> &in) {
    LocalTensor<float> dy = k.w_dy;
    if constexpr (sizeof(T) == 4) {
        dy = in;
    } else {
        cast_runs<MODE>(dy, in, RoundMode::CAST_NONE, tile);
    }
    if constexpr (SWAPPED<MODE> && sizeof(T) == 4) {
        gather_all(k.w_swap, dy, tile.area.runs * tile.run, k.table, k.t->table, 4);
    } else if constexpr (SWAPPED<MODE>) {
        LocalTensor<T> swapped = k.w_dx.template ReinterpretCast<T>();
        uint32_t pitch = run_pitch<MODE>(tile);
        if (MODE == ROTARY_PAIRS || pitch == tile.run) { /* pairs do not care about gaps */
            swap_partners<T, MODE>(k, swapped, in, k.w_other, tile.area.runs * pitch);
        } else {
            for (uint32_t i = 0; i < tile.area.runs; i++) {
                swap_partners<T, MODE>(k, swapped[i * pitch], in[i * pitch], k.w_other, tile.run);
            }
        }
        vector_done();
        cast_runs<MODE>(k.w_swap, swapped, RoundMode::CAST_NONE, tile);
    }
    if constexpr (sizeof(T) == 2) {
        k.in_dy.FreeTensor(in);
    }
    return dy;
}

template <typename T, int MODE>
__aicore__ inline void do_tile(Kernel<T> &k, const Band &band, const Tile &tile, int64_t done) {
    const RotaryGradTiling &t = *k.t;
    constexpr bool wide = sizeof(T) == 4;
    LocalTensor<T> dy_in = k.in_dy.template AllocTensor<T>(), x_in;
    move_rows<T, MODE == ROTARY_PAIRS, true>(dy_in, k.dy, tile.area, band.strip, t);
    k.in_dy.EnQue(dy_in);
    if (t.with_x) {
        x_in = k.in_x.template AllocTensor<T>();
        move_rows<T, MODE == ROTARY_PAIRS || MODE == ROTARY_PLANES, true>(x_in, k.x, tile.area,
                                                                          band.strip, t);
        k.in_x.EnQue(x_in);
    }
    dy_in = k.in_dy.template DeQue<T>();
    vector_done();
    LocalTensor<float> dx = k.w_dx, x;
    LocalTensor<float> dy = widen_dy<T, MODE>(k, tile, dy_in);
    LocalTensor<float> partner = SWAPPED<MODE> ? k.w_swap : dy;
    if (MODE == ROTARY_PLANES && t.with_x) { /* needs w_other before Multiply does */
        x_in = k.in_x.template DeQue<T>();
        x = widen_x<T, MODE>(k, band, tile, x_in);
    }
    LocalTensor<T> out = k.out_dx.template AllocTensor<T>();
    if constexpr (wide && MODE != ROTARY_PLANES) {
        dx = out;
    }
    vector_done();
    multiply<T, MODE>(k, band, tile, dx, dy, partner);
    if (MODE != ROTARY_PLANES && t.with_x) {
        x_in = k.in_x.template DeQue<T>();
        x = widen_x<T, MODE>(k, band, tile, x_in);
    }
    vector_done();
    combine<T, MODE>(k, band, tile, dx);
    store_dx<T, MODE>(k, band, tile, out);
    if (t.with_x) {
        vector_done();
        make_terms<T, MODE>(k, band, tile, dy, partner, x);
    }
    if constexpr (wide) {
        k.in_dy.FreeTensor(dy_in);
        if (MODE != ROTARY_PLANES && t.with_x) {
            k.in_x.FreeTensor(x_in);
        }
    }
    if (t.levels > 0) {
        vector_done();
        accumulate(k, band, tile, done);
    }
}

} // namespace rotary

#endif
