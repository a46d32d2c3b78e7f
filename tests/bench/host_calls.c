/* SPDX-License-Identifier: Apache-2.0
 *
 * Times the infer and tiling functions: GE calls them on every launch of a dynamic graph.
 * Prints one line per operator: type, nanoseconds per infer, nanoseconds per tiling, allocations
 * seen. host_calls 2048: with so many sequences for RopeGrad, of 8 tokens in the mean.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../core/node.h"
#include "../functions.h"

/* A typical call: shapes of the inputs by IR index (rank 0: absent), int attributes, and a list for
 * RopeGrad. */
static const struct call {
    const char *type;
    int64_t in[ASCGRAD_MAX_INPUTS][5]; /* rank, then dimensions */
    int64_t attr[ASCGRAD_MAX_ATTRS];
} calls[] = {
    {"RotaryMulGrad",
     {{4, 2, 4096, 32, 128}, {4, 1, 4096, 1, 128}, {4, 1, 4096, 1, 128}, {4, 2, 4096, 32, 128}},
     {1}},
    {"RotaryPositionEmbeddingGrad",
     {{4, 2, 4096, 32, 128}, {4, 1, 4096, 1, 128}, {4, 1, 4096, 1, 128}, {4, 2, 4096, 32, 128}},
     {1}},
    {"RopeGrad", {{2, 16384, 4096}, {2, 16384, 1024}, {2, 2048, 128}, {2, 2048, 128}}, {0}},
    {"NormRopeConcatGrad",
     {{4, 1, 24, 4608, 128},
      {4, 1, 24, 4608, 128},
      {4, 1, 24, 4608, 128},
      {4, 1, 4096, 24, 128},
      {4, 1, 4096, 24, 128},
      {4, 1, 512, 24, 128},
      {4, 1, 512, 24, 128},
      {1, 128},
      {4, 1, 4096, 24, 1},
      {4, 1, 4096, 24, 1},
      {1, 128},
      {4, 1, 4096, 24, 1},
      {4, 1, 4096, 24, 1},
      {1, 128},
      {4, 1, 512, 24, 1},
      {4, 1, 512, 24, 1},
      {1, 128},
      {4, 1, 512, 24, 1},
      {4, 1, 512, 24, 1},
      {2, 4608, 128},
      {2, 4608, 128}},
     {2, 2, 2, 0}},
    {"ExpSegsumGrad", {{4, 16, 16, 256, 256}, {4, 16, 16, 256, 256}}, {0}},
};

static int64_t lengths[65536];
static size_t sequences = 16;

static void make_node(const struct call *c, const struct ascgrad_ir *ir, struct ascgrad_node *node,
                      struct ascgrad_shape *shapes) {
    memset(node, 0, sizeof *node);
    *node = (struct ascgrad_node){.ir = ir, .name = "bench"};
    for (uint32_t i = 0; i < ir->inputs; i++) {
        if (!c->in[i][0]) continue;
        shapes[i].rank = (uint64_t)c->in[i][0];
        for (int k = 0; k < c->in[i][0]; k++)
            shapes[i].dim[k] = c->in[i][k + 1];
        bool single = !strstr(ir->in[i].types, "bf16");
        node->in[i] = (struct ascgrad_arg){true, single ? ASCGRAD_FP32 : ASCGRAD_BF16, &shapes[i]};
    }
    for (uint32_t i = 0; i < ir->attrs; i++)
        node->attr[i] = (struct ascgrad_attr){ir->attr[i].kind, c->attr[i], lengths, sequences, 0};
    if (strcmp(c->type, "RopeGrad") == 0) {
        shapes[0].dim[0] = 0;
        for (size_t i = 0; i < sequences; i++)
            shapes[0].dim[0] += lengths[i];
        shapes[1].dim[0] = shapes[0].dim[0];
    }
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

enum { ROUNDS = 20, CALLS = 20000 };

int main(int argc, char **argv) {
    const struct ascgrad_chip chip = {48, 2201, 196352, 0};
    int status = 0;
    if (argc > 1) sequences = strtoul(argv[1], NULL, 10);
    if (sequences > sizeof lengths / sizeof lengths[0]) return 1;
    for (size_t i = 0; i < sequences; i++)
        lengths[i] = argc > 1 ? 1 + (int64_t)(i * 7919 % 15) : 1024;
    for (size_t f = 0; f < sizeof functions / sizeof functions[0]; f++) {
        struct ascgrad_node node;
        struct ascgrad_shape shapes[ASCGRAD_MAX_INPUTS], out[ASCGRAD_MAX_OUTPUTS],
            *outs[ASCGRAD_MAX_OUTPUTS];
        struct ascgrad_error error = {""};
        static unsigned char data[16384];
        for (size_t c = 0; c < sizeof calls / sizeof calls[0]; c++)
            if (strcmp(calls[c].type, functions[f].type) == 0)
                for (uint32_t k = 0; k < ascgrad_ir_count; k++)
                    if (strcmp(ascgrad_ir_table[k].type, functions[f].type) == 0)
                        make_node(&calls[c], &ascgrad_ir_table[k], &node, shapes);
        for (int i = 0; i < ASCGRAD_MAX_OUTPUTS; i++)
            outs[i] = &out[i];
        struct mallinfo2 before = mallinfo2();
        double infer = 1e30, tile = 1e30; /* the best round: others share this machine */
        for (int round = 0; round < ROUNDS && !error.text[0]; round++) {
            double start = now();
            for (int i = 0; i < CALLS; i++)
                functions[f].infer(&node, outs, &error);
            double middle = now();
            for (int i = 0; i < CALLS; i++) {
                struct ascgrad_launch launch = {.data = data, .capacity = sizeof data};
                functions[f].tile(&node, &chip, &launch, &error);
            }
            double end = now();
            if ((middle - start) / CALLS < infer) infer = (middle - start) / CALLS;
            if ((end - middle) / CALLS < tile) tile = (end - middle) / CALLS;
        }
        struct mallinfo2 after = mallinfo2();
        if (error.text[0]) {
            fprintf(stderr, "%s\n", error.text);
            status = 1;
        }
        printf("%s %.0f %.0f %s\n", functions[f].type, infer, tile,
               after.uordblks == before.uordblks ? "none" : "some");
    }
    return status;
}
