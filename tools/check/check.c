/* SPDX-License-Identifier: Apache-2.0
 *
 * `ascgrad check`: every row of op_reference on the checked twin against the double-precision
 * reference, then again with other core counts, another core order, another chip, the fast twin and
 * outputs in the memory of inputs, which must all give the same bits.
 */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "../commands.h"
#include "../help.h"

static const struct row rows[] = {
#define CASE(op, text)          {op, text, NULL},
#define REFUSE(op, text, words) {op, text, words},
#include "ascgrad_rows.h"
#undef CASE
#undef REFUSE
};

/* Too slow to be run here again and again; `ascgrad accept` runs them on the chip. */
static const struct row large[] = {
#define CASE(op, text)
#define REFUSE(op, text, words)
#define LARGE(op, text) {op, text, NULL},
#include "ascgrad_rows.h"
    {NULL, NULL, NULL},
};

const struct row *check_row(size_t index) {
    return index < sizeof rows / sizeof rows[0] ? &rows[index] : NULL;
}

const struct row *check_large_row(size_t index) {
    return index + 1 < sizeof large / sizeof large[0] ? &large[index] : NULL;
}

#define ASCGRAD_OP(type, op) ref_fn ref_##op;
#include "ascgrad_ops.inc"
#undef ASCGRAD_OP

static const struct {
    const char *type;
    ref_fn *run;
} references[] = {
#define ASCGRAD_OP(type, op) {#type, ref_##op},
#include "ascgrad_ops.inc"
#undef ASCGRAD_OP
};

struct tally {
    int passed, failed;
    double wide, narrow; /* worst value_error of fp32 and of 16-bit outputs */
};

enum { PIECE = 256 };

/* One word of a row: an input with its dtype, an attribute, or fill=. */
static bool take_word(struct request *r, char *word, const char *star, enum fill *fill, char *why) {
    static const char *const fills[] = {"normal", "small", "ones", "zeros", "inf", "nan"};
    if (strncmp(word, "fill=", 5) == 0) {
        for (int i = 0; i < 6; i++)
            if (strcmp(word + 5, fills[i]) == 0) return *fill = (enum fill)i, true;
        snprintf(why, ASCGRAD_WHY, "no such fill: %s", word);
        return false;
    }
    char name[PIECE], spec[PIECE];
    const char *value = strchr(word, '=');
    if (!value || value - word >= PIECE) {
        snprintf(why, ASCGRAD_WHY, "not NAME=VALUE: %.200s", word);
        return false;
    }
    snprintf(name, sizeof name, "%.*s", (int)(value - word), word);
    int i = request_input(r, name);
    if (i < 0) return request_attr(r, word, why);
    snprintf(spec, sizeof spec, "%s%.200s", value[1] == '*' ? star : "",
             value + (value[1] == '*' ? 2 : 1));
    if (text_parse_spec(spec, &r->in[i])) return true;
    snprintf(why, ASCGRAD_WHY, "not a dtype and shape: %s", spec);
    return false;
}

bool check_read_row(struct request *r, const struct row *row, const char *star, enum fill *fill,
                    char *why) {
    if (!request_begin(r, row->op)) {
        snprintf(why, ASCGRAD_WHY, "there is no operator %s", row->op);
        return false;
    }
    char *copy = strdup(row->text), *save;
    bool good = copy != NULL;
    for (char *w = copy ? strtok_r(copy, " ", &save) : NULL; good && w;
         w = strtok_r(NULL, " ", &save))
        good = take_word(r, w, star, fill, why);
    free(copy);
    return good;
}

bool check_make_data(struct ascgrad_tensor *t, uint32_t n, char *why) {
    for (uint32_t i = 0; i < n; i++) {
        int64_t bytes = t[i].rank < 0 ? 0 : text_tensor_bytes(&t[i]);
        if (bytes < 0 || !(t[i].data = malloc(bytes ? (size_t)bytes : 1))) {
            snprintf(why, ASCGRAD_WHY, "a tensor cannot be allocated");
            return false;
        }
        memset(t[i].data, 0xA5, (size_t)bytes); /* outputs start as rubbish */
    }
    return true;
}

/* The attributes as the reference sees them: defaults filled in. */
static void plain_attrs(const struct request *r, struct ascgrad_attr attr[]) {
    for (uint32_t i = 0; i < r->op.attrs; i++) {
        const struct ascgrad_setting *s = &r->attr[i];
        const struct ascgrad_attr_info *a = &r->op.attr[i];
        attr[i] = (struct ascgrad_attr){.list = s->list, .count = s->count};
        if (strcmp(a->type, "float") == 0)
            attr[i].f = s->set ? s->real : a->initial_real;
        else
            attr[i].i = s->set ? s->value : a->initial;
    }
}

static bool widen(const struct ascgrad_tensor *t, struct ref_tensor *ref, bool output) {
    memset(ref, 0, sizeof *ref);
    if (t->rank < 0) return true;
    int64_t n = text_tensor_elements(t);
    ref->present = true;
    ref->dtype = t->dtype;
    ref->shape.rank = (uint64_t)t->rank;
    memcpy(ref->shape.dim, t->dim, sizeof ref->shape.dim);
    ref->value = calloc(n ? (size_t)n : 1, sizeof *ref->value);
    ref->magnitude = output ? calloc(n ? (size_t)n : 1, sizeof *ref->magnitude) : NULL;
    if (!ref->value || (output && !ref->magnitude)) return false;
    for (int64_t i = 0; !output && i < n; i++)
        ref->value[i] = value_get(t->dtype, t->data, i);
    return true;
}

static double compare_output(const struct request *r, uint32_t k, const struct ref_tensor *want,
                             char *why) {
    double worst = 0;
    const struct ascgrad_tensor *t = &r->out[k];
    int64_t n = text_tensor_elements(t);
    for (int64_t i = 0; i < n; i++) {
        double got = value_get(t->dtype, t->data, i);
        double error = value_error(t->dtype, got, want->value[i], want->magnitude[i]);
        if (error > 1 && worst <= 1)
            snprintf(why, ASCGRAD_WHY,
                     "%s[%" PRId64 "] is %.9g, not %.9g: %.3g of the error allowed beyond rounding",
                     r->op.out[k].name, i, got, want->value[i], error);
        if (error > worst) worst = error;
    }
    return worst;
}

bool check_reference(const struct request *r, struct ref_tensor out[]) {
    struct ref_tensor in[ASCGRAD_INPUTS_MAX];
    struct ascgrad_attr attr[ASCGRAD_ATTRS_MAX] = {{0}};
    bool memory = true;
    for (uint32_t i = 0; i < r->op.inputs; i++)
        memory &= widen(&r->in[i], &in[i], false);
    for (uint32_t i = 0; i < r->op.outputs; i++)
        memory &= widen(&r->out[i], &out[i], true);
    plain_attrs(r, attr);
    for (size_t i = 0; memory && i < sizeof references / sizeof references[0]; i++)
        if (strcmp(references[i].type, r->op.type) == 0) references[i].run(in, attr, out);
    for (uint32_t i = 0; i < r->op.inputs; i++)
        free(in[i].value);
    return memory;
}

void check_reference_free(const struct request *r, struct ref_tensor out[]) {
    for (uint32_t i = 0; i < r->op.outputs; i++)
        free(out[i].value), free(out[i].magnitude);
}

/* The worst errors of all outputs go into the tally; false, and the first one in why, if one is
 * more than allowed. */
static bool against_reference(const struct request *r, struct tally *tally, char *why) {
    struct ref_tensor out[ASCGRAD_OUTPUTS_MAX];
    bool memory = check_reference(r, out), good = true;
    for (uint32_t i = 0; memory && i < r->op.outputs; i++) {
        double error = compare_output(r, i, &out[i], why);
        double *worst = r->out[i].dtype == ASCGRAD_TYPE_FP32 ? &tally->wide : &tally->narrow;
        good &= error <= 1;
        if (error > *worst) *worst = error;
    }
    check_reference_free(r, out);
    if (!memory) snprintf(why, ASCGRAD_WHY, "out of memory");
    return memory && good;
}

/* Another way to run the same call: the bits must not change. */
struct variant {
    const char *what, *soc;
    uint32_t cores;
    bool fast;
    uint64_t order;
    bool in_place; /* every output that may has the memory of its input */
};

/* The order of cores that is the usual one backwards. */
#define BACKWARDS UINT64_MAX

/* Bits, except that any NaN is as good as another: which of two operands' NaNs an addition keeps is
 * up to the CPU. */
bool check_same_values(const struct ascgrad_tensor *t, const void *a, const void *b) {
    int64_t n = text_tensor_elements(t), bytes = text_tensor_bytes(t), size = n ? bytes / n : 0;
    if (bytes == 0 || memcmp(a, b, (size_t)bytes) == 0) return true;
    for (int64_t i = 0; i < n; i++) {
        bool nan = isnan(value_get(t->dtype, a, i)) && isnan(value_get(t->dtype, b, i));
        if (!nan &&
            memcmp((const char *)a + i * size, (const char *)b + i * size, (size_t)size) != 0)
            return false;
    }
    return true;
}

/* Inputs move into the outputs that may have their memory; how many do. */
static int put_in_place(struct request *r) {
    int moved = 0;
    for (uint32_t k = 0; k < r->op.outputs; k++) {
        int32_t i = ascgrad_in_place(r->number, k);
        if (i < 0) continue;
        memcpy(r->out[k].data, r->in[i].data, (size_t)text_tensor_bytes(&r->in[i]));
        r->in[i].data = r->out[k].data;
        moved++;
    }
    return moved;
}

static bool same_bits(struct request *r, const struct variant *v, char *why) {
    struct ascgrad_tensor first[ASCGRAD_OUTPUTS_MAX], in[ASCGRAD_INPUTS_MAX];
    bool good = true;
    memcpy(first, r->out, sizeof first);
    memcpy(in, r->in, sizeof in);
    struct ascgrad_call call = request_call(r);
    call.soc = v->soc;
    call.cores = v->cores;
    call.fast = v->fast;
    call.order = v->order;
    char reason[ASCGRAD_WHY - 64];
    char full[ASCGRAD_WHY];
    if (!check_make_data(r->out, r->op.outputs, why)) good = false;
    bool run = good && !(v->in_place && put_in_place(r) == 0);
    if (run && ascgrad_run(&call, NULL, full) != ASCGRAD_OK) {
        snprintf(reason, sizeof reason, "%.900s", full);
        snprintf(why, ASCGRAD_WHY, "%s: %s", v->what, reason);
        good = false;
    }
    for (uint32_t i = 0; good && run && i < r->op.outputs; i++)
        if (!check_same_values(&first[i], first[i].data, r->out[i].data)) {
            snprintf(why, ASCGRAD_WHY, "%s: the bits of %s differ", v->what, r->op.out[i].name);
            good = false;
        }
    for (uint32_t i = 0; i < r->op.outputs; i++)
        free(r->out[i].data);
    memcpy(r->out, first, sizeof first);
    memcpy(r->in, in, sizeof in);
    return good;
}

/* Whether a chip takes the call at all: the first generation of the 910 has few of them. */
static bool takes(struct request *r, const char *soc) {
    struct ascgrad_call call = request_call(r);
    struct ascgrad_plan *plan = malloc(sizeof *plan);
    char why[ASCGRAD_WHY];
    call.soc = soc;
    const bool good = plan && ascgrad_tile(&call, plan, why) == ASCGRAD_OK;
    free(plan);
    return good;
}

static bool all_variants(struct request *r, char *why) {
    static const struct variant variants[] = {
        {.what = "one core", .cores = 1},
        {.what = "three cores", .cores = 3},
        {.what = "64 cores", .cores = 64},
        {.what = "another core order", .order = 7},
        {.what = "ascend950", .soc = "ascend950"},
        {.what = "fast", .fast = true},
        {.what = "in place", .in_place = true},
        {.what = "in place, cores backwards", .order = BACKWARDS, .in_place = true},
        {.what = "fast in place", .fast = true, .in_place = true},
    };
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++)
        if (!same_bits(r, &variants[i], why)) return false;
    return true;
}

/* The first generation of the 910, whose kernels are others. */
static bool on_first_910(struct request *r, struct tally *tally, char *why) {
    static const char soc[] = "ascend910a";
    static const struct variant variants[] = {
        {.what = "three cores of ascend910a", .soc = soc, .cores = 3, .order = 7},
        {.what = "one core of ascend910a", .soc = soc, .cores = 1},
        {.what = "fast as on ascend910a", .soc = soc, .fast = true},
        {.what = "in place on ascend910a", .soc = soc, .in_place = true},
        {.what = "in place on ascend910a, cores backwards",
         .soc = soc,
         .order = BACKWARDS,
         .in_place = true},
    };
    struct ascgrad_call call = request_call(r);
    char full[ASCGRAD_WHY];
    call.soc = soc;
    if (!takes(r, soc)) return true;
    if (ascgrad_run(&call, NULL, full) != ASCGRAD_OK || !against_reference(r, tally, full)) {
        snprintf(why, ASCGRAD_WHY, "ascend910a: %.900s", full);
        return false;
    }
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++)
        if (!same_bits(r, &variants[i], why)) return false;
    return true;
}

static bool run_case(struct request *r, enum fill fill, uint64_t seed, struct tally *tally,
                     char *why) {
    struct ascgrad_call call = request_call(r);
    if (!check_make_data(r->in, r->op.inputs, why)) return false;
    for (uint32_t i = 0; i < r->op.inputs; i++)
        if (r->in[i].rank >= 0) value_fill(&r->in[i], fill, seed + i);
    if (ascgrad_run(&call, NULL, why) != ASCGRAD_OK) return false;
    return against_reference(r, tally, why) && all_variants(r, why) && on_first_910(r, tally, why);
}

static bool run_refusal(struct request *r, const char *words, char *why) {
    struct ascgrad_call call = request_call(r);
    struct ascgrad_plan *plan = malloc(sizeof *plan);
    int code = plan ? ascgrad_infer(&call, why) : ASCGRAD_SYSTEM;
    if (code == ASCGRAD_OK) code = ascgrad_tile(&call, plan, why);
    free(plan);
    if (code == ASCGRAD_REFUSES && strstr(why, words)) return true;
    char said[600];
    snprintf(said, sizeof said, "%.590s", code == ASCGRAD_OK ? "nothing" : why);
    snprintf(why, ASCGRAD_WHY, "must be refused with '%.200s', but it said: %s", words, said);
    return false;
}

uint64_t check_seed(const struct row *row) {
    uint64_t seed = 1;
    for (const char *c = row->text; *c; c++)
        seed = seed * 31 + (unsigned char)*c;
    return seed;
}

static void run_row(const struct row *row, struct tally *tally) {
    static const char *const stars[] = {"fp32", "fp16", "bf16"};
    const uint64_t seed = check_seed(row);
    for (int i = 0; i < (strchr(row->text, '*') ? 3 : 1); i++) {
        struct request r;
        enum fill fill = FILL_NORMAL;
        char why[ASCGRAD_WHY] = "";
        bool good = check_read_row(&r, row, stars[i], &fill, why);
        if (good && row->refusal)
            good = run_refusal(&r, row->refusal, why);
        else if (good)
            good = run_case(&r, fill, seed, tally, why);
        if (!good)
            printf("FAIL %s %s (%s, seed %" PRIu64 ")\n     %s\n", row->op, row->text, stars[i],
                   seed, why);
        good ? tally->passed++ : tally->failed++;
        request_free(&r);
    }
}

/* The dtypes in which the operator's first row is accepted for this chip, as bits in the order
 * below: what `ascgrad support` shows. */
unsigned check_supported(const char *type, const char *soc) {
    static const char *const stars[] = {"fp32", "fp16", "bf16"};
    const struct row *row = NULL;
    for (size_t k = 0; !row && k < sizeof rows / sizeof rows[0]; k++)
        if (strcmp(rows[k].op, type) == 0 && !rows[k].refusal) row = &rows[k];
    struct ascgrad_plan *plan = malloc(sizeof *plan);
    unsigned dtypes = 0;
    for (unsigned i = 0; row && plan && i < 3; i++) {
        struct request r;
        enum fill fill;
        char why[ASCGRAD_WHY];
        bool good = check_read_row(&r, row, stars[i], &fill, why);
        r.soc = soc;
        struct ascgrad_call call = request_call(&r);
        good = good && ascgrad_tile(&call, plan, why) == ASCGRAD_OK;
        dtypes |= good ? 1u << i : 0;
        request_free(&r);
    }
    free(plan);
    return dtypes;
}

/* Rows of a file, one per line: the operator, then the words of a CASE row; # begins a comment. */
static int check_file(const char *path) {
    FILE *f = fopen(path, "r");
    if (!f) {
        complain("%s cannot be opened", path);
        return EXIT_FILES;
    }
    struct tally tally = {0};
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, f) > 0) {
        line[strcspn(line, "#\n")] = 0;
        char *words = strchr(line, ' ');
        if (!words) continue;
        *words++ = 0;
        run_row(&(struct row){line, words, NULL}, &tally);
    }
    free(line);
    fclose(f);
    printf("error beyond rounding / allowed: fp32 %.3f, 16 bits %.3f\n%d passed, %d failed\n",
           tally.wide, tally.narrow, tally.passed, tally.failed);
    return tally.failed || !tally.passed ? EXIT_VIOLATION : EXIT_DONE;
}

static void list_rows(const char *type) {
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        if (strcmp(rows[k].op, type) == 0)
            printf("%s %s%s\n", rows[k].op, rows[k].text, rows[k].refusal ? " (refused)" : "");
}

/* A thread that takes rows of one operator until there are no more. */
struct worker {
    const char *type;
    atomic_size_t *next;
    struct tally tally;
    pthread_t thread;
};

static void *take_rows(void *argument) {
    struct worker *w = argument;
    for (size_t k; (k = atomic_fetch_add(w->next, 1)) < sizeof rows / sizeof rows[0];)
        if (strcmp(rows[k].op, w->type) == 0) run_row(&rows[k], &w->tally);
    return NULL;
}

static void add_tally(struct tally *sum, const struct tally *t) {
    sum->passed += t->passed;
    sum->failed += t->failed;
    sum->wide = fmax(sum->wide, t->wide);
    sum->narrow = fmax(sum->narrow, t->narrow);
}

/* On as many processors as there are; where the system gives no thread, on one. */
static struct tally check_operator(const char *type) {
    enum { MOST = 64 };
    struct worker worker[MOST];
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    long n = 1;
    atomic_size_t next = 0;
    for (long i = 0; i < MOST; i++)
        worker[i] = (struct worker){.type = type, .next = &next};
    while (n < processors && n < MOST &&
           pthread_create(&worker[n].thread, NULL, take_rows, &worker[n]) == 0)
        n++;
    take_rows(&worker[0]);
    for (long i = 1; i < n; i++) {
        pthread_join(worker[i].thread, NULL);
        add_tally(&worker[0].tally, &worker[i].tally);
    }
    const struct tally tally = worker[0].tally;
    printf("%-28s %8d %8d %8.3f %8.3f\n", type, tally.passed, tally.failed, tally.wide,
           tally.narrow);
    fflush(stdout);
    return tally;
}

static bool known_operator(const char *name) {
    struct ascgrad_op_info op;
    for (uint32_t i = 0; ascgrad_describe(i, &op); i++)
        if (strcmp(name, op.type) == 0 || strcmp(name, op.kernel) == 0) return true;
    return false;
}

int cmd_check(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[0], "--rows") == 0) return check_file(argv[1]);
    const bool first = argc && strcmp(argv[0], "--list") == 0;
    const bool list = first || (argc && strcmp(argv[argc - 1], "--list") == 0);
    const char *only = argc - list == 1 ? argv[first] : NULL;
    if (argc - list > 1 || (only && only[0] == '-')) {
        complain("usage: ascgrad check [OP] [--list], or ascgrad check --rows FILE");
        return EXIT_USAGE;
    }
    struct tally all = {0};
    struct ascgrad_op_info op;
    if (only && !known_operator(only)) {
        help_unknown_operator(only);
        return EXIT_USAGE;
    }
    if (!list)
        printf("%47s error beyond rounding / allowed\n%-28s %8s %8s %8s %8s\n", "", "operator",
               "passed", "failed", "fp32", "16 bits");
    for (uint32_t i = 0; ascgrad_describe(i, &op); i++) {
        if (only && strcmp(only, op.type) != 0 && strcmp(only, op.kernel) != 0) continue;
        if (list) {
            list_rows(op.type);
            continue;
        }
        struct tally tally = check_operator(op.type);
        add_tally(&all, &tally);
    }
    if (!list) printf("%d passed, %d failed\n", all.passed, all.failed);
    return all.failed || (!list && !all.passed) ? EXIT_VIOLATION : EXIT_DONE;
}
