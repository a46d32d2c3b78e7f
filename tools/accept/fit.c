/* SPDX-License-Identifier: Apache-2.0
 *
 * `ascgrad accept --calibrate`: which constants of the cycle model would make it agree with the
 * times that were measured. Least squares of log(measured / modelled), in the logarithms of the
 * constants. Many constants do the same to these times (twice the cycles per instruction is twice
 * the instructions of every call), so they are taken in one by one, always the one that explains
 * most of what is left, and the others stay as they are. A subject, a case or a small kernel, has
 * two times: with its data in memory, and again in the L2.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accept.h"

enum { MOST = 5, ROUNDS = 3, PROMISING = 4, LARGE_EACH = 1 };

enum { BOTH = GAUGE_PLACES_OF_DATA };

struct subject {
    struct accept_case *row; /* NULL: a small kernel */
    size_t gauge;
};

struct fit {
    struct accept *a;
    struct subject *subject;
    double *measured; /* log of us, by subject and place of data; NAN: not measured */
    size_t subjects, rows, constants; /* rows: BOTH times as many */
    double *value;                    /* by constant */
    size_t chosen[MOST], count, best; /* constants taken in */
};

/* log of the modelled times of a case, or NAN. */
static void case_times(const struct fit *f, const struct accept_case *c, const double *value,
                       double time[BOTH]) {
    struct request r;
    struct ascgrad_report report = {.size = sizeof report};
    enum fill fill;
    char why[ASCGRAD_WHY];
    bool good = check_read_row(&r, c->row, c->star, &fill, why);
    r.soc = f->a->model;
    struct ascgrad_call call = request_call(&r);
    good = good && check_make_data(r.in, r.op.inputs, why);
    for (uint32_t i = 0; good && i < r.op.inputs; i++)
        if (r.in[i].rank >= 0) value_fill(&r.in[i], FILL_ZEROS, 1);
    good = good && ascgrad_infer(&call, why) == ASCGRAD_OK &&
           check_make_data(r.out, r.op.outputs, why) &&
           ascgrad_run_with(&call, value, &report, why) == ASCGRAD_OK;
    request_free(&r);
    time[GAUGE_COLD] = good ? log(report.time_us + report.launch_us) : NAN;
    time[GAUGE_AGAIN] = good ? log(report.time_l2_us + report.launch_us) : NAN;
}

static void model_times(const struct fit *f, const struct subject *s, const double *value,
                        double time[BOTH]) {
    const struct twin_soc *soc = twin_find_soc(f->a->model);
    double us[2];
    if (s->row) {
        case_times(f, s->row, value, time);
        return;
    }
    for (int place = 0; place < BOTH; place++)
        time[place] = gauge_model(&gauges[s->gauge], soc, (enum gauge_place)place, value, us)
                          ? log(us[0] + us[1])
                          : NAN;
}

static void residuals(const struct fit *f, const double *value, double *left) {
    for (size_t i = 0; i < f->subjects; i++) {
        double time[BOTH];
        model_times(f, &f->subject[i], value, time);
        for (size_t place = 0; place < BOTH; place++) {
            const double off = f->measured[BOTH * i + place] - time[place];
            left[BOTH * i + place] = isnan(off) ? 0 : off;
        }
    }
}

static double rms(const double *v, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i] * v[i];
    return n ? sqrt(sum / (double)n) : 0;
}

/* How the rows' times follow one constant: d log(time) / d log(constant). */
static void slope(const struct fit *f, size_t constant, const double *left, double *out) {
    const double step = 0.05, was = f->value[constant];
    f->value[constant] = was * (1 + step);
    residuals(f, f->value, out);
    f->value[constant] = was;
    for (size_t i = 0; i < f->rows; i++)
        out[i] = (left[i] - out[i]) / log(1 + step);
}

/* Least squares of left by the n columns; a small weight keeps a step finite. */
static void solve(double *const column[], size_t n, const double *left, size_t rows, double *step) {
    double m[MOST][MOST + 1] = {{0}};
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++)
            for (size_t r = 0; r < rows; r++)
                m[i][k] += column[i][r] * column[k][r];
        for (size_t r = 0; r < rows; r++)
            m[i][n] += column[i][r] * left[r];
        m[i][i] += 1e-9 * (double)rows;
    }
    for (size_t p = 0; p < n; p++)
        for (size_t i = 0; i < n; i++) {
            const double factor = i == p ? 0 : m[i][p] / m[p][p];
            for (size_t k = p; k <= n; k++)
                m[i][k] -= factor * m[p][k];
        }
    for (size_t i = 0; i < n; i++)
        step[i] = m[i][n] / m[i][i];
}

/* What is left after the best step with these columns. */
static double left_after(double *const column[], size_t n, const double *left, size_t rows) {
    double step[MOST], sum = 0;
    solve(column, n, left, rows, step);
    for (size_t r = 0; r < rows; r++) {
        double rest = left[r];
        for (size_t i = 0; i < n; i++)
            rest -= step[i] * column[i][r];
        sum += rest * rest;
    }
    return sqrt(sum / (double)rows);
}

/* A constant moves by at most a factor of four. */
static double bounded(double step) {
    return step > 1.4 ? 1.4 : step < -1.4 ? -1.4 : step;
}

/* The chosen ones again, now with the model itself: it is not linear. A step that helps not is
 * halved. */
static void refine(struct fit *f, double *left, double *scratch[MOST + 1]) {
    for (int round = 0; round < ROUNDS && f->count; round++) {
        double step[MOST], was[MOST];
        const double before = rms(left, f->rows);
        for (size_t i = 0; i < f->count; i++) {
            slope(f, f->chosen[i], left, scratch[i]);
            was[i] = f->value[f->chosen[i]];
        }
        solve(scratch, f->count, left, f->rows, step);
        double *trial = scratch[MOST];
        for (double share = 1; share > 0.1; share /= 2) {
            for (size_t i = 0; i < f->count; i++)
                f->value[f->chosen[i]] = was[i] * exp(share * bounded(step[i]));
            residuals(f, f->value, trial);
            if (rms(trial, f->rows) < before) break;
            for (size_t i = 0; i < f->count; i++)
                f->value[f->chosen[i]] = was[i];
        }
        if (rms(trial, f->rows) >= before) return;
        memcpy(left, trial, f->rows * sizeof *left);
    }
}

static bool is_chosen(const struct fit *f, size_t constant) {
    for (size_t i = 0; i < f->count; i++)
        if (f->chosen[i] == constant) return true;
    return false;
}

/* The constant, of those not tried yet, that would explain most of what is left if the model were
 * linear; f->constants: none helps. */
static size_t next_best(const struct fit *f, double *const slopes[], const double *left,
                        const bool *tried) {
    double *column[MOST], least = rms(left, f->rows);
    size_t best = f->constants;
    for (size_t i = 0; i < f->count; i++)
        column[i] = slopes[f->chosen[i]];
    for (size_t c = 0; c < f->constants; c++) {
        if (tried[c] || is_chosen(f, c) || rms(slopes[c], f->rows) < 0.01) continue;
        column[f->count] = slopes[c];
        const double now = left_after(column, f->count + 1, left, f->rows);
        if (now < least) least = now, best = c;
    }
    return best;
}

/* Takes in the one of a few promising constants that really leaves least. False: none that
 * explains a good part. */
static bool take_in(struct fit *f, double *const slopes[], double *left, double *scratch[MOST + 1],
                    double *best_left) {
    const double before = rms(left, f->rows);
    const size_t n = f->constants, bytes = n * sizeof *f->value;
    double *was = malloc(bytes), *best_value = malloc(bytes), *now = malloc(f->rows * sizeof *now);
    bool *tried = calloc(n, sizeof *tried), found = false;
    double least = 0.9 * before;
    for (int i = 0; was && best_value && now && tried && i < PROMISING; i++) {
        const size_t c = next_best(f, slopes, left, tried);
        if (c == n) break;
        tried[c] = true;
        memcpy(was, f->value, bytes);
        memcpy(now, left, f->rows * sizeof *now);
        f->chosen[f->count++] = c;
        refine(f, now, scratch);
        f->count--;
        if (rms(now, f->rows) < least) {
            least = rms(now, f->rows);
            found = true;
            memcpy(best_value, f->value, bytes);
            memcpy(best_left, now, f->rows * sizeof *now);
            f->best = c;
        }
        memcpy(f->value, was, bytes);
    }
    if (found) {
        f->chosen[f->count++] = f->best;
        memcpy(f->value, best_value, bytes);
        memcpy(left, best_left, f->rows * sizeof *left);
    }
    free(was), free(best_value), free(now), free(tried);
    return found;
}

static void add_subject(struct fit *f, struct accept_case *row, size_t gauge, double cold,
                        double again) {
    f->subject[f->subjects] = (struct subject){row, gauge};
    f->measured[f->rows++] = cold > 0 ? log(cold) : NAN;
    f->measured[f->rows++] = again > 0 ? log(again) : NAN;
    f->subjects++;
}

/* The small kernels, and the rows with times of the device; of the large ones, which take the twin
 * long, a few. A row that does not fit the L2 has no second time that the model knows. */
static bool collect(struct fit *f) {
    struct accept *a = f->a;
    size_t large = 0;
    const char *last = "";
    f->subject = calloc(a->count + GAUGES, sizeof *f->subject);
    f->measured = calloc(BOTH * (a->count + GAUGES), sizeof *f->measured);
    if (!f->subject || !f->measured) return false;
    for (size_t i = 0; i < gauge_count; i++)
        if (a->gauge[i].p50[GAUGE_COLD] > 0)
            add_subject(f, NULL, i, a->gauge[i].p50[GAUGE_COLD], a->gauge[i].p50[GAUGE_AGAIN]);
    for (size_t i = 0; i < a->count; i++) {
        struct accept_case *c = &a->cases[i];
        const struct accept_result *r = &c->result[ROAD_ACLNN];
        if (strcmp(last, c->op.type) != 0) large = 0;
        last = c->op.type;
        if (!c->modelled || !r->times || r->on_host || r->p50 <= 0) continue;
        if (c->large && (a->options.quick || large++ >= LARGE_EACH)) continue;
        add_subject(f, c, 0, r->p50, c->l2_share < 1 ? 0 : r->again_p50);
    }
    return f->subjects > 1;
}

static bool list_constants(struct fit *f) {
    double value;
    while (ascgrad_model_constant((uint32_t)f->constants, f->a->model, &value))
        f->constants++;
    f->a->constant = calloc(f->constants + 1, sizeof *f->a->constant);
    f->value = calloc(f->constants + 1, sizeof *f->value);
    for (size_t i = 0; f->value && f->a->constant && i < f->constants; i++) {
        struct accept_constant *c = &f->a->constant[i];
        c->name = ascgrad_model_constant((uint32_t)i, f->a->model, &c->value);
        f->value[i] = c->proposed = c->value;
    }
    return f->value && f->a->constant;
}

void accept_fit(struct accept *a) {
    struct fit f = {.a = a};
    if (!a->model || !collect(&f) || !list_constants(&f)) {
        free(f.subject), free(f.measured), free(f.value);
        return;
    }
    double *space = calloc((f.constants + MOST + 3) * f.rows, sizeof *space), *scratch[MOST + 2];
    double **slopes = calloc(f.constants, sizeof *slopes);
    if (space && slopes) {
        double *left = space;
        for (size_t i = 0; i < MOST + 2; i++)
            scratch[i] = space + (i + 1) * f.rows;
        for (size_t i = 0; i < f.constants; i++)
            slopes[i] = space + (i + MOST + 3) * f.rows;
        residuals(&f, f.value, left);
        a->fit_before = rms(left, f.rows);
        for (size_t i = 0; i < f.constants; i++) {
            slope(&f, i, left, slopes[i]);
            a->constant[i].influence = rms(slopes[i], f.rows);
        }
        while (f.count < MOST && f.count + 1 < f.rows && rms(left, f.rows) > 0.002 &&
               take_in(&f, slopes, left, scratch, scratch[MOST + 1]))
            continue;
        a->fit_after = rms(left, f.rows);
        for (size_t i = 0; i < f.constants; i++)
            a->constant[i].proposed = f.value[i];
        a->constants = f.constants;
    }
    free(space), free(slopes), free(f.subject), free(f.measured), free(f.value);
}
