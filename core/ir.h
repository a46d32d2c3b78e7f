/* SPDX-License-Identifier: Apache-2.0
 *
 * The IR of the operators as a C table. The table itself is generated at build time from
 * op_proto/inc/ascgrad_ops.h (irdump), so it cannot differ from what REG_OP registers.
 */
#ifndef ASCGRAD_GE_IR_H
#define ASCGRAD_GE_IR_H

#include "node.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ascgrad_ir_arg {
    const char *name;
    bool optional;
    const char *types; /* "fp16,fp32,bf16" or "fp32" */
};

struct ascgrad_ir_attr {
    const char *name;
    enum ascgrad_attr_kind kind;
    bool required;
    int64_t initial; /* default of an optional int or bool; lists have none */
};

struct ascgrad_ir {
    const char *type;   /* "ExpSegsumGrad" */
    const char *kernel; /* "exp_segsum_grad": file, launcher and entry point */
    uint32_t inputs, outputs, attrs;
    struct ascgrad_ir_arg in[ASCGRAD_MAX_INPUTS];
    struct ascgrad_ir_arg out[ASCGRAD_MAX_OUTPUTS];
    struct ascgrad_ir_attr attr[ASCGRAD_MAX_ATTRS];
};

extern const struct ascgrad_ir ascgrad_ir_table[];
extern const uint32_t ascgrad_ir_count;

#ifdef __cplusplus
}
#endif
#endif
