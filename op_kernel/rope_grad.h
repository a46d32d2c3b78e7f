/* SPDX-License-Identifier: Apache-2.0
 *
 * RopeGrad. For every head x of q and k, at position p of its sequence, with h = R / 2 and j < h:
 *
 *   default      y[j]   = x[j]   * (cos[p][j]   + sin[p][j+h])
 *                y[j+h] = x[j+h] * (cos[p][j+h] - sin[p][j])
 *   exact_grad   y[j]   = x[j]   * cos[p][j]   + x[j+h] * sin[p][j+h]
 *                y[j+h] = x[j+h] * cos[p][j+h] - x[j]   * sin[p][j]
 *
 * with x and y from column `slice` of a head on, and y = x in its other columns. q, k, y [tokens,
 * heads * D], cos and sin [positions, R]. The default formula all in fp16 is native fp16 with w =
 * cos +- sin rounded; all else is fp32 inside and rounded once. A core takes a block of positions,
 * prepares the coefficients once, and streams the rows of all sequences of its group through them.
 */
#ifndef ROPE_GRAD_H
#define ROPE_GRAD_H

#include "rope_grad_core.h"
#include "rope_grad_gather.h"
#include "rope_grad_tiling_data.h"

namespace rope {

/* A point of the walk through a group, see rope_grad_tiling_data.h. */
struct Cut {
    uint32_t pos, skip;
};

/* The coefficients in fp32, and in fp16 if the tiles want them so. */
template <typename T, typename C>
__aicore__ inline void make_coefficients(const Core<T, C> &c, const LocalTensor<C> &cos,
                                         const LocalTensor<C> &sin, uint32_t rows) {
    uint32_t count = rows * c.width;
    if constexpr (sizeof(C) == 4) {
        if (!c.exact) {
            cross(c.cos, cos, sin, rows, c.columns, c.padded, c.width);
        } else if (sizeof(T) == 4 || c.padded == c.columns) {
            DataCopy(c.cos, cos, count);
            DataCopy(c.sin, sin, count);
        } else { /* nothing is in the gaps */
            scale_rows(c.cos, c.padded, cos, c.padded, 1.0f, 2 * rows, c.columns);
            scale_rows(c.sin, c.padded, sin, c.padded, 1.0f, 2 * rows, c.columns);
        }
    } else {
        Cast(c.cos, cos, RoundMode::CAST_NONE, count);
        Cast(c.sin, sin, RoundMode::CAST_NONE, count);
        if (c.exact) return;
        vector_done();
        cross(c.cos, c.cos, c.sin, rows, c.columns, c.padded, c.width);
        if constexpr (AllHalf<T, C>::value) { /* fp32 holds enough for this to round right */
            vector_done();
            Cast(c.w, c.cos, RoundMode::CAST_RINT, count);
        }
    }
}

/* Loads cos and sin of the positions from pos to stop, as many as a block has. */
template <typename T, typename C>
__aicore__ inline void load_table(Core<T, C> &c, uint32_t pos, uint32_t stop) {
    uint32_t rows = least(stop - pos, c.table_rows);
    LocalTensor<C> in = c.table_in.template AllocTensor<C>();
    load_heads(c, in, c.cos_gm, (int64_t)pos * c.rotated, 1, rows, c.rotated);
    load_heads(c, in[c.table], c.sin_gm, (int64_t)pos * c.rotated, 1, rows, c.rotated);
    c.table_in.EnQue(in);
}

/* Prepares the `rows` positions that were loaded, and loads those from `next` on if there is room.
 */
template <typename T, typename C>
__aicore__ inline void take_table(Core<T, C> &c, const Gathers &d, uint32_t rows, uint32_t next,
                                  uint32_t end) {
    LocalTensor<C> in = c.table_in.template DeQue<C>();
    if (c.gathered && next < end) load_table(c, next, end);
    vector_done(); /* the tiles of the last block have read the coefficients */
    if (c.gathered) {
        make_gathered(c, d, in, in[c.table], rows);
    } else if (c.native) {
        if constexpr (AllHalf<T, C>::value) {
            cross(c.w, in, in[c.table], rows, c.columns, c.padded, c.width);
        }
    } else {
        make_coefficients(c, in, in[c.table], rows);
    }
    c.table_in.FreeTensor(in);
    vector_done();
}

/* y = the formula in fp32, both from the first rotated column on. y may be x. */
template <typename T, typename C>
__aicore__ inline void compute_wide(const Core<T, C> &c, const LocalTensor<float> &y,
                                    const LocalTensor<float> &x, uint32_t rows, uint32_t heads,
                                    uint32_t table_row) {
    uint32_t at = table_row * c.width;
    if (c.exact) {
        scale(c, c.x_sin, x, c.sin[at], rows, heads);
        vector_done();
    }
    scale(c, y, x, c.cos[at], rows, heads);
    if (c.exact) {
        vector_done();
        cross(y, y, c.x_sin, rows * heads, c.columns, c.padded, c.head_step);
    }
}

/* Gives x back as soon as it has been read. */
template <typename T, typename C>
__aicore__ inline void compute(Core<T, C> &c, const LocalTensor<T> &y, LocalTensor<T> &x,
                               uint32_t rows, uint32_t heads, uint32_t table_row) {
    uint32_t count = rows * heads * c.head_step;
    LocalTensor<T> from = x, to = y;
    if constexpr (sizeof(T) == 4 || AllHalf<T, C>::value) {
        if (sizeof(T) == 4 || !c.exact) {
            if (c.partial && !c.strips) { /* the other columns are copied */
                DataCopy(y, x, count);
                from = to = y[c.slice];
                vector_done();
            }
            if constexpr (sizeof(T) == 4) {
                if (c.exact) vector_done(); /* the last tile has read x_sin */
                compute_wide(c, to, from, rows, heads, table_row);
            } else {
                scale(c, to, from, c.w[table_row * c.width], rows, heads);
            }
            c.x_in.FreeTensor(x);
            return;
        }
    }
    if constexpr (sizeof(T) == 2) {
        vector_done(); /* the last tile has read x_wide */
        Cast(c.x_wide, x, RoundMode::CAST_NONE, count);
        c.x_in.FreeTensor(x);
        vector_done();
        compute_wide(c, c.x_turned, c.x_turned, rows, heads, table_row);
        vector_done();
        Cast(y, c.x_wide, RoundMode::CAST_RINT, count);
    }
}

/* One tile: `heads` heads of each of `rows` tokens, from element `at` on. The first token's
 * coefficients are at table_row. */
template <typename T, typename C>
__aicore__ inline void do_tile(Core<T, C> &c, const Gathers &d, const Stream<T> &s, int64_t at,
                               uint32_t rows, uint32_t heads, uint32_t table_row) {
    LocalTensor<T> x = c.x_in.template AllocTensor<T>();
    load_heads(c, x, s.x, at, rows, heads, c.head);
    c.x_in.EnQue(x);
    x = c.x_in.template DeQue<T>();
    LocalTensor<T> y = c.y_out.template AllocTensor<T>();
    if (c.rest) {
        DataCopy(y, x, rows * heads * c.head_step);
        c.x_in.FreeTensor(x);
    } else if (c.gathered) {
        compute_gathered(c, d, s, y, x, rows, heads * c.head, table_row);
    } else {
        compute(c, y, x, rows, heads, table_row);
    }
    c.y_out.EnQue(y);
    y = c.y_out.template DeQue<T>();
    store_heads(c, s.y, y, at, rows, heads);
    c.y_out.FreeTensor(y);
}

/* `rows` tokens of one sequence, in tiles of equal size; a token wider than a tile in pieces. */
template <typename T, typename C>
__aicore__ inline void do_tokens(Core<T, C> &c, const Gathers &d, const Stream<T> &s, int64_t token,
                                 uint32_t rows, uint32_t table_row) {
    int64_t wide = (int64_t)s.heads * c.head;
    if (s.heads == 0) return;
    if (s.rows > 0) {
        uint32_t done = 0;
        for (uint32_t tiles = (rows + s.rows - 1) / s.rows; tiles > 0; tiles--) {
            uint32_t n = (rows - done + tiles - 1) / tiles;
            do_tile(c, d, s, (token + done) * wide, n, s.heads, table_row + done);
            done += n;
        }
        return;
    }
    for (uint32_t r = 0; r < rows; r++) {
        for (uint32_t n = 0; n < s.heads; n += c.piece) {
            do_tile(c, d, s, (token + r) * wide + (int64_t)n * c.head, 1,
                    least(s.heads - n, c.piece), table_row + r);
        }
    }
}

/* What the gather needs before the first tile, made while cos and sin are on their way. */
template <typename T, typename C>
__aicore__ inline void set_up_gather(Core<T, C> &c, Gathers &d, const RopeGradPlan &t) {
    d.ready = true;
    choose(c, d.rotated, t.slice, t.slice + c.rotated);
    choose(c, d.second, t.slice + c.half_row, t.slice + c.rotated);
    LocalTensor<int32_t> places = c.places_buf.template Get<int32_t>();
    uint32_t at = up(most(ROPE_GRAD_SPREAD, c.width), LANES);
    make_spreads(c, places, places[at], most(ROPE_GRAD_SPREAD / c.width, 1) * c.width, t.slice);
    d.cos = places.ReinterpretCast<uint32_t>();
    d.sin = places[at].ReinterpretCast<uint32_t>();
    d.rows = c.x_wide;
    d.unit = t.unit;
    if (!c.exact) return;
    Stream<T> *streams[2] = {&c.q, &c.k};
    const uint32_t periods[2] = {t.q_pattern, t.k_pattern};
    at *= 2;
    for (uint32_t i = 0; i < 2; i++) {
        Stream<T> &s = *streams[i];
        int64_t used = (int64_t)s.heads * c.head / t.unit;
        if (s.heads == 0) continue;
        /* k takes q's places, unless a token of q does not fill a pattern of them */
        if (i == 1 && (int64_t)c.q.heads * c.head / t.unit >= t.q_pattern &&
            t.k_pattern == t.q_pattern && t.k_pattern == in_blocks(c.head / t.unit)) {
            s.places = c.q.places;
            s.entries = c.q.entries;
            continue;
        }
        s.entries = ROPE_GRAD_PARTNERS / periods[i] * periods[i];
        make_partners(c, places[at], s.entries, periods[i],
                      (uint32_t)(used < periods[i] ? used : periods[i]), t.unit, t.slice);
        s.places = places[at].ReinterpretCast<uint32_t>();
        at += ROPE_GRAD_PARTNERS;
    }
}

/* See rope_grad_tiling_data.h. */
__aicore__ inline uint32_t number_at(const uint32_t *lengths, uint32_t at, uint32_t bits) {
    uint32_t word = at / 32;
    uint64_t two = (uint64_t)lengths[word + 1] << 32 | lengths[word];
    return (uint32_t)(two >> at % 32) & (((uint32_t)1 << bits) - 1);
}

__aicore__ inline uint32_t length_of(const RopeGradPlan &t, const uint32_t *lengths, uint32_t seq) {
    return t.shortest + number_at(lengths, seq * t.bits, t.bits);
}

__aicore__ inline uint32_t start_of(const RopeGradPlan &t, const uint32_t *lengths, uint32_t seq) {
    if (t.row_bits == 0) return t.first_row;
    return t.first_row + number_at(lengths, t.starts_at + seq * t.row_bits, t.row_bits);
}

/* The first position from `pos` on that one of the sequences has; `end` if there is none before. */
__aicore__ inline uint32_t next_live(const RopeGradPlan &t, const uint32_t *lengths, uint32_t seq,
                                     uint32_t count, uint32_t pos, uint32_t end) {
    if (t.row_bits == 0 || pos >= end) return pos;
    uint32_t found = end;
    for (uint32_t i = seq; i < seq + count; i++) {
        uint32_t start = start_of(t, lengths, i), stop = start + length_of(t, lengths, i);
        if (stop > pos) found = least(found, most(start, pos));
    }
    return found;
}

/* The rows of one group of `count` sequences from `seq` on between two cuts; its first token is
 * `first`. */
template <typename T, typename C>
__aicore__ inline void do_group(Core<T, C> &c, Gathers &d, const RopeGradPlan &t,
                                const uint32_t *lengths, uint32_t seq, uint32_t count,
                                int64_t first, Cut from, Cut to) {
    uint32_t end = to.pos + (to.skip > 0), next;
    if (!c.rest && from.pos < end) load_table(c, from.pos, end);
    if (c.gathered && !d.ready) set_up_gather(c, d, t);
    for (uint32_t pos = from.pos; pos < end; pos = next) {
        uint32_t stop = least(pos + c.table_rows, end), begun = 0, ended = 0;
        int64_t token = first;
        next = next_live(t, lengths, seq, count, stop, end);
        if (!c.rest) take_table(c, d, stop - pos, next, end);
        for (uint32_t i = 0; i < count; i++) {
            /* The first `skip` sequences that have the position of a cut are one row further. A
             * position before the start is a large number when the start is taken off. */
            uint32_t low = from.pos, high = to.pos, length = length_of(t, lengths, seq + i);
            uint32_t start = start_of(t, lengths, seq + i);
            if (begun < from.skip && low - start < length) low++, begun++;
            if (ended < to.skip && high - start < length) high++, ended++;
            low = most(most(low, start), pos);
            high = least(least(high, start + length), stop);
            if (low < high) {
                int64_t at = token + (low - start);
                do_tokens(c, d, c.q, at, high - low, low - pos);
                do_tokens(c, d, c.k, at, high - low, low - pos);
            }
            token += length;
        }
        if (!c.rest && !c.gathered && next < end) load_table(c, next, end);
    }
}

/* Everything between the two cuts of this core. */
template <typename T, typename C>
__aicore__ inline void do_pass(Core<T, C> &c, Gathers &d, const RopeGradPlan &t,
                               const uint32_t *lengths) {
    uint32_t core = GetBlockIdx(), last = t.cut_seq[core + 1];
    int64_t first = t.cut_token[core];
    for (uint32_t seq = t.cut_seq[core]; seq <= last && seq < t.batch; seq += t.group) {
        uint32_t count = least(t.batch - seq, t.group);
        int64_t tokens = 0;
        bool begins = seq == t.cut_seq[core], ends = seq == last;
        Cut from{~(uint32_t)0, 0}, to{0, 0};
        for (uint32_t i = seq; !(begins && ends) && i < seq + count; i++) {
            uint32_t length = length_of(t, lengths, i), start = start_of(t, lengths, i);
            tokens += length;
            from.pos = least(from.pos, start);
            to.pos = most(to.pos, start + length);
        }
        if (begins) from = Cut{t.cut_pos[core], t.cut_skip[core]};
        if (ends) to = Cut{t.cut_pos[core + 1], t.cut_skip[core + 1]};
        do_group(c, d, t, lengths, seq, count, first, from, to);
        first += tokens;
    }
}

/* The buffers as tiling has laid them out. */
template <typename T, typename C>
__aicore__ inline void set_up(Core<T, C> &c, TPipe &pipe, const RopeGradPlan &t) {
    pipe.InitBuffer(c.x_in, t.depth, t.x_bytes);
    pipe.InitBuffer(c.y_out, t.depth, t.x_bytes);
    pipe.InitBuffer(c.table_in, c.gathered ? 2 : 1, t.table_in_bytes);
    pipe.InitBuffer(c.table_buf, t.table_bytes);
    if (!c.native) {
        c.cos = c.table_buf.template Get<float>()[t.cos_at / sizeof(float)];
        c.sin = c.table_buf.template Get<float>()[t.sin_at / sizeof(float)];
    }
    if (AllHalf<T, C>::value && !c.exact) {
        c.w = c.table_buf.template Get<half>()[t.w_at / sizeof(half)];
    }
    if (t.places_bytes > 0) pipe.InitBuffer(c.places_buf, t.places_bytes);
    if (t.tile_bytes > 0) {
        pipe.InitBuffer(c.tile_buf, t.tile_bytes);
        c.x_wide = c.tile_buf.template Get<float>();
        c.x_turned = c.strips || c.gathered ? c.x_wide : c.x_wide[t.slice];
        if (c.exact) c.x_sin = c.x_wide[t.x_sin_at / sizeof(float)];
    }
}

template <typename T, typename C>
__aicore__ inline void run(const RopeGradPlan &t, const uint32_t *lengths, GM_ADDR q, GM_ADDR k,
                           GM_ADDR cos, GM_ADDR sin, GM_ADDR q_grad, GM_ADDR k_grad) {
    if (t.batch == 0) return;
    TPipe pipe;
    Core<T, C> c;
    Gathers d;
    d.ready = false;
    c.q.x.SetGlobalBuffer((__gm__ T *)q);
    c.k.x.SetGlobalBuffer((__gm__ T *)k);
    c.q.y.SetGlobalBuffer((__gm__ T *)q_grad);
    c.k.y.SetGlobalBuffer((__gm__ T *)k_grad);
    c.cos_gm.SetGlobalBuffer((__gm__ C *)cos);
    c.sin_gm.SetGlobalBuffer((__gm__ C *)sin);
    if (t.stream) { /* read once, and too much to be in the L2 cache still */
        c.q.x.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
        c.k.x.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
    }
    c.q.heads = t.q_heads;
    c.q.rows = t.q_rows;
    c.q.pitch = t.q_pitch;
    c.k.heads = t.k_heads;
    c.k.rows = t.k_rows;
    c.k.pitch = t.k_pitch;
    c.piece = t.piece;
    c.head = t.head;
    c.rotated = t.rotated;
    c.half_row = t.rotated / 2;
    c.table_rows = t.table_rows;
    c.table = t.table;
    c.gathered = t.gathered != 0;
    c.strips = t.strips != 0;
    c.exact = t.exact != 0;
    c.partial = t.rotated != t.head;
    c.native = t.native != 0;
    c.rest = false;
    c.width = t.width;
    c.slice = t.slice;
    set_up(c, pipe, t);
    if (!c.strips) {
        c.columns = c.padded = c.half_row;
        c.head_step = c.head;
        do_pass(c, d, t, lengths);
        return;
    }
    c.rest = true;
    for (uint32_t behind = 0; behind < 2; behind++) { /* columns before the rotated ones, too */
        uint32_t end = behind ? c.head : t.slice;
        for (c.column = behind ? t.slice + c.rotated : 0; c.column < end; c.column += t.width) {
            c.columns = least(t.width, end - c.column);
            c.head_step = c.padded = up(c.columns, 32 / sizeof(T));
            do_pass(c, d, t, lengths);
        }
    }
    c.rest = false;
    c.q.x = c.q.x[t.slice]; /* columns are those of cos from here on */
    c.q.y = c.q.y[t.slice];
    c.k.x = c.k.x[t.slice];
    c.k.y = c.k.y[t.slice];
    for (c.column = 0; c.column < c.half_row; c.column += t.columns) {
        c.columns = least(t.columns, c.half_row - c.column);
        c.padded = up(c.columns, 32 / sizeof(T));
        c.head_step = c.width = 2 * c.padded;
        do_pass(c, d, t, lengths);
    }
}

} // namespace rope

#endif
