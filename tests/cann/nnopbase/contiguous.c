/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for the two pairs of functions of CANN's libopapi_math.so that the aclnn functions of a
 * package use: aclnnContiguous, which copies tensors with gaps into the workspace, and
 * aclnnInplaceCopy, which copies one tensor into another.
 */
#include "copies.h"

#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

API aclnnStatus aclnnContiguousGetWorkspaceSize(const aclTensorList *tensors, uint64_t *size,
                                                aclOpExecutor **executor);
API aclnnStatus aclnnContiguous(void *workspace, uint64_t size, aclOpExecutor *executor,
                                aclrtStream stream);

API aclnnStatus aclnnContiguousGetWorkspaceSize(const aclTensorList *tensors, uint64_t *size,
                                                aclOpExecutor **executor) {
    struct standin_copies *c = tensors->size <= STANDIN_ARGS ? calloc(1, sizeof *c) : NULL;
    if (!c) {
        return STANDIN_INVALID;
    }
    c->magic = STANDIN_COPIES;
    for (uint64_t i = 0; i < tensors->size; i++) {
        const aclTensor *t = tensors->tensor[i];
        c->tensor[i] = *t;
        c->offset[i] = c->size;
        c->size += ((uint64_t)standin_elements(t) * standin_size(t->dtype) + 511) / 512 * 512;
    }
    c->count = tensors->size;
    *size = c->size;
    *executor = (aclOpExecutor *)c;
    return ACL_SUCCESS;
}

static void copy(char *to, const aclTensor *t) {
    const size_t size = standin_size(t->dtype);
    for (int64_t n = 0; n < standin_elements(t); n++) {
        int64_t rest = n, from = 0;
        for (uint64_t i = t->rank; i-- > 0; rest /= t->dim[i]) {
            from += rest % t->dim[i] * t->stride[i];
        }
        memcpy(to + (size_t)n * size, (const char *)standin_address(t) + from * (int64_t)size,
               size);
    }
}

API aclnnStatus aclnnContiguous(void *workspace, uint64_t size, aclOpExecutor *executor,
                                aclrtStream stream) {
    struct standin_copies *c = (struct standin_copies *)executor;
    (void)stream;
    if (!c || c->magic != STANDIN_COPIES || size < c->size) {
        return STANDIN_INVALID;
    }
    for (uint64_t i = 0; i < c->count; i++) {
        copy((char *)workspace + c->offset[i], &c->tensor[i]);
    }
    if (!c->repeatable) {
        free(c);
    }
    return ACL_SUCCESS;
}

enum { FILL_WORKSPACE = 96 }; /* it asks for some, so that it must be given */

API aclnnStatus aclnnInplaceCopyGetWorkspaceSize(aclTensor *to, const aclTensor *from,
                                                 uint64_t *size, aclOpExecutor **executor);
API aclnnStatus aclnnInplaceCopy(void *workspace, uint64_t size, aclOpExecutor *executor,
                                 aclrtStream stream);

API aclnnStatus aclnnInplaceCopyGetWorkspaceSize(aclTensor *to, const aclTensor *from,
                                                 uint64_t *size, aclOpExecutor **executor) {
    struct standin_fill *f = calloc(1, sizeof *f);
    if (!f || standin_elements(to) != standin_elements(from) || to->dtype != from->dtype) {
        free(f);
        return STANDIN_INVALID;
    }
    *f = (struct standin_fill){STANDIN_FILL, *to, *from};
    *size = FILL_WORKSPACE;
    *executor = (aclOpExecutor *)f;
    return ACL_SUCCESS;
}

API aclnnStatus aclnnInplaceCopy(void *workspace, uint64_t size, aclOpExecutor *executor,
                                 aclrtStream stream) {
    struct standin_fill *f = (struct standin_fill *)executor;
    (void)stream;
    if (!f || f->magic != STANDIN_FILL || size < FILL_WORKSPACE || !f->from.data) {
        return STANDIN_INVALID;
    }
    memset(workspace, 0xa5, FILL_WORKSPACE);
    const size_t bytes = standin_size(f->to.dtype);
    for (int64_t n = 0; n < standin_elements(&f->to); n++) {
        int64_t rest = n, at = 0;
        for (uint64_t i = f->to.rank; i-- > 0; rest /= f->to.dim[i]) {
            at += rest % f->to.dim[i] * f->to.stride[i];
        }
        memcpy((char *)standin_address(&f->to) + at * (int64_t)bytes,
               (const char *)standin_address(&f->from) + n * (int64_t)bytes, bytes);
    }
    free(f);
    return ACL_SUCCESS;
}
