/* SPDX-License-Identifier: Apache-2.0
 *
 * Property tests of the tiling functions: what tiling_property.c gives an operator's maker and
 * judges.
 */
#ifndef ASCGRAD_PROPERTY_H
#define ASCGRAD_PROPERTY_H

#include <stdio.h>

#include "../../core/node.h"

enum { LIST_MAX = 9000 };

/* One random call. The node points into the trial itself. */
struct trial {
    uint64_t random;
    struct ascgrad_node node;
    struct ascgrad_shape in[ASCGRAD_MAX_INPUTS], out[ASCGRAD_MAX_OUTPUTS];
    struct ascgrad_chip chip;
    int64_t list[LIST_MAX], second_list[LIST_MAX];
};

static inline uint64_t draw(struct trial *t, uint64_t n) { /* 0 .. n - 1 */
    uint64_t z = (t->random += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (z ^ z >> 31) % n;
}

static inline bool chance(struct trial *t, unsigned percent) {
    return draw(t, 100) < percent;
}

/* Mostly small, now and then huge, now and then 0. */
int64_t draw_size(struct trial *t);
/* Of a row: around the limits of blocks, repeats and buffers. */
int64_t draw_width(struct trial *t);

/* Sets input i: present, dtype, shape. */
void set_input(struct trial *t, uint32_t i, int32_t dtype, uint32_t rank, const int64_t *dim);

/* An operator: make fills the node's inputs and attributes (types, names and counts are set
 * already; other dtypes of the same column are set behind it); judge looks at an accepted plan,
 * judge_pair at two plans of one node for two chips. Both return NULL or what is wrong. */
struct property {
    const char *kernel;
    void (*make)(struct trial *t, int32_t dtype);
    const char *(*judge)(const struct trial *t, const struct ascgrad_launch *launch);
    const char *(*judge_pair)(const struct ascgrad_launch *a, const struct ascgrad_launch *b);
};

/* property_<op>, in property_<family>.c */
#define ASCGRAD_OP(type, op) extern const struct property property_##op;
#include "ascgrad_ops.inc"
#undef ASCGRAD_OP

/* What is wrong with the keys in kernels/kernel.cpp, where tiling has answered with `keys`, those
 * in `synced` with sync_all: a bit for each. */
const char *judge_keys(const char *kernels, const char *kernel, uint64_t keys, uint64_t synced);

#define NEED(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) return #condition;                                                       \
    } while (0)

typedef __int128 wide_int; /* sums and products here must not be the ones that overflow */

/* Bytes of the L2 cache: those of A2 and A3 if the platform does not say. */
static inline int64_t l2_bytes(const struct trial *t) {
    return t->chip.l2 > 0 ? (int64_t)t->chip.l2 : 192 << 20;
}

static inline int64_t up(int64_t a, int64_t b) {
    return (a + b - 1) / b * b;
}

#endif
