/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a refusal is told. In a CANN process: the operator log, and the error message that GE
 * prints with the failing call, where a user sees it first. Anywhere else: stderr. The functions
 * are weak references, so whichever of them the process has are used and none is needed.
 */
#include "context.h"

#include <stdio.h>

enum { LOG_MODULE_OP = 63, LOG_ERROR = 3 };

extern void DlogRecord(int32_t module, int32_t level, const char *format, ...)
    __attribute__((weak, format(printf, 3, 4)));

/* ReportUserDefinedErrMsg moved from namespace ge (8.1) to error_message (2026). EU0000..EU9999 are
 * the codes set aside for operators of users. */
extern int32_t report_8_1(const char *code, const char *format,
                          ...) __asm__("_ZN2ge23ReportUserDefinedErrMsgEPKcS1_z")
    __attribute__((weak, format(printf, 2, 3)));
extern int32_t report_2026(const char *code, const char *format,
                           ...) __asm__("_ZN13error_message23ReportUserDefinedErrMsgEPKcS1_z")
    __attribute__((weak, format(printf, 2, 3)));

void ascgrad_log(const char *sentence) {
    static const char code[] = "EU0001";
    if (report_2026) {
        report_2026(code, "%s", sentence);
    } else if (report_8_1) {
        report_8_1(code, "%s", sentence);
    }
    if (DlogRecord) {
        DlogRecord(LOG_MODULE_OP, LOG_ERROR, "[ascgrad] %s", sentence);
    } else {
        fprintf(stderr, "[ascgrad] %s\n", sentence);
    }
}

uint32_t ascgrad_ge_fail(const struct ascgrad_error *error) {
    ascgrad_log(error->text);
    return GE_FAILED;
}
