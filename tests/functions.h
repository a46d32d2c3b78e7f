/* SPDX-License-Identifier: Apache-2.0
 *
 * The pure functions of every operator as a table, for tests that call them without GE.
 */
#ifndef ASCGRAD_TESTS_FUNCTIONS_H
#define ASCGRAD_TESTS_FUNCTIONS_H

#include "../core/node.h"

#define ASCGRAD_OP(type, op)                                                                       \
    ascgrad_infer_fn ascgrad_infer_##op;                                                           \
    ascgrad_infer_dtype_fn ascgrad_infer_dtype_##op;                                               \
    ascgrad_tile_fn ascgrad_tile_##op;
#include "ascgrad_ops.inc"
#undef ASCGRAD_OP

static const struct {
    const char *type;
    ascgrad_infer_fn *infer;
    ascgrad_infer_dtype_fn *infer_dtype;
    ascgrad_tile_fn *tile;
} functions[] = {
#define ASCGRAD_OP(type, op)                                                                       \
    {#type, ascgrad_infer_##op, ascgrad_infer_dtype_##op, ascgrad_tile_##op},
#include "ascgrad_ops.inc"
#undef ASCGRAD_OP
};

#endif
