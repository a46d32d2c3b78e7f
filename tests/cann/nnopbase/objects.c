/* SPDX-License-Identifier: Apache-2.0
 *
 * The objects that aclnn functions take: tensors, lists of tensors, lists of integers.
 */
#include "../standin.h"

#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

/* new[] and delete[], because callers release what they get with delete[]. */
extern void *new_array(size_t size) __asm__("_Znam");

static bool known(const int64_t *dim, uint64_t rank) {
    bool good = rank <= STANDIN_RANK && (dim || rank == 0);
    for (uint64_t i = 0; good && i < rank; i++) {
        good = dim[i] >= 0;
    }
    return good;
}

API aclTensor *aclCreateTensor(const int64_t *viewDims, uint64_t viewDimsNum, aclDataType dataType,
                               const int64_t *stride, int64_t offset, aclFormat format,
                               const int64_t *storageDims, uint64_t storageDimsNum,
                               void *tensorData) {
    aclTensor *t = known(viewDims, viewDimsNum) && known(storageDims, storageDimsNum) && offset >= 0
                       ? calloc(1, sizeof *t)
                       : NULL;
    if (!t) {
        return NULL;
    }
    t->rank = viewDimsNum;
    t->storage_rank = storageDimsNum;
    t->offset = offset;
    t->dtype = dataType;
    t->format = format;
    t->data = tensorData;
    int64_t next = 1;
    for (uint64_t i = viewDimsNum; i-- > 0;) {
        t->dim[i] = viewDims[i];
        t->stride[i] = stride ? stride[i] : next;
        next *= viewDims[i];
    }
    for (uint64_t i = 0; i < storageDimsNum; i++) {
        t->storage[i] = storageDims[i];
    }
    return t;
}

API aclnnStatus aclDestroyTensor(const aclTensor *tensor) {
    free((void *)(uintptr_t)tensor);
    return ACL_SUCCESS;
}

bool standin_contiguous(const aclTensor *t) {
    int64_t next = 1;
    if (standin_elements(t) <= 1) {
        return true;
    }
    for (uint64_t i = t->rank; i-- > 0; next *= t->dim[i]) {
        if (t->dim[i] != 1 && t->stride[i] != next) {
            return false;
        }
    }
    return true;
}

static aclnnStatus copy_out(const int64_t *from, uint64_t count, int64_t **to, uint64_t *size) {
    if (!from || !to || !size) {
        return STANDIN_NULL;
    }
    *size = count;
    *to = new_array(count * sizeof **to);
    memcpy(*to, from, count * sizeof **to);
    return ACL_SUCCESS;
}

API aclnnStatus aclGetViewShape(const aclTensor *tensor, int64_t **viewDims,
                                uint64_t *viewDimsNum) {
    return copy_out(tensor ? tensor->dim : NULL, tensor ? tensor->rank : 0, viewDims, viewDimsNum);
}

API aclnnStatus aclGetViewStrides(const aclTensor *tensor, int64_t **stridesValue,
                                  uint64_t *stridesNum) {
    return copy_out(tensor ? tensor->stride : NULL, tensor ? tensor->rank : 0, stridesValue,
                    stridesNum);
}

API aclnnStatus aclGetStorageShape(const aclTensor *tensor, int64_t **storageDims,
                                   uint64_t *storageDimsNum) {
    return copy_out(tensor ? tensor->storage : NULL, tensor ? tensor->storage_rank : 0, storageDims,
                    storageDimsNum);
}

API aclnnStatus aclGetViewOffset(const aclTensor *tensor, int64_t *offset) {
    if (!tensor || !offset) {
        return STANDIN_NULL;
    }
    *offset = tensor->offset;
    return ACL_SUCCESS;
}

API aclnnStatus aclGetRawTensorAddr(const aclTensor *tensor, void **addr) {
    if (!tensor || !addr) {
        return STANDIN_NULL;
    }
    *addr = tensor->data;
    return ACL_SUCCESS;
}

API aclnnStatus aclGetFormat(const aclTensor *tensor, aclFormat *format) {
    if (!tensor || !format) {
        return STANDIN_NULL;
    }
    *format = tensor->format;
    return ACL_SUCCESS;
}

API aclnnStatus aclGetDataType(const aclTensor *tensor, aclDataType *dataType) {
    if (!tensor || !dataType) {
        return STANDIN_NULL;
    }
    *dataType = tensor->dtype;
    return ACL_SUCCESS;
}

/* Memory for `size` values, with a copy of them; NULL if there is nothing to copy from. */
static void *copy_of(const void *value, uint64_t size, size_t each) {
    void *copy = value || size == 0 ? malloc(size ? size * each : 1) : NULL;
    if (copy && size) {
        memcpy(copy, value, size * each);
    }
    return copy;
}

API aclIntArray *aclCreateIntArray(const int64_t *value, uint64_t size) {
    const aclIntArray made = {copy_of(value, size, sizeof *value), size};
    return made.value ? copy_of(&made, 1, sizeof made) : NULL;
}

API aclnnStatus aclDestroyIntArray(const aclIntArray *array) {
    free(array ? array->value : NULL);
    free((void *)(uintptr_t)array);
    return ACL_SUCCESS;
}

API aclFloatArray *aclCreateFloatArray(const float *value, uint64_t size) {
    const aclFloatArray made = {copy_of(value, size, sizeof *value), size};
    return made.value ? copy_of(&made, 1, sizeof made) : NULL;
}

API aclnnStatus aclDestroyFloatArray(const aclFloatArray *array) {
    free(array ? array->value : NULL);
    free((void *)(uintptr_t)array);
    return ACL_SUCCESS;
}

API aclnnStatus aclGetIntArraySize(const aclIntArray *array, uint64_t *size) {
    if (!array || !size) {
        return STANDIN_NULL;
    }
    *size = array->size;
    return ACL_SUCCESS;
}

API aclTensorList *aclCreateTensorList(const aclTensor *const *value, uint64_t size) {
    const aclTensorList made = {copy_of(value, size, sizeof *value), size};
    return made.tensor ? copy_of(&made, 1, sizeof made) : NULL;
}

/* The tensors of a list go with it. */
API aclnnStatus aclDestroyTensorList(const aclTensorList *array) {
    for (uint64_t i = 0; array && i < array->size; i++) {
        aclDestroyTensor(array->tensor[i]);
    }
    if (array) {
        free(array->tensor);
        free((void *)(uintptr_t)array);
    }
    return ACL_SUCCESS;
}
