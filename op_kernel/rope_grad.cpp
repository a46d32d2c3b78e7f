/* SPDX-License-Identifier: Apache-2.0
 *
 * RopeGrad: q [tokens, heads * D], k [tokens, kv heads * D], cos and sin [positions, R] give q_grad
 * like q and k_grad like k. The formulas are in rope_grad.h.
 */
#include "rope_grad.h"

extern "C" __global__ __aicore__ void rope_grad(GM_ADDR q, GM_ADDR k, GM_ADDR cos, GM_ADDR sin,
                                                GM_ADDR q_grad, GM_ADDR k_grad, GM_ADDR workspace,
                                                GM_ADDR tiling) {
    REGISTER_TILING_DEFAULT(RopeGradFew);
    REGISTER_TILING_FOR_TILINGKEY("TILING_KEY_VAR == 1", RopeGradMany);
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    (void)workspace;
    /* A static compile knows the key's own structure; reading the other one from its bytes would
     * read beyond their end. */
#ifdef CONST_TILING
    GET_TILING_DATA(t, tiling);
    rope::run<DTYPE_Q, DTYPE_COS>(t.plan, t.lengths, q, k, cos, sin, q_grad, k_grad);
#else
    if (TILING_KEY_IS(0)) {
        GET_TILING_DATA_WITH_STRUCT(RopeGradFew, t, tiling);
        rope::run<DTYPE_Q, DTYPE_COS>(t.plan, t.lengths, q, k, cos, sin, q_grad, k_grad);
    } else if (TILING_KEY_IS(1)) {
        GET_TILING_DATA_WITH_STRUCT(RopeGradMany, t, tiling);
        rope::run<DTYPE_Q, DTYPE_COS>(t.plan, t.lengths, q, k, cos, sin, q_grad, k_grad);
    }
#endif
}
