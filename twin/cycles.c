/* SPDX-License-Identifier: Apache-2.0
 *
 * The cycle model, first half: what a core did, as a list of steps, and what a vector call costs.
 * simulate.c turns the steps into time.
 */
#include "cycles.h"

#include <stdlib.h>
#include <string.h>

bool twin_cost_open(struct twin_core *core) {
    core->steps = calloc(1, sizeof *core->steps);
    return core->steps != NULL;
}

void twin_cost_close(struct twin_core *core) {
    if (core->steps) free(core->steps->step);
    free(core->steps);
}

/* A step takes along what the scalar unit has done since the last one. */
static void add(struct twin_core *c, struct twin_step step) {
    struct twin_steps *s = c->steps;
    step.scalar += (float)(c->pending + TWIN_SCALAR_OWN * (double)c->own);
    c->pending = 0;
    c->own = 0;
    if (s->lost) return;
    if (s->count == s->capacity) {
        size_t capacity = s->capacity ? s->capacity * 2 : 1024;
        struct twin_step *more = realloc(s->step, capacity * sizeof *more);
        if (!more) {
            s->lost = true;
            return;
        }
        s->step = more;
        s->capacity = capacity;
    }
    s->step[s->count++] = step;
}

/* A count that the library splits is several instructions, each with a mask. */
void twin_cost_vector(struct twin_core *c, const struct twin_site *site,
                      const struct twin_lanes *lanes, uint32_t split, double start, double cycles) {
    bool a5 = c->job->launch->soc->arch == ASCGRAD_ARCH_950;
    int issued = split ? (int)split : 1;
    double work = issued * (start + (a5 ? TWIN_VF_START : 0)) + cycles;
    double least = issued * TWIN_V_ISSUE_FLOOR, busy = work < least ? least : work;
    /* on the 950 nothing but the bits of a mask goes through a register of the core */
    bool past_register = a5 && lanes && !lanes->bits;
    bool own = lanes && !lanes->current && !past_register, count = own && !split && lanes->counter;
    int modes = !own ? 0 : count ? 4 : issued;
    add(c, (struct twin_step){.site = *site,
                              .kind = count ? TWIN_STEP_COUNT : TWIN_STEP_WORK,
                              .pipe = TWIN_V,
                              .cost = (float)busy,
                              .scalar = TWIN_SCALAR_VECTOR * (float)issued +
                                        TWIN_SCALAR_MASK * (float)modes,
                              .id = (uint8_t)modes});
}

void twin_cost_dma(struct twin_core *c, const struct twin_site *site, enum twin_pipe pipe,
                   double bytes, bool pad) {
    add(c, (struct twin_step){.site = *site,
                              .kind = TWIN_STEP_DMA,
                              .pipe = (uint8_t)pipe,
                              .cost = (float)bytes,
                              .scalar = pad ? TWIN_SCALAR_COPY_PAD : TWIN_SCALAR_COPY});
}

void twin_cost_flag(struct twin_core *c, const struct twin_site *site, bool set, uint8_t event,
                    int id) {
    enum twin_pipe from, to;
    twin_event_pipes(event, &from, &to);
    add(c, (struct twin_step){.site = *site,
                              .kind = set ? TWIN_STEP_SET : TWIN_STEP_WAIT,
                              .pipe = (uint8_t)(set ? from : to),
                              .scalar = TWIN_SCALAR_FLAG,
                              .event = event,
                              .id = (uint8_t)id});
}

void twin_cost_barrier(struct twin_core *c, const struct twin_site *site, int pipe) {
    add(c, (struct twin_step){.site = *site,
                              .kind = pipe < TWIN_PIPES ? TWIN_STEP_BARRIER : TWIN_STEP_BARRIER_ALL,
                              .pipe = (uint8_t)(pipe < TWIN_PIPES ? pipe : TWIN_S),
                              .scalar = TWIN_SCALAR_BARRIER});
}

void twin_cost_sync_all(struct twin_core *c, const struct twin_site *site) {
    add(c,
        (struct twin_step){
            .site = *site, .kind = TWIN_STEP_SYNC, .pipe = TWIN_S, .scalar = TWIN_SCALAR_SYNC_ALL});
}

void twin_cost_mode(struct twin_core *c, const struct twin_site *site) {
    bool change = c->counter != c->steps->counter;
    c->steps->counter = c->counter;
    add(c, (struct twin_step){.site = *site,
                              .kind = change ? TWIN_STEP_SWITCH : TWIN_STEP_MODE,
                              .pipe = TWIN_V,
                              .scalar = TWIN_SCALAR_MASK});
}

void twin_cost_scalar(struct twin_core *c, double instructions) {
    c->pending += instructions;
}

void twin_cost_end(struct twin_core *c) {
    add(c, (struct twin_step){.site.call = "end", .kind = TWIN_STEP_SCALAR, .pipe = TWIN_S});
}

/* Which of the (up to eight) blocks of a repeat hold a working lane, as bits. */
static uint32_t working_blocks(const struct twin_plan *p, uint32_t repeat, uint32_t size) {
    uint32_t per_block = TWIN_BLOCK_BYTES / size, blocks = p->per_repeat / per_block, bits = 0;
    if (p->prefix) {
        uint32_t lanes = repeat + 1 == p->repeats ? p->last : p->lanes;
        return (1u << (lanes + per_block - 1) / per_block) - 1;
    }
    for (uint32_t k = 0; k < blocks; k++)
        for (uint32_t lane = k * per_block; lane < (k + 1) * per_block; lane++)
            if (twin_lane(p, repeat, lane)) bits |= 1u << k;
    return bits;
}

/* Bank groups that one repeat of an operand touches. */
struct banks {
    uint32_t first;                  /* address */
    uint16_t groups;                 /* bit mask */
    uint8_t count[TWIN_BANK_GROUPS]; /* different blocks per group */
};

static void find_banks(struct banks *b, uint32_t at, uint32_t block_stride, uint32_t blocks) {
    memset(b, 0, sizeof *b);
    b->first = at;
    for (uint32_t k = 0; blocks >> k; k++) {
        if (!(blocks >> k & 1)) continue;
        uint32_t g = (at / TWIN_BLOCK_BYTES + k * block_stride) % TWIN_BANK_GROUPS;
        if (block_stride || !b->groups) b->count[g]++;
        b->groups |= (uint16_t)(1u << g);
    }
}

/* Slope of one repeat: reads that meet in a bank group are served one after another (the same
 * address is read once); a write that meets a read in the same bank at another offset costs too.
 * 950 has two ports per group. */
static double repeat_slope(const struct twin_elementwise *v, const struct twin_prim_info *info,
                           const uint32_t at[3], const struct twin_plan *p, uint32_t repeat,
                           bool two_ports) {
    struct banks src[2], dst;
    uint32_t blocks = working_blocks(p, repeat, info->src_size), most = 1;
    int sources =
        info->sources == 2 && at[1] == at[2] && v->src[0].block_stride == v->src[1].block_stride
            ? 1
            : info->sources;
    for (int k = 0; k < sources; k++)
        find_banks(&src[k], at[1 + k], v->src[k].block_stride, blocks);
    for (int g = 0; g < TWIN_BANK_GROUPS; g++) {
        uint32_t reads = 0;
        for (int k = 0; k < sources; k++)
            reads += src[k].count[g];
        if (reads > most) most = reads;
    }
    double ports = two_ports ? (most + 1) / 2 : most;
    if (ports > 1) return info->slope > ports ? info->slope : ports * (TWIN_READ_READ / 2);
    if (two_ports && sources == 2 && info->slope < TWIN_VF_TWO) return TWIN_VF_TWO;
    if (two_ports || info->slope > 1) return info->slope;
    find_banks(&dst, at[0], v->dst.block_stride, working_blocks(p, repeat, info->dst_size));
    for (int k = 0; k < sources; k++) {
        uint32_t offset = (dst.first - src[k].first) / TWIN_BLOCK_BYTES % (TWIN_BANK_GROUPS / 2);
        if (dst.first / TWIN_BANK_THIRD == src[k].first / TWIN_BANK_THIRD && offset &&
            (dst.groups & src[k].groups))
            return TWIN_READ_WRITE;
    }
    return info->slope;
}

double twin_elementwise_cycles(const struct twin_elementwise *v, const struct twin_plan *p) {
    const struct twin_prim_info *info = &twin_prim_info[v->prim];
    const struct twin_core *c = twin_core;
    bool two_ports = c->job->launch->soc->arch == ASCGRAD_ARCH_950;
    double cycles = 0;
    for (uint32_t r = 0; r < p->repeats; r++) {
        uint32_t at[3] = {twin_ub_at(c, &v->dst.t) + r * v->dst.repeat_stride * TWIN_BLOCK_BYTES};
        for (int k = 0; k < info->sources; k++)
            at[1 + k] =
                twin_ub_at(c, &v->src[k].t) + r * v->src[k].repeat_stride * TWIN_BLOCK_BYTES;
        cycles += repeat_slope(v, info, at, p, r, two_ports);
    }
    return cycles;
}
