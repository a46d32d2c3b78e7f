/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of accept_aclnn share: functions of acl, by the names that acl gives them, and how
 * a failed one is told. No header of the toolkit is needed.
 */
#ifndef ASCGRAD_ACCEPT_RUN_H
#define ASCGRAD_ACCEPT_RUN_H

#include "wire.h"

typedef struct aclTensor aclTensor;
typedef struct aclIntArray aclIntArray;
typedef struct aclFloatArray aclFloatArray;

enum { HUGE_FIRST = 0, TO_DEVICE = 1, TO_HOST = 2 };

struct acl {
    int (*aclInit)(const char *);
    int (*aclrtSetDevice)(int32_t);
    int (*aclrtCreateStream)(void **);
    int (*aclrtSynchronizeStream)(void *);
    int (*aclrtMalloc)(void **, size_t, int);
    int (*aclrtFree)(void *);
    int (*aclrtMemset)(void *, size_t, int32_t, size_t);
    int (*aclrtMemcpy)(void *, size_t, const void *, size_t, int);
    int (*aclrtCreateEvent)(void **);
    int (*aclrtRecordEvent)(void *, void *);
    int (*aclrtEventElapsedTime)(float *, void *, void *);
    const char *(*aclrtGetSocName)(void);
    const char *(*aclGetRecentErrMsg)(void);
    /* of nnopbase, for aclnn functions */
    aclTensor *(*aclCreateTensor)(const int64_t *, uint64_t, int, const int64_t *, int64_t, int,
                                  const int64_t *, uint64_t, void *);
    int (*aclDestroyTensor)(const aclTensor *);
    aclIntArray *(*aclCreateIntArray)(const int64_t *, uint64_t);
    aclFloatArray *(*aclCreateFloatArray)(const float *, uint64_t);
    /* NULL where CANN is older */
    int (*aclrtMemsetAsync)(void *, size_t, int32_t, size_t, void *);
    int (*aclrtSetDeviceResLimit)(int32_t, int, uint32_t);
    int (*aclrtResetDeviceResLimit)(int32_t);
};
extern struct acl acl;
extern void *stream;

/* Of the libraries that are open; NULL: there is none. */
void *find(const char *name);
/* False: text says what failed, with the first line of CANN's own message. */
bool good(struct wire_answer *answer, const char *what, int code);

/* Something to take times of, up to two of it under way: what the host does for it, and what the
 * device does. Neither waits. */
struct timed {
    bool (*prepare)(void *context, int which, struct wire_answer *answer);
    bool (*launch)(void *context, int which, struct wire_answer *answer);
    void *context;
};
/* Times by the device's own clock: with nothing of it left in the L2, and right behind the same
 * once more. */
bool take_times(const struct timed *timed, uint32_t times, struct wire_answer *answer);

/* run_ask.c: inputs are the object file's name, the tiling data, x and, of a gauge, y; the output
 * is y, or its end. */
void run_ask(const struct wire_request *request, void *const data[], char *out,
             struct wire_answer *answer);

#endif
