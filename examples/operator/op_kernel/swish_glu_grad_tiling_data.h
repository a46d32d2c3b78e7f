/* SPDX-License-Identifier: Apache-2.0
 *
 * What SwishGluGrad's tiling tells its kernel. The tensors are one row of elements, cut into units;
 * each core gets a run of them and works through it in tiles.
 */
#ifndef SWISH_GLU_GRAD_TILING_DATA_H
#define SWISH_GLU_GRAD_TILING_DATA_H

#include <stdint.h>

#define SWISH_GLU_UNIT 64   /* elements; whole 32-byte blocks of every dtype */
#define SWISH_GLU_TILE 2560 /* elements, whole units */

/* Bytes of UB for a tile: two of each input and output, and six rows of fp32. */
#define SWISH_GLU_UB(size) (SWISH_GLU_TILE * (2 * 6 * (size) + 6 * 4))

typedef struct SwishGluGradTilingData {
    int64_t elements;
    int64_t units;       /* of SWISH_GLU_UNIT elements; the last one may be short */
    uint32_t accumulate; /* 1: accumulated is there */
    float beta;
} SwishGluGradTilingData;

#endif
