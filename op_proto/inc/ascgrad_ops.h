/* SPDX-License-Identifier: Apache-2.0
 *
 * The IR of the ascgrad operators. Include this header in programs that build GE graphs.
 * Names, order, types and defaults are a promise: once released they do not change.
 */
#ifndef ASCGRAD_OPS_H
#define ASCGRAD_OPS_H

#include "graph/operator_reg.h"

/* The output may have the memory of the input, for callers of aclnn and of the C API. GE gives both
 * memory of their own. */
#ifndef ASCGRAD_IN_PLACE
#define ASCGRAD_IN_PLACE(type, input, output)
#endif

namespace ge {

/* clang-format off */

/* Backward of y = r1 * x + r2 * rotate_half(x). x, dy, dx: [B,S,N,D] in any order of the leading
 * axes, or [T,N,D]. r1 (cos), r2 (sin), dr1, dr2: the same rank, each leading axis equal to x's
 * or 1. D is even. r1 and r2 may be fp32 beside 16-bit x and dy; dr1 and dr2 then are, too. With
 * need_backward=false only dx is computed; dr1 and dr2 are 0. */
REG_OP(RotaryMulGrad)
    .INPUT(x, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16, DT_FLOAT16, DT_BF16}))
    .INPUT(r1, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16, DT_FLOAT, DT_FLOAT}))
    .INPUT(r2, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16, DT_FLOAT, DT_FLOAT}))
    .INPUT(dy, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16, DT_FLOAT16, DT_BF16}))
    .OUTPUT(dx, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16, DT_FLOAT16, DT_BF16}))
    .OUTPUT(dr1, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16, DT_FLOAT, DT_FLOAT}))
    .OUTPUT(dr2, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16, DT_FLOAT, DT_FLOAT}))
    .ATTR(need_backward, Bool, true)
    .OP_END_FACTORY_REG(RotaryMulGrad)
ASCGRAD_IN_PLACE(RotaryMulGrad, dy, dx)

/* Backward of y = P(x) * cos + R(x) * sin. mode: 0 half, 1 interleave, 2 quarter,
 * 3 interleave-half. Shapes and dtypes as above; D is even, a multiple of 4 for mode 2. Without x
 * only dx is computed; dcos and dsin are 0. Where cos has fewer columns than dy, as many of dy from
 * slice_start on are rotated. */
REG_OP(RotaryPositionEmbeddingGrad)
    .INPUT(dy, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16, DT_FLOAT16, DT_BF16}))
    .INPUT(cos, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16, DT_FLOAT, DT_FLOAT}))
    .INPUT(sin, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16, DT_FLOAT, DT_FLOAT}))
    .OPTIONAL_INPUT(x, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16, DT_FLOAT16, DT_BF16}))
    .OUTPUT(dx, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16, DT_FLOAT16, DT_BF16}))
    .OUTPUT(dcos, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16, DT_FLOAT, DT_FLOAT}))
    .OUTPUT(dsin, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16, DT_FLOAT, DT_FLOAT}))
    .ATTR(mode, Int, 0)
    .ATTR(slice_start, Int, 0)
    .OP_END_FACTORY_REG(RotaryPositionEmbeddingGrad)
ASCGRAD_IN_PLACE(RotaryPositionEmbeddingGrad, dy, dx)

/* Backward of RoPE on packed sequences. q, q_grad: [tokens, heads * D]; k, k_grad: [tokens, kv
 * heads * D]; cos, sin: [positions, D]. Positions restart at 0 in every sequence; tokens = sum
 * of qSeqLen. cos and sin may be fp32 beside 16-bit q and k. The default formula multiplies without
 * mixing the halves; exact_grad=true is the true gradient (docs/rope_grad.md). With head_size > 0
 * heads have that many columns, of which as many as cos has, from slice_start on, are rotated. With
 * start_positions sequence i restarts at position start_positions[i]. */
REG_OP(RopeGrad)
    .INPUT(q, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16, DT_FLOAT16, DT_BF16}))
    .INPUT(k, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16, DT_FLOAT16, DT_BF16}))
    .INPUT(cos, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16, DT_FLOAT, DT_FLOAT}))
    .INPUT(sin, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16, DT_FLOAT, DT_FLOAT}))
    .OUTPUT(q_grad, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16, DT_FLOAT16, DT_BF16}))
    .OUTPUT(k_grad, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16, DT_FLOAT16, DT_BF16}))
    .REQUIRED_ATTR(qSeqLen, ListInt)
    .ATTR(exact_grad, Bool, false)
    .ATTR(head_size, Int, 0)
    .ATTR(slice_start, Int, 0)
    .ATTR(start_positions, ListInt, {})
    .OP_END_FACTORY_REG(RopeGrad)
ASCGRAD_IN_PLACE(RopeGrad, q, q_grad)
ASCGRAD_IN_PLACE(RopeGrad, k, k_grad)

/* Backward of norm, concat along the sequence, transpose and rope for query, key and value with
 * an optional encoder part; each of the three has its own number of heads. norm types: 0 none, 1
 * layer norm, 2 layer norm with weight and bias, 3 RMSNorm, 4 RMSNorm with weight; 5 to 8 the same
 * four across heads, with one mean and rstd per token and weights of heads * D; 9 L2 norm. rope_type:
 * 0 none, 1 interleave, 2 half. concat_order: 0 main then encoder, 1 encoder then main. grad_layout:
 * gradients of the outputs are 0 [B,N,S,D], 1 [B,S,N,D]; that of value may be [0]. Note that sin
 * comes before cos. Beside 16-bit data the weights, with the gradients of weights and biases, and
 * sin and cos may be fp32, each for itself. */
REG_OP(NormRopeConcatGrad)
    .INPUT(grad_query_output, TensorType({DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT16, DT_BF16, DT_FLOAT16, DT_BF16, DT_FLOAT16, DT_BF16}))
    .INPUT(grad_key_output, TensorType({DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT16, DT_BF16, DT_FLOAT16, DT_BF16, DT_FLOAT16, DT_BF16}))
    .INPUT(grad_value_output, TensorType({DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT16, DT_BF16, DT_FLOAT16, DT_BF16, DT_FLOAT16, DT_BF16}))
    .INPUT(query, TensorType({DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT16, DT_BF16, DT_FLOAT16, DT_BF16, DT_FLOAT16, DT_BF16}))
    .INPUT(key, TensorType({DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT16, DT_BF16, DT_FLOAT16, DT_BF16, DT_FLOAT16, DT_BF16}))
    .OPTIONAL_INPUT(encoder_query, TensorType({DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT16, DT_BF16, DT_FLOAT16, DT_BF16, DT_FLOAT16, DT_BF16}))
    .OPTIONAL_INPUT(encoder_key, TensorType({DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT16, DT_BF16, DT_FLOAT16, DT_BF16, DT_FLOAT16, DT_BF16}))
    .OPTIONAL_INPUT(norm_query_weight, TensorType({DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT}))
    .OPTIONAL_INPUT(norm_query_mean, TensorType({DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT}))
    .OPTIONAL_INPUT(norm_query_rstd, TensorType({DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT}))
    .OPTIONAL_INPUT(norm_key_weight, TensorType({DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT}))
    .OPTIONAL_INPUT(norm_key_mean, TensorType({DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT}))
    .OPTIONAL_INPUT(norm_key_rstd, TensorType({DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT}))
    .OPTIONAL_INPUT(norm_added_query_weight, TensorType({DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT}))
    .OPTIONAL_INPUT(norm_added_query_mean, TensorType({DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT}))
    .OPTIONAL_INPUT(norm_added_query_rstd, TensorType({DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT}))
    .OPTIONAL_INPUT(norm_added_key_weight, TensorType({DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT}))
    .OPTIONAL_INPUT(norm_added_key_mean, TensorType({DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT}))
    .OPTIONAL_INPUT(norm_added_key_rstd, TensorType({DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT}))
    .OPTIONAL_INPUT(rope_sin, TensorType({DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT}))
    .OPTIONAL_INPUT(rope_cos, TensorType({DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT}))
    .OUTPUT(grad_query, TensorType({DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT16, DT_BF16, DT_FLOAT16, DT_BF16, DT_FLOAT16, DT_BF16}))
    .OUTPUT(grad_key, TensorType({DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT16, DT_BF16, DT_FLOAT16, DT_BF16, DT_FLOAT16, DT_BF16}))
    .OUTPUT(grad_value, TensorType({DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT16, DT_BF16, DT_FLOAT16, DT_BF16, DT_FLOAT16, DT_BF16}))
    .OUTPUT(grad_encoder_query, TensorType({DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT16, DT_BF16, DT_FLOAT16, DT_BF16, DT_FLOAT16, DT_BF16}))
    .OUTPUT(grad_encoder_key, TensorType({DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT16, DT_BF16, DT_FLOAT16, DT_BF16, DT_FLOAT16, DT_BF16}))
    .OUTPUT(grad_encoder_value, TensorType({DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT16, DT_BF16, DT_FLOAT16, DT_BF16, DT_FLOAT16, DT_BF16}))
    .OUTPUT(grad_norm_query_weight, TensorType({DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT}))
    .OUTPUT(grad_norm_query_bias, TensorType({DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT}))
    .OUTPUT(grad_norm_key_weight, TensorType({DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT}))
    .OUTPUT(grad_norm_key_bias, TensorType({DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT}))
    .OUTPUT(grad_norm_added_query_weight, TensorType({DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT}))
    .OUTPUT(grad_norm_added_query_bias, TensorType({DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT}))
    .OUTPUT(grad_norm_added_key_weight, TensorType({DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT}))
    .OUTPUT(grad_norm_added_key_bias, TensorType({DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT16, DT_BF16, DT_FLOAT, DT_FLOAT}))
    .ATTR(norm_type, Int, 0)
    .ATTR(norm_added_type, Int, 0)
    .ATTR(rope_type, Int, 0)
    .ATTR(concat_order, Int, 0)
    .ATTR(grad_layout, Int, 0)
    .OP_END_FACTORY_REG(NormRopeConcatGrad)

/* Backward of y = exp(segsum(x)). grad_output and grad_self (the forward's output y): [..., T,
 * T], rank >= 2; grad_input: [..., T]. Only the strict lower triangle of the two matrices takes
 * part. */
REG_OP(ExpSegsumGrad)
    .INPUT(grad_output, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16}))
    .INPUT(grad_self, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16}))
    .OUTPUT(grad_input, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16}))
    .OP_END_FACTORY_REG(ExpSegsumGrad)

/* clang-format on */

} // namespace ge

#endif
