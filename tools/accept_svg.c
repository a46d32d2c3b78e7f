/* SPDX-License-Identifier: Apache-2.0
 *
 * The pictures of accept's report, as SVG inside the page: how large the errors are, and measured
 * times against the model and the roofline. A point leads to its row.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "accept.h"
#include "accept_page.h"

enum {
    W = 560,
    H = 320,
    LEFT = 60,
    RIGHT = 12,
    TOP = 28,
    BOTTOM = 44,
    PLOT_W = W - LEFT - RIGHT,
    PLOT_H = H - TOP - BOTTOM
};

static void open_figure(struct text *out, const char *id, const char *caption, const char *label) {
    text_add(out,
             "<figure id=\"%s\"><figcaption>%s</figcaption>\n"
             "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n",
             id, caption, W, H, label);
}

static void close_figure(struct text *out) {
    text_add(out, "</svg></figure>\n");
}

static void legend(struct text *out, int x, const char *style, const char *name) {
    text_add(
        out,
        "<circle class=\"%s\" cx=\"%d\" cy=\"12\" r=\"5\"/><text x=\"%d\" y=\"16\">%s</text>\n",
        style, x, x + 10, name);
}

/* ---- errors */

static void bars(struct text *out, const struct accept *a, int type, int slot, int slots) {
    uint64_t all = 0;
    const double width = (double)PLOT_W / ACCEPT_BINS, bar = (width - 6) / slots;
    for (int i = 0; i < ACCEPT_BINS; i++)
        all += a->histogram[type][i];
    for (int i = 0; all && i < ACCEPT_BINS; i++) {
        const uint64_t n = a->histogram[type][i];
        const double share = (double)n / (double)all, height = share * PLOT_H / 0.5;
        const double shown = height > PLOT_H ? PLOT_H : n && height < 1.5 ? 1.5 : height;
        text_add(out,
                 "<rect class=\"s%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">"
                 "<title>%s: %llu of %llu</title></rect>\n",
                 type, LEFT + i * width + 3 + slot * bar, TOP + PLOT_H - shown, bar, shown,
                 text_dtype(accept_type[type]), (unsigned long long)n, (unsigned long long)all);
    }
}

void accept_svg_errors(const struct accept *a, struct text *out) {
    open_figure(out, "errors", "Errors of all output elements, in ulp of their type",
                "Histogram of errors in ulp; the figures are in the table below");
    for (int i = 0; i <= 5; i++) {
        const double y = TOP + PLOT_H - i * PLOT_H / 5.0;
        text_add(out,
                 "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
                 "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%d %%</text>\n",
                 LEFT, W - RIGHT, y, y, LEFT - 6, y + 4, i * 10);
    }
    for (int t = 0; t < ACCEPT_TYPES; t++) {
        char style[8];
        snprintf(style, sizeof style, "s%d", t);
        legend(out, LEFT + 10 + 70 * t, style, text_dtype(accept_type[t]));
        bars(out, a, t, t, ACCEPT_TYPES);
    }
    for (int i = 0; i < ACCEPT_BINS; i++) {
        const double x = LEFT + (i + 0.5) * PLOT_W / ACCEPT_BINS;
        if (i < ACCEPT_BINS - 1)
            text_add(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">&le;%g</text>\n", x,
                     H - BOTTOM + 16, accept_bin_end[i]);
        else
            text_add(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">more</text>\n", x,
                     H - BOTTOM + 16);
    }
    text_add(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">error in ulp</text>\n",
             LEFT + PLOT_W / 2, H - 8);
    close_figure(out);
}

/* ---- times */

/* Decades of both axes. */
struct scale {
    int low, high;
};

static double place(struct scale s, double value) {
    return (log10(value) - s.low) / (s.high - s.low);
}

static double px(struct scale s, double value) {
    return LEFT + place(s, value) * PLOT_W;
}

static double py(struct scale s, double value) {
    return TOP + (1 - place(s, value)) * PLOT_H;
}

static const struct accept_result *measured(const struct accept_case *c) {
    const struct accept_result *r = &c->result[ROAD_ACLNN];
    return c->modelled && r->times && r->p50 > 0 && !r->on_host && c->roofline_us > 0 ? r : NULL;
}

static struct scale find_scale(const struct accept *a, bool roofline) {
    double low = 1e30, high = 0;
    for (size_t i = 0; i < a->count; i++) {
        const struct accept_case *c = &a->cases[i];
        const struct accept_result *r = measured(c);
        const double model = c->model_us + c->launch_us;
        const double values[] = {r ? r->p50 : 0, r ? (roofline ? c->roofline_us : model) : 0,
                                 r ? model : 0};
        for (size_t k = 0; k < 3; k++) {
            if (values[k] > 0 && values[k] < low) low = values[k];
            if (values[k] > high) high = values[k];
        }
    }
    if (high <= 0) low = 1, high = 10;
    struct scale s = {(int)floor(log10(low)), (int)ceil(log10(high))};
    if (s.high <= s.low) s.high = s.low + 1;
    return s;
}

static void axes(struct text *out, struct scale s, const char *x_name) {
    for (int e = s.low; e <= s.high; e++) {
        const double v = pow(10, e);
        text_add(out,
                 "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
                 "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>"
                 "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>"
                 "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n",
                 LEFT, W - RIGHT, py(s, v), py(s, v), px(s, v), px(s, v), TOP, H - BOTTOM, LEFT - 6,
                 py(s, v) + 4, v, px(s, v), H - BOTTOM + 16, v);
    }
    text_add(out,
             "<line class=\"equal\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>"
             "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>"
             "<text transform=\"translate(14 %d) rotate(-90)\" "
             "text-anchor=\"middle\">microseconds</text>\n",
             LEFT, H - BOTTOM, W - RIGHT, TOP, LEFT + PLOT_W / 2, H - 8, x_name, TOP + PLOT_H / 2);
}

static void point(struct text *out, struct scale s, size_t number, const char *style, double x,
                  double y, const char *what) {
    text_add(
        out,
        "<a href=\"#case-%zu\" aria-label=\"row %zu: %s %.3g us\"><circle class=\"%s\" cx=\"%.1f\" "
        "cy=\"%.1f\" r=\"4.5\"><title>row %zu: %s %.3f us</title></circle></a>\n",
        number, number, what, y, style, px(s, x), py(s, y), number, what, y);
}

void accept_svg_times(const struct accept *a, struct text *out) {
    const struct scale s = find_scale(a, false), t = find_scale(a, true);
    open_figure(out, "measured", "Measured against modelled time (aclnn, p50)",
                "Scatter plot of measured over modelled time; on the dashed line they are equal");
    axes(out, s, "modelled: cycles and launch, microseconds");
    for (size_t i = 0; i < a->count; i++) {
        const struct accept_result *r = measured(&a->cases[i]);
        if (r)
            point(out, s, i + 1, "s0", a->cases[i].model_us + a->cases[i].launch_us, r->p50,
                  "measured");
    }
    close_figure(out);
    open_figure(
        out, "roofline", "Against the memory roofline",
        "Scatter plot of measured and modelled time over the time that the memory alone needs");
    legend(out, LEFT + 10, "s0", "measured");
    legend(out, LEFT + 110, "hollow", "modelled");
    axes(out, t, "roofline: least bytes over HBM bandwidth, microseconds");
    for (size_t i = 0; i < a->count; i++) {
        const struct accept_case *c = &a->cases[i];
        const struct accept_result *r = measured(c);
        if (!r) continue;
        text_add(out, "<circle class=\"hollow\" cx=\"%.1f\" cy=\"%.1f\" r=\"6\"/>\n",
                 px(t, c->roofline_us), py(t, c->model_us + c->launch_us));
        point(out, t, i + 1, "s0", c->roofline_us, r->p50, "measured");
    }
    close_figure(out);
}
