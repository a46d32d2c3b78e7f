/* SPDX-License-Identifier: Apache-2.0
 *
 * What `ascgrad accept` tells the kernel that it takes times of. Plain C, for host and chip.
 */
#ifndef ASCGRAD_GAUGE_TILING_DATA_H
#define ASCGRAD_GAUGE_TILING_DATA_H

#include <stdint.h>

enum AscgradGaugeWhat {
    GAUGE_NOTHING, /* the kernel returns at once */
    GAUGE_CHAIN,   /* tiles: so many Adds in count form */
    GAUGE_COPY,    /* y = x in tiles */
    GAUGE_ADD,     /* y = first half of x + second half of x in tiles */
};

enum AscgradGaugeSize {
    GAUGE_HALVES = 256,      /* fp16 numbers of one Add */
    GAUGE_PLACES = 300,      /* results that it writes side by side before it begins again */
    GAUGE_COPY_TILE = 32768, /* bytes */
    GAUGE_ADD_TILE = 16384,  /* bytes */
    GAUGE_TAIL = 32,         /* bytes of y that show what was done */
    GAUGE_X_BYTE = 0x3c,     /* every byte of x */
    GAUGE_Y_BYTE = 0xa5,     /* y before the kernel */
};

typedef struct {
    uint32_t what;  /* enum AscgradGaugeWhat */
    uint32_t tiles; /* of all cores together, dealt out in turn */
    uint32_t past;  /* 1: x is read past the L2 */
    uint32_t reserved;
} AscgradGaugeTilingData;

#endif
