/* SPDX-License-Identifier: Apache-2.0
 *
 * Between GE's contexts and our node: reading one into the other, and GE's calls in terms of an
 * operator's pure functions. Each call returns GE_SUCCESS, or GE_FAILED after logging one sentence.
 */
#ifndef ASCGRAD_GE_CONTEXT_H
#define ASCGRAD_GE_CONTEXT_H

#include "../core/node.h"
#include "layout.h"

/* Which shape of an input slot the node should show. */
enum ascgrad_shape_of {
    ASCGRAD_NO_SHAPES,      /* dtype inference: the slots hold dtypes */
    ASCGRAD_ORIGIN_SHAPES,  /* shape inference: the shape the graph was written with */
    ASCGRAD_STORAGE_SHAPES, /* tiling: the shape that lies in memory; slots of the outputs follow */
    ASCGRAD_MIN_SHAPES,     /* shape range inference */
    ASCGRAD_MAX_SHAPES,
};

/* Fills the node, with pointers into the context. Refuses a context that contradicts the IR or
 * itself. */
ascgrad_result ascgrad_read_context(const struct ge_context *context, const struct ascgrad_ir *ir,
                                    enum ascgrad_shape_of shapes, struct ascgrad_node *node,
                                    struct ascgrad_error *error);

/* The slot of an input or output of the context, or NULL. */
struct ge_slot *ascgrad_input_slot(const struct ge_context *context, uint64_t index);
struct ge_slot *ascgrad_output_slot(const struct ge_context *context, uint64_t index);

/* The slot among the outputs that belongs to IR output `output`, or NULL if the node does not have
 * it. */
struct ge_slot *ascgrad_ir_output_slot(const struct ge_context *context, uint32_t output);

uint32_t ascgrad_ge_infer_shape(struct ge_context *context, const struct ascgrad_ir *ir,
                                ascgrad_infer_fn *infer);
uint32_t ascgrad_ge_infer_shape_range(struct ge_context *context, const struct ascgrad_ir *ir,
                                      ascgrad_infer_fn *infer);
uint32_t ascgrad_ge_infer_dtype(struct ge_context *context, const struct ascgrad_ir *ir,
                                ascgrad_infer_dtype_fn *infer_dtype);
/* chips: for which chips kernel binaries of the type are installed, comma-separated, as the
 * installer wrote them into the library's own bytes (registry.c); ASCGRAD_CHIPS of them. */
enum { ASCGRAD_CHIPS = 128 };
uint32_t ascgrad_ge_tiling(struct ge_context *context, const struct ascgrad_ir *ir,
                           ascgrad_tile_fn *tile, const volatile char *chips);

/* guard.c: the compile info, and whether the kernel that asks for tiling is ours. The guard takes a
 * context that ascgrad_read_context has accepted, and its platform, not NULL. */
uint32_t ascgrad_ge_tiling_parse(struct ge_context *context);
void *ascgrad_ge_compile_info_new(void); /* NULL: out of memory, which callers take for a failure */
void ascgrad_ge_compile_info_delete(void *compile_info);
ascgrad_result ascgrad_guard(const struct ge_context *context, const struct ascgrad_node *node,
                             void *platform, const volatile char *chips,
                             struct ascgrad_error *error);

bool ascgrad_asked_by_aclnn(const struct ge_context *context);

/* Where refusals go: GE's log and error message if there is a GE, else stderr. */
void ascgrad_log(const char *sentence);
uint32_t ascgrad_ge_fail(const struct ascgrad_error *error); /* logs, returns GE_FAILED */

#endif
