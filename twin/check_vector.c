/* SPDX-License-Identifier: Apache-2.0
 *
 * The checked half of the elementwise and reducing vector calls: rules first, then the same
 * execution as the fast half. Undefined bytes (never written, or filler of DataCopyPad) may pass
 * through lane by lane, because whole-repeat arithmetic on unused lanes is normal; they must not
 * reach a reduction, an index, a mask, a scalar or GM.
 */
#include "check.h"

static const char *const source_name[2] = {"src0", "src1"};

struct walk {
    const struct twin_elementwise *v;
    const struct twin_issue *issue;
    uint32_t dst, src[2]; /* UB addresses */
    uint32_t dst_size, src_size;
    int sources;
    bool reads_dst;
};

static void check_bounds(const struct walk *w, const struct twin_local *t, uint32_t end,
                         const char *what) {
    if (end > t->bytes)
        twin_violation(w->issue->site, "%s needs %u bytes from UB %u, its tensor has %u", what, end,
                       twin_ub_at(w->issue->core, t), t->bytes);
}

static void read_piece(void *context, const struct twin_run_piece *p) {
    struct walk *w = context;
    for (int k = 0; k < w->sources; k++) {
        check_bounds(w, &w->v->src[k].t, p->src[k] + p->n * w->src_size, source_name[k]);
        twin_check_read(w->issue, w->src[k] + p->src[k], p->n * w->src_size, source_name[k]);
    }
    check_bounds(w, &w->v->dst.t, p->dst + p->n * w->dst_size, "dst");
    if (w->reads_dst)
        twin_check_read(w->issue, w->dst + p->dst, p->n * w->dst_size, "dst (read by the call)");
}

static void write_piece(void *context, const struct twin_run_piece *p) {
    struct walk *w = context;
    struct twin_core *c = w->issue->core;
    uint32_t to = w->dst + p->dst;
    bool all = !w->reads_dst || twin_ub_defined(c, to, p->n * w->dst_size);
    for (int k = 0; k < w->sources && all; k++)
        all = twin_ub_defined(c, w->src[k] + p->src[k], p->n * w->src_size);
    twin_check_write(w->issue, to, p->n * w->dst_size, "dst");
    if (all) {
        twin_ub_define(c, to, p->n * w->dst_size, true);
        return;
    }
    for (uint32_t i = 0; i < p->n; i++) {
        bool good = !w->reads_dst || twin_ub_defined(c, to + i * w->dst_size, w->dst_size);
        for (int k = 0; k < w->sources; k++)
            good = good && twin_ub_defined(c, w->src[k] + p->src[k] + i * w->src_size, w->src_size);
        twin_ub_define(c, to + i * w->dst_size, w->dst_size, good);
    }
}

/* Source and destination of one instruction: the same elements, or no common block. */

struct overlap {
    struct walk *walk;
    int source;
    uint32_t low, high; /* of dst, then of src */
    uint32_t written[TWIN_UB_MAX / TWIN_BLOCK_BYTES / 32];
};

static void mark_dst(void *context, const struct twin_run_piece *p) {
    struct overlap *o = context;
    uint32_t at = o->walk->dst + p->dst, last = at + p->n * o->walk->dst_size - 1;
    for (uint32_t k = at / TWIN_BLOCK_BYTES; k <= last / TWIN_BLOCK_BYTES; k++)
        o->written[k / 32] |= 1u << k % 32;
}

static void find_src(void *context, const struct twin_run_piece *p) {
    struct overlap *o = context;
    struct walk *w = o->walk;
    uint32_t at = w->src[o->source] + p->src[o->source], last = at + p->n * w->src_size - 1;
    if (w->dst_size == w->src_size && at == w->dst + p->dst) return;
    for (uint32_t k = at / TWIN_BLOCK_BYTES; k <= last / TWIN_BLOCK_BYTES; k++)
        if (o->written[k / 32] >> k % 32 & 1)
            twin_violation(
                w->issue->site,
                "%s and dst overlap in part at UB %u: only the same addresses are allowed",
                source_name[o->source], k * TWIN_BLOCK_BYTES);
}

static uint32_t extent(const struct twin_operand *o, const struct twin_plan *p, uint32_t size) {
    uint32_t blocks = (p->per_repeat * size + TWIN_BLOCK_BYTES - 1) / TWIN_BLOCK_BYTES;
    return ((p->repeats - 1) * o->repeat_stride + (blocks - 1) * o->block_stride + 1) *
           TWIN_BLOCK_BYTES;
}

static void check_overlap(struct walk *w, const struct twin_plan *p) {
    const struct twin_elementwise *v = w->v;
    for (int k = 0; k < w->sources; k++) {
        uint32_t dst_end = w->dst + extent(&v->dst, p, w->dst_size);
        uint32_t src_end = w->src[k] + extent(&v->src[k], p, w->src_size);
        if (src_end <= w->dst || dst_end <= w->src[k]) continue;
        bool same = w->dst == w->src[k] && w->dst_size == w->src_size &&
                    v->dst.block_stride == v->src[k].block_stride &&
                    v->dst.repeat_stride == v->src[k].repeat_stride;
        if (same) {
            bool sums =
                k == 1 &&
                (v->prim == TWIN_ADD_F32 || v->prim == TWIN_SUB_F32 || v->prim == TWIN_MUL_F32 ||
                 v->prim == TWIN_MAX_F32 || v->prim == TWIN_MIN_F32 || v->prim == TWIN_ADD_F16 ||
                 v->prim == TWIN_SUB_F16 || v->prim == TWIN_MUL_F16 || v->prim == TWIN_MAX_F16 ||
                 v->prim == TWIN_MIN_F16 || v->prim == TWIN_ADD_I32 || v->prim == TWIN_ADD_I16);
            if (v->dst.repeat_stride == 0 && p->repeats > 1 && !sums)
                twin_violation(
                    w->issue->site,
                    "%s is dst with repeat stride 0: one repeat feeds the next, which only "
                    "src1 of Add, Sub, Mul, Max, Min may do",
                    source_name[k]);
            continue;
        }
        struct overlap o = {.walk = w, .source = k};
        twin_each_piece(v, p, mark_dst, &o);
        twin_each_piece(v, p, find_src, &o);
    }
}

static void leave(struct twin_core *c, const struct twin_lanes *lanes, uint32_t per_repeat,
                  const struct twin_site *site) {
    struct twin_effect effect;
    twin_expand(c, lanes, per_repeat, false, &effect);
    twin_after_lanes(c, lanes, per_repeat, false, site);
    twin_tell(c, site, &effect);
}

static bool reads_dst(enum twin_prim_id prim) {
    return prim == TWIN_AXPY_F32 || prim == TWIN_AXPY_F16 || prim == TWIN_AXPY_MIX ||
           prim == TWIN_MLA_F32 || prim == TWIN_MLA_F16 || prim == TWIN_MLA_MIX;
}

void twin_elementwise_checked(const struct twin_elementwise *v, const struct twin_site *site) {
    const struct twin_prim_info *info = &twin_prim_info[v->prim];
    struct twin_core *c = twin_core;
    if (v->bad_field) twin_fail_field("a count, repeat, mask or stride", v->bad_value, site);
    twin_check_910_prim(v, site);
    struct twin_issue issue = twin_issue(TWIN_V, site);
    uint32_t widest = info->dst_size > info->src_size ? info->dst_size : info->src_size;
    twin_check_lanes(&issue, &v->lanes, TWIN_REPEAT_BYTES / widest, false);
    struct twin_plan p = twin_make_plan(c, &v->lanes, widest);
    twin_check_any(&issue, p.repeats);
    struct walk w = {.v = v,
                     .issue = &issue,
                     .dst_size = info->dst_size,
                     .src_size = info->src_size,
                     .sources = info->sources,
                     .reads_dst = reads_dst(v->prim)};
    if (p.repeats && twin_computes(c)) {
        twin_check_tensor(&issue, &v->dst.t, TWIN_BLOCK_BYTES, "dst");
        w.dst = twin_ub_at(c, &v->dst.t);
        for (int k = 0; k < w.sources; k++) {
            twin_check_tensor(&issue, &v->src[k].t, TWIN_BLOCK_BYTES, source_name[k]);
            w.src[k] = twin_ub_at(c, &v->src[k].t);
        }
        twin_each_piece(v, &p, read_piece, &w);
        check_overlap(&w, &p);
        twin_each_piece(v, &p, write_piece, &w);
        twin_run_elementwise(v, &p);
    }
    c->vector_calls++;
    twin_cost_vector(c, site, &v->lanes, twin_split(c, &v->lanes, p.per_repeat, false), info->start,
                     twin_elementwise_cycles(v, &p));
    leave(c, &v->lanes, p.per_repeat, site);
}

/* Reductions: every lane that takes part must hold defined data. */

static void check_reduce_source(const struct twin_issue *i, const struct twin_reduce *v,
                                const struct twin_plan *p) {
    uint32_t per_block = TWIN_BLOCK_BYTES / v->size, base = twin_ub_at(i->core, &v->src.t);
    for (uint32_t r = 0; r < p->repeats; r++) {
        uint32_t first = r * v->src.repeat_stride * TWIN_BLOCK_BYTES,
                 lanes = r + 1 == p->repeats ? p->last : p->lanes;
        if (v->src.block_stride == 1 && p->prefix &&
            first + lanes * v->size <= v->src.t.bytes) { /* in one go */
            twin_check_read(i, base + first, lanes * v->size, "src");
            if (twin_ub_defined(i->core, base + first, lanes * v->size)) continue;
        }
        for (uint32_t lane = 0; lane < p->per_repeat; lane++) {
            if (!twin_lane(p, r, lane)) continue;
            uint32_t at = (r * v->src.repeat_stride + lane / per_block * v->src.block_stride) *
                              TWIN_BLOCK_BYTES +
                          lane % per_block * v->size;
            if (at + v->size > v->src.t.bytes)
                twin_violation(i->site, "src needs %u bytes from UB %u, its tensor has %u",
                               at + v->size, base, v->src.t.bytes);
            if (lane % per_block == 0 || !twin_lane(p, r, lane - 1)) {
                uint32_t run = 1; /* of lanes, to the end of the block at most */
                while ((lane + run) % per_block && twin_lane(p, r, lane + run))
                    run++;
                twin_check_read(i, base + at, run * v->size, "src");
            }
            struct twin_reason why;
            if (!twin_ub_defined(i->core, base + at, v->size))
                twin_violation(i->site, "sums undefined bytes at UB %u (%s)", base + at,
                               twin_undefined_by(i->core, &why));
        }
    }
}

static void check_reduce_dst(const struct twin_issue *i, const struct twin_reduce *v,
                             const struct twin_plan *p) {
    uint32_t base = twin_ub_at(i->core, &v->dst.t), per_block = TWIN_BLOCK_BYTES / v->size;
    uint32_t group = v->kind == TWIN_WHOLE ? p->per_repeat : v->kind == TWIN_BLOCK ? per_block : 2;
    uint32_t results = p->per_repeat / group, step = results * v->size;
    if (v->kind == TWIN_WHOLE && v->op != TWIN_SUM && v->order < 2) results = 2, step = 2 * v->size;
    bool zero_fills = i->core->job->launch->soc->arch == ASCGRAD_ARCH_950;
    for (uint32_t r = 0; r < p->repeats; r++)
        for (uint32_t g = 0; g < results; g++) {
            bool any = v->kind == TWIN_WHOLE || zero_fills;
            for (uint32_t k = 0; k < group && !any; k++)
                any = twin_lane(p, r, g * group + k);
            if (!any) continue;
            uint32_t at = r * v->dst.repeat_stride * step + g * v->size;
            if (at + v->size > v->dst.t.bytes)
                twin_violation(i->site, "dst needs %u bytes from UB %u, its tensor has %u",
                               at + v->size, base, v->dst.t.bytes);
            twin_check_write(i, base + at, v->size, "dst");
            twin_ub_define(i->core, base + at, v->size, true);
        }
}

void twin_reduce_checked(const struct twin_reduce *v, const struct twin_site *site) {
    struct twin_core *c = twin_core;
    if (v->bad_field) twin_fail_field("a repeat, mask or stride", v->bad_value, site);
    twin_check_910_reduce(v, site);
    struct twin_issue issue = twin_issue(TWIN_V, site);
    twin_check_lanes(&issue, &v->lanes, TWIN_REPEAT_BYTES / v->size, false);
    struct twin_plan p = twin_make_plan(c, &v->lanes, v->size);
    twin_check_any(&issue, p.repeats);
    if (p.repeats && twin_computes(c)) {
        uint32_t alignment = v->kind == TWIN_WHOLE   ? v->size
                             : v->kind == TWIN_BLOCK ? 8u * v->size
                                                     : TWIN_BLOCK_BYTES;
        twin_check_tensor(&issue, &v->dst.t, alignment, "dst");
        twin_check_tensor(&issue, &v->src.t, TWIN_BLOCK_BYTES, "src");
        check_reduce_source(&issue, v, &p);
        check_reduce_dst(&issue, v, &p);
        twin_run_reduce(v, &p);
    }
    double start = v->kind == TWIN_WHOLE ? 20 : v->kind == TWIN_BLOCK && v->size == 2 ? 15 : 12;
    double slope = v->kind == TWIN_WHOLE || (v->kind == TWIN_BLOCK && v->size == 2) ? 7 : 1;
    c->vector_calls++;
    twin_cost_vector(c, site, &v->lanes, 0, start, slope * p.repeats);
    leave(c, &v->lanes, p.per_repeat, site);
}
