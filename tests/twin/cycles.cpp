/* SPDX-License-Identifier: Apache-2.0
 *
 * The cycle model beside what was measured on chips: measured.h. A row that is further off than it
 * claims fails.
 */
#include "standard.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cycle_constants.h"
#include "gauge.h"
#include "launch.h"

namespace checked {
#define TWIN_CHECKED 1
#include "kernel_operator.h"
using namespace AscendC;
#include "bench.h"

#include "measured_kernels.h"
#include "measured.h"

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

static twin_report report;

/* What the row compares, of a run. */
static double figure(const Row &row, const twin_soc &soc) {
    const twin_report &r = report;
    double cycles = (1 - row.hits) * r.cycles + row.hits * r.cycles_l2, us = cycles / soc.mhz;
    double bytes = double(r.gm_read + r.gm_write); /* a part of the stream, scaled up */
    switch (row.unit) {
    case CYCLES:
        return cycles / row.work;
    case V_BUSY:
        return r.busy[TWIN_V] / row.work;
    case MTE2_BUSY:
        return r.busy[TWIN_MTE2] / row.work;
    case MTE3_BUSY:
        return r.busy[TWIN_MTE3] / row.work;
    case S_BUSY:
        return r.busy[TWIN_S] / row.work;
    case TB_S:
        return row.work * row.cores / us / 1e6;
    case US:
        return us * (row.work / bytes);
    case US_LAUNCHED:
        return us * (row.work / bytes) + r.launch_us;
    }
    return 0;
}

static bool run_row(const Row &row, void *in, void *out, uint64_t bytes, double *model) {
    const double hits = twin_again(row.work, double(twin_find_soc(row.soc)->l2));
    const twin_memory memory[] = {{0, 0}, {1, 1}, {0, 1}, {hits, hits}};
    Launch l;
    char why[TWIN_WHY];
    l.soc = row.soc;
    l.cores = row.cores;
    l.bytes = bytes;
    l.in = in;
    l.out = out;
    l.memory = memory[row.where];
    if (bench_run(row.kernel, l, &report, why) != TWIN_OK) {
        printf("FAIL %s: %s\n", row.what, why);
        return false;
    }
    *model = figure(row, *twin_find_soc(row.soc));
    return true;
}

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

/* Three digits, as the page has them. */
static const char *number(double value) {
    static char text[4][32];
    static int next;
    char *t = text[next++ % 4];
    snprintf(t, sizeof text[0], value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value);
    return t;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The median of n values, which end up sorted. */
static double median(double *value, size_t n) {
    qsort(value, n, sizeof *value, by_size);
    return n % 2 ? value[n / 2] : (value[n / 2 - 1] + value[n / 2]) / 2;
}

static void print_row(const Row &row, double model, bool page) {
    double off = 100 * (model / row.measured - 1), was = 100 * (row.before / row.measured - 1);
    if (page)
        printf("| %s | %s | %s %s | %s | %s | %+.0f %% | %.0f %% | %s |\n", row.what,
               source_names[row.source], number(row.measured), unit_names[row.unit],
               number(row.before), number(model), off, row.claimed, row.why ? row.why : "");
    else
        printf("%-50s %8s %8s %8s %-14s %+6.1f %% (%+.1f %%)%s\n", row.what, number(row.measured),
               number(row.before), number(model), unit_names[row.unit], off, was,
               off > row.claimed || -off > row.claimed ? "  FAIL" : "");
}

/* A scalar time that was measured lies between the least and the most that the model knows. */
static bool in_band(double measured, double model) {
    double instructions = model / TWIN_SCALAR_CYCLES;
    return TWIN_SCALAR_LOW * instructions <= measured &&
           measured <= TWIN_SCALAR_HIGH * instructions;
}

/* Every row within what it claims, a reason where that is much, and half of them within 10 %. */
static int run_rows(void *in, void *out, uint64_t bytes, bool page) {
    enum { COUNT = sizeof rows / sizeof *rows };
    double error[COUNT];
    int failed = 0;
    if (page)
        printf("| what | from | measured | 2.0.0 | model | off | claimed | why not nearer |\n"
               "|---|---|---|---|---|---|---|---|\n");
    else
        printf("%-50s %8s %8s %8s\n", "", "measured", "2.0.0", "model");
    for (size_t i = 0; i < COUNT; i++) {
        double model = 0;
        bool good = run_row(rows[i], in, out, bytes, &model);
        double off = 100 * (model / rows[i].measured - 1);
        error[i] = off < 0 ? -off : off;
        good = good && error[i] <= rows[i].claimed && (rows[i].claimed <= 25 || rows[i].why);
        if (rows[i].unit == S_BUSY) good = good && in_band(rows[i].measured, model);
        print_row(rows[i], model, page);
        failed += !good;
    }
    double half = median(error, COUNT);
    if (!page)
        printf("%d rows, %d outside of what they claim; half of them within %.1f %%\n", COUNT,
               failed, half);
    return failed + (half > 10);
}

static int run(bool page) {
    uint64_t bytes = 64ull * STREAM_TILES * TILE * 8;
    void *in = calloc(1, bytes), *out = calloc(1, bytes);
    int failed = run_rows(in, out, bytes, page);
    if (!page) failed += run_rules(out, bytes);
    free(in);
    free(out);
    if (!page) printf("%d failed\n", failed);
    return failed != 0;
}
} // namespace checked

/* --page: the table of docs/twin.md, see test_measured.py */
int main(int argc, char **argv) {
    return checked::run(argc > 1 && !strcmp(argv[1], "--page"));
}
