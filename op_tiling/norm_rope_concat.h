/* SPDX-License-Identifier: Apache-2.0
 *
 * NormRopeConcatGrad: what checking the node finds out and planning needs.
 */
#ifndef ASCGRAD_NORM_ROPE_CONCAT_H
#define ASCGRAD_NORM_ROPE_CONCAT_H

#include "../core/node.h"
#include "../op_kernel/norm_rope_concat_grad_tiling_data.h"

/* heads: of query, key, value; seq: query, encoder_query, key, encoder_key; 0 if absent. dtype of
 * the data; weights and tables are of the same or fp32. */
struct nrc_shapes {
    int64_t batch, heads[3], dim, rope_rows;
    int64_t seq[NRC_NORMED];
    int64_t norm[2], rope, order, layout;
    int32_t dtype, weights, tables;
};

/* Norm types: 0 none, 1 layer norm, 2 with weight and bias, 3 RMSNorm, 4 with weight; 5 to 8 the
 * same across heads; 9 L2. */
enum { NRC_L2 = 9, NRC_NORM_TYPES };

static inline bool nrc_across(int64_t norm) {
    return norm > 4 && norm < NRC_L2;
}

static inline bool nrc_centred(int64_t norm) {
    return norm == 1 || norm == 2 || norm == 5 || norm == 6;
}

static inline bool nrc_weighted(int64_t norm) {
    return norm != 0 && norm % 2 == 0;
}

/* Refuses whatever the kernel cannot rely on; fills shapes. */
ascgrad_result nrc_check(const struct ascgrad_node *node, struct nrc_shapes *shapes,
                         struct ascgrad_error *error);

#endif
