/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of violations.cpp: missing barriers and flags between calls and pipes; flags and event
 * ids misused.
 */
/* Order between pipes. */

static void vector_raw(const Gm &gm, bool fixed) {
    Core k(gm);
    Duplicate(k.a, 1.0f, 256);
    if (fixed) PipeBarrier<PIPE_V>();
    AT Adds(k.b, k.a, 1.0f, 256);
}

static void vector_war(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    Adds(k.b, k.a, 1.0f, 256);
    if (fixed) PipeBarrier<PIPE_V>();
    AT Duplicate(k.a, 2.0f, 256);
}

static void vector_waw(const Gm &gm, bool fixed) {
    Core k(gm);
    (void)gm;
    Duplicate(k.a, 1.0f, 256);
    if (fixed) PipeBarrier<PIPE_V>();
    AT Duplicate(k.a[64], 2.0f, 8);
}

static void load_to_vector(const Gm &gm, bool fixed) {
    Core k(gm);
    LocalTensor<float> t = k.in.AllocTensor<float>();
    DataCopy(t, k.gin, 256);
    if (fixed) SetFlag<HardEvent::MTE2_V>(3);
    if (fixed) WaitFlag<HardEvent::MTE2_V>(3);
    AT Adds(k.b, t, 1.0f, 256);
    k.in.EnQue(t);
    t = k.in.DeQue<float>();
    k.in.FreeTensor(t);
}

static void vector_to_store(const Gm &gm, bool fixed) {
    Core k(gm);
    LocalTensor<float> t = k.out.AllocTensor<float>();
    Duplicate(t, 1.0f, 256);
    if (fixed) SetFlag<HardEvent::V_MTE3>(3);
    if (fixed) WaitFlag<HardEvent::V_MTE3>(3);
    AT DataCopy(k.gout, t, 256);
    k.out.EnQue(t);
    t = k.out.DeQue<float>();
    k.out.FreeTensor(t);
}

static void store_to_vector(const Gm &gm, bool fixed) {
    Core k(gm);
    TBuf<TPosition::VECOUT> buf;
    k.pipe.InitBuffer(buf, 1024);
    LocalTensor<float> t = buf.Get<float>();
    Duplicate(t, 1.0f, 256);
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    DataCopy(k.gout, t, 256);
    if (fixed) SetFlag<HardEvent::MTE3_V>(0);
    if (fixed) WaitFlag<HardEvent::MTE3_V>(0);
    if (fixed) PipeBarrier<PIPE_V>();
    AT Duplicate(t, 2.0f, 256);
}

static void vector_to_load(const Gm &gm, bool fixed) {
    Core k(gm);
    TBuf<TPosition::VECIN> buf;
    k.pipe.InitBuffer(buf, 1024);
    LocalTensor<float> t = buf.Get<float>();
    DataCopy(t, k.gin, 256);
    SetFlag<HardEvent::MTE2_V>(0);
    WaitFlag<HardEvent::MTE2_V>(0);
    Adds(k.b, t, 1.0f, 256);
    if (fixed) SetFlag<HardEvent::V_MTE2>(0);
    if (fixed) WaitFlag<HardEvent::V_MTE2>(0);
    AT DataCopy(t, k.gin, 256);
}

static void load_to_load(const Gm &gm, bool fixed) {
    Core k(gm);
    TBuf<TPosition::VECIN> buf;
    k.pipe.InitBuffer(buf, 1024);
    LocalTensor<float> t = buf.Get<float>();
    DataCopy(t, k.gin, 128);
    if (fixed) PipeBarrier<PIPE_MTE2>();
    AT DataCopy(t[96], k.gin, 64);
}

static void load_to_store(const Gm &gm, bool fixed) {
    Core k(gm);
    TBuf<TPosition::VECIN> buf;
    k.pipe.InitBuffer(buf, 1024);
    LocalTensor<float> t = buf.Get<float>();
    DataCopy(t, k.gin, 256);
    if (fixed) SetFlag<HardEvent::MTE2_MTE3>(0);
    if (fixed) WaitFlag<HardEvent::MTE2_MTE3>(0);
    AT DataCopy(k.gout, t, 256);
}

static void vector_to_scalar(const Gm &gm, bool fixed) {
    Core k(gm);
    Duplicate(k.a, 1.0f, 256);
    if (fixed) SetFlag<HardEvent::V_S>(0);
    if (fixed) WaitFlag<HardEvent::V_S>(0);
    AT(void) k.a.GetValue(3);
}

static void scalar_to_vector(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    SetFlag<HardEvent::V_S>(0);
    WaitFlag<HardEvent::V_S>(0);
    k.a.SetValue(3, 2.0f);
    if (fixed) SetFlag<HardEvent::S_V>(0);
    if (fixed) WaitFlag<HardEvent::S_V>(0);
    AT Adds(k.b, k.a, 1.0f, 256);
}

static void set_twice(const Gm &gm, bool fixed) {
    Core k(gm);
    SetFlag<HardEvent::MTE2_V>(0);
    if (fixed) WaitFlag<HardEvent::MTE2_V>(0);
    AT SetFlag<HardEvent::MTE2_V>(0);
    WaitFlag<HardEvent::MTE2_V>(0);
}

static void wait_unset(const Gm &gm, bool fixed) {
    Core k(gm);
    if (fixed) SetFlag<HardEvent::MTE2_V>(0);
    AT WaitFlag<HardEvent::MTE2_V>(0);
}

static void left_set(const Gm &gm, bool fixed) {
    Core k(gm);
    SetFlag<HardEvent::MTE2_V>(0);
    if (fixed) WaitFlag<HardEvent::MTE2_V>(0);
    fault_line = 0;
}

static void bad_event_id(const Gm &gm, bool fixed) {
    Core k(gm);
    AT SetFlag<HardEvent::MTE2_V>(fixed ? 7 : 8);
    WaitFlag<HardEvent::MTE2_V>(fixed ? 7 : 8);
}

static void event_ids_run_out(const Gm &gm, bool fixed) {
    Core k(gm);
    for (int i = 0; i < (fixed ? 8 : 9); i++) {
        AT k.pipe.AllocEventID<HardEvent::MTE2_V>();
    }
}

static void release_unknown(const Gm &gm, bool fixed) {
    Core k(gm);
    TEventID id = fixed ? k.pipe.AllocEventID<HardEvent::V_S>() : 2;
    AT k.pipe.ReleaseEventID<HardEvent::V_S>(id);
}
