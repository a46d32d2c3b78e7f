/* SPDX-License-Identifier: Apache-2.0
 *
 * The walk of the contiguous path (rotary_grad_contiguous.h): the tiles of a core, the next one on
 * its way while one is computed; the sums from the last chunk to the stored row; the sums of
 * segments.
 */
#ifndef ROTARY_GRAD_CONTIGUOUS_RUN_H
#define ROTARY_GRAD_CONTIGUOUS_RUN_H

#include "rotary_grad_contiguous_tile.h"

namespace contiguous {

/* Where a core is: pieces of work [item, end), in the present one lines [line, stop) and chunks
 * [chunk, end_chunk). */
struct Walk {
    int64_t item, end, line, stop, first_chunk, chunk, end_chunk, segment;
    /* shapes of this tile and of the one before it */
    Shape shape[2];
    uint32_t last;
    /* the line that the next slab begins with */
    int64_t slab_end;
    /* dx apart from sums: rows of dy [row, last_row) instead */
    bool apart;
    int64_t row, last_row;
};

__aicore__ inline void open_item(const RotaryGradTiling &t, Walk &w) {
    int64_t unit = w.item / t.segments;
    w.segment = w.item - unit * t.segments;
    int64_t taken = t.segments == 1 ? w.end - w.item : 1; /* then they are one run of lines */
    w.line = unit * t.unit;
    w.stop = (unit + taken) * t.unit;
    w.stop = w.stop < t.lines ? w.stop : t.lines;
    w.first_chunk = w.chunk = t.chunks * w.segment / t.segments;
    w.end_chunk = t.chunks * (w.segment + 1) / t.segments;
    w.item += taken;
}

/* The shape of a tile: that of the one before it, or of the one before that, most of the time. */
template <typename T>
__aicore__ inline Shape *find_shape(const RotaryGradTiling &t, Walk &w, uint32_t cos_rows,
                                    uint32_t rows) {
    if (w.shape[w.last].rows != rows || w.shape[w.last].cos_rows != cos_rows) {
        w.last ^= 1;
        if (w.shape[w.last].rows != rows || w.shape[w.last].cos_rows != cos_rows) {
            shape_tile<T>(t, w.shape[w.last], cos_rows, rows);
        }
    }
    return &w.shape[w.last];
}

/* Of dy. */
AICORE_INLINE int64_t all_rows(const RotaryGradTiling &t) {
    return t.lines / t.cos_rows * t.slab_stride;
}

/* As many of cos_rows, `rows` rows of dy each from `first` on, as copies may fetch: they reach
 * beyond the rows of a group, but not beyond `end`. */
__aicore__ inline uint32_t lines_before(const RotaryGradTiling &t, int64_t end, int64_t first,
                                        uint32_t cos_rows, uint32_t rows) {
    if (!t.cos_last && rows % t.group != 0) {
        int64_t all = end - up(rows, t.group) - first;
        while (cos_rows > 1 && (cos_rows - 1) * t.cos_stride > all) {
            cos_rows--;
        }
    }
    return cos_rows;
}

/* The tile where the walk is, in the order of memory: whole lines, or a part of one. */
template <typename T>
__aicore__ inline void find_apart(const RotaryGradTiling &t, Walk &w, Tile &tile, bool first) {
    int64_t slab = w.row / t.slab_stride, left = w.last_row - w.row,
            in_slab = w.row - slab * t.slab_stride, in_step = in_slab % t.outer_stride,
            cos_row = in_step / t.cos_stride, done = in_step - cos_row * t.cos_stride;
    int64_t lines = t.cos_rows - cos_row, fit = left / t.cos_stride, rows;
    lines = lines < fit ? lines : fit;
    lines = lines < t.tile_cos ? lines : (int64_t)t.tile_cos;
    if (t.cos_last) { /* one step, or several whole ones */
        int64_t steps = (t.slab_stride - in_slab) / t.outer_stride, all = left / t.outer_stride;
        steps = steps < all ? steps : all;
        steps = steps < t.chunk_rows ? steps : (int64_t)t.chunk_rows;
        rows = lines == t.cos_rows ? steps : 1;
        w.row += lines * rows * t.cos_stride;
    } else {
        rows = t.cos_stride - done < left ? t.cos_stride - done : left;
        rows = rows < t.chunk_rows ? rows : (int64_t)t.chunk_rows;
        lines = rows < t.cos_stride
                    ? 1
                    : lines_before(t, w.last_row, w.row, (uint32_t)lines, (uint32_t)rows);
        w.row += lines * rows;
    }
    int64_t line = slab * t.cos_rows + cos_row;
    tile.opens = first || tile.line != line || tile.shape->cos_rows != lines;
    tile.shape = find_shape<T>(t, w, (uint32_t)lines, (uint32_t)rows);
    tile.line = line;
    tile.first = slab * t.slab_stride + in_slab;
    tile.closes = false;
    tile.cos_slot ^= tile.opens;
}

/* The tile where the walk is. */
template <typename T>
__aicore__ inline void find_tile(const RotaryGradTiling &t, Walk &w, Tile &tile) {
    int64_t slab = w.line / t.cos_rows, cos_row = w.line - slab * t.cos_rows;
    w.slab_end = w.line - cos_row + t.cos_rows;
    int64_t left = t.cos_rows - cos_row < w.stop - w.line ? t.cos_rows - cos_row : w.stop - w.line;
    int64_t outer = w.chunk / t.chunks_inner,
            inner = (w.chunk - outer * t.chunks_inner) * t.chunk_rows;
    uint32_t rows =
        (uint32_t)(t.inner - inner < t.chunk_rows ? t.inner - inner : (int64_t)t.chunk_rows);
    uint32_t cos_rows = (uint32_t)(left < t.tile_cos ? left : (int64_t)t.tile_cos);
    /* the same number for every chunk of these rows of cos: the last one is nearest to the end */
    int64_t last = (slab + 1) * t.slab_stride - t.outer_stride + cos_row * t.cos_stride;
    cos_rows = lines_before(t, all_rows(t), last, cos_rows, rows);
    tile.shape = find_shape<T>(t, w, cos_rows, rows);
    tile.line = w.line;
    tile.first = slab * t.slab_stride + outer * t.outer_stride + cos_row * t.cos_stride +
                 inner * t.inner_stride;
    tile.opens = w.chunk == w.first_chunk;
    tile.closes = w.chunk + 1 == w.end_chunk;
    tile.done = w.chunk - w.first_chunk + 1;
    tile.segment = w.segment;
    tile.cos_slot ^= tile.opens;
}

/* The same if only the rows of cos are others, as many as before, and all of their rows a tile. */
AICORE_INLINE bool follows(const RotaryGradTiling &t, const Walk &w, const Tile &tile) {
    uint32_t n = tile.shape->cos_rows;
    return t.chunks == 1 && n == t.tile_cos && tile.shape->last == t.group &&
           w.line == tile.line + n && w.line + n <= w.slab_end && w.line + n <= w.stop;
}

AICORE_INLINE void follow(const RotaryGradTiling &t, Tile &tile) {
    tile.line += t.tile_cos;
    tile.first += t.tile_cos * t.cos_stride;
    tile.cos_slot ^= 1;
    tile.opens = true;
}

/* On to the next tile; false: that was the last. */
AICORE_INLINE bool advance(const RotaryGradTiling &t, Walk &w, const Tile &tile) {
    if (w.apart) {
        return w.row < w.last_row;
    }
    if (++w.chunk < w.end_chunk) {
        return true;
    }
    w.chunk = w.first_chunk;
    w.line += tile.shape->cos_rows;
    if (w.line < w.stop) {
        return true;
    }
    if (w.item >= w.end) {
        return false;
    }
    open_item(t, w);
    return true;
}

/* dcos (0) or dsin (1) of 16 bits, or where its rows are as they will be: to `out`. Returns where
 * it has gone. */
template <typename C>
AICORE_INLINE LocalTensor<C> narrow_sum(const LocalTensor<C> &out, const LocalTensor<float> &rows,
                                        const LocalTensor<float> &room, bool moved, Run run) {
    if constexpr (sizeof(C) == 4) {
        if (!moved) {
            Muls(out, rows, 1.0f, (int32_t)(run.full * LANES + run.rest));
        }
        return rows;
    } else {
        LocalTensor<C> to = moved ? room.template ReinterpretCast<C>() : out;
        convert(to, rows, run);
        return to;
    }
}

/* `count` elements of dcos, and of dsin, whole rows summed up, to the table's type: the sign of
 * dsin, its order, and the order of halves are put right. Spoils the rows; a barrier has gone
 * before. */
template <typename T>
AICORE_INLINE void finish_sums(Kernel<T> &k, const Rows &rows, uint32_t count, Run run, bool first,
                               bool second) {
    const RotaryGradTiling &t = *k.t;
    using C = Table<T>;
    LocalTensor<C> dcos, dsin;
    if (second) {
        flat<MUL>(rows.dsin, rows.dsin, k.signs, run);
        vector_done();
        dsin = narrow_sum(k.sum_out[1], rows.dsin, k.w_dy, true, run);
    }
    if (first) {
        dcos = narrow_sum(k.sum_out[0], rows.dcos, k.w_dy[t.tile / 2], t.planes, run);
    }
    vector_done();
    if (second && t.planes) {
        gather(k.sum_out[1], dsin, k.halve[1], 0, count, sizeof(C));
    } else if (second) {
        gather_rows(k.sum_out[1], dsin, k.turn_sin, t.wide > 0 ? t.sums : t.turn, count,
                    row_unit<C>(t));
    }
    if (first && t.planes) {
        gather(k.sum_out[0], dcos, k.halve[0], 0, count, sizeof(C));
    }
}

/* Rows to where they are stored. */
template <typename T>
AICORE_INLINE void store_sums(Kernel<T> &k, const Rows &rows, int64_t line, uint32_t count, Run run,
                              bool first, bool second) {
    const RotaryGradTiling &t = *k.t;
    int64_t at = line * t.row;
    uint32_t lines = count / t.pitch;
    WaitFlag<HardEvent::MTE3_V>(k.slots.sum_free);
    finish_sums(k, rows, count, run, first, second);
    SetFlag<HardEvent::V_MTE3>(k.slots.sum_full);
    WaitFlag<HardEvent::V_MTE3>(k.slots.sum_full);
    if (first) {
        store_table(t, k.sum[0][at], k.sum_out[0], lines);
    }
    if (second) {
        store_table(t, k.sum[1][at], k.sum_out[1], lines);
    }
    SetFlag<HardEvent::MTE3_V>(k.slots.sum_free);
}

/* The same rows as parts of sums, to the workspace. */
template <typename T>
__aicore__ inline void store_partial(Kernel<T> &k, const Rows &rows, const Tile &tile) {
    const RotaryGradTiling &t = *k.t;
    uint32_t count = tile.shape->count;
    LocalTensor<float> dcos = k.sum_out[0].template ReinterpretCast<float>(),
                       dsin = k.sum_out[1].template ReinterpretCast<float>();
    GlobalTensor<float> to = k.partial[tile.segment * 2 * t.plane + tile.line * t.pitch];
    WaitFlag<HardEvent::MTE3_V>(k.slots.sum_free);
    Muls(dcos, rows.dcos, 1.0f, (int32_t)count);
    Muls(dsin, rows.dsin, 1.0f, (int32_t)count);
    SetFlag<HardEvent::V_MTE3>(k.slots.sum_full);
    WaitFlag<HardEvent::V_MTE3>(k.slots.sum_full);
    store_run(to, dcos, count);
    store_run(to[t.plane], dsin, count);
    SetFlag<HardEvent::MTE3_V>(k.slots.sum_free);
}

/* What is left when all chunks of some rows of cos are in. */
template <typename T>
AICORE_INLINE void close_band(Kernel<T> &k, const Tile &tile, const Rows &rows) {
    const RotaryGradTiling &t = *k.t;
    const Shape &s = *tile.shape;
    for (uint32_t i = tile.opens ? 1 : t.levels; i > 1; i--) { /* the highest first */
        LocalTensor<float> lower = k.sums[(i - 2) * 2 * t.sums];
        vector_done();
        flat<ADD>(lower, lower, lower[2 * t.sums], run_of(2 * t.sums));
    }
    if (t.group == 1 || !tile.opens) { /* otherwise that is what folding ended with */
        vector_done();
    }
    if (t.planes && t.levels == 0) { /* 0 + x, as in ROTARY_PLANES */
        Adds(rows.dcos, rows.dcos, 0.0f, (int32_t)s.count);
        Adds(rows.dsin, rows.dsin, 0.0f, (int32_t)s.count);
        vector_done();
    }
    if (t.partial) {
        store_partial(k, rows, tile);
    } else {
        store_sums(k, rows, tile.line, s.count, s.some, true, true);
    }
}

/* Rows of dcos or dsin from their segments, in their order. */
template <typename T>
__aicore__ inline void join_rows(Kernel<T> &k, int64_t line, uint32_t lines, uint32_t which) {
    const RotaryGradTiling &t = *k.t;
    uint32_t count = lines * t.pitch, pitch = up(count, BLOCK);
    uint32_t most = least(ROTARY_FOLD, t.tile_bytes / 4 / pitch);
    vector_done();
    Duplicate(k.sums, 0.0f, (int32_t)pitch);
    for (int64_t segment = 0; segment < t.segments; segment += most) {
        int64_t left = t.segments - segment;
        uint32_t n = (uint32_t)(left < most ? left : (int64_t)most);
        LocalTensor<float> in = k.dy_in[0].template ReinterpretCast<float>();
        WaitFlag<HardEvent::V_MTE2>(k.slots.in_free[0]);
        copy_in(in, k.partial[(segment * 2 + which) * t.plane + line * t.pitch], n,
                (int64_t)count * 4, (2 * t.plane - count) * 4, 0, 0);
        SetFlag<HardEvent::MTE2_V>(k.slots.in_full[0]);
        WaitFlag<HardEvent::MTE2_V>(k.slots.in_full[0]);
        vector_done();
        for (Heap heap = {in, n, pitch}; heap.slabs > 1; vector_done()) {
            add_slabs(heap, 1);
        }
        Add(k.sums, k.sums, in, (int32_t)count);
        SetFlag<HardEvent::V_MTE2>(k.slots.in_free[0]);
    }
    vector_done();
    store_sums(k, {k.sums, k.sums}, line, count, run_of(count), which == 0, which == 1);
}

/* dcos and dsin where there is nothing to sum. */
template <typename T> __aicore__ inline void clear_sums(Kernel<T> &k) {
    const RotaryGradTiling &t = *k.t;
    constexpr int64_t size = sizeof(Table<T>), block = 32 / size;
    int64_t blocks = (t.zeros + block - 1) / block, cores = GetBlockNum(), core = GetBlockIdx();
    int64_t from = blocks * core / cores * block, to = blocks * (core + 1) / cores * block,
            most = t.tile_bytes / size;
    to = to < t.zeros ? to : t.zeros;
    if (from >= to) {
        return;
    }
    LocalTensor<Table<T>> zero = k.dx_out[0].template ReinterpretCast<Table<T>>();
    WaitFlag<HardEvent::MTE3_V>(k.slots.out_free[0]);
    Duplicate(zero.template ReinterpretCast<int32_t>(), (int32_t)0, (int32_t)(t.tile_bytes / 4));
    SetFlag<HardEvent::V_MTE3>(k.slots.out_full[0]);
    WaitFlag<HardEvent::V_MTE3>(k.slots.out_full[0]);
    for (; from < to; from += most) {
        int64_t n = to - from < most ? to - from : most;
        copy_out(k.sum[0][from], zero, 1, n * size, 0, 0);
        copy_out(k.sum[1][from], zero, 1, n * size, 0, 0);
    }
    SetFlag<HardEvent::MTE3_V>(k.slots.out_free[0]);
}

/* cos and sin of the first tile, three of their steps. */
template <typename T> __aicore__ inline void open_cosines(Kernel<T> &k, const Tile &tile) {
    if constexpr (sizeof(Table<T>) == 2) {
        turn_cosines(k, tile);
        vector_done();
    }
    widen_cosines(k, tile);
    vector_done();
    sign_sines(k, tile);
}

/* All tiles of a core, each fetched before the one in front of it is computed. */
template <typename T> __aicore__ inline void do_tiles(Kernel<T> &k, Walk &w) {
    const RotaryGradTiling &t = *k.t;
    Tile tile, next;
    next.slot = 0;
    next.cos_slot = 1;
    w.shape[0].rows = w.shape[1].rows = w.last = 0;
    if (w.apart) {
        find_apart<T>(t, w, next, true);
    } else {
        find_tile<T>(t, w, next);
    }
    fetch(k, next);
    fetch_x(k, next);
    make_tables(k);
    if (k.with_dx) {
        open_cosines(k, next);
    }
    for (bool more = true; more;) {
        tile = next;
        if (!tile.shape->planned) {
            plan_calls(t, *tile.shape);
        }
        more = next.there = advance(t, w, tile);
        next.opens = false;
        if (more) {
            if (w.apart) {
                find_apart<T>(t, w, next, false);
            } else if (follows(t, w, next)) {
                follow(t, next);
            } else {
                find_tile<T>(t, w, next);
            }
            next.slot ^= k.places - 1;
            if (k.places == 2) {
                fetch(k, next);
            }
            if constexpr (sizeof(T) == 4) {
                fetch_x(k, next);
            }
        }
        if (k.with_x && tile.opens && !tile.closes && t.levels > 0) {
            vector_done();
            Duplicate(k.sums, 0.0f, (int32_t)(t.levels * 2 * t.sums));
        }
        Rows rows = do_tile(k, tile, next);
        if (k.with_x && tile.closes) {
            close_band(k, tile, rows);
        }
        if constexpr (sizeof(T) == 4) {
            SetFlag<HardEvent::V_MTE2>(k.slots.in_free[tile.slot]);
            if (k.with_x) {
                SetFlag<HardEvent::V_MTE2>(k.x_free[tile.slot]);
            }
        }
    }
}

/* The pieces of work of a core. */
template <typename T> __aicore__ inline void do_pieces(Kernel<T> &k, const Args &args) {
    const RotaryGradTiling &t = *k.t;
    int64_t cores = GetBlockNum(), core = GetBlockIdx();
    int64_t items = (t.lines + t.unit - 1) / t.unit * t.segments;
    Walk w;
    w.apart = false;
    w.item = items * core / cores;
    w.end = items * (core + 1) / cores;
    if (t.partial) {
        k.partial.SetGlobalBuffer((__gm__ float *)GetUserWorkspace(args.workspace));
    }
    if (w.item < w.end) {
        open_item(t, w);
        do_tiles(k, w);
    } else if (t.partial) {
        make_tables(k);
    }
}

/* dx of lines [from, to) of every t.apart-th step from `step` on; `d` is what that makes of t. */
template <typename T>
__aicore__ inline void do_lines(Kernel<T> &k, const RotaryGradTiling &t, RotaryGradTiling &d,
                                int64_t step, int64_t from, int64_t to) {
    if (step >= t.inner || from >= to) {
        return;
    }
    GlobalTensor<T> dy = k.dy, dx = k.dx;
    int64_t at = step * t.inner_stride * t.dy_row;
    uint32_t lines = (uint32_t)(to - from < t.tile_cos ? to - from : (int64_t)t.tile_cos);
    uint32_t span = up(lines * (uint32_t)t.cos_stride * t.pitch, 32 / sizeof(T));
    d.chunk_rows = least(t.tile / span, ROTARY_SLABS);
    d.inner = (t.inner - step + t.apart - 1) / t.apart;
    d.chunks = d.chunks_inner = (d.inner + d.chunk_rows - 1) / d.chunk_rows;
    Walk w;
    w.apart = false;
    w.item = w.end = w.segment = w.first_chunk = w.chunk = 0;
    w.end_chunk = d.chunks;
    w.line = from;
    w.stop = to;
    k.dy = dy[at];
    k.dx = dx[at];
    do_tiles(k, w);
    k.dy = dy;
    k.dx = dx;
}

/* dx apart from sums, if rows of cos are last: a core takes some lines of all steps, so that cos
 * serves many of them. A step begins at one of t.apart places of a block, and every t.apart-th step
 * at the same one: such steps are walked through together, from the first line that begins at a
 * block. Lines are counted on into the next step, which begins in the last block of this one. */
template <typename T> __aicore__ inline void do_across(Kernel<T> &k) {
    const RotaryGradTiling &t = *k.t;
    int64_t cores = GetBlockNum(), core = GetBlockIdx(), all = t.cos_rows, unit = t.apart;
    int64_t units = (all + unit - 1) / unit;
    int64_t from = units * core / cores * unit, to = units * (core + 1) / cores * unit;
    RotaryGradTiling d = t;
    d.inner_stride = unit * t.inner_stride;
    k.t = &d;
    for (int64_t step = 0; step < unit; step++) {
        int64_t first = from + (unit - step * all % unit) % unit, end = to + first - from;
        int64_t last = all + (unit - (step + 1) * all % unit) % unit;
        end = end < last && core + 1 < cores ? end : last;
        do_lines(k, t, d, step, first, end < all ? end : all);
        do_lines(k, t, d, step + 1, first < all ? 0 : first - all, end - all);
    }
    k.t = &t;
}

/* dx apart from sums: a core's share of the rows of dy, in the order of memory. */
template <typename T> __aicore__ inline void do_apart(Kernel<T> &k) {
    const RotaryGradTiling &t = *k.t;
    int64_t cores = GetBlockNum(), core = GetBlockIdx(), all = all_rows(t);
    int64_t unit = t.apart * (t.cos_last ? t.cos_stride : 1), units = (all + unit - 1) / unit;
    Walk w;
    w.apart = true;
    w.row = units * core / cores * unit;
    w.last_row = units * (core + 1) / cores * unit;
    w.last_row = w.last_row < all ? w.last_row : all;
    if (w.row < w.last_row) {
        do_tiles(k, w);
    }
}

/* dcos and dsin of every unit. */
template <typename T> __aicore__ inline void join_all(Kernel<T> &k) {
    const RotaryGradTiling &t = *k.t;
    int64_t cores = GetBlockNum(), core = GetBlockIdx();
    int64_t rows = 2 * ((t.lines + t.join_unit - 1) / t.join_unit);
    for (int64_t i = rows * core / cores; i < rows * (core + 1) / cores; i++) {
        int64_t line = i / 2 * t.join_unit, stop = line + t.join_unit;
        stop = stop < t.lines ? stop : t.lines;
        for (; line < stop; line += t.tile_cos) {
            int64_t left = stop - line;
            uint32_t n = (uint32_t)(left < t.tile_cos ? left : (int64_t)t.tile_cos);
            join_rows(k, line, n, (uint32_t)(i & 1));
        }
    }
}

/* JOIN: the sums of a row are spread over cores, or dx of a core may take the place of what others
 * have still to sum. */
template <typename T, bool JOIN>
__aicore__ inline void run(const RotaryGradTiling &t, const Args &args) {
    TPipe pipe;
    Kernel<T> k;
    set_up(k, t, args, pipe);
    if (t.zeros > 0) {
        clear_sums(k);
    }
    if (!t.apart || t.with_x) {
        k.with_dx = !t.apart;
        do_pieces(k, args);
    }
    if (JOIN && (t.partial || args.dy == args.dx)) {
        SyncAll();
    }
    if (t.apart) {
        k.with_dx = true;
        k.with_x = false;
        if (t.across) {
            do_across(k);
        } else {
            do_apart(k);
        }
    }
    if (JOIN && t.partial) {
        join_all(k);
    }
    close_slots(k, pipe);
}

} // namespace contiguous

#endif
