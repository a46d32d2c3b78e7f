/* SPDX-License-Identifier: Apache-2.0
 *
 * The Chrome trace of a run (chrome://tracing, Perfetto): what each pipe of each core did when, in
 * microseconds.
 */
#include "cycles.h"

#include <stdio.h>
#include <stdlib.h>

struct twin_trace {
    FILE *file;
    double mhz;
    const char *comma;
};

struct twin_trace *twin_trace_open(const char *name, double mhz) {
    struct twin_trace *t = malloc(sizeof *t);
    if (!t) return NULL;
    *t = (struct twin_trace){fopen(name, "w"), mhz, "\n"};
    if (!t->file) {
        free(t);
        return NULL;
    }
    fprintf(t->file, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    return t;
}

void twin_trace_event(struct twin_trace *t, uint32_t core, int pipe, const char *name, double from,
                      double to) {
    if (!t) return;
    fprintf(t->file,
            "%s{\"name\":\"%s\",\"ph\":\"X\",\"pid\":%u,\"tid\":\"%s\",\"ts\":%.4f,\"dur\":%.4f}",
            t->comma, name ? name : "?", core, twin_pipe_name[pipe], from / t->mhz,
            (to - from) / t->mhz);
    t->comma = ",\n";
}

bool twin_trace_close(struct twin_trace *t) {
    fprintf(t->file, "\n]}\n");
    bool good = !ferror(t->file);
    good = fclose(t->file) == 0 && good;
    free(t);
    return good;
}
