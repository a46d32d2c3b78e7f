/* SPDX-License-Identifier: Apache-2.0
 *
 * Outputs with gaps: see gaps.c.
 */
#ifndef ASCGRAD_OP_API_GAPS_H
#define ASCGRAD_OP_API_GAPS_H

#include "door.h"

struct door_gaps;

/* given[i] becomes what nnopbase gets for output i. *gaps: NULL if there are none. */
aclnnStatus door_gaps_open(const struct door_op *op, const aclTensor *const out[],
                           const aclTensor *given[], struct door_gaps **gaps);
/* Adds to the size of the workspace what they need. */
aclnnStatus door_gaps_size(const struct door_op *op, struct door_gaps *gaps, uint64_t *size);
/* From now on they belong to the executor, and what did before is freed. NULL: nothing does. */
void door_gaps_keep(const void *executor, struct door_gaps *gaps);
struct door_gaps *door_gaps_find(const void *executor);
void door_gaps_free(struct door_gaps *gaps);

/* Before the launch: gives the dense tensors their places in the workspace, and takes them off its
 * size. Behind it: copies them; rest is where the workspace of the launch ends. */
aclnnStatus door_gaps_place(const struct door_op *op, struct door_gaps *gaps,
                            aclOpExecutor *executor, void *workspace, uint64_t *size);
aclnnStatus door_gaps_fill(const struct door_op *op, struct door_gaps *gaps, void *rest,
                           aclrtStream stream);

#endif
