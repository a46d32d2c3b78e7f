/* SPDX-License-Identifier: Apache-2.0
 *
 * A checked run: the cores work one at a time, as numbered or in a permutation drawn from a seed.
 * A kernel with SyncAll gets a thread per core; the turn is handed over at each SyncAll, and a
 * round ends when every core has arrived.
 */
#include "check.h"
#include "cycle_table.h"
#include "fp_state.h"

#include <stdio.h>
#include <stdlib.h>

static void use_constants(const struct twin_launch *l) {
    twin_cycle = l->constants ? l->constants : twin_cycle_builtin;
}

static void core_body(struct twin_core *c) {
    struct twin_core *before = twin_core;
    fp_state caller = fp_enter();
    twin_core = c;
    use_constants(c->job->launch);
    if (!setjmp(c->stop)) {
        static const struct twin_site end = {"end of kernel", NULL, 0};
        c->job->launch->entry(c->job->arg);
        twin_cost_end(c);
        twin_pipe_end(&end);
    }
    twin_core = before;
    twin_cycle = twin_cycle_builtin;
    fp_set(caller);
}

static void pass_turn(struct twin_job *job) { /* lock held */
    do
        job->running++;
    while (job->running < job->launch->block_dim && job->core[job->order[job->running]].done);
    if (job->running < job->launch->block_dim)
        pthread_cond_signal(&job->core[job->order[job->running]].turn);
    else
        pthread_cond_broadcast(&job->arrive);
}

static void await_turn(struct twin_core *c, uint32_t position, uint32_t round) { /* lock held */
    struct twin_job *job = c->job;
    while (job->running != position || job->round != round)
        pthread_cond_wait(&c->turn, &job->lock);
}

static void *checked_thread(void *context) {
    struct twin_core *c = context;
    struct twin_job *job = c->job;
    uint32_t position = 0;
    while (job->order[position] != c->index)
        position++;
    pthread_mutex_lock(&job->lock);
    await_turn(c, position, 0);
    bool go = !job->failed;
    pthread_mutex_unlock(&job->lock);
    if (go) core_body(c);
    pthread_mutex_lock(&job->lock);
    c->done = true;
    job->stopped++;
    pass_turn(job);
    /* in later rounds a finished core only hands the turn on */
    pthread_mutex_unlock(&job->lock);
    return NULL;
}

/* Called by the main thread when every core has stood still once: all arrived, or all done, or a
 * mistake. */
static bool next_round(struct twin_job *job) { /* lock held */
    uint32_t n = job->launch->block_dim;
    if (job->stopped == n) return false;
    if (job->stopped && !job->failed) {
        uint32_t waits = 0, left = 0;
        for (uint32_t i = 0; i < n; i++)
            *(job->core[i].done ? &left : &waits) = i;
        snprintf(job->why, TWIN_WHY,
                 "%s: core %u waits in SyncAll %u but core %u has ended without it: the chip hangs",
                 job->launch->op, waits, job->core[waits].epoch + 1, left);
        job->failed = true;
    }
    job->round++;
    job->running = 0;
    while (job->running < n && job->core[job->order[job->running]].done)
        job->running++;
    pthread_cond_signal(&job->core[job->order[job->running]].turn);
    return true;
}

static void check_sync(struct twin_core *c, const struct twin_site *site) {
    const struct twin_launch *l = c->job->launch;
    if (c->task_type >= 0 && c->task_type != TWIN_TASK_MIX_AIV)
        twin_violation(
            site,
            "hard SyncAll needs KERNEL_TYPE_MIX_AIV_1_0; under another task type the chip hangs");
    if (c->task_type < 0)
        twin_violation(site, "SyncAll without KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0)");
    if (!l->sync_all) twin_violation(site, "SyncAll, but tiling did not set sync_all");
    if (!l->workspace)
        twin_violation(site,
                       "SyncAll under a MIX task type needs a workspace of more than 0 bytes");
}

void twin_sync_checked(struct twin_core *c, const struct twin_site *site) {
    struct twin_job *job = c->job;
    check_sync(c, site);
    twin_barrier(TWIN_PIPES, site);
    twin_cost_sync_all(c, site);
    if (!twin_computes(c)) { /* there is nothing to see of what others wrote */
        c->epoch++;
        return;
    }
    uint32_t position = 0;
    while (job->order[position] != c->index)
        position++;
    pthread_mutex_lock(&job->lock);
    uint32_t round = job->round + 1;
    pass_turn(job);
    await_turn(c, position, round);
    bool failed = job->failed;
    pthread_mutex_unlock(&job->lock);
    if (failed) longjmp(c->stop, 1);
    c->epoch++;
}

static void run_threads(struct twin_job *job) {
    uint32_t n = job->launch->block_dim, made = 0;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1u << 20);
    pthread_mutex_lock(&job->lock);
    for (; made < n; made++)
        if (pthread_create(&job->core[made].thread, &attributes, checked_thread, &job->core[made]))
            break;
    pthread_attr_destroy(&attributes);
    if (made < n) {
        snprintf(job->why, TWIN_WHY, "%s: no thread for core %u", job->launch->op, made);
        job->failed = true;
        for (uint32_t i = made; i < n; i++)
            job->core[i].done = true, job->stopped++;
    }
    if (made) pthread_cond_signal(&job->core[job->order[0]].turn);
    while (made) {
        while (job->running < n) {
            /* a core that never started or has ended is skipped */
            if (job->core[job->order[job->running]].done) {
                pass_turn(job);
                continue;
            }
            pthread_cond_wait(&job->arrive, &job->lock);
        }
        if (!next_round(job)) break;
    }
    pthread_mutex_unlock(&job->lock);
    for (uint32_t i = 0; i < made; i++)
        pthread_join(job->core[i].thread, NULL);
}

/* order 0: as numbered. The complement of an order is that order backwards. */
static void draw_order(struct twin_job *job) {
    uint32_t n = job->launch->block_dim;
    bool backwards = job->launch->order >> 63;
    uint64_t state = backwards ? ~job->launch->order : job->launch->order;
    for (uint32_t i = 0; i < n; i++)
        job->order[i] = i;
    for (uint32_t i = n; state && i > 1; i--) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        uint32_t k = (uint32_t)((state >> 33) % i), t = job->order[i - 1];
        job->order[i - 1] = job->order[k];
        job->order[k] = t;
    }
    for (uint32_t i = 0; backwards && i < n / 2; i++) {
        uint32_t t = job->order[i];
        job->order[i] = job->order[n - 1 - i];
        job->order[n - 1 - i] = t;
    }
}

static void run_cores(struct twin_job *job) {
    uint32_t n = job->launch->block_dim;
    draw_order(job);
    if (job->launch->sync_all && !job->launch->steps_only) {
        run_threads(job);
        for (uint32_t i = 0; i < n; i++)
            twin_cost_share(&job->core[i]);
        return;
    }
    for (uint32_t i = 0; i < n && !job->failed; i++) {
        core_body(&job->core[job->order[i]]);
        twin_cost_share(&job->core[job->order[i]]);
    }
}

int twin_run_checked(struct twin_job *job) {
    const struct twin_launch *l = job->launch;
    uint32_t n = l->block_dim;
    const char *wrong = "out of memory";
    job->core = calloc(n, sizeof *job->core);
    bool ready = job->core && twin_gm_open(job);
    for (uint32_t i = 0; ready && i < n; i++) {
        ready = twin_core_open(job, &job->core[i], i, true);
        pthread_cond_init(&job->core[i].turn, NULL);
    }
    if (ready) {
        run_cores(job);
        wrong = NULL;
    }
    if (!wrong && !job->failed) {
        twin_gm_report(job, job->report);
        use_constants(l);
        wrong = twin_cost_finish(job, job->report);
        twin_cycle = twin_cycle_builtin;
    }
    if (wrong) snprintf(job->why, TWIN_WHY, "%s: %s", l->op, wrong);
    for (uint32_t i = 0; job->core && i < n; i++)
        twin_core_close(&job->core[i]);
    twin_gm_close(job);
    free(job->core);
    return wrong ? TWIN_SYSTEM : job->failed ? TWIN_VIOLATION : TWIN_OK;
}
