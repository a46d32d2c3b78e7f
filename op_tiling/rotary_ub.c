/* SPDX-License-Identifier: Apache-2.0
 *
 * The UB of RotaryMulGrad and RotaryPositionEmbeddingGrad. One list says what lies there; how much
 * a tile may have, and where everything is, both come from it. The kernel takes it as it is.
 */
#include "rotary.h"

enum {
    /* Floats between operands of one call, so that they are in other banks: these repeat after 512
     * bytes. */
    SHIFT = 64,
    /* Bytes that rounding takes at most: of a tile to 32 elements, of cos and of the floats. */
    ROUNDING = 3328,
    PARTS = 8,
};

/* A part of the floats that the kernel works in: so many tiles, so many times the rows of cos at
 * hand, so many floats. */
struct part {
    uint32_t *at;
    int64_t tiles, cosines, floats;
};

/* The operands of a call are neighbours in this list, or have a shift between them: w_x, w_other
 * (where it is added to w_dx element by element) and cos against the rest. */
static void list_parts(RotaryGradTiling *t, uint32_t mode, int64_t size, int64_t table,
                       struct part part[PARTS]) {
    bool narrow = size == 2, planes = mode == ROTARY_PLANES, halves = mode == ROTARY_HALVES;
    bool swapped = mode == ROTARY_PAIRS, x = t->with_x;
    const struct part list[PARTS] = {
        /* dy; fp32 stays where it has been loaded */
        {NULL, narrow, 0, 0},
        /* dy with partners swapped */
        {&t->swap_at, swapped, 0, SHIFT},
        {&t->x_at, x && (narrow || planes), 0, SHIFT},
        /* cos * dy, which becomes dx, and sin * dy; both of them at once: the terms of the sums */
        {&t->dx_at, narrow || planes || x, 0, halves ? 0 : SHIFT},
        {&t->other_at, 1, 0, halves ? SHIFT : 0},
        /* cos and sin, or sin with partners swapped */
        {&t->cosines_at, 0, table == 2 ? 2 : swapped, 0},
        {&t->sums_at, 0, 2 * (int64_t)t->levels, 0},
        {&t->table_at, 0, 0, t->table},
    };
    for (int i = 0; i < PARTS; i++) {
        part[i] = list[i];
    }
}

/* Bytes of an element of dcos on its way out; 0 if there is none. */
static int64_t sum_size(const RotaryGradTiling *t, int64_t table) {
    return !t->with_x ? 0 : t->partial ? 4 : table;
}

struct rotary_needs ascgrad_rotary_needs(RotaryGradTiling *t, uint32_t mode, int64_t size,
                                         int64_t table) {
    struct part part[PARTS];
    struct rotary_needs n = {.tile = 2 * size * (2 + t->with_x),
                             .cosine = 4 * table + 2 * sum_size(t, table),
                             .fixed = 2 * 4 * SHIFT + ROUNDING};
    list_parts(t, mode, size, table, part);
    for (int i = 0; i < PARTS; i++) {
        n.tile += 4 * part[i].tiles;
        n.cosine += 4 * part[i].cosines;
        n.fixed += 4 * part[i].floats;
    }
    return n;
}

void ascgrad_rotary_lay_out(RotaryGradTiling *t, uint32_t mode, int64_t size, int64_t table) {
    struct part part[PARTS];
    int64_t at = 0;
    list_parts(t, mode, size, table, part);
    for (int i = 0; i < PARTS; i++) {
        if (part[i].at) {
            *part[i].at = (uint32_t)at;
        }
        at += part[i].tiles * t->tile + part[i].cosines * t->cosines + part[i].floats;
    }
    t->tile_bytes = (uint32_t)(t->tile * size);
    t->cos_bytes = (uint32_t)round_up(2 * t->cosines * table, 512);
    t->sum_bytes = (uint32_t)(t->cosines * sum_size(t, table));
    /* The last part may be empty; its tensor still begins inside. */
    t->work_bytes = (uint32_t)round_up(4 * (at + 1), 512);
    t->shift_bytes = 4 * SHIFT;
    t->ub_bytes = t->work_bytes + 2 * t->shift_bytes + 2 * t->cos_bytes + 2 * t->sum_bytes +
                  2 * (2 + t->with_x) * t->tile_bytes;
}
