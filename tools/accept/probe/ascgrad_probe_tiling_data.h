/* SPDX-License-Identifier: Apache-2.0
 *
 * What `ascgrad accept` tells the probe, and where everything lies in its input x and its output y.
 * x: operands, then what y holds where the probe writes nothing. Plain C, for host and chip.
 */
#ifndef ASCGRAD_PROBE_TILING_DATA_H
#define ASCGRAD_PROBE_TILING_DATA_H

#include <stdint.h>

enum AscgradProbeQuestion {
    PROBE_MASK_AT_START,
    PROBE_MASK_AFTER_COUNT,
    PROBE_MASK_AFTER_GATHER,
    PROBE_MASK_NUMBER,
    PROBE_ZERO_IN_PAIR_SUM,
    PROBE_EMPTY_GROUP_SUM,
    PROBE_SUM_ORDER,
    PROBE_CAST_NONE,
    PROBE_OVERFLOW,
    PROBE_WIDEN,
    PROBE_SUBNORMAL,
    PROBE_PAD_BYTES,
    PROBE_PAD_VALUE,
    PROBE_GATHERB_END,
    PROBE_GATHER_OFFSETS_END,
    PROBE_MASKED_BLOCKS,
    PROBE_ZERO_REPEATS,
    PROBE_EVENT_IDS,
    PROBE_ORDER,
    PROBE_NONE, /* nothing is launched for it */
};

/* In words of 32 bits. */
enum AscgradProbePlace {
    PROBE_WORDS = 1024,  /* of operands, and of y */
    PROBE_NUMBERS = 0,   /* 128 floats, 1 and its next ones */
    PROBE_OFFSETS = 128, /* for Gather: neighbours change places */
    PROBE_BLOCKS = 256,  /* for Gatherb: eight blocks from the last to the first */
    PROBE_SMALL = 320,   /* 1 and 63 halves of its last bit */
    PROBE_FOUR = 384,    /* 1, 0, two halves of its last bit, 60 zeros */
    PROBE_TIES = 448,    /* 8 floats between fp16 numbers */
    PROBE_LARGE = 456,   /* 8 floats around 65504, and NaN */
    PROBE_BF16 = 464,    /* 8 numbers of bf16 in 4 words */
    PROBE_TINY = 472,    /* 8 floats, and 8 more to add, subtract, multiply */
    PROBE_ZEROS = 512,   /* 64 times -0 */
    PROBE_LANDING = 768, /* for what is loaded again; 0x5a5a5a5a until then */
};
#define PROBE_UNTOUCHED 0xa5a5a5a5u /* y where the probe writes nothing */

typedef struct {
    uint32_t question; /* enum AscgradProbeQuestion */
    uint32_t ub;       /* bytes that a kernel may use */
    uint32_t events;   /* event ids of a pair of pipes */
    uint32_t first;    /* 1: the first generation of the 910 */
} AscgradProbeTilingData;

#endif
