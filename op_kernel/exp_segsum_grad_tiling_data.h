/* SPDX-License-Identifier: Apache-2.0
 *
 * What ExpSegsumGrad's tiling tells its kernel. Only the size, never a share or a tile, decides the
 * order of a sum.
 */
#ifndef EXP_SEGSUM_GRAD_TILING_DATA_H
#define EXP_SEGSUM_GRAD_TILING_DATA_H

#include <stdint.h>

/* Tiling keys. ZERO: T <= 1 or no matrices, the result is 0, nothing is read. SMALL: T <= 64,
 * several whole matrices per tile. SQUARE: T <= 128, one matrix per tile, lower triangle only.
 * LARGE: T > 128, squares of 128, over all cores, in two phases. WHOLE: 128 < T <= 384, the same
 * sums, a matrix on one core. */
enum {
    EXP_SEGSUM_ZERO = 1,
    EXP_SEGSUM_SMALL = 2,
    EXP_SEGSUM_SQUARE = 3,
    EXP_SEGSUM_LARGE = 4,
    EXP_SEGSUM_WHOLE = 5,
};

enum {
    /* rows of a diagonal square, of a tile left of it, and of a strip of the square */
    EXP_SEGSUM_ROWS = 128,
    EXP_SEGSUM_HALF = 64,
    EXP_SEGSUM_STRIP = 16,
    /* fp32 of a row of a diagonal tile: 8 sums of what lies left of it, and the tile */
    EXP_SEGSUM_TILE_LANES = 8 + EXP_SEGSUM_STRIP,
    /* elements of one operand in a tile; of a block: 128 rows in strips, 16 * 16 * (1 + ... + 8) */
    EXP_SEGSUM_TILE = 9216,
    /* elements of a tile of results of SMALL */
    EXP_SEGSUM_OUT = 2048,
    /* LARGE: column sums, row sums and the total (in 8 lanes) of a tile, in fp32 */
    EXP_SEGSUM_SUMS = EXP_SEGSUM_ROWS + EXP_SEGSUM_HALF + 8,
    /* WHOLE: the largest T */
    EXP_SEGSUM_WHOLE_MOST = 384,
    /* LARGE: rows of each of the three kinds that are fetched at once */
    EXP_SEGSUM_LOAD_ROWS = EXP_SEGSUM_ROWS / 8,
};

typedef struct ExpSegsumGradTilingData {
    /* T */
    int64_t size;
    /* product of the leading dimensions */
    int64_t matrices;
    /* SMALL, SQUARE, WHOLE: matrices per unit of work; ZERO: results per unit */
    int64_t unit;
    /* units of work in all, spread evenly over the cores */
    int64_t units;
    /* The UB in bytes, 0 for what a key has not: two buffers for both operands of a tile, */
    uint32_t in_bytes;
    /* two for results, */
    uint32_t out_bytes;
    /* one for the operands in fp32, */
    uint32_t wide_bytes;
    /* one for diagonal tiles, */
    uint32_t tiles_bytes;
    /* one for sums: from the workspace (LARGE), all of a matrix (WHOLE), */
    uint32_t sums_bytes;
    /* two for results on their way from the workspace. */
    uint32_t line_bytes;
    /* Where the second operand begins, in elements as loaded and in fp32. */
    uint32_t second;
    uint32_t span;
    /* 1 if rows are whole 32-byte blocks and their pitch fits the short form of a copy */
    uint32_t direct;
    /* LARGE: 1 if results are not 32-byte aligned and go through the workspace */
    uint32_t gather;
    /* SMALL: matrices per tile */
    uint32_t tile;
    /* 1 if the inputs are too large to be in the L2 cache, and no line of it is read twice */
    uint32_t stream;
} ExpSegsumGradTilingData;

#endif
