/* SPDX-License-Identifier: Apache-2.0
 *
 * The forward of NormRopeConcatGrad, as mindiesd ships it, in double precision.
 */
#ifndef ASCGRAD_REFERENCE_NORM_ROPE_CONCAT_H
#define ASCGRAD_REFERENCE_NORM_ROPE_CONCAT_H

#include "reference.h"

enum { REF_QUERY, REF_ENCODER_QUERY, REF_KEY, REF_ENCODER_KEY, REF_VALUE, REF_ENCODER_VALUE };
enum { REF_STREAMS = 6, REF_FORWARD_DIM = 64 };

/* x is [batch, seq, heads, dim]; mean and rstd, [batch, seq, heads] or, across heads, [batch, seq],
 * are filled where there is a norm; value streams have none. */
struct ref_stream {
    int64_t seq;
    int norm; /* 0 to 9 */
    struct ref_tensor x, mean, rstd, gamma, beta;
};

struct ref_forward {
    int64_t batch, heads[3], dim, rope_rows; /* query's, key's, value's; dim to REF_FORWARD_DIM */
    int rope, concat_order; /* 0 none, 1 interleave, 2 half; 1: the added part first */
    int layout;             /* of the outputs: 1 is [batch, both lengths, heads, dim] */
    double eps;
    const double *sin, *cos; /* [rope_rows, dim] */
    struct ref_stream stream[REF_STREAMS];
    double *output[3]; /* query, key, value: [batch, heads, both lengths, dim] */
};

void ref_norm_rope_concat(const struct ref_forward *);

#endif
