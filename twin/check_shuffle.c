/* SPDX-License-Identifier: Apache-2.0
 *
 * The checked half of the lane-crossing vector calls. Indices, masks and compared values must be
 * defined data.
 */
#include "check.h"

#include <string.h>

enum { SELECT_RESERVES = 8192, A2_TAIL = 256, GATHER_NEAR = 131072 };

static void need(const struct twin_issue *i, const struct twin_local *t, uint64_t at,
                 uint64_t bytes, bool defined, const char *what) {
    uint32_t base = twin_ub_at(i->core, t);
    if (at + bytes > t->bytes)
        twin_violation(i->site, "%s needs %llu bytes from UB %u, its tensor has %u", what,
                       (unsigned long long)(at + bytes), base, t->bytes);
    twin_check_read(i, base + (uint32_t)at, (uint32_t)bytes, what);
    struct twin_reason why;
    if (defined && !twin_ub_defined(i->core, base + (uint32_t)at, (uint32_t)bytes))
        twin_violation(i->site, "%s uses undefined bytes near UB %u (%s)", what,
                       base + (uint32_t)at, twin_undefined_by(i->core, &why));
}

static void give(const struct twin_issue *i, const struct twin_local *t, uint64_t at,
                 uint64_t bytes, bool defined) {
    uint32_t base = twin_ub_at(i->core, t);
    if (at + bytes > t->bytes)
        twin_violation(i->site, "dst needs %llu bytes from UB %u, its tensor has %u",
                       (unsigned long long)(at + bytes), base, t->bytes);
    twin_check_write(i, base + (uint32_t)at, (uint32_t)bytes, "dst");
    twin_ub_define(i->core, base + (uint32_t)at, (uint32_t)bytes, defined);
}

static bool defined_at(const struct twin_issue *i, const struct twin_local *t, uint64_t at,
                       uint32_t bytes) {
    return twin_ub_defined(i->core, twin_ub_at(i->core, t) + (uint32_t)at, bytes);
}

static uint64_t lane_offset(const struct twin_operand *o, uint32_t size, uint32_t repeat,
                            uint32_t lane) {
    uint32_t per_block = TWIN_BLOCK_BYTES / size;
    return ((uint64_t)repeat * o->repeat_stride + lane / per_block * o->block_stride) *
               TWIN_BLOCK_BYTES +
           lane % per_block * size;
}

static void check_gather(const struct twin_issue *i, const struct twin_shuffle *v,
                         const struct twin_plan *p) {
    if (p->counter && twin_splits_count(i->core, true) &&
        v->lanes.mask[0] / p->per_repeat > TWIN_REPEATS)
        twin_violation(i->site,
                       "%llu elements are %llu repeats, which the library counts in 8 bits",
                       (unsigned long long)v->lanes.mask[0],
                       (unsigned long long)v->lanes.mask[0] / p->per_repeat);
    for (uint32_t r = 0; r < p->repeats; r++)
        for (uint32_t lane = 0; lane < p->per_repeat; lane++) {
            if (!twin_lane(p, r, lane)) continue;
            uint64_t index = ((uint64_t)r * p->per_repeat + lane) * 4;
            need(i, &v->src[1].t, index, 4, true, "the offset tensor");
            uint32_t offset;
            memcpy(&offset, v->src[1].t.at + index, 4);
            uint64_t from = (uint64_t)v->base + offset;
            if (offset >= GATHER_NEAR && v->size == 2 &&
                i->core->job->launch->soc->arch == ASCGRAD_ARCH_950)
                twin_violation(
                    i->site, "offset %u: the 950 counts the elements up to it in 16 bits", offset);
            if (from % v->size)
                twin_violation(i->site, "offset %u is not aligned to the element size", offset);
            if (from + v->size > v->src[0].t.bytes)
                twin_violation(i->site, "offset %llu lies outside the source tensor of %u bytes",
                               (unsigned long long)from, v->src[0].t.bytes);
            need(i, &v->src[0].t, from, v->size, false, "src");
        }
    for (uint32_t r = 0; r < p->repeats; r++)
        for (uint32_t lane = 0; lane < p->per_repeat; lane++) {
            if (!twin_lane(p, r, lane)) continue;
            uint32_t offset;
            memcpy(&offset, v->src[1].t.at + ((size_t)r * p->per_repeat + lane) * 4, 4);
            bool good = defined_at(i, &v->src[0].t, (uint64_t)v->base + offset, v->size);
            give(i, &v->dst.t,
                 (uint64_t)r * v->dst.repeat_stride * TWIN_BLOCK_BYTES + lane * v->size, v->size,
                 good);
        }
}

static void check_gather_blocks(const struct twin_issue *i, const struct twin_shuffle *v) {
    for (uint32_t n = 0; n < 8 * v->lanes.repeat; n++) {
        need(i, &v->src[1].t, (uint64_t)n * 4, 4, true, "the offset tensor");
        uint32_t offset;
        memcpy(&offset, v->src[1].t.at + (size_t)n * 4, 4);
        if (offset % TWIN_BLOCK_BYTES)
            twin_violation(i->site, "block offset %u is not 32-byte aligned", offset);
        need(i, &v->src[0].t, offset, TWIN_BLOCK_BYTES, false, "src");
        bool good = defined_at(i, &v->src[0].t, offset, TWIN_BLOCK_BYTES);
        give(i, &v->dst.t,
             ((uint64_t)(n / 8) * v->dst.repeat_stride + n % 8 * v->dst.block_stride) *
                 TWIN_BLOCK_BYTES,
             TWIN_BLOCK_BYTES, good);
    }
}

static void check_gather_mask(const struct twin_issue *i, const struct twin_shuffle *v) {
    uint32_t per_repeat = v->reduce_mode ? (uint32_t)v->lanes.mask[0] : TWIN_REPEAT_BYTES / v->size;
    if (v->pattern > 7) twin_violation(i->site, "pattern %u, patterns are 1..7", v->pattern);
    uint64_t written = 0;
    for (uint32_t r = 0; r < v->lanes.repeat; r++) {
        uint64_t bits = (uint64_t)r * v->src[1].repeat_stride * TWIN_BLOCK_BYTES;
        if (!v->pattern) need(i, &v->src[1].t, bits, (per_repeat + 7) / 8, true, "the mask tensor");
        for (uint32_t e = 0; e < per_repeat; e++) {
            uint64_t at = lane_offset(&v->src[0], v->size, r, e);
            if (at % TWIN_BLOCK_BYTES == 0 || e == 0)
                need(i, &v->src[0].t, at, v->size, false, "src");
            bool keep = v->pattern == 0   ? v->src[1].t.at[bits + e / 8] >> e % 8 & 1
                        : v->pattern == 1 ? e % 2 == 0
                        : v->pattern == 2 ? e % 2 == 1
                        : v->pattern == 7 ? true
                                          : e % 4 == (uint32_t)v->pattern - 3;
            if (!keep) continue;
            give(i, &v->dst.t, written, v->size, defined_at(i, &v->src[0].t, at, v->size));
            written += v->size;
        }
    }
}

static void check_brcb(const struct twin_issue *i, const struct twin_shuffle *v) {
    for (uint32_t n = 0; n < 8 * v->lanes.repeat; n++) {
        need(i, &v->src[0].t, (uint64_t)n * v->size, v->size, false, "src");
        bool good = defined_at(i, &v->src[0].t, (uint64_t)n * v->size, v->size);
        give(i, &v->dst.t,
             ((uint64_t)(n / 8) * v->dst.repeat_stride + n % 8 * v->dst.block_stride) *
                 TWIN_BLOCK_BYTES,
             TWIN_BLOCK_BYTES, good);
    }
}

static void check_transpose(const struct twin_issue *i, const struct twin_shuffle *v) {
    need(i, &v->src[0].t, 0, 512, true, "src");
    give(i, &v->dst.t, 0, 512, true);
}

static void check_to_5hd(const struct twin_issue *i, const struct twin_shuffle *v) {
    for (int side = 0; side < 2; side++)
        for (uint32_t r = 0; r < v->lanes.repeat; r++)
            for (uint32_t k = 0; k < 16; k++) {
                const struct twin_local *t = side ? &v->dst_list[k] : &v->src_list[k];
                const struct twin_operand *o = side ? &v->dst : &v->src[0];
                if (r == 0) twin_check_tensor(i, t, TWIN_BLOCK_BYTES, side ? "dst" : "src");
                uint64_t at = (uint64_t)r * o->repeat_stride * TWIN_BLOCK_BYTES;
                if (side)
                    give(i, t, at, TWIN_BLOCK_BYTES, true);
                else
                    need(i, t, at, TWIN_BLOCK_BYTES, false, "src");
            }
}

static void check_compare(const struct twin_issue *i, const struct twin_shuffle *v,
                          const struct twin_plan *p) {
    if (p->counter && p->repeats && p->last != p->per_repeat)
        twin_violation(i->site, "the count must fill whole repeats of 256 bytes (%u elements)",
                       p->per_repeat);
    for (uint32_t r = 0; r < p->repeats; r++) {
        for (uint32_t lane = 0; lane < p->per_repeat; lane++) {
            need(i, &v->src[0].t, lane_offset(&v->src[0], v->size, r, lane), v->size,
                 twin_lane(p, r, lane), "src0");
            if (!v->scalar_src1)
                need(i, &v->src[1].t, lane_offset(&v->src[1], v->size, r, lane), v->size,
                     twin_lane(p, r, lane), "src1");
        }
        give(i, &v->dst.t, (uint64_t)r * p->per_repeat / 8, p->per_repeat / 8, true);
    }
}

static void check_select(const struct twin_issue *i, const struct twin_shuffle *v,
                         const struct twin_plan *p) {
    const struct twin_core *c = i->core;
    uint32_t free = c->job->launch->soc->arch == ASCGRAD_ARCH_A2
                        ? c->job->launch->soc->ub + A2_TAIL - SELECT_RESERVES
                        : UINT32_MAX;
    if (c->top > free)
        twin_violation(i->site,
                       "Select works in the last 8 KB of UB, but buffers reach to %u of %u", c->top,
                       free);
    for (uint32_t r = 0; r < p->repeats; r++) {
        uint64_t bits = v->mode == 0 ? 0 : (uint64_t)r * p->per_repeat / 8;
        need(i, &v->src[2].t, bits, p->per_repeat / 8, true, "the mask tensor");
        for (uint32_t lane = 0; lane < p->per_repeat; lane++) {
            if (!twin_lane(p, r, lane)) continue;
            uint64_t at[2] = {lane_offset(&v->src[0], v->size, r, lane),
                              lane_offset(&v->src[1], v->size, r, lane)};
            need(i, &v->src[0].t, at[0], v->size, false, "src0");
            if (!v->scalar_src1) need(i, &v->src[1].t, at[1], v->size, false, "src1");
            bool first = v->src[2].t.at[bits + lane / 8] >> lane % 8 & 1;
            bool good = first || !v->scalar_src1
                            ? defined_at(i, &v->src[!first].t, at[!first], v->size)
                            : true;
            give(i, &v->dst.t, lane_offset(&v->dst, v->size, r, lane), v->size, good);
        }
    }
}

/* Start and slope per repeat; sources as in cycle_constants.h. */
static void cost(struct twin_core *c, const struct twin_shuffle *v, const struct twin_plan *p,
                 const struct twin_site *site) {
    double repeats = v->kind == TWIN_GATHER || v->kind == TWIN_COMPARE || v->kind == TWIN_SELECT
                         ? p->repeats
                         : (double)v->lanes.repeat;
    double start = 1, slope = 1;
    switch (v->kind) {
    case TWIN_GATHER:
        start = v->size == 4 ? 5 : 7, slope = v->size == 4 ? 12 : 24;
        break;
    case TWIN_GATHERB:
        start = 5, slope = 2;
        break;
    case TWIN_GATHER_MASK:
        start = 1, slope = 14;
        if (v->reduce_mode) repeats *= ((double)v->lanes.mask[0] * v->size + 255) / 256;
        break;
    case TWIN_TRANSPOSE:
        start = 9, slope = 2, repeats = 1;
        break;
    case TWIN_TO_5HD:
        start = 9, slope = 24;
        break;
    case TWIN_COMPARE:
        start = 6, slope = 1;
        break;
    case TWIN_SELECT:
        start = 5, slope = 2;
        break;
    case TWIN_BRCB:
        break;
    }
    twin_cost_vector(c, site,
                     v->kind == TWIN_GATHER || v->kind == TWIN_COMPARE || v->kind == TWIN_SELECT
                         ? &v->lanes
                         : NULL,
                     v->kind == TWIN_GATHER ? twin_split(c, &v->lanes, p->per_repeat, true) : 0,
                     start, slope * repeats);
}

/* All that a call may break, and the call itself. */
static void check_and_run(const struct twin_issue *i, struct twin_shuffle *v,
                          const struct twin_plan *p) {
    if (v->kind != TWIN_TO_5HD) {
        twin_check_tensor(i, &v->dst.t, TWIN_BLOCK_BYTES, "dst");
        twin_check_tensor(i, &v->src[0].t, TWIN_BLOCK_BYTES, "src");
        if (v->kind == TWIN_GATHER || v->kind == TWIN_GATHERB ||
            (v->kind == TWIN_GATHER_MASK && !v->pattern))
            twin_check_tensor(i, &v->src[1].t, TWIN_BLOCK_BYTES, "src1");
    }
    switch (v->kind) {
    case TWIN_GATHER:
        check_gather(i, v, p);
        break;
    case TWIN_GATHERB:
        check_gather_blocks(i, v);
        break;
    case TWIN_GATHER_MASK:
        check_gather_mask(i, v);
        break;
    case TWIN_BRCB:
        check_brcb(i, v);
        break;
    case TWIN_TRANSPOSE:
        check_transpose(i, v);
        break;
    case TWIN_TO_5HD:
        check_to_5hd(i, v);
        break;
    case TWIN_COMPARE:
        check_compare(i, v, p);
        break;
    case TWIN_SELECT:
        check_select(i, v, p);
        break;
    }
    twin_run_shuffle(v, p);
}

void twin_shuffle_checked(struct twin_shuffle *v, const struct twin_site *site) {
    struct twin_core *c = twin_core;
    if (v->bad_field) twin_fail_field("a count, repeat, mask or stride", v->bad_value, site);
    twin_check_910_shuffle(v, site);
    struct twin_issue issue = twin_issue(TWIN_V, site);
    if (v->kind == TWIN_GATHER || v->kind == TWIN_SELECT)
        twin_check_lanes(&issue, &v->lanes, TWIN_REPEAT_BYTES / v->size, v->kind == TWIN_GATHER);
    else if (v->kind != TWIN_GATHER_MASK)
        twin_check_no_counter(&issue);
    struct twin_plan p = twin_make_plan(c, &v->lanes, twin_shuffle_width(v));
    twin_check_any(&issue, v->lanes.counter ? p.repeats : (uint64_t)v->lanes.repeat);
    if (v->kind == TWIN_GATHER_MASK) twin_need_values(site); /* it tells how many it has kept */
    if (twin_computes(c)) check_and_run(&issue, v, &p);
    c->vector_calls++;
    cost(c, v, &p, site);
    struct twin_lanes lanes = v->lanes;
    if (v->kind == TWIN_GATHER_MASK) lanes.counter = v->reduce_mode;
    struct twin_effect effect;
    twin_expand(c, &lanes, p.per_repeat, v->kind == TWIN_GATHER, &effect);
    twin_after_shuffle(c, v, site);
    twin_tell(c, site, &effect);
}
