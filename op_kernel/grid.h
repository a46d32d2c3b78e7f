/* SPDX-License-Identifier: Apache-2.0
 *
 * Words of the kernels whose scalar code counts: calls without a mask of their own, and grids of
 * calls that are planned once and walked in every tile. Everything here expects all lanes to be on,
 * and leaves them so; what sets a mask elsewhere calls ResetMask when it is done.
 */
#ifndef GRID_H
#define GRID_H

#include "rows.h"

namespace rows {

using namespace AscendC;

/* Whether `count` neighbouring numbers are whole repeats, and few enough for one call. */
template <typename F> AICORE_INLINE bool is_whole(uint32_t count) {
    constexpr uint32_t lanes = 256 / sizeof(F);
    return count % lanes == 0 && count <= REPEATS * lanes;
}

template <Op OP, typename F>
AICORE_INLINE void apply_whole(const LocalTensor<F> &to, const LocalTensor<F> &a,
                               const LocalTensor<F> &b, uint32_t repeats,
                               const BinaryRepeatParams &steps) {
    if constexpr (OP == MUL) {
        Mul<F, false>(to, a, b, MASK_PLACEHOLDER, Narrow8(repeats), steps);
    } else if constexpr (OP == ADD) {
        Add<F, false>(to, a, b, MASK_PLACEHOLDER, Narrow8(repeats), steps);
    } else {
        Sub<F, false>(to, a, b, MASK_PLACEHOLDER, Narrow8(repeats), steps);
    }
}

/* `count` neighbouring numbers. */
template <Op OP>
AICORE_INLINE void apply_run(const LocalTensor<float> &to, const LocalTensor<float> &a,
                             const LocalTensor<float> &b, uint32_t count) {
    if (is_whole<float>(count)) {
        apply_whole<OP>(to, a, b, count / LANES, BinaryRepeatParams());
    } else {
        apply_flat<OP>(to, a, b, count);
    }
}

template <typename TO, typename FROM>
AICORE_INLINE void cast_run(const LocalTensor<TO> &to, const LocalTensor<FROM> &from,
                            const RoundMode mode, uint32_t count) {
    if (is_whole<float>(count)) {
        UnaryRepeatParams steps(1, 1, Narrow8(2 * sizeof(TO)), Narrow8(2 * sizeof(FROM)));
        Cast<TO, FROM, false>(to, from, mode, MASK_PLACEHOLDER, Narrow8(count / LANES), steps);
    } else {
        Cast(to, from, mode, count);
    }
}

/* n words moved by 16 bits, towards the upper end or the lower. */
AICORE_INLINE void shift_up(const LocalTensor<uint32_t> &to, const LocalTensor<uint32_t> &from,
                            uint32_t n) {
    if (is_whole<uint32_t>(n)) {
        ShiftLeft<uint32_t, false>(to, from, (uint32_t)16, MASK_PLACEHOLDER, Narrow8(n / LANES),
                                   UnaryRepeatParams());
    } else {
        ShiftLeft(to, from, (uint32_t)16, (int32_t)n);
    }
}

AICORE_INLINE void shift_down(const LocalTensor<uint32_t> &to, const LocalTensor<uint32_t> &from,
                              uint32_t n) {
    if (is_whole<uint32_t>(n)) {
        ShiftRight<uint32_t, false>(to, from, (uint32_t)16, MASK_PLACEHOLDER, Narrow8(n / LANES),
                                    UnaryRepeatParams());
    } else {
        ShiftRight(to, from, (uint32_t)16, (int32_t)n);
    }
}

/* n words, each from the bits of two. */
AICORE_INLINE void join_bits(const LocalTensor<uint32_t> &to, const LocalTensor<uint32_t> &a,
                             const LocalTensor<uint32_t> &b, uint32_t n) {
    LocalTensor<uint16_t> out = to.ReinterpretCast<uint16_t>(), p = a.ReinterpretCast<uint16_t>(),
                          q = b.ReinterpretCast<uint16_t>();
    if (is_whole<uint32_t>(n)) {
        Or<uint16_t, false>(out, p, q, MASK_PLACEHOLDER, Narrow8(n / LANES), BinaryRepeatParams());
    } else {
        Or(out, p, q, (int32_t)(2 * n));
    }
}

/* Of n slabs of `size` floats the upper ones are added to the lower ones. Returns how many are
 * left. */
AICORE_INLINE uint32_t add_upper(const LocalTensor<float> &slabs, uint32_t n, uint32_t size) {
    uint32_t kept = (n + 1) / 2;
    apply_run<ADD>(slabs, slabs, slabs[kept * size], (n - kept) * size);
    return kept;
}

/* The sum of n slabs, left in the first: a tree whose shape depends on n alone. */
AICORE_INLINE void sum_slabs(const LocalTensor<float> &slabs, uint32_t n, uint32_t size) {
    while (n > 1) {
        n = add_upper(slabs, n, size);
        vector_done();
    }
}

/* Floats from one row of cos to the next, and from one row of dy that it serves to the next. */
struct Steps {
    uint32_t cos, row;
};

/* The same for the three operands of a call. */
struct Strides {
    uint32_t to, a, b;
};

/* Calls at regular steps: `slow` times `fast` of them. */
struct Grid {
    uint32_t slow, fast;
    Strides far, near;
    /* of a call; 0: it has `count` numbers */
    uint32_t repeats, count;
    /* of every call; 0: all */
    uint32_t lanes;
    /* lanes of one more slow step; 0: there is none */
    uint32_t tail;
    BinaryRepeatParams steps;
};

__aicore__ inline bool is_near(Strides s) {
    return s.to <= REPEATS * BLOCK && s.a <= REPEATS * BLOCK && s.b <= REPEATS * BLOCK;
}

__aicore__ inline bool is_all(Strides s, uint32_t step) {
    return s.to == step && s.a == step && s.b == step;
}

/* Whether rows are one or two blocks, of which eight rows fill a repeat. */
__aicore__ inline bool is_short(Strides row, uint32_t n, uint32_t columns) {
    return columns % BLOCK == 0 && columns <= 2 * BLOCK && n % 8 == 0 && n / 8 <= REPEATS &&
           row.to <= REPEATS && row.a <= REPEATS && row.b <= REPEATS;
}

/* `others` times n rows of `columns` floats, by the fewest calls; n is at most REPEATS, unless rows
 * are short. */
__aicore__ inline void plan_rows(Grid &g, Strides row, uint32_t n, Strides other, uint32_t others,
                                 uint32_t columns) {
    g.tail = g.lanes = 0;
    if (is_all(row, columns)) {
        columns *= n;
        n = 1;
    }
    if (is_short(row, n, columns)) { /* a block of each of eight rows */
        Narrow8 to = Narrow8(row.to / BLOCK), a = Narrow8(row.a / BLOCK),
                b = Narrow8(row.b / BLOCK);
        g.slow = columns / BLOCK;
        g.far = {BLOCK, BLOCK, BLOCK};
        g.fast = others;
        g.near = other;
        g.repeats = n / 8;
        g.steps = BinaryRepeatParams(to, a, b, Narrow8(row.to), Narrow8(row.a), Narrow8(row.b));
        return;
    }
    if (n > 1 && is_near(row) && columns < n * LANES) { /* a repeat for each row */
        g.slow = columns / LANES;
        g.far = {LANES, LANES, LANES};
        g.fast = others;
        g.near = other;
        g.tail = columns % LANES;
        g.repeats = n;
        if (g.slow == 0) {
            g.slow = 1;
            g.lanes = columns;
            g.tail = 0;
        }
        g.steps = BinaryRepeatParams(1, 1, 1, Narrow8(row.to / BLOCK), Narrow8(row.a / BLOCK),
                                     Narrow8(row.b / BLOCK));
        return;
    }
    bool few = n < others;
    g.slow = few ? n : others;
    g.fast = few ? others : n;
    g.far = few ? row : other;
    g.near = few ? other : row;
    g.repeats = is_whole<float>(columns) ? columns / LANES : 0;
    g.count = columns;
    g.steps = BinaryRepeatParams();
}

/* cos_rows times rows of `columns` floats, at most REPEATS of each. */
__aicore__ inline void plan_grid(Grid &g, Steps ts, Steps as, Steps bs, uint32_t cos_rows,
                                 uint32_t rows, uint32_t columns) {
    Strides cos = {ts.cos, as.cos, bs.cos}, row = {ts.row, as.row, bs.row};
    if (is_all(cos, columns)) {
        columns *= cos_rows;
        cos_rows = 1;
    }
    if (cos_rows == 1 || rows >= cos_rows || !is_near(cos)) {
        plan_rows(g, row, rows, cos, cos_rows, columns);
    } else {
        plan_rows(g, cos, cos_rows, row, rows, columns);
    }
}

/* The same calls for n groups of columns, `step` floats apart; false: they do not fit the grid. */
__aicore__ inline bool plan_groups(Grid &g, uint32_t n, uint32_t step) {
    if (n == 1 || g.lanes == 0) {
        return n == 1;
    }
    g.slow = n;
    g.far = {step, step, step};
    return true;
}

/* The calls of a slow step. */
template <Op OP>
AICORE_INLINE void walk_line(const Grid &g, const LocalTensor<float> &to,
                             const LocalTensor<float> &a, const LocalTensor<float> &b) {
    if (g.fast == 1) {
        apply_whole<OP>(to, a, b, g.repeats, g.steps);
        return;
    }
    LocalTensor<float> p = to, q = a, r = b;
    for (uint32_t left = g.fast;;) {
        apply_whole<OP>(p, q, r, g.repeats, g.steps);
        if (--left == 0) {
            return;
        }
        p = p[g.near.to];
        q = q[g.near.a];
        r = r[g.near.b];
    }
}

/* Where calls are no whole repeats: rare, and not inlined. By value: a reference would make every
 * walk write its tensors to memory, a hundred bytes each. */
template <Op OP>
__aicore__ inline void walk_counts(const Grid &g, LocalTensor<float> to, LocalTensor<float> a,
                                   LocalTensor<float> b) {
    for (uint32_t i = 0; i < g.slow; i++) {
        for (uint32_t j = 0; j < g.fast; j++) {
            apply_flat<OP>(to[i * g.far.to + j * g.near.to], a[i * g.far.a + j * g.near.a],
                           b[i * g.far.b + j * g.near.b], g.count);
        }
    }
}

/* Before and after walks: the mask of narrow calls is set once. */
AICORE_INLINE void narrow_lanes(const Grid &g) {
    if (g.lanes > 0) {
        SetVectorMask<float>((int32_t)g.lanes);
    }
}

AICORE_INLINE void widen_lanes(const Grid &g) {
    if (g.lanes > 0) {
        ResetMask();
    }
}

/* Between narrow_lanes and widen_lanes. */
template <Op OP>
AICORE_INLINE void walk(const Grid &g, LocalTensor<float> to, LocalTensor<float> a,
                        LocalTensor<float> b) {
    if (g.repeats == 0) {
        walk_counts<OP>(g, to, a, b);
        return;
    }
    for (uint32_t left = g.slow;;) {
        walk_line<OP>(g, to, a, b);
        if (--left == 0) {
            break;
        }
        to = to[g.far.to];
        a = a[g.far.a];
        b = b[g.far.b];
    }
    if (g.tail > 0) {
        SetVectorMask<float>((int32_t)g.tail);
        walk_line<OP>(g, to[g.far.to], a[g.far.a], b[g.far.b]);
        ResetMask();
    }
}

/* The same for two products with a factor in common: to = a * b, to2 = a2 * b. */
AICORE_INLINE void multiply_line(const Grid &g, const LocalTensor<float> &to,
                                 const LocalTensor<float> &a, const LocalTensor<float> &to2,
                                 const LocalTensor<float> &a2, const LocalTensor<float> &b) {
    if (g.fast == 1) {
        apply_whole<MUL>(to, a, b, g.repeats, g.steps);
        apply_whole<MUL>(to2, a2, b, g.repeats, g.steps);
        return;
    }
    LocalTensor<float> p = to, q = a, p2 = to2, q2 = a2, r = b;
    for (uint32_t left = g.fast;;) {
        apply_whole<MUL>(p, q, r, g.repeats, g.steps);
        apply_whole<MUL>(p2, q2, r, g.repeats, g.steps);
        if (--left == 0) {
            return;
        }
        p = p[g.near.to];
        q = q[g.near.a];
        p2 = p2[g.near.to];
        q2 = q2[g.near.a];
        r = r[g.near.b];
    }
}

AICORE_INLINE void multiply_both(const Grid &g, LocalTensor<float> to, LocalTensor<float> a,
                                 LocalTensor<float> to2, LocalTensor<float> a2,
                                 LocalTensor<float> b) {
    if (g.repeats == 0) {
        walk_counts<MUL>(g, to, a, b);
        walk_counts<MUL>(g, to2, a2, b);
        return;
    }
    for (uint32_t left = g.slow;;) {
        multiply_line(g, to, a, to2, a2, b);
        if (--left == 0) {
            break;
        }
        to = to[g.far.to];
        a = a[g.far.a];
        to2 = to2[g.far.to];
        a2 = a2[g.far.a];
        b = b[g.far.b];
    }
    if (g.tail > 0) {
        SetVectorMask<float>((int32_t)g.tail);
        multiply_line(g, to[g.far.to], a[g.far.a], to2[g.far.to], a2[g.far.a], b[g.far.b]);
        ResetMask();
    }
}

} // namespace rows

#endif
