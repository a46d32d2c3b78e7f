/* SPDX-License-Identifier: Apache-2.0
 *
 * The vector unit's state: what the library's calls leave in the mask register and in the mask
 * mode, per architecture, and who left it. A call that keeps the mask works with what is there.
 * Sources: InitSocState, AscendCUtils::SetMask and the vector calls of asc-devkit 9.1 (dav_c220,
 * dav_3510, dav_c100) and of CANN 8.1; where the two releases differ, the one that leaves less.
 */
#include "core.h"

#include <string.h>

enum { RUBBISH = 0x35 };

static uint32_t arch_of(const struct twin_core *core) {
    return core->job->launch->soc->arch;
}

static void leave(struct twin_core *core, uint64_t high, uint64_t low, enum twin_mask_kind kind,
                  uint32_t lanes, const struct twin_site *site) {
    struct twin_mask *m = &core->mask;
    m->bits[0] = low;
    m->bits[1] = high;
    m->kind = kind;
    m->lanes = lanes;
    if (site) m->site = *site;
}

void twin_state_start(struct twin_core *core) {
    memset(core->mask.bits, RUBBISH, sizeof core->mask.bits);
    core->mask.kind = TWIN_MASK_RUBBISH;
    core->counter = core->job && arch_of(core) != ASCGRAD_ARCH_910; /* that one has no such mode */
    core->atomic = TWIN_ATOMIC_NONE;
}

void twin_state_pipe(struct twin_core *core, const struct twin_site *site) {
    core->atomic = TWIN_ATOMIC_NONE;
    if (arch_of(core) == ASCGRAD_ARCH_910) return;
    core->counter = false;
    leave(core, ~0ull, ~0ull, TWIN_MASK_FULL, 0, site);
}

void twin_state_set(struct twin_core *core, uint64_t high, uint64_t low, uint32_t lanes,
                    const struct twin_site *site) {
    leave(core, high, low, lanes ? TWIN_MASK_CHOSEN : TWIN_MASK_FULL, lanes, site);
}

void twin_first_lanes(uint64_t n, uint64_t bits[2]) {
    bits[0] = n >= 64 ? ~0ull : (1ull << n) - 1;
    bits[1] = n >= 128 ? ~0ull : n > 64 ? (1ull << (n - 64)) - 1 : 0;
}

/* A count that the library serves by whole repeats and then a tail: the mask of the last of them
 * stays. */
static void leave_tail(struct twin_core *core, uint64_t count, uint32_t per_repeat,
                       const struct twin_site *site) {
    uint64_t bits[2];
    if (!count) return;
    twin_first_lanes(count % per_repeat ? count % per_repeat : per_repeat, bits);
    leave(core, bits[1], bits[0], TWIN_MASK_LEFT, per_repeat, site);
}

bool twin_splits_count(const struct twin_core *core, bool gather) {
    uint32_t arch = arch_of(core);
    return arch == ASCGRAD_ARCH_910 || (gather && arch == ASCGRAD_ARCH_A2);
}

uint32_t twin_split(const struct twin_core *core, const struct twin_lanes *lanes,
                    uint32_t per_repeat, bool gather) {
    if (lanes->current || !lanes->counter || !twin_splits_count(core, gather)) return 0;
    uint64_t count = lanes->mask[0], repeats = count / per_repeat;
    return (uint32_t)((repeats + TWIN_REPEATS - 1) / TWIN_REPEATS + (count % per_repeat != 0));
}

void twin_after_count(struct twin_core *core, uint64_t count, uint32_t per_repeat, bool gather,
                      const struct twin_site *site) {
    if (twin_splits_count(core, gather)) {
        leave_tail(core, count, per_repeat, site);
    } else if (arch_of(core) == ASCGRAD_ARCH_A2) { /* counter mode, and back */
        core->counter = false;
        leave(core, ~0ull, ~0ull, TWIN_MASK_FULL, 0, site);
    }
}

void twin_after_lanes(struct twin_core *core, const struct twin_lanes *lanes, uint32_t per_repeat,
                      bool gather, const struct twin_site *site) {
    if (lanes->current) return;
    if (lanes->counter) {
        twin_after_count(core, lanes->mask[0], per_repeat, gather, site);
        return;
    }
    /* the 950 takes a number of lanes without the register, but for Gather */
    if (!lanes->bits && !gather && arch_of(core) == ASCGRAD_ARCH_950) return;
    leave(core, lanes->mask[1], lanes->mask[0], TWIN_MASK_OWN, per_repeat, site);
}

/* GatherMask: A2 leaves the number it was given as bits, whatever it meant; the 950 its pattern. */
static void after_gather_mask(struct twin_core *core, const struct twin_shuffle *v,
                              const struct twin_site *site) {
    static const uint64_t pattern[7] = {0,
                                        0x5555555555555555,
                                        0xaaaaaaaaaaaaaaaa,
                                        0x1111111111111111,
                                        0x2222222222222222,
                                        0x4444444444444444,
                                        0x8888888888888888};
    if (arch_of(core) == ASCGRAD_ARCH_A2) {
        core->counter = false;
        leave(core, 0, v->lanes.mask[0], TWIN_MASK_LEFT, 0, site);
    } else if (v->pattern >= 1 && v->pattern <= 6) {
        uint64_t bits = pattern[v->pattern];
        leave(core, v->size == 2 ? bits : 0, bits, TWIN_MASK_LEFT, 0, site);
    }
}

void twin_after_shuffle(struct twin_core *core, const struct twin_shuffle *v,
                        const struct twin_site *site) {
    uint32_t per_repeat = TWIN_REPEAT_BYTES / v->size;
    switch (v->kind) {
    case TWIN_GATHER:
        twin_after_lanes(core, &v->lanes, per_repeat, true, site);
        break;
    case TWIN_SELECT:
        twin_after_lanes(core, &v->lanes, per_repeat, false, site);
        break;
    case TWIN_GATHER_MASK:
        after_gather_mask(core, v, site);
        break;
    case TWIN_GATHERB:
    case TWIN_BRCB: /* the library of A2 puts the mask to full before these */
        if (arch_of(core) == ASCGRAD_ARCH_A2) leave(core, ~0ull, ~0ull, TWIN_MASK_FULL, 0, site);
        break;
    case TWIN_COMPARE: /* looks at no mask */
    case TWIN_TRANSPOSE:
    case TWIN_TO_5HD:
        break;
    }
}
