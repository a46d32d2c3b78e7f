/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of violations.cpp: what the first generation of the 910 does not have, and what a kernel
 * does there instead.
 */
static void pad_910(const Gm &gm, bool fixed) {
    Core k(gm);
    LocalTensor<float> t = k.in.AllocTensor<float>();
    if (fixed) {
        DataCopy(t, k.gin, 256);
    } else {
        AT DataCopyPad(t, k.gin, DataCopyExtParams(1, 1024, 0, 0, 0),
                       DataCopyPadExtParams<float>(false, 0, 0, 0));
    }
    k.in.EnQue(t);
    t = k.in.DeQue<float>();
    Adds(k.a, t, 1.0f, 256);
    k.in.FreeTensor(t);
}

static void rounding_910(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    AT Cast(k.b.ReinterpretCast<half>(), k.a, fixed ? RoundMode::CAST_NONE : RoundMode::CAST_RINT,
            256);
}

static void bf16_910(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    if (fixed) {
        Cast(k.b, k.a.ReinterpretCast<half>(), RoundMode::CAST_NONE, 256);
    } else {
        AT Cast(k.b, k.a.ReinterpretCast<bfloat16_t>(), RoundMode::CAST_NONE, 256);
    }
}

static void block_sum_910(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    if (fixed) {
        WholeReduceSum(k.b, k.a, 64, 4, 1, 1, 8);
    } else {
        AT BlockReduceSum(k.b, k.a, 4, 64, 1, 1, 8);
    }
}

static void whole_max_910(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    if (fixed) {
        WholeReduceMax(k.b.ReinterpretCast<half>(), k.a.ReinterpretCast<half>(), 128, 2, 1, 1, 8,
                       ReduceOrder::ORDER_ONLY_VALUE);
    } else {
        AT WholeReduceMax(k.b, k.a, 64, 4, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);
    }
}

static void brcb_910(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    if (fixed) {
        Duplicate(k.b, 1.0f, 64);
    } else {
        AT Brcb(k.b, k.a, 1, BrcbRepeatParams(1, 8));
    }
}

static void gather_910(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    Duplicate(k.c.ReinterpretCast<int32_t>(), 0, 256);
    PipeBarrier<PIPE_V>();
    if (fixed) {
        DataCopy(k.b, k.a, 64);
    } else {
        AT Gather(k.b, k.a, k.c.ReinterpretCast<uint32_t>(), 0, 64);
    }
}

static void copy_910(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    if (fixed) {
        DataCopy(k.b, k.a, 64);
    } else {
        AT Copy(k.b, k.a, 64, 1, CopyRepeatParams(1, 1, 8, 8));
    }
}

static void maxs_910(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    k.Fill(k.b);
    if (fixed) {
        Max(k.b, k.a, k.b, 256);
    } else {
        AT Maxs(k.b, k.a, 1.0f, 256);
    }
}

static void shift_910(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    if (fixed) {
        Muls(k.b, k.a, 2.0f, 256);
    } else {
        AT ShiftLeft(k.b.ReinterpretCast<uint32_t>(), k.a.ReinterpretCast<uint32_t>(), 1u, 256);
    }
}

static void axpy_910(const Gm &, bool fixed) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    constexpr int32_t count = 2 * 255 * 64;
    pipe.InitBuffer(buffer, count * 4);
    LocalTensor<float> t = buffer.Get<float>();
    Duplicate(t, 1.0f, count);
    PipeBarrier<PIPE_V>();
    AT Axpy(t, t, 2.0f, fixed ? count - 1 : count);
}

static void select_910(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    k.Fill(k.b);
    AT Select(k.c, k.b.ReinterpretCast<uint8_t>(), k.a, k.a,
              fixed ? SELMODE::VSEL_CMPMASK_SPR : SELMODE::VSEL_TENSOR_TENSOR_MODE, 64);
}

static void transpose_910(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    LocalTensor<half> to[16], from[16];
    LocalTensor<float> wide_to[16], wide_from[16];
    for (int i = 0; i < 16; i++) {
        to[i] = k.b.ReinterpretCast<half>()[i * 16];
        from[i] = k.a.ReinterpretCast<half>()[i * 16];
        wide_to[i] = k.b[i * 8];
        wide_from[i] = k.a[i * 8];
    }
    if (fixed) {
        TransDataTo5HD(to, from, TransDataTo5HDParams(false, false, 1, 0, 0));
    } else {
        AT TransDataTo5HD(wide_to, wide_from, TransDataTo5HDParams(false, false, 1, 0, 0));
    }
}

static void atomic_910(const Gm &gm, bool fixed) {
    Core k(gm);
    if (fixed) {
        SetAtomicAdd<float>();
    } else {
        AT SetAtomicAdd<half>();
    }
    SetAtomicNone();
}

static void sync_910(const Gm &gm, bool fixed) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    Core k(gm);
    GlobalTensor<int32_t> flags;
    flags.SetGlobalBuffer((__gm__ int32_t *)gm.workspace);
    if (fixed) {
        SyncAll(flags, k.a.ReinterpretCast<int32_t>());
    } else {
        AT SyncAll();
    }
}

static void event_id_910(const Gm &gm, bool fixed) {
    Core k(gm);
    AT SetFlag<HardEvent::MTE2_V>(fixed ? 3 : 4);
    WaitFlag<HardEvent::MTE2_V>(fixed ? 3 : 4);
}

static void event_ids_910(const Gm &gm, bool fixed) {
    Core k(gm);
    for (int i = 0; i < (fixed ? 4 : 5); i++) {
        AT k.pipe.AllocEventID<HardEvent::V_MTE2>();
    }
}
