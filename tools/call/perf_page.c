/* SPDX-License-Identifier: Apache-2.0
 *
 * The page of `ascgrad perf --html`. The template is perf.html; the runs go into it as JSON, with
 * times in nanoseconds. All cores are there as shares of busy time; single events of the slowest
 * core, and of others while there is room.
 */
#include "perf_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const char perf_html[]; /* perf.html, made by cmake/embed.cmake */

enum { TEXTS = 1024, PIPES = 4, BINS = 128, EVENTS_SHOWN = 40000, UB_BUFFERS = 64, TENSORS = 64 };

struct event {
    float from, to, wait, bytes; /* us */
    uint16_t call, place, wait_for;
    uint8_t core, pipe;
};

struct perf_run {
    struct ascgrad_watch watch;
    struct event *event;
    size_t events, capacity;
    bool lost; /* no memory */
    char *text[TEXTS];
    size_t texts;
    struct {
        char kind[12];
        uint16_t place;
        uint32_t at, bytes;
    } buffer[UB_BUFFERS];
    size_t buffers;
    struct {
        uint16_t name;
        uint64_t bytes, read, written;
    } tensor[TENSORS];
    size_t tensors;
};

/* The number of a text, kept once. */
static uint16_t keep(struct perf_run *run, const char *text) {
    for (size_t i = 0; i < run->texts; i++)
        if (strcmp(run->text[i], text) == 0) return (uint16_t)i;
    if (run->texts == TEXTS || !(run->text[run->texts] = strdup(text))) {
        run->lost = true;
        return 0;
    }
    return (uint16_t)run->texts++;
}

static uint16_t keep_place(struct perf_run *run, const char *file, int line) {
    char place[256];
    if (!file || !*file) return keep(run, "");
    snprintf(place, sizeof place, "%s:%d", file, line);
    return keep(run, place);
}

static void keep_event(void *context, const struct ascgrad_event *e) {
    struct perf_run *run = context;
    if (run->events == run->capacity && !run->lost) {
        size_t capacity = run->capacity ? 2 * run->capacity : 4096;
        struct event *more = realloc(run->event, capacity * sizeof *more);
        if (more) run->event = more, run->capacity = capacity;
        run->lost = !more;
    }
    if (run->lost) return;
    run->event[run->events++] = (struct event){
        (float)e->from_us,      (float)e->to_us,    (float)e->wait_us,
        (float)e->bytes,        keep(run, e->call), keep_place(run, e->file, e->line),
        keep(run, e->wait_for), (uint8_t)e->core,   (uint8_t)e->pipe};
}

static void keep_buffer(void *context, const char *kind, const char *file, int line, uint32_t at,
                        uint32_t bytes) {
    struct perf_run *run = context;
    if (run->buffers == UB_BUFFERS) return;
    run->buffer[run->buffers].place = keep_place(run, file, line);
    snprintf(run->buffer[run->buffers].kind, sizeof run->buffer[0].kind, "%s", kind);
    run->buffer[run->buffers].at = at;
    run->buffer[run->buffers++].bytes = bytes;
}

static void keep_tensor(void *context, const char *name, uint64_t bytes, uint64_t read,
                        uint64_t written) {
    struct perf_run *run = context;
    if (run->tensors == TENSORS) return;
    run->tensor[run->tensors].name = keep(run, name);
    run->tensor[run->tensors].bytes = bytes;
    run->tensor[run->tensors].read = read;
    run->tensor[run->tensors++].written = written;
}

struct perf_run *perf_run_begin(void) {
    struct perf_run *run = calloc(1, sizeof *run);
    if (run) run->watch = (struct ascgrad_watch){run, keep_event, keep_buffer, keep_tensor};
    return run;
}

const struct ascgrad_watch *perf_run_watch(struct perf_run *run) {
    return &run->watch;
}

void perf_run_free(struct perf_run *run) {
    if (!run) return;
    for (size_t i = 0; i < run->texts; i++)
        free(run->text[i]);
    free(run->event);
    free(run);
}

/* The template's head up to the place of the data, and its rest. */
static const char *data_place(void) {
    static const char mark[] = "/*DATA*/";
    return strstr(perf_html, mark);
}

void perf_page_begin(FILE *page) {
    fwrite(perf_html, 1, (size_t)(data_place() - perf_html), page);
}

void perf_page_end(FILE *page) {
    fputs(data_place(), page);
}

struct core {
    float busy[PIPES][BINS]; /* us */
    float end;
    size_t events;
};

/* Spreads an event over the bins it covers. */
static void add_busy(float *bin, double from, double to, double width) {
    for (int b = (int)(from / width); b < BINS && b * width < to; b++) {
        double low = b * width > from ? b * width : from;
        double high = (b + 1) * width < to ? (b + 1) * width : to;
        if (high > low) bin[b] += (float)(high - low);
    }
}

static void measure(const struct perf_run *run, struct core *core, double width) {
    for (size_t i = 0; i < run->events; i++) {
        const struct event *e = &run->event[i];
        struct core *c = &core[e->core];
        add_busy(c->busy[e->pipe], e->from, e->to, width);
        if (e->to > c->end) c->end = e->to;
        c->events++;
    }
}

/* The cores to show event by event: the slowest, then from the first on while there is room. */
static uint64_t choose(const struct core *core, uint32_t cores) {
    uint32_t slowest = 0;
    for (uint32_t i = 0; i < cores; i++)
        if (core[i].end > core[slowest].end) slowest = i;
    uint64_t chosen = 1ull << slowest;
    size_t room = core[slowest].events < EVENTS_SHOWN ? EVENTS_SHOWN - core[slowest].events : 0;
    for (uint32_t i = 0; i < cores; i++) {
        if (i == slowest || !core[i].events || core[i].events > room) continue;
        chosen |= 1ull << i;
        room -= core[i].events;
    }
    return chosen;
}

static void print_cores(FILE *page, const struct core *core, uint32_t cores, double width) {
    fprintf(page, "\"cores\":[");
    for (uint32_t i = 0; i < cores; i++) {
        fprintf(page, "%s\n[", i ? "," : "");
        for (int p = 0; p < PIPES; p++) {
            fprintf(page, "%s[", p ? "," : "");
            for (int b = 0; b < BINS; b++)
                fprintf(page, "%s%.0f", b ? "," : "", 100 * core[i].busy[p][b] / width);
            fputc(']', page);
        }
        fputc(']', page);
    }
    fprintf(page, "],\n");
}

static void print_events(FILE *page, const struct perf_run *run, uint64_t chosen) {
    const char *comma = "";
    fprintf(page, "\"events\":[");
    for (size_t i = 0; i < run->events; i++) {
        const struct event *e = &run->event[i];
        if (!(chosen >> e->core & 1)) continue;
        fprintf(page, "%s\n[%u,%u,%u,%u,%.1f,%.1f,%.0f,%.1f,%u]", comma, e->core, e->pipe, e->call,
                e->place, 1e3 * e->from, 1e3 * (e->to - e->from), e->bytes, 1e3 * e->wait,
                e->wait_for);
        comma = ",";
    }
    fprintf(page, "],\n");
}

static const struct {
    const char *place, *name;
} buffer_names[] = {
#include "perf_buffers.inc" /* made by buffers.py */
};

/* What the kernel calls the buffer that it makes there; "" if that is not known. */
static const char *name_at(const char *place) {
    for (size_t i = 0; i < sizeof buffer_names / sizeof buffer_names[0]; i++)
        if (strcmp(buffer_names[i].place, place) == 0) return buffer_names[i].name;
    return "";
}

static void print_memory(FILE *page, const struct perf_run *run) {
    fprintf(page, "\"texts\":[");
    for (size_t i = 0; i < run->texts; i++)
        fprintf(page, "%s\"%s\"", i ? "," : "", run->text[i]);
    fprintf(page, "],\n\"buffers\":[");
    for (size_t i = 0; i < run->buffers; i++)
        fprintf(page, "%s[\"%s\",%u,%u,%u,\"%s\"]", i ? "," : "", run->buffer[i].kind,
                run->buffer[i].place, run->buffer[i].at, run->buffer[i].bytes,
                name_at(run->text[run->buffer[i].place]));
    fprintf(page, "],\n\"tensors\":[");
    for (size_t i = 0; i < run->tensors; i++)
        fprintf(page, "%s[%u,%llu,%llu,%llu]", i ? "," : "", run->tensor[i].name,
                (unsigned long long)run->tensor[i].bytes, (unsigned long long)run->tensor[i].read,
                (unsigned long long)run->tensor[i].written);
    fprintf(page, "],\n");
}

bool perf_page_run(FILE *page, const struct perf_run *run, const struct ascgrad_report *report,
                   void (*print_report)(FILE *, const void *), const void *context) {
    uint32_t cores = report->block_dim;
    struct core *core = calloc(ASCGRAD_CORES_MAX, sizeof *core);
    if (!core || run->lost) {
        free(core);
        return false;
    }
    double width = report->time_us > 0 ? report->time_us / BINS : 1;
    measure(run, core, width);
    fprintf(page, "RUNS.push({\n");
    print_cores(page, core, cores, width);
    print_memory(page, run);
    print_events(page, run, choose(core, cores));
    fprintf(page, "\"report\":");
    print_report(page, context);
    fprintf(page, "});\n");
    free(core);
    return true;
}
