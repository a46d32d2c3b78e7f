/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a graph on numbers, the plain way: no lanes, no algebra, every operation by its definition.
 * In double throughout, or rounded to its dtype after every operation, as separate kernels do.
 */
#ifndef ASCGRAD_TESTS_FUSION_EVALUATE_H
#define ASCGRAD_TESTS_FUSION_EVALUATE_H

#include "../../fusion/match.h"

#ifdef __cplusplus
extern "C" {
#endif

struct numbers {
    const struct fusion_graph *graph;
    double **of; /* per tensor; NULL until computed */
    bool rounded;
};

bool start_numbers(struct numbers *numbers, const struct fusion_graph *graph, bool rounded);
void free_numbers(struct numbers *numbers);

/* Fills every Data node and every opaque constant with numbers in (-1, 1), those of the dtype. */
bool draw_inputs(struct numbers *numbers, uint64_t seed);

/* The elements of a tensor; NULL if the graph has an operation that this file does not. */
const double *compute(struct numbers *numbers, int32_t tensor);

double round_to(int32_t dtype, double value);
int64_t elements_of(const struct fusion_tensor *tensor);

/* What the operator computes from dy, cos, sin and x of a match: the value of element i of dx, and
 * the sum of the magnitudes of its terms. */
struct judged {
    double value, magnitude;
};
struct judged judge_dx(struct numbers *numbers, const struct fusion_match *match, int64_t i);

/* Likewise element i of dcos (or dsin). */
struct judged judge_sum(struct numbers *numbers, const struct fusion_match *match, bool of_sin,
                        int64_t i);

#ifdef __cplusplus
}
#endif
#endif
