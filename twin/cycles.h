/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps of a core, in program order, as the cycle model sees them.
 */
#ifndef TWIN_CYCLES_H
#define TWIN_CYCLES_H

#include "check.h"
#include "cycle_table.h"

enum twin_step_kind {
    TWIN_STEP_WORK,  /* a vector call; cost: cycles it keeps the pipe; id: mode calls around it */
    TWIN_STEP_COUNT, /* the same in count form: V drains before and behind it */
    TWIN_STEP_MODE,
    TWIN_STEP_SWITCH, /* into count mode or out of it: V drains */
    TWIN_STEP_DMA,    /* cost: bytes charged */
    TWIN_STEP_SET,
    TWIN_STEP_WAIT,
    TWIN_STEP_BARRIER,
    TWIN_STEP_BARRIER_ALL, /* these two stop the scalar unit */
    TWIN_STEP_SYNC,
    TWIN_STEP_SCALAR, /* nothing but scalar instructions */
};

struct twin_step {
    struct twin_site site; /* the kernel's call */
    float cost;
    float scalar; /* instructions of the scalar unit up to and with this step */
    uint8_t kind, pipe, event, id;
};

/* Cycles of elementwise calls that were made before, found by where their operands lie. */
enum { TWIN_KNOWN = 1024 };
struct twin_known {
    uint64_t mask[2];
    uint32_t at[3], block_stride[3], repeat_stride[3];
    uint32_t prim, repeats, last; /* no repeats: an empty place */
    double cycles;
};

struct twin_steps {
    struct twin_known known[TWIN_KNOWN];
    struct twin_step *step;
    size_t count, capacity;
    uint32_t cores; /* that have these steps */
    bool lost;      /* no memory: no timing */
    bool complete;  /* and may be shared */
    bool counter;   /* count mode was set by a call of its own */
};

/* What a pipe did from one time to another, and how long it stood still before. */
struct twin_deed {
    uint32_t core;
    int pipe;
    const struct twin_step *step;
    double from, to, wait; /* cycles */
    const char *wait_for;
};

/* trace.c: tells the caller's watcher and writes a Chrome trace, one process per core and one row
 * per pipe. Opening gives NULL in *trace if nobody asked for either; false: the file cannot be
 * opened. */
struct twin_trace;
bool twin_trace_open(const struct twin_launch *, struct twin_trace **trace);
void twin_trace_deed(struct twin_trace *, const struct twin_deed *);
/* The job ends with this report. false: not all of the file was written. */
bool twin_trace_close(struct twin_trace *, const struct twin_job *, const struct twin_report *);

#endif
