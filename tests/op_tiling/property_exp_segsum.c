/* SPDX-License-Identifier: Apache-2.0
 *
 * What a plan of ExpSegsumGrad must be.
 */
#include "../../op_kernel/exp_segsum_grad_tiling_data.h"
#include "property.h"

static void make(struct trial *t, int32_t dtype) {
    int64_t dim[ASCGRAD_MAX_RANK];
    uint32_t lead = (uint32_t)draw(t, chance(t, 5) ? 24 : 5);
    for (uint32_t i = 0; i < lead; i++)
        dim[i] = draw_size(t);
    int64_t size = chance(t, 60)   ? (int64_t)draw(t, 140)
                   : chance(t, 80) ? (int64_t)draw(t, 3000)
                                   : draw_size(t);
    dim[lead] = dim[lead + 1] = size;
    set_input(t, 0, dtype, lead + 2, dim);
    set_input(t, 1, dtype, lead + 2, dim);
}

ascgrad_tile_fn ascgrad_tile_exp_segsum_grad;

/* The UB may be as small as the buffers are, and no smaller. */
static const char *judge_room(const struct trial *t, const ExpSegsumGradTilingData *d,
                              uint64_t key) {
    static unsigned char data[sizeof *d];
    struct ascgrad_launch launch = {.data = data, .capacity = sizeof data};
    struct ascgrad_error error;
    struct ascgrad_chip chip = t->chip;
    chip.ub = 2 * ((uint64_t)d->in_bytes + d->out_bytes + d->line_bytes) + d->wide_bytes +
              d->tiles_bytes + d->sums_bytes;
    if (key == EXP_SEGSUM_ZERO) chip.ub = d->out_bytes; /* nothing else, and one of it */
    NEED(ascgrad_tile_exp_segsum_grad(&t->node, &chip, &launch, &error) == ASCGRAD_DONE);
    NEED(memcmp(data, d, sizeof data) == 0);
    chip.ub--;
    NEED(ascgrad_tile_exp_segsum_grad(&t->node, &chip, &launch, &error) != ASCGRAD_DONE);
    return NULL;
}

/* No core has more rounds than it must, and no core is there that makes them no fewer. */
static const char *judge_rounds(const ExpSegsumGradTilingData *d,
                                const struct ascgrad_launch *launch, int64_t cores) {
    wide_int work = d->units, dim = launch->block_dim;
    wide_int squares = (wide_int)d->matrices * ((d->size + 127) / 128);
    if (launch->key == EXP_SEGSUM_LARGE && squares > work) work = squares;
    if (work == 0) return dim == 1 ? NULL : "one core for nothing";
    wide_int rounds = (work + dim - 1) / dim;
    NEED(rounds == (work + cores - 1) / cores);
    NEED(dim == 1 || (work + dim - 2) / (dim - 1) > rounds);
    return NULL;
}

/* What lies in the UB has room and does not overlap. */
static const char *judge_buffers(const ExpSegsumGradTilingData *d, uint64_t key, int64_t es,
                                 int64_t ub) {
    int64_t tile = 36 * 16 * 16;
    if (key == EXP_SEGSUM_ZERO) {
        NEED(d->out_bytes >= d->unit * 4 && d->out_bytes <= ub);
        return NULL;
    }
    NEED(2 * ((int64_t)d->in_bytes + d->out_bytes + d->line_bytes) + d->wide_bytes +
             d->tiles_bytes + d->sums_bytes <=
         ub);
    NEED(d->second >= tile && d->span >= tile && d->in_bytes >= (d->second + tile) * es);
    NEED(es == 4 ? d->second == d->span : d->wide_bytes >= (d->span + tile) * 4);
    NEED(key == EXP_SEGSUM_SMALL || d->tiles_bytes >= 128 * 24 * 4);
    int64_t blocks = (d->size + 127) / 128, halves = (d->size + 63) / 64;
    NEED(key != EXP_SEGSUM_WHOLE ||
         d->sums_bytes >= (blocks * (halves + blocks) * 128 + halves * 8) * 4);
    NEED(d->direct == (d->size * es % 32 == 0 && d->size * es / 32 <= 65535));
    NEED(key != EXP_SEGSUM_LARGE || (d->sums_bytes >= 3 * 16 * 128 * 4 && d->out_bytes >= 200 * 4));
    NEED(!d->gather || d->line_bytes >= 128 * es);
    return NULL;
}

static const char *judge(const struct trial *t, const struct ascgrad_launch *launch) {
    ExpSegsumGradTilingData d;
    NEED(launch->size == sizeof d);
    memcpy(&d, launch->data, sizeof d);
    const struct ascgrad_shape *s = t->node.in[0].shape;
    int64_t es = (int64_t)ascgrad_dtype_size(t->node.in[0].dtype), size = s->dim[s->rank - 1];
    int64_t matrices = size ? ascgrad_elements(s, 0, s->rank - 2) : 0;
    NEED(d.size == size && d.matrices == matrices && d.unit >= 1 && d.units >= 0);
    /* both inputs; above 128 rows two tiles may share a line of the cache */
    wide_int bytes = 2 * (wide_int)matrices * size * size * es;
    NEED(d.stream == (size > 1 && size <= 128 && bytes > l2_bytes(t)));
    const char *wrong = judge_buffers(&d, launch->key, es, (int64_t)t->chip.ub);
    if (!wrong) wrong = judge_room(t, &d, launch->key);
    if (!wrong) wrong = judge_rounds(&d, launch, t->chip.cores);
    if (wrong) return wrong;
    NEED(launch->block_dim <= (d.units > 1 ? d.units : 1) || launch->key == EXP_SEGSUM_LARGE);
    if (launch->key == EXP_SEGSUM_LARGE) {
        int64_t blocks = (size + 127) / 128, halves = (size + 63) / 64, tiles = 0;
        NEED(size > 128 && matrices > 0 && launch->sync_all);
        for (int64_t r = 0; r < halves && halves < 100000; r++)
            tiles += r / 2;
        NEED(halves >= 100000 || d.units == matrices * tiles);
        wide_int floats = (wide_int)blocks * halves * 128 + (wide_int)blocks * blocks * 128 +
                          (wide_int)halves * blocks * 8;
        wide_int bytes = matrices * (floats * 4 + (d.gather ? (wide_int)blocks * 128 * es : 0));
        NEED((wide_int)launch->workspace == bytes);
        NEED(d.gather == (matrices > 1 && size * es % 32 != 0)); /* no two cores in one block */
        NEED((wide_int)size * es <= UINT32_MAX);
        return NULL;
    }
    NEED(!launch->sync_all && launch->workspace == 0);
    if (launch->key == EXP_SEGSUM_ZERO) {
        NEED(size <= 1 || matrices == 0);
        NEED((wide_int)d.units * d.unit >= (size ? matrices : 0));
        NEED(d.units == 0 || (wide_int)(d.units - 1) * d.unit < matrices);
        return NULL;
    }
    NEED(launch->key == (uint64_t)(size <= 64    ? EXP_SEGSUM_SMALL
                                   : size <= 128 ? EXP_SEGSUM_SQUARE
                                                 : EXP_SEGSUM_WHOLE));
    NEED(size >= 2 && size <= 384);
    NEED((wide_int)d.units * d.unit >= matrices && (wide_int)(d.units - 1) * d.unit < matrices);
    NEED(d.unit * size * es % 32 == 0);
    if (launch->key == EXP_SEGSUM_SMALL) {
        int64_t pitch = size % 8 == 0 ? size : up(size, 32 / es),
                result = size % 8 == 0 ? size : up(size, 16);
        NEED(d.tile >= 1 && d.tile * size * pitch <= EXP_SEGSUM_TILE);
        NEED(d.tile * result <= EXP_SEGSUM_OUT && d.tile * size <= 4095);
    }
    return NULL;
}

static const char *judge_pair(const struct ascgrad_launch *a, const struct ascgrad_launch *b) {
    /* T alone decides the order of sums: it is the same in LARGE and WHOLE. */
    bool large = a->key == EXP_SEGSUM_LARGE || a->key == EXP_SEGSUM_WHOLE;
    bool both = b->key == EXP_SEGSUM_LARGE || b->key == EXP_SEGSUM_WHOLE;
    NEED(large ? both : a->key == b->key);
    NEED(a->key != b->key || a->workspace == b->workspace);
    return NULL;
}

const struct property property_exp_segsum_grad = {"exp_segsum_grad", make, judge, judge_pair};
