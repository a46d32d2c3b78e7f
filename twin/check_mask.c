/* SPDX-License-Identifier: Apache-2.0
 *
 * Which lanes a call works with. A call with a mask of its own must fit the mode and the type. A
 * call that keeps the mask must find one that was meant for it: all lanes of its repeats, or what
 * SetVectorMask, or a call with a mask of its own, has set for repeats of as many lanes. What a
 * count left behind, or nothing has set, is never meant for anybody, even where it happens to fit.
 */
#include "check.h"

#include <stdio.h>

/* The mask that a call finds, and who left it. */
struct found {
    char bits[40], who[128];
};

static struct found describe(const struct twin_mask *m) {
    struct found f = {.who = "nothing"};
    snprintf(f.bits, sizeof f.bits, "%016llx%016llx", (unsigned long long)m->bits[1],
             (unsigned long long)m->bits[0]);
    if (m->site.call)
        snprintf(f.who, sizeof f.who, "%s at %s:%d", m->site.call, twin_file_of(&m->site),
                 m->site.line);
    return f;
}

static bool is_full(const struct twin_mask *m, uint32_t per_repeat) {
    uint64_t want[2];
    twin_first_lanes(per_repeat, want);
    return (m->bits[0] & want[0]) == want[0] && (m->bits[1] & want[1]) == want[1];
}

static void check_kept(const struct twin_issue *i, uint32_t per_repeat) {
    const struct twin_mask *m = &i->core->mask;
    if (m->kind == TWIN_MASK_RUBBISH)
        twin_violation(i->site, "keeps the mask, which nothing has set since the kernel began");
    if (i->core->counter) {
        if (m->kind == TWIN_MASK_CHOSEN) return;
        const struct found f = describe(m);
        twin_violation(i->site,
                       "keeps the mask in counter mode, where it is a count, but %s left %s", f.who,
                       f.bits);
    }
    const bool fits = is_full(m, per_repeat) || m->lanes == per_repeat;
    if (m->kind != TWIN_MASK_LEFT && fits) return;
    const struct found f = describe(m);
    if (m->kind == TWIN_MASK_LEFT)
        twin_violation(i->site,
                       "keeps the mask, but %s left %s behind; ResetMask or SetVectorMask is "
                       "missing",
                       f.who, f.bits);
    twin_violation(i->site,
                   "keeps the mask %s that %s made for repeats of %u lanes, and has repeats of %u",
                   f.bits, f.who, m->lanes, per_repeat);
}

void twin_check_lanes(const struct twin_issue *i, const struct twin_lanes *lanes,
                      uint32_t per_repeat, bool gather) {
    if (lanes->current) {
        if (lanes->repeat > 0) check_kept(i, per_repeat);
        return;
    }
    if (lanes->counter && !twin_splits_count(i->core, gather)) return;
    if (i->core->counter)
        twin_violation(
            i->site,
            "a call with its own mask in counter mode: the mask bits would be taken for a count");
    if (!lanes->counter && per_repeat <= 64 && lanes->mask[1] && lanes->mask[1] != ~0ull)
        twin_violation(i->site, "mask[1] has bits set, a repeat of this type has %u lanes",
                       per_repeat);
}

void twin_check_any(const struct twin_issue *i, uint64_t repeats) {
    if (!repeats && i->core->job->launch->soc->arch == ASCGRAD_ARCH_950)
        twin_violation(i->site, "no repeat, or none with a lane: nobody says what the 950 does");
}

void twin_check_no_counter(const struct twin_issue *i) {
    if (i->core->counter && i->core->job->launch->soc->arch != ASCGRAD_ARCH_950)
        twin_violation(i->site, "a call that knows no counter mode: SetMaskNorm is missing");
}
