/* SPDX-License-Identifier: Apache-2.0
 *
 * The checked half of data movement: DataCopy, DataCopyPad, scalar reads and writes, and the
 * lane-crossing vector calls.
 */
#include "check.h"
#include "cycle_table.h"

#include <string.h>

enum { MOST_BLOCKS = 4095, MOST_COPY = 65535 * 32, MOST_PAD = 2097151, SELECT_UB = 8192 };

static uint64_t round_up(uint64_t bytes) {
    return (bytes + TWIN_BLOCK_BYTES - 1) & ~(uint64_t)(TWIN_BLOCK_BYTES - 1);
}

static void check_fields(const struct twin_dma *v, const struct twin_site *site) {
    if (v->bad_field) twin_fail_field("a count, length, stride or padding", v->bad_value, site);
    if (v->cut)
        twin_violation(
            site, "the count is no multiple of 32 bytes: DataCopy would drop the last %llu bytes",
            (unsigned long long)v->cut);
    if (v->blocks > MOST_BLOCKS)
        twin_violation(site, "blockCount %llu, at most 4095", (unsigned long long)v->blocks);
    if (v->length > (v->pad ? MOST_PAD : MOST_COPY))
        twin_violation(site, "blockLen %llu bytes, at most %d", (unsigned long long)v->length,
                       v->pad ? MOST_PAD : MOST_COPY);
    if (v->length % v->size)
        twin_violation(site, "blockLen %llu is no multiple of the element size",
                       (unsigned long long)v->length);
    if (v->left * v->size > 32 || v->right * v->size > 32)
        twin_violation(site, "padding of %u and %u elements, each at most 32 bytes", v->left,
                       v->right);
}

/* UB side of a copy: block b occupies [at, at + bytes). */
static void check_ub_side(const struct twin_issue *i, const struct twin_dma *v,
                          const struct twin_local *t, int64_t gap, uint64_t in_ub, bool writes,
                          const char *what) {
    uint32_t base = twin_ub_at(i->core, t);
    uint64_t end = v->blocks * in_ub + (v->blocks - 1) * (uint64_t)gap;
    if (end > t->bytes)
        twin_violation(i->site, "%s needs %llu bytes from UB %u, its tensor has %u", what,
                       (unsigned long long)end, base, t->bytes);
    uint64_t blocks = v->blocks, step = in_ub + (uint64_t)gap;
    uint64_t length = !writes && v->length < in_ub ? v->length : in_ub; /* what is stored is read */
    if (length == step) length *= blocks, blocks = 1;
    for (uint64_t b = 0; b < blocks; b++) {
        uint32_t at = base + (uint32_t)(b * step);
        if (writes)
            twin_check_write(i, at, (uint32_t)length, what);
        else
            twin_check_read(i, at, (uint32_t)length, what);
    }
}

/* A load that replaces an earlier load of which nothing was read: traffic for nothing, or a slip.
 */
static void warn_unread(const struct twin_issue *i, const struct twin_dma *v, uint64_t in_ub) {
    uint32_t base = twin_ub_at(i->core, &v->ub);
    uint64_t end = v->blocks * in_ub + (v->blocks - 1) * (uint64_t)v->ub_gap;
    for (uint32_t k = base / TWIN_BLOCK_BYTES; k < (base + end) / TWIN_BLOCK_BYTES; k++)
        if (!i->core->block[k].unread) return;
    twin_warn(i->site, "loads over data at UB %u that was loaded before and never read", base);
}

static void define_load(struct twin_core *c, const struct twin_dma *v, uint64_t in_ub) {
    uint32_t base = twin_ub_at(c, &v->ub), left = (uint32_t)v->left * v->size,
             right = (uint32_t)v->right * v->size;
    for (uint64_t b = 0; b < v->blocks; b++) {
        uint32_t at = base + (uint32_t)(b * (in_ub + (uint64_t)v->ub_gap));
        twin_ub_define(c, at, (uint32_t)in_ub, true);
        if (in_ub == v->length) continue;
        uint32_t end = left + (uint32_t)v->length + right;
        if (!v->is_pad) {
            twin_ub_define(c, at, left, false);
            twin_ub_define(c, at + left + (uint32_t)v->length, right, false);
        }
        twin_ub_define(c, at + end, (uint32_t)in_ub - end, false);
    }
}

static void need_defined(const struct twin_issue *i, const struct twin_dma *v, uint64_t in_ub) {
    uint32_t base = twin_ub_at(i->core, &v->ub);
    for (uint64_t b = 0; b < v->blocks; b++) {
        uint32_t at = base + (uint32_t)(b * (in_ub + (uint64_t)v->ub_gap));
        if (twin_ub_defined(i->core, at, (uint32_t)v->length)) continue;
        uint32_t k = 0;
        while (twin_ub_defined(i->core, at + k, 1))
            k++;
        struct twin_reason why;
        twin_violation(i->site, "stores undefined bytes to GM at UB %u (%s)", at + k,
                       twin_undefined_by(i->core, &why));
    }
}

static void move_ub(const struct twin_dma *v, const struct twin_site *site) {
    struct twin_core *c = twin_core;
    struct twin_issue issue = twin_issue(TWIN_V, site);
    if (v->blocks && v->length && twin_computes(c)) {
        twin_check_tensor(&issue, &v->ub, TWIN_BLOCK_BYTES, "dst");
        twin_check_tensor(&issue, &v->ub2, TWIN_BLOCK_BYTES, "src");
        check_ub_side(&issue, v, &v->ub2, v->ub2_gap, v->length, false, "src");
        uint32_t to = twin_ub_at(c, &v->ub), from = twin_ub_at(c, &v->ub2);
        for (uint64_t b = 0; b < v->blocks;
             b++) { /* before the write is marked: definedness moves along */
            uint32_t d = to + (uint32_t)(b * (v->length + (uint64_t)v->ub_gap));
            uint32_t s = from + (uint32_t)(b * (v->length + (uint64_t)v->ub2_gap));
            for (uint32_t k = 0; k < v->length / TWIN_BLOCK_BYTES; k++)
                c->block[d / TWIN_BLOCK_BYTES + k].init = c->block[s / TWIN_BLOCK_BYTES + k].init;
        }
        check_ub_side(&issue, v, &v->ub, v->ub_gap, v->length, true, "dst");
        twin_run_dma(v, NULL, -1, false);
    }
    c->vector_calls++;
    twin_cost_vector(c, site, NULL, 0, 13, (double)(v->blocks * v->length) / TWIN_REPEAT_BYTES);
}

/* What a copy costs in bytes: at least so much per block, more when length or address is odd;
 * blocks without a gap in GM are one block. */
static double charged_bytes(const struct twin_dma *v) {
    bool odd = v->length % TWIN_BLOCK_BYTES || v->gm % TWIN_BLOCK_BYTES ||
               (v->blocks > 1 && v->gm_gap % TWIN_BLOCK_BYTES);
    double each = (double)v->length, blocks = (double)v->blocks;
    if (v->gm_gap == 0 && !odd) each *= blocks, blocks = 1;
    if (each < TWIN_DMA_LEAST) each = TWIN_DMA_LEAST;
    return each * blocks * (odd ? TWIN_DMA_UNALIGNED : 1.0);
}

/* All that a copy may break, and the copy itself. */
static void check_and_copy(struct twin_issue *i, const struct twin_dma *v) {
    struct twin_core *c = i->core;
    const char *what = v->kind == TWIN_LOAD ? "dst" : "src";
    twin_check_tensor(i, &v->ub, TWIN_BLOCK_BYTES, what);
    if (c->job->launch->soc->arch != ASCGRAD_ARCH_950 && v->ub.position == TWIN_VECCALC)
        twin_violation(i->site,
                       "%s is a VECCALC buffer: on this chip GM copies go to VECIN and from VECOUT",
                       what);
    uint64_t in_ub =
        v->pad ? round_up((uint64_t)(v->left + v->right) * v->size + v->length) : v->length;
    if (v->kind == TWIN_STORE) need_defined(i, v, in_ub);
    uint8_t *gm = twin_gm_access(i, v);
    if (v->kind == TWIN_LOAD) warn_unread(i, v, in_ub);
    uint64_t touched = v->kind == TWIN_STORE && v->blocks == 1 ? v->length : in_ub;
    check_ub_side(i, v, &v->ub, v->ub_gap, touched, v->kind == TWIN_LOAD, what);
    if (v->kind == TWIN_LOAD) {
        define_load(c, v, in_ub);
        twin_gm_take(i, v, in_ub + (uint64_t)v->ub_gap);
    }
    twin_run_dma(v, gm, c->atomic, false);
}

static void copy(const struct twin_dma *v, const struct twin_site *site) {
    struct twin_core *c = twin_core;
    enum twin_pipe pipe = v->kind == TWIN_LOAD ? TWIN_MTE2 : TWIN_MTE3;
    struct twin_issue issue = twin_issue(pipe, site);
    if (!v->blocks || !v->length) return;
    if (twin_computes(c))
        check_and_copy(&issue, v);
    else
        twin_gm_access(&issue, v); /* counts what is moved of which tensor */
    *(v->kind == TWIN_LOAD ? &c->gm_read : &c->gm_write) += v->blocks * v->length;
    c->dmas++;
    twin_cost_dma(c, site, pipe, charged_bytes(v), v->pad);
}

void twin_dma_checked(const struct twin_dma *v, const struct twin_site *site) {
    struct twin_effect effect = {.issued = 0};
    check_fields(v, site);
    twin_check_910_copy(v, site);
    if (v->kind == TWIN_MOVE)
        move_ub(v, site);
    else
        copy(v, site);
    twin_tell(twin_core, site, &effect);
}

/* Scalar unit. */

/* What a kernel does next may depend on a value that it reads. */
void twin_need_values(const struct twin_site *site) {
    if (!twin_computes(twin_core))
        twin_violation(site, "reads a value, so that its steps cannot be had without its data");
}

/* Where one element lies in UB, after the checks that reading and writing it share. */
static uint32_t element_at(struct twin_issue *issue, const struct twin_local *t, uint32_t index,
                           uint32_t size, const struct twin_site *site) {
    twin_check_tensor(issue, t, size, "the tensor");
    if ((uint64_t)(index + 1ull) * size > t->bytes)
        twin_violation(site, "element %u of a tensor of %u", index, t->bytes / size);
    return twin_ub_at(twin_core, t) + index * size;
}

void twin_local_get(const struct twin_local *t, uint32_t index, uint32_t size, void *value,
                    const struct twin_site *site) {
    struct twin_core *c = twin_core;
    if (c->checked) twin_cost_scalar(c, TWIN_SCALAR_ELEMENT);
    if (c->checked) {
        twin_need_values(site);
        struct twin_issue issue = twin_issue(TWIN_S, site);
        uint32_t at = element_at(&issue, t, index, size, site);
        twin_check_read(&issue, at, size, "the tensor");
        struct twin_reason why;
        if (!twin_ub_defined(c, at, size))
            twin_violation(site, "reads undefined bytes at UB %u (%s)", at,
                           twin_undefined_by(c, &why));
    }
    memcpy(value, t->at + (size_t)index * size, size);
}

void twin_local_set(const struct twin_local *t, uint32_t index, uint32_t size, const void *value,
                    const struct twin_site *site) {
    struct twin_core *c = twin_core;
    if (c->checked) twin_cost_scalar(c, TWIN_SCALAR_ELEMENT);
    if (c->checked) {
        struct twin_issue issue = twin_issue(TWIN_S, site);
        uint32_t at = element_at(&issue, t, index, size, site);
        twin_check_write(&issue, at, size, "the tensor");
        twin_ub_define(c, at, size, true);
    }
    memcpy(t->at + (size_t)index * size, value, size);
}

void twin_global_get(uint64_t address, uint32_t size, void *value, const struct twin_site *site) {
    if (twin_core->checked) {
        twin_cost_scalar(twin_core, TWIN_SCALAR_ELEMENT);
        twin_need_values(site);
        struct twin_issue issue = twin_issue(TWIN_S, site);
        struct twin_dma v = {
            .kind = TWIN_LOAD, .gm = address, .blocks = 1, .length = size, .size = (uint8_t)size};
        const uint8_t *gm = twin_gm_access(&issue, &v);
        twin_gm_take(&issue, &v, 0);
        memcpy(value, gm, size);
        return;
    }
    memcpy(value, (const void *)(uintptr_t)address, size);
}

static void note_dirty(struct twin_core *c, uint64_t line, const struct twin_site *site) {
    for (uint32_t i = 0; i < c->dirty_lines; i++)
        if (c->dirty[i] == line) return;
    if (c->dirty_lines == TWIN_DIRTY)
        twin_violation(
            site, "more than %d cache lines written by SetValue without DataCacheCleanAndInvalid",
            TWIN_DIRTY);
    c->dirty[c->dirty_lines++] = line;
}

void twin_global_set(uint64_t address, uint32_t size, const void *value,
                     const struct twin_site *site) {
    if (twin_core->checked) {
        twin_cost_scalar(twin_core, TWIN_SCALAR_ELEMENT);
        struct twin_issue issue = twin_issue(TWIN_S, site);
        struct twin_dma v = {
            .kind = TWIN_STORE, .gm = address, .blocks = 1, .length = size, .size = (uint8_t)size};
        uint8_t *gm = twin_gm_access(&issue, &v);
        if (gm) memcpy(gm, value, size);
        note_dirty(twin_core, address / 64, site);
        return;
    }
    memcpy((void *)(uintptr_t)address, value, size);
}

void twin_cache_clean(uint64_t address, bool entire, const struct twin_site *site) {
    struct twin_core *c = twin_core;
    (void)site;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->dirty_lines && !entire; i++)
        if (c->dirty[i] != address / 64) c->dirty[kept++] = c->dirty[i];
    c->dirty_lines = kept;
}
