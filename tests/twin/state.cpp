/* SPDX-License-Identifier: Apache-2.0
 *
 * What calls issue and leave in the mask register and in the mask mode, on each generation of
 * chips, as docs/twin.md has it: the twin's listener tells, and a row of the table says what it
 * must tell. Also that it names the bytes a call touches.
 */
#include "standard.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "listener.h"
#include "launch.h"

namespace checked {
#define TWIN_CHECKED 1
#include "kernel_operator.h"
using namespace AscendC;
#include "bench.h"
#include "broken_core.h"

/* clang-format off */
enum What {
    LANES, BITS, COUNT, GATHER, GATHER_LANES, GATHER_MASK, GATHER_BLOCKS, SPREAD, SELECT,
    COMPARE
};
/* clang-format on */
static What what; /* one run at a time */

/* clang-format off */
static void kernel(const Gm &gm, bool) {
    Core k(gm);
    LocalTensor<uint32_t> none = k.c.ReinterpretCast<uint32_t>();
    LocalTensor<uint8_t> bytes = k.b.ReinterpretCast<uint8_t>();
    uint64_t mask[2] = {0xf0, 0}, kept;
    k.Fill(k.a);
    k.Fill(k.b);
    Duplicate(k.c.ReinterpretCast<int32_t>(), 0, 256);
    PipeBarrier<PIPE_V>();
    SetVectorMask<float>(0, 0x123); /* what is left where a call leaves nothing */
    switch (what) {
    case LANES: Adds(k.a, k.a, 1.0f, 40, 4, {1, 1, 8, 8}); break;
    case BITS: Adds(k.a, k.a, 1.0f, mask, 2, {1, 1, 8, 8}); break;
    case COUNT: Adds(k.a, k.a, 1.0f, 200); break;
    case GATHER: Gather(k.a, k.b, none, 0, 200); break;
    case GATHER_LANES: Gather(k.a, k.b, none, 0, (uint64_t)40, 2, 8); break;
    case GATHER_MASK: GatherMask(k.a, k.b, (uint8_t)2, true, 48, {1, 1, 8, 0}, kept); break;
    case GATHER_BLOCKS: Gatherb(none[8], none[8], none, 2, {1, 8}); break;
    case SPREAD: Brcb(k.a, k.b, 3, {1, 8}); break;
    case SELECT: Select(k.a, bytes, k.a, k.a, SELMODE::VSEL_TENSOR_TENSOR_MODE, 40, 1, {}); break;
    case COMPARE: Compare(bytes, k.a, k.a, CMPMODE::LT, 128); break;
    }
}
/* clang-format on */

struct Row {
    const char *name;
    What what;
    const char *soc, *issued; /* instructions as the listener has them; NULL: it is not told */
    uint64_t high, low;
    const char *read, *written; /* bytes in all; NULL: not looked at */
};

constexpr uint64_t ALL = ~0ull, OLD = 0x123;
static const char A2[] = "ascend910b1", A5[] = "ascend950", A1[] = "ascend910a";

static const Row rows[] = {
    {"lanes", LANES, A2, "4x ffffffffff", 0, 0xffffffffff, "640", "640"},
    {"lanes", LANES, A5, "4x ffffffffff", 0, OLD, "640", "640"},
    {"lanes", LANES, A1, "4x ffffffffff", 0, 0xffffffffff, "640", "640"},
    {"bits", BITS, A2, "2x f0", 0, 0xf0, "32", "32"},
    {"bits", BITS, A5, "2x f0", 0, 0xf0, "32", "32"},
    {"bits", BITS, A1, "2x f0", 0, 0xf0, "32", "32"},
    {"count", COUNT, A2, "count 200", ALL, ALL, "800", "800"},
    {"count", COUNT, A5, "count 200", 0, OLD, "800", "800"},
    {"count", COUNT, A1, "3x ffffffffffffffff, 1x ff", 0, 0xff, "800", "800"},
    {"gather", GATHER, A2, "3x ffffffffffffffff, 1x ff", 0, 0xff, "1600", "800"},
    {"gather", GATHER, A5, "count 200", 0, OLD, "1600", "800"},
    {"gather lanes", GATHER_LANES, A2, "2x ffffffffff", 0, 0xffffffffff, "640", "320"},
    {"gather lanes", GATHER_LANES, A5, "2x ffffffffff", 0, 0xffffffffff, "640", "320"},
    {"gather mask", GATHER_MASK, A2, "count 48", 0, 48, nullptr, "96"},
    {"gather mask", GATHER_MASK, A5, "count 48", 0, 0xaaaaaaaaaaaaaaaa, nullptr, "96"},
    {"gather blocks", GATHER_BLOCKS, A2, "2x ffffffffffffffff", ALL, ALL, "576", "512"},
    {"gather blocks", GATHER_BLOCKS, A5, nullptr, 0, OLD, "576", "512"},
    {"spread", SPREAD, A2, "3x ffffffffffffffff", ALL, ALL, "96", "768"},
    {"spread", SPREAD, A5, nullptr, 0, OLD, "96", "768"},
    {"select", SELECT, A2, "1x ffffffffff", 0, 0xffffffffff, nullptr, "160"},
    {"select", SELECT, A5, "1x ffffffffff", 0, OLD, nullptr, "160"},
    {"compare", COMPARE, A2, nullptr, 0, OLD, nullptr, nullptr},
    {"compare", COMPARE, A5, nullptr, 0, OLD, nullptr, nullptr},
};

/* Of the last call. */
struct Seen {
    twin_effect effect;
    uint64_t bytes[2], now[2];
};

static void touch(void *context, bool write, uint32_t, uint32_t bytes) {
    static_cast<Seen *>(context)->now[write] += bytes;
}

static void effect(void *context, const twin_effect *e) {
    Seen *s = static_cast<Seen *>(context);
    s->effect = *e;
    memcpy(s->bytes, s->now, sizeof s->bytes);
    memset(s->now, 0, sizeof s->now);
}

static std::string write_issued(const twin_effect &e) {
    std::string text;
    for (uint32_t i = 0; i < e.issued; i++) {
        const twin_instruction &one = e.instruction[i];
        char part[80];
        if (one.counter)
            snprintf(part, sizeof part, "count %llu", (unsigned long long)one.mask[0]);
        else
            snprintf(part, sizeof part, "%ux %llx", one.repeats * one.times,
                     (unsigned long long)one.mask[0]);
        text += (i ? ", " : "") + std::string(part);
    }
    return text;
}

static int failures;

static void want(const Row &r, const char *of, const std::string &is, const char *should) {
    if (!should || is == should) return;
    printf("FAIL %s on %s: %s is %s, not %s\n", r.name, r.soc, of, is.c_str(), should);
    failures++;
}

static std::string hex(uint64_t high, uint64_t low) {
    char text[40];
    snprintf(text, sizeof text, "%016llx%016llx", (unsigned long long)high,
             (unsigned long long)low);
    return text;
}

static int run() {
    static twin_report report;
    char why[TWIN_WHY];
    void *in = calloc(1, 65536), *out = calloc(1, 65536);
    for (const Row &r : rows) {
        Seen seen = {};
        twin_listener listener = {&seen, touch, effect};
        Launch l;
        l.soc = r.soc;
        l.in = in;
        l.out = out;
        l.listener = &listener;
        what = r.what;
        if (bench_run(kernel, l, &report, why)) {
            printf("FAIL %s on %s: %s\n", r.name, r.soc, why);
            failures++;
            continue;
        }
        want(r, "what is issued", write_issued(seen.effect), r.issued);
        want(r, "the mask", hex(seen.effect.mask[1], seen.effect.mask[0]),
             hex(r.high, r.low).c_str());
        want(r, "the mode", seen.effect.counter ? "counter" : "normal", "normal");
        want(r, "bytes read", std::to_string(seen.bytes[0]), r.read);
        want(r, "bytes written", std::to_string(seen.bytes[1]), r.written);
    }
    free(in);
    free(out);
    printf("%zu rows, %d failures\n", sizeof rows / sizeof *rows, failures);
    return failures != 0;
}
} // namespace checked

int main() {
    return checked::run();
}
