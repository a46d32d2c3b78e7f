/* SPDX-License-Identifier: Apache-2.0
 *
 * twin_run: what a kernel is launched with, and a core's own state. How the blocks then run:
 * run_fast.c, run_checked.c.
 */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__thread struct twin_core *twin_core;

bool twin_core_open(struct twin_job *job, struct twin_core *c, uint32_t index, bool checked) {
    c->job = job;
    c->index = index;
    c->checked = checked;
    c->task_type = -1;
    twin_state_start(c);
    c->ub = aligned_alloc(512, TWIN_UB_MAX + TWIN_UB_GUARD);
    if (!c->ub) return false;
    if (!checked) return true;
    memset(c->ub, 0xff, TWIN_UB_MAX + TWIN_UB_GUARD);
    c->block = calloc(TWIN_UB_MAX / TWIN_BLOCK_BYTES, sizeof *c->block);
    return c->block && twin_cost_open(c);
}

void twin_core_close(struct twin_core *c) {
    free(c->ub);
    free(c->block);
    if (c->checked) twin_cost_close(c);
}

void twin_core_reset(struct twin_core *c, uint32_t index) {
    c->index = index;
    c->top = 0;
    c->buffers = c->queues = 0;
    c->started = false;
    memset(c->event_ids, 0, sizeof c->event_ids);
    twin_state_start(c);
}

/* The first tensor that has more bytes than the invented addresses of one argument, or NULL. */
static const struct twin_arg *find_too_large(const struct twin_launch *l) {
    for (uint32_t a = 0; l->checked && a < l->args; a++)
        if (l->arg[a].bytes >> TWIN_GM_SHIFT) return &l->arg[a];
    return NULL;
}

static bool usable(const struct twin_launch *l, char why[TWIN_WHY]) {
    if (!l->soc || !l->entry || l->args > TWIN_MAX_ARGS)
        snprintf(why, TWIN_WHY, "%s: no chip, no kernel or too many arguments", l->op);
    else if (l->own ? l->arity < l->args || l->arity > l->args + 2 : l->arity != l->args + 2)
        snprintf(
            why, TWIN_WHY,
            "%s: the kernel has %u parameters, the call has %u tensors, a workspace and tiling",
            l->op, l->arity, l->args);
    else if (!l->block_dim || l->block_dim > TWIN_MAX_CORES ||
             (l->checked && l->block_dim > l->soc->cores))
        snprintf(why, TWIN_WHY, "%s: block_dim %u on a chip of %u vector cores", l->op,
                 l->block_dim, l->soc->cores);
    else if (find_too_large(l))
        snprintf(why, TWIN_WHY, "%s: %s has %llu bytes, but a tensor may have less than 1 TiB here",
                 l->op, find_too_large(l)->name, (unsigned long long)find_too_large(l)->bytes);
    else
        return true;
    return false;
}

int twin_run(const struct twin_launch *l, struct twin_report *report, char why[TWIN_WHY]) {
    struct twin_report own, *out = report ? report : &own;
    memset(out, 0, sizeof *out);
    why[0] = 0;
    if (!usable(l, why))
        return l->checked && l->soc && l->block_dim > l->soc->cores ? TWIN_VIOLATION : TWIN_USAGE;
    twin_prims_init();
    struct twin_job job = {.launch = l, .report = out, .why = why};
    if (l->workspace && !l->steps_only) {
        job.workspace = aligned_alloc(512, (l->workspace + 511) / 512 * 512);
        if (!job.workspace) {
            snprintf(why, TWIN_WHY, "%s: no memory for a workspace of %llu bytes", l->op,
                     (unsigned long long)l->workspace);
            return TWIN_SYSTEM;
        }
        if (l->checked) memset(job.workspace, 0xff, l->workspace);
    }
    for (uint32_t a = 0; a < l->args; a++) {
        uint32_t place = l->in_place && l->in_place[a] ? l->in_place[a] - 1 : a;
        bool there = l->steps_only ? l->arg[a].bytes > 0 : l->arg[a].data != NULL;
        job.arg[a] =
            l->checked && there ? (uint8_t *)(uintptr_t)twin_gm_address(place) : l->arg[a].data;
    }
    job.arg[l->args] =
        l->checked && l->workspace ? (uint8_t *)(uintptr_t)twin_gm_address(l->args) : job.workspace;
    job.arg[l->args + 1] = (uint8_t *)(uintptr_t)l->tiling;
    pthread_mutex_init(&job.lock, NULL);
    pthread_cond_init(&job.arrive, NULL);
    int code = l->checked ? twin_run_checked(&job) : twin_run_fast(&job);
    pthread_mutex_destroy(&job.lock);
    pthread_cond_destroy(&job.arrive);
    free(job.workspace);
    return code;
}
