/* SPDX-License-Identifier: Apache-2.0
 *
 * What op_tiling/rope_tiling.c tells the RopeGrad kernel: a plan, and the lengths of the sequences.
 * The room for lengths has two sizes, so that a small batch does not copy a large list: key 0 reads
 * RopeGradFew, key 1 reads RopeGradMany. Length i is `shortest` plus the number in bits
 * [i * bits, (i + 1) * bits) of the list: with bits = 0 all are alike, and there may be any number
 * of them. Behind the lengths, from bit starts_at on, lie the starts in the same way: the row of
 * cos of the first token of sequence i is `first_row` plus a number of `row_bits` bits.
 *
 * The sequences, empty ones left out, form groups of `group` neighbours. Inside a group the rows
 * are walked position by position through all sequences that have this position, so that a row of
 * cos and sin serves all of them. Core c works from cut c to cut c + 1 of that walk. A cut is a
 * group (its first sequence cut_seq and the first token of that one, cut_token), a position
 * cut_pos, and the number cut_skip of sequences that have this position and are already done with
 * it.
 */
#ifndef ROPE_GRAD_TILING_DATA_H
#define ROPE_GRAD_TILING_DATA_H

#include <stdint.h>

#define ROPE_GRAD_CORES 64
/* gathered: the longest period, and entries of the lists by which tiles and coefficients are
 * gathered */
#define ROPE_GRAD_PERIOD   2048
#define ROPE_GRAD_PARTNERS 2048
#define ROPE_GRAD_SPREAD   512
/* words of the list of lengths and starts; 8 KB, since static shapes hold the list twice on a stack
 * of 32 KB */
#define ROPE_GRAD_FEW  64
#define ROPE_GRAD_MANY 2048

typedef struct RopeGradPlan {
    /* D, columns of a head, and R, those of them that are rotated */
    uint32_t head;
    uint32_t rotated;
    /* the first of them */
    uint32_t slice;
    uint32_t q_heads;
    uint32_t k_heads;
    /* 0: default formula, 1: true gradient */
    uint32_t exact;
    /* 1: halves begin anywhere, and partners are gathered, see rope_grad_gather.h */
    uint32_t gathered;
    /* 1: a tile has a strip of every half head, else heads lie in the UB as they do in memory */
    uint32_t strips;
    /* of a half head in a strip; R / 2, unless that is too wide for the UB */
    uint32_t columns;
    /* elements of a row of coefficients; gathered: a period */
    uint32_t width;
    /* fp16, default formula: w is formed in fp16, not in fp32 and rounded */
    uint32_t native;
    /* positions whose cos and sin are held at a time, and elements of their cos on the way in */
    uint32_t table_rows;
    uint32_t table;
    /* tokens of a tile; 0: not even one fits, and a tile is a `piece` of its heads */
    uint32_t q_rows;
    uint32_t k_rows;
    uint32_t piece;
    /* gathered: elements from token to token; elements that a gather moves at a time, and how many
     * of these lie between places whose partners lie alike */
    uint32_t q_pitch;
    uint32_t k_pitch;
    uint32_t unit;
    uint32_t q_pattern;
    uint32_t k_pattern;
    /* q and k are too large to be in the L2 cache */
    uint32_t stream;
    /* sequences that are not empty */
    uint32_t batch;
    /* sequences that share cos and sin */
    uint32_t group;
    /* length of a sequence; bits of a length beyond this one, 0 to 31 */
    uint32_t shortest;
    uint32_t bits;
    /* the first row of cos that a sequence starts at; bits of a start beyond it, 0 to 31 */
    uint32_t first_row;
    uint32_t row_bits;
    uint32_t starts_at;
    /* The UB in bytes: `depth` buffers for tiles on the way in, and as many on the way out, */
    uint32_t depth;
    uint32_t x_bytes;
    /* one for rows of cos and sin on the way in, */
    uint32_t table_in_bytes;
    /* the coefficients, with cos, sin and w at these places, */
    uint32_t table_bytes;
    uint32_t cos_at;
    uint32_t sin_at;
    uint32_t w_at;
    /* what a tile is in between, x and, at this place, what comes from the other halves, */
    uint32_t tile_bytes;
    uint32_t x_sin_at;
    /* and where a gather finds things. */
    uint32_t places_bytes;
    uint32_t cut_seq[ROPE_GRAD_CORES + 1];
    uint32_t cut_pos[ROPE_GRAD_CORES + 1];
    uint32_t cut_skip[ROPE_GRAD_CORES + 1];
    int64_t cut_token[ROPE_GRAD_CORES + 1];
} RopeGradPlan;

/* Two words more: a number is read from two, and sizes are multiples of 8 bytes. */
typedef struct RopeGradFew {
    RopeGradPlan plan;
    uint32_t lengths[ROPE_GRAD_FEW + 2];
} RopeGradFew;

typedef struct RopeGradMany {
    RopeGradPlan plan;
    uint32_t lengths[ROPE_GRAD_MANY + 2];
} RopeGradMany;

#endif
