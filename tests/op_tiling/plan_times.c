/* SPDX-License-Identifier: Apache-2.0
 *
 * What plans take in the cycle model, for a sample of calls of every operator.
 *
 *     plan_times [-v] TIMES [OPERATOR...]
 *
 * A line of TIMES (plan_times.tsv):
 *
 *     how many times as long as a copy of its tensors the call may take, in memory,
 *     the same where the tensors are in the L2 cache,
 *     rotary, where there is a choice of paths: the factor that the estimate of either path
 *     (op_tiling/rotary_cost.c) may be off by; or 0,
 *     the chip, the operator, its words as in op_reference
 *
 * The program is linked with --wrap, so that a plan can be forced onto one of the paths. -v prints
 * every figure.
 */
#include <math.h>
#include <stdio.h>

#include "../../op_tiling/rotary.h"
#include "../../twin/ascgrad.h"
#include "rows.h"

typedef void plan_fn(const struct rotary_work *work, const struct ascgrad_chip *chip,
                     RotaryGradTiling *t, struct ascgrad_launch *launch);
plan_fn __real_ascgrad_rotary_plan, __wrap_ascgrad_rotary_plan;

static enum rotary_path forced;
static struct rotary_cost estimate;

void __wrap_ascgrad_rotary_plan(const struct rotary_work *work, const struct ascgrad_chip *chip,
                                RotaryGradTiling *t, struct ascgrad_launch *launch) {
    struct rotary_work way = *work;
    if (forced != CHOSEN) way.path = forced;
    __real_ascgrad_rotary_plan(&way, chip, t, launch);
    if (forced != CHOSEN)
        estimate = ascgrad_rotary_cost(t, (uint32_t)(launch->key % ROTARY_JOIN), work->size,
                                       work->table, launch->block_dim);
}

static bool verbose;
static int failed;

/* The call of a row in the cycle model. */
static bool time_row(struct row_call *c, const char *soc, struct ascgrad_report *report) {
    static struct ascgrad_tensor in[ASCGRAD_INPUTS_MAX], out[ASCGRAD_OUTPUTS_MAX];
    static struct ascgrad_setting attr[ASCGRAD_ATTRS_MAX];
    for (uint32_t i = 0; i < c->ir->inputs; i++) {
        const struct ascgrad_arg *arg = &c->node.in[i];
        in[i] = (struct ascgrad_tensor){.dtype = arg->dtype, .rank = -1};
        if (!arg->present) continue;
        in[i].rank = (int32_t)arg->shape->rank;
        memcpy(in[i].dim, arg->shape->dim, sizeof in[i].dim);
    }
    for (uint32_t i = 0; i < c->ir->outputs; i++)
        out[i].rank = -1;
    for (uint32_t i = 0; i < c->ir->attrs; i++) {
        const struct ascgrad_attr *a = &c->node.attr[i];
        attr[i] = (struct ascgrad_setting){.set = true, .value = a->i};
        if (a->kind == ASCGRAD_ATTR_FLOAT) attr[i].real = a->f;
        if (a->kind == ASCGRAD_ATTR_LIST_INT) attr[i].list = a->list, attr[i].count = a->count;
    }
    struct ascgrad_call call = {.size = sizeof call,
                                .op = c->ir->type,
                                .in = in,
                                .inputs = c->ir->inputs,
                                .out = out,
                                .outputs = c->ir->outputs,
                                .attr = attr,
                                .attrs = c->ir->attrs,
                                .soc = soc};
    char why[ASCGRAD_WHY];
    *report = (struct ascgrad_report){.size = sizeof *report};
    if (ascgrad_perf(&call, report, why) == ASCGRAD_OK) return true;
    printf("FAIL %s\n", why);
    failed++;
    return false;
}

/* Prints a finding that is wrong, or any if the caller wants all. */
static void judge(bool good, const char *what, double found, double most, const char *row) {
    failed += !good;
    if (!good || verbose)
        printf("%s %s: %.3f, at most %.3f: %s\n", good ? "    " : "FAIL", what, found, most, row);
}

/* Estimates over times, as logarithms, of one path: in memory and in the L2. */
struct errors {
    int count;
    double squares[2];
};
static struct errors errors[2];

/* most: the factor that an estimate may be off by. */
static void judge_estimate(struct row_call *c, const char *soc, double most, const char *row) {
    static const char *const names[2][2] = {
        {"estimate of the general path over its time in memory", "the same in the L2"},
        {"estimate of the contiguous path over its time in memory", "the same in the L2"}};
    struct rotary_cost cost[2];
    struct ascgrad_report r[2];
    for (int contiguous = 0; contiguous < 2; contiguous++) {
        forced = contiguous ? CONTIGUOUS : GENERAL;
        bool timed = time_row(c, soc, &r[contiguous]);
        forced = CHOSEN;
        cost[contiguous] = estimate;
        if (!timed || (r[contiguous].key % ROTARY_JOIN == ROTARY_CONTIGUOUS) != contiguous) {
            printf("FAIL there is no choice of paths: %s\n", row);
            failed++;
            return;
        }
    }
    for (int contiguous = 0; contiguous < 2; contiguous++) {
        double per_us = r[contiguous].cycles / r[contiguous].time_us;
        double found[2] = {(double)cost[contiguous].memory / per_us / r[contiguous].time_us,
                           (double)cost[contiguous].cache / per_us / r[contiguous].time_l2_us};
        errors[contiguous].count++;
        for (int i = 0; i < 2; i++) {
            double error = log(found[i]);
            errors[contiguous].squares[i] += error * error;
            judge(fabs(error) <= log(most), names[contiguous][i], found[i], most, row);
        }
    }
}

/* All estimates of a path together. */
static void judge_errors(void) {
    static const double most[2][2] = {{0.14, 0.19}, {0.19, 0.19}};
    for (int contiguous = 0; contiguous < 2; contiguous++)
        for (int i = 0; i < 2 && errors[contiguous].count; i++) {
            double rms = sqrt(errors[contiguous].squares[i] / errors[contiguous].count);
            judge(rms <= most[contiguous][i], "rms of their logarithms", rms, most[contiguous][i],
                  contiguous ? "contiguous" : "general");
        }
}

/* False if the line is none of TIMES. */
static bool judge_line(char *line) {
    static struct row_call c;
    double most, most_l2, off;
    char soc[32], op[64];
    int at = 0, end = 0;
    if (sscanf(line, "%lf %lf %lf %n%31s %63s %n", &most, &most_l2, &off, &at, soc, op, &end) != 5)
        return false;
    const char *row = line + at;
    struct ascgrad_report r;
    if (!row_read(&c, op, line + end, "")) return false;
    if (!time_row(&c, soc, &r)) return true;
    judge(r.ratio <= most, "time over a copy's", r.ratio, most, row);
    judge(r.ratio_l2 <= most_l2, "the same in the L2", r.ratio_l2, most_l2, row);
    if (off > 0) judge_estimate(&c, soc, off, row);
    return true;
}

static bool wanted(const char *line, char **operators) {
    bool found = !*operators;
    for (; *operators; operators++)
        found |= strstr(line, *operators) != NULL;
    return found && *line != '#';
}

int main(int argc, char **argv) {
    char line[2000];
    verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
    argv += 1 + verbose;
    FILE *file = *argv ? fopen(*argv, "r") : NULL;
    if (!file) {
        fprintf(stderr, "usage: plan_times [-v] TIMES [OPERATOR...]\n");
        return 2;
    }
    int lines = 0;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (!wanted(line, argv + 1)) continue;
        lines++;
        if (judge_line(line)) continue;
        printf("FAIL not a call: %s\n", line);
        failed++;
    }
    fclose(file);
    judge_errors();
    printf("%d calls, %d failures\n", lines, failed);
    return failed != 0 || lines == 0;
}
