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

/* Rows of dcos (which = 0) or dsin (1), summed up, to their type: the sign of dsin, and in SWAPPED
 * modes its order, are put right. Spoils the rows. */
template <typename T, int MODE>
__aicore__ inline void finish_sums(Kernel<T> &k, const Band &band, uint32_t which,
                                   const LocalTensor<Table<T>> &out,
                                   const LocalTensor<float> &rows) {
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
        if constexpr (sizeof(Table<T>) == 4) {
            gather_all(out, rows, count, k.table, t.table, 4);
        } else {
            LocalTensor<T> narrow = k.w_dy.template ReinterpretCast<T>();
            cast_run(narrow, rows, RoundMode::CAST_RINT, count);
            vector_done();
            swap_partners<T, MODE>(k, out, narrow, k.w_swap, count);
        }
    } else if constexpr (sizeof(Table<T>) == 4) {
        Muls(out, rows, 1.0f, (int32_t)count);
    } else {
        cast_run(out, rows, RoundMode::CAST_RINT, count);
    }
}

template <typename T, int MODE>
__aicore__ inline void store_sums(Kernel<T> &k, const Band &band, uint32_t which,
                                  const LocalTensor<float> &rows) {
    const RotaryGradTiling &t = *k.t;
    LocalTensor<Table<T>> out = k.out_sum.template AllocTensor<Table<T>>();
    vector_done();
    finish_sums<T, MODE>(k, band, which, out, rows);
    k.out_sum.EnQue(out);
    out = k.out_sum.template DeQue<Table<T>>();
    Area area = {band.slab * t.cos_rows + band.cos_row, 1, band.count, 0};
    move_rows<Table<T>, MODE == ROTARY_PAIRS, false>(out, k.sum[which], area, band.strip, t);
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
    band.tile = t.strips > 1 ? 1 : even_share(left, t.tile_cos);
    int64_t count = band.tile * (t.band_cos / t.tile_cos);
    band.count = (uint32_t)(t.strips > 1 ? 1 : count < left ? count : left);
    return band;
}

/* The walk of a core through its tiles, one tile ahead of what is computed. */
struct Walk {
    /* pieces of work */
    int64_t item, end;
    /* of a piece: lines, chunks, the first of these as outer step and chunk of inner */
    int64_t line, stop, segment, first_chunk, end_chunk, first_outer, first_step;
    /* inner steps of the last chunk of inner */
    uint32_t last_rows;
    Band band;
    /* of a tile: the first row of cos in the band, how many, the chunk, where it is in inner */
    uint32_t first, cos_rows;
    int64_t chunk, step;
    Spot spot;
    /* shapes of this tile and of the one before it */
    Tile tile[2];
    uint32_t shape;
    /* the band begins with this tile */
    bool fresh;
};

AICORE_INLINE bool has_shape(const Tile &tile, const Walk &w, uint32_t rows) {
    return tile.rows == rows && tile.cos_rows == w.cos_rows && tile.width == w.band.strip.width;
}

/* The shape of the tile at hand: that of the one before it, most of the time. */
template <typename T, int MODE> AICORE_INLINE void find_shape(const RotaryGradTiling &t, Walk &w) {
    uint32_t rows = w.step + 1 == t.chunks_inner ? w.last_rows : t.chunk_rows;
    if (!has_shape(w.tile[w.shape], w, rows)) {
        w.shape ^= 1;
        if (!has_shape(w.tile[w.shape], w, rows)) {
            shape_tile<T, MODE>(t, w.band.strip, w.tile[w.shape], w.cos_rows, rows);
        }
        w.spot.tile = &w.tile[w.shape];
    }
}

/* The first chunk of the rows of cos from `first` on. */
AICORE_INLINE void begin_rows(const RotaryGradTiling &t, Walk &w, uint32_t first) {
    uint32_t left = w.band.count - first;
    w.first = first;
    w.cos_rows = left < w.band.tile ? left : w.band.tile;
    w.chunk = w.first_chunk;
    w.step = w.first_step;
    w.spot.first = first;
    w.spot.done = 1;
    w.spot.row = w.band.slab * t.slab_stride + w.first_outer * t.outer_stride +
                 (w.band.cos_row + first) * t.cos_stride + w.step * t.chunk_rows * t.inner_stride;
}

template <typename T, int MODE> AICORE_INLINE void begin_band(const RotaryGradTiling &t, Walk &w) {
    w.band = band_at<T, MODE>(t, w.line, w.stop);
    w.fresh = true;
    begin_rows(t, w, 0);
}

template <typename T, int MODE>
__aicore__ inline void begin_piece(const RotaryGradTiling &t, Walk &w) {
    int64_t unit = w.item / t.segments;
    w.segment = w.item - unit * t.segments;
    /* Without segments a core's units are one run of lines. */
    int64_t taken = t.segments == 1 ? w.end - w.item : 1, stop = (unit + taken) * t.unit;
    w.item += taken;
    w.line = unit * t.unit;
    w.stop = stop < t.lines ? stop : t.lines;
    w.first_chunk = t.chunks * w.segment / t.segments;
    w.end_chunk = t.chunks * (w.segment + 1) / t.segments;
    w.first_outer = w.first_chunk / t.chunks_inner;
    w.first_step = w.first_chunk - w.first_outer * t.chunks_inner;
    begin_band<T, MODE>(t, w);
}

/* On to the next tile; false: there is none. */
template <typename T, int MODE> AICORE_INLINE bool step_on(const RotaryGradTiling &t, Walk &w) {
    w.fresh = false;
    w.spot.slot ^= 1;
    if (w.chunk + 1 < w.end_chunk) {
        w.chunk++;
        w.spot.done++;
        if (w.step + 1 < t.chunks_inner) {
            w.step++;
            w.spot.row += t.chunk_rows * t.inner_stride;
        } else {
            w.spot.row += t.outer_stride - w.step * t.chunk_rows * t.inner_stride;
            w.step = 0;
        }
    } else if (w.first + w.cos_rows < w.band.count) {
        begin_rows(t, w, w.first + w.cos_rows);
    } else if (w.line + w.band.count < w.stop) {
        w.line += w.band.count;
        begin_band<T, MODE>(t, w);
    } else if (w.item < w.end) {
        begin_piece<T, MODE>(t, w);
    } else {
        return false;
    }
    find_shape<T, MODE>(t, w);
    return true;
}

/* Sums of a band that is through, to memory; slot: a free one on the way in. */
template <typename T, int MODE>
AICORE_INLINE void end_band(Kernel<T> &k, Band &band, int64_t first_chunk, int64_t end_chunk,
                            int64_t segment, uint32_t slot) {
    const RotaryGradTiling &t = *k.t;
    free_cosines<T>(k, band);
    if (t.ragged && band.line % t.strips == 0) {
        close_seams<T, MODE == ROTARY_TURNED ? (int)ROTARY_HALVES : MODE>(k, band, first_chunk,
                                                                          end_chunk, slot);
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
    uint32_t size = band.count * band.strip.row;
    if (MODE == ROTARY_PLANES &&
        t.levels == 0) { /* 0 + x as in a sum: Pick does not keep the sign of a zero */
        vector_done();
        Adds(k.terms, k.terms, 0.0f, (int32_t)(2 * size));
    }
    for (uint32_t which = 0; which < 2; which++) {
        LocalTensor<float> rows = t.levels > 0 ? k.sums[which * t.cosines] : k.terms[which * size];
        if (t.partial) {
            store_partial<T>(k, band, which, rows, segment);
        } else {
            store_sums<T, MODE>(k, band, which, rows);
        }
    }
}

/* All tiles of a core, each fetched before the one in front of it is computed. */
template <typename T, int MODE> __aicore__ inline void do_pieces(Kernel<T> &k) {
    const RotaryGradTiling &t = *k.t;
    Walk w;
    w.item = k.item;
    w.end = k.end;
    w.last_rows = (uint32_t)(t.inner - (t.chunks_inner - 1) * t.chunk_rows);
    w.shape = w.spot.slot = 0;
    w.tile[0].rows = w.tile[1].rows = 0;
    begin_piece<T, MODE>(t, w);
    find_shape<T, MODE>(t, w);
    fetch_cosines<T, MODE>(k, w.band);
    fetch_tile<T, MODE>(k, w.band, w.spot);
    Band band;
    for (bool more = true; more;) {
        Spot spot = w.spot;
        int64_t first_chunk = w.first_chunk, end_chunk = w.end_chunk, segment = w.segment;
        bool starts = w.fresh;
        if (starts) {
            band = w.band;
            take_cosines<T, MODE>(k, band);
            if (t.levels > 0) {
                Duplicate(k.sums, 0.0f, (int32_t)(t.levels * 2 * t.cosines));
            }
        }
        more = step_on<T, MODE>(t, w);
        if (more) {
            if (w.fresh) {
                fetch_cosines<T, MODE>(k, w.band);
            }
            fetch_tile<T, MODE>(k, w.band, w.spot);
        }
        do_tile<T, MODE>(k, band, spot);
        if (!more || w.fresh) {
            end_band<T, MODE>(k, band, first_chunk, end_chunk, segment, spot.slot);
        }
    }
}

/* One row of dcos or dsin from its segments, in their order. */
template <typename T, int MODE>
__aicore__ inline void join_segments(Kernel<T> &k, Band &band, uint32_t which) {
    const RotaryGradTiling &t = *k.t;
    int64_t row = t.sum_row, apart = 2 * t.lines * row;
    uint32_t widest = t.tile * sizeof(T) / 4 / ROTARY_FOLD / BLOCK * BLOCK, slot = 0;
    band.count = 1;
    vector_done();
    Duplicate(k.sums, 0.0f, (int32_t)band.strip.row);
    for (uint32_t column = 0; column < band.strip.row; column += widest) {
        uint32_t columns = band.strip.row - column < widest ? band.strip.row - column : widest;
        for (int64_t segment = 0; segment < t.segments; segment += ROTARY_FOLD) {
            int64_t left = t.segments - segment;
            uint32_t n = (uint32_t)(left < ROTARY_FOLD ? left : (int64_t)ROTARY_FOLD);
            LocalTensor<float> in = k.dy_in[slot].template ReinterpretCast<float>();
            take_in(k, slot);
            copy_in(in, k.partial[(segment * 2 + which) * t.lines * row + band.line * row + column],
                    n, columns * 4, (apart - columns) * 4, 0, 0);
            send_in(k, slot);
            wait_in(k, slot);
            vector_done();
            sum_slabs(in, n, columns);
            apply_run<ADD>(k.sums[column], k.sums[column], in, columns);
            free_in(k, slot);
            slot ^= 1;
        }
    }
    store_sums<T, MODE>(k, band, which, k.sums);
}

/* dcos and dsin where there is nothing to sum. */
template <typename T> __aicore__ inline void clear_sums(Kernel<T> &k) {
    const RotaryGradTiling &t = *k.t;
    constexpr int64_t size = sizeof(Table<T>), block = 32 / size;
    int64_t tile = t.tile * sizeof(T) / size; /* of the buffers for dx */
    int64_t blocks = (t.zeros + block - 1) / block, cores = GetBlockNum(), core = GetBlockIdx();
    int64_t from = blocks * core / cores * block, to = blocks * (core + 1) / cores * block;
    to = to < t.zeros ? to : t.zeros;
    if (from >= to) {
        return;
    }
    uint32_t slot = take_out(k);
    LocalTensor<Table<T>> zero = k.dx_out[slot].template ReinterpretCast<Table<T>>();
    Duplicate(zero.template ReinterpretCast<int32_t>(), (int32_t)0, (int32_t)(tile * size / 4));
    send_out(k, slot);
    for (; from < to; from += tile) {
        int64_t n = to - from < tile ? to - from : tile;
        copy_out(k.sum[0][from], zero, 1, n * size, 0, 0);
        copy_out(k.sum[1][from], zero, 1, n * size, 0, 0);
    }
    free_out(k, slot);
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
    k.item = items * core / cores;
    k.end = items * (core + 1) / cores;
    if (JOIN) {
        k.partial.SetGlobalBuffer((__gm__ float *)GetUserWorkspace(args.workspace));
    }
    if (k.item < k.end) {
        do_pieces<T, MODE>(k);
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
    close_slots(k, pipe);
}

} // namespace rotary

#endif
