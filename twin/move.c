/* SPDX-License-Identifier: Apache-2.0
 *
 * DataCopy and DataCopyPad: blocks with gaps between GM and UB, and UB to UB; atomic adds on the
 * way to GM.
 */
#include "core.h"
#include "half.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* What DataCopyPad leaves in UB beside the data when it is not told: never to be used, so a NaN of
 * every type. */
enum { FILLER = 0xff };

enum { ATOMIC_F16, ATOMIC_F32, ATOMIC_I32, ATOMIC_I16, ATOMIC_I8, ATOMIC_BF16 };

static void add_one(uint8_t *to, const uint8_t *from, int type) {
    uint16_t h, g;
    uint32_t u, w;
    float f, e;
    switch (type) {
    case ATOMIC_F16:
        memcpy(&h, to, 2), memcpy(&g, from, 2);
        h = twin_f32_to_f16(twin_f16_to_f32(h) + twin_f16_to_f32(g));
        memcpy(to, &h, 2);
        break;
    case ATOMIC_BF16:
        memcpy(&h, to, 2), memcpy(&g, from, 2);
        h = twin_f32_to_bf16(twin_bf16_to_f32(h) + twin_bf16_to_f32(g));
        memcpy(to, &h, 2);
        break;
    case ATOMIC_I16:
        memcpy(&h, to, 2), memcpy(&g, from, 2);
        h = (uint16_t)(h + g);
        memcpy(to, &h, 2);
        break;
    case ATOMIC_F32:
        memcpy(&f, to, 4), memcpy(&e, from, 4);
        f += e;
        memcpy(to, &f, 4);
        break;
    case ATOMIC_I32:
        memcpy(&u, to, 4), memcpy(&w, from, 4);
        u += w;
        memcpy(to, &u, 4);
        break;
    default:
        *to = (uint8_t)(*to + *from);
        break;
    }
}

/* In the fast build several threads may add to the same place. */
static void add_block(uint8_t *to, const uint8_t *from, uint64_t bytes, int type) {
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    static const uint8_t size[] = {2, 4, 4, 2, 1, 2};
    pthread_mutex_lock(&one_at_a_time);
    for (uint64_t i = 0; i < bytes; i += size[type])
        add_one(to + i, from + i, type);
    pthread_mutex_unlock(&one_at_a_time);
}

static uint64_t round_up(uint64_t bytes) {
    return (bytes + TWIN_BLOCK_BYTES - 1) & ~(uint64_t)(TWIN_BLOCK_BYTES - 1);
}

static void load_padded(const struct twin_dma *v, uint8_t *to, const uint8_t *gm) {
    uint32_t left = (uint32_t)v->left * v->size, right = (uint32_t)v->right * v->size;
    uint64_t end = left + v->length + right;
    memcpy(to + left, gm, v->length);
    if (v->is_pad) {
        for (uint32_t i = 0; i < left; i++)
            to[i] = v->value[i % v->size];
        for (uint32_t i = 0; i < right; i++)
            to[left + v->length + i] = v->value[i % v->size];
    } else {
        memset(to, FILLER, left);
        memset(to + left + v->length, FILLER, right);
    }
    memset(to + end, FILLER, round_up(end) - end);
}

/* Outputs are not read again: past the cache, where the CPU has such stores. twin_settle orders
 * them before what other threads do next. */
static void store_past_cache(uint8_t *to, const uint8_t *from, uint64_t bytes) {
#if defined(__SSE2__)
    uint64_t head = -(uintptr_t)to & 63;
    if (bytes >= 256) {
        memcpy(to, from, head);
        to += head, from += head, bytes -= head;
        for (; bytes >= 64; to += 64, from += 64, bytes -= 64) {
            const __m128i *line = (const __m128i *)(const void *)from;
            __m128i *out = (__m128i *)(void *)to;
            __m128i a = _mm_loadu_si128(line), b = _mm_loadu_si128(line + 1),
                    c = _mm_loadu_si128(line + 2), d = _mm_loadu_si128(line + 3);
            _mm_stream_si128(out, a);
            _mm_stream_si128(out + 1, b);
            _mm_stream_si128(out + 2, c);
            _mm_stream_si128(out + 3, d);
        }
    }
#endif
    memcpy(to, from, bytes);
}

void twin_settle(void) {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

void twin_run_dma(const struct twin_dma *v, uint8_t *gm, int atomic, bool past_cache) {
    if (!v->blocks || !v->length) return;
    if (v->kind == TWIN_MOVE) {
        for (uint64_t b = 0; b < v->blocks; b++)
            memmove(v->ub.at + b * (v->length + (uint64_t)v->ub_gap),
                    v->ub2.at + b * (v->length + (uint64_t)v->ub2_gap), v->length);
        return;
    }
    uint64_t in_ub =
        v->pad ? round_up((uint64_t)(v->left + v->right) * v->size + v->length) : v->length;
    int64_t gm_step = (int64_t)v->length + v->gm_gap;
    uint8_t *ub = v->ub.at;
    if (v->kind == TWIN_LOAD && v->pad && in_ub != v->length) {
        for (uint64_t b = 0; b < v->blocks; b++, gm += gm_step, ub += in_ub + (uint64_t)v->ub_gap)
            load_padded(v, ub, gm);
        return;
    }
    uint64_t blocks = v->blocks, length = v->length;
    if (in_ub == length && v->gm_gap == 0 && v->ub_gap == 0) length *= blocks, blocks = 1;
    for (uint64_t b = 0; b < blocks; b++, gm += gm_step, ub += in_ub + (uint64_t)v->ub_gap) {
        if (v->kind == TWIN_LOAD)
            memcpy(ub, gm, length);
        else if (atomic < 0 && past_cache)
            store_past_cache(gm, ub, length);
        else if (atomic < 0)
            memcpy(gm, ub, length);
        else
            add_block(gm, ub, length, atomic);
    }
}

/* The CPU does not load the next tile while it works on this one, as the chip does; but it can
 * fetch it into its cache. What follows a load without gaps is taken to be next. */
static void foresee(struct twin_core *core, const struct twin_dma *v) {
    struct twin_ahead *a = &core->ahead[core->loads++ % TWIN_AHEAD];
    a->at = v->gm + v->blocks * v->length;
    a->end = a->at + v->blocks * v->length;
}

void twin_look_ahead(struct twin_core *core, uint64_t elements) {
    uint64_t lines = elements / 32 + 1; /* found by trying */
    for (struct twin_ahead *a = core->ahead; a < core->ahead + TWIN_AHEAD; a++)
        for (; a->at < a->end && lines; a->at += 64, lines--)
            __builtin_prefetch((const void *)(uintptr_t)a->at, 0, 2);
}

void twin_dma_fast(const struct twin_dma *v) {
    const struct twin_job *job = twin_core->job;
    bool tensor = v->gm - (uintptr_t)job->workspace >= job->launch->workspace;
    bool gaps = v->blocks > 1 && v->gm_gap != 0;
    twin_run_dma(v, (uint8_t *)(uintptr_t)v->gm, twin_core->atomic, tensor);
    if (v->kind == TWIN_LOAD && tensor && !gaps) foresee(twin_core, v);
}
