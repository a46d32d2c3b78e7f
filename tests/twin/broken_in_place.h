/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of violations.cpp: the output has the memory of the input.
 */

/* Doubles n floats of the input into the output. */
static void pass_on(Core &k, uint64_t from, uint64_t to, uint32_t n) {
    LocalTensor<float> t = k.in.AllocTensor<float>();
    DataCopy(t, k.gin[from], n);
    k.in.EnQue(t);
    t = k.in.DeQue<float>();
    LocalTensor<float> o = k.out.AllocTensor<float>();
    Add(o, t, t, (int32_t)n);
    k.in.FreeTensor(t);
    k.out.EnQue(o);
    o = k.out.DeQue<float>();
    AT DataCopy(k.gout[to], o, n);
    k.out.FreeTensor(o);
}

/* A core needs what another one overwrites. */
static void place_of_other(const Gm &gm, bool fixed) {
    Core k(gm);
    uint64_t me = (uint64_t)GetBlockIdx() * 64;
    pass_on(k, fixed ? me : 0, me, 64);
}

/* The same, where the one that overwrites comes later: the cores backwards show it. */
static void place_of_later(const Gm &gm, bool fixed) {
    Core k(gm);
    uint64_t me = (uint64_t)GetBlockIdx() * 64;
    pass_on(k, fixed ? me : 64, me, 64);
}

/* A core needs what it has overwritten itself. */
static void place_of_own(const Gm &gm, bool fixed) {
    Core k(gm);
    pass_on(k, 0, 0, 64);
    pass_on(k, fixed ? 64 : 0, 64, 64);
}

static void place_read_by_scalar(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Store(k.gout, 0, 64);
    AT k.gin.GetValue(fixed ? 64 : 0);
}

static void place_under_way(const Gm &gm, bool fixed) {
    Core k(gm);
    LocalTensor<float> t = k.in.AllocTensor<float>(), o = k.out.AllocTensor<float>();
    Duplicate(o, 1.0f, 256);
    k.out.EnQue(o);
    o = k.out.DeQue<float>();
    DataCopy(t, k.gin, 64);
    if (fixed) SetFlag<HardEvent::MTE2_MTE3>(0);
    if (fixed) WaitFlag<HardEvent::MTE2_MTE3>(0);
    AT DataCopy(k.gout, o, 64);
    k.out.FreeTensor(o);
    k.in.EnQue(t);
    t = k.in.DeQue<float>();
    Adds(k.a, t, 1.0f, 64);
    k.in.FreeTensor(t);
}

/* What is lost may be read, and even added to, as long as nothing comes of it. */
static void place_unused(const Gm &gm, bool) {
    Core k(gm);
    k.Store(k.gout, 0, 64);
    LocalTensor<float> t = k.in.AllocTensor<float>();
    DataCopy(t, k.gin, 128);
    k.in.EnQue(t);
    t = k.in.DeQue<float>();
    LocalTensor<float> o = k.out.AllocTensor<float>();
    Adds(o, t, 1.0f, 128);
    k.in.FreeTensor(t);
    k.out.EnQue(o);
    o = k.out.DeQue<float>();
    DataCopy(k.gout[64], o[64], 64);
    k.out.FreeTensor(o);
}
