/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a refusal goes (ge/log.c): to the error report of the GE that is there, 8.1 or 2026. Built
 * once for each.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../../ge/context.h"

static char said[512], code_seen[16];

int32_t report(const char *code, const char *format, ...) __asm__(REPORT);
int32_t report(const char *code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(said, sizeof said, format, args);
    va_end(args);
    snprintf(code_seen, sizeof code_seen, "%s", code);
    return 0;
}

int main(void) {
    struct ascgrad_error error = {"Op 'n': 3 is not 4"};
    bool good = ascgrad_ge_fail(&error) == GE_FAILED && strcmp(said, error.text) == 0 &&
                strcmp(code_seen, "EU0001") == 0;
    printf("%s\n", good ? "1 passed, 0 failed" : "0 passed, 1 failed");
    return !good;
}
