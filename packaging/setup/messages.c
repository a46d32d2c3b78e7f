/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>

#include "setup.h"

static void print(FILE *to, const char *head, const char *format, va_list args) {
    fputs(head, to);
    vfprintf(to, format, args);
    fputc('\n', to);
    fflush(to);
}

void say(const struct setup *s, const char *format, ...) {
    va_list args;
    if (s->options.quiet) return;
    va_start(args, format);
    print(stdout, "ascgrad: ", format, args);
    va_end(args);
}

void tell(const char *format, ...) {
    va_list args;
    va_start(args, format);
    print(stdout, "ascgrad: ", format, args);
    va_end(args);
}

void warn(const char *format, ...) {
    va_list args;
    va_start(args, format);
    print(stderr, "ascgrad: warning: ", format, args);
    va_end(args);
}

int give_up(int status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    print(stderr, "ascgrad: ", format, args);
    va_end(args);
    return status;
}

int refuse(const struct setup *s, const char *format, ...) {
    char part[2 * PATH_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(part, sizeof part, format, args);
    va_end(args);
    if (!s->options.force) return give_up(REFUSED, "%s (--force installs all the same)", part);
    warn("%s", part);
    return DONE;
}
