/* SPDX-License-Identifier: Apache-2.0
 *
 * The shape of a tile of the contiguous path (rotary_grad_contiguous.h): its copies and its calls.
 * They are worked out when the shape changes, which is rare.
 */
#ifndef ROTARY_GRAD_CONTIGUOUS_SHAPE_H
#define ROTARY_GRAD_CONTIGUOUS_SHAPE_H

#include "rotary_grad_contiguous.h"

namespace contiguous {

/* The columns of x that come with a row: those that are rotated, to the end of a block. */
template <typename T> AICORE_INLINE uint32_t x_columns(const RotaryGradTiling &t) {
    return t.with_tails ? up((uint32_t)t.row, 32 / sizeof(T)) : t.pitch;
}

/* Copies at regular steps, in elements; count, length, gap and skip of each as in copy_in. */
struct Moves {
    uint32_t copies, ub;
    int64_t gm;
    uint32_t count;
    int64_t length, gap, skip;
    /* whole blocks: takes a third of the scalar work */
    bool plain;
    DataCopyParams in, out;
};

/* Steps from the most rows that a group may have, 2040 / 2, to one. */
constexpr uint32_t FOLDS = 10;

/* The shape of a tile. */
struct Shape {
    /* it follows from these: `rows` inner steps of each of cos_rows */
    uint32_t cos_rows, rows;
    uint32_t slabs, span, elements;
    /* elements of a slab without what fills its last block, of rows of cos, of such with repeats */
    uint32_t run, count, each;
    /* rows of a group in the last slab */
    uint32_t last;
    Moves in, out, out_last;
    /* x beside tails: of a slab, then so far on to the next one, in the UB and in memory */
    Moves x;
    uint32_t x_slabs, x_ub;
    int64_t x_gm;
    /* the calls are there: */
    bool planned;
    Run all, some;
    /* from groups to rows: rows that are left, and how the others are added to them */
    uint32_t folds, kept[FOLDS];
    Grid fold[FOLDS];
    /* sums of slabs become neighbours, dcos and dsin, and are folded as one */
    bool joined;
    /* a slab against every whole slab, and the part of one behind them */
    Grid times;
    uint32_t whole;
    Run left;
};

/* Where a tile is. */
struct Tile {
    Shape *shape;
    /* row of cos, counted over all slabs; the first row of dy */
    int64_t line, first;
    /* the first and the last chunk of these rows of cos; chunks so far */
    bool opens, closes;
    int64_t done, segment;
    /* where it has been fetched to, and cos */
    uint32_t slot, cos_slot;
    /* there is one */
    bool there;
};

__aicore__ inline void plan_moves(Moves &m, uint32_t copies, uint32_t ub, int64_t gm,
                                  uint32_t count, int64_t length, int64_t gap, int64_t skip) {
    if (gap == 0 && skip == 0 && length % 32 == 0) {
        length *= count;
        count = 1;
    }
    m.copies = copies;
    m.ub = ub;
    m.gm = gm;
    m.count = count;
    m.length = length;
    m.gap = gap;
    m.skip = skip;
    m.plain = (length | gap) % 32 == 0 && (length | gap) < 65536 * 32;
    if (m.plain) {
        Narrow16 far = Narrow16(gap / 32), near = Narrow16(skip), blocks = Narrow16(length / 32);
        m.in = DataCopyParams(Narrow16(count), blocks, far, near);
        m.out = DataCopyParams(Narrow16(count), blocks, near, far);
    }
}

template <typename T> __aicore__ inline void plan_copies(const RotaryGradTiling &t, Shape &s) {
    constexpr int64_t size = sizeof(T);
    uint32_t columns = (uint32_t)t.dy_row;
    int64_t row = columns * size;
    s.out_last.copies = 0;
    if (t.cos_last) {
        int64_t rows = s.cos_rows * t.cos_stride;
        plan_moves(s.in, 1, 0, 0, s.slabs, rows * row, (t.inner_stride - rows) * row, 0);
        s.out = s.in;
        return;
    }
    if (s.cos_rows == 1) { /* as in memory */
        plan_moves(s.in, 1, 0, 0, 1, s.rows * row, 0, 0);
        s.out = s.in;
        return;
    }
    uint32_t group = t.group * columns;
    /* On the way in, what a last group lacks comes from the rows behind it, and is not used. */
    bool even = s.last == t.group;
    if (s.slabs > s.cos_rows) { /* the groups of a row of cos follow each other in memory */
        int64_t skip = (s.cos_rows - 1) * group * size / 32, line = t.cos_stride * columns;
        uint32_t whole = even ? s.slabs : s.slabs - 1;
        plan_moves(s.in, s.cos_rows, group, line, s.slabs, group * size, 0, skip);
        plan_moves(s.out, s.cos_rows, group, line, whole, group * size, 0, skip);
    } else {
        plan_moves(s.in, s.slabs, s.cos_rows * group, group, s.cos_rows, group * size,
                   (t.cos_stride - t.group) * row, 0);
        s.out = s.in;
        s.out.copies = even ? s.slabs : s.slabs - 1;
    }
    if (!even) {
        int64_t length = s.last * row;
        plan_moves(s.out_last, 1, 0, 0, s.cos_rows, length, t.cos_stride * row - length,
                   group * size / 32 - (length + 31) / 32);
    }
}

/* The rotated columns of the rows of x, in the order of the rows of dy. */
template <typename T> __aicore__ inline void plan_x(const RotaryGradTiling &t, Shape &s) {
    constexpr int64_t size = sizeof(T);
    uint32_t columns = x_columns<T>(t), rows = t.group;
    int64_t gap = (t.dy_row - columns) * size, line = t.cos_stride * t.dy_row;
    s.x_slabs = s.slabs;
    s.x_gm = t.group * t.dy_row;
    if (t.cos_last) {
        rows = s.cos_rows * (uint32_t)t.cos_stride;
        s.x_gm = t.inner_stride * t.dy_row;
    } else if (s.cos_rows == 1) {
        rows = s.rows;
        s.x_slabs = 1;
    }
    uint32_t copies = t.cos_last ? 1 : s.cos_rows;
    s.x_ub = copies * rows * columns;
    plan_moves(s.x, copies, rows * columns, line, rows, columns * size, gap, 0);
}

/* What it takes to fetch a tile, so that this is soon done. */
template <typename T>
__aicore__ inline void shape_tile(const RotaryGradTiling &t, Shape &s, uint32_t cos_rows,
                                  uint32_t rows) {
    uint32_t row = t.pitch, block = t.with_tails ? 1 : 32 / sizeof(T);
    s.cos_rows = cos_rows;
    s.rows = rows;
    s.count = cos_rows * row;
    s.each = t.fill * s.count;
    s.run = t.group * s.count;
    if (t.cos_last) {
        s.slabs = rows;
        s.last = t.group;
        s.span = up(s.run, block);
        s.elements = s.slabs * s.span;
    } else {
        s.slabs = (rows + t.group - 1) / t.group;
        s.last = rows - (s.slabs - 1) * t.group;
        s.span = s.run;
        s.elements = cos_rows == 1 ? rows * row : s.slabs * s.span;
    }
    plan_copies<T>(t, s);
    if (t.with_tails && t.with_x) {
        plan_x<T>(t, s);
    }
    s.planned = false;
}

/* The last step leaves rows that follow each other. */
__aicore__ inline void plan_folds(const RotaryGradTiling &t, Shape &s) {
    uint32_t row = t.pitch, group = t.group * row, n = s.slabs > 1 ? t.group : s.last;
    for (s.folds = 0; n > t.fill; s.folds++) {
        uint32_t kept = up((n + 1) / 2, t.fill);
        Strides far = {kept == 1 ? row : group, group, group};
        plan_rows(s.fold[s.folds], far, s.joined ? 2 * s.cos_rows : s.cos_rows, {0, 0, 0}, 1,
                  (n - kept) * row);
        s.kept[s.folds] = n = kept;
    }
}

__aicore__ inline void plan_calls(const RotaryGradTiling &t, Shape &s) {
    uint32_t span = s.span;
    s.whole = s.elements / span;
    s.left = run_of(s.elements - s.whole * span);
    s.all = run_of(s.elements);
    /* what comes from groups is in a place of its own, with room for whole repeats */
    s.some = run_of(t.group > 1 ? up(s.count, LANES) : s.count);
    Strides far = {span, 0, span};
    if (s.whole > 0) {
        plan_rows(s.times, far, s.whole, {0, 0, 0}, 1, span);
    }
    s.joined = t.group > 1 && s.run == s.span && s.cos_rows == t.tile_cos &&
               2 * s.cos_rows <= REPEATS && s.slabs - (s.last < t.group) > 1;
    plan_folds(t, s);
    s.planned = true;
}

/* IN: to the UB. At least one copy. */
template <typename T, bool IN>
AICORE_INLINE void move(const Moves &m, LocalTensor<T> ub, GlobalTensor<T> gm) {
    for (uint32_t left = m.copies;;) {
        if (m.plain) {
            if constexpr (IN) {
                DataCopy(ub, gm, m.in);
            } else {
                DataCopy(gm, ub, m.out);
            }
        } else if constexpr (IN) {
            copy_in(ub, gm, m.count, m.length, m.gap, m.skip, 0);
        } else {
            copy_out(gm, ub, m.count, m.length, m.gap, m.skip);
        }
        if (--left == 0) {
            return;
        }
        ub = ub[m.ub];
        gm = gm[m.gm];
    }
}

/* Neighbours to memory or from there. */
template <typename T>
AICORE_INLINE void load_run(const LocalTensor<T> &to, const GlobalTensor<T> &from, uint32_t count) {
    if (count * sizeof(T) % 32 == 0) {
        DataCopy(to, from, count);
    } else {
        copy_in(to, from, 1, (int64_t)count * sizeof(T), 0, 0, 0);
    }
}

template <typename T>
AICORE_INLINE void store_run(const GlobalTensor<T> &to, const LocalTensor<T> &from,
                             uint32_t count) {
    if (count * sizeof(T) % 32 == 0) {
        DataCopy(to, from, count);
    } else {
        copy_out(to, from, 1, (int64_t)count * sizeof(T), 0, 0);
    }
}

/* Rows of a table. */
template <typename C>
AICORE_INLINE void load_table(const RotaryGradTiling &t, const LocalTensor<C> &to,
                              const GlobalTensor<C> &from, uint32_t rows) {
    uint32_t row = (uint32_t)t.row;
    if (t.pitch == row) {
        load_run(to, from, rows * row);
    } else {
        copy_in(to, from, rows, row * sizeof(C), 0, 0, t.pitch - row);
    }
}

template <typename C>
AICORE_INLINE void store_table(const RotaryGradTiling &t, const GlobalTensor<C> &to,
                               const LocalTensor<C> &from, uint32_t rows) {
    uint32_t row = (uint32_t)t.row;
    if (t.pitch == row) {
        store_run(to, from, rows * row);
    } else {
        copy_out(to, from, rows, row * sizeof(C), 0, 0);
    }
}

/* By a gather: partners in each other's place, slab by slab where slabs have gaps. */
template <typename T>
AICORE_INLINE void gather_tile(const Shape &s, const LocalTensor<T> &to, const LocalTensor<T> &from,
                               const LocalTensor<int32_t> &table, uint32_t entries, uint32_t unit,
                               uint32_t row = 1, uint32_t pitch = 1) {
    if (s.run == s.span) {
        gather_rows(to, from, table, entries, s.elements, unit, row, pitch);
        return;
    }
    for (uint32_t i = 0; i < s.slabs; i++) {
        gather_rows(to[i * s.span], from[i * s.span], table, entries, s.run, unit);
    }
}

} // namespace contiguous

#endif
