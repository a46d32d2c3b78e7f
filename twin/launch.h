/* SPDX-License-Identifier: Apache-2.0
 *
 * The twin's runtime seen from outside: one kernel, its arguments, a chip, and what came of it.
 * ascgrad.c fills struct twin_launch from the operator's tiling and calls twin_run. Thread-safe;
 * between calls only the threads of fast runs are kept, pool.c.
 */
#ifndef TWIN_LAUNCH_H
#define TWIN_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../core/node.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TWIN_MAX_ARGS = 48, TWIN_MAX_CORES = 64, TWIN_WHY = 1024 };

struct ascgrad_watch; /* ascgrad.h */
struct twin_listener; /* listener.h */

/* The values agree with enum ascgrad_code. */
enum twin_code { TWIN_OK = 0, TWIN_USAGE = 1, TWIN_VIOLATION = 3, TWIN_SYSTEM = 4 };

struct twin_soc {
    const char *name; /* "ascend910b1" */
    uint32_t arch;    /* ASCGRAD_ARCH_A2 or _950 */
    uint32_t cores;   /* vector cores */
    uint32_t mhz;
    uint32_t ub;          /* bytes a kernel may use */
    double hbm_per_cycle; /* bytes per cycle of the whole chip */
    double launch_us, launch_us_per_core;
    double l2_per_cycle; /* bytes per cycle of the whole chip, both directions */
    uint64_t l2;         /* bytes */
};

/* What lies in the L2 when a kernel starts, as shares of the bytes it moves. Loads that hit, and
 * stores that are not written back to memory while the kernel runs, cost the L2's time alone. */
struct twin_memory {
    double load_hits, store_hits; /* 0 to 1; both 0: cold */
};

/* Lower-case name; NULL when unknown. twin_soc_at walks the table, NULL at its end. */
const struct twin_soc *twin_find_soc(const char *name);
const struct twin_soc *twin_soc_at(size_t index);

enum twin_role { TWIN_INPUT, TWIN_OUTPUT };

/* One kernel parameter in order: all IR inputs, then all IR outputs. An absent one has data == NULL
 * and bytes == 0. */
struct twin_arg {
    const char *name;
    enum twin_role role;
    void *data;
    uint64_t bytes;
};

/* Spreads args[0..n-1] over the kernel's parameters; n = IR inputs + IR outputs + workspace +
 * tiling. entry.cpp defines one of these per operator, kernel and mode:
 * twin_entry_<op>_<column>_<checked|fast>, with the first column of dtypes that has the kernel;
 * twin_arity_<same suffix> (uint32_t) is the n it expects. */
typedef void twin_entry_fn(uint8_t **args);

struct twin_launch {
    const char *op; /* for messages */
    twin_entry_fn *entry;
    uint32_t arity;             /* twin_arity_...: checked against args + 2 */
    bool own;                   /* a kernel of somebody's: it may lack workspace and tiling */
    const struct twin_arg *arg; /* IR inputs and outputs */
    uint32_t args;
    /* by argument, of an output: 1 + the input whose memory it has, or 0; NULL: all are 0 */
    const uint32_t *in_place;
    const void *tiling; /* the struct that tiling wrote */
    size_t tiling_bytes;
    uint64_t workspace; /* bytes; the runtime allocates it */
    uint64_t key;
    uint32_t block_dim;
    bool sync_all; /* what tiling promised */
    const struct twin_soc *soc;
    bool checked;      /* must agree with the entry's build */
    bool steps_only;   /* checked: nothing is computed, only timed; the tensors have no data */
    uint64_t order;    /* checked: 0 = cores in order, else the seed of a permutation of cores */
    const char *trace; /* checked: Chrome trace file, or NULL */
    const struct ascgrad_watch *watch;    /* checked: who is told, or NULL */
    const struct twin_listener *listener; /* checked: told of every call, or NULL */
    const double *constants;              /* checked: of the cycle model; NULL: as they are */
    struct twin_memory memory;            /* checked: for all times but that of the L2 */
};

enum twin_pipe { TWIN_S, TWIN_V, TWIN_MTE2, TWIN_MTE3, TWIN_PIPES };

struct twin_report {
    double cycles;                    /* the slowest core, launch not included */
    double cycles_free, cycles_worst; /* with no scalar time; with a cycle per scalar instruction */
    double time_us, time_free_us, time_worst_us, launch_us;
    double scalar; /* scalar instructions of the slowest core */
    double core_cycles[TWIN_MAX_CORES];
    double busy[TWIN_PIPES];               /* slowest core */
    uint64_t gm_read, gm_write;            /* bytes moved by all cores */
    uint64_t dmas, barriers, vector_calls; /* slowest core */
    uint64_t all_dmas, all_barriers, all_vector_calls;
    uint32_t slowest, cores_used;      /* used: cores that moved any data */
    uint64_t unwritten[TWIN_MAX_ARGS]; /* bytes of each argument (outputs) that no core wrote */
    uint32_t warnings; /* distinct ones (rule and source line); the first few are in warning[] */
    char warning[8][256];
    double cycles_low, cycles_high; /* with the least and the most scalar time that was measured */
    double cycles_l2, l2_share;     /* with this share of the bytes in the L2 */
    double copy_rate; /* bytes per cycle, read and written, of a copy on the whole chip */
};

uint32_t twin_cpus(void); /* that this process may use */

/* report may be NULL; the fast build leaves it zero. why gets one sentence for any code but
 * TWIN_OK. */
int twin_run(const struct twin_launch *launch, struct twin_report *report, char why[TWIN_WHY]);

#ifdef __cplusplus
}
#endif
#endif
