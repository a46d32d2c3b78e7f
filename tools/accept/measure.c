/* SPDX-License-Identifier: Apache-2.0
 *
 * The small kernels that a chip should run as fast as others have run them in public, measured
 * before any row; then what their times say of the times of operators: is the model off, or the
 * kernel?
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accept.h"
#include "../doctor/parts.h"

#define NEAR 1.25 /* measured over modelled, or its inverse: what is nearer agrees */

const char *accept_gauge_name(enum gauge_verdict verdict) {
    static const char *const name[] = {"not measured", "agrees", "differs"};
    return name[verdict];
}

const char *accept_cause_name(enum accept_cause cause) {
    static const char *const name[] = {"unknown", "small", "agrees", "model", "kernel"};
    return name[cause];
}

static int by_time(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

double accept_p50(float *us, uint32_t times) {
    qsort(us, times, sizeof *us, by_time);
    return times ? ((double)us[(times - 1) / 2] + us[times / 2]) / 2 : 0;
}

/* ---- measuring */

static bool exchange(struct probe *p, const struct gauge *g, uint32_t cores,
                     struct wire_answer *answer, char why[ACCEPT_WHY]) {
    const AscgradGaugeTilingData tiling = gauge_tiling(g);
    struct wire_request request = probe_request(p, WIRE_GAUGE, sizeof tiling);
    uint8_t tail[GAUGE_TAIL] = {0};
    request.inputs = 4;
    request.outputs = request.runs = 1;
    request.run[0].cores = cores;
    request.times = WIRE_TIMES;
    gauge_sizes(g, &request.tensor[2].bytes, &request.tensor[3].bytes);
    request.tensor[2].rank = request.tensor[3].rank = -1; /* made on the device */
    request.tensor[4].rank = 1;
    request.tensor[4].bytes = sizeof tail;
    if (!probe_exchange(p, &request, (const void *const[]){&tiling, NULL, NULL}, tail, answer, why))
        return false;
    if (gauge_done(g, tail)) return true;
    snprintf(why, ACCEPT_WHY, "the kernel has not done what it is there for");
    return false;
}

static void measure(struct accept *a, struct probe *p, size_t i, const struct twin_soc *soc) {
    struct accept_gauge *to = &a->gauge[i];
    struct wire_answer answer = {0};
    char why[ACCEPT_WHY] = "";
    if (exchange(p, &gauges[i], gauges[i].cores ? gauges[i].cores : soc->cores, &answer, why)) {
        to->p50[GAUGE_COLD] = accept_p50(answer.us, answer.times);
        to->p50[GAUGE_AGAIN] = accept_p50(answer.again_us, answer.again_times);
        return;
    }
    accept_scrub(a, why, to->why, sizeof to->why);
    if (i == GAUGE_LAUNCH) probe_close(p, why);
}

/* What a launch takes that should take so long by the model: as much more as a kernel that does
 * nothing was seen to take. */
static double launch_of(const struct accept *a, double modelled) {
    const struct accept_gauge *g = &a->gauge[GAUGE_LAUNCH];
    return g->p50[GAUGE_COLD] > 0
               ? modelled * g->p50[GAUGE_COLD] / (g->model[GAUGE_COLD] + g->launch)
               : modelled;
}

/* What the chip takes for the kernel without its launch. */
static double alone(const struct accept *a, size_t i, enum gauge_place place) {
    const struct accept_gauge *g = &a->gauge[i];
    return g->p50[place] - launch_of(a, g->launch);
}

/* Measured over modelled: the kernel without its launch, or the launch. 1: nothing is known. */
static double ratio_of(const struct accept *a, size_t i, enum gauge_place place) {
    const struct accept_gauge *g = &a->gauge[i];
    if (g->p50[place] <= 0 || g->model[place] + g->launch <= 0) return 1;
    if (i == GAUGE_LAUNCH) return g->p50[place] / (g->model[place] + g->launch);
    const double us = alone(a, i, place);
    return us > 0 ? us / g->model[place] : 0.001;
}

static void judge(struct accept *a, size_t i) {
    struct accept_gauge *g = &a->gauge[i];
    for (int place = 0; place < GAUGE_PLACES_OF_DATA; place++) {
        const double ratio = ratio_of(a, i, (enum gauge_place)place);
        const double claimed = 1 + gauges[i].claimed / 100;
        if (g->p50[place] > 0 && g->launch > 0)
            g->verdict[place] =
                ratio <= claimed && ratio >= 1 / claimed ? GAUGE_AGREES : GAUGE_DIFFERS;
    }
}

void accept_measure(struct accept *a, const char *program) {
    static struct probe probe;
    const struct twin_soc *soc = a->model ? twin_find_soc(a->model) : NULL;
    probe.a = a;
    if (!a->options.times)
        probe_close(&probe, "not wanted");
    else if (soc)
        probe_open(a, &probe, program, "AscgradGauge");
    else
        probe_close(&probe, "the twin knows no such chip");
    for (size_t i = 0; i < gauge_count; i++) {
        struct accept_gauge *to = &a->gauge[i];
        double us[2];
        for (int place = 0; soc && place < GAUGE_PLACES_OF_DATA; place++)
            if (gauge_model(&gauges[i], soc, (enum gauge_place)place, NULL, us))
                to->model[place] = us[0], to->launch = us[1];
        const bool asked = gauge_asked(&gauges[i], a->chip);
        if (!probe.closed[0] && asked && !accept_stopped()) measure(a, &probe, i, soc);
        if (to->p50[GAUGE_COLD] <= 0 && !to->why[0])
            TEXT(to->why, "%s",
                 probe.closed[0] ? probe.closed
                 : !asked        ? "this chip cannot read past the L2"
                                 : "interrupted before this kernel");
    }
    runner_stop(&probe.runner);
    for (size_t i = 0; i < gauge_count; i++)
        judge(a, i);
}

/* ---- what follows */

void accept_l2_rule(const struct accept *a, int *holds, char text[ACCEPT_WHY]) {
    const double large = a->gauge[GAUGE_LARGE].p50[GAUGE_AGAIN];
    const double large_past = a->gauge[GAUGE_LARGE_PAST].p50[GAUGE_AGAIN];
    const double small = a->gauge[GAUGE_SMALL].p50[GAUGE_AGAIN];
    const double small_past = a->gauge[GAUGE_SMALL_PAST].p50[GAUGE_AGAIN];
    *holds = -1;
    snprintf(text, ACCEPT_WHY, "not measured");
    if (large <= 0 || large_past <= 0 || small <= 0 || small_past <= 0) return;
    const bool pays = large_past < large;
    const bool costs = small_past > 0.97 * small;
    *holds = pays && costs;
    snprintf(text, ACCEPT_WHY,
             "reading past the L2 %s where the data exceed it (%.1f us instead of %.1f) and %s "
             "where they are in it (%.1f us instead of %.1f): the rule of op_tiling/l2.h %s",
             pays ? "pays" : "does not pay", large_past, large,
             costs ? "does not pay" : "pays, too,", small_past, small,
             *holds ? "holds" : "is wrong for this chip");
}

enum accept_cause accept_cause(const struct accept *a, const struct accept_case *c,
                               enum gauge_place place, double *ratio) {
    const struct accept_result *r = &c->result[ROAD_ACLNN];
    const double model = place == GAUGE_COLD ? c->model_us : c->model_l2_us;
    const double us = place == GAUGE_COLD ? r->p50 : r->again_p50;
    double high = 1;
    *ratio = 0;
    if (!c->modelled || r->on_host || us <= 0 || model <= 0) return CAUSE_UNKNOWN;
    if (place == GAUGE_AGAIN && c->l2_share < 1) return CAUSE_UNKNOWN;
    const double launch = launch_of(a, c->launch_us);
    if (model < launch) return CAUSE_SMALL;
    *ratio = us > launch ? (us - launch) / model : 0.001;
    if (*ratio <= NEAR && *ratio >= 1 / NEAR) return CAUSE_AGREES;
    if (a->gauge[GAUGE_STREAM].p50[GAUGE_COLD] <= 0) return CAUSE_UNKNOWN;
    /* as far as the small kernels are off, an operator may be */
    const double off[] = {ratio_of(a, GAUGE_STREAM, place), ratio_of(a, GAUGE_VECTOR, GAUGE_COLD)};
    for (size_t i = 0; i < sizeof off / sizeof off[0]; i++)
        high = off[i] > high ? off[i] : high;
    if (*ratio < 1) return CAUSE_MODEL; /* no kernel is faster than it can be */
    return *ratio <= NEAR * high ? CAUSE_MODEL : CAUSE_KERNEL;
}

/* Ours beside CANN's: times by the same clock, the device's if there are such. 0: there are none.
 */
static double over_cann(const struct accept_case *c) {
    const struct accept_result *cann = &c->result[ROAD_CANN];
    const struct accept_result *ours =
        &c->result[c->result[ROAD_ACLNN].times ? ROAD_ACLNN : ROAD_GE];
    const bool both = cann->verdict == VERDICT_PASS && cann->times && ours->times &&
                      cann->on_host == ours->on_host && ours->p50 > 0;
    return both ? cann->p50 / ours->p50 : 0;
}

/* A time that is more than its launch. */
static bool tells(const struct accept_case *c) {
    const struct accept_result *r = &c->result[ROAD_ACLNN];
    return c->modelled && r->times && !r->on_host && c->model_us > c->launch_us;
}

struct accept_speed accept_speed(const struct accept *a, const char *type) {
    struct accept_speed speed = {0};
    for (size_t i = 0; i < a->count; i++) {
        const struct accept_case *c = &a->cases[i];
        if (strcmp(c->op.type, type) != 0) continue;
        if (tells(c) && (!speed.copied || c->copy_us > speed.copied->copy_us)) speed.copied = c;
        if (over_cann(c) > 0 && (!speed.beside || c->copy_us > speed.beside->copy_us))
            speed.beside = c;
    }
    if (speed.beside) speed.over_cann = over_cann(speed.beside);
    for (int place = 0; speed.copied && place < GAUGE_PLACES_OF_DATA; place++) {
        const struct accept_case *c = speed.copied;
        const struct accept_result *r = &c->result[ROAD_ACLNN];
        const double us =
            (place == GAUGE_COLD ? r->p50 : r->again_p50) - launch_of(a, c->launch_us);
        const double copy = (place == GAUGE_COLD ? c->copy_us : c->copy_l2_us) *
                            ratio_of(a, GAUGE_STREAM, (enum gauge_place)place);
        if (us > 0 && copy > 0) speed.over_copy[place] = us / copy;
    }
    return speed;
}

/* ---- telling it */

const struct gauge_public *accept_public(const struct accept *a, size_t i, enum gauge_place place) {
    const struct gauge_public *known = a->chip < CHIPS ? &gauges[i].known[a->chip][place] : NULL;
    return known && known->us > 0 ? known : NULL;
}

static void say_place(const struct accept *a, size_t i, enum gauge_place place) {
    const struct accept_gauge *g = &a->gauge[i];
    const struct gauge_public *known = accept_public(a, i, place);
    printf(" %9.1f %8.1f", g->p50[place], g->model[place] + g->launch);
    if (known)
        printf(" %8.1f", known->us + (known->launch ? 0 : g->launch));
    else
        printf(" %8s", "-");
}

void accept_say_gauges(const struct accept *a) {
    const char *why = a->gauge[GAUGE_LAUNCH].why;
    char rule[ACCEPT_WHY];
    int holds;
    if (why[0]) {
        printf("small kernels: not measured: %s\n", why);
        return;
    }
    printf("%-16s %28s %28s\n%-16s %9s %8s %8s %10s %8s %8s\n", "small kernels, us",
           "data in memory", "again, in the L2", "", "measured", "model", "public", "measured",
           "model", "public");
    for (size_t i = 0; i < gauge_count; i++) {
        const struct accept_gauge *g = &a->gauge[i];
        printf("%-16s", gauges[i].name);
        if (g->why[0]) {
            printf(" not measured: %s\n", g->why);
            continue;
        }
        say_place(a, i, GAUGE_COLD);
        printf("  ");
        say_place(a, i, GAUGE_AGAIN);
        printf("\n");
    }
    for (size_t i = 0; i < gauge_count; i++)
        for (int place = 0; place < GAUGE_PLACES_OF_DATA; place++)
            if (a->gauge[i].verdict[place] == GAUGE_DIFFERS)
                printf("MODEL OFF %s, %s: %.2f times what the model says\n", gauges[i].name,
                       place == GAUGE_COLD ? "data in memory" : "data in the L2",
                       ratio_of(a, i, (enum gauge_place)place));
    accept_l2_rule(a, &holds, rule);
    printf("%s%s\n", holds == 0 ? "RULE OFF " : "", rule);
}

void accept_say_causes(const struct accept *a) {
    size_t count[GAUGE_PLACES_OF_DATA][CAUSES] = {{0}};
    double ratio;
    for (size_t i = 0; i < a->count; i++)
        for (int place = 0; place < GAUGE_PLACES_OF_DATA; place++) {
            const enum accept_cause cause =
                accept_cause(a, &a->cases[i], (enum gauge_place)place, &ratio);
            count[place][cause]++;
            if (cause != CAUSE_MODEL && cause != CAUSE_KERNEL) continue;
            printf("%s OFF %s: %.2f times what the model says, data in %s\n",
                   cause == CAUSE_MODEL ? "MODEL" : "KERNEL", a->cases[i].text, ratio,
                   place == GAUGE_COLD ? "memory" : "the L2");
        }
    for (int place = 0; place < GAUGE_PLACES_OF_DATA; place++)
        printf("times with data in %s: %zu rows as modelled, %zu where the model is off, %zu where "
               "the kernel is, %zu too short to tell\n",
               place == GAUGE_COLD ? "memory" : "the L2", count[place][CAUSE_AGREES],
               count[place][CAUSE_MODEL], count[place][CAUSE_KERNEL], count[place][CAUSE_SMALL]);
}
