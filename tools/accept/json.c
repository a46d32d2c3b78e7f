/* SPDX-License-Identifier: Apache-2.0
 *
 * report.json and junit.xml. What changes from run to run (times, dates) stands in lines of its
 * own, which begin with "date", "took_s", "times" or "calibration"; all other lines are the same
 * bytes when the same package runs on the same machine again.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "accept.h"
#include "../doctor/parts.h"

/* The shortest that is precise enough; JSON has no infinities. */
static void number(struct text *out, double value) {
    if (isfinite(value) && fabs(value) < 1e29)
        text_add(out, "%.6g", value);
    else
        text_add(out, "null");
}

static void output(struct text *out, const struct accept_case *c, const struct accept_output *o,
                   uint32_t i) {
    text_add(out,
             "%s\n          {\"name\": \"%s\", \"elements\": %lld, \"contract\": ", i ? "," : "",
             c->op.out[i].name, (long long)o->elements);
    number(out, o->contract);
    text_add(out, ", \"vendor\": %s, \"matched\": ", o->vendor ? "true" : "false");
    number(out, o->matched);
    text_add(out, ", \"largest_error\": ");
    number(out, o->absolute);
    text_add(out, ", \"ulp\": ");
    number(out, o->ulp);
    text_add(out, ", \"differs_from_twin\": %lld}", (long long)o->differ);
}

/* Measured over modelled, and what is off if that is far from 1. */
static void causes(struct text *out, const struct accept *a, const struct accept_case *c) {
    static const char *const prefix[GAUGE_PLACES_OF_DATA] = {"", "l2_"};
    for (int place = 0; place < GAUGE_PLACES_OF_DATA; place++) {
        double ratio;
        const enum accept_cause cause = accept_cause(a, c, (enum gauge_place)place, &ratio);
        text_add(out, ", \"%sover_model\": %.3f, \"%soff\": \"%s\"", prefix[place], ratio,
                 prefix[place], accept_cause_name(cause));
    }
}

static void result(struct text *out, const struct accept *a, const struct accept_case *c,
                   enum road road) {
    const struct accept_result *r = &c->result[road];
    text_add(out, ",\n      \"%s\": {\n        \"verdict\": \"%s\",\n        \"why\": ",
             accept_road_name(road), accept_verdict_name(r->verdict));
    doctor_json_text(out, r->why);
    text_add(out,
             ",\n        \"runs\": {\"repeats\": %d, \"other_cores\": %d, \"dynamic\": %d, "
             "\"in_place\": %d}",
             r->repeats, r->cores, r->dynamic, r->in_place);
    text_add(out, ",\n        \"times\": {\"count\": %u, \"p50_us\": %.3f, \"clock\": \"%s\"",
             r->times, r->p50, r->on_host ? "host" : "device");
    text_add(out, ", \"l2_count\": %u, \"l2_p50_us\": %.3f", r->again_times, r->again_p50);
    if (road == ROAD_ACLNN) causes(out, a, c);
    text_add(out, "}");
    text_add(out, ",\n        \"outputs\": [");
    for (uint32_t i = 0; (r->repeats || r->out[0].elements) && i < c->op.outputs; i++)
        output(out, c, &r->out[i], i);
    text_add(out, "]\n      }");
}

static void one_case(struct text *out, const struct accept *a, size_t i) {
    const struct accept_case *c = &a->cases[i];
    text_add(out, "%s\n    {\n      \"number\": %zu,\n      \"operator\": \"%s\",\n      \"row\": ",
             i ? "," : "", i + 1, c->op.type);
    doctor_json_text(out, c->text);
    text_add(out, ",\n      \"seed\": %llu,\n      \"large\": %s", (unsigned long long)c->seed,
             c->large ? "true" : "false");
    if (c->modelled)
        text_add(
            out,
            ",\n      \"model\": {\"time_us\": %.3f, \"time_l2_us\": %.3f, \"launch_us\": %.3f, "
            "\"copy_us\": %.3f, \"copy_l2_us\": %.3f, \"l2_share\": %.3f, "
            "\"roofline_us\": %.3f}",
            c->model_us, c->model_l2_us, c->launch_us, c->copy_us, c->copy_l2_us, c->l2_share,
            c->roofline_us);
    for (int road = 0; road < ROADS; road++)
        if (a->road[road].asked) result(out, a, c, (enum road)road);
    text_add(out, "\n    }");
}

static void roads(struct text *out, const struct accept *a) {
    bool first = true;
    for (int road = 0; road < ROADS; road++) {
        size_t count[3];
        if (!a->road[road].asked) continue;
        accept_verdict(a, (enum road)road, count);
        text_add(out, "%s\n    \"%s\": {\"pass\": %zu, \"fail\": %zu, \"skip\": %zu, \"cores\": ",
                 first ? "" : ",", accept_road_name((enum road)road), count[VERDICT_PASS],
                 count[VERDICT_FAIL], count[VERDICT_SKIP]);
        doctor_json_text(out, a->road[road].cores);
        text_add(out, ", \"l2\": ");
        doctor_json_text(out, a->road[road].l2);
        text_add(out, ", \"closed\": ");
        doctor_json_text(out, a->road[road].why);
        text_add(out, "}");
        first = false;
    }
}

static void answer(struct text *out, const struct accept *a, size_t i) {
    const struct question *q = &questions[i];
    const struct accept_answer *to = &a->answer[i];
    const struct {
        const char *name, *value;
    } member[] = {{"name", q->name},
                  {"assumes", q->assumes},
                  {"from", q->from},
                  {"verdict", accept_answer_name(to->verdict)},
                  {"expected", to->expected ? to->expected : ""},
                  {"answer", to->got},
                  {"why", to->why}};
    text_add(out, "%s\n    {", i ? "," : "");
    for (size_t k = 0; k < sizeof member / sizeof member[0]; k++) {
        text_add(out, "%s\"%s\": ", k ? ", " : "", member[k].name);
        doctor_json_text(out, member[k].value);
    }
    text_add(out, "}");
}

/* A small kernel: the model's times and those that are known, and in a line of its own what was
 * measured. */
static void gauge(struct text *out, const struct accept *a, size_t i) {
    static const char *const prefix[GAUGE_PLACES_OF_DATA] = {"", "l2_"};
    const struct accept_gauge *g = &a->gauge[i];
    text_add(out, "%s\n    {\"name\": \"%s\", \"what\": ", i ? "," : "", gauges[i].name);
    doctor_json_text(out, gauges[i].what);
    text_add(out, ", \"why\": ");
    doctor_json_text(out, g->why);
    text_add(out, ", \"model_launch_us\": %.3f", g->launch);
    for (int place = 0; place < GAUGE_PLACES_OF_DATA; place++) {
        const struct gauge_public *known = accept_public(a, i, (enum gauge_place)place);
        text_add(out, ", \"%smodel_us\": %.3f", prefix[place], g->model[place] + g->launch);
        if (!known) continue;
        text_add(out, ", \"%spublic_us\": %.3f, \"%spublic\": ", prefix[place],
                 known->us + (known->launch ? 0 : g->launch), prefix[place]);
        doctor_json_text(out, known->source);
    }
    text_add(out, ",\n      \"times\": {");
    for (int place = 0; place < GAUGE_PLACES_OF_DATA; place++)
        text_add(out, "%s\"%sp50_us\": %.3f, \"%sverdict\": \"%s\"", place ? ", " : "",
                 prefix[place], g->p50[place], prefix[place], accept_gauge_name(g->verdict[place]));
    text_add(out, "}}");
}

static void gauges_and_rule(struct text *out, const struct accept *a) {
    char rule[ACCEPT_WHY];
    int holds;
    text_add(out, "  \"small_kernels\": [");
    for (size_t i = 0; i < gauge_count; i++)
        gauge(out, a, i);
    accept_l2_rule(a, &holds, rule);
    text_add(out, "\n  ],\n  \"l2_rule\": {\n    \"times\": {\"holds\": %s, \"text\": ",
             holds < 0 ? "null"
             : holds   ? "true"
                       : "false");
    doctor_json_text(out, rule);
    text_add(out, "}\n  },\n");
}

static void histogram(struct text *out, const struct accept *a) {
    text_add(out, "  \"error_ulp\": {\n    \"bin_end\": [");
    for (int i = 0; i < ACCEPT_BINS - 1; i++)
        text_add(out, "%s%g", i ? ", " : "", accept_bin_end[i]);
    text_add(out, "]");
    for (int t = 0; t < ACCEPT_TYPES; t++) {
        text_add(out, ",\n    \"%s\": [", text_dtype(accept_type[t]));
        for (int i = 0; i < ACCEPT_BINS; i++)
            text_add(out, "%s%llu", i ? ", " : "", (unsigned long long)a->histogram[t][i]);
        text_add(out, "]");
    }
    text_add(out, "\n  },\n");
}

/* How fast each operator is: the row that tells, and how many times a copy and CANN's own. */
static void speed(struct text *out, const struct accept *a) {
    static const char *const name[] = {"over_copy", "l2_over_copy", "cann_over_ours"};
    struct ascgrad_op_info op;
    const char *comma = "";
    text_add(out, "  \"operators\": [");
    for (uint32_t i = 0; ascgrad_describe(i, &op); i++) {
        const struct accept_speed s = accept_speed(a, op.type);
        const double value[] = {s.over_copy[GAUGE_COLD], s.over_copy[GAUGE_AGAIN], s.over_cann};
        text_add(
            out,
            "%s\n    {\"operator\": \"%s\",\n      \"times\": {\"row\": %td, \"cann_row\": %td",
            comma, op.type, s.copied ? s.copied - a->cases + 1 : 0,
            s.beside ? s.beside - a->cases + 1 : 0);
        for (size_t k = 0; k < sizeof value / sizeof value[0]; k++)
            text_add(out, ", \"%s\": %.3f", name[k], value[k]);
        text_add(out, "}}");
        comma = ",";
    }
    text_add(out, "\n  ],\n");
}

static void calibration(struct text *out, const struct accept *a) {
    if (!a->constants) return;
    text_add(out, "  \"calibration\": {\"rms_before\": %.4f, \"rms_after\": %.4f, \"constants\": [",
             a->fit_before, a->fit_after);
    for (size_t i = 0; i < a->constants; i++)
        text_add(out,
                 "%s{\"name\": \"%s\", \"value\": %.6g, \"proposed\": %.6g, \"influence\": %.4f}",
                 i ? ", " : "", a->constant[i].name, a->constant[i].value, a->constant[i].proposed,
                 a->constant[i].influence);
    text_add(out, "]},\n");
}

void accept_json(const struct accept *a, struct text *out) {
    const bool passed = accept_passed(a);
    text_add(out,
             "{\n  \"format\": 1,\n  \"accepted\": %s,\n  \"date\": \"%s\",\n  \"took_s\": %.1f,\n",
             passed ? "true" : "false", a->date, a->took);
    text_add(out, "  \"quick\": %s,\n  \"environment\": {\n%s\n  },\n",
             a->options.quick ? "true" : "false", text_of(&a->environment));
    text_add(out, "  \"doctor\": %s", a->doctor ? a->doctor : "null\n");
    if (out->s && out->size) out->s[--out->size] = 0; /* its end of line */
    text_add(out, ",\n  \"questions\": [");
    for (size_t i = 0; a->answer && i < question_count; i++)
        answer(out, a, i);
    text_add(out, "\n  ],\n");
    gauges_and_rule(out, a);
    text_add(out, "  \"roads\": {");
    roads(out, a);
    text_add(out, "\n  },\n");
    histogram(out, a);
    speed(out, a);
    calibration(out, a);
    text_add(out, "  \"cases\": [");
    for (size_t i = 0; i < a->count; i++)
        one_case(out, a, i);
    text_add(out, "\n  ]\n}\n");
}

/* For XML. */
static void escape(struct text *out, const char *text) {
    for (const char *c = text; *c; c++) {
        const size_t size = doctor_utf8(c);
        if (*c == '<')
            text_add(out, "&lt;");
        else if (*c == '>')
            text_add(out, "&gt;");
        else if (*c == '&')
            text_add(out, "&amp;");
        else if (*c == '"')
            text_add(out, "&quot;");
        else if (size == 0)
            text_add(out, ACCEPT_ODD);
        else
            text_bytes(out, (unsigned char)*c < ' ' ? "?" : c, size);
        if (size > 1) c += size - 1;
    }
}

static void junit_skipped(struct text *out, const char *how, const char *why) {
    text_add(out, "><%s message=\"", how);
    escape(out, why);
    text_add(out, "\"/></testcase>\n");
}

static void junit_case(struct text *out, const struct accept_case *c, enum road road) {
    const struct accept_result *r = &c->result[road];
    text_add(out, "    <testcase classname=\"%s.%s\" name=\"", accept_road_name(road), c->op.type);
    escape(out, c->text);
    text_add(out, "\"");
    if (r->verdict != VERDICT_PASS)
        junit_skipped(out, r->verdict == VERDICT_FAIL ? "failure" : "skipped", r->why);
    else if (r->times && !r->on_host)
        text_add(out,
                 ">\n      <system-out>data in memory: %.3f us, model %.3f; in the L2: %.3f us, "
                 "model %.3f</system-out>\n    </testcase>\n",
                 r->p50, c->model_us + c->launch_us, r->again_p50, c->model_l2_us + c->launch_us);
    else
        text_add(out, "/>\n");
}

/* The small kernels fail nothing: one that differs says so, and one that was not measured is
 * skipped. */
static void junit_gauges(struct text *out, const struct accept *a) {
    size_t skipped = 0;
    for (size_t i = 0; i < gauge_count; i++)
        skipped += a->gauge[i].why[0] != 0;
    text_add(out,
             "  <testsuite name=\"small kernels\" tests=\"%zu\" failures=\"0\" skipped=\"%zu\">\n",
             gauge_count, skipped);
    for (size_t i = 0; i < gauge_count; i++) {
        const struct accept_gauge *g = &a->gauge[i];
        text_add(out, "    <testcase classname=\"small_kernels\" name=\"%s\"", gauges[i].name);
        if (g->why[0]) {
            junit_skipped(out, "skipped", g->why);
            continue;
        }
        text_add(
            out,
            ">\n      <system-out>data in memory: %.3f us, model %.3f, %s; in the L2: %.3f us, "
            "model %.3f, %s</system-out>\n    </testcase>\n",
            g->p50[GAUGE_COLD], g->model[GAUGE_COLD] + g->launch,
            accept_gauge_name(g->verdict[GAUGE_COLD]), g->p50[GAUGE_AGAIN],
            g->model[GAUGE_AGAIN] + g->launch, accept_gauge_name(g->verdict[GAUGE_AGAIN]));
    }
    text_add(out, "  </testsuite>\n");
}

void accept_junit(const struct accept *a, struct text *out) {
    text_add(out,
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"ascgrad accept\">\n");
    junit_gauges(out, a);
    for (int road = 0; road < ROAD_CANN; road++) {
        size_t count[3];
        if (!a->road[road].asked) continue;
        accept_verdict(a, (enum road)road, count);
        text_add(out, "  <testsuite name=\"%s\" tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\">\n",
                 accept_road_name((enum road)road), a->count, count[VERDICT_FAIL],
                 count[VERDICT_SKIP]);
        for (size_t i = 0; i < a->count; i++)
            junit_case(out, &a->cases[i], (enum road)road);
        text_add(out, "  </testsuite>\n");
    }
    text_add(out, "</testsuites>\n");
}
