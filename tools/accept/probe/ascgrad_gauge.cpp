/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel that `ascgrad accept` takes times of before those of any operator: nothing but a
 * launch, a chain of vector calls, a copy, and a sum that reads through the L2 or past it.
 * tools/accept/gauges.c says how long each should take. The twin runs the same source.
 */
#include "ascgrad_gauge_tiling_data.h"
#include "kernel_operator.h"

#if (defined(__NPU_ARCH__) && __NPU_ARCH__ == 1001) ||                                             \
    (defined(__CCE_AICORE__) && __CCE_AICORE__ == 100)
#define GAUGE_HINTS 0 /* the first generation of the 910 has no such hint */
#else
#define GAUGE_HINTS 1
#endif

namespace gauge {

using namespace AscendC;

/* Adds in count form, back to back, each result into a place of its own. */
__aicore__ inline void chain(TPipe *pipe, GM_ADDR y, uint32_t calls) {
    TBuf<TPosition::VECOUT> buffer;
    pipe->InitBuffer(buffer, (GAUGE_PLACES + 2) * GAUGE_HALVES * 2);
    LocalTensor<half> a = buffer.Get<half>();
    LocalTensor<half> b = a[GAUGE_HALVES], z = a[2 * GAUGE_HALVES];
    GlobalTensor<half> out;
    out.SetGlobalBuffer((__gm__ half *)y);
    Duplicate(a, (half)1.0f, GAUGE_HALVES);
    Duplicate(b, (half)1.0f, GAUGE_HALVES);
    PipeBarrier<PIPE_V>();
    for (uint32_t i = 0, place = 0; i < calls; i++) {
        Add(z[place * GAUGE_HALVES], a, b, GAUGE_HALVES);
        if (++place == GAUGE_PLACES) {
            place = 0;
            PipeBarrier<PIPE_V>();
        }
    }
    TEventID id = pipe->AllocEventID<HardEvent::V_MTE3>();
    SetFlag<HardEvent::V_MTE3>(id);
    WaitFlag<HardEvent::V_MTE3>(id);
    pipe->ReleaseEventID<HardEvent::V_MTE3>(id);
    DataCopy(out, z, GAUGE_TAIL / 2);
}

__aicore__ inline void copy(TPipe *pipe, GM_ADDR x, GM_ADDR y, uint32_t tiles) {
    const uint32_t tile = GAUGE_COPY_TILE / 2;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
    pipe->InitBuffer(queue, 2, GAUGE_COPY_TILE);
    GlobalTensor<int16_t> from, to;
    from.SetGlobalBuffer((__gm__ int16_t *)x);
    to.SetGlobalBuffer((__gm__ int16_t *)y);
    for (uint32_t i = GetBlockIdx(); i < tiles; i += GetBlockNum()) {
        LocalTensor<int16_t> t = queue.AllocTensor<int16_t>();
        DataCopy(t, from[i * tile], tile);
        queue.EnQue(t);
        t = queue.DeQue<int16_t>();
        DataCopy(to[i * tile], t, tile);
        queue.FreeTensor(t);
    }
}

/* As asc-devkit's Add sample with two buffers. */
__aicore__ inline void add(TPipe *pipe, GM_ADDR x, GM_ADDR y, uint32_t tiles, bool past) {
    const uint32_t tile = GAUGE_ADD_TILE / 4;
    TQue<TPosition::VECIN, 1> a_queue, b_queue;
    TQue<TPosition::VECOUT, 1> z_queue;
    pipe->InitBuffer(a_queue, 2, GAUGE_ADD_TILE);
    pipe->InitBuffer(b_queue, 2, GAUGE_ADD_TILE + 256); /* not in the banks of a */
    pipe->InitBuffer(z_queue, 2, GAUGE_ADD_TILE);
    GlobalTensor<float> a, b, z;
    a.SetGlobalBuffer((__gm__ float *)x);
    b.SetGlobalBuffer((__gm__ float *)x + tiles * tile);
    z.SetGlobalBuffer((__gm__ float *)y);
#if GAUGE_HINTS
    if (past) {
        a.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
        b.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
    }
#endif
    for (uint32_t i = GetBlockIdx(); i < tiles; i += GetBlockNum()) {
        LocalTensor<float> at = a_queue.AllocTensor<float>(), bt = b_queue.AllocTensor<float>();
        DataCopy(at, a[i * tile], tile);
        DataCopy(bt, b[i * tile], tile);
        a_queue.EnQue(at);
        b_queue.EnQue(bt);
        at = a_queue.DeQue<float>();
        bt = b_queue.DeQue<float>();
        LocalTensor<float> zt = z_queue.AllocTensor<float>();
        Add(zt, at, bt, (int32_t)tile);
        a_queue.FreeTensor(at);
        b_queue.FreeTensor(bt);
        z_queue.EnQue(zt);
        zt = z_queue.DeQue<float>();
        DataCopy(z[i * tile], zt, tile);
        z_queue.FreeTensor(zt);
    }
}

} // namespace gauge

extern "C" __global__ __aicore__ void ascgrad_gauge(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                                    GM_ADDR tiling) {
    REGISTER_TILING_DEFAULT(AscgradGaugeTilingData);
    GET_TILING_DATA(t, tiling);
#if GAUGE_HINTS
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
#endif
    if (t.what == GAUGE_NOTHING) {
        return;
    }
    AscendC::TPipe pipe;
    if (t.what == GAUGE_CHAIN) {
        gauge::chain(&pipe, y, t.tiles);
    } else if (t.what == GAUGE_COPY) {
        gauge::copy(&pipe, x, y, t.tiles);
    } else {
        gauge::add(&pipe, x, y, t.tiles, t.past != 0);
    }
}
