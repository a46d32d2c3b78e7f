/* SPDX-License-Identifier: Apache-2.0
 *
 * What the headers of the chip (A2) refuse must not compile here either. -DREJECT=n picks one line;
 * 0 picks none and must compile. test_reject.sh tries them all.
 */
#include "standard.h"

#define TWIN_CHECKED 1
namespace twin_reject {
#include "kernel_operator.h"
using namespace AscendC;

void Kernel(GM_ADDR in) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buf;
    pipe.InitBuffer(buf, 4096);
    LocalTensor<float> f = buf.Get<float>();
    LocalTensor<half> h = buf.Get<half>();
    LocalTensor<bfloat16_t> b = buf.Get<bfloat16_t>();
    LocalTensor<int32_t> i = buf.Get<int32_t>();
    LocalTensor<uint32_t> u = buf.Get<uint32_t>();
    LocalTensor<uint8_t> c = buf.Get<uint8_t>();
    GlobalTensor<float> g;
    g.SetGlobalBuffer((__gm__ float *)in);
    (void)f, (void)h, (void)b, (void)i, (void)u, (void)c;
#if REJECT == 1 /* no bf16 arithmetic */
    Add(b, b, b, 64);
#elif REJECT == 2 /* one type for all operands */
    Add(f, f, h, 64);
#elif REJECT == 3
    Muls(b, b, bfloat16_t(2.0f), 64);
#elif REJECT == 4 /* the scalar has the tensor's type */
    Muls(h, h, 2.0f, 64);
#elif REJECT == 5 /* no cast between the two 16-bit floats */
    Cast(b, h, RoundMode::CAST_RINT, 64);
#elif REJECT == 6
    Cast(i, u, RoundMode::CAST_NONE, 64);
#elif REJECT == 7
    Div(i, i, i, 64);
#elif REJECT == 8
    Exp(b, b, 64);
#elif REJECT == 9
    Or(f, f, f, 64);
#elif REJECT == 10
    ShiftLeft(f, f, 1.0f, 64);
#elif REJECT == 11
    WholeReduceSum(i, i, 64, 1, 1, 1, 8);
#elif REJECT == 12
    Axpy(h, f, 1.0f, 64);
#elif REJECT == 13
    DataCopy(h, g, 64);
#elif REJECT == 14
    Transpose(f, f);
#elif REJECT == 15
    Gather(f, f, i, 0, 64);
#elif REJECT == 16
    Compare(f, f, f, CMPMODE::LT, 64);
#elif REJECT == 17
    TQue<QuePosition::VECCALC, 1> q;
#elif REJECT == 18
    SetAtomicAdd<uint32_t>();
#elif REJECT == 19
    PipeBarrier<PIPE_M>();
#elif REJECT == 20
    Add(f, f, f, 64, 1, {1, 1, 8, 8});
#elif REJECT == 21 /* a mask by address is a plain array of uint64_t */
    const uint64_t mask[2] = {1, 0};
    Add(f, f, f, mask, 1, BinaryRepeatParams());
#elif REJECT == 22
    Duplicate(f, 1, 64);
#elif REJECT == 23
    And(h, h, h, 64);
#elif REJECT == 24 /* the library works on half of the count */
    Or(u, u, u, 64);
#elif REJECT == 25 /* the library works on one repeat */
    Adds<float, false>(f, f, 1.0f, 64);
#elif REJECT == 26 /* the library sets a mask all the same */
    Select<float, uint8_t, false>(f, f.ReinterpretCast<uint8_t>(), f, f,
                                  SELMODE::VSEL_TENSOR_TENSOR_MODE, MASK_PLACEHOLDER, 1,
                                  BinaryRepeatParams());
#endif
}
} // namespace twin_reject
