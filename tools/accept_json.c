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
#include "doctor_parts.h"

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

static void result(struct text *out, const struct accept_case *c, enum road road) {
    const struct accept_result *r = &c->result[road];
    text_add(out, ",\n      \"%s\": {\n        \"verdict\": \"%s\",\n        \"why\": ",
             accept_road_name(road), accept_verdict_name(r->verdict));
    doctor_json_text(out, r->why);
    text_add(out, ",\n        \"runs\": {\"repeats\": %d, \"other_cores\": %d, \"dynamic\": %d}",
             r->repeats, r->cores, r->dynamic);
    text_add(out, ",\n        \"times\": {\"count\": %u, \"p50_us\": %.3f, \"clock\": \"%s\"}",
             r->times, r->p50, r->on_host ? "host" : "device");
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
            ",\n      \"model\": {\"time_us\": %.3f, \"launch_us\": %.3f, \"roofline_us\": %.3f}",
            c->model_us, c->launch_us, c->roofline_us);
    for (int road = 0; road < ROADS; road++)
        if (a->road[road].asked) result(out, c, (enum road)road);
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
    text_add(out, "\n  ],\n  \"roads\": {");
    roads(out, a);
    text_add(out, "\n  },\n");
    histogram(out, a);
    calibration(out, a);
    text_add(out, "  \"cases\": [");
    for (size_t i = 0; i < a->count; i++)
        one_case(out, a, i);
    text_add(out, "\n  ]\n}\n");
}

void accept_escape(struct text *out, const char *text) {
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

static void junit_case(struct text *out, const struct accept_case *c, enum road road) {
    const struct accept_result *r = &c->result[road];
    text_add(out, "    <testcase classname=\"%s.%s\" name=\"", accept_road_name(road), c->op.type);
    accept_escape(out, c->text);
    text_add(out, "\"");
    if (r->verdict == VERDICT_PASS) {
        text_add(out, "/>\n");
        return;
    }
    text_add(out, "><%s message=\"", r->verdict == VERDICT_FAIL ? "failure" : "skipped");
    accept_escape(out, r->why);
    text_add(out, "\"/></testcase>\n");
}

void accept_junit(const struct accept *a, struct text *out) {
    text_add(out,
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"ascgrad accept\">\n");
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
