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

/* Rows of dcos (which = 0) or dsin (1), summed up, to their type: the sign of dsin, and for pairs
 * its order, are put right. Spoils the rows. */
template <typename T, int MODE>
__aicore__ inline void finish_sums(Kernel<T> &k, const Band &band, uint32_t which,
                                   const LocalTensor<Table<T>> &out,
                                   const LocalTensor<float> &rows) {
    const RotaryGradTiling &t = *k.t;
    const Strip &s = band.strip;
    uint32_t count = band.count * s.row, rotations = band.count * t.rotations, step = 2 * s.pitch;
    if (which == 1) {
        if constexpr (MODE == ROTARY_PAIRS) {
            negate_odd(rows, count);
        } else if (s.pitch == LANES && rotations <= REPEATS) {
            Muls<float, false>(rows, rows, -1.0f, MASK_PLACEHOLDER, Narrow8(rotations),
                               UnaryRepeatParams(1, 1, 2 * LANES / BLOCK, 2 * LANES / BLOCK));
        } else {
            scale_rows(rows, step, rows, step, -1.0f, rotations, s.pitch);
        }
        vector_done();
    }
    if (MODE == ROTARY_PAIRS && which == 1) {
        if constexpr (sizeof(Table<T>) == 4) {
            gather_all(out, rows, count, k.table, t.table, 4);
        } else {
            LocalTensor<T> narrow = k.w_dy.template ReinterpretCast<T>();
            cast_run(narrow, rows, RoundMode::CAST_RINT, count);
            vector_done();
            swap_words(out, narrow, k.w_swap.template ReinterpretCast<T>(), count);
        }
    } else if constexpr (sizeof(Table<T>) == 4) {
        Muls(out, rows, 1.0f, (int32_t)count);
    } else {
        cast_run(out, rows, RoundMode::CAST_RINT, count);
    }
}

/* Sums of a band to memory: dcos and dsin, or one of them; `apart` floats from the rows of the one
 * to those of the other. t.partial: they are parts of sums, for the workspace. */
template <typename T, int MODE, bool PARTIAL>
AICORE_INLINE void store_sums(Kernel<T> &k, const Band &band, uint32_t from, uint32_t to,
                              const LocalTensor<float> &rows, uint32_t apart) {
    const RotaryGradTiling &t = *k.t;
    uint32_t count = band.count * band.strip.row;
    Area area = {band.slab * t.cos_rows + band.cos_row, 1, band.count, 0};
    WaitFlag<HardEvent::MTE3_V>(k.slots.sum_free);
    vector_done();
    for (uint32_t i = from; i < to; i++) {
        if constexpr (PARTIAL) {
            Muls(k.sum_out[i].template ReinterpretCast<float>(), rows[(i - from) * apart], 1.0f,
                 (int32_t)count);
        } else {
            finish_sums<T, MODE>(k, band, i, k.sum_out[i], rows[(i - from) * apart]);
        }
    }
    SetFlag<HardEvent::V_MTE3>(k.slots.sum_full);
    WaitFlag<HardEvent::V_MTE3>(k.slots.sum_full);
    for (uint32_t i = from; i < to; i++) {
        const LocalTensor<Table<T>> &out = k.sum_out[i];
        if constexpr (PARTIAL) {
            int64_t at = ((band.segment * 2 + i) * t.lines + band.line) * t.sum_row;
            copy_out(k.partial[at], out.template ReinterpretCast<float>(), 1, (int64_t)count * 4, 0,
                     0);
        } else if (k.whole) {
            DataCopy(k.sum[i][area.first * t.row], out, count);
        } else {
            move_rows<Table<T>, MODE == ROTARY_PAIRS, false>(out, k.sum[i], area, band.strip, t,
                                                             t.row);
        }
    }
    SetFlag<HardEvent::MTE3_V>(k.slots.sum_free);
}

/* From `line` on: as many rows of cos as share a load of cos and sin, not beyond `end`. Where a run
 * of lines begins, in a piece or in a slab, its tiles are made about equal, and the first is what
 * is over: the sooner it is there, the sooner there is something to compute. */
template <typename T, int MODE>
__aicore__ inline void find_band(const RotaryGradTiling &t, Band &band, int64_t line, int64_t end,
                                 bool begins) {
    band.line = line;
    int64_t row = line / t.strips;
    band.strip = strip_of<T, MODE == ROTARY_PAIRS>(t, line - row * t.strips);
    band.slab = row / t.cos_rows;
    band.cos_row = row - band.slab * t.cos_rows;
    int64_t left = t.cos_rows - band.cos_row < end - line ? t.cos_rows - band.cos_row : end - line;
    if (t.strips > 1) {
        band.head = band.tile = band.count = 1;
        return;
    }
    if (begins || band.cos_row == 0) {
        int64_t tiles = (left + t.tile_cos - 1) / t.tile_cos;
        band.tile = up((uint32_t)((left + tiles - 1) / tiles), t.align);
        tiles = (left + band.tile - 1) / band.tile;
        band.head = sizeof(T) == 4 ? band.tile : (uint32_t)(left - (tiles - 1) * band.tile);
    } else {
        band.head = band.tile;
    }
    int64_t count = band.head + (t.band_tiles - 1) * band.tile;
    band.count = (uint32_t)(count < left ? count : left);
}

/* The walk of a core through its tiles, one tile ahead of what is computed. */
struct Walk {
    /* pieces of work */
    int64_t item, end;
    /* of a piece: lines, and the first chunk as outer step and chunk of inner */
    int64_t line, stop, first_outer, first_step;
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
    w.first = first;
    uint32_t left = w.band.count - first, wanted = first == 0 ? w.band.head : w.band.tile;
    w.cos_rows = left < wanted ? left : wanted;
    w.chunk = w.band.first_chunk;
    w.step = w.first_step;
    w.spot.first = first;
    w.spot.done = 1;
    w.spot.row = w.band.slab * t.slab_stride + w.first_outer * t.outer_stride +
                 (w.band.cos_row + first) * t.cos_stride + w.step * t.chunk_rows * t.inner_stride;
}

template <typename T, int MODE>
AICORE_INLINE void begin_band(const RotaryGradTiling &t, Walk &w, bool begins) {
    find_band<T, MODE>(t, w.band, w.line, w.stop, begins);
    w.band.slot ^= 1;
    w.fresh = true;
    begin_rows(t, w, 0);
}

template <typename T, int MODE>
__aicore__ inline void begin_piece(const RotaryGradTiling &t, Walk &w) {
    int64_t unit = w.item / t.segments;
    w.band.segment = w.item - unit * t.segments;
    /* Without segments a core's units are one run of lines. */
    int64_t taken = t.segments == 1 ? w.end - w.item : 1, stop = (unit + taken) * t.unit;
    w.item += taken;
    w.line = unit * t.unit;
    w.stop = stop < t.lines ? stop : t.lines;
    w.band.first_chunk = t.chunks * w.band.segment / t.segments;
    w.band.end_chunk = t.chunks * (w.band.segment + 1) / t.segments;
    w.first_outer = w.band.first_chunk / t.chunks_inner;
    w.first_step = w.band.first_chunk - w.first_outer * t.chunks_inner;
    begin_band<T, MODE>(t, w, true);
}

/* On to the next tile; false: there is none. */
template <typename T, int MODE> AICORE_INLINE bool step_on(const RotaryGradTiling &t, Walk &w) {
    w.fresh = false;
    w.spot.slot ^= 1;
    if (w.chunk + 1 < w.band.end_chunk) {
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
        begin_band<T, MODE>(t, w, false);
    } else if (w.item < w.end) {
        begin_piece<T, MODE>(t, w);
    } else {
        return false;
    }
    find_shape<T, MODE>(t, w);
    return true;
}

/* Sums of a band that is through, to memory. */
template <typename T, int MODE, bool JOIN> AICORE_INLINE void end_band(Kernel<T> &k, Band &band) {
    const RotaryGradTiling &t = *k.t;
    free_cosines<T>(k, band);
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
    const LocalTensor<float> &rows = t.levels > 0 ? k.sums : k.terms;
    uint32_t apart = t.levels > 0 ? t.cosines : size;
    store_sums<T, MODE, JOIN>(k, band, 0, 2, rows, apart);
}

/* cos, sin and the first tile. */
template <typename T, int MODE> __aicore__ inline void begin_walk(Kernel<T> &k, Walk &w) {
    const RotaryGradTiling &t = *k.t;
    w.item = k.item;
    w.end = k.end;
    w.last_rows = (uint32_t)(t.inner - (t.chunks_inner - 1) * t.chunk_rows);
    w.shape = w.spot.slot = w.band.slot = 0;
    w.tile[0].rows = w.tile[1].rows = 0;
    begin_piece<T, MODE>(t, w);
    find_shape<T, MODE>(t, w);
    fetch_cosines<T, MODE>(k, w.band);
    fetch_tile<T, MODE>(k, w.band, w.spot);
}

/* All tiles of a core, each fetched before the one in front of it is computed. */
template <typename T, int MODE, bool JOIN> __aicore__ inline void do_pieces(Kernel<T> &k, Walk &w) {
    const RotaryGradTiling &t = *k.t;
    Band band;
    for (bool more = true; more;) {
        Spot spot = w.spot;
        if (w.fresh) {
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
            end_band<T, MODE, JOIN>(k, band);
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
    store_sums<T, MODE, false>(k, band, which, which + 1, k.sums, 0);
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

/* All of dy, to be read in the workspace: its dx comes into its place strip by strip, and pairs of
 * dx lie where other strips have their halves. */
template <typename T> __aicore__ inline void keep_dy(Kernel<T> &k, const Args &args, bool join) {
    const RotaryGradTiling &t = *k.t;
    int64_t all = t.lines / t.strips / t.cos_rows * t.slab_stride * t.dy_row;
    int64_t sums = join ? t.segments * 2 * t.lines * t.sum_row * 4 : 0;
    LocalTensor<T> tile = k.out_dx.template Get<T>();
    GlobalTensor<T> kept;
    kept.SetGlobalBuffer((__gm__ T *)(GetUserWorkspace(args.workspace) + sums));
    for (int64_t at = 0; at < all; at += t.tile) {
        int64_t length = (all - at < t.tile ? all - at : t.tile) * sizeof(T);
        copy_in(tile, k.dy[at], 1, length, 0, 0, 0);
        PipeBarrier<PIPE_ALL>();
        copy_out(kept[at], tile, 1, length, 0, 0);
        PipeBarrier<PIPE_ALL>();
    }
    k.dy = kept;
}

/* The share of a core. MODE as in rotary_grad.h; JOIN: the sums of a row are spread over cores. */
template <typename T, int MODE, bool JOIN>
__aicore__ inline void run(const RotaryGradTiling &t, const Args &args) {
    TPipe pipe;
    Kernel<T> k;
    int64_t cores = GetBlockNum(), core = GetBlockIdx();
    set_up<T>(k, t, args, pipe);
    int64_t units = (t.lines + t.unit - 1) / t.unit, items = units * t.segments;
    k.item = items * core / cores;
    k.end = items * (core + 1) / cores;
    bool mixes = MODE == ROTARY_PLANES && t.strips > 1;
    if (args.dy == args.dx && mixes) { /* dx of a core is dy of others */
        k.item = core == 0 ? 0 : items;
        k.end = items;
        if (core == 0) {
            keep_dy(k, args, JOIN);
        }
    }
    if (JOIN) {
        k.partial.SetGlobalBuffer((__gm__ float *)GetUserWorkspace(args.workspace));
    }
    Walk w;
    if (k.item < k.end) {
        begin_walk<T, MODE>(k, w);
    }
    set_up_work<T, MODE>(k, pipe);
    if (t.zeros > 0) {
        clear_sums<T>(k);
    }
    if (k.item < k.end) {
        do_pieces<T, MODE, JOIN>(k, w);
    }
    if constexpr (JOIN) {
        SyncAll();
        /* dcos and dsin of every unit */
        int64_t rows = 2 * ((t.lines + t.join_unit - 1) / t.join_unit);
        for (int64_t i = rows * core / cores; i < rows * (core + 1) / cores; i++) {
            for (int64_t line = i / 2 * t.join_unit;
                 line < (i / 2 + 1) * t.join_unit && line < t.lines; line++) {
                Band band;
                find_band<T, MODE>(t, band, line, line + 1, true);
                join_segments<T, MODE>(k, band, (uint32_t)(i & 1));
            }
        }
    }
    close_slots(k, pipe);
}

} // namespace rotary

#endif
