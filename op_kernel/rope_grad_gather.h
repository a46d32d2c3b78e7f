/* SPDX-License-Identifier: Apache-2.0
 *
 * RopeGrad, heads whose halves do not begin at blocks: tokens are moved as they lie in GM, and a
 * gather brings every element to the place of its partner. Coefficients are laid out for as many
 * heads as fill whole blocks, a period: cos, and with it sin of the other half with its sign, so
 * that y = x * cos + other * sin. 16-bit elements are gathered in pairs where halves are even.
 */
#ifndef ROPE_GRAD_GATHER_H
#define ROPE_GRAD_GATHER_H

#include "partners.h"
#include "rope_grad_core.h"

namespace rope {

/* Bits of the columns [low, high) of all heads of a period, 64 in a word. */
template <typename T, typename C>
__aicore__ inline void choose(const Core<T, C> &c, uint64_t *words, uint32_t low, uint32_t high) {
    uint64_t all = ~(uint64_t)0;
    for (uint32_t i = 0; i < c.width; i += 64) {
        words[i / 64] = 0;
    }
    for (uint32_t head = 0; head < c.width; head += c.head) {
        for (uint32_t at = head + low, end = head + high; at < end;) {
            uint32_t n = least(end - at, 64 - at % 64);
            words[at / 64] |= all >> (64 - n) << at % 64;
            at += n;
        }
    }
}

__aicore__ inline uint32_t in_blocks(uint32_t items) {
    while (items % 8 != 0) {
        items *= 2;
    }
    return items;
}

/* Where the other half of every item of a tile is: `used` items of a token, a token every `period`
 * items, a multiple of 8; what lies between has a partner, too, whichever. */
template <typename T, typename C>
__aicore__ inline void make_partners(const Core<T, C> &c, const LocalTensor<int32_t> &table,
                                     uint32_t entries, uint32_t period, uint32_t used,
                                     uint32_t unit, uint32_t slice) {
    uint32_t head = c.head / unit, pattern = least(in_blocks(head), period);
    make_table(table, pattern, 0, 4, 4);
    swap_halves(table, slice / unit, least(pattern, used), head, c.half_row / unit);
    repeat_table(table, pattern, period, (int32_t)(4 * pattern));
    if (used < period) {
        clear_range(table, used, period);
    }
    repeat_table(table, period, entries, (int32_t)(4 * period));
}

/* Where the partners of a period's columns are in a row of sin, and the columns themselves in a row
 * of cos, unless that is where they are; a row has R items. Columns that are not rotated read the
 * first. */
template <typename T, typename C>
__aicore__ inline void make_spreads(const Core<T, C> &c, const LocalTensor<int32_t> &cos,
                                    const LocalTensor<int32_t> &sin, uint32_t entries,
                                    uint32_t slice) {
    make_table(sin, c.width, 0, 4, 4);
    for (uint32_t at = c.head; at < c.width; at += c.head) {
        add_to_range(sin, at, c.width, -(int32_t)(4 * c.head));
    }
    for (uint32_t at = 0; c.partial && at < c.width; at += c.head) {
        uint32_t first = at + slice, end = first + c.rotated;
        if (slice > 0) {
            clear_range(sin, at, first);
            add_to_range(sin, first, end, -(int32_t)(4 * slice));
        }
        if (end < at + c.head) clear_range(sin, end, at + c.head);
    }
    if (c.width != c.rotated) {
        vector_done();
        DataCopy(cos, sin, c.width);
        repeat_table(cos, c.width, entries, (int32_t)(4 * c.rotated));
    }
    swap_halves(sin, slice, c.width, c.head, c.half_row);
    repeat_table(sin, c.width, entries, (int32_t)(4 * c.rotated));
}

/* What a core keeps for the gather. */
struct Gathers {
    LocalTensor<uint32_t> cos, sin; /* where coefficients come from */
    LocalTensor<float> rows;        /* rows of cos and sin in fp32 */
    uint64_t rotated[ROPE_GRAD_PERIOD / 64], second[ROPE_GRAD_PERIOD / 64]; /* columns */
    uint32_t unit; /* elements that a gather takes at a time */
    bool ready;
};

/* cos and sin, or w, of `rows` positions from what was loaded. */
template <typename T, typename C>
__aicore__ inline void make_gathered(const Core<T, C> &c, const Gathers &d,
                                     const LocalTensor<C> &cos_in, const LocalTensor<C> &sin_in,
                                     uint32_t rows) {
    LocalTensor<float> cos, sin;
    uint32_t count = rows * c.rotated;
    bool in_place = c.width == c.rotated;
    if constexpr (sizeof(C) == 4) {
        cos = cos_in;
        sin = sin_in;
        if (in_place) DataCopy(c.cos, cos, count);
    } else {
        cos = in_place ? c.cos : d.rows;
        sin = d.rows[c.table];
        Cast(cos, cos_in, RoundMode::CAST_NONE, count);
        Cast(sin, sin_in, RoundMode::CAST_NONE, count);
        vector_done();
    }
    /* rows of R floats become rows of a period */
    uint32_t spread = most(ROPE_GRAD_SPREAD / c.width, 1), places = spread * c.width;
    uint32_t step = spread * c.rotated * sizeof(float);
    if (!in_place) gather_on(c.cos, cos, rows * c.width, d.cos, places, step);
    gather_on(c.sin, sin, rows * c.width, d.sin, places, step);
    vector_done();
    negate_chosen(c.sin, c.width, rows, c.width, d.second);
    if (c.exact) return;
    vector_done();
    Add(c.cos, c.cos, c.sin, (int32_t)(rows * c.width));
    if constexpr (AllHalf<T, C>::value) {
        vector_done();
        Cast(c.w, c.cos, RoundMode::CAST_RINT, rows * c.width);
    }
}

/* y = x * w in all rotated columns of a tile; SAME: y is x. */
template <bool SAME, typename T, typename C, typename F>
__aicore__ inline void scale_gathered(const Core<T, C> &c, const Gathers &d,
                                      const LocalTensor<F> &y, const LocalTensor<F> &x,
                                      const LocalTensor<F> &w, uint32_t pitch, uint32_t rows,
                                      uint32_t columns) {
    uint32_t periods = columns / c.width, rest = columns - periods * c.width, at = columns - rest;
    const uint64_t *chosen = c.partial ? d.rotated : nullptr;
    apply_heads<MUL, SAME>(y, x, Apart{c.width, pitch}, w, Apart{0, c.width}, rows, periods,
                           c.width, chosen);
    if (rest > 0) {
        apply_heads<MUL, SAME>(y[at], x[at], Apart{0, pitch}, w, Apart{0, c.width}, rows, 1, rest,
                               chosen);
    }
}

/* y += other in all rotated columns of a tile; count: its elements. */
template <typename T, typename C>
__aicore__ inline void add_gathered(const Core<T, C> &c, const Gathers &d,
                                    const LocalTensor<float> &y, const LocalTensor<float> &other,
                                    uint32_t pitch, uint32_t rows, uint32_t columns,
                                    uint32_t count) {
    if (!c.partial) {
        Add(y, y, other, (int32_t)count);
        return;
    }
    uint32_t periods = columns / c.width, rest = columns - periods * c.width, at = columns - rest;
    Apart steps{c.width, pitch};
    apply_heads<ADD, true>(y, y, steps, other, steps, rows, periods, c.width, d.rotated);
    if (rest > 0) {
        apply_heads<ADD, true>(y[at], y[at], steps, other[at], steps, rows, 1, rest, d.rotated);
    }
}

/* y = x * cos + partner * sin in all rotated columns. */
template <typename T, typename C>
__aicore__ inline void rotate(const Core<T, C> &c, const Gathers &d, const LocalTensor<float> &y,
                              const LocalTensor<float> &x, uint32_t pitch, uint32_t rows,
                              uint32_t columns, uint32_t count, uint32_t at) {
    vector_done();
    scale_gathered<sizeof(T) == 2>(c, d, y, x, c.cos[at], pitch, rows, columns);
    if (!c.exact) return;
    scale_gathered<true>(c, d, c.x_sin, c.x_sin, c.sin[at], pitch, rows, columns);
    vector_done();
    add_gathered(c, d, y, c.x_sin, pitch, rows, columns, count);
}

/* The formula on a tile of `rows` tokens, or of part of one; columns: elements of one token. Gives
 * x back. */
template <typename T, typename C>
__aicore__ inline void compute_gathered(Core<T, C> &c, const Gathers &d, const Stream<T> &s,
                                        const LocalTensor<T> &y, LocalTensor<T> &x, uint32_t rows,
                                        uint32_t columns, uint32_t table_row) {
    uint32_t at = table_row * c.width, count = rows == 1 ? columns : rows * s.pitch;
    LocalTensor<T> from = x;
    if (c.partial && (sizeof(T) == 4 || (AllHalf<T, C>::value && !c.exact))) {
        DataCopy(y, x, up(count, 32 / sizeof(T)));
        from = y;
    }
    if constexpr (sizeof(T) == 4) {
        vector_done(); /* the last tile has read x_sin */
        if (c.exact) gather_on(c.x_sin, x, count, s.places, s.entries, 4 * s.entries);
        rotate(c, d, y, from, s.pitch, rows, columns, count, at);
        c.x_in.FreeTensor(x);
        return;
    } else {
        if constexpr (AllHalf<T, C>::value) {
            if (!c.exact) {
                vector_done();
                scale_gathered<false>(c, d, y, from, c.w[at], s.pitch, rows, columns);
                c.x_in.FreeTensor(x);
                return;
            }
        }
        if (c.exact && d.unit == 2) { /* y is free until the end */
            gather_on(y.template ReinterpretCast<uint32_t>(),
                      x.template ReinterpretCast<uint32_t>(), count / 2, s.places, s.entries,
                      4 * s.entries);
        }
        vector_done(); /* the last tile has read x_wide, too */
        Cast(c.x_wide, x, RoundMode::CAST_NONE, count);
        c.x_in.FreeTensor(x);
        if (c.exact && d.unit == 2) {
            Cast(c.x_sin, y, RoundMode::CAST_NONE, count);
        } else if (c.exact) {
            vector_done();
            gather_on(c.x_sin, c.x_wide, count, s.places, s.entries, 4 * s.entries);
        }
        rotate(c, d, c.x_wide, c.x_wide, s.pitch, rows, columns, count, at);
        vector_done();
        Cast(y, c.x_wide, RoundMode::CAST_RINT, count);
    }
}

} // namespace rope

#endif
