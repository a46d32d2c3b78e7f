/* SPDX-License-Identifier: Apache-2.0
 *
 * A fast run: blocks on as many threads as the CPU has, or on one thread each when they must meet
 * at SyncAll.
 */
#define _GNU_SOURCE
#include "check.h"
#include "fp_state.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct worker {
    struct twin_core core;
    pthread_t thread;
    atomic_uint *next; /* block that nobody has taken yet */
};

static void *work(void *context) {
    struct worker *w = context;
    struct twin_job *job = w->core.job;
    struct twin_core *before = twin_core;
    fp_state caller = fp_enter();
    pthread_mutex_lock(&job->lock); /* held until all threads are there */
    pthread_mutex_unlock(&job->lock);
    twin_core = &w->core;
    for (unsigned i; (i = atomic_fetch_add(w->next, 1)) < job->launch->block_dim;) {
        twin_core_reset(&w->core, i);
        job->launch->entry(job->arg);
    }
    twin_settle();
    twin_core = before;
    fp_set(caller);
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
        if (!twin_core_open(job, &worker[i].core, 0, false)) return false;
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

int twin_run_fast(struct twin_job *job) {
    const struct twin_launch *l = job->launch;
    uint32_t cpus = twin_cpus(), threads = l->block_dim;
    if (!l->sync_all && cpus < threads) threads = cpus;
    struct worker *worker = calloc(threads, sizeof *worker);
    bool good = worker && run_workers(job, worker, threads);
    for (uint32_t i = 0; worker && i < threads; i++)
        twin_core_close(&worker[i].core);
    free(worker);
    if (good) return TWIN_OK;
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
    }
    while (job->round == round)
        pthread_cond_wait(&job->arrive, &job->lock);
    pthread_mutex_unlock(&job->lock);
}
