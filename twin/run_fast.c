/* SPDX-License-Identifier: Apache-2.0
 *
 * A fast run: blocks on as many threads as the CPU has, or on one thread each when they must meet
 * at SyncAll.
 */
#define _GNU_SOURCE
#include "check.h"
#include "fp_state.h"
#include "pool.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct blocks {
    struct twin_job *job;
    atomic_uint next; /* block that nobody has taken yet */
};

static void work(void *context, struct twin_core *core) {
    struct blocks *blocks = context;
    struct twin_job *job = blocks->job;
    struct twin_core *before = twin_core;
    fp_state caller = fp_enter();
    twin_core = core;
    core->job = job;
    memset(core->ahead, 0, sizeof core->ahead);
    for (unsigned i; (i = atomic_fetch_add(&blocks->next, 1)) < job->launch->block_dim;) {
        twin_core_reset(core, i);
        job->launch->entry(job->arg);
    }
    twin_settle();
    core->job = NULL;
    twin_core = before;
    fp_set(caller);
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

int twin_run_fast(struct twin_job *job) {
    const struct twin_launch *l = job->launch;
    struct blocks blocks = {.job = job};
    uint32_t cpus = twin_cpus(), threads = l->block_dim;
    if (!l->sync_all && cpus < threads) threads = cpus;
    if (twin_pool_run(threads, l->sync_all, work, &blocks)) return TWIN_OK;
    snprintf(job->why, TWIN_WHY, "%s: no memory or threads for %u blocks", l->op, l->block_dim);
    return TWIN_SYSTEM;
}

void twin_sync_fast(struct twin_job *job) {
    twin_settle();
    if (!job->launch->sync_all) return; /* the checked build reports it */
    pthread_mutex_lock(&job->lock);
    uint32_t round = job->round;
    if (++job->waiting == job->launch->block_dim) {
        job->waiting = 0;
        job->round++;
        pthread_cond_broadcast(&job->arrive);
    } else {
        pthread_mutex_unlock(&job->lock);
        twin_look_out(&job->round, round);
        pthread_mutex_lock(&job->lock);
    }
    while (job->round == round)
        pthread_cond_wait(&job->arrive, &job->lock);
    pthread_mutex_unlock(&job->lock);
}
