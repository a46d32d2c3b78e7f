/* SPDX-License-Identifier: Apache-2.0
 *
 * The IR of the operators as a C table: the names, order, kinds and defaults of everything an
 * operator has. The table itself is generated at build time from op_proto/inc/ascgrad_ops.h
 * (irdump), so it cannot differ from what REG_OP registers.
 */
#ifndef ASCGRAD_CORE_IR_H
#define ASCGRAD_CORE_IR_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A shape of GE holds 25 dimensions. Its kernel compiler takes no tensor of more than 8, so the
 * operators refuse these by themselves. The rest is room for the largest operator; irdump refuses a
 * larger one. */
enum {
    ASCGRAD_MAX_RANK = 25,
    ASCGRAD_MOST_DIMS = 8,
    ASCGRAD_MAX_INPUTS = 21,
    ASCGRAD_MAX_OUTPUTS = 14,
    ASCGRAD_MAX_ATTRS = 8,
};

struct ascgrad_ir_arg {
    const char *name;
    bool optional;
    /* "fp16,fp32,bf16,fp16": a column of dtypes is entry i of every argument's list */
    const char *types;
    uint32_t in_place; /* of an output: 1 + the input whose memory it may have; 0: none */
};

enum ascgrad_attr_kind {
    ASCGRAD_ATTR_INT,
    ASCGRAD_ATTR_BOOL,
    ASCGRAD_ATTR_FLOAT,
    ASCGRAD_ATTR_LIST_INT,
    ASCGRAD_ATTR_LIST_FLOAT,
};

/* As in the JSON of irdump, in ops-info and in ascgrad.h. */
static inline const char *ascgrad_attr_kind_name(enum ascgrad_attr_kind kind) {
    static const char *const names[] = {"int", "bool", "float", "listInt", "listFloat"};
    return names[kind];
}

struct ascgrad_ir_attr {
    const char *name;
    enum ascgrad_attr_kind kind;
    bool required;
    int64_t initial; /* default of an optional int or bool */
    float initial_f; /* of a float; lists are empty */
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
