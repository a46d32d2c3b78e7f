/* SPDX-License-Identifier: Apache-2.0
 *
 * RotaryPositionEmbeddingGrad: the gradients of y = cos * P(x) + sin * R(x), mode 0 half, 1
 * interleave, 2 quarter, 3 interleave-half. dy, x, dx [..., D]; cos, sin, dcos, dsin the same with
 * some leading axes 1. The body is in rotary_grad.h. Tiling keys are literals, because the
 * compiler looks for them in the text: the modes of rotary_grad_tiling_data.h (quarter is half with
 * two rotations), plus ROTARY_JOIN.
 */
#define ROTARY_TABLE DTYPE_COS
#include "rotary_grad_contiguous_run.h"
#include "rotary_grad_run.h"

extern "C" __global__ __aicore__ void
rotary_position_embedding_grad(GM_ADDR dy, GM_ADDR cos, GM_ADDR sin, GM_ADDR x, GM_ADDR dx,
                               GM_ADDR dcos, GM_ADDR dsin, GM_ADDR workspace, GM_ADDR tiling) {
    REGISTER_TILING_DEFAULT(RotaryGradTiling);
    GET_TILING_DATA(t, tiling);
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    rotary::Args args = {dy, cos, sin, x, dx, dcos, dsin, workspace};
    if (TILING_KEY_IS(0)) {
        rotary::run<DTYPE_DY, ROTARY_HALVES, false>(t, args);
    } else if (TILING_KEY_IS(1)) {
        rotary::run<DTYPE_DY, ROTARY_PAIRS, false>(t, args);
    } else if (TILING_KEY_IS(3)) {
        rotary::run<DTYPE_DY, ROTARY_PLANES, false>(t, args);
    } else if (TILING_KEY_IS(5)) {
        contiguous::run<DTYPE_DY, false>(t, args);
    } else if (TILING_KEY_IS(10)) {
        KERNEL_TASK_TYPE(10, KERNEL_TYPE_MIX_AIV_1_0);
        rotary::run<DTYPE_DY, ROTARY_HALVES, true>(t, args);
    } else if (TILING_KEY_IS(11)) {
        KERNEL_TASK_TYPE(11, KERNEL_TYPE_MIX_AIV_1_0);
        rotary::run<DTYPE_DY, ROTARY_PAIRS, true>(t, args);
    } else if (TILING_KEY_IS(13)) {
        KERNEL_TASK_TYPE(13, KERNEL_TYPE_MIX_AIV_1_0);
        rotary::run<DTYPE_DY, ROTARY_PLANES, true>(t, args);
    } else if (TILING_KEY_IS(15)) {
        KERNEL_TASK_TYPE(15, KERNEL_TYPE_MIX_AIV_1_0);
        contiguous::run<DTYPE_DY, true>(t, args);
    }
}
