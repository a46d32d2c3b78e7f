/* SPDX-License-Identifier: Apache-2.0
 *
 * How rows come and go in rotary_mul_grad_910.h. The first 910 copies whole 32-byte blocks, which
 * begin at blocks in the UB and at any element in memory.
 *
 * Rows that are whole blocks lie in the UB as in memory. Of other rows (t.gaps) every half begins
 * at a block in the UB:
 *
 *     memory   |first half |second half|first half |second half|
 *     UB       |first half |gap|second half|gap|
 *
 * A half comes with what follows it in memory, which fills the gap. Behind the last half of a
 * tensor nothing follows: its last block is fetched so that it ends where the tensor does, and its
 * elements are moved to their places in the UB. On the way out a piece (both halves of a rotation
 * if they are short, else a half) is packed in the UB: its whole blocks, and one block more that
 * ends where the piece does. Nothing else is written, so that dx may take the place of dy.
 */
#ifndef ROTARY_MUL_GRAD_910_MOVE_H
#define ROTARY_MUL_GRAD_910_MOVE_H

#include "rotary_grad_tiling_data.h"
#include "rotary_mul_grad_910_rows.h"

namespace rotary_910 {

/* Some neighbouring rows of cos, or one strip of one. */
struct Line {
    int64_t line, slab, cos_row;
    uint32_t count;
    /* elements before the strip in a row, of one of its halves in memory; of a half in the UB, of
     * both in all rotations */
    int64_t column;
    uint32_t length, half, row;
};

/* Rows of memory: the first, how many runs of how many, from run to run. */
struct Span {
    int64_t first, stride;
    uint32_t runs, run_rows;
};

struct Tile {
    /* rows of cos: the first of the line's, and how many */
    uint32_t from, count;
    Span span;
    /* rows of dy for each row of cos, and the way through the UB; across: first rows first there,
     * although rows of one row of cos are neighbours in memory */
    uint32_t rows;
    bool across;
    Steps steps;
};

/* n runs of `length` elements each, so many elements apart in memory, without gaps in the UB. */
template <typename T, bool IN>
__aicore__ inline void copy_runs(const LocalTensor<T> &local, const GlobalTensor<T> &memory,
                                 int64_t n, int64_t length, int64_t apart) {
    constexpr int64_t block = 32 / sizeof(T), most_runs = 4095, most_gap = 65535;
    int64_t gap = (apart - length) / block;
    int64_t at_once = gap > most_gap ? 1 : most_runs;
    for (int64_t i = 0; i < n; i += at_once) {
        Narrow16 runs = Narrow16(n - i < at_once ? n - i : at_once);
        Narrow16 blocks = Narrow16(length / block), skip = Narrow16(runs > 1 ? gap : 0);
        if constexpr (IN) {
            DataCopy(local[i * length], memory[i * apart], DataCopyParams(runs, blocks, skip, 0));
        } else {
            DataCopy(memory[i * apart], local[i * length], DataCopyParams(runs, blocks, 0, skip));
        }
    }
}

/* Pieces of whole blocks, at steps in memory and in the UB: `slow` times `fast` of them. */
struct Pieces {
    uint32_t slow, fast, blocks;
    int64_t far, near;
    uint32_t far_local, near_local;
};

/* n of them in a row. Those that begin at the same place of a block of memory are one copy, if it
 * can step that far. */
template <typename T, bool IN>
__aicore__ inline void copy_pieces(const LocalTensor<T> &local, const GlobalTensor<T> &memory,
                                   uint32_t n, uint32_t blocks, int64_t apart, uint32_t step) {
    constexpr uint32_t block = 32 / sizeof(T), most_runs = 4095, most_gap = 65535;
    uint32_t period = 1;
    while (((uint32_t)apart * period) % block != 0) {
        period *= 2;
    }
    int64_t gap = apart * period / block - blocks;
    if (gap > most_gap || n > most_runs) {
        period = n;
    }
    uint32_t runs = (n + period - 1) / period, longest = n - (runs - 1) * period;
    Narrow16 far = Narrow16(runs > 1 ? gap : 0);
    Narrow16 near = Narrow16(runs > 1 ? step * period / block - blocks : 0);
    for (uint32_t i = 0; i < least(period, n); i++) {
        DataCopyParams copy(Narrow16(i < longest ? runs : runs - 1), Narrow16(blocks),
                            IN ? far : near, IN ? near : far);
        if constexpr (IN) {
            DataCopy(local[i * step], memory[i * apart], copy);
        } else {
            DataCopy(memory[i * apart], local[i * step], copy);
        }
    }
}

template <typename T, bool IN>
__aicore__ inline void copy_grid(const LocalTensor<T> &local, const GlobalTensor<T> &memory,
                                 const Pieces &p) {
    if (p.slow > p.fast) {
        for (uint32_t i = 0; i < p.fast; i++) {
            copy_pieces<T, IN>(local[i * p.near_local], memory[i * p.near], p.slow, p.blocks, p.far,
                               p.far_local);
        }
        return;
    }
    for (uint32_t i = 0; i < p.slow; i++) {
        copy_pieces<T, IN>(local[i * p.far_local], memory[i * p.far], p.fast, p.blocks, p.near,
                           p.near_local);
    }
}

/* The halves of rows, or of their strips, `parts` of them a piece. Rows are in strips only if they
 * are two halves, so that all halves of a run are equally far apart. */
__aicore__ inline Pieces pieces_of(const Span &s, const Line &line, const RotaryGradTiling &t,
                                   uint32_t parts) {
    Pieces p;
    p.slow = s.runs;
    p.far = s.stride * t.row;
    p.fast = s.run_rows * (line.row / line.half) / parts;
    p.near = parts * t.half;
    p.near_local = parts * line.half;
    p.far_local = p.fast * p.near_local;
    p.blocks = 0;
    return p;
}

/* Whether the last half of a span is the last of its tensor, which has so many rows, and ends
 * inside a block. */
template <typename T>
__aicore__ inline bool holds_end(const Span &s, const Line &line, const RotaryGradTiling &t,
                                 int64_t rows) {
    constexpr uint32_t block = 32 / sizeof(T);
    bool last = t.strips == 1 || line.column + line.length == t.half;
    return t.gaps > 0 && line.length % block != 0 && last &&
           s.first + (s.runs - 1) * s.stride + s.run_rows == rows;
}

template <typename T>
__aicore__ inline void load_halves(const LocalTensor<T> &local, const GlobalTensor<T> &memory,
                                   const Span &s, const Line &line, const RotaryGradTiling &t,
                                   int64_t rows) {
    constexpr uint32_t block = 32 / sizeof(T);
    int64_t at = s.first * t.row + line.column;
    Pieces p = pieces_of(s, line, t, 1);
    p.blocks = line.half / block;
    if (!holds_end<T>(s, line, t, rows)) {
        copy_grid<T, true>(local, memory[at], p);
        return;
    }
    p.slow--;
    copy_grid<T, true>(local, memory[at], p);
    LocalTensor<T> to = local[p.slow * p.far_local];
    at += p.slow * p.far;
    copy_pieces<T, true>(to, memory[at], p.fast - 1, p.blocks, p.near, p.near_local);
    to = to[(p.fast - 1) * p.near_local];
    at += (p.fast - 1) * p.near;
    if (p.blocks > 1) {
        DataCopy(to, memory[at], DataCopyParams(1, Narrow16(p.blocks - 1), 0, 0));
    }
    DataCopy(to[line.half - block], memory[at + line.length - block], DataCopyParams(1, 1, 0, 0));
}

/* The elements of that last block to where they belong; `rows` rows are in the UB. */
template <typename T>
__aicore__ inline void settle_end(const LocalTensor<T> &local, uint32_t rows, const Line &line,
                                  const LocalTensor<float> &spare) {
    constexpr uint32_t block = 32 / sizeof(T), words = sizeof(T) / 2;
    vector_done();
    move_down(local[rows * line.row - block].template ReinterpretCast<int16_t>(),
              (block - line.length % block) * words, spare);
}

/* Rows of the UB as store_pieces wants them. */
template <typename T>
__aicore__ inline void pack(const LocalTensor<T> &local, uint32_t rows, const Line &line,
                            const RotaryGradTiling &t, const LocalTensor<float> &spare) {
    constexpr uint32_t words = sizeof(T) / 2;
    if (t.gaps > 0 && t.gaps * line.length % (32 / sizeof(T)) != 0) {
        vector_done();
        close_gaps(local.template ReinterpretCast<int16_t>(),
                   rows * (line.row / line.half) / t.gaps, t.gaps, line.length * words,
                   line.half * words, spare, t.table);
    }
}

template <typename T>
__aicore__ inline void store_pieces(const LocalTensor<T> &local, const GlobalTensor<T> &memory,
                                    const Span &s, const Line &line, const RotaryGradTiling &t) {
    constexpr uint32_t block = 32 / sizeof(T);
    uint32_t length = t.gaps * line.length, whole = length / block;
    int64_t at = s.first * t.row + line.column;
    Pieces p = pieces_of(s, line, t, t.gaps);
    p.blocks = whole;
    copy_grid<T, false>(local, memory[at], p);
    if (length % block != 0) {
        PipeBarrier<PIPE_MTE3>(); /* the last block of a piece repeats what is in the one before */
        p.blocks = 1;
        copy_grid<T, false>(local[whole * block], memory[at + length - block], p);
    }
}

/* So many neighbouring rows from row `first` on, or the strip of each. */
template <typename T, bool IN>
__aicore__ inline void move_rows(const LocalTensor<T> &local, const GlobalTensor<T> &memory,
                                 int64_t first, uint32_t n, const Line &line,
                                 const RotaryGradTiling &t) {
    int64_t at = first * t.row + line.column;
    if (t.gaps > 0) {
        Span s = {first, 0, 1, n};
        if constexpr (IN) {
            load_halves<T>(local, memory, s, line, t, t.lines / t.strips);
        } else {
            store_pieces<T>(local, memory, s, line, t);
        }
    } else if (t.strips == 1) {
        copy_runs<T, IN>(local, memory[at], 1, (int64_t)n * t.row, 0);
    } else { /* halves of all rows are equally far apart */
        copy_runs<T, IN>(local, memory[at], 2 * n, line.half, t.half);
    }
}

/* Rows of dy. */
__aicore__ inline int64_t all_rows(const RotaryGradTiling &t) {
    return t.lines / t.strips / t.cos_rows * t.slab_stride;
}

template <typename T, bool IN>
__aicore__ inline void move_tile(const LocalTensor<T> &local, const GlobalTensor<T> &memory,
                                 const Tile &tile, const Line &line, const RotaryGradTiling &t) {
    const Span &s = tile.span;
    if (tile.across) {
        constexpr uint32_t block = 32 / sizeof(T);
        uint32_t row = line.row, gap = (tile.rows - 1) * row / block, to = 0;
        int64_t from = s.first * t.row;
        DataCopyParams rows(Narrow16(tile.count), Narrow16(row / block), Narrow16(IN ? gap : 0),
                            Narrow16(IN ? 0 : gap));
        for (uint32_t i = 0; i < tile.rows; i++, from += row, to += tile.steps.row) {
            if constexpr (IN) {
                DataCopy(local[to], memory[from], rows);
            } else {
                DataCopy(memory[from], local[to], rows);
            }
        }
        return;
    }
    if (t.gaps > 0) {
        if constexpr (IN) {
            load_halves<T>(local, memory, s, line, t, all_rows(t));
        } else {
            store_pieces<T>(local, memory, s, line, t);
        }
        return;
    }
    if (t.strips == 1) {
        copy_runs<T, IN>(local, memory[s.first * t.row], s.runs, s.run_rows * t.row,
                         s.stride * t.row);
        return;
    }
    for (uint32_t i = 0; i < s.runs; i++) {
        move_rows<T, IN>(local[i * s.run_rows * line.row], memory, s.first + i * s.stride,
                         s.run_rows, line, t);
    }
}

} // namespace rotary_910

#endif
