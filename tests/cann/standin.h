/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of the stand-in know of each other. libnnopbase.so here does what CANN's does for
 * the functions of an operator package: finds packages, their tiling functions and the index of
 * their kernels, makes the key of a call, asks tiling, launches. The launch runs the kernel on the
 * twin, with the tiling data that tiling gave.
 */
#ifndef ASCGRAD_STANDIN_H
#define ASCGRAD_STANDIN_H

#include "../../ge/layout.h"
#include "../../core/log.h"
#include "../../op_api/nnopbase.h"

enum { STANDIN_RANK = 8, STANDIN_ARGS = 32, STANDIN_ATTRS = 8 };

enum {
    STANDIN_NULL = 161001,
    STANDIN_INVALID = 161002,
    STANDIN_NO_INDEX = 361001,
    STANDIN_TILING = 561002,
    STANDIN_NO_KERNEL = 561003,
    STANDIN_LAUNCH = 361001,
};

struct aclTensor {
    uint64_t rank;
    int64_t dim[STANDIN_RANK], stride[STANDIN_RANK], offset;
    uint64_t storage_rank;
    int64_t storage[STANDIN_RANK];
    aclDataType dtype;
    aclFormat format;
    void *data;
};

struct aclTensorList {
    const aclTensor **tensor;
    uint64_t size;
};

struct aclIntArray {
    int64_t *value;
    uint64_t size;
};

struct aclFloatArray {
    float *value;
    uint64_t size;
};

static inline size_t standin_size(aclDataType type) {
    switch (type) {
    case ACL_BOOL:
    case ACL_INT8:
    case ACL_UINT8:
        return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16:
        return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
        return 4;
    case ACL_DOUBLE:
    case ACL_INT64:
    case ACL_UINT64:
    case ACL_COMPLEX64:
        return 8;
    case ACL_COMPLEX128:
        return 16;
    default:
        return 0;
    }
}

static inline int64_t standin_elements(const aclTensor *t) {
    int64_t n = 1;
    for (uint64_t i = 0; i < t->rank; i++) {
        n *= t->dim[i];
    }
    return n;
}

static inline void *standin_address(const aclTensor *t) {
    return t->data ? (char *)t->data + t->offset * (int64_t)standin_size(t->dtype) : NULL;
}

bool standin_contiguous(const aclTensor *t);

/* libascendcl.so */
int32_t standin_report(const char *code, const char *format, ...) __asm__(CANN_REPORT_2026)
    __attribute__((format(printf, 2, 3)));
int standin_deterministic(void);
uint32_t standin_core_limit(void);
void standin_advance(double us); /* the device's clock */
/* Was there another launch since so much was written that the L2 holds nothing else? To be asked
 * once per launch. */
bool standin_again(void);

/* What ASCGRAD_STANDIN_FAULT=KIND:TYPE:BYTES plants into launches of a type whose first input has
 * so many bytes: is it this kind? */
bool standin_fault(const char *kind, const char *type, uint64_t bytes);

/* packages.c: where a type's kernel and tiling come from. Filled once, then only read. */
struct standin_kernel {
    char *type, *key; /* as in the index */
    char *path;       /* of the .o */
    size_t room;      /* opParaSize: for tiling data */
    uint64_t *tiling_key;
    size_t keys;
    struct standin_kernel *next;
};

int standin_open_packages(void); /* 0, or a code */
bool standin_has_type(const char *type);
const struct standin_kernel *standin_find_kernel(const char *type, const char *key);
const struct ge_op_functions *standin_find_tiling(const char *type);

/* launch.c: the chip, and a kernel on it. */
struct standin_row {
    const char *label, *key, *value;
};
const struct standin_row *standin_platform(void); /* NULL: there is no such chip */
const char *standin_chip(void);                   /* short, "ascend910b", or NULL */

struct standin_launch {
    const struct standin_kernel *kernel;
    const char *type;
    uint32_t inputs, outputs;
    const char *name[2 * STANDIN_ARGS];
    void *data[2 * STANDIN_ARGS];
    uint64_t bytes[2 * STANDIN_ARGS];
    int32_t dtype[2 * STANDIN_ARGS]; /* -1: absent */
    uint64_t key, workspace;
    uint32_t block_dim;
    bool all_at_once;
    const void *tiling;
    size_t tiling_bytes;
};
int standin_launch(const struct standin_launch *launch);

#endif
