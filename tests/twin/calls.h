/* SPDX-License-Identifier: Apache-2.0
 *
 * One vector or copy call as data: what calls_kernel.cpp executes on the twin and calls.cpp
 * computes by itself.
 */
#ifndef TESTS_TWIN_CALLS_H
#define TESTS_TWIN_CALLS_H

#include <stdint.h>

enum { REGION = 49152 }; /* bytes of each of src0, src1, dst in UB and in GM */

enum Type { F16, F32, I16, I32, U16, U32, BF16, I64, I8, U8 };
enum Form {
    COUNT,
    MASK,
    BITS,
    REGISTER
}; /* REGISTER: counter mode set by hand, isSetMask == false */

/* clang-format off */
enum Call {
    ADD, SUB, MUL, DIV, MAX, MIN, AND, OR, MLA,
    ADDS, MULS, MAXS, MINS, SHL, SHR, AXPY,
    ABS, EXP, LN, SQRT, RSQRT, REC, RELU, NOT,
    CAST, DUPLICATE, COPY,
    WHOLE_SUM, BLOCK_SUM, PAIR_SUM, WHOLE_MAX, BLOCK_MIN,
    GATHER, GATHERB, GATHER_MASK, BRCB, TRANSPOSE, TO_5HD, COMPARE, COMPARE_SCALAR, SELECT,
    SELECT_SCALAR,
    LOAD, LOAD_PAD, STORE, STORE_PAD, MOVE,
    CALLS
};
/* clang-format on */

struct Program {
    int32_t call, form, type, from; /* from: source type of a cast or a mixed Axpy */
    int32_t mode;                   /* rounding, comparison, selection, pattern */
    int32_t count, repeat;
    uint64_t mask[2];
    int32_t dst_blk, src0_blk, src1_blk, dst_rep, src0_rep, src1_rep;
    float scalar;
    int32_t integer;
    int32_t blocks, length, gm_gap, ub_gap, left, right, is_pad; /* copies; length in bytes */
};

#ifdef __cplusplus
extern "C" {
#endif
void calls_kernel_checked(uint8_t **args);
void calls_kernel_fast(uint8_t **args);
#ifdef __cplusplus
}
#endif
#endif
