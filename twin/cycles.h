/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps of a core, in program order, as the cycle model sees them.
 */
#ifndef TWIN_CYCLES_H
#define TWIN_CYCLES_H

#include "check.h"
#include "cycle_constants.h"

enum twin_step_kind {
    TWIN_STEP_WORK, /* a vector call; cost: cycles it keeps the pipe; id: mode calls around it */
    TWIN_STEP_MODE,
    TWIN_STEP_DMA, /* cost: bytes charged */
    TWIN_STEP_SET,
    TWIN_STEP_WAIT,
    TWIN_STEP_BARRIER,
    TWIN_STEP_BARRIER_ALL, /* these two stop the scalar unit */
    TWIN_STEP_SYNC,
    TWIN_STEP_SCALAR, /* nothing but scalar instructions */
};

struct twin_step {
    const char *name;
    float cost;
    float scalar; /* instructions of the scalar unit up to and with this step */
    uint8_t kind, pipe, event, id;
};

struct twin_steps {
    struct twin_step *step;
    size_t count, capacity;
    bool lost; /* no memory: no timing */
};

/* trace.c: a Chrome trace, one process per core and one row per pipe. */
struct twin_trace;
struct twin_trace *twin_trace_open(const char *name, double mhz);
void twin_trace_event(struct twin_trace *, uint32_t core, int pipe, const char *name, double from,
                      double to);
bool twin_trace_close(struct twin_trace *); /* false: not all of it was written */

#endif
