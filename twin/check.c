/* SPDX-License-Identifier: Apache-2.0
 *
 * What the checker knows of UB and of the order between pipes. One clock per pipe: SetFlag takes a
 * copy of the source pipe's clock, WaitFlag merges it into the destination's, PipeBarrier raises
 * the own entry. An access that conflicts with an earlier one is legal only if its pipe's clock has
 * seen the earlier one complete.
 */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *twin_file_of(const struct twin_site *site) {
    const char *slash = site->file ? strrchr(site->file, '/') : NULL;
    return slash ? slash + 1 : site->file;
}

static int write_where(char *to, size_t size, const struct twin_site *site) {
    const struct twin_core *c = twin_core;
    if (!site->file)
        return snprintf(to, size, "%s: core %u, %s: ", c->job->launch->op, c->index, site->call);
    return snprintf(to, size, "%s: core %u, %s at %s:%d: ", c->job->launch->op, c->index,
                    site->call, twin_file_of(site), site->line);
}

void twin_violation(const struct twin_site *site, const char *format, ...) {
    struct twin_core *c = twin_core;
    struct twin_job *job = c->job;
    if (!job->failed) {
        int n = write_where(job->why, TWIN_WHY, site);
        va_list list;
        va_start(list, format);
        if (n >= 0 && n < TWIN_WHY) vsnprintf(job->why + n, TWIN_WHY - (size_t)n, format, list);
        va_end(list);
        job->failed = true;
    }
    c->failed = true;
    longjmp(c->stop, 1);
}

void twin_warn(const struct twin_site *site, const char *format, ...) {
    struct twin_job *job = twin_core->job;
    struct twin_report *report = job->report;
    struct twin_seen me = {site->file, format, site->line};
    for (uint32_t k = 0; k < report->warnings && k < TWIN_SEEN; k++)
        if (job->seen[k].file == me.file && job->seen[k].format == me.format &&
            job->seen[k].line == me.line)
            return;
    if (report->warnings < TWIN_SEEN) job->seen[report->warnings] = me;
    if (report->warnings < sizeof report->warning / sizeof *report->warning) {
        char *to = report->warning[report->warnings];
        int n = write_where(to, sizeof *report->warning, site);
        va_list list;
        va_start(list, format);
        if (n >= 0 && (size_t)n < sizeof *report->warning)
            vsnprintf(to + n, sizeof *report->warning - (size_t)n, format, list);
        va_end(list);
    }
    report->warnings++;
}

void twin_fail_field(const char *what, int64_t value, const struct twin_site *site) {
    twin_violation(site, "%s is %lld, which does not fit its field", what, (long long)value);
}

void twin_fail_index(uint64_t index, uint64_t size, const struct twin_site *site) {
    twin_violation(site, "element %lld of a tensor of %llu", (long long)index,
                   (unsigned long long)size);
}

/* Order between pipes. */

/* A small number for a call of the kernel, so that UB can remember who touched it. 0: the table is
 * full. */
static uint16_t number_of(struct twin_core *c, const struct twin_site *site) {
    uint32_t h = (uint32_t)(((uintptr_t)site->file >> 4) * 31 + (uint32_t)site->line * 7) %
                     (TWIN_SITES - 1) +
                 1;
    for (uint32_t tries = 0; tries < 16; tries++) {
        struct twin_site *s = &c->site[h];
        if (!s->call) *s = *site;
        if (s->line == site->line && s->file == site->file && s->call == site->call)
            return (uint16_t)h;
        h = h % (TWIN_SITES - 1) + 1;
    }
    return 0;
}

struct twin_issue twin_issue(enum twin_pipe pipe, const struct twin_site *site) {
    struct twin_core *c = twin_core;
    struct twin_issue i = {.core = c,
                           .pipe = pipe,
                           .seq = ++c->seq[pipe],
                           .site = site,
                           .site_number = number_of(c, site)};
    for (int q = 0; q < TWIN_PIPES; q++) {
        /* the scalar unit issues: whatever it has waited for is complete for everyone after it */
        if (c->clock[TWIN_S][q] > c->clock[pipe][q]) c->clock[pipe][q] = c->clock[TWIN_S][q];
        i.limit[q] = c->clock[pipe][q];
    }
    if (pipe == TWIN_S || (pipe == TWIN_V && c->job->launch->soc->arch == ASCGRAD_ARCH_950))
        i.limit[pipe] = UINT32_MAX;
    return i;
}

static struct twin_flag *find_flag(struct twin_core *c, uint8_t event, int32_t id,
                                   const struct twin_site *site, enum twin_pipe *from,
                                   enum twin_pipe *to) {
    if (!twin_event_pipes(event, from, to))
        twin_violation(site, "a vector core has no event %u", event);
    if (id < 0 || id >= twin_event_limit())
        twin_violation(site, "event id %d, ids are 0..%d", id, twin_event_limit() - 1);
    return &c->flag[event][id];
}

void twin_flag_set(uint8_t event, int32_t id, const struct twin_site *site) {
    struct twin_core *c = twin_core;
    if (!c->checked) return;
    enum twin_pipe from, to;
    struct twin_flag *f = find_flag(c, event, id, site, &from, &to);
    if (f->set)
        twin_violation(site, "flag %s id %d is set twice without a wait", twin_event_name(event),
                       id);
    f->set = true;
    memcpy(f->clock, c->clock[from], sizeof f->clock);
    f->clock[from] = c->seq[from];
    twin_cost_flag(c, site, true, event, id);
}

void twin_flag_wait(uint8_t event, int32_t id, const struct twin_site *site) {
    struct twin_core *c = twin_core;
    if (!c->checked) return;
    enum twin_pipe from, to;
    struct twin_flag *f = find_flag(c, event, id, site, &from, &to);
    if (!f->set)
        twin_violation(site, "waits for flag %s id %d, which nobody has set: the core hangs",
                       twin_event_name(event), id);
    f->set = false;
    for (int q = 0; q < TWIN_PIPES; q++)
        if (f->clock[q] > c->clock[to][q]) c->clock[to][q] = f->clock[q];
    twin_cost_flag(c, site, false, event, id);
}

void twin_barrier(int pipe, const struct twin_site *site) {
    struct twin_core *c = twin_core;
    (void)site;
    if (!c->checked) return;
    c->barriers++;
    twin_cost_barrier(c, site, pipe);
    if (pipe < TWIN_PIPES) {
        c->clock[pipe][pipe] = c->seq[pipe];
        return;
    }
    for (int p = 0; p < TWIN_PIPES; p++)
        for (int q = 0; q < TWIN_PIPES; q++)
            c->clock[p][q] = c->seq[q];
}

/* UB. */

uint32_t twin_ub_at(const struct twin_core *c, const struct twin_local *t) {
    return (uint32_t)(t->at - c->ub);
}

void twin_check_tensor(const struct twin_issue *i, const struct twin_local *t, uint32_t alignment,
                       const char *what) {
    const struct twin_core *c = i->core;
    if (!t->at) twin_violation(i->site, "%s has no buffer", what);
    if (t->buffer >= c->buffers)
        twin_violation(i->site, "%s belongs to a buffer that TPipe::Reset took away", what);
    const struct twin_buffer *b = &c->buffer[t->buffer];
    if (b->state != TWIN_PLAIN && (b->state == TWIN_FREE || b->generation != t->stale))
        twin_violation(i->site, "%s is used after FreeTensor", what);
    uint32_t at = twin_ub_at(c, t);
    if (at < b->address || (uint64_t)at + t->bytes > (uint64_t)b->address + b->bytes)
        twin_violation(i->site, "%s at UB %u starts beyond the end of its buffer (%u bytes at %u)",
                       what, at, b->bytes, b->address);
    if (at % alignment)
        twin_violation(i->site, "%s at UB address %u is not %u-byte aligned", what, at, alignment);
}

static void race(const struct twin_issue *i, const char *kind, const char *what, uint32_t block,
                 int other, uint16_t number) {
    const char *me = twin_pipe_name[i->pipe], *him = twin_pipe_name[other];
    const struct twin_site *site = &i->core->site[number];
    char who[128] = "an instruction", fix[64];
    if (number)
        snprintf(who, sizeof who, "%s at %s:%d", site->call, twin_file_of(site), site->line);
    if (other == (int)i->pipe)
        snprintf(fix, sizeof fix, "PipeBarrier<PIPE_%s>", me);
    else
        snprintf(fix, sizeof fix, "a queue or SetFlag/WaitFlag<%s_%s>", him, me);
    twin_violation(i->site, "%s: %s at UB %u conflicts with %s on pipe %s; %s is missing", kind,
                   what, block * TWIN_BLOCK_BYTES, who, him, fix);
}

static inline bool unordered(const struct twin_issue *i, uint32_t seq, int pipe) {
    return seq > i->limit[pipe] && !(pipe == (int)i->pipe && seq == i->seq);
}

void twin_check_read(const struct twin_issue *i, uint32_t at, uint32_t bytes, const char *what) {
    if (!bytes) return;
    struct twin_ub_block *b = i->core->block;
    twin_touch(i->core, false, at, bytes);
    for (uint32_t k = at / TWIN_BLOCK_BYTES; k <= (at + bytes - 1) / TWIN_BLOCK_BYTES; k++) {
        if (!b[k].ever)
            twin_violation(i->site, "%s at UB %u reads memory that nothing has written", what,
                           k * TWIN_BLOCK_BYTES);
        if (unordered(i, b[k].wrote, b[k].writer))
            race(i, "read after write", what, k, b[k].writer, b[k].write_site);
        b[k].read[i->pipe] = i->seq;
        b[k].reader = (uint8_t)i->pipe;
        b[k].read_site = i->site_number;
        b[k].unread = 0;
    }
}

void twin_check_write(const struct twin_issue *i, uint32_t at, uint32_t bytes, const char *what) {
    if (!bytes) return;
    struct twin_ub_block *b = i->core->block;
    twin_touch(i->core, true, at, bytes);
    for (uint32_t k = at / TWIN_BLOCK_BYTES; k <= (at + bytes - 1) / TWIN_BLOCK_BYTES; k++) {
        for (int q = 0; q < TWIN_PIPES; q++)
            if (unordered(i, b[k].read[q], q))
                race(i, "write after read", what, k, q, b[k].reader == q ? b[k].read_site : 0);
        if (unordered(i, b[k].wrote, b[k].writer))
            race(i, "write after write", what, k, b[k].writer, b[k].write_site);
        b[k].write_site = i->site_number;
        b[k].wrote = i->seq;
        b[k].writer = (uint8_t)i->pipe;
        b[k].ever = 1;
        b[k].unread = i->pipe == TWIN_MTE2;
    }
}

const char *twin_undefined_by(const struct twin_core *c, struct twin_reason *r) {
    const struct twin_lost *l = &c->lost;
    int n = snprintf(r->text, sizeof r->text, "never written, or filler of DataCopyPad");
    if (l->site.call)
        snprintf(
            r->text + n, sizeof r->text - (size_t)n,
            ", or lost: %s at %s:%d reads byte %llu of %s, which core %u has overwritten by %s",
            l->site.call, twin_file_of(&l->site), l->site.line, (unsigned long long)l->byte,
            l->input, l->writer, l->output);
    return r->text;
}

static inline uint32_t bits_from(uint32_t first, uint32_t count) {
    return (count >= 32 ? ~0u : (1u << count) - 1) << first;
}

bool twin_ub_defined(struct twin_core *c, uint32_t at, uint32_t bytes) {
    while (bytes) {
        uint32_t first = at % TWIN_BLOCK_BYTES,
                 n = TWIN_BLOCK_BYTES - first < bytes ? TWIN_BLOCK_BYTES - first : bytes;
        uint32_t want = bits_from(first, n);
        if ((c->block[at / TWIN_BLOCK_BYTES].init & want) != want) return false;
        at += n;
        bytes -= n;
    }
    return true;
}

void twin_ub_define(struct twin_core *c, uint32_t at, uint32_t bytes, bool defined) {
    while (bytes) {
        uint32_t first = at % TWIN_BLOCK_BYTES,
                 n = TWIN_BLOCK_BYTES - first < bytes ? TWIN_BLOCK_BYTES - first : bytes;
        uint32_t set = bits_from(first, n), *init = &c->block[at / TWIN_BLOCK_BYTES].init;
        *init = defined ? *init | set : *init & ~set;
        at += n;
        bytes -= n;
    }
}
