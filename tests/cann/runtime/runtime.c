/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for libascendcl.so on a machine without a chip: one device, whose memory is the host's.
 * Everything is done by the time a call returns, so there is nothing to wait for. Memory is exactly
 * as large as asked for, so that a memory checker sees what a device would let pass.
 */
#include "../include/acl/acl.h"
#include "../standin.h"

#include "../../../twin/half.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

static atomic_int initialised, deterministic;
static _Thread_local struct { char waiting[4096], shown[4096]; } messages;

/* Both of CANN's homes for messages lead here: see core/log.h. */
API int32_t standin_report(const char *code, const char *format, ...) __asm__(CANN_REPORT_2026)
    __attribute__((format(printf, 2, 3)));
API int32_t standin_report(const char *code, const char *format, ...) {
    size_t size = strlen(messages.waiting);
    size += (size_t)snprintf(messages.waiting + size, sizeof messages.waiting - size, "%s: ", code);
    if (size < sizeof messages.waiting) {
        va_list list;
        va_start(list, format);
        vsnprintf(messages.waiting + size, sizeof messages.waiting - size, format, list);
        va_end(list);
    }
    size = strlen(messages.waiting);
    snprintf(messages.waiting + size, sizeof messages.waiting - size, "\n");
    return 0;
}

/* The log, which goes to a file in CANN and nowhere here unless CANN's own variable asks for it. */
API void DlogRecord(int32_t module, int32_t level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
API void DlogRecord(int32_t module, int32_t level, const char *format, ...) {
    const char *wanted = getenv("ASCEND_SLOG_PRINT_TO_STDOUT");
    if (!wanted || strcmp(wanted, "1") != 0) {
        return;
    }
    char line[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    printf("[%d][%d] %s\n", module, level, line);
}

API const char *aclGetRecentErrMsg(void) {
    if (!messages.waiting[0]) {
        return NULL;
    }
    memcpy(messages.shown, messages.waiting, sizeof messages.shown);
    messages.waiting[0] = '\0';
    return messages.shown;
}

API aclError aclInit(const char *configPath) {
    (void)configPath;
    return atomic_exchange(&initialised, 1) ? ACL_ERROR_REPEAT_INITIALIZE : ACL_SUCCESS;
}

API aclError aclFinalize(void) {
    return atomic_exchange(&initialised, 0) ? ACL_SUCCESS : ACL_ERROR_UNINITIALIZE;
}

API aclError aclrtGetDeviceCount(uint32_t *count) {
    if (!count) {
        return ACL_ERROR_INVALID_PARAM;
    }
    *count = 1;
    return ACL_SUCCESS;
}

API aclError aclrtSetDevice(int32_t deviceId) {
    return deviceId == 0 ? ACL_SUCCESS : ACL_ERROR_RT_INVALID_DEVICEID;
}

API aclError aclrtGetDevice(int32_t *deviceId) {
    if (!deviceId) {
        return ACL_ERROR_INVALID_PARAM;
    }
    *deviceId = 0;
    return ACL_SUCCESS;
}

API aclError aclrtResetDevice(int32_t deviceId) {
    return aclrtSetDevice(deviceId);
}

API aclError aclrtSynchronizeDevice(void) {
    return ACL_SUCCESS;
}

API const char *aclrtGetSocName(void) {
    const char *name = getenv("ASCGRAD_STANDIN_SOC");
    return name && *name ? name : "Ascend910B1";
}

/* How many cores a launch may have; 0: all. */
static atomic_uint core_limit;

API uint32_t standin_core_limit(void) {
    return core_limit;
}

API aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value) {
    if (deviceId != 0 || type != ACL_RT_DEV_RES_VECTOR_CORE || value == 0) {
        return ACL_ERROR_INVALID_PARAM;
    }
    core_limit = value;
    return ACL_SUCCESS;
}

API aclError aclrtResetDeviceResLimit(int32_t deviceId) {
    core_limit = 0;
    return aclrtSetDevice(deviceId);
}

/* The device's clock: it stands still between launches, and goes on by what the cycle model says
 * that a launch takes. */
static _Thread_local double device_us;

API void standin_advance(double us) {
    device_us += us;
}

static _Thread_local bool launched;

API bool standin_again(void) {
    const bool again = launched;
    launched = true;
    return again;
}

/* Contexts, streams and events are small objects, so that a leak or a second release is seen. */
struct handle {
    double recorded;
};

static aclError make(void **handle) {
    if (!handle) {
        return ACL_ERROR_INVALID_PARAM;
    }
    *handle = calloc(1, sizeof(struct handle));
    return *handle ? ACL_SUCCESS : ACL_ERROR_BAD_ALLOC;
}

static aclError drop(void *handle) {
    free(handle);
    return handle ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM;
}

static _Thread_local aclrtContext current;

API aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId) {
    return deviceId == 0 ? make(context) : ACL_ERROR_RT_INVALID_DEVICEID;
}

API aclError aclrtDestroyContext(aclrtContext context) {
    return drop(context);
}

API aclError aclrtSetCurrentContext(aclrtContext context) {
    current = context;
    return context ? ACL_SUCCESS : ACL_ERROR_RT_CONTEXT_NULL;
}

API aclError aclrtGetCurrentContext(aclrtContext *context) {
    if (!context) {
        return ACL_ERROR_INVALID_PARAM;
    }
    *context = current;
    return ACL_SUCCESS;
}

API aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
    if (opt != ACL_OPT_DETERMINISTIC || value < 0 || value > 1) {
        return ACL_ERROR_INVALID_PARAM;
    }
    atomic_store(&deterministic, (int)value);
    return ACL_SUCCESS;
}

API aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
    return aclrtSetSysParamOpt(opt, value);
}

API int standin_deterministic(void) {
    return atomic_load(&deterministic);
}

API aclError aclrtCreateStream(aclrtStream *stream) {
    return make(stream);
}

API aclError aclrtDestroyStream(aclrtStream stream) {
    return drop(stream);
}

API aclError aclrtSynchronizeStream(aclrtStream stream) {
    (void)stream; /* NULL is the default stream */
    return ACL_SUCCESS;
}

API aclError aclrtCreateEvent(aclrtEvent *event) {
    return make(event);
}

API aclError aclrtDestroyEvent(aclrtEvent event) {
    return drop(event);
}

API aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
    (void)stream;
    struct handle *handle = event;
    if (!handle) {
        return ACL_ERROR_INVALID_PARAM;
    }
    handle->recorded = device_us;
    return ACL_SUCCESS;
}

API aclError aclrtSynchronizeEvent(aclrtEvent event) {
    return event ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM;
}

API aclError aclrtEventElapsedTime(float *ms, aclrtEvent start, aclrtEvent end) {
    const struct handle *a = start, *b = end;
    if (!ms || !a || !b) {
        return ACL_ERROR_INVALID_PARAM;
    }
    *ms = (float)((b->recorded - a->recorded) / 1e3);
    return ACL_SUCCESS;
}

API aclError aclrtMalloc(void **address, size_t size, aclrtMemMallocPolicy policy) {
    (void)policy;
    if (!address || size == 0) {
        return ACL_ERROR_INVALID_PARAM;
    }
    void *p = NULL;
    if (posix_memalign(&p, 64, size) != 0) {
        return ACL_ERROR_BAD_ALLOC;
    }
    memset(p, 0xA5, size); /* whatever was there before */
    *address = p;
    return ACL_SUCCESS;
}

API aclError aclrtFree(void *address) {
    return drop(address);
}

API aclError aclrtMallocHost(void **address, size_t size) {
    return aclrtMalloc(address, size, ACL_MEM_MALLOC_NORMAL_ONLY);
}

API aclError aclrtFreeHost(void *address) {
    return drop(address);
}

API aclError aclrtMemset(void *address, size_t room, int32_t value, size_t count) {
    if (!address || count > room) {
        return ACL_ERROR_INVALID_PARAM;
    }
    memset(address, value, count);
    return ACL_SUCCESS;
}

/* Large ones only clean caches, of which there are none here but in the model's times. */
API aclError aclrtMemsetAsync(void *address, size_t room, int32_t value, size_t count,
                              aclrtStream stream) {
    (void)stream;
    launched = launched && count < 1 << 27;
    return aclrtMemset(address, room, value, count < 1 << 20 ? count : 1 << 20);
}

API aclError aclrtMemcpy(void *to, size_t room, const void *from, size_t count,
                         aclrtMemcpyKind kind) {
    if (!to || !from || count > room || (unsigned)kind > ACL_MEMCPY_DEFAULT) {
        return ACL_ERROR_INVALID_PARAM;
    }
    memmove(to, from, count);
    return ACL_SUCCESS;
}

API aclError aclrtMemcpyAsync(void *to, size_t room, const void *from, size_t count,
                              aclrtMemcpyKind kind, aclrtStream stream) {
    (void)stream;
    return aclrtMemcpy(to, room, from, count, kind);
}

API size_t aclDataTypeSize(aclDataType type) {
    return standin_size(type);
}

API float aclFloat16ToFloat(aclFloat16 value) {
    return twin_f16_to_f32(value);
}

API aclFloat16 aclFloatToFloat16(float value) {
    return twin_f32_to_f16(value);
}
