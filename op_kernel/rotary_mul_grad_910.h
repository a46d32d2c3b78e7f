/* SPDX-License-Identifier: Apache-2.0
 *
 * RotaryMulGrad for the first generation of the 910 (architecture 1001, dav-c100). That chip has no
 * copies of odd length, no gather, no bf16, no hardware SyncAll, four event ids, and of the
 * rounding modes to fp16 only CAST_NONE, which rounds to nearest, ties to even, where a number does
 * not fit, and CAST_ODD. How rows come and go by copies of whole 32-byte blocks is in
 * rotary_mul_grad_910_move.h, the formula in rotary_grad.h. With ' for halves swapped,
 *
 *     dx = cos * dy + s * dy'     s = [-sinA, sinB]'     dcos = sum dy * x     dsin' = sum dy' * x
 *
 * but for the sign of half of the last. What is summed in which order is the same as in
 * rotary_grad.h, so that the bits are, too; rotary_grad_tiling_data.h says how. A core adds up
 * whole lines (rows of cos, or strips of one), so the cores never meet.
 */
#ifndef ROTARY_MUL_GRAD_910_H
#define ROTARY_MUL_GRAD_910_H

#include "rotary_mul_grad_910_move.h"

namespace rotary_910 {

struct Args { /* GM_ADDR is a macro with a star: one name each */
    GM_ADDR dy;
    GM_ADDR cos;
    GM_ADDR sin;
    GM_ADDR x;
    GM_ADDR dx;
    GM_ADDR dcos;
    GM_ADDR dsin;
    GM_ADDR workspace;
};

template <typename T> struct Kernel {
    const RotaryGradTiling *t;
    /* sum: dcos, dsin */
    GlobalTensor<T> dy, cos, sin, x, dx, sum[2];
    /* [segment][line][dcos, dsin][row] */
    GlobalTensor<float> partial;
    /* dy with x; cos with sin; dcos with dsin: more queues would take more than four event ids */
    TQue<TPosition::VECIN, 1> in, in_cos;
    TQue<TPosition::VECOUT, 1> out, out_sum;
    TBuf<TPosition::VECCALC> work;
    LocalTensor<float> w_dy, w_swap, w_x, terms, cosines, sums;
    /* of the line at hand; held: their place in the queue */
    LocalTensor<float> cos_now, sin_now, held;
    /* gaps only: stores wait for loads, loads for stores */
    TEventID loaded, stored;
};

template <typename T>
__aicore__ inline void set_up(Kernel<T> &k, const RotaryGradTiling &t, const Args &args,
                              TPipe &pipe) {
    k.t = &t;
    k.dy.SetGlobalBuffer((__gm__ T *)args.dy);
    k.cos.SetGlobalBuffer((__gm__ T *)args.cos);
    k.sin.SetGlobalBuffer((__gm__ T *)args.sin);
    k.x.SetGlobalBuffer((__gm__ T *)args.x);
    k.dx.SetGlobalBuffer((__gm__ T *)args.dx);
    k.sum[0].SetGlobalBuffer((__gm__ T *)args.dcos);
    k.sum[1].SetGlobalBuffer((__gm__ T *)args.dsin);
    if (t.partial) {
        k.partial.SetGlobalBuffer((__gm__ float *)GetUserWorkspace(args.workspace));
    }
    pipe.InitBuffer(k.work, t.work_bytes);
    constexpr uint8_t buffers = sizeof(T) == 4 ? 2 : 1; /* 16 bits leave them at once */
    pipe.InitBuffer(k.in, buffers, t.tile_bytes);
    pipe.InitBuffer(k.in_cos, buffers, t.cos_bytes);
    pipe.InitBuffer(k.out, buffers, t.shift_bytes);
    if (t.with_x) {
        pipe.InitBuffer(k.out_sum, 1, t.sum_bytes);
    }
    k.loaded = pipe.AllocEventID<HardEvent::MTE2_MTE3>();
    k.stored = pipe.AllocEventID<HardEvent::MTE3_MTE2>();
    LocalTensor<float> all = k.work.template Get<float>();
    k.w_dy = all;
    k.w_swap = all[t.swap_at];
    k.w_x = all[t.x_at];
    k.terms = all[t.dx_at];
    k.cosines = all[t.cosines_at];
    k.sums = all[t.sums_at];
}

template <typename T> __aicore__ inline void load_cosines(Kernel<T> &k, const Line &line) {
    const RotaryGradTiling &t = *k.t;
    LocalTensor<T> in = k.in_cos.template AllocTensor<T>();
    int64_t first = line.slab * t.cos_rows + line.cos_row;
    move_rows<T, true>(in[OTHER_BANKS], k.cos, first, line.count, line, t);
    move_rows<T, true>(in[OTHER_BANKS + line.count * line.row], k.sin, first, line.count, line, t);
    k.in_cos.EnQue(in);
}

/* cos, and sin as dx wants it, both in fp32. fp32: cos stays in its queue until the line is done.
 */
template <typename T> __aicore__ inline void take_cosines(Kernel<T> &k, const Line &line) {
    const RotaryGradTiling &t = *k.t;
    constexpr bool wide = sizeof(T) == 4;
    uint32_t count = line.count * line.row, units = count / (2 * line.half);
    LocalTensor<T> in = k.in_cos.template DeQue<T>();
    LocalTensor<float> sin;
    if (t.levels == 0) { /* else the sums of the last tile have waited for its calls */
        vector_done();
    }
    int64_t first = line.slab * t.cos_rows + line.cos_row;
    if (holds_end<T>({first, 0, 1, line.count}, line, t, t.lines / t.strips)) {
        settle_end(in[OTHER_BANKS], line.count, line, k.w_swap);
        settle_end(in[OTHER_BANKS + count], line.count, line, k.w_swap);
    }
    if constexpr (wide) {
        k.held = in;
        k.cos_now = in[OTHER_BANKS];
        k.sin_now = k.cosines;
        sin = in[OTHER_BANKS + count];
    } else {
        k.cos_now = k.cosines;
        k.sin_now = k.cosines[2 * t.cosines];
        sin = k.cosines[count];
        cast_all(k.cos_now, in[OTHER_BANKS], 2 * count);
        vector_done();
        k.in_cos.FreeTensor(in);
    }
    turn_signed(k.sin_now, sin, units, line.half, 1.0f, -1.0f, k.w_swap, t.table);
    vector_done();
}

/* An even share: at most `limit` of `n`, so that the last share is not a remainder. */
__aicore__ inline uint32_t even_share(int64_t n, uint32_t limit) {
    int64_t shares = (n + limit - 1) / limit;
    return (uint32_t)((n + shares - 1) / shares);
}

__aicore__ inline Tile tile_at(const RotaryGradTiling &t, const Line &line, uint32_t from,
                               int64_t chunk) {
    int64_t outer = chunk / t.chunks_inner, inner = (chunk - outer * t.chunks_inner) * t.chunk_rows;
    int64_t left = t.inner - inner;
    Tile tile;
    tile.from = from;
    tile.count = even_share(line.count - from, t.tile_cos);
    tile.rows = (uint32_t)(left < t.chunk_rows ? left : t.chunk_rows);
    tile.across = t.flat && tile.count > 1;
    bool slabs = t.cos_last || tile.across;
    tile.steps = {(slabs ? 1 : tile.rows) * line.row, (slabs ? tile.count : 1) * line.row};
    tile.span = {line.slab * t.slab_stride + outer * t.outer_stride +
                     (line.cos_row + from) * t.cos_stride + inner * t.inner_stride,
                 t.inner_stride, t.cos_last ? tile.rows : 1,
                 t.cos_last ? tile.count : tile.count * tile.rows};
    return tile;
}

/* The terms of dcos, and of dsin, in which partners stand in each other's place: slabs of one row
 * of dy for each row of cos. Where that is how dy lies in the UB, those of dsin are a sum of their
 * own; else there is one sum, of slabs with both. */
template <typename T>
__aicore__ inline Tree make_terms(Kernel<T> &k, const Line &line, const Tile &tile,
                                  const LocalTensor<float> &dy, const LocalTensor<float> &x) {
    uint32_t size = tile.count * line.row;
    bool apart = tile.steps.cos == line.row;
    Tree tree = make_tree(tile.rows, apart ? size : 2 * size);
    tree.dsin = apart ? tile.rows * size + 2 * OTHER_BANKS : size;
    tree.apart = apart;
    tree.last = k.t->chunks == k.t->segments && tile.rows > 1 ? 2 : 1;
    Steps to = {line.row, tree.size};
    LocalTensor<float> dsin = k.terms[tree.dsin];
    Walk walk = make_walk(tile.count, tree.kept, line.row, to, tile.steps, tile.steps);
    grid<MUL>(k.terms, dy, x, walk);
    grid<MUL>(dsin, k.w_swap, x, walk);
    if (tree.kept < tile.rows) {
        uint32_t from = tree.kept * tile.steps.row, at = tree.second;
        walk = make_walk(tile.count, tile.rows - tree.kept, line.row, to, tile.steps, tile.steps);
        grid<MUL>(k.terms[at], dy[from], x[from], walk);
        grid<MUL>(dsin[at], k.w_swap[from], x[from], walk);
    }
    return tree;
}

/* Adds the terms of a tile into the accumulators. done: tiles of the same line so far, this one
 * included. */
template <typename T>
__aicore__ inline void accumulate(Kernel<T> &k, const Line &line, const Tile &tile,
                                  const Tree &tree, int64_t done) {
    const RotaryGradTiling &t = *k.t;
    uint32_t size = tile.count * line.row, all = line.count * line.row;
    LocalTensor<float> level = k.sums[tile.from * line.row];
    LocalTensor<float> dcos = k.terms, dsin = k.terms[tree.dsin];
    if (tree.last == 2) { /* the only terms: end_segment adds the 0 */
        flat<ADD>(level, dcos, dcos[tree.second], size);
        flat<ADD>(level[all], dsin, dsin[tree.second], size);
        return;
    }
    if (done == 1) { /* 0 + x, as in any sum */
        Adds(level, dcos, 0.0f, (int32_t)size);
        Adds(level[all], dsin, 0.0f, (int32_t)size);
    } else {
        flat<ADD>(level, level, dcos, size);
        flat<ADD>(level[all], level[all], dsin, size);
    }
    for (uint32_t i = 1; i < t.levels && done % ROTARY_FAN == 0; i++, done /= ROTARY_FAN) {
        LocalTensor<float> next = level[2 * t.cosines];
        vector_done();
        Add(next, next, level, (int32_t)size);
        Add(next[all], next[all], level[all], (int32_t)size);
        vector_done();
        Duplicate(level, 0.0f, (int32_t)size);
        Duplicate(level[all], 0.0f, (int32_t)size);
        level = next;
    }
}

/* dx of a tile, and its terms summed over the rows: two chains of calls that do not depend on each
 * other, side by side. Spoils x, and dy unless dx lies elsewhere. */
template <typename T>
__aicore__ inline Tree compute(Kernel<T> &k, const Line &line, const Tile &tile,
                               LocalTensor<T> &out, const LocalTensor<float> &dx,
                               const LocalTensor<float> &dy, const LocalTensor<float> &x) {
    const RotaryGradTiling &t = *k.t;
    uint32_t count = tile.rows * tile.count * line.row;
    Tree tree = make_tree(1, 0);
    turn(k.w_swap, dy, count / (2 * line.half), line.half, dx, t.table); /* dx comes later */
    vector_done();
    if (t.with_x) {
        tree = make_terms(k, line, tile, dy, x);
        vector_done();
    }
    Walk walk = make_walk(tile.count, tile.rows, line.row, tile.steps, {line.row, 0}, tile.steps);
    uint32_t at = tile.from * line.row;
    grid<MUL>(x, k.sin_now[at], k.w_swap, walk);
    grid<MUL>(dx, k.cos_now[at], dy, walk);
    tree_step(k.terms, tree);
    vector_done();
    flat<ADD>(dx, dx, x, count);
    tree_step(k.terms, tree);
    if constexpr (sizeof(T) == 2) {
        out = k.out.template AllocTensor<T>(); /* not earlier: there is only one */
        vector_done();
        cast_all(out, dx, count);
        tree_step(k.terms, tree);
    }
    while (tree.slabs > tree.last) {
        vector_done();
        tree_step(k.terms, tree);
    }
    return tree;
}

/* One pipe waits for all that another one has been given so far. */
template <HardEvent EVENT> __aicore__ inline void wait_for(TEventID id) {
    SetFlag<EVENT>(id);
    WaitFlag<EVENT>(id);
}

template <typename T>
__aicore__ inline void load_tile(Kernel<T> &k, const Line &line, const Tile &tile) {
    const RotaryGradTiling &t = *k.t;
    LocalTensor<T> in = k.in.template AllocTensor<T>();
    if (t.gaps > 0) {
        wait_for<HardEvent::MTE3_MTE2>(k.stored);
    }
    move_tile<T, true>(in, k.dy, tile, line, t);
    if (t.with_x) {
        move_tile<T, true>(in[t.tile + OTHER_BANKS], k.x, tile, line, t);
    }
    k.in.EnQue(in);
}

/* From `at` on: as many rows of cos as there is room for, not beyond `end`. */
template <typename T>
__aicore__ inline Line line_at(const RotaryGradTiling &t, int64_t at, int64_t end) {
    constexpr uint32_t block = 32 / sizeof(T);
    Line line;
    int64_t row = at / t.strips, strip = at - row * t.strips;
    line.line = at;
    line.slab = row / t.cos_rows;
    line.cos_row = row - line.slab * t.cos_rows;
    int64_t left = t.cos_rows - line.cos_row < end - at ? t.cos_rows - line.cos_row : end - at;
    line.count = t.strips > 1 ? 1 : even_share(left, t.band_tiles * t.tile_cos);
    line.column = strip * t.width;
    line.length = (uint32_t)t.half;
    line.half = t.width;
    line.row = t.sum_row;
    if (t.strips > 1) {
        int64_t left_half = t.half - line.column;
        line.length = (uint32_t)(left_half < t.width ? left_half : (int64_t)t.width);
        line.half = up(line.length, block);
        line.row = 2 * line.half;
    }
    return line;
}

/* The tiles of a core, one after the other: which line, segment and chunk. */
struct Place {
    Line line;
    Tile tile;
    int64_t end, first, last;            /* lines up to `end`, segments from `first` to `last` */
    int64_t segment, chunk, begin, stop; /* chunks from `begin` to `stop` */
    bool more;
};

__aicore__ inline void enter_segment(const RotaryGradTiling &t, Place &p) {
    p.begin = p.chunk = t.chunks * p.segment / t.segments;
    p.stop = t.chunks * (p.segment + 1) / t.segments;
}

template <typename T>
__aicore__ inline void enter_line(const RotaryGradTiling &t, Place &p, int64_t at) {
    p.more = at < p.end;
    if (p.more) {
        p.line = line_at<T>(t, at, p.end);
        p.segment = p.first;
        enter_segment(t, p);
        p.tile = tile_at(t, p.line, 0, p.chunk);
    }
}

__aicore__ inline bool starts_line(const Place &p) {
    return p.segment == p.first && p.chunk == p.begin && p.tile.from == 0;
}

/* Whether this was the last tile of its rows of cos, of its segment, of its line. */
__aicore__ inline bool ends_rows(const Place &p) {
    return p.chunk + 1 == p.stop;
}

__aicore__ inline bool ends_segment(const Place &p) {
    return ends_rows(p) && p.tile.from + p.tile.count == p.line.count;
}

__aicore__ inline bool ends_line(const Place &p) {
    return ends_segment(p) && p.segment + 1 == p.last;
}

template <typename T> __aicore__ inline void step(const RotaryGradTiling &t, Place &p) {
    if (ends_line(p)) {
        enter_line<T>(t, p, p.line.line + p.line.count);
        return;
    }
    uint32_t from = p.tile.from;
    if (ends_segment(p)) {
        p.segment++;
        enter_segment(t, p);
        from = 0;
    } else if (ends_rows(p)) {
        p.chunk = p.begin;
        from += p.tile.count;
    } else {
        p.chunk++;
    }
    p.tile = tile_at(t, p.line, from, p.chunk);
}

template <typename T> __aicore__ inline void load(Kernel<T> &k, const Place &p) {
    if (p.more && starts_line(p)) {
        load_cosines<T>(k, p.line);
    }
    if (p.more) {
        load_tile<T>(k, p.line, p.tile);
    }
}

/* One tile; the next one is fetched meanwhile. */
template <typename T>
__aicore__ inline Tree do_tile(Kernel<T> &k, const Line &line, const Tile &tile, const Place &next,
                               bool fetch) {
    const RotaryGradTiling &t = *k.t;
    uint32_t count = tile.rows * tile.count * line.row, x_at = t.tile + OTHER_BANKS;
    Tree tree;
    LocalTensor<T> in = k.in.template DeQue<T>(), out;
    if (t.levels == 0) { /* else the sums of the last tile have waited for its calls */
        vector_done();
    }
    if (holds_end<T>(tile.span, line, t, all_rows(t))) {
        settle_end(in, tile.rows * tile.count, line, k.w_swap);
        if (t.with_x) {
            settle_end(in[x_at], tile.rows * tile.count, line, k.w_swap);
        }
    }
    if constexpr (sizeof(T) == 4) {
        if (fetch) {
            load<T>(k, next);
        }
        out = k.out.template AllocTensor<T>();
        tree = compute<T>(k, line, tile, out, out, in, in[x_at]);
        k.in.FreeTensor(in);
    } else {
        cast_all(k.w_dy, in, count);
        if (t.with_x) {
            cast_all(k.w_x, in[x_at], count);
        }
        k.in.FreeTensor(in);
        if (fetch) {
            load<T>(k, next);
        }
        vector_done();
        tree = compute<T>(k, line, tile, out, k.w_dy, k.w_dy, k.w_x);
    }
    pack(out, tile.rows * tile.count, line, t, k.w_swap);
    k.out.EnQue(out);
    out = k.out.template DeQue<T>();
    if (t.gaps > 0) { /* where dx takes the place of dy, gaps have come from what is written now */
        wait_for<HardEvent::MTE2_MTE3>(k.loaded);
    }
    move_tile<T, false>(out, k.dx, tile, line, t);
    k.out.FreeTensor(out);
    return tree;
}

/* dcos and dsin, summed up, to T and to memory. Spoils w_swap. */
template <typename T>
__aicore__ inline void store_sums(Kernel<T> &k, const Line &line, const LocalTensor<float> &sums,
                                  const LocalTensor<float> &sin_sums) {
    const RotaryGradTiling &t = *k.t;
    uint32_t count = line.count * line.row, units = count / (2 * line.half);
    LocalTensor<float> dsin = k.w_swap; /* 16 bits only */
    LocalTensor<T> out = k.out_sum.template AllocTensor<T>();
    vector_done();
    if constexpr (sizeof(T) == 4) {
        Muls(out, sums, 1.0f, (int32_t)count);
        turn_signed(out[count], sin_sums, units, line.half, -1.0f, 1.0f, k.w_swap, t.table);
    } else {
        cast_all(out, sums, count);
        turn_signed(dsin, sin_sums, units, line.half, -1.0f, 1.0f, k.w_swap, t.table);
        vector_done();
        cast_all(out[count], dsin, count);
    }
    pack(out, line.count, line, t, k.w_swap);
    pack(out[count], line.count, line, t, k.w_swap);
    k.out_sum.EnQue(out);
    out = k.out_sum.template DeQue<T>();
    int64_t first = line.slab * t.cos_rows + line.cos_row;
    move_rows<T, false>(out, k.sum[0], first, line.count, line, t);
    move_rows<T, false>(out[count], k.sum[1], first, line.count, line, t);
    k.out_sum.FreeTensor(out);
}

/* The same as a segment's part of the sums, to the workspace. */
template <typename T>
__aicore__ inline void store_partial(Kernel<T> &k, const Line &line, const LocalTensor<float> &sums,
                                     int64_t segment) {
    const RotaryGradTiling &t = *k.t;
    uint32_t count = 2 * line.count * line.row;
    LocalTensor<float> out = k.out_sum.template AllocTensor<float>();
    vector_done();
    if (t.gaps > 0) { /* what is in the gaps of rows may be another core's dx */
        Duplicate(out, 0.0f, (int32_t)count);
        vector_done();
        scale_rows(out, line.half, sums, line.half, 1.0f, count / line.half, line.length);
    } else {
        Muls(out, sums, 1.0f, (int32_t)count);
    }
    k.out_sum.EnQue(out);
    out = k.out_sum.template DeQue<float>();
    copy_runs<float, false>(out, k.partial[(segment * t.lines + line.line) * 2 * t.sum_row], 1,
                            count, 0);
    k.out_sum.FreeTensor(out);
}

/* The sums from their segments, in their order. */
template <typename T> __aicore__ inline void join_segments(Kernel<T> &k, const Line &line) {
    const RotaryGradTiling &t = *k.t;
    int64_t apart = 2 * t.lines * t.sum_row;
    uint32_t count = 2 * line.count * line.row;
    uint32_t widest = t.tile_bytes / 4 / ROTARY_FOLD / BLOCK * BLOCK;
    vector_done();
    Duplicate(k.sums, 0.0f, (int32_t)count);
    for (uint32_t column = 0; column < count; column += widest) {
        uint32_t columns = least(count - column, widest);
        for (int64_t segment = 0; segment < t.segments; segment += ROTARY_FOLD) {
            int64_t left = t.segments - segment;
            uint32_t n = (uint32_t)(left < ROTARY_FOLD ? left : (int64_t)ROTARY_FOLD);
            LocalTensor<float> in = k.in.template AllocTensor<float>();
            copy_runs<float, true>(
                in, k.partial[(segment * t.lines + line.line) * 2 * t.sum_row + column], n, columns,
                apart);
            k.in.EnQue(in);
            in = k.in.template DeQue<float>();
            vector_done();
            for (uint32_t kept; n > 1; n = kept) {
                kept = (n + 1) / 2;
                flat<ADD>(in, in, in[kept * columns], (n - kept) * columns);
                vector_done();
            }
            Add(k.sums[column], k.sums[column], in, (int32_t)columns);
            k.in.FreeTensor(in);
        }
    }
    store_sums<T>(k, line, k.sums, k.sums[count / 2]);
}

/* The sums of a segment: what is left of them is stored. */
template <typename T>
__aicore__ inline void end_segment(Kernel<T> &k, const Line &line, int64_t segment,
                                   const Tree &tree) {
    const RotaryGradTiling &t = *k.t;
    if (t.levels > 0 && tree.last == 2) {
        vector_done();
        Adds(k.sums, k.sums, 0.0f, (int32_t)(2 * line.count * line.row));
    }
    /* The upper levels into the first, the highest first. */
    for (uint32_t i = t.levels; i > 1; i--) {
        LocalTensor<float> to = k.sums[(i - 2) * 2 * t.cosines];
        vector_done();
        Add(to, to, k.sums[(i - 1) * 2 * t.cosines], (int32_t)(2 * line.count * line.row));
    }
    if (t.partial) { /* there is something to sum */
        store_partial<T>(k, line, k.sums, segment);
    } else if (t.levels > 0) {
        store_sums<T>(k, line, k.sums, k.sums[line.count * line.row]);
    } else {
        store_sums<T>(k, line, k.terms, k.terms[tree.dsin]);
    }
}

/* Lines [at, end), segments [first, last) of each. */
template <typename T>
__aicore__ inline void do_lines(Kernel<T> &k, int64_t at, int64_t end, int64_t first,
                                int64_t last) {
    const RotaryGradTiling &t = *k.t;
    Place p;
    p.end = end;
    p.first = first;
    p.last = last;
    enter_line<T>(t, p, at);
    load<T>(k, p);
    while (p.more) {
        Place next = p;
        step<T>(t, next);
        if (starts_line(p)) {
            take_cosines<T>(k, p.line);
        }
        if (p.chunk == p.begin && p.tile.from == 0 && t.levels > 1) {
            vector_done();
            Duplicate(k.sums[2 * t.cosines], 0.0f, (int32_t)((t.levels - 1) * 2 * t.cosines));
        }
        bool fetch = !(t.partial && ends_line(p)); /* joining takes the queue */
        Tree tree = do_tile<T>(k, p.line, p.tile, next, fetch);
        if (t.levels > 0) {
            vector_done();
            accumulate<T>(k, p.line, p.tile, tree, p.chunk - p.begin + 1);
        }
        if (t.with_x && ends_segment(p)) {
            end_segment<T>(k, p.line, p.segment, tree);
        }
        if constexpr (sizeof(T) == 4) {
            if (ends_line(p)) {
                k.in_cos.FreeTensor(k.held);
            }
        }
        if (!fetch) {
            PipeBarrier<PIPE_ALL>(); /* the parts are in memory before they are read again */
            join_segments<T>(k, p.line);
            load<T>(k, next);
        }
        p = next;
    }
}

/* dcos and dsin where there is nothing to sum. */
template <typename T> __aicore__ inline void clear_sums(Kernel<T> &k) {
    const RotaryGradTiling &t = *k.t;
    constexpr int64_t block = 32 / sizeof(T);
    int64_t blocks = t.zeros / block, cores = GetBlockNum(), core = GetBlockIdx();
    int64_t from = blocks * core / cores * block, to = blocks * (core + 1) / cores * block;
    if (from >= to) {
        return;
    }
    LocalTensor<T> zero = k.out.template AllocTensor<T>();
    Duplicate(zero.template ReinterpretCast<int32_t>(), (int32_t)0,
              (int32_t)(t.tile * sizeof(T) / 4));
    k.out.EnQue(zero);
    zero = k.out.template DeQue<T>();
    for (; from < to; from += t.tile) {
        int64_t n = to - from < t.tile ? to - from : t.tile;
        copy_runs<T, false>(zero, k.sum[0][from], 1, n, 0);
        copy_runs<T, false>(zero, k.sum[1][from], 1, n, 0);
    }
    if (core + 1 == cores && t.zeros % block != 0) { /* a last block that ends with the zeros */
        PipeBarrier<PIPE_MTE3>();
        copy_runs<T, false>(zero, k.sum[0][t.zeros - block], 1, block, 0);
        copy_runs<T, false>(zero, k.sum[1][t.zeros - block], 1, block, 0);
    }
    k.out.FreeTensor(zero);
}

/* Lines that stay on one core, because they meet inside 32-byte blocks of memory. What is left when
 * all units are full belongs to the last one: a core has a block at least. */
__aicore__ inline int64_t unit_count(const RotaryGradTiling &t) {
    return t.lines < t.unit && t.lines > 0 ? 1 : t.lines / t.unit;
}

__aicore__ inline int64_t unit_at(const RotaryGradTiling &t, int64_t unit) {
    return unit == unit_count(t) ? t.lines : unit * t.unit;
}

template <typename T> __aicore__ inline void run(const RotaryGradTiling &t, const Args &args) {
    TPipe pipe;
    Kernel<T> k;
    set_up<T>(k, t, args, pipe);
    if (t.zeros > 0) {
        clear_sums<T>(k);
    }
    int64_t cores = GetBlockNum(), core = GetBlockIdx(), units = unit_count(t);
    if (t.with_x || t.segments == 1) {
        do_lines<T>(k, unit_at(t, units * core / cores), unit_at(t, units * (core + 1) / cores), 0,
                    t.segments);
        return;
    }
    int64_t items = units * t.segments, end = items * (core + 1) / cores;
    for (int64_t item = items * core / cores; item < end; item++) { /* nothing is summed */
        int64_t unit = item / t.segments, segment = item - unit * t.segments;
        do_lines<T>(k, unit_at(t, unit), unit_at(t, unit + 1), segment, segment + 1);
    }
}

} // namespace rotary_910

#endif
