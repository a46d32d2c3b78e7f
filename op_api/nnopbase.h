/* SPDX-License-Identifier: Apache-2.0
 *
 * What libnnopbase.so offers to the aclnn functions of an operator package: the functions that
 * CANN's own generated code calls. They are C functions without a public header. Names and types
 * are the same in CANN 8.1 and in 2026; what 8.1 lacks is a weak reference.
 */
#ifndef ASCGRAD_NNOPBASE_H
#define ASCGRAD_NNOPBASE_H

#include "include/ascgrad_acl.h"

struct nnopbase_id { /* of a function in the profiler */
    uint32_t id;
    const char *function;
    bool registered;
};

struct nnopbase_tensor {
    int32_t dtype, format;
};

struct nnopbase_column { /* one combination of dtypes */
    struct nnopbase_tensor *in;
    size_t inputs;
    struct nnopbase_tensor *out;
    size_t outputs;
};

struct nnopbase_chip {
    struct nnopbase_column *column;
    size_t columns;
};

struct nnopbase_support {
    struct nnopbase_chip *chip;
    size_t chips;
};

enum nnopbase_attr { NNOPBASE_BOOL = 0, NNOPBASE_FLOAT = 1, NNOPBASE_INT = 2 };

#define WEAK __attribute__((weak))

aclnnStatus NnopbaseCreateExecutorSpace(void **space);
void *NnopbaseGetExecutor(void *space, const char *type, char *inputs, uint32_t input_count,
                          char *outputs, uint32_t output_count, char *attrs, uint32_t attr_count);
aclnnStatus NnopbaseAddTilingId(void *executor, struct nnopbase_id *id);
aclnnStatus NnopbaseAddInput(void *executor, const aclTensor *tensor, uint32_t index);
aclnnStatus NnopbaseAddOutput(void *executor, const aclTensor *tensor, uint32_t index);
aclnnStatus NnopbaseAddAttrWithDtype(void *executor, void *value, size_t size, size_t index,
                                     enum nnopbase_attr kind);
aclnnStatus NnopbaseAddIntArrayAttr(void *executor, const aclIntArray *array, size_t index);
aclnnStatus NnopbaseAddFloatArrayAttr(void *executor, const aclFloatArray *array, size_t index);
aclnnStatus NnopbaseAddArrayAttrWithDtype(void *executor, void *values, size_t count, size_t size,
                                          size_t index, enum nnopbase_attr kind);
aclnnStatus NnopbaseGetAttrAddr(void *executor, size_t index, void **value, size_t *size);
aclnnStatus NnopbaseAddSupportList(void *executor, struct nnopbase_support *list, uint32_t *chips,
                                   size_t count);
aclnnStatus NnopbaseRunForWorkspace(void *executor, uint64_t *size);
aclnnStatus NnopbaseRunWithWorkspace(void *executor, aclrtStream stream, void *workspace,
                                     uint64_t size);
uint64_t NnopbaseMsprofSysTime(void);
void NnopbaseReportApiInfo(uint64_t begin, struct nnopbase_id *id);

/* Inputs that are not contiguous: which they are, and an executor that copies them. */
aclnnStatus NnopbaseGetUnContiguousTensors(void *executor, const aclTensorList **tensors);
aclnnStatus NnopbaseSetUnContExecutor(void *executor, aclOpExecutor *copy, size_t size);
aclnnStatus NnopbaseGetUnContExecutor(void *executor, aclOpExecutor **copy, size_t *size);
void *NnopbaseGetApiFunc(const char *name);

aclnnStatus NnopbaseAddParamName(void *executor, uint32_t index, const char *name, bool input) WEAK;
aclnnStatus NnopbaseAddSocNameList(void *executor, struct nnopbase_support *list,
                                   const char *const *names, size_t count) WEAK;

/* A cache of launches, by all that the executor was given since the flag was set. */
void NnopbaseSetMatchArgsFlag(void *executor) WEAK;
bool NnopbaseMatchArgs(void *executor, uint64_t *size) WEAK;

#endif
