/* SPDX-License-Identifier: Apache-2.0
 *
 * NormRopeConcatGrad: lines between GM and UB. The concatenated gradient is [B,N,S,D], all else
 * [B,S,N,D]; a tile in UB is in the order of the latter, so the transpose is in the strides of the
 * load.
 */
#ifndef NORM_ROPE_CONCAT_GRAD_MOVE_H
#define NORM_ROPE_CONCAT_GRAD_MOVE_H

#include "norm_rope_concat_grad.h"

/* What a stream reads and writes. The value streams have grad and dx only. */
template <typename T> struct NrcStream {
    const NrcStreamTiling *t;
    GlobalTensor<T> grad, x, gamma, dx;
    GlobalTensor<float> mean, rstd;
};

template <typename T>
__aicore__ inline void NrcOpen(const NrcCore<T> &c, uint32_t stream, NrcStream<T> &s) {
    uint32_t kind = stream / 2, added = stream % 2; // kind: query, key, value
    const NrcArgs &a = *c.args;
    s.t = &c.t->stream[stream];
    s.grad.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(a.in[kind]));
    s.dx.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(a.out[kind + 3 * added]));
    if (s.t->norm == 0) return;
    uint32_t weight = 7 + 3 * kind + 6 * added;
    s.x.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(a.in[3 + kind + 2 * added]));
    s.mean.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(a.in[weight + 1]));
    s.rstd.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(a.in[weight + 2]));
    if (s.t->norm == 2) s.gamma.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(a.in[weight]));
}

/* Blocks of one piece; the gaps are between the end of a block and the start of the next.
 * Padding is 0: it is computed on, though never summed or stored. */
template <typename T>
__aicore__ inline void NrcLoadBlocks(const LocalTensor<T> &dst, const GlobalTensor<T> &src,
                                     uint32_t blocks, uint32_t width, uint32_t padded,
                                     int64_t gm_step, uint32_t ub_step) {
    uint32_t gap = blocks > 1 ? static_cast<uint32_t>((gm_step - width) * sizeof(T)) : 0;
    DataCopyExtParams shape(static_cast<uint16_t>(blocks), static_cast<uint32_t>(width * sizeof(T)),
                            gap, static_cast<uint32_t>((ub_step - padded) * sizeof(T) / 32), 0);
    DataCopyPadExtParams<T> pad;
    pad.isPad = padded != width;
    pad.rightPadding = static_cast<uint8_t>(padded - width);
    DataCopyPad(dst, src, shape, pad);
}

/* Whole rows of [.., D]: x, cos, sin, gamma. */
template <typename T>
__aicore__ inline void NrcLoadRows(const NrcTiling &t, const NrcColumns &k,
                                   const LocalTensor<T> &dst, const GlobalTensor<T> &src,
                                   int64_t row, uint32_t rows) {
    if (k.packed) {
        DataCopy(dst, src[row * t.dim], rows * k.pitch);
        return;
    }
    for (uint32_t p = 0; p < k.pieces; p++) {
        NrcLoadBlocks(dst[p * k.padded], src[row * t.dim + p * (t.dim >> 1) + k.column], rows,
                      k.width, k.padded, t.dim, k.pitch);
    }
}

template <typename T>
__aicore__ inline void NrcStoreRows(const NrcTiling &t, const NrcColumns &k,
                                    const GlobalTensor<T> &dst, const LocalTensor<T> &src,
                                    int64_t row, uint32_t rows) {
    if (k.packed) {
        DataCopy(dst[row * t.dim], src, rows * k.pitch);
        return;
    }
    uint32_t gap = rows > 1 ? static_cast<uint32_t>((t.dim - k.width) * sizeof(T)) : 0;
    DataCopyExtParams shape(static_cast<uint16_t>(rows), static_cast<uint32_t>(k.width * sizeof(T)),
                            static_cast<uint32_t>((k.pitch - k.padded) * sizeof(T) / 32), gap, 0);
    for (uint32_t p = 0; p < k.pieces; p++) {
        DataCopyPad(dst[row * t.dim + p * (t.dim >> 1) + k.column], src[p * k.padded], shape);
    }
}

/* The gradient of one rectangle: along the sequence it is contiguous for one head, along the
 * heads it has the stride of a head. The shorter axis is the loop. */
template <typename T>
__aicore__ inline void NrcLoadRect(const NrcTiling &t, const NrcStream<T> &s, const NrcColumns &k,
                                   const NrcRect &r, const LocalTensor<T> &dst) {
    uint32_t width = k.packed ? k.pitch : k.width, padded = k.packed ? k.pitch : k.padded;
    int64_t head_step = s.t->total * t.dim;
    bool far =
        (head_step - width) * static_cast<int64_t>(sizeof(T)) > 0xffffffffll; // the gap has 32 bits
    for (uint32_t p = 0; p < k.pieces; p++) {
        int64_t from = ((r.batch * t.heads + r.head) * s.t->total + r.position) * t.dim +
                       p * (t.dim >> 1) + k.column;
        LocalTensor<T> to = dst[r.line * k.pitch + p * k.padded];
        if (r.heads <= r.seqs || far) {
            for (uint32_t n = 0; n < r.heads; n++) {
                NrcLoadBlocks(to[n * k.pitch], s.grad[from + n * head_step], r.seqs, width, padded,
                              t.dim, r.heads * k.pitch);
            }
            continue;
        }
        for (uint32_t q = 0; q < r.seqs; q++) {
            NrcLoadBlocks(to[q * r.heads * k.pitch], s.grad[from + q * t.dim], r.heads, width,
                          padded, head_step, k.pitch);
        }
    }
}

/* One row of numbers per line, padded with 0 to whole blocks. */
__aicore__ inline void NrcLoadNumbers(const LocalTensor<float> &dst, const GlobalTensor<float> &src,
                                      int64_t line, uint32_t lines) {
    NrcLoadBlocks(dst, src[line], 1, lines, NrcUp(lines, NRC_BLOCK), 0, NrcUp(lines, NRC_BLOCK));
}

/* Jobs: lines that only move. Where this core is in its jobs. */
struct NrcCopies {
    int64_t job, end;   // jobs
    int64_t line, stop; // lines of the present job
    int64_t column;
    uint32_t stream;
};

__aicore__ inline void NrcFindJob(const NrcTiling &t, NrcCopies &p) {
    if (p.job >= p.end) return;
    for (uint32_t i = 0; i < NRC_STREAMS; i++) {
        if (t.stream[i].copy && t.stream[i].lines && t.stream[i].first <= p.job) p.stream = i;
    }
    const NrcStreamTiling &s = t.stream[p.stream];
    p.line = (p.job - s.first) * t.job_lines;
    p.stop = p.line + t.job_lines < s.lines ? p.line + t.job_lines : s.lines;
    p.column = 0;
}

/* Moves one buffer full; false when there is no more. */
template <typename T> __aicore__ inline bool NrcCopyNext(NrcCore<T> &c, NrcCopies &p) {
    const NrcTiling &t = *c.t;
    if (p.job >= p.end) return false;
    NrcColumns k;
    k.column = static_cast<uint32_t>(p.column);
    k.width = NrcMin(t.copy_columns, t.dim - p.column);
    k.padded = k.pitch = NrcUp(k.width, 32 / sizeof(T));
    k.pieces = 1;
    k.packed = k.pitch == t.dim;
    uint32_t lines = NrcMin(t.copy_lines, p.stop - p.line);
    NrcStream<T> s;
    NrcOpen(c, p.stream, s);
    LocalTensor<T> tile = c.copy.template AllocTensor<T>();
    NrcRange range = NrcRangeOf(t, *s.t, p.line, lines);
    for (NrcRect r = NrcFirst(t, *s.t, range); r.left; NrcNext(t, *s.t, r)) {
        NrcLoadRect(t, s, k, r, tile);
    }
    c.copy.EnQue(tile);
    tile = c.copy.template DeQue<T>();
    NrcStoreRows(t, k, s.dx, tile, p.line, lines);
    c.copy.FreeTensor(tile);
    p.column += k.width;
    if (p.column < t.dim) return true;
    p.column = 0;
    p.line += lines;
    if (p.line >= p.stop) {
        p.job++;
        NrcFindJob(t, p);
    }
    return true;
}

#endif
