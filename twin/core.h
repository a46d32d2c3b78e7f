/* SPDX-License-Identifier: Apache-2.0
 *
 * One vector core of the twin and the launch it belongs to. Inside the runtime only.
 */
#ifndef TWIN_CORE_H
#define TWIN_CORE_H

#include "launch.h"
#include "runtime.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>

enum {
    TWIN_BLOCK_BYTES = 32,
    TWIN_REPEAT_BYTES = 256,
    TWIN_REPEATS = 255, /* of one instruction */
    TWIN_BUFFERS = 64,  /* what TPipe allows in one kernel */
    TWIN_QUEUES = 64,
    TWIN_EVENTS = 35, /* AscendC::HardEvent */
    TWIN_EVENT_IDS = 8,
    TWIN_LIVE = 8, /* tensors allocated at once over all queues of one position */
    TWIN_DIRTY = 64,
    TWIN_SEEN = 32,
    TWIN_SITES = 512,
    TWIN_AHEAD = 4,
    TWIN_UB_GUARD = 512,
    TWIN_UB_MAX = 262144,
};

enum twin_buffer_state { TWIN_FREE, TWIN_OCCUPIED, TWIN_QUEUED, TWIN_DEQUEUED, TWIN_PLAIN };

struct twin_buffer {
    uint32_t address, bytes;
    uint8_t position, state, generation;
    int8_t enque_id, free_id; /* event ids, -1: none */
    uint16_t que;
};

struct twin_que {
    uint16_t first, count, depth; /* depth 0: a TBuf */
    uint16_t used, head, cursor;
    uint16_t ring[TWIN_BUFFERS];
    uint8_t position, enque_event, free_event;
    const char *file; /* where InitBuffer stands, checked only */
    int line;
};

struct twin_flag {
    bool set;
    uint32_t clock[TWIN_PIPES];
};

/* What the checker knows of 32 bytes of UB. init: which bytes hold defined data. The last write,
 * and the last read by every pipe, by sequence number within the pipe. */
struct twin_ub_block {
    uint32_t init, wrote, read[TWIN_PIPES];
    uint8_t writer;                 /* pipe */
    uint8_t ever;                   /* written since the buffer was handed out */
    uint8_t unread;                 /* loaded from GM and not read yet */
    uint8_t reader;                 /* pipe of the last read */
    uint16_t write_site, read_site; /* indices into the core's sites */
};

/* The mask register, and how it came to be what it is: state.c. */
enum twin_mask_kind {
    TWIN_MASK_RUBBISH, /* nothing has set it since the kernel began */
    TWIN_MASK_FULL,    /* all lanes, on purpose */
    TWIN_MASK_CHOSEN,  /* by SetVectorMask */
    TWIN_MASK_OWN,     /* by a call that has a mask of its own */
    TWIN_MASK_LEFT,    /* by a call that was not asked to */
};

struct twin_mask {
    uint64_t bits[2];
    enum twin_mask_kind kind;
    uint32_t lanes;        /* of a repeat that it was made for */
    struct twin_site site; /* of who left it, checked only */
};

/* A read of an input's byte that the output in the input's memory has overwritten. */
struct twin_lost {
    const char *input, *output;
    uint64_t byte;
    uint32_t writer;       /* core */
    struct twin_site site; /* of the read; without a call: there was none */
};

enum { TWIN_ATOMIC_NONE = -1 };

struct twin_job;
struct twin_steps; /* recorded for the cycle model, cycles.c */

struct twin_core {
    struct twin_job *job;
    uint32_t index;
    uint8_t *ub;
    uint32_t top; /* bytes of UB given out */
    uint16_t buffers, queues;
    struct twin_buffer buffer[TWIN_BUFFERS];
    struct twin_que que[TWIN_QUEUES];
    uint8_t event_ids[TWIN_EVENTS]; /* bit mask of ids in use */

    struct twin_ahead { /* fast only: what the next loads will want of GM, see move.c */
        uint64_t at, end;
    } ahead[TWIN_AHEAD];
    uint32_t loads;

    bool counter; /* mask mode */
    struct twin_mask mask;
    int atomic;
    int task_type;

    /* checked only */
    bool checked, started, done, failed;
    struct twin_ub_block *block;
    uint32_t seq[TWIN_PIPES];
    uint32_t clock[TWIN_PIPES]
                  [TWIN_PIPES]; /* [p][q]: what p's next instruction knows of q to be complete */
    struct twin_flag flag[TWIN_EVENTS][TWIN_EVENT_IDS];
    uint32_t epoch; /* SyncAlls passed */
    struct twin_lost lost;
    struct twin_steps *steps;
    uint64_t own;   /* instructions of the kernel's own code since the last step, count.c */
    double pending; /* and of calls that issue nothing */
    jmp_buf stop;
    struct twin_site site[TWIN_SITES]; /* calls of the kernel seen so far, a hash table */
    uint64_t dirty[TWIN_DIRTY]; /* 64-byte lines of GM that the scalar unit wrote and that are still
                                   in its cache */
    uint32_t dirty_lines;
    uint64_t gm_read, gm_write, dmas, barriers, vector_calls;
    pthread_t thread;
    pthread_cond_t turn;
};

struct twin_gm_shadow; /* gm.c */

struct twin_job {
    const struct twin_launch *launch;
    /* what the kernel gets: in the checked build, invented addresses */
    uint8_t *arg[TWIN_MAX_ARGS + 2];
    uint8_t *workspace;
    struct twin_core *core;
    /* of every writable argument; the last one: workspace */
    struct twin_gm_shadow *shadow[TWIN_MAX_ARGS + 1];
    /* of an input: that of the output in its memory, and the output's number */
    struct twin_gm_shadow *heir[TWIN_MAX_ARGS + 1];
    uint32_t heir_arg[TWIN_MAX_ARGS + 1];
    struct twin_report *report;
    char *why;
    bool failed;
    uint64_t moved[TWIN_MAX_ARGS + 1][2]; /* bytes read and written of every argument */
    struct twin_seen {                    /* a warning is given once per line of source */
        const char *file, *format;
        int line;
    } seen[TWIN_SEEN];

    pthread_mutex_t lock;
    pthread_cond_t arrive;
    uint32_t order[TWIN_MAX_CORES];
    uint32_t running; /* checked: position in order[] whose turn it is */
    uint32_t waiting, stopped;
    atomic_uint round; /* of SyncAll */
};

extern __thread struct twin_core *twin_core;

/* HardEvent to its two pipes; false when a vector core has no such event. */
bool twin_event_pipes(uint8_t event, enum twin_pipe *from, enum twin_pipe *to);
const char *twin_event_name(uint8_t event);
const char *twin_position_name(uint8_t position);
extern const char *const twin_pipe_name[TWIN_PIPES];

/* Stops the kernel with one sentence; does not return. check.c */
void twin_violation(const struct twin_site *site, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));
void twin_warn(const struct twin_site *site, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The resolved lanes of one instruction. */
struct twin_plan {
    uint32_t per_repeat, repeats;
    uint32_t last;        /* lanes of the last repeat, counter mode */
    bool counter, prefix; /* prefix: the mask is its first `lanes` bits */
    uint32_t lanes;
    uint64_t mask[2];
};

struct twin_plan twin_make_plan(struct twin_core *core, const struct twin_lanes *lanes,
                                uint32_t widest);
static inline bool twin_lane(const struct twin_plan *p, uint32_t repeat, uint32_t lane) {
    if (p->counter) return lane < (repeat + 1 == p->repeats ? p->last : p->per_repeat);
    return p->mask[lane >> 6] >> (lane & 63) & 1;
}
/* keep: all bits of the elements of `size` bytes whose lanes take part in the repeat. */
void twin_keep_lanes(const struct twin_plan *p, uint32_t repeat, uint32_t size, uint8_t *keep);

/* state.c: the vector unit's state when a block begins, behind TPipe and TPipe::Reset, behind
 * SetVectorMask and ResetMask (lanes 0), and behind calls. site may be NULL. gather: Gather, which
 * leaves the mask in its own way. */
void twin_state_start(struct twin_core *core);
void twin_state_pipe(struct twin_core *core, const struct twin_site *site);
void twin_state_set(struct twin_core *core, uint64_t high, uint64_t low, uint32_t lanes,
                    const struct twin_site *site);
void twin_after_count(struct twin_core *core, uint64_t count, uint32_t per_repeat, bool gather,
                      const struct twin_site *site);
void twin_after_lanes(struct twin_core *core, const struct twin_lanes *lanes, uint32_t per_repeat,
                      bool gather, const struct twin_site *site);
void twin_after_shuffle(struct twin_core *core, const struct twin_shuffle *v,
                        const struct twin_site *site);
/* Whether the library makes calls with a mask of a call with a count. */
bool twin_splits_count(const struct twin_core *core, bool gather);
/* How many; 0: it does not, or there is no count. */
uint32_t twin_split(const struct twin_core *core, const struct twin_lanes *lanes,
                    uint32_t per_repeat, bool gather);
void twin_first_lanes(uint64_t n, uint64_t bits[2]);

/* Executes without any check. */
void twin_run_elementwise(const struct twin_elementwise *v, const struct twin_plan *p);
void twin_run_reduce(const struct twin_reduce *v, const struct twin_plan *p);
void twin_run_shuffle(struct twin_shuffle *v, const struct twin_plan *p);
void twin_run_dma(const struct twin_dma *v, uint8_t *gm, int atomic, bool past_cache);
void twin_settle(void); /* after stores past the cache, before other threads may look */
/* Fast: fetches some of what the next loads will want, while so many elements are worked on. */
void twin_look_ahead(struct twin_core *core, uint64_t elements);
/* Bytes of the type that sets lanes per repeat. */
uint32_t twin_shuffle_width(const struct twin_shuffle *v);

/* One contiguous piece of an elementwise instruction. */
struct twin_run_piece {
    uint32_t repeat, n;
    uint32_t dst, src[2]; /* byte offsets from the operands' start */
};
typedef void twin_piece_fn(void *context, const struct twin_run_piece *piece);
void twin_each_piece(const struct twin_elementwise *v, const struct twin_plan *p, twin_piece_fn *fn,
                     void *context);

/* Invented addresses of the checked build: argument a, byte b. */
#define TWIN_GM_SHIFT 40
static inline uint64_t twin_gm_address(uint32_t arg) {
    return (uint64_t)(arg + 1) << TWIN_GM_SHIFT;
}

#endif
