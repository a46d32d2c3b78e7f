/* SPDX-License-Identifier: Apache-2.0
 *
 * The two halves of the rotary tiling: rotary_tiling.c checks the node, rotary_plan.c cuts
 * up the work.
 */
#ifndef ASCGRAD_OP_TILING_ROTARY_H
#define ASCGRAD_OP_TILING_ROTARY_H

#include "../core/node.h"
#include "../op_kernel/rotary_grad_tiling_data.h"
#include "arith.h"

enum rotary_mode { HALF = 0, INTERLEAVE = 1, QUARTER = 2, INTERLEAVE_HALF = 3 };

/* The leading axes of dy: kept ones (cos has the same size) and summed ones (cos has 1) in turn,
 * neighbours of one kind merged, axes of size 1 gone. */
struct rotary_axes {
    int64_t k0, r0, k1, r1;
};

/* Fills everything but zeros, for rows of d elements of `size` bytes; t->with_x is given. Returns
 * the kernel's mode. */
uint32_t ascgrad_rotary_plan(RotaryGradTiling *t, enum rotary_mode mode,
                             const struct rotary_axes *axes, int64_t d, int64_t size);

#endif
