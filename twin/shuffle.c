/* SPDX-License-Identifier: Apache-2.0
 *
 * Vector instructions that move elements between lanes or make and use bit masks: Gather, Gatherb,
 * GatherMask, Brcb, Transpose, TransDataTo5HD, Compare, Select.
 */
#include "core.h"
#include "half.h"

static uint32_t load32(const uint8_t *at) {
    uint32_t u;
    memcpy(&u, at, 4);
    return u;
}

static void gather(const struct twin_shuffle *v, const struct twin_plan *p) {
    if (v->size == 4 && p->counter) { /* the form without gaps */
        if (p->repeats)
            twin_prims[TWIN_GATHER_B32].flat(v->dst.t.at, v->src[0].t.at + v->base, v->src[1].t.at,
                                             (p->repeats - 1) * p->per_repeat + p->last, v->scalar);
        return;
    }
    for (uint32_t r = 0; r < p->repeats; r++) {
        const uint8_t *offsets = v->src[1].t.at + (size_t)r * p->per_repeat * 4;
        uint8_t *to = v->dst.t.at + (size_t)r * v->dst.repeat_stride * TWIN_BLOCK_BYTES;
        for (uint32_t lane = 0; lane < p->per_repeat; lane++)
            if (twin_lane(p, r, lane))
                memcpy(to + lane * v->size, v->src[0].t.at + v->base + load32(offsets + lane * 4),
                       v->size);
    }
}

static void gather_blocks(const struct twin_shuffle *v) {
    for (uint32_t r = 0; r < v->lanes.repeat; r++)
        for (uint32_t b = 0; b < 8; b++)
            memcpy(v->dst.t.at + ((size_t)r * v->dst.repeat_stride + b * v->dst.block_stride) *
                                     TWIN_BLOCK_BYTES,
                   v->src[0].t.at + load32(v->src[1].t.at + (r * 8 + b) * 4), TWIN_BLOCK_BYTES);
}

/* Patterns 1..7 of GatherMask over the element index. */
static bool kept(uint8_t pattern, uint32_t i) {
    switch (pattern) {
    case 1:
        return i % 2 == 0;
    case 2:
        return i % 2 == 1;
    case 7:
        return true;
    default:
        return i % 4 == (uint32_t)pattern - 3;
    }
}

static void gather_mask(struct twin_shuffle *v) {
    uint32_t per_repeat = v->reduce_mode ? (uint32_t)v->lanes.mask[0] : TWIN_REPEAT_BYTES / v->size;
    uint32_t per_block = TWIN_BLOCK_BYTES / v->size;
    uint8_t *to = v->dst.t.at;
    for (uint32_t r = 0; r < v->lanes.repeat; r++) {
        const uint8_t *from =
            v->src[0].t.at + (size_t)r * v->src[0].repeat_stride * TWIN_BLOCK_BYTES;
        const uint8_t *bits =
            v->src[1].t.at + (size_t)r * v->src[1].repeat_stride * TWIN_BLOCK_BYTES;
        for (uint32_t i = 0; i < per_repeat; i++) {
            if (v->pattern ? !kept(v->pattern, i) : !(bits[i / 8] >> (i % 8) & 1)) continue;
            memmove(to,
                    from + (size_t)(i / per_block) * v->src[0].block_stride * TWIN_BLOCK_BYTES +
                        i % per_block * v->size,
                    v->size);
            to += v->size;
        }
    }
    v->kept = (uint64_t)(to - v->dst.t.at) / v->size;
}

static inline void broadcast(const struct twin_shuffle *v, size_t size) {
    for (uint32_t r = 0; r < v->lanes.repeat; r++)
        for (uint32_t b = 0; b < 8; b++) {
            uint8_t *to =
                v->dst.t.at +
                ((size_t)r * v->dst.repeat_stride + b * v->dst.block_stride) * TWIN_BLOCK_BYTES;
            const uint8_t *from = v->src[0].t.at + (r * 8 + b) * size;
            uint8_t block[TWIN_BLOCK_BYTES];
            for (size_t i = 0; i < TWIN_BLOCK_BYTES; i += size)
                memcpy(block + i, from, size);
            memcpy(to, block, sizeof block);
        }
}

static void brcb(const struct twin_shuffle *v) {
    if (v->size == 4)
        broadcast(v, 4);
    else
        broadcast(v, 2);
}

static void transpose(const struct twin_shuffle *v) {
    uint16_t m[16][16];
    memcpy(m, v->src[0].t.at, sizeof m);
    for (uint32_t i = 0; i < 16; i++)
        for (uint32_t j = 0; j < 16; j++)
            memcpy(v->dst.t.at + (i * 16 + j) * 2, &m[j][i], 2);
}

/* 2 bytes: 16 rows of 16. 4 bytes: 16 rows of 8, written as 8 rows of 16 in two blocks each. */
static void to_5hd(const struct twin_shuffle *v) {
    uint32_t columns = TWIN_BLOCK_BYTES / v->size, parts = 16 / columns;
    for (uint32_t r = 0; r < v->lanes.repeat; r++) {
        size_t from = (size_t)r * v->src[0].repeat_stride * TWIN_BLOCK_BYTES;
        size_t to = (size_t)r * v->dst.repeat_stride * TWIN_BLOCK_BYTES;
        uint8_t rows[16][TWIN_BLOCK_BYTES];
        for (uint32_t i = 0; i < 16; i++)
            memcpy(rows[i], v->src_list[i].at + from, TWIN_BLOCK_BYTES);
        for (uint32_t i = 0; i < 16; i++)
            for (uint32_t j = 0; j < columns; j++)
                memcpy(v->dst_list[i].at + to + j * v->size,
                       rows[i % parts * columns + j] + i / parts * v->size, v->size);
    }
}

enum { TYPE_F16, TYPE_F32, TYPE_I32 };

static double number(const struct twin_shuffle *v, const uint8_t *at) {
    uint16_t h;
    float f;
    int32_t i;
    switch (v->type) {
    case TYPE_F16:
        memcpy(&h, at, 2);
        return twin_f16_to_f32(h);
    case TYPE_F32:
        memcpy(&f, at, 4);
        return f;
    default:
        memcpy(&i, at, 4);
        return i;
    }
}

static bool relation(uint8_t mode, double a, double b) {
    switch (mode) {
    case 0:
        return a < b;
    case 1:
        return a > b;
    case 2:
        return a == b;
    case 3:
        return a <= b;
    case 4:
        return a >= b;
    default:
        return a != b;
    }
}

static const uint8_t *lane_at(const struct twin_operand *o, uint32_t size, uint32_t repeat,
                              uint32_t lane) {
    uint32_t per_block = TWIN_BLOCK_BYTES / size;
    return o->t.at +
           ((size_t)repeat * o->repeat_stride + lane / per_block * o->block_stride) *
               TWIN_BLOCK_BYTES +
           lane % per_block * size;
}

static void compare(const struct twin_shuffle *v, const struct twin_plan *p) {
    for (uint32_t r = 0; r < p->repeats; r++) {
        uint8_t *to = v->dst.t.at + (size_t)r * p->per_repeat / 8;
        uint8_t bits[16] = {0};
        for (uint32_t lane = 0; lane < p->per_repeat; lane++) {
            double a = number(v, lane_at(&v->src[0], v->size, r, lane));
            double b = v->scalar_src1 ? v->type == TYPE_I32 ? v->scalar.i : v->scalar.f
                                      : number(v, lane_at(&v->src[1], v->size, r, lane));
            if (relation(v->mode, a, b)) bits[lane / 8] |= (uint8_t)(1u << lane % 8);
        }
        memcpy(to, bits, p->per_repeat / 8);
    }
}

/* SELMODE 0: the first bits serve every repeat; 1 and 2: the bits go on from repeat to repeat. */
static void select_lanes(const struct twin_shuffle *v, const struct twin_plan *p) {
    uint32_t scalar = v->size == 4 ? v->scalar.u : twin_f32_to_f16(v->scalar.f);
    uint8_t first[16];
    memcpy(first, v->src[2].t.at, p->per_repeat / 8);
    for (uint32_t r = 0; r < p->repeats; r++) {
        const uint8_t *bits = v->mode == 0 ? first : v->src[2].t.at + (size_t)r * p->per_repeat / 8;
        for (uint32_t lane = 0; lane < p->per_repeat; lane++) {
            if (!twin_lane(p, r, lane)) continue;
            const uint8_t *from = bits[lane / 8] >> lane % 8 & 1
                                      ? lane_at(&v->src[0], v->size, r, lane)
                                  : v->scalar_src1 ? (const uint8_t *)&scalar
                                                   : lane_at(&v->src[1], v->size, r, lane);
            memmove((uint8_t *)lane_at(&v->dst, v->size, r, lane), from, v->size);
        }
    }
}

uint32_t twin_shuffle_width(const struct twin_shuffle *v) {
    return v->size;
}

void twin_run_shuffle(struct twin_shuffle *v, const struct twin_plan *p) {
    switch (v->kind) {
    case TWIN_GATHER:
        gather(v, p);
        break;
    case TWIN_GATHERB:
        gather_blocks(v);
        break;
    case TWIN_GATHER_MASK:
        gather_mask(v);
        break;
    case TWIN_BRCB:
        brcb(v);
        break;
    case TWIN_TRANSPOSE:
        transpose(v);
        break;
    case TWIN_TO_5HD:
        to_5hd(v);
        break;
    case TWIN_COMPARE:
        compare(v, p);
        break;
    case TWIN_SELECT:
        select_lanes(v, p);
        break;
    }
}

void twin_shuffle_fast(struct twin_shuffle *v) {
    struct twin_plan p = twin_make_plan(twin_core, &v->lanes, twin_shuffle_width(v));
    twin_run_shuffle(v, &p);
    twin_after_shuffle(twin_core, v, NULL);
}
