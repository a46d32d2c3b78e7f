/* SPDX-License-Identifier: Apache-2.0
 *
 * Draws steps and programs; see programs.h.
 */
#include "programs.h"

#include <string.h>

/* Slots by type: size of an element, first slot, number of slots. */
#define TYPE_float      4, 0, 6
#define TYPE_half       2, 6, 2
#define TYPE_bfloat16_t 2, 8, 2
#define TYPE_int32_t    4, 10, 2
#define TYPE_uint32_t   4, 10, 2
#define TYPE_int16_t    2, 12, 2
#define TYPE_uint16_t   2, 12, 2
enum { OFFSETS = 14 * SLOT, BLOCK_OFFSETS = 15 * SLOT, REACH = 2048 };

#define INFO_(name, kind, first, d, df, dn, s, sf, sn) {name, kind, first, d, s, df, sf, dn, sn},
#define INFO(name, kind, first, to, from)              INFO_(name, kind, first, to, from)
#define FORM(name, kind, call, to, from)               INFO(#name, kind, false, TYPE_##to, TYPE_##from)
#define FORM_910(name, kind, call, to, from)           INFO(#name, kind, true, TYPE_##to, TYPE_##from)
const struct FormInfo form_info[FORMS] = {
#include "form_rows.h"
};

static uint32_t next(uint64_t *seed) {
    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*seed >> 33);
}
static uint32_t below(uint64_t *seed, uint32_t n) {
    return next(seed) % n;
}
static uint32_t between(uint64_t *seed, uint32_t a, uint32_t b) {
    return a + below(seed, b - a + 1);
}

/* Numbers around 1 of either sign, whose products and sums stay finite for a while. */
static uint32_t plain_float(uint64_t *seed) {
    return (next(seed) & 1) << 31 | (126 + below(seed, 2)) << 23 | (next(seed) & 0x7fffff);
}

void program_start(uint64_t seed, uint8_t arena[ARENA]) {
    for (uint32_t at = 0; at < ARENA; at += 4) {
        uint32_t slot = at / SLOT, v = next(&seed) << 1 ^ next(&seed), f = plain_float(&seed);
        uint32_t h = (f >> 31) << 15 | 0x3800 | (v & 0x7ff);
        if (slot < 6) {
            v = f;
        } else if (slot < 8) {
            v = h | (0x3800u | (v >> 16 & 0x7ff)) << 16;
        } else if (slot < 10) {
            v = f >> 16 | (plain_float(&seed) & 0xffff0000);
        } else if (at >= BLOCK_OFFSETS) {
            v = v % (REACH / 32) * 32;
        } else if (at >= OFFSETS) { /* of words, then of halves of words */
            v = at < OFFSETS + SLOT / 2 ? v % (REACH / 4) * 4 : v % (REACH / 2) * 2;
        }
        memcpy(arena + at, &v, 4);
    }
}

bool keeps_mask(uint32_t form) {
    enum Kind k = form_info[form].kind;
    return k == BINARY_KEPT || k == SCALAR_KEPT || k == CAST_KEPT || k == FILL_KEPT ||
           k == REDUCE_KEPT;
}

static bool is_count(enum Kind k) {
    return k == BINARY_COUNT || k == SCALAR_COUNT || k == CAST_COUNT || k == FILL_COUNT;
}

static bool is_bits(enum Kind k) {
    return k == BINARY_BITS || k == SCALAR_BITS || k == FILL_BITS || k == REDUCE_BITS;
}

bool form_on(uint32_t form, int arch) {
    if (arch == ARCH_910) return form_info[form].first_910;
    return arch != ARCH_950 || form_info[form].kind != TRANSPOSE; /* the first 910's kernel alone */
}

/* What a call that keeps the mask may rely on behind a step. */
enum After { FULL, KNOWN, AS_BEFORE, UNKNOWN };

static enum After after(uint32_t form, int arch) {
    enum Kind k = form_info[form].kind;
    if (k == SET_LANES || k == SET_BITS) return KNOWN;
    if (k == RESET) return FULL;
    if (k >= LOAD || k == TRANSPOSE || keeps_mask(form)) return AS_BEFORE;
    if (arch == ARCH_950) return is_bits(k) ? UNKNOWN : AS_BEFORE; /* numbers are no masks there */
    return is_count(k) || k == SPREAD || k == GATHER_BLOCKS ? FULL : UNKNOWN;
}

static uint64_t draw_bits(uint64_t *seed) {
    uint64_t v = (uint64_t)next(seed) << 33 ^ (uint64_t)next(seed) << 11 ^ next(seed);
    uint32_t kind = below(seed, 4);
    if (kind == 0) v = 0x5555555555555555;
    if (kind == 1) v = ~0ull << below(seed, 63);
    if (kind == 2) v &= ~0ull >> below(seed, 63);
    return v ? v : 1;
}

/* A slot of the type, not the one at `apart` (an address; past the arena: none to avoid). */
static uint32_t draw_slot(uint64_t *seed, uint32_t first, uint32_t slots, uint32_t apart) {
    uint32_t slot;
    do {
        slot = first + below(seed, slots);
    } while (slot == apart / SLOT);
    return slot * SLOT;
}

/* Most repeats whose blocks stay within a slot. */
static uint32_t most_repeats(uint32_t step, uint32_t block, uint32_t blocks) {
    uint32_t span = (blocks - 1) * block + 1, room = SLOT / 32;
    return step == 0 ? 255 : (room - span) / step + 1;
}

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* Repeats and strides of lane-by-lane calls. */
static void draw_repeats(uint64_t *seed, const struct FormInfo *f, int how, struct Step *s) {
    uint32_t wide = f->dst_size > f->src_size ? f->dst_size : f->src_size, lanes = 256 / wide;
    uint32_t to = 8u * f->dst_size / wide, from = 8u * f->src_size / wide;
    bool reduces = f->kind >= REDUCE && f->kind <= REDUCE_KEPT;
    s->dst_block = s->src0_block = s->src1_block = 1;
    s->dst_repeat = to;
    s->src0_repeat = s->src1_repeat = from;
    if (how >= 2 && below(seed, 3) && !reduces) s->dst_block = between(seed, 1, 3);
    if (how >= 2 && below(seed, 3)) s->src0_block = between(seed, 1, 3);
    if (how >= 2 && below(seed, 3)) s->src1_block = between(seed, 1, 3);
    if (how >= 2) {
        s->dst_repeat = (to - 1) * s->dst_block + 1 + below(seed, 5);
        s->src0_repeat = below(seed, 3) ? below(seed, 20) : (from - 1) * s->src0_block + 1;
        s->src1_repeat = below(seed, 3) ? below(seed, 20) : (from - 1) * s->src1_block + 1;
    }
    uint32_t most = least(most_repeats(s->src0_repeat, s->src0_block, from),
                          most_repeats(s->src1_repeat, s->src1_block, from));
    if (reduces) { /* a block or half a repeat of results, dst_repeat of them apart */
        uint32_t results = f->name[0] == 'B' ? 1 : 4;
        s->dst_repeat = how >= 2 ? between(seed, 1, 3) : 1;
        most = least(most, (SLOT / 32) / (results * s->dst_repeat));
    } else {
        most = least(most, most_repeats(s->dst_repeat, s->dst_block, to));
    }
    s->repeat = how == 0 ? 1 : between(seed, 1, least(most, 16));
    if (is_bits(f->kind)) {
        s->mask[0] = draw_bits(seed);
        s->mask[1] = wide == 2 ? draw_bits(seed) : 0;
    } else {
        s->mask[0] = how == 0 || !below(seed, 3) ? lanes : between(seed, 1, lanes);
    }
}

/* Copies: blocks of `count` 32-byte units, or bytes of padded ones, with gaps. */
static void draw_copy(uint64_t *seed, const struct FormInfo *f, int how, struct Step *s) {
    bool counted = f->kind == LOAD_COUNT || f->kind == STORE_COUNT || f->kind == MOVE_COUNT;
    bool padded = f->kind == LOAD_PAD || f->kind == STORE_PAD;
    s->repeat = how == 0 ? 1 : between(seed, 1, 6);
    s->count = between(seed, 1, 12);
    if (counted) {
        s->repeat = 1;
        s->count = between(seed, 1, SLOT / 32) * 32 / f->dst_size;
    }
    if (how >= 2 && !counted) {
        s->dst_repeat = below(seed, 6);
        s->src0_repeat = below(seed, 6);
    }
    if (padded) {
        s->count = between(seed, 1, 384 / f->dst_size) * f->dst_size;
        uint32_t *memory = f->kind == LOAD_PAD ? &s->src0_repeat : &s->dst_repeat;
        *memory = how >= 2 ? below(seed, 40) * f->dst_size : 0;
    }
    if (f->kind == LOAD_PAD && s->count % 32) {
        s->mode = 1 + 256 * ((32 - s->count % 32) / f->dst_size);
    }
}

static void draw_scalar(uint64_t *seed, uint32_t form, struct Step *s) {
    s->scalar = plain_float(seed);
    switch (form) {
    case FORM_ADDS_I32_BITS:
    case FORM_ADDS_I32_COUNT:
    case FORM_MULS_I32_BITS:
    case FORM_MINS_I32_COUNT:
    case FORM_DUPLICATE_I32_COUNT:
        s->scalar = next(seed) % 2001 - 1000;
        break;
    case FORM_DUPLICATE_I16_BITS:
        s->scalar = next(seed) & 0xffff;
        break;
    case FORM_SHIFT_LEFT_U32_KEPT:
    case FORM_SHIFT_LEFT_U32_COUNT:
    case FORM_SHIFT_RIGHT_U32_KEPT:
    case FORM_SHIFT_RIGHT_U32_COUNT:
        s->scalar = below(seed, 32);
    }
}

static void draw_gather(uint64_t *seed, const struct FormInfo *f, int how, struct Step *s) {
    s->scalar = how >= 2 ? below(seed, 32) * 32 : 0;
    s->src1 = f->dst_size == 2 ? OFFSETS + SLOT / 2 : OFFSETS;
    s->count = between(seed, 1, REACH / 4);
    if (how == 0) s->count = least(s->count / 128 * 128 + 128, REACH / 4);
    if (f->kind == GATHER_BLOCKS) {
        s->src1 = BLOCK_OFFSETS;
        s->repeat = how == 0 ? 1 : between(seed, 1, 8);
        s->dst_block = how >= 2 ? between(seed, 1, 2) : 1;
        s->dst_repeat = 8 * s->dst_block;
        s->count = s->scalar = 0;
    }
}

/* Sixteen rows of sixteen numbers, next to those of the other repeats. */
static void draw_transpose(uint64_t *seed, int how, struct Step *s) {
    s->repeat = how == 0 ? 1 : between(seed, 1, 7);
    s->dst_block = s->src0_block = s->repeat;
    s->dst_repeat = s->src0_repeat = s->repeat > 1;
    if (how >= 2 && s->repeat < 7) s->src0_block = 7;
}

static void draw_cast(uint64_t *seed, const struct FormInfo *f, int arch, struct Step *s) {
    enum { NONE = 0, RINT = 1 };
    bool narrows = f->dst_size < f->src_size;
    s->mode = !narrows || arch == ARCH_910                             ? NONE
              : f->dst_first == form_info[FORM_CAST_F16_F32].dst_first ? below(seed, 2)
                                                                       : RINT;
}

void draw_step(uint64_t *seed, uint32_t form, int how, int arch, struct Step *s) {
    const struct FormInfo *f = &form_info[form];
    enum Kind k = f->kind;
    memset(s, 0, sizeof *s);
    s->form = form;
    if (k == RESET) return;
    if (k == SET_LANES) {
        s->mask[0] = how == 0 ? 64 : between(seed, 1, 64);
        return;
    }
    if (k == SET_BITS) {
        s->mask[0] = draw_bits(seed);
        s->mask[1] = draw_bits(seed);
        return;
    }
    s->dst = draw_slot(seed, f->dst_first, f->dst_slots, ARENA);
    s->src0 = draw_slot(seed, f->src_first, f->src_slots, s->dst);
    if (k <= BINARY_COUNT) s->src1 = draw_slot(seed, f->src_first, f->src_slots, s->dst);
    if (k >= LOAD) {
        draw_copy(seed, f, how, s);
        return;
    }
    if ((k >= SCALAR && k <= SCALAR_COUNT) || (k >= FILL && k <= FILL_COUNT))
        draw_scalar(seed, form, s);
    if (k == GATHER_COUNT || k == GATHER_BLOCKS) {
        draw_gather(seed, f, how, s);
    } else if (k == TRANSPOSE) {
        draw_transpose(seed, how, s);
    } else if (k == SPREAD) {
        s->repeat = how == 0 ? 1 : between(seed, 1, 7);
        s->dst_block = how >= 2 ? between(seed, 1, 2) : 1;
        s->dst_repeat = 8 * s->dst_block;
    } else if (is_count(k)) {
        uint32_t wide = f->dst_size > f->src_size ? f->dst_size : f->src_size;
        s->count = between(seed, 1, SLOT / wide);
        if (how == 0) s->count = 256 / wide * between(seed, 1, SLOT / 256);
        if (how == 1) s->count = between(seed, 1, 600 / wide);
    } else {
        draw_repeats(seed, f, how, s);
    }
    if (k == CAST || k == CAST_KEPT || k == CAST_COUNT) draw_cast(seed, f, arch, s);
    /* in place, where repeats do not meet each other */
    bool lane_by_lane = k <= SCALAR_COUNT;
    if (lane_by_lane && !below(seed, 3) && (is_count(k) || how < 2)) s->src0 = s->dst;
}

/* Bytes of a copy in one piece, which may go through a queue; 0 for all other steps. */
static uint32_t one_piece(const struct Step *s) {
    const struct FormInfo *f = &form_info[s->form];
    if (f->kind == LOAD_COUNT || f->kind == STORE_COUNT) return s->count * f->dst_size;
    return (f->kind == LOAD || f->kind == STORE) && s->repeat == 1 ? s->count * 32 : 0;
}

void draw_program(uint64_t seed, int arch, struct Program *p) {
    enum After mask = UNKNOWN;
    next(&seed);
    memset(p, 0, sizeof *p);
    uint64_t steps = between(&seed, 4, STEPS);
    while (p->steps < steps) {
        uint32_t form = below(&seed, FORMS);
        if (!form_on(form, arch)) continue;
        /* 16-bit lanes need the upper half of the mask, which a mask for 32-bit lanes has not */
        bool enough = form == FORM_OR_U16_KEPT ? mask == FULL : mask != UNKNOWN;
        if (keeps_mask(form) && !enough) form = FORM_RESET_MASK;
        struct Step *s = &p->step[p->steps++];
        draw_step(&seed, form, (int)below(&seed, 4), arch, s);
        if (below(&seed, 3)) s->queued = one_piece(s);
        enum After left = after(form, arch);
        mask = left == AS_BEFORE ? mask : left;
    }
}
