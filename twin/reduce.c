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

static inline float combine(float a, float b, enum twin_reduce_op op, uint32_t size) {
    float f = op == TWIN_SUM   ? a + b
              : op == TWIN_MAX ? (a > b || a != a ? a : b)
                               : (a < b || a != a ? a : b);
    return size == 2 ? twin_f16_to_f32(twin_f32_to_f16(f)) : f;
}

/* Sums value[0..n) where there[] is set, n a power of two, in place. All lanes present is the
 * common case. */
static bool tree(float *value, bool *there, uint32_t n, bool all, enum twin_reduce_op op,
                 uint32_t size, float *result) {
    for (; n > 1; n /= 2) {
        for (uint32_t i = 0; i < n / 2; i++) {
            uint32_t a = 2 * i, b = a + 1;
            if (all || (there[a] && there[b])) {
                value[i] = combine(value[a], value[b], op, size);
                if (!all) there[i] = true;
            } else {
                value[i] = there[a] ? value[a] : value[b];
                there[i] = there[a] || there[b];
            }
        }
    }
    *result = value[0];
    return all || there[0];
}

static void fold(const struct twin_reduce *v, float *value, bool *there, bool all, uint32_t group,
                 uint32_t groups, uint8_t *to) {
    for (uint32_t g = 0; g < groups; g++) {
        float result;
        if (tree(value + g * group, there + g * group, group, all, v->op, v->size, &result))
            store(to + (size_t)g * v->size, v->size, result);
        else if (twin_core->job->launch->soc->arch == 3510)
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

/* All lanes of a sum: level by level over as many repeats at once as are contiguous. */
static void sum_dense(const struct twin_reduce *v, const struct twin_plan *p, uint32_t group,
                      uint32_t results) {
    enum { AT_ONCE = 16 };
    uint8_t a[AT_ONCE * TWIN_REPEAT_BYTES / 2], b[sizeof a / 2];
    twin_prim_fn *pairs = twin_prims[v->size == 4 ? TWIN_PAIRS_F32 : TWIN_PAIRS_F16];
    union twin_scalar none = {0};
    uint32_t from_step = v->src.repeat_stride * TWIN_BLOCK_BYTES,
             to_step = v->dst.repeat_stride * results * v->size;
    uint32_t most = from_step == TWIN_REPEAT_BYTES ? AT_ONCE : 1;
    for (uint32_t r = 0; r < p->repeats; r += most) {
        uint32_t together = p->repeats - r < most ? p->repeats - r : most;
        uint8_t *now = a, *next = b;
        uint32_t n = together * p->per_repeat / 2;
        pairs(now, v->src.t.at + (size_t)r * from_step, NULL, n, none);
        for (uint32_t left = group / 2; left > 1; left /= 2) {
            n /= 2;
            pairs(next, now, NULL, n, none);
            uint8_t *t = now;
            now = next, next = t;
        }
        for (uint32_t k = 0; k < together; k++)
            memcpy(v->dst.t.at + (size_t)(r + k) * to_step, now + (size_t)k * results * v->size,
                   (size_t)results * v->size);
    }
}

void twin_run_reduce(const struct twin_reduce *v, const struct twin_plan *p) {
    uint32_t per_block = TWIN_BLOCK_BYTES / v->size;
    uint32_t group = v->kind == TWIN_WHOLE ? p->per_repeat : v->kind == TWIN_BLOCK ? per_block : 2;
    uint32_t results = p->per_repeat / group;
    if (v->op == TWIN_SUM && v->src.block_stride == 1 && p->prefix && p->lanes == p->per_repeat &&
        p->last == p->lanes) {
        sum_dense(v, p, group, results);
        return;
    }
    for (uint32_t r = 0; r < p->repeats; r++) {
        float value[128];
        bool there[128];
        const uint8_t *from = v->src.t.at + (size_t)r * v->src.repeat_stride * TWIN_BLOCK_BYTES;
        bool all = p->prefix && (r + 1 == p->repeats ? p->last : p->lanes) == p->per_repeat;
        for (uint32_t lane = 0; lane < p->per_repeat; lane++) {
            const uint8_t *at = from + lane / per_block * v->src.block_stride * TWIN_BLOCK_BYTES +
                                lane % per_block * v->size;
            there[lane] = all || twin_lane(p, r, lane);
            value[lane] = there[lane] ? load(at, v->size) : 0;
        }
        if (v->kind == TWIN_WHOLE && v->op != TWIN_SUM) {
            uint32_t step = v->order < 2 ? 2 : 1;
            extreme(v, value, there, p->per_repeat,
                    v->dst.t.at + (size_t)r * v->dst.repeat_stride * step * v->size);
        } else {
            uint8_t *to = v->dst.t.at + (size_t)r * v->dst.repeat_stride * results * v->size;
            fold(v, value, there, all, group, results, to);
        }
    }
}

void twin_reduce_fast(const struct twin_reduce *v) {
    struct twin_plan p = twin_make_plan(twin_core, &v->lanes, v->size);
    twin_run_reduce(v, &p);
    twin_after_lanes(twin_core, &v->lanes);
}
