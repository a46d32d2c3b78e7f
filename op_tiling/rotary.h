/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of the rotary tiling: rotary_tiling.c checks the node, rotary_plan.c cuts up the work,
 * rotary_ub.c lays out the UB; rotary_contiguous.c does both for the contiguous path, and
 * rotary_cost.c says which of the two is faster.
 */
#ifndef ASCGRAD_OP_TILING_ROTARY_H
#define ASCGRAD_OP_TILING_ROTARY_H

#include "../core/node.h"
#include "../op_kernel/rotary_grad_tiling_data.h"
#include "arith.h"

/* The attribute. */
enum rotary_mode { HALF = 0, INTERLEAVE = 1, QUARTER = 2, INTERLEAVE_HALF = 3 };

/* The leading axes of dy: kept ones (cos has the same size) and summed ones (cos has 1) in turn,
 * neighbours of one kind merged, axes of size 1 gone. */
struct rotary_axes {
    int64_t k0, r0, k1, r1;
};

/* Ways to do it: the better one, the general path, the contiguous one wherever it can be taken. */
enum rotary_path { CHOSEN = 0, GENERAL, CONTIGUOUS };

struct rotary_work {
    enum rotary_mode mode;
    struct rotary_axes axes;
    /* elements of dy, of a row of cos and of dy, the first of the latter that is rotated, and
     * elements of dcos if it is to be cleared */
    int64_t elements, row, dy_row, slice, zeros;
    /* bytes of an element of dy, and of cos */
    int64_t size, table;
    bool with_x;
    /* the path, if there is no choice */
    enum rotary_path path;
};

/* Fills the tiling data and, but for the data, the launch. With CONTIGUOUS, calls that cannot go
 * there go the general way. */
void ascgrad_rotary_plan(const struct rotary_work *work, const struct ascgrad_chip *chip,
                         RotaryGradTiling *t, struct ascgrad_launch *launch);

/* Whether segments begin at 32-byte blocks of memory; outer: steps outside of inner. */
bool ascgrad_rotary_splits_at_blocks(const RotaryGradTiling *t, int64_t outer, int64_t size);

/* The contiguous path, rotary_contiguous.c. Whether a call can go there, and how its partners are
 * found.
 */
bool ascgrad_rotary_contiguous_fits(RotaryGradTiling *t, enum rotary_mode mode, int64_t size,
                                    int64_t table);

/* Whether it is the usual way for a call: the other one is taken only if it is clearly faster.
 * outer: steps outside of inner. */
bool ascgrad_rotary_contiguous_usual(const RotaryGradTiling *t, enum rotary_mode mode,
                                     int64_t outer, int64_t size, int64_t table);

/* Lays the axes out for it. Returns the steps outside of inner. */
int64_t ascgrad_rotary_contiguous_steps(RotaryGradTiling *t, int64_t outer, int64_t size);

/* Whether all rows of cos of a slab stay on one core, and into how many segments their steps are
 * then split. */
bool ascgrad_rotary_contiguous_alone(const RotaryGradTiling *t, int64_t outer, int64_t size);
int64_t ascgrad_rotary_contiguous_segments(const RotaryGradTiling *t);

/* Lines that are joined at a time; `unit` of them fill blocks. */
int64_t ascgrad_rotary_contiguous_join(const RotaryGradTiling *t, int64_t unit);

/* Chunks, tiles and the UB for t->levels and t->partial. False: the UB is too small. */
bool ascgrad_rotary_contiguous_cut(RotaryGradTiling *t, int64_t size, int64_t table);

/* What a plan takes, in cycles of the busiest of so many cores, of data in memory and in the L2
 * cache (rotary_cost.c). */
struct rotary_cost {
    int64_t memory, cache;
};
struct rotary_cost ascgrad_rotary_cost(const RotaryGradTiling *t, uint32_t kernel_mode,
                                       int64_t size, int64_t table, int64_t cores);

/* The same for the first generation of the 910 (rotary_910.c), and what it asks beyond. */
ascgrad_result ascgrad_rotary_plan_910(const struct ascgrad_node *node,
                                       const struct rotary_work *work,
                                       const struct ascgrad_chip *chip, RotaryGradTiling *t,
                                       struct ascgrad_launch *launch, struct ascgrad_error *error);
ascgrad_result ascgrad_rotary_check_910(const struct ascgrad_node *node,
                                        const struct rotary_work *work,
                                        struct ascgrad_error *error);

/* Bytes of UB: per element of a tile, per element of the rows of cos at hand, and once. */
struct rotary_needs {
    int64_t tile, cosine, fixed;
};

/* kernel_mode: ROTARY_HALVES and so on; size, table: bytes of an element of dy and of cos. */
struct rotary_needs ascgrad_rotary_needs(RotaryGradTiling *t, uint32_t kernel_mode, int64_t size,
                                         int64_t table);

/* Sets the places and sizes of everything in the UB. */
void ascgrad_rotary_lay_out(RotaryGradTiling *t, uint32_t kernel_mode, int64_t size, int64_t table);

#endif
