/* SPDX-License-Identifier: Apache-2.0
 *
 * ExpSegsumGrad, what its paths share. For each matrix, with M = grad_output * grad_self [T, T]:
 *     grad_input[i] = sum over j < i <= k of M[k][j]
 * that is: suffix sums down the columns, then in row i the sum of the entries left of the
 * diagonal. Elements on and above the diagonal never take part: sums that hold some are
 * overwritten or masked, never multiplied by 0.
 * Every order of summation follows from T alone.
 */
#ifndef EXP_SEGSUM_GRAD_H
#define EXP_SEGSUM_GRAD_H

#include "exp_segsum_grad_tiling_data.h"
#include "rows.h"

namespace segsum {

using namespace AscendC;
using namespace rows;

using Elem = DTYPE_GRAD_OUTPUT;

constexpr bool WIDEN = sizeof(Elem) == 2;        /* 16-bit inputs are computed in fp32 */
constexpr uint32_t IN_BLOCK = 32 / sizeof(Elem); /* input elements of a 32-byte block */
/* Tiles that are loaded ahead. Widened, a tile leaves its buffer before it is worked on: the one
 * after the next is loaded then, long before the scalar unit gets to the next one. */
constexpr uint32_t AHEAD = WIDEN ? 2 : 1;

struct Segsum {
    GlobalTensor<Elem> dy, y, dx;
    TQue<TPosition::VECIN, 2> in; /* a tile of dy, then the same tile of y */
    TQue<TPosition::VECOUT, 1> out;
    TBuf<TPosition::VECCALC> wide; /* their fp32 copies, if they are not fp32 themselves */
    /* where y's tile begins in a buffer of the queue, and where it begins in fp32 */
    uint32_t second, span;
    bool direct; /* rows are whole 32-byte blocks, near enough for the short form of a copy */
    /* Diagonal blocks: the first part has come, of those loaded and those taken in turn. */
    TEventID part[2];
    LocalTensor<Elem> block[2];
    uint32_t loads, takes;
};

/* The buffers are as tiling has laid them out. What loads need, */
AICORE_INLINE void open_segsum(Segsum &s, TPipe *pipe, GM_ADDR dy, GM_ADDR y, GM_ADDR dx,
                               const ExpSegsumGradTilingData &tiling) {
    s.dy.SetGlobalBuffer((__gm__ Elem *)dy);
    s.y.SetGlobalBuffer((__gm__ Elem *)y);
    s.dx.SetGlobalBuffer((__gm__ Elem *)dx);
    if (tiling.stream) {
        s.dy.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
        s.y.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
    }
    s.span = tiling.span;
    s.second = tiling.second;
    s.direct = tiling.direct != 0;
    pipe->InitBuffer(s.in, 2, tiling.in_bytes);
    s.part[0] = pipe->AllocEventID<HardEvent::MTE2_V>();
    s.part[1] = pipe->AllocEventID<HardEvent::MTE2_V>();
    s.loads = s.takes = 0;
}

/* and all else, which may wait until the first loads are on their way. */
AICORE_INLINE void open_work(Segsum &s, TPipe *pipe, const ExpSegsumGradTilingData &tiling) {
    pipe->InitBuffer(s.out, 2, tiling.out_bytes);
    if constexpr (WIDEN) pipe->InitBuffer(s.wide, tiling.wide_bytes);
}

/* Core c of n gets units [first(c), first(c + 1)). */
AICORE_INLINE int64_t first(int64_t units, int64_t core) {
    int64_t n = GetBlockNum(), each = units / n, more = units % n;
    return each * core + (core < more ? core : more);
}

/* `rows` rows of both operands from element `from` on, `columns` of a pitch of `t`, to rows of
 * `lanes` elements. Lanes between are filled with 0 as far as the copy can do that: 32 bytes. */
AICORE_INLINE void load_rows(Segsum &s, const LocalTensor<Elem> &to, int64_t from, int64_t t,
                             uint32_t rows, uint32_t columns, uint32_t lanes) {
    uint32_t length = columns * sizeof(Elem), room = lanes * sizeof(Elem);
    LocalTensor<Elem> second = to[s.second];
    if (s.direct && length == room) {
        DataCopyParams copy(rows, length / 32, (t - columns) * sizeof(Elem) / 32, 0);
        DataCopy(to, s.dy[from], copy);
        DataCopy(second, s.y[from], copy);
        return;
    }
    uint32_t filled = room - length <= 32 ? lanes : up(columns, IN_BLOCK);
    DataCopyExtParams copy(rows, length, (t - columns) * sizeof(Elem), (lanes - filled) / IN_BLOCK,
                           0);
    DataCopyPadExtParams<Elem> pad;
    pad.isPad = filled != columns;
    pad.rightPadding = filled - columns;
    DataCopyPad(to, s.dy[from], copy, pad);
    DataCopyPad(second, s.y[from], copy, pad);
}

/* Casts and products of `count` floats, by repeats where they fill them: a mask is set faster than
 * a count. */
AICORE_INLINE bool fills_repeats(uint32_t count) {
    return count % LANES == 0 && count / LANES <= REPEATS;
}

template <typename F, typename G>
AICORE_INLINE void cast_flat(const LocalTensor<F> &dst, const LocalTensor<G> &src, RoundMode mode,
                             uint32_t count) {
    if (fills_repeats(count)) {
        Cast(dst, src, mode, LANES, count / LANES,
             UnaryRepeatParams(1, 1, sizeof(F) * 2, sizeof(G) * 2));
    } else {
        Cast(dst, src, mode, count);
    }
}

AICORE_INLINE void mul_flat(const LocalTensor<float> &dst, const LocalTensor<float> &a,
                            const LocalTensor<float> &b, uint32_t count) {
    if (fills_repeats(count)) {
        Mul(dst, a, b, LANES, count / LANES, BinaryRepeatParams(1, 1, 1, 8, 8, 8));
    } else {
        Mul(dst, a, b, count);
    }
}

/* Where both operands of a tile are in fp32. */
AICORE_INLINE void operands(Segsum &s, const LocalTensor<Elem> &in, LocalTensor<float> &a,
                            LocalTensor<float> &b) {
    if constexpr (WIDEN) {
        a = s.wide.Get<float>();
    } else {
        a = in.template ReinterpretCast<float>();
    }
    b = a[s.span];
}

/* Elements [from, from + count) of both as fp32. */
AICORE_INLINE void widen_part(Segsum &s, const LocalTensor<Elem> &in, uint32_t from, uint32_t count,
                              const LocalTensor<float> &a, const LocalTensor<float> &b) {
    if constexpr (WIDEN) {
        cast_flat(a[from], in[from], RoundMode::CAST_NONE, count);
        cast_flat(b[from], in[s.second + from], RoundMode::CAST_NONE, count);
        vector_done();
    }
}

/* Both operands of a tile as fp32. 16-bit input is free for the next load from here on. */
AICORE_INLINE void widen(Segsum &s, LocalTensor<Elem> &in, uint32_t count, LocalTensor<float> &a,
                         LocalTensor<float> &b) {
    operands(s, in, a, b);
    if constexpr (WIDEN) {
        vector_done(); /* the last tile is still being read */
        widen_part(s, in, 0, count, a, b);
        s.in.FreeTensor(in);
    }
}

AICORE_INLINE void release(Segsum &s, LocalTensor<Elem> &in) {
    if constexpr (!WIDEN) s.in.FreeTensor(in);
}

/* Where fp32 results go: into the output itself, or into scratch until narrow() rounds them. */
AICORE_INLINE LocalTensor<float> result_place(const LocalTensor<Elem> &out,
                                              const LocalTensor<float> &scratch) {
    if constexpr (WIDEN) {
        return scratch;
    } else {
        return out.template ReinterpretCast<float>();
    }
}

AICORE_INLINE void narrow(const LocalTensor<Elem> &out, const LocalTensor<float> &from,
                          uint32_t count) {
    if constexpr (WIDEN) {
        vector_done();
        cast_flat(out, from, RoundMode::CAST_RINT, count);
    }
}

/* The first lane of each of the 32-byte blocks of a repeat. */
constexpr uint64_t EACH_BLOCK = 0x0101010101010101ull;

/* The lanes of `byte` in each of the first `blocks` 32-byte blocks. */
AICORE_INLINE uint64_t lanes_of(uint32_t byte, uint32_t blocks) {
    return (EACH_BLOCK >> (8 * (BLOCK - blocks))) * byte;
}

/* For SetVectorMask, which is right before all calls that keep the mask, <float, false>: a call
 * with a mask of its own leaves it behind on A2, but not on the 950. */
AICORE_INLINE uint64_t first_lanes(uint32_t n) { /* 1 .. 64 */
    return ~0ull >> (LANES - n);
}

/* Lanes r .. 7 of block r: what row r of a diagonal tile of 8 x 8 does not own. */
constexpr uint64_t UPPER = 0x80c0e0f0f8fcfeffull;

/* n times dst row += src row; rows of `lanes` lanes, `step` and `src_step` blocks apart. */
AICORE_INLINE void add_rows(const LocalTensor<float> &dst, const LocalTensor<float> &src,
                            uint32_t lanes, uint32_t n, uint32_t step, uint32_t src_step) {
    for (uint32_t i = 0; i < n; i += REPEATS) {
        LocalTensor<float> d = dst[i * step * BLOCK];
        Add(d, d, src[i * src_step * BLOCK], lanes, least(n - i, REPEATS),
            BinaryRepeatParams(1, 1, 1, step, step, src_step));
    }
}

/* The same for narrow rows: each repeat takes one block of `rows` rows (at most 8), which lie
 * row_step blocks apart (src_row_step in the source); the next repeat begins `step` blocks on. */
struct NarrowRows {
    uint32_t blocks, n, rows, row_step, step, src_row_step;
};

AICORE_INLINE void add_narrow_rows(const LocalTensor<float> &dst, const LocalTensor<float> &src,
                                   const NarrowRows &r) {
    for (uint32_t h = 0; h < r.blocks; h++) {
        for (uint32_t i = 0; i < r.n; i += REPEATS) {
            uint32_t at = (i * r.step + h) * BLOCK;
            LocalTensor<float> d = dst[at];
            Add(d, d, src[at], r.rows * BLOCK, least(r.n - i, REPEATS),
                BinaryRepeatParams(r.row_step, r.row_step, r.src_row_step, r.step, r.step, r.step));
        }
    }
}

/* Suffix sums over the rows of each group of `size` rows, a power of two; a row has `blocks`
 * blocks. In step `half` the upper half of every 2 * half rows takes in the total of the lower
 * half, which stands in the lower half's first row. */
AICORE_INLINE void scan(const LocalTensor<float> &d, uint32_t rows, uint32_t size,
                        uint32_t blocks) {
    uint32_t lanes = blocks * BLOCK;
    for (uint32_t half = 1; half < size; half *= 2) {
        uint32_t groups = rows / (2 * half), step = 2 * half * blocks;
        LocalTensor<float> low = d[half * lanes];
        vector_done();
        if (blocks * blocks * half <= 4) {
            /* A row of eight groups to a repeat; with wider steps they would meet in few banks. */
            for (uint32_t o = 0; o < half; o++) {
                NarrowRows whole = {blocks, groups / 8, 8, step, 8 * step, step};
                NarrowRows rest = {blocks, groups % 8 ? 1u : 0u, groups % 8, step, 8 * step, step};
                uint32_t at = groups / 8 * 8 * step * BLOCK;
                add_narrow_rows(d[o * lanes], low, whole);
                if (rest.n) add_narrow_rows(d[o * lanes + at], low[at], rest);
            }
        } else if (blocks <= 2 && half % 8 == 0 && step <= REPEATS) {
            /* Eight rows of a group to a repeat. */
            for (uint32_t o = 0; o < half; o += 8) {
                NarrowRows eight = {blocks, groups, 8, blocks, step, 0};
                add_narrow_rows(d[o * lanes], low, eight);
            }
        } else if (step <= REPEATS && half <= groups) { /* a row of all groups to a call */
            BinaryRepeatParams steps(1, 1, 1, step, step, step);
            SetVectorMask<float>(0, first_lanes(lanes));
            for (uint32_t at = 0; at < half * lanes; at += lanes) {
                LocalTensor<float> to = d[at];
                Add<float, false>(to, to, low, MASK_PLACEHOLDER, groups, steps);
            }
        } else { /* half a group to a call */
            BinaryRepeatParams steps(1, 1, 1, blocks, blocks, 0);
            SetVectorMask<float>(0, first_lanes(lanes));
            for (uint32_t at = 0; at < rows * lanes; at += 2 * half * lanes) {
                LocalTensor<float> to = d[at];
                Add<float, false>(to, to, low[at], MASK_PLACEHOLDER, half, steps);
            }
        }
    }
    vector_done();
}

/* The same for n groups of any size. */
AICORE_INLINE void scan_any(const LocalTensor<float> &d, uint32_t n, uint32_t size,
                            uint32_t blocks) {
    uint32_t lanes = blocks * BLOCK, group = size * blocks;
    for (uint32_t half = 1; half < size; half *= 2) {
        vector_done();
        for (uint32_t r = 0; r + half < size; r += 2 * half) {
            LocalTensor<float> top = d[r * lanes], low = d[(r + half) * lanes];
            if (group <= REPEATS && half < n) { /* a row of all groups to a call */
                for (uint32_t o = 0; o < half; o++) {
                    add_rows(top[o * lanes], low, lanes, n, group, group);
                }
            } else {
                for (uint32_t g = 0; g < n; g++) {
                    uint32_t at = g * group * BLOCK;
                    add_rows(top[at], low[at], lanes, half, blocks, 0);
                }
            }
        }
    }
    vector_done();
}

/* Zeros where row k of a matrix does not own lane j < k, if that lies in the block of lanes that
 * holds k; the blocks behind it are left to the sums. Eight rows are a repeat, a block of each. */
AICORE_INLINE void drop_upper(const LocalTensor<float> &d, uint32_t n, uint32_t t,
                              uint32_t blocks) {
    uint32_t group = t * blocks, full = t / 8, step = 8 * blocks + 1;
    SetVectorMask<float>(0, UPPER);
    if (n < full) { /* all rows of a matrix in a call */
        for (uint32_t at = 0; at < n * group; at += group) {
            Duplicate<float, false>(d[at * BLOCK], 0.0f, MASK_PLACEHOLDER, full, blocks, step);
        }
    } else { /* eight rows of all matrices; so small, they are near enough */
        for (uint32_t at = 0; at < full * step; at += step) {
            Duplicate<float, false>(d[at * BLOCK], 0.0f, MASK_PLACEHOLDER, n, blocks, group);
        }
    }
    if (t % 8 == 0) return;
    SetVectorMask<float>(0, UPPER & lanes_of(0xff, t % 8));
    uint32_t each = group <= REPEATS ? n : 1;
    for (uint32_t g = 0; g < n; g += each) {
        Duplicate<float, false>(d[(g * group + full * step) * BLOCK], 0.0f, MASK_PLACEHOLDER, each,
                                blocks, each == 1 ? 0 : group);
    }
}

/* From suffix sums to results for n matrices; `pitch` fp32 from one result to the next. sums:
 * scratch, a block per row. */
AICORE_INLINE void sum_rows(const LocalTensor<float> &d, const LocalTensor<float> &sums,
                            const LocalTensor<float> &results, uint32_t n, uint32_t t,
                            uint32_t blocks, uint32_t pitch) {
    uint32_t rows = n * t;
    drop_upper(d, n, t, blocks);
    vector_done();
    for (uint32_t i = 0; i < rows; i += REPEATS) {
        BlockReduceSum(sums[i * BLOCK], d[i * blocks * BLOCK], least(rows - i, REPEATS),
                       blocks * BLOCK, 1, 1, blocks);
    }
    vector_done();
    uint64_t own = EACH_BLOCK; /* rows q.. q + 7 own the blocks up to theirs */
    for (uint32_t q = 0; q < t; q += 8) {
        SetVectorMask<float>(0, t - q < 8 ? own & lanes_of(0xff, t - q) : own);
        BlockReduceSum<float, false>(results[q], sums[q * BLOCK], n, MASK_PLACEHOLDER, pitch / 8, 1,
                                     t);
        own = own << 1 | EACH_BLOCK;
    }
}

/* dst = a + b, all three without gaps. */
AICORE_INLINE void add_flat(const LocalTensor<float> &dst, const LocalTensor<float> &a,
                            const LocalTensor<float> &b, uint32_t count) {
    if (fills_repeats(count)) {
        Add(dst, a, b, LANES, count / LANES, BinaryRepeatParams(1, 1, 1, 8, 8, 8));
    } else {
        Add(dst, a, b, count);
    }
}

/* Sums `rows` rows of `length` into the first one: lower half onto upper half, in place. */
AICORE_INLINE void fold(const LocalTensor<float> &d, uint32_t rows, uint32_t length) {
    while (rows > 1) {
        uint32_t half = (rows + 1) / 2;
        vector_done();
        add_flat(d, d, d[half * length], (rows - half) * length);
        rows = half;
    }
    vector_done();
}

} // namespace segsum

#endif
