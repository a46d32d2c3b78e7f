/* SPDX-License-Identifier: Apache-2.0
 *
 * What this library needs from C++ libraries of a CANN process, looked up by name so that it does
 * not ask for them itself: where refusals are told, as in ge/log.c, and delete[].
 */
#define _GNU_SOURCE
#include "../core/log.h"
#include "aclnn.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* dlsym of the oldest glibc that CANN runs on, where it lies in libdl. */
#if defined __x86_64__
__asm__(".symver dlsym,dlsym@GLIBC_2.2.5");
#elif defined __aarch64__
__asm__(".symver dlsym,dlsym@GLIBC_2.17");
#else
#error "CANN exists for x86_64 and aarch64"
#endif

typedef int32_t report_fn(const char *code, const char *format, ...);
typedef void log_fn(int32_t module, int32_t level, const char *format, ...);
typedef void delete_fn(void *);

/* POSIX lets a pointer to an object be a pointer to a function; ISO C has no cast for it. */
union symbol {
    void *object;
    report_fn *report;
    log_fn *log;
    delete_fn *delete_array;
};

static union symbol find(const char *name) {
    return (union symbol){.object = dlsym(RTLD_DEFAULT, name)};
}

aclnnStatus aclnn_refuse(aclnnStatus code, const struct aclnn_op *op, const char *format, ...) {
    char sentence[480];
    va_list list;
    va_start(list, format);
    int size = snprintf(sentence, sizeof sentence, "%s: ", op->function);
    vsnprintf(sentence + size, sizeof sentence - (size_t)size, format, list);
    va_end(list);
    union symbol report = find(CANN_REPORT_2026);
    if (!report.object) {
        report = find(CANN_REPORT_8_1);
    }
    if (report.object) {
        report.report(CANN_USER_CODE, "%s", sentence);
    }
    union symbol log = find(CANN_LOG);
    if (log.object) {
        log.log(CANN_LOG_OP, CANN_LOG_ERROR, "[ascgrad] %s", sentence);
    } else {
        fprintf(stderr, "[ascgrad] %s\n", sentence);
    }
    return code;
}

void aclnn_delete_array(void *array) {
    const union symbol delete = find("_ZdaPv");
    if (delete.object) {
        delete.delete_array(array);
    } else {
        free(array);
    }
}
