/* SPDX-License-Identifier: Apache-2.0
 *
 * Executors as nnopbase has them. A space keeps its executors; one that is not taken is used again,
 * one whose preparation failed stays taken.
 */
#include "executor.h"

#include "../registry/fake_ge.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

API aclnnStatus aclnnInit(const char *configPath);
API aclnnStatus aclnnInit(const char *configPath) {
    (void)configPath;
    return ACL_SUCCESS;
}

API aclnnStatus aclnnFinalize(void);
API aclnnStatus aclnnFinalize(void) {
    return ACL_SUCCESS;
}

API aclnnStatus NnopbaseCreateExecutorSpace(void **space) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct space *spaces[64]; /* nnopbase keeps them all */
    static size_t count;
    int code = space ? standin_open_packages() : STANDIN_NULL;
    if (code != 0 || *space) {
        return code;
    }
    struct space *made = calloc(1, sizeof *made);
    if (!made) {
        return STANDIN_NULL;
    }
    pthread_mutex_init(&made->lock, NULL);
    pthread_mutex_lock(&lock);
    if (count < sizeof spaces / sizeof spaces[0]) {
        spaces[count++] = made;
    }
    pthread_mutex_unlock(&lock);
    fake_open = FAKE_AS_MALLOC_GIVES;
    *space = made;
    return ACL_SUCCESS;
}

static struct executor *make_executor(const char *type, const char *inputs, uint32_t input_count,
                                      uint32_t output_count, uint32_t attr_count) {
    if (!standin_has_type(type) || input_count > STANDIN_ARGS || output_count > STANDIN_ARGS ||
        attr_count > STANDIN_ATTRS) {
        return NULL;
    }
    struct executor *e = calloc(1, sizeof *e);
    if (!e) {
        return NULL;
    }
    e->magic = STANDIN_EXECUTOR;
    snprintf(e->type, sizeof e->type, "%s", type);
    e->inputs = input_count;
    e->outputs = output_count;
    e->attrs = attr_count;
    for (uint32_t i = 0; i < input_count; i++) {
        e->required[i] = inputs[i];
        e->optional |= inputs[i] == 0;
    }
    return e;
}

API void *NnopbaseGetExecutor(void *space, const char *type, char *inputs, uint32_t input_count,
                              char *outputs, uint32_t output_count, char *attrs,
                              uint32_t attr_count) {
    struct space *s = space;
    (void)outputs;
    (void)attrs;
    if (!s) {
        return NULL;
    }
    pthread_mutex_lock(&s->lock);
    struct executor *e = s->first;
    while (e && e->taken) {
        e = e->next;
    }
    if (!e) {
        e = make_executor(type, inputs, input_count, output_count, attr_count);
        if (e) {
            e->space = s;
            e->next = s->first;
            s->first = e;
        }
    }
    if (e) {
        e->taken = true;
    }
    pthread_mutex_unlock(&s->lock);
    return e;
}

void standin_give_back(struct executor *e) {
    free(e->tiling);
    if (e->repeatable) {
        free(e->copies);
    }
    e->tiling = NULL;
    e->copies = NULL;
    e->prepared = e->empty = e->repeatable = e->cached = false;
    e->gaps.size = 0;
    memset(e->has_in, 0, sizeof e->has_in);
    memset(e->has_out, 0, sizeof e->has_out);
    memset(e->attr, 0, sizeof e->attr);
    pthread_mutex_lock(&e->space->lock);
    e->taken = false;
    pthread_mutex_unlock(&e->space->lock);
}

API aclnnStatus NnopbaseAddTilingId(void *executor, struct nnopbase_id *id) {
    return executor && id ? ACL_SUCCESS : STANDIN_NULL;
}

/* All plain layouts are ND to nnopbase. */
static void set(aclTensor *to, const aclTensor *from) {
    *to = *from;
    to->format = from->format == ACL_FORMAT_FRACTAL_NZ ? from->format : ACL_FORMAT_ND;
}

API aclnnStatus NnopbaseAddInput(void *executor, const aclTensor *tensor, uint32_t index) {
    struct executor *e = executor;
    if (!e || index >= e->inputs || (!tensor && e->required[index])) {
        return STANDIN_NULL;
    }
    e->has_in[index] = tensor != NULL;
    if (tensor) {
        set(&e->in[index], tensor);
    }
    if (tensor && !standin_contiguous(tensor)) {
        e->gap_index[e->gaps.size] = index;
        e->gap[e->gaps.size++] = tensor;
    }
    return ACL_SUCCESS;
}

API aclnnStatus NnopbaseAddOutput(void *executor, const aclTensor *tensor, uint32_t index) {
    struct executor *e = executor;
    if (!e || index >= e->outputs || !tensor) {
        return STANDIN_NULL;
    }
    e->has_out[index] = true;
    set(&e->out[index], tensor);
    return ACL_SUCCESS;
}

static aclnnStatus add_attr(struct executor *e, size_t index, struct attribute attr) {
    if (!e || !attr.at) {
        return STANDIN_NULL;
    }
    if (index >= e->attrs) {
        return STANDIN_INVALID;
    }
    e->attr[index] = attr;
    return ACL_SUCCESS;
}

API aclnnStatus NnopbaseAddAttrWithDtype(void *executor, void *value, size_t size, size_t index,
                                         enum nnopbase_attr kind) {
    return add_attr(executor, index, (struct attribute){value, size, 0, kind});
}

API aclnnStatus NnopbaseAddArrayAttrWithDtype(void *executor, void *values, size_t count,
                                              size_t size, size_t index, enum nnopbase_attr kind) {
    return add_attr(executor, index, (struct attribute){values, count * size, size, kind});
}

API aclnnStatus NnopbaseAddIntArrayAttr(void *executor, const aclIntArray *array, size_t index) {
    /* without values there is no address, which is an error */
    return array && array->size
               ? NnopbaseAddArrayAttrWithDtype(executor, array->value, array->size,
                                               sizeof *array->value, index, NNOPBASE_INT)
               : STANDIN_NULL;
}

API aclnnStatus NnopbaseAddFloatArrayAttr(void *executor, const aclFloatArray *array,
                                          size_t index) {
    return array ? NnopbaseAddArrayAttrWithDtype(executor, array->value, array->size,
                                                 sizeof *array->value, index, NNOPBASE_FLOAT)
                 : STANDIN_NULL;
}

API aclnnStatus NnopbaseGetAttrAddr(void *executor, size_t index, void **value, size_t *size) {
    struct executor *e = executor;
    if (!e || index >= e->attrs || !e->attr[index].at) {
        return STANDIN_NULL;
    }
    *value = (void *)(uintptr_t)e->attr[index].at;
    *size = e->attr[index].size;
    return ACL_SUCCESS;
}

API aclnnStatus NnopbaseAddSupportList(void *executor, struct nnopbase_support *list,
                                       uint32_t *chips, size_t count) {
    return executor && list && chips && list->chips == count ? ACL_SUCCESS : STANDIN_NULL;
}

API aclnnStatus NnopbaseAddSocNameList(void *executor, struct nnopbase_support *list,
                                       const char *const *names, size_t count) {
    return executor && list && names && list->chips == count ? ACL_SUCCESS : STANDIN_NULL;
}

API aclnnStatus NnopbaseAddParamName(void *executor, uint32_t index, const char *name, bool input) {
    struct executor *e = executor;
    return e && name && index < (input ? e->inputs : e->outputs) ? ACL_SUCCESS : STANDIN_NULL;
}

API uint64_t NnopbaseMsprofSysTime(void) {
    return 0;
}

API void NnopbaseReportApiInfo(uint64_t begin, struct nnopbase_id *id) {
    (void)begin;
    __atomic_store_n(&id->registered, true, __ATOMIC_RELAXED);
}

API aclnnStatus NnopbaseGetUnContiguousTensors(void *executor, const aclTensorList **tensors) {
    struct executor *e = executor;
    if (!e || !tensors) {
        return STANDIN_NULL;
    }
    e->gaps.tensor = e->gap;
    *tensors = e->gaps.size > 0 ? &e->gaps : NULL;
    return ACL_SUCCESS;
}

API aclnnStatus NnopbaseSetUnContExecutor(void *executor, aclOpExecutor *copies, size_t size) {
    struct executor *e = executor;
    if (!e || !copies) {
        return STANDIN_NULL;
    }
    e->copies = (struct standin_copies *)copies;
    e->copies_size = size;
    memcpy(e->copy_offset, e->copies->offset, sizeof e->copy_offset);
    return ACL_SUCCESS;
}

API aclnnStatus NnopbaseGetUnContExecutor(void *executor, aclOpExecutor **copies, size_t *size) {
    struct executor *e = executor;
    if (!e || !copies || !size) {
        return STANDIN_NULL;
    }
    *copies = (aclOpExecutor *)e->copies;
    *size = e->copies ? e->copies_size : 0;
    return ACL_SUCCESS;
}

API void *NnopbaseGetApiFunc(const char *name) {
    static void *_Atomic library;
    if (!library) {
        library = dlopen("libopapi_math.so", RTLD_LAZY);
    }
    return library && name ? dlsym(library, name) : NULL;
}

API aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor *executor) {
    struct executor *e = (struct executor *)executor;
    if (!e || e->magic != STANDIN_EXECUTOR || !e->taken) {
        return STANDIN_NULL;
    }
    e->repeatable = true;
    if (e->copies) {
        e->copies->repeatable = true;
    }
    return ACL_SUCCESS;
}

API aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor *executor) {
    struct executor *e = (struct executor *)executor;
    if (e && *(const uint64_t *)executor == STANDIN_FILL) {
        free(executor);
        return ACL_SUCCESS;
    }
    if (!e || e->magic != STANDIN_EXECUTOR || !e->taken) {
        return STANDIN_NULL;
    }
    standin_give_back(e);
    return ACL_SUCCESS;
}

API aclnnStatus aclSetInputTensorAddr(aclOpExecutor *executor, const size_t index,
                                      aclTensor *tensor, void *addr) {
    struct executor *e = (struct executor *)executor;
    if (!e || !tensor || index >= e->inputs || !e->has_in[index]) {
        return STANDIN_NULL;
    }
    tensor->data = e->in[index].data = addr;
    return ACL_SUCCESS;
}

API aclnnStatus aclSetOutputTensorAddr(aclOpExecutor *executor, const size_t index,
                                       aclTensor *tensor, void *addr) {
    struct executor *e = (struct executor *)executor;
    if (!e || !tensor || index >= e->outputs) {
        return STANDIN_NULL;
    }
    tensor->data = e->out[index].data = addr;
    return ACL_SUCCESS;
}
