/* SPDX-License-Identifier: Apache-2.0
 *
 * What a call issues, told to the listener of a checked run.
 */
#include "listener.h"
#include "check.h"

#include <string.h>

static void add(struct twin_effect *e, bool counter, uint64_t low, uint64_t high, uint64_t repeats,
                uint64_t times) {
    if (!repeats || !times) return;
    e->instruction[e->issued++] =
        (struct twin_instruction){counter, {low, high}, (uint32_t)repeats, (uint32_t)times};
}

/* A count served by calls with a mask: all lanes as often as it goes, then the tail. */
static void add_split(struct twin_effect *e, uint64_t count, uint32_t per_repeat) {
    uint64_t full[2], tail[2], repeats = count / per_repeat;
    twin_first_lanes(per_repeat, full);
    twin_first_lanes(count % per_repeat, tail);
    add(e, false, full[0], full[1], TWIN_REPEATS, repeats / TWIN_REPEATS);
    add(e, false, full[0], full[1], repeats % TWIN_REPEATS, 1);
    add(e, false, tail[0], tail[1], count % per_repeat != 0, 1);
}

/* Before the call changes the state. */
void twin_expand(const struct twin_core *c, const struct twin_lanes *lanes, uint32_t per_repeat,
                 bool gather, struct twin_effect *e) {
    if (!c->job->launch->listener) return;
    e->issued = 0;
    if (lanes->current)
        add(e, c->counter, c->mask.bits[0], c->mask.bits[1], (uint64_t)lanes->repeat, 1);
    else if (!lanes->counter)
        add(e, false, lanes->mask[0], lanes->mask[1], (uint64_t)lanes->repeat, 1);
    else if (twin_splits_count(c, gather))
        add_split(e, lanes->mask[0], per_repeat);
    else
        add(e, true, lanes->mask[0], 0, 1, 1);
}

void twin_tell(const struct twin_core *c, const struct twin_site *site, struct twin_effect *e) {
    const struct twin_listener *listener = c->job->launch->listener;
    if (!listener || !listener->effect) return;
    e->site = *site;
    e->counter = c->counter;
    memcpy(e->mask, c->mask.bits, sizeof e->mask);
    listener->effect(listener->context, e);
}

void twin_touch(const struct twin_core *c, bool write, uint32_t at, uint32_t bytes) {
    const struct twin_listener *listener = c->job->launch->listener;
    if (listener && listener->touch) listener->touch(listener->context, write, at, bytes);
}
