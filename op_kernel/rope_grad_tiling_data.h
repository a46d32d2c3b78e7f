/* SPDX-License-Identifier: Apache-2.0
 *
 * What op_tiling/rope_tiling.c tells the RopeGrad kernel. Two structs that differ only in the room
 * for lengths, so that a small batch does not copy a large table: key 0 reads RopeGradFew, key 1
 * reads RopeGradMany. Length i is `shortest` plus the number in bits [i * bits, (i + 1) * bits) of
 * the table: with bits = 0 all are alike, and there may be any number of them.
 *
 * The sequences, empty ones left out, form groups of `group` neighbours. Inside a group the rows
 * are walked position by position through all sequences that are long enough, so that a row of cos
 * and sin serves all of them. Core c works from cut c to cut c + 1 of that walk. A cut is a group
 * (its first sequence cut_seq and the first token of that one, cut_token), a position cut_pos, and
 * the number cut_skip of sequences that reach this position and are already done with it.
 */
#ifndef ROPE_GRAD_TILING_DATA_H
#define ROPE_GRAD_TILING_DATA_H

#include <stdint.h>

#define ROPE_GRAD_CORES 64
/* words of a table; 8 KB, since static shapes hold the struct twice on a stack of 32 KB */
#define ROPE_GRAD_FEW  64
#define ROPE_GRAD_MANY 2048

typedef struct RopeGradFew {
    /* D, columns of a head */
    uint32_t head;
    uint32_t q_heads;
    uint32_t k_heads;
    /* 0: default formula, 1: true gradient */
    uint32_t exact;
    /* columns of a half head in one pass: D / 2, unless that is too wide for the UB */
    uint32_t columns;
    /* columns rounded up to whole 32 bytes */
    uint32_t padded;
    /* rows lie in the UB as in GM: one copy moves many */
    uint32_t packed;
    /* fp16, default formula: w is formed in fp16, not in fp32 and rounded */
    uint32_t native;
    /* positions whose cos and sin are held at a time */
    uint32_t table_rows;
    /* elements of q or k held at a time */
    uint32_t tile;
    /* q and k are too large to be in the L2 cache */
    uint32_t stream;
    /* sequences that are not empty */
    uint32_t batch;
    /* sequences that share cos and sin */
    uint32_t group;
    /* of a sequence; bits of a length beyond this one, 0 to 31 */
    uint32_t shortest;
    uint32_t bits;
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
    /* and what a tile is in between, x and, at this place, x * sin. */
    uint32_t tile_bytes;
    uint32_t x_sin_at;
    int64_t cut_token[ROPE_GRAD_CORES + 1];
    uint32_t cut_seq[ROPE_GRAD_CORES + 1];
    uint32_t cut_pos[ROPE_GRAD_CORES + 1];
    uint32_t cut_skip[ROPE_GRAD_CORES + 1];
    /* one word more: a length is read from two */
    uint32_t lengths[ROPE_GRAD_FEW + 1];
} RopeGradFew;

/* The same up to lengths. */
typedef struct RopeGradMany {
    uint32_t head;
    uint32_t q_heads;
    uint32_t k_heads;
    uint32_t exact;
    uint32_t columns;
    uint32_t padded;
    uint32_t packed;
    uint32_t native;
    uint32_t table_rows;
    uint32_t tile;
    uint32_t stream;
    uint32_t batch;
    uint32_t group;
    uint32_t shortest;
    uint32_t bits;
    uint32_t depth;
    uint32_t x_bytes;
    uint32_t table_in_bytes;
    uint32_t table_bytes;
    uint32_t cos_at;
    uint32_t sin_at;
    uint32_t w_at;
    uint32_t tile_bytes;
    uint32_t x_sin_at;
    int64_t cut_token[ROPE_GRAD_CORES + 1];
    uint32_t cut_seq[ROPE_GRAD_CORES + 1];
    uint32_t cut_pos[ROPE_GRAD_CORES + 1];
    uint32_t cut_skip[ROPE_GRAD_CORES + 1];
    uint32_t lengths[ROPE_GRAD_MANY + 1];
} RopeGradMany;

#endif
