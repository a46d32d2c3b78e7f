/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs programs of steps on the twin, and tells what each step left behind.
 */
#ifndef TESTS_TWIN_PROGRAM_TWIN_H
#define TESTS_TWIN_PROGRAM_TWIN_H

#include "programs.h"

#include "listener.h"

/* The vector unit behind a step. */
struct State {
    uint64_t mask[2]; /* low, high */
    bool counts;      /* counter mode */
};

struct Run {
    uint8_t start[ARENA]; /* the UB to begin with, and memory that is loaded */
    uint8_t stored[ARENA], end[ARENA];
    struct State behind[STEPS];
    /* checked only, of the last step: a mark for each byte of the UB, and what was issued */
    uint8_t read[ARENA], written[ARENA];
    struct twin_effect effect;
    char why[1024];
};

#ifdef __cplusplus
extern "C" {
#endif

void program_entry_checked(uint8_t **args);
void program_entry_fast(uint8_t **args);
void program_saw(uint32_t index);

/* Runs p from run->start, on the first chip of the architecture. false: run->why. */
bool run_on_twin(const struct Program *p, int arch, bool checked, struct Run *run);

#ifdef __cplusplus
}
#endif
#endif
