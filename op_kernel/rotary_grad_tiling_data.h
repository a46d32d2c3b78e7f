/* SPDX-License-Identifier: Apache-2.0
 *
 * What op_tiling/rotary_plan.c tells the kernels of RotaryMulGrad and RotaryPositionEmbeddingGrad.
 *
 * Leading axes. An axis of dy is kept if cos has it too, summed if it is 1 in cos. Neighbours of
 * one kind merge, axes of size 1 go, at most K0 R0 K1 R1 is left (kept, summed, kept, summed):
 *
 *     dy [K0][R0][K1][R1][row]     cos [K0][K1][row]     K0 slabs, K1 rows of cos in each
 *
 *                  R1 > 1: cos rows first            R1 = 1: cos rows last (cos_last)
 *     a slab is    [outer = R0][K1][inner = R1]      [inner = R0][K1]
 *     of rows      . 0 0 0 1 1 1 2 2 2               . 0 1 2      the number is the row of cos
 *                  . 0 0 0 1 1 1 2 2 2               . 0 1 2      that serves the row of dy
 *                                                    . 0 1 2
 *
 * The strides below, in rows of dy, hide which of the two it is. Everything with one number in a
 * slab is summed into one row of dcos, and of dsin:
 *
 *     chunk     chunk_rows inner steps of one row of cos; summed as a tree
 *     levels    chunks are added in order, ROTARY_FAN of them to a sum of the next level
 *     segment   some of the chunks of a row of cos, summed on their own; the sums of the segments
 *               meet in the workspace and are added in order
 *     tile      one chunk of tile_cos neighbouring rows of cos: what is computed at a time
 *
 * All of this follows from the shape alone, so the bits do not depend on the chip.
 *
 * A row is `rotations` times two halves of `half` elements: 2 in quarter mode, more where rows have
 * been merged. A row too long for the UB is cut into strips, each the same columns of both halves
 * of one rotation; a line is a strip of a row of cos, or the row if it is not cut:
 *
 *     row      | first half          | second half         |
 *     strips   | 0  | 1  | 2  | 3  | | 0  | 1  | 2  | 3  | |
 *
 * cos may have fewer columns than dy: `row` elements of a row of dy, from `slice` on, are rotated,
 * the others, its tails, are dx as they are. Where rows of dy and their rotated columns begin at
 * 32-byte blocks, rows are in the UB with their tails (with_tails); otherwise the parts of a row
 * come and go by themselves.
 *
 * A piece of work is `unit` lines and one segment. Neighbouring pieces are one core's.
 */
#ifndef ROTARY_GRAD_TILING_DATA_H
#define ROTARY_GRAD_TILING_DATA_H

#include <stdint.h>

/* How the kernel finds the two partners of a rotation: by address, they are halves; as neighbours;
 * as halves in y and neighbours in x. The tiling key is the mode, plus ROTARY_JOIN if there are
 * segments to be joined. */
enum {
    ROTARY_HALVES = 0,
    ROTARY_PAIRS = 1,
    ROTARY_PLANES = 3,
    /* the contiguous path, rotary_grad_contiguous.h */
    ROTARY_CONTIGUOUS = 5,
    ROTARY_JOIN = 10,
    /* the kernel of the first generation of the 910 (rotary_mul_grad_910.h) */
    ROTARY_FIRST = 20,
};

enum {
    /* sums that one level takes */
    ROTARY_FAN = 16,
    /* partial sums that are fetched and added at once */
    ROTARY_FOLD = 32,
    /* slabs of a tile on the contiguous path, at most */
    ROTARY_SLABS = 240,
    /* elements of the smallest tile: partial sums use its buffers, too */
    ROTARY_LEAST_TILE = 2048,
};

/* Places for dy on the contiguous path: rows of 16 bits that have to be repeated by words keep the
 * vector unit busy for longer than memory. */
#define ROTARY_PLACES(fill, size) ((size) == 2 && (fill) > 1 ? 1u : 2u)

/* And for dx: one is enough there, and beside sums, where dx is soon done. */
#define ROTARY_PLACES_OUT(with_x, places) ((with_x) ? 1u : (places))

typedef struct RotaryGradTiling {
    /* rows of cos in a slab */
    int64_t cos_rows;
    /* rows of cos times strips: what is shared out over the cores */
    int64_t lines;
    /* rows of dy between neighbouring slabs, outer steps, rows of cos and inner steps */
    int64_t slab_stride;
    int64_t outer_stride;
    int64_t cos_stride;
    int64_t inner_stride;
    /* inner steps */
    int64_t inner;
    /* chunks of inner, times outer */
    int64_t chunks;
    /* chunks of inner */
    int64_t chunks_inner;
    /* 1: none */
    int64_t segments;
    /* elements of a row of cos in memory, and of dy */
    int64_t row;
    int64_t dy_row;
    /* the first element of a row of dy that is rotated */
    int64_t slice;
    int64_t half;
    /* elements of dcos, and of dsin, to be set to 0 */
    int64_t zeros;
    /* lines of a piece of work; the same when segments are joined */
    int64_t unit;
    int64_t join_unit;
    /* strips of a row, and of a half */
    int64_t strips;
    int64_t strips_half;
    /* the contiguous path: elements from dcos to dsin in the workspace */
    int64_t plane;
    /* The contiguous path only: dx and the sums are made one after the other, because what is
     * summed together does not begin at blocks. dx is shared out so many rows of dy at a time,
     * or lines of cos_stride rows if rows of cos are last: in the order of memory, or, if `across`,
     * in lines of all steps. The sums are shared out as ever. */
    int64_t apart;
    uint32_t chunk_rows;
    uint32_t cos_last;
    /* elements of a half in the UB; the last strip of a half may have fewer */
    uint32_t width;
    /* rotations of a row in the UB: 1 if the row is in strips */
    uint32_t rotations;
    /* rows lie in the UB as in memory: no padding, no strips */
    uint32_t flat;
    /* rows of cos in a tile; more than 1 only if inner is one chunk */
    uint32_t tile_cos;
    /* tiles of rows of cos that are in the UB at a time */
    uint32_t band_tiles;
    /* elements of a tile, padding included */
    uint32_t tile;
    /* elements of cos in the UB, padding included */
    uint32_t cosines;
    uint32_t levels;
    /* dcos and dsin are wanted */
    uint32_t with_x;
    /* with_x and several segments */
    uint32_t partial;
    /* elements of a row of partial sums */
    uint32_t sum_row;
    /* entries of the table of a gather */
    uint32_t table;
    /* Bytes of the UB: two buffers each for dy, x, dx, for cos with sin, and for dcos or dsin, */
    uint32_t tile_bytes;
    uint32_t cos_bytes;
    uint32_t sum_bytes;
    /* gaps before the buffers on the way in and on the way out, that put them in other banks, */
    uint32_t shift_bytes;
    /* and one of floats to work in, with these parts at these places, counted in floats. */
    uint32_t work_bytes;
    uint32_t swap_at;
    uint32_t x_at;
    uint32_t dx_at;
    uint32_t other_at;
    uint32_t cosines_at;
    uint32_t sums_at;
    uint32_t table_at;
    uint32_t signs_at;
    /* All of it. */
    uint32_t ub_bytes;
    /* lines that begin at a 512-byte line of memory; tiles do, where they have a choice */
    uint32_t align;
    /* dy and x are too large to be in the L2 cache */
    uint32_t stream;
    /* see apart */
    uint32_t across;
    /* The contiguous path (rotary_grad_contiguous.h). A tile is tile_cos rows of cos, a slab of cos
     * has `cosines` elements, sum_row is unused, sin is at other_at, dx_at is a spare tile.
     * cos_last: the slabs are steps, and all rows of a row of cos a group.
     * Rows of a group. */
    uint32_t group;
    /* rows of a group that are gathered, because one does not fill blocks of floats; or 1 */
    uint32_t fill;
    /* from an element to its partner, in the UB; bytes that a gather takes to swap them, 0: shifts
     */
    uint32_t reach;
    uint32_t turn_unit;
    /* dy, cos and sin are halves, x is pairs */
    uint32_t planes;
    /* elements of dcos of a tile, padding included */
    uint32_t sums;
    /* floats of cos with rows repeated to fill blocks */
    uint32_t rows_floats;
    /* entries of tables: of partners, of coefficients, of pairs, of halves */
    uint32_t turn;
    uint32_t coefs;
    uint32_t pair;
    uint32_t halves;
    /* slabs of cos may have gaps; the first 910: halves have gaps behind them in the UB, and so
     * many of them are stored as one piece */
    uint32_t gaps;
    uint32_t rows_at;
    uint32_t coarse_at;
    uint32_t blocks_at;
    uint32_t coef_at;
    uint32_t spread_at;
    uint32_t pack_at;
    uint32_t pair_at;
    uint32_t halve_at;
    /* tables for rows of cos that are wider than those of dy: entries of each */
    uint32_t wide;
    uint32_t wide_at;
    /* rows of dy and dx are in the UB with their tails */
    uint32_t with_tails;
    /* elements of a row of cos in the UB, and of the rotated columns of a row of dy; more than
     * `row` only beside tails, up to the end of a block */
    uint32_t pitch;
    /* bytes of a place for x: of its rotated columns alone, up to the end of a block */
    uint32_t x_bytes;
} RotaryGradTiling;

#endif
