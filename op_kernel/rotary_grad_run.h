/* SPDX-License-Identifier: Apache-2.0
 *
 * The walk of RotaryMulGrad and RotaryPositionEmbeddingGrad: which rows of cos a core works on,
 * their sums from the first chunk to the stored row, and what is left to do when the sum of a row
 * was spread over several cores.
 */
#ifndef ROTARY_GRAD_RUN_H
#define ROTARY_GRAD_RUN_H

#include "rotary_grad_tile.h"

namespace rotary {

/* An even share: at most `limit` of `n`, so that the last share is not a remainder. */
__aicore__ inline uint32_t even_share(int64_t n, uint32_t limit) {
    int64_t shares = (n + limit - 1) / limit;
    return (uint32_t)((n + shares - 1) / shares);
}

/* Rows of dcos (which = 0) or dsin (1), summed up, to T: the sign of dsin, and in SWAPPED modes its
 * order, are put right. Spoils the rows. */
template <typename T, int MODE>
__aicore__ inline void finish_sums(Kernel<T> &k, const Band &band, uint32_t which,
                                   const LocalTensor<T> &out, const LocalTensor<float> &rows) {
    const RotaryGradTiling &t = *k.t;
    const Strip &s = band.strip;
    uint32_t count = band.count * s.row, rotations = band.count * t.rotations, step = 2 * s.pitch;
    if (which == 1) {
        if constexpr (SWAPPED<MODE>) {
            negate_second<MODE>(k, rows, band.count, s.row);
        } else {
            scale_rows(rows, step, rows, step, -1.0f, rotations, s.pitch);
        }
        vector_done();
    }
    if (SWAPPED<MODE> && which == 1) {
        if constexpr (sizeof(T) == 4) {
            gather_all(out, rows, count, k.table, t.table, 4);
        } else {
            LocalTensor<T> narrow = k.w_dy.template ReinterpretCast<T>();
            Cast(narrow, rows, RoundMode::CAST_RINT, count);
            vector_done();
            swap_partners<T, MODE>(k, out, narrow, k.w_swap, count);
        }
    } else if constexpr (sizeof(T) == 4) {
        Muls(out, rows, 1.0f, (int32_t)count);
    } else {
        Cast(out, rows, RoundMode::CAST_RINT, count);
    }
}

template <typename T, int MODE>
__aicore__ inline void store_sums(Kernel<T> &k, const Band &band, uint32_t which,
                                  const LocalTensor<float> &rows) {
    const RotaryGradTiling &t = *k.t;
    LocalTensor<T> out = k.out_sum.template AllocTensor<T>();
    vector_done();
    finish_sums<T, MODE>(k, band, which, out, rows);
    k.out_sum.EnQue(out);
    out = k.out_sum.template DeQue<T>();
    Area area = {band.slab * t.cos_rows + band.cos_row, 1, band.count, 0};
    move_rows<T, MODE == ROTARY_PAIRS, false>(out, k.sum[which], area, band.strip, t);
    k.out_sum.FreeTensor(out);
}

/* The same rows as part of a sum, to the workspace. */
template <typename T>
__aicore__ inline void store_partial(Kernel<T> &k, const Band &band, uint32_t which,
                                     const LocalTensor<float> &rows, int64_t segment) {
    const RotaryGradTiling &t = *k.t;
    int64_t row = t.sum_row;
    uint32_t count = band.count * band.strip.row;
    LocalTensor<float> out = k.out_sum.template AllocTensor<float>();
    vector_done();
    Muls(out, rows, 1.0f, (int32_t)count);
    k.out_sum.EnQue(out);
    out = k.out_sum.template DeQue<float>();
    copy_out(k.partial[((segment * 2 + which) * t.lines + band.line) * row], out, 1,
             (int64_t)count * 4, 0, 0);
    k.out_sum.FreeTensor(out);
}

/* From `line` on: as many rows of cos as share a load of cos and sin, not beyond `end`. */
template <typename T, int MODE>
__aicore__ inline Band band_at(const RotaryGradTiling &t, int64_t line, int64_t end) {
    Band band;
    band.line = line;
    int64_t row = line / t.strips;
    band.strip = strip_of<T, MODE == ROTARY_PAIRS>(t, line - row * t.strips);
    band.slab = row / t.cos_rows;
    band.cos_row = row - band.slab * t.cos_rows;
    int64_t left = t.cos_rows - band.cos_row < end - line ? t.cos_rows - band.cos_row : end - line;
    band.count = t.strips > 1 ? 1 : even_share(left, t.band_cos);
    return band;
}

template <typename T, int MODE>
__aicore__ inline void do_band(Kernel<T> &k, Band &band, int64_t first_chunk, int64_t end_chunk,
                               int64_t segment) {
    const RotaryGradTiling &t = *k.t;
    load_cosines<T, MODE>(k, band);
    if (t.levels > 0) {
        Duplicate(k.sums, 0.0f, (int32_t)(t.levels * 2 * t.cosines));
    }
    uint32_t size = band.strip.row;
    for (uint32_t done = 0; done < band.count;) {
        uint32_t count = even_share(band.count - done, t.tile_cos);
        for (int64_t chunk = first_chunk; chunk < end_chunk; chunk++) {
            Tile tile = tile_of<T>(t, band, done, count, chunk);
            do_tile<T, MODE>(k, band, tile, chunk - first_chunk + 1);
        }
        done += count;
    }
    free_cosines<T>(k, band);
    if (t.ragged && band.line % t.strips == 0) {
        close_seams<T, MODE == ROTARY_TURNED ? (int)ROTARY_HALVES : MODE>(k, band, first_chunk,
                                                                          end_chunk);
    }
    if (!t.with_x) {
        return;
    }
    /* The upper levels into the first, the highest first. */
    for (uint32_t i = t.levels; i > 1; i--) {
        vector_done();
        Add(k.sums[(i - 2) * 2 * t.cosines], k.sums[(i - 2) * 2 * t.cosines],
            k.sums[(i - 1) * 2 * t.cosines], (int32_t)(2 * t.cosines));
    }
    if (MODE == ROTARY_PLANES &&
        t.levels == 0) { /* 0 + x as in a sum: Pick does not keep the sign of a zero */
        vector_done();
        Adds(k.terms, k.terms, 0.0f, (int32_t)(2 * band.count * size));
    }
    for (uint32_t which = 0; which < 2; which++) {
        LocalTensor<float> rows =
            t.levels > 0 ? k.sums[which * t.cosines] : k.terms[which * band.count * size];
        if (t.partial) {
            store_partial<T>(k, band, which, rows, segment);
        } else {
            store_sums<T, MODE>(k, band, which, rows);
        }
    }
}

/* One row of dcos or dsin from its segments, in their order. */
template <typename T, int MODE>
__aicore__ inline void join_segments(Kernel<T> &k, Band &band, uint32_t which) {
    const RotaryGradTiling &t = *k.t;
    int64_t row = t.sum_row, apart = 2 * t.lines * row;
    uint32_t widest = t.tile * sizeof(T) / 4 / ROTARY_FOLD / BLOCK * BLOCK;
    band.count = 1;
    vector_done();
    Duplicate(k.sums, 0.0f, (int32_t)band.strip.row);
    for (uint32_t column = 0; column < band.strip.row; column += widest) {
        uint32_t columns = band.strip.row - column < widest ? band.strip.row - column : widest;
        for (int64_t segment = 0; segment < t.segments; segment += ROTARY_FOLD) {
            int64_t left = t.segments - segment;
            uint32_t n = (uint32_t)(left < ROTARY_FOLD ? left : (int64_t)ROTARY_FOLD);
            LocalTensor<float> in = k.in_dy.template AllocTensor<float>();
            copy_in(in, k.partial[(segment * 2 + which) * t.lines * row + band.line * row + column],
                    n, columns * 4, (apart - columns) * 4, 0, 0);
            k.in_dy.EnQue(in);
            in = k.in_dy.template DeQue<float>();
            vector_done();
            add_tree(in, n, columns);
            Add(k.sums[column], k.sums[column], in, (int32_t)columns);
            k.in_dy.FreeTensor(in);
        }
    }
    store_sums<T, MODE>(k, band, which, k.sums);
}

/* dcos and dsin where there is nothing to sum. */
template <typename T> __aicore__ inline void clear_sums(Kernel<T> &k) {
    const RotaryGradTiling &t = *k.t;
    constexpr int64_t block = 32 / sizeof(T);
    int64_t blocks = (t.zeros + block - 1) / block, cores = GetBlockNum(), core = GetBlockIdx();
    int64_t from = blocks * core / cores * block, to = blocks * (core + 1) / cores * block;
    to = to < t.zeros ? to : t.zeros;
    if (from >= to) {
        return;
    }
    LocalTensor<T> zero = k.out_dx.template AllocTensor<T>();
    Duplicate(zero.template ReinterpretCast<int32_t>(), (int32_t)0,
              (int32_t)(t.tile * sizeof(T) / 4));
    k.out_dx.EnQue(zero);
    zero = k.out_dx.template DeQue<T>();
    for (; from < to; from += t.tile) {
        int64_t n = to - from < t.tile ? to - from : t.tile;
        copy_out(k.sum[0][from], zero, 1, n * sizeof(T), 0, 0);
        copy_out(k.sum[1][from], zero, 1, n * sizeof(T), 0, 0);
    }
    k.out_dx.FreeTensor(zero);
}

/* MODE as in rotary_grad.h; JOIN: the sums of a row are spread over cores. */
template <typename T, int MODE, bool JOIN>
__aicore__ inline void run(const RotaryGradTiling &t, const Args &args) {
    TPipe pipe;
    Kernel<T> k;
    set_up<T, MODE>(k, t, args, pipe);
    if (t.zeros > 0) {
        clear_sums<T>(k);
    }
    int64_t cores = GetBlockNum(), core = GetBlockIdx();
    int64_t units = (t.lines + t.unit - 1) / t.unit, items = units * t.segments;
    int64_t item = items * core / cores, end = items * (core + 1) / cores;
    k.item = item;
    k.end = end;
    if (JOIN) {
        k.partial.SetGlobalBuffer((__gm__ float *)GetUserWorkspace(args.workspace));
    }
    while (item < end) {
        int64_t unit = item / t.segments, segment = item - unit * t.segments;
        /* Without segments a core's units are one run of lines. */
        int64_t taken = t.segments == 1 ? end - item : 1;
        int64_t line = unit * t.unit, stop = (unit + taken) * t.unit;
        stop = stop < t.lines ? stop : t.lines;
        int64_t first_chunk = t.chunks * segment / t.segments,
                end_chunk = t.chunks * (segment + 1) / t.segments;
        while (line < stop) {
            Band band = band_at<T, MODE>(t, line, stop);
            do_band<T, MODE>(k, band, first_chunk, end_chunk, segment);
            line += band.count;
        }
        item += taken;
    }
    if constexpr (JOIN) {
        SyncAll();
        /* dcos and dsin of every unit */
        int64_t rows = 2 * ((t.lines + t.join_unit - 1) / t.join_unit);
        for (int64_t i = rows * core / cores; i < rows * (core + 1) / cores; i++) {
            for (int64_t line = i / 2 * t.join_unit;
                 line < (i / 2 + 1) * t.join_unit && line < t.lines; line++) {
                Band band = band_at<T, MODE>(t, line, line + 1);
                join_segments<T, MODE>(k, band, (uint32_t)(i & 1));
            }
        }
    }
}

} // namespace rotary

#endif
