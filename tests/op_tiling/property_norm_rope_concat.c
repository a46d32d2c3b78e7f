/* SPDX-License-Identifier: Apache-2.0
 *
 * What a plan of NormRopeConcatGrad must be.
 */
#include "../../op_kernel/norm_rope_concat_grad_tiling_data.h"
#include "property.h"

static bool across(int64_t norm) {
    return norm > 4 && norm < 9;
}

static bool centred(int64_t norm) {
    return norm == 1 || norm == 2 || norm == 5 || norm == 6;
}

static void make(struct trial *t, int32_t dtype) {
    int64_t batch = chance(t, 70) ? 1 + (int64_t)draw(t, 4) : draw_size(t), heads = draw_size(t),
            dim = draw_width(t);
    for (uint32_t i = 0; i < 3; i++)
        t->node.attr[i].i = (int64_t)draw(t, i < 2 ? 10 : 3);
    t->node.attr[3].i = (int64_t)draw(t, 2);
    t->node.attr[4].i = (int64_t)draw(t, 2);
    int64_t own[3] = {heads, chance(t, 50) ? heads : draw_size(t), 0}; /* query, key, value */
    own[2] = chance(t, 60) ? own[1] : chance(t, 30) ? 0 : draw_size(t);
    if (t->node.attr[2].i == 0 && chance(t, 20)) dim = dim > 1 ? dim - 1 : 1;
    int64_t seq[4], total[2]; /* query, key, encoder_query, encoder_key */
    for (uint32_t i = 0; i < 4; i++)
        seq[i] = i < 2 || chance(t, 50) ? draw_size(t) : -1;
    if (chance(t, 50)) seq[1] = seq[0], seq[3] = seq[2];
    int32_t weights = chance(t, 30) ? ASCGRAD_FP32 : dtype,
            tables = chance(t, 30) ? ASCGRAD_FP32 : dtype;
    for (uint32_t i = 0; i < 4; i++) {
        int64_t n = own[i % 2], norm = t->node.attr[i / 2].i, each = across(norm) ? 1 : n;
        if (seq[i] >= 0) set_input(t, 3 + i, dtype, 4, (int64_t[]){batch, seq[i], n, dim});
        uint32_t weight = 7 + 3 * i;
        if (seq[i] < 0 || norm == 0) continue;
        int64_t size = dim;
        if (across(norm) && __builtin_mul_overflow(n, dim, &size)) size = dim;
        if (norm % 2 == 0) set_input(t, weight, weights, 1, &size);
        if (centred(norm) || chance(t, 50))
            set_input(t, weight + 1, ASCGRAD_FP32, 4, (int64_t[]){batch, seq[i], each, 1});
        set_input(t, weight + 2, ASCGRAD_FP32, 4, (int64_t[]){batch, seq[i], each, 1});
    }
    for (uint32_t i = 0; i < 2; i++)
        total[i] = seq[i] + (seq[i + 2] > 0 ? seq[i + 2] : 0);
    for (uint32_t i = 0; i < 3; i++) {
        bool late = t->node.attr[4].i; /* heads behind the sequence */
        int64_t length = total[i > 0];
        set_input(t, i, dtype, 4,
                  (int64_t[]){batch, late ? length : own[i], late ? own[i] : length, dim});
    }
    if (chance(t, 10)) set_input(t, 2, dtype, 1, (int64_t[]){0});
    if (t->node.attr[2].i == 0) return;
    int64_t rows = total[0] < total[1] ? total[0] : total[1];
    if (total[0] == 0 || total[1] == 0) rows = total[0] + total[1];
    if (chance(t, 30)) rows = (int64_t)draw(t, (uint64_t)rows + 1);
    set_input(t, 19, tables, 2, (int64_t[]){rows, dim});
    set_input(t, 20, tables, 2, (int64_t[]){rows, dim});
}

/* The two streams of query, key or value fill the concatenated sequence without overlap. */
static const char *judge_streams(const NormRopeConcatGradTilingData *d, const struct trial *t) {
    static const uint32_t input[NRC_STREAMS] = {3, 5, 4, 6, 4, 6};
    for (int i = 0; i < NRC_STREAMS; i++) {
        const NrcStreamTiling *s = &d->stream[i], *other = &d->stream[i ^ 1];
        const struct ascgrad_arg *in = &t->node.in[input[i]];
        const struct ascgrad_shape *value = t->node.in[2].shape;
        int64_t own = value->rank == 1 ? 0 : value->dim[t->node.attr[4].i ? 2 : 1];
        int64_t heads = i < NRC_NORMED ? t->node.in[i < 2 ? 3 : 4].shape->dim[2] : own;
        NEED(s->seq == (in->present ? in->shape->dim[1] : 0) && s->heads == heads);
        NEED(s->lines == (in->present ? ascgrad_elements(in->shape, 0, 2) * heads : 0));
        NEED(s->total == s->seq + other->seq);
        NEED(s->seq == 0 || other->seq == 0 ||
             (i % 2 == t->node.attr[3].i ? s->offset == 0 : s->offset == other->seq));
        int64_t norm = i < NRC_NORMED ? t->node.attr[i % 2].i : 0;
        NEED(s->norm == (norm != 0) && s->centred == centred(norm));
        NEED(s->weighted == (norm != 0 && norm % 2 == 0) && (s->across != 0) == across(norm));
        int64_t count = across(norm) ? heads * d->dim : d->dim;
        NEED(s->norm == 0 || s->inverse == (norm == 9 || count == 0 ? 1.0f : 1.0f / (float)count));
        NEED(i < NRC_NORMED || s->copy);
        NEED(!s->copy || (s->norm == 0 && (i >= NRC_NORMED || d->rope == 0)));
    }
    return NULL;
}

/* Tiles of a norm across heads are whole tokens, or blocks of the heads of one. */
static const char *judge_tiles(const NormRopeConcatGradTilingData *d, int64_t es) {
    for (int i = 0; i < NRC_NORMED; i++) {
        const NrcStreamTiling *s = &d->stream[i];
        if (s->lines == 0) continue;
        NEED(s->chunk_lines >= 1 && s->tile_lines >= 1 && s->tile_lines <= d->tile_lines);
        NEED((wide_int)s->chunk_lines * d->dim * es % 32 == 0);
        if (!s->across) {
            NEED(s->blocks == d->blocks && s->tile_lines == d->tile_lines && s->sum_lines >= 1 &&
                 s->sum_lines <= s->tile_lines);
            continue;
        }
        int64_t parts = s->blocks / d->blocks;
        NEED(parts * d->blocks == s->blocks && s->across >= 1 && s->sum_lines == s->across);
        NEED(parts * s->across >= s->heads && (parts - 1) * s->across < s->heads);
        NEED(s->tile_lines % s->across == 0 && s->chunk_lines % s->heads == 0);
        NEED(s->blocks == 1 || s->tile_lines == s->across);
        NEED(s->fold >= s->across * d->fold && (s->fold & (s->fold - 1)) == 0);
    }
    return NULL;
}

/* Chunks and jobs number all lines; the shares of the cores take every job once; partial sums of
 * streams do not meet in the workspace. */
static const char *judge_shares(const NormRopeConcatGradTilingData *d, int64_t cores,
                                const struct ascgrad_launch *launch) {
    int64_t chunks = 0, jobs = 0;
    wide_int floats = 0;
    NEED(d->job_lines >= 1);
    for (int i = 0; i < NRC_STREAMS; i++) {
        const NrcStreamTiling *s = &d->stream[i];
        int64_t each = s->copy ? d->job_lines : s->chunk_lines, *count = s->copy ? &jobs : &chunks;
        NEED(s->first == *count);
        int64_t own = s->lines / each + (s->lines % each != 0);
        *count += own;
        if (s->copy || !s->weighted) continue;
        NEED(s->sums >= floats && s->width == (s->across ? s->heads : 1) * d->width);
        floats = (wide_int)s->sums + 2 * (wide_int)own * s->width;
    }
    NEED((wide_int)launch->workspace >= 4 * floats);
    NEED(chunks == d->chunks && jobs == d->jobs);
    NEED(d->busy_cores < cores && d->busy_cores == chunks % cores);
    NEED(d->jobs_busy >= 0 && d->jobs_busy <= (d->busy_cores ? jobs : 0));
    NEED((wide_int)jobs * cores <= INT64_MAX); /* shares are worked out so */
    return NULL;
}

struct region {
    int64_t at, bytes;
};

/* In order, aligned, without overlap, all inside. */
static bool fit(const struct region *r, size_t n, int64_t whole) {
    int64_t end = 0;
    for (size_t i = 0; i < n; i++) {
        if (r[i].at < end || r[i].at % 32 || r[i].bytes < 0) return false;
        end = r[i].at + r[i].bytes;
    }
    return end <= whole;
}

/* Bytes of an element of the data, of weights, of sin and cos. */
struct sizes {
    int64_t data, weight, table;
};

/* Every member of a buffer lies inside it, beside the others. */
static const char *judge_buffers(const NormRopeConcatGradTilingData *d, const struct sizes *z,
                                 int64_t ub) {
    int64_t es = z->data;
    int64_t pitch = up(d->columns, 32 / es) * d->pieces, lines = d->tile_lines,
            tile = lines * pitch;
    int64_t eights, tokens = 1, rows = 0, sum_lines = 0, most_heads = 0, numbers = 0, kept = 1;
    bool long_sums = false, long_biases = false, by_line = false;
    for (int i = 0; i < NRC_NORMED; i++) {
        const NrcStreamTiling *s = &d->stream[i];
        int64_t heads = s->heads > 0 ? s->heads : 1, own = s->tile_lines;
        by_line |= s->norm && !s->across;
        if (s->weighted && !s->across && s->sum_lines > sum_lines) sum_lines = s->sum_lines;
        if (d->rope) { /* of cos and sin that a tile can meet */
            bool whole = own % heads == 0 && s->chunk_lines % heads == 0;
            int64_t met = whole ? own / heads : (own + heads - 2) / heads + 1;
            if (met > own) met = own;
            if (met > rows) rows = met;
        }
        if (s->lines == 0 || s->copy) continue;
        int64_t step = s->blocks > d->blocks ? s->heads : own;
        int64_t tiles = s->blocks > 1 ? (s->chunk_lines + step - 1) / step : 1;
        if (tiles > kept) kept = tiles;
        if (!s->across) continue;
        if (own / s->across > tokens) tokens = own / s->across;
        if (own / s->across * s->fold > numbers) numbers = own / s->across * s->fold;
        if (s->across > most_heads) most_heads = s->across;
        long_sums |= s->weighted;
        long_biases |= s->weighted && s->centred;
    }
    eights = up(by_line ? lines : tokens, 8);
    NEED((int64_t)2 * d->in_bytes + d->out_bytes + 2 * (int64_t)d->copy_bytes + d->calc_bytes +
             (d->vectors ? d->flush_bytes : 0) + d->gamma_bytes <=
         ub);
    if (long_sums) {
        int64_t sums = up(most_heads * pitch * 4, 512);
        NEED(d->flush_bytes >= NRC_PHASE + (long_biases ? 2 : 1) * sums);
        NEED(d->gamma_bytes >= NRC_PHASE + most_heads * pitch * z->weight);
    }
    bool wide = es == 4, gather = d->rope == 3 || (z->table == 4 && d->rope == 1);
    int64_t number = d->halves ? 64 : 32; /* one or two blocks */
    int64_t table = rows * pitch;
    const struct region in[] = {{0, tile * es},
                                {d->at_x, tile * es},
                                {d->at_mean, lines * 4},
                                {d->at_rstd, lines * 4},
                                {d->at_cos, table * z->table},
                                {d->at_sin, table * z->table},
                                {d->at_gamma, pitch * z->weight}};
    NEED(fit(in, sizeof in / sizeof in[0], d->in_bytes));
    const struct region work[] = {
        {d->at_w0, wide ? 0 : tile * 4},
        {d->at_w1, wide ? 0 : tile * 4},
        {d->at_w2, tile * 4 + 256},
        {d->at_cos_wide, wide ? 0 : table * 4},
        {d->at_sin_wide, wide && !gather ? 0 : table * 4},
        {d->at_gamma_wide, pitch * 4},
        {d->at_dbeta, sum_lines * pitch * 4},
        {d->at_dgamma, sum_lines * pitch * 4},
        {d->at_mean_wide, eights * number},
        {d->at_rstd_wide, eights * number},
        {d->at_stat_wide, 2 * eights * number},
        {d->at_swap, up(d->swap_entries, 64) * 4},
        {d->at_part, 2 * eights * d->fold * 32},
        {d->at_fold, (d->fold > 1 ? 2 : 1) * (int64_t)d->fold_bytes},
        {d->at_stat, kept * (int64_t)d->stat_floats * 4},
        {numbers ? d->at_group : d->calc_bytes, up(numbers * 8, 64) * 4},
    };
    NEED(fit(work, sizeof work / sizeof work[0], d->calc_bytes));
    NEED(d->at_part + d->zero_bytes <= d->calc_bytes &&
         d->at_part + d->zero_bytes >= d->at_stat + kept * d->stat_floats * 4);
    NEED(d->fold >= 1 && (d->fold & (d->fold - 1)) == 0 && d->fold * 64 >= pitch &&
         (d->fold == 1 || d->fold * 32 < pitch));
    NEED(d->fold_bytes >= 2 * eights * d->fold * 4 && d->stat_floats >= 2 * eights);
    NEED(d->fold_bytes >= numbers * 4 && (!numbers || d->stat_floats >= 2 * eights + 32));
    if (d->rope == 3) { /* whole lines, in words */
        int64_t words = pitch * es / 4;
        NEED(z->table == es && d->pieces == 1 && d->blocks == 1 && d->dim / 2 * es % 4 == 0);
        NEED(d->swap_entries >= words && d->swap_entries % words == 0 && words % 8 == 0);
        NEED(d->swap_entries <= (words > 1024 ? words : 1024));
    } else {
        NEED(gather && table ? d->swap_entries >= 64 && d->swap_entries <= 1024
                             : d->swap_entries == 0);
    }
    NEED(!d->halves || (d->blocks == 1 && pitch > 64 && pitch < 128 && pitch % 16 == 0));
    NEED(tile * es <= d->out_bytes && (!d->vectors || 2 * pitch * 4 <= d->flush_bytes));
    NEED((int64_t)d->batch * NRC_SEGMENT * 4 <= d->in_bytes && d->batch >= 1);
    int64_t line = up((int64_t)d->copy_columns * es, 32);
    NEED(d->copy_lines >= 1 && d->copy_columns >= 1 && d->copy_lines * line <= d->copy_bytes);
    NEED(d->copy_lines == 1 || d->copy_columns == d->dim);
    return NULL;
}

static const char *judge(const struct trial *t, const struct ascgrad_launch *launch) {
    NormRopeConcatGradTilingData d;
    NEED(launch->size == sizeof d);
    memcpy(&d, launch->data, sizeof d);
    const struct ascgrad_shape *q = t->node.in[3].shape;
    int64_t es = (int64_t)ascgrad_dtype_size(t->node.in[3].dtype), cores = launch->block_dim,
            units = 0;
    NEED(d.dim == q->dim[3]);
    if (d.dim == 0) return launch->block_dim == 1 ? NULL : "one core for nothing";
    NEED(d.layout == t->node.attr[4].i);
    const char *wrong = judge_streams(&d, t);
    if (!wrong) wrong = judge_tiles(&d, es);
    if (!wrong) wrong = judge_shares(&d, cores, launch);
    NEED((wide_int)d.job_lines * d.dim * es % 32 == 0);
    struct sizes z = {es, es, es};
    uint32_t first = 7; /* of the weights: it decides for all, even where nothing is to be done */
    while (first < 16 && !t->node.in[first].present)
        first += 3;
    if (t->node.in[first].present && t->node.in[first].dtype == ASCGRAD_FP32) z.weight = 4;
    if (t->node.attr[2].i) z.table = (int64_t)ascgrad_dtype_size(t->node.in[19].dtype);
    if (!wrong) wrong = judge_buffers(&d, &z, (int64_t)t->chip.ub);
    if (wrong) return wrong;
    int64_t piece = d.dim / d.pieces, pitch = up(d.columns, 32 / es) * d.pieces;
    NEED(piece * d.pieces == d.dim && d.blocks >= 1 && d.columns >= 1);
    NEED((wide_int)d.blocks * d.columns >= piece && (wide_int)(d.blocks - 1) * d.columns < piece);
    NEED(pitch / 8 <= 255 && d.tile_lines >= 1 && d.tile_lines <= 255);
    int64_t rope = t->node.attr[2].i && t->node.in[19].shape->dim[0] ? t->node.attr[2].i : 0;
    NEED(d.rope == rope || (d.rope == 3 && rope == 2 && d.dim % 16 != 0));
    for (int i = 0; i < NRC_NORMED; i++) {
        const NrcStreamTiling *s = &d.stream[i];
        uint32_t has = d.vectors >> 2 * i & 3;
        NEED(has == (s->weighted ? s->centred ? 3u : 1u : 0u));
        units += (s->weighted + (s->weighted && s->centred)) * s->units;
        int64_t line = (int64_t)d.blocks * d.pieces * ((d.columns + NRC_SEGMENT - 1) / NRC_SEGMENT);
        int64_t all = (s->across ? s->heads : 1) * line;
        if (s->segment == NRC_LONG_SEGMENT) { /* whole lines without padding */
            NEED(s->across && pitch == d.dim && d.blocks == 1 && s->unit_segments == 1);
            all = (s->width + NRC_LONG_SEGMENT - 1) / NRC_LONG_SEGMENT;
        } else {
            NEED(s->segment == NRC_SEGMENT);
        }
        NEED(s->unit_segments >= 1 && (wide_int)s->units * s->unit_segments >= all &&
             (wide_int)(s->units - 1) * s->unit_segments < (all ? all : 1));
    }
    NEED(d.vectors >> 2 * NRC_NORMED == 0);
    NEED(launch->key == (d.vectors != 0) && launch->sync_all == (d.vectors != 0));
    NEED(d.wide_tables == (z.table > es));
    NEED(d.units == units);
    NEED(d.width >= (d.blocks - 1) * pitch + (piece - (d.blocks - 1) * d.columns) * d.pieces &&
         d.width <= d.blocks * pitch);
    return NULL;
}

/* The sums are cut the same on every chip. */
static const char *judge_pair(const struct ascgrad_launch *a, const struct ascgrad_launch *b) {
    const NormRopeConcatGradTilingData *p = a->data, *q = b->data;
    for (int i = 0; i < NRC_NORMED; i++) {
        const NrcStreamTiling *s = &p->stream[i], *r = &q->stream[i];
        NEED(s->chunk_lines == r->chunk_lines && s->tile_lines == r->tile_lines &&
             s->sum_lines == r->sum_lines && s->across == r->across && s->fold == r->fold);
    }
    NEED(p->chunks == q->chunks && p->width == q->width && p->batch == q->batch &&
         p->columns == q->columns);
    NEED(a->key == b->key && a->workspace == b->workspace);
    return NULL;
}

const struct property property_norm_rope_concat_grad = {"norm_rope_concat_grad", make, judge,
                                                        judge_pair};
