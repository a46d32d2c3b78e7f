/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the backward of rotary position embedding in a graph of small operations, by proof: a
 * tensor is dx if each of its lanes is, term by term, what RotaryPositionEmbeddingGrad computes in
 * one of its modes from three other tensors of the graph. How it was written does not matter.
 */
#ifndef ASCGRAD_FUSION_MATCH_H
#define ASCGRAD_FUSION_MATCH_H

#include "graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the table that the operator wants comes from a tensor of the graph: it is the tensor, or the
 * tensor twice in a row along the last axis, or each of its elements twice. */
enum fusion_how { FUSION_WHOLE, FUSION_HALVES, FUSION_PAIRS };

struct fusion_table {
    int32_t tensor;
    enum fusion_how how;
};

struct fusion_match {
    int32_t mode;
    int32_t dx, dy; /* tensors of one shape and dtype */
    struct fusion_table cos, sin;
    /* The forward input, and the gradients of the tables that the graph computes from it, in the
     * shape that is left after summing; FUSION_ABSENT where there are none. */
    int32_t x, dcos, dsin;
};

struct fusion_found {
    struct fusion_match *match;
    int32_t count;
};

/* Hears why something that looked like a match is none. */
struct fusion_listener {
    void (*say)(void *self, const char *sentence);
    void *self;
};

/* Refuses a spoilt view. The matches do not overlap, and all of them can be made together without
 * making a cycle; free(found->match). listener may be NULL. */
ascgrad_result fusion_find(const struct fusion_graph *graph, struct fusion_found *found,
                           const struct fusion_listener *listener, struct ascgrad_error *error);

#ifdef __cplusplus
}
#endif
#endif
