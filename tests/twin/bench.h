/* SPDX-License-Identifier: Apache-2.0
 *
 * Test kernels without an operator around them: a function of the GM addresses in, out and
 * workspace, run by the twin. Include after standard.h and kernel_operator.h.
 */
#ifndef TESTS_TWIN_BENCH_H
#define TESTS_TWIN_BENCH_H

struct Gm {
    GM_ADDR in;
    GM_ADDR out;
    GM_ADDR workspace;
};

typedef void kernel_fn(const Gm &gm, bool fixed);

/* One launch at a time; the entry has no room for a context. */
static kernel_fn *bench_kernel;

extern "C" inline void bench_entry(uint8_t **args) {
    bench_kernel(Gm{args[0], args[1], args[2]}, TILING_KEY_IS(1));
}

struct Launch {
    const char *soc = "ascend910b1";
    uint32_t cores = 1;
    bool sync_all = false, fixed = true, checked = true, steps_only = false, in_place = false;
    uint64_t bytes = 65536, workspace = 4096, order = 0;
    void *in = nullptr, *out = nullptr; /* of that many bytes each */
    const twin_listener *listener = nullptr;
    twin_memory memory = {0, 0};
};

static int bench_run(kernel_fn *kernel, const Launch &l, twin_report *report, char *why) {
    bench_kernel = kernel;
    twin_arg arg[2] = {{"in", TWIN_INPUT, l.in, l.bytes}, {"out", TWIN_OUTPUT, l.out, l.bytes}};
    static const uint32_t in_place[2] = {0, 1};
    uint64_t tiling = 0;
    twin_launch launch = {};
    launch.op = "Test";
    launch.entry = bench_entry;
    launch.arity = 4;
    launch.arg = arg;
    launch.args = 2;
    launch.in_place = l.in_place ? in_place : nullptr;
    launch.tiling = &tiling;
    launch.tiling_bytes = sizeof tiling;
    launch.workspace = l.workspace;
    launch.key = l.fixed;
    launch.block_dim = l.cores;
    launch.sync_all = l.sync_all;
    launch.soc = twin_find_soc(l.soc);
    launch.checked = l.checked;
    launch.steps_only = l.steps_only;
    launch.order = l.order;
    launch.listener = l.listener;
    launch.memory = l.memory;
    return twin_run(&launch, report, why);
}

#endif
