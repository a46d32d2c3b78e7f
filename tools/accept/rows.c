/* SPDX-License-Identifier: Apache-2.0
 *
 * Which rows `ascgrad accept` runs: of each operator those rows of `ascgrad check` that between
 * them show the most. A row with a dtype has traits: its dtypes, fill, attributes, optional inputs,
 * which axes are broadcast, empty or not a multiple of 32 bytes, its size, what tiling makes of it.
 * Taken is always the one with the most traits that were not seen yet. Nothing here knows an
 * operator.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accept.h"

enum { TRAITS = 96, FEW = 8, MANY = 40, QUICK_BYTES = 1 << 19, TIMED_QUICK = 3 };

struct candidate {
    const struct row *row;
    const char *star;
    int64_t bytes; /* of all inputs */
    uint64_t trait[TRAITS];
    size_t traits;
    bool taken;
};

struct set {
    uint64_t *item;
    size_t count, room;
};

static bool has(const struct set *s, uint64_t item) {
    for (size_t i = 0; i < s->count; i++)
        if (s->item[i] == item) return true;
    return false;
}

static void add(struct set *s, uint64_t item) {
    if (has(s, item)) return;
    if (s->count == s->room) {
        const size_t room = s->room ? 2 * s->room : 256;
        uint64_t *more = realloc(s->item, room * sizeof *more);
        if (!more) return;
        s->item = more;
        s->room = room;
    }
    s->item[s->count++] = item;
}

/* A trait is a kind, which of its kind (an input, an attribute), and a value. */
static void trait(struct candidate *c, char kind, uint64_t which, uint64_t value) {
    uint64_t h = 0xcbf29ce484222325u;
    const uint64_t part[] = {(uint64_t)kind, which, value};
    for (size_t i = 0; i < 3; i++)
        h = (h ^ part[i]) * 0x100000001b3u, h ^= h >> 29;
    if (c->traits < TRAITS) c->trait[c->traits++] = h;
}

static uint64_t log2_of(int64_t n) {
    uint64_t bits = 0;
    while (n >> bits > 1)
        bits++;
    return bits;
}

static void tensor_traits(struct candidate *c, const struct request *r, uint32_t i) {
    const struct ascgrad_tensor *t = &r->in[i], *first = &r->in[0];
    trait(c, 'p', i, t->rank >= 0);
    if (t->rank < 0) return;
    const int64_t bytes = text_tensor_bytes(t);
    uint64_t still = 0;
    for (int32_t k = 0; k < t->rank; k++)
        if (t->dim[k] == 1 && first->rank == t->rank && first->dim[k] != 1) still |= 1ull << k;
    c->bytes += bytes;
    trait(c, 'd', i, (uint64_t)t->dtype);
    trait(c, 'b', i, still);
    if (bytes == 0) trait(c, '0', i, 0);
    if (i > 0) return;
    const int64_t row = t->rank ? t->dim[t->rank - 1] * (t->dtype == ASCGRAD_TYPE_FP32 ? 4 : 2) : 0;
    trait(c, 'r', 0, (uint64_t)t->rank);
    trait(c, 'a', 0, (uint64_t)(row % 32 != 0) + (row % 64 != 0) + (row % 512 != 0));
    trait(c, 'l', 0, log2_of(row));
    trait(c, 's', 0, log2_of(bytes + 1) / 3);
}

static void attr_traits(struct candidate *c, const struct request *r) {
    for (uint32_t i = 0; i < r->op.attrs; i++) {
        const struct ascgrad_setting *s = &r->attr[i];
        uint64_t value = s->set ? 1 : 0;
        if (s->set) memcpy(&value, &s->value, sizeof value);
        if (s->count || strncmp(r->op.attr[i].type, "list", 4) == 0)
            value = log2_of((int64_t)s->count + 1);
        trait(c, 'v', i, value);
        trait(c, 'w', i, value * 64 + (uint64_t)r->in[0].dtype);
    }
}

/* False: this chip refuses the row, or it is no row. */
static bool look_at(const struct accept *a, struct candidate *c) {
    struct request r;
    enum fill fill = FILL_NORMAL;
    char why[ASCGRAD_WHY];
    struct ascgrad_plan *plan = malloc(sizeof *plan);
    bool good = check_read_row(&r, c->row, c->star, &fill, why) && plan;
    r.soc = a->model;
    struct ascgrad_call call = request_call(&r);
    good = good && ascgrad_infer(&call, why) == ASCGRAD_OK &&
           ascgrad_tile(&call, plan, why) == ASCGRAD_OK;
    for (uint32_t i = 0; good && i < r.op.inputs; i++)
        tensor_traits(c, &r, i);
    if (good) {
        attr_traits(c, &r);
        trait(c, 'f', 0, (uint64_t)fill);
        trait(c, 'g', 0, (uint64_t)fill * 64 + (uint64_t)r.in[0].dtype);
        trait(c, 'k', 0, plan->key);
        trait(c, 'q', 0, plan->key * 64 + (uint64_t)r.in[0].dtype);
        trait(c, 'c', 0, plan->block_dim == 1 ? 0 : plan->block_dim < 16 ? 1 : 2);
        trait(c, 'y', plan->sync_all, plan->workspace > 0);
    }
    request_free(&r);
    free(plan);
    return good;
}

static size_t list_candidates(const struct accept *a, const char *type, struct candidate *list,
                              size_t room) {
    static const char *const stars[] = {"fp16", "bf16", "fp32"};
    size_t n = 0;
    for (size_t k = 0; check_row(k); k++) {
        const struct row *row = check_row(k);
        if (row->refusal || strcmp(row->op, type) != 0) continue;
        for (int i = 0; i < (strchr(row->text, '*') ? 3 : 1) && n < room; i++) {
            list[n] = (struct candidate){.row = row, .star = stars[i]};
            if (!look_at(a, &list[n])) continue;
            if (!a->options.quick || list[n].bytes <= QUICK_BYTES) n++;
        }
    }
    return n;
}

/* Marks `want` of the candidates, the first one always. */
static void take(struct candidate *list, size_t count, size_t want) {
    struct set seen = {0};
    for (size_t taken = 0; taken < want && taken < count; taken++) {
        size_t best = count, most = 0;
        for (size_t i = 0; i < count; i++) {
            size_t fresh = 0;
            for (size_t k = 0; !list[i].taken && k < list[i].traits; k++)
                fresh += !has(&seen, list[i].trait[k]);
            if (!list[i].taken && (best == count || fresh > most) && (taken || i == 0))
                best = i, most = fresh;
        }
        if (most == 0) seen.count = 0; /* all seen: once more, with others */
        list[best].taken = true;
        for (size_t k = 0; k < list[best].traits; k++)
            add(&seen, list[best].trait[k]);
    }
    free(seen.item);
}

static bool append(struct accept *a, const struct candidate *c, const struct ascgrad_op_info *op,
                   bool large) {
    struct accept_case *more = realloc(a->cases, (a->count + 1) * sizeof *more);
    if (!more) return false;
    a->cases = more;
    struct accept_case *made = &more[a->count++];
    memset(made, 0, sizeof *made);
    made->row = c->row;
    made->star = c->star;
    made->op = *op;
    made->large = large;
    made->seed = check_seed(c->row);
    made->timed = a->options.times && c->bytes > 0;
    struct text text = {0};
    text_add(&text, "%s ", op->type);
    for (const char *at = c->row->text; *at; at++)
        text_bytes(&text, *at == '*' ? c->star : at, *at == '*' ? strlen(c->star) : 1);
    made->text = text.s;
    return !text.failed;
}

/* In a quick run only the largest few are timed. */
static void keep_times(struct accept_case *c, const struct candidate *list, size_t count,
                       size_t cases) {
    for (size_t i = 0; i < cases; i++) {
        int64_t mine = 0;
        size_t larger = 0;
        for (size_t k = 0; k < count; k++)
            if (list[k].row == c[i].row && list[k].star == c[i].star) mine = list[k].bytes;
        for (size_t k = 0; k < count; k++)
            larger += list[k].taken && list[k].bytes > mine;
        c[i].timed = c[i].timed && larger < TIMED_QUICK;
    }
}

/* The large rows; in a quick run the first that this chip takes, so that there is a time that is
 * the kernel's and not the launch's. */
static bool choose_large(struct accept *a, const struct ascgrad_op_info *op) {
    static const char *const stars[] = {"bf16", "fp32"};
    for (size_t k = 0; check_large_row(k); k++) {
        const struct row *row = check_large_row(k);
        if (strcmp(row->op, op->type) != 0) continue;
        for (int i = 0; i < (strchr(row->text, '*') ? 2 : 1); i++) {
            struct candidate c = {.row = row, .star = stars[i]};
            if (!look_at(a, &c)) continue;
            if (!append(a, &c, op, true)) return false;
            if (a->options.quick) return true;
        }
    }
    return true;
}

bool accept_choose(struct accept *a) {
    enum { ROOM = 2048 };
    struct candidate *list = malloc(ROOM * sizeof *list);
    struct ascgrad_op_info op;
    bool good = list != NULL;
    for (uint32_t i = 0; good && ascgrad_describe(i, &op); i++) {
        const char *only = a->options.op;
        if (only && strcmp(only, op.type) != 0 && strcmp(only, op.kernel) != 0) continue;
        const size_t count = list_candidates(a, op.type, list, ROOM), first = a->count;
        take(list, count, a->options.quick ? FEW : MANY);
        for (size_t k = 0; good && k < count; k++)
            if (list[k].taken) good = append(a, &list[k], &op, false);
        if (a->options.quick) keep_times(a->cases + first, list, count, a->count - first);
        if (a->options.times) good = good && choose_large(a, &op);
    }
    free(list);
    return good;
}
