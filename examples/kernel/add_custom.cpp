/* SPDX-License-Identifier: Apache-2.0
 *
 * z = x + y in fp16, the first kernel that everybody writes: each core has its own run of the
 * vectors, works through it in tiles, and loads the next tile while it adds the last. Runs on the
 * twin as it is: docs/own_kernel.md.
 */
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t TOTAL = 8 * 2048; /* elements, for 8 cores */
constexpr uint32_t TILE = 128;       /* elements */

struct Add1 {
    GlobalTensor<half> x, y, z;
    TQue<TPosition::VECIN, 2> in_x, in_y;
    TQue<TPosition::VECOUT, 2> out_z;
};

__aicore__ inline void load(Add1 &k, uint32_t at) {
    LocalTensor<half> x = k.in_x.AllocTensor<half>(), y = k.in_y.AllocTensor<half>();
    DataCopy(x, k.x[at], TILE);
    DataCopy(y, k.y[at], TILE);
    k.in_x.EnQue(x);
    k.in_y.EnQue(y);
}

__aicore__ inline void add(Add1 &k) {
    LocalTensor<half> x = k.in_x.DeQue<half>(), y = k.in_y.DeQue<half>();
    LocalTensor<half> z = k.out_z.AllocTensor<half>();
    Add(z, x, y, TILE);
#ifdef SQUARED /* (x + y)^2, with a fault: nothing makes Mul wait for Add */
    Mul(z, z, z, TILE);
#endif
    k.out_z.EnQue(z);
    k.in_x.FreeTensor(x);
    k.in_y.FreeTensor(y);
}

__aicore__ inline void store(Add1 &k, uint32_t at) {
    LocalTensor<half> z = k.out_z.DeQue<half>();
    DataCopy(k.z[at], z, TILE);
    k.out_z.FreeTensor(z);
}

extern "C" __global__ __aicore__ void add_custom(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
    TPipe pipe;
    Add1 k;
    uint32_t length = TOTAL / GetBlockNum(), begin = length * GetBlockIdx();
    k.x.SetGlobalBuffer((__gm__ half *)x + begin, length);
    k.y.SetGlobalBuffer((__gm__ half *)y + begin, length);
    k.z.SetGlobalBuffer((__gm__ half *)z + begin, length);
    pipe.InitBuffer(k.in_x, 2, TILE * sizeof(half));
    pipe.InitBuffer(k.in_y, 2, TILE * sizeof(half));
    pipe.InitBuffer(k.out_z, 2, TILE * sizeof(half));
    load(k, 0);
    for (uint32_t at = 0; at < length; at += TILE) {
        if (at + TILE < length) load(k, at + TILE);
        add(k);
        store(k, at);
    }
}
