/* SPDX-License-Identifier: Apache-2.0
 *
 * What a tensor holds, lane by lane. Its first `lead` axes are left alone; the elements along all
 * axes behind them, in row-major order, are its lanes. Each lane is a sum of at most four products
 * +-a[j]*b[k] of lanes of other tensors; these hold for every index into the leading axes, with
 * a and b broadcast over them. What no rule explains stands for itself: +1*self[lane].
 */
#ifndef ASCGRAD_FUSION_LANES_H
#define ASCGRAD_FUSION_LANES_H

#include "types.h"

enum { FUSION_MAX_LANES = 2048, FUSION_MAX_TERMS = 4, FUSION_MAX_VALUES = 96 };

/* A lane of a tensor seen with `lead` leading axes; 0 is "no factor". The next lane is one more. */
typedef uint64_t fusion_lane;

static inline fusion_lane fusion_lane_of(int32_t tensor, int32_t lead, int32_t lane) {
    return ((uint64_t)(uint32_t)tensor + 1) << 32 | (uint64_t)lead << 16 | (uint64_t)lane;
}

struct fusion_term {
    int32_t sign;
    fusion_lane a, b; /* b is 0 where there is only one factor */
};

/* The factor of a term beside `known`; 0 if that is not one of its factors. */
static inline fusion_lane fusion_other_factor(const struct fusion_term *term, fusion_lane known) {
    return term->a == known ? term->b : term->b == known ? term->a : 0;
}

struct fusion_value {
    int32_t lanes;
    uint8_t *terms; /* per lane */
    struct fusion_term (*term)[FUSION_MAX_TERMS];
};

/* How the lanes of a tensor come from those of others: lane i is lane source[i] of input from[i],
 * or zero where from[i] is negative. All inputs have the same leading axes as the tensor. */
struct fusion_move {
    const int32_t *input;
    int32_t inputs, lead;
    int32_t *from, *source;
};

/* False if the tensor is not made by moving lanes. from and source have room for its lanes. */
bool fusion_find_move(const struct fusion_graph *graph, int32_t tensor, int32_t lead,
                      struct fusion_move *move);

/* Integers that depend on the lane only (one leading axis less than the rank): constants, ranges,
 * and broadcasts of them. */
bool fusion_lane_ints(const struct fusion_graph *graph, int32_t tensor, int64_t *ints,
                      int64_t lanes);

/* Values of one neighbourhood, each found once. */
struct fusion_values {
    const struct fusion_graph *graph;
    int64_t work; /* lanes written so far; grows over neighbourhoods */
    int32_t count;
    struct {
        int32_t tensor, lead;
        bool moves;
        struct fusion_value value;
    } known[FUSION_MAX_VALUES];
};

void fusion_forget(struct fusion_values *values);

/* The value of a tensor. With `moves` only lanes are followed, not sums and products, so that each
 * lane is at most one term of one factor: so the factors of a product are found, and these are the
 * tensors as the graph has them, however they came to be. NULL: too many lanes, no memory, or
 * too large a neighbourhood. */
const struct fusion_value *fusion_value(struct fusion_values *values, int32_t tensor, int32_t lead,
                                        bool moves);

#endif
