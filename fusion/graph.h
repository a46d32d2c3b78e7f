/* SPDX-License-Identifier: Apache-2.0
 *
 * Our view of a GE graph: what the matcher may know of it. The adapter fills it from ge::Graph, the
 * tests from recorded files and at random. A tensor is one output of one node; a node reads tensors
 * in the order of its type's IR (types.h), the members of a dynamic input one after the other.
 */
#ifndef ASCGRAD_FUSION_GRAPH_H
#define ASCGRAD_FUSION_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "../core/node.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FUSION_MAX_RANK = 8, FUSION_UNKNOWN_RANK = -1, FUSION_ABSENT = -1 };

struct fusion_tensor {
    int32_t node, port;
    int32_t dtype; /* GE's number */
    int32_t rank;  /* FUSION_UNKNOWN_RANK, or 0 to FUSION_MAX_RANK */
    int64_t dim[FUSION_MAX_RANK];
    bool zeros;    /* a constant, and every element is zero */
    int64_t count; /* of ints; 0: not a constant, or one of no interest */
    int64_t *ints; /* the elements of a constant of integers */
};

struct fusion_attr {
    const char *name;
    int64_t count;
    int64_t *ints;
};

struct fusion_type;

struct fusion_node {
    char *type, *name;
    const struct fusion_type *known; /* NULL: opaque */
    int32_t first, outputs;          /* its tensors are first, first + 1, ... */
    int32_t inputs, attrs;
    int32_t *input; /* tensors; FUSION_ABSENT for an optional input that is not connected */
    struct fusion_attr *attr;
    int32_t *after; /* nodes with a control edge to this one */
    int32_t afters;
    bool control; /* a control edge comes in or goes out */
};

struct fusion_graph {
    int32_t nodes, tensors;
    struct fusion_node *node;
    struct fusion_tensor *tensor;
    int32_t node_room, tensor_room;
};

/* Building. Each returns false, or a negative number, when there is no memory; the graph is then
 * still to be freed. Names of attributes are not copied. */
struct fusion_graph *fusion_graph_new(void);
void fusion_graph_free(struct fusion_graph *graph);
int32_t fusion_add_node(struct fusion_graph *graph, const char *type, const char *name,
                        int32_t outputs);
bool fusion_add_input(struct fusion_graph *graph, int32_t node, int32_t tensor);
bool fusion_add_control(struct fusion_graph *graph, int32_t from, int32_t to);
bool fusion_add_attr(struct fusion_graph *graph, int32_t node, const char *name,
                     const int64_t *ints, int64_t count);
bool fusion_set_ints(struct fusion_graph *graph, int32_t tensor, const int64_t *ints,
                     int64_t count);

/* A view that can be worked with: every number points at something, no shape is absurd, no cycle.
 * depth (one per node) receives the length of the longest way from a node without inputs: every
 * node is deeper than what it reads. */
ascgrad_result fusion_check(const struct fusion_graph *graph, int32_t *depth,
                            struct ascgrad_error *error);

static inline bool fusion_same_shape(const struct fusion_tensor *a, const struct fusion_tensor *b) {
    if (a->rank != b->rank) return false;
    for (int32_t i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[i]) return false;
    return true;
}

/* Rank and every dimension known. */
static inline bool fusion_static(const struct fusion_tensor *t) {
    for (int32_t i = 0; i < t->rank; i++)
        if (t->dim[i] < 0) return false;
    return t->rank >= 0;
}

/* Product of the dimensions [from, to) of a static shape. */
static inline int64_t fusion_elements(const struct fusion_tensor *t, int32_t from, int32_t to) {
    int64_t n = 1;
    for (int32_t i = from; i < to; i++)
        n *= t->dim[i];
    return n;
}

/* Does a's shape broadcast to b's: aligned at the right, each dimension equal or 1? */
bool fusion_broadcasts(const struct fusion_tensor *a, const struct fusion_tensor *b);

#ifdef __cplusplus
}
#endif
#endif
