/* SPDX-License-Identifier: Apache-2.0
 *
 * What op_tiling/rotary_tiling.c tells the kernels of RotaryMulGrad and
 * RotaryPositionEmbeddingGrad.
 *
 * dy, x and dx are seen as [slabs][outer][keys][inner] rows, or as [slabs][inner][keys] rows when
 * keys_last is set: one row of cos and sin per (slab, key), summed over outer and inner. The
 * strides below, in rows, hide which of the two it is. inner is walked in chunks of chunk_rows; the
 * sum of a chunk is a tree, chunks are added in order. All of this follows from the shape alone, so
 * the bits do not depend on the chip.
 *
 * A row of `row` elements is `groups` groups of two halves of `half` elements (quarter mode has two
 * groups). A row too long for the UB is cut into strips, each the same columns of both halves of
 * one group.
 */
#ifndef ROTARY_GRAD_TILING_DATA_H
#define ROTARY_GRAD_TILING_DATA_H

#include <stdint.h>

typedef struct RotaryGradTiling {
    int64_t keys;  /* rows of cos in a slab */
    int64_t lines; /* rows of cos times strips: what is shared out over the cores */
    int64_t
        slab_stride; /* rows of dy between neighbouring slabs, outer steps, keys and inner steps */
    int64_t outer_stride;
    int64_t key_stride;
    int64_t inner_stride;
    int64_t inner;        /* inner steps */
    int64_t chunks;       /* chunks of inner, times outer */
    int64_t chunks_inner; /* chunks of inner */
    int64_t segments;     /* parts of the chunks that are summed on their own; 1: none */
    int64_t row;          /* elements of a row in memory */
    int64_t half;
    int64_t zeros;       /* elements of dcos, and of dsin, to be set to 0 */
    int64_t unit;        /* lines that stay on one core, */
    int64_t join_unit;   /* the same when segments are joined */
    int64_t strips;      /* strips of a row */
    int64_t strips_half; /* strips of a half */
    uint32_t chunk_rows;
    uint32_t keys_last;
    uint32_t width;      /* elements of a half in the UB, the last strip of a half may have fewer */
    uint32_t groups;     /* groups of a row in the UB: 1 if the row is in strips */
    uint32_t flat;       /* rows lie in the UB as in memory: no padding, no strips */
    uint32_t tile_keys;  /* keys in a tile; more than 1 only if inner is one chunk */
    uint32_t group_keys; /* keys whose cos and sin are in the UB */
    uint32_t tile;       /* elements of a tile, padding included */
    uint32_t cosines;    /* elements of cos in the UB, padding included */
    uint32_t levels;     /* accumulators: 16 sums of one are one of the next */
    uint32_t with_x;     /* dcos and dsin are wanted */
    uint32_t partial;    /* with_x and several segments */
    uint32_t sum_row;    /* elements of a row of partial sums */
    uint32_t table;      /* entries of the table of a gather */
    uint32_t ragged;     /* not 0: cores meet inside 32-byte blocks of dx (rotary_grad_seam.h), and
                          * the rows of so many steps begin at different places of a block */
    uint32_t reserved;
} RotaryGradTiling;

#endif
