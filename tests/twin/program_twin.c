/* SPDX-License-Identifier: Apache-2.0
 *
 * See program_twin.h.
 */
#include "program_twin.h"

#include "core.h"

#include <string.h>

static __thread struct Run *current;
static __thread uint64_t steps;
static __thread bool over; /* the steps */

static void forget(struct Run *run) {
    memset(run->read, 0, sizeof run->read);
    memset(run->written, 0, sizeof run->written);
    run->effect.issued = 0;
}

static void touch(void *context, bool write, uint32_t at, uint32_t bytes) {
    struct Run *run = context;
    if (!over && at < ARENA) /* behind it lie the queues' buffers */
        memset((write ? run->written : run->read) + at, 1, bytes);
}

static void effect(void *context, const struct twin_effect *e) {
    struct Run *run = context;
    if (!over) run->effect = *e;
}

void program_saw(uint32_t index) {
    if (index < STEPS) {
        struct State *s = &current->behind[index];
        memcpy(s->mask, twin_core->mask.bits, sizeof s->mask);
        s->counts = twin_core->counter;
    }
    over = index + 1 == steps;
    if (!over) forget(current);
}

bool run_on_twin(const struct Program *p, int arch, bool checked, struct Run *run) {
    struct twin_arg arg[] = {{"start", TWIN_INPUT, run->start, ARENA},
                             {"stored", TWIN_OUTPUT, run->stored, ARENA},
                             {"end", TWIN_OUTPUT, run->end, ARENA}};
    struct twin_listener listener = {run, touch, effect};
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
        .listener = checked ? &listener : NULL,
    };
    for (size_t i = 0; twin_soc_at(i) && !launch.soc; i++) {
        if (twin_soc_at(i)->arch == (uint32_t)arch) launch.soc = twin_soc_at(i);
    }
    memset(run->stored, 0xee, ARENA);
    current = run;
    steps = p->steps;
    over = true;
    return twin_run(&launch, NULL, run->why) == TWIN_OK;
}
