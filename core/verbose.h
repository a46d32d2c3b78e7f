/* SPDX-License-Identifier: Apache-2.0
 *
 * ASCGRAD_VERBOSE=1: one line on stderr for each thing that a library of ours does. The variable is
 * looked at once; while it is not set, all of this costs one comparison.
 */
#ifndef ASCGRAD_CORE_VERBOSE_H
#define ASCGRAD_CORE_VERBOSE_H

#include "node.h"

#ifdef __cplusplus
extern "C" {
#endif

bool ascgrad_verbose(void);

/* Microseconds of a clock that never goes back; 0 when nobody wants to know. */
double ascgrad_verbose_clock(void);

/* A line being put together; what does not fit is cut. */
struct ascgrad_line {
    char text[4000];
    size_t size;
};
void ascgrad_line_add(struct ascgrad_line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* " x=fp16[2,3]"; without a shape only the dtype. */
void ascgrad_line_arg(struct ascgrad_line *line, const char *name, const struct ascgrad_arg *arg);
/* Adds the time since `begin` and writes the line at once. */
void ascgrad_line_end(struct ascgrad_line *line, double begin);

#ifdef __cplusplus
}
#endif
#endif
