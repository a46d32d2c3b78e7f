/* SPDX-License-Identifier: Apache-2.0
 *
 * TPipe, TBuf, TQue and event ids. A queue synchronises by flags only, as on the chip: EnQue sets,
 * DeQue waits; FreeTensor sets the way back, AllocTensor waits for it.
 */
#include "check.h"
#include "cycle_table.h"

const char *const twin_pipe_name[TWIN_PIPES] = {"S", "V", "MTE2", "MTE3"};

/* The events of a vector core, by their number in AscendC::HardEvent. */
static const struct {
    uint8_t event, from, to;
    const char *name;
} events[] = {
    {4, TWIN_MTE2, TWIN_V, "MTE2_V"},
    {5, TWIN_V, TWIN_MTE2, "V_MTE2"},
    {6, TWIN_MTE3, TWIN_V, "MTE3_V"},
    {7, TWIN_V, TWIN_MTE3, "V_MTE3"},
    {10, TWIN_V, TWIN_V, "V_V"},
    {19, TWIN_MTE3, TWIN_MTE2, "MTE3_MTE2"},
    {20, TWIN_MTE2, TWIN_MTE3, "MTE2_MTE3"},
    {21, TWIN_S, TWIN_V, "S_V"},
    {22, TWIN_V, TWIN_S, "V_S"},
    {23, TWIN_S, TWIN_MTE2, "S_MTE2"},
    {24, TWIN_MTE2, TWIN_S, "MTE2_S"},
    {25, TWIN_S, TWIN_MTE3, "S_MTE3"},
    {26, TWIN_MTE3, TWIN_S, "MTE3_S"},
};

bool twin_event_pipes(uint8_t event, enum twin_pipe *from, enum twin_pipe *to) {
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        if (events[i].event != event) continue;
        *from = events[i].from;
        *to = events[i].to;
        return true;
    }
    return false;
}

const char *twin_event_name(uint8_t event) {
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i].event == event) return events[i].name;
    return "an event that a vector core does not have";
}

const char *twin_position_name(uint8_t position) {
    return position == TWIN_VECIN ? "VECIN" : position == TWIN_VECOUT ? "VECOUT" : "VECCALC";
}

void twin_pipe_init(const struct twin_site *site) {
    struct twin_core *c = twin_core;
    if (c->checked && c->started) twin_violation(site, "a second TPipe in one kernel");
    c->started = true;
    twin_state_pipe(c, site);
}

/* Pads to 32 bytes and stacks the buffers in order, as the chip's TPipe does. */
uint16_t twin_init_buffer(uint8_t position, uint32_t count, uint64_t bytes, bool queue,
                          uint32_t depth, uint8_t enque_event, uint8_t free_event,
                          const struct twin_site *site) {
    struct twin_core *c = twin_core;
    if (c->checked) twin_cost_scalar(c, TWIN_SCALAR_INIT_BUFFER * count);
    uint32_t capacity = c->job->launch->soc->ub;
    uint64_t each = (bytes + TWIN_BLOCK_BYTES - 1) / TWIN_BLOCK_BYTES * TWIN_BLOCK_BYTES;
    if (c->checked) {
        if (!bytes || !count)
            twin_violation(site, "a buffer of %u x %llu bytes", count, (unsigned long long)bytes);
        if (c->buffers + count > TWIN_BUFFERS)
            twin_violation(site, "%u buffers, a kernel may have %d", c->buffers + count,
                           TWIN_BUFFERS);
        if (c->top + each * count > capacity)
            twin_violation(site,
                           "UB overflow: %u bytes are taken, %u x %llu more do not fit into %u",
                           c->top, count, (unsigned long long)each, capacity);
    } else if (c->buffers + count > TWIN_BUFFERS || c->top + each * count > TWIN_UB_MAX) {
        count = 0; /* the checked build says what is wrong; here only keep within our own memory */
        each = 0;
    }
    struct twin_que *q = &c->que[c->queues];
    *q = (struct twin_que){.first = c->buffers,
                           .count = (uint16_t)count,
                           .depth = queue ? (uint16_t)depth : 0,
                           .position = position,
                           .enque_event = enque_event,
                           .free_event = free_event,
                           .file = site ? site->file : NULL,
                           .line = site ? site->line : 0};
    for (uint32_t i = 0; i < count; i++) {
        c->buffer[c->buffers++] = (struct twin_buffer){.address = c->top,
                                                       .bytes = (uint32_t)each,
                                                       .position = position,
                                                       .state = queue ? TWIN_FREE : TWIN_PLAIN,
                                                       .enque_id = -1,
                                                       .free_id = -1,
                                                       .que = c->queues};
        c->top += (uint32_t)each;
    }
    return c->queues++;
}

static struct twin_local whole(struct twin_core *c, uint16_t buffer) {
    struct twin_buffer *b = &c->buffer[buffer];
    return (struct twin_local){c->ub + b->address, b->bytes, buffer, b->position, b->generation};
}

struct twin_local twin_buf_get(uint16_t que, uint32_t offset, uint32_t bytes,
                               const struct twin_site *site) {
    struct twin_core *c = twin_core;
    if (c->checked && que >= c->queues)
        twin_violation(site, "the TBuf was never given to InitBuffer");
    struct twin_local t = whole(c, c->que[que].first);
    if (bytes == UINT32_MAX) bytes = t.bytes - offset;
    if (c->checked && ((uint64_t)offset + bytes > t.bytes || offset % TWIN_BLOCK_BYTES))
        twin_violation(site, "bytes %u..%llu of a TBuf of %u bytes", offset,
                       (unsigned long long)offset + bytes, t.bytes);
    t.at += offset;
    t.bytes = bytes;
    return t;
}

static struct twin_que *queue_of(struct twin_core *c, uint16_t que, const struct twin_site *site) {
    if (c->checked && que >= c->queues)
        twin_violation(site, "the TQue was never given to InitBuffer");
    return &c->que[que];
}

static void forget(struct twin_core *c, const struct twin_buffer *b) {
    struct twin_ub_block *k = c->block + b->address / TWIN_BLOCK_BYTES;
    for (uint32_t i = 0; i < b->bytes / TWIN_BLOCK_BYTES; i++)
        k[i].init = 0, k[i].ever = 0;
}

static void check_live(struct twin_core *c, const struct twin_que *q,
                       const struct twin_site *site) {
    uint32_t live = 0;
    for (uint32_t i = 0; i < c->buffers; i++) {
        const struct twin_buffer *b = &c->buffer[i];
        live += b->position == q->position && b->state != TWIN_PLAIN && b->state != TWIN_FREE;
    }
    if ((int)live > twin_live_limit())
        twin_violation(site, "%u tensors of position %s are allocated at once, the chip allows %d",
                       live, twin_position_name(q->position), twin_live_limit());
}

struct twin_local twin_que_alloc(uint16_t que, const struct twin_site *site) {
    struct twin_core *c = twin_core;
    if (c->checked) twin_cost_scalar(c, TWIN_SCALAR_QUEUE);
    struct twin_que *q = queue_of(c, que, site);
    for (uint32_t tried = 0; tried < q->count; tried++) {
        uint16_t at = (uint16_t)(q->first + q->cursor);
        struct twin_buffer *b = &c->buffer[at];
        q->cursor = (uint16_t)((q->cursor + 1) % q->count);
        if (b->state != TWIN_FREE) continue;
        b->state = TWIN_OCCUPIED;
        b->generation++;
        if (c->checked) {
            if (b->free_id >= 0) {
                twin_flag_wait(q->free_event, b->free_id, site);
                twin_event_release(q->free_event, b->free_id, site);
                b->free_id = -1;
            }
            forget(c, b);
            check_live(c, q, site);
        }
        return whole(c, at);
    }
    if (c->checked)
        twin_violation(site,
                       "all %u buffers of the %s queue are in use: FreeTensor is missing, or "
                       "InitBuffer gave too few",
                       q->count, twin_position_name(q->position));
    return whole(c, q->first);
}

static struct twin_buffer *owned(struct twin_core *c, const struct twin_que *q,
                                 const struct twin_local *t, const struct twin_site *site) {
    if (c->checked && !t->at) twin_violation(site, "the tensor has no buffer");
    if (c->checked && (t->buffer < q->first || t->buffer >= q->first + q->count))
        twin_violation(site, "the tensor comes from another queue or TBuf");
    return &c->buffer[t->buffer];
}

void twin_que_push(uint16_t que, const struct twin_local *t, const struct twin_site *site) {
    struct twin_core *c = twin_core;
    if (c->checked) twin_cost_scalar(c, TWIN_SCALAR_QUEUE);
    struct twin_que *q = queue_of(c, que, site);
    struct twin_buffer *b = owned(c, q, t, site);
    if (c->checked) {
        if (b->state != TWIN_OCCUPIED && b->state != TWIN_DEQUEUED)
            twin_violation(site, "EnQue of a tensor that is %s",
                           b->state == TWIN_FREE ? "free" : "already in the queue");
        if (q->used >= q->depth)
            twin_violation(site, "more than %u tensors in a queue of that depth", q->depth);
        b->enque_id = (int8_t)twin_event_alloc(q->enque_event, true, site);
        twin_flag_set(q->enque_event, b->enque_id, site);
    }
    b->state = TWIN_QUEUED;
    q->ring[(q->head + q->used++) % TWIN_BUFFERS] = t->buffer;
}

struct twin_local twin_que_pop(uint16_t que, const struct twin_site *site) {
    struct twin_core *c = twin_core;
    if (c->checked) twin_cost_scalar(c, TWIN_SCALAR_QUEUE);
    struct twin_que *q = queue_of(c, que, site);
    if (!q->used) {
        if (c->checked)
            twin_violation(site, "DeQue from an empty %s queue", twin_position_name(q->position));
        return whole(c, q->first);
    }
    uint16_t at = q->ring[q->head % TWIN_BUFFERS];
    q->head = (uint16_t)((q->head + 1) % TWIN_BUFFERS);
    q->used--;
    struct twin_buffer *b = &c->buffer[at];
    b->state = TWIN_DEQUEUED;
    if (c->checked) {
        twin_flag_wait(q->enque_event, b->enque_id, site);
        twin_event_release(q->enque_event, b->enque_id, site);
        b->enque_id = -1;
    }
    return whole(c, at);
}

void twin_que_free(uint16_t que, const struct twin_local *t, const struct twin_site *site) {
    struct twin_core *c = twin_core;
    if (c->checked) twin_cost_scalar(c, TWIN_SCALAR_QUEUE);
    struct twin_que *q = queue_of(c, que, site);
    struct twin_buffer *b = owned(c, q, t, site);
    if (c->checked) {
        if (b->state == TWIN_FREE)
            twin_violation(site, "FreeTensor of a tensor that is already free");
        if (b->state == TWIN_QUEUED)
            twin_violation(site, "FreeTensor of a tensor that is still in the queue");
        if (b->generation != t->stale)
            twin_violation(site, "FreeTensor of a stale tensor: its buffer was given out again");
        b->free_id = (int8_t)twin_event_alloc(q->free_event, true, site);
        twin_flag_set(q->free_event, b->free_id, site);
    }
    b->state = TWIN_FREE;
}

uint32_t twin_que_count(uint16_t que, int what) {
    struct twin_core *c = twin_core;
    const struct twin_que *q = &c->que[que];
    if (what == 0) return q->used;
    uint32_t idle = 0;
    for (uint32_t i = 0; i < q->count; i++)
        idle += c->buffer[q->first + i].state == TWIN_FREE;
    return idle;
}

/* TPipe::Reset and the end of the kernel: wait for the buffers that are on their way back. */
static void drain(struct twin_core *c, const struct twin_site *site) {
    for (uint32_t i = 0; i < c->buffers; i++) {
        struct twin_buffer *b = &c->buffer[i];
        if (b->state != TWIN_PLAIN && b->state != TWIN_FREE && c->checked)
            twin_violation(site, "a tensor of a %s queue was never freed (buffer at %u, %u bytes)",
                           twin_position_name(b->position), b->address, b->bytes);
        if (b->free_id >= 0 && c->checked) {
            uint8_t event = c->que[b->que].free_event;
            twin_flag_wait(event, b->free_id, site);
            twin_event_release(event, b->free_id, site);
            b->free_id = -1;
        }
    }
}

void twin_pipe_reset(const struct twin_site *site) {
    struct twin_core *c = twin_core;
    drain(c, site);
    if (c->checked) twin_barrier(TWIN_PIPES, site);
    for (uint32_t i = 0; i < c->buffers && c->checked; i++)
        forget(c, &c->buffer[i]);
    c->buffers = c->queues = 0;
    c->top = 0;
    twin_state_pipe(c, site);
}

void twin_pipe_end(const struct twin_site *site) {
    struct twin_core *c = twin_core;
    if (!c->checked) return;
    drain(c, site);
    if (c->dirty_lines)
        twin_violation(site, "SetValue on a GlobalTensor without DataCacheCleanAndInvalid: the "
                             "value may never reach GM");
    for (uint8_t e = 0; e < TWIN_EVENTS; e++)
        for (int id = 0; id < TWIN_EVENT_IDS; id++)
            if (c->flag[e][id].set)
                twin_violation(
                    site, "flag %s id %d is still set when the kernel ends: a WaitFlag is missing",
                    twin_event_name(e), id);
}

int32_t twin_event_alloc(uint8_t event, bool keep, const struct twin_site *site) {
    struct twin_core *c = twin_core;
    for (int id = 0; id < twin_event_limit(); id++) {
        if (c->event_ids[event] >> id & 1) continue;
        if (keep) c->event_ids[event] |= (uint8_t)(1u << id);
        return id;
    }
    if (c->checked)
        twin_violation(
            site,
            "all %d event ids of %s are in use (queues take one per EnQue and one per FreeTensor)",
            twin_event_limit(), twin_event_name(event));
    return 0;
}

void twin_event_release(uint8_t event, int32_t id, const struct twin_site *site) {
    struct twin_core *c = twin_core;
    if (c->checked && (id < 0 || id >= TWIN_EVENT_IDS || !(c->event_ids[event] >> id & 1)))
        twin_violation(site, "ReleaseEventID of %s id %d, which was not allocated",
                       twin_event_name(event), id);
    c->event_ids[event] &= (uint8_t) ~(1u << (id & 7));
}
