/* SPDX-License-Identifier: Apache-2.0
 *
 * What the example programs have in common: a device with a stream, fp32 tensors on it, and the
 * comparison with what a formula says. Every function cleans up after itself if it fails.
 */
#ifndef ASCGRAD_EXAMPLE_DEVICE_H
#define ASCGRAD_EXAMPLE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/acl.h"
#include "ascgrad_acl.h"

bool device_begin(aclrtStream *stream);
void device_end(aclrtStream stream);

struct tensor {
    aclTensor *acl;
    void *device;
    float *host; /* what was put on the device; after tensor_fetch what is there */
    size_t count;
};

/* A dense tensor with values between -1 and 1. All-zero before the call; after a failure too. */
bool tensor_begin(struct tensor *t, int rank, const int64_t *dim);
bool tensor_fetch(struct tensor *t);
void tensor_end(struct tensor *t);

/* The second half of an aclnn function. */
typedef aclnnStatus launch_fn(void *workspace, uint64_t size, aclOpExecutor *executor,
                              aclrtStream stream);

/* After the first half, whose answer is `code`: workspace, launch, and wait. */
bool finish(const char *name, aclnnStatus code, launch_fn *launch, uint64_t size,
            aclOpExecutor *executor, aclrtStream stream);

/* Whether the tensor, fetched, is what was expected; says so if it is not. */
bool agrees(const char *name, struct tensor *t, const double *expected);

#endif
