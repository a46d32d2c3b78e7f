/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of violations.cpp: parameters that do not fit, overlap, modes.
 */
/* Parameters. */

static void repeat_overflow(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    int repeat = fixed ? 4 : 260;
    AT Adds(k.b, k.a, 1.0f, 64, repeat, {1, 1, 8, 8});
}

/* A kernel cuts repeats off itself, by the word that op_kernel/rows.h has for it. */
static void narrowed_repeat(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    uint32_t repeat = fixed ? 4 : 260;
    AT Add(k.b, k.a, k.a, (uint64_t)64, rows::Narrow8(repeat), BinaryRepeatParams());
}

static void narrowed_length(const Gm &gm, bool fixed) {
    Core k(gm);
    LocalTensor<float> t = k.in.AllocTensor<float>();
    uint32_t blocks = fixed ? 2 : 65538;
    AT DataCopy(t, k.gin, DataCopyParams(1, rows::Narrow16(blocks), 0, 0));
    k.in.EnQue(t);
    t = k.in.DeQue<float>();
    k.in.FreeTensor(t);
}

/* Other chips do nothing then. */
static void no_repeat_950(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    AT Adds(k.b, k.a, 1.0f, 64, fixed ? 1 : 0, {1, 1, 8, 8});
}

static void no_count_950(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    AT Adds(k.b, k.a, 1.0f, fixed ? 8 : 0);
}

static void no_block_950(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    AT Brcb(k.b, k.a, fixed ? 1 : 0, BrcbRepeatParams(1, 8));
}

static void stride_overflow(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    BinaryRepeatParams p;
    p.dstRepStride = fixed ? 8 : 264; /* 264 would become 8 */
    AT Add(k.b, k.a, k.a, 64, 2, p);
}

static void mask_too_wide(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    AT Adds(k.b, k.a, 1.0f, fixed ? 64 : 65, 1, {1, 1, 8, 8});
}

static void negative_count(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    AT Adds(k.b, k.a, 1.0f, fixed ? 0 : -8);
}

static void copy_field_overflow(const Gm &gm, bool fixed) {
    Core k(gm);
    LocalTensor<float> t = k.in.AllocTensor<float>();
    DataCopyParams p;
    p.blockLen = fixed ? 2 : 65538;
    AT DataCopy(t, k.gin, p);
    k.in.EnQue(t);
    t = k.in.DeQue<float>();
    k.in.FreeTensor(t);
}

static void too_many_blocks(const Gm &gm, bool fixed) {
    Core k(gm);
    TBuf<TPosition::VECIN> buf;
    k.pipe.InitBuffer(buf, 4096 * 32);
    LocalTensor<float> t = buf.Get<float>();
    AT DataCopyPad(t, k.gin, DataCopyExtParams(fixed ? 4095 : 4096, 4, 0, 0, 0),
                   DataCopyPadExtParams<float>(false, 0, 0, 0));
}

static void wide_padding(const Gm &gm, bool fixed) {
    Core k(gm);
    LocalTensor<float> t = k.in.AllocTensor<float>();
    AT DataCopyPad(t, k.gin, DataCopyExtParams(1, 20, 0, 0, 0),
                   DataCopyPadExtParams<float>(true, 0, fixed ? 8 : 9, 0));
    k.in.EnQue(t);
    t = k.in.DeQue<float>();
    k.in.FreeTensor(t);
}

static void part_overlap(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    AT Adds(k.a[fixed ? 0 : 8], k.a, 1.0f, 64);
}

static void repeat_feeds_repeat(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    k.Fill(k.b);
    if (fixed) { /* src1 may accumulate over the repeats */
        Add(k.a, k.b, k.a, 64, 4, {1, 1, 1, 0, 8, 0});
    } else {
        AT Adds(k.a, k.a, 1.0f, 64, 4, {1, 1, 0, 0});
    }
}

static void rounding_mode(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    AT Cast(k.b.ReinterpretCast<bfloat16_t>(), k.a,
            fixed ? RoundMode::CAST_RINT : RoundMode::CAST_NONE, 64);
}

static void mask_in_counter_mode(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    SetMaskCount();
    if (fixed) SetMaskNorm();
    AT Adds(k.b, k.a, 1.0f, 64, 1, {1, 1, 8, 8});
    SetMaskNorm();
}

static void compare_part(const Gm &gm, bool fixed) {
    Core k(gm);
    k.Fill(k.a);
    AT CompareScalar(k.b.ReinterpretCast<uint8_t>(), k.a, 0.0f, CMPMODE::GT, fixed ? 64 : 60);
}

static void veccalc_dma(const Gm &gm, bool fixed) {
    Core k(gm);
    TBuf<TPosition::VECIN> buf;
    k.pipe.InitBuffer(buf, 1024);
    LocalTensor<float> t = fixed ? buf.Get<float>() : k.a;
    AT DataCopy(t, k.gin, 64);
}
