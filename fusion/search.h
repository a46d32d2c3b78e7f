/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of the matcher share: the state of one search, and the formula of a mode.
 */
#ifndef ASCGRAD_FUSION_SEARCH_H
#define ASCGRAD_FUSION_SEARCH_H

#include "lanes.h"
#include "match.h"

struct fusion_search {
    const struct fusion_graph *graph;
    const struct fusion_listener *listener;
    struct fusion_values values;
    int32_t *depth; /* per node */
    int32_t *start; /* the nodes that read tensor t are reader[start[t]] to reader[start[t+1]-1] */
    int32_t *reader;
    bool *taken; /* per node: part of a match */
};

/* dx[lane] = cos[straight]*dy[straight] + sign*sin[crossed]*dy[crossed]. So, too, the gradients of
 * the tables: dcos[straight] sums dy[straight]*x[lane], dsin[crossed] sums
 * sign*dy[crossed]*x[lane]. */
struct fusion_formula {
    int32_t straight, crossed, sign;
};

enum { FUSION_MODES = 4 };

/* False if the mode does not go with so many lanes. */
bool fusion_mode_fits(int32_t mode, int32_t lanes);
struct fusion_formula fusion_formula(int32_t mode, int32_t lanes, int32_t lane);

/* Sentences for the listener; the first word is the node's name. */
void fusion_say(const struct fusion_search *search, int32_t tensor, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The value of a tensor along its last axis. */
const struct fusion_value *fusion_last_axis(struct fusion_search *search, int32_t tensor,
                                            bool moves);

/* Is the tensor, along its last axis, a run of neighbouring lanes of one other? *base is the first
 * of them. */
bool fusion_is_run(struct fusion_search *search, int32_t tensor, fusion_lane *base);

/* Completes a match by the gradients of the tables, if the graph has them. */
void fusion_find_sums(struct fusion_search *search, struct fusion_match *match);

#endif
