/* SPDX-License-Identifier: Apache-2.0
 *
 * How the work of RotaryMulGrad and RotaryPositionEmbeddingGrad is cut up: see
 * op_kernel/rotary_grad_tiling_data.h for what the pieces are. Everything that decides the order of
 * a sum (chunks, segments, levels) is computed for the smallest UB of the supported chips and
 * without looking at the cores: the bits are the same everywhere.
 */
#include "l2.h"
#include "rotary.h"

enum {
    /* entries of the table of a gather */
    TABLE = 1024,
    /* elements of a tile at most; without x nothing is summed and there is more room */
    TILE = 5120,
    TILE_DX = 8192,
    /* below the 255 repeats of a vector call */
    TILE_ROWS = 240,
    /* a longer row is cut into strips */
    ROW = 1536,
    /* columns of a half in a strip */
    STRIP = 512,
    /* elements of neighbouring rows of cos that are worth fetching in one piece */
    RUN = 1024,
    /* bytes of neighbouring rows of cos that must be fetched in one piece */
    RUN_LEAST = 256,
    /* pieces of work that are enough for any number of cores */
    ITEMS = 384,
    /* cores of a usual chip */
    CORES = 48,
    /* elements that a core moves while the cores meet */
    MEETING = 8192,
    /* elements worth starting a core for */
    CORE = 2048,
    /* elements that a core computes in the time that one more core adds to the launch */
    LAUNCH = 300,
    /* bytes in which memory is read at its best */
    GM_LINE = 512,
    /* units of such lines that a core of a usual chip must have: it may get one more than others */
    UNITS = 64,
    /* Percent of the usual way's time that the other one may take to be chosen: what the estimates
     * of rotary_cost.c can be trusted for, less where calls are small. */
    CONTIGUOUS_FASTER = 95,
    GENERAL_FASTER = 80,
    /* The same in the L2 for rows with tails, which gain most in memory; the estimate is high. */
    TAILS_AS_FAST = 105,
};

/* Chunks and tiles for rows of `pitch` elements in the UB; `unit` rows begin and end at 32-byte
 * blocks. */
static void cut(RotaryGradTiling *t, const struct rotary_needs *n, int64_t pitch, int64_t unit,
                int64_t size) {
    int64_t room = (SMALLEST_UB - n->fixed) / pitch; /* bytes per column of the row */
    int64_t limit = most(1, (t->with_x ? TILE : TILE_DX) / pitch);
    int64_t cos_rows = t->strips > 1 ? 1 : t->cos_rows;
    /* Rows of cos side by side: long transfers, but not so many that cores have none. */
    int64_t run = 1;
    if (t->cos_last) {
        int64_t wanted =
            most(least(RUN / pitch, t->lines / CORES), ceil_div(RUN_LEAST, t->row * size));
        run = least(cos_rows, most(1, wanted));
    }
    int64_t rows =
        most(1, least(least(limit, TILE_ROWS) / run, (room / run - n->cosine) / n->tile));
    if ((t->cos_last ? t->inner_stride : 1) * t->dy_row * size > UINT32_MAX) {
        rows = 1; /* a transfer cannot step that far */
    }
    rows = rows > unit ? rows / unit * unit : rows;
    t->chunks_inner = ceil_div(t->inner, rows);
    int64_t chunk = ceil_div(t->inner, t->chunks_inner);
    chunk = rows > unit ? round_up(chunk, unit) : chunk;
    t->chunk_rows = (uint32_t)chunk;
    t->chunks_inner = ceil_div(t->inner, chunk);
    int64_t tile_cos = 1;
    if (t->cos_last || t->chunks_inner == 1) {
        tile_cos = least(least(limit, TILE_ROWS) / chunk, room / (n->tile * chunk + n->cosine));
        tile_cos = most(1, least(tile_cos, cos_rows));
        tile_cos = tile_cos > unit ? tile_cos / unit * unit : tile_cos;
    }
    /* Tiles that share one load of cos and sin. */
    int64_t tiles = 1;
    if (!t->cos_last && cos_rows > 1) {
        tiles =
            least((room / tile_cos - n->tile * chunk) / n->cosine, most(1, ROTARY_FAN / tile_cos));
        tiles = most(1, least(tiles, chunk));
    }
    t->tile_cos = (uint32_t)tile_cos;
    t->band_tiles = (uint32_t)tiles;
    t->tile = (uint32_t)most(ROTARY_LEAST_TILE, round_up(tile_cos * chunk * pitch, 32));
    t->cosines = (uint32_t)(tiles * tile_cos * pitch);
}

/* Rows that begin and end at 32-byte blocks, of dx and of dcos. */
static int64_t block_rows(const RotaryGradTiling *t, int64_t rows, int64_t size) {
    return most(rows_per_block(rows * t->dy_row * size), rows_per_block(rows * t->row * size));
}

/* Lines that stay on one core: `unit`, unless the rows of cos of every inner or outer step begin
 * inside blocks. Then all of a slab stay together. */
static int64_t whole_rows(const RotaryGradTiling *t, int64_t outer, int64_t size, int64_t unit) {
    int64_t steps = t->cos_last ? t->inner : outer, run = t->cos_rows * t->cos_stride * t->dy_row;
    if (t->apart || steps == 1 || run * size % GM_BLOCK == 0) {
        return unit;
    }
    return t->cos_rows * t->strips * block_rows(t, t->cos_rows, size);
}

bool ascgrad_rotary_splits_at_blocks(const RotaryGradTiling *t, int64_t outer, int64_t size) {
    int64_t row = t->dy_row * size, run = t->cos_rows * t->cos_stride * row;
    bool chunks = t->chunk_rows * t->inner_stride * row % 32 == 0;
    bool rows = t->cos_last ? t->lines == t->cos_rows * t->strips || t->slab_stride * row % 32 == 0
                            : t->cos_rows == 1 || t->cos_stride * row % 32 == 0;
    bool steps = t->cos_last || outer == 1 || run % 32 == 0;
    return chunks && rows && steps;
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
    int64_t items = ceil_div(t->lines, t->tile_cos);
    if (items >= ITEMS) {
        return 1;
    }
    int64_t chunks = least(t->chunks, 1 << 28), chunk = t->chunk_rows * pitch; /* of a line */
    int64_t tiles = ceil_div(ceil_div(t->lines, CORES), t->tile_cos);
    int64_t best = 1,
            time = most(spread(t->lines) * chunks * chunk / CORES, chunks * tiles * TILE / 2);
    for (int64_t target = CORES; target <= ITEMS; target += target) {
        int64_t segments = least(ceil_div(target, items), t->chunks);
        int64_t piece = ceil_div(chunks, segments) * chunk * t->tile_cos;
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
static int64_t lay_out(RotaryGradTiling *t, const struct rotary_work *work) {
    enum rotary_mode mode = work->mode;
    struct rotary_axes a = work->axes;
    int64_t d = work->row, size = work->size;
    bool tails = work->dy_row > d;
    t->row = d;
    t->half = mode == QUARTER ? d / 4 : d / 2;
    t->rotations = mode == QUARTER ? 2 : 1;
    int64_t slab = a.r0 * a.k1 * t->rotations * 2 * round_up(t->half, 32 / size);
    if (a.r1 == 1 && a.k0 > 1 && mode != INTERLEAVE_HALF && slab <= TILE / 2 && !tails) {
        /* K R K with little in a slab: the last rows of cos may as well be one, then a tile takes
         * several slabs. */
        t->row *= a.k1;
        t->half *= mode == INTERLEAVE ? a.k1 : 1;
        t->rotations *= mode == INTERLEAVE ? 1 : (uint32_t)a.k1;
        a = (struct rotary_axes){.k0 = 1, .r0 = 1, .k1 = a.k0, .r1 = a.r0};
    }
    t->cos_last = a.r1 == 1;
    t->cos_rows = a.k1;
    if (t->rotations == 2 && t->cos_last && !tails) { /* they may as well be two rows */
        t->cos_rows *= 2;
        t->row /= 2;
        t->rotations = 1;
    }
    t->dy_row = tails ? work->dy_row : t->row;
    t->slice = work->slice;
    t->inner = t->cos_last ? a.r0 : a.r1;
    t->cos_stride = a.r1;
    t->inner_stride = t->cos_last ? t->cos_rows : 1;
    t->outer_stride = t->cos_rows * a.r1;
    t->slab_stride = a.r0 * t->cos_rows * a.r1;
    t->lines = a.k0 * t->cos_rows;
    return t->cos_last ? 1 : a.r0;
}

/* What a row looks like in the UB: whether it is in strips, and how the kernel finds partners in
 * it. Returns the kernel's mode. */
static uint32_t shape_row(RotaryGradTiling *t, enum rotary_mode attribute, int64_t size,
                          int64_t table) {
    int64_t block = GM_BLOCK / size; /* elements */
    t->strips_half = 1;
    t->strips = 1;
    t->width = (uint32_t)least(t->half, ROW);
    if (t->rotations * 2 * round_up(t->half, block) > ROW) {
        t->strips_half = ceil_div(t->half, STRIP);
        t->width = (uint32_t)round_up(ceil_div(t->half, t->strips_half), 64);
        t->strips_half = ceil_div(t->half, t->width);
        t->strips = t->strips_half * t->rotations;
        t->rotations = 1;
    }
    bool whole = t->strips == 1, aligned = t->half % 8 == 0;
    if (t->dy_row > t->row) { /* flat is only what has its tails beside it */
        bool blocks = t->row * size % 32 == 0 && t->dy_row * size % 32 == 0 &&
                      t->slice * size % 32 == 0 && t->dy_row <= ROW;
        t->with_tails =
            whole && blocks && attribute != INTERLEAVE_HALF && (aligned || attribute == INTERLEAVE);
        whole = t->with_tails;
    }
    if (attribute == INTERLEAVE) {
        t->flat = whole && t->row % 8 == 0;
        t->table = table == 4 ? TABLE : 0;
        return ROTARY_PAIRS;
    }
    if (attribute == INTERLEAVE_HALF) {
        t->flat = whole && aligned;
        t->table = size == 4 ? TABLE : 0;
        return ROTARY_PLANES;
    }
    t->flat = whole && aligned;
    t->table = 0;
    return ROTARY_HALVES;
}

/* Chunks, tiles and segments, and as many levels of sums as they take. False: the contiguous path
 * has no room. */
static bool cut_up(RotaryGradTiling *t, uint32_t mode, int64_t outer, int64_t pitch, int64_t size,
                   int64_t table) {
    bool contiguous = mode == ROTARY_CONTIGUOUS;
    int64_t unit = block_rows(t, 1, size);
    bool summed = t->inner > 1 || outer > 1 || t->cos_stride > 1;
    for (t->levels = summed && t->with_x;; t->levels++) {
        for (t->partial = 0;; t->partial = 1) {
            if (contiguous && !ascgrad_rotary_contiguous_cut(t, size, table)) {
                return false;
            }
            if (!contiguous) {
                struct rotary_needs n = ascgrad_rotary_needs(t, mode, size, table);
                cut(t, &n, pitch, unit, size);
            }
            t->chunks = outer * t->chunks_inner;
            bool may = t->apart ? t->with_x : ascgrad_rotary_splits_at_blocks(t, outer, size);
            bool alone = contiguous && !t->apart && ascgrad_rotary_contiguous_alone(t, outer, size);
            t->segments = !may    ? 1
                          : alone ? ascgrad_rotary_contiguous_segments(t)
                                  : segments_of(t, pitch);
            if (t->partial || !t->with_x || t->segments == 1) {
                break;
            }
        }
        int64_t reach = 1;
        for (uint32_t i = 0; i < t->levels; i++) {
            reach *= ROTARY_FAN;
        }
        if (t->levels == 0 || ceil_div(t->chunks, t->segments) <= reach) {
            break;
        }
    }
    t->partial = t->with_x && t->segments > 1;
    return true;
}

/* What stays on one core. */
static void choose_units(RotaryGradTiling *t, int64_t outer, int64_t size) {
    int64_t unit = block_rows(t, 1, size);
    bool blocks = t->half * size % GM_BLOCK == 0 && t->slice * size % GM_BLOCK == 0 &&
                  t->dy_row * size % GM_BLOCK == 0;
    t->join_unit = t->strips == 1 ? unit : blocks ? 1 : unit * t->strips;
    t->unit = whole_rows(t, outer, size, t->join_unit);
    t->unit = t->segments > 1 ? round_up(t->tile_cos, t->unit) : t->unit;
}

/* Cores and tiles that begin at lines of memory, if that leaves the shares even. */
static void align_units(RotaryGradTiling *t, int64_t size) {
    int64_t align = 1, line = t->cos_stride * t->dy_row * size;
    while (align * line % GM_LINE != 0) {
        align *= 2;
    }
    if (t->segments == 1 && t->strips == 1 && align > t->unit && align % t->unit == 0 &&
        2 * align <= t->tile_cos && t->lines >= align * CORES * UNITS) {
        t->unit = t->align = (uint32_t)align;
        int64_t pitch = t->cosines / t->tile_cos; /* of all tiles of a band */
        t->tile_cos = (uint32_t)(t->tile_cos / align * align);
        t->cosines = (uint32_t)(t->tile_cos * pitch);
    }
}

/* As many cores as give the least time, the launch included; `pieces` are equal. */
static int64_t worth_starting(int64_t pieces, int64_t elements, const struct ascgrad_chip *chip) {
    int64_t piece = ceil_div(elements, most(1, pieces)), each = ceil_div(pieces, chip->cores);
    int64_t cores = ceil_div(pieces, most(1, each)), time = each * piece + LAUNCH * cores;
    for (;;) {
        int64_t fewer = ceil_div(pieces, ++each), longer = each * piece + LAUNCH * fewer;
        if (longer >= time || chip->arch == ASCGRAD_ARCH_950) { /* whose launch takes one time */
            return cores;
        }
        time = longer;
        cores = fewer;
    }
}

/* The cores that a plan starts on this chip. */
static int64_t cores_of(const struct rotary_work *work, const RotaryGradTiling *t,
                        const struct ascgrad_chip *chip) {
    int64_t pieces = ceil_div(t->lines, t->unit) * t->segments;
    if (t->apart) {
        int64_t line = t->cos_last ? t->cos_stride : 1;
        int64_t lines = t->across ? t->lines : t->lines / t->cos_rows * t->slab_stride / line;
        pieces = ceil_div(lines, t->apart);
    }
    pieces = least(pieces, ceil_div(work->elements, CORE));
    return worth_starting(pieces, work->elements, chip);
}

/* What a plan takes on a usual chip. */
static struct rotary_cost cost_of(const struct rotary_work *work, const RotaryGradTiling *t,
                                  uint32_t mode) {
    const struct ascgrad_chip usual = {.cores = CORES, .arch = ASCGRAD_ARCH_A2};
    return ascgrad_rotary_cost(t, mode, work->size, work->table, cores_of(work, t, &usual));
}

/* The contiguous path, for t->apart or not. False: it has no room. */
static bool plan_shares(const struct rotary_work *work, int64_t outer, RotaryGradTiling *t) {
    int64_t size = work->size;
    if (!cut_up(t, ROTARY_CONTIGUOUS, outer, t->dy_row, size, work->table)) {
        return false;
    }
    t->plane = round_up(t->lines * t->pitch, 8);
    choose_units(t, outer, size);
    t->join_unit = ascgrad_rotary_contiguous_join(t, rows_per_block(t->row * size));
    return true;
}

/* The contiguous path. False: it is not for this call. */
static bool plan_contiguous(const struct rotary_work *work, int64_t outer, RotaryGradTiling *t) {
    int64_t size = work->size;
    if (!ascgrad_rotary_contiguous_fits(t, work->mode, size, work->table)) {
        return false;
    }
    outer = ascgrad_rotary_contiguous_steps(t, outer, size);
    t->strips = t->strips_half = 1;
    t->width = (uint32_t)t->half;
    t->sum_row = (uint32_t)t->row;
    RotaryGradTiling u = *t;
    if (!plan_shares(work, outer, t)) {
        return false;
    }
    /* Where cores cannot take what is summed together, and still begin at blocks. */
    if (ascgrad_rotary_contiguous_alone(t, outer, size) ||
        !ascgrad_rotary_splits_at_blocks(t, outer, size)) {
        int64_t line = t->cos_last ? t->cos_stride : 1;
        u.apart = rows_per_block(line * t->dy_row * size);
        bool fits = plan_shares(work, outer, &u);
        u.across = t->cos_last && t->lines == t->cos_rows && t->cos_rows > u.tile_cos &&
                   u.apart * t->inner_stride * t->dy_row * size <= UINT32_MAX;
        if (fits && cost_of(work, &u, ROTARY_CONTIGUOUS).memory <
                        cost_of(work, t, ROTARY_CONTIGUOUS).memory) {
            *t = u;
        }
    }
    return true;
}

/* The general path. Returns the kernel's mode. */
static uint32_t plan_general(const struct rotary_work *work, int64_t outer, RotaryGradTiling *t) {
    int64_t size = work->size, block = GM_BLOCK / size;
    uint32_t mode = shape_row(t, work->mode, size, work->table);
    int64_t pitch = t->rotations * 2 * (t->flat ? t->half : round_up(t->width, block));
    if (mode == ROTARY_PAIRS && !t->flat) {
        pitch = round_up(2 * t->width, block);
    }
    t->sum_row = (uint32_t)pitch;
    pitch = t->with_tails ? t->dy_row : pitch;
    t->lines *= t->strips;
    /* runs of rows begin at blocks */
    cut_up(t, mode, outer, round_up(pitch, block), size, work->table);
    choose_units(t, outer, size);
    align_units(t, size);
    return mode;
}

/* Whether one plan takes less than so many percent of another's time, of data in memory and in the
 * L2 cache. */
static bool is_faster(struct rotary_cost a, struct rotary_cost b, int64_t memory, int64_t cache) {
    return 100 * a.memory < memory * b.memory && 100 * a.cache < cache * b.cache;
}

/* Whether the order of sums is that of the first 910, which has the general path only: its page
 * promises the bits of the other chips for such rows. */
static bool shares_order(const struct rotary_work *work) {
    return work->mode == HALF && work->row >= 64 && work->row % 16 == 0 &&
           work->dy_row == work->row;
}

/* Everything but zeros and the UB. Returns the kernel's mode. */
static uint32_t plan(const struct rotary_work *work, RotaryGradTiling *t) {
    int64_t outer = lay_out(t, work);
    RotaryGradTiling u = *t;
    bool may = work->path != GENERAL && plan_contiguous(work, outer, &u);
    bool usual = ascgrad_rotary_contiguous_usual(t, work->mode, outer, work->size, work->table);
    uint32_t mode = plan_general(work, outer, t);
    if (may && work->path == CHOSEN) {
        struct rotary_cost here = cost_of(work, t, mode);
        struct rotary_cost there = cost_of(work, &u, ROTARY_CONTIGUOUS);
        int64_t cache = u.with_tails ? TAILS_AS_FAST : CONTIGUOUS_FASTER;
        may = usual ? !is_faster(here, there, GENERAL_FASTER, GENERAL_FASTER)
                    : !shares_order(work) && is_faster(there, here, CONTIGUOUS_FASTER, cache);
    }
    if (may) {
        *t = u;
        return ROTARY_CONTIGUOUS;
    }
    return mode;
}

void ascgrad_rotary_plan(const struct rotary_work *work, const struct ascgrad_chip *chip,
                         RotaryGradTiling *t, struct ascgrad_launch *launch) {
    *t = (RotaryGradTiling){
        .tile = ROTARY_LEAST_TILE, .strips = 1, .unit = 1, .segments = 1, .align = 1};
    int64_t pieces = 1;
    uint32_t mode = ROTARY_HALVES;
    if (work->elements > 0) {
        t->with_x = work->with_x;
        mode = plan(work, t);
        pieces = cores_of(work, t, chip);
        t->stream = work->elements * work->size * (1 + work->with_x) > kept_in_l2(chip);
    }
    t->zeros = work->zeros;
    pieces = most(pieces, ceil_div(t->zeros, 4 * CORE));
    bool contiguous = mode == ROTARY_CONTIGUOUS;
    if (!contiguous) {
        ascgrad_rotary_lay_out(t, mode, work->size, work->table);
    }
    bool meet = t->partial || (t->apart && t->with_x);
    launch->key = mode + (meet ? ROTARY_JOIN : 0);
    launch->block_dim = (uint32_t)most(1, least(pieces, chip->cores));
    launch->sync_all = meet;
    int64_t plane = contiguous ? t->plane : t->lines * t->sum_row;
    /* the cores do not meet without a workspace */
    launch->workspace = t->partial ? (uint64_t)(t->segments * 2 * plane * 4) : meet * GM_BLOCK;
    if (mode == ROTARY_PLANES && t->strips > 1) { /* for dy, where dx takes its place */
        launch->workspace += (uint64_t)(work->elements * work->size);
    }
}
