/* SPDX-License-Identifier: Apache-2.0
 *
 * NormRopeConcatGrad on one vector core. For line (b, s, n) of a stream, with h = D / 2 and
 * p = offset of the stream + s:
 *
 *   g  = grad[b][n][p][:], in layout 1 grad[b][p][n][:]
 *   g' = g cos[p] + R(g sin[p]) for p < rope_rows, else g
 *        half        R(t)[j] = t[j+h],    R(t)[j+h] = -t[j]
 *        interleave  R(t)[2i] = t[2i+1],  R(t)[2i+1] = -t[2i]
 *   x^ = (x - mean) rstd (norm 1, 2), x rstd (norm 3, 4);  g^ = g' gamma (2, 4) or g' (1, 3)
 *   dx = rstd (g^ - mean(g^) - x^ mean(g^ x^)) (1, 2), rstd (g^ - x^ mean(g^ x^)) (3, 4), g' (0)
 *   dgamma = sum g' x^ (2, 4),  dbeta = sum g' (2) over all lines of the stream
 *   norm 5 to 8: as 1 to 4, with means over all heads of a token and gamma of [N * D]
 *   norm 9: as 3, with sums instead of means
 *
 * grad [B,N,S,D] is read with strides; x, dx [B,S,N,D], mean and rstd [B,S,N,1] or, across heads,
 * [B,S,1,1] are contiguous runs of lines. Here: the words the other headers share. What follows
 * from the shapes alone stands in Core, made once, since the scalar unit has hardly the time for a
 * tile's own work.
 */
#ifndef NORM_ROPE_CONCAT_GRAD_H
#define NORM_ROPE_CONCAT_GRAD_H

#include "norm_rope_concat_grad_tiling_data.h"
#include "pipes.h"
#include "rows.h"

namespace norm_rope_concat {

using namespace AscendC;
using namespace rows;

using Tiling = NormRopeConcatGradTilingData;

/* Kernel arguments by IR index. */
struct Args {
    GM_ADDR in[21];
    GM_ADDR out[14];
    GM_ADDR workspace;
};

/* Of query, key, value and their gradients; of weights and theirs, fp32 or the same. sin and cos
 * are of the data's type or fp32, which tiling says: CANN tells kernels apart by required inputs
 * and outputs only. */
template <typename DATA, typename WEIGHT> struct Types {
    using Data = DATA;
    using Weight = WEIGHT;
};

/* Columns [.., + width) of each piece of a line, as they lie in UB: padded to whole 32-byte blocks
 * of the data's type, pitch elements or `blocks` of 32 bytes from line to line; half: from the
 * first half of a line to the second; pieces that are moved; packed: a line is the same in GM and
 * UB. Steps of vector calls, from line to line: each with another line, or with a row that all
 * share; with numbers in blocks one behind the other; all in a row, with numbers that are spread
 * over repeats, or with others in a row.
 * parts: calls that take all lines, with `narrow` lanes, or all of them; 0: it is not as simple. Of
 * two narrow parts each has every second block (stride), so that lines and a row or numbers that
 * begin with the other kind of block never meet in a bank. */
struct Columns {
    uint32_t width, padded, pitch, blocks, half, pieces, parts, narrow, stride;
    bool packed;
    BinaryRepeatParams each, shared, number, spread, flat;
    BrcbRepeatParams near, far;
};

/* What a stream reads and writes; the value streams have grad and dx only. head_step: elements of
 * grad from head to head; head_gap: 32-byte blocks between them, or FAR. */
constexpr uint32_t FAR = 0xffffffff;

template <typename T> struct Stream {
    const NrcStreamTiling *t;
    GlobalTensor<T> grad, x, dx;
    GlobalTensor<float> mean, rstd;
    int64_t head_step;
    uint32_t head_gap;
};

/* Regions of the work buffer, and of a tile what is fp32 of itself: w0 goes g, g', g^, dx; w1 x,
 * x^; w2 holds products; mean and rstd have a block of 8 per line; sum and dot: where numbers are
 * spread over w2. */
struct Work {
    LocalTensor<float> sum, dot, w0, w1, w2, cos, sin, gamma, dbeta, dgamma, mean, rstd, stat_wide,
        part, group, fold, spare, stat;
    LocalTensor<int32_t> swap; /* where a gather finds partners */
};

constexpr uint32_t NO_GAMMA = 0xffffffff;

/* in: two tiles as loaded, g, x, mean, rstd, rows of cos and sin, gamma; copy: two of lines that
 * only move, of which `next_copy` is next; sum: of a chunk, across heads the running one; gammas:
 * the rows of gamma of a norm across heads. k: of the column blocks before the
 * last, and of that; copied: of lines that only move. */
template <typename Y> struct Core {
    TBuf<TPosition::VECIN> in_buffer, copy_buffer, gamma_buffer;
    TBuf<TPosition::VECOUT> out_buffer, sum_buffer;
    TBuf<TPosition::VECCALC> calc;
    LocalTensor<typename Y::Data> in[2], copy[2], out;
    LocalTensor<float> sum;
    LocalTensor<typename Y::Weight> gammas;
    uint32_t gammas_of; /* the stream and block whose gamma is in gammas; NO_GAMMA: none */
    SlotIn in_slot[2], gamma_slot;
    SlotThrough copy_slot[2];
    SlotOut out_slot, sum_slot;
    uint32_t next_copy;
    const Tiling *t;
    const Args *args;
    Columns k[2], copied;
    Work w;
    Stream<typename Y::Data> stream[NRC_STREAMS];
    GlobalTensor<typename Y::Weight> gamma[NRC_NORMED];
    GlobalTensor<typename Y::Data> sin, cos;
    GlobalTensor<float> wide_sin, wide_cos;
};

/* Lines of one tile that lie in one batch and are all rotated or all not: seqs x heads. line: the
 * first, in the tile; row: of the tile's cos and sin; left: lines of the tile from here on. */
struct Place {
    int64_t batch, seq;
    uint32_t head;
};

struct Rect {
    Place at;
    int64_t position;
    uint32_t seqs, heads, line, lines, row, left;
    bool rope;
};

AICORE_INLINE uint32_t least64(int64_t a, int64_t b) {
    return (uint32_t)(a < b ? a : b);
}

template <typename T> __aicore__ inline Columns columns_of(const Tiling &t, bool last) {
    int64_t piece = t.dim >> (t.pieces - 1), before = (t.blocks - 1) * t.columns;
    Columns c;
    c.width = (uint32_t)(last ? piece - before : t.columns);
    c.padded = up(c.width, 32 / sizeof(T));
    c.pitch = c.padded * t.pieces;
    c.blocks = c.pitch * sizeof(T) / 32;
    c.half = t.pieces == 2 ? c.padded : (uint32_t)(t.dim >> 1);
    c.pieces = t.pieces;
    c.packed = c.pitch == t.dim;
    bool whole = c.pitch % LANES == 0;
    c.parts = whole ? c.pitch / LANES : t.halves ? 2 : c.pitch < LANES ? 1 : 0;
    c.narrow = whole || c.parts == 0 ? 0 : c.pitch / c.parts;
    c.stride = c.narrow ? c.parts : 1;
    Narrow8 step = Narrow8(c.pitch / BLOCK), by = Narrow8(c.stride);
    Narrow8 apart = Narrow8((c.narrow ? c.narrow : LANES) / BLOCK);
    c.near = {Narrow16(c.stride), Narrow16(8 * c.stride)};
    c.far = {Narrow16(step), Narrow16(c.pitch)};
    c.each = {1, 1, 1, step, step, step};
    c.shared = {by, by, by, step, step, 0};
    c.number = {by, by, 0, step, step, by};
    c.spread = {1, 1, 0, apart, apart, apart};
    c.flat = {1, 1, 1, 8, 8, 8};
    return c;
}

template <typename Y>
AICORE_INLINE const Columns &columns_at(const Core<Y> &c, const Tiling &t, uint32_t block) {
    return c.k[block + 1 == t.blocks];
}

/* Tokens of a tile of a norm across heads, which may also be a part of one. */
AICORE_INLINE uint32_t groups_of(const NrcStreamTiling &s, uint32_t lines) {
    return lines <= s.across ? 1 : lines / s.across;
}

/* The extent of the rectangle that begins there. */
AICORE_INLINE void measure(const Tiling &t, const NrcStreamTiling &s, Rect &r) {
    r.position = s.offset + r.at.seq;
    r.rope = r.position < t.rope_rows;
    if (r.at.head == 0 && r.left >= s.heads) {
        r.heads = (uint32_t)s.heads;
        r.seqs = least64(r.left / r.heads, s.seq - r.at.seq);
        if (r.rope) r.seqs = least64(r.seqs, t.rope_rows - r.position);
    } else {
        r.seqs = 1;
        r.heads = least64(r.left, s.heads - r.at.head);
    }
    r.lines = r.seqs * r.heads;
}

/* Where a line is. Divisions are slow: only where a chunk or job begins. */
AICORE_INLINE void place(const NrcStreamTiling &s, int64_t line, Place &p) {
    int64_t item = line / s.heads;
    p.head = (uint32_t)(line - item * s.heads);
    p.batch = item / s.seq;
    p.seq = item - p.batch * s.seq;
}

/* The first rectangle of a tile of so many lines. */
AICORE_INLINE void start(const Tiling &t, const NrcStreamTiling &s, uint32_t lines, Rect &r) {
    r.line = r.row = 0;
    r.left = lines;
    measure(t, s, r);
}

/* Where the rectangle ends the next one begins; false after the last of the tile. */
AICORE_INLINE bool next_rect(const Tiling &t, const NrcStreamTiling &s, Rect &r) {
    r.line += r.lines;
    r.left -= r.lines;
    if (r.rope) r.row += r.seqs;
    r.at.head += r.heads;
    if (r.at.head == s.heads) {
        r.at.head = 0;
        r.at.seq += r.seqs;
        if (r.at.seq == s.seq) {
            r.at.seq = 0;
            r.at.batch++;
        }
    }
    if (r.left == 0) return false;
    measure(t, s, r);
    return true;
}

/* A region of the work buffer. */
template <typename Y> __aicore__ inline LocalTensor<float> work_at(Core<Y> &c, uint32_t bytes) {
    return c.calc.template Get<float>()[bytes / sizeof(float)];
}

} // namespace norm_rope_concat

#endif
