/* SPDX-License-Identifier: Apache-2.0
 *
 * `ascgrad infer`, `tile`, `run` and `perf`: one operator call described on the command line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../check/check.h"
#include "../commands.h"
#include "../help.h"
#include "npy.h"
#include "../out.h"
#include "perf_page.h"
#include "request.h"

enum { FOR_INFER = 1, FOR_TILE = 2, FOR_RUN = 4, FOR_PERF = 8 };
enum { COMPARED = 8 }; /* chips, or numbers of cores, that perf takes at once */

struct words {
    const char *file[ASCGRAD_OUTPUTS_MAX]; /* output files by index */
    const char *report, *html;
    const char *soc[COMPARED]; /* the last one is the request's, too */
    uint32_t cores[COMPARED];
    uint32_t socs, core_counts;
    bool reference; /* the double-precision reference, not the twin */
    bool steps_only;
    int what;       /* FOR_INFER, FOR_TILE, FOR_RUN or FOR_PERF */
    unsigned given; /* options that go only once, as bits */
};

static int add_input(struct request *r, struct words *w, char *word) {
    char *value = strchr(word, '=');
    if (!value) {
        complain("--in wants NAME=%s, not '%s'", w->what == FOR_RUN ? "FILE" : "dtype[shape]",
                 word);
        return EXIT_USAGE;
    }
    *value++ = 0;
    int i = request_input(r, word);
    if (i < 0 || r->in[i].rank >= 0) {
        complain(i < 0 ? "%s has no input '%s'" : "%s: input '%s' is given twice", r->op.type,
                 word);
        return EXIT_USAGE;
    }
    if (w->what != FOR_RUN) {
        if (text_parse_spec(value, &r->in[i])) return EXIT_DONE;
        complain("'%s' is not dtype[shape], such as fp16[2,64,128]; dtypes: fp32, fp16, bf16",
                 value);
        r->in[i].rank = -1;
        return EXIT_USAGE;
    }
    size_t n = strlen(value);
    bool bf16 = n > 5 && strcmp(value + n - 5, ":bf16") == 0;
    if (bf16) value[n - 5] = 0;
    const char *wrong = npy_read(value, bf16, &r->in[i]);
    if (!wrong) return EXIT_DONE;
    struct ascgrad_tensor spec;
    const bool shape = text_parse_spec(value, &spec);
    r->in[i].rank = -1;
    complain("%s: %s%s", value, wrong, shape ? "; run wants .npy files, perf takes shapes" : "");
    return EXIT_FILES;
}

static int add_output(struct request *r, struct words *w, char *word) {
    char *file = strchr(word, '=');
    if (!file || !file[1]) {
        complain("--out wants NAME=FILE, not '%s'", word);
        return EXIT_USAGE;
    }
    *file++ = 0;
    int i = request_output(r, word);
    if (i < 0 || w->file[i]) {
        complain(i < 0 ? "%s has no output '%s'" : "%s: output '%s' is given twice", r->op.type,
                 word);
        return EXIT_USAGE;
    }
    w->file[i] = file;
    return EXIT_DONE;
}

static int set_cores(struct request *r, struct words *w, char *word) {
    char *end;
    long n = strtol(word, &end, 10);
    if (end == word || *end || n < 1 || n > ASCGRAD_CORES_MAX) {
        complain("--cores wants a number from 1 to %d, not '%s'", ASCGRAD_CORES_MAX, word);
        return EXIT_USAGE;
    }
    if (w->core_counts == COMPARED) {
        complain("--cores goes at most %d times", COMPARED);
        return EXIT_USAGE;
    }
    w->cores[w->core_counts++] = r->cores = (uint32_t)n;
    return EXIT_DONE;
}

static int add_attr(struct request *r, struct words *w, char *word) {
    char why[ASCGRAD_WHY];
    (void)w;
    if (request_attr(r, word, why)) return EXIT_DONE;
    complain("%s", why);
    return EXIT_USAGE;
}

static int set_soc(struct request *r, struct words *w, char *word) {
    if (w->socs == COMPARED) {
        complain("--soc goes at most %d times", COMPARED);
        return EXIT_USAGE;
    }
    const char *chip = help_chip(word);
    if (!chip) {
        help_unknown_chip(word);
        return EXIT_USAGE;
    }
    w->soc[w->socs++] = r->soc = chip;
    return EXIT_DONE;
}

static int set_report(struct request *r, struct words *w, char *word) {
    (void)r;
    w->report = word;
    return EXIT_DONE;
}

static int set_html(struct request *r, struct words *w, char *word) {
    (void)r;
    w->html = word;
    return EXIT_DONE;
}

static int set_trace(struct request *r, struct words *w, char *word) {
    (void)w;
    r->trace = word;
    return EXIT_DONE;
}

enum { TIMED = FOR_TILE | FOR_RUN | FOR_PERF, ALL = FOR_INFER | TIMED };

static const struct option {
    const char *name;
    int allowed;
    int often; /* for these it may be given more than once */
    int (*take)(struct request *r, struct words *w, char *word);
} options[] = {
    {"--in", ALL, ALL, add_input},
    {"--attr", ALL, ALL, add_attr},
    {"--out", FOR_RUN, FOR_RUN, add_output},
    {"--soc", TIMED, FOR_PERF, set_soc},
    {"--cores", TIMED, FOR_PERF, set_cores},
    {"--report", FOR_RUN, 0, set_report},
    {"--trace", FOR_RUN | FOR_PERF, 0, set_trace},
    {"--html", FOR_PERF, 0, set_html},
};

/* One option with its value; *used is how many words it took. */
static int one_option(struct request *r, struct words *w, int argc, char **argv, int *used) {
    enum { OPTIONS = sizeof options / sizeof options[0] };
    *used = 1;
    if (strcmp(argv[0], "--fast") == 0 && w->what == FOR_RUN) return r->fast = true, EXIT_DONE;
    if (strcmp(argv[0], "--reference") == 0 && w->what == FOR_RUN)
        return w->reference = true, EXIT_DONE;
    if (strcmp(argv[0], "--steps-only") == 0 && w->what == FOR_PERF)
        return w->steps_only = true, EXIT_DONE;
    int k = 0;
    while (k < OPTIONS &&
           (strcmp(argv[0], options[k].name) != 0 || !(options[k].allowed & w->what)))
        k++;
    if (k == OPTIONS) {
        complain("'%s' is no option; see ascgrad --help", argv[0]);
        return EXIT_USAGE;
    }
    if (argc < 2) {
        complain("%s wants a value", argv[0]);
        return EXIT_USAGE;
    }
    *used = 2;
    if (!(options[k].often & w->what) && w->given >> k & 1) {
        complain("%s is given twice", argv[0]);
        return EXIT_USAGE;
    }
    w->given |= 1u << k;
    return options[k].take(r, w, argv[1]);
}

static int parse(struct request *r, struct words *w, int what, int argc, char **argv) {
    memset(w, 0, sizeof *w);
    w->what = what;
    memset(r, 0, sizeof *r);
    if (argc < 1 || argv[0][0] == '-') {
        complain("which operator? See ascgrad ops");
        return EXIT_USAGE;
    }
    if (!request_begin(r, argv[0])) {
        help_unknown_operator(argv[0]);
        return EXIT_USAGE;
    }
    for (int i = 1, used; i < argc; i += used) {
        int status = one_option(r, w, argc - i, argv + i, &used);
        if (status != EXIT_DONE) return status;
    }
    return EXIT_DONE;
}

/* The status of a libascgrad call as an exit status, with its sentence on stderr. */
static int report_code(int code, const char *why) {
    if (code != ASCGRAD_OK) complain("%s", why);
    return code;
}

int cmd_infer(int argc, char **argv) {
    struct request r;
    struct words w;
    char why[ASCGRAD_WHY];
    int status = parse(&r, &w, FOR_INFER, argc, argv);
    if (status == EXIT_DONE) {
        struct ascgrad_call call = request_call(&r);
        status = report_code(ascgrad_infer(&call, why), why);
    }
    for (uint32_t i = 0; status == EXIT_DONE && i < r.op.outputs; i++) {
        char dims[640];
        text_print_dims(dims, sizeof dims, &r.out[i]);
        printf("%s=%s[%s]\n", r.op.out[i].name, text_dtype(r.out[i].dtype), dims);
    }
    request_free(&r);
    return status;
}

static void print_number(const unsigned char *at, const struct ascgrad_field *f) {
    if (f->is_float) {
        float v;
        memcpy(&v, at, sizeof v);
        printf("%.9g", v);
    } else {
        uint64_t v = 0;
        memcpy(&v, at, f->size);
        unsigned unused = 64 - 8 * (unsigned)f->size; /* bits above the field */
        if (f->is_signed)
            printf("%lld", (long long)(v << unused) >> unused);
        else
            printf("%llu", (unsigned long long)v);
    }
}

static void print_fields(const char *op, const struct ascgrad_plan *plan) {
    struct ascgrad_field f;
    printf("  \"fields\": {");
    for (uint32_t i = 0; ascgrad_plan_field(op, plan, i, &f); i++) {
        printf("%s\n    \"%s\": ", i ? "," : "", f.name);
        if (f.count != 1) printf("[");
        for (size_t k = 0; k < f.count; k++) {
            if (k) printf(", ");
            print_number(plan->data + f.offset + k * f.stride, &f);
        }
        if (f.count != 1) printf("]");
    }
    printf("\n  },\n");
}

int cmd_tile(int argc, char **argv) {
    struct request r;
    struct words w;
    char why[ASCGRAD_WHY];
    int status = parse(&r, &w, FOR_TILE, argc, argv);
    struct ascgrad_plan *plan = calloc(1, sizeof *plan);
    if (status == EXIT_DONE && !plan) {
        complain("out of memory");
        status = EXIT_FILES;
    }
    if (status == EXIT_DONE) {
        struct ascgrad_call call = request_call(&r);
        status = report_code(ascgrad_tile(&call, plan, why), why);
    }
    if (status == EXIT_DONE) {
        printf("{\n  \"format\": 1,\n  \"op\": \"%s\",\n  \"key\": %llu,\n  \"block_dim\": %u,\n  "
               "\"workspace\": %llu,\n"
               "  \"sync_all\": %s,\n  \"tiling_bytes\": %zu,\n",
               r.op.type, (unsigned long long)plan->key, plan->block_dim,
               (unsigned long long)plan->workspace, plan->sync_all ? "true" : "false", plan->size);
        print_fields(r.op.type, plan);
        printf("  \"tiling_hex\": \"");
        for (size_t i = 0; i < plan->size; i++)
            printf("%02x", plan->data[i]);
        printf("\"\n}\n");
    }
    free(plan);
    request_free(&r);
    return status;
}

/* The warnings' texts as JSON; they hold names and numbers, and file names of kernels. */
static void print_warnings(FILE *f, const struct ascgrad_report *p) {
    fprintf(f, "  \"warnings\": %u,\n  \"warning\": [", p->warnings);
    for (uint32_t i = 0; i < p->warnings && i < ASCGRAD_WARNINGS; i++) {
        fprintf(f, "%s\n    \"", i ? "," : "");
        for (const char *c = p->warning[i]; *c; c++)
            fprintf(f, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
        fputc('"', f);
    }
    fprintf(f, "%s]\n}\n", p->warnings ? "\n  " : "");
}

/* An attribute that was given, as JSON. */
static void print_setting(FILE *f, const char *type, const struct ascgrad_setting *s) {
    struct text_float text;
    const bool real = strstr(type, "loat") != NULL;
    if (strncmp(type, "list", 4) != 0) {
        if (strcmp(type, "bool") == 0)
            fputs(s->value ? "true" : "false", f);
        else if (real)
            fputs(text_print_float(s->real, &text), f);
        else
            fprintf(f, "%lld", (long long)s->value);
        return;
    }
    fputc('[', f);
    for (size_t i = 0; i < s->count; i++) {
        if (i) fputs(", ", f);
        if (real)
            fputs(text_print_float(s->reals[i], &text), f);
        else
            fprintf(f, "%lld", (long long)s->list[i]);
    }
    fputc(']', f);
}

/* What was asked: the inputs and attributes that were given. */
static void print_call(FILE *f, const struct request *r) {
    const char *comma = "";
    fputs("  \"inputs\": {", f);
    for (uint32_t i = 0; i < r->op.inputs; i++) {
        char dims[640];
        if (r->in[i].rank < 0) continue;
        text_print_dims(dims, sizeof dims, &r->in[i]);
        fprintf(f, "%s\"%s\": \"%s[%s]\"", comma, r->op.in[i].name, text_dtype(r->in[i].dtype),
                dims);
        comma = ", ";
    }
    fputs("},\n  \"attrs\": {", f);
    comma = "";
    for (uint32_t i = 0; i < r->op.attrs; i++) {
        if (!r->attr[i].set) continue;
        fprintf(f, "%s\"%s\": ", comma, r->op.attr[i].name);
        print_setting(f, r->op.attr[i].type, &r->attr[i]);
        comma = ", ";
    }
    fputs("},\n", f);
}

static int print_report(FILE *f, const struct request *r, const struct ascgrad_report *p,
                        bool steps_only) {
    fprintf(f,
            "{\n  \"format\": 1,\n  \"version\": \"%s\",\n  \"op\": \"%s\",\n  \"soc\": \"%s\",\n",
            ascgrad_version(), r->op.type, r->soc ? r->soc : ascgrad_soc_name(0));
    print_call(f, r);
    fprintf(f, "  \"key\": %llu,\n  \"block_dim\": %u,\n  \"workspace\": %llu,\n",
            (unsigned long long)p->key, p->block_dim, (unsigned long long)p->workspace);
    fprintf(f,
            "  \"time_us\": %.3f,\n  \"time_free_us\": %.3f,\n  \"time_worst_us\": %.3f,\n"
            "  \"launch_us\": %.3f,\n  \"cycles\": %.0f,\n  \"roofline_us\": %.3f,\n",
            p->time_us, p->time_free_us, p->time_worst_us, p->launch_us, p->cycles, p->roofline_us);
    fprintf(f, "  \"ratio\": %.4f,\n  \"ratio_free\": %.4f,\n  \"ratio_worst\": %.4f,\n", p->ratio,
            p->ratio_free, p->ratio_worst);
    fprintf(f, "  \"ratio_roofline\": %.4f,\n  \"time_low_us\": %.3f,\n  \"time_high_us\": %.3f,\n",
            p->ratio_roofline, p->time_low_us, p->time_high_us);
    fprintf(f, "  \"copy_us\": %.3f,\n  \"time_l2_us\": %.3f,\n  \"copy_l2_us\": %.3f,\n",
            p->copy_us, p->time_l2_us, p->copy_l2_us);
    fprintf(f, "  \"ratio_l2\": %.4f,\n  \"l2_share\": %.4f,\n", p->ratio_l2, p->l2_share);
    fprintf(f, "  \"gm_read\": %llu,\n  \"gm_write\": %llu,\n  \"min_bytes\": %llu,\n",
            (unsigned long long)p->gm_read, (unsigned long long)p->gm_write,
            (unsigned long long)p->min_bytes);
    fprintf(f,
            "  \"busy\": {\"V\": %.0f, \"MTE2\": %.0f, \"MTE3\": %.0f, \"S\": %.0f},\n"
            "  \"dma\": %llu,\n  \"barriers\": %llu,\n  \"vector_calls\": %llu,\n"
            "  \"scalar_instructions\": %llu,\n"
            "  \"cores_used\": %u,\n",
            p->busy_v, p->busy_mte2, p->busy_mte3, p->busy_s, (unsigned long long)p->dmas,
            (unsigned long long)p->barriers, (unsigned long long)p->vector_calls,
            (unsigned long long)p->scalar_instructions, p->cores_used);
    fprintf(f, "  \"steps_only\": %s,\n", steps_only ? "true" : "false");
    print_warnings(f, p);
    return ferror(f) ? EXIT_FILES : EXIT_DONE;
}

static int allocate(struct ascgrad_tensor *tensors, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (tensors[i].rank < 0) continue;
        int64_t bytes = text_tensor_bytes(&tensors[i]);
        if (bytes < 0) {
            complain("every dimension must be known and the tensor must fit 64 bits");
            return EXIT_USAGE;
        }
        tensors[i].data = calloc(1, bytes ? (size_t)bytes : 1);
        if (!tensors[i].data) {
            complain("out of memory: a tensor of %lld bytes", (long long)bytes);
            return EXIT_FILES;
        }
    }
    return EXIT_DONE;
}

static int write_files(const struct request *r, const struct words *w) {
    for (uint32_t i = 0; i < r->op.outputs; i++) {
        if (!w->file[i]) continue;
        const char *wrong = npy_write(w->file[i], &r->out[i]);
        if (wrong) {
            complain("%s: %s", w->file[i], wrong);
            return EXIT_FILES;
        }
    }
    return EXIT_DONE;
}

static int write_report(const struct request *r, const struct words *w,
                        const struct ascgrad_report *report) {
    if (!w->report) return EXIT_DONE;
    struct out out;
    const char *wrong = out_begin(&out, w->report, OUT_GIVEN);
    if (!wrong) {
        print_report(out.file, r, report, false); /* what goes wrong shows at the end */
        wrong = out_end(&out);
    }
    if (wrong) complain("%s: the report cannot be written: %s", w->report, wrong);
    return wrong ? EXIT_FILES : EXIT_DONE;
}

/* The twin writes the trace itself, by its name: it is given that of the growing file. */
static int begin_trace(struct request *r, struct out *out) {
    *out = (struct out){0};
    const bool wanted = r->trace && !r->fast; /* a fast run has none */
    const char *wrong = wanted ? out_begin(out, r->trace, OUT_GIVEN) : NULL;
    if (wrong) {
        complain("%s: the trace cannot be written: %s", r->trace, wrong);
        return EXIT_FILES;
    }
    if (out->part[0]) r->trace = out->part;
    return EXIT_DONE;
}

static int end_trace(struct out *out, int status) {
    const char *wrong = NULL;
    char path[PATH_MAX];
    memcpy(path, out->path, sizeof path);
    if (status == EXIT_DONE && path[0])
        wrong = out_end(out);
    else
        out_drop(out);
    if (wrong) complain("%s: the trace cannot be written: %s", path, wrong);
    return wrong ? EXIT_FILES : status;
}

/* The inputs have their data. */
static int execute(struct request *r, struct ascgrad_report *report) {
    char why[ASCGRAD_WHY];
    struct ascgrad_call call = request_call(r);
    report->size = sizeof *report;
    return report_code(ascgrad_run(&call, report, why), why);
}

/* The same by the reference: the outputs are its values, rounded once. */
static int execute_reference(struct request *r) {
    char why[ASCGRAD_WHY];
    struct ref_tensor out[ASCGRAD_OUTPUTS_MAX];
    struct ascgrad_plan *plan = malloc(sizeof *plan);
    struct ascgrad_call call = request_call(r);
    /* tiling has the last word on what is refused */
    int status = plan ? report_code(ascgrad_tile(&call, plan, why), why) : EXIT_FILES;
    if (status == EXIT_DONE) status = allocate(r->out, r->op.outputs);
    free(plan);
    if (status != EXIT_DONE) return status;
    bool memory = check_reference(r, out);
    for (uint32_t i = 0; memory && i < r->op.outputs; i++)
        for (int64_t k = 0; k < text_tensor_elements(&r->out[i]); k++)
            value_set(r->out[i].dtype, r->out[i].data, k, out[i].value[k]);
    check_reference_free(r, out);
    if (!memory) complain("out of memory");
    return memory ? EXIT_DONE : EXIT_FILES;
}

/* The last of two would win without a word. */
static int check_files(const struct request *r, const struct words *w) {
    const char *file[ASCGRAD_OUTPUTS_MAX + 3] = {w->report, r->trace, w->html};
    memcpy(file + 3, w->file, sizeof w->file);
    for (size_t i = 0; i < sizeof file / sizeof file[0]; i++)
        for (size_t k = 0; k < i; k++)
            if (file[i] && file[k] && strcmp(file[i], file[k]) == 0) {
                complain("%s is to be written twice", file[i]);
                return EXIT_USAGE;
            }
    return EXIT_DONE;
}

int cmd_run(int argc, char **argv) {
    struct request r;
    struct words w;
    struct ascgrad_report report;
    struct out trace = {0};
    int status = parse(&r, &w, FOR_RUN, argc, argv);
    if (status == EXIT_DONE) status = check_files(&r, &w);
    if (status == EXIT_DONE && w.reference && (w.report || r.fast || r.trace)) {
        complain("--reference goes without --fast, --report and --trace");
        status = EXIT_USAGE;
    }
    if (status == EXIT_DONE) status = begin_trace(&r, &trace);
    if (status == EXIT_DONE) status = w.reference ? execute_reference(&r) : execute(&r, &report);
    status = end_trace(&trace, status);
    if (status == EXIT_DONE) status = write_files(&r, &w);
    if (status == EXIT_DONE) status = write_report(&r, &w, &report);
    bool kept = w.report || r.trace;
    for (uint32_t i = 0; i < r.op.outputs; i++)
        kept = kept || w.file[i];
    if (status == EXIT_DONE && !kept)
        printf("%s: done%s; --out NAME=FILE keeps an output\n", r.op.type,
               r.fast || w.reference ? "" : ", and no rule was broken");
    request_free(&r);
    return status;
}

struct told {
    const struct request *request;
    const struct ascgrad_report *report;
    bool steps_only;
};

static void print_told(FILE *f, const void *context) {
    const struct told *told = context;
    print_report(f, told->request, told->report, told->steps_only);
}

/* The bytes of all tensors, or -1 where they do not fit 64 bits or a dimension is not known. */
static int64_t bytes_of(const struct ascgrad_tensor *tensors, uint32_t n) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        const int64_t bytes = tensors[i].rank < 0 ? 0 : text_tensor_bytes(&tensors[i]);
        if (bytes < 0 || __builtin_add_overflow(sum, bytes, &sum)) return -1;
    }
    return sum;
}

/* A call whose tensors are large is timed without them: a checked run would take minutes, or more
 * memory than there is. */
static int choose_steps(struct request *r, bool *steps_only) {
    const int64_t most = (int64_t)1 << 30;
    char why[ASCGRAD_WHY];
    struct ascgrad_call call = request_call(r);
    const int64_t in = bytes_of(r->in, r->op.inputs);
    int status = in < 0 ? EXIT_USAGE : report_code(ascgrad_infer(&call, why), why);
    const int64_t out = status == EXIT_DONE ? bytes_of(r->out, r->op.outputs) : 0;
    if (in < 0 || out < 0) {
        complain("every dimension must be known and the tensor must fit 64 bits");
        return EXIT_USAGE;
    }
    if (status != EXIT_DONE || *steps_only || (in <= most && out <= most - in)) return status;
    *steps_only = true;
    fprintf(stderr,
            "ascgrad: the tensors have %.1f GB: the kernel's steps are timed without data, and no "
            "rule is checked\n",
            ((double)in + (double)out) / 1e9);
    return EXIT_DONE;
}

static int time_steps(struct request *r, struct ascgrad_report *report) {
    char why[ASCGRAD_WHY];
    struct ascgrad_call call = request_call(r);
    report->size = sizeof *report;
    return report_code(ascgrad_perf(&call, report, why), why);
}

/* One run of perf: its report, and its part of the page if there is to be one. */
static int measure(struct request *r, bool steps_only, FILE *page) {
    struct ascgrad_report report;
    struct perf_run *run = page ? perf_run_begin() : NULL;
    r->watch = run ? perf_run_watch(run) : NULL;
    int status = steps_only ? time_steps(r, &report) : execute(r, &report);
    if (status == EXIT_DONE) status = print_report(stdout, r, &report, steps_only);
    if (status == EXIT_DONE && page &&
        !(run &&
          perf_page_run(page, run, &report, print_told, &(struct told){r, &report, steps_only}))) {
        complain("out of memory for the page");
        status = EXIT_FILES;
    }
    perf_run_free(run);
    request_free_outputs(r);
    return status;
}

/* Every chip with every number of cores that was asked for; more than one make a JSON array. */
static int measure_all(struct request *r, const struct words *w, FILE *page) {
    uint32_t socs = w->socs ? w->socs : 1, counts = w->core_counts ? w->core_counts : 1;
    bool several = socs * counts > 1;
    int status = EXIT_DONE;
    if (several && r->trace) {
        complain("--trace is of one run; give one --soc and one --cores");
        return EXIT_USAGE;
    }
    if (several) printf("[\n");
    for (uint32_t i = 0; i < socs * counts && status == EXIT_DONE; i++) {
        r->soc = w->soc[i / counts];
        r->cores = w->cores[i % counts];
        if (i) printf(",\n");
        status = measure(r, w->steps_only, page);
    }
    if (several) printf("]\n");
    return status;
}

int cmd_perf(int argc, char **argv) {
    struct request r;
    struct words w;
    struct out page = {0}, trace = {0};
    const char *wrong = NULL;
    int status = parse(&r, &w, FOR_PERF, argc, argv);
    if (status == EXIT_DONE) status = check_files(&r, &w);
    if (status == EXIT_DONE) status = choose_steps(&r, &w.steps_only);
    if (status == EXIT_DONE && !w.steps_only) status = allocate(r.in, r.op.inputs);
    if (status == EXIT_DONE && w.html) wrong = out_begin(&page, w.html, OUT_GIVEN);
    if (status == EXIT_DONE && !wrong) status = begin_trace(&r, &trace);
    if (page.file) perf_page_begin(page.file);
    if (status == EXIT_DONE && !wrong) status = measure_all(&r, &w, page.file);
    status = end_trace(&trace, status);
    if (page.file && status == EXIT_DONE) {
        perf_page_end(page.file);
        wrong = out_end(&page);
    }
    out_drop(&page);
    if (wrong) {
        complain("%s: the page cannot be written: %s", w.html, wrong);
        status = EXIT_FILES;
    }
    request_free(&r);
    return status;
}
