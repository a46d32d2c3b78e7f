/* SPDX-License-Identifier: Apache-2.0
 *
 * The contiguous path of RotaryMulGrad and RotaryPositionEmbeddingGrad, for rows or halves that do
 * not fill 32-byte blocks and for short rows: which calls take it, how their rows are cut into
 * tiles, and what lies in the UB. op_kernel/rotary_grad_contiguous.h says what slabs and groups
 * are. As in rotary_plan.c, nothing depends on the chip.
 */
#include "rotary.h"

enum {
    /* longest row */
    ROW = 640,
    /* Elements from which on the other path takes less time where halves become pairs. Rows that
     * fill blocks of floats: so many bytes. */
    SHORT = 64,
    /* The same where rows of cos are repeated by words; of 16 bits. */
    TURN = 96,
    TURN_NARROW = 256,
    /* rows of a row of cos */
    MANY = 16,
    /* elements of a tile, of the table of partners */
    TILE = 7040,
    TABLE = 1664,
    SMALLER_TABLE = 1024,
    /* elements that a repeat stride reaches */
    REACH = 2040,
    /* slabs that are not made fewer: cos is repeated in each of them, calls and copies are for each
     */
    FEW = 2,
    /* bytes of a block that makes copies few; 128 are charged in any case */
    LEAST_BLOCK = 256,
    /* elements of neighbouring rows of cos that are worth fetching in one piece */
    RUN = 1024,
    CORES = 48,
    /* elements that a core moves while the cores meet */
    MEETING = 8192,
    SHIFT = 64,
    PARTS = 19,
    /* floats of a repeat: what a table has at least */
    LANES = 64,
};

struct part {
    uint32_t *at;
    int64_t floats;
};

/* Floats in units of 512 bytes: then a shift of 256 bytes puts operands into other banks. */
static int64_t banks(int64_t floats) {
    return round_up(floats, 2 * SHIFT);
}

/* `n` of rows of `row` items that end at a multiple of 8. */
static int64_t in_eights(int64_t row) {
    while (row % 8 != 0) {
        row *= 2;
    }
    return row;
}

/* Entries of a table for `entries` of such rows. */
static int64_t rows_table(int64_t entries, int64_t row) {
    return most(LANES, most(round_up(entries, 8), in_eights(row)));
}

/* Lays out the UB for what t says of tile, cosines, sums and so on; ub_bytes is the answer.
 * Operands of one call are 256 bytes apart, modulo 512: dy and swapped against x, spare, cos and
 * sin. */
static void lay_out(RotaryGradTiling *t, int64_t size, int64_t table) {
    bool narrow = size == 2, apart = narrow || t->with_tails, spread = t->group > t->fill;
    int64_t tile = banks(t->tile), sums = most(tile, banks(2 * t->fill * t->sums)),
            slab = banks(t->cosines), row = t->pitch, each = t->tile_cos * t->fill * row,
            unit = table == 2 && t->reach % 2 ? 2 : 4, items = t->fill * row * table / unit;
    t->rows_floats = (uint32_t)round_up(each + t->fill * row, LANES);
    t->coefs = t->fill > 1 ? (uint32_t)rows_table(t->tile_cos * items, items) : 0;
    t->halves = t->planes ? (uint32_t)rows_table(t->sums, row) : 0;
    bool other = table > size || (t->with_tails && narrow && t->turn_unit < 32);
    t->wide = other ? (uint32_t)rows_table(t->sums, t->with_tails ? row : 2 * t->reach) : 0;
    const struct part part[PARTS] = {
        {NULL, apart ? tile : 0},
        {&t->swap_at, sums},
        {NULL, SHIFT},
        {&t->x_at, narrow && t->with_x ? tile : 0},
        {&t->dx_at, sums},
        {&t->cosines_at, slab},
        {&t->other_at, slab},
        {&t->rows_at, spread ? 2 * t->rows_floats : 0},
        {&t->signs_at, most(banks(each), in_eights(t->with_tails ? row : 2 * t->reach))},
        {&t->sums_at, most(1, t->levels) * 2 * t->sums},
        {&t->coarse_at, table == 2 ? round_up(each, LANES) : 0},
        {&t->table_at, t->turn},
        {&t->blocks_at, t->turn_unit == 32 ? rows_table(t->tile / 8, t->reach / 4) : 0},
        {&t->coef_at, 2 * t->coefs},
        {&t->spread_at, spread ? rows_table(round_up(t->cosines, 64) / 8, t->group * row / 8) : 0},
        {&t->pack_at, t->fill > 1 ? t->sums + rows_table(t->sums, row) : 0},
        {&t->pair_at, t->planes ? t->pair + t->halves : 0},
        {&t->halve_at, 2 * t->halves},
        {&t->wide_at, t->wide + (t->wide > 0 ? t->halves : 0)},
    };
    int64_t at = 0;
    for (int i = 0; i < PARTS; i++) {
        if (part[i].at) {
            *part[i].at = (uint32_t)at;
        }
        at += round_up(part[i].floats, 8);
    }
    t->work_bytes = (uint32_t)round_up(4 * (at + 1), 512);
    t->shift_bytes = 4 * SHIFT;
    t->tile_bytes = t->x_bytes = (uint32_t)(round_up(t->tile * size, 512));
    if (t->with_tails) {
        int64_t rows = ceil_div(t->tile, row), columns = round_up(t->row, GM_BLOCK / size);
        int64_t sum = 4 * t->tile_cos * row; /* of a segment, which comes there too */
        t->tile_bytes = (uint32_t)round_up(most(rows * t->dy_row * size, sum), 512);
        t->x_bytes = (uint32_t)round_up(rows * columns * size, 512);
    }
    t->cos_bytes = (uint32_t)(2 * round_up(t->sums * table, 32));
    t->sum_bytes = (uint32_t)round_up(t->sums * (t->partial ? 4 : table), 32);
    uint32_t places = ROTARY_PLACES(t->fill, size);
    int64_t tiles = ROTARY_PLACES_OUT(t->with_x, places) + places;
    t->ub_bytes = (uint32_t)(t->work_bytes + 2 * t->shift_bytes + tiles * t->tile_bytes +
                             t->with_x * size / 2 * t->x_bytes + 2 * t->cos_bytes +
                             (t->with_x ? 2 * t->sum_bytes : 0));
}

/* Entries of a table for at least `entries` units of so many bytes: whole periods, whole blocks. */
static uint32_t table_of(int64_t period, int64_t entries, int64_t unit) {
    while (period * unit % 32 != 0) {
        period *= 2;
    }
    return (uint32_t)round_up(most(LANES, entries), period);
}

/* Fills what follows from rows, cos_rows and group. False: it does not fit the UB. */
static bool fill_with(RotaryGradTiling *t, int64_t size, int64_t table, int64_t rows,
                      int64_t cos_rows, int64_t group, int64_t entries) {
    int64_t block = t->with_tails ? 1 : GM_BLOCK / size, row = cos_rows * t->pitch;
    int64_t span = t->cos_last ? round_up(group * row, block) : group * row;
    t->group = (uint32_t)group;
    t->fill = group > 1 ? (uint32_t)rows_per_block(4 * t->pitch) : 1;
    if (group * t->pitch % 8 != 0) {
        t->fill = (uint32_t)group;
    }
    t->tile_cos = (uint32_t)cos_rows;
    t->band_tiles = 1;
    t->cosines = (uint32_t)round_up(span, 64);
    t->sums = (uint32_t)round_up(row, LANES);
    t->tile = (uint32_t)round_up(span * (t->cos_last ? rows : ceil_div(rows, group)), 64);
    bool pairs = t->reach == 1, gaps = t->cos_last && group * t->pitch % block != 0;
    int64_t unit = size == 2 && t->reach % 2 ? 2 : 4;
    bool shifts = pairs && !t->with_tails;
    t->turn_unit = size == 4 ? 4 : shifts ? 0 : t->reach % 8 == 0 && !gaps ? 32 : (uint32_t)unit;
    int64_t turned = t->turn_unit == 0 || t->turn_unit == 32 ? row : t->tile;
    /* tables that others are made of have all of their rows */
    int64_t need = t->fill > 1 ? row : 0;
    turned = most(least(entries, turned * size / unit), need * size / unit);
    t->turn = table_of((t->with_tails ? t->pitch : 2 * t->reach) * size / unit, turned, unit);
    t->pair = t->planes ? table_of(t->pitch, most(least(entries, t->tile), need), size) : 0;
    lay_out(t, size, table);
    return t->ub_bytes <= SMALLEST_UB;
}

static bool fill_in(RotaryGradTiling *t, int64_t size, int64_t table, int64_t rows,
                    int64_t cos_rows, int64_t group) {
    return fill_with(t, size, table, rows, cos_rows, group, TABLE) ||
           fill_with(t, size, table, rows, cos_rows, group, SMALLER_TABLE);
}

/* Rows of a group for `rows` rows that share a row of cos: whole blocks in the UB, and blocks of
 * memory that copies are not charged more for than they hold. */
static int64_t group_of(const RotaryGradTiling *t, int64_t rows, int64_t size) {
    int64_t group = rows_per_block(t->pitch * size);
    while (rows % (2 * group) == 0 &&
           (group * t->pitch * size < LEAST_BLOCK || rows >= 2 * group * FEW)) {
        group *= 2;
    }
    return group;
}

/* What a tile costs, in calls, besides what its elements do: copies and calls for slabs, and cos
 * and sin repeated to a slab. */
static int64_t cost_of(const RotaryGradTiling *t, int64_t cos_rows, int64_t group) {
    int64_t slabs = ceil_div(t->inner, group), span = cos_rows * group * t->pitch;
    int64_t calls = span % LANES == 0 ? 2 * slabs : 4 * slabs + 4;
    return 80 + 3 * least(slabs, cos_rows) + calls + span / 256;
}

/* All rows of the most rows of cos, in the groups that make that cheapest. */
static bool cut_whole(RotaryGradTiling *t, int64_t size, int64_t table) {
    int64_t fewest = rows_per_block(t->pitch * size), share = most(fewest, t->lines / CORES);
    int64_t limit = least(least(t->cos_rows, share), ROTARY_SLABS), best = 0, cost = 1, chosen = 0;
    for (int64_t group = group_of(t, least(t->inner, TILE), size); group >= fewest; group /= 2) {
        int64_t slabs = ceil_div(t->inner, group);
        int64_t cos_rows = least(limit, TILE / (slabs * group * t->pitch));
        bool fits = slabs <= ROTARY_SLABS && group * t->pitch <= REACH;
        for (int found = 0; fits && cos_rows > 1 && found < 2; cos_rows--) {
            int64_t price = cost_of(t, cos_rows, group);
            if (cos_rows * cost <= best * price) {
                found++;
            } else if (fill_in(t, size, table, t->inner, cos_rows, group)) {
                best = cos_rows;
                cost = price;
                chosen = group;
                found++;
            }
        }
    }
    t->chunk_rows = (uint32_t)t->inner;
    t->chunks_inner = 1;
    return best > 0 && fill_in(t, size, table, t->inner, best, chosen);
}

/* Rows of cos first: some rows of cos with all of their rows, or some rows of one. */
static bool cut_groups(RotaryGradTiling *t, int64_t size, int64_t table) {
    if (t->inner <= TILE && cut_whole(t, size, table)) {
        return true;
    }
    int64_t group = rows_per_block(t->pitch * 4);
    /* Rows of cos that begin inside blocks stay on one core: there, short rows fill a tile, too. */
    bool whole = t->cos_rows > 1 && t->cos_stride * t->dy_row * size % GM_BLOCK != 0;
    while (whole && ROTARY_SLABS * group * t->pitch < TILE && group < t->inner) {
        group *= 2;
    }
    int64_t step = most(group, rows_per_block(t->pitch * size)),
            rows = least(most(1, TILE / t->pitch / step), ROTARY_SLABS * group / step) * step;
    for (; group * t->pitch <= REACH && rows >= step; rows -= step) {
        t->chunks_inner = ceil_div(t->inner, rows);
        int64_t chunk = round_up(ceil_div(t->inner, t->chunks_inner), step);
        if (fill_in(t, size, table, chunk, 1, group)) {
            t->chunk_rows = (uint32_t)chunk;
            t->chunks_inner = ceil_div(t->inner, chunk);
            return true;
        }
    }
    return false;
}

/* Steps that do not begin at blocks: all rows of cos of a slab stay together. */
bool ascgrad_rotary_contiguous_alone(const RotaryGradTiling *t, int64_t outer, int64_t size) {
    int64_t steps = t->cos_last ? t->inner : outer;
    return steps > 1 && t->cos_rows * t->cos_stride * t->dy_row * size % GM_BLOCK != 0;
}

/* Then the steps are shared out, if there is enough to do for a meeting of the cores. */
static bool shares_steps(const RotaryGradTiling *t) {
    return !t->with_x || t->slab_stride * t->dy_row >= MEETING;
}

int64_t ascgrad_rotary_contiguous_segments(const RotaryGradTiling *t) {
    int64_t slabs = t->lines / t->cos_rows;
    return shares_steps(t) ? most(1, least(t->chunks, 2 * CORES / least(slabs, 2 * CORES))) : 1;
}

/* Rows of cos that a core joins at a time: a few for every core. */
int64_t ascgrad_rotary_contiguous_join(const RotaryGradTiling *t, int64_t unit) {
    int64_t cores = least(CORES, ceil_div(t->lines, t->unit) * t->segments);
    return round_up(ceil_div(2 * t->lines, cores), unit);
}

/* Steps of a chunk where `line` elements belong to a row of cos, and rows of cos that are wanted in
 * one piece. */
static int64_t steps_of(const RotaryGradTiling *t, int64_t line, int64_t run, int64_t size) {
    if (t->inner_stride * t->dy_row * size > UINT32_MAX) {
        return 1; /* a transfer cannot step that far */
    }
    int64_t unit = rows_per_block(line * size);
    int64_t steps = least(least(t->inner, ROTARY_SLABS), most(1, TILE / (run * line)));
    if (ascgrad_rotary_contiguous_alone(t, 1, size) && shares_steps(t)) {
        unit = rows_per_block(t->cos_rows * line * size);
        int64_t limit = most(1, least(ROTARY_SLABS, TILE / line) / unit) * unit;
        return least(least(t->inner, limit), round_up(ceil_div(t->inner, CORES), unit));
    }
    steps = steps > unit ? steps / unit * unit : steps;
    int64_t chunk = ceil_div(t->inner, ceil_div(t->inner, steps));
    return steps > unit ? least(t->inner, round_up(chunk, unit)) : chunk;
}

/* Rows of cos last: some steps of a run of rows of cos. */
static bool cut_runs(RotaryGradTiling *t, int64_t size, int64_t table) {
    int64_t line = t->cos_stride * t->pitch, unit = rows_per_block(line * size);
    int64_t share = most(rows_per_block(t->pitch * size), t->lines / CORES); /* of a core */
    int64_t run = most(least(RUN / line, share), ceil_div(LEAST_BLOCK, line * size));
    run = least(t->cos_rows, most(1, run));
    if (ascgrad_rotary_contiguous_alone(t, 1, size)) {
        share = t->cos_rows;
        run = 1;
    }
    int64_t chunk = steps_of(t, line, run, size);
    t->chunk_rows = (uint32_t)chunk;
    t->chunks_inner = ceil_div(t->inner, chunk);
    int64_t cos_rows = least(t->cos_rows, most(run, least(TILE / line / chunk, share)));
    cos_rows = cos_rows > unit && cos_rows < t->cos_rows ? cos_rows / unit * unit : cos_rows;
    for (; cos_rows > 0; cos_rows -= cos_rows > unit ? unit : 1) {
        if (fill_in(t, size, table, chunk, cos_rows, t->cos_stride)) {
            return true;
        }
    }
    return false;
}

/* Few rows for a row of cos, or little in an outer step: the outer steps are slabs, all rows of a
 * row of cos a group. Returns the steps outside of inner. */
int64_t ascgrad_rotary_contiguous_steps(RotaryGradTiling *t, int64_t outer, int64_t size) {
    int64_t run = t->cos_rows * t->cos_stride * t->pitch;
    bool few = t->inner<rows_per_block(t->pitch * size), little = outer> 1 && run <= RUN;
    if (t->cos_last || t->cos_stride * t->pitch > REACH || !(few || little)) {
        return outer;
    }
    t->cos_last = 1;
    t->inner = outer;
    t->inner_stride = t->outer_stride;
    return 1;
}

/* Rows that do not fill blocks of floats are repeated by words. Beyond short rows that is worth it
 * for many rows of 16-bit pairs, in tiles about as large as the UB has room for. */
static bool worth_repeating(const RotaryGradTiling *t, int64_t size, int64_t table) {
    int64_t elements = t->lines / t->cos_rows * t->slab_stride * t->row;
    if (t->row < TURN) {
        return true;
    }
    if (size == 4 || table == 4 || t->half % 2 != 0 || t->row >= TURN_NARROW ||
        elements < 2 * CORES * TILE) {
        return false;
    }
    int64_t rows = t->inner * t->row;
    int64_t tile = rows > TILE ? rows / ceil_div(rows, TILE) : TILE / rows * rows;
    return t->cos_last || (t->inner >= MANY && tile >= TILE * 3 / 4);
}

bool ascgrad_rotary_contiguous_fits(RotaryGradTiling *t, enum rotary_mode mode, int64_t size,
                                    int64_t table) {
    t->planes = mode == INTERLEAVE_HALF;
    t->reach = mode == INTERLEAVE || mode == INTERLEAVE_HALF ? 1 : (uint32_t)t->half;
    t->pitch = (uint32_t)t->row;
    if (t->dy_row > t->row) {
        t->with_tails = t->dy_row * size % GM_BLOCK == 0 && t->slice * size % GM_BLOCK == 0;
        t->pitch = (uint32_t)round_up(t->row, t->row % 8 == 0 ? 8 : GM_BLOCK / table);
        return t->with_tails && !t->planes && t->dy_row <= ROW;
    }
    return t->row <= ROW;
}

bool ascgrad_rotary_contiguous_usual(const RotaryGradTiling *t, enum rotary_mode mode,
                                     int64_t outer, int64_t size, int64_t table) {
    if (t->dy_row > t->row) {
        return false;
    }
    bool aligned = t->half % 8 == 0, alone = ascgrad_rotary_contiguous_alone(t, outer, size);
    int64_t row = 2 * t->half, brief = SHORT / size; /* 32 elements of 16 bits, 16 of fp32 */
    if (mode == INTERLEAVE) {
        return alone || t->row % 8 != 0 || t->row < brief;
    }
    if (mode == INTERLEAVE_HALF) {
        return alone || row < (aligned ? brief : SHORT);
    }
    if (aligned) { /* wide tables are not widened: without sums, addresses alone are faster */
        return row < brief + 16 && (t->with_x || table == size);
    }
    return alone || t->row % 8 == 0 || worth_repeating(t, size, table);
}

bool ascgrad_rotary_contiguous_cut(RotaryGradTiling *t, int64_t size, int64_t table) {
    if (!(t->cos_last ? cut_runs(t, size, table) : cut_groups(t, size, table))) {
        return false;
    }
    int64_t line = t->cos_stride * t->dy_row * size;
    t->gaps =
        t->cos_last && (t->tile_cos * line % GM_BLOCK != 0 || t->cos_rows * line % GM_BLOCK != 0);
    return true;
}
