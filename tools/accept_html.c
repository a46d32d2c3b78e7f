/* SPDX-License-Identifier: Apache-2.0
 *
 * report.html: the report as one page that needs nothing else, no network and, but for the two
 * filters, no script. Every figure has a data-key, the way to the same figure in report.json.
 * Elements of class t hold what changes from run to run.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "accept.h"
#include "accept_page.h"

/* made by cmake/embed.cmake */
extern const char accept_css[], accept_js[];

static void head(const struct accept *a, struct text *out) {
    const bool passed = accept_passed(a);
    text_add(out,
             "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
             "<title>ascgrad accept: %s</title>\n<style>\n%s</style></head>\n<body>\n<header>"
             "<h1>ascgrad accept: <span class=\"%s\" data-key=\"accepted\">%s</span></h1>\n"
             "<p>ascgrad %s on ",
             passed ? "accepted" : "not accepted", accept_css, passed ? "pass" : "fail",
             passed ? "accepted" : "not accepted", ascgrad_version());
    accept_escape(out, a->soc[0] ? a->soc : "an unknown chip");
    text_add(out,
             ", <span class=\"t\">%s</span>%s. Every row is a call with fixed inputs, compared "
             "with double "
             "precision, with the CPU twin's bits, with itself on other cores, and with CANN's own "
             "operator "
             "where that is legal.</p>\n<nav aria-label=\"parts\"><a href=\"#summary\">summary</a>"
             "<a href=\"#questions\">questions</a><a href=\"#pictures\">pictures</a><a "
             "href=\"#rows\">rows</a>"
             "<a href=\"#machine\">machine</a></nav></header>\n<main>\n",
             a->date, a->options.quick ? ", quick run" : "");
}

/* ---- summary */

static void road_cards(const struct accept *a, struct text *out) {
    text_add(out, "<div class=\"cards\">\n");
    for (int road = 0; road < ROADS; road++) {
        size_t count[3];
        const char *name = accept_road_name((enum road)road);
        if (!a->road[road].asked) continue;
        const bool good = accept_verdict(a, (enum road)road, count);
        text_add(out,
                 "<div>%s <b class=\"%s\"><span data-key=\"roads.%s.pass\">%zu</span> passed</b>"
                 "<span data-key=\"roads.%s.fail\">%zu</span> failed, "
                 "<span data-key=\"roads.%s.skip\">%zu</span> left out</div>\n",
                 road == ROAD_CANN ? "CANN's own" : name,
                 road == ROAD_CANN ? "dim"
                 : good            ? "pass"
                                   : "fail",
                 name, count[VERDICT_PASS], name, count[VERDICT_FAIL], name, count[VERDICT_SKIP]);
    }
    text_add(out, "<div>doctor <b class=\"%s\" data-key=\"doctor.worst\">%s</b></div>\n</div>\n",
             strcmp(a->doctor_worst, "fail") == 0 ? "fail" : "pass", a->doctor_worst);
    for (int road = 0; road < ROADS; road++) {
        if (!a->road[road].asked || !a->road[road].why[0]) continue;
        text_add(out, "<p class=\"%s\">%s was not run: ", road == ROAD_CANN ? "dim" : "fail",
                 accept_road_name((enum road)road));
        accept_escape(out, a->road[road].why);
        text_add(out, "</p>\n");
    }
}

static void operator_line(const struct accept *a, const struct ascgrad_op_info *op,
                          struct text *out) {
    size_t rows = 0, count[ROADS][3] = {{0}};
    struct accept_worst w = {0};
    for (size_t k = 0; k < a->count; k++) {
        if (strcmp(a->cases[k].op.type, op->type) != 0) continue;
        rows++;
        for (int road = 0; road < ROADS; road++)
            count[road][a->cases[k].result[road].verdict]++;
        for (int road = 0; road < ROAD_CANN; road++) {
            const struct accept_worst v = accept_worst_of(&a->cases[k], (enum road)road);
            if (v.contract > w.contract) w.contract = v.contract;
            w.elements += v.elements;
            w.differ += v.differ;
        }
    }
    if (!rows) return;
    text_add(out, "<tr data-op=\"%s\"><td><a href=\"#%s\">%s</a></td><td class=\"n\">%zu</td>",
             op->type, op->kernel, op->type, rows);
    for (int road = 0; road < ROAD_CANN; road++)
        if (a->road[road].asked)
            text_add(out, "<td class=\"n %s\">%zu / %zu</td>",
                     count[road][VERDICT_FAIL] ? "fail" : "pass", count[road][VERDICT_PASS], rows);
    text_add(out, "<td class=\"n\">%.3g</td><td class=\"n\">%lld of %lld</td></tr>\n",
             w.contract < 1e29 ? w.contract : INFINITY, (long long)(w.elements - w.differ),
             (long long)w.elements);
}

static void summary(const struct accept *a, struct text *out) {
    struct ascgrad_op_info op;
    text_add(out, "<section id=\"summary\"><h2>Summary</h2>\n");
    road_cards(a, out);
    text_add(out, "<div class=\"wide\" tabindex=\"0\" role=\"region\" "
                  "aria-label=\"operators\"><table><thead><tr>"
                  "<th>operator</th><th class=\"n\">rows</th>");
    for (int road = 0; road < ROAD_CANN; road++)
        if (a->road[road].asked)
            text_add(out, "<th class=\"n\">%s passed</th>", accept_road_name((enum road)road));
    text_add(out, "<th class=\"n\">error beyond rounding / allowed</th>"
                  "<th class=\"n\">elements with the twin's bits</th></tr></thead><tbody>\n");
    for (uint32_t i = 0; ascgrad_describe(i, &op); i++)
        operator_line(a, &op, out);
    text_add(out, "</tbody></table></div>\n"
                  "<p class=\"dim\">Contract: at most half an ulp plus 2<sup>-20</sup> of the sum "
                  "of the absolute "
                  "values of the terms, so at most 1 in that column. Vendor: |a - g| &le; atol + "
                  "rtol |g| for 99 %% "
                  "of the elements, and no error above a limit or 32 ulp.</p></section>\n");
}

/* ---- questions */

static void question_row(const struct accept *a, size_t i, struct text *out) {
    static const char *const style[] = {"dim", "pass", "fail"};
    const struct accept_answer *to = &a->answer[i];
    text_add(out, "<tr><th scope=\"row\">%s</th><td class=\"row\">", questions[i].name);
    accept_escape(out, questions[i].assumes);
    text_add(out, " <span class=\"dim\">(");
    accept_escape(out, questions[i].from);
    text_add(out, ")</span></td><td data-key=\"questions.%zu.expected\">%s</td>", i,
             to->expected ? to->expected : "");
    text_add(out, "<td data-key=\"questions.%zu.answer\">%s</td>", i, to->got);
    text_add(out, "<td class=\"%s\" data-key=\"questions.%zu.verdict\">%s</td><td class=\"row\">",
             style[to->verdict], i, accept_answer_name(to->verdict));
    accept_escape(out, to->why);
    text_add(out, "</td></tr>\n");
}

static void answers(const struct accept *a, struct text *out) {
    size_t count[3];
    if (!a->answer) return;
    accept_count_answers(a, count);
    text_add(
        out,
        "<section id=\"questions\"><h2>Questions to the chip</h2>\n<p>%zu agree with the twin, "
        "%zu differ, %zu were not asked. An answer that differs is no fault of the package, but "
        "the twin is wrong there, and every figure that rests on it is in doubt.</p>\n"
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"questions\"><table>"
        "<thead><tr><th>question</th><th>the twin assumes</th><th>expected</th><th>answer</th>"
        "<th>verdict</th><th>why</th></tr></thead><tbody>\n",
        count[ANSWER_AGREES], count[ANSWER_DIFFERS], count[ANSWER_NOT_ASKED]);
    for (size_t i = 0; i < question_count; i++)
        question_row(a, i, out);
    text_add(out, "</tbody></table></div></section>\n");
}

/* ---- pictures */

static void histogram_table(const struct accept *a, struct text *out) {
    text_add(out, "<details><summary>the figures of the histogram</summary><div class=\"wide\" "
                  "tabindex=\"0\" "
                  "role=\"region\" aria-label=\"histogram\"><table><thead><tr><th>type</th>");
    for (int i = 0; i < ACCEPT_BINS; i++)
        text_add(out,
                 i < ACCEPT_BINS - 1 ? "<th class=\"n\">&le; %g</th>" : "<th class=\"n\">more</th>",
                 i < ACCEPT_BINS - 1 ? accept_bin_end[i] : 0);
    text_add(out, "</tr></thead><tbody>\n");
    for (int t = 0; t < ACCEPT_TYPES; t++) {
        const char *type = text_dtype(accept_type[t]);
        text_add(out, "<tr><td>%s</td>", type);
        for (int i = 0; i < ACCEPT_BINS; i++)
            text_add(out, "<td class=\"n\" data-key=\"error_ulp.%s.%d\">%llu</td>", type, i,
                     (unsigned long long)a->histogram[t][i]);
        text_add(out, "</tr>\n");
    }
    text_add(out, "</tbody></table></div></details>\n");
}

static void calibration(const struct accept *a, struct text *out) {
    if (!a->constants) return;
    text_add(out,
             "<h3>Constants of the cycle model</h3><div class=\"t\"><p>rms of log(measured / "
             "modelled) %.3f, with "
             "the proposed values %.3f</p><div class=\"wide\" tabindex=\"0\" role=\"region\" "
             "aria-label=\"constants\"><table><thead><tr><th>constant</th><th class=\"n\">now</th>"
             "<th class=\"n\">proposed</th><th class=\"n\">influence</th></tr></thead><tbody>\n",
             a->fit_before, a->fit_after);
    for (size_t i = 0; i < a->constants; i++) {
        const struct accept_constant *c = &a->constant[i];
        if (c->influence < 0.01) continue; /* these rows do not tell */
        text_add(out,
                 "<tr><td><code>%s</code></td><td class=\"n\">%.4g</td><td class=\"n\">%.4g</td>"
                 "<td class=\"n\">%.3f</td></tr>\n",
                 c->name, c->value, c->proposed, c->influence);
    }
    text_add(out, "</tbody></table></div></div>\n");
}

static void pictures(const struct accept *a, struct text *out) {
    text_add(out, "<section id=\"pictures\"><h2>Pictures</h2>\n<div class=\"plots\">\n");
    accept_svg_errors(a, out);
    text_add(out, "<div class=\"t together\">\n");
    accept_svg_times(a, out);
    text_add(out, "</div></div>\n");
    histogram_table(a, out);
    calibration(a, out);
    text_add(out, "</section>\n");
}

/* ---- machine */

/* Members of the environment and doctor's checks come as JSON: shown as tables. */
static void machine(const struct accept *a, struct text *out) {
    struct text whole = {0};
    int line;
    text_add(&whole, "{%s}", text_of(&a->environment));
    struct json *environment = json_parse(text_of(&whole), &line);
    struct json *doctor = a->doctor ? json_parse(a->doctor, &line) : NULL;
    text_add(out, "<section id=\"machine\"><h2>Machine</h2><div class=\"wide\" tabindex=\"0\" "
                  "role=\"region\" "
                  "aria-label=\"environment\"><table><tbody>\n");
    for (const struct json *m = environment ? environment->child : NULL; m; m = m->next) {
        text_add(out, "<tr><th scope=\"row\">");
        accept_escape(out, m->name);
        text_add(out, "</th><td class=\"row\">");
        accept_escape(out, m->text ? m->text : "");
        text_add(out, "</td></tr>\n");
    }
    text_add(out, "</tbody></table></div>\n<h3>ascgrad doctor</h3><ul>\n");
    const struct json *checks = doctor ? json_get(doctor, "checks") : NULL;
    for (const struct json *c = checks ? checks->child : NULL; c; c = c->next) {
        const char *level = json_string(c, "level"), *text = json_string(c, "text");
        text_add(out, "<li><span class=\"%s\">",
                 level && strcmp(level, "fail") == 0 ? "fail" : "dim");
        accept_escape(out, level ? level : "?");
        text_add(out, "</span> ");
        accept_escape(out, text ? text : "");
        text_add(out, "</li>\n");
    }
    text_add(out, "</ul></section>\n");
    json_free(environment);
    json_free(doctor);
    text_free(&whole);
}

void accept_html(const struct accept *a, struct text *out) {
    head(a, out);
    summary(a, out);
    answers(a, out);
    pictures(a, out);
    accept_page_beside(a, out);
    accept_page_rows(a, out);
    machine(a, out);
    text_add(out, "</main>\n<script>\n%s</script>\n</body></html>\n", accept_js);
}
