/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs of steps: legal sequences of call forms, drawn from a seed, that start from a given UB.
 * program_kernel.h runs one; the twin and CANN's own library must leave the same UB and mask.
 *
 * The UB of a program has slots of one type each, so that no call sees numbers of another type. Two
 * slots hold offsets for gathers, and nothing writes them. Memory that is loaded and memory that is
 * stored have the same slots.
 */
#ifndef TESTS_TWIN_PROGRAMS_H
#define TESTS_TWIN_PROGRAMS_H

#include "forms.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    SLOT = 4096, /* bytes */
    SLOTS = 16,
    ARENA = SLOT * SLOTS,
    STEPS = 24,
};

/* What the kernel reads: the steps, in order. */
struct Program {
    uint64_t steps;
    struct Step step[STEPS];
};

/* What the generator must know of a form. */
struct FormInfo {
    const char *name;
    enum Kind kind;
    bool first_910;               /* the kernel for the first 910 uses it */
    uint8_t dst_size, src_size;   /* bytes of an element */
    uint8_t dst_first, src_first; /* the first slot of its type, */
    uint8_t dst_slots, src_slots; /* and how many there are */
};

#ifdef __cplusplus
extern "C" {
#endif

extern const struct FormInfo form_info[FORMS];

/* Architectures by the number that CANN's headers give them. */
enum { ARCH_910 = 1001, ARCH_A2 = 2201, ARCH_950 = 3510 };

/* Whether kernels for the architecture use a form. */
bool form_on(uint32_t form, int arch);

/* The UB, and memory, that a program begins with. */
void program_start(uint64_t seed, uint8_t arena[ARENA]);

/* A step of one form with parameters of its own; how: 0 plain, 1 several repeats or a tail, 2 with
 * gaps between repeats and blocks, more: anything. */
void draw_step(uint64_t *seed, uint32_t form, int how, int arch, struct Step *s);

/* Whether a step works with the mask that it finds. */
bool keeps_mask(uint32_t form);

void draw_program(uint64_t seed, int arch, struct Program *p);

#ifdef __cplusplus
}
#endif
#endif
