/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks the chip what only a chip can answer: the probe is launched once per question. What is
 * missing for that leaves questions unasked, with the reason, and fails nothing: rows are what a
 * package is accepted by.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accept.h"
#include "../doctor/parts.h"

const char *accept_answer_name(enum answer_verdict verdict) {
    static const char *const name[] = {"not asked", "agrees", "differs"};
    return name[verdict];
}

static struct {
    struct probe probe;
    bool answered; /* a question was */
} asking;

/* False: why says what happened. NOT_THERE, FAILED and broken are in the answer. */
static bool exchange(struct probe *p, const struct question *q, uint32_t *y,
                     struct wire_answer *answer, char why[ACCEPT_WHY]) {
    static uint32_t x[2 * PROBE_WORDS];
    AscgradProbeTilingData tiling;
    struct wire_request request = probe_request(p, WIRE_ASK, sizeof tiling);
    request.inputs = 3;
    request.outputs = request.runs = 1;
    request.tensor[2].rank = request.tensor[3].rank = 1;
    request.tensor[2].bytes = sizeof x;
    request.tensor[3].bytes = PROBE_WORDS * sizeof *y;
    question_ask(q, p->a->chip, x, &tiling);
    return probe_exchange(p, &request, (const void *const[]){&tiling, x}, y, answer, why);
}

static void ask(struct accept *a, const struct question *q, struct accept_answer *to) {
    static uint32_t y[PROBE_WORDS];
    struct probe *p = &asking.probe;
    struct wire_answer answer = {0};
    char why[ACCEPT_WHY] = "";
    if (exchange(p, q, y, &answer, why)) {
        const char *want = q->answer[a->chip];
        question_read(q, y, to->got);
        const bool same = strcmp(want, "*") == 0 || strcmp(want, to->got) == 0;
        to->verdict = same ? ANSWER_AGREES : ANSWER_DIFFERS;
        asking.answered = true;
        return;
    }
    accept_scrub(a, why, to->why, sizeof to->why);
    /* the first that is launched is harmless: if that fails, launching does */
    const bool launched = answer.magic == 0 || answer.broken;
    if (asking.answered && launched)
        to->verdict = ANSWER_DIFFERS;
    else
        probe_close(p, why);
}

void accept_ask(struct accept *a, const char *program) {
    struct probe *p = &asking.probe;
    a->answer = calloc(question_count, sizeof *a->answer);
    if (!a->answer) return;
    p->a = a;
    if (!a->options.questions)
        probe_close(p, "not wanted");
    else
        probe_open(a, p, program, "AscgradProbe");
    for (size_t i = 0; i < question_count; i++) {
        struct accept_answer *to = &a->answer[i];
        const struct question *q = &questions[i];
        to->expected = p->closed[0] ? NULL : q->answer[a->chip];
        if (!p->closed[0] && q->answer[a->chip] && !accept_stopped()) ask(a, q, to);
        if (to->verdict == ANSWER_NOT_ASKED && !to->why[0])
            TEXT(to->why, "%s",
                 p->closed[0]       ? p->closed
                 : accept_stopped() ? "interrupted before this question"
                 : q->why_not       ? q->why_not
                                    : "");
    }
    runner_stop(&p->runner);
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
