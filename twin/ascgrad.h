/* SPDX-License-Identifier: Apache-2.0
 *
 * libascgrad: run the operators on the CPU, on the twin of the AI Core, with no chip and no
 * toolkit.
 *
 *     struct ascgrad_tensor in[2]  = {{...grad_output...}, {...grad_self...}};   // by IR index
 *     struct ascgrad_tensor out[1] = {{...grad_input...}};
 *     struct ascgrad_call call = {.size = sizeof call, .op = "ExpSegsumGrad",
 *                                 .in = in, .inputs = 2, .out = out, .outputs = 1};
 *     char why[ASCGRAD_WHY];
 *     if (ascgrad_run(&call, NULL, why) != ASCGRAD_OK) fprintf(stderr, "%s\n", why);
 *
 * Every function is thread-safe, also after fork. Between calls only the threads of fast runs are
 * kept; they end when the library is unloaded. An error is a code
 * and one sentence; why may be NULL. The library rounds to nearest and keeps denormals, whatever
 * rounding mode, flush-to-zero or traps the caller has set, and leaves those as they were. It needs
 * 64 KB of stack in the calling thread.
 */
#ifndef ASCGRAD_H
#define ASCGRAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASCGRAD_API __attribute__((visibility("default")))
#define ASCGRAD_WHY 1024

/* No operator has more, and the twin no more cores. */
enum {
    ASCGRAD_RANK_MAX = 25,
    ASCGRAD_INPUTS_MAX = 21,
    ASCGRAD_OUTPUTS_MAX = 14,
    ASCGRAD_ATTRS_MAX = 8,
    ASCGRAD_CORES_MAX = 64,
    ASCGRAD_WARNINGS = 8,
};

/* The values are the exit statuses of the ascgrad command. */
enum ascgrad_code {
    ASCGRAD_OK = 0,
    ASCGRAD_USAGE = 1, /* unknown operator, tensor, attribute or chip; NULL where data is needed */
    ASCGRAD_REFUSES = 2,   /* the operator refuses these shapes, dtypes or attributes */
    ASCGRAD_VIOLATION = 3, /* the twin stopped the kernel: a rule of the hardware was broken */
    ASCGRAD_SYSTEM = 4,    /* the system gives no memory, no threads or no trace file */
};

enum { ASCGRAD_TYPE_FP32 = 0, ASCGRAD_TYPE_FP16 = 1, ASCGRAD_TYPE_BF16 = 27 };

/* An absent optional input has rank -1, and so has an output that is to be inferred. A scalar has
 * rank 0. data is dense, C order; NULL if there are no elements. */
struct ascgrad_tensor {
    int32_t dtype;
    int32_t rank;
    int64_t dim[ASCGRAD_RANK_MAX];
    void *data;
};

/* Attributes by IR index; an attribute that is not set keeps the IR's default. */
struct ascgrad_setting {
    bool set;
    union {
        int64_t value; /* int, or bool as 0/1 */
        float real;    /* float */
    };
    union {
        const int64_t *list; /* listInt */
        const float *reals;  /* listFloat */
    };
    size_t count;
};

/* One thing that a pipe of a core did, as the cycle model has it. */
struct ascgrad_event {
    uint32_t core;
    uint32_t pipe; /* index of ascgrad_pipe_name */
    const char *call, *file;
    int line;
    double from_us, to_us;
    double wait_us;       /* the pipe stood still so long before, */
    const char *wait_for; /* for this */
    double bytes;         /* a copy: what it is charged for */
};

/* Told after the run, in no order of time. Texts last for the call only. Any function may be NULL.
 */
struct ascgrad_watch {
    void *context;
    void (*event)(void *context, const struct ascgrad_event *event);
    /* a buffer of the slowest core: InitBuffer's place in the source; at last the "free" rest */
    void (*buffer)(void *context, const char *kind, const char *file, int line, uint32_t at,
                   uint32_t bytes);
    /* a tensor, or the workspace: its size and what all cores moved of it */
    void (*tensor)(void *context, const char *name, uint64_t bytes, uint64_t read,
                   uint64_t written);
};

/* size is sizeof(struct ascgrad_call) where the caller was compiled. A later release may have more
 * fields behind the last one; 0 in any of them means what the release before did. */
struct ascgrad_call {
    size_t size;
    const char *op; /* "ExpSegsumGrad"; NULL: the operator of ascgrad_describe(number) */
    uint32_t number;
    const struct ascgrad_tensor *in;
    uint32_t inputs;
    /* ascgrad_infer fills all of out; ascgrad_tile and ascgrad_run those whose rank is -1 */
    struct ascgrad_tensor *out;
    uint32_t outputs;
    const struct ascgrad_setting *attr; /* NULL: all defaults */
    uint32_t attrs;
    const char *soc; /* NULL: ascgrad_soc_name(0) */
    /* up to ASCGRAD_CORES_MAX; 0: as many as the chip has (checked) or as suits the CPU (fast) */
    uint32_t cores;
    bool fast; /* checks compiled out, blocks on threads */
    /* checked: 0 runs the cores in order, anything else is the seed of a permutation; the
     * complement of either is the same backwards */
    uint64_t order;
    const char *trace;                 /* checked: file for a Chrome trace, or NULL */
    const struct ascgrad_watch *watch; /* checked: is told what the cores did, or NULL */
    /* asked for the data of output number `output` where out has none, once tiling has accepted the
     * call; the caller frees it, also after an error. NULL: nobody is asked */
    void *(*allocate)(void *context, uint32_t output, size_t bytes);
    void *context; /* of allocate */
};

/* What the checked twin saw. Times are the cycle model's, not a measurement. The caller sets size
 * to sizeof(struct ascgrad_report); what a later release reports stands behind the last field. */
struct ascgrad_report {
    size_t size;
    uint64_t key;
    uint32_t block_dim;
    uint64_t workspace;
    /* time, cycles and ratio (time over copy_us, no launch) with the scalar unit's calibrated cost
     * and nothing of the tensors in the L2; _free: the scalar unit costs nothing; _worst: one cycle
     * per instruction. roofline_us: min_bytes at the bandwidth of the chip's data sheet */
    double time_us, time_free_us, time_worst_us, launch_us, cycles, roofline_us;
    double ratio, ratio_free, ratio_worst;
    uint64_t gm_read, gm_write, min_bytes;
    double busy_v, busy_mte2, busy_mte3, busy_s; /* cycles on the slowest core */
    uint64_t dmas, barriers, vector_calls;       /* slowest core */
    uint64_t scalar_instructions;                /* slowest core */
    uint32_t cores_used;
    uint32_t warnings; /* different ones; the texts of the first few, one sentence each */
    char warning[ASCGRAD_WARNINGS][256];
    /* the scalar unit at the least and the most that was measured: the band of time_us */
    double time_low_us, time_high_us;
    /* min_bytes at the rate that a measured copy in memory reaches; time over roofline_us */
    double copy_us, ratio_roofline;
    /* where the operation before has left the tensors in the L2, as far as they fit into it: time;
     * min_bytes at the L2's rate, and at a copy's where they do not fit; time over that; the share
     * that fits */
    double time_l2_us, copy_l2_us, ratio_l2, l2_share;
};

/* What tiling decided, and the bytes of the operator's tiling struct. */
enum { ASCGRAD_PLAN_MAX = 65536 };
struct ascgrad_plan {
    uint64_t key;
    uint32_t block_dim;
    uint64_t workspace;
    bool sync_all;
    size_t size;
    unsigned char data[ASCGRAD_PLAN_MAX];
};

/* One field of a tiling struct. An array has count elements, stride bytes apart; a field of a
 * struct in an array is one too ("stream.lines"). */
struct ascgrad_field {
    const char *name;
    size_t offset, size; /* size of one element */
    size_t count, stride;
    bool is_float, is_signed;
};

struct ascgrad_arg_info {
    const char *name;
    bool optional;
    /* "fp16,fp32,bf16,fp16": entry i of the lists of all arguments belong together */
    const char *types;
};
struct ascgrad_attr_info {
    const char *name;
    const char *type; /* "int", "bool", "float", "listInt" or "listFloat" */
    bool required;
    union { /* default where it is not required; a list is empty */
        int64_t initial;
        float initial_real;
    };
};
struct ascgrad_op_info {
    const char *type;   /* "ExpSegsumGrad" */
    const char *kernel; /* "exp_segsum_grad" */
    uint32_t inputs, outputs, attrs;
    struct ascgrad_arg_info in[ASCGRAD_INPUTS_MAX], out[ASCGRAD_OUTPUTS_MAX];
    struct ascgrad_attr_info attr[ASCGRAD_ATTRS_MAX];
};

ASCGRAD_API const char *ascgrad_version(void);
ASCGRAD_API const char *ascgrad_code_name(int code);

/* The IR of operator number index; false past the last one. */
ASCGRAD_API bool ascgrad_describe(uint32_t index, struct ascgrad_op_info *info);

/* The input whose memory an output of operator number index may have: the data of both is one
 * pointer, and the results are the same bits. -1: none. */
ASCGRAD_API int32_t ascgrad_in_place(uint32_t index, uint32_t output);

/* The name of chip number index ("ascend910b1"), or NULL past the last one. Number 0 is the
 * default.
 */
ASCGRAD_API const char *ascgrad_soc_name(uint32_t index);

/* "S", "V", "MTE2", "MTE3"; NULL past the last one. */
ASCGRAD_API const char *ascgrad_pipe_name(uint32_t index);

/* Fills dtype, rank and dim of call->out. Unknown dimensions (-1) and unknown rank (rank 1, dim -2)
 * are allowed. */
ASCGRAD_API int ascgrad_infer(struct ascgrad_call *call, char why[ASCGRAD_WHY]);

/* Tiling only: nothing runs and no data is needed. The fields of plan->data are listed by
 * ascgrad_plan_field, which returns false past the last one. */
ASCGRAD_API int ascgrad_tile(const struct ascgrad_call *call, struct ascgrad_plan *plan,
                             char why[ASCGRAD_WHY]);
ASCGRAD_API bool ascgrad_plan_field(const char *op, const struct ascgrad_plan *plan, uint32_t index,
                                    struct ascgrad_field *field);

/* Runs the operator. report may be NULL; it is filled by the checked twin only (fast: key,
 * block_dim, workspace). An output that overlaps another tensor is ASCGRAD_USAGE, unless it has all
 * of the memory that ascgrad_in_place allows. */
ASCGRAD_API int ascgrad_run(const struct ascgrad_call *call, struct ascgrad_report *report,
                            char why[ASCGRAD_WHY]);

/* The report of a checked run without the run: what the kernel does is timed, but nothing is
 * computed and no rule checked, so that tensors need no data and may be of any size. The operators'
 * kernels take the same steps whatever the data are, so the times are the same. */
ASCGRAD_API int ascgrad_perf(const struct ascgrad_call *call, struct ascgrad_report *report,
                             char why[ASCGRAD_WHY]);

/* Constants of the cycle model, to be fitted to times that were measured: name and value of number
 * index for a chip (NULL: the default), or NULL past the last one. ascgrad_run_with is ascgrad_run
 * with other values for all of them; checked only. */
ASCGRAD_API const char *ascgrad_model_constant(uint32_t index, const char *soc, double *value);
ASCGRAD_API int ascgrad_run_with(const struct ascgrad_call *call, const double *constants,
                                 struct ascgrad_report *report, char why[ASCGRAD_WHY]);

#ifdef __cplusplus
}
#endif
#endif
