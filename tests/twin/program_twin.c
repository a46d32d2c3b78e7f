/* SPDX-License-Identifier: Apache-2.0
 *
 * See program_twin.h.
 */
#include "program_twin.h"

#include "core.h"

#include <string.h>

static __thread struct Run *current;
static __thread const struct Program *running;
static __thread uint32_t before[TWIN_PIPES]; /* instructions of each pipe before the step */

static void mark_reads(void) {
    for (uint32_t i = 0; i < ARENA; i++) {
        const struct twin_ub_block *b = &twin_core->block[i / 32];
        bool on = false;
        for (int pipe = 0; pipe < TWIN_PIPES; pipe++)
            on |= b->read[pipe] > before[pipe];
        current->read[i] = on;
    }
}

void program_saw(uint32_t index) {
    if (index < STEPS) {
        struct State *s = &current->behind[index];
        memcpy(s->mask, &twin_core->mask, sizeof s->mask);
        s->counts = twin_core->counter;
        if (twin_core->checked && index + 1 == running->steps) mark_reads();
    }
    memcpy(before, twin_core->seq, sizeof before);
}

bool run_on_twin(const struct Program *p, int arch, bool checked, struct Run *run) {
    struct twin_arg arg[] = {{"start", TWIN_INPUT, run->start, ARENA},
                             {"stored", TWIN_OUTPUT, run->stored, ARENA},
                             {"end", TWIN_OUTPUT, run->end, ARENA}};
    struct twin_launch launch = {
        .op = "Program",
        .entry = checked ? program_entry_checked : program_entry_fast,
        .arity = 5,
        .arg = arg,
        .args = 3,
        .tiling = p,
        .tiling_bytes = sizeof *p,
        .block_dim = 1,
        .checked = checked,
    };
    for (size_t i = 0; twin_soc_at(i) && !launch.soc; i++) {
        if (twin_soc_at(i)->arch == (uint32_t)arch) launch.soc = twin_soc_at(i);
    }
    memset(run->stored, 0xee, ARENA);
    memset(run->read, 0, ARENA);
    current = run;
    running = p;
    return twin_run(&launch, NULL, run->why) == TWIN_OK;
}
