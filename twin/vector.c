/* SPDX-License-Identifier: Apache-2.0
 *
 * Elementwise vector instructions: lanes, strides and repeats cut into contiguous pieces, each a
 * call of prims.c.
 */
#include "core.h"

#include <string.h>

/* Not __builtin_popcountll, which is a call of a function on CPUs of any age. */
static uint32_t count_ones(uint64_t bits) {
    uint32_t n = 0;
    for (; bits; bits &= bits - 1)
        n++;
    return n;
}

/* Of bits that are all together at the bottom. */
static uint32_t ones_from_bottom(uint64_t bits) {
    return bits ? 64 - (uint32_t)__builtin_clzll(bits) : 0;
}

struct twin_plan twin_make_plan(struct twin_core *core, const struct twin_lanes *lanes,
                                uint32_t widest) {
    struct twin_plan p = {.per_repeat = TWIN_REPEAT_BYTES / widest};
    bool counter = lanes->current ? core->counter : lanes->counter;
    const uint64_t *mask = lanes->current ? core->mask.bits : lanes->mask;
    p.counter = counter;
    if (counter) {
        uint64_t n = mask[0];
        p.repeats = (uint32_t)((n + p.per_repeat - 1) / p.per_repeat);
        p.last = n ? (uint32_t)((n - 1) % p.per_repeat + 1) : 0;
        p.lanes = p.per_repeat;
        p.prefix = true;
        return p;
    }
    p.repeats = (uint32_t)lanes->repeat;
    p.mask[0] = mask[0];
    p.mask[1] = mask[1];
    if (p.per_repeat <= 64) p.mask[1] = 0;
    if (p.per_repeat < 64) p.mask[0] &= (1ull << p.per_repeat) - 1;
    uint64_t first = p.mask[0], then = p.mask[1];
    p.prefix = first == ~0ull ? (then & (then + 1)) == 0 : !then && (first & (first + 1)) == 0;
    p.lanes = p.prefix && first == ~0ull ? 64 + ones_from_bottom(then)
              : p.prefix                 ? ones_from_bottom(first)
                                         : count_ones(first) + count_ones(then);
    p.last = p.lanes;
    if (!p.lanes) p.repeats = 0;
    return p;
}

void twin_keep_lanes(const struct twin_plan *p, uint32_t repeat, uint32_t size, uint8_t *keep) {
    for (uint32_t lane = 0; lane < p->per_repeat; lane++)
        memset(keep + lane * size, twin_lane(p, repeat, lane) ? 0xff : 0, size);
}

/* How the operands of an instruction lie in UB. */
struct layout {
    int operands;
    struct {
        uint32_t size, per_block, block, repeat; /* strides in bytes */
    } o[3];
    bool dense, joined; /* a repeat is contiguous; repeats follow each other */
    uint32_t unit;      /* lanes that are contiguous in every operand */
};

static inline struct layout layout_of(const struct twin_elementwise *v, uint32_t per_repeat) {
    const struct twin_prim_info *info = &twin_prim_info[v->prim];
    const struct twin_operand *operand[3] = {&v->dst, &v->src[0], &v->src[1]};
    struct layout l = {
        .operands = 1 + info->sources, .dense = true, .joined = true, .unit = per_repeat};
    for (int k = 0; k < l.operands; k++) {
        uint32_t size = k ? info->src_size : info->dst_size, per_block = TWIN_BLOCK_BYTES / size;
        l.o[k].size = size;
        l.o[k].per_block = per_block;
        l.o[k].block = operand[k]->block_stride * TWIN_BLOCK_BYTES;
        l.o[k].repeat = operand[k]->repeat_stride * TWIN_BLOCK_BYTES;
        if (operand[k]->block_stride != 1 && per_block < per_repeat) l.dense = false;
        if (l.o[k].repeat != per_repeat * size) l.joined = false;
        if (per_block < l.unit) l.unit = per_block;
    }
    if (l.dense) l.unit = per_repeat;
    return l;
}

static inline uint32_t place(const struct layout *l, int k, uint32_t repeat, uint32_t lane) {
    return repeat * l->o[k].repeat + lane / l->o[k].per_block * l->o[k].block +
           lane % l->o[k].per_block * l->o[k].size;
}

static inline void give_piece(const struct layout *l, uint32_t repeat, uint32_t lane, uint32_t n,
                              twin_piece_fn *fn, void *context) {
    struct twin_run_piece piece = {.repeat = repeat, .n = n, .dst = place(l, 0, repeat, lane)};
    if (l->operands > 1) piece.src[0] = place(l, 1, repeat, lane);
    if (l->operands > 2) piece.src[1] = place(l, 2, repeat, lane);
    fn(context, &piece);
}

static inline bool one_piece(const struct layout *l, const struct twin_plan *p) {
    return l->dense && p->prefix && (p->repeats == 1 || (l->joined && p->lanes == p->per_repeat));
}

static inline uint32_t all_lanes(const struct twin_plan *p) {
    return (p->repeats - 1) * p->per_repeat + p->last;
}

/* A repeat whose mask has holes: runs of lanes, cut where an operand goes on to its next block. */
static void give_runs(const struct layout *l, const struct twin_plan *p, uint32_t repeat,
                      twin_piece_fn *fn, void *context) {
    for (uint32_t lane = 0; lane < p->per_repeat;) {
        if (!twin_lane(p, repeat, lane)) {
            lane++;
            continue;
        }
        uint32_t end = lane + 1, stop = (lane / l->unit + 1) * l->unit;
        while (end < stop && end < p->per_repeat && twin_lane(p, repeat, end))
            end++;
        give_piece(l, repeat, lane, end - lane, fn, context);
        lane = end;
    }
}

void twin_each_piece(const struct twin_elementwise *v, const struct twin_plan *p, twin_piece_fn *fn,
                     void *context) {
    if (!p->repeats) return;
    struct layout l = layout_of(v, p->per_repeat);
    if (one_piece(&l, p)) {
        give_piece(&l, 0, 0, all_lanes(p), fn, context);
        return;
    }
    for (uint32_t r = 0; r < p->repeats; r++) {
        if (!p->prefix) {
            give_runs(&l, p, r, fn, context);
            continue;
        }
        uint32_t lanes = r + 1 == p->repeats ? p->last : p->lanes;
        for (uint32_t lane = 0; lane < lanes; lane += l.unit)
            give_piece(&l, r, lane, lanes - lane < l.unit ? lanes - lane : l.unit, fn, context);
    }
}

struct execution {
    const struct twin_prim *prim;
    uint8_t *dst, *src[2];
    union twin_scalar scalar;
};

static void execute(void *context, const struct twin_run_piece *piece) {
    struct execution *e = context;
    e->prim->flat(e->dst + piece->dst, e->src[0] + piece->src[0], e->src[1] + piece->src[1],
                  piece->n, e->scalar);
}

struct fill {
    struct execution *e;
    struct twin_prim_rows rows;
};

static void fill(void *context, const struct twin_run_piece *piece) {
    struct fill *f = context;
    uint8_t *dst = f->e->dst + piece->dst;
    f->e->prim->rows(dst, dst, dst, piece->n, f->e->scalar, &f->rows);
}

/* Repeats whose blocks do not follow each other: a row per block. */
static void run_blocks(const struct layout *l, const struct twin_plan *p, struct execution *e) {
    struct twin_prim_rows rows = {0, l->o[0].block, l->o[1].block, l->o[2].block};
    for (uint32_t r = 0; r < p->repeats; r++) {
        uint32_t lanes = r + 1 == p->repeats ? p->last : p->lanes, rest = lanes % l->unit;
        rows.count = lanes / l->unit;
        e->prim->rows(e->dst, e->src[0], e->src[1], l->unit, e->scalar, &rows);
        if (rest)
            e->prim->flat(e->dst + rows.count * rows.dst, e->src[0] + rows.count * rows.a,
                          e->src[1] + rows.count * rows.b, rest, e->scalar);
        e->dst += l->o[0].repeat;
        e->src[0] += l->o[1].repeat;
        e->src[1] += l->o[2].repeat;
    }
}

/* A mask with holes: all lanes on the side, then those of the mask into their places. Repeats that
 * follow each other go together: none reads what another writes. */
static void run_masked(const struct layout *l, const struct twin_plan *p, struct execution *e) {
    enum { TOGETHER = 16, WORDS = TWIN_REPEAT_BYTES / 8 };
    _Alignas(64) uint64_t side[TOGETHER * WORDS], keep[WORDS];
    uint32_t size = l->o[0].size, bytes = p->per_repeat * size, words = bytes / 8;
    twin_keep_lanes(p, 0, size, (uint8_t *)keep);
    for (uint32_t r = 0, n; r < p->repeats; r += n) {
        n = !l->joined ? 1 : p->repeats - r < TOGETHER ? p->repeats - r : TOGETHER;
        memcpy(side, e->dst, n * bytes);
        e->prim->flat(side, e->src[0], e->src[1], n * p->per_repeat, e->scalar);
        for (uint32_t k = 0; k < n; k++) {
            uint64_t *to = (uint64_t *)(void *)(e->dst + (size_t)k * bytes);
            for (uint32_t i = 0; i < words; i++)
                to[i] = (side[k * words + i] & keep[i]) | (to[i] & ~keep[i]);
        }
        e->dst += n * l->o[0].repeat;
        e->src[0] += n * l->o[1].repeat;
        e->src[1] += n * l->o[2].repeat;
    }
}

/* One block of the second source for a whole repeat, all else without gaps: there is arithmetic
 * for that. */
static void spread_block(enum twin_prim_id prim, const struct twin_plan *p, struct layout *l,
                         struct execution *e) {
    enum twin_prim_id spread = prim == TWIN_ADD_F32   ? TWIN_ADD_F32_SPREAD
                               : prim == TWIN_SUB_F32 ? TWIN_SUB_F32_SPREAD
                               : prim == TWIN_MUL_F32 ? TWIN_MUL_F32_SPREAD
                                                      : TWIN_PRIM_COUNT;
    if (spread == TWIN_PRIM_COUNT || l->o[0].block != TWIN_BLOCK_BYTES ||
        l->o[1].block != TWIN_BLOCK_BYTES || l->o[2].block != 0 || p->lanes % 8 || p->last % 8)
        return;
    e->prim = &twin_prims[spread];
    l->dense = true;
    l->joined = false;
}

/* The most common kind: the first lanes of every repeat, no gaps between blocks. */
static bool is_dense(const struct twin_elementwise *v, const struct twin_plan *p, int sources) {
    return p->prefix && v->dst.block_stride == 1 && (sources < 1 || v->src[0].block_stride == 1) &&
           (sources < 2 || v->src[1].block_stride == 1);
}

static void run_dense(const struct twin_plan *p, const struct twin_prim_rows *step, bool joined,
                      const struct execution *e) {
    if (p->repeats == 1 || (joined && p->lanes == p->per_repeat)) {
        e->prim->flat(e->dst, e->src[0], e->src[1], all_lanes(p), e->scalar);
        return;
    }
    uint32_t whole = p->repeats - (p->last != p->lanes);
    struct twin_prim_rows rows = {whole, step->dst, step->a, step->b};
    e->prim->rows(e->dst, e->src[0], e->src[1], p->lanes, e->scalar, &rows);
    if (whole < p->repeats)
        e->prim->flat(e->dst + (size_t)whole * rows.dst, e->src[0] + (size_t)whole * rows.a,
                      e->src[1] + (size_t)whole * rows.b, p->last, e->scalar);
}

/* Gaps between blocks, or a mask with holes. */
static void run_scattered(const struct twin_elementwise *v, const struct twin_plan *p,
                          struct execution *e) {
    const struct twin_prim_info *info = &twin_prim_info[v->prim];
    struct layout l = layout_of(v, p->per_repeat);
    if (!l.dense && p->prefix) spread_block(v->prim, p, &l, e);
    if (l.dense && p->prefix) {
        struct twin_prim_rows step = {0, l.o[0].repeat, l.o[1].repeat, l.o[2].repeat};
        run_dense(p, &step, l.joined, e);
    } else if (p->prefix && info->dst_size == info->src_size) { /* blocks of as many elements */
        run_blocks(&l, p, e);
    } else if (info->sources == 0 && !p->counter) { /* every repeat the same, in any order */
        struct fill f = {e, {p->repeats, l.o[0].repeat, 0, 0}};
        give_runs(&l, p, 0, fill, &f);
    } else if (l.dense && !p->counter) {
        run_masked(&l, p, e);
    } else {
        twin_each_piece(v, p, execute, e);
    }
}

void twin_run_elementwise(const struct twin_elementwise *v, const struct twin_plan *p) {
    struct execution e = {
        &twin_prims[v->prim], v->dst.t.at, {v->src[0].t.at, v->src[1].t.at}, v->scalar};
    const struct twin_prim_info *info = &twin_prim_info[v->prim];
    int sources = info->sources;
    if (sources == 0) e.src[0] = e.dst;
    if (sources < 2) e.src[1] = e.src[0];
    if (!p->repeats) return;
    if (!is_dense(v, p, sources)) {
        run_scattered(v, p, &e);
        return;
    }
    struct twin_prim_rows step = {0, v->dst.repeat_stride * TWIN_BLOCK_BYTES,
                                  v->src[0].repeat_stride * TWIN_BLOCK_BYTES,
                                  v->src[1].repeat_stride * TWIN_BLOCK_BYTES};
    bool joined = step.dst == p->per_repeat * info->dst_size &&
                  (sources < 1 || step.a == p->per_repeat * info->src_size) &&
                  (sources < 2 || step.b == p->per_repeat * info->src_size);
    run_dense(p, &step, joined, &e);
}

void twin_elementwise_fast(const struct twin_elementwise *v) {
    const struct twin_prim_info *info = &twin_prim_info[v->prim];
    uint32_t widest = info->dst_size > info->src_size ? info->dst_size : info->src_size;
    struct twin_plan p = twin_make_plan(twin_core, &v->lanes, widest);
    twin_look_ahead(twin_core, (uint64_t)p.repeats * p.lanes);
    twin_run_elementwise(v, &p);
    twin_after_lanes(twin_core, &v->lanes, p.per_repeat, false, NULL);
}

void twin_count_fast(enum twin_prim_id prim, void *dst, const void *a, const void *b, int64_t n,
                     union twin_scalar s) {
    if (n > 0) {
        twin_look_ahead(twin_core, (uint64_t)n);
        twin_prims[prim].flat(dst, a, b, (uint32_t)n, s);
    }
    const struct twin_prim_info *info = &twin_prim_info[prim];
    uint32_t widest = info->dst_size > info->src_size ? info->dst_size : info->src_size;
    twin_after_count(twin_core, n > 0 ? (uint64_t)n : 0, TWIN_REPEAT_BYTES / widest, false, NULL);
}
