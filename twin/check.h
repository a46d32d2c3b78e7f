/* SPDX-License-Identifier: Apache-2.0
 *
 * The checker's own parts: UB state (check.c), GM state (gm.c), what the cycle model records
 * (cycles.c).
 */
#ifndef TWIN_CHECK_H
#define TWIN_CHECK_H

#include "core.h"
#include "listener.h"

/* Starts an instruction on a pipe: its number, and what it may rely on. */
struct twin_issue {
    struct twin_core *core;
    enum twin_pipe pipe;
    uint32_t seq;
    uint32_t limit[TWIN_PIPES]; /* instructions of each pipe known to be complete */
    const struct twin_site *site;
    uint16_t site_number;
};
const char *twin_file_of(const struct twin_site *site); /* without its folders */
struct twin_issue twin_issue(enum twin_pipe pipe, const struct twin_site *site);

/* False: the steps are all that is wanted of the kernel. */
static inline bool twin_computes(const struct twin_core *c) {
    return !c->job->launch->steps_only;
}

void twin_need_values(
    const struct twin_site *site); /* stops a kernel that reads one: check_move.c */

/* Byte ranges of UB, relative to its start. what names the operand. */
void twin_check_tensor(const struct twin_issue *, const struct twin_local *, uint32_t alignment,
                       const char *what);
void twin_check_read(const struct twin_issue *, uint32_t at, uint32_t bytes, const char *what);
void twin_check_write(const struct twin_issue *, uint32_t at, uint32_t bytes, const char *what);
bool twin_ub_defined(struct twin_core *, uint32_t at, uint32_t bytes); /* all bytes hold data */
void twin_ub_define(struct twin_core *, uint32_t at, uint32_t bytes, bool defined);
/* How bytes come to be undefined, for a violation's text. */
struct twin_reason {
    char text[256];
};
const char *twin_undefined_by(const struct twin_core *, struct twin_reason *);
uint32_t twin_ub_at(const struct twin_core *, const struct twin_local *);

/* check_mask.c: the lanes of a call; that it has any; a call that has no count and no mask. */
void twin_check_lanes(const struct twin_issue *, const struct twin_lanes *, uint32_t per_repeat,
                      bool gather);
void twin_check_any(const struct twin_issue *, uint64_t repeats);
void twin_check_no_counter(const struct twin_issue *);

/* listener.c: the listener of a run. */
void twin_expand(const struct twin_core *, const struct twin_lanes *, uint32_t per_repeat,
                 bool gather, struct twin_effect *);
void twin_tell(const struct twin_core *, const struct twin_site *, struct twin_effect *);
void twin_touch(const struct twin_core *, bool write, uint32_t at, uint32_t bytes);

/* launch.c: a core starts from nothing for every block it runs. */
bool twin_core_open(struct twin_job *job, struct twin_core *, uint32_t index, bool checked);
void twin_core_reset(struct twin_core *, uint32_t index);
void twin_core_close(struct twin_core *);

/* run_fast.c, run_checked.c: all blocks of a launch, and where they meet */
int twin_run_fast(struct twin_job *job);
int twin_run_checked(struct twin_job *job);
void twin_sync_fast(struct twin_job *job);
void twin_sync_checked(struct twin_core *, const struct twin_site *);

/* check_910.c: stop a kernel that wants what the first generation of the 910 lacks; how many event
 * ids of a pair and tensors of a position the chip has. */
void twin_check_910_prim(const struct twin_elementwise *v, const struct twin_site *site);
void twin_check_910_reduce(const struct twin_reduce *v, const struct twin_site *site);
void twin_check_910_shuffle(const struct twin_shuffle *v, const struct twin_site *site);
void twin_check_910_copy(const struct twin_dma *v, const struct twin_site *site);
void twin_check_910_atomic(int type, const struct twin_site *site);
void twin_check_910_sync(const struct twin_site *site);
int twin_event_limit(void);
int twin_live_limit(void);

/* gm.c: resolves an invented address, checks bounds and races, returns the real one, or NULL
 * where the tensors have no data. */
uint8_t *twin_gm_access(const struct twin_issue *, const struct twin_dma *v);
/* Of a load: bytes that were overwritten before become undefined in UB, where blocks are ub_step
 * bytes from start to start. */
void twin_gm_take(const struct twin_issue *, const struct twin_dma *v, uint64_t ub_step);
bool twin_gm_open(struct twin_job *job);
void twin_gm_close(struct twin_job *job);
void twin_gm_report(struct twin_job *job, struct twin_report *report);

/* cycles.c */
bool twin_cost_open(struct twin_core *core);
/* Behind a core's last step: another core that has done the same keeps the steps for both. */
void twin_cost_share(struct twin_core *core);
void twin_cost_close(struct twin_core *core);
/* split: instructions that the library makes of a count, 0 where it is one */
void twin_cost_vector(struct twin_core *, const struct twin_site *, const struct twin_lanes *,
                      uint32_t split, double start, double cycles);
void twin_cost_dma(struct twin_core *, const struct twin_site *, enum twin_pipe, double bytes,
                   bool pad);
void twin_cost_flag(struct twin_core *, const struct twin_site *, bool set, uint8_t event, int id);
void twin_cost_barrier(struct twin_core *, const struct twin_site *, int pipe);
void twin_cost_sync_all(struct twin_core *, const struct twin_site *);
void twin_cost_mode(struct twin_core *, const struct twin_site *);
void twin_cost_scalar(struct twin_core *, double instructions); /* of a call that issues nothing */
void twin_cost_end(struct twin_core *);                         /* what is left at the end */
const char *twin_cost_finish(struct twin_job *job,
                             struct twin_report *report); /* NULL, or what went wrong */
double twin_elementwise_cycles(const struct twin_elementwise *v, const struct twin_plan *p);

#endif
