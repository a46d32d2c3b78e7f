/* SPDX-License-Identifier: Apache-2.0
 *
 * The C API from many threads at once, checked and fast: every thread must get the same bits. Meant
 * for TSan.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../twin/ascgrad.h"

enum { THREADS = 6, T = 70, MATRICES = 9 };

static float grad_output[MATRICES * T * T], grad_self[MATRICES * T * T];

struct job {
    pthread_t thread;
    bool fast;
    float result[MATRICES * T];
    int code;
    char why[ASCGRAD_WHY];
};

static void *run(void *argument) {
    struct job *job = argument;
    struct ascgrad_tensor in[2] = {{ASCGRAD_TYPE_FP32, 3, {MATRICES, T, T}, grad_output},
                                   {ASCGRAD_TYPE_FP32, 3, {MATRICES, T, T}, grad_self}};
    struct ascgrad_tensor out[1] = {{ASCGRAD_TYPE_FP32, 2, {MATRICES, T}, job->result}};
    struct ascgrad_call call = {.op = "ExpSegsumGrad",
                                .in = in,
                                .inputs = 2,
                                .out = out,
                                .outputs = 1,
                                .fast = job->fast,
                                .cores = 3};
    for (int i = 0; i < 3 && job->code == ASCGRAD_OK; i++)
        job->code = ascgrad_run(&call, NULL, job->why);
    return NULL;
}

int main(void) {
    static struct job jobs[THREADS];
    int failed = 0;
    for (int i = 0; i < MATRICES * T * T; i++) {
        grad_output[i] = (float)(i % 17) - 8;
        grad_self[i] = (float)(i % 5) / 4;
    }
    for (int i = 0; i < THREADS; i++) {
        jobs[i].fast = i % 2;
        if (pthread_create(&jobs[i].thread, NULL, run, &jobs[i]) != 0) return 2;
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(jobs[i].thread, NULL);
        bool same = jobs[i].code == ASCGRAD_OK &&
                    memcmp(jobs[i].result, jobs[0].result, sizeof jobs[0].result) == 0;
        if (!same) printf("thread %d: code %d, %s\n", i, jobs[i].code, jobs[i].why);
        failed += !same;
    }
    printf("threads: %d passed, %d failed\n", THREADS - failed, failed);
    return failed != 0;
}
