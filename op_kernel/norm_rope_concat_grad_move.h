/* SPDX-License-Identifier: Apache-2.0
 *
 * NormRopeConcatGrad: lines between GM and UB. The concatenated gradient is [B,N,S,D] in layout 0,
 * all else [B,S,N,D]; a tile in UB is in the order of the latter, so the transpose is in the
 * strides of the load.
 */
#ifndef NORM_ROPE_CONCAT_GRAD_MOVE_H
#define NORM_ROPE_CONCAT_GRAD_MOVE_H

#include "moves.h"
#include "norm_rope_concat_grad.h"

namespace norm_rope_concat {

template <typename T>
__aicore__ inline void open_stream(const Tiling &t, const Args &a, uint32_t stream, Stream<T> &s) {
    uint32_t kind = stream / 2, added = stream % 2; /* kind: query, key, value */
    s.t = &t.stream[stream];
    s.grad.SetGlobalBuffer((__gm__ T *)a.in[kind]);
    s.dx.SetGlobalBuffer((__gm__ T *)(a.out[kind + 3 * added]));
    s.head_step = s.t->total * t.dim;
    int64_t gap = (s.head_step - t.dim) * (int64_t)(sizeof(T)) / 32;
    s.head_gap = gap <= 0xffff ? (uint32_t)gap : FAR;
    if (s.t->norm == 0) return;
    uint32_t weight = 7 + 3 * kind + 6 * added;
    s.x.SetGlobalBuffer((__gm__ T *)(a.in[3 + kind + 2 * added]));
    if (s.t->centred) s.mean.SetGlobalBuffer((__gm__ float *)(a.in[weight + 1]));
    s.rstd.SetGlobalBuffer((__gm__ float *)(a.in[weight + 2]));
}

/* `count` runs of a piece of `width` elements, filled up to `padded`, so many elements from run to
 * run. What is filled is 0: it is computed on, though never summed or stored. */
template <typename T>
AICORE_INLINE Runs runs_of(uint32_t count, uint32_t width, uint32_t padded, int64_t gm_step,
                           uint32_t ub_step) {
    return {count, width, count > 1 ? (uint32_t)(gm_step - width) : 0, padded - width,
            (ub_step - padded) * (uint32_t)sizeof(T) / 32};
}

/* Pieces of rows of [.., D] that are not the same in UB. Of fp32 beside 16-bit data a block may
 * remain between the padding and the next piece; see clear_tables. */
template <typename T>
__aicore__ inline void load_pieces(const Tiling &t, const Columns &k, uint32_t column,
                                   const LocalTensor<T> &dst, const GlobalTensor<T> &src,
                                   int64_t row, uint32_t rows) {
    for (uint32_t p = 0; p < k.pieces; p++) {
        copy_in(dst[p * k.padded], src[row * t.dim + p * (t.dim >> 1) + column],
                runs_of<T>(rows, k.width, up(k.width, 32 / sizeof(T)), t.dim, k.pitch));
    }
}

/* Whole rows of [.., D]: x, cos, sin, gamma. */
template <typename T>
AICORE_INLINE void load_rows(const Tiling &t, const Columns &k, uint32_t column,
                             const LocalTensor<T> &dst, const GlobalTensor<T> &src, int64_t row,
                             uint32_t rows) {
    if (k.packed) {
        DataCopy(dst, src[row * k.pitch], rows * k.pitch);
    } else {
        load_pieces(t, k, column, dst, src, row, rows);
    }
}

template <typename T>
__aicore__ inline void store_pieces(const Tiling &t, const Columns &k, uint32_t column,
                                    const GlobalTensor<T> &dst, const LocalTensor<T> &src,
                                    int64_t row, uint32_t rows) {
    for (uint32_t p = 0; p < k.pieces; p++) {
        copy_out(dst[row * t.dim + p * (t.dim >> 1) + column], src[p * k.padded],
                 runs_of<T>(rows, k.width, k.padded, t.dim, k.pitch));
    }
}

template <typename T>
AICORE_INLINE void store_rows(const Tiling &t, const Columns &k, uint32_t column,
                              const GlobalTensor<T> &dst, const LocalTensor<T> &src, int64_t row,
                              uint32_t rows) {
    if (k.packed) {
        DataCopy(dst[row * k.pitch], src, rows * k.pitch);
    } else {
        store_pieces(t, k, column, dst, src, row, rows);
    }
}

/* The gradient of one rectangle, piece by piece or head by head far from each other. */
template <typename T>
__aicore__ inline void load_rect_pieces(const Tiling &t, const Stream<T> &s, const Columns &k,
                                        uint32_t column, const Rect &r, int64_t from,
                                        const LocalTensor<T> &dst) {
    bool far =
        (s.head_step - k.width) * (int64_t)(sizeof(T)) > 0xffffffffll; /* the gap has 32 bits */
    bool along = r.heads <= r.seqs || far;
    uint32_t copies = along ? r.heads : r.seqs, blocks = along ? r.seqs : r.heads;
    uint32_t row = r.heads * k.pitch, step = along ? k.pitch : row;
    int64_t gm_step = along ? s.head_step : t.dim;
    const Runs runs =
        runs_of<T>(blocks, k.width, k.padded, along ? t.dim : s.head_step, along ? row : k.pitch);
    for (uint32_t p = 0; p < k.pieces; p++) {
        int64_t piece = from + p * (t.dim >> 1) + column;
        uint32_t to = r.line * k.pitch + p * k.padded;
        for (uint32_t i = 0; i < copies; i++, to += step, piece += gm_step) {
            copy_in(dst[to], s.grad[piece], runs);
        }
    }
}

/* The rows of one head lie one behind the other. */
template <typename T>
__aicore__ inline void load_heads(const Tiling &t, const Stream<T> &s, const Columns &k,
                                  const Rect &r, int64_t from, const LocalTensor<T> &dst) {
    DataCopyParams shape(Narrow16(r.seqs), Narrow16(k.blocks), 0,
                         Narrow16((r.heads - 1) * k.blocks));
    for (uint32_t n = 0; n < r.heads; n++) {
        DataCopy(dst[(r.line + n) * k.pitch], s.grad[from + n * s.head_step], shape);
    }
}

/* The gradient of one rectangle: along the sequence it is contiguous for one head, along the
 * heads it has the stride of a head. The shorter axis is the loop. In layout 1 all is contiguous.
 */
template <typename T>
AICORE_INLINE void load_rect(const Tiling &t, const Stream<T> &s, const Columns &k, uint32_t column,
                             const Rect &r, const LocalTensor<T> &dst) {
    if (t.layout) {
        int64_t row = (r.at.batch * s.t->total + r.position) * s.t->heads + r.at.head;
        load_rows(t, k, column, dst[r.line * k.pitch], s.grad, row, r.lines);
        return;
    }
    int64_t from = (r.at.batch * s.t->heads + r.at.head) * s.head_step + r.position * t.dim;
    bool along = r.heads <= r.seqs;
    if (!k.packed || (s.head_gap == FAR && !along)) {
        load_rect_pieces(t, s, k, column, r, from, dst);
        return;
    }
    if (along) {
        load_heads(t, s, k, r, from, dst);
        return;
    }
    DataCopyParams shape(Narrow16(r.heads), Narrow16(k.blocks), Narrow16(s.head_gap), 0);
    uint32_t wide = r.heads * k.pitch, to = r.line * k.pitch;
    for (uint32_t end = to + r.lines * k.pitch; to < end; to += wide, from += t.dim) {
        DataCopy(dst[to], s.grad[from], shape);
    }
}

/* One row of numbers per line, padded with 0 to whole blocks. */
AICORE_INLINE void load_numbers(const LocalTensor<float> &dst, const GlobalTensor<float> &src,
                                int64_t line, uint32_t lines) {
    copy_rows_in(dst, src[line], 1, lines);
}

/* Of a chunk: dgamma (0) or dbeta (1). */
template <typename Y>
__aicore__ inline GlobalTensor<float> partial_sums(const Core<Y> &c, const NrcStreamTiling &s,
                                                   int64_t chunk, int which) {
    GlobalTensor<float> all;
    all.SetGlobalBuffer((__gm__ float *)(c.args->workspace));
    return all[s.sums + ((chunk - s.first) * 2 + which) * s.width];
}

/* Jobs: lines that only move. Where this core is: at line, in column block `column`, of a job that
 * ends at line `stop`; the rectangle's place is that of the line. */
struct Copies {
    int64_t job, end, line, stop, column;
    uint32_t stream;
    Rect r;
};

__aicore__ inline void find_job(const Tiling &t, Copies &p) {
    if (p.job >= p.end) return;
    for (uint32_t i = 0; i < NRC_STREAMS; i++) {
        if (t.stream[i].copy && t.stream[i].lines && t.stream[i].first <= p.job) p.stream = i;
    }
    const NrcStreamTiling &s = t.stream[p.stream];
    p.line = (p.job - s.first) * t.job_lines;
    p.stop = p.line + t.job_lines < s.lines ? p.line + t.job_lines : s.lines;
    p.column = 0;
    place(s, p.line, p.r.at);
}

/* The lines behind those that have been moved. */
AICORE_INLINE void next_lines(const Tiling &t, uint32_t lines, Copies &p) {
    const NrcStreamTiling &s = t.stream[p.stream];
    p.line += lines;
    if (p.line < p.stop) return;
    p.job++;
    if (p.line == s.lines) {
        find_job(t, p);
    } else {
        p.stop = p.line + t.job_lines < s.lines ? p.line + t.job_lines : s.lines;
    }
}

/* One buffer full. */
template <typename Y>
AICORE_INLINE void move(Core<Y> &c, const Stream<typename Y::Data> &s, const Columns &k,
                        uint32_t column, int64_t line, uint32_t lines, Rect &r) {
    using T = typename Y::Data;
    const Tiling &t = *c.t;
    uint32_t now = c.next_copy;
    const LocalTensor<T> &tile = c.copy[now];
    take(c.copy_slot[now]);
    start(t, *s.t, lines, r);
    do {
        load_rect(t, s, k, column, r, tile);
    } while (next_rect(t, *s.t, r));
    send(c.copy_slot[now]);
    receive(c.copy_slot[now]);
    store_rows(t, k, column, s.dx, tile, line, lines);
    give_back(c.copy_slot[now]);
    c.next_copy = now ^ 1;
}

/* A part of a line that is longer than the buffer. */
template <typename Y> __aicore__ inline void move_part(Core<Y> &c, Copies &p) {
    using T = typename Y::Data;
    Columns k = c.copied;
    Rect r = p.r;
    k.width = least64(k.width, c.t->dim - p.column);
    k.padded = k.pitch = up(k.width, 32 / sizeof(T));
    move(c, c.stream[p.stream], k, (uint32_t)p.column, p.line, 1, r);
    p.column += k.width;
    if (p.column < c.t->dim) return;
    p.column = 0;
    p.r = r;
    next_lines(*c.t, 1, p);
}

/* Moves one buffer full; false when there is no more. */
template <typename Y> __aicore__ inline bool copy_next(Core<Y> &c, Copies &p) {
    const Tiling &t = *c.t;
    if (p.job >= p.end) return false;
    if (c.copied.width < t.dim) {
        move_part(c, p);
        return true;
    }
    uint32_t lines = least64(t.copy_lines, p.stop - p.line);
    move(c, c.stream[p.stream], c.copied, 0, p.line, lines, p.r);
    next_lines(t, lines, p);
    return true;
}

} // namespace norm_rope_concat

#endif
