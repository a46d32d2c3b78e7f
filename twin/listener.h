/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests of the twin: what each call of a checked run does, so that it can be laid beside a
 * record of what CANN's own library does. A listener is told of every vector call and
 * every copy, in order: first the bytes of UB that it reads and writes, then what was issued and
 * what is left behind.
 */
#ifndef TWIN_LISTENER_H
#define TWIN_LISTENER_H

#include "runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TWIN_MOST_ISSUED = 3 };

/* Instructions that differ in nothing but their addresses. */
struct twin_instruction {
    bool counter;     /* mask[0] is a count of elements */
    uint64_t mask[2]; /* low, high */
    uint32_t repeats, times;
};

struct twin_effect {
    struct twin_site site;
    uint32_t issued; /* kinds of vector instructions; none for copies, SetVectorMask and its like */
    struct twin_instruction instruction[TWIN_MOST_ISSUED];
    bool counter; /* behind the call: mode, and mask, low and high */
    uint64_t mask[2];
};

struct twin_listener {
    void *context;
    void (*touch)(void *context, bool write, uint32_t at, uint32_t bytes);
    void (*effect)(void *context, const struct twin_effect *effect);
};

#ifdef __cplusplus
}
#endif
#endif
