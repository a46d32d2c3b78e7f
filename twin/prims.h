/* SPDX-License-Identifier: Apache-2.0
 *
 * The arithmetic of the vector unit on contiguous elements. prims.c is compiled once per
 * instruction set (-DTWIN_ISA=base|v3|v4|bf16; bf16 is v4 and AVX512-BF16); twin_prims points at
 * the best table of this CPU. All tables give the same bits.
 */
#ifndef TWIN_PRIMS_H
#define TWIN_PRIMS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

union twin_scalar {
    float f;
    int32_t i;
    uint32_t u;
};

/* name, bytes of a destination element, bytes of a source element, sources, start cycles, cycles
 * per repeat of 256 B (of the wider type). Costs: cycle_constants.h says where they come from. */
/* clang-format off */
#define TWIN_PRIM_LIST(P)                                                                        \
    P(ADD_F32, 4, 4, 2, 6, 1) P(SUB_F32, 4, 4, 2, 6, 1) P(MUL_F32, 4, 4, 2, 7, 1)                \
    P(DIV_F32, 4, 4, 2, 13, 4) P(MAX_F32, 4, 4, 2, 4, 1) P(MIN_F32, 4, 4, 2, 4, 1)               \
    P(MLA_F32, 4, 4, 2, 11, 6) P(ADD_F16, 2, 2, 2, 6, 1) P(SUB_F16, 2, 2, 2, 6, 1)               \
    P(MUL_F16, 2, 2, 2, 7, 1) P(DIV_F16, 2, 2, 2, 13, 8) P(MAX_F16, 2, 2, 2, 4, 1)               \
    P(MIN_F16, 2, 2, 2, 4, 1) P(MLA_F16, 2, 2, 2, 11, 6) P(MLA_MIX, 4, 2, 2, 11, 6)              \
    P(ADD_I16, 2, 2, 2, 6, 1) P(SUB_I16, 2, 2, 2, 6, 1) P(MUL_I16, 2, 2, 2, 7, 1)                \
    P(MAX_I16, 2, 2, 2, 6, 1) P(MIN_I16, 2, 2, 2, 6, 1) P(ADD_I32, 4, 4, 2, 6, 1)                \
    P(SUB_I32, 4, 4, 2, 6, 1) P(MUL_I32, 4, 4, 2, 7, 1) P(MAX_I32, 4, 4, 2, 6, 1)                \
    P(MIN_I32, 4, 4, 2, 6, 1) P(AND_B16, 2, 2, 2, 2, 2) P(OR_B16, 2, 2, 2, 2, 2)                 \
    P(ADDS_F32, 4, 4, 1, 6, 1) P(MULS_F32, 4, 4, 1, 7, 1) P(MAXS_F32, 4, 4, 1, 4, 1)             \
    P(MINS_F32, 4, 4, 1, 4, 1) P(ADDS_F16, 2, 2, 1, 6, 1) P(MULS_F16, 2, 2, 1, 7, 1)             \
    P(MAXS_F16, 2, 2, 1, 4, 1) P(MINS_F16, 2, 2, 1, 4, 1) P(ADDS_I16, 2, 2, 1, 6, 1)             \
    P(MULS_I16, 2, 2, 1, 7, 1) P(MAXS_I16, 2, 2, 1, 6, 1) P(MINS_I16, 2, 2, 1, 6, 1)             \
    P(ADDS_I32, 4, 4, 1, 6, 1) P(MULS_I32, 4, 4, 1, 7, 1) P(MAXS_I32, 4, 4, 1, 6, 1)             \
    P(MINS_I32, 4, 4, 1, 6, 1) P(SHL_B16, 2, 2, 1, 6, 1) P(SHR_U16, 2, 2, 1, 6, 1)               \
    P(SHR_I16, 2, 2, 1, 6, 1) P(SHL_B32, 4, 4, 1, 6, 1) P(SHR_U32, 4, 4, 1, 6, 1)                \
    P(SHR_I32, 4, 4, 1, 6, 1) P(AXPY_F32, 4, 4, 1, 18, 1) P(AXPY_F16, 2, 2, 1, 18, 1)            \
    P(AXPY_MIX, 4, 2, 1, 18, 1) P(ABS_F32, 4, 4, 1, 5, 1) P(EXP_F32, 4, 4, 1, 13, 2)             \
    P(LN_F32, 4, 4, 1, 14, 2) P(SQRT_F32, 4, 4, 1, 13, 2) P(RSQRT_F32, 4, 4, 1, 5, 1)            \
    P(REC_F32, 4, 4, 1, 5, 1) P(RELU_F32, 4, 4, 1, 4, 1) P(ABS_F16, 2, 2, 1, 5, 1)               \
    P(EXP_F16, 2, 2, 1, 13, 2) P(LN_F16, 2, 2, 1, 14, 2) P(SQRT_F16, 2, 2, 1, 13, 2)             \
    P(RSQRT_F16, 2, 2, 1, 5, 1) P(REC_F16, 2, 2, 1, 5, 1) P(RELU_F16, 2, 2, 1, 4, 1)             \
    P(RELU_I32, 4, 4, 1, 5, 1) P(NOT_B16, 2, 2, 1, 5, 1) P(F16_F32, 4, 2, 1, 6, 1)               \
    P(BF16_F32, 4, 2, 1, 6, 1) P(I16_F32, 4, 2, 1, 6, 1) P(I32_F32, 4, 4, 1, 6, 1)               \
    P(I64_F32, 4, 8, 1, 6, 1) P(F32_F16, 2, 4, 1, 4, 1) P(F32_BF16, 2, 4, 1, 6, 1.5)             \
    P(F32_F32, 4, 4, 1, 6, 1) P(F32_I16, 2, 4, 1, 6, 1) P(F32_I32, 4, 4, 1, 6, 1)                \
    P(F32_I64, 8, 4, 1, 6, 1) P(F16_I8, 1, 2, 1, 6, 1) P(F16_U8, 1, 2, 1, 6, 1)                  \
    P(F16_I16, 2, 2, 1, 6, 1) P(F16_I32, 4, 2, 1, 6, 1) P(I8_F16, 2, 1, 1, 6, 1)                 \
    P(U8_F16, 2, 1, 1, 6, 1) P(I16_F16, 2, 2, 1, 6, 1) P(BF16_I32, 4, 2, 1, 6, 1)                \
    P(I32_I16, 2, 4, 1, 6, 1) P(I32_I64, 8, 4, 1, 6, 1) P(I64_I32, 4, 8, 1, 6, 1)                \
    P(DUP_B16, 2, 2, 0, 1, 1) P(DUP_B32, 4, 4, 0, 1, 1) P(COPY_B16, 2, 2, 1, 13, 1)              \
    P(COPY_B32, 4, 4, 1, 13, 1) P(PAIRS_F32, 4, 4, 1, 12, 1) P(PAIRS_F16, 2, 2, 1, 12, 1)        \
    P(EIGHTS_F32, 4, 4, 1, 12, 1) P(ADD_F32_SPREAD, 4, 4, 2, 6, 1)                               \
    P(SUB_F32_SPREAD, 4, 4, 2, 6, 1) P(MUL_F32_SPREAD, 4, 4, 2, 7, 1)                            \
    P(GATHER_B32, 4, 4, 2, 12, 1)
/* clang-format on */

enum twin_prim_id {
#define P(name, ...) TWIN_##name,
    TWIN_PRIM_LIST(P)
#undef P
        TWIN_PRIM_COUNT
};

struct twin_prim_info {
    const char *name;
    uint8_t dst_size, src_size, sources;
    float start, slope;
};
extern const struct twin_prim_info twin_prim_info[TWIN_PRIM_COUNT];

/* dst may equal a or b; otherwise the ranges do not overlap. s.i is the rounding mode of a cast.
 * PAIRS, EIGHTS: n sums of 2 or 8 neighbours. SPREAD: b is one block of 8 for all of n, which is a
 * multiple of 8. GATHER: b has byte offsets into a. */
typedef void twin_prim_fn(void *dst, const void *a, const void *b, uint32_t n, union twin_scalar s);

/* Rows of n elements each, one after the other; bytes from row to row. */
struct twin_prim_rows {
    uint32_t count;
    uint32_t dst, a, b;
};
typedef void twin_rows_fn(void *dst, const void *a, const void *b, uint32_t n, union twin_scalar s,
                          const struct twin_prim_rows *rows);

struct twin_prim {
    twin_prim_fn *flat;
    twin_rows_fn *rows;
};
extern const struct twin_prim *twin_prims; /* valid after twin_prims_init, which twin_run calls */
void twin_prims_init(void);

#ifdef __cplusplus
}
#endif
#endif
