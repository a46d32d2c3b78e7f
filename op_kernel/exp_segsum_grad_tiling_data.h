/* SPDX-License-Identifier: Apache-2.0
 *
 * What ExpSegsumGrad's tiling tells its kernel. Only the size, never a share or a tile, decides the
 * order of a sum.
 */
#ifndef EXP_SEGSUM_GRAD_TILING_DATA_H
#define EXP_SEGSUM_GRAD_TILING_DATA_H

#include <stdint.h>

/* Tiling keys. */
#define EXP_SEGSUM_ZERO  1 /* T <= 1 or no matrices: the result is 0, nothing is read */
#define EXP_SEGSUM_SMALL 2 /* T <= 64: several whole matrices per tile */
#define EXP_SEGSUM_BLOCK 3 /* T <= 128: one matrix per tile, lower triangle only */
#define EXP_SEGSUM_LARGE 4 /* T > 128: blocks of 128, over all cores, in two phases */

/* Elements of one operand in a tile. */
#define EXP_SEGSUM_SMALL_TILE 9216
#define EXP_SEGSUM_BLOCK_TILE 9216 /* 128 rows in strips of 16: 16 * 16 * (1 + ... + 8) */
#define EXP_SEGSUM_SMALL_OUT  2048 /* elements of a result tile, EXP_SEGSUM_SMALL */

typedef struct ExpSegsumGradTilingData {
    int64_t size;     /* T */
    int64_t matrices; /* product of the leading dimensions */
    int64_t unit;     /* SMALL, BLOCK: matrices per unit of work; ZERO: results per unit */
    int64_t units;    /* units of work in all, spread evenly over the cores */
    int64_t tile;     /* SMALL: matrices per tile */
    int64_t gather;   /* LARGE: 1 if results are not 32-byte aligned and go through the workspace */
} ExpSegsumGradTilingData;

#endif
