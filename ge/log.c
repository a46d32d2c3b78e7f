/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a refusal is told. In a CANN process: the operator log, and the error message that GE
 * prints with the failing call, where a user sees it first. Anywhere else: stderr. The functions
 * are weak references, so whichever of them the process has are used and none is needed.
 */
#include "context.h"
#include "../core/log.h"

#include <stdio.h>

extern void DlogRecord(int32_t module, int32_t level, const char *format, ...)
    __attribute__((weak, format(printf, 3, 4)));

extern int32_t report_8_1(const char *code, const char *format, ...) __asm__(CANN_REPORT_8_1)
    __attribute__((weak, format(printf, 2, 3)));
extern int32_t report_2026(const char *code, const char *format, ...) __asm__(CANN_REPORT_2026)
    __attribute__((weak, format(printf, 2, 3)));

void ascgrad_log(const char *sentence) {
    if (report_2026) {
        report_2026(CANN_USER_CODE, "%s", sentence);
    } else if (report_8_1) {
        report_8_1(CANN_USER_CODE, "%s", sentence);
    }
    if (DlogRecord) {
        DlogRecord(CANN_LOG_OP, CANN_LOG_ERROR, "[ascgrad] %s", sentence);
    } else {
        fprintf(stderr, "[ascgrad] %s\n", sentence);
    }
}

uint32_t ascgrad_ge_fail(const struct ascgrad_error *error) {
    ascgrad_log(error->text);
    return GE_FAILED;
}
