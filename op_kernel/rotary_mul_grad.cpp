/* SPDX-License-Identifier: Apache-2.0
 *
 * RotaryMulGrad: the gradients of y = r1 * x + r2 * [-second half of x, first half of x].
 * x, dy, dx [..., D]; r1, r2, dr1, dr2 the same with some leading axes 1. The body is in
 * rotary_grad.h, for the first generation of the 910 in rotary_mul_grad_910.h: a compilation is for
 * one chip, except on the twin, which is any of them.
 */

#if (defined(__NPU_ARCH__) && __NPU_ARCH__ == 1001) ||                                             \
    (defined(__CCE_AICORE__) && __CCE_AICORE__ == 100)
#define FIRST_GENERATION 1
#define LATER_CHIPS      0
#elif defined(TWIN_EVERY_CHIP)
#define FIRST_GENERATION 1
#define LATER_CHIPS      1
#else
#define FIRST_GENERATION 0
#define LATER_CHIPS      1
#endif

#if FIRST_GENERATION
#include "rotary_mul_grad_910.h"
#endif
#if LATER_CHIPS
#define ROTARY_TABLE DTYPE_R1
#include "rotary_grad_contiguous_run.h"
#include "rotary_grad_run.h"
#endif

extern "C" __global__ __aicore__ void rotary_mul_grad(GM_ADDR x, GM_ADDR r1, GM_ADDR r2, GM_ADDR dy,
                                                      GM_ADDR dx, GM_ADDR dr1, GM_ADDR dr2,
                                                      GM_ADDR workspace, GM_ADDR tiling) {
    REGISTER_TILING_DEFAULT(RotaryGradTiling);
    GET_TILING_DATA(t, tiling);
#if FIRST_GENERATION
    if (TILING_KEY_IS(20)) {
        rotary_910::run<DTYPE_X>(t, {dy, r1, r2, x, dx, dr1, dr2, workspace});
    }
#endif
#if LATER_CHIPS
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    rotary::Args args = {dy, r1, r2, x, dx, dr1, dr2, workspace};
    if (TILING_KEY_IS(0)) {
        rotary::run<DTYPE_X, ROTARY_HALVES, false>(t, args);
    } else if (TILING_KEY_IS(5)) {
        contiguous::run<DTYPE_X, false>(t, args);
    } else if (TILING_KEY_IS(10)) {
        KERNEL_TASK_TYPE(10, KERNEL_TYPE_MIX_AIV_1_0);
        rotary::run<DTYPE_X, ROTARY_HALVES, true>(t, args);
    } else if (TILING_KEY_IS(15)) {
        KERNEL_TASK_TYPE(15, KERNEL_TYPE_MIX_AIV_1_0);
        contiguous::run<DTYPE_X, true>(t, args);
    }
#endif
}
