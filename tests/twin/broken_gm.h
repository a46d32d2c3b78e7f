/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of violations.cpp: GM bounds, races between cores, atomics, SyncAll, tiling.
 */
/* GM. */

static void gm_read_past(const Gm &gm, bool fixed) {
    Core k(gm);
    LocalTensor<float> t = k.in.AllocTensor<float>();
    AT DataCopyPad(t, k.gin[16384 - 8], DataCopyExtParams(1, fixed ? 32 : 36, 0, 0, 0),
                   DataCopyPadExtParams<float>(false, 0, 0, 0));
    k.in.EnQue(t);
    t = k.in.DeQue<float>();
    k.in.FreeTensor(t);
}

static void gm_write_past(const Gm &gm, bool fixed) {
    Core k(gm);
    LocalTensor<float> t = k.out.AllocTensor<float>();
    Duplicate(t, 1.0f, 256);
    k.out.EnQue(t);
    t = k.out.DeQue<float>();
    AT DataCopyPad(k.gout[16384 - 7], t, DataCopyExtParams(1, fixed ? 28 : 32, 0, 0, 0));
    k.out.FreeTensor(t);
}

static void gm_strided_past(const Gm &gm, bool fixed) {
    Core k(gm);
    LocalTensor<float> t = k.in.AllocTensor<float>();
    AT DataCopyPad(t, k.gin, DataCopyExtParams(4, 32, fixed ? 16352 : 65536, 0, 0),
                   DataCopyPadExtParams<float>(false, 0, 0, 0));
    k.in.EnQue(t);
    t = k.in.DeQue<float>();
    k.in.FreeTensor(t);
}

static void gm_absent(const Gm &gm, bool fixed) {
    Core k(gm);
    GlobalTensor<float> g;
    if (fixed) g = k.gin;
    LocalTensor<float> t = k.in.AllocTensor<float>();
    AT DataCopy(t, g, 64);
    k.in.EnQue(t);
    t = k.in.DeQue<float>();
    k.in.FreeTensor(t);
}

static void input_written(const Gm &gm, bool fixed) {
    Core k(gm);
    LocalTensor<float> t = k.out.AllocTensor<float>();
    Duplicate(t, 1.0f, 256);
    k.out.EnQue(t);
    t = k.out.DeQue<float>();
    AT DataCopy(fixed ? k.gout : k.gin, t, 64);
    k.out.FreeTensor(t);
}

static void workspace_unwritten(const Gm &gm, bool fixed) {
    Core k(gm);
    if (fixed) k.Store(k.gwork, 0, 64);
    PipeBarrier<PIPE_ALL>();
    LocalTensor<float> t = k.in.AllocTensor<float>();
    AT DataCopy(t, k.gwork, 64);
    k.in.EnQue(t);
    t = k.in.DeQue<float>();
    k.in.FreeTensor(t);
}

static void own_write_read(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Store(k.gwork, 0, 64);
    LocalTensor<float> t = k.in.AllocTensor<float>();
    if (fixed) SetFlag<HardEvent::MTE3_MTE2>(0);
    if (fixed) WaitFlag<HardEvent::MTE3_MTE2>(0);
    AT DataCopy(t, k.gwork, 64);
    k.in.EnQue(t);
    t = k.in.DeQue<float>();
    k.in.FreeTensor(t);
}

static void own_write_write(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Store(k.gout, 0, 64);
    if (fixed) PipeBarrier<PIPE_MTE3>();
    LocalTensor<float> t = k.out.AllocTensor<float>();
    Duplicate(t, 1.0f, 256);
    k.out.EnQue(t);
    t = k.out.DeQue<float>();
    AT DataCopy(k.gout[32], t, 64);
    k.out.FreeTensor(t);
}

static void cores_overlap(const Gm &gm, bool fixed) {
    Core k(gm);
    LocalTensor<float> t = k.out.AllocTensor<float>();
    Duplicate(t, 1.0f, 256);
    k.out.EnQue(t);
    t = k.out.DeQue<float>();
    AT DataCopyPad(k.gout[GetBlockIdx() * 64], t, DataCopyExtParams(1, fixed ? 256 : 260, 0, 0, 0));
    k.out.FreeTensor(t);
}

static void shared_block(const Gm &gm, bool fixed) {
    Core k(gm);
    LocalTensor<float> t = k.out.AllocTensor<float>();
    Duplicate(t, 1.0f, 256);
    k.out.EnQue(t);
    t = k.out.DeQue<float>();
    AT DataCopyPad(k.gout[GetBlockIdx() * (fixed ? 8 : 4)], t, DataCopyExtParams(1, 16, 0, 0, 0));
    k.out.FreeTensor(t);
}

static void read_before_sync(const Gm &gm, bool fixed) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    Core k(gm);
    k.Store(k.gwork, GetBlockIdx() * 64, 64);
    PipeBarrier<PIPE_ALL>();
    if (fixed) SyncAll();
    LocalTensor<float> t = k.in.AllocTensor<float>();
    AT DataCopy(t, k.gwork[(1 - GetBlockIdx()) * 64], 64);
    k.in.EnQue(t);
    t = k.in.DeQue<float>();
    k.in.FreeTensor(t);
    if (!fixed) SyncAll();
}

static void write_under_reader(const Gm &gm, bool fixed) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    Core k(gm);
    if (GetBlockIdx() == 0) k.Store(k.gwork, 0, 64);
    SyncAll();
    if (GetBlockIdx() == 0) k.Load(k.gwork, 0, 64);
    if (fixed) SyncAll();
    if (GetBlockIdx() == 1) {
        LocalTensor<float> t = k.out.AllocTensor<float>();
        Duplicate(t, 1.0f, 256);
        k.out.EnQue(t);
        t = k.out.DeQue<float>();
        AT DataCopy(k.gwork, t, 64);
        k.out.FreeTensor(t);
    }
}

static void add_to_nothing(const Gm &gm, bool fixed) {
    Core k(gm);
    if (fixed) k.Store(k.gout, 0, 64);
    PipeBarrier<PIPE_ALL>();
    LocalTensor<float> t = k.out.AllocTensor<float>();
    Duplicate(t, 1.0f, 256);
    k.out.EnQue(t);
    t = k.out.DeQue<float>();
    SetAtomicAdd<float>();
    AT DataCopy(k.gout, t, 64);
    SetAtomicNone();
    k.out.FreeTensor(t);
}

static void cache_not_cleaned(const Gm &gm, bool fixed) {
    Core k(gm);
    k.gout.SetValue(3, 1.0f);
    if (fixed)
        DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(
            k.gout);
    fault_line = 0;
}

/* SyncAll. */

static void sync_under_aiv_only(const Gm &gm, bool fixed) {
    KERNEL_TASK_TYPE_DEFAULT(fixed ? KERNEL_TYPE_MIX_AIV_1_0 : KERNEL_TYPE_AIV_ONLY);
    Core k(gm);
    AT SyncAll();
}

static void sync_skipped(const Gm &gm, bool fixed) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    Core k(gm);
    fault_line = 0;
    if (fixed || GetBlockIdx() != 1) SyncAll();
}

static void tiling_size(const Gm &gm, bool fixed) {
    (void)gm;
    struct Small {
        int32_t a;
    };
    struct Right {
        int64_t a;
    };
    if (fixed) {
        GET_TILING_DATA_WITH_STRUCT(Right, t, gm.in);
        (void)t;
    } else {
        AT GET_TILING_DATA_WITH_STRUCT(Small, t, gm.in);
        (void)t;
    }
}
