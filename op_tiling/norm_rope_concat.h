/* SPDX-License-Identifier: Apache-2.0
 *
 * NormRopeConcatGrad: what checking the node finds out and planning needs.
 */
#ifndef ASCGRAD_NORM_ROPE_CONCAT_H
#define ASCGRAD_NORM_ROPE_CONCAT_H

#include "../core/node.h"
#include "../op_kernel/norm_rope_concat_grad_tiling_data.h"

/* seq: query, encoder_query, key, encoder_key; 0 if absent. dtype of the data; weights and tables
 * are of the same or fp32. */
struct nrc_shapes {
    int64_t batch, heads, dim, rope_rows;
    int64_t seq[NRC_NORMED];
    int64_t norm[2], rope, order;
    int32_t dtype, weights, tables;
};

/* Norm types: 0 none, 1 layer norm, 2 with weight and bias, 3 RMSNorm, 4 with weight. */
enum { NRC_NORM_TYPES = 5 };

static inline bool nrc_centred(int64_t norm) {
    return norm == 1 || norm == 2;
}

static inline bool nrc_weighted(int64_t norm) {
    return norm == 2 || norm == 4;
}

/* Refuses whatever the kernel cannot rely on; fills shapes. */
ascgrad_result nrc_check(const struct ascgrad_node *node, struct nrc_shapes *shapes,
                         struct ascgrad_error *error);

#endif
