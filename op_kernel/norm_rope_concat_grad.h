/* SPDX-License-Identifier: Apache-2.0
 *
 * NormRopeConcatGrad on one vector core. For line (b, s, n) of a stream, with h = D / 2 and
 * p = offset of the stream + s:
 *
 *   g  = grad[b][n][p][:]
 *   g' = g cos[p] + R(g sin[p]) for p < rope_rows, else g
 *        half        R(t)[j] = t[j+h],    R(t)[j+h] = -t[j]
 *        interleave  R(t)[2i] = t[2i+1],  R(t)[2i+1] = -t[2i]
 *   x^ = (x - mean) rstd (norm 1, 2), x rstd (norm 3, 4);  g^ = g' gamma (2, 4) or g' (1, 3)
 *   dx = rstd (g^ - mean(g^) - x^ mean(g^ x^)) (1, 2), rstd (g^ - x^ mean(g^ x^)) (3, 4), g' (0)
 *   dgamma = sum g' x^ (2, 4),  dbeta = sum g' (2) over all lines of the stream
 *
 * grad [B,N,S,D] is read with strides; x, dx [B,S,N,D], mean and rstd [B,S,N,1] are contiguous runs
 * of lines. Here: the words the other headers share, and vector calls over lines.
 */
#ifndef NORM_ROPE_CONCAT_GRAD_H
#define NORM_ROPE_CONCAT_GRAD_H

#include "kernel_operator.h"
#include "norm_rope_concat_grad_tiling_data.h"
#include "rows.h"

namespace norm_rope_concat {

using namespace AscendC;
using namespace rows;

using Tiling = NormRopeConcatGradTilingData;

/* fp32 in 256 bytes: moves an operand to the other bank groups */
constexpr uint32_t PHASE = 64;

/* Kernel arguments by IR index. */
struct Args {
    GM_ADDR in[21];
    GM_ADDR out[14];
    GM_ADDR workspace;
};

template <typename T> struct Core {
    TQue<TPosition::VECIN, 1> in; /* a tile: g, x, mean, rstd, rows of cos and sin, gamma */
    TQue<TPosition::VECOUT, 1> out, flush;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> copy;
    TBuf<TPosition::VECCALC> calc;
    const Tiling *t;
    const Args *args;
};

/* Columns [column, column + width) of each piece of a line, as they lie in UB. */
struct Columns {
    uint32_t column, width;
    uint32_t padded; /* width in whole 32-byte blocks */
    uint32_t pitch;  /* elements from line to line */
    uint32_t pieces; /* pieces that are moved: 1 where a line is the same in GM and UB */
    bool packed;     /* all columns and no padding */
};

/* Lines of one tile that lie in one batch and are all rotated or all not: seqs x heads. */
struct Rect {
    int64_t batch, seq, position;
    uint32_t head, seqs, heads;
    uint32_t line, lines; /* in the tile; the first and how many */
    uint32_t row;         /* of the tile's cos and sin */
    uint32_t left;        /* lines of the tile from here on */
    bool rope;
};

/* A tile as lines of a stream: where it begins. Divisions are slow, so they are made once. */
struct Range {
    int64_t line, batch, seq;
    uint32_t head, lines;
};

__aicore__ inline uint32_t least64(int64_t a, int64_t b) {
    return static_cast<uint32_t>(a < b ? a : b);
}

template <typename T> __aicore__ inline Columns columns_of(const Tiling &t, uint32_t block) {
    int64_t piece = t.dim >> (t.pieces - 1), column = block * t.columns;
    Columns c;
    c.column = static_cast<uint32_t>(column);
    c.width = least64(t.columns, piece - column);
    c.padded = up(c.width, 32 / sizeof(T));
    c.pitch = c.padded * t.pieces;
    c.packed = c.pitch == t.dim;
    c.pieces = c.packed ? 1 : t.pieces;
    return c;
}

__aicore__ inline Range range_of(const Tiling &t, const NrcStreamTiling &s, int64_t line,
                                 uint32_t lines) {
    Range r;
    int64_t item = line / t.heads;
    r.line = line;
    r.lines = lines;
    r.head = static_cast<uint32_t>(line - item * t.heads);
    r.batch = item / s.seq;
    r.seq = item - r.batch * s.seq;
    return r;
}

/* The extent of the rectangle that begins at r. */
__aicore__ inline void measure(const Tiling &t, const NrcStreamTiling &s, Rect &r) {
    r.position = s.offset + r.seq;
    r.rope = r.position < t.rope_rows;
    if (r.head == 0 && r.left >= t.heads) {
        r.heads = static_cast<uint32_t>(t.heads);
        r.seqs = least64(r.left / r.heads, s.seq - r.seq);
        if (r.rope) r.seqs = least64(r.seqs, t.rope_rows - r.position);
    } else {
        r.seqs = 1;
        r.heads = least64(r.left, t.heads - r.head);
    }
    r.lines = r.seqs * r.heads;
}

/* for (Rect r = first_rect(..); r.left; next_rect(.., r)) */
__aicore__ inline Rect first_rect(const Tiling &t, const NrcStreamTiling &s, const Range &range) {
    Rect r;
    r.batch = range.batch;
    r.seq = range.seq;
    r.head = range.head;
    r.line = r.row = 0;
    r.left = range.lines;
    measure(t, s, r);
    return r;
}

__aicore__ inline void next_rect(const Tiling &t, const NrcStreamTiling &s, Rect &r) {
    r.line += r.lines;
    r.left -= r.lines;
    if (r.left == 0) return;
    if (r.rope) r.row += r.seqs;
    r.head += r.heads;
    if (r.head == t.heads) {
        r.head = 0;
        r.seq += r.seqs;
    }
    if (r.seq == s.seq) {
        r.seq = 0;
        r.batch++;
    }
    measure(t, s, r);
}

template <Op OP>
__aicore__ inline void repeat_lanes(const LocalTensor<float> &dst, const LocalTensor<float> &a,
                                    const LocalTensor<float> &b, uint32_t lanes, uint32_t repeats,
                                    const BinaryRepeatParams &strides) {
    apply_repeats<OP>(dst, a, b, least(lanes, LANES), repeats, strides);
}

/* One number per line, as a 32-byte block that has it eight times. The blocks of the lines are
 * `step` blocks apart; there may be two copies, for columns 0..63, 128..191 and so on, and for
 * the others: see spread. */
struct Numbers {
    LocalTensor<float> even, odd;
    uint32_t step;
};

/* dst[l][j] = a[l][j] op b[l] */
template <Op op>
__aicore__ inline void by_line(const LocalTensor<float> &dst, const LocalTensor<float> &a,
                               const Numbers &b, uint32_t lines, uint32_t pitch) {
    uint32_t chunks = (pitch + LANES - 1) / LANES, whole = pitch / LANES * LANES;
    uint8_t step = static_cast<uint8_t>(pitch / BLOCK), b_step = static_cast<uint8_t>(b.step);
    if (chunks <= lines) {
        for (uint32_t j = 0; j < pitch; j += LANES) {
            repeat_lanes<op>(dst[j], a[j], j / LANES % 2 ? b.odd : b.even, pitch - j, lines,
                             {1, 1, 0, step, step, b_step});
        }
        return;
    }
    for (uint32_t l = 0; l < lines; l++) {
        uint32_t at = l * pitch;
        LocalTensor<float> number = b.even[l * b.step * BLOCK];
        if (whole)
            repeat_lanes<op>(dst[at], a[at], number, LANES, whole / LANES, {1, 1, 0, 8, 8, 0});
        if (whole < pitch) {
            repeat_lanes<op>(dst[at + whole], a[at + whole], number, pitch - whole, 1,
                             {1, 1, 0, 8, 8, 0});
        }
    }
}

/* dst[l][j] = a[l][j] op b[l][j] for `columns` columns; lines are `step` floats apart, those of
 * b `b_step`. */
template <Op op>
__aicore__ inline void by_column(const LocalTensor<float> &dst, const LocalTensor<float> &a,
                                 const LocalTensor<float> &b, uint32_t lines, uint32_t columns,
                                 uint32_t step, uint32_t b_step) {
    uint8_t s = static_cast<uint8_t>(step / BLOCK), bs = static_cast<uint8_t>(b_step / BLOCK);
    if ((columns + LANES - 1) / LANES <= lines) {
        for (uint32_t j = 0; j < columns; j += LANES) {
            repeat_lanes<op>(dst[j], a[j], b[j], columns - j, lines, {1, 1, 1, s, s, bs});
        }
        return;
    }
    for (uint32_t l = 0; l < lines; l++) {
        uint32_t whole = columns / LANES, rest = columns % LANES, at = l * step, b_at = l * b_step;
        if (whole) repeat_lanes<op>(dst[at], a[at], b[b_at], LANES, whole, {1, 1, 1, 8, 8, 8});
        if (rest) {
            uint32_t j = whole * LANES;
            repeat_lanes<op>(dst[at + j], a[at + j], b[b_at + j], rest, 1, {1, 1, 1, 8, 8, 8});
        }
    }
}

/* A region of the work buffer. */
template <typename T> __aicore__ inline LocalTensor<float> work_at(Core<T> &c, uint32_t bytes) {
    return c.calc.template Get<float>()[bytes / sizeof(float)];
}

} // namespace norm_rope_concat

#endif
