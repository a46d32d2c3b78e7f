/* SPDX-License-Identifier: Apache-2.0
 *
 * NormRopeConcatGrad: one tile, from its load to its store. w0 goes g, g', g^, dx; w1 x, x^; w2
 * holds products. Calls between two barriers do not depend on each other; what is independent
 * shares the wait.
 */
#ifndef NORM_ROPE_CONCAT_GRAD_TILE_H
#define NORM_ROPE_CONCAT_GRAD_TILE_H

#include "norm_rope_concat_grad_across.h"

namespace norm_rope_concat {

/* The rows of cos and sin of one rectangle. */
template <typename R>
AICORE_INLINE void load_tables(const Tiling &t, const Columns &k, uint32_t column, const Rect &r,
                               const LocalTensor<R> &in, const GlobalTensor<R> &sin,
                               const GlobalTensor<R> &cos) {
    uint32_t at = r.row * k.pitch;
    load_rows(t, k, column, in[t.at_cos / sizeof(R) + at], cos, r.position, r.seqs);
    load_rows(t, k, column, in[t.at_sin / sizeof(R) + at], sin, r.position, r.seqs);
}

/* Also finds out where the tile ends, and how many rows of cos and sin it has. */
template <typename Y> __aicore__ inline void load(Core<Y> &c, Step &p, uint32_t slot) {
    using T = typename Y::Data;
    using W = typename Y::Weight;
    const Tiling &t = *c.t;
    const Stream<T> &s = c.stream[p.stream];
    const Columns &k = columns_at(c, t, p.part);
    const LocalTensor<T> &in = c.in[slot];
    take(c.in_slot[slot]);
    Rect r = p.rect;
    p.rows = 0;
    do {
        load_rect(t, s, k, p.column, r, in);
        if (!r.rope) continue;
        p.rows = r.row + r.seqs;
        if (sizeof(T) == 2 && t.wide_tables) {
            load_tables(t, k, p.column, r, in.template ReinterpretCast<float>(), c.wide_sin,
                        c.wide_cos);
        } else {
            load_tables(t, k, p.column, r, in, c.sin, c.cos);
        }
    } while (next_rect(t, *s.t, r));
    p.after = r.at;
    if (s.t->norm) {
        LocalTensor<float> numbers = in.template ReinterpretCast<float>();
        int64_t first = p.line;
        uint32_t count = p.lines;
        load_rows(t, k, p.column, in[t.at_x / sizeof(T)], s.x, p.line + p.head, p.lines);
        if (s.t->across) { /* one for every token */
            first = p.rect.at.batch * s.t->seq + p.rect.at.seq;
            count = groups_of(*s.t, p.lines);
        }
        if (s.t->centred) load_numbers(numbers[t.at_mean / sizeof(float)], s.mean, first, count);
        load_numbers(numbers[t.at_rstd / sizeof(float)], s.rstd, first, count);
    }
    if (p.gamma) {
        const LocalTensor<W> gamma = in.template ReinterpretCast<W>()[t.at_gamma / sizeof(W)];
        load_rows(t, k, p.column, gamma, c.gamma[p.stream], 0, 1);
    }
    send(c.in_slot[slot]);
}

/* Rows that are fp32. Beside 16-bit data a block of every piece may not have been loaded. */
__aicore__ inline void take_wide_rows(const Columns &k, const LocalTensor<float> &dst,
                                      const LocalTensor<float> &src, uint32_t rows) {
    if (up(k.width, BLOCK) == k.padded) {
        Muls(dst, src, 1.0f, (int32_t)(rows * k.pitch));
    } else {
        scale_rows(dst, k.padded, src, k.padded, 1.0f, rows * k.pieces, up(k.width, BLOCK));
        ResetMask();
    }
}

/* Rows of cos, sin or gamma out of the tile as loaded, which is given back early. */
template <typename R>
AICORE_INLINE void take_rows(const Columns &k, const LocalTensor<float> &dst,
                             const LocalTensor<R> &src, uint32_t rows) {
    if constexpr (sizeof(R) == 2) {
        widen(dst, src, rows * k.pitch);
    } else {
        take_wide_rows(k, dst, src, rows);
    }
}

/* The same of cos or sin beside 16-bit data, at a place in bytes. */
template <typename T>
AICORE_INLINE void take_table(const Tiling &t, const Columns &k, const LocalTensor<float> &dst,
                              const LocalTensor<T> &in, uint32_t at, uint32_t rows) {
    if (t.wide_tables) {
        take_rows(k, dst, in.template ReinterpretCast<float>()[at / sizeof(float)], rows);
    } else {
        take_rows(k, dst, in[at / sizeof(T)], rows);
    }
}

template <typename Y>
AICORE_INLINE void widen_x(const Core<Y> &c, const LocalTensor<typename Y::Data> &in,
                           const Tile &v) {
    if constexpr (sizeof(typename Y::Data) == 2) {
        cast_run(c.w.w1, in[c.t->at_x / 2], RoundMode::CAST_NONE, v.count);
    }
}

/* First the loads become fp32, here also gamma and the numbers that each line has one of. */
template <typename Y>
AICORE_INLINE void begin(Core<Y> &c, const LocalTensor<typename Y::Data> &in, const Tile &v) {
    using T = typename Y::Data;
    using W = typename Y::Weight;
    const Tiling &t = *c.t;
    const Step &p = *v.p;
    Work &w = c.w;
    if constexpr (sizeof(T) == 4) {
        w.w0 = in;
        w.w1 = in[t.at_x / sizeof(T)];
    }
    vector_done(); /* the tile before used the same buffers */
    if constexpr (sizeof(T) == 2) {
        cast_run(w.w0, in, RoundMode::CAST_NONE, v.count);
    }
    if (!v.s->norm) return;
    const LocalTensor<float> rstd = in.template ReinterpretCast<float>()[t.at_rstd / sizeof(float)];
    uint32_t eights = ((v.s->across ? v.groups : v.lines) + 7) / 8;
    if (!v.words) widen_x(c, in, v);
    if (v.s->centred) {
        fill_blocks(*v.k, w.mean, in.template ReinterpretCast<float>()[t.at_mean / sizeof(float)],
                    eights);
    }
    fill_blocks(*v.k, w.rstd, rstd, eights);
    if (p.gamma) {
        const LocalTensor<W> gamma = in.template ReinterpretCast<W>()[t.at_gamma / sizeof(W)];
        take_rows(*v.k, w.gamma, gamma, 1);
    }
    if (v.s->weighted && p.finish && p.first) {
        if (v.s->across) {
            clear_across(c, v);
            return;
        }
        int32_t sums = (int32_t)(v.s->sum_lines * v.pitch);
        if ((int32_t)v.count == 2 * sums) return; /* accumulate sets them */
        if (v.s->centred) Duplicate(w.dbeta, 0.0f, sums);
        Duplicate(w.dgamma, 0.0f, sums);
    }
}

/* x^ in w1. The steps of g' go side by side with it: first is x - mean, second times rstd. */
AICORE_INLINE void centre(const Work &w, const Tile &v) {
    if (!v.s->centred) return;
    if (v.s->across) {
        by_group<SUB>(v, w.w1, w.w1, w.mean);
    } else {
        by_line<SUB>(*v.k, w.w1, w.w1, w.mean, v.lines);
    }
}

AICORE_INLINE void scale_lines(const Work &w, const Tile &v) {
    if (!v.s->norm) return;
    if (v.s->across) {
        by_group<MUL>(v, w.w1, w.w1, w.rstd);
    } else {
        by_line<MUL>(*v.k, w.w1, w.w1, w.rstd, v.lines);
    }
}

template <typename Y>
AICORE_INLINE void rotate_halves(Core<Y> &c, const LocalTensor<typename Y::Data> &in,
                                 const Tile &v) {
    using T = typename Y::Data;
    const Tiling &t = *c.t;
    Work &w = c.w;
    uint32_t rows = v.p->rows;
    if (rows) {
        if constexpr (sizeof(T) == 4) {
            w.cos = in[t.at_cos / sizeof(T)];
            w.sin = in[t.at_sin / sizeof(T)];
        } else {
            take_table(t, *v.k, w.cos, in, t.at_cos, rows);
            take_table(t, *v.k, w.sin, in, t.at_sin, rows);
        }
    }
    if constexpr (sizeof(T) == 2) give_back(c.in_slot[v.slot]);
    vector_done();
    centre(w, v);
    if (rows) scale(t, v, w.w2, w.w0, w.sin);
    vector_done();
    scale_lines(w, v);
    if (rows) {
        scale(t, v, w.w0, w.w0, w.cos);
        vector_done();
        add_partners(t, v, w.w0, w.w2);
    }
    vector_done();
}

/* The second halves of rows of sin change their sign. */
__aicore__ inline void negate_second(const Columns &k, const LocalTensor<float> &sin,
                                     uint32_t rows) {
    Narrow8 step = Narrow8(k.pitch / BLOCK);
    for (uint32_t j = k.half / LANES * LANES; j < k.width; j += LANES) {
        uint64_t lanes[2] = {lanes_between(j, k.half, k.width), 0};
        Muls(sin[j], sin[j], -1.0f, lanes, Narrow8(rows), {1, 1, step, step});
    }
    ResetMask();
}

/* sin of fp32 beside 16-bit data, with neighbours swapped. */
template <typename Y>
__aicore__ inline void swap_rows(Core<Y> &c, Tile v, const LocalTensor<float> &sin) {
    uint32_t width = up(v.k->width, BLOCK), rows = v.p->rows;
    if (width == v.pitch) {
        width *= rows;
        rows = 1;
    }
    for (uint32_t r = 0; r < rows; r++) {
        gather_all(c.w.sin[r * v.pitch], sin[r * v.pitch], width, c.w.swap, c.t->swap_entries, 4);
    }
}

template <typename Y>
__aicore__ inline void rotate_pairs(Core<Y> &c, const LocalTensor<typename Y::Data> &in, Tile v) {
    using T = typename Y::Data;
    const Tiling &t = *c.t;
    Work &w = c.w;
    const LocalTensor<float> partners = w.w2[OTHER_BANKS]; /* in other banks than w0 */
    uint32_t table = v.p->rows * v.pitch;
    const LocalTensor<T> sin = in[t.at_sin / sizeof(T)];
    if constexpr (sizeof(T) == 2) {
        const LocalTensor<uint32_t> words = in.template ReinterpretCast<uint32_t>();
        const LocalTensor<uint32_t> left = w.w2.template ReinterpretCast<uint32_t>();
        const LocalTensor<uint32_t> right = left[v.count / 2];
        const LocalTensor<T> wide = w.sin.template ReinterpretCast<T>();
        take_table(t, *v.k, w.cos, in, t.at_cos, v.p->rows);
        shift_up(left, words, v.count / 2);
        shift_down(right, words, v.count / 2);
        if (t.wide_tables) {
            swap_rows(c, v, in.template ReinterpretCast<float>()[t.at_sin / sizeof(float)]);
        } else {
            shift_words(wide, wide[table], sin, table);
        }
        vector_done();
        centre(w, v);
        join_bits(words, left, right, v.count / 2);
        if (!t.wide_tables) join_words(sin, wide, wide[table], table);
        vector_done();
        scale_lines(w, v);
        scale(t, v, w.w0, w.w0, w.cos);
        cast_run(partners, in, RoundMode::CAST_NONE, v.count);
        if (!t.wide_tables) widen(w.sin, sin, table);
        give_back(c.in_slot[v.slot]);
        vector_done();
        negate_odd(w.sin, table);
    } else {
        const LocalTensor<int32_t> &swap = c.w.swap;
        w.cos = in[t.at_cos / sizeof(T)];
        gather_all(partners, w.w0, v.count, swap, t.swap_entries, 4);
        gather_all(w.sin, sin, table, swap, t.swap_entries, 4);
        vector_done();
        centre(w, v);
        scale(t, v, w.w0, w.w0, w.cos);
        if (t.rope == 3) {
            negate_second(*v.k, w.sin, v.p->rows);
        } else {
            negate_odd(w.sin, table);
        }
    }
    vector_done();
    if constexpr (sizeof(T) == 4) scale_lines(w, v);
    scale(t, v, partners, partners, w.sin);
    vector_done();
    add_partners(t, v, w.w0, partners);
    vector_done();
}

/* g' of 16-bit types whose halves are gathered in pairs, with sin likewise. w1 holds the pairs
 * until x comes. */
template <typename Y>
__aicore__ inline void rotate_words(Core<Y> &c, const LocalTensor<typename Y::Data> &in, Tile v) {
    using T = typename Y::Data;
    const Tiling &t = *c.t;
    const Work &w = c.w;
    const LocalTensor<float> partners = w.w2[OTHER_BANKS]; /* in other banks than w0 */
    const LocalTensor<float> sin = w.w1[v.count / 2];
    const LocalTensor<int32_t> &swap = c.w.swap;
    uint32_t table = v.p->rows * v.pitch;
    gather_all(w.w1, in.template ReinterpretCast<float>(), v.count / 2, swap, t.swap_entries, 4);
    gather_all(sin, in[t.at_sin / sizeof(T)].template ReinterpretCast<float>(), table / 2, swap,
               t.swap_entries, 4);
    take_table(t, *v.k, w.cos, in, t.at_cos, v.p->rows);
    vector_done();
    cast_run(partners, w.w1.template ReinterpretCast<T>(), RoundMode::CAST_NONE, v.count);
    widen(w.sin, sin.template ReinterpretCast<T>(), table);
    scale(t, v, w.w0, w.w0, w.cos);
    vector_done();
    negate_second(*v.k, w.sin, v.p->rows);
    if (v.s->norm) widen_x(c, in, v);
    give_back(c.in_slot[v.slot]);
    vector_done();
    centre(w, v);
    scale(t, v, partners, partners, w.sin);
    vector_done();
    scale_lines(w, v);
    add_partners(t, v, w.w0, partners);
    vector_done();
}

/* dx to GM. 16-bit types go through a cast; fp32 with a norm is in the buffer already. */
template <typename Y>
AICORE_INLINE void store(Core<Y> &c, const Tile &v, const Columns &k,
                         const LocalTensor<float> &stat) {
    using T = typename Y::Data;
    const Work &w = c.w;
    if (v.s->across) {
        subtract_across(c, v, stat);
    } else if (v.s->norm) {
        subtract_means(c, v, stat);
    }
    if (sizeof(T) == 2 || !v.s->norm) {
        take(c.out_slot);
        if constexpr (sizeof(T) == 2) {
            cast_run(c.out, w.w0, RoundMode::CAST_RINT, v.count);
        } else {
            Muls(c.out, w.w0, 1.0f, (int32_t)v.count);
        }
    }
    if constexpr (sizeof(T) == 4) give_back(c.in_slot[v.slot]);
    send(c.out_slot);
    receive(c.out_slot);
    store_rows(*c.t, k, v.p->column, c.stream[v.p->stream].dx, c.out, v.p->line + v.p->head,
               v.lines);
    give_back(c.out_slot);
}

/* Everything between load and store. The tile as loaded is given back as early as possible. */
template <typename Y> AICORE_INLINE void compute(Core<Y> &c, const Step &p, uint32_t slot) {
    using T = typename Y::Data;
    const Tiling &t = *c.t;
    const Columns &k = columns_at(c, t, p.part);
    const LocalTensor<T> &in = c.in[slot];
    Tile v;
    v.slot = slot;
    v.s = &t.stream[p.stream];
    v.p = &p;
    v.lines = p.lines;
    v.k = &k;
    v.pitch = k.pitch;
    v.count = v.lines * v.pitch;
    v.repeats = repeats_of(v.count);
    v.words = sizeof(T) == 2 && t.rope == 3 && p.rows;
    if (v.s->across) {
        v.groups = groups_of(*v.s, v.lines);
        v.group = v.count / v.groups;
    }
    v.one = p.rect.rope && p.rect.lines == p.lines && p.rect.heads >= p.rect.seqs;
    begin(c, in, v);
    if (v.words) {
        if constexpr (sizeof(T) == 2) rotate_words(c, in, v);
    } else if (p.rows && t.rope != 2) {
        rotate_pairs(c, in, v);
    } else {
        rotate_halves(c, in, v);
    }
    LocalTensor<float> kept;
    const LocalTensor<float> *stat = &c.w.stat;
    if (p.slot) {
        kept = c.w.stat[p.slot * t.stat_floats];
        stat = &kept;
    }
    if (v.s->across) {
        norm_across(c, v, k, *stat);
    } else if (v.s->norm) {
        do_norm(c, v, k, *stat);
    }
    if (p.finish) {
        store(c, v, k, *stat);
    } else if constexpr (sizeof(T) == 4) {
        give_back(c.in_slot[slot]);
    }
}

} // namespace norm_rope_concat

#endif
