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
    uint32_t first, keys, rows; /* first: among the Keys */
    Steps steps, planes;        /* through the UB, for rows and for planes */
    uint32_t plane;             /* from plane to plane */
    uint32_t run;               /* elements of a run of neighbouring rows */
};

/* Runs of neighbouring rows begin at 32-byte blocks in a 16-bit type. If it takes two rows to fill
 * blocks, which SWAPPED modes do not mind, that may leave a gap between runs. */
template <int MODE> __aicore__ inline uint32_t RunPitch(const Tile &tile) {
    return SWAPPED<MODE> ? (tile.run + 15) / 16 * 16 : tile.run;
}

/* Between a 16-bit type, where runs may have gaps, and fp32, where they follow each other. */
template <int MODE, typename TO, typename FROM>
__aicore__ inline void CastRuns(const LocalTensor<TO> &to, const LocalTensor<FROM> &from,
                                const RoundMode mode, const Tile &tile) {
    uint32_t pitch = RunPitch<MODE>(tile), to_pitch = sizeof(TO) == 2 ? pitch : tile.run;
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
__aicore__ inline Tile TileOf(const RotaryGradTiling &t, const Keys &keys, uint32_t first,
                              uint32_t count, int64_t chunk) {
    int64_t outer = chunk / t.chunks_inner, inner = (chunk - outer * t.chunks_inner) * t.chunk_rows;
    int64_t left = t.inner - inner;
    Tile tile;
    tile.first = first;
    tile.keys = count;
    tile.rows = (uint32_t)(left < t.chunk_rows ? left : t.chunk_rows);
    uint32_t n = tile.keys * tile.rows, key = t.keys_last ? 1 : tile.rows,
             row = t.keys_last ? tile.keys : 1;
    tile.steps = {key * keys.strip.row, row * keys.strip.row};
    tile.planes = {key * keys.strip.pitch, row * keys.strip.pitch};
    tile.plane = sizeof(T) == 4 ? t.tile / 2 : (n * keys.strip.pitch + 15) / 16 * 16;
    tile.area.first = keys.slab * t.slab_stride + outer * t.outer_stride +
                      (keys.key + first) * t.key_stride + inner * t.inner_stride;
    tile.area.runs = t.keys_last ? tile.rows : 1;
    tile.area.rows = t.keys_last ? tile.keys : n;
    tile.area.stride = t.inner_stride;
    tile.run = tile.area.rows * keys.strip.row;
    return tile;
}

/* dx = cos * dy + what the partner gives. MODE 3 makes dx in planes. */
template <typename T, int MODE>
__aicore__ inline void Multiply(Kernel<T> &k, const Keys &keys, const Tile &tile,
                                const LocalTensor<float> &dx, const LocalTensor<float> &dy,
                                const LocalTensor<float> &partner) {
    const Strip &s = keys.strip;
    uint32_t at = tile.first * s.row;
    Steps cs = {s.row, 0};
    if constexpr (MODE == 3) {
        for (uint32_t p = 0; p < 2; p++) {
            Grid<MUL>(dx[p * tile.plane], tile.planes, keys.cos[at + p * s.pitch], cs,
                      dy[p * s.pitch], tile.steps, tile.keys, tile.rows, s.pitch);
            Grid<MUL>(k.w_other[p * tile.plane], tile.planes, keys.sin[at + p * s.pitch], cs,
                      dy[p * s.pitch], tile.steps, tile.keys, tile.rows, s.pitch);
        }
    } else {
        Grid<MUL>(dx, tile.steps, keys.cos[at], cs, dy, tile.steps, tile.keys, tile.rows, s.row);
        Grid<MUL>(k.w_other, tile.steps, keys.sin[at], cs, partner, tile.steps, tile.keys,
                  tile.rows, s.row);
    }
}

template <typename T, int MODE>
__aicore__ inline void Combine(Kernel<T> &k, const Keys &keys, const Tile &tile,
                               const LocalTensor<float> &dx) {
    const Strip &s = keys.strip;
    uint32_t n = tile.keys * tile.rows;
    if constexpr (MODE == 0) {
        uint32_t step = 2 * s.pitch, groups = n * k.t->groups;
        Rows<ADD>(dx, step, dx, step, k.w_other[s.pitch], step, groups, s.pitch);
        Rows<SUB>(dx[s.pitch], step, dx[s.pitch], step, k.w_other, step, groups, s.pitch);
    } else if constexpr (SWAPPED<MODE>) {
        Flat<ADD>(dx, dx, k.w_other, n * s.row);
    } else {
        Flat<ADD>(dx, dx, k.w_other[tile.plane], n * s.pitch);
        Flat<SUB>(dx[tile.plane], dx[tile.plane], k.w_other, n * s.pitch);
    }
}

/* dx to T and to memory. Where dx has been made in out itself there is nothing left to do but to
 * store. */
template <typename T, int MODE>
__aicore__ inline void StoreDx(Kernel<T> &k, const Keys &keys, const Tile &tile,
                               LocalTensor<T> &out) {
    const Strip &s = keys.strip;
    uint32_t n = tile.keys * tile.rows;
    if constexpr (MODE == 3) {
        PipeBarrier<PIPE_V>();
        if constexpr (sizeof(T) == 4) {
            GatherAll(out, k.w_dx, n * s.row, k.table, k.t->table, 2);
        } else {
            InterleaveWords<T>(out, k.w_dx, tile.plane, k.w_other, n * s.pitch);
        }
    } else if constexpr (sizeof(T) == 2) {
        PipeBarrier<PIPE_V>();
        CastRuns<MODE>(out, k.w_dx, RoundMode::CAST_RINT, tile);
    }
    k.out_dx.EnQue(out);
    out = k.out_dx.template DeQue<T>();
    constexpr bool pairs = MODE == 1 || MODE == 3;
    if (k.t->ragged) {
        uint32_t apart = k.t->flat ? RunPitch<MODE>(tile) : tile.run;
        StoreRuns<T, pairs>(k, out, tile.area, s, apart);
    } else {
        Move<T, pairs, false>(out, k.dx, tile.area, s, *k.t);
    }
    k.out_dx.FreeTensor(out);
}

/* The terms of dcos and dsin, each row of the tile a slab: [dcos of all keys][dsin of all keys]. In
 * modes 0 and 3 the sign of dsinA is left out; in SWAPPED modes the partners stand in each other's
 * place, too. */
template <typename T, int MODE>
__aicore__ inline void Terms(Kernel<T> &k, const Keys &keys, const Tile &tile,
                             const LocalTensor<float> &dy, const LocalTensor<float> &partner,
                             const LocalTensor<float> &x) {
    const Strip &s = keys.strip;
    Steps to = {s.row, 2 * tile.keys * s.row};
    LocalTensor<float> dcos = k.terms, dsin = k.terms[tile.keys * s.row];
    if constexpr (MODE != 3) {
        Grid<MUL>(dcos, to, dy, tile.steps, x, tile.steps, tile.keys, tile.rows, s.row);
    }
    if constexpr (SWAPPED<MODE>) {
        Grid<MUL>(dsin, to, partner, tile.steps, x, tile.steps, tile.keys, tile.rows, s.row);
        return;
    }
    uint32_t half = MODE == 3 ? tile.plane : s.pitch; /* of x */
    Steps xs = MODE == 3 ? tile.planes : tile.steps;
    for (uint32_t g = 0; g < s.row; g += 2 * s.pitch) { /* mode 3 has one group */
        uint32_t b = g + s.pitch;
        if constexpr (MODE == 3) {
            Grid<MUL>(dcos, to, dy, tile.steps, x, xs, tile.keys, tile.rows, s.pitch);
            Grid<MUL>(dcos[b], to, dy[b], tile.steps, x[half], xs, tile.keys, tile.rows, s.pitch);
        }
        Grid<MUL>(dsin[g], to, dy[g], tile.steps, x[g + half], xs, tile.keys, tile.rows, s.pitch);
        Grid<MUL>(dsin[b], to, dy[b], tile.steps, x[g], xs, tile.keys, tile.rows, s.pitch);
    }
}

/* Adds the terms of a tile into the accumulators. done: tiles of the same keys so far, this one
 * included. */
template <typename T>
__aicore__ inline void Accumulate(Kernel<T> &k, const Keys &keys, const Tile &tile, int64_t done) {
    const RotaryGradTiling &t = *k.t;
    uint32_t size = tile.keys * keys.strip.row, at = tile.first * keys.strip.row;
    Tree(k.terms, tile.rows, 2 * size);
    LocalTensor<float> level = k.sums[at];
    Add(level, level, k.terms, (int32_t)size);
    Add(level[t.cosines], level[t.cosines], k.terms[size], (int32_t)size);
    for (uint32_t i = 1; i < t.levels && (done & 15) == 0; i++, done >>= 4) {
        LocalTensor<float> next = level[2 * t.cosines];
        PipeBarrier<PIPE_V>();
        Add(next, next, level, (int32_t)size);
        Add(next[t.cosines], next[t.cosines], level[t.cosines], (int32_t)size);
        PipeBarrier<PIPE_V>();
        Duplicate(level, 0.0f, (int32_t)size);
        Duplicate(level[t.cosines], 0.0f, (int32_t)size);
        level = next;
    }
}

/* x in fp32, in planes for MODE 3. The queue's own tensor where nothing has to change. */
template <typename T, int MODE>
__aicore__ inline LocalTensor<float> WidenX(Kernel<T> &k, const Keys &keys, const Tile &tile,
                                            LocalTensor<T> &in) {
    uint32_t n = tile.keys * tile.rows, count = n * keys.strip.row;
    LocalTensor<float> x = k.w_x;
    if constexpr (MODE == 3) {
        ClearPad(in, n, keys.strip);
        if constexpr (sizeof(T) == 4) {
            Deal(x, tile.plane, in, count);
        } else if constexpr (IsSameType<T, bfloat16_t>::value) {
            DealWords(x, tile.plane, in.template ReinterpretCast<uint32_t>(), count);
        } else {
            Cast(k.w_other, in, RoundMode::CAST_NONE, count);
            PipeBarrier<PIPE_V>();
            Deal(x, tile.plane, k.w_other, count);
        }
        k.in_x.FreeTensor(in);
    } else if constexpr (sizeof(T) == 4) {
        x = in;
    } else {
        CastRuns<MODE>(x, in, RoundMode::CAST_NONE, tile);
        k.in_x.FreeTensor(in);
    }
    return x;
}

/* dy in fp32; SWAPPED modes also leave it in w_swap with partners swapped. */
template <typename T, int MODE>
__aicore__ inline LocalTensor<float> WidenDy(Kernel<T> &k, const Tile &tile, LocalTensor<T> &in) {
    LocalTensor<float> dy = k.w_dy;
    if constexpr (sizeof(T) == 4) {
        dy = in;
    } else {
        CastRuns<MODE>(dy, in, RoundMode::CAST_NONE, tile);
    }
    if constexpr (SWAPPED<MODE> && sizeof(T) == 4) {
        GatherAll(k.w_swap, dy, tile.area.runs * tile.run, k.table, k.t->table, 4);
    } else if constexpr (SWAPPED<MODE>) {
        LocalTensor<T> swapped = k.w_dx.template ReinterpretCast<T>();
        uint32_t pitch = RunPitch<MODE>(tile);
        if (MODE == 1 || pitch == tile.run) { /* pairs do not care about gaps */
            Swap<T, MODE>(k, swapped, in, k.w_other, tile.area.runs * pitch);
        } else {
            for (uint32_t i = 0; i < tile.area.runs; i++) {
                Swap<T, MODE>(k, swapped[i * pitch], in[i * pitch], k.w_other, tile.run);
            }
        }
        PipeBarrier<PIPE_V>();
        CastRuns<MODE>(k.w_swap, swapped, RoundMode::CAST_NONE, tile);
    }
    if constexpr (sizeof(T) == 2) {
        k.in_dy.FreeTensor(in);
    }
    return dy;
}

template <typename T, int MODE>
__aicore__ inline void DoTile(Kernel<T> &k, const Keys &keys, const Tile &tile, int64_t done) {
    const RotaryGradTiling &t = *k.t;
    constexpr bool wide = sizeof(T) == 4;
    LocalTensor<T> dy_in = k.in_dy.template AllocTensor<T>(), x_in;
    Move<T, MODE == 1, true>(dy_in, k.dy, tile.area, keys.strip, t);
    k.in_dy.EnQue(dy_in);
    if (t.with_x) {
        x_in = k.in_x.template AllocTensor<T>();
        Move<T, MODE == 1 || MODE == 3, true>(x_in, k.x, tile.area, keys.strip, t);
        k.in_x.EnQue(x_in);
    }
    dy_in = k.in_dy.template DeQue<T>();
    PipeBarrier<PIPE_V>();
    LocalTensor<float> dx = k.w_dx, x;
    LocalTensor<float> dy = WidenDy<T, MODE>(k, tile, dy_in);
    LocalTensor<float> partner = SWAPPED<MODE> ? k.w_swap : dy;
    if (MODE == 3 && t.with_x) { /* needs w_other before Multiply does */
        x_in = k.in_x.template DeQue<T>();
        x = WidenX<T, MODE>(k, keys, tile, x_in);
    }
    LocalTensor<T> out = k.out_dx.template AllocTensor<T>();
    if constexpr (wide && MODE != 3) {
        dx = out;
    }
    PipeBarrier<PIPE_V>();
    Multiply<T, MODE>(k, keys, tile, dx, dy, partner);
    if (MODE != 3 && t.with_x) {
        x_in = k.in_x.template DeQue<T>();
        x = WidenX<T, MODE>(k, keys, tile, x_in);
    }
    PipeBarrier<PIPE_V>();
    Combine<T, MODE>(k, keys, tile, dx);
    StoreDx<T, MODE>(k, keys, tile, out);
    if (t.with_x) {
        PipeBarrier<PIPE_V>();
        Terms<T, MODE>(k, keys, tile, dy, partner, x);
    }
    if constexpr (wide) {
        k.in_dy.FreeTensor(dy_in);
        if (MODE != 3 && t.with_x) {
            k.in_x.FreeTensor(x_in);
        }
    }
    if (t.levels > 0) {
        PipeBarrier<PIPE_V>();
        Accumulate(k, keys, tile, done);
    }
}

} // namespace rotary

#endif
