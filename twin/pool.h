/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that wait for fast runs, so that no call creates one. They belong to the process that
 * made them: a forked child makes its own. They end when the library is unloaded.
 */
#ifndef TWIN_POOL_H
#define TWIN_POOL_H

#include "core.h"

#include <stdatomic.h>

typedef void twin_task_fn(void *context, struct twin_core *core);

/* Runs the task on the calling thread and on those of up to threads - 1 others that are free, each
 * with a core of its own. all: on exactly so many at the same time, or, without the memory or the
 * threads for that, on none: then the answer is false. */
bool twin_pool_run(uint32_t threads, bool all, twin_task_fn *task, void *context);

/* Watches a number for a moment until it is no longer `old`, or gives up. To fall asleep and be
 * woken would take as long as 64 KB of work. */
bool twin_look_out(const atomic_uint *number, unsigned old);

#endif
