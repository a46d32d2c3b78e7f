/* SPDX-License-Identifier: Apache-2.0
 *
 * What a call does to the core, as numbers: rows of effects/<architecture>.txt, recorded with
 * CANN's own headers. A row is a step, the mask before it, and what the library made of it:
 * instructions in order, mask and mode left behind, bytes read and written, and what UB and memory
 * then held.
 */
#ifndef TESTS_TWIN_EFFECTS_H
#define TESTS_TWIN_EFFECTS_H

#include "programs.h"

#include <stdio.h>

enum { EFFECT_SEED = 20260901, EFFECT_TEXT = 4096 };

/* Some bytes of the UB. */
struct Extent {
    uint32_t count, first, end, digest;
};

struct Effect {
    char library[32]; /* releases, for example "8.1,9.1" */
    struct Step step;
    uint64_t before[2]; /* mask: low, high */
    char instructions[EFFECT_TEXT];
    uint64_t left[2];
    bool counts; /* counter mode is left behind */
    struct Extent read, written;
    uint32_t result; /* digest of UB and stored memory */
};

#ifdef __cplusplus
extern "C" {
#endif

/* Row number `index` of a form; nothing is recorded in it yet. */
void effect_draw(uint64_t *seed, uint32_t form, int index, int arch, struct Effect *e);
/* The program that shows it: sets the mask, then makes the call. */
void effect_program(const struct Effect *e, struct Program *p);

/* marks: one byte for each byte of the UB, 1 for those that belong. */
struct Extent effect_bytes(const uint8_t marks[ARENA]);
uint32_t effect_result(const uint8_t ub[ARENA], const uint8_t stored[ARENA]);

void effect_print(FILE *to, const struct Effect *e);
/* false: the line is no row; a comment or an empty line has no form, FORMS. */
bool effect_parse(char *line, struct Effect *e);

#ifdef __cplusplus
}
#endif
#endif
