/* SPDX-License-Identifier: Apache-2.0
 *
 * The cycle model beside the figures measured on devices that asc-devkit publishes. Within 15 % or
 * it fails.
 */
#include "standard.h"

#include <cstdio>
#include <cstdlib>

#include "launch.h"

namespace checked {
#define TWIN_CHECKED 1
#include "kernel_operator.h"
using namespace AscendC;
#include "bench.h"

enum { ADDS = 200, ADD_FLOATS = 4096, TILE = 4096, STREAM_TILES = 64 };
enum { PLAIN_TILE = 2048, PLAIN_TILES = 100 };

/* Dependent Adds: where the three operands lie decides the bank conflicts. */
static void adds(uint32_t src1_at, uint32_t dst_at) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buf;
    pipe.InitBuffer(buf, 160 * 1024);
    LocalTensor<float> all = buf.Get<float>();
    LocalTensor<float> a = all, b = all[src1_at / 4], d = all[dst_at / 4];
    Duplicate(a, 1.0f, ADD_FLOATS);
    Duplicate(b, 1.0f, ADD_FLOATS);
    for (int i = 0; i < ADDS; i++) {
        PipeBarrier<PIPE_V>();
        Add(d, a, b, ADD_FLOATS);
    }
}
static void adds_free(const Gm &, bool) {
    adds(32768 + 256, 131072);
}
static void adds_read_read(const Gm &, bool) {
    adds(32768, 131072);
}
static void adds_read_write(const Gm &, bool) {
    adds(16384 + 256, 49152 + 64);
}

/* Loads alone: count DMAs of blocks x length with a gap of the same length behind every block. */
static void loads(const Gm &gm, int count, int blocks, int length, int buffers) {
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
static void loads_128(const Gm &gm, bool) {
    loads(gm, 4096, 1, 128, 1024);
}
static void loads_64x128(const Gm &gm, bool) {
    loads(gm, 64, 64, 128, 16);
}
static void loads_64x2048(const Gm &gm, bool) {
    loads(gm, 32, 64, 2048, 1);
}
static void loads_64x2046(const Gm &gm, bool) {
    loads(gm, 32, 64, 2046, 1);
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

/* The published Add sample, which keeps its tensors and flags itself: its scalar time per tile. */
static void plain_add(const Gm &gm, bool) {
    TPipe pipe;
    TBuf<TPosition::VECIN> bx, by;
    TBuf<TPosition::VECOUT> bz;
    pipe.InitBuffer(bx, PLAIN_TILE * 4);
    pipe.InitBuffer(by, PLAIN_TILE * 4 + 256);
    pipe.InitBuffer(bz, PLAIN_TILE * 4);
    LocalTensor<float> x = bx.Get<float>(), y = by.Get<float>(), z = bz.Get<float>();
    GlobalTensor<float> in, out;
    in.SetGlobalBuffer((__gm__ float *)gm.in);
    out.SetGlobalBuffer((__gm__ float *)gm.out);
    SetFlag<HardEvent::V_MTE2>(0);
    SetFlag<HardEvent::MTE3_V>(0);
    for (uint32_t i = 0; i < PLAIN_TILES; i++) {
        uint32_t at = (GetBlockIdx() * PLAIN_TILES + i) * PLAIN_TILE;
        WaitFlag<HardEvent::V_MTE2>(0);
        DataCopy(x, in[at], PLAIN_TILE);
        DataCopy(y, in[at], PLAIN_TILE);
        SetFlag<HardEvent::MTE2_V>(0);
        WaitFlag<HardEvent::MTE2_V>(0);
        WaitFlag<HardEvent::MTE3_V>(0);
        Add(z, x, y, PLAIN_TILE);
        SetFlag<HardEvent::V_MTE2>(0);
        SetFlag<HardEvent::V_MTE3>(0);
        WaitFlag<HardEvent::V_MTE3>(0);
        DataCopy(out[at], z, PLAIN_TILE);
        SetFlag<HardEvent::MTE3_V>(0);
    }
    WaitFlag<HardEvent::V_MTE2>(0);
    WaitFlag<HardEvent::MTE3_V>(0);
}

/* Scalar code and nothing else: the kernel counts it. */
template <int turns> static void spin(const Gm &, bool) {
    TPipe pipe;
    volatile int sum = 0;
    for (int i = 0; i < turns; i++)
        sum = sum + i;
}

/* A load behind so many vector calls: it waits until the scalar unit has put them all into V's
 * queue. */
template <int calls> static void load_behind(const Gm &gm, bool) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> work;
    TBuf<TPosition::VECIN> in;
    pipe.InitBuffer(work, ADD_FLOATS * 4 * 3 + 256);
    pipe.InitBuffer(in, 128 * 1024);
    LocalTensor<float> a = work.Get<float>(), b = a[ADD_FLOATS + 64], c = a[ADD_FLOATS * 2 + 64];
    LocalTensor<float> t = in.Get<float>();
    GlobalTensor<float> g;
    g.SetGlobalBuffer((__gm__ float *)gm.in);
    Duplicate(a, 1.0f, ADD_FLOATS);
    Duplicate(b, 1.0f, ADD_FLOATS);
    for (int i = 0; i < calls; i++) {
        PipeBarrier<PIPE_V>();
        Add(c, a, b, ADD_FLOATS);
    }
    DataCopy(t, g, 32 * 1024);
}

struct Row {
    const char *what;
    kernel_fn *kernel;
    const char *soc;
    uint32_t cores;
    double measured;
    const char *unit;
    double work; /* Adds, DMAs or bytes of one core */
};

static const Row rows[] = {
    {"Add of 4096 floats, no conflict", adds_free, "ascend910b1", 1, 88, "cycles", ADDS},
    {"Add, sources in one bank group", adds_read_read, "ascend910b1", 1, 154, "cycles", ADDS},
    {"Add, destination in a read bank", adds_read_write, "ascend910b1", 1, 139, "cycles", ADDS},
    {"loads of 128 B, 48 cores", loads_128, "ascend910b1", 48, 20.6, "cycles", 4096},
    {"loads of 64 x 128 B, 48 cores", loads_64x128, "ascend910b1", 48, 1.37, "TB/s",
     64. * 64 * 128},
    {"loads of 64 x 2 KB, 48 cores", loads_64x2048, "ascend910b1", 48, 1.49, "TB/s",
     32. * 64 * 2048},
    {"loads of 64 x 2046 B, 48 cores", loads_64x2046, "ascend910b1", 48, 1.17, "TB/s",
     32. * 64 * 2046},
    {"z = x + y, 403 MB, 48 cores", stream_add, "ascend910b1", 48, 264, "us", 403e6},
    {"Add sample: scalar time per tile", plain_add, "ascend910b1", 48, 38.9, "scalar", PLAIN_TILES},
    {"950: loads of 64 x 2 KB, 64 cores", loads_64x2048, "ascend950", 64, 1.63, "TB/s",
     32. * 64 * 2048},
    {"950: loads of 128 B, 64 cores", loads_128, "ascend950", 64, 0.34, "TB/s", 4096. * 128},
};

static double figure(const Row &row, const twin_report &r) {
    if (!strcmp(row.unit, "cycles")) return r.cycles / row.work;
    if (!strcmp(row.unit, "scalar")) return r.busy[TWIN_S] / row.work;
    if (!strcmp(row.unit, "TB/s")) return row.work * row.cores / r.time_us / 1e6;
    double bytes = double(r.gm_read + r.gm_write); /* a part of the stream, scaled up */
    return r.time_us * (row.work / bytes) + r.launch_us;
}

static twin_report report;

static bool cost(kernel_fn *kernel, void *memory, uint64_t bytes) {
    Launch l;
    char why[TWIN_WHY];
    l.bytes = bytes;
    l.in = l.out = memory;
    return bench_run(kernel, l, &report, why) == TWIN_OK;
}

/* What has no published figure, but must hold. */
static int run_rules(void *memory, uint64_t bytes) {
    int failed = 0;
    auto rule = [&](const char *what, bool holds) {
        printf("%s%s\n", what, holds ? "" : "  FAIL");
        failed += !holds;
    };
    double instructions[2], late[2];
    bool good = cost(spin<1000>, memory, bytes);
    instructions[0] = report.scalar;
    good = cost(spin<2000>, memory, bytes) && good;
    instructions[1] = report.scalar;
    double each = (instructions[1] - instructions[0]) / 1000;
    rule("a kernel counts its own instructions: 2 to 20 in a turn of a loop",
         good && each >= 2 && each <= 20);
    rule("one cycle each is the most, none the least",
         report.cycles_free < report.cycles && report.cycles < report.cycles_worst);
    good = cost(load_behind<10>, memory, bytes);
    late[0] = report.cycles / report.cycles_free;
    good = cost(load_behind<32>, memory, bytes) && good;
    late[1] = report.cycles / report.cycles_free;
    rule("a load waits behind more vector calls than V's queue holds, not behind fewer",
         good && late[0] < 1.1 && late[1] > 1.2);
    return failed;
}

static int run() {
    int passed = 0, failed = 0;
    uint64_t bytes = 64ull * STREAM_TILES * TILE * 4;
    void *in = calloc(1, bytes), *out = calloc(1, bytes);
    printf("%-36s %10s %10s %8s\n", "", "measured", "model", "off");
    for (const Row &row : rows) {
        Launch l;
        l.soc = row.soc;
        l.cores = row.cores;
        l.bytes = bytes;
        l.in = in;
        l.out = out;
        char why[TWIN_WHY];
        if (bench_run(row.kernel, l, &report, why) != TWIN_OK) {
            printf("FAIL %s: %s\n", row.what, why);
            failed++;
            continue;
        }
        double model = figure(row, report), off = 100 * (model / row.measured - 1);
        bool good = off > -15 && off < 15;
        printf("%-36s %7.4g %-6s %6.4g %-6s %+6.1f %%%s\n", row.what, row.measured, row.unit, model,
               row.unit, off, good ? "" : "  FAIL");
        good ? passed++ : failed++;
    }
    int broken = run_rules(out, bytes);
    failed += broken;
    passed += 3 - broken;
    free(in);
    free(out);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
} // namespace checked

int main() {
    return checked::run();
}
