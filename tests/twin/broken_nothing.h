/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of violations.cpp: what only warns, and what must not be reported at all.
 */
/* Warnings: the run goes on, the report counts. */

static void unread_load(const Gm &gm, bool fixed) {
    Core k(gm);
    TBuf<TPosition::VECIN> buf;
    k.pipe.InitBuffer(buf, 1024);
    LocalTensor<float> t = buf.Get<float>();
    DataCopy(t, k.gin, 256);
    PipeBarrier<PIPE_ALL>();
    if (fixed) Adds(k.b, t, 1.0f, 256);
    PipeBarrier<PIPE_ALL>();
    DataCopy(t, k.gin[256], 256);
}

static void float_atomics(const Gm &gm, bool fixed) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    Core k(gm);
    if (GetBlockIdx() == 0) k.Store(k.gout, 0, 64);
    SyncAll();
    SetAtomicAdd<float>();
    if (!fixed || GetBlockIdx() < 2) k.Store(k.gout, 0, 64);
    SetAtomicNone();
}

/* What must not be reported. */

static void strided_halves(const Gm &gm,
                           bool) { /* dst in first halves, src in second halves of the same rows */
    Core k(gm);
    k.Fill(k.a);
    Adds(k.a, k.a[8], 1.0f, 8, 16, {1, 1, 2, 2});
}

static void in_place(const Gm &gm, bool) {
    Core k(gm);
    k.Fill(k.a);
    k.Fill(k.b);
    Add(k.a, k.a, k.b, 256);
    PipeBarrier<PIPE_V>();
    Axpy(k.a, k.b, 2.0f, 256);
    PipeBarrier<PIPE_V>();
    MulAddDst(k.a, k.b, k.b, 256);
}

static void v_to_v_950(const Gm &gm, bool) { /* the chip orders vector calls itself */
    Core k(gm);
    Duplicate(k.a, 1.0f, 256);
    Adds(k.b, k.a, 1.0f, 256);
    Adds(k.a, k.b, 1.0f, 256);
}

static void double_buffer(const Gm &gm, bool) {
    Core k(gm);
    for (int i = 0; i < 8; i++) {
        LocalTensor<float> t = k.in.AllocTensor<float>();
        DataCopy(t, k.gin[i * 256], 256);
        k.in.EnQue(t);
        t = k.in.DeQue<float>();
        LocalTensor<float> o = k.out.AllocTensor<float>();
        Adds(o, t, 1.0f, 256);
        k.in.FreeTensor(t);
        k.out.EnQue(o);
        o = k.out.DeQue<float>();
        DataCopy(k.gout[i * 256], o, 256);
        k.out.FreeTensor(o);
    }
}

static void pipe_reset(const Gm &gm, bool) {
    Core k(gm);
    k.Store(k.gout, 0, 64);
    k.pipe.Reset();
    TBuf<TPosition::VECCALC> buf;
    k.pipe.InitBuffer(buf, 190000);
    Duplicate(buf.Get<float>(), 1.0f, 40000);
}
