/* SPDX-License-Identifier: Apache-2.0
 *
 * What a plan of RotaryMulGrad and RotaryPositionEmbeddingGrad must be.
 */
#include "../../op_kernel/rotary_grad_tiling_data.h"
#include "property.h"

ascgrad_tile_fn ascgrad_tile_rotary_mul_grad;

static void draw_shapes(struct trial *t, int64_t *dy, int64_t *cos, uint32_t *rank) {
    *rank = 1 + (uint32_t)draw(t, chance(t, 5) ? 24 : 4);
    bool kept = chance(t, 50);
    for (uint32_t i = 0; i + 1 < *rank; i++) {
        if (chance(t, 50)) kept = !kept;
        dy[i] = draw_size(t);
        cos[i] = kept ? dy[i] : 1;
    }
    dy[*rank - 1] = cos[*rank - 1] = draw_width(t);
    if (chance(t, 30) && dy[*rank - 1] > 4) { /* partial */
        cos[*rank - 1] = 2 * (1 + (int64_t)draw(t, (uint64_t)dy[*rank - 1] / 2));
        if (chance(t, 50)) cos[*rank - 1] = up(cos[*rank - 1], 32);
    }
}

/* dy and x have one shape, so the two operators differ only in which of them comes first. */
static void draw_inputs(struct trial *t, int32_t dtype, bool fourth) {
    int64_t dy[ASCGRAD_MAX_RANK], cos[ASCGRAD_MAX_RANK];
    uint32_t rank;
    draw_shapes(t, dy, cos, &rank);
    set_input(t, 0, dtype, rank, dy);
    set_input(t, 1, dtype, rank, cos);
    set_input(t, 2, dtype, rank, cos);
    if (fourth) set_input(t, 3, dtype, rank, dy);
}

static void make_mul(struct trial *t, int32_t dtype) {
    draw_inputs(t, dtype, true);
    t->node.attr[0].i = chance(t, 75);
}

static void make_embedding(struct trial *t, int32_t dtype) {
    draw_inputs(t, dtype, chance(t, 75));
    t->node.attr[0].i = (int64_t)draw(t, 4);
    const struct ascgrad_shape *dy = &t->in[0], *cos = &t->in[1];
    int64_t rest = dy->dim[dy->rank - 1] - cos->dim[cos->rank - 1];
    if (rest > 0 && chance(t, 60)) {
        int64_t block = chance(t, 50) ? 16 : 1;
        t->node.attr[1].i = (int64_t)draw(t, (uint64_t)rest + 1) / block * block;
    }
}

/* What lies in the UB has room and does not overlap. */
static const char *judge_buffers(const RotaryGradTiling *d, int64_t es, int64_t table,
                                 uint64_t mode) {
    bool wide = es == 4, swapped = mode == ROTARY_PAIRS;
    bool planes = mode == ROTARY_PLANES;
    int64_t tile = d->tile, cosines = d->cosines;
    NEED(d->swap_at >= (wide ? 0 : tile));
    NEED(d->x_at >= d->swap_at + (swapped ? tile : 0));
    NEED(d->dx_at >= d->x_at + (d->with_x && (!wide || planes) ? tile : 0));
    NEED(d->other_at >= d->dx_at + (!wide || planes || d->with_x ? tile : 0));
    NEED(d->cosines_at >= d->other_at + tile);
    NEED(d->sums_at >= d->cosines_at + (table == 4 ? swapped : 2) * cosines);
    NEED(d->table_at >= d->sums_at + (int64_t)d->levels * 2 * cosines);
    NEED(d->work_bytes >= 4 * (d->table_at + d->table));
    NEED(d->tile_bytes >= tile * es && d->cos_bytes >= 2 * cosines * table);
    NEED(!d->with_x || d->sum_bytes >= cosines * (d->partial ? 4 : table));
    /* all of that, shifts by 256 bytes between operands, and nothing else */
    int64_t tiles =
        !wide + swapped + (d->with_x && (!wide || planes)) + (!wide || planes || d->with_x) + 1;
    int64_t cosine = (table == 4 ? swapped : 2) + 2 * (int64_t)d->levels;
    int64_t floats = tiles * tile + cosine * cosines + d->table;
    NEED(d->work_bytes <= 4 * (floats + 4 * 64) + 512);
    return NULL;
}

/* Every row of dy in exactly one (slab, key, outer, inner), every column in exactly one strip. */
static const char *judge_cover(const RotaryGradTiling *d, wide_int elements, int64_t last,
                               int64_t dy_last) {
    bool tails = dy_last > last;
    NEED(d->strips >= 1 && d->strips_half >= 1 && d->lines >= 1 && d->lines % d->strips == 0);
    NEED(d->width >= 1 && (wide_int)d->strips_half * d->width >= d->half);
    NEED((wide_int)(d->strips_half - 1) * d->width < d->half);
    int64_t groups = d->strips > 1 ? d->strips / d->strips_half : d->rotations;
    NEED(d->strips == 1 || (d->rotations == 1 && d->strips == groups * d->strips_half));
    NEED((wide_int)groups * 2 * d->half == d->row && (last % d->row == 0 || d->row % last == 0));
    NEED(d->dy_row == (tails ? dy_last : d->row) && (!tails || d->row == last));
    NEED(d->slice >= 0 && d->slice <= d->dy_row - d->row);
    NEED(d->chunk_rows >= 1 && d->chunks_inner >= 1 && d->chunks >= 1 &&
         d->chunks % d->chunks_inner == 0);
    NEED((wide_int)d->chunks_inner * d->chunk_rows >= d->inner);
    NEED((wide_int)(d->chunks_inner - 1) * d->chunk_rows < d->inner);
    wide_int outer = d->chunks / d->chunks_inner;
    wide_int group = d->cos_last && d->group > 1 ? d->group : 1; /* rows with one row of cos */
    NEED((wide_int)(d->lines / d->strips) * outer * d->inner * group * d->dy_row == elements);
    NEED(d->cos_rows >= 1 && d->lines / d->strips % d->cos_rows == 0);
    NEED(d->segments >= 1 && d->segments <= d->chunks);
    return NULL;
}

/* The element of cos that belongs to element `at` of dy. */
static int64_t broadcast(const struct ascgrad_shape *dy, const struct ascgrad_shape *cos,
                         int64_t at) {
    int64_t result = 0, step = 1;
    for (uint64_t i = dy->rank; i-- > 0;) { /* within the columns that cos has */
        if (cos->dim[i] != 1) result += at % dy->dim[i] * step;
        step *= cos->dim[i];
        at /= dy->dim[i];
    }
    return result;
}

/* Small shapes: the strides reach every row of dy once, each with its own row of cos. */
static const char *judge_strides(const RotaryGradTiling *d, const struct ascgrad_shape *dy,
                                 const struct ascgrad_shape *cos) {
    enum { MOST = 2000 };
    static unsigned char seen[MOST];
    int64_t lines = d->lines / d->strips, outers = d->chunks / d->chunks_inner;
    int64_t group = d->cos_last && d->group > 1 ? d->group : 1; /* rows with one row of cos */
    wide_int rows = (wide_int)lines * outers * d->inner * group;
    if (rows > MOST) return NULL;
    memset(seen, 0, sizeof seen);
    for (int64_t line = 0; line < lines; line++) {
        int64_t slab = line / d->cos_rows, key = line % d->cos_rows;
        for (int64_t i = 0; i < outers * d->inner * group; i++) {
            int64_t outer = i / group / d->inner, inner = i / group % d->inner;
            int64_t at = slab * d->slab_stride + outer * d->outer_stride + key * d->cos_stride +
                         inner * d->inner_stride + i % group;
            NEED(at >= 0 && at < rows && !seen[at]);
            seen[at] = 1;
            NEED(broadcast(dy, cos, at * d->dy_row) == line * d->row);
            NEED(broadcast(dy, cos, at * d->dy_row + d->row - 1) == line * d->row + d->row - 1);
        }
    }
    return NULL;
}

/* The piece of work that has a row of dy: the kernel's order of lines and chunks. */
static int64_t item_of(const RotaryGradTiling *d, int64_t row) {
    int64_t slab = row / d->slab_stride, rest = row % d->slab_stride;
    int64_t outer = d->cos_last ? 0 : rest / d->outer_stride;
    rest -= outer * d->outer_stride;
    int64_t key = d->cos_last ? rest % d->inner_stride / d->cos_stride : rest / d->cos_stride;
    int64_t inner = d->cos_last ? rest / d->inner_stride : rest % d->cos_stride;
    int64_t chunk = outer * d->chunks_inner + inner / d->chunk_rows, segment = 0;
    while (d->chunks * (segment + 1) / d->segments <= chunk)
        segment++;
    return (slab * d->cos_rows + key) * d->strips / d->unit * d->segments + segment;
}

/* Small shapes: neighbouring rows that meet inside a 32-byte block are one piece of work, unless dx
 * is made apart: then rows are shared out at blocks. */
static const char *judge_seams(const RotaryGradTiling *d, int64_t es) {
    enum { MOST = 2000 };
    int64_t rows = d->lines / d->strips / d->cos_rows * d->slab_stride;
    if (d->dy_row * es % 32) NEED(d->unit % d->strips == 0); /* rows are whole */
    if (d->apart) {
        NEED(d->apart * (d->cos_last ? d->cos_stride : 1) * d->dy_row * es % 32 == 0);
        return NULL;
    }
    if (rows > MOST) return NULL;
    for (int64_t row = 1; row < rows; row++) {
        int64_t shared = row * d->dy_row * es % 32;
        NEED(shared == 0 || item_of(d, row) == item_of(d, row - 1));
    }
    return NULL;
}

static const char *judge_limits(const RotaryGradTiling *d, int64_t es) {
    NEED(d->tile_cos >= 1 && d->band_tiles >= 1 && d->cosines % (d->tile_cos * d->band_tiles) == 0);
    int64_t pitch = d->cosines / (d->tile_cos * d->band_tiles);
    NEED((wide_int)d->tile_cos * d->chunk_rows * pitch <= d->tile);
    NEED((int64_t)d->tile_cos * d->chunk_rows * d->rotations <= 4095); /* blocks of a copy */
    NEED(d->strips == 1 || (d->tile_cos == 1 && d->band_tiles == 1));
    NEED(d->cos_last || d->tile_cos == 1 || d->chunks_inner == 1);
    NEED(pitch / 8 <= 255); /* repeat strides */
    NEED(pitch >= 2 * (int64_t)d->rotations * d->width && pitch >= d->sum_row &&
         d->sum_row >= 2 * d->rotations * d->width);
    NEED(pitch * es % 32 == 0);
    if (d->chunk_rows > 1)
        NEED((wide_int)(d->cos_last ? d->inner_stride : 1) * d->dy_row * es <= UINT32_MAX);
    wide_int reach = 1;
    for (uint32_t i = 0; i < d->levels; i++)
        reach *= ROTARY_FAN;
    if (d->with_x && d->levels) NEED(reach >= (d->chunks + d->segments - 1) / d->segments);
    if (d->with_x && (d->inner > 1 || d->chunks > 1)) NEED(d->levels >= 1);
    /* Whole blocks of dcos for every core, except in the last one. */
    NEED(d->join_unit >= 1 && d->unit >= 1);
    NEED(d->unit % d->join_unit == 0 && !d->apart);
    /* every strip is whole blocks */
    bool alone = d->strips > 1 && d->half * es % 32 == 0 && d->slice * es % 32 == 0 &&
                 d->dy_row * es % 32 == 0;
    NEED(alone || d->join_unit % d->strips == 0);
    NEED(alone || (wide_int)(d->join_unit / d->strips) * d->row * es % 32 == 0);
    NEED(!d->flat || (d->strips == 1 && d->sum_row == d->row));
    NEED(d->dy_row == d->row ? !d->with_tails : d->with_tails == d->flat);
    if (d->with_tails) {
        NEED(d->row * es % 32 == 0 && d->slice * es % 32 == 0 && d->dy_row * es % 32 == 0 &&
             pitch >= d->dy_row);
        NEED(d->dy_row / 8 <= 255 && (int64_t)d->tile_cos * d->chunk_rows <= 255);
    }
    return NULL;
}

/* Parts of the UB and buffers begin at blocks. */
static const char *judge_blocks(const RotaryGradTiling *d) {
    const uint32_t bytes[] = {d->tile_bytes, d->cos_bytes,  d->sum_bytes,
                              d->x_bytes,    d->work_bytes, d->shift_bytes};
    const uint32_t floats[] = {d->swap_at,   d->x_at,     d->dx_at,     d->other_at, d->cosines_at,
                               d->sums_at,   d->table_at, d->signs_at,  d->rows_at,  d->coarse_at,
                               d->blocks_at, d->coef_at,  d->spread_at, d->pack_at,  d->pair_at,
                               d->halve_at,  d->wide_at};
    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++)
        NEED(bytes[i] % 32 == 0);
    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++)
        NEED(floats[i] % 8 == 0);
    return NULL;
}

/* Where rows and slabs begin in memory, as the kernel is told. */
static const char *judge_places(const RotaryGradTiling *d, int64_t es, bool contiguous) {
    wide_int line = (wide_int)d->cos_stride * d->dy_row * es;
    NEED(d->align >= 1);
    NEED(d->align == 1 ||
         (d->align * line % 512 == 0 && d->unit % d->align == 0 && d->tile_cos % d->align == 0));
    bool blocks = d->tile_cos * line % 32 == 0 && d->cos_rows * line % 32 == 0;
    NEED(!contiguous || d->gaps == (d->cos_last && !blocks));
    return NULL;
}

/* What decides the order of the sums is the same on all chips. */
static bool same_order(const RotaryGradTiling *a, const RotaryGradTiling *b) {
    return a->cos_last == b->cos_last && a->inner == b->inner && a->levels == b->levels &&
           (!a->with_x || (a->chunk_rows == b->chunk_rows && a->chunks == b->chunks &&
                           a->chunks_inner == b->chunks_inner && a->segments == b->segments));
}

static const char *judge_buffers_910(const RotaryGradTiling *d, int64_t es) {
    bool wide = es == 4;
    int64_t tile = d->tile, cosines = d->cosines, gap = 128; /* operands in other banks */
    int64_t turned = d->table > tile ? d->table : tile;
    NEED(d->swap_at >= (wide ? 0 : tile) && d->x_at >= d->swap_at + turned);
    NEED(d->dx_at >= d->x_at + (wide ? 0 : tile));
    NEED(d->cosines_at >= d->dx_at + (d->with_x ? 2 * tile + gap : 0));
    NEED(d->sums_at >= d->cosines_at + (wide ? 1 : 3) * cosines);
    NEED(d->work_bytes > 4 * (d->sums_at + 2 * (int64_t)d->levels * cosines));
    NEED(d->tile_bytes >= (2 * tile + 64) * es && d->cos_bytes >= (2 * cosines + 64) * es);
    NEED(d->shift_bytes >= turned * es && d->sum_bytes >= 2 * cosines * (d->partial ? 4 : es));
    NEED((int64_t)d->ub_bytes ==
         d->work_bytes + (d->with_x ? d->sum_bytes : 0) +
             (wide ? 2 : 1) * ((int64_t)d->tile_bytes + d->cos_bytes + d->shift_bytes));
    /* partial sums are fetched into the tile's buffer, ROTARY_FOLD at once */
    NEED(!d->partial || d->tile_bytes / 4 / ROTARY_FOLD >= 8);
    return NULL;
}

/* Halves with gaps behind them in the UB, and what stays on one core. */
static const char *judge_gaps(const RotaryGradTiling *d, const struct ascgrad_launch *launch,
                              int64_t es) {
    int64_t rows = d->unit / d->strips, outer = d->chunks / d->chunks_inner;
    int64_t run = d->cos_rows * d->cos_stride * d->row * es;
    NEED((d->gaps > 0) == ((d->strips > 1 ? 1 : 2) * d->half * es % 32 != 0));
    if (d->gaps == 0) {
        NEED(d->unit == 1 && (d->strips > 1 || d->width == d->half));
        return NULL;
    }
    NEED(d->width * es % 32 == 0 && !d->flat && (d->strips > 1 || d->width >= d->half));
    NEED((d->half - (d->strips_half - 1) * d->width) * es >= (d->gaps == 2 ? 1 : 32));
    NEED(d->gaps == 1 || (d->gaps == 2 && d->strips == 1 && 2 * d->half * es >= 32));
    NEED(d->table >= 16 * (d->gaps == 2 ? 2 * d->width * es : 64) / 4); /* 16 pieces, as words */
    NEED(d->unit % d->strips == 0 && rows * d->row * es % 32 == 0);
    NEED((d->cos_last ? d->inner : outer) == 1 || run % 32 == 0 || rows % d->cos_rows == 0);
    int64_t units = d->lines < d->unit ? 1 : d->lines / d->unit;
    NEED(d->zeros > 0 || launch->block_dim <= units * (d->with_x ? 1 : d->segments));
    NEED(d->with_x || d->segments == 1 || d->chunk_rows * d->inner_stride * d->row * es % 32 == 0);
    return NULL;
}

/* The first generation of the 910. */
static const char *judge_first(const struct trial *t, const struct ascgrad_launch *launch,
                               const RotaryGradTiling *d, bool with_x) {
    const struct ascgrad_shape *dy = t->node.in[3].shape, *cos = t->node.in[1].shape;
    int64_t es = (int64_t)ascgrad_dtype_size(t->node.in[3].dtype), d_row = dy->dim[dy->rank - 1];
    int64_t elements = ascgrad_elements(dy, 0, dy->rank);
    NEED(launch->key == ROTARY_FIRST && !launch->sync_all && d->ub_bytes <= t->chip.ub);
    NEED(t->node.in[3].dtype != ASCGRAD_BF16 && d_row * es >= 32);
    NEED(cos->dim[dy->rank - 1] == d_row); /* all of a row is rotated */
    NEED(d->zeros == (with_x && elements ? 0 : ascgrad_elements(cos, 0, cos->rank)));
    const char *wrong = judge_buffers_910(d, es);
    if (wrong || elements == 0) return wrong ? wrong : d->lines == 0 ? NULL : "lines == 0";
    wrong = judge_cover(d, elements, d_row, d_row);
    if (!wrong) wrong = judge_strides(d, dy, cos);
    if (!wrong) wrong = judge_gaps(d, launch, es);
    if (wrong) return wrong;
    NEED(d->with_x == with_x && d->partial == (with_x && d->segments > 1));
    NEED(d->sum_row == 2 * d->rotations * d->width && d->sum_row / 8 <= 255);
    NEED(d->strips == 1 || (d->strips == d->strips_half && d->width * es % 32 == 0));
    NEED((wide_int)d->tile_cos * d->chunk_rows * d->sum_row <= d->tile);
    NEED((wide_int)d->band_tiles * d->tile_cos * d->sum_row <= d->cosines);
    NEED(d->strips == 1 || d->band_tiles * d->tile_cos == 1);
    NEED(d->cos_last || d->tile_cos == 1 || d->chunks_inner == 1);
    NEED(d->table == 0 ? d->half % 8 == 0 : d->table >= 2 * 16 * 8); /* two places to turn */
    NEED(!d->flat || (d->strips == 1 && d->chunk_rows <= 16));
    wide_int need = d->partial ? (wide_int)d->segments * 2 * d->lines * d->sum_row * 4 : 0;
    NEED((wide_int)launch->workspace == need);
    static unsigned char data[sizeof(RotaryGradTiling)];
    struct ascgrad_launch a2 = {.data = data, .capacity = sizeof data};
    struct ascgrad_error error;
    const struct ascgrad_chip chip = {48, 2201, 196352, 0};
    RotaryGradTiling other;
    if (ascgrad_tile_rotary_mul_grad(&t->node, &chip, &a2, &error) != ASCGRAD_DONE)
        return strstr(error.text, "bytes of UB") ? NULL : "a call that A2 takes, too";
    memcpy(&other, data, sizeof other);
    NEED(a2.key % ROTARY_JOIN == ROTARY_CONTIGUOUS || same_order(d, &other));
    return NULL;
}

/* The contiguous path: rows of a tile. */
static int64_t tile_rows(const RotaryGradTiling *d) {
    int64_t rows = d->chunk_rows, group = d->group;
    return d->tile_cos * group * (d->cos_last ? rows : (rows + group - 1) / group);
}

/* What lies in the UB has room, in the order of op_tiling/rotary_contiguous.c. */
static const char *judge_contiguous_buffers(const RotaryGradTiling *d, int64_t es, int64_t table) {
    bool wide = es == 4, tails = d->with_tails, spread = d->group > d->fill;
    int64_t tile = d->tile, slab = d->cosines, sums = d->sums,
            each = (int64_t)d->tile_cos * d->fill * d->pitch, repeats = (each + 63) / 64 * 64;
    NEED(d->swap_at >= (wide && !tails ? 0 : tile) && d->x_at >= d->swap_at + tile);
    NEED(d->x_at >= d->swap_at + 2 * d->fill * sums);
    NEED(d->dx_at >= d->x_at + (!wide && d->with_x ? tile : 0));
    NEED(d->cosines_at >= d->dx_at + tile && d->cosines_at >= d->dx_at + 2 * d->fill * sums);
    NEED(d->other_at >= d->cosines_at + slab && d->rows_at >= d->other_at + slab);
    NEED(slab >= repeats && (!spread || d->rows_floats >= repeats));
    NEED(d->signs_at >= d->rows_at + (spread ? 2 * d->rows_floats : 0));
    NEED(d->sums_at >= d->signs_at + repeats);
    NEED(d->coarse_at >= d->sums_at + (d->levels ? d->levels : 1) * 2 * sums);
    NEED(d->table_at >= d->coarse_at + (table == 4 ? 0 : repeats) &&
         d->blocks_at >= d->table_at + d->turn);
    NEED(d->coef_at >= d->blocks_at + (d->turn_unit == 32 ? tile / 8 : 0) &&
         (d->turn_unit != 32 || d->coef_at >= d->blocks_at + d->reach / 4));
    NEED(d->spread_at >= d->coef_at + 2 * d->coefs);
    NEED(d->pack_at >= d->spread_at + (spread ? slab / 8 : 0));
    NEED(d->pair_at >= d->pack_at + (d->fill > 1 ? 2 * sums : 0));
    NEED(d->halve_at >= d->pair_at + d->pair + d->halves && (!d->planes || d->halves >= sums));
    NEED(d->wide_at >= d->halve_at + 2 * d->halves &&
         ((table == es && !(tails && !wide && d->turn_unit < 32)) || d->wide >= sums));
    NEED(d->work_bytes >= 4 * (d->wide_at + d->wide + (d->wide ? d->halves : 0)));
    int64_t rows = tile_rows(d), x_row = tails ? (d->row * es + 31) / 32 * 32 : d->pitch * es;
    NEED(d->tile_bytes >= rows * d->dy_row * es && d->x_bytes >= rows * x_row);
    NEED(tails || (d->tile_bytes >= tile * es && d->x_bytes >= tile * es));
    NEED(!d->partial || d->tile_bytes >= 4 * d->tile_cos * d->pitch);
    NEED(d->cos_bytes >= 2 * sums * table);
    NEED(!d->with_x || d->sum_bytes >= sums * (d->partial ? 4 : table));
    uint32_t buffers = (1 + (!wide && d->fill > 1 ? 1 : 2)) * d->tile_bytes +
                       d->with_x * (wide ? 2 : 1) * d->x_bytes + 2 * d->cos_bytes +
                       (d->with_x ? 2 * d->sum_bytes : 0);
    NEED(d->ub_bytes >= d->work_bytes + 2 * d->shift_bytes + buffers);
    return NULL;
}

/* Its tables: whole rows of what they are for, and of what they are made of. */
static const char *judge_contiguous_tables(const RotaryGradTiling *d, int64_t es, int64_t table) {
    int64_t unit = es == 2 && d->reach % 2 ? 2 : 4, row = d->row * table / (table == 4 ? 4 : unit),
            rotation = (d->with_tails ? d->pitch : 2 * d->reach) * es / unit;
    NEED(d->reach == (d->planes ? 1 : d->reach) && d->row % (2 * d->reach) == 0);
    NEED(d->turn_unit == 32 || d->turn_unit == 0 || d->turn_unit == unit);
    NEED(d->turn_unit != 32 || (d->reach % 8 == 0 && es == 2 && d->tile / 64 <= 255));
    NEED(d->turn_unit != 0 || (d->reach == 1 && es == 2 && !d->with_tails));
    /* all of a tile at once, or as many rotations as fill blocks */
    NEED(d->turn >= d->tile * es / unit || (d->turn % rotation == 0 && d->turn * unit % 32 == 0));
    if (d->planes) {
        NEED(d->pair >= d->tile || (d->pair % d->row == 0 && d->pair * es % 32 == 0));
    }
    if (d->fill > 1) {
        NEED(d->coefs >= d->tile_cos * d->fill * row);
        NEED((table == es ? d->turn : d->wide) >= d->tile_cos * row);
        NEED(!d->planes || table > es || d->pair >= d->tile_cos * d->row);
    }
    return NULL;
}

static const char *judge_contiguous(const RotaryGradTiling *d, int64_t es, int64_t table) {
    int64_t rows = d->chunk_rows, row = d->pitch, group = d->group;
    NEED(d->strips == 1 && d->tile_cos >= 1 && d->tile_cos <= d->cos_rows);
    NEED(group >= 1 && (!d->cos_last || group == d->cos_stride));
    NEED(d->sums >= d->tile_cos * row && d->sums % 64 == 0);
    NEED(d->cosines >= d->tile_cos * row * group && d->cosines % 8 == 0);
    int64_t slabs = d->cos_last ? rows : (rows + group - 1) / group;
    int64_t span = d->tile_cos * group * row;
    span = d->cos_last && !d->with_tails ? (span * es + 31) / 32 * 32 / es : span;
    NEED(slabs <= 255 && slabs * span <= d->tile && d->tile <= 255 * 64);
    if (d->cos_last) {
        NEED(rows == 1 || (wide_int)d->inner_stride * d->dy_row * es <= UINT32_MAX);
    } else {
        NEED(d->tile_cos <= 255 && (d->tile_cos == 1 || d->chunks_inner == 1));
        /* groups begin at blocks, of floats and, where copies split them, of the type */
        NEED(group * row % 8 == 0 && (d->tile_cos == 1 || group * d->dy_row * es % 32 == 0));
    }
    if (group > 1) {
        NEED(group * row / 8 <= 255);
        NEED(group * row % 8 ? d->fill == group : d->fill * row % 8 == 0);
    }
    NEED(group % d->fill == 0);
    NEED((wide_int)d->unit * d->row * es % 32 == 0 &&
         (wide_int)d->join_unit * d->row * es % 32 == 0);
    NEED(d->plane >= d->lines * row && d->plane % 8 == 0);
    wide_int reach = 1;
    for (uint32_t i = 0; i < d->levels; i++)
        reach *= ROTARY_FAN;
    if (d->with_x && d->levels) NEED(reach >= (d->chunks + d->segments - 1) / d->segments);
    if (d->with_x && (d->inner > 1 || d->chunks > 1 || d->group > 1)) NEED(d->levels >= 1);
    if (d->with_tails) { /* rows begin at blocks in memory, their rotated columns in the UB too */
        NEED(d->dy_row > d->row && d->dy_row * es % 32 == 0 && d->slice * es % 32 == 0);
        NEED(row % 8 == 0 && row >= d->row && row * table - d->row * table < 32);
        NEED(d->dy_row * es / 32 <= 255 && d->slice + row <= d->dy_row && d->fill == 1);
    } else {
        NEED(d->dy_row == d->row && row == d->row);
    }
    const char *wrong = judge_contiguous_tables(d, es, table);
    return wrong ? wrong : judge_contiguous_buffers(d, es, table);
}

/* What the kernel's mode may be for a mode of the operator. */
static bool fits_mode(uint64_t kernel, int64_t mode) {
    if (kernel == ROTARY_CONTIGUOUS) return true;
    if (mode == 1) return kernel == ROTARY_PAIRS;
    if (mode == 3) return kernel == ROTARY_PLANES;
    return kernel == ROTARY_HALVES;
}

static const char *judge_common(const struct trial *t, const struct ascgrad_launch *launch,
                                uint32_t at_dy, int64_t mode, bool with_x) {
    RotaryGradTiling d;
    NEED(launch->size == sizeof d);
    memcpy(&d, launch->data, sizeof d);
    if (t->chip.arch == ASCGRAD_ARCH_910) return judge_first(t, launch, &d, with_x);
    const struct ascgrad_shape *dy = t->node.in[at_dy].shape, *cos = t->node.in[1].shape;
    int64_t es = (int64_t)ascgrad_dtype_size(t->node.in[at_dy].dtype),
            elements = ascgrad_elements(dy, 0, dy->rank);
    uint64_t mode_of_kernel = launch->key % ROTARY_JOIN;
    bool meet = d.partial || (d.apart && d.with_x); /* in place, dx comes after the sums */
    NEED(launch->key / ROTARY_JOIN == meet && launch->sync_all == meet);
    NEED(elements == 0 || fits_mode(mode_of_kernel, mode));
    NEED(d.ub_bytes <= t->chip.ub);
    int64_t kept = ascgrad_elements(cos, 0, cos->rank);
    NEED(d.zeros == (with_x && elements ? 0 : kept));
    int64_t table = (int64_t)ascgrad_dtype_size(t->node.in[1].dtype);
    NEED(d.table == 0 || es == 4 || (table == 4 && mode_of_kernel == ROTARY_PAIRS));
    if (elements == 0) return d.lines == 0 && !d.partial ? NULL : "lines == 0 for an empty dy";
    NEED(d.with_x == with_x && d.partial == (with_x && d.segments > 1));
    bool contiguous = mode_of_kernel == ROTARY_CONTIGUOUS;
    const char *wrong = judge_cover(&d, elements, cos->dim[dy->rank - 1], dy->dim[dy->rank - 1]);
    if (!wrong) wrong = judge_strides(&d, dy, cos);
    if (!wrong && contiguous) NEED(d.planes == (mode == 3) && (mode % 2 == 0 || d.reach == 1));
    if (!wrong && contiguous) wrong = judge_contiguous(&d, es, table);
    if (!wrong && !contiguous) wrong = judge_buffers(&d, es, table, mode_of_kernel);
    if (!wrong && !contiguous) wrong = judge_limits(&d, es);
    if (!wrong) wrong = judge_seams(&d, es);
    if (!wrong) wrong = judge_blocks(&d);
    if (!wrong) wrong = judge_places(&d, es, contiguous);
    if (wrong) return wrong;
    NEED(d.stream == ((wide_int)elements * es * (with_x ? 2 : 1) > l2_bytes(t))); /* dy and x */
    wide_int plane = contiguous ? d.plane : (wide_int)d.lines * d.sum_row;
    wide_int need = d.partial ? (wide_int)d.segments * 2 * plane * 4 : meet * 32;
    if (mode_of_kernel == ROTARY_PLANES && d.strips > 1) need += (wide_int)elements * es; /* dy */
    NEED((wide_int)launch->workspace == need);
    return NULL;
}

static const char *judge_mul(const struct trial *t, const struct ascgrad_launch *launch) {
    return judge_common(t, launch, 3, 0, t->node.attr[0].i != 0);
}

static const char *judge_embedding(const struct trial *t, const struct ascgrad_launch *launch) {
    const RotaryGradTiling *d = launch->data;
    NEED(d->lines == 0 || d->slice == t->node.attr[1].i);
    return judge_common(t, launch, 0, t->node.attr[0].i, t->node.in[3].present);
}

/* Nothing but the number of cores may depend on the chip; on the first 910 the tiles may, too. */
static const char *judge_pair(const struct ascgrad_launch *a, const struct ascgrad_launch *b) {
    if (a->key == ROTARY_FIRST) {
        NEED(b->key == ROTARY_FIRST && a->workspace == b->workspace && a->size == b->size);
        NEED(same_order(a->data, b->data));
        return NULL;
    }
    NEED(a->key == b->key && a->workspace == b->workspace && a->sync_all == b->sync_all);
    NEED(a->size == b->size && memcmp(a->data, b->data, a->size) == 0);
    return NULL;
}

const struct property property_rotary_mul_grad = {"rotary_mul_grad", make_mul, judge_mul,
                                                  judge_pair};
const struct property property_rotary_position_embedding_grad = {
    "rotary_position_embedding_grad", make_embedding, judge_embedding, judge_pair};
