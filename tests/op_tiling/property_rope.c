/* SPDX-License-Identifier: Apache-2.0
 *
 * What a plan of RopeGrad must be. The walk between the cuts is done here as the kernel does it,
 * and every row of every sequence is counted: each must come up exactly once.
 */
#include "../../op_kernel/rope_grad_tiling_data.h"
#include "property.h"

enum { WALKED = 20000 }; /* tokens */

static void make(struct trial *t, int32_t dtype) {
    int64_t rotated = draw_width(t), wanted = 0, q = draw_size(t), k = draw_size(t), tokens = 0,
            last = 0;
    size_t count = chance(t, 85) ? draw(t, 80) : draw(t, chance(t, 80) ? 2100 : LIST_MAX);
    int64_t scale = chance(t, 80) ? 1 + (int64_t)draw(t, 300) : draw_size(t) + 1,
            shape = (int64_t)draw(t, 3), apart = chance(t, 60) ? 0 : 1 + (int64_t)draw(t, 3000);
    for (size_t i = 0; i < count; i++) {
        int64_t length = shape == 0   ? scale
                         : shape == 1 ? (int64_t)draw(t, (uint64_t)scale)
                                      : draw_size(t);
        if (chance(t, 5)) length = 0;
        t->list[i] = length;
        t->second_list[i] = apart ? (int64_t)draw(t, (uint64_t)apart) : 0;
        int64_t end = length + t->second_list[i];
        last = end > last ? end : last;
        if (__builtin_add_overflow(tokens, length, &tokens)) tokens = INT64_MAX;
    }
    if (chance(t, 30)) wanted = rotated + (chance(t, 50) ? draw_width(t) : (int64_t)draw(t, 40));
    int64_t hidden_q, hidden_k, head = wanted ? wanted : rotated;
    if (__builtin_mul_overflow(head, q, &hidden_q)) hidden_q = head;
    if (__builtin_mul_overflow(head, k, &hidden_k)) hidden_k = head;
    set_input(t, 0, dtype, 2, (int64_t[]){tokens, hidden_q});
    set_input(t, 1, dtype, 2, (int64_t[]){tokens, hidden_k});
    int64_t positions = last + (chance(t, 50) ? 0 : (int64_t)draw(t, 100));
    set_input(t, 2, dtype, 2, (int64_t[]){positions, rotated});
    set_input(t, 3, dtype, 2, (int64_t[]){positions, rotated});
    t->node.attr[0].count = count;
    t->node.attr[1].i = chance(t, 50);
    t->node.attr[2].i = wanted;
    if (wanted > rotated && chance(t, 60)) {
        int64_t block = chance(t, 50) ? 16 : 1;
        t->node.attr[3].i = (int64_t)draw(t, (uint64_t)(wanted - rotated) + 1) / block * block;
    }
    t->node.attr[4].list = t->second_list;
    t->node.attr[4].count = apart || chance(t, 10) ? count : 0;
}

/* Tokens of a stream in tiles of `tile` elements: gathered. */
static const char *judge_stream(const RopeGradPlan *d, int64_t es, int64_t tile, uint32_t heads,
                                uint32_t rows, uint32_t pitch, uint32_t pattern) {
    wide_int wide = (wide_int)heads * d->head;
    if (heads == 0) return NULL;
    NEED((wide_int)rows * pitch <= tile && pitch * es % 32 == 0);
    NEED(rows == 0 || (pitch >= wide && pitch - wide < 32 / es));
    NEED(rows > 0 || d->piece > 0);
    if (!d->exact) return NULL;
    NEED(pattern > 0 && pattern % 8 == 0 && pattern <= ROPE_GRAD_PARTNERS &&
         d->head % d->unit == 0 && d->slice % d->unit == 0 && d->rotated / 2 % d->unit == 0);
    if (rows > 1 && pitch != wide) {
        NEED(pattern * d->unit == pitch);
    } else {
        NEED(pattern * d->unit % d->head == 0 || pattern * d->unit == pitch);
    }
    return NULL;
}

/* What lies in the UB has room and does not overlap. */
static const char *judge_buffers(const RopeGradPlan *d, const struct ascgrad_node *node,
                                 int64_t ub) {
    int64_t es = (int64_t)ascgrad_dtype_size(node->in[0].dtype);
    int64_t cs = (int64_t)ascgrad_dtype_size(node->in[2].dtype);
    int64_t table = (int64_t)d->table_rows * d->width, step = d->head, tile;
    bool gathered = d->gathered;
    bool halves =
        node->in[0].dtype == ASCGRAD_FP16 && node->in[2].dtype == ASCGRAD_FP16 && !d->exact;
    NEED(!(gathered && d->strips) && d->table_rows >= 1 && d->depth >= 2);
    wide_int all = (wide_int)2 * d->depth * d->x_bytes +
                   (gathered ? 2 : 1) * (wide_int)d->table_in_bytes + d->table_bytes +
                   d->tile_bytes + d->places_bytes;
    NEED(all <= ub);
    /* Two buffers instead of four are for a tile that leaves no room for one more head, or strip of
     * a head, in its buffers and twice in fp32; each of these begins at a line of 512 bytes. */
    int64_t more = gathered ? up(d->width, 16) : d->strips ? d->width : d->head;
    bool longest = d->strips && 2 * (d->piece + 1) > 4094; /* blocks of a copy */
    NEED(d->depth > 2 || longest || all + more * (4 * es + 8) + 8 * 512 > ub);
    if (d->strips) {
        step = d->width;
        NEED(d->columns >= 1 && d->columns <= d->rotated / 2 && d->width >= 2 * d->columns);
        NEED(d->width / 2 * es % 32 == 0 && d->width / 2 - d->columns < 32 / es);
        NEED(2 * d->table_rows <= 4095 && 2 * (wide_int)d->piece <= 4095); /* blocks of a copy */
        NEED((wide_int)(d->head - d->columns) * es <= UINT32_MAX);         /* gap of a copy */
    } else if (gathered) {
        NEED(d->width % d->head == 0 && d->width % (halves ? 16 : 8) == 0 && d->width <= 2040);
    } else {
        NEED(d->head % 16 == 0 && d->slice % 16 == 0 && d->rotated % 16 == 0 &&
             d->width == d->rotated);
        NEED(d->head / 8 <= 255); /* repeat strides */
    }
    tile = (int64_t)d->x_bytes / es / step * step; /* at most, what is rounded up not counted */
    if (!gathered) {
        tile = (int64_t)d->piece * step;
        NEED((wide_int)d->q_rows * d->q_heads <= d->piece &&
             (wide_int)d->k_rows * d->k_heads <= d->piece);
    }
    NEED(d->piece > 0 && (wide_int)d->piece * step * es <= d->x_bytes);
    NEED((int64_t)d->table * cs % 32 == 0 && d->table_in_bytes >= 2 * (int64_t)d->table * cs);
    NEED(d->table >= d->table_rows * (int64_t)(gathered ? d->rotated : d->width));
    if (!d->native) { /* room for each, and less than a line of 512 bytes beyond */
        NEED(d->sin_at >= d->cos_at + 4 * table && d->w_at >= d->sin_at + 4 * table);
        NEED(d->sin_at - d->cos_at < 4 * table + 512 && d->w_at - d->sin_at < 4 * table + 512);
    }
    NEED(!d->native || (halves && !gathered && d->width % 32 == 0));
    NEED(d->table_bytes >= d->w_at + (halves ? 2 * table : 0));
    wide_int most = gathered ? (wide_int)d->piece * d->head : tile;
    if (gathered) {
        most = most > (wide_int)d->q_rows * d->q_pitch ? most : (wide_int)d->q_rows * d->q_pitch;
        most = most > (wide_int)d->k_rows * d->k_pitch ? most : (wide_int)d->k_rows * d->k_pitch;
    }
    wide_int floats = most * 4, wide = es == 2 && !halves ? floats : 0;
    NEED(d->x_bytes >= most * es && floats <= INT32_MAX);
    NEED(d->tile_bytes >= (d->exact ? d->x_sin_at + floats : wide) && d->x_sin_at >= wide);
    if (!gathered) return NULL;
    NEED(cs == 4 || d->tile_bytes >= 8 * (int64_t)d->table);
    NEED(d->places_bytes >= 8 * (d->width > ROPE_GRAD_SPREAD ? d->width : ROPE_GRAD_SPREAD) +
                                (d->exact ? 4 * ROPE_GRAD_PARTNERS : 0));
    const char *wrong =
        judge_stream(d, es, (int64_t)most, d->q_heads, d->q_rows, d->q_pitch, d->q_pattern);
    return wrong ? wrong
                 : judge_stream(d, es, (int64_t)most, d->k_heads, d->k_rows, d->k_pitch,
                                d->k_pattern);
}

/* A bit at a time, unlike tiling and the kernel. */
static uint32_t number_at(const RopeGradMany *d, uint32_t first, uint32_t bits) {
    uint32_t number = 0;
    for (uint32_t i = 0; i < bits; i++) {
        uint32_t at = first + i;
        number += (d->lengths[at / 32] >> at % 32 & 1) << i;
    }
    return number;
}

static uint32_t length_of(const RopeGradMany *d, uint32_t seq) {
    return d->plan.shortest + number_at(d, seq * d->plan.bits, d->plan.bits);
}

static uint32_t start_of(const RopeGradMany *d, uint32_t seq) {
    const RopeGradPlan *p = &d->plan;
    return p->first_row + number_at(d, p->batch * p->bits + seq * p->row_bits, p->row_bits);
}

/* Counts the rows between two cuts of one group. */
static const char *walk_group(const RopeGradMany *d, uint32_t seq, uint32_t count, int64_t first,
                              uint32_t from_pos, uint32_t from_skip, uint32_t to_pos,
                              uint32_t to_skip, unsigned char *seen, int64_t *rows) {
    uint32_t begun = 0, ended = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t low = from_pos, high = to_pos, length = length_of(d, seq + i);
        uint32_t start = start_of(d, seq + i), end = start + length;
        if (start <= from_pos && from_pos < end && begun++ < from_skip) low++;
        if (start <= to_pos && to_pos < end && ended++ < to_skip) high++;
        low = low > start ? low : start;
        high = high < end ? high : end;
        for (uint32_t p = low; p < high; p++) {
            NEED(seen[first + p - start] == 0);
            seen[first + p - start] = 1;
            ++*rows;
        }
        first += length;
    }
    return NULL;
}

static const char *walk(const RopeGradMany *all, uint32_t cores, int64_t tokens) {
    const RopeGradPlan *d = &all->plan;
    static unsigned char seen[WALKED];
    memset(seen, 0, (size_t)tokens);
    for (uint32_t core = 0; core < cores; core++) {
        uint32_t last = d->cut_seq[core + 1];
        int64_t first = d->cut_token[core], rows = 0;
        for (uint32_t seq = d->cut_seq[core]; seq <= last && seq < d->batch; seq += d->group) {
            uint32_t count = d->batch - seq < d->group ? d->batch - seq : d->group, end = 0;
            int64_t sum = 0;
            for (uint32_t i = seq; i < seq + count; i++) {
                uint32_t length = length_of(all, i), ends = start_of(all, i) + length;
                sum += length;
                end = end < ends ? ends : end;
            }
            bool begins = seq == d->cut_seq[core], ends = seq == last;
            const char *wrong =
                walk_group(all, seq, count, first, begins ? d->cut_pos[core] : 0,
                           begins ? d->cut_skip[core] : 0, ends ? d->cut_pos[core + 1] : end,
                           ends ? d->cut_skip[core + 1] : 0, seen, &rows);
            if (wrong) return wrong;
            first += sum;
        }
        NEED(rows <= 2 * (tokens / cores) + 32); /* no core has far more to do than the others */
    }
    for (int64_t i = 0; i < tokens; i++)
        NEED(seen[i] == 1);
    return NULL;
}

static const char *judge_cuts(const RopeGradMany *all, uint32_t cores, int64_t tokens, int64_t es) {
    const RopeGradPlan *d = &all->plan;
    int64_t row = (int64_t)d->head * es;
    NEED(d->group >= 1 && d->batch >= 1);
    uint32_t lowest = UINT32_MAX; /* rows of cos before it are nobody's */
    for (uint32_t i = 0; i < d->group && i < d->batch; i++)
        lowest = start_of(all, i) < lowest ? start_of(all, i) : lowest;
    NEED(d->cut_token[0] == 0 && d->cut_seq[0] == 0 && d->cut_pos[0] == lowest &&
         d->cut_skip[0] == 0);
    NEED(d->cut_token[cores] == tokens && d->cut_seq[cores] == d->batch);
    for (uint32_t c = 1; c < cores; c++) {
        NEED(d->cut_seq[c] >= d->cut_seq[c - 1] && d->cut_seq[c] < d->batch &&
             d->cut_seq[c] % d->group == 0);
        NEED(d->cut_token[c] >= d->cut_token[c - 1]);
        uint32_t seq = d->cut_seq[c], start = start_of(all, seq);
        NEED(d->group > 1 ||
             (d->cut_pos[c] >= start && d->cut_pos[c] - start < length_of(all, seq)));
        if (d->group == 1) { /* otherwise every row is whole blocks */
            wide_int at = (wide_int)(d->cut_token[c] + d->cut_pos[c] - start) * row;
            NEED(at * d->q_heads % 32 == 0 && at * d->k_heads % 32 == 0);
        }
    }
    NEED(d->group == 1 ||
         ((wide_int)row * d->q_heads % 32 == 0 && (wide_int)row * d->k_heads % 32 == 0));
    return tokens < WALKED ? walk(all, cores, tokens) : NULL;
}

static const char *judge(const struct trial *t, const struct ascgrad_launch *launch) {
    static RopeGradMany all;
    const RopeGradPlan *d = &all.plan;
    NEED(launch->key <= 1 &&
         launch->size == (launch->key ? sizeof(RopeGradMany) : sizeof(RopeGradFew)));
    NEED(launch->workspace == 0 && !launch->sync_all);
    memset(&all, 0, sizeof all);
    memcpy(&all, launch->data, launch->size);
    const struct ascgrad_shape *q = t->node.in[0].shape, *k = t->node.in[1].shape,
                               *cos = t->node.in[2].shape;
    NEED((wide_int)d->batch * (d->bits + d->row_bits) <=
         32 * (launch->key ? ROPE_GRAD_MANY : ROPE_GRAD_FEW));
    NEED(d->starts_at == d->batch * d->bits || d->batch == 0);
    int64_t head = t->node.attr[2].i ? t->node.attr[2].i : cos->dim[1];
    NEED(d->rotated == cos->dim[1] && d->head == head &&
         (wide_int)d->q_heads * d->head == q->dim[1] &&
         (wide_int)d->k_heads * d->head == k->dim[1]);
    NEED(d->slice == t->node.attr[3].i && (wide_int)d->slice + d->rotated <= d->head);
    NEED(d->exact == (t->node.attr[1].i != 0));
    const char *wrong = judge_buffers(d, &t->node, (int64_t)t->chip.ub);
    if (wrong) return wrong;
    if (d->batch == 0) return q->dim[0] == 0 || d->q_heads + d->k_heads == 0 ? NULL : "batch";
    int64_t sum = 0;
    uint32_t seq = 0;
    for (size_t i = 0; i < t->node.attr[0].count; i++) {
        if (t->list[i] == 0) continue;
        int64_t start = t->node.attr[4].count ? t->second_list[i] : 0;
        NEED(seq < d->batch && length_of(&all, seq) == t->list[i] && start_of(&all, seq) == start);
        NEED(start + t->list[i] <= cos->dim[0]);
        sum += t->list[i];
        seq++;
    }
    NEED(seq == d->batch && sum == q->dim[0]);
    wide_int row = (wide_int)(q->dim[1] + k->dim[1]) * ascgrad_dtype_size(t->node.in[0].dtype);
    NEED(d->stream == (sum * row > l2_bytes(t)));
    return judge_cuts(&all, launch->block_dim, sum,
                      (int64_t)ascgrad_dtype_size(t->node.in[0].dtype));
}

const struct property property_rope_grad = {"rope_grad", make, judge, NULL};
