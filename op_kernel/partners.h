/* SPDX-License-Identifier: Apache-2.0
 *
 * Words of the kernels that rotate: swapping the two of every pair, [a0 b0 a1 b1 ...] -> [b0 a0 b1
 * a1 ...], or the halves of a row that does not let addresses do it; pairs to planes and back, [a0
 * b0 a1 b1 ...] <-> [a0 a1 ...] [b0 b1 ...]. Pairs of 16-bit types do without a gather: they are
 * one 32-bit word.
 */
#ifndef PARTNERS_H
#define PARTNERS_H

#include "grid.h"
#include "rows.h"

namespace rows {

using namespace AscendC;

constexpr uint64_t EVEN = 0x5555555555555555, ODD = 0xaaaaaaaaaaaaaaaa;

/* The lanes of the repeat that begins at `at` which hold elements [from, to). */
__aicore__ inline uint64_t lanes_between(uint32_t at, uint32_t from, uint32_t to) {
    uint32_t first = from > at ? from - at : 0, end = least(to - at, LANES);
    return ~(uint64_t)0 >> (LANES - end + first) << first;
}

/* Adds `value` to elements [from, to); ranges need not begin at blocks. */
template <typename T>
__aicore__ inline void add_to_range(const LocalTensor<T> &table, uint32_t from, uint32_t to,
                                    T value) {
    UnaryRepeatParams steps(1, 1, 8, 8);
    for (uint32_t at = from / LANES * LANES; at < to; at += LANES) {
        uint64_t mask[2] = {lanes_between(at, from, to), 0};
        vector_done();
        Adds(table[at], table[at], value, mask, (uint8_t)1, steps);
    }
    ResetMask();
}

/* Elements [from, to) become 0. */
__aicore__ inline void clear_range(const LocalTensor<int32_t> &table, uint32_t from, uint32_t to) {
    UnaryRepeatParams steps(1, 1, 8, 8);
    for (uint32_t at = from / LANES * LANES; at < to; at += LANES) {
        uint64_t mask[2] = {lanes_between(at, from, to), 0};
        vector_done();
        Muls(table[at], table[at], 0, mask, (uint8_t)1, steps);
    }
    ResetMask();
}

/* Of n rows of `columns` floats, `row` apart, those whose bits are set in `chosen` change their
 * sign; a word has 64 bits. */
__aicore__ inline void negate_chosen(const LocalTensor<float> &rows, uint32_t row, uint32_t n,
                                     uint32_t columns, const uint64_t *chosen) {
    Narrow8 step = Narrow8(row / BLOCK);
    UnaryRepeatParams steps(1, 1, step, step);
    for (uint32_t at = 0; at < columns; at += LANES) {
        uint64_t mask[2] = {chosen[at / LANES], 0};
        if (mask[0] != 0) {
            Muls(rows[at], rows[at], -1.0f, mask, Narrow8(n), steps);
        }
    }
    ResetMask();
}

/* Entries [0, size) repeat, raised by `raise` per `size`, up to `entries`. size is a multiple of 8.
 */
__aicore__ inline void repeat_table(const LocalTensor<int32_t> &table, uint32_t size,
                                    uint32_t entries, int32_t raise) {
    for (uint32_t done = size; done < entries; done *= 2) {
        uint32_t n = entries - done < done ? entries - done : done;
        vector_done();
        Adds(table[done], table, raise * (int32_t)(done / size), (int32_t)n);
    }
    vector_done();
}

/* Byte offsets of a gather: entry i is `first`, plus `odd` if i is odd, plus `unit` times i without
 * its lowest bit. */
__aicore__ inline void make_table(const LocalTensor<int32_t> &table, uint32_t entries,
                                  int32_t first, int32_t odd, int32_t unit) {
    UnaryRepeatParams steps(1, 1, 8, 8);
    const uint64_t with_bit[6] = {ODD,
                                  0xcccccccccccccccc,
                                  0xf0f0f0f0f0f0f0f0,
                                  0xff00ff00ff00ff00,
                                  0xffff0000ffff0000,
                                  0xffffffff00000000};
    Duplicate(table, first, (int32_t)LANES);
    for (uint32_t bit = 0; bit < 6; bit++) {
        uint64_t mask[2] = {with_bit[bit], 0};
        vector_done();
        Adds(table, table, bit == 0 ? odd : unit << bit, mask, (uint8_t)1, steps);
    }
    ResetMask();
    repeat_table(table, LANES, entries, unit * (int32_t)LANES);
}

/* Offsets that swap neighbours, and offsets that interleave two planes `plane` floats apart. */
__aicore__ inline void make_swap_table(const LocalTensor<int32_t> &table, uint32_t entries) {
    make_table(table, entries, 4, -4, 4);
}

__aicore__ inline void make_interleave_table(const LocalTensor<int32_t> &table, uint32_t entries,
                                             uint32_t plane) {
    make_table(table, entries, 0, (int32_t)(4 * plane), 2);
}

/* Of offsets up to `end` those of the two halves of every head change places; a head begins every
 * `head` words, with 2 * half words from `first` on that are rotated. */
__aicore__ inline void swap_halves(const LocalTensor<int32_t> &places, uint32_t first, uint32_t end,
                                   uint32_t head, uint32_t half) {
    for (uint32_t at = first; at < end; at += head) {
        add_to_range(places, at, at + half, (int32_t)(4 * half));
        add_to_range(places, at + half, at + 2 * half, -(int32_t)(4 * half));
    }
}

/* Offsets that swap the halves of every head; row is a multiple of head and of 8, entries one of
 * row. */
__aicore__ inline void make_half_places(const LocalTensor<int32_t> &places, uint32_t entries,
                                        uint32_t row, uint32_t head, uint32_t half) {
    make_table(places, row, 0, 4, 4); /* everything in its place */
    swap_halves(places, 0, row, head, half);
    repeat_table(places, row, entries, (int32_t)(4 * row));
}

/* `count` words by a list of `entries` offsets; behind every `entries` words the source is `step`
 * bytes further on. On A2 and A3 a Gather of `count` elements leaves the mask at its tail: every
 * function here that gathers puts the mask back. */
template <typename F>
AICORE_INLINE void gather_on(const LocalTensor<F> &to, const LocalTensor<F> &from, uint32_t count,
                             const LocalTensor<uint32_t> &places, uint32_t entries, uint32_t step) {
    for (uint32_t done = 0, base = 0; done < count; done += entries, base += step) {
        Gather(to[done], from, places, base, least(count - done, entries));
    }
    ResetMask();
}

/* `step`: bytes of the source that one entry advances: 4 for swapping, 2 for interleaving. */
AICORE_INLINE void gather_all(const LocalTensor<float> &to, const LocalTensor<float> &from,
                              uint32_t count, const LocalTensor<int32_t> &table, uint32_t entries,
                              uint32_t step) {
    gather_on(to, from, count, table.ReinterpretCast<uint32_t>(), entries, step * entries);
}

/* 16-bit neighbours swapped: every word rotated by half, in two steps with a barrier between. count
 * is even; left and right hold as many elements. */
template <typename T>
__aicore__ inline void shift_words(const LocalTensor<T> &left, const LocalTensor<T> &right,
                                   const LocalTensor<T> &from, uint32_t count) {
    LocalTensor<uint32_t> words = from.template ReinterpretCast<uint32_t>();
    int32_t n = (int32_t)(count / 2);
    ShiftLeft(left.template ReinterpretCast<uint32_t>(), words, (uint32_t)16, n);
    ShiftRight(right.template ReinterpretCast<uint32_t>(), words, (uint32_t)16, n);
}

template <typename T>
__aicore__ inline void join_words(const LocalTensor<T> &to, const LocalTensor<T> &left,
                                  const LocalTensor<T> &right, uint32_t count) {
    Or(to.template ReinterpretCast<uint16_t>(), left.template ReinterpretCast<uint16_t>(),
       right.template ReinterpretCast<uint16_t>(), (int32_t)count);
}

template <typename T>
AICORE_INLINE void swap_words(const LocalTensor<T> &to, const LocalTensor<T> &from,
                              const LocalTensor<T> &spare, uint32_t count) {
    LocalTensor<uint32_t> words = from.template ReinterpretCast<uint32_t>(),
                          left = to.template ReinterpretCast<uint32_t>(),
                          right = spare.template ReinterpretCast<uint32_t>();
    shift_up(left, words, count / 2);
    shift_down(right, words, count / 2);
    vector_done();
    join_bits(left, left, right, count / 2);
}

/* The second of every pair changes its sign. count is a multiple of 8. */
__aicore__ inline void negate_odd(const LocalTensor<float> &pairs, uint32_t count) {
    UnaryRepeatParams steps(1, 1, 8, 8);
    uint64_t mask[2] = {ODD, 0};
    uint32_t full = count / LANES, rest = count - full * LANES;
    for (uint32_t done = 0; done < full; done += REPEATS) {
        uint32_t repeats = least(full - done, REPEATS);
        Muls(pairs[done * LANES], pairs[done * LANES], -1.0f, mask, Narrow8(repeats), steps);
    }
    if (rest > 0) {
        mask[0] &= ((uint64_t)1 << rest) - 1;
        Muls(pairs[full * LANES], pairs[full * LANES], -1.0f, mask, (uint8_t)1, steps);
    }
    ResetMask();
}

/* A pair sum in which only one of the two takes part is that one: it moves one element of every
 * pair to the front. The sign of a zero is lost: no public text says whether a lane that is masked
 * counts as +0 or as -0. */
AICORE_INLINE void pick(const LocalTensor<float> &to, const LocalTensor<float> &pairs,
                        uint64_t lanes, uint32_t count) {
    uint64_t mask[2] = {lanes, 0};
    uint32_t full = count / LANES, rest = count - full * LANES;
    if (full > 0) {
        PairReduceSum(to, pairs, (int32_t)full, mask, 1, 1, 8);
    }
    if (rest > 0) {
        mask[0] &= ((uint64_t)1 << rest) - 1;
        PairReduceSum(to[full * LANES / 2], pairs[full * LANES], 1, mask, 1, 1, 8);
    }
}

/* count: elements of the source, a multiple of 16 and less than 256 repeats; plane: from plane to
 * plane. */
AICORE_INLINE void deal(const LocalTensor<float> &planes, uint32_t plane,
                        const LocalTensor<float> &pairs, uint32_t count) {
    pick(planes, pairs, EVEN, count);
    pick(planes[plane], pairs, ODD, count);
    ResetMask();
}

/* The same from pairs of bfloat16, which are the upper halves of floats. */
AICORE_INLINE void deal_words(const LocalTensor<float> &planes, uint32_t plane,
                              const LocalTensor<uint32_t> &pairs, uint32_t count) {
    LocalTensor<uint32_t> even = planes.ReinterpretCast<uint32_t>(),
                          odd = planes[plane].ReinterpretCast<uint32_t>();
    shift_up(even, pairs, count / 2);
    shift_down(odd, pairs, count / 2);
    vector_done();
    shift_up(odd, odd, count / 2);
}

/* Planes of `count` floats each to pairs of a 16-bit type. Spoils planes and spare; a barrier has
 * gone before. */
template <typename T>
AICORE_INLINE void interleave_words(const LocalTensor<T> &pairs, const LocalTensor<float> &planes,
                                    uint32_t plane, const LocalTensor<float> &spare,
                                    uint32_t count) {
    /* Rounded to 16 bits, then widened as bfloat16, whatever the type: that only shifts the bits up
     * by 16. */
    LocalTensor<T> narrow = spare.template ReinterpretCast<T>();
    LocalTensor<bfloat16_t> bits = spare.template ReinterpretCast<bfloat16_t>();
    LocalTensor<uint32_t> first = planes.template ReinterpretCast<uint32_t>();
    bool joined = plane == count;
    cast_run(narrow, planes, RoundMode::CAST_RINT, joined ? 2 * count : count);
    if (!joined) {
        cast_run(narrow[plane], planes[plane], RoundMode::CAST_RINT, count);
    }
    vector_done();
    cast_run(planes, bits, RoundMode::CAST_NONE, joined ? 2 * count : count);
    if (!joined) {
        cast_run(planes[plane], bits[plane], RoundMode::CAST_NONE, count);
    }
    vector_done();
    shift_down(first, first, count);
    vector_done();
    join_bits(pairs.template ReinterpretCast<uint32_t>(), first,
              planes[plane].template ReinterpretCast<uint32_t>(), count);
}

} // namespace rows

#endif
