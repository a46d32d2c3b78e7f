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
    if (core->steps) core->steps->cores = 1;
    return core->steps != NULL;
}

void twin_cost_close(struct twin_core *core) {
    struct twin_steps *s = core->steps;
    if (!s || s->cores-- > 1) return;
    free(s->step);
    free(s);
}

static bool same_steps(const struct twin_steps *a, const struct twin_steps *b) {
    if (a->count != b->count || a->lost || b->lost) return false;
    for (size_t i = 0; i < a->count; i++) {
        const struct twin_step *x = &a->step[i], *y = &b->step[i];
        if (x->cost != y->cost || x->scalar != y->scalar || x->kind != y->kind ||
            x->pipe != y->pipe || x->event != y->event || x->id != y->id ||
            x->site.line != y->site.line || x->site.file != y->site.file ||
            x->site.call != y->site.call)
            return false;
    }
    return true;
}

/* Cores have the same to do unless the work does not divide by them, so that few kinds of lists
 * are left, and each is simulated once. */
void twin_cost_share(struct twin_core *core) {
    struct twin_job *job = core->job;
    for (uint32_t i = 0; i < job->launch->block_dim; i++) {
        struct twin_steps *other = job->core[i].steps;
        if (&job->core[i] == core || !other->complete || !same_steps(core->steps, other)) continue;
        twin_cost_close(core);
        other->cores++;
        core->steps = other;
        return;
    }
    core->steps->complete = true;
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

static double count_cycles(const struct twin_elementwise *v, const struct twin_plan *p,
                           const uint32_t base[3]) {
    const struct twin_prim_info *info = &twin_prim_info[v->prim];
    bool two_ports = twin_core->job->launch->soc->arch == ASCGRAD_ARCH_950;
    double cycles = 0;
    for (uint32_t r = 0; r < p->repeats; r++) {
        uint32_t at[3] = {base[0] + r * v->dst.repeat_stride * TWIN_BLOCK_BYTES};
        for (int k = 0; k < info->sources; k++)
            at[1 + k] = base[1 + k] + r * v->src[k].repeat_stride * TWIN_BLOCK_BYTES;
        cycles += repeat_slope(v, info, at, p, r, two_ports);
    }
    return cycles;
}

/* A kernel makes the same few calls for every tile. */
double twin_elementwise_cycles(const struct twin_elementwise *v, const struct twin_plan *p) {
    const struct twin_core *c = twin_core;
    const struct twin_operand *operand[3] = {&v->dst, &v->src[0], &v->src[1]};
    struct twin_known key;
    memset(&key, 0, sizeof key);
    if (!p->repeats) return 0;
    uint64_t place = v->prim + ((uint64_t)p->repeats << 8);
    for (int k = 0; k <= twin_prim_info[v->prim].sources; k++) {
        key.at[k] = twin_ub_at(c, &operand[k]->t);
        key.block_stride[k] = operand[k]->block_stride;
        key.repeat_stride[k] = operand[k]->repeat_stride;
        place = (place ^ key.at[k]) * 0x9e3779b97f4a7c15ull;
    }
    key.mask[0] = p->mask[0];
    key.mask[1] = p->mask[1];
    key.prim = v->prim;
    key.repeats = p->repeats;
    key.last = p->counter ? p->last : UINT32_MAX;
    struct twin_known *known = NULL;
    for (uint32_t k = 0; k < 4; k++) { /* places to look at */
        known = &c->steps->known[((place >> 32) + k) % TWIN_KNOWN];
        if (memcmp(known, &key, offsetof(struct twin_known, cycles)) == 0) return known->cycles;
        if (!known->repeats) break;
    }
    *known = key;
    return known->cycles = count_cycles(v, p, key.at);
}
