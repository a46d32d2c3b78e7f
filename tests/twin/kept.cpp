/* SPDX-License-Identifier: Apache-2.0
 *
 * The fast build, too, gives a call that keeps the mask the lanes it has on the chip: here behind a
 * Gather of 72 elements and behind a Duplicate of 72, which the checked build would not let pass
 * everywhere.
 */
#include "standard.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "launch.h"

namespace fast {
#define TWIN_CHECKED 0
#include "kernel_operator.h"
using namespace AscendC;
#include "bench.h"

/* The key says what goes before. */
static void kernel(const Gm &gm, bool gather) {
    TPipe pipe;
    TQue<TPosition::VECOUT, 1> out;
    TBuf<TPosition::VECCALC> buffers;
    GlobalTensor<float> to;
    pipe.InitBuffer(out, 1, 256);
    pipe.InitBuffer(buffers, 3 * 512);
    to.SetGlobalBuffer((__gm__ float *)gm.out);
    LocalTensor<float> all = buffers.Get<float>(), t = out.AllocTensor<float>();
    Duplicate(t, 1.0f, 64);
    Duplicate(all, 0.0f, 72); /* also offsets */
    if (gather) Gather(all[128], all, all.ReinterpretCast<uint32_t>(), 0, 72);
    Duplicate<float, false>(t, 2.0f, MASK_PLACEHOLDER, 1, 1, 8);
    out.EnQue(t);
    t = out.DeQue<float>();
    DataCopy(to, t, 64);
    out.FreeTensor(t);
}

static int failures;

static void check(const char *soc, bool gather, int lanes) {
    static float in[16384], result[16384];
    char why[TWIN_WHY];
    Launch l;
    l.soc = soc;
    l.fixed = gather;
    l.checked = false;
    l.in = in;
    l.out = result;
    int code = bench_run(kernel, l, nullptr, why), twos = 0;
    for (int i = 0; i < 64; i++)
        twos += result[i] == (i < lanes ? 2.0f : 1.0f);
    if (code == TWIN_OK && twos == 64) return;
    printf("FAIL %s, %s: %d of 64 are right\n", soc, gather ? "gather" : "count", twos);
    failures++;
}
} // namespace fast

int main() {
    fast::check("ascend910b1", false, 64);
    fast::check("ascend910b1", true, 8);
    fast::check("ascend950", false, 64);
    fast::check("ascend950", true, 64);
    fast::check("ascend910a", false, 8);
    printf("%d failed\n", fast::failures);
    return fast::failures != 0;
}
