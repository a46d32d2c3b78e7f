/* SPDX-License-Identifier: Apache-2.0
 *
 * WholeReduce*, BlockReduce* and PairReduceSum. The order is the chip's: a binary tree of adjacent
 * pairs within the repeat, the block or the pair. A masked lane takes no part; fp16 sums round at
 * every level.
 */
#include "core.h"
#include "half.h"

static inline float load(const uint8_t *at, uint32_t size) {
    if (size == 4) {
        float f;
        memcpy(&f, at, 4);
        return f;
    }
    uint16_t h;
    memcpy(&h, at, 2);
    return twin_f16_to_f32(h);
}

static inline void store(uint8_t *at, uint32_t size, float f) {
    if (size == 4) {
        memcpy(at, &f, 4);
    } else {
        uint16_t h = twin_f32_to_f16(f);
        memcpy(at, &h, 2);
    }
}

/* The greatest or least of value[0..n) where there[] is set, n a power of two, in place. */
static bool tree(float *value, bool *there, uint32_t n, enum twin_reduce_op op, float *result) {
    for (; n > 1; n /= 2) {
        for (uint32_t i = 0; i < n / 2; i++) {
            float a = value[2 * i], b = value[2 * i + 1];
            bool first = op == TWIN_MAX ? a > b || a != a : a < b || a != a;
            value[i] = there[2 * i] && (first || !there[2 * i + 1]) ? a : b;
            there[i] = there[2 * i] || there[2 * i + 1];
        }
    }
    *result = value[0];
    return there[0];
}

/* What a group without lanes leaves is up to the chip: nothing, or 0. */
static bool clears(void) {
    return twin_core->job->launch->soc->arch == ASCGRAD_ARCH_950;
}

static void fold(const struct twin_reduce *v, float *value, bool *there, uint32_t group,
                 uint32_t groups, uint8_t *to) {
    for (uint32_t g = 0; g < groups; g++) {
        float result;
        if (tree(value + g * group, there + g * group, group, v->op, &result))
            store(to + (size_t)g * v->size, v->size, result);
        else if (clears())
            store(to + (size_t)g * v->size, v->size, 0);
    }
}

/* The whole max and min also give the index of the winner: bits of an integer in the next element.
 */
static void extreme(const struct twin_reduce *v, const float *value, const bool *there, uint32_t n,
                    uint8_t *to) {
    uint32_t best = n;
    for (uint32_t i = 0; i < n; i++)
        if (there[i] &&
            (best == n || (v->op == TWIN_MAX ? value[i] > value[best] : value[i] < value[best])))
            best = i;
    if (best == n) return;
    bool value_first = v->order == 0 || v->order == 2, only_value = v->order == 2,
         only_index = v->order == 3;
    uint8_t *at_value = value_first ? to : to + v->size,
            *at_index = value_first ? to + v->size : to;
    if (only_index) at_index = to;
    if (!only_index) store(at_value, v->size, value[best]);
    if (!only_value) memcpy(at_index, &best, v->size); /* little-endian: the low bytes */
}

/* Which lanes of a repeat take part: all bits of their elements. Which sums are given: a bit
 * each. */
struct part {
    uint8_t keep[TWIN_REPEAT_BYTES];
    uint64_t given;
};

static void find_part(const struct twin_plan *p, uint32_t repeat, uint32_t size, uint32_t group,
                      struct part *part) {
    twin_keep_lanes(p, repeat, size, part->keep);
    part->given = 0;
    for (uint32_t lane = 0; lane < p->per_repeat; lane++)
        part->given |= (uint64_t)twin_lane(p, repeat, lane) << lane / group;
}

/* A repeat side by side. A lane that takes no part becomes -0, which changes no sum. */
static void collect(const struct twin_reduce *v, const uint8_t *from, const uint8_t *keep,
                    bool plain, uint8_t *to) {
    if (plain) {
        memcpy(to, from, TWIN_REPEAT_BYTES);
        return;
    }
    uint64_t minus = v->size == 4 ? 0x8000000080000000 : 0x8000800080008000;
    for (uint32_t b = 0; b < TWIN_REPEAT_BYTES; b += TWIN_BLOCK_BYTES) {
        for (uint32_t i = b; i < b + TWIN_BLOCK_BYTES; i += 8) {
            uint64_t x, k;
            memcpy(&x, from + (size_t)b * v->src.block_stride + (i - b), 8);
            memcpy(&k, keep + i, 8);
            x = (x & k) | (minus & ~k);
            memcpy(to + i, &x, 8);
        }
    }
}

static void give(const uint8_t *from, uint64_t given, uint32_t results, uint32_t size,
                 uint8_t *to) {
    uint32_t bytes = results * size;
    if (given == ~0ull >> (64 - results)) {
        if (bytes == TWIN_BLOCK_BYTES)
            memcpy(to, from, TWIN_BLOCK_BYTES); /* of a known length, that is without a call */
        else
            memcpy(to, from, bytes);
        return;
    }
    for (uint32_t g = 0; g < results; g++, from += size, to += size)
        if (given >> g & 1)
            memcpy(to, from, size);
        else if (clears())
            store(to, size, 0);
}

/* Sums of `group` neighbours of n numbers, level by level, of fp32 three levels in one go. a and b
 * are room to work in; from may be b. Returns where the sums are. */
static const uint8_t *add_up(const uint8_t *from, uint32_t n, uint32_t group, uint32_t size,
                             uint8_t *a, uint8_t *b) {
    union twin_scalar none = {0};
    while (group > 1) {
        bool eight = size == 4 && group >= 8;
        enum twin_prim_id prim = eight       ? TWIN_EIGHTS_F32
                                 : size == 4 ? TWIN_PAIRS_F32
                                             : TWIN_PAIRS_F16;
        uint8_t *to = from == a ? b : a;
        group /= eight ? 8 : 2;
        n /= eight ? 8 : 2;
        twin_prims[prim].flat(to, from, NULL, n, none);
        from = to;
    }
    return from;
}

/* The first blocks of every repeat, all lanes of them, of fp32. */
static bool sums_blocks(const struct twin_reduce *v, const struct twin_plan *p, uint32_t group) {
    return v->size == 4 && group == 8 && p->prefix && p->lanes % 8 == 0 && p->last == p->lanes &&
           v->src.block_stride == 1 && (p->lanes == p->per_repeat || !clears());
}

/* Some repeats at once. */
static void sum(const struct twin_reduce *v, const struct twin_plan *p, uint32_t group,
                uint32_t results) {
    enum { AT_ONCE = 16 };
    _Alignas(64) uint8_t a[AT_ONCE * TWIN_REPEAT_BYTES], b[sizeof a];
    struct part part;
    size_t from_step = (size_t)v->src.repeat_stride * TWIN_BLOCK_BYTES;
    size_t to_step = (size_t)v->dst.repeat_stride * results * v->size;
    bool all = p->prefix && p->lanes == p->per_repeat && p->last == p->lanes;
    if (sums_blocks(v, p, group)) {
        struct twin_prim_rows rows = {p->repeats, (uint32_t)to_step, (uint32_t)from_step, 0};
        const uint8_t *from = v->src.t.at;
        twin_prims[TWIN_EIGHTS_F32].rows(v->dst.t.at, from, from, p->lanes / group,
                                         (union twin_scalar){0}, &rows);
        return;
    }
    part.given = ~0ull >> (64 - results);
    bool plain = all && v->src.block_stride == 1; /* a repeat lies there as it is summed */
    bool direct = plain && from_step == TWIN_REPEAT_BYTES;
    if (!plain && p->repeats) find_part(p, 0, v->size, group, &part);
    for (uint32_t r = 0; r < p->repeats; r += AT_ONCE) {
        uint32_t together = p->repeats - r < AT_ONCE ? p->repeats - r : AT_ONCE;
        uint64_t given[AT_ONCE];
        for (uint32_t k = 0; k < together; k++) {
            bool short_last = r + k + 1 == p->repeats && p->last != p->lanes;
            if (short_last) find_part(p, r + k, v->size, group, &part);
            if (!direct)
                collect(v, v->src.t.at + (r + k) * from_step, part.keep, plain,
                        b + k * TWIN_REPEAT_BYTES);
            given[k] = part.given;
        }
        const uint8_t *sums = add_up(direct ? v->src.t.at + r * from_step : b,
                                     together * p->per_repeat, group, v->size, a, b);
        for (uint32_t k = 0; k < together; k++)
            give(sums + (size_t)k * results * v->size, given[k], results, v->size,
                 v->dst.t.at + (r + k) * to_step);
    }
}

void twin_run_reduce(const struct twin_reduce *v, const struct twin_plan *p) {
    uint32_t per_block = TWIN_BLOCK_BYTES / v->size;
    uint32_t group = v->kind == TWIN_WHOLE ? p->per_repeat : v->kind == TWIN_BLOCK ? per_block : 2;
    uint32_t results = p->per_repeat / group;
    if (v->op == TWIN_SUM) {
        sum(v, p, group, results);
        return;
    }
    for (uint32_t r = 0; r < p->repeats; r++) {
        float value[128];
        bool there[128];
        const uint8_t *from = v->src.t.at + (size_t)r * v->src.repeat_stride * TWIN_BLOCK_BYTES;
        for (uint32_t lane = 0; lane < p->per_repeat; lane++) {
            const uint8_t *at = from + lane / per_block * v->src.block_stride * TWIN_BLOCK_BYTES +
                                lane % per_block * v->size;
            there[lane] = twin_lane(p, r, lane);
            value[lane] = there[lane] ? load(at, v->size) : 0;
        }
        if (v->kind == TWIN_WHOLE) {
            uint32_t step = v->order < 2 ? 2 : 1;
            extreme(v, value, there, p->per_repeat,
                    v->dst.t.at + (size_t)r * v->dst.repeat_stride * step * v->size);
        } else {
            uint8_t *to = v->dst.t.at + (size_t)r * v->dst.repeat_stride * results * v->size;
            fold(v, value, there, group, results, to);
        }
    }
}

void twin_reduce_fast(const struct twin_reduce *v) {
    struct twin_plan p = twin_make_plan(twin_core, &v->lanes, v->size);
    twin_run_reduce(v, &p);
    twin_after_lanes(twin_core, &v->lanes, p.per_repeat, false, NULL);
}
