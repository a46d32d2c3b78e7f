/* SPDX-License-Identifier: Apache-2.0
 *
 * The questions of `ascgrad accept` that only a chip can answer: one launch each, on one core.
 * x is loaded, one thing is done, y is stored; ascgrad_probe_tiling_data.h says where everything
 * lies, tools/accept/questions.c what the answer means. Half of what is asked here is forbidden to
 * kernels for the reason that it is asked, so the probe runs on the twin without its checks.
 */
#include "ascgrad_probe_tiling_data.h"
#include "kernel_operator.h"

#if (defined(__NPU_ARCH__) && __NPU_ARCH__ == 1001) ||                                             \
    (defined(__CCE_AICORE__) && __CCE_AICORE__ == 100)
#define LATER_CHIPS 0 /* no Gather, no DataCopyPad, no bf16 */
#else
#define LATER_CHIPS 1
#endif

namespace probe {

using namespace AscendC;

enum { BYTES = PROBE_WORDS * 4, LANES_16 = 128 };

struct Probe {
    TPipe *pipe;
    TBuf<TPosition::VECIN> in_buffer;
    TBuf<TPosition::VECOUT> out_buffer;
    TBuf<TPosition::VECCALC> work_buffer, rest_buffer;
    LocalTensor<float> in, out, work, last; /* last: the last 64 words of the UB */
    GlobalTensor<float> x, y;
};

template <HardEvent EVENT> __aicore__ inline void pass(TPipe *pipe) {
    TEventID id = pipe->AllocEventID<EVENT>();
    SetFlag<EVENT>(id);
    WaitFlag<EVENT>(id);
    pipe->ReleaseEventID<EVENT>(id);
}

__aicore__ inline void begin(Probe &p, TPipe *pipe, GM_ADDR x, GM_ADDR y,
                             const AscgradProbeTilingData &t) {
    const uint32_t rest = t.ub - 3 * BYTES;
    p.pipe = pipe;
    pipe->InitBuffer(p.in_buffer, BYTES);
    pipe->InitBuffer(p.out_buffer, BYTES);
    pipe->InitBuffer(p.work_buffer, BYTES);
    pipe->InitBuffer(p.rest_buffer, rest);
    p.in = p.in_buffer.Get<float>();
    p.out = p.out_buffer.Get<float>();
    p.work = p.work_buffer.Get<float>();
    p.last = p.rest_buffer.Get<float>()[rest / 4 - 64];
    p.x.SetGlobalBuffer((__gm__ float *)x);
    p.y.SetGlobalBuffer((__gm__ float *)y);
    DataCopy(p.in, p.x, PROBE_WORDS);
    DataCopy(p.out, p.x[PROBE_WORDS], PROBE_WORDS);
    pass<HardEvent::MTE2_V>(pipe);
}

/* n words as they are, and when they are there. */
__aicore__ inline void move(const LocalTensor<float> &to, const LocalTensor<float> &from,
                            uint32_t n) {
    LocalTensor<uint16_t> a = to.ReinterpretCast<uint16_t>();
    LocalTensor<uint16_t> b = from.ReinterpretCast<uint16_t>();
    PipeBarrier<PIPE_V>();
    Or(a, b, b, (int32_t)(2 * n));
    PipeBarrier<PIPE_V>();
}

/* Which of 128 lanes of 16 bits the mask register has on: they are written into the n-th 64 words
 * of y, the others stay as they were. */
__aicore__ inline void show_mask(const Probe &p, uint32_t n) {
    LocalTensor<uint16_t> to = p.out.ReinterpretCast<uint16_t>()[n * LANES_16];
    LocalTensor<uint16_t> from = p.in.ReinterpretCast<uint16_t>();
    PipeBarrier<PIPE_V>();
    Or<uint16_t, false>(to, from, from, MASK_PLACEHOLDER, 1, BinaryRepeatParams());
}

__aicore__ inline void ask_masks(const Probe &p, uint32_t question) {
    if (question == PROBE_MASK_AT_START) {
        show_mask(p, 0);
    } else if (question == PROBE_MASK_AFTER_COUNT) {
        SetVectorMask<uint16_t, MaskMode::NORMAL>(0, 0xff);
        Adds(p.work, p.in, 1.0f, 100);
        show_mask(p, 0);
    } else if (question == PROBE_MASK_NUMBER) {
        uint64_t bits[2] = {0xff, 0};
        ResetMask();
        Adds(p.work, p.in, 1.0f, (uint64_t)8, 1, UnaryRepeatParams());
        show_mask(p, 0);
        Adds(p.work, p.in, 1.0f, bits, 1, UnaryRepeatParams());
        show_mask(p, 1);
    }
#if LATER_CHIPS
    if (question == PROBE_MASK_AFTER_GATHER) {
        ResetMask();
        Gather(p.work, p.in, p.in[PROBE_OFFSETS].ReinterpretCast<uint32_t>(), 0, (uint32_t)100);
        show_mask(p, 0);
    }
#endif
}

__aicore__ inline void ask_sums(const Probe &p, uint32_t question) {
    if (question == PROBE_SUBNORMAL) {
        Add(p.out, p.in[PROBE_TINY], p.in[PROBE_TINY + 8], 8);
        Sub(p.out[8], p.in[PROBE_TINY], p.in[PROBE_TINY + 8], 8);
        Mul(p.out[16], p.in[PROBE_TINY], p.in[PROBE_TINY + 8], 8);
    }
#if LATER_CHIPS
    if (question == PROBE_ZERO_IN_PAIR_SUM) {
        uint64_t even[2] = {0x5555555555555555, 0};
        PairReduceSum<float>(p.out, p.in[PROBE_ZEROS], 1, even, 1, 1, 8);
    } else if (question == PROBE_EMPTY_GROUP_SUM) {
        BlockReduceSum<float>(p.out, p.in, 1, 8, 1, 1, 8);
    } else if (question == PROBE_SUM_ORDER) {
        WholeReduceSum<float>(p.out, p.in[PROBE_SMALL], 64, 1, 1, 1, 8);
        WholeReduceSum<float>(p.out[8], p.in[PROBE_FOUR], 64, 1, 1, 1, 8);
        BlockReduceSum<float>(p.out[16], p.in[PROBE_FOUR], 1, 64, 1, 1, 8);
    }
#endif
}

__aicore__ inline void ask_casts(const Probe &p, const AscgradProbeTilingData &t) {
    LocalTensor<half> narrow = p.out.ReinterpretCast<half>();
    if (t.question == PROBE_CAST_NONE) {
        Cast(narrow, p.in[PROBE_TIES], RoundMode::CAST_NONE, 8);
    } else if (t.question == PROBE_OVERFLOW && t.first != 0) {
        Cast(narrow, p.in[PROBE_LARGE], RoundMode::CAST_NONE, 8);
    }
#if LATER_CHIPS
    if (t.question == PROBE_OVERFLOW && t.first == 0) {
        Cast(narrow, p.in[PROBE_LARGE], RoundMode::CAST_RINT, 8);
    } else if (t.question == PROBE_WIDEN) {
        Cast(p.out, p.in[PROBE_BF16].ReinterpretCast<bfloat16_t>(), RoundMode::CAST_NONE, 8);
    }
#endif
}

/* What a DataCopyPad of one word makes of the seven behind it. */
__aicore__ inline void ask_pads(const Probe &p, bool fill) {
#if LATER_CHIPS
    DataCopyExtParams one(1, 4, 0, 0, 0);
    DataCopyPadExtParams<float> pad(fill, 0, (uint8_t)(fill ? 7 : 0), fill ? 7.0f : 0.0f);
    PipeBarrier<PIPE_MTE2>();
    DataCopyPad(p.in[PROBE_LANDING], p.x, one, pad);
    pass<HardEvent::MTE2_V>(p.pipe);
    move(p.out, p.in[PROBE_LANDING], 8);
#endif
}

/* Operands that end where the UB ends. */
__aicore__ inline void ask_ends(const Probe &p, uint32_t question) {
    LocalTensor<float> block = p.last[56];
    if (question == PROBE_MASKED_BLOCKS) {
        move(block, p.in, 8);
        Muls(block, block, 2.0f, (uint64_t)8, 1, UnaryRepeatParams());
        ResetMask();
        move(p.out, block, 8);
    }
#if LATER_CHIPS
    if (question == PROBE_GATHERB_END) {
        LocalTensor<uint32_t> offsets = p.in[PROBE_BLOCKS].ReinterpretCast<uint32_t>();
        move(p.last, p.in, 64);
        Gatherb(p.out.ReinterpretCast<uint32_t>(), p.last.ReinterpretCast<uint32_t>(), offsets, 1,
                GatherRepeatParams(1, 8));
        move(block, p.in[PROBE_BLOCKS], 8);
        Gatherb(p.out[64].ReinterpretCast<uint32_t>(), p.in.ReinterpretCast<uint32_t>(),
                block.ReinterpretCast<uint32_t>(), 1, GatherRepeatParams(1, 8));
    } else if (question == PROBE_GATHER_OFFSETS_END) {
        move(block, p.in[PROBE_OFFSETS], 8);
        Gather(p.out, p.in, block.ReinterpretCast<uint32_t>(), 0, (uint32_t)8);
    }
#endif
}

/* As many loads under way as there are event ids. */
__aicore__ inline void ask_events(const Probe &p, uint32_t events) {
    TEventID id[8];
    for (uint32_t i = 0; i < events; i++) {
        id[i] = p.pipe->AllocEventID<HardEvent::MTE2_V>();
        DataCopy(p.in[PROBE_LANDING + 8 * i], p.x[8 * i], 8);
        SetFlag<HardEvent::MTE2_V>(id[i]);
    }
    for (uint32_t i = 0; i < events; i++) {
        WaitFlag<HardEvent::MTE2_V>(id[i]);
        p.pipe->ReleaseEventID<HardEvent::MTE2_V>(id[i]);
        move(p.out[8 * i], p.in[PROBE_LANDING + 8 * i], 8);
    }
}

__aicore__ inline void ask_nothing(const Probe &p) {
    Muls(p.out, p.in, 2.0f, (uint64_t)64, 0, UnaryRepeatParams());
    ResetMask();
    Muls(p.out[64], p.in, 2.0f, 0);
}

/* Calls that wait for nothing read what the ones before them wrote. */
__aicore__ inline void ask_order(const Probe &p) {
    Adds(p.out, p.in, 1.0f, 64);
    for (uint32_t i = 0; i < 31; i++) {
        Adds(p.out, p.out, 1.0f, 64);
    }
}

} // namespace probe

extern "C" __global__ __aicore__ void ascgrad_probe(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                                    GM_ADDR tiling) {
    REGISTER_TILING_DEFAULT(AscgradProbeTilingData);
    GET_TILING_DATA(t, tiling);
#if LATER_CHIPS
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
#endif
    using namespace probe;
    TPipe pipe;
    Probe p;
    begin(p, &pipe, x, y, t);
    if (t.question <= PROBE_MASK_NUMBER) {
        ask_masks(p, t.question);
    } else if (t.question <= PROBE_SUM_ORDER || t.question == PROBE_SUBNORMAL) {
        ask_sums(p, t.question);
    } else if (t.question <= PROBE_WIDEN) {
        ask_casts(p, t);
    } else if (t.question <= PROBE_PAD_VALUE) {
        ask_pads(p, t.question == PROBE_PAD_VALUE);
    } else if (t.question <= PROBE_MASKED_BLOCKS) {
        ask_ends(p, t.question);
    } else if (t.question == PROBE_ZERO_REPEATS) {
        ask_nothing(p);
    } else if (t.question == PROBE_EVENT_IDS) {
        ask_events(p, t.events);
    } else if (t.question == PROBE_ORDER) {
        ask_order(p);
    }
    pass<HardEvent::V_MTE3>(&pipe);
    DataCopy(p.y, p.out, PROBE_WORDS);
}
