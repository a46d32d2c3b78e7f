/* SPDX-License-Identifier: Apache-2.0
 *
 * When loads go past the L2 cache, for all operators that read their inputs once: where the inputs
 * have more bytes than kept_in_l2 says.
 */
#ifndef ASCGRAD_OP_TILING_L2_H
#define ASCGRAD_OP_TILING_L2_H

#include "../core/node.h"

/* Where the inputs exceed the L2, what is left of them there is little, and what a load leaves
 * there drives out results: asc-devkit's Add sample (268 MB in, 134 MB out, an L2 of 192 MB) takes
 * 264 us through the L2 and 188 us past it, on a 950 248 and 182. Below that size what the operator
 * before has written may still be there: CANN's TensorMove of 67 MB takes 15 us then, from memory
 * 52 (vTriton, 910B3). Nobody has measured what going past the L2 costs where the data are in it.
 */
static inline int64_t kept_in_l2(const struct ascgrad_chip *chip) {
    const int64_t usual = 192 << 20; /* A2 and A3, if the platform does not say */
    return chip->l2 > 0 ? (int64_t)chip->l2 : usual;
}

#endif
