/* SPDX-License-Identifier: Apache-2.0
 *
 * What rotary_mul_grad_910.h does with fp32 rows in the UB: arithmetic in few calls, planned before
 * their loops; halves swapped without a gather, by copies where a half is whole 32-byte blocks,
 * else (then it ends in the middle of one) by way of two transpositions; and gaps in rows of any
 * type closed, by way of two transpositions as well.
 */
#ifndef ROTARY_MUL_GRAD_910_ROWS_H
#define ROTARY_MUL_GRAD_910_ROWS_H

#include "rows.h"

namespace rotary_910 {

using namespace AscendC;
using namespace rows;

/* Floats from one row of cos to the next, and from one row of dy that it serves to the next. */
struct Steps {
    uint32_t cos, row;
};

/* Floats that put the operands of a call in other banks: these repeat after 512 bytes. */
constexpr uint32_t OTHER_BANKS = 64;

/* Neighbouring floats. Whole repeats need fewer settings of the mask than a count does. */
template <Op OP>
__aicore__ inline void flat(const LocalTensor<float> &to, const LocalTensor<float> &a,
                            const LocalTensor<float> &b, uint32_t count) {
    if (count % LANES == 0 && count <= REPEATS * LANES) {
        apply_repeats<OP>(to, a, b, LANES, count / LANES, BinaryRepeatParams(1, 1, 1, 8, 8, 8));
    } else {
        apply_flat<OP>(to, a, b, count);
    }
}

/* Between fp16 and fp32. CAST_NONE rounds to nearest, ties to even, where it has to round: of the
 * modes that do, it is the only one that this chip has. */
template <typename TO, typename FROM>
__aicore__ inline void cast_all(const LocalTensor<TO> &to, const LocalTensor<FROM> &from,
                                uint32_t count) {
    constexpr uint8_t to_step = 2 * sizeof(TO), from_step = 2 * sizeof(FROM);
    if (count % LANES == 0 && count <= REPEATS * LANES) {
        Cast(to, from, RoundMode::CAST_NONE, (uint64_t)LANES, Narrow8(count / LANES),
             UnaryRepeatParams(1, 1, to_step, from_step));
    } else {
        Cast(to, from, RoundMode::CAST_NONE, count);
    }
}

/* The calls for some rows of cos times rows of dy: repeats walk over one of the two, a loop over
 * the other. Steps in floats; flat: calls for each row. */
struct Walk {
    uint32_t outer, repeats, columns;
    uint32_t to, a, b;
    uint32_t to_repeat, a_repeat, b_repeat;
    bool flat;
    BinaryRepeatParams steps;
};

__aicore__ inline bool is_near(uint32_t a, uint32_t b, uint32_t c) {
    return a <= REPEATS * BLOCK && b <= REPEATS * BLOCK && c <= REPEATS * BLOCK;
}

__aicore__ inline Walk make_walk(uint32_t cos_rows, uint32_t rows, uint32_t columns, Steps to,
                                 Steps a, Steps b) {
    if (to.cos == columns && a.cos == columns && b.cos == columns) {
        columns *= cos_rows;
        cos_rows = 1;
    }
    if (cos_rows == 1 && to.row == columns && a.row == columns && b.row == columns) {
        columns *= rows;
        rows = 1;
    }
    Walk w;
    w.flat = false;
    if (cos_rows == 1 && columns >= rows * LANES) { /* row by row: the repeats walk along it */
        w.flat = columns % LANES != 0 || columns > REPEATS * LANES;
        w.outer = rows;
        w.to = to.row;
        w.a = a.row;
        w.b = b.row;
        w.columns = w.flat ? columns : LANES;
        w.repeats = w.flat ? 1 : columns / LANES;
        w.to_repeat = w.a_repeat = w.b_repeat = LANES;
    } else {
        bool near_rows = is_near(to.row, a.row, b.row), near_cos = is_near(to.cos, a.cos, b.cos);
        bool over_rows = near_rows && (!near_cos || rows >= cos_rows);
        w.columns = columns;
        w.outer = over_rows ? cos_rows : rows;
        w.repeats = over_rows ? rows : cos_rows;
        w.to = over_rows ? to.cos : to.row;
        w.a = over_rows ? a.cos : a.row;
        w.b = over_rows ? b.cos : b.row;
        w.to_repeat = over_rows ? to.row : to.cos;
        w.a_repeat = over_rows ? a.row : a.cos;
        w.b_repeat = over_rows ? b.row : b.cos;
        w.flat = !(near_rows || near_cos) || w.repeats > REPEATS || columns >= w.repeats * LANES;
    }
    w.steps = BinaryRepeatParams(1, 1, 1, Narrow8(w.to_repeat / BLOCK), Narrow8(w.a_repeat / BLOCK),
                                 Narrow8(w.b_repeat / BLOCK));
    return w;
}

template <Op OP>
__aicore__ inline void grid(const LocalTensor<float> &to, const LocalTensor<float> &a,
                            const LocalTensor<float> &b, const Walk &w) {
    uint32_t t = 0, p = 0, q = 0, lanes = least(w.columns, LANES);
    for (uint32_t o = 0; o < w.outer; o++, t += w.to, p += w.a, q += w.b) {
        if (w.flat) {
            for (uint32_t i = 0; i < w.repeats; i++) {
                flat<OP>(to[t + i * w.to_repeat], a[p + i * w.a_repeat], b[q + i * w.b_repeat],
                         w.columns);
            }
            continue;
        }
        apply_repeats<OP>(to[t], a[p], b[q], lanes, w.repeats, w.steps);
        for (uint32_t c = LANES; c < w.columns; c += LANES) {
            apply_repeats<OP>(to[t + c], a[p + c], b[q + c], least(w.columns - c, LANES), w.repeats,
                              w.steps);
        }
    }
}

/* A sum as a tree, level by level: slab i gets slab i + kept added. The slabs from
 * `kept` on begin at `second`, in other banks than the first; as long as all slabs have a partner
 * the sums can be put so that this holds for the next level, too. */
struct Tree {
    uint32_t slabs, kept, size, second;
    /* stops at so many slabs */
    uint32_t last;
    /* apart: a second sum of the same kind begins at dsin, else dsin is in the slabs */
    uint32_t dsin;
    bool apart;
};

__aicore__ inline Tree make_tree(uint32_t slabs, uint32_t size) {
    uint32_t kept = (slabs + 1) / 2;
    return {slabs, kept, size, kept * size + OTHER_BANKS, 1, 0, false};
}

__aicore__ inline void tree_step(const LocalTensor<float> &slabs, Tree &tree) {
    constexpr uint32_t worth = 1024; /* floats in other banks are worth a call more */
    uint32_t kept = (tree.kept + 1) / 2, size = tree.size, pairs = tree.slabs - tree.kept;
    if (tree.slabs <= tree.last) {
        return;
    }
    bool even = pairs == tree.kept && tree.kept > 1 && kept * size >= worth;
    uint32_t first = even ? kept : pairs, from = first * size, other = tree.second + from;
    for (uint32_t i = 0, at = 0; i <= (uint32_t)tree.apart; i++, at = tree.dsin) {
        LocalTensor<float> all = slabs[at];
        flat<ADD>(all, all, all[tree.second], from);
        if (even) {
            flat<ADD>(all[other], all[from], all[other], (pairs - first) * size);
        }
    }
    tree.second = even ? tree.second + from : kept * size;
    tree.slabs = tree.kept;
    tree.kept = kept;
}

/* Halves that end inside blocks: units of 2 k + 1 blocks. The low part of block m is the high part
 * of block m + k, the high part is the low part of block m + k + 1, both around the end. A
 * transposition of 16 blocks makes rows of their words, the way back takes them from where they are
 * wanted. The 16 blocks are the same of units that are `rows` apart (the last ones less); a repeat
 * is the next block of each. */
constexpr uint32_t SIDE = 16; /* blocks of a transposition, and words of 16 bits in a block */

struct Units {
    LocalTensor<int16_t> in, turned, out;
    uint32_t first[SIDE], rows, blocks; /* where the units begin; blocks of one */
};

__aicore__ inline Units units_of(const LocalTensor<float> &to, const LocalTensor<float> &from,
                                 const LocalTensor<float> &spare, uint32_t n, uint32_t half) {
    Units u = {from.ReinterpretCast<int16_t>(), spare.ReinterpretCast<int16_t>(),
               to.ReinterpretCast<int16_t>(),   {},
               (n + SIDE - 1) / SIDE,           half / 4};
    for (uint32_t i = 0; i < SIDE; i++) {
        u.first[i] = least(i * u.rows, n - u.rows) * u.blocks * SIDE;
    }
    return u;
}

/* Blocks from `block` on, to place `at` of those that are turned. */
__aicore__ inline void turn_in(const Units &u, uint32_t block, uint32_t at, uint32_t repeats) {
    LocalTensor<int16_t> a[SIDE], b[SIDE];
    for (uint32_t i = 0; i < SIDE; i++) {
        a[i] = u.in[u.first[i] + block * SIDE];
        b[i] = u.turned[(at * SIDE + i) * SIDE];
    }
    TransDataTo5HD(b, a, TransDataTo5HDParams(false, false, Narrow8(repeats), SIDE, 1));
}

/* Back to blocks from `block` on, with low parts from place `low` on and high ones from `high` on;
 * `step` blocks from repeat to repeat. */
__aicore__ inline void turn_back(const Units &u, uint32_t block, uint32_t low, uint32_t high,
                                 uint32_t repeats, uint32_t step) {
    LocalTensor<int16_t> a[SIDE], b[SIDE];
    low = (low * SIDE + SIDE / 2) * SIDE;
    high *= SIDE * SIDE;
    for (uint32_t i = 0; i < SIDE / 2; i++, low += SIDE, high += SIDE) {
        a[i] = u.turned[low];
        a[i + SIDE / 2] = u.turned[high];
    }
    block *= SIDE;
    for (uint32_t i = 0; i < SIDE; i++) {
        b[i] = u.out[u.first[i] + block];
    }
    TransDataTo5HD(b, a,
                   TransDataTo5HDParams(false, false, Narrow8(repeats), Narrow16(step),
                                        Narrow16(SIDE * step)));
}

/* All of them at once, then the same block of all units, or three parts of every unit of a list,
 * whichever has fewer calls: k blocks, the one that has both ends, and k more. */
__aicore__ inline void turn_short(const Units &u) {
    uint32_t k = u.blocks / 2;
    turn_in(u, 0, 0, u.rows * u.blocks);
    vector_done();
    if (u.blocks <= 3 * u.rows) {
        for (uint32_t m = 0, low = k; m < u.blocks; m++) {
            uint32_t high = low + 1 == u.blocks ? 0 : low + 1;
            turn_back(u, m, low, high, u.rows, u.blocks);
            low = high;
        }
    } else {
        for (uint32_t at = 0; at < u.rows * u.blocks; at += u.blocks) {
            turn_back(u, at, at + k, at + k + 1, k, 1);
            turn_back(u, at + k, at + 2 * k, at, 1, 1);
            turn_back(u, at + k + 1, at, at + 1, k, 1);
            vector_done(); /* the last lists may have units of those before them, too */
        }
        return;
    }
    vector_done();
}

/* 16 units at most (rows is 1) that do not fit: the same three parts, some blocks at a time. */
__aicore__ inline void turn_long(const Units &u, uint32_t most_blocks) {
    uint32_t k = u.blocks / 2;
    for (uint32_t part = 0; part < 2; part++) {
        uint32_t from = part ? 0 : k, to = part ? k + 1 : 0;
        for (uint32_t m = 0; m < k; m += most_blocks) {
            uint32_t n = least(k - m, most_blocks);
            turn_in(u, from + m, 0, n + 1);
            vector_done();
            turn_back(u, to + m, 0, 1, n, 1);
            vector_done();
        }
    }
    turn_in(u, 2 * k, 0, 1);
    turn_in(u, 0, 1, 1);
    vector_done();
    turn_back(u, k, 0, 1, 1, 1);
    vector_done();
}

/* spare has room for `room` floats, two places of a transposition at least. */
__aicore__ inline void turn_odd(const LocalTensor<float> &to, const LocalTensor<float> &from,
                                uint32_t n, uint32_t half, const LocalTensor<float> &spare,
                                uint32_t room) {
    uint32_t unit = 2 * half, places = least(room / (SIDE * BLOCK), REPEATS);
    uint32_t lists = places / (unit / BLOCK), at_once = lists ? lists * SIDE : SIDE;
    for (uint32_t i = 0; i < n; i += at_once) {
        const Units u = units_of(to[i * unit], from[i * unit], spare, least(n - i, at_once), half);
        if (lists) {
            turn_short(u);
        } else {
            turn_long(u, places - 1);
        }
    }
}

/* Rows of 16-bit words whose words change places: a transposition of the same block of 16 rows
 * makes places of their words, one word of each; the way back takes any 16 places for a block. The
 * rows are `lists` apart (the last ones less), a list has `depth` places; repeats walk over the
 * lists, or over blocks. */
struct Words {
    LocalTensor<int16_t> rows, places;
    uint32_t first[SIDE], lists, pitch, depth;
    /* of the call at hand */
    LocalTensor<int16_t> row[SIDE], place[SIDE];
};

__aicore__ inline void take_rows(Words &w, const LocalTensor<int16_t> &rows, uint32_t n,
                                 uint32_t pitch, uint32_t depth) {
    w.rows = rows;
    w.lists = (n + SIDE - 1) / SIDE;
    w.pitch = pitch;
    w.depth = depth;
    for (uint32_t i = 0; i < SIDE; i++) {
        w.first[i] = least(i * w.lists, n - w.lists) * pitch;
    }
}

/* The block at `word` of every row, and places: from `place` on, from `next` on behind the first
 * `count` of them. */
__aicore__ inline void aim(Words &w, uint32_t word, uint32_t place, uint32_t count, uint32_t next) {
    for (uint32_t i = 0; i < SIDE; i++) {
        w.row[i] = w.rows[w.first[i] + word];
        w.place[i] = w.places[(i < count ? place + i : next + i - count) * SIDE];
    }
}

/* So many blocks from `word` on, to places from `place` on, or back. */
template <bool BACK>
__aicore__ inline void move_words(Words &w, uint32_t word, uint32_t place, uint32_t blocks) {
    bool all = !BACK && blocks * SIDE == w.pitch, along = all || blocks > w.lists;
    uint32_t calls = all ? 1 : along ? w.lists : blocks;
    uint32_t word_step = along ? w.pitch : SIDE, place_step = along ? w.depth : SIDE;
    Narrow8 repeats = Narrow8(all ? w.lists * blocks : along ? blocks : w.lists);
    Narrow16 row = Narrow16(along ? 1 : w.pitch / SIDE), next = Narrow16(along ? SIDE : w.depth);
    for (uint32_t i = 0; i < calls; i++, word += word_step, place += place_step) {
        aim(w, word, place, SIDE, 0);
        if constexpr (BACK) {
            TransDataTo5HD(w.row, w.place, TransDataTo5HDParams(false, false, repeats, row, next));
            if (along) {
                vector_done(); /* the last lists may have rows of those before them, too */
            }
        } else {
            TransDataTo5HD(w.place, w.row, TransDataTo5HDParams(false, false, repeats, next, row));
        }
    }
}

/* One block of every row, from places that may jump: see aim. */
__aicore__ inline void gather_words(Words &w, uint32_t word, uint32_t place, uint32_t count,
                                    uint32_t next) {
    aim(w, word, place, count, next);
    TransDataTo5HD(w.row, w.place,
                   TransDataTo5HDParams(false, false, Narrow8(w.lists), Narrow16(w.pitch / SIDE),
                                        Narrow16(w.depth)));
}

/* n rows of one or two parts, each `length` words and then a gap up to `pitch` words. Their words
 * without the gaps: whole blocks, and one block more that ends with the last word. spare has room
 * for `room` floats, 16 rows of two parts at least. */
__aicore__ inline void close_gaps(const LocalTensor<int16_t> &rows, uint32_t n, uint32_t parts,
                                  uint32_t length, uint32_t pitch, const LocalTensor<float> &spare,
                                  uint32_t room) {
    uint32_t all = parts * length, end = all / SIDE * SIDE, row = parts * pitch;
    uint32_t seam = length / SIDE * SIDE, second = seam + SIDE;      /* both parts have the seam */
    uint32_t from = parts == 1 ? seam - SIDE : 0, last = all - SIDE; /* one part: its end only */
    uint32_t at_once = least(2 * room / SIDE, REPEATS * SIDE) / (row - from) * SIDE;
    bool first = last < length;
    Words w;
    w.places = spare.ReinterpretCast<int16_t>();
    for (uint32_t i = 0; i < n; i += at_once) {
        take_rows(w, rows[i * row], least(n - i, at_once), row, row - from);
        move_words<false>(w, from, 0, (row - from) / SIDE);
        vector_done();
        if (seam < end) {
            gather_words(w, seam, seam, length - seam, pitch);
        }
        if (second < end) {
            move_words<true>(w, second, second - length + pitch, (end - second) / SIDE);
        }
        gather_words(w, end, (first ? last : last - length + pitch) - from,
                     first ? length - last : SIDE, pitch);
        vector_done();
    }
}

/* The words of one block, `by` of them left out and the rest in front. */
__aicore__ inline void move_down(const LocalTensor<int16_t> &block, uint32_t by,
                                 const LocalTensor<float> &spare) {
    Words w;
    w.places = spare.ReinterpretCast<int16_t>();
    take_rows(w, block, 1, SIDE, SIDE);
    move_words<false>(w, 0, 0, 1);
    vector_done();
    gather_words(w, 0, by, SIDE - by, 0);
    vector_done();
}

/* n units of two halves, the halves swapped. spare: see turn_odd. */
__aicore__ inline void turn(const LocalTensor<float> &to, const LocalTensor<float> &from,
                            uint32_t n, uint32_t half, const LocalTensor<float> &spare,
                            uint32_t room) {
    uint32_t unit = 2 * half;
    if (half % BLOCK != 0) {
        turn_odd(to, from, n, half, spare, room);
        return;
    }
    constexpr uint32_t most_units = 4095;
    Narrow16 blocks = Narrow16(half / BLOCK);
    for (uint32_t i = 0; i < n; i += most_units) {
        DataCopyParams halves(Narrow16(least(n - i, most_units)), blocks, blocks, blocks);
        DataCopy(to[i * unit], from[i * unit + half], halves);
        DataCopy(to[i * unit + half], from[i * unit], halves);
    }
}

/* The same, with a sign for the first and the second half of the result. Spoils `from`. */
__aicore__ inline void turn_signed(const LocalTensor<float> &to, const LocalTensor<float> &from,
                                   uint32_t n, uint32_t half, float first, float second,
                                   const LocalTensor<float> &spare, uint32_t room) {
    uint32_t unit = 2 * half;
    if (half % BLOCK == 0) {
        scale_rows(to, unit, from[half], unit, first, n, half);
        scale_rows(to[half], unit, from, unit, second, n, half);
        return;
    }
    scale_rows(from, unit, from, unit, second, n, half); /* only first halves begin at blocks */
    vector_done();
    turn(to, from, n, half, spare, room);
    scale_rows(to, unit, to, unit, first, n, half);
}

} // namespace rotary_910

#endif
