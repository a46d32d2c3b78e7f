/* SPDX-License-Identifier: Apache-2.0
 *
 * ExpSegsumGrad, the kernel's entry. grad_output, grad_self: [matrices, T, T];
 * grad_input: [matrices, T], with
 *     grad_input[i] = sum over j < i <= k of grad_output[k][j] * grad_self[k][j]
 */
#include "exp_segsum_grad_small.h"
#include "exp_segsum_grad_whole.h"

namespace segsum {

/* T = 1: no pair j < i <= k, so every result is 0. */
__aicore__ inline void run_zero(TPipe *pipe, GM_ADDR dx, const ExpSegsumGradTilingData &tiling) {
    TBuf<TPosition::VECOUT> zeros;
    GlobalTensor<Elem> to;
    to.SetGlobalBuffer((__gm__ Elem *)dx);
    int64_t unit = first(tiling.units, GetBlockIdx()), end = first(tiling.units, GetBlockIdx() + 1);
    if (unit >= end) return;
    pipe->InitBuffer(zeros, tiling.out_bytes);
    LocalTensor<float> zero = zeros.Get<float>();
    Duplicate(zero, 0.0f, (int32_t)tiling.unit);
    TEventID event = pipe->AllocEventID<HardEvent::V_MTE3>();
    SetFlag<HardEvent::V_MTE3>(event);
    WaitFlag<HardEvent::V_MTE3>(event);
    pipe->ReleaseEventID<HardEvent::V_MTE3>(event);
    for (; unit < end; unit++) {
        int64_t at = unit * tiling.unit, left = tiling.matrices - at;
        int64_t n = left < tiling.unit ? left : tiling.unit;
        DataCopyExtParams copy(1, n * sizeof(Elem), 0, 0, 0);
        DataCopyPad(to[at], zero.ReinterpretCast<Elem>(), copy);
    }
}

} // namespace segsum

extern "C" __global__ __aicore__ void exp_segsum_grad(GM_ADDR grad_output, GM_ADDR grad_self,
                                                      GM_ADDR grad_input, GM_ADDR workspace,
                                                      GM_ADDR tiling) {
    REGISTER_TILING_DEFAULT(ExpSegsumGradTilingData);
    GET_TILING_DATA(data, tiling);
    /* The compiler reads keys as literals; their names are in exp_segsum_grad_tiling_data.h. */
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    KERNEL_TASK_TYPE(4, KERNEL_TYPE_MIX_AIV_1_0);
    using namespace segsum;
    TPipe pipe;
    Segsum s;
    if (TILING_KEY_IS(1)) {
        run_zero(&pipe, grad_input, data);
    } else if (TILING_KEY_IS(2)) {
        open_segsum(s, &pipe, grad_output, grad_self, grad_input, data);
        open_work(s, &pipe, data);
        run_small(s, data);
    } else if (TILING_KEY_IS(3)) {
        open_segsum(s, &pipe, grad_output, grad_self, grad_input, data);
        run_square(s, &pipe, data);
    } else if (TILING_KEY_IS(4)) {
        Large l;
        open_segsum(s, &pipe, grad_output, grad_self, grad_input, data);
        open_large(s, l, &pipe, data, GetUserWorkspace(workspace));
        run_large(s, l, &pipe, data);
    } else if (TILING_KEY_IS(5)) {
        open_segsum(s, &pipe, grad_output, grad_self, grad_input, data);
        run_whole(s, &pipe, data);
    }
}
