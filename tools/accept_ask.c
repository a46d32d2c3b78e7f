/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks the chip what only a chip can answer: compiles the probe with the toolkit's kernel compiler,
 * as the package's kernels are, and launches it once per question. What is missing for that leaves
 * questions unasked, with the reason, and fails nothing: rows are what a package is accepted by.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../packaging/setup/chips.h"
#include "accept.h"
#include "doctor_parts.h"

enum { COMPILE_SECONDS = 600, MOST_SECONDS = 60 };

const char *accept_answer_name(enum answer_verdict verdict) {
    static const char *const name[] = {"not asked", "agrees", "differs"};
    return name[verdict];
}

struct asking {
    struct accept *a;
    struct runner runner;
    enum question_chip chip;
    char file[PATH_MAX], kernel[WIRE_NAME];
    char closed[ACCEPT_WHY]; /* no further question can be asked: why */
    bool answered;           /* one was */
};

static void close_road(struct asking *k, const char *why) {
    accept_scrub(k->a, why, k->closed, sizeof k->closed);
}

/* The probe's object and the name of its kernel. */
static bool compile(struct asking *k) {
    char script[PATH_MAX + 32], soc[64];
    int status;
    TEXT(script, "%s/probe/compile.py", k->a->share);
    TEXT(soc, "%s", k->a->soc);
    const char *const argv[] = {"python3", "-B", script, k->a->scratch, soc, NULL};
    char *text = accept_output_of(argv, COMPILE_SECONDS, &status);
    struct line line, value;
    for (const char *at = text ? text : ""; status == 0 && next_line(&at, &line);) {
        if (line_after(line, "file=", &value)) TEXT(k->file, "%.*s", (int)value.size, value.s);
        if (line_after(line, "name=", &value)) TEXT(k->kernel, "%.*s", (int)value.size, value.s);
    }
    for (size_t n = text ? strlen(text) : 0; n > 0 && text[n - 1] == '\n'; n--)
        text[n - 1] = 0;
    if (!k->file[0] || !k->kernel[0])
        close_road(k,
                   text && *text ? text : "the probe cannot be compiled: no python3, or no time");
    free(text);
    return k->file[0] && k->kernel[0];
}

static void set_tensor(struct wire_tensor *t, size_t bytes) {
    t->rank = 1;
    t->bytes = bytes;
}

/* False: why says what happened. NOT_THERE, FAILED and broken are in the answer. */
static bool exchange(struct asking *k, const struct question *q, uint32_t *y,
                     struct wire_answer *answer, char why[ACCEPT_WHY]) {
    static struct wire_request request;
    static uint32_t x[2 * PROBE_WORDS];
    AscgradProbeTilingData tiling;
    const int seconds = k->a->options.timeout;
    const double deadline = accept_now() + (seconds < MOST_SECONDS ? seconds : MOST_SECONDS);
    struct runner *r = &k->runner;
    memset(&request, 0, sizeof request);
    request.magic = WIRE_MAGIC;
    request.kind = WIRE_ASK;
    request.inputs = 3;
    request.outputs = request.runs = 1;
    TEXT(request.type, "%s", k->kernel);
    const size_t path = strlen(k->file) + 1, bytes = PROBE_WORDS * sizeof *y;
    set_tensor(&request.tensor[0], path);
    set_tensor(&request.tensor[1], sizeof tiling);
    set_tensor(&request.tensor[2], sizeof x);
    set_tensor(&request.tensor[3], bytes);
    question_ask(q, k->chip, x, &tiling);
    if ((!r->pid && !runner_start(r, why)) ||
        runner_send(r, &request, sizeof request, deadline, why) != RUNNER_WELL ||
        runner_send(r, k->file, path, deadline, why) != RUNNER_WELL ||
        runner_send(r, &tiling, sizeof tiling, deadline, why) != RUNNER_WELL ||
        runner_send(r, x, sizeof x, deadline, why) != RUNNER_WELL ||
        runner_receive(r, answer, sizeof *answer, deadline, why) != RUNNER_WELL)
        return false;
    wire_end(answer);
    const bool done = answer->magic == WIRE_MAGIC && answer->status == WIRE_DONE;
    if (done && runner_receive(r, y, bytes, deadline, why) != RUNNER_WELL) return false;
    if (answer->broken) runner_stop(r);
    if (!done) snprintf(why, ACCEPT_WHY, "%s", answer->text);
    return done;
}

static void ask(struct asking *k, const struct question *q, struct accept_answer *to) {
    static uint32_t y[PROBE_WORDS];
    struct wire_answer answer = {0};
    char why[ACCEPT_WHY] = "";
    if (exchange(k, q, y, &answer, why)) {
        const char *want = q->answer[k->chip];
        question_read(q, y, to->got);
        const bool same = strcmp(want, "*") == 0 || strcmp(want, to->got) == 0;
        to->verdict = same ? ANSWER_AGREES : ANSWER_DIFFERS;
        k->answered = true;
        return;
    }
    accept_scrub(k->a, why, to->why, sizeof to->why);
    /* the first that is launched is harmless: if that fails, launching does */
    const bool launched = answer.magic == 0 || answer.broken;
    if (k->answered && launched)
        to->verdict = ANSWER_DIFFERS;
    else
        close_road(k, why);
}

static bool open_road(struct asking *k, const char *program) {
    struct accept_road road = {.why = ""};
    char device[16];
    TEXT(device, "%d", k->a->options.device);
    k->runner.argv[0] = program;
    k->runner.argv[1] = "ask";
    k->runner.argv[2] = device;
    const bool up = roads_greet(k->a, &k->runner, &road);
    k->chip = question_chip_of(chip_short_name(k->a->soc));
    if (!up)
        snprintf(k->closed, sizeof k->closed, "%s", road.why);
    else if (k->chip == CHIPS)
        close_road(k, "the twin knows no such chip");
    else
        compile(k);
    runner_stop(&k->runner);
    return !k->closed[0];
}

void accept_ask(struct accept *a, const char *program) {
    static struct asking asking;
    struct asking *k = &asking;
    k->a = a;
    a->answer = calloc(question_count, sizeof *a->answer);
    if (!a->answer) return;
    if (!a->options.questions)
        close_road(k, "not wanted");
    else
        open_road(k, program);
    for (size_t i = 0; i < question_count; i++) {
        struct accept_answer *to = &a->answer[i];
        const struct question *q = &questions[i];
        to->expected = k->closed[0] ? NULL : q->answer[k->chip];
        if (!k->closed[0] && q->answer[k->chip] && !accept_stopped()) ask(k, q, to);
        if (to->verdict == ANSWER_NOT_ASKED && !to->why[0])
            TEXT(to->why, "%s",
                 k->closed[0]       ? k->closed
                 : accept_stopped() ? "interrupted before this question"
                 : q->why_not       ? q->why_not
                                    : "");
    }
    runner_stop(&k->runner);
}

void accept_count_answers(const struct accept *a, size_t count[3]) {
    count[0] = count[1] = count[2] = 0;
    for (size_t i = 0; a->answer && i < question_count; i++)
        count[a->answer[i].verdict]++;
}

void accept_say_answers(const struct accept *a) {
    size_t count[3];
    const char *why = a->answer ? a->answer[0].why : "";
    accept_count_answers(a, count);
    printf("questions to the chip: %zu agree with the twin, %zu differ, %zu not asked%s%s\n",
           count[ANSWER_AGREES], count[ANSWER_DIFFERS], count[ANSWER_NOT_ASKED],
           count[ANSWER_NOT_ASKED] == question_count ? ": " : "",
           count[ANSWER_NOT_ASKED] == question_count ? why : "");
    bool stopped = false;
    for (size_t i = 0; a->answer && i < question_count; i++) {
        const struct accept_answer *to = &a->answer[i];
        stopped |= to->verdict == ANSWER_DIFFERS && !to->got[0];
        if (to->verdict == ANSWER_DIFFERS)
            printf("DIFFERS %s: the twin assumes %s; the chip %s %s\n", questions[i].name,
                   to->expected,
                   to->got[0] ? "answers" : "does not answer:", to->got[0] ? to->got : to->why);
    }
    if (stopped) printf("if rows have failed behind that, run again with --no-questions\n");
}
