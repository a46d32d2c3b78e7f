/* SPDX-License-Identifier: Apache-2.0
 *
 * The C API: a call becomes a node, the operator's own infer and tiling functions work on it
 * exactly as they do under GE, and the twin runs the kernel.
 */
#include "ascgrad.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/node.h"
#include "fields.h"
#include "gauge.h"
#include "fp_state.h"
#include "cycle_table.h"
#include "launch.h"

_Static_assert((int)ASCGRAD_TYPE_FP32 == (int)ASCGRAD_FP32, "dtype numbers are GE's");
_Static_assert((int)ASCGRAD_TYPE_FP16 == (int)ASCGRAD_FP16, "dtype numbers are GE's");
_Static_assert((int)ASCGRAD_TYPE_BF16 == (int)ASCGRAD_BF16, "dtype numbers are GE's");
_Static_assert((int)ASCGRAD_VIOLATION == (int)TWIN_VIOLATION, "one set of codes");
_Static_assert((int)ASCGRAD_SYSTEM == (int)TWIN_SYSTEM, "one set of codes");
_Static_assert(ASCGRAD_WHY >= TWIN_WHY, "the twin's sentences fit");
_Static_assert((int)ASCGRAD_RANK_MAX == (int)ASCGRAD_MAX_RANK, "one limit");
_Static_assert((int)ASCGRAD_INPUTS_MAX == (int)ASCGRAD_MAX_INPUTS, "one limit");
_Static_assert((int)ASCGRAD_OUTPUTS_MAX == (int)ASCGRAD_MAX_OUTPUTS, "one limit");
_Static_assert((int)ASCGRAD_ATTRS_MAX == (int)ASCGRAD_MAX_ATTRS, "one limit");
_Static_assert((int)ASCGRAD_CORES_MAX == (int)TWIN_MAX_CORES, "one limit");
_Static_assert(sizeof((struct ascgrad_report *)0)->warning ==
                   sizeof((struct twin_report *)0)->warning,
               "the twin's warnings fit");

/* What callers compiled with 3.0.0 have: these stay the last fields of that release. */
#define SIZE_UP_TO(type, field) (offsetof(type, field) + sizeof((type *)0)->field)
enum {
    CALL_FIRST = SIZE_UP_TO(struct ascgrad_call, context),
    REPORT_FIRST = SIZE_UP_TO(struct ascgrad_report, l2_share),
};

/* Programs of 2.0.0 give no size: their call begins with op, and their report with key and ends
 * with the warnings. No struct is as large as a pointer's value. */
struct call_of_2_0 {
    const char *op;
    const struct ascgrad_tensor *in;
    uint32_t inputs;
    struct ascgrad_tensor *out;
    uint32_t outputs;
    const struct ascgrad_setting *attr;
    uint32_t attrs;
    const char *soc;
    uint32_t cores;
    bool fast;
    uint64_t order;
    const char *trace;
    const struct ascgrad_watch *watch;
};
enum {
    LARGEST_CALL = 4096,
    REPORT_2_0 =
        offsetof(struct ascgrad_report, time_low_us) - offsetof(struct ascgrad_report, key),
};

static bool is_of_2_0(const struct ascgrad_call *call) {
    return call && call->size >= LARGEST_CALL;
}

/* The functions of every operator, in the order of the IR table. */
#define ASCGRAD_OP(type, op)                                                                       \
    ascgrad_infer_fn ascgrad_infer_##op;                                                           \
    ascgrad_infer_dtype_fn ascgrad_infer_dtype_##op;                                               \
    ascgrad_tile_fn ascgrad_tile_##op;                                                             \
    ascgrad_min_bytes_fn ascgrad_min_bytes_##op;
#include "ascgrad_ops.inc"
#undef ASCGRAD_OP

static const struct operator_code {
    ascgrad_infer_fn *infer;
    ascgrad_infer_dtype_fn *infer_dtype;
    ascgrad_tile_fn *tile;
    ascgrad_min_bytes_fn *min_bytes;
} operators[] = {
#define ASCGRAD_OP(type, op)                                                                       \
    {ascgrad_infer_##op, ascgrad_infer_dtype_##op, ascgrad_tile_##op, ascgrad_min_bytes_##op},
#include "ascgrad_ops.inc"
#undef ASCGRAD_OP
};

#define ASCGRAD_OP(type, op) OPERATOR_##op,
enum {
#include "ascgrad_ops.inc"
    OPERATORS,
    COLUMNS = 32, /* a set of columns is 32 bits: core/node.c */
};
#undef ASCGRAD_OP

#define ASCGRAD_COLUMN(type, op, column, first)                                                    \
    twin_entry_fn twin_entry_##op##_##first##_checked, twin_entry_##op##_##first##_fast;           \
    extern const uint32_t twin_arity_##op##_##first##_checked;
#include "ascgrad_columns.inc"
#undef ASCGRAD_COLUMN

/* The kernels of every operator, by column of dtypes. */
static const struct kernel {
    twin_entry_fn *entry[2]; /* checked, fast */
    const uint32_t *arity;
} kernels[OPERATORS][COLUMNS] = {
#define ASCGRAD_COLUMN(type, op, column, first)                                                    \
    [OPERATOR_##                                                                                   \
        op][column] = {{twin_entry_##op##_##first##_checked, twin_entry_##op##_##first##_fast},    \
                       &twin_arity_##op##_##first##_checked},
#include "ascgrad_columns.inc"
#undef ASCGRAD_COLUMN
};

/* A call resolved: as this version knows it, its IR, its code, its node, its chip. */
struct resolved {
    struct ascgrad_call call;
    uint32_t number; /* of the operator */
    const struct ascgrad_ir *ir;
    const struct operator_code *code;
    struct ascgrad_node node;
    struct ascgrad_shape in[ASCGRAD_MAX_INPUTS], out[ASCGRAD_MAX_OUTPUTS];
    struct twin_soc soc;
    struct ascgrad_chip chip;
};

__attribute__((format(printf, 3, 4))) static int fail(char *why, int code, const char *format,
                                                      ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(why, ASCGRAD_WHY, format, args);
    va_end(args);
    return code;
}

/* Dimensions are numbers, or -1: unknown; a single -2 is an unknown rank. */
static int set_shape(const struct ascgrad_tensor *t, struct ascgrad_shape *shape, char *why,
                     const struct ascgrad_ir *ir, const char *kind, const char *name) {
    if (t->rank < 0)
        return fail(why, ASCGRAD_USAGE, "%s: %s %s has no shape", ir->type, kind, name);
    if (t->rank > ASCGRAD_MAX_RANK)
        return fail(why, ASCGRAD_USAGE, "%s: %s %s has more than %d axes", ir->type, kind, name,
                    ASCGRAD_MAX_RANK);
    for (int32_t i = 0; i < t->rank; i++)
        if (t->dim[i] < -1 && !(t->rank == 1 && t->dim[i] == -2))
            return fail(why, ASCGRAD_USAGE, "%s: %s %s has a negative dimension", ir->type, kind,
                        name);
    shape->rank = (uint64_t)t->rank;
    memcpy(shape->dim, t->dim, (size_t)t->rank * sizeof shape->dim[0]);
    return ASCGRAD_OK;
}

static int set_inputs(struct resolved *r, char *why) {
    const struct ascgrad_call *call = &r->call;
    for (uint32_t i = 0; i < r->ir->inputs; i++) {
        struct ascgrad_arg *arg = &r->node.in[i];
        if (i >= call->inputs || call->in[i].rank < 0) {
            if (!r->ir->in[i].optional)
                return fail(why, ASCGRAD_USAGE, "%s needs input %s", r->ir->type,
                            r->ir->in[i].name);
            continue;
        }
        int code = set_shape(&call->in[i], &r->in[i], why, r->ir, "input", r->ir->in[i].name);
        if (code != ASCGRAD_OK) return code;
        arg->present = true;
        arg->dtype = call->in[i].dtype;
        arg->shape = &r->in[i];
    }
    return ASCGRAD_OK;
}

static int set_attrs(struct resolved *r, char *why) {
    const struct ascgrad_call *call = &r->call;
    for (uint32_t i = 0; i < r->ir->attrs; i++) {
        const struct ascgrad_ir_attr *ir = &r->ir->attr[i];
        const struct ascgrad_setting *set =
            call->attr && i < call->attrs && call->attr[i].set ? &call->attr[i] : NULL;
        if (!set && ir->required)
            return fail(why, ASCGRAD_USAGE, "%s needs attribute %s", r->ir->type, ir->name);
        struct ascgrad_attr *attr = &r->node.attr[i];
        *attr = ascgrad_attr_default(ir);
        if (!set) continue;
        if (ir->kind == ASCGRAD_ATTR_FLOAT)
            attr->f = set->real;
        else
            attr->i = set->value;
        attr->list = set->list;
        attr->count = attr->list ? set->count : 0;
    }
    return ASCGRAD_OK;
}

/* Cores of the fast twin when the call does not say: so many for each thread of the CPU. */
static uint32_t cores_of_cpu(uint32_t each) {
    uint64_t cores = (uint64_t)twin_cpus() * each;
    return cores > TWIN_MAX_CORES ? TWIN_MAX_CORES : (uint32_t)cores;
}

static int set_chip(struct resolved *r, char *why) {
    const struct ascgrad_call *call = &r->call;
    const struct twin_soc *soc = call->soc ? twin_find_soc(call->soc) : twin_soc_at(0);
    if (!soc) return fail(why, ASCGRAD_USAGE, "%s: there is no chip '%s'", r->ir->type, call->soc);
    r->soc = *soc;
    enum { SHARES = 4 }; /* so that a thread that starts late or is held up does less */
    uint32_t cores = !call->cores && call->fast ? cores_of_cpu(SHARES) : call->cores;
    if (cores > TWIN_MAX_CORES)
        return fail(why, ASCGRAD_USAGE, "%s: the twin has at most %d cores", r->ir->type,
                    TWIN_MAX_CORES);
    if (cores > r->soc.cores) r->soc.cores = cores; /* a chip with more cores, else the same */
    r->chip = (struct ascgrad_chip){cores ? cores : soc->cores, soc->arch, soc->ub, soc->l2};
    return ASCGRAD_OK;
}

/* The number of an operator in the IR table, or how many there are. */
static uint32_t find_operator(const char *type) {
    uint32_t i = 0;
    while (i < ascgrad_ir_count && strcmp(ascgrad_ir_table[i].type, type) != 0)
        i++;
    return i;
}

/* The call of an older caller lacks fields: they are 0. That of a newer one may have more: they
 * must be, for what they ask for is not known here. */
static int read_call(struct ascgrad_call *known, const struct ascgrad_call *call, char *why) {
    if (!call) return fail(why, ASCGRAD_USAGE, "there is no call");
    if (is_of_2_0(call)) {
        struct call_of_2_0 old;
        memcpy(&old, call, sizeof old);
        *known = (struct ascgrad_call){.size = sizeof *known,
                                       .op = old.op,
                                       .in = old.in,
                                       .inputs = old.inputs,
                                       .out = old.out,
                                       .outputs = old.outputs,
                                       .attr = old.attr,
                                       .attrs = old.attrs,
                                       .soc = old.soc,
                                       .cores = old.cores,
                                       .fast = old.fast,
                                       .order = old.order,
                                       .trace = old.trace,
                                       .watch = old.watch};
        return ASCGRAD_OK;
    }
    const size_t size = call->size, have = size < sizeof *known ? size : sizeof *known;
    if (size < CALL_FIRST)
        return fail(why, ASCGRAD_USAGE,
                    "the call's size is %zu, but must be sizeof(struct ascgrad_call), at least %d",
                    size, (int)CALL_FIRST);
    for (size_t i = have; i < size; i++)
        if (((const unsigned char *)call)[i])
            return fail(why, ASCGRAD_USAGE,
                        "the call sets a field that version %s of libascgrad does not have",
                        ASCGRAD_VERSION);
    memset(known, 0, sizeof *known);
    memcpy(known, call, have);
    return ASCGRAD_OK;
}

static int resolve(struct resolved *r, const struct ascgrad_call *given, char *why) {
    const struct ascgrad_call *call = &r->call;
    memset(r, 0, sizeof *r);
    int code = read_call(&r->call, given, why);
    if (code != ASCGRAD_OK) return code;
    if ((call->inputs && !call->in) || (call->outputs && !call->out))
        return fail(why, ASCGRAD_USAGE, "the call has no inputs or outputs");
    r->number = call->op ? find_operator(call->op) : call->number;
    if (r->number >= ascgrad_ir_count)
        return call->op ? fail(why, ASCGRAD_USAGE, "there is no operator '%s'", call->op)
                        : fail(why, ASCGRAD_USAGE, "there is no operator %u", call->number);
    r->ir = &ascgrad_ir_table[r->number];
    r->code = &operators[r->number];
    if (call->outputs < r->ir->outputs)
        return fail(why, ASCGRAD_USAGE, "%s: too few outputs", r->ir->type);
    r->node.ir = r->ir;
    r->node.name = r->ir->kernel;
    code = set_inputs(r, why);
    if (code == ASCGRAD_OK) code = set_attrs(r, why);
    if (code == ASCGRAD_OK) code = set_chip(r, why);
    return code;
}

/* Fills the outputs of the call: all of them, or those that have no rank. */
static int infer(struct resolved *r, bool all, char *why) {
    struct ascgrad_shape *out[ASCGRAD_MAX_OUTPUTS];
    int32_t dtype[ASCGRAD_MAX_OUTPUTS];
    struct ascgrad_error error;
    for (uint32_t i = 0; i < r->ir->outputs; i++)
        out[i] = &r->out[i];
    if (r->code->infer_dtype(&r->node, dtype, &error) != ASCGRAD_DONE ||
        r->code->infer(&r->node, out, &error) != ASCGRAD_DONE)
        return fail(why, ASCGRAD_REFUSES, "%s", error.text);
    for (uint32_t i = 0; i < r->ir->outputs; i++) {
        struct ascgrad_tensor *t = &r->call.out[i];
        if (!all && t->rank >= 0) continue;
        t->dtype = dtype[i];
        t->rank = (int32_t)r->out[i].rank;
        memcpy(t->dim, r->out[i].dim, sizeof t->dim);
    }
    return ASCGRAD_OK;
}

int ascgrad_infer(struct ascgrad_call *call, char why[ASCGRAD_WHY]) {
    struct resolved r;
    char unread[ASCGRAD_WHY];
    if (!why) why = unread;
    int code = resolve(&r, call, why);
    return code == ASCGRAD_OK ? infer(&r, true, why) : code;
}

/* The outputs as the caller has them; tiling compares them with what it expects. */
static int set_outputs(struct resolved *r, char *why) {
    const struct ascgrad_tensor *out = r->call.out;
    bool inferred = false;
    for (uint32_t i = 0; i < r->ir->outputs; i++)
        inferred = inferred || out[i].rank < 0;
    int code = inferred ? infer(r, false, why) : ASCGRAD_OK;
    for (uint32_t i = 0; code == ASCGRAD_OK && i < r->ir->outputs; i++) {
        code = set_shape(&out[i], &r->out[i], why, r->ir, "output", r->ir->out[i].name);
        r->node.out[i] = (struct ascgrad_arg){true, out[i].dtype, &r->out[i]};
    }
    return code;
}

static int tile(struct resolved *r, const struct ascgrad_call *given, struct ascgrad_plan *plan,
                char *why) {
    struct ascgrad_error error;
    struct ascgrad_launch launch = {.data = plan->data, .capacity = sizeof plan->data};
    int code = resolve(r, given, why);
    if (code == ASCGRAD_OK) code = set_outputs(r, why);
    if (code != ASCGRAD_OK) return code;
    bool done = r->code->tile(&r->node, &r->chip, &launch, &error) == ASCGRAD_DONE;
    if (done && launch.sync_all && r->call.fast && !r->call.cores) { /* all run at the same time */
        launch = (struct ascgrad_launch){.data = plan->data, .capacity = sizeof plan->data};
        r->chip.cores = cores_of_cpu(1);
        done = r->code->tile(&r->node, &r->chip, &launch, &error) == ASCGRAD_DONE;
    }
    if (!done) return fail(why, ASCGRAD_REFUSES, "%s", error.text);
    plan->key = launch.key;
    plan->block_dim = launch.block_dim;
    plan->workspace = launch.workspace;
    plan->sync_all = launch.sync_all;
    plan->size = launch.size;
    return ASCGRAD_OK;
}

int ascgrad_tile(const struct ascgrad_call *call, struct ascgrad_plan *plan,
                 char why[ASCGRAD_WHY]) {
    struct resolved r;
    char unread[ASCGRAD_WHY];
    if (!why) why = unread;
    if (!plan) return fail(why, ASCGRAD_USAGE, "there is no plan to fill");
    fp_state caller = fp_enter();
    int code = tile(&r, call, plan, why);
    fp_set(caller);
    return code;
}

bool ascgrad_plan_field(const char *op, const struct ascgrad_plan *plan, uint32_t index,
                        struct ascgrad_field *field) {
    if (!op || !plan || !field) return false;
    const uint32_t number = find_operator(op);
    if (number == ascgrad_ir_count) return false;
    const char *kernel = ascgrad_ir_table[number].kernel;
    for (const struct tiling_struct *t = ascgrad_tiling_structs; t->kernel; t++) {
        if (strcmp(t->kernel, kernel) != 0 || t->size != plan->size) continue;
        for (uint32_t i = 0; i <= index; i++)
            if (!t->field[i].name) return false;
        *field = t->field[index];
        return true;
    }
    return false;
}

static uint64_t tensor_bytes(const struct ascgrad_arg *arg) {
    return (uint64_t)ascgrad_elements(arg->shape, 0, arg->shape->rank) *
           ascgrad_dtype_size(arg->dtype);
}

/* The kernel's parameters in order: inputs, then outputs; absent and empty tensors are null
 * pointers, and so are all where no data is wanted. */
static int set_args(const struct resolved *r, bool data, struct twin_arg *arg, char *why) {
    const struct ascgrad_call *call = &r->call;
    uint32_t inputs = r->ir->inputs;
    for (uint32_t i = 0; i < inputs + r->ir->outputs; i++) {
        bool output = i >= inputs;
        uint32_t k = output ? i - inputs : i;
        const struct ascgrad_arg *a = output ? &r->node.out[k] : &r->node.in[k];
        arg[i].name = output ? r->ir->out[k].name : r->ir->in[k].name;
        arg[i].role = output ? TWIN_OUTPUT : TWIN_INPUT;
        arg[i].bytes = a->present ? tensor_bytes(a) : 0;
        arg[i].data = NULL;
        if (!data) continue;
        if (output && arg[i].bytes && !call->out[k].data && call->allocate) {
            call->out[k].data = call->allocate(call->context, k, arg[i].bytes);
            if (!call->out[k].data)
                return fail(why, ASCGRAD_SYSTEM, "%s: out of memory for output %s of %llu bytes",
                            r->ir->type, arg[i].name, (unsigned long long)arg[i].bytes);
        }
        arg[i].data = arg[i].bytes ? (output ? call->out[k].data : call->in[k].data) : NULL;
        if (arg[i].bytes && !arg[i].data)
            return fail(why, ASCGRAD_USAGE, "%s: tensor %s has no data", r->ir->type, arg[i].name);
    }
    return ASCGRAD_OK;
}

/* An output has memory of its own, or that of the input that the IR names. */
static int check_overlap(const struct resolved *r, const struct twin_arg *arg, uint32_t *in_place,
                         char *why) {
    uint32_t inputs = r->ir->inputs;
    for (uint32_t o = inputs; o < inputs + r->ir->outputs; o++)
        for (uint32_t i = 0; i < o; i++) {
            uintptr_t a = (uintptr_t)arg[i].data, b = (uintptr_t)arg[o].data;
            if (a + arg[i].bytes <= b || b + arg[o].bytes <= a) continue;
            if (a == b && r->ir->out[o - inputs].in_place == i + 1)
                in_place[o] = i + 1;
            else
                return fail(why, ASCGRAD_USAGE, "%s: %s must not overlap %s%s", r->ir->type,
                            arg[o].name, arg[i].name,
                            r->ir->out[o - inputs].in_place == i + 1 ? " in part" : "");
        }
    return ASCGRAD_OK;
}

/* Of the least bytes: at the data sheet's rate, at a copy's, and at that of the L2 for what fits.
 */
static void fill_ratios(struct ascgrad_report *report, const struct twin_soc *soc,
                        const struct twin_report *t) {
    const double bytes = (double)report->min_bytes, share = t->l2_share;
    const double sheet = bytes / soc->hbm_per_cycle, copy = bytes / t->copy_rate;
    const double near = bytes / soc->l2_per_cycle, far = copy * (1 - share);
    const double l2 = near > far ? near : far;
    report->roofline_us = sheet / soc->mhz;
    report->copy_us = copy / soc->mhz;
    report->copy_l2_us = l2 / soc->mhz;
    report->l2_share = share;
    report->time_low_us = t->cycles_low / soc->mhz;
    report->time_high_us = t->cycles_high / soc->mhz;
    report->time_l2_us = t->cycles_l2 / soc->mhz;
    if (bytes <= 0) return;
    report->ratio = t->cycles / copy;
    report->ratio_free = t->cycles_free / copy;
    report->ratio_worst = t->cycles_worst / copy;
    report->ratio_roofline = t->cycles / sheet;
    report->ratio_l2 = t->cycles_l2 / l2;
}

static void fill_report(struct ascgrad_report *report, const struct resolved *r,
                        const struct ascgrad_plan *plan, const struct twin_report *t) {
    memset(report, 0, sizeof *report);
    report->key = plan->key;
    report->block_dim = plan->block_dim;
    report->workspace = plan->workspace;
    if (!r->call.fast) report->min_bytes = r->code->min_bytes(&r->node);
    report->time_us = t->time_us;
    report->time_free_us = t->time_free_us;
    report->time_worst_us = t->time_worst_us;
    report->launch_us = t->launch_us;
    report->cycles = t->cycles;
    fill_ratios(report, &r->soc, t);
    report->gm_read = t->gm_read;
    report->gm_write = t->gm_write;
    report->busy_s = t->busy[TWIN_S];
    report->busy_v = t->busy[TWIN_V];
    report->busy_mte2 = t->busy[TWIN_MTE2];
    report->busy_mte3 = t->busy[TWIN_MTE3];
    report->dmas = t->dmas;
    report->barriers = t->barriers;
    report->vector_calls = t->vector_calls;
    report->scalar_instructions = (uint64_t)t->scalar;
    report->cores_used = t->cores_used;
    report->warnings = t->warnings;
    memcpy(report->warning, t->warning, sizeof report->warning);
}

/* As much as the caller has room for; what this version does not know is 0. */
static void give_report(struct ascgrad_report *report, bool of_2_0, const struct resolved *r,
                        const struct ascgrad_plan *plan, const struct twin_report *t) {
    struct ascgrad_report full;
    fill_report(&full, r, plan, t);
    if (of_2_0) {
        memcpy(report, (char *)&full + offsetof(struct ascgrad_report, key), REPORT_2_0);
        return;
    }
    const size_t size = report->size;
    full.size = size;
    memset(report, 0, size);
    memcpy(report, &full, size < sizeof full ? size : sizeof full);
}

/* What is wanted of a run beside the call itself. */
struct wish {
    const double *constants; /* of the cycle model; NULL: as they are */
    bool steps_only;
};

static int launch(struct resolved *r, const struct ascgrad_plan *plan, const struct wish *wish,
                  struct twin_report *t, char *why) {
    const struct ascgrad_call *call = &r->call;
    struct twin_arg arg[ASCGRAD_MAX_INPUTS + ASCGRAD_MAX_OUTPUTS];
    uint32_t in_place[ASCGRAD_MAX_INPUTS + ASCGRAD_MAX_OUTPUTS] = {0};
    int code = set_args(r, !wish->steps_only, arg, why);
    if (code == ASCGRAD_OK && !wish->steps_only) code = check_overlap(r, arg, in_place, why);
    if (code != ASCGRAD_OK) return code;
    const int32_t column = ascgrad_column(&r->node);
    const struct kernel *kernel = column < 0 ? NULL : &kernels[r->number][column];
    if (!kernel || !kernel->arity)
        return fail(why, ASCGRAD_REFUSES, "%s: there is no kernel for these dtypes", r->ir->type);
    struct twin_launch l = {
        .op = r->ir->type,
        .entry = kernel->entry[call->fast],
        .arity = *kernel->arity,
        .arg = arg,
        .args = r->ir->inputs + r->ir->outputs,
        .in_place = in_place,
        .tiling = plan->data,
        .tiling_bytes = plan->size,
        .workspace = plan->workspace,
        .key = plan->key,
        .block_dim = plan->block_dim,
        .sync_all = plan->sync_all,
        .soc = &r->soc,
        .checked = !call->fast,
        .order = call->order,
        .trace = call->fast ? NULL : call->trace,
        .watch = call->fast ? NULL : call->watch,
        .constants = wish->constants,
        .steps_only = wish->steps_only,
    };
    code = twin_run(&l, t, why);
    for (uint32_t i = r->ir->inputs; code == TWIN_OK && !call->fast && i < l.args; i++)
        if (t->unwritten[i]) {
            snprintf(why, ASCGRAD_WHY, "%s: %llu of %llu bytes of output %s were never written",
                     r->ir->type, (unsigned long long)t->unwritten[i],
                     (unsigned long long)arg[i].bytes, arg[i].name);
            code = ASCGRAD_VIOLATION;
        }
    return code;
}

/* Behind the constants of cycle_constants.h come those of the chip. */
const char *ascgrad_model_constant(uint32_t index, const char *name, double *value) {
    const struct twin_soc *soc = name ? twin_find_soc(name) : twin_soc_at(0);
    uint32_t count = 0;
    while (twin_cycle_name(count))
        count++;
    if (!soc) return NULL;
    if (index < count) return *value = twin_cycle_builtin[index], twin_cycle_name(index);
    struct twin_soc copy = *soc;
    const double *place = twin_soc_constant(&copy, index - count, &name);
    if (!place) return NULL;
    *value = *place;
    return name;
}

static int run(const struct ascgrad_call *call, const struct wish *wish,
               struct ascgrad_report *report, char *why) {
    struct resolved r;
    char unread[ASCGRAD_WHY];
    if (!why) why = unread;
    const bool of_2_0 = is_of_2_0(call);
    if (report && !of_2_0 && report->size < REPORT_FIRST)
        return fail(
            why, ASCGRAD_USAGE,
            "the report's size is %zu, but must be sizeof(struct ascgrad_report), at least %d",
            report->size, (int)REPORT_FIRST);
    fp_state caller = fp_enter();
    struct ascgrad_plan *plan = malloc(sizeof *plan);
    struct twin_report *t = calloc(1, sizeof *t);
    int code = plan && t ? tile(&r, call, plan, why) : fail(why, ASCGRAD_SYSTEM, "out of memory");
    if (code == ASCGRAD_OK && wish->steps_only && r.call.fast)
        code = fail(why, ASCGRAD_USAGE, "%s: a fast run is not timed", r.ir->type);
    if (code == ASCGRAD_OK) r.soc = twin_soc_with(&r.soc, wish->constants);
    if (code == ASCGRAD_OK) code = launch(&r, plan, wish, t, why);
    if (code == ASCGRAD_OK && report) give_report(report, of_2_0, &r, plan, t);
    free(plan);
    free(t);
    fp_set(caller);
    return code;
}

int ascgrad_run(const struct ascgrad_call *call, struct ascgrad_report *report,
                char why[ASCGRAD_WHY]) {
    return run(call, &(struct wish){0}, report, why);
}

int ascgrad_run_with(const struct ascgrad_call *call, const double *constants,
                     struct ascgrad_report *report, char why[ASCGRAD_WHY]) {
    return run(call, &(struct wish){.constants = constants}, report, why);
}

int ascgrad_perf(const struct ascgrad_call *call, struct ascgrad_report *report,
                 char why[ASCGRAD_WHY]) {
    return run(call, &(struct wish){.steps_only = true}, report, why);
}

const char *ascgrad_soc_name(uint32_t index) {
    const struct twin_soc *soc = twin_soc_at(index);
    return soc ? soc->name : NULL;
}

const char *ascgrad_version(void) {
    return ASCGRAD_VERSION;
}

const char *ascgrad_code_name(int code) {
    static const char *const names[] = {"ASCGRAD_OK", "ASCGRAD_USAGE", "ASCGRAD_REFUSES",
                                        "ASCGRAD_VIOLATION", "ASCGRAD_SYSTEM"};
    return code >= 0 && code < 5 ? names[code] : "unknown code";
}
