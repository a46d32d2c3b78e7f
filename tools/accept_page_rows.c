/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of accept's page, and the table beside CANN's own operators.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "accept.h"
#include "accept_page.h"

struct accept_worst accept_worst_of(const struct accept_case *c, enum road road) {
    const struct accept_result *r = &c->result[road];
    struct accept_worst w = {.vendor = true};
    for (uint32_t i = 0; i < c->op.outputs; i++) {
        const struct accept_output *o = &r->out[i];
        w.any = w.any || o->elements;
        w.elements += o->elements;
        w.differ += o->differ;
        w.vendor = w.vendor && (o->vendor || !o->elements);
        if (o->contract > w.contract) w.contract = o->contract;
        if (o->ulp > w.ulp) w.ulp = o->ulp;
    }
    return w;
}

static void figure(struct text *out, const char *key, double value) {
    text_add(out, "<td class=\"n\" data-key=\"%s\">", key);
    if (isfinite(value) && fabs(value) < 1e29)
        text_add(out, "%.6g</td>", value);
    else
        text_add(out, "wrong</td>");
}

static void outputs(const struct accept_case *c, size_t i, enum road road, struct text *out) {
    const struct accept_result *r = &c->result[road];
    char key[128];
    for (uint32_t k = 0; k < c->op.outputs; k++) {
        const struct accept_output *o = &r->out[k];
        text_add(out, "<tr><td>%s</td><td>%s</td>", accept_road_name(road), c->op.out[k].name);
        const struct {
            const char *name;
            double value;
        } figures[] = {{"elements", (double)o->elements},
                       {"contract", o->contract},
                       {"ulp", o->ulp},
                       {"largest_error", o->absolute},
                       {"matched", o->matched},
                       {"differs_from_twin", (double)o->differ}};
        for (size_t f = 0; f < sizeof figures / sizeof figures[0]; f++) {
            snprintf(key, sizeof key, "cases.%zu.%s.outputs.%u.%s", i, accept_road_name(road), k,
                     figures[f].name);
            figure(out, key, figures[f].value);
        }
        text_add(out, "<td>%s</td></tr>\n", o->vendor ? "met" : "missed");
    }
}

static bool ran(const struct accept_result *r) {
    return r->repeats || r->out[0].elements;
}

static void row_details(const struct accept *a, size_t i, struct text *out) {
    const struct accept_case *c = &a->cases[i];
    text_add(out, "<details><summary class=\"row\">");
    accept_escape(out, c->text + strlen(c->op.type) + 1);
    text_add(
        out,
        "</summary><p class=\"dim\">seed %llu</p><table><thead><tr><th>road</th><th>output</th>"
        "<th class=\"n\">elements</th><th class=\"n\">contract</th><th class=\"n\">ulp</th>"
        "<th class=\"n\">largest error</th><th class=\"n\">in tolerance</th>"
        "<th class=\"n\">other bits than the twin</th><th>vendor</th></tr></thead><tbody>\n",
        (unsigned long long)c->seed);
    for (int road = 0; road < ROADS; road++)
        if (a->road[road].asked && ran(&c->result[road])) outputs(c, i, (enum road)road, out);
    text_add(out, "</tbody></table></details>");
    for (int road = 0; road < ROADS; road++) {
        const struct accept_result *r = &c->result[road];
        if (!a->road[road].asked || !r->why[0] || road == ROAD_CANN) continue;
        text_add(out, "<p class=\"why\">%s: ", accept_road_name((enum road)road));
        accept_escape(out, r->why);
        text_add(out, "</p>");
    }
}

static void time_cells(const struct accept *a, size_t i, struct text *out) {
    const struct accept_case *c = &a->cases[i];
    if (c->modelled)
        text_add(out,
                 "<td class=\"n\" data-key=\"cases.%zu.model.roofline_us\">%.3f</td>"
                 "<td class=\"n\" data-key=\"cases.%zu.model.time_us\">%.3f</td>",
                 i, c->roofline_us, i, c->model_us);
    else
        text_add(out, "<td></td><td></td>");
    for (int road = ROAD_ACLNN; road < ROADS; road++) {
        const struct accept_result *r = &c->result[road];
        if (!a->road[road].asked) continue;
        if (r->times && !r->on_host)
            text_add(out, "<td class=\"n t\" data-key=\"cases.%zu.%s.times.p50_us\">%.3f</td>", i,
                     accept_road_name((enum road)road), r->p50);
        else
            text_add(out, "<td></td>");
    }
}

static void one_row(const struct accept *a, size_t i, struct text *out) {
    const struct accept_case *c = &a->cases[i];
    text_add(out, "<tbody class=\"case\" id=\"case-%zu\"><tr><td class=\"n\">%zu</td>", i + 1,
             i + 1);
    for (int road = 0; road < ROAD_CANN; road++) {
        const struct accept_result *r = &c->result[road];
        const char *name = accept_verdict_name(r->verdict);
        if (a->road[road].asked)
            text_add(out, "<td class=\"%s\" data-key=\"cases.%zu.%s.verdict\">%s</td>", name, i,
                     accept_road_name((enum road)road), name);
    }
    text_add(out, "<td class=\"call\">");
    row_details(a, i, out);
    text_add(out, "</td>");
    time_cells(a, i, out);
    text_add(out, "</tr></tbody>\n");
}

static void operator_rows(const struct accept *a, const struct ascgrad_op_info *op,
                          struct text *out) {
    bool any = false;
    for (size_t i = 0; i < a->count; i++) {
        if (strcmp(a->cases[i].op.type, op->type) != 0) continue;
        if (!any) {
            text_add(
                out,
                "<section data-op=\"%s\" id=\"%s\"><h3>%s</h3><div class=\"wide\" tabindex=\"0\" "
                "role=\"region\" aria-label=\"rows of %s\"><table><thead><tr><th "
                "class=\"n\">#</th>",
                op->type, op->kernel, op->type, op->type);
            for (int road = 0; road < ROAD_CANN; road++)
                if (a->road[road].asked)
                    text_add(out, "<th>%s</th>", accept_road_name((enum road)road));
            text_add(
                out,
                "<th>row</th><th class=\"n\">roofline us</th><th class=\"n\">modelled us</th>");
            if (a->road[ROAD_ACLNN].asked) text_add(out, "<th class=\"n\">measured us</th>");
            if (a->road[ROAD_CANN].asked) text_add(out, "<th class=\"n\">CANN's own us</th>");
            text_add(out, "</tr></thead>\n");
        }
        any = true;
        one_row(a, i, out);
    }
    if (any) text_add(out, "</table></div></section>\n");
}

static bool has_rows(const struct accept *a, const struct ascgrad_op_info *op) {
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->cases[i].op.type, op->type) == 0) return true;
    return false;
}

void accept_page_rows(const struct accept *a, struct text *out) {
    struct ascgrad_op_info op;
    text_add(out, "<section id=\"rows\"><h2>Rows</h2>\n<div class=\"tools\"><label>operator "
                  "<select id=\"op\">"
                  "<option value=\"\">all</option>");
    for (uint32_t i = 0; ascgrad_describe(i, &op); i++)
        if (has_rows(a, &op)) text_add(out, "<option>%s</option>", op.type);
    text_add(out,
             "</select></label><label><input type=\"checkbox\" id=\"bad\"> only what failed</label>"
             "<span id=\"shown\" role=\"status\"></span></div>\n"
             "<p class=\"dim\">Measured: p50 of %d runs on the device, by events%s; modelled: "
             "without the "
             "launch. A row opens with Enter.</p>\n",
             WIRE_TIMES, strcmp(a->road[ROAD_ACLNN].l2, "cold") == 0 ? ", with a cold L2" : "");
    for (uint32_t i = 0; ascgrad_describe(i, &op); i++)
        operator_rows(a, &op, out);
    text_add(out, "</section>\n");
}

/* ---- CANN's own */

static void beside_row(const struct accept *a, size_t i, struct text *out) {
    const struct accept_case *c = &a->cases[i];
    const struct accept_result *cann = &c->result[ROAD_CANN];
    const enum road road = a->road[ROAD_ACLNN].asked ? ROAD_ACLNN : ROAD_GE;
    const struct accept_result *ours = &c->result[road];
    const struct accept_worst w = accept_worst_of(c, road), v = accept_worst_of(c, ROAD_CANN);
    text_add(out, "<tr><td class=\"n\"><a href=\"#case-%zu\">%zu</a></td><td>%s</td>", i + 1, i + 1,
             c->op.type);
    if (ours->times && cann->times && ours->on_host == cann->on_host)
        text_add(out,
                 "<td class=\"n t\" data-key=\"cases.%zu.%s.times.p50_us\">%.3f</td>"
                 "<td class=\"n t\" data-key=\"cases.%zu.cann.times.p50_us\">%.3f</td>"
                 "<td class=\"n t\">%.2f</td>",
                 i, accept_road_name(road), ours->p50, i, cann->p50, cann->p50 / ours->p50);
    else
        text_add(out, "<td></td><td></td><td></td>");
    text_add(out,
             "<td class=\"n\">%.3g</td><td class=\"n\">%.3g</td><td class=\"n\">%.3g</td>"
             "<td class=\"n\">%.3g</td></tr>\n",
             w.contract < 1e29 ? w.contract : INFINITY, v.contract < 1e29 ? v.contract : INFINITY,
             w.ulp, v.ulp);
}

void accept_page_beside(const struct accept *a, struct text *out) {
    bool any = false;
    for (size_t i = 0; i < a->count; i++) {
        if (a->cases[i].result[ROAD_CANN].verdict != VERDICT_PASS) continue;
        if (!any)
            text_add(
                out,
                "<section id=\"beside\"><h2>Beside CANN's own operators</h2><div class=\"wide\" "
                "tabindex=\"0\" role=\"region\" aria-label=\"beside CANN\"><table><thead><tr>"
                "<th class=\"n\">#</th><th>operator</th><th class=\"n\">ours us</th>"
                "<th class=\"n\">CANN's us</th><th class=\"n\">CANN's / ours</th>"
                "<th class=\"n\">our error / allowed</th><th class=\"n\">CANN's error / "
                "allowed</th>"
                "<th class=\"n\">our ulp</th><th class=\"n\">CANN's "
                "ulp</th></tr></thead><tbody>\n");
        any = true;
        beside_row(a, i, out);
    }
    if (any) text_add(out, "</tbody></table></div></section>\n");
}
