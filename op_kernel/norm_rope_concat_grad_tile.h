/* SPDX-License-Identifier: Apache-2.0
 *
 * NormRopeConcatGrad: one tile, from its load to its store. w0 goes g, g', g^, dx; w1 x, x^; w2
 * holds products. Calls between two barriers do not depend on each other; what is independent
 * shares the wait.
 */
#ifndef NORM_ROPE_CONCAT_GRAD_TILE_H
#define NORM_ROPE_CONCAT_GRAD_TILE_H

#include "norm_rope_concat_grad_norm.h"

namespace norm_rope_concat {

template <typename T> __aicore__ inline void load(Core<T> &c, const Step &p) {
    const Tiling &t = *c.t;
    Stream<T> s;
    open_tensor(c, p.stream, s);
    Columns k = columns_of<T>(t, p.block);
    LocalTensor<T> in = c.in.template AllocTensor<T>();
    for (Rect r = first_rect(t, *s.t, p.range); r.left; next_rect(t, *s.t, r)) {
        load_rect(t, s, k, r, in);
        if (!r.rope) continue;
        GlobalTensor<T> sin, cos;
        sin.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(c.args->in[19]));
        cos.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(c.args->in[20]));
        load_rows(t, k, in[t.at_cos / sizeof(T) + r.row * k.pitch], cos, r.position, r.seqs);
        load_rows(t, k, in[t.at_sin / sizeof(T) + r.row * k.pitch], sin, r.position, r.seqs);
    }
    if (s.t->norm) {
        LocalTensor<float> numbers = in.template ReinterpretCast<float>();
        load_rows(t, k, in[t.at_x / sizeof(T)], s.x, p.range.line, p.range.lines);
        if (s.t->centred) {
            load_numbers(numbers[t.at_mean / sizeof(float)], s.mean, p.range.line, p.range.lines);
        }
        load_numbers(numbers[t.at_rstd / sizeof(float)], s.rstd, p.range.line, p.range.lines);
    }
    if (p.gamma) load_rows(t, k, in[t.at_gamma / sizeof(T)], s.gamma, 0, 1);
    c.in.EnQue(in);
}

template <typename T>
__aicore__ inline Tile<T> tile_of(Core<T> &c, const LocalTensor<T> &in, const Step &p) {
    const Tiling &t = *c.t;
    Tile<T> v;
    v.s = &t.stream[p.stream];
    v.range = p.range;
    v.k = columns_of<T>(t, p.block);
    v.lines = p.range.lines;
    v.count = v.lines * v.k.pitch;
    v.rows = 0;
    for (Rect r = first_rect(t, *v.s, v.range); r.left; next_rect(t, *v.s, r)) {
        v.rows += r.rope ? r.seqs : 0;
    }
    v.g = in;
    v.w2 = work_at(c, t.at_w2);
    if (v.rows) {
        v.cos = in[t.at_cos / sizeof(T)];
        v.sin = in[t.at_sin / sizeof(T)];
        if (sizeof(T) == 2 || t.rope == 1) v.sin_wide = work_at(c, t.at_sin_wide);
    }
    if (v.s->norm) {
        v.x = in[t.at_x / sizeof(T)];
        v.mean = work_at(c, t.at_mean_wide);
        v.rstd = work_at(c, t.at_rstd_wide);
        v.rstd_row = work_at(c, t.at_rstd_row);
    }
    if constexpr (sizeof(T) == 2) {
        v.w0 = work_at(c, t.at_w0);
        if (v.s->norm) v.w1 = work_at(c, t.at_w1);
        if (v.rows) v.cos_wide = work_at(c, t.at_cos_wide);
    } else {
        v.w0 = in;
        v.w1 = v.x;
        v.cos_wide = v.cos;
        if (t.rope == 2) v.sin_wide = v.sin;
    }
    return v;
}

/* First the loads become fp32, here also gamma and the numbers that each line has one of. */
template <typename T>
__aicore__ inline void begin(Core<T> &c, const LocalTensor<T> &in, const Tile<T> &v,
                             const Step &p) {
    const Tiling &t = *c.t;
    widen(v.w0, v.g, v.count);
    if (v.s->norm) {
        LocalTensor<float> numbers = in.template ReinterpretCast<float>();
        uint8_t eights = static_cast<uint8_t>((v.lines + 7) / 8);
        widen(v.w1, v.x, v.count);
        if (v.s->centred) Brcb(v.mean, numbers[t.at_mean / sizeof(float)], eights, {1, 8});
        Brcb(v.rstd, numbers[t.at_rstd / sizeof(float)], eights, {1, 8});
        Muls(v.rstd_row, numbers[t.at_rstd / sizeof(float)], 1.0f,
             static_cast<int32_t>(eights * 8));
    }
    if (p.gamma) {
        LocalTensor<float> gamma = work_at(c, t.at_gamma_wide);
        if constexpr (sizeof(T) == 2) {
            Cast(gamma, in[t.at_gamma / sizeof(T)], RoundMode::CAST_NONE, v.k.pitch);
        } else {
            Muls(gamma, in[t.at_gamma / sizeof(T)], 1.0f, static_cast<int32_t>(v.k.pitch));
        }
    }
    if (v.s->weighted && p.finish && p.first) {
        int32_t sums = static_cast<int32_t>(t.sum_lines * v.k.pitch);
        if (v.s->centred) Duplicate(work_at(c, t.at_dbeta), 0.0f, sums);
        Duplicate(work_at(c, t.at_dgamma), 0.0f, sums);
    }
}

/* x^ in w1. The steps of g' go side by side with it: first is x - mean, second times rstd. */
template <typename T> __aicore__ inline void centre(const Tile<T> &v) {
    if (v.s->centred) by_line<SUB>(v.w1, v.w1, {v.mean, v.mean, 1}, v.lines, v.k.pitch);
}

template <typename T> __aicore__ inline void scale_lines(const Tile<T> &v) {
    if (v.s->norm) by_line<MUL>(v.w1, v.w1, {v.rstd, v.rstd, 1}, v.lines, v.k.pitch);
}

template <typename T>
__aicore__ inline void turn_halves(Core<T> &c, LocalTensor<T> &in, const Tile<T> &v) {
    const Tiling &t = *c.t;
    if (v.rows) {
        widen(v.cos_wide, v.cos, v.rows * v.k.pitch);
        widen(v.sin_wide, v.sin, v.rows * v.k.pitch);
    }
    if constexpr (sizeof(T) == 2) c.in.FreeTensor(in);
    vector_done();
    centre(v);
    if (v.rows) turn(t, v, v.w2, v.w0, v.sin_wide);
    vector_done();
    scale_lines(v);
    if (v.rows) {
        turn(t, v, v.w0, v.w0, v.cos_wide);
        vector_done();
        add_turned(t, v, v.w2);
    }
    vector_done();
}

template <typename T>
__aicore__ inline void turn_pairs(Core<T> &c, LocalTensor<T> &in, const Tile<T> &v) {
    const Tiling &t = *c.t;
    LocalTensor<float> turned = v.w2[PHASE]; /* in other banks than w0 */
    uint32_t table = v.rows * v.k.pitch;
    if constexpr (sizeof(T) == 2) {
        LocalTensor<T> left = v.w2.template ReinterpretCast<T>();
        LocalTensor<T> sin = v.sin_wide.template ReinterpretCast<T>();
        widen(v.cos_wide, v.cos, table);
        shift_words(left, left[v.count], v.g, v.count);
        shift_words(sin, sin[table], v.sin, table);
        vector_done();
        centre(v);
        join_words(v.g, left, left[v.count], v.count);
        join_words(v.sin, sin, sin[table], table);
        vector_done();
        scale_lines(v);
        turn(t, v, v.w0, v.w0, v.cos_wide);
        widen(turned, v.g, v.count);
        widen(v.sin_wide, v.sin, table);
        c.in.FreeTensor(in);
        vector_done();
        negate_odd(v.sin_wide, table);
    } else {
        LocalTensor<int32_t> swap = work_at(c, t.at_swap).template ReinterpretCast<int32_t>();
        gather_all(turned, v.w0, v.count, swap, t.swap_entries, 4);
        gather_all(v.sin_wide, v.sin, table, swap, t.swap_entries, 4);
        vector_done();
        centre(v);
        turn(t, v, v.w0, v.w0, v.cos_wide);
        negate_odd(v.sin_wide, table);
    }
    vector_done();
    if constexpr (sizeof(T) == 4) scale_lines(v);
    turn(t, v, turned, turned, v.sin_wide);
    vector_done();
    add_turned(t, v, turned);
    vector_done();
}

/* dx from w0 to GM. 16-bit types go through a cast, fp32 is written straight into the buffer
 * that is stored. */
template <typename T>
__aicore__ inline void store(Core<T> &c, LocalTensor<T> &in, const Tile<T> &v, const Step &p,
                             const LocalTensor<float> &stat) {
    Means m;
    bool norm = v.s->norm != 0;
    if (norm) {
        m = spread_means(c, v, stat);
        vector_done();
        subtract_means(v, m);
        vector_done();
        if constexpr (sizeof(T) == 2) {
            by_line<MUL>(v.w0, v.w0, m.rstd, v.lines, v.k.pitch);
            vector_done();
        }
    }
    LocalTensor<T> out =
        c.out.template AllocTensor<T>(); /* not before: it waits for the last store */
    if constexpr (sizeof(T) == 2) {
        Cast(out, v.w0, RoundMode::CAST_RINT, v.count);
    } else {
        if (norm) {
            by_line<MUL>(out, v.w0, m.rstd, v.lines, v.k.pitch);
        } else {
            Muls(out, v.w0, 1.0f, static_cast<int32_t>(v.count));
        }
        c.in.FreeTensor(in);
    }
    Stream<T> s;
    open_tensor(c, p.stream, s);
    c.out.EnQue(out);
    out = c.out.template DeQue<T>();
    store_rows(*c.t, v.k, s.dx, out, v.range.line, v.lines);
    c.out.FreeTensor(out);
}

/* Everything between load and store. `in` is the tile as loaded; it is given back as early as
 * possible. */
template <typename T>
__aicore__ inline void compute(Core<T> &c, LocalTensor<T> &in, const Step &p) {
    Tile<T> v = tile_of(c, in, p);
    vector_done(); /* the tile before used the same buffers */
    begin(c, in, v, p);
    if (v.rows && c.t->rope == 1) {
        turn_pairs(c, in, v);
    } else {
        turn_halves(c, in, v);
    }
    LocalTensor<float> stat = work_at(c, c.t->at_stat + p.slot * c.t->stat_floats * 4);
    if (v.s->norm) do_norm(c, v, p, stat);
    if (p.finish) {
        store(c, in, v, p, stat);
    } else if constexpr (sizeof(T) == 4) {
        c.in.FreeTensor(in);
    }
}

} // namespace norm_rope_concat

#endif
