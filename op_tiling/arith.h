/* SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic of the tiling functions. Numbers are not negative; divisors are not 0.
 */
#ifndef ASCGRAD_OP_TILING_ARITH_H
#define ASCGRAD_OP_TILING_ARITH_H

#include <stdint.h>

/* Bytes of UB that a kernel may use on the smallest of the supported chips. */
enum { SMALLEST_UB = 196352 };

/* Bytes that memory is written in: no two cores may write into one of them. */
enum { GM_BLOCK = 32 };

static inline int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static inline int64_t most(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static inline int64_t ceil_div(int64_t a, int64_t b) {
    return a / b + (a % b != 0);
}

static inline int64_t round_up(int64_t a, int64_t b) {
    return ceil_div(a, b) * b;
}

/* How many rows of `bytes` bytes it takes to end at a block of memory: 1, 2, 4, 8, 16 or 32. */
static inline int64_t rows_per_block(int64_t bytes) {
    int64_t rows = 1;
    while (rows * bytes % GM_BLOCK != 0) {
        rows *= 2;
    }
    return rows;
}

#endif
