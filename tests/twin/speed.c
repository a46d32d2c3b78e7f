/* SPDX-License-Identifier: Apache-2.0
 *
 * The fast build beside the checked one on a 64 MB operator call: same bits, and how many times
 * faster. The ratio depends on the machine and its load, so it is printed, and only a gross loss
 * fails: speed [least ratio]
 */
#include "ascgrad.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { B = 2, S = 2048, N = 64, D = 128 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct ascgrad_tensor tensor(int64_t b, int64_t n, int dtype, size_t size, uint32_t seed) {
    struct ascgrad_tensor t = {.dtype = dtype, .rank = 4, .dim = {b, S, n, D}};
    size_t bytes = (size_t)(b * S * n * D) * size;
    uint16_t *data = malloc(bytes);
    if (!data) exit(4);
    for (size_t i = 0; i < bytes / 2; i++) { /* bf16 numbers of magnitude 1/4 to 2 */
        seed = seed * 1664525u + 1013904223u;
        data[i] = (uint16_t)((seed >> 16 & 0x8000) | 0x3e80 | (seed >> 20 & 0x1ff));
    }
    t.data = data;
    return t;
}

static double best_of(int runs, struct ascgrad_call *call) {
    char why[ASCGRAD_WHY];
    double best = 1e9;
    for (int i = 0; i < runs; i++) {
        double start = now();
        if (ascgrad_run(call, NULL, why) != ASCGRAD_OK) {
            fprintf(stderr, "%s\n", why);
            exit(1);
        }
        double took = now() - start;
        if (took < best) best = took;
    }
    return best;
}

int main(int argc, char **argv) {
    double least = argc > 1 ? atof(argv[1]) : 5;
    struct ascgrad_tensor in[4] = {
        tensor(B, N, ASCGRAD_TYPE_BF16, 2, 1), tensor(1, 1, ASCGRAD_TYPE_BF16, 2, 2),
        tensor(1, 1, ASCGRAD_TYPE_BF16, 2, 3), tensor(B, N, ASCGRAD_TYPE_BF16, 2, 4)};
    struct ascgrad_tensor out[3] = {tensor(B, N, ASCGRAD_TYPE_BF16, 2, 5),
                                    tensor(1, 1, ASCGRAD_TYPE_BF16, 2, 6),
                                    tensor(1, 1, ASCGRAD_TYPE_BF16, 2, 7)};
    struct ascgrad_call call = {.size = sizeof call,
                                .op = "RotaryPositionEmbeddingGrad",
                                .in = in,
                                .inputs = 4,
                                .out = out,
                                .outputs = 3};
    size_t bytes[3] = {(size_t)B * S * N * D * 2, (size_t)S * D * 2, (size_t)S * D * 2};
    void *kept[3];
    double checked = best_of(1, &call);
    for (int i = 0; i < 3; i++) {
        kept[i] = malloc(bytes[i]);
        if (!kept[i]) return 4;
        memcpy(kept[i], out[i].data, bytes[i]);
        memset(out[i].data, 0, bytes[i]);
    }
    call.fast = true;
    double fast = best_of(3, &call);
    int failed = checked < least * fast;
    for (int i = 0; i < 3; i++) {
        failed += memcmp(kept[i], out[i].data, bytes[i]) != 0;
        free(kept[i]);
        free(out[i].data);
    }
    for (int i = 0; i < 4; i++)
        free(in[i].data);
    printf("RotaryPositionEmbeddingGrad bf16 [%d,%d,%d,%d]: checked %.3f s, fast %.4f s (%.2f "
           "GB/s), %.1f times faster\n",
           B, S, N, D, checked, fast, 3.0 * (double)bytes[0] / fast * 1e-9, checked / fast);
    printf("%d passed, %d failed\n", 4 - failed, failed);
    return failed != 0;
}
