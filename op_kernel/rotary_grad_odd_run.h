/* SPDX-License-Identifier: Apache-2.0
 *
 * The walk of the contiguous path (rotary_grad_odd.h): the tiles of a core, the next one on its way
 * while one is computed; the sums from the last chunk to the stored row; the sums of segments.
 */
#ifndef ROTARY_GRAD_ODD_RUN_H
#define ROTARY_GRAD_ODD_RUN_H

#include "rotary_grad_odd_tile.h"

namespace odd {

/* Where a core is: pieces of work [item, end), in the present one lines [line, stop) and chunks
 * [chunk, end_chunk). */
struct Walk {
    int64_t item, end, line, stop, first_chunk, chunk, end_chunk, segment;
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

/* The tile where the walk is. */
template <typename T> ODD_INLINE Tile tile_at(const RotaryGradTiling &t, const Walk &w) {
    constexpr uint32_t block = 32 / sizeof(T);
    Tile tile;
    int64_t slab = w.line / t.cos_rows, cos_row = w.line - slab * t.cos_rows;
    int64_t left = t.cos_rows - cos_row < w.stop - w.line ? t.cos_rows - cos_row : w.stop - w.line;
    int64_t outer = w.chunk / t.chunks_inner,
            inner = (w.chunk - outer * t.chunks_inner) * t.chunk_rows;
    uint32_t rows =
        (uint32_t)(t.inner - inner < t.chunk_rows ? t.inner - inner : (int64_t)t.chunk_rows);
    tile.line = w.line;
    tile.cos_rows = (uint32_t)(left < t.tile_cos ? left : (int64_t)t.tile_cos);
    tile.first = slab * t.slab_stride + outer * t.outer_stride + cos_row * t.cos_stride +
                 inner * t.inner_stride;
    if (!t.cos_last) {
        tile.slabs = (rows + t.group - 1) / t.group;
        tile.last = rows - (tile.slabs - 1) * t.group;
        if (tile.last < t.group) { /* copies reach beyond the rows, but not beyond dy */
            int64_t all = t.lines / t.cos_rows * t.slab_stride - tile.slabs * t.group -
                          (slab + 1) * t.slab_stride + t.outer_stride - cos_row * t.cos_stride;
            while (tile.cos_rows > 1 && (tile.cos_rows - 1) * t.cos_stride > all) {
                tile.cos_rows--;
            }
        }
        tile.run = tile.span = tile.cos_rows * t.group * (uint32_t)t.row;
        tile.elements = tile.cos_rows == 1 ? rows * (uint32_t)t.row : tile.slabs * tile.span;
    } else {
        tile.slabs = rows;
        tile.last = t.group;
        tile.run = tile.cos_rows * t.group * (uint32_t)t.row;
        tile.span = up(tile.run, block);
        tile.elements = tile.slabs * tile.span;
    }
    tile.opens = w.chunk == w.first_chunk;
    tile.closes = w.chunk + 1 == w.end_chunk;
    tile.done = w.chunk - w.first_chunk + 1;
    tile.segment = w.segment;
    return tile;
}

/* On to the next tile; false: that was the last. */
__aicore__ inline bool advance(const RotaryGradTiling &t, Walk &w, const Tile &tile) {
    if (++w.chunk < w.end_chunk) {
        return true;
    }
    w.chunk = w.first_chunk;
    w.line += tile.cos_rows;
    if (w.line < w.stop) {
        return true;
    }
    if (w.item >= w.end) {
        return false;
    }
    open_item(t, w);
    return true;
}

template <typename T, typename TC> ODD_INLINE void fetch(Kernel<T, TC> &k, const Tile &tile) {
    const RotaryGradTiling &t = *k.t;
    if (tile.opens) {
        LocalTensor<TC> in = k.in_cos.template AllocTensor<TC>();
        int64_t length = tile.cos_rows * t.row * (int64_t)sizeof(TC);
        copy_in(in, k.cos[tile.line * t.row], 1, length, 0, 0, 0);
        copy_in(in[t.cos_bytes / 2 / sizeof(TC)], k.sin[tile.line * t.row], 1, length, 0, 0, 0);
        k.in_cos.EnQue(in);
    }
    LocalTensor<T> in = k.in_dy.template AllocTensor<T>();
    move_tile<T, true>(t, tile, in, k.dy);
    k.in_dy.EnQue(in);
    if (t.with_x) {
        in = k.in_x.template AllocTensor<T>();
        move_tile<T, true>(t, tile, in, k.x);
        k.in_x.EnQue(in);
    }
}

/* `count` elements of dcos (0) or dsin (1), whole rows summed up, to TC and to memory: the sign of
 * dsin, its order, and the order of halves are put right. Spoils the rows. */
template <typename T, typename TC, int KIND>
ODD_INLINE void store_sums(Kernel<T, TC> &k, int64_t line, uint32_t count, uint32_t which,
                           const LocalTensor<float> &rows) {
    const RotaryGradTiling &t = *k.t;
    constexpr bool swapped = KIND != ROTARY_ODD_HALVES, planes = KIND == ROTARY_ODD_PLANES;
    LocalTensor<TC> out = k.out_sum.template AllocTensor<TC>(), from;
    if (which == 1) {
        flat<MUL>(rows, rows, k.signs, count);
        vector_done();
    }
    if constexpr (sizeof(TC) == 4) {
        from = rows;
    } else {
        from = swapped && (which == 1 || planes) ? k.spare.template ReinterpretCast<TC>() : out;
        convert(from, rows, count);
    }
    if constexpr (swapped) {
        if (which == 1) {
            vector_done();
            LocalTensor<TC> to = planes ? k.w_dy.template ReinterpretCast<TC>() : out;
            if constexpr (SHIFTED<TC, KIND>) { /* works in twice the room */
                to = k.w_dy.template ReinterpretCast<TC>();
            }
            swap_row<TC, KIND>(k, to, from, count);
            from = to;
        }
    }
    if constexpr (planes) {
        vector_done();
        gather(out, from, k.halve, 0, count, sizeof(TC));
    } else if constexpr (SHIFTED<TC, KIND>) {
        if (which == 1) {
            vector_done();
            Adds(out.template ReinterpretCast<int32_t>(), from.template ReinterpretCast<int32_t>(),
                 (int32_t)0, (int32_t)(count / 2));
        }
    }
    if constexpr (sizeof(TC) == 4 && !planes) {
        if (!(swapped && which == 1)) {
            Muls(out, from, 1.0f, (int32_t)count);
        }
    }
    k.out_sum.EnQue(out);
    out = k.out_sum.template DeQue<TC>();
    copy_out(k.sum[which][line * t.row], out, 1, (int64_t)count * sizeof(TC), 0, 0);
    k.out_sum.FreeTensor(out);
}

/* The same rows as part of a sum, to the workspace. */
template <typename T, typename TC>
ODD_INLINE void store_partial(Kernel<T, TC> &k, const Tile &tile, uint32_t count, uint32_t which,
                              const LocalTensor<float> &rows) {
    const RotaryGradTiling &t = *k.t;
    LocalTensor<float> out = k.out_sum.template AllocTensor<float>();
    Muls(out, rows, 1.0f, (int32_t)count);
    k.out_sum.EnQue(out);
    out = k.out_sum.template DeQue<float>();
    copy_out(k.partial[(tile.segment * 2 + which) * t.plane + tile.line * t.row], out, 1,
             (int64_t)count * 4, 0, 0);
    k.out_sum.FreeTensor(out);
}

/* What is left when all chunks of some rows of cos are in: x_in has the terms of fp32. */
template <typename T, typename TC, int KIND, bool JOIN>
ODD_INLINE void close_band(Kernel<T, TC> &k, const Tile &tile, const LocalTensor<T> &x_in) {
    const RotaryGradTiling &t = *k.t;
    uint32_t count = tile.cos_rows * (uint32_t)t.row;
    for (uint32_t i = t.levels; i > 1; i--) { /* the highest first */
        LocalTensor<float> lower = k.sums[(i - 2) * 2 * t.sums], upper = lower[2 * t.sums];
        vector_done();
        flat<ADD>(lower, lower, upper, count);
        flat<ADD>(lower[t.sums], lower[t.sums], upper[t.sums], count);
    }
    vector_done();
    for (uint32_t which = 0; which < 2; which++) {
        LocalTensor<float> rows = k.sums[which * t.sums];
        if (t.levels == 0) {
            rows = which == 1 ? k.swapped : k.w_x;
            if constexpr (sizeof(T) == 4) {
                rows = which == 1 ? k.swapped : x_in;
            }
        }
        if (KIND == ROTARY_ODD_PLANES && t.levels == 0) { /* 0 + x, as in ROTARY_PLANES */
            Adds(rows, rows, 0.0f, (int32_t)count);
            vector_done();
        }
        if constexpr (JOIN) {
            store_partial(k, tile, count, which, rows);
        } else {
            store_sums<T, TC, KIND>(k, tile.line, count, which, rows);
        }
    }
}

/* Rows of dcos or dsin from their segments, in their order. */
template <typename T, typename TC, int KIND>
__aicore__ inline void join_rows(Kernel<T, TC> &k, int64_t line, uint32_t lines, uint32_t which) {
    const RotaryGradTiling &t = *k.t;
    uint32_t count = lines * (uint32_t)t.row, pitch = up(count, BLOCK);
    uint32_t most = least(ROTARY_FOLD, t.tile_bytes / 4 / pitch);
    vector_done();
    Duplicate(k.sums, 0.0f, (int32_t)pitch);
    for (int64_t segment = 0; segment < t.segments; segment += most) {
        int64_t left = t.segments - segment;
        uint32_t n = (uint32_t)(left < most ? left : (int64_t)most);
        LocalTensor<float> in = k.in_dy.template AllocTensor<float>();
        copy_in(in, k.partial[(segment * 2 + which) * t.plane + line * t.row], n,
                (int64_t)count * 4, (2 * t.plane - count) * 4, 0, 0);
        k.in_dy.EnQue(in);
        in = k.in_dy.template DeQue<float>();
        vector_done();
        for (Heap heap = {in, n, pitch}; heap.slabs > 1; vector_done()) {
            add_slabs(heap);
        }
        Add(k.sums, k.sums, in, (int32_t)count);
        k.in_dy.FreeTensor(in);
    }
    vector_done();
    store_sums<T, TC, KIND>(k, line, count, which, k.sums);
}

/* dcos and dsin where there is nothing to sum. */
template <typename T, typename TC> __aicore__ inline void clear_sums(Kernel<T, TC> &k) {
    const RotaryGradTiling &t = *k.t;
    constexpr int64_t block = 32 / sizeof(TC);
    int64_t blocks = (t.zeros + block - 1) / block, cores = GetBlockNum(), core = GetBlockIdx();
    int64_t from = blocks * core / cores * block, to = blocks * (core + 1) / cores * block,
            most = t.tile_bytes / sizeof(TC);
    to = to < t.zeros ? to : t.zeros;
    if (from >= to) {
        return;
    }
    LocalTensor<TC> zero = k.out_dx.template AllocTensor<TC>();
    Duplicate(zero.template ReinterpretCast<int32_t>(), (int32_t)0, (int32_t)(t.tile_bytes / 4));
    k.out_dx.EnQue(zero);
    zero = k.out_dx.template DeQue<TC>();
    for (; from < to; from += most) {
        int64_t n = to - from < most ? to - from : most;
        copy_out(k.sum[0][from], zero, 1, n * sizeof(TC), 0, 0);
        copy_out(k.sum[1][from], zero, 1, n * sizeof(TC), 0, 0);
    }
    k.out_dx.FreeTensor(zero);
}

template <typename T, typename TC, int KIND, bool JOIN>
__aicore__ inline void do_tiles(Kernel<T, TC> &k, Walk &w) {
    const RotaryGradTiling &t = *k.t;
    open_item(t, w);
    Tile tile = tile_at<T>(t, w);
    fetch(k, tile);
    make_tables<T, KIND>(k);
    for (bool more = true; more;) {
        LocalTensor<T> dy = k.in_dy.template DeQue<T>(), x;
        LocalTensor<TC> cos;
        Tile now = tile;
        if (t.with_x) {
            x = k.in_x.template DeQue<T>();
        }
        if (now.opens) {
            cos = k.in_cos.template DeQue<TC>();
        }
        more = advance(t, w, tile);
        if (more) {
            tile = tile_at<T>(t, w);
            fetch(k, tile);
        }
        vector_done();
        if (now.opens) {
            widen_cosines<T, TC, KIND>(k, now, cos);
            k.in_cos.FreeTensor(cos);
            if (t.levels > 1) {
                Duplicate(k.sums[2 * t.sums], 0.0f, (int32_t)((t.levels - 1) * 2 * t.sums));
            }
        }
        do_tile<T, TC, KIND>(k, now, dy, x);
        if (now.closes && t.with_x) {
            close_band<T, TC, KIND, JOIN>(k, now, x);
        }
        if (sizeof(T) == 4 && t.with_x) {
            k.in_x.FreeTensor(x);
        }
    }
}

/* KIND as in rotary_grad_odd.h; JOIN: the sums of a row are spread over cores. */
template <typename T, typename TC, int KIND, bool JOIN>
__aicore__ inline void run_all(const RotaryGradTiling &t, const Args &args) {
    TPipe pipe;
    Kernel<T, TC> k;
    set_up<T, TC, KIND>(k, t, args, pipe);
    if (t.zeros > 0) {
        clear_sums(k);
    }
    int64_t cores = GetBlockNum(), core = GetBlockIdx();
    int64_t items = (t.lines + t.unit - 1) / t.unit * t.segments;
    Walk w;
    w.item = items * core / cores;
    w.end = items * (core + 1) / cores;
    if constexpr (JOIN) {
        k.partial.SetGlobalBuffer((__gm__ float *)GetUserWorkspace(args.workspace));
    }
    if (w.item < w.end) {
        do_tiles<T, TC, KIND, JOIN>(k, w);
    } else if constexpr (JOIN) {
        make_tables<T, KIND>(k);
    }
    if constexpr (JOIN) {
        SyncAll();
        /* dcos and dsin of every unit */
        int64_t rows = 2 * ((t.lines + t.join_unit - 1) / t.join_unit);
        for (int64_t i = rows * core / cores; i < rows * (core + 1) / cores; i++) {
            int64_t line = i / 2 * t.join_unit, stop = line + t.join_unit;
            stop = stop < t.lines ? stop : t.lines;
            for (; line < stop; line += t.tile_cos) {
                int64_t left = stop - line;
                uint32_t n = (uint32_t)(left < t.tile_cos ? left : (int64_t)t.tile_cos);
                join_rows<T, TC, KIND>(k, line, n, (uint32_t)(i & 1));
            }
        }
    }
}

/* Tiling never takes this path where tables are wider than data; no code is made for it. */
template <typename T, typename TC, int KIND, bool JOIN>
__aicore__ inline void run(const RotaryGradTiling &t, const Args &args) {
    if constexpr (sizeof(T) == sizeof(TC)) {
        run_all<T, TC, KIND, JOIN>(t, args);
    }
}

} // namespace odd

#endif
