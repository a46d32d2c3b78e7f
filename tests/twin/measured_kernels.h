/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels behind the rows of measured.h, written anew and as small as the question allows.
 * Include after bench.h.
 */
#ifndef TESTS_TWIN_MEASURED_KERNELS_H
#define TESTS_TWIN_MEASURED_KERNELS_H

enum { CALLS = 200, ADD_FLOATS = 4096, TILE = 4096, STREAM_TILES = 64 };
enum { PLAIN_TILE = 2048, PLAIN_TILES = 100 };
enum { HALVES = 256, REPEATS = 64, SPINS = 1000, LOADS = 64, KB = 1024 };

/* Dependent Adds: where the three operands lie decides the bank conflicts. */
template <uint32_t src1_at, uint32_t dst_at> static void adds(const Gm &, bool) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buf;
    pipe.InitBuffer(buf, 160 * 1024);
    LocalTensor<float> all = buf.Get<float>();
    LocalTensor<float> a = all, b = all[src1_at / 4], d = all[dst_at / 4];
    Duplicate(a, 1.0f, ADD_FLOATS);
    Duplicate(b, 1.0f, ADD_FLOATS);
    for (int i = 0; i < CALLS; i++) {
        PipeBarrier<PIPE_V>();
        Add(d, a, b, ADD_FLOATS);
    }
}

/* One instruction of 64 repeats, each after the one before is complete. The two sources lie in one
 * bank group, as tiles of 256 bytes per row do. */
enum Instruction {
    ADD,
    SUB,
    MUL,
    MAX,
    MIN,
    DIV,
    AND,
    OR,
    MULS,
    ADDS,
    MAXS,
    EXP,
    LN,
    SQRT,
    RSQRT,
    RELU
};
template <Instruction which> static void one_instruction(const Gm &, bool) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buf;
    const uint32_t floats = REPEATS * 64;
    pipe.InitBuffer(buf, floats * 12);
    LocalTensor<float> a = buf.Get<float>(), b = a[floats], d = a[floats * 2];
    LocalTensor<int16_t> ai = a.ReinterpretCast<int16_t>(), bi = b.ReinterpretCast<int16_t>(),
                         di = d.ReinterpretCast<int16_t>();
    const BinaryRepeatParams two(1, 1, 1, 8, 8, 8);
    const UnaryRepeatParams one(1, 1, 8, 8);
    Duplicate(a, 1.0f, int32_t(floats));
    Duplicate(b, 1.0f, int32_t(floats));
    for (int i = 0; i < CALLS; i++) {
        PipeBarrier<PIPE_V>();
        switch (which) {
        case ADD:
            Add(d, a, b, uint64_t(64), REPEATS, two);
            break;
        case SUB:
            Sub(d, a, b, uint64_t(64), REPEATS, two);
            break;
        case MUL:
            Mul(d, a, b, uint64_t(64), REPEATS, two);
            break;
        case MAX:
            Max(d, a, b, uint64_t(64), REPEATS, two);
            break;
        case MIN:
            Min(d, a, b, uint64_t(64), REPEATS, two);
            break;
        case DIV:
            Div(d, a, b, uint64_t(64), REPEATS, two);
            break;
        case AND:
            And(di, ai, bi, uint64_t(128), REPEATS, two);
            break;
        case OR:
            Or(di, ai, bi, uint64_t(128), REPEATS, two);
            break;
        case MULS:
            Muls(d, a, 1.0f, uint64_t(64), REPEATS, one);
            break;
        case ADDS:
            Adds(d, a, 1.0f, uint64_t(64), REPEATS, one);
            break;
        case MAXS:
            Maxs(d, a, 1.0f, uint64_t(64), REPEATS, one);
            break;
        case EXP:
            Exp(d, a, uint64_t(64), REPEATS, one);
            break;
        case LN:
            Ln(d, a, uint64_t(64), REPEATS, one);
            break;
        case SQRT:
            Sqrt(d, a, uint64_t(64), REPEATS, one);
            break;
        case RSQRT:
            Rsqrt(d, a, uint64_t(64), REPEATS, one);
            break;
        case RELU:
            Relu(d, a, uint64_t(64), REPEATS, one);
            break;
        }
    }
}

/* Count forms back to back, no barrier, every result into a place of its own. EXP: Exp, Ln, Sqrt
 * and Rsqrt in turn. */
template <Instruction which> static void count_form(const Gm &, bool) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buf;
    pipe.InitBuffer(buf, HALVES * 2 * (2 + CALLS));
    LocalTensor<half> x = buf.Get<half>(), y = x[HALVES], z = x[HALVES * 2];
    Duplicate(x, half(1.0f), HALVES);
    Duplicate(y, half(1.0f), HALVES);
    PipeBarrier<PIPE_V>();
    for (uint32_t i = 0; i < CALLS; i += which == EXP ? 4 : 1) {
        if (which == ADD) Add(z[i * HALVES], x, y, HALVES);
        if (which == MUL) Mul(z[i * HALVES], x, y, HALVES);
        if (which == MAX) Max(z[i * HALVES], x, y, HALVES);
        if (which == MIN) Min(z[i * HALVES], x, y, HALVES);
        if (which != EXP) continue;
        Exp(z[i * HALVES], x, HALVES);
        Ln(z[(i + 1) * HALVES], x, HALVES);
        Sqrt(z[(i + 2) * HALVES], x, HALVES);
        Rsqrt(z[(i + 3) * HALVES], x, HALVES);
    }
}

/* The Add sample's call on tiles of so many fp16, y so many bytes behind x; each after the last. */
template <int32_t count, uint32_t gap> static void tile_adds(const Gm &, bool) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buf;
    pipe.InitBuffer(buf, uint32_t(count) * 4 + gap + 256);
    LocalTensor<half> x = buf.Get<half>(), y = x[gap / 2];
    Duplicate(x, half(1.0f), count);
    Duplicate(y, half(1.0f), count);
    for (int i = 0; i < CALLS; i++) {
        PipeBarrier<PIPE_V>();
        Add(x, x, y, count);
    }
}

/* Multiply and add, each on the result of the last one; the sum is stored so that it is needed. */
static void scalar_chain(const Gm &gm, bool) {
    TPipe pipe;
    GlobalTensor<float> out;
    out.SetGlobalBuffer((__gm__ float *)gm.out);
    float sum = 1;
    for (int i = 0; i < SPINS; i++)
        sum = sum * 1.0000001f + 0.0000001f;
    out.SetValue(0, sum);
    DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE>(out);
}

/* Loads alone: count DMAs of blocks x length with a gap of the same length behind every block. */
template <int count, int blocks, int length, int buffers> static void loads(const Gm &gm, bool) {
    TPipe pipe;
    TBuf<TPosition::VECIN> buf;
    uint32_t each = uint32_t(blocks) * uint32_t((length + 31) / 32 * 32);
    pipe.InitBuffer(buf, each * uint32_t(buffers));
    LocalTensor<uint8_t> t = buf.Get<uint8_t>();
    GlobalTensor<uint8_t> g;
    g.SetGlobalBuffer(gm.in);
    for (int i = 0; i < count; i++) {
        if (i && i % buffers == 0) PipeBarrier<PIPE_MTE2>();
        DataCopyPad(t[uint32_t(i % buffers) * each], g,
                    DataCopyExtParams(uint16_t(blocks), uint32_t(length), uint32_t(length), 0, 0),
                    DataCopyPadExtParams<uint8_t>(false, 0, 0, 0));
    }
}

/* Loads of 64 KB, the next one on its way while one arrives. */
static void loads_ahead(const Gm &gm, bool) {
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> queue;
    pipe.InitBuffer(queue, 2, 64 * KB);
    GlobalTensor<int16_t> in;
    in.SetGlobalBuffer((__gm__ int16_t *)gm.in);
    for (uint32_t i = 0; i < LOADS; i++) {
        LocalTensor<int16_t> t = queue.AllocTensor<int16_t>();
        DataCopy(t, in[i * 32 * KB], 32 * KB);
        queue.EnQue(t);
        t = queue.DeQue<int16_t>();
        queue.FreeTensor(t);
    }
}

/* 64 KB in and 64 KB out at the same time, each direction one after the other. */
static void both_ways(const Gm &gm, bool) {
    TPipe pipe;
    TBuf<TPosition::VECIN> to_buf;
    TBuf<TPosition::VECOUT> from_buf;
    pipe.InitBuffer(to_buf, 64 * KB);
    pipe.InitBuffer(from_buf, 64 * KB);
    LocalTensor<int16_t> to = to_buf.Get<int16_t>(), from = from_buf.Get<int16_t>();
    GlobalTensor<int16_t> in, out;
    in.SetGlobalBuffer((__gm__ int16_t *)gm.in);
    out.SetGlobalBuffer((__gm__ int16_t *)gm.out);
    Duplicate(from, int16_t(1), 32 * KB);
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    for (uint32_t i = 0; i < LOADS; i++) {
        DataCopy(to, in[i * 32 * KB], 32 * KB);
        PipeBarrier<PIPE_MTE2>();
        DataCopy(out[i * 32 * KB], from, 32 * KB);
        PipeBarrier<PIPE_MTE3>();
    }
}

/* A copy in pieces of `share` bytes, dealt out to the cores in turn, tile by tile; with one buffer
 * a tile is loaded when the one before has left, with two the directions overlap. */
template <uint32_t bytes, int buffers, uint32_t share, uint32_t pieces>
static void copy(const Gm &gm, bool) {
    TPipe pipe;
    TQueBind<QuePosition::VECIN, QuePosition::VECOUT, 1> queue;
    pipe.InitBuffer(queue, buffers, bytes);
    GlobalTensor<int16_t> in, out;
    in.SetGlobalBuffer((__gm__ int16_t *)gm.in);
    out.SetGlobalBuffer((__gm__ int16_t *)gm.out);
    for (uint32_t piece = uint32_t(GetBlockIdx()); piece < pieces; piece += GetBlockNum())
        for (uint32_t at = piece * share; at < (piece + 1) * share; at += bytes) {
            LocalTensor<int16_t> t = queue.AllocTensor<int16_t>();
            DataCopy(t, in[at / 2], bytes / 2);
            queue.EnQue(t);
            t = queue.DeQue<int16_t>();
            DataCopy(out[at / 2], t, bytes / 2);
            queue.FreeTensor(t);
        }
}

/* Stores alone, of a constant. */
static void fill(const Gm &gm, bool) {
    TPipe pipe;
    TBuf<TPosition::VECOUT> buf;
    pipe.InitBuffer(buf, 64 * KB);
    LocalTensor<float> t = buf.Get<float>();
    GlobalTensor<float> out;
    out.SetGlobalBuffer((__gm__ float *)gm.out);
    Duplicate(t, 0.0f, 16 * KB);
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    for (uint32_t i = 0; i < 16; i++)
        DataCopy(out[(GetBlockIdx() * 16 + i) * 16 * KB], t, 16 * KB);
}

/* From one type to another in tiles, double buffered. */
template <typename From, typename To> static void cast_stream(const Gm &gm, bool) {
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> from;
    TQue<QuePosition::VECOUT, 1> to;
    pipe.InitBuffer(from, 2, TILE * sizeof(From));
    pipe.InitBuffer(to, 2, TILE * sizeof(To));
    GlobalTensor<From> in;
    GlobalTensor<To> out;
    in.SetGlobalBuffer((__gm__ From *)gm.in);
    out.SetGlobalBuffer((__gm__ To *)gm.out);
    for (uint32_t i = 0; i < STREAM_TILES; i++) {
        uint32_t at = (GetBlockIdx() * STREAM_TILES + i) * TILE;
        LocalTensor<From> x = from.AllocTensor<From>();
        DataCopy(x, in[at], TILE);
        from.EnQue(x);
        x = from.DeQue<From>();
        LocalTensor<To> y = to.AllocTensor<To>();
        Cast(y, x, RoundMode::CAST_RINT, TILE);
        from.FreeTensor(x);
        to.EnQue(y);
        y = to.DeQue<To>();
        DataCopy(out[at], y, TILE);
        to.FreeTensor(y);
    }
}

/* z = x + y in tiles, double buffered. */
static void stream_add(const Gm &gm, bool) {
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> qx, qy;
    TQue<QuePosition::VECOUT, 1> qz;
    pipe.InitBuffer(qx, 2, TILE * 4);
    pipe.InitBuffer(qy, 2, TILE * 4 + 256);
    pipe.InitBuffer(qz, 2, TILE * 4);
    GlobalTensor<float> in, out;
    in.SetGlobalBuffer((__gm__ float *)gm.in);
    out.SetGlobalBuffer((__gm__ float *)gm.out);
    for (int i = 0; i < STREAM_TILES; i++) {
        LocalTensor<float> x = qx.AllocTensor<float>(), y = qy.AllocTensor<float>();
        DataCopy(x, in, TILE);
        DataCopy(y, in[TILE], TILE);
        qx.EnQue(x);
        qy.EnQue(y);
        x = qx.DeQue<float>();
        y = qy.DeQue<float>();
        LocalTensor<float> z = qz.AllocTensor<float>();
        Add(z, x, y, TILE);
        qx.FreeTensor(x);
        qy.FreeTensor(y);
        qz.EnQue(z);
        z = qz.DeQue<float>();
        DataCopy(out[(GetBlockIdx() * STREAM_TILES + i) * TILE], z, TILE);
        qz.FreeTensor(z);
    }
}

/* The published Add sample before it has two buffers; it keeps its tensors and flags itself. */
template <uint32_t tile> static void plain_add(const Gm &gm, bool) {
    TPipe pipe;
    TBuf<TPosition::VECIN> bx, by;
    TBuf<TPosition::VECOUT> bz;
    pipe.InitBuffer(bx, tile * 4);
    pipe.InitBuffer(by, tile * 4 + 256);
    pipe.InitBuffer(bz, tile * 4);
    LocalTensor<float> x = bx.Get<float>(), y = by.Get<float>(), z = bz.Get<float>();
    GlobalTensor<float> in, out;
    in.SetGlobalBuffer((__gm__ float *)gm.in);
    out.SetGlobalBuffer((__gm__ float *)gm.out);
    const uint32_t tiles = PLAIN_TILES * PLAIN_TILE / tile;
    SetFlag<HardEvent::V_MTE2>(0);
    SetFlag<HardEvent::MTE3_V>(0);
    for (uint32_t i = 0; i < tiles; i++) {
        uint32_t at = (GetBlockIdx() * tiles + i) * tile;
        WaitFlag<HardEvent::V_MTE2>(0);
        DataCopy(x, in[at], tile);
        DataCopy(y, in[at], tile);
        SetFlag<HardEvent::MTE2_V>(0);
        WaitFlag<HardEvent::MTE2_V>(0);
        WaitFlag<HardEvent::MTE3_V>(0);
        Add(z, x, y, tile);
        SetFlag<HardEvent::V_MTE2>(0);
        SetFlag<HardEvent::V_MTE3>(0);
        WaitFlag<HardEvent::V_MTE3>(0);
        DataCopy(out[at], z, tile);
        SetFlag<HardEvent::MTE3_V>(0);
    }
    WaitFlag<HardEvent::V_MTE2>(0);
    WaitFlag<HardEvent::MTE3_V>(0);
}

#endif
