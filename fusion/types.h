/* SPDX-License-Identifier: Apache-2.0
 *
 * The GE types the matcher understands: the names of their inputs and of the attributes that say
 * what they do. Every other type is opaque: its outputs are just tensors.
 */
#ifndef ASCGRAD_FUSION_TYPES_H
#define ASCGRAD_FUSION_TYPES_H

#include "graph.h"

#ifdef __cplusplus
extern "C" {
#endif

enum fusion_kind {
    FUSION_OPAQUE,
    FUSION_MUL,
    FUSION_ADD,
    FUSION_SUB,
    FUSION_NEG,
    FUSION_ZEROS,
    FUSION_SAME,   /* the same elements in the same order; the shape may differ */
    FUSION_EXPAND, /* broadcast to the output's shape */
    FUSION_TRANSPOSE,
    FUSION_SLICE,
    FUSION_STRIDED,
    FUSION_STRIDED_GRAD,
    FUSION_SPLIT,
    FUSION_CONCAT,
    FUSION_PACK,
    FUSION_UNPACK,
    FUSION_GATHER,
    FUSION_PAD,
    FUSION_SCATTER,
    FUSION_RANGE,
    FUSION_SUM, /* over axes */
};

enum { FUSION_TYPE_INPUTS = 5, FUSION_TYPE_ATTRS = 7 };

enum fusion_attr_kind {
    FUSION_INT,
    FUSION_BOOL,
    FUSION_LIST,
    FUSION_LIST_LIST, /* rows one after the other */
    FUSION_NONE,      /* a string, seen as 1 if it is "none" and as 0 otherwise */
};

struct fusion_type {
    const char *name;
    enum fusion_kind kind;
    const char *input[FUSION_TYPE_INPUTS]; /* "*x" is dynamic, "?x" optional */
    struct {
        const char *name;
        enum fusion_attr_kind kind;
    } attr[FUSION_TYPE_ATTRS];
};

/* NULL for a type that is opaque. */
const struct fusion_type *fusion_find_type(const char *name);

/* The tensors connected to input `name` of a node: *first is an index into node->input. Zero if
 * the type or the node has no such input. */
int32_t fusion_inputs(const struct fusion_node *node, const char *name, int32_t *first);

static inline enum fusion_kind fusion_kind_of(const struct fusion_node *node) {
    return node->known ? node->known->kind : FUSION_OPAQUE;
}

/* The one tensor connected to an input, or FUSION_ABSENT. */
int32_t fusion_input(const struct fusion_node *node, const char *name);

/* Integers that a node is given as an attribute or as a constant input. Returns how many there are,
 * or -1 if the node has none of that name, they are not constant, or more than `room`. */
int64_t fusion_ints(const struct fusion_graph *graph, const struct fusion_node *node,
                    const char *name, int64_t *ints, int64_t room);

/* One integer; `otherwise` if it is not given. False if it is given and cannot be known. */
bool fusion_int(const struct fusion_graph *graph, const struct fusion_node *node, const char *name,
                int64_t otherwise, int64_t *value);

#ifdef __cplusplus
}
#endif
#endif
