/* SPDX-License-Identifier: Apache-2.0
 *
 * The twin's kernel_operator.h: Ascend C for one vector core, on the CPU. A kernel that compiles
 * here compiles with the device's header of the same name; what the chip (A2) does not have does
 * not compile. TWIN_CHECKED 1: every rule is checked; 0: fast. entry.cpp includes this inside a
 * namespace of its own, so the standard headers must come first.
 */
#ifndef TWIN_KERNEL_OPERATOR_H
#define TWIN_KERNEL_OPERATOR_H

#ifndef TWIN_CHECKED
#define TWIN_CHECKED 1
#endif
#ifndef TWIN_STANDARD_HEADERS
#error "compile kernels through twin/entry.cpp"
#endif

#include "ascendc/types.h"
#include "ascendc/tensor.h"
#include "ascendc/pipe.h"
#include "ascendc/lanes.h"
#include "ascendc/vector.h"
#include "ascendc/cast.h"
#include "ascendc/reduce.h"
#include "ascendc/shuffle.h"
#include "ascendc/move.h"
#include "ascendc/system.h"

#endif
