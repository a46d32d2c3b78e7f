/* SPDX-License-Identifier: Apache-2.0
 *
 * From fp32 to fp16 on the first generation of the 910: what its kernel calls (CAST_NONE) must
 * round to nearest, ties to even, the only rounding there is for results. Every fp16 number, what
 * lies in the middle between neighbours, and the fp32 numbers beside them; with the argument "all"
 * every fp32 number. The reference is the definition: multiples of the distance between fp16
 * numbers.
 */
#include "standard.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "launch.h"

namespace checked {
#define TWIN_CHECKED 1
#include "kernel_operator.h"
using namespace AscendC;
#include "bench.h"
#include "../../op_kernel/rotary_mul_grad_910_rows.h"

enum { TILE = 8192 };

static void round_all(const Gm &gm, bool) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    GlobalTensor<float> from;
    GlobalTensor<half> to;
    pipe.InitBuffer(in, 1, TILE * 4);
    pipe.InitBuffer(out, 1, TILE * 2);
    from.SetGlobalBuffer((__gm__ float *)gm.in);
    to.SetGlobalBuffer((__gm__ half *)gm.out);
    LocalTensor<float> wide = in.AllocTensor<float>();
    DataCopy(wide, from, TILE);
    in.EnQue(wide);
    wide = in.DeQue<float>();
    LocalTensor<half> narrow = out.AllocTensor<half>();
    rotary_910::cast_all(narrow, wide, TILE);
    out.EnQue(narrow);
    narrow = out.DeQue<half>();
    DataCopy(to, narrow, TILE);
    in.FreeTensor(wide);
    out.FreeTensor(narrow);
}
} // namespace checked

static float from_bits(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* The fp16 number nearest to f, of two equally near ones the even one. NaN: any NaN will do. */
static uint16_t nearest(float f) {
    const double a = fabs((double)f);
    const uint16_t sign = std::signbit(f) ? 0x8000 : 0;
    if (std::isnan(f)) return 0x7e00;
    if (a >= 65520) return sign | 0x7c00; /* half a step beyond the largest, which is odd */
    const int e = a < 0x1p-14 ? -14 : ilogb(a);
    const double steps = nearbyint(ldexp(a, 10 - e));
    return (uint16_t)(sign + ((uint32_t)(e + 14) << 10) + (uint32_t)steps);
}

static uint64_t failures, numbers;

static void check(std::vector<float> &in) {
    static std::vector<uint16_t> out(2 * checked::TILE);
    char why[TWIN_WHY] = "";
    in.resize(checked::TILE);
    checked::Launch l;
    l.soc = "ascend910a";
    l.bytes = checked::TILE * 4;
    l.in = in.data();
    l.out = out.data();
    if (checked::bench_run(checked::round_all, l, nullptr, why) != TWIN_OK) {
        printf("FAIL %s\n", why);
        exit(1);
    }
    for (int i = 0; i < checked::TILE; i++, numbers++) {
        const bool nan = std::isnan(in[i]) && (out[i] & 0x7fff) > 0x7c00;
        if (nan || out[i] == nearest(in[i])) continue;
        if (failures++ < 10) printf("FAIL %a: %04x, not %04x\n", in[i], out[i], nearest(in[i]));
    }
    in.clear();
}

static void add(std::vector<float> &in, float f) {
    in.push_back(f);
    if (in.size() == checked::TILE) check(in);
}

int main(int argc, char **argv) {
    std::vector<float> in;
    if (argc > 1 && strcmp(argv[1], "all") == 0) {
        for (uint64_t bits = 0; bits >> 32 == 0; bits++)
            add(in, from_bits((uint32_t)bits));
    } else {
        for (uint32_t h = 0; h < 0x7c00;
             h++) { /* this one, the middle to the next, and beside them */
            const int e = h < 0x400 ? -14 : (int)(h >> 10) - 15;
            const double step = ldexp(1, e - 10), at = (h < 0x400 ? h : 0x400 + h % 0x400) * step;
            for (double center : {at, at + step / 2})
                for (float f : {(float)center, nextafterf((float)center, 0),
                                nextafterf((float)center, INFINITY)})
                    add(in, f), add(in, -f);
        }
        for (float f : {0x1p-149f, 0x1p-126f, 0x1p16f, 0x1p127f, INFINITY, NAN})
            add(in, f), add(in, -f);
    }
    check(in);
    printf("%llu numbers, %llu failures\n", (unsigned long long)numbers,
           (unsigned long long)failures);
    return failures != 0;
}
