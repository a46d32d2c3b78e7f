/* SPDX-License-Identifier: Apache-2.0
 *
 * RopeGrad. For every head x of q and k, at position p of its sequence, with h = D / 2 and j < h:
 *
 *   default      y[j]   = x[j]   * (cos[p][j]   + sin[p][j+h])
 *                y[j+h] = x[j+h] * (cos[p][j+h] - sin[p][j])
 *   exact_grad   y[j]   = x[j]   * cos[p][j]   + x[j+h] * sin[p][j+h]
 *                y[j+h] = x[j+h] * cos[p][j+h] - x[j]   * sin[p][j]
 *
 * q, k, y [tokens, heads * D], cos and sin [positions, D]. fp16 in the default formula is native
 * fp16 with w = cos +- sin rounded; all else is fp32 inside and rounded once.
 * A core takes a block of positions, prepares the coefficients once, and streams the rows of all
 * sequences of its group through them.
 */
#ifndef ROPE_GRAD_H
#define ROPE_GRAD_H

#include "rope_grad_core.h"
#include "rope_grad_tiling_data.h"

namespace rope {

/* A point of the walk through a group, see rope_grad_tiling_data.h. */
struct Cut {
    uint32_t pos, skip;
};

template <typename T> struct Stream {
    GlobalTensor<T> x, y;
    uint32_t heads;
};

/* The coefficients in fp32, and in fp16 if the tiles want them so. */
template <typename T>
__aicore__ inline void make_coefficients(const Core<T> &c, const LocalTensor<T> &cos,
                                         const LocalTensor<T> &sin, uint32_t rows) {
    uint32_t count = rows * 2 * c.padded;
    if constexpr (sizeof(T) == 4) {
        if (c.exact) {
            DataCopy(c.cos, cos, count);
            DataCopy(c.sin, sin, count);
        } else {
            cross(c.cos, cos, sin, rows, c.padded);
        }
        return;
    } else {
        Cast(c.cos, cos, RoundMode::CAST_NONE, count);
        Cast(c.sin, sin, RoundMode::CAST_NONE, count);
        if (c.exact) return;
        vector_done();
        cross(c.cos, c.cos, c.sin, rows, c.padded);
        if constexpr (IsHalf<T>::value) { /* fp32 holds enough for this to round right */
            vector_done();
            Cast(c.w, c.cos, RoundMode::CAST_RINT, count);
        }
    }
}

/* Loads cos and sin of `rows` positions from pos on and prepares them. */
template <typename T> __aicore__ inline void load_table(Core<T> &c, int64_t pos, uint32_t rows) {
    LocalTensor<T> in = c.table_in.template AllocTensor<T>();
    load(c, in, c.cos_gm, pos * 2, rows * 2);
    load(c, in[c.table], c.sin_gm, pos * 2, rows * 2);
    c.table_in.EnQue(in);
    in = c.table_in.template DeQue<T>();
    vector_done(); /* the tiles of the last block have read the coefficients */
    if (c.native) {
        if constexpr (IsHalf<T>::value) cross(c.w, in, in[c.table], rows, c.padded);
    } else {
        make_coefficients(c, in, in[c.table], rows);
    }
    c.table_in.FreeTensor(in);
    vector_done();
}

/* y = the formula in fp32. y may be x. */
template <typename T>
__aicore__ inline void compute_wide(const Core<T> &c, const LocalTensor<float> &y,
                                    const LocalTensor<float> &x, uint32_t rows, uint32_t heads,
                                    uint32_t table_row) {
    uint32_t width = 2 * c.padded, at = table_row * width;
    if (c.exact) {
        scale(c.x_sin, x, c.sin[at], rows, heads, width);
        vector_done();
    }
    scale(y, x, c.cos[at], rows, heads, width);
    if (c.exact) {
        vector_done();
        cross(y, y, c.x_sin, rows * heads, c.padded);
    }
}

template <typename T>
__aicore__ inline void compute(const Core<T> &c, const LocalTensor<T> &y, const LocalTensor<T> &x,
                               uint32_t rows, uint32_t heads, uint32_t table_row) {
    uint32_t width = 2 * c.padded, count = rows * heads * width;
    if constexpr (sizeof(T) == 4) {
        if (c.exact) vector_done(); /* the last tile has read x_sin */
        compute_wide(c, y, x, rows, heads, table_row);
        return;
    } else {
        if constexpr (IsHalf<T>::value) {
            if (!c.exact) {
                scale(y, x, c.w[table_row * width], rows, heads, width);
                return;
            }
        }
        vector_done(); /* the last tile has read x_wide */
        Cast(c.x_wide, x, RoundMode::CAST_NONE, count);
        vector_done();
        compute_wide(c, c.x_wide, c.x_wide, rows, heads, table_row);
        vector_done();
        Cast(y, c.x_wide, RoundMode::CAST_RINT, count);
    }
}

/* One tile: `heads` heads of each of `rows` tokens, from half row `row` on. The first token's
 * coefficients are at table_row. */
template <typename T>
__aicore__ inline void do_tile(Core<T> &c, const Stream<T> &s, int64_t row, uint32_t rows,
                               uint32_t heads, uint32_t table_row) {
    LocalTensor<T> x = c.x_in.template AllocTensor<T>();
    load(c, x, s.x, row, rows * heads * 2);
    c.x_in.EnQue(x);
    x = c.x_in.template DeQue<T>();
    LocalTensor<T> y = c.y_out.template AllocTensor<T>();
    compute(c, y, x, rows, heads, table_row);
    c.x_in.FreeTensor(x);
    c.y_out.EnQue(y);
    y = c.y_out.template DeQue<T>();
    store(c, s.y, y, row, rows * heads * 2);
    c.y_out.FreeTensor(y);
}

/* `rows` tokens of one sequence, in tiles of equal size; a token wider than a tile in pieces. */
template <typename T>
__aicore__ inline void do_tokens(Core<T> &c, const Stream<T> &s, int64_t token, uint32_t rows,
                                 uint32_t table_row) {
    if (s.heads == 0) return;
    uint32_t most_heads = c.tile / (2 * c.padded), most_rows = most_heads / s.heads;
    if (most_rows > 0) {
        uint32_t done = 0;
        for (uint32_t tiles = (rows + most_rows - 1) / most_rows; tiles > 0; tiles--) {
            uint32_t n = (rows - done + tiles - 1) / tiles;
            do_tile(c, s, (token + done) * s.heads * 2, n, s.heads, table_row + done);
            done += n;
        }
        return;
    }
    for (uint32_t r = 0; r < rows; r++) {
        for (uint32_t n = 0; n < s.heads; n += most_heads) {
            do_tile(c, s, ((token + r) * s.heads + n) * 2, 1, least(s.heads - n, most_heads),
                    table_row + r);
        }
    }
}

/* See rope_grad_tiling_data.h. */
template <typename Tiling> __aicore__ inline uint32_t length_of(const Tiling &t, uint32_t seq) {
    uint32_t at = seq * t.bits, word = at / 32;
    uint64_t two = (uint64_t)t.lengths[word + 1] << 32 | t.lengths[word];
    return t.shortest + ((uint32_t)(two >> at % 32) & (((uint32_t)1 << t.bits) - 1));
}

/* The rows of one group of `count` sequences from `seq` on between two cuts; its first token is
 * `first`. */
template <typename T, typename Tiling>
__aicore__ inline void do_group(Core<T> &c, const Tiling &t, uint32_t seq, uint32_t count,
                                int64_t first, Cut from, Cut to) {
    Stream<T> q{c.q, c.q_grad, c.q_heads}, k{c.k, c.k_grad, c.k_heads};
    uint32_t end = to.pos + (to.skip > 0);
    for (uint32_t pos = from.pos; pos < end; pos += c.table_rows) {
        uint32_t stop = least(pos + c.table_rows, end), begun = 0, ended = 0;
        int64_t token = first;
        load_table(c, pos, stop - pos);
        for (uint32_t i = 0; i < count; i++) {
            /* The first `skip` sequences that reach the position of a cut are one row further. */
            uint32_t low = from.pos, high = to.pos, length = length_of(t, seq + i);
            if (length > from.pos && begun++ < from.skip) low++;
            if (length > to.pos && ended++ < to.skip) high++;
            low = low < pos ? pos : low;
            high = least(least(high, length), stop);
            if (low < high) {
                do_tokens(c, q, token + low, high - low, low - pos);
                do_tokens(c, k, token + low, high - low, low - pos);
            }
            token += length;
        }
    }
}

/* Everything between the two cuts of this core. */
template <typename T, typename Tiling> __aicore__ inline void do_pass(Core<T> &c, const Tiling &t) {
    uint32_t core = GetBlockIdx(), last = t.cut_seq[core + 1];
    int64_t first = t.cut_token[core];
    for (uint32_t seq = t.cut_seq[core]; seq <= last && seq < t.batch; seq += t.group) {
        uint32_t count = least(t.batch - seq, t.group), longest = 0;
        int64_t tokens = 0;
        for (uint32_t i = seq; i < seq + count; i++) {
            uint32_t length = length_of(t, i);
            tokens += length;
            longest = longest < length ? length : longest;
        }
        Cut from{0, 0}, to{longest, 0};
        if (seq == t.cut_seq[core]) from = Cut{t.cut_pos[core], t.cut_skip[core]};
        if (seq == last) to = Cut{t.cut_pos[core + 1], t.cut_skip[core + 1]};
        do_group(c, t, seq, count, first, from, to);
        first += tokens;
    }
}

/* The buffers as tiling has laid them out. */
template <typename T, typename Tiling>
__aicore__ inline void set_up(Core<T> &c, TPipe &pipe, const Tiling &t) {
    pipe.InitBuffer(c.x_in, t.depth, t.x_bytes);
    pipe.InitBuffer(c.y_out, t.depth, t.x_bytes);
    pipe.InitBuffer(c.table_in, 1, t.table_in_bytes);
    pipe.InitBuffer(c.table_buf, t.table_bytes);
    if (!c.native) {
        c.cos = c.table_buf.template Get<float>()[t.cos_at / sizeof(float)];
        c.sin = c.table_buf.template Get<float>()[t.sin_at / sizeof(float)];
    }
    if (IsHalf<T>::value && !c.exact) {
        c.w = c.table_buf.template Get<half>()[t.w_at / sizeof(half)];
    }
    if (t.tile_bytes > 0) {
        pipe.InitBuffer(c.tile_buf, t.tile_bytes);
        c.x_wide = c.tile_buf.template Get<float>();
        if (c.exact) c.x_sin = c.x_wide[t.x_sin_at / sizeof(float)];
    }
}

template <typename T, typename Tiling>
__aicore__ inline void run(const Tiling &t, GM_ADDR q, GM_ADDR k, GM_ADDR cos, GM_ADDR sin,
                           GM_ADDR q_grad, GM_ADDR k_grad) {
    if (t.batch == 0) return;
    TPipe pipe;
    Core<T> c;
    c.q.SetGlobalBuffer((__gm__ T *)q);
    c.k.SetGlobalBuffer((__gm__ T *)k);
    c.cos_gm.SetGlobalBuffer((__gm__ T *)cos);
    c.sin_gm.SetGlobalBuffer((__gm__ T *)sin);
    c.q_grad.SetGlobalBuffer((__gm__ T *)q_grad);
    c.k_grad.SetGlobalBuffer((__gm__ T *)k_grad);
    if (t.stream) { /* read once, and too much to be in the L2 cache still */
        c.q.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
        c.k.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
    }
    c.half_head = t.head / 2;
    c.q_heads = t.q_heads;
    c.k_heads = t.k_heads;
    c.table_rows = t.table_rows;
    c.padded = t.padded;
    c.table = t.table_rows * 2 * t.padded;
    c.tile = t.tile;
    c.exact = t.exact != 0;
    c.packed = t.packed != 0;
    c.native = t.native != 0;
    set_up(c, pipe, t);
    for (c.column = 0; c.column < c.half_head; c.column += t.columns) {
        constexpr uint32_t unit = 32 / sizeof(T);
        c.columns = least(t.columns, c.half_head - c.column);
        c.padded = c.packed ? c.columns : (c.columns + unit - 1) / unit * unit;
        do_pass(c, t);
    }
}

} // namespace rope

#endif
