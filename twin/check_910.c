/* SPDX-License-Identifier: Apache-2.0
 *
 * What the first generation of the 910 does not have: calls, types and rounding modes that stop a
 * kernel there. Sources: the intrinsics of Ascend910A.ini (CANN 8.1), the headers of asc-devkit 9.1
 * for this architecture, and its manual's tables of Cast.
 */
#include "check.h"
#include "half.h"

static bool is_910(void) {
    return twin_core->job->launch->soc->arch == ASCGRAD_ARCH_910;
}

static void lacks(const struct twin_site *site, const char *what) {
    twin_violation(site, "the first generation of the 910 does not have %s", what);
}

/* Everything else that works element by element it has. */
static const enum twin_prim_id missing[] = {
    TWIN_ADD_I16,  TWIN_SUB_I16,  TWIN_MUL_I16,  TWIN_MAX_I16,  TWIN_MIN_I16,  TWIN_MAXS_F32,
    TWIN_MINS_F32, TWIN_MAXS_F16, TWIN_MINS_F16, TWIN_ADDS_I16, TWIN_MULS_I16, TWIN_MAXS_I16,
    TWIN_MINS_I16, TWIN_ADDS_I32, TWIN_MULS_I32, TWIN_MAXS_I32, TWIN_MINS_I32, TWIN_SHL_B16,
    TWIN_SHR_U16,  TWIN_SHR_I16,  TWIN_SHL_B32,  TWIN_SHR_U32,  TWIN_SHR_I32,  TWIN_RELU_F32,
    TWIN_RELU_I32, TWIN_BF16_F32, TWIN_I16_F32,  TWIN_I64_F32,  TWIN_F32_BF16, TWIN_F32_F32,
    TWIN_F32_I16,  TWIN_F32_I64,  TWIN_F16_I16,  TWIN_I16_F16,  TWIN_BF16_I32, TWIN_I32_I16,
    TWIN_I32_I64,  TWIN_I64_I32,  TWIN_COPY_B16, TWIN_COPY_B32,
};

void twin_check_910_prim(const struct twin_elementwise *v, const struct twin_site *site) {
    if (!is_910()) return;
    for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++)
        if (v->prim == missing[i]) lacks(site, twin_prim_info[v->prim].name);
    if (v->prim == TWIN_F32_F16 && v->scalar.i != TWIN_NONE && v->scalar.i != TWIN_ODD)
        lacks(site, "a rounding mode from fp32 to fp16 but CAST_NONE and CAST_ODD");
    bool axpy = v->prim == TWIN_AXPY_F32 || v->prim == TWIN_AXPY_F16 || v->prim == TWIN_AXPY_MIX;
    uint64_t repeat = TWIN_REPEAT_BYTES / twin_prim_info[v->prim].dst_size;
    if (axpy && v->lanes.counter && v->lanes.mask[0] >= 2 * TWIN_REPEATS * repeat)
        lacks(site, "a right Axpy of 510 repeats: its library does the first 255 twice");
    if (v->prim == TWIN_I32_F32 && v->scalar.i != TWIN_NONE)
        lacks(site, "a rounding mode from int32 to fp32 but CAST_NONE");
}

void twin_check_910_reduce(const struct twin_reduce *v, const struct twin_site *site) {
    if (!is_910() || v->size != 4) return;
    if (v->kind != TWIN_WHOLE) lacks(site, "sums of blocks or pairs in fp32");
    if (v->op != TWIN_SUM) lacks(site, "the largest or smallest of a repeat in fp32");
}

void twin_check_910_shuffle(const struct twin_shuffle *v, const struct twin_site *site) {
    if (!is_910()) return;
    if (v->kind == TWIN_GATHER || v->kind == TWIN_GATHERB || v->kind == TWIN_GATHER_MASK ||
        v->kind == TWIN_BRCB)
        lacks(site, "this call");
    if (v->kind == TWIN_SELECT && v->mode != 0) lacks(site, "a Select but VSEL_CMPMASK_SPR");
    if (v->kind == TWIN_TO_5HD && v->size != 2) lacks(site, "transpositions of 32 bits");
}

void twin_check_910_copy(const struct twin_dma *v, const struct twin_site *site) {
    if (is_910() && v->pad) lacks(site, "DataCopyPad");
}

void twin_check_910_atomic(int type, const struct twin_site *site) {
    enum { NONE = -1, FP32 = 1 };
    if (is_910() && type != NONE && type != FP32) lacks(site, "atomic additions but of fp32");
}

void twin_check_910_sync(const struct twin_site *site) {
    if (is_910()) lacks(site, "a SyncAll in hardware: give it workspace");
}

int twin_event_limit(void) {
    return is_910() ? 4 : TWIN_EVENT_IDS;
}

int twin_live_limit(void) {
    return is_910() ? 4 : TWIN_LIVE;
}
