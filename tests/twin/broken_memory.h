/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of violations.cpp: UB bounds, alignment, reserved UB; undefined data in stores, sums,
 * indices, masks, scalars.
 */
/* Memory. */

static void ub_overflow(const Gm &gm, bool fixed) {
    Core k(gm);
    TBuf<TPosition::VECCALC> big;
    AT k.pipe.InitBuffer(big, fixed ? 100000 : 196608);
}

static void past_tensor(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    AT Adds(k.b, k.a, 1.0f, fixed ? 256 : 257);
}

static void past_tensor_strided(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    AT Adds(k.b, k.a, 1.0f, 64, fixed ? 4 : 5, {1, 1, 8, 8});
}

static void past_slice(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    AT Adds(k.b[128], k.a, 1.0f, fixed ? 128 : 136);
}

static void bad_index(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    AT LocalTensor<float> t = k.a[fixed ? 8 : 256];
    Adds(k.b, t, 1.0f, 8);
}

static void misaligned(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    AT Adds(k.b, k.a[fixed ? 8 : 4], 1.0f, 64);
}

static void misaligned_reduce(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    AT BlockReduceSum(k.b[fixed ? 8 : 4], k.a, 1, 64, 1, 1, 8);
}

static void no_buffer(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    LocalTensor<float> t;
    if (fixed) t = k.b;
    AT Adds(t, k.a, 1.0f, 64);
}

static void count_rounds_down(const Gm &gm, bool fixed) {
    Core k(gm);
    LocalTensor<float> t = k.in.AllocTensor<float>();
    AT DataCopy(t, k.gin, fixed ? 16 : 13);
    k.in.EnQue(t);
    t = k.in.DeQue<float>();
    k.in.FreeTensor(t);
}

static void select_reserve(const Gm &gm, bool fixed) {
    Core k(gm);
    TBuf<TPosition::VECCALC> big;
    k.pipe.InitBuffer(big, fixed ? 150000 : 185000);
    k.Fill(k.a);
    k.Fill(k.b);
    LocalTensor<uint8_t> mask = k.c.ReinterpretCast<uint8_t>();
    Compare(mask, k.a, k.b, CMPMODE::LT, 64);
    PipeBarrier<PIPE_V>();
    AT Select(big.Get<float>(), mask, k.a, k.b, SELMODE::VSEL_TENSOR_TENSOR_MODE, 64);
}

/* Undefined data. */

static void never_written(const Gm &gm, bool fixed) {
    Core k(gm);
    if (fixed) k.Fill(k.a);
    AT Adds(k.b, k.a, 1.0f, 64);
}

static void fresh_tensor(const Gm &gm, bool fixed) {
    Core k(gm);
    for (int pass = 0; pass < 3; pass++) { /* the third AllocTensor gets the first buffer again */
        LocalTensor<float> t = k.in.AllocTensor<float>();
        if (fixed || pass < 2) DataCopy(t, k.gin, 64);
        k.in.EnQue(t);
        t = k.in.DeQue<float>();
        AT Adds(k.b, t, 1.0f, 64);
        PipeBarrier<PIPE_V>();
        k.in.FreeTensor(t);
    }
}

static void filler_stored(const Gm &gm, bool fixed) {
    Core k(gm);
    LocalTensor<float> t = k.in.AllocTensor<float>();
    DataCopyPad(t, k.gin, DataCopyExtParams(1, 20, 0, 0, 0),
                DataCopyPadExtParams<float>(false, 0, 0, 0));
    k.in.EnQue(t);
    t = k.in.DeQue<float>();
    LocalTensor<float> o = k.out.AllocTensor<float>();
    Adds(o, t, 1.0f, 8); /* lanes 5..7 work on filler: allowed */
    k.out.EnQue(o);
    o = k.out.DeQue<float>();
    AT DataCopyPad(k.gout, o, DataCopyExtParams(1, fixed ? 20 : 24, 0, 0, 0));
    k.out.FreeTensor(o);
    k.in.FreeTensor(t);
}

static void filler_summed(const Gm &gm, bool fixed) {
    Core k(gm);
    LocalTensor<float> t = k.in.AllocTensor<float>();
    DataCopyPad(t, k.gin, DataCopyExtParams(1, 20, 0, 0, 0),
                DataCopyPadExtParams<float>(fixed, 0, fixed ? 3 : 0, 0));
    k.in.EnQue(t);
    t = k.in.DeQue<float>();
    AT WholeReduceSum(k.b, t, 8, 1, 1, 1, 8);
    k.in.FreeTensor(t);
}

static void filler_compared(const Gm &gm, bool fixed) {
    Core k(gm);
    LocalTensor<float> t = k.in.AllocTensor<float>();
    DataCopyPad(t, k.gin, DataCopyExtParams(1, fixed ? 256 : 252, 0, 0, 0),
                DataCopyPadExtParams<float>(false, 0, 0, 0));
    k.in.EnQue(t);
    t = k.in.DeQue<float>();
    AT CompareScalar(k.b.ReinterpretCast<uint8_t>(), t, 0.0f, CMPMODE::GT, 64);
    k.in.FreeTensor(t);
}

static void undefined_index(const Gm &gm, bool fixed) {
    Core k(gm);
    LocalTensor<uint32_t> t = k.in.AllocTensor<uint32_t>();
    GlobalTensor<uint32_t> offsets;
    offsets.SetGlobalBuffer((__gm__ uint32_t *)gm.in);
    DataCopyPad(t, offsets, DataCopyExtParams(1, fixed ? 256 : 252, 0, 0, 0),
                DataCopyPadExtParams<uint32_t>(false, 0, 0, 0));
    k.Fill(k.a);
    k.in.EnQue(t);
    t = k.in.DeQue<uint32_t>();
    AT Gather(k.b, k.a, t, 0, 64);
    k.in.FreeTensor(t);
}

static void undefined_scalar(const Gm &gm, bool fixed) {
    Core k(gm);
    LocalTensor<float> t = k.in.AllocTensor<float>();
    DataCopyPad(t, k.gin, DataCopyExtParams(1, 20, 0, 0, 0),
                DataCopyPadExtParams<float>(false, 0, 0, 0));
    SetFlag<HardEvent::MTE2_S>(0);
    WaitFlag<HardEvent::MTE2_S>(0);
    AT(void) t.GetValue(fixed ? 4 : 5);
    k.in.EnQue(t);
    t = k.in.DeQue<float>();
    k.in.FreeTensor(t);
}

static void bad_gather_offset(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    Duplicate(k.c.ReinterpretCast<uint32_t>(), uint32_t(fixed ? 1020 : 1024), 64);
    PipeBarrier<PIPE_V>();
    AT Gather(k.b, k.a, k.c.ReinterpretCast<uint32_t>(), 0, 64);
}
