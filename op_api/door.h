/* SPDX-License-Identifier: Apache-2.0
 *
 * What every aclnn function of this library does. The functions themselves are generated from the
 * IR (generate.py): each describes its operator in a struct door_op and calls door_prepare or
 * door_run.
 */
#ifndef ASCGRAD_DOOR_H
#define ASCGRAD_DOOR_H

#include "nnopbase.h"

enum {
    DOOR_NULL = 161001,      /* a pointer that must not be one is NULL */
    DOOR_INVALID = 161002,   /* dtype, format, strides */
    DOOR_INNER = 561000,     /* CANN itself does not do what it should */
    DOOR_NO_KERNEL = 561003, /* there is no kernel for the call */
};

enum { DOOR_MAX_TENSORS = 32 }; /* inputs or outputs of one operator */

struct door_arg {
    const char *name; /* of the parameter */
    bool optional;    /* may be NULL */
};

/* DOOR_LENGTHS: a list of integers that zeros behind it do not change; at most one per operator. */
enum door_kind { DOOR_INT, DOOR_BOOL, DOOR_FLOAT, DOOR_LIST, DOOR_FLOATS, DOOR_LENGTHS };

struct door_attr {
    const char *name;
    enum door_kind kind;
};

/* An attribute as the caller gives it, by kind. */
union door_value {
    int64_t i;
    bool b;
    float f;
    const aclIntArray *list;
    const aclFloatArray *floats;
};

struct door_op {
    const char *type, *function; /* "RopeGrad", "aclnnRopeGrad" */
    uint32_t inputs, outputs, attrs;
    const struct door_arg *in, *out;
    const struct door_attr *attr;
    char *in_kinds, *out_kinds, *attr_kinds; /* as nnopbase has them: 1 required, 0 optional */
    struct nnopbase_support *support;        /* the first chip has all columns */
    const char *const *chip_names;
    uint32_t *chip_numbers;
    struct door_state *state;
};

/* What lasts from call to call. The spaces, of executors for calls and of executors that read
 * lists, are NULL until first needed; nnopbase locks what is in them. */
struct door_state {
    void *_Atomic calls, *_Atomic lists;
    struct nnopbase_id prepare_id, tiling_id, run_id;
};

aclnnStatus door_prepare(const struct door_op *op, const aclTensor *const in[],
                         union door_value attr[], const aclTensor *const out[],
                         uint64_t *workspace_size, aclOpExecutor **executor);
aclnnStatus door_run(const struct door_op *op, void *workspace, uint64_t workspace_size,
                     aclOpExecutor *executor, aclrtStream stream);

/* What a call must keep to before nnopbase sees it (check.c). *column gets the call's dtypes. */
aclnnStatus door_check(const struct door_op *op, const aclTensor *const in[],
                       const union door_value attr[], const aclTensor *const out[],
                       const struct nnopbase_column **column);

/* Has it no elements? No gaps? */
bool door_is_empty(const aclTensor *tensor);
bool door_is_dense(const aclTensor *tensor);

/* Tells the sentence "<function>: ..." where CANN shows messages (message.c); returns the code. */
aclnnStatus door_refuse(aclnnStatus code, const struct door_op *op, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Frees what CANN allocated with C++'s new[] (message.c). */
void door_delete_array(void *array);

#endif
