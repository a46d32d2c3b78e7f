/* SPDX-License-Identifier: Apache-2.0
 *
 * Our view of one operator node. GE's contexts, the command line, the tests and the twin all fill
 * this same structure; infer and tiling functions see nothing else. Plain data, no allocation, safe
 * from many threads.
 */
#ifndef ASCGRAD_CORE_NODE_H
#define ASCGRAD_CORE_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ir.h"

#ifdef __cplusplus
extern "C" {
#endif

/* GE's own numbers, so that no translation is needed. */
enum ascgrad_dtype { ASCGRAD_FP32 = 0, ASCGRAD_FP16 = 1, ASCGRAD_BF16 = 27 };

#define ASCGRAD_UNKNOWN_DIM  (-1)
#define ASCGRAD_UNKNOWN_RANK (-2)

/* Same first 208 bytes as GE's Shape: a pointer to theirs is a pointer to ours.
 * Unknown rank is rank 1 with dim[0] == -2; an unknown dimension is -1. */
struct ascgrad_shape {
    uint64_t rank;
    int64_t dim[ASCGRAD_MAX_RANK];
};

/* One IR input or output. An optional input that is not connected has present == false and shape ==
 * NULL. shape is NULL too where the caller has none (dtype inference; output shapes at infer time).
 */
struct ascgrad_arg {
    bool present;
    int32_t dtype; /* enum ascgrad_dtype, or another GE number, which operators refuse */
    const struct ascgrad_shape *shape;
};

/* An attribute by value; a list points at packed, possibly unaligned int64 or float: read it with
 * ascgrad_list_at or ascgrad_float_at. */
struct ascgrad_attr {
    enum ascgrad_attr_kind kind;
    int64_t i; /* int, or bool as 0/1 */
    const void *list;
    size_t count;
    float f;
};

/* What the attribute is when nobody sets it. */
static inline struct ascgrad_attr ascgrad_attr_default(const struct ascgrad_ir_attr *ir) {
    struct ascgrad_attr attr = {ir->kind, ir->initial, NULL, 0, ir->initial_f};
    return attr;
}

static inline int64_t ascgrad_list_at(const struct ascgrad_attr *attr, size_t k) {
    int64_t v;
    memcpy(&v, (const char *)attr->list + k * sizeof v, sizeof v);
    return v;
}

static inline float ascgrad_float_at(const struct ascgrad_attr *attr, size_t k) {
    float v;
    memcpy(&v, (const char *)attr->list + k * sizeof v, sizeof v);
    return v;
}

/* Inputs, outputs and attributes by IR index: as many, and named, as ir says. */
struct ascgrad_node {
    const struct ascgrad_ir *ir;
    const char *name;
    struct ascgrad_arg in[ASCGRAD_MAX_INPUTS];
    struct ascgrad_arg out[ASCGRAD_MAX_OUTPUTS]; /* tiling only: shapes as the graph has them */
    struct ascgrad_attr attr[ASCGRAD_MAX_ATTRS];
};

/* What tiling may know of the chip. ub is what a kernel may use: the reserved tail is already taken
 * off. */
enum {                          /* CANN's numbers. A3 is as A2; 350 and 960DT are as 950. */
       ASCGRAD_ARCH_910 = 1001, /* the first generation, which few operators have a kernel for */
       ASCGRAD_ARCH_A2 = 2201,
       ASCGRAD_ARCH_950 = 3510,
       ASCGRAD_ARCH_960DT = 9201, /* runs the kernels of the 950: seen by ge/chip.c only */
};
struct ascgrad_chip {
    uint32_t cores; /* vector cores */
    uint32_t arch;
    uint64_t ub; /* bytes */
    uint64_t l2; /* bytes; 0: not known */
};

/* What tiling decides. data is filled through ascgrad_put; the struct is the kernel's
 * <op>_tiling_data.h. */
struct ascgrad_launch {
    uint64_t key;
    uint32_t block_dim;
    uint64_t workspace; /* bytes for the operator itself; the bridge adds the system's share */
    bool sync_all;      /* the kernel uses SyncAll: GE must schedule all blocks at once */
    void *data;
    size_t capacity, size;
};

/* One sentence: operator, node, rule, the two numbers that clash. */
struct ascgrad_error {
    char text[320];
};

typedef enum { ASCGRAD_DONE = 0, ASCGRAD_REFUSED = 1 } ascgrad_result;

/* Writes "<type> '<name>': <sentence>" and returns ASCGRAD_REFUSED. */
ascgrad_result ascgrad_refuse(struct ascgrad_error *error, const struct ascgrad_node *node,
                              const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Appends the tiling struct; refuses when the buffer is too small. */
ascgrad_result ascgrad_put(struct ascgrad_launch *launch, const struct ascgrad_node *node,
                           const void *data, size_t size, struct ascgrad_error *error);

/* "fp32", "fp16", "bf16"; other types of GE by name too, as they end up in refusals. */
const char *ascgrad_dtype_name(int32_t dtype);
size_t ascgrad_dtype_size(int32_t dtype); /* 4 or 2; 0 for anything else */

/* Entry `column` of an argument's list of types in the IR; -1 behind the end. */
int32_t ascgrad_type_at(const char *types, uint32_t column);

/* The first column of the IR with the dtypes of the node's inputs and outputs, where they are
 * connected; -1: there is none. */
int32_t ascgrad_column(const struct ascgrad_node *node);

/* "[2,-1,5]" into a caller's buffer, for error sentences; returns the buffer. */
struct ascgrad_text {
    char s[96];
};
const char *ascgrad_shape_text(const struct ascgrad_shape *shape, struct ascgrad_text *buffer);

static inline bool ascgrad_rank_known(const struct ascgrad_shape *s) {
    return !(s->rank == 1 && s->dim[0] == ASCGRAD_UNKNOWN_RANK);
}

/* Every dimension known and >= 0, rank within bounds: what tiling needs before it multiplies
 * anything. */
bool ascgrad_shape_concrete(const struct ascgrad_shape *s);

/* Product of the dimensions [from, to); the empty product is 1. -1 when it does not fit int64. */
int64_t ascgrad_elements(const struct ascgrad_shape *s, uint64_t from, uint64_t to);

bool ascgrad_shape_equal(const struct ascgrad_shape *a, const struct ascgrad_shape *b);

/* Checks used by every infer and tiling; each refuses with its own sentence. */

/* The input is connected and has a shape, known or not. */
ascgrad_result ascgrad_need_input(const struct ascgrad_node *node, uint32_t input,
                                  struct ascgrad_error *error);

/* The input is connected, its shape is concrete, and no product of its dimensions times 8
 * overflows. */
ascgrad_result ascgrad_need_concrete(const struct ascgrad_node *node, uint32_t input,
                                     struct ascgrad_error *error);

/* All connected inputs of the range have one of the three dtypes, and together those of a column.
 */
ascgrad_result ascgrad_need_dtype(const struct ascgrad_node *node, uint32_t first, uint32_t count,
                                  struct ascgrad_error *error);

/* Both for all inputs: what the IR requires and what else is connected. */
ascgrad_result ascgrad_need_inputs(const struct ascgrad_node *node, struct ascgrad_error *error);

/* Where the graph knows the output, it has this shape and dtype. */
ascgrad_result ascgrad_need_output(const struct ascgrad_node *node, uint32_t output,
                                   const struct ascgrad_shape *shape, int32_t dtype,
                                   struct ascgrad_error *error);

/* The chip is not of the first generation: for operators that have no kernel there. */
ascgrad_result ascgrad_need_later_chip(const struct ascgrad_node *node,
                                       const struct ascgrad_chip *chip,
                                       struct ascgrad_error *error);

/* The attribute is an integer from 0 to most. */
ascgrad_result ascgrad_need_attr(const struct ascgrad_node *node, uint32_t attr, int64_t most,
                                 struct ascgrad_error *error);

/* The pure functions of an operator; the names are ascgrad_infer_<op>, ascgrad_infer_dtype_<op>,
 * ascgrad_tile_<op> with <op> in snake case (exp_segsum_grad). out[] has node->ir->outputs entries.
 */
typedef ascgrad_result ascgrad_infer_fn(const struct ascgrad_node *node,
                                        struct ascgrad_shape *const out[],
                                        struct ascgrad_error *error);
typedef ascgrad_result ascgrad_infer_dtype_fn(const struct ascgrad_node *node, int32_t out[],
                                              struct ascgrad_error *error);
typedef ascgrad_result ascgrad_tile_fn(const struct ascgrad_node *node,
                                       const struct ascgrad_chip *chip,
                                       struct ascgrad_launch *launch, struct ascgrad_error *error);

/* ascgrad_min_bytes_<op>: the least a call must move through HBM; every input element that takes
 * part read once, every output written once. The node has passed tiling. */
typedef uint64_t ascgrad_min_bytes_fn(const struct ascgrad_node *node);

#ifdef __cplusplus
}
#endif
#endif
