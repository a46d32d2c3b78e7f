/* SPDX-License-Identifier: Apache-2.0
 *
 * twin_run: sets up the cores and runs the kernel on them. Fast: blocks on as many threads as the
 * CPU has, or on one thread each when they must meet at SyncAll. Checked: turns.c.
 */
#define _GNU_SOURCE
#include "check.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__thread struct twin_core *twin_core;

static bool core_open(struct twin_job *job, struct twin_core *c, uint32_t index, bool checked) {
    c->job = job;
    c->index = index;
    c->checked = checked;
    c->atomic = -1;
    c->task_type = -1;
    c->mask[0] = c->mask[1] = ~0ull;
    c->ub = aligned_alloc(512, TWIN_UB_MAX + TWIN_UB_GUARD);
    if (!c->ub) return false;
    if (!checked) return true;
    memset(c->ub, 0xff, TWIN_UB_MAX + TWIN_UB_GUARD);
    c->block = calloc(TWIN_UB_MAX / TWIN_BLOCK_BYTES, sizeof *c->block);
    return c->block && twin_cost_open(c);
}

static void core_close(struct twin_core *c) {
    free(c->ub);
    free(c->block);
    if (c->checked) twin_cost_close(c);
}

/* A core starts from nothing for every block it runs. */
static void core_reset(struct twin_core *c, uint32_t index) {
    c->index = index;
    c->top = 0;
    c->buffers = c->queues = 0;
    c->started = false;
    memset(c->event_ids, 0, sizeof c->event_ids);
    c->counter = false;
    c->mask[0] = c->mask[1] = ~0ull;
    c->atomic = -1;
}

/* Fast. */

struct worker {
    struct twin_core core;
    pthread_t thread;
    atomic_uint *next; /* block that nobody has taken yet */
};

static void *work(void *context) {
    struct worker *w = context;
    struct twin_job *job = w->core.job;
    struct twin_core *before = twin_core;
    pthread_mutex_lock(&job->lock); /* held until all threads are there */
    pthread_mutex_unlock(&job->lock);
    twin_core = &w->core;
    for (unsigned i; (i = atomic_fetch_add(w->next, 1)) < job->launch->block_dim;) {
        core_reset(&w->core, i);
        job->launch->entry(job->arg);
    }
    twin_settle();
    twin_core = before;
    return NULL;
}

uint32_t twin_cpus(void) {
    static atomic_long known; /* asking takes longer than a small operator */
    long n = atomic_load(&known);
    if (n == 0) {
        cpu_set_t mine;
        n = sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine)
                                                          : sysconf(_SC_NPROCESSORS_ONLN);
        atomic_store(&known, n = n < 1 ? 1 : n);
    }
    return (uint32_t)n;
}

/* Blocks that meet at SyncAll need a thread each, or none of them may start. */
static bool run_workers(struct twin_job *job, struct worker *worker, uint32_t threads) {
    atomic_uint next = 0;
    uint32_t made = 1;
    for (uint32_t i = 0; i < threads; i++) {
        worker[i].next = &next;
        if (!core_open(job, &worker[i].core, 0, false)) return false;
    }
    pthread_mutex_lock(&job->lock);
    while (made < threads && !pthread_create(&worker[made].thread, NULL, work, &worker[made]))
        made++;
    bool good = made == threads || !job->launch->sync_all;
    if (!good) atomic_store(&next, job->launch->block_dim);
    pthread_mutex_unlock(&job->lock);
    work(&worker[0]);
    for (uint32_t i = 1; i < made; i++)
        pthread_join(worker[i].thread, NULL);
    return good;
}

static int run_fast(struct twin_job *job) {
    const struct twin_launch *l = job->launch;
    uint32_t cpus = twin_cpus(), threads = l->block_dim;
    if (!l->sync_all && cpus < threads) threads = cpus;
    struct worker *worker = calloc(threads, sizeof *worker);
    bool good = worker && run_workers(job, worker, threads);
    for (uint32_t i = 0; worker && i < threads; i++)
        core_close(&worker[i].core);
    free(worker);
    if (good) return TWIN_OK;
    snprintf(job->why, TWIN_WHY, "%s: no memory or threads for %u blocks", l->op, l->block_dim);
    return TWIN_SYSTEM;
}

/* Checked. */

static int run_checked(struct twin_job *job) {
    const struct twin_launch *l = job->launch;
    uint32_t n = l->block_dim;
    const char *wrong = "out of memory";
    job->core = calloc(n, sizeof *job->core);
    bool ready = job->core && twin_gm_open(job);
    for (uint32_t i = 0; ready && i < n; i++) {
        ready = core_open(job, &job->core[i], i, true);
        pthread_cond_init(&job->core[i].turn, NULL);
    }
    if (ready) {
        twin_run_cores(job);
        wrong = NULL;
    }
    if (!wrong && !job->failed) {
        twin_gm_report(job, job->report);
        wrong = twin_cost_finish(job, job->report);
    }
    if (wrong) snprintf(job->why, TWIN_WHY, "%s: %s", l->op, wrong);
    for (uint32_t i = 0; job->core && i < n; i++)
        core_close(&job->core[i]);
    twin_gm_close(job);
    free(job->core);
    return wrong ? TWIN_SYSTEM : job->failed ? TWIN_VIOLATION : TWIN_OK;
}

static bool usable(const struct twin_launch *l, char why[TWIN_WHY]) {
    if (!l->soc || !l->entry || l->args > TWIN_MAX_ARGS)
        snprintf(why, TWIN_WHY, "%s: no chip, no kernel or too many arguments", l->op);
    else if (l->arity != l->args + 2)
        snprintf(
            why, TWIN_WHY,
            "%s: the kernel has %u parameters, the operator has %u tensors, a workspace and tiling",
            l->op, l->arity, l->args);
    else if (!l->block_dim || l->block_dim > TWIN_MAX_CORES ||
             (l->checked && l->block_dim > l->soc->cores))
        snprintf(why, TWIN_WHY, "%s: block_dim %u on a chip of %u vector cores", l->op,
                 l->block_dim, l->soc->cores);
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
    if (l->workspace) {
        job.workspace = aligned_alloc(512, (l->workspace + 511) / 512 * 512);
        if (!job.workspace) {
            snprintf(why, TWIN_WHY, "%s: no memory for a workspace of %llu bytes", l->op,
                     (unsigned long long)l->workspace);
            return TWIN_SYSTEM;
        }
        if (l->checked) memset(job.workspace, 0xff, l->workspace);
    }
    for (uint32_t a = 0; a < l->args; a++)
        job.arg[a] = !l->checked || !l->arg[a].data ? l->arg[a].data
                                                    : (uint8_t *)(uintptr_t)twin_gm_address(a);
    job.arg[l->args] =
        l->checked && l->workspace ? (uint8_t *)(uintptr_t)twin_gm_address(l->args) : job.workspace;
    job.arg[l->args + 1] = (uint8_t *)(uintptr_t)l->tiling;
    pthread_mutex_init(&job.lock, NULL);
    pthread_cond_init(&job.arrive, NULL);
    int code = l->checked ? run_checked(&job) : run_fast(&job);
    pthread_mutex_destroy(&job.lock);
    pthread_cond_destroy(&job.arrive);
    free(job.workspace);
    return code;
}
