/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for CANN's header of the same name: device, context, stream, event, memory.
 */
#ifndef STANDIN_ACL_RT_H
#define STANDIN_ACL_RT_H

#include "acl/acl_base.h"

typedef enum aclrtMemcpyKind {
    ACL_MEMCPY_HOST_TO_HOST,
    ACL_MEMCPY_HOST_TO_DEVICE,
    ACL_MEMCPY_DEVICE_TO_HOST,
    ACL_MEMCPY_DEVICE_TO_DEVICE,
    ACL_MEMCPY_DEFAULT,
} aclrtMemcpyKind;

typedef enum aclrtMemMallocPolicy {
    ACL_MEM_MALLOC_HUGE_FIRST,
    ACL_MEM_MALLOC_HUGE_ONLY,
    ACL_MEM_MALLOC_NORMAL_ONLY,
} aclrtMemMallocPolicy;

typedef enum { ACL_OPT_DETERMINISTIC = 0 } aclSysParamOpt;

typedef enum { ACL_RT_DEV_RES_CUBE_CORE, ACL_RT_DEV_RES_VECTOR_CORE } aclrtDevResLimitType;

#ifdef __cplusplus
extern "C" {
#endif

aclError aclrtGetDeviceCount(uint32_t *count);
aclError aclrtSetDevice(int32_t deviceId);
aclError aclrtGetDevice(int32_t *deviceId);
aclError aclrtResetDevice(int32_t deviceId);
aclError aclrtSynchronizeDevice(void);
const char *aclrtGetSocName(void);
aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value);
aclError aclrtResetDeviceResLimit(int32_t deviceId);

aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId);
aclError aclrtDestroyContext(aclrtContext context);
aclError aclrtSetCurrentContext(aclrtContext context);
aclError aclrtGetCurrentContext(aclrtContext *context);
aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value);
aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value);

aclError aclrtCreateStream(aclrtStream *stream);
aclError aclrtDestroyStream(aclrtStream stream);
aclError aclrtSynchronizeStream(aclrtStream stream);
aclError aclrtCreateEvent(aclrtEvent *event);
aclError aclrtDestroyEvent(aclrtEvent event);
aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);
aclError aclrtSynchronizeEvent(aclrtEvent event);
aclError aclrtEventElapsedTime(float *ms, aclrtEvent start, aclrtEvent end);

aclError aclrtMalloc(void **address, size_t size, aclrtMemMallocPolicy policy);
aclError aclrtFree(void *address);
aclError aclrtMallocHost(void **address, size_t size);
aclError aclrtFreeHost(void *address);
aclError aclrtMemset(void *address, size_t room, int32_t value, size_t count);
aclError aclrtMemsetAsync(void *address, size_t room, int32_t value, size_t count,
                          aclrtStream stream);
aclError aclrtMemcpy(void *to, size_t room, const void *from, size_t count, aclrtMemcpyKind kind);
aclError aclrtMemcpyAsync(void *to, size_t room, const void *from, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream);

#ifdef __cplusplus
}
#endif
#endif
