/* SPDX-License-Identifier: Apache-2.0
 *
 * The questions that only a chip can answer: what the twin assumes, from which source, and what the
 * probe's output must then be read as. docs/twin.md has the same names in its table, with who
 * relies on each.
 */
#ifndef ASCGRAD_TOOLS_ACCEPT_QUESTIONS_H
#define ASCGRAD_TOOLS_ACCEPT_QUESTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/ascgrad_probe_tiling_data.h"

/* A2 and A3; the 950 and what is built as it; the first generation of the 910. */
enum question_chip { CHIP_A2, CHIP_950, CHIP_910, CHIPS };

enum question_reading {
    READ_LANES,  /* how many lanes of 16 bits were written in the first and the second 64 words */
    READ_WORDS,  /* words in hexadecimal */
    READ_HALVES, /* fp16 numbers */
};

struct question {
    const char *name, *assumes, *from;
    enum AscgradProbeQuestion key;
    enum question_reading reading;
    uint8_t at[6], count;      /* words or halves of y that are read; lanes: count of 64 words */
    const char *answer[CHIPS]; /* as the twin answers; "*": anything; NULL: not asked there */
    const char *why_not;       /* of those that are not asked */
};

extern const struct question questions[];
extern const size_t question_count;

enum { QUESTION_ANSWER = 96 };

/* The chip by the short name of its directory (ascend910b); CHIPS: unknown. */
enum question_chip question_chip_of(const char *short_name);
/* x has 2 * PROBE_WORDS words. */
void question_ask(const struct question *q, enum question_chip chip, uint32_t *x,
                  AscgradProbeTilingData *tiling);
void question_read(const struct question *q, const uint32_t *y, char answer[QUESTION_ANSWER]);

#endif
