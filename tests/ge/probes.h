/* SPDX-License-Identifier: Apache-2.0
 *
 * What the context tests have in common: nodes of the five operators as fake GE gives them, and
 * probes in the place of the operators' functions, which keep what they were shown.
 */
#ifndef ASCGRAD_TEST_PROBES_H
#define ASCGRAD_TEST_PROBES_H

#include "../../ge/context.h"
#include "../cann/registry/fake_ge.h"

enum { FP32 = 0, FP16 = 1, INT32 = 3, BF16 = 27 };

extern char logged[512]; /* the last refusal, from GE's log function */

/* A platform is an array of these, up to a NULL label. */
struct platform_row {
    const char *label, *key, *value;
};
extern const struct platform_row chip_8_1[]; /* Ascend910B1 as CANN 8.1 describes it */

/* What the last probe saw. */
extern struct ascgrad_node seen;
extern struct ascgrad_shape seen_shape[ASCGRAD_MAX_INPUTS];
extern struct ascgrad_shape seen_out_shape[ASCGRAD_MAX_OUTPUTS];
extern int64_t seen_list[8];
extern struct ascgrad_chip seen_chip;

/* Every output has the shape of input 0. Refuses a last dimension that is odd, or that the first
 * two inputs differ in. */
ascgrad_infer_fn probe_infer;
ascgrad_infer_dtype_fn probe_dtype; /* the dtype of input 0; refuses two dtypes */
/* Decides next_launch, hands over payload; needs the first two inputs. */
ascgrad_tile_fn probe_tile;
extern struct ascgrad_launch next_launch;
extern const char payload[24];

/* A compile info as GE passes it: parsed, nothing against it. */
void *ge_compile_info(void);

/* Tiling of the type by probe_tile, in a library without kernel binaries. */
uint32_t call_tiling(struct fake_ge *ge, const char *type);

const struct ascgrad_ir *ir_of(const char *type);

extern const struct fake_node exp_node, rope_node, rpe_node, mul_node, norm_node;
extern const struct fake_attr rope_attr[2], norm_attr[4];
extern struct fake_tensor norm_in[21], norm_out[14];

/* Fills norm_in and norm_out: every second optional input is missing, and each tensor says its own
 * IR index in its first dimension (outputs: 100 + index). A cmocka setup function. */
int make_norm(void **state);

#endif
