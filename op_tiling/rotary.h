/* SPDX-License-Identifier: Apache-2.0
 *
 * The two halves of the rotary tiling: rotary_tiling.c checks the node, rotary_plan_tiling.c cuts
 * up the work.
 */
#ifndef ASCGRAD_OP_TILING_ROTARY_H
#define ASCGRAD_OP_TILING_ROTARY_H

#include "../core/node.h"
#include "../op_kernel/rotary_grad_tiling_data.h"

enum { ROTARY_UB = 196352 }; /* what a kernel may use on A2, the smallest of the supported chips */

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

static inline int64_t rotary_least(int64_t a, int64_t b) {
    return a < b ? a : b;
}
static inline int64_t rotary_most(int64_t a, int64_t b) {
    return a > b ? a : b;
}
static inline int64_t rotary_divide_up(int64_t a, int64_t b) {
    return a / b + (a % b != 0);
}

#endif
