/* SPDX-License-Identifier: Apache-2.0
 *
 * Every question that `ascgrad accept` asks a chip, asked the twin: its answers are those of the
 * table. Then the reading of answers itself, on outputs that must be seen to differ.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../tools/accept/questions.h"
#include "probe_on_twin.h"

static const char *const soc[CHIPS] = {"ascend910b1", "ascend950", "ascend910a"};
static int failed;

static void ask(const struct question *q, enum question_chip chip, uint32_t *y) {
    static uint32_t x[2 * PROBE_WORDS];
    AscgradProbeTilingData tiling;
    question_ask(q, chip, x, &tiling);
    memset(y, 0, PROBE_WORDS * sizeof *y);
    const struct twin_soc *of = twin_find_soc(soc[chip]);
    char why[TWIN_WHY] = "";
    if (tiling.ub != of->ub) {
        failed++;
        printf("FAIL %s: %u bytes of UB, not %u\n", soc[chip], tiling.ub, of->ub);
    }
    if (probe_on_twin(of, x, y, &tiling, why) != TWIN_OK) {
        failed++;
        printf("FAIL %s on %s: %s\n", q->name, soc[chip], why);
    }
}

int main(void) {
    static uint32_t y[PROBE_WORDS];
    char answer[QUESTION_ANSWER];
    size_t asked = 0, seen = 0;
    for (size_t i = 0; i < question_count; i++) {
        const struct question *q = &questions[i];
        bool nowhere = true;
        for (int chip = 0; chip < CHIPS; chip++) {
            if (!q->answer[chip]) continue;
            nowhere = false;
            asked++;
            ask(q, (enum question_chip)chip, y);
            question_read(q, y, answer);
            if (strcmp(q->answer[chip], "*") != 0 && strcmp(q->answer[chip], answer) != 0) {
                failed++;
                printf("FAIL %s on %s: the twin answers %s, the table says %s\n", q->name,
                       soc[chip], answer, q->answer[chip]);
            }
            /* another answer is another text */
            char other[QUESTION_ANSWER];
            y[q->at[0] / (q->reading == READ_HALVES ? 2 : 1)] =
                y[q->at[0]] == PROBE_UNTOUCHED ? 0 : PROBE_UNTOUCHED;
            question_read(q, y, other);
            seen += strcmp(answer, other) != 0;
        }
        if ((nowhere != (q->key == PROBE_NONE)) ||
            (!q->why_not && (!q->answer[0] || !q->answer[1] || !q->answer[2]))) {
            failed++;
            printf("FAIL %s: asked nowhere, or not asked without a reason\n", q->name);
        }
    }
    if (seen != asked) failed++;
    printf(
        "%zu questions, asked %zu times on %d chips; a changed answer seen %zu times; %d failed\n",
        question_count, asked, CHIPS, seen, failed);
    return failed != 0;
}
