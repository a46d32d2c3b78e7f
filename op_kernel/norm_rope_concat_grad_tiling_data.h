/* SPDX-License-Identifier: Apache-2.0
 *
 * What op_tiling/norm_rope_concat_tiling.c tells the NormRopeConcatGrad kernel.
 *
 * A line is one (b, s, n): D elements. Lines of a stream are numbered as [B,S,N,D] has them.
 * A group is the lines that are normed together: one line, or across heads those of a token.
 * A chunk is a run of lines of one stream, worked through in tiles by one core, with one partial
 * sum of dgamma and dbeta; its size follows from the shapes alone. A job is a run of lines that is
 * only copied. Fields at_ are byte offsets into the buffer whose size is above them.
 */
#ifndef NORM_ROPE_CONCAT_GRAD_TILING_DATA_H
#define NORM_ROPE_CONCAT_GRAD_TILING_DATA_H

#include <stdint.h>

/* In this order: query, encoder_query, key, encoder_key, value, encoder_value. */
enum { NRC_STREAMS = 6, NRC_NORMED = 4 };

/* Columns that one core adds up at a time in the end: 128 bytes of fp32, of long sums 512. */
enum { NRC_SEGMENT = 32, NRC_LONG_SEGMENT = 128 };

/* Bytes into the buffers of gamma and of sums across heads, where lines meet them in other banks.
 */
enum { NRC_PHASE = 256 };

/* lines = B * S * N; seq: S of this stream; total: S of the concatenated gradient, in which the
 * stream begins at offset. first: its first chunk or job; sums: where the partial sums of its
 * chunks are in the workspace, in floats, `width` for one; units: shares of the last sum of one
 * vector, of unit_segments segments of `segment` columns each. copy: it has jobs. norm: there is
 * one, with rstd; it subtracts a mean (centred), has a weight (weighted). inverse: what sums become
 * means by. tile_lines, sum_lines: lines of a tile, of the running sums. across: 0, or the norm is
 * across heads, of which a tile has so many: all, or there are blocks of them and a tile is a part
 * of one token. blocks: column blocks times blocks of heads. fold: groups of 64 columns of a group,
 * rounded up to a power of two. */
typedef struct NrcStreamTiling {
    int64_t lines;
    int64_t seq;
    int64_t heads;
    int64_t total;
    int64_t offset;
    int64_t first;
    int64_t chunk_lines;
    int64_t sums;
    int64_t width;
    int64_t units;
    int64_t unit_segments;
    uint32_t copy;
    uint32_t norm;
    uint32_t centred;
    uint32_t weighted;
    uint32_t across;
    uint32_t blocks;
    uint32_t fold;
    uint32_t segment;
    uint32_t tile_lines;
    uint32_t sum_lines;
    float inverse;
    uint32_t pad;
} NrcStreamTiling;

/*
 * rope_rows      rows of sin and cos; 0: no rope
 * jobs_busy      of the first busy_cores cores together, which have one chunk more
 * columns        of each piece in a column block
 * width          floats of a line in a partial sum
 * units          shares of the last sums, of all vectors
 * layout         gradients of the outputs are 0 [B,N,S,D], 1 [B,S,N,D]
 * rope           0, 1 interleave, 2 half, 3 half, a gather turns the halves of a line
 * pieces         a line in UB is 1 piece, or 2 where its halves rotate and have to be parted
 * blocks         column blocks; more than 1 only if a line does not fit
 * halves         a line fills more than one repeat and less than two: it is taken by halves
 * steps          in a chunk, about
 * vectors        of sums: bit 2 i is dgamma of stream i, bit 2 i + 1 its dbeta
 * fold           groups of 64 columns of a line, rounded up to a power of two
 * batch          partial sums added up at a time, in segments of NRC_SEGMENT columns
 * in_bytes       a tile as loaded: g at 0
 * calc_bytes     work space in fp32; zero_bytes of it from at_part on are zeroed once
 * at_fold        twice fold_bytes
 * at_group       sums of a norm across heads, instead of at_part
 * gamma_bytes    rows of weights of a norm across heads, of as many heads as a tile has
 * stat_floats    of one tile
 * wide_tables    sin and cos are fp32 beside 16-bit data
 */
typedef struct NormRopeConcatGradTilingData {
    NrcStreamTiling stream[NRC_STREAMS];
    int64_t dim;
    int64_t rope_rows;
    int64_t chunks;
    int64_t jobs;
    int64_t job_lines;
    int64_t jobs_busy;
    int64_t columns;
    int64_t width;
    int64_t units;
    uint32_t layout;
    uint32_t rope;
    uint32_t pieces;
    uint32_t blocks;
    uint32_t halves;
    uint32_t busy_cores;
    uint32_t tile_lines;
    uint32_t steps;
    uint32_t copy_lines;
    uint32_t copy_columns;
    uint32_t vectors;
    uint32_t fold;
    uint32_t batch;

    uint32_t in_bytes;
    uint32_t at_x;
    uint32_t at_mean;
    uint32_t at_rstd;
    uint32_t at_cos;
    uint32_t at_sin;
    uint32_t at_gamma;
    uint32_t out_bytes;
    uint32_t flush_bytes;
    uint32_t gamma_bytes;
    uint32_t copy_bytes;
    uint32_t calc_bytes;
    uint32_t at_w0;
    uint32_t at_w1;
    uint32_t at_w2;
    uint32_t at_cos_wide;
    uint32_t at_sin_wide;
    uint32_t at_gamma_wide;
    uint32_t at_dbeta;
    uint32_t at_dgamma;
    uint32_t at_mean_wide;
    uint32_t at_rstd_wide;
    uint32_t at_stat_wide;
    uint32_t at_swap;
    uint32_t swap_entries;
    uint32_t at_part;
    uint32_t at_fold;
    uint32_t fold_bytes;
    uint32_t at_group;
    uint32_t at_stat;
    uint32_t stat_floats;
    uint32_t zero_bytes;
    uint32_t wide_tables;
} NormRopeConcatGradTilingData;

#endif
