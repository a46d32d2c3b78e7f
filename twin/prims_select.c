/* SPDX-License-Identifier: Apache-2.0
 *
 * Chooses the table of vector arithmetic for this CPU, once. TWIN_ISA=base|v3|v4|bf16 in the
 * environment overrides the choice downwards (tests compare the tables).
 */
#include "prims.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

extern const struct twin_prim twin_prims_base[TWIN_PRIM_COUNT];
#if defined(__x86_64__)
extern const struct twin_prim twin_prims_v3[TWIN_PRIM_COUNT];
extern const struct twin_prim twin_prims_v4[TWIN_PRIM_COUNT];
extern const struct twin_prim twin_prims_bf16[TWIN_PRIM_COUNT];
#endif

const struct twin_prim *twin_prims = twin_prims_base;

const struct twin_prim_info twin_prim_info[TWIN_PRIM_COUNT] = {
#define P(name, d, s, n, start, slope) [TWIN_##name] = {#name, d, s, n, start, slope},
    TWIN_PRIM_LIST(P)
#undef P
};

static void choose(void) {
#if defined(__x86_64__)
    const char *most = getenv("TWIN_ISA");
    if (most && !strcmp(most, "base")) return;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2")) /* and f16c, which is older */
        twin_prims = twin_prims_v3;
    else
        return;
    if (most && !strcmp(most, "v3")) return;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512cd"))
        twin_prims = twin_prims_v4;
    else
        return;
    if (most && !strcmp(most, "v4")) return;
    if (__builtin_cpu_supports("avx512bf16")) twin_prims = twin_prims_bf16;
#endif
}

void twin_prims_init(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose);
}
