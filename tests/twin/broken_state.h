/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of violations.cpp: what calls leave in the mask register and in the mask mode, on each
 * generation of chips, and calls that keep it.
 */
/* A call that keeps the mask, behind all others. */
#define KEEP_AS(T, to, repeats)                                                                    \
    PipeBarrier<PIPE_V>(), Duplicate<T, false>(to, T(2.0f), MASK_PLACEHOLDER, repeats, 1, 8)
#define KEEP(to, repeats) KEEP_AS(float, to, repeats)

/* Offsets of a gather, all 0. */
static LocalTensor<uint32_t> zeros(Core &k) {
    Duplicate(k.c.ReinterpretCast<int32_t>(), 0, 256);
    PipeBarrier<PIPE_V>();
    return k.c.ReinterpretCast<uint32_t>();
}

/* A2: a gather of 72 is one repeat of 64 and one of 8, and 8 lanes stay. */
static void gather_tail(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    Gather(k.b, k.a, zeros(k), 0, 72);
    if (fixed) ResetMask();
    AT KEEP(k.a, 1);
}

/* The same where the count fills repeats: only the upper half of the register is off. */
static void gather_whole(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    Gather(k.b, k.a, zeros(k), 0, 64);
    if (fixed) ResetMask();
    AT KEEP(k.a, 1);
}

/* The 950 takes a number of lanes without its mask register: the last call has 8 lanes there. */
static void mask_left_behind(const Gm &gm, bool fixed) {
    Core k(gm);
    SetVectorMask<float>(8);
    Duplicate(k.a, 1.0f, 64, 1, 1, 8);
    if (fixed) SetVectorMask<float>(64);
    Duplicate<float, false>(k.b, 1.0f, MASK_PLACEHOLDER, 1, 1, 8);
    PipeBarrier<PIPE_V>();
    AT Adds(k.a, k.b, 1.0f, 64, 1, {1, 1, 8, 8});
}

/* The 950 gathers a count without the register; a gather with a number of lanes goes through it. */
static void gather_lanes_950(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    LocalTensor<uint32_t> from = zeros(k);
    Gather(k.b, k.a, from, 0, 72);
    KEEP(k.a, 1);
    Gather(k.b, k.a, from, 0, (uint64_t)64, 1, 8);
    if (fixed) ResetMask();
    AT KEEP_AS(half, k.a.ReinterpretCast<half>(), 1);
}

/* The library counts the repeats of such a gather in 8 bits. */
static void gather_too_long(const Gm &, bool fixed) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> data, to, offsets;
    constexpr uint32_t most = 256 * 64;
    pipe.InitBuffer(data, 32);
    pipe.InitBuffer(to, most * 4);
    pipe.InitBuffer(offsets, most * 4);
    LocalTensor<float> from = data.Get<float>();
    Duplicate(from, 1.0f, 8);
    Duplicate(offsets.Get<int32_t>(), 0, (int32_t)most);
    PipeBarrier<PIPE_V>();
    AT Gather(to.Get<float>(), from, offsets.Get<uint32_t>(), 0, fixed ? most - 1 : most);
}

/* The 950 takes 16 bits of an offset, in elements, where these have 16 bits. */
static void gather_far_950(const Gm &, bool fixed) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> data, to, offsets;
    constexpr uint32_t bytes = 131072 + 32;
    pipe.InitBuffer(data, bytes);
    pipe.InitBuffer(to, 256);
    pipe.InitBuffer(offsets, 512);
    LocalTensor<half> from = data.Get<half>();
    Duplicate(from, half(1.0f), (int32_t)(bytes / 2));
    Duplicate(offsets.Get<int32_t>(), fixed ? 131070 : 131072, 128);
    PipeBarrier<PIPE_V>();
    AT Gather(to.Get<half>(), from, offsets.Get<uint32_t>(), 0, 128);
}

/* A2: what GatherMask leaves is the number it was given, as bits. */
static void gather_mask_left(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    uint64_t kept;
    GatherMask(k.b, k.a, (uint8_t)1, true, 64, GatherMaskParams(1, 1, 8, 0), kept);
    if (fixed) ResetMask();
    AT KEEP(k.a, 1);
}

/* The 950: its pattern. */
static void gather_mask_left_950(const Gm &gm, bool fixed) {
    gather_mask_left(gm, fixed);
}

/* 64 lanes of floats are half the lanes of 16-bit elements. */
static void half_the_lanes(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    Adds(k.b, k.a, 1.0f, 64, 1, {1, 1, 8, 8});
    if (fixed) ResetMask();
    AT KEEP_AS(half, k.a.ReinterpretCast<half>(), 1);
}

static void lanes_of_another_type(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    if (fixed)
        SetVectorMask<half>(40);
    else
        SetVectorMask<float>(40);
    AT KEEP_AS(half, k.a.ReinterpretCast<half>(), 1);
}

/* Counter mode takes the register for a count. */
static void full_mask_as_count(const Gm &gm, bool fixed) {
    Core k(gm);
    SetMaskCount();
    if (fixed) SetVectorMask<float, MaskMode::COUNTER>(200);
    AT KEEP(k.a, 1);
    SetMaskNorm();
    ResetMask();
}

static void brcb_in_counter_mode(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    SetMaskCount();
    if (fixed) SetMaskNorm();
    AT Brcb(k.b, k.a, 1, BrcbRepeatParams(1, 8));
    SetMaskNorm();
}

/* The first 910: TPipe sets no mask. */
static void mask_at_start_910(const Gm &gm, bool fixed) {
    Core k(gm);
    if (fixed) ResetMask();
    AT KEEP(k.a, 1);
}

/* A count is whole repeats and a tail there. */
static void count_tail_910(const Gm &gm, bool fixed) {
    Core k(gm);
    Duplicate(k.a, 1.0f, 72);
    if (fixed) ResetMask();
    AT KEEP(k.b, 1);
}

/* Nothing to complain of: masks that were meant for the calls that keep them. */
static void masks_kept(const Gm &gm, bool) {
    Core k(gm);
    LocalTensor<half> halves = k.b.ReinterpretCast<half>();
    KEEP(k.a, 4);
    KEEP_AS(half, halves, 4);
    PipeBarrier<PIPE_V>();
    Muls(k.c, k.a, 2.0f, 100);
    PipeBarrier<PIPE_V>();
    KEEP(k.c, 4);
    Brcb(k.b, k.a, 1, BrcbRepeatParams(1, 8));
    PipeBarrier<PIPE_V>();
    KEEP(k.b, 1);
    PipeBarrier<PIPE_V>();
    SetVectorMask<half>(128);
    KEEP(k.b, 1);
    PipeBarrier<PIPE_V>();
    SetVectorMask<float>(0, 0xf0);
    KEEP(k.b, 1);
    k.pipe.Reset();
    TBuf<TPosition::VECCALC> buffer;
    k.pipe.InitBuffer(buffer, 256);
    KEEP(buffer.Get<float>(), 1);
}
