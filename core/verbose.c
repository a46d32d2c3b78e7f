/* SPDX-License-Identifier: Apache-2.0 */
#include "verbose.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

bool ascgrad_verbose(void) {
    enum { UNKNOWN, OFF, ON };
    static atomic_int state = UNKNOWN;
    int now = atomic_load_explicit(&state, memory_order_relaxed);
    if (now == UNKNOWN) {
        const char *set = getenv("ASCGRAD_VERBOSE");
        now = set && strcmp(set, "1") == 0 ? ON : OFF;
        atomic_store_explicit(&state, now, memory_order_relaxed);
    }
    return now == ON;
}

double ascgrad_verbose_clock(void) {
    struct timespec now;
    if (!ascgrad_verbose() || clock_gettime(CLOCK_MONOTONIC, &now) != 0) {
        return 0;
    }
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

void ascgrad_line_add(struct ascgrad_line *line, const char *format, ...) {
    va_list list;
    const size_t room = sizeof line->text - line->size;
    va_start(list, format);
    const int n = vsnprintf(line->text + line->size, room, format, list);
    va_end(list);
    if (n > 0) {
        line->size += (size_t)n < room ? (size_t)n : room - 1;
    }
}

void ascgrad_line_arg(struct ascgrad_line *line, const char *name, const struct ascgrad_arg *arg) {
    struct ascgrad_text shape;
    ascgrad_line_add(line, " %s=%s%s", name, ascgrad_dtype_name(arg->dtype),
                     arg->shape ? ascgrad_shape_text(arg->shape, &shape) : "");
}

void ascgrad_line_end(struct ascgrad_line *line, double begin) {
    ascgrad_line_add(line, ", %.1f us", ascgrad_verbose_clock() - begin);
    fprintf(stderr, "[ascgrad] %s\n", line->text);
}
