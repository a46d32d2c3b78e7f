/* SPDX-License-Identifier: Apache-2.0
 *
 * The cache of launches that nnopbase of 2026 has: a call like an earlier one needs no tiling. What
 * makes calls alike is all that the executor was told since the flag was set; addresses do not
 * count.
 */
#include "executor.h"

#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

struct cached {
    struct cached *next;
    uint8_t *key;
    size_t size;
    struct standin_launch launch;
    void *tiling;
    bool empty;
};

/* A key that grows; bytes is NULL once memory has run out. */
struct key {
    uint8_t *bytes;
    size_t size;
};

static void add(struct key *key, const void *data, size_t size) {
    uint8_t *more = key->bytes ? realloc(key->bytes, key->size + size) : NULL;
    if (!more) {
        free(key->bytes);
    } else {
        memcpy(more + key->size, data, size);
    }
    key->bytes = more;
    key->size += size;
}

static void add_tensor(struct key *key, const aclTensor *t, bool present) {
    add(key, &present, sizeof present);
    if (present) {
        add(key, &t->dtype, sizeof t->dtype);
        add(key, &t->rank, sizeof t->rank);
        add(key, t->dim, t->rank * sizeof t->dim[0]);
    }
}

static struct key key_of(const struct executor *e) {
    const int deterministic = standin_deterministic();
    const uint32_t cores = standin_core_limit();
    struct key key = {malloc(1), 0};
    add(&key, &deterministic, sizeof deterministic);
    add(&key, &cores, sizeof cores);
    for (uint32_t i = 0; i < e->inputs; i++) {
        add_tensor(&key, &e->in[i], e->has_in[i]);
    }
    for (uint32_t i = 0; i < e->attrs; i++) {
        add(&key, &e->attr[i].size, sizeof e->attr[i].size);
        add(&key, e->attr[i].at, e->attr[i].size);
    }
    for (uint32_t i = 0; i < e->outputs; i++) {
        add_tensor(&key, &e->out[i], true);
    }
    return key;
}

static const struct cached *find(const struct space *space, const struct key *key) {
    const struct cached *c = space->cache;
    while (c && (c->size != key->size || memcmp(c->key, key->bytes, key->size) != 0)) {
        c = c->next;
    }
    return c;
}

static void *copy_of(const void *data, size_t size) {
    void *copy = malloc(size ? size : 1);
    if (copy && size) {
        memcpy(copy, data, size);
    }
    return copy;
}

void standin_remember(const struct executor *e) {
    if (!e->cached) {
        return;
    }
    struct key key = key_of(e);
    struct cached *made = key.bytes ? malloc(sizeof *made) : NULL;
    void *tiling = made ? copy_of(e->tiling, e->empty ? 0 : e->launch.tiling_bytes) : NULL;
    bool kept = false;
    pthread_mutex_lock(&e->space->lock);
    if (tiling && !find(e->space, &key)) {
        *made = (struct cached){e->space->cache, key.bytes, key.size, e->launch, tiling, e->empty};
        e->space->cache = made;
        kept = true;
    }
    pthread_mutex_unlock(&e->space->lock);
    if (!kept) {
        free(tiling);
        free(made);
        free(key.bytes);
    }
}

API void NnopbaseSetMatchArgsFlag(void *executor) {
    struct executor *e = executor;
    e->cached = true;
}

API bool NnopbaseMatchArgs(void *executor, uint64_t *size) {
    struct executor *e = executor;
    if (!e->cached || e->gaps.size > 0) {
        return false;
    }
    struct key key = key_of(e);
    pthread_mutex_lock(&e->space->lock);
    const struct cached *c = key.bytes ? find(e->space, &key) : NULL;
    if (c) {
        e->launch = c->launch;
        e->empty = c->empty;
        e->tiling = copy_of(c->tiling, c->empty ? 0 : c->launch.tiling_bytes);
        e->launch.tiling = e->tiling;
        e->prepared = true;
        *size = e->launch.workspace;
    }
    pthread_mutex_unlock(&e->space->lock);
    free(key.bytes);
    return c != NULL;
}
