/* SPDX-License-Identifier: Apache-2.0
 *
 * One call of Ascend C as data: a step. Kernels use some hundred forms of calls; form_rows.h lists
 * them, and issue.h makes the call.
 */
#ifndef TESTS_TWIN_FORMS_H
#define TESTS_TWIN_FORMS_H

#include <stdint.h>

/* How a call is written. BITS: the mask bit by bit; KEPT: isSetMask is false; COUNT: a number of
 * elements instead of mask and repeats; none of them: a number of lanes. */
/* clang-format off */
enum Kind {
    BINARY, BINARY_BITS, BINARY_KEPT, BINARY_COUNT,
    SCALAR, SCALAR_BITS, SCALAR_KEPT, SCALAR_COUNT,
    CAST, CAST_KEPT, CAST_COUNT,
    FILL, FILL_BITS, FILL_KEPT, FILL_COUNT,
    REDUCE, REDUCE_BITS, REDUCE_KEPT,
    COPY, SPREAD, GATHER_COUNT, GATHER_BLOCKS, TRANSPOSE,
    SET_LANES, SET_BITS, RESET,
    LOAD, LOAD_COUNT, LOAD_PAD, STORE, STORE_COUNT, STORE_PAD, MOVE, MOVE_COUNT
};
/* clang-format on */

#define FORM(name, kind, call, to, from) FORM_##name,
enum Form {
#include "form_rows.h"
    FORMS
};

struct Step {
    uint32_t form;
    /* bytes from the start of the UB, or of memory; src1: the second source, or offsets */
    uint32_t dst, src0, src1;
    uint32_t count;   /* elements of a COUNT form; of other copies the length of a block */
    uint32_t scalar;  /* its bits */
    uint64_t mask[2]; /* BITS: low, high; else mask[0] is the number of lanes */
    uint32_t repeat;  /* of a copy: blocks */
    /* in 32-byte blocks; of a copy, dst_repeat and src0_repeat are its gaps */
    uint32_t dst_block, src0_block, src1_block, dst_repeat, src0_repeat, src1_repeat;
    uint32_t mode;   /* of a cast: RoundMode; of LOAD_PAD: is_pad + 256 * right padding */
    uint32_t queued; /* of a copy without gaps: goes through a queue, so many bytes; 0: does not */
};

#endif
