/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool failed(const char *what, int code) {
    const char *message = aclGetRecentErrMsg();
    fprintf(stderr, "%s: error %d\n%s", what, code, message ? message : "");
    return false;
}

bool device_begin(aclrtStream *stream) {
    int code = aclInit(NULL);
    if (code != ACL_SUCCESS) {
        return failed("aclInit", code);
    }
    code = aclrtSetDevice(0);
    if (code != ACL_SUCCESS) {
        aclFinalize();
        return failed("aclrtSetDevice", code);
    }
    code = aclrtCreateStream(stream);
    if (code != ACL_SUCCESS) {
        aclrtResetDevice(0);
        aclFinalize();
        return failed("aclrtCreateStream", code);
    }
    return true;
}

void device_end(aclrtStream stream) {
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    aclFinalize();
}

bool tensor_begin(struct tensor *t, int rank, const int64_t *dim) {
    static unsigned number; /* every tensor has other values */
    t->count = 1;
    for (int i = 0; i < rank; i++) {
        t->count *= (size_t)dim[i];
    }
    const size_t bytes = t->count * sizeof *t->host;
    number++;
    t->host = malloc(bytes);
    int code =
        t->host ? aclrtMalloc(&t->device, bytes, ACL_MEM_MALLOC_HUGE_FIRST) : ACL_ERROR_BAD_ALLOC;
    for (size_t i = 0; code == ACL_SUCCESS && i < t->count; i++) {
        t->host[i] = sinf((float)(i * 7 + number * 13));
    }
    if (code == ACL_SUCCESS) {
        code = aclrtMemcpy(t->device, bytes, t->host, bytes, ACL_MEMCPY_HOST_TO_DEVICE);
    }
    if (code == ACL_SUCCESS) { /* no strides: dense */
        t->acl = aclCreateTensor(dim, (uint64_t)rank, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dim,
                                 (uint64_t)rank, t->device);
    }
    if (!t->acl) {
        tensor_end(t);
        return failed("a tensor", code);
    }
    return true;
}

bool tensor_fetch(struct tensor *t) {
    const size_t bytes = t->count * sizeof *t->host;
    const int code = aclrtMemcpy(t->host, bytes, t->device, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
    return code == ACL_SUCCESS || failed("aclrtMemcpy", code);
}

void tensor_end(struct tensor *t) {
    if (t->acl) {
        aclDestroyTensor(t->acl);
    }
    if (t->device) {
        aclrtFree(t->device);
    }
    free(t->host);
    memset(t, 0, sizeof *t);
}

bool finish(const char *name, aclnnStatus code, launch_fn *launch, uint64_t size,
            aclOpExecutor *executor, aclrtStream stream) {
    void *workspace = NULL;
    if (code == ACL_SUCCESS && size > 0) {
        code = aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST);
    }
    if (code == ACL_SUCCESS) {
        code = launch(workspace, size, executor, stream);
    }
    if (code == ACL_SUCCESS) {
        code = aclrtSynchronizeStream(stream);
    }
    if (workspace) {
        aclrtFree(workspace);
    }
    return code == ACL_SUCCESS || failed(name, code);
}

bool agrees(const char *name, struct tensor *t, const double *expected) {
    if (!tensor_fetch(t)) {
        return false;
    }
    for (size_t i = 0; i < t->count; i++) {
        if (!(fabs(t->host[i] - expected[i]) <= 1e-4 * (1 + fabs(expected[i])))) {
            fprintf(stderr, "%s[%zu] is %g, expected %g\n", name, i, (double)t->host[i],
                    expected[i]);
            return false;
        }
    }
    printf("%s: %zu values as expected\n", name, t->count);
    return true;
}
