/* SPDX-License-Identifier: Apache-2.0
 *
 * Outputs with gaps. A kernel writes as if there were none, so it gets dense tensors in workspace
 * behind everything else, and CANN's aclnnInplaceCopy takes the results to their places after it,
 * as CANN's own functions do.
 */
#include "gaps.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { ALIGNMENT = 512 };

typedef aclnnStatus copy_size_fn(aclTensor *to, const aclTensor *from, uint64_t *size,
                                 aclOpExecutor **executor);
typedef aclnnStatus copy_fn(void *workspace, uint64_t size, aclOpExecutor *executor,
                            aclrtStream stream);

union api {
    void *object;
    copy_size_fn *size;
    copy_fn *run;
};

struct gap {
    uint32_t index; /* of the output */
    const aclTensor *out;
    aclTensor *dense;
    uint64_t offset;
};

struct aclnn_gaps {
    struct aclnn_gaps *next;
    const void *executor;
    uint32_t count;
    struct gap gap[ACLNN_MAX_TENSORS];
    uint64_t dense, copy; /* bytes: of all dense tensors, of one copy */
};

/* Executors have no room for more than nnopbase knows, so what belongs to one is found by its
 * address. It stays until the executor is prepared anew: a repeatable one runs more than once. */
static struct aclnn_gaps *all;
static atomic_flag busy = ATOMIC_FLAG_INIT;

static void lock(void) {
    while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire)) {
    }
}

static void unlock(void) {
    atomic_flag_clear_explicit(&busy, memory_order_release);
}

static uint64_t aligned(uint64_t size) {
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static aclnnStatus find_copy(const struct aclnn_op *op, const char *name, union api *api) {
    api->object = NnopbaseGetApiFunc(name);
    return api->object ? ACL_SUCCESS
                       : aclnn_refuse(ACLNN_INNER, op,
                                      "an output is not contiguous, and CANN's %s, which fills it, "
                                      "is not found (libopapi_math.so)",
                                      name);
}

void aclnn_gaps_free(struct aclnn_gaps *gaps) {
    for (uint32_t i = 0; gaps && i < gaps->count; i++) {
        aclDestroyTensor(gaps->gap[i].dense);
    }
    free(gaps);
}

/* A tensor of the same shape without gaps, and without memory yet. */
static aclTensor *dense_like(const aclTensor *tensor, uint64_t *bytes) {
    int64_t *dim = NULL;
    uint64_t rank = 0;
    aclDataType type = ACL_DT_UNDEFINED;
    aclTensor *dense = NULL;
    if (aclGetViewShape(tensor, &dim, &rank) == ACL_SUCCESS &&
        aclGetDataType(tensor, &type) == ACL_SUCCESS) {
        dense = aclCreateTensor(dim, rank, type, NULL, 0, ACL_FORMAT_ND, dim, rank, NULL);
        *bytes = type == ACL_FLOAT ? 4 : 2;
        for (uint64_t i = 0; i < rank; i++) {
            *bytes *= (uint64_t)dim[i];
        }
    }
    aclnn_delete_array(dim);
    return dense;
}

aclnnStatus aclnn_gaps_open(const struct aclnn_op *op, const aclTensor *const out[],
                            const aclTensor *given[], struct aclnn_gaps **gaps) {
    *gaps = NULL;
    for (uint32_t i = 0; i < op->outputs; i++) {
        given[i] = out[i];
        if (!out[i] || aclnn_is_dense(out[i])) {
            continue;
        }
        uint64_t bytes = 0;
        if (!*gaps) {
            *gaps = calloc(1, sizeof **gaps);
        }
        aclTensor *dense = *gaps ? dense_like(out[i], &bytes) : NULL;
        if (!dense) {
            aclnn_gaps_free(*gaps);
            *gaps = NULL;
            return aclnn_refuse(ACLNN_INNER, op, "no memory for %s", op->out[i].name);
        }
        given[i] = dense;
        (*gaps)->gap[(*gaps)->count++] = (struct gap){i, out[i], dense, (*gaps)->dense};
        (*gaps)->dense += aligned(bytes);
    }
    return ACL_SUCCESS;
}

aclnnStatus aclnn_gaps_size(const struct aclnn_op *op, struct aclnn_gaps *gaps, uint64_t *size) {
    union api api;
    aclnnStatus code = gaps ? find_copy(op, "aclnnInplaceCopyGetWorkspaceSize", &api) : ACL_SUCCESS;
    for (uint32_t i = 0; code == ACL_SUCCESS && gaps && i < gaps->count; i++) {
        uint64_t one = 0;
        aclOpExecutor *executor = NULL;
        code = api.size((aclTensor *)gaps->gap[i].out, gaps->gap[i].dense, &one, &executor);
        if (executor) {
            aclDestroyAclOpExecutor(executor); /* only its size is wanted */
        }
        gaps->copy = one > gaps->copy ? one : gaps->copy;
    }
    if (code == ACL_SUCCESS && gaps) {
        gaps->copy = aligned(gaps->copy);
        *size = aligned(*size) + gaps->dense + gaps->copy;
    }
    return code;
}

void aclnn_gaps_keep(const void *executor, struct aclnn_gaps *gaps) {
    struct aclnn_gaps *gone = NULL;
    lock();
    for (struct aclnn_gaps **at = &all; *at; at = &(*at)->next) {
        if ((*at)->executor == executor) {
            gone = *at;
            *at = gone->next;
            break;
        }
    }
    if (gaps) {
        gaps->executor = executor;
        gaps->next = all;
        all = gaps;
    }
    unlock();
    aclnn_gaps_free(gone);
}

struct aclnn_gaps *aclnn_gaps_find(const void *executor) {
    lock();
    struct aclnn_gaps *found = all;
    while (found && found->executor != executor) {
        found = found->next;
    }
    unlock();
    return found;
}

aclnnStatus aclnn_gaps_place(const struct aclnn_op *op, struct aclnn_gaps *gaps,
                             aclOpExecutor *executor, void *workspace, uint64_t *size) {
    const uint64_t own = gaps->dense + gaps->copy;
    aclnnStatus code = ACL_SUCCESS;
    if (*size < own) {
        return aclnn_refuse(ACLNN_INVALID, op,
                            "the workspace has %llu bytes, outputs that are not contiguous alone "
                            "need %llu",
                            (unsigned long long)*size, (unsigned long long)own);
    }
    *size = (*size - own) / ALIGNMENT * ALIGNMENT;
    for (uint32_t i = 0; code == ACL_SUCCESS && i < gaps->count; i++) {
        const struct gap *gap = &gaps->gap[i];
        code = aclSetOutputTensorAddr(executor, gap->index, gap->dense,
                                      (char *)workspace + *size + gap->offset);
    }
    return code;
}

aclnnStatus aclnn_gaps_fill(const struct aclnn_op *op, struct aclnn_gaps *gaps, void *rest,
                            aclrtStream stream) {
    union api size, run;
    aclnnStatus code = find_copy(op, "aclnnInplaceCopyGetWorkspaceSize", &size);
    if (code == ACL_SUCCESS) {
        code = find_copy(op, "aclnnInplaceCopy", &run);
    }
    for (uint32_t i = 0; code == ACL_SUCCESS && i < gaps->count; i++) {
        uint64_t need = 0;
        aclOpExecutor *executor = NULL;
        code = size.size((aclTensor *)gaps->gap[i].out, gaps->gap[i].dense, &need, &executor);
        if (code == ACL_SUCCESS && need > gaps->copy) {
            code = ACLNN_INNER;
        }
        if (code == ACL_SUCCESS) {
            code = run.run((char *)rest + gaps->dense, need, executor, stream);
        }
    }
    return code;
}
