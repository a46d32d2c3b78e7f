/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel of accept's own on the chip: compiled with the toolkit's kernel compiler, as the
 * package's kernels are, and launched by the runner.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../package/chips.h"
#include "accept.h"
#include "../doctor/parts.h"

enum { COMPILE_SECONDS = 600, MOST_SECONDS = 60 };

void probe_close(struct probe *p, const char *why) {
    accept_scrub(p->a, why, p->closed, sizeof p->closed);
}

/* The kernel's object, and its name there. */
static void compile(struct probe *p, const char *type) {
    char script[PATH_MAX + 32], soc[64];
    int status;
    TEXT(script, "%s/probe/compile.py", p->a->share);
    TEXT(soc, "%s", p->a->soc);
    const char *const argv[] = {"python3", "-B", script, p->a->scratch, soc, type, NULL};
    char *text = accept_output_of(argv, COMPILE_SECONDS, &status);
    struct line line, value;
    for (const char *at = text ? text : ""; status == 0 && next_line(&at, &line);) {
        if (line_after(line, "file=", &value)) TEXT(p->file, "%.*s", (int)value.size, value.s);
        if (line_after(line, "name=", &value)) TEXT(p->kernel, "%.*s", (int)value.size, value.s);
    }
    for (size_t n = text ? strlen(text) : 0; n > 0 && text[n - 1] == '\n'; n--)
        text[n - 1] = 0;
    if (!p->file[0] || !p->kernel[0])
        probe_close(p,
                    text && *text ? text : "the probe cannot be compiled: no python3, or no time");
    free(text);
}

bool probe_open(struct accept *a, struct probe *p, const char *program, const char *type) {
    static char device[16];
    struct accept_road road = {.why = ""};
    memset(p, 0, sizeof *p);
    TEXT(device, "%d", a->options.device);
    p->a = a;
    p->runner.argv[0] = program;
    p->runner.argv[1] = "ask";
    p->runner.argv[2] = device;
    const bool up = roads_greet(a, &p->runner, &road);
    a->chip = question_chip_of(chip_short_name(a->soc));
    if (!up)
        snprintf(p->closed, sizeof p->closed, "%s", road.why);
    else if (a->chip == CHIPS)
        probe_close(p, "the twin knows no such chip");
    else
        compile(p, type);
    runner_stop(&p->runner);
    return !p->closed[0];
}

struct wire_request probe_request(const struct probe *p, enum wire_kind kind, size_t tiling) {
    struct wire_request request = {.magic = WIRE_MAGIC, .kind = kind};
    TEXT(request.type, "%s", p->kernel);
    request.tensor[0].rank = request.tensor[1].rank = 1;
    request.tensor[0].bytes = strlen(p->file) + 1;
    request.tensor[1].bytes = tiling;
    return request;
}

bool probe_exchange(struct probe *p, const struct wire_request *request, const void *const input[],
                    void *out, struct wire_answer *answer, char why[ACCEPT_WHY]) {
    const int seconds = p->a->options.timeout;
    const double deadline = accept_now() + (seconds < MOST_SECONDS ? seconds : MOST_SECONDS);
    struct runner *r = &p->runner;
    if ((!r->pid && !runner_start(r, why)) ||
        runner_send(r, request, sizeof *request, deadline, why) != RUNNER_WELL ||
        runner_send(r, p->file, request->tensor[0].bytes, deadline, why) != RUNNER_WELL)
        return false;
    for (uint32_t i = 1; i < request->inputs; i++)
        if (request->tensor[i].rank >= 0 &&
            runner_send(r, input[i - 1], request->tensor[i].bytes, deadline, why) != RUNNER_WELL)
            return false;
    if (runner_receive(r, answer, sizeof *answer, deadline, why) != RUNNER_WELL) return false;
    wire_end(answer);
    const bool done = answer->magic == WIRE_MAGIC && answer->status == WIRE_DONE &&
                      answer->times <= WIRE_TIMES && answer->again_times <= WIRE_TIMES;
    if (done && runner_receive(r, out, request->tensor[request->inputs].bytes, deadline, why) !=
                    RUNNER_WELL)
        return false;
    if (answer->broken) runner_stop(r);
    if (!done) snprintf(why, ACCEPT_WHY, "%s", answer->text);
    return done;
}
