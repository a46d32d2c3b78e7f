/* SPDX-License-Identifier: Apache-2.0
 *
 * `ascgrad ttk DIR`: the rows of `ascgrad check` as test cases of the vendor's test kit (TTK), one
 * CSV file per operator in the columns of `ttk geir`, and golden.py, the plug-in whose golden is
 * our double-precision reference. Rows with infinities or NaNs are left out: the kit's ranges
 * cannot say where those lie.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"
#include "../commands.h"
#include "../out.h"

extern const char golden_py[]; /* golden.py, made by cmake/embed.cmake */

static const char columns[] =
    "testcase_name,network_name,op_name,input_shapes,input_dtypes,input_formats,output_shapes,"
    "output_dtypes,output_formats,input_ori_shapes,input_ori_formats,output_ori_shapes,"
    "output_ori_formats,attributes,input_data_ranges,precision_tolerances,absolute_precision,"
    "output_inplace_indexes,output_shape_unknown_indexes,is_enabled,remark,soc_series,priority,"
    "dump_file_prefix,manual_input_binaries,manual_golden_binaries,dyn_input_shapes\n";

static const char *long_dtype(int32_t dtype) {
    return dtype == ASCGRAD_TYPE_FP32   ? "float32"
           : dtype == ASCGRAD_TYPE_FP16 ? "float16"
                                        : "bfloat16";
}

static void print_shape(FILE *f, const struct ascgrad_tensor *t) {
    if (t->rank < 0) {
        fputs("None,", f);
        return;
    }
    fputc('(', f);
    for (int32_t k = 0; k < t->rank; k++)
        fprintf(f, "%lld,", (long long)t->dim[k]);
    fputs("),", f);
}

static void print_shapes(FILE *f, const struct ascgrad_tensor *t, uint32_t n) {
    fputs("\"(", f);
    for (uint32_t i = 0; i < n; i++)
        print_shape(f, &t[i]);
    fputs(")\",", f);
}

static void print_dtypes(FILE *f, const struct ascgrad_tensor *t, uint32_t n) {
    fputs("\"(", f);
    for (uint32_t i = 0; i < n; i++)
        fprintf(f, t[i].rank < 0 ? "None," : "'%s',", long_dtype(t[i].dtype));
    fputs(")\",", f);
}

static void print_formats(FILE *f, const struct ascgrad_tensor *t, uint32_t n) {
    fputs("\"(", f);
    for (uint32_t i = 0; i < n; i++)
        fputs(t[i].rank < 0 ? "None," : "'ND',", f);
    fputs(")\",", f);
}

/* A whole number is a float for a float attribute only. */
static void print_float(FILE *f, float value) {
    struct text_float text;
    const char *s = text_print_float(value, &text);
    fprintf(f, strpbrk(s, ".en") ? "%s" : "%s.0", s);
}

static void print_attr(FILE *f, const struct ascgrad_attr_info *info,
                       const struct ascgrad_setting *set) {
    bool list = strncmp(info->type, "list", 4) == 0;
    fprintf(f, "'%s': ", info->name);
    if (list) {
        fputc('[', f);
        for (size_t k = 0; k < set->count; k++) {
            if (k) fputs(", ", f);
            if (strcmp(info->type, "listInt") == 0)
                fprintf(f, "%lld", (long long)set->list[k]);
            else
                print_float(f, set->reals[k]);
        }
        fputc(']', f);
    } else if (strcmp(info->type, "bool") == 0) {
        fputs(set->value ? "True" : "False", f);
    } else if (strcmp(info->type, "float") == 0) {
        print_float(f, set->real);
    } else {
        fprintf(f, "%lld", (long long)set->value);
    }
}

static void print_attrs(FILE *f, const struct request *r) {
    const char *comma = "";
    fputs("\"{", f);
    for (uint32_t i = 0; i < r->op.attrs; i++) {
        if (!r->attr[i].set) continue;
        fputs(comma, f);
        print_attr(f, &r->op.attr[i], &r->attr[i]);
        comma = ", ";
    }
    fputs("}\",", f);
}

/* The kit draws uniformly from the range. A reciprocal deviation is positive. */
static void print_ranges(FILE *f, const struct request *r, enum fill fill) {
    const char *range = fill == FILL_ZEROS   ? "(0, 0)"
                        : fill == FILL_ONES  ? "(1, 1)"
                        : fill == FILL_SMALL ? "(-1, 1)"
                                             : "(-2, 2)";
    fputs("\"(", f);
    for (uint32_t i = 0; i < r->op.inputs; i++)
        fprintf(f, "%s,", strstr(r->op.in[i].name, "rstd") ? "(0.5, 2)" : range);
    fputs(")\",", f);
}

static void print_case(FILE *f, const struct request *r, enum fill fill, unsigned number) {
    fprintf(f, "%s_%03u,,%s,", r->op.kernel, number, r->op.kernel);
    print_shapes(f, r->in, r->op.inputs);
    print_dtypes(f, r->in, r->op.inputs);
    print_formats(f, r->in, r->op.inputs);
    print_shapes(f, r->out, r->op.outputs);
    print_dtypes(f, r->out, r->op.outputs);
    print_formats(f, r->out, r->op.outputs);
    fputs(",,,,", f); /* original shapes and formats: the same */
    print_attrs(f, r);
    print_ranges(f, r, fill);
    fputs(",,(),(),True,,,0,,(),(),\n", f);
}

/* All cases of a row: one, or one for each dtype if it has a star. */
static bool print_row(FILE *f, const struct row *row, unsigned *number) {
    static const char *const stars[] = {"fp32", "fp16", "bf16"};
    bool good = true;
    for (int k = 0; k < (strchr(row->text, '*') ? 3 : 1) && good; k++) {
        struct request r;
        enum fill fill = FILL_NORMAL;
        char why[ASCGRAD_WHY];
        good = check_read_row(&r, row, stars[k], &fill, why);
        struct ascgrad_call call = request_call(&r);
        if (good) good = ascgrad_infer(&call, why) == ASCGRAD_OK;
        if (!good)
            complain("%s %s: %s", row->op, row->text, why);
        else if (fill != FILL_INF && fill != FILL_NAN)
            print_case(f, &r, fill, ++*number);
        request_free(&r);
    }
    return good;
}

/* Begins FOLDER/NAME+END: the folder is the user's, the name ours. */
static bool open_file(struct out *out, const char *folder, const char *name, const char *end) {
    char path[PATH_MAX];
    const bool fits = snprintf(path, sizeof path, "%s/%s%s", folder, name, end) < (int)sizeof path;
    const char *wrong = fits ? out_begin(out, path, OUT_OURS) : strerror(ENAMETOOLONG);
    if (wrong) complain("%s/%s%s: %s", folder, name, end, wrong);
    return !wrong;
}

static bool close_file(struct out *out) {
    char path[PATH_MAX];
    memcpy(path, out->path, sizeof path);
    const char *wrong = out_end(out);
    if (wrong) complain("%s cannot be written: %s", path, wrong);
    return !wrong;
}

static bool write_cases(const char *folder, const struct ascgrad_op_info *op) {
    struct out out;
    unsigned number = 0;
    bool good = open_file(&out, folder, op->kernel, ".csv");
    if (!good) return false;
    fputs(columns, out.file);
    const struct row *row;
    for (size_t i = 0; good && (row = check_row(i)); i++)
        if (strcmp(row->op, op->type) == 0 && !row->refusal)
            good = print_row(out.file, row, &number);
    if (good)
        good = close_file(&out);
    else
        out_drop(&out);
    if (good) printf("%s.csv: %u cases\n", op->kernel, number);
    return good;
}

/* The class of one operator: its parameters are those of the IR. */
static void print_spec(FILE *f, const struct ascgrad_op_info *op) {
    fprintf(f, "\n\nclass %sTestSpec:\n    def golden(", op->type);
    for (uint32_t i = 0; i < op->inputs; i++)
        fprintf(f, "%s%s%s", i ? ", " : "", op->in[i].name, op->in[i].optional ? "=None" : "");
    if (op->attrs) fputs(", *", f);
    for (uint32_t i = 0; i < op->attrs; i++)
        fprintf(f, ", %s=None", op->attr[i].name);
    fprintf(f, ", **kwargs):\n        return reference(\"%s\", {", op->type);
    for (uint32_t i = 0; i < op->inputs; i++)
        fprintf(f, "%s\"%s\": %s", i ? ", " : "", op->in[i].name, op->in[i].name);
    fputs("}, {", f);
    for (uint32_t i = 0; i < op->attrs; i++)
        fprintf(f, "%s\"%s\": %s", i ? ", " : "", op->attr[i].name, op->attr[i].name);
    fputs("}, [", f);
    for (uint32_t i = 0; i < op->outputs; i++)
        fprintf(f, "%s\"%s\"", i ? ", " : "", op->out[i].name);
    fputs("])\n\n    tolerance = TOLERANCE\n", f);
}

static bool write_golden(const char *folder) {
    struct ascgrad_op_info op;
    struct out out;
    if (!open_file(&out, folder, "golden", ".py")) return false;
    FILE *f = out.file;
    fputs(golden_py, f);
    fputs("\n__spec__ = {", f);
    for (uint32_t i = 0; ascgrad_describe(i, &op); i++)
        fprintf(f, "%s\"%s\": \"%sTestSpec\"", i ? ", " : "", op.kernel, op.type);
    fputs("}\n", f);
    for (uint32_t i = 0; ascgrad_describe(i, &op); i++)
        print_spec(f, &op);
    return close_file(&out);
}

int cmd_ttk(int argc, char **argv) {
    struct ascgrad_op_info op;
    if (argc != 1 || argv[0][0] == '-') {
        complain("ttk wants one folder to write to");
        return EXIT_USAGE;
    }
    if (mkdir(argv[0], 0777) != 0 && errno != EEXIST) {
        complain("%s: %s", argv[0], strerror(errno));
        return EXIT_FILES;
    }
    bool good = write_golden(argv[0]);
    for (uint32_t i = 0; good && ascgrad_describe(i, &op); i++)
        good = write_cases(argv[0], &op);
    if (good)
        printf("run them with: python3 -m ttk geir -i %s/NAME.csv --plugin %s/golden.py\n", argv[0],
               argv[0]);
    return good ? EXIT_DONE : EXIT_FILES;
}
