/* SPDX-License-Identifier: Apache-2.0
 *
 * The C API from many threads at once, checked and fast, each with a rounding mode and a denormal
 * setting of its own, and from a child that is forked in the middle: every one of them must get the
 * same bits, and keep its settings. sanitize.sh runs it under ASan, UBSan and TSan.
 */
#include <fenv.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../twin/ascgrad.h"
#include "../../twin/fp_state.h"

enum { THREADS = 8, ROUNDS = 3, T = 70, MATRICES = 9 };

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
/* TSan itself fails when the child of many threads makes threads; in a child of ASan's the locks
 * of its allocator stay as they were when it was born, and nobody opens them. */
enum { FORKS = 0 };
#else
enum { FORKS = 3 };
#endif

#if defined __x86_64__
enum { FLUSH = 0x8040 }; /* results and operands */
#else
enum { FLUSH = 1 << 24 };
#endif

static float grad_output[MATRICES * T * T], grad_self[MATRICES * T * T];

struct job {
    pthread_t thread;
    bool fast, flush, kept;
    int rounding;
    float result[MATRICES * T];
    int code;
    char why[ASCGRAD_WHY];
};

static void *run(void *argument) {
    struct job *job = argument;
    struct ascgrad_tensor in[2] = {{ASCGRAD_TYPE_FP32, 3, {MATRICES, T, T}, grad_output},
                                   {ASCGRAD_TYPE_FP32, 3, {MATRICES, T, T}, grad_self}};
    struct ascgrad_tensor out[1] = {{ASCGRAD_TYPE_FP32, 2, {MATRICES, T}, job->result}};
    struct ascgrad_call call = {.size = sizeof call,
                                .op = "ExpSegsumGrad",
                                .in = in,
                                .inputs = 2,
                                .out = out,
                                .outputs = 1,
                                .fast = job->fast,
                                .cores = 3};
    fesetround(job->rounding);
    if (job->flush) fp_set(fp_get() | FLUSH);
    fp_state before = fp_get();
    for (int i = 0; i < ROUNDS && job->code == ASCGRAD_OK; i++)
        job->code = ascgrad_run(&call, NULL, job->why);
    job->kept = fp_get() == before;
    return NULL;
}

static bool good(const char *who, const struct job *job, const struct job *plain) {
    bool same = memcmp(job->result, plain->result, sizeof plain->result) == 0;
    if (job->code == ASCGRAD_OK && same && job->kept) return true;
    printf("%s: code %d %s, %s bits, settings %s\n", who, job->code, job->why,
           same ? "the same" : "other", job->kept ? "kept" : "changed");
    return false;
}

/* The child has one thread, whatever the others were doing when it was born. */
static bool fork_in_the_middle(const struct job *plain) {
    pid_t child = fork();
    if (child == 0) {
        static struct job own[2] = {{.fast = true}, {.fast = false}};
        run(&own[0]);
        run(&own[1]);
        _exit(!(good("child, fast", &own[0], plain) & good("child, checked", &own[1], plain)));
    }
    int status = -1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int main(void) {
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    static struct job plain, jobs[THREADS];
    int failed = 0;
    for (int i = 0; i < MATRICES * T * T; i++) { /* every other matrix ends in denormals */
        grad_output[i] = (float)(i % 17 - 8) * (1 + (float)(i % 1000) * 0x1p-20f);
        grad_self[i] = (float)(i % 5) / 3 * (i / (T * T) % 2 ? 0x1p-135f : 1);
    }
    run(&plain);
    for (int i = 0; i < THREADS; i++) {
        jobs[i].fast = i % 2;
        jobs[i].rounding = modes[i / 2];
        jobs[i].flush = i % 4 < 2;
        if (pthread_create(&jobs[i].thread, NULL, run, &jobs[i]) != 0) return 2;
    }
    for (int i = 0; i < FORKS; i++)
        if (!fork_in_the_middle(&plain)) failed++, printf("fork %d failed\n", i);
    for (int i = 0; i < THREADS; i++) {
        char who[32];
        pthread_join(jobs[i].thread, NULL);
        snprintf(who, sizeof who, "thread %d", i);
        failed += !good(who, &jobs[i], &plain);
    }
    printf("threads: %d passed, %d failed\n", THREADS + FORKS - failed, failed);
    return failed != 0;
}
