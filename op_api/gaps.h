/* SPDX-License-Identifier: Apache-2.0
 *
 * Outputs with gaps: see gaps.c.
 */
#ifndef ASCGRAD_OP_API_GAPS_H
#define ASCGRAD_OP_API_GAPS_H

#include "aclnn.h"

struct aclnn_gaps;

/* given[i] becomes what nnopbase gets for output i. *gaps: NULL if there are none. */
aclnnStatus aclnn_gaps_open(const struct aclnn_op *op, const aclTensor *const out[],
                            const aclTensor *given[], struct aclnn_gaps **gaps);
/* Adds to the size of the workspace what they need. */
aclnnStatus aclnn_gaps_size(const struct aclnn_op *op, struct aclnn_gaps *gaps, uint64_t *size);
/* From now on they belong to the executor, and what did before is freed. NULL: nothing does. */
void aclnn_gaps_keep(const void *executor, struct aclnn_gaps *gaps);
struct aclnn_gaps *aclnn_gaps_find(const void *executor);
void aclnn_gaps_free(struct aclnn_gaps *gaps);

/* Before the launch: gives the dense tensors their places in the workspace, and takes them off its
 * size. Behind it: copies them; rest is where the workspace of the launch ends. */
aclnnStatus aclnn_gaps_place(const struct aclnn_op *op, struct aclnn_gaps *gaps,
                             aclOpExecutor *executor, void *workspace, uint64_t *size);
aclnnStatus aclnn_gaps_fill(const struct aclnn_op *op, struct aclnn_gaps *gaps, void *rest,
                            aclrtStream stream);

#endif
