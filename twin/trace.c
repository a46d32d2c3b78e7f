/* SPDX-License-Identifier: Apache-2.0
 *
 * What each pipe of each core did when, in microseconds: told to the caller's watcher, and written
 * as a Chrome trace (chrome://tracing, Perfetto).
 */
#include "ascgrad.h"
#include "cycles.h"

#include <stdio.h>
#include <stdlib.h>

const char *ascgrad_pipe_name(uint32_t index) {
    return index < TWIN_PIPES ? twin_pipe_name[index] : NULL;
}

struct twin_trace {
    const struct ascgrad_watch *watch;
    FILE *file;
    double mhz;
    const char *comma;
};

bool twin_trace_open(const struct twin_launch *l, struct twin_trace **trace) {
    *trace = NULL;
    if (!l->trace && !l->watch) return true;
    struct twin_trace *t = malloc(sizeof *t);
    if (!t) return false;
    *t = (struct twin_trace){l->watch, l->trace ? fopen(l->trace, "w") : NULL, l->soc->mhz, "\n"};
    if (l->trace && !t->file) {
        free(t);
        return false;
    }
    if (t->file) fprintf(t->file, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    *trace = t;
    return true;
}

static void write_event(struct twin_trace *t, const struct ascgrad_event *e) {
    fprintf(t->file,
            "%s{\"name\":\"%s\",\"ph\":\"X\",\"pid\":%u,\"tid\":\"%s\",\"ts\":%.4f,\"dur\":%.4f,"
            "\"args\":{",
            t->comma, e->call, e->core, twin_pipe_name[e->pipe], e->from_us, e->to_us - e->from_us);
    const char *comma = "";
    if (e->file) fprintf(t->file, "\"line\":\"%s:%d\"", e->file, e->line), comma = ",";
    if (e->bytes > 0) fprintf(t->file, "%s\"bytes\":%.0f", comma, e->bytes), comma = ",";
    if (e->wait_us > 0)
        fprintf(t->file, "%s\"waited_us\":%.4f,\"for\":\"%s\"", comma, e->wait_us, e->wait_for);
    fprintf(t->file, "}}");
    t->comma = ",\n";
}

void twin_trace_deed(struct twin_trace *t, const struct twin_deed *d) {
    if (!t) return;
    struct ascgrad_event e = {
        .core = d->core,
        .pipe = (uint32_t)d->pipe,
        .call = d->step->site.call,
        .file = twin_file_of(&d->step->site),
        .line = d->step->site.line,
        .from_us = d->from / t->mhz,
        .to_us = d->to / t->mhz,
        .wait_us = d->wait > 0.5 ? d->wait / t->mhz : 0,
        .wait_for = d->wait > 0.5 && d->wait_for ? d->wait_for : "",
        .bytes = d->step->kind == TWIN_STEP_DMA && d->pipe != TWIN_S ? d->step->cost : 0,
    };
    if (t->file) write_event(t, &e);
    if (t->watch && t->watch->event) t->watch->event(t->watch->context, &e);
}

static void tell_buffers(const struct ascgrad_watch *w, const struct twin_core *c) {
    for (uint32_t i = 0; w->buffer && i < c->buffers; i++) {
        const struct twin_buffer *b = &c->buffer[i];
        const struct twin_que *q = &c->que[b->que];
        w->buffer(w->context, twin_position_name(b->position),
                  twin_file_of(&(struct twin_site){.file = q->file}), q->line, b->address,
                  b->bytes);
    }
    const uint32_t ub = c->job->launch->soc->ub;
    if (w->buffer && c->top < ub) w->buffer(w->context, "free", "", 0, c->top, ub - c->top);
}

static void tell_tensors(const struct ascgrad_watch *w, const struct twin_job *job) {
    const struct twin_launch *l = job->launch;
    for (uint32_t a = 0; w->tensor && a <= l->args; a++) {
        uint64_t bytes = a == l->args ? l->workspace : l->arg[a].bytes;
        if (bytes)
            w->tensor(w->context, a == l->args ? "workspace" : l->arg[a].name, bytes,
                      job->moved[a][0], job->moved[a][1]);
    }
}

/* The events are those of cold memory; both times stand behind them. */
bool twin_trace_close(struct twin_trace *t, const struct twin_job *job,
                      const struct twin_report *r) {
    bool good = true;
    if (!t) return true;
    if (t->watch) {
        tell_buffers(t->watch, &job->core[r->slowest]);
        tell_tensors(t->watch, job);
    }
    if (t->file) {
        fprintf(t->file,
                "\n],\"otherData\":{\"memory\":\"cold\",\"time_us\":%.3f,\"time_l2_us\":%.3f,"
                "\"l2_share\":%.3f}}\n",
                r->cycles / t->mhz, r->cycles_l2 / t->mhz, r->l2_share);
        good = !ferror(t->file);
        good = fclose(t->file) == 0 && good;
    }
    free(t);
    return good;
}
