/* SPDX-License-Identifier: Apache-2.0
 *
 * What infer answers, and what infer and tiling refuse on their own. The words are those of rows.h.
 */

/* ExpSegsumGrad */
INFER("ExpSegsumGrad", "grad_output=fp16[2,3,4,4] grad_self=fp16[2,3,4,4]", "grad_input=fp16[2,3,4]")
INFER("ExpSegsumGrad", "grad_output=fp32[4,4] grad_self=fp32[4,4]", "grad_input=fp32[4]")
INFER("ExpSegsumGrad", "grad_output=fp16[-2] grad_self=fp16[-2]", "grad_input=fp16[-2]")
INFER("ExpSegsumGrad", "grad_output=fp16[-2] grad_self=fp16[2,-1,7]", "grad_input=fp16[2,7]")
INFER("ExpSegsumGrad", "grad_output=bf16[2,7,-1] grad_self=bf16[-2]", "grad_input=bf16[2,7]")
INFER("ExpSegsumGrad", "grad_output=fp16[-1,-1,-1] grad_self=fp16[3,4,4]", "grad_input=fp16[-1,-1]")
INFER("ExpSegsumGrad", "grad_output=fp16[3,4,4] grad_self=fp16[-1,4,-1]", "grad_input=fp16[3,4]")
INFER_REFUSE("ExpSegsumGrad", "grad_self=fp16[4,4]", "input grad_output is required")
INFER_REFUSE("ExpSegsumGrad", "grad_output=fp16[4,4] grad_self=fp16", "input grad_self is required")
INFER("ExpSegsumGrad", "grad_output=fp16[1,1,1,1,1,1,4,4] grad_self=fp16[1,1,1,1,1,1,4,4]", "grad_input=fp16[1,1,1,1,1,1,4]")
INFER_REFUSE("ExpSegsumGrad", "grad_output=fp16[1,1,1,1,1,1,1,4,4] grad_self=fp16[1,1,1,1,1,1,1,4,4]", "rank of 2 to 8")
TILE_REFUSE("ExpSegsumGrad", "grad_output=fp16[1,1,1,1,1,1,1,4,4] grad_self=fp16[1,1,1,1,1,1,1,4,4]", "at most 8 dimensions")
INFER_REFUSE("ExpSegsumGrad", "grad_output=fp16[4,4] grad_self=fp16[4,4] rank26=0", "rank of 2 to 8")
INFER_REFUSE("ExpSegsumGrad", "grad_output=fp16[4,4] grad_self=fp16[4,4] rank26=1", "rank of 2 to 8")
INFER_REFUSE("ExpSegsumGrad", "grad_output=fp16[4,5] grad_self=fp16[4,4]", "last two dimensions of grad_output")
INFER_REFUSE("ExpSegsumGrad", "grad_output=fp16[4,4] grad_self=fp16[5,4]", "last two dimensions of grad_self")
INFER_REFUSE("ExpSegsumGrad", "grad_output=fp16[0,4] grad_self=fp16[0,4]", "last two dimensions of grad_output")
INFER_REFUSE("ExpSegsumGrad", "grad_output=fp16[1,4,4] grad_self=fp16[0,4,4]", "must have the shape of grad_output")
INFER("ExpSegsumGrad", "grad_output=fp16[0,0] grad_self=fp16[0,0]", "grad_input=fp16[0]")
TILE_REFUSE("ExpSegsumGrad", "grad_self=fp16[4,4]", "grad_output")
TILE_REFUSE("ExpSegsumGrad", "grad_output=fp16[4,4]", "grad_self")
TILE_REFUSE("ExpSegsumGrad", "grad_output=fp16[4,-1] grad_self=fp16[4,4]", "grad_output")
TILE_REFUSE("ExpSegsumGrad", "grad_output=fp16[4] grad_self=fp16[4]", "rank of 2 or more")
TILE_REFUSE("ExpSegsumGrad", "grad_output=fp16[4,5] grad_self=fp16[4,5]", "must be equal")
TILE_REFUSE("ExpSegsumGrad", "grad_output=fp16[4,4] grad_self=fp16[5,5]", "must have the shape of grad_output")
TILE_REFUSE("ExpSegsumGrad", "grad_output=int32[4,4] grad_self=int32[4,4]", "int32")
TILE_REFUSE("ExpSegsumGrad", "grad_output=fp16[4,4] grad_self=fp16[4,4] out.grad_input=fp16[5]", "grad_input has shape [5], but must be [4]")
TILE_REFUSE("ExpSegsumGrad", "grad_output=fp16[4,4] grad_self=fp16[4,4] out.grad_input=fp16[4,4]", "grad_input has shape [4,4], but must be [4]")
TILE_REFUSE("ExpSegsumGrad", "grad_output=fp16[4,4] grad_self=fp16[4,4] out.grad_input=fp32[4]", "grad_input is fp32")
TILE_REFUSE("ExpSegsumGrad", "grad_output=fp16[4,4] grad_self=fp16[4,4] capacity=40", "tiling data takes")
TILE_ACCEPT("ExpSegsumGrad", "grad_output=fp16[4,4] grad_self=fp16[4,4] out.grad_input=fp16")
TILE_ACCEPT("ExpSegsumGrad", "grad_output=fp16[4,4] grad_self=fp16[4,4] cores=0")
TILE_ACCEPT("ExpSegsumGrad", "grad_output=fp16[4,4] grad_self=fp16[4,4] out.grad_input=fp16[4]")

/* RotaryMulGrad, RotaryPositionEmbeddingGrad */
INFER("RotaryMulGrad", "x=fp16[2,-1,8] r1=fp16[1,3,8] r2=fp16[-2] dy=fp16[2,3,8]", "dx=fp16[2,-1,8] dr1=fp16[1,3,8] dr2=fp16[-2]")
INFER("RotaryPositionEmbeddingGrad", "dy=bf16[2,-1,8] cos=bf16[1,3,8] sin=bf16[1,3,8]", "dx=bf16[2,-1,8] dcos=bf16[1,3,8] dsin=bf16[1,3,8]")
INFER("RotaryPositionEmbeddingGrad", "dy=fp16[1,1,1,1,1,1,1,2] cos=fp16[2] sin=fp16[0]", "dx=fp16[1,1,1,1,1,1,1,2] dcos=fp16[2] dsin=fp16[0]")
TILE_REFUSE("RotaryPositionEmbeddingGrad", "dy=fp16[34359738368,63,3] cos=fp16[1,63,2] sin=fp16[1,63,2] x=fp16[34359738368,63,3]", "the sums of dy [34359738368,63,3] need")
INFER_REFUSE("RotaryPositionEmbeddingGrad", "dy=fp16[1,1,1,1,1,1,1,1,2] cos=fp16[2] sin=fp16[2]", "dy has more than 8 dimensions: [1,1,1,1,1,1,1,1,2]")
TILE_REFUSE("RotaryPositionEmbeddingGrad", "dy=fp16[1,1,1,1,1,1,1,1,2] cos=fp16[1,1,1,1,1,1,1,1,2] sin=fp16[1,1,1,1,1,1,1,1,2]", "at most 8 dimensions, got [1,1,1,1,1,1,1,1,2]")
INFER_REFUSE("RotaryMulGrad", "r1=fp16[3,8] r2=fp16[3,8] dy=fp16[3,8]", "input x is required")
INFER_REFUSE("RotaryMulGrad", "x=fp16[3,8] r1=fp16[3,8] r2=fp16 dy=fp16[3,8]", "input r2 is required")
INFER_REFUSE("RotaryPositionEmbeddingGrad", "dy=fp16[3,8] cos=fp16[3,8]", "input sin is required")
INFER_REFUSE("RotaryPositionEmbeddingGrad", "dy=fp16[3,8] cos=fp16[3,8] sin=fp16[3,8] rank26=1", "more than 8 dimensions")
TILE_REFUSE("RotaryMulGrad", "r1=fp16[3,8] r2=fp16[3,8] dy=fp16[3,8]", "x")
TILE_REFUSE("RotaryMulGrad", "x=fp16[3,8] r2=fp16[3,8] dy=fp16[3,8]", "r1")
TILE_REFUSE("RotaryMulGrad", "x=fp16[3,8] r1=fp16[3,8] dy=fp16[3,8]", "r2")
TILE_REFUSE("RotaryMulGrad", "x=fp16[3,8] r1=fp16[3,8] r2=fp16[3,8]", "dy")
TILE_REFUSE("RotaryMulGrad", "x=fp16[] r1=fp16[] r2=fp16[] dy=fp16[]", "at least 1 dimension")
TILE_REFUSE("RotaryMulGrad", "x=fp16[3,8] r1=fp16[3,8] r2=fp16[1,8] dy=fp16[3,8]", "r1 and r2 must have one shape, got [3,8] and [1,8]")
TILE_REFUSE("RotaryMulGrad", "x=fp16[2,8] r1=fp16[3,8] r2=fp16[3,8] dy=fp16[3,8]", "must have one shape, got [3,8] and [2,8]")
TILE_REFUSE("RotaryMulGrad", "x=fp16[3,8] r1=fp16[8] r2=fp16[8] dy=fp16[3,8]", "one rank")
TILE_REFUSE("RotaryMulGrad", "x=fp16[3,8] r1=fp16[2,8] r2=fp16[2,8] dy=fp16[3,8]", "got 2 and 3")
TILE_REFUSE("RotaryPositionEmbeddingGrad", "dy=fp16[3,6] cos=fp32[3,6] sin=fp16[3,6]", "fp32")
TILE_REFUSE("RotaryPositionEmbeddingGrad", "dy=fp16[3,6] cos=fp16[3,6] sin=fp16[3,6] x=fp16", "x")
TILE_REFUSE("RotaryPositionEmbeddingGrad", "dy=fp16[3,6] cos=fp16[3,6] sin=fp16[3,6] ub=1000", "bytes of UB")
TILE_REFUSE("RotaryPositionEmbeddingGrad", "dy=fp16[3,6] cos=fp16[3,6] sin=fp16[3,6] capacity=8", "tiling data takes")
TILE_REFUSE("RotaryPositionEmbeddingGrad", "dy=fp16[2,3,2,3,2,6] cos=fp16[2,1,2,1,2,6] sin=fp16[2,1,2,1,2,6]", "alternate too often")
TILE_REFUSE("RotaryPositionEmbeddingGrad", "dy=fp16[3,6] cos=fp16[3,6] sin=fp16[3,6] out.dx=fp16[3,8]", "dx has shape [3,8], but must be [3,6]")
TILE_REFUSE("RotaryPositionEmbeddingGrad", "dy=fp16[3,6] cos=fp16[3,6] sin=fp16[3,6] out.dx=fp32[3,6]", "dx is fp32, but must be fp16")
TILE_REFUSE("RotaryPositionEmbeddingGrad", "dy=fp16[3,6] cos=fp16[1,6] sin=fp16[1,6] x=fp16[3,6] out.dcos=fp16[3,6]", "dcos has shape [3,6], but must be [1,6]")
TILE_REFUSE("RotaryPositionEmbeddingGrad", "dy=fp16[3,6] cos=fp16[1,6] sin=fp16[1,6] x=fp16[3,6] out.dsin=fp16[0]", "dsin has shape [0], but must be [1,6]")
TILE_REFUSE("RotaryPositionEmbeddingGrad", "dy=fp16[3,6] cos=fp16[1,6] sin=fp16[1,6] out.dcos=fp16[-1,6]", "dcos has shape [-1,6]")
TILE_REFUSE("RotaryPositionEmbeddingGrad", "dy=fp32[34359738369,128] cos=fp32[1,128] sin=fp32[1,128]", "at most 17592186044416 bytes, got [34359738369,128] of 4")
TILE_ACCEPT("RotaryPositionEmbeddingGrad", "dy=fp32[34359738368,128] cos=fp32[1,128] sin=fp32[1,128]")
TILE_ACCEPT("RotaryPositionEmbeddingGrad", "dy=fp16[3,6] cos=fp16[1,6] sin=fp16[1,6] out.dcos=fp16[0] out.dsin=fp16[0]")
TILE_ACCEPT("RotaryPositionEmbeddingGrad", "dy=fp16[3,6] cos=fp16[1,6] sin=fp16[1,6] out.dcos=fp16[1,6]")
TILE_ACCEPT("RotaryPositionEmbeddingGrad", "dy=fp16[3,0] cos=fp16[1,0] sin=fp16[1,0] x=fp16[3,0]")
TILE_ACCEPT("RotaryPositionEmbeddingGrad", "dy=fp16[0,6] cos=fp16[1,6] sin=fp16[1,6] x=fp16[0,6]")
TILE_ACCEPT("RotaryPositionEmbeddingGrad", "dy=fp16[3,8] cos=fp16[3,8] sin=fp16[3,8] mode=3")
TILE_ACCEPT("RotaryPositionEmbeddingGrad", "dy=fp16[2,3,2,3,6] cos=fp16[2,1,2,1,6] sin=fp16[2,1,2,1,6] mode=0")
TILE_ACCEPT("RotaryMulGrad", "x=fp16[3,8] r1=fp16[1,8] r2=fp16[1,8] dy=fp16[3,8] need_backward=false")

/* RopeGrad */
INFER("RopeGrad", "q=fp16[11,-1] k=fp16[-2] cos=fp16[64,128] sin=fp16[64,128] qSeqLen=11", "q_grad=fp16[11,-1] k_grad=fp16[-2]")
INFER("RopeGrad", "q=fp32[11,256] k=fp32[11,128]", "q_grad=fp32[11,256] k_grad=fp32[11,128]")
INFER_REFUSE("RopeGrad", "k=fp16[11,128]", "input q is required")
INFER_REFUSE("RopeGrad", "q=fp16[11,128]", "input k is required")
INFER_REFUSE("RopeGrad", "q=fp16[11,128] k=fp16", "input k is required")
INFER_REFUSE("RopeGrad", "q=fp16[128] k=fp16[11,128]", "q must have 2 dimensions [tokens, hidden], got [128]")
INFER_REFUSE("RopeGrad", "q=fp16[11,128] k=fp16[11,128] rank26=1", "k must have 2 dimensions")
TILE_REFUSE("RopeGrad", "k=fp16[3,8] cos=fp16[3,8] sin=fp16[3,8] qSeqLen=3", "q")
TILE_REFUSE("RopeGrad", "q=fp16[3,8] k=fp16[3,8] cos=fp16[3,8] qSeqLen=3", "sin")
TILE_REFUSE("RopeGrad", "q=fp16[3,8] k=fp16[3,8] cos=fp16[3,268435458] sin=fp16[3,268435458] qSeqLen=3", "between 2 and 268435456")
TILE_REFUSE("RopeGrad", "q=fp16[0,6442450944] k=fp16[0,2] cos=fp16[3,2] sin=fp16[3,2]", "more than 31 bits hold")
TILE_ACCEPT("RopeGrad", "q=fp16[0,4294967294] k=fp16[0,2] cos=fp16[3,2] sin=fp16[3,2]")
TILE_ACCEPT("RopeGrad", "q=fp16[2147483647,2] k=fp16[2147483647,2] cos=fp16[3000000000,2] sin=fp16[3000000000,2] qSeqLen=2147483647")
TILE_REFUSE("RopeGrad", "q=fp16[2147483648,2] k=fp16[2147483648,2] cos=fp16[3000000000,2] sin=fp16[3000000000,2] qSeqLen=2147483648", "fit 31 bits")
TILE_ACCEPT("RopeGrad", "q=fp16[1,268435456] k=fp16[1,268435456] cos=fp16[1,268435456] sin=fp16[1,268435456] qSeqLen=1")
TILE_REFUSE("RopeGrad", "q=fp16[3,8] k=fp16[3,8] cos=fp16[3,8] sin=fp16[3,8] qSeqLen=3 out.q_grad=fp16[3,16]", "q_grad has shape [3,16], but must be [3,8]")
TILE_REFUSE("RopeGrad", "q=fp16[3,8] k=fp16[3,8] cos=fp16[3,8] sin=fp16[3,8] qSeqLen=3 out.q_grad=bf16[3,8]", "q_grad is bf16, but must be fp16")
TILE_REFUSE("RopeGrad", "q=fp16[3,8] k=fp16[3,8] cos=fp16[3,8] sin=fp16[3,8] qSeqLen=3 out.k_grad=fp16[3]", "k_grad has shape [3], but must be [3,8]")
TILE_REFUSE("RopeGrad", "q=fp16[3,8] k=fp16[3,8] cos=fp16[3,8] sin=fp16[3,8] qSeqLen=3 nolist=1", "list of integers")
TILE_REFUSE("RopeGrad", "q=fp16[3,8] k=fp16[3,8] cos=fp16[3,8] sin=fp16[3,8] qSeqLen=3 nokind=1", "list of integers")
TILE_REFUSE("RopeGrad", "q=fp16[3,8] k=fp16[3,8] cos=fp16[3000000000,8] sin=fp16[3000000000,8] qSeqLen=2999999999", "fit 31 bits")
TILE_REFUSE("RopeGrad", "q=fp16[3,8] k=fp16[3,8] cos=fp16[3,8] sin=fp16[3,8]", "the sum of qSeqLen, 0")
TILE_REFUSE("RopeGrad", "q=fp16[3,8] k=fp16[3,8] cos=fp16[3,8] sin=fp16[3,8] qSeqLen=3 ub=64", "cannot hold a head of 8")
TILE_REFUSE("RopeGrad", "q=fp16[3,8] k=fp16[3,8] cos=fp16[3,8] sin=fp16[3,8] qSeqLen=3 capacity=64", "tiling data takes")
TILE_REFUSE("RopeGrad", "q=int32[3,8] k=int32[3,8] cos=int32[3,8] sin=int32[3,8] qSeqLen=3", "int32")
TILE_ACCEPT("RopeGrad", "q=fp16[2049,8] k=fp16[2049,8] cos=fp16[3,8] sin=fp16[3,8] ones=2049")
TILE_ACCEPT("RopeGrad", "q=fp16[3,8] k=fp16[3,8] cos=fp16[3,8] sin=fp16[3,8] qSeqLen=3")
TILE_ACCEPT("RopeGrad", "q=fp16[3,8] k=fp16[3,8] cos=fp16[3,8] sin=fp16[3,8] qSeqLen=3 cores=0")
TILE_ACCEPT("RopeGrad", "q=fp16[3,8] k=fp16[3,8] cos=fp16[3,8] sin=fp16[3,8] qSeqLen=3 cores=1000")
TILE_ACCEPT("RopeGrad", "q=fp16[0,8] k=fp16[0,8] cos=fp16[3,8] sin=fp16[3,8]")

/* NormRopeConcatGrad */
#define NRC_MAIN "grad_query_output=fp16[2,5,3,8] grad_key_output=fp16[2,5,4,8] grad_value_output=fp16[2,5,4,8] "          \
                 "query=fp16[2,3,5,8] key=fp16[2,4,5,8]"
#define NRC_REST " grad_norm_query_weight=fp16[0] grad_norm_query_bias=fp16[0] grad_norm_key_weight=fp16[0] "                  \
                 "grad_norm_key_bias=fp16[0] grad_norm_added_query_weight=fp16[0] grad_norm_added_query_bias=fp16[0] "         \
                 "grad_norm_added_key_weight=fp16[0] grad_norm_added_key_bias=fp16[0]"
#define NRC_NONE " grad_encoder_query=fp16[0] grad_encoder_key=fp16[0] grad_encoder_value=fp16[0]"
INFER("NormRopeConcatGrad", NRC_MAIN, "grad_query=fp16[2,3,5,8] grad_key=fp16[2,4,5,8] grad_value=fp16[2,4,5,8]" NRC_NONE NRC_REST)
INFER("NormRopeConcatGrad", "grad_query_output=fp16[-2] grad_key_output=fp16[-2] grad_value_output=fp16[-2] query=fp16[-2] key=fp16[-1,4,5,8] "
      "encoder_query=fp16[2,1,5,-1] norm_type=2",
      "grad_query=fp16[-2] grad_key=fp16[-1,4,5,8] grad_value=fp16[-2] grad_encoder_query=fp16[2,1,5,-1] "
      "grad_encoder_key=fp16[0] grad_encoder_value=fp16[0] grad_norm_query_weight=fp16[8] grad_norm_query_bias=fp16[8] "
      "grad_norm_key_weight=fp16[8] grad_norm_key_bias=fp16[8] grad_norm_added_query_weight=fp16[0] grad_norm_added_query_bias=fp16[0] "
      "grad_norm_added_key_weight=fp16[0] grad_norm_added_key_bias=fp16[0]")
INFER("NormRopeConcatGrad", "grad_query_output=fp16[-2] grad_key_output=fp16[-2] grad_value_output=fp16[-2] query=fp16[-2] key=fp16[-2] "
      "encoder_key=fp16[-1,-1,-1,-1] norm_added_type=2",
      "grad_query=fp16[-2] grad_key=fp16[-2] grad_value=fp16[-2] grad_encoder_query=fp16[0] grad_encoder_key=fp16[-1,-1,-1,-1] "
      "grad_encoder_value=fp16[-2] grad_norm_query_weight=fp16[0] grad_norm_query_bias=fp16[0] "
      "grad_norm_key_weight=fp16[0] grad_norm_key_bias=fp16[0] grad_norm_added_query_weight=fp16[-1] grad_norm_added_query_bias=fp16[-1] "
      "grad_norm_added_key_weight=fp16[-1] grad_norm_added_key_bias=fp16[-1]")
INFER("NormRopeConcatGrad", "grad_query_output=fp16[2,5,-1,8] grad_key_output=fp16[2,5,4,8] grad_value_output=fp16[2,5,4,8] "
      "query=fp16[2,3,5,8] key=fp16[2,-1,5,8] encoder_key=fp16[-2]",
      "grad_query=fp16[2,3,5,8] grad_key=fp16[2,-1,5,8] grad_value=fp16[2,-1,5,8] grad_encoder_query=fp16[0] grad_encoder_key=fp16[-2] "
      "grad_encoder_value=fp16[-2]" NRC_REST)
INFER_REFUSE("NormRopeConcatGrad", NRC_MAIN " encoder_key=fp16[0,0,5,8]", "batch of")
INFER_REFUSE("NormRopeConcatGrad", "grad_query_output=fp16[2,5,0,8] grad_key_output=fp16[2,5,4,8] grad_value_output=fp16[2,5,4,8] "
             "query=fp16[2,3,5,8] key=fp16[2,4,5,8]", "the sequence of grad_query_output is 0, but query has 3")
TILE_REFUSE("NormRopeConcatGrad", NRC_MAIN " norm_type=10", "norm_type is 10, but must be 0 to 9")
TILE_REFUSE("NormRopeConcatGrad", NRC_MAIN " norm_added_type=10", "norm_added_type is 10, but must be 0 to 9")
TILE_REFUSE("NormRopeConcatGrad", NRC_MAIN " norm_type=3", "norm_type 3 needs norm_query_rstd, which is not connected")
TILE_REFUSE("NormRopeConcatGrad", NRC_MAIN " norm_type=4 norm_query_rstd=fp32[2,3,5,1] norm_key_rstd=fp32[2,4,5,1]",
            "norm_type 4 needs norm_query_weight, which is not connected")
TILE_REFUSE("NormRopeConcatGrad", NRC_MAIN " norm_type=3 norm_query_rstd=fp32[2,3,5,1] norm_key_rstd=fp32[2,4,5,1] out.grad_norm_key_weight=fp16[8]",
            "grad_norm_key_weight has shape [8], but must be [0]")
TILE_REFUSE("NormRopeConcatGrad", NRC_MAIN " norm_type=4 norm_query_rstd=fp32[2,3,5,1] norm_key_rstd=fp32[2,4,5,1] norm_query_weight=fp16[8] "
            "norm_key_weight=fp16[8] out.grad_norm_key_bias=fp16[8]", "grad_norm_key_bias has shape [8], but must be [0]")
TILE_ACCEPT("NormRopeConcatGrad", NRC_MAIN " norm_type=3 norm_query_rstd=fp32[2,3,5,1] norm_key_rstd=fp32[2,4,5,1]")
TILE_ACCEPT("NormRopeConcatGrad", NRC_MAIN " norm_type=4 norm_query_rstd=fp32[2,3,5,1] norm_key_rstd=fp32[2,4,5,1] norm_query_weight=fp16[8] "
            "norm_key_weight=fp16[8] out.grad_norm_key_weight=fp16[8] out.grad_norm_key_bias=fp16[0]")
TILE_REFUSE("NormRopeConcatGrad", NRC_MAIN " concat_order=-1", "concat_order is -1, but must be 0 to 1")
INFER_REFUSE("NormRopeConcatGrad", "grad_query_output=fp16[2,5,3,8]", "input grad_key_output is required")
INFER_REFUSE("NormRopeConcatGrad", "grad_query_output=fp16", "input grad_query_output is required")
INFER_REFUSE("NormRopeConcatGrad", NRC_MAIN " encoder_key=fp16[2,3]", "encoder_key must have 4 dimensions, got [2,3]")
INFER_REFUSE("NormRopeConcatGrad", NRC_MAIN " encoder_key=fp16[3,1,5,8]", "batch of")
INFER_REFUSE("NormRopeConcatGrad", NRC_MAIN " encoder_key=fp16[2,1,6,8]", "heads of")
INFER_REFUSE("NormRopeConcatGrad", NRC_MAIN " encoder_key=fp16[2,1,5,9]", "D of")
INFER_REFUSE("NormRopeConcatGrad", NRC_MAIN " encoder_query=fp16[2,1,5,8]", "the sequence of grad_query_output is 3, but query has 3 and encoder_query 1")
INFER_REFUSE("NormRopeConcatGrad", NRC_MAIN " encoder_key=fp16[2,1,5,8]", "the sequence of grad_key_output is 4")
INFER_REFUSE("NormRopeConcatGrad", "grad_query_output=fp16[2,5,2,8] grad_key_output=fp16[2,5,4,8] grad_value_output=fp16[2,5,4,8] "
             "query=fp16[2,3,5,8] key=fp16[2,4,5,8]", "the sequence of grad_query_output is 2")
INFER("NormRopeConcatGrad", "grad_query_output=fp16[2,5,3,8] grad_key_output=fp16[2,5,-1,8] grad_value_output=fp16[2,5,4,8] "
      "query=fp16[2,-1,5,8] key=fp16[2,4,5,8] encoder_query=fp16[2,-1,5,8] encoder_key=fp16",
      "grad_query=fp16[2,-1,5,8] grad_key=fp16[2,4,5,8] grad_value=fp16[2,4,5,8] grad_encoder_query=fp16[2,-1,5,8] grad_encoder_key=fp16[0] "
      "grad_encoder_value=fp16[0]" NRC_REST)
INFER("NormRopeConcatGrad", "grad_query_output=fp16[2,5,3,8] grad_key_output=fp16[2,5,4,8] grad_value_output=fp16[-2] "
      "query=fp16[2,3,5,8] key=fp16[2,-1,5,8] encoder_query=fp16[2,-1,5,8]",
      "grad_query=fp16[2,3,5,8] grad_key=fp16[2,-1,5,8] grad_value=fp16[-2] grad_encoder_query=fp16[2,-1,5,8] grad_encoder_key=fp16[0] "
      "grad_encoder_value=fp16[0]" NRC_REST)
TILE_REFUSE("NormRopeConcatGrad", NRC_MAIN " rope_type=3", "rope_type is 3")
TILE_REFUSE("NormRopeConcatGrad", NRC_MAIN " rope_type=1", "rope_sin")
TILE_REFUSE("NormRopeConcatGrad", NRC_MAIN " rope_type=1 rope_sin=fp16[3,8]", "rope_cos")
TILE_REFUSE("NormRopeConcatGrad", NRC_MAIN " rope_type=1 rope_sin=fp16[3,8] rope_cos=fp16[2,8]", "rope_cos has shape [2,8], but must be [3,8]")
TILE_REFUSE("NormRopeConcatGrad", NRC_MAIN " rope_type=1 rope_sin=fp16[] rope_cos=fp16[]", "rope_sin has shape []")
TILE_REFUSE("NormRopeConcatGrad", NRC_MAIN " rope_type=1 rope_sin=fp16[9,8] rope_cos=fp16[9,8]", "rope_sin has 9 rows")
TILE_REFUSE("NormRopeConcatGrad", NRC_MAIN " rope_type=1 rope_sin=fp32[3,8] rope_cos=fp16[3,8]", "rope_cos is fp16, but must be fp32")
TILE_REFUSE("NormRopeConcatGrad", NRC_MAIN " rope_type=1 rope_sin=bf16[3,8] rope_cos=bf16[3,8]", "rope_sin is bf16, but must be fp16 or fp32")
TILE_REFUSE("NormRopeConcatGrad", NRC_MAIN " rope_type=1 rope_sin=fp16[3,8] rope_cos=fp32[3,8]", "rope_cos is fp32, but must be fp16")
TILE_ACCEPT("NormRopeConcatGrad", NRC_MAIN " rope_type=1 rope_sin=fp32[3,8] rope_cos=fp32[3,8]")
TILE_REFUSE("NormRopeConcatGrad", NRC_MAIN " norm_type=4 norm_query_rstd=fp32[2,3,5,1] norm_key_rstd=fp32[2,4,5,1] norm_query_weight=fp32[8] "
            "norm_key_weight=fp16[8]", "norm_key_weight is fp16, but must be fp32")
TILE_REFUSE("NormRopeConcatGrad", NRC_MAIN " norm_type=4 norm_query_rstd=fp32[2,3,5,1] norm_key_rstd=fp32[2,4,5,1] norm_query_weight=fp32[8] "
            "norm_key_weight=fp32[8] out.grad_norm_key_weight=fp16[8]", "grad_norm_key_weight is fp16, but must be fp32")
TILE_ACCEPT("NormRopeConcatGrad", NRC_MAIN " norm_type=4 norm_query_rstd=fp32[2,3,5,1] norm_key_rstd=fp32[2,4,5,1] norm_query_weight=fp32[8] "
            "norm_key_weight=fp32[8] out.grad_norm_key_weight=fp32[8] out.grad_key=fp16[2,4,5,8]")
TILE_REFUSE("NormRopeConcatGrad", NRC_MAIN " norm_type=1", "norm_query_mean")
TILE_REFUSE("NormRopeConcatGrad", NRC_MAIN " norm_type=2 norm_query_mean=fp32[2,3,5,1] norm_query_rstd=fp32[2,3,5,1]", "norm_query_weight")
TILE_REFUSE("NormRopeConcatGrad", NRC_MAIN " norm_type=1 norm_query_mean=fp16[2,3,5,1] norm_query_rstd=fp32[2,3,5,1]", "norm_query_mean is fp16, but must be fp32")
TILE_REFUSE("NormRopeConcatGrad", NRC_MAIN " encoder_query=fp16[2,3]", "encoder_query must have 4 dimensions")
TILE_REFUSE("NormRopeConcatGrad", NRC_MAIN " out.grad_key=fp16[2,4,5,9]", "grad_key has shape [2,4,5,9], but must be [2,4,5,8]")
TILE_REFUSE("NormRopeConcatGrad", NRC_MAIN " out.grad_norm_key_bias=fp16[8]", "grad_norm_key_bias has shape [8], but must be [0]")
TILE_REFUSE("NormRopeConcatGrad", NRC_MAIN " out.grad_encoder_key=fp16[2,4,5,8]", "grad_encoder_key has shape [2,4,5,8], but must be [0]")
TILE_REFUSE("NormRopeConcatGrad", NRC_MAIN " out.grad_key=fp32[2,4,5,8]", "grad_key is fp32, but must be fp16")
TILE_REFUSE("NormRopeConcatGrad", NRC_MAIN " capacity=64", "tiling data takes")
TILE_REFUSE("NormRopeConcatGrad", NRC_MAIN " ub=1000", "bytes of UB")
TILE_REFUSE("NormRopeConcatGrad", "grad_query_output=fp16[0,1,4611686018427387904,1] grad_key_output=fp16[0,1,1,1] grad_value_output=fp16[0,1,1,1] "
            "query=fp16[0,1152921504606846975,1,1] key=fp16[0,1,1,1] encoder_query=fp16[0,1152921504606846975,1,1]", "grad_query_output")
TILE_REFUSE("NormRopeConcatGrad", "grad_query_output=fp16[2,5,3,7] grad_key_output=fp16[2,5,4,7] grad_value_output=fp16[2,5,4,7] "
            "query=fp16[2,3,5,7] key=fp16[2,4,5,7] rope_type=2", "an odd number")
TILE_REFUSE("NormRopeConcatGrad", NRC_MAIN " encoder_query=fp32[2,3,5,8]", "fp32")
#define NRC_GROUPED "grad_query_output=fp16[2,3,5,8] grad_key_output=fp16[2,4,2,8] query=fp16[2,3,5,8] key=fp16[2,4,2,8] grad_layout=1 "
INFER("NormRopeConcatGrad", NRC_GROUPED "grad_value_output=fp16[2,4,3,8] norm_type=8",
      "grad_query=fp16[2,3,5,8] grad_key=fp16[2,4,2,8] grad_value=fp16[2,4,3,8]" NRC_NONE " grad_norm_query_weight=fp16[40] "
      "grad_norm_query_bias=fp16[0] grad_norm_key_weight=fp16[16] grad_norm_key_bias=fp16[0] grad_norm_added_query_weight=fp16[0] "
      "grad_norm_added_query_bias=fp16[0] grad_norm_added_key_weight=fp16[0] grad_norm_added_key_bias=fp16[0]")
INFER("NormRopeConcatGrad", NRC_GROUPED "grad_value_output=fp16[0] norm_type=9",
      "grad_query=fp16[2,3,5,8] grad_key=fp16[2,4,2,8] grad_value=fp16[0]" NRC_NONE NRC_REST)
INFER("NormRopeConcatGrad", "grad_query_output=fp16[-2] grad_key_output=fp16[2,-1,4,8] grad_value_output=fp16[2,-1,4,8] query=fp16[2,3,-1,8] "
      "key=fp16[2,4,-1,8] norm_type=6",
      "grad_query=fp16[2,3,-1,8] grad_key=fp16[2,4,-1,8] grad_value=fp16[2,4,-1,8]" NRC_NONE " grad_norm_query_weight=fp16[-1] "
      "grad_norm_query_bias=fp16[-1] grad_norm_key_weight=fp16[-1] grad_norm_key_bias=fp16[-1] grad_norm_added_query_weight=fp16[0] "
      "grad_norm_added_query_bias=fp16[0] grad_norm_added_key_weight=fp16[0] grad_norm_added_key_bias=fp16[0]")
INFER_REFUSE("NormRopeConcatGrad", NRC_GROUPED "grad_value_output=fp16[3]", "grad_value_output must have 4 dimensions or be [0], got [3]")
INFER_REFUSE("NormRopeConcatGrad", NRC_GROUPED "grad_value_output=fp16[2,3,4,8]", "the sequence of grad_value_output is 3")
INFER_REFUSE("NormRopeConcatGrad", "grad_query_output=fp16[2,3,2,8] grad_key_output=fp16[2,4,2,8] grad_value_output=fp16[0] "
             "query=fp16[2,3,5,8] key=fp16[2,4,2,8] grad_layout=1", "heads of grad_query_output [2,3,2,8] and of query [2,3,5,8] differ")
INFER_REFUSE("NormRopeConcatGrad", "grad_query_output=fp16[-2] grad_key_output=fp16[-2] grad_value_output=fp16[0] "
             "query=fp16[0,1,1099511627776,16777216] key=fp16[-2] norm_type=8", "norm type 8 has a weight of heads * D, 1099511627776 * 16777216")
TILE_ACCEPT("NormRopeConcatGrad", NRC_GROUPED "grad_value_output=fp16[0] norm_type=8 norm_query_rstd=fp32[2,3,1,1] norm_key_rstd=fp32[2,4,1,1] "
            "norm_query_weight=fp16[40] norm_key_weight=fp16[16] out.grad_norm_query_weight=fp16[40] out.grad_value=fp16[0]")
TILE_REFUSE("NormRopeConcatGrad", NRC_GROUPED "grad_value_output=fp16[0] norm_type=8 norm_query_rstd=fp32[2,3,1,1] norm_key_rstd=fp32[2,4,1,1] "
            "norm_query_weight=fp16[40] norm_key_weight=fp16[16] out.grad_norm_query_weight=fp16[8]", "grad_norm_query_weight has shape [8], but must be [40]")
TILE_REFUSE("NormRopeConcatGrad", NRC_GROUPED "grad_value_output=fp16[2,4,3,8] out.grad_value=fp16[2,4,2,8]", "grad_value has shape [2,4,2,8], but must be [2,4,3,8]")
TILE_REFUSE("NormRopeConcatGrad", NRC_GROUPED "grad_value_output=fp16[3]", "grad_value_output has shape [3]")
TILE_REFUSE("NormRopeConcatGrad", "grad_query_output=fp16[1,1,300000000,8] grad_key_output=fp16[1,1,1,8] grad_value_output=fp16[0] "
            "query=fp16[1,1,300000000,8] key=fp16[1,1,1,8] norm_query_rstd=fp32[1,1,1,1] norm_key_rstd=fp32[1,1,1,1] norm_type=7 grad_layout=1",
            "a norm across 300000000 heads of 8 columns is too long")
TILE_REFUSE("NormRopeConcatGrad", "grad_query_output=bf16[2147483648,11664,18948,2] grad_key_output=bf16[2147483648,11664,18948,2] "
            "grad_value_output=bf16[0] query=bf16[2147483648,11664,18948,2] key=bf16[2147483648,11664,18948,2] "
            "norm_query_weight=bf16[37896] norm_key_weight=bf16[37896] norm_query_rstd=fp32[2147483648,11664,1,1] "
            "norm_key_rstd=fp32[2147483648,11664,1,1] norm_type=8 grad_layout=1",
            "bytes, more than 4611686018427387904")
TILE_REFUSE("NormRopeConcatGrad", "grad_query_output=fp16[2,5,4,8] grad_key_output=fp16[2,5,4,8] grad_value_output=fp16[2,5,4,8] "
            "query=fp16[2,3,5,8] key=fp16[2,4,5,8] encoder_query=fp16[2,1,6,8]", "encoder_query has shape [2,1,6,8], but must be [2,1,5,8]")
TILE_REFUSE("NormRopeConcatGrad", NRC_MAIN " norm_type=4 norm_query_rstd=fp32[2,3,5,1] norm_key_rstd=fp32[2,4,5,1] norm_query_weight=fp16[8,1] "
            "norm_key_weight=fp16[8]", "norm_query_weight has shape [8,1], but must be [8]")
#define NRC_WIDE(d) "grad_query_output=fp16[1,1,1," d "] grad_key_output=fp16[1,1,1," d "] grad_value_output=fp16[0] query=fp16[1,1,1," d "] key=fp16[1,1,1," d "]"
TILE_ACCEPT("NormRopeConcatGrad", NRC_WIDE("536870912"))
TILE_REFUSE("NormRopeConcatGrad", NRC_WIDE("536870913"), "536870913")
INFER("NormRopeConcatGrad", NRC_MAIN " norm_added_type=4 norm_added_query_weight=fp32[8]",
      "grad_query=fp16[2,3,5,8] grad_key=fp16[2,4,5,8] grad_value=fp16[2,4,5,8]" NRC_NONE " grad_norm_query_weight=fp32[0] "
      "grad_norm_query_bias=fp32[0] grad_norm_key_weight=fp32[0] grad_norm_key_bias=fp32[0] grad_norm_added_query_weight=fp32[8] "
      "grad_norm_added_query_bias=fp32[0] grad_norm_added_key_weight=fp32[8] grad_norm_added_key_bias=fp32[0]")
INFER("NormRopeConcatGrad", "grad_query_output=fp16[2,0,3,8] grad_key_output=fp16[2,5,4,8] grad_value_output=fp16[0] query=fp16[2,3,0,8] "
      "key=fp16[2,4,5,8] norm_type=8",
      "grad_query=fp16[2,3,0,8] grad_key=fp16[2,4,5,8] grad_value=fp16[0]" NRC_NONE " grad_norm_query_weight=fp16[0] "
      "grad_norm_query_bias=fp16[0] grad_norm_key_weight=fp16[40] grad_norm_key_bias=fp16[0] grad_norm_added_query_weight=fp16[0] "
      "grad_norm_added_query_bias=fp16[0] grad_norm_added_key_weight=fp16[0] grad_norm_added_key_bias=fp16[0]")
TILE_ACCEPT("NormRopeConcatGrad", NRC_MAIN " cores=0")
TILE_ACCEPT("NormRopeConcatGrad", NRC_MAIN " out.grad_key=fp16 out.grad_encoder_key=fp16[0]")
