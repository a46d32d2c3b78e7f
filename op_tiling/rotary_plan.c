/* SPDX-License-Identifier: Apache-2.0
 *
 * How the work of RotaryMulGrad and RotaryPositionEmbeddingGrad is cut up: see
 * op_kernel/rotary_grad_tiling_data.h for what the pieces are. Everything that decides the order of
 * a sum (chunks, segments, levels) is computed for the smallest UB of the supported chips and
 * without looking at the cores: the bits are the same everywhere.
 */
#include "rotary.h"

enum {
    UB_SPARE = 4608, /* paddings that keep operands in different banks, and rounding */
    TABLE = 1024,    /* entries of the table of a gather */
    TURN = 512,      /* longest row whose halves are swapped by a gather */
    TILE =
        5120, /* elements of a tile at most; without x nothing is summed and there is more room */
    TILE_DX = 8192,
    TILE_LEAST = 2048,  /* partial sums are fetched into the same buffers */
    TILE_ROWS = 240,    /* below the 255 repeats of a vector call */
    ROW = 1536,         /* a longer row is cut into strips */
    STRIP = 512,        /* columns of a half in a strip */
    RUN = 1024,         /* elements of neighbouring keys worth fetching in one piece, */
    RUN_LEAST = 256,    /* bytes of them that must be */
    SEAMS_FROM = 16384, /* elements that are worth a seam inside a 32-byte block */
    FAN = 16,           /* sums that one accumulator takes */
    ITEMS = 384,        /* pieces of work that are enough for any number of cores */
    CORES = 48,         /* of a usual chip */
    MEETING = 8192,     /* elements that a core moves while the cores meet */
};

/* How the kernel finds partners (MODE in rotary_grad.h). TURN_HALVES: halves begin inside 32-byte
 * blocks, rows of floats do not. */
enum kernel_mode { HALVES = 0, PAIRS = 1, PLANES = 3, TURN_HALVES = 4 };

/* Bytes of UB: per element of a tile, per element of the rows of cos at hand, and once. The
 * kernel's Setup. */
struct needs {
    int64_t tile, cosine, fixed;
};

static struct needs needs_of(const RotaryGradTiling *t, enum kernel_mode mode, int64_t size) {
    bool wide = size == 4, swapped = mode == PAIRS || mode == TURN_HALVES;
    int64_t floats = (wide ? 1 : 3) + swapped + (wide && mode == PLANES) + (int64_t)t->with_x;
    struct needs n = {
        .tile = 2 * size * (2 + t->with_x) + 4 * floats,
        .cosine = 4 * size + (!wide     ? 8
                              : swapped ? 4
                                        : 0),
        .fixed = UB_SPARE + 4 * (t->table + (mode == TURN_HALVES ? t->row : 0)),
    };
    if (t->with_x) {
        n.cosine += 2 * (t->partial ? 4 : size) + 8 * t->levels;
    }
    return n;
}

/* Chunks and tiles for rows of `pitch` elements in the UB; `unit` rows begin and end at 32-byte
 * blocks. */
static void cut(RotaryGradTiling *t, const struct needs *n, int64_t pitch, int64_t unit,
                int64_t size) {
    int64_t room = (SMALLEST_UB - n->fixed) / pitch; /* bytes per column of the row */
    int64_t limit = most(1, (t->with_x ? TILE : TILE_DX) / pitch);
    int64_t keys = t->strips > 1 ? 1 : t->keys;
    int64_t run =
        1; /* keys that lie side by side: long transfers, but not so many that cores have none */
    if (t->keys_last) {
        int64_t wanted =
            most(least(RUN / pitch, t->lines / CORES), ceil_div(RUN_LEAST, t->row * size));
        run = least(keys, most(1, wanted));
    }
    int64_t rows =
        most(1, least(least(limit, TILE_ROWS) / run, (room / run - n->cosine) / n->tile));
    if ((t->keys_last ? t->inner_stride : 1) * t->row * size > UINT32_MAX) {
        rows = 1; /* a transfer cannot step that far */
    }
    rows = rows > unit ? rows / unit * unit : rows;
    t->chunks_inner = ceil_div(t->inner, rows);
    int64_t chunk = ceil_div(t->inner, t->chunks_inner);
    chunk = rows > unit ? round_up(chunk, unit) : chunk;
    t->chunk_rows = (uint32_t)chunk;
    t->chunks_inner = ceil_div(t->inner, chunk);
    int64_t tile_keys = 1;
    if (t->keys_last || t->chunks_inner == 1) {
        tile_keys = least(least(limit, TILE_ROWS) / chunk, room / (n->tile * chunk + n->cosine));
        tile_keys = most(1, least(tile_keys, keys));
        tile_keys = tile_keys > unit ? tile_keys / unit * unit : tile_keys;
    }
    int64_t groups = 1; /* of tile_keys keys that share one load of cos and sin */
    if (!t->keys_last && keys > 1) {
        groups = least((room / tile_keys - n->tile * chunk) / n->cosine, most(1, FAN / tile_keys));
        groups = most(1, least(groups, chunk));
    }
    t->tile_keys = (uint32_t)tile_keys;
    t->group_keys = (uint32_t)(groups * tile_keys);
    t->tile = (uint32_t)most(TILE_LEAST, round_up(tile_keys * chunk * pitch, 32));
    t->cosines = (uint32_t)(groups * tile_keys * pitch);
}

/* Whether the kernel can mend seams inside blocks: what a row has in the next row's block is not
 * more than its last half. */
static bool may_be_ragged(const RotaryGradTiling *t, int64_t size) {
    return t->half * size >= 32 - 32 / rows_per_block(t->row * size);
}

/* Lines that stay on one core: `unit`, unless the keys of every inner or outer step begin inside
 * blocks. Then all keys of a slab stay together, if that is little; a long run of keys is cut, and
 * has seams. */
static int64_t whole_keys(RotaryGradTiling *t, int64_t outer, int64_t size, int64_t unit) {
    int64_t steps = t->keys_last ? t->inner : outer, run = t->keys * t->key_stride * t->row;
    if (steps == 1 || run * size % 32 == 0) {
        return unit;
    }
    if (run >= SEAMS_FROM && may_be_ragged(t, size)) {
        t->ragged = true;
        return unit;
    }
    return t->keys * t->strips * rows_per_block(t->keys * t->row * size);
}

/* Whether segments begin at blocks. */
static bool splits_at_blocks(const RotaryGradTiling *t, int64_t outer, int64_t size) {
    int64_t row = t->row * size, run = t->keys * t->key_stride * row;
    bool chunks = t->chunk_rows * t->inner_stride * row % 32 == 0;
    bool keys = t->keys_last ? t->lines == t->keys * t->strips || t->slab_stride * row % 32 == 0
                             : t->keys == 1 || t->key_stride * row % 32 == 0;
    bool steps = t->keys_last || outer == 1 || run % 32 == 0;
    return chunks && keys && steps;
}

/* Whether segments begin at blocks, or are long enough to be worth the seams. */
static bool may_split(const RotaryGradTiling *t, int64_t outer, int64_t size) {
    return splits_at_blocks(t, outer, size) ||
           (t->slab_stride * t->row >= 16 * SEAMS_FROM && may_be_ragged(t, size));
}

/* Equal pieces over the cores of any chip: what the busiest core has, times its chip's cores. */
static int64_t spread(int64_t pieces) {
    static const int64_t cores[] = {40, CORES, 64};
    int64_t worst = 0;
    for (int i = 0; i < 3; i++) {
        worst = most(worst, round_up(pieces, cores[i]));
    }
    return worst;
}

/* Into how many segments the chunks are split, so that few rows of cos still keep all cores busy.
 * Compares times, as elements that a core of 48 moves: splitting evens out the shares, but costs a
 * meeting and the partial sums. */
static int64_t segments_of(const RotaryGradTiling *t, int64_t pitch) {
    int64_t items = ceil_div(t->lines, t->tile_keys);
    if (items >= ITEMS) {
        return 1;
    }
    int64_t chunks = least(t->chunks, 1 << 28), chunk = t->chunk_rows * pitch; /* of a line */
    int64_t tiles = ceil_div(ceil_div(t->lines, CORES), t->tile_keys);
    int64_t best = 1,
            time = most(spread(t->lines) * chunks * chunk / CORES, chunks * tiles * TILE / 2);
    for (int64_t target = CORES; target <= ITEMS; target += target) {
        int64_t segments = least(ceil_div(target, items), t->chunks);
        int64_t piece = ceil_div(chunks, segments) * chunk * t->tile_keys;
        int64_t sums = t->with_x ? MEETING + segments * pitch *
                                                 (ceil_div(2 * t->lines, CORES) + t->lines / 4) / 4
                                 : 0;
        int64_t split = spread(items * segments) * piece / CORES + sums;
        if (split < time) {
            time = split;
            best = segments;
        }
    }
    return best;
}

/* The shape of a row, and the axes as the kernel walks them. Returns the steps outside of inner. */
static int64_t lay_out(RotaryGradTiling *t, enum rotary_mode mode, struct rotary_axes a, int64_t d,
                       int64_t size) {
    t->row = d;
    t->half = mode == QUARTER ? d / 4 : d / 2;
    t->groups = mode == QUARTER ? 2 : 1;
    int64_t slab = a.r0 * a.k1 * t->groups * 2 * round_up(t->half, 32 / size);
    if (a.r1 == 1 && a.k0 > 1 && mode != INTERLEAVE_HALF && slab <= TILE / 2) {
        /* K R K with little in a slab: the last keys may as well be one row, then a tile takes
         * several slabs */
        t->row *= a.k1;
        t->half *= mode == INTERLEAVE ? a.k1 : 1;
        t->groups *= mode == INTERLEAVE ? 1 : (uint32_t)a.k1;
        a = (struct rotary_axes){.k0 = 1, .r0 = 1, .k1 = a.k0, .r1 = a.r0};
    }
    t->keys_last = a.r1 == 1;
    t->keys = a.k1;
    if (t->groups == 2 && t->keys_last) { /* the two groups of a row may as well be two rows */
        t->keys *= 2;
        t->row /= 2;
        t->groups = 1;
    }
    t->inner = t->keys_last ? a.r0 : a.r1;
    t->key_stride = a.r1;
    t->inner_stride = t->keys_last ? t->keys : 1;
    t->outer_stride = t->keys * a.r1;
    t->slab_stride = a.r0 * t->keys * a.r1;
    t->lines = a.k0 * t->keys;
    return t->keys_last ? 1 : a.r0;
}

/* What a row looks like in the UB: whether it is in strips, and how the kernel finds partners in
 * it. */
static enum kernel_mode shape_row(RotaryGradTiling *t, enum rotary_mode mode, int64_t size) {
    int64_t block = 32 / size; /* elements */
    t->strips_half = 1;
    t->strips = 1;
    t->width = (uint32_t)least(t->half, ROW);
    if (t->groups * 2 * round_up(t->half, block) > ROW) {
        t->strips_half = ceil_div(t->half, STRIP);
        t->width = (uint32_t)round_up(ceil_div(t->half, t->strips_half), 64);
        t->strips_half = ceil_div(t->half, t->width);
        t->strips = t->strips_half * t->groups;
        t->groups = 1;
    }
    bool whole = t->strips == 1, aligned = t->half % 8 == 0;
    enum kernel_mode way = mode == INTERLEAVE ? PAIRS : mode == INTERLEAVE_HALF ? PLANES : HALVES;
    if (way == HALVES && whole && !aligned && t->half * size % 4 == 0 && t->row % 8 == 0 &&
        t->row <= TURN) {
        way = TURN_HALVES;
    }
    t->flat = whole && (way == PAIRS || way == TURN_HALVES ? t->row % 8 == 0 : aligned);
    t->table = way == TURN_HALVES           ? (uint32_t)(TABLE / t->row * t->row)
               : size == 4 && way != HALVES ? TABLE
                                            : 0;
    return way;
}

uint32_t ascgrad_rotary_plan(RotaryGradTiling *t, enum rotary_mode mode,
                             const struct rotary_axes *axes, int64_t d, int64_t size) {
    int64_t outer = lay_out(t, mode, *axes, d, size), block = 32 / size;
    enum kernel_mode way = shape_row(t, mode, size);
    int64_t pitch = t->groups * 2 * (t->flat ? t->half : round_up(t->width, block));
    if (way == PAIRS && !t->flat) {
        pitch = round_up(2 * t->width, block);
    }
    t->sum_row = (uint32_t)pitch;
    pitch = round_up(pitch, block); /* runs of rows begin at blocks */
    t->lines *= t->strips;
    int64_t unit = rows_per_block(t->row * size);
    bool summed = t->inner > 1 || outer > 1;
    for (t->levels = summed && t->with_x;; t->levels++) {
        for (t->partial = 0;; t->partial = 1) {
            struct needs n = needs_of(t, way, size);
            cut(t, &n, pitch, unit, size);
            t->chunks = outer * t->chunks_inner;
            t->segments = may_split(t, outer, size) ? segments_of(t, pitch) : 1;
            if (t->partial || !t->with_x || t->segments == 1) {
                break;
            }
        }
        int64_t reach = 1;
        for (uint32_t i = 0; i < t->levels; i++) {
            reach *= FAN;
        }
        if (t->levels == 0 || ceil_div(t->chunks, t->segments) <= reach) {
            break;
        }
    }
    t->partial = t->with_x && t->segments > 1;
    t->ragged = t->segments > 1 && !splits_at_blocks(t, outer, size);
    t->join_unit = t->strips == 1 ? unit : t->half * size % 32 == 0 ? 1 : unit * t->strips;
    t->unit = whole_keys(t, outer, size, t->join_unit);
    if (t->ragged) {
        int64_t step = t->keys_last ? t->inner_stride : t->outer_stride;
        t->ragged = (uint32_t)rows_per_block(step * t->row * size);
        if (t->partial || !t->with_x) { /* then the seams of dcos do not matter */
            t->unit = t->strips;
        }
    }
    t->unit = t->segments > 1 ? round_up(t->tile_keys, t->unit) : t->unit;
    return (uint32_t)way;
}
