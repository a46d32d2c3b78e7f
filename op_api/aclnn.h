/* SPDX-License-Identifier: Apache-2.0
 *
 * What every aclnn function of this library does. The functions themselves are generated from the
 * IR (generate.py): each describes its operator in a struct aclnn_op and calls aclnn_prepare or
 * aclnn_run.
 */
#ifndef ASCGRAD_ACLNN_H
#define ASCGRAD_ACLNN_H

#include "nnopbase.h"

enum {
    ACLNN_NULL = 161001,      /* a pointer that must not be one is NULL */
    ACLNN_INVALID = 161002,   /* dtype, format, strides */
    ACLNN_INNER = 561000,     /* CANN itself does not do what it should */
    ACLNN_NO_KERNEL = 561003, /* there is no kernel for the call */
};

enum { ACLNN_MAX_TENSORS = 32 }; /* inputs or outputs of one operator */

struct aclnn_arg {
    const char *name;  /* of the parameter */
    bool optional;     /* may be NULL */
    uint32_t in_place; /* of an output: 1 + the input whose memory it may have; 0: none */
};

/* ACLNN_LENGTHS: a list of integers that zeros behind it do not change; ACLNN_STARTS: one that has
 * an entry for each of the lengths, or none, and may be NULL. At most one of each per operator. */
enum aclnn_kind {
    ACLNN_INT,
    ACLNN_BOOL,
    ACLNN_FLOAT,
    ACLNN_LIST,
    ACLNN_FLOATS,
    ACLNN_LENGTHS,
    ACLNN_STARTS,
};

struct aclnn_attr {
    const char *name;
    enum aclnn_kind kind;
};

/* An attribute as the caller gives it, by kind. */
union aclnn_value {
    int64_t i;
    bool b;
    float f;
    const aclIntArray *list;
    const aclFloatArray *floats;
};

struct aclnn_op {
    const char *type, *function; /* "RopeGrad", "aclnnRopeGrad" */
    uint32_t inputs, outputs, attrs;
    const struct aclnn_arg *in, *out;
    const struct aclnn_attr *attr;
    char *in_kinds, *out_kinds, *attr_kinds; /* as nnopbase has them: 1 required, 0 optional */
    struct nnopbase_support *support;        /* the first chip has all columns */
    const char *const *chip_names;
    uint32_t *chip_numbers;
    struct aclnn_state *state;
};

/* What lasts from call to call. The spaces, of executors for calls and of executors that read
 * lists, are NULL until first needed; nnopbase locks what is in them. */
struct aclnn_state {
    void *_Atomic calls, *_Atomic lists;
    struct nnopbase_id prepare_id, tiling_id, run_id;
};

aclnnStatus aclnn_prepare(const struct aclnn_op *op, const aclTensor *const in[],
                          union aclnn_value attr[], const aclTensor *const out[],
                          uint64_t *workspace_size, aclOpExecutor **executor);
aclnnStatus aclnn_run(const struct aclnn_op *op, void *workspace, uint64_t workspace_size,
                      aclOpExecutor *executor, aclrtStream stream);

/* What a call must keep to before nnopbase sees it (check.c). *column gets the call's dtypes. */
aclnnStatus aclnn_check(const struct aclnn_op *op, const aclTensor *const in[],
                        const union aclnn_value attr[], const aclTensor *const out[],
                        const struct nnopbase_column **column);

/* Has it no elements? No gaps? */
bool aclnn_is_empty(const aclTensor *tensor);
bool aclnn_is_dense(const aclTensor *tensor);

/* Tells the sentence "<function>: ..." where CANN shows messages (message.c); returns the code. */
aclnnStatus aclnn_refuse(aclnnStatus code, const struct aclnn_op *op, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Frees what CANN allocated with C++'s new[] (message.c). */
void aclnn_delete_array(void *array);

#endif
