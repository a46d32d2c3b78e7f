/* SPDX-License-Identifier: Apache-2.0
 *
 * SwishGluGrad. With p = 1 + exp(-beta a) and q = 1 + exp(beta a), so that 1 / p + 1 / q = 1:
 *     db = dy a / p          da = dy b / p (1 + beta a / q) [+ accumulated]
 * Nothing cancels, and an exp that overflows gives 0 where 0 is right.
 */
#include "kernel_operator.h"

#include "swish_glu_grad_tiling_data.h"

namespace swish_glu {

using namespace AscendC;
using Elem = DTYPE_A;

constexpr bool WIDEN = sizeof(Elem) == 2;
constexpr uint32_t TILE = SWISH_GLU_TILE;
enum { DY, A, B, ACCUMULATED, INPUTS };

struct Kernel {
    GlobalTensor<Elem> in[INPUTS], da, db;
    TQue<TPosition::VECIN, 1> queue_in;   /* a tile of every input */
    TQue<TPosition::VECOUT, 1> queue_out; /* da, then db */
    TBuf<TPosition::VECCALC> work;        /* p and q; with 16 bits the inputs as fp32, too */
    uint32_t inputs;
    float beta;
};

__aicore__ inline void load(Kernel &k, int64_t at, uint32_t count) {
    LocalTensor<Elem> tile = k.queue_in.AllocTensor<Elem>();
    DataCopyExtParams copy(1, count * sizeof(Elem), 0, 0, 0);
    DataCopyPadExtParams<Elem> pad;
    for (uint32_t i = 0; i < k.inputs; i++)
        DataCopyPad(tile[i * TILE], k.in[i][at], copy, pad);
    k.queue_in.EnQue(tile);
}

__aicore__ inline void compute(Kernel &k, LocalTensor<Elem> &tile, uint32_t count) {
    LocalTensor<Elem> out = k.queue_out.AllocTensor<Elem>();
    LocalTensor<float> p = k.work.Get<float>(), q = p[TILE], x;
    PipeBarrier<PIPE_V>(); /* the tile before may still be read */
    if constexpr (WIDEN) {
        x = p[2 * TILE];
        for (uint32_t i = 0; i < k.inputs; i++)
            Cast(x[i * TILE], tile[i * TILE], RoundMode::CAST_NONE, count);
        PipeBarrier<PIPE_V>();
    } else {
        x = tile.template ReinterpretCast<float>();
    }
    LocalTensor<float> dy = x[DY * TILE], a = x[A * TILE], b = x[B * TILE];
    LocalTensor<float> da = dy, db = a;
    if constexpr (!WIDEN) {
        da = out.template ReinterpretCast<float>();
        db = da[TILE];
    }
    Muls(p, a, -k.beta, count);
    Muls(q, a, k.beta, count);
    PipeBarrier<PIPE_V>();
    Exp(p, p, count);
    PipeBarrier<PIPE_V>();
    Adds(p, p, 1.0f, count);
    PipeBarrier<PIPE_V>();
    Div(dy, dy, p, count);
    PipeBarrier<PIPE_V>();
    Exp(p, q, count);
    PipeBarrier<PIPE_V>();
    Adds(p, p, 1.0f, count);
    PipeBarrier<PIPE_V>();
    Div(q, q, p, count);
    Mul(db, dy, a, count);
    PipeBarrier<PIPE_V>();
    Adds(q, q, 1.0f, count);
    Mul(b, dy, b, count);
    PipeBarrier<PIPE_V>();
    Mul(da, b, q, count);
    if (k.inputs == INPUTS) {
        PipeBarrier<PIPE_V>();
        Add(da, da, x[ACCUMULATED * TILE], count);
    }
    if constexpr (WIDEN) {
        PipeBarrier<PIPE_V>();
        Cast(out, da, RoundMode::CAST_RINT, count);
        Cast(out[TILE], db, RoundMode::CAST_RINT, count);
    }
    k.queue_in.FreeTensor(tile);
    k.queue_out.EnQue(out);
}

__aicore__ inline void store(Kernel &k, int64_t at, uint32_t count) {
    LocalTensor<Elem> out = k.queue_out.DeQue<Elem>();
    DataCopyExtParams copy(1, count * sizeof(Elem), 0, 0, 0);
    DataCopyPad(k.da[at], out, copy);
    DataCopyPad(k.db[at], out[TILE], copy);
    k.queue_out.FreeTensor(out);
}

/* Where core number `core` begins. */
__aicore__ inline int64_t first(const SwishGluGradTilingData &data, int64_t core) {
    int64_t n = GetBlockNum(), each = data.units / n, more = data.units % n;
    int64_t at = (each * core + (core < more ? core : more)) * SWISH_GLU_UNIT;
    return at < data.elements ? at : data.elements;
}

__aicore__ inline uint32_t piece(int64_t at, int64_t end) {
    return end - at < TILE ? end - at : TILE;
}

__aicore__ inline void run(Kernel &k, const SwishGluGradTilingData &data) {
    int64_t at = first(data, GetBlockIdx()), end = first(data, GetBlockIdx() + 1);
    if (at < end) load(k, at, piece(at, end));
    for (; at < end; at += TILE) {
        LocalTensor<Elem> tile = k.queue_in.DeQue<Elem>();
        int64_t next = at + TILE;
        if (next < end) load(k, next, piece(next, end));
        compute(k, tile, piece(at, end));
        store(k, at, piece(at, end));
    }
}

} // namespace swish_glu

extern "C" __global__ __aicore__ void swish_glu_grad(GM_ADDR dy, GM_ADDR a, GM_ADDR b,
                                                     GM_ADDR accumulated, GM_ADDR da, GM_ADDR db,
                                                     GM_ADDR workspace, GM_ADDR tiling) {
    using namespace AscendC;
    using swish_glu::Elem;
    REGISTER_TILING_DEFAULT(SwishGluGradTilingData);
    GET_TILING_DATA(data, tiling);
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    TPipe pipe;
    swish_glu::Kernel k;
    k.inputs = data.accumulate ? swish_glu::INPUTS : swish_glu::INPUTS - 1;
    k.beta = data.beta;
    k.in[swish_glu::DY].SetGlobalBuffer((__gm__ Elem *)dy);
    k.in[swish_glu::A].SetGlobalBuffer((__gm__ Elem *)a);
    k.in[swish_glu::B].SetGlobalBuffer((__gm__ Elem *)b);
    k.in[swish_glu::ACCUMULATED].SetGlobalBuffer((__gm__ Elem *)accumulated);
    k.da.SetGlobalBuffer((__gm__ Elem *)da);
    k.db.SetGlobalBuffer((__gm__ Elem *)db);
    pipe.InitBuffer(k.queue_in, 2, swish_glu::INPUTS * swish_glu::TILE * sizeof(Elem));
    pipe.InitBuffer(k.queue_out, 2, 2 * swish_glu::TILE * sizeof(Elem));
    pipe.InitBuffer(k.work, (swish_glu::WIDEN ? 6 : 2) * swish_glu::TILE * sizeof(float));
    if (TILING_KEY_IS(0)) swish_glu::run(k, data);
}
