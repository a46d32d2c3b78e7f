/* SPDX-License-Identifier: Apache-2.0
 *
 * GM as the checker sees it. In the checked build kernels get invented addresses, one range per
 * argument, so that bounds are exact and alignment does not depend on where the caller's memory
 * happens to lie. Writable arguments have a shadow: per 32 bytes, who wrote which bytes last, and
 * who read them, in which epoch (SyncAlls passed).
 *
 * An output in the memory of an input (twin_launch.in_place): a byte of the input is lost once the
 * output's byte is written. Reading it is harmless, using it is not, so it becomes an undefined
 * byte of UB. A byte may also be lost to a core that comes later here and may come earlier on the
 * chip: a run with the cores backwards shows that.
 */
#include "check.h"

#include <stdlib.h>
#include <string.h>

struct cell {               /* 32 bytes of a writable argument */
    uint32_t bytes, others; /* written in the last writer's epoch, by him and by cores before him */
    uint32_t pending;       /* of them, those that nothing has waited for */
    uint32_t all_bytes;     /* written in the whole run */
    uint32_t wrote, read;   /* sequence numbers within MTE3 or MTE2 of that core */
    uint16_t writer, reader; /* core + 1; NOBODY; a reader may be MANY */
    uint16_t wrote_epoch, read_epoch;
    uint8_t atomic, write_pipe;
};

enum { NOBODY = 0, MANY = 0xffff, READS = 16 };

/* The last reads of 32 bytes of the input in whose memory an output is, all of one core: which
 * bytes, and the sequence number within MTE2. The last one comes first, and the oldest have become
 * one. */
struct reads {
    uint16_t reader; /* core + 1 */
    struct {
        uint32_t bytes, seq;
    } last[READS];
};

struct twin_gm_shadow {
    uint64_t bytes;
    struct cell *cell;
    struct reads *reads; /* NULL: the output has memory of its own */
};

static void *zeroed(size_t n, size_t size) {
    return calloc(n ? n : 1, size);
}

bool twin_gm_open(struct twin_job *job) {
    const struct twin_launch *l = job->launch;
    for (uint32_t a = 0; a <= l->args && !l->steps_only; a++) {
        uint64_t bytes = a == l->args ? l->workspace : l->arg[a].bytes;
        if (!bytes || (a < l->args && l->arg[a].role == TWIN_INPUT)) continue;
        struct twin_gm_shadow *s = job->shadow[a] = zeroed(1, sizeof *s);
        if (!s) return false;
        s->bytes = bytes;
        s->cell = zeroed((bytes + TWIN_BLOCK_BYTES - 1) / TWIN_BLOCK_BYTES, sizeof *s->cell);
        if (!s->cell) return false;
        if (a < l->args && l->in_place && l->in_place[a]) {
            s->reads = zeroed((bytes + TWIN_BLOCK_BYTES - 1) / TWIN_BLOCK_BYTES, sizeof *s->reads);
            if (!s->reads) return false;
            job->heir[l->in_place[a] - 1] = s;
            job->heir_arg[l->in_place[a] - 1] = a;
        }
    }
    return true;
}

void twin_gm_close(struct twin_job *job) {
    for (uint32_t a = 0; a <= job->launch->args; a++) {
        if (job->shadow[a]) {
            free(job->shadow[a]->cell);
            free(job->shadow[a]->reads);
        }
        free(job->shadow[a]);
    }
}

void twin_gm_report(struct twin_job *job, struct twin_report *report) {
    for (uint32_t a = 0; a < job->launch->args; a++) {
        struct twin_gm_shadow *s = job->shadow[a];
        if (!s) continue;
        uint64_t written = 0;
        for (uint64_t k = 0; k < (s->bytes + TWIN_BLOCK_BYTES - 1) / TWIN_BLOCK_BYTES; k++)
            written += (uint64_t)__builtin_popcount(s->cell[k].all_bytes);
        report->unwritten[a] = s->bytes - written;
    }
}

static const char *arg_name(const struct twin_job *job, uint32_t a) {
    return a == job->launch->args     ? "workspace"
           : job->launch->arg[a].name ? job->launch->arg[a].name
                                      : "argument";
}

struct place {
    const struct twin_issue *issue;
    uint32_t arg;
    uint64_t offset;
    const char *name;
};

static void read_cell(const struct place *p, struct cell *x, uint32_t want, uint64_t at) {
    const struct twin_issue *i = p->issue;
    uint16_t me = (uint16_t)(i->core->index + 1);
    if ((x->all_bytes & want) != want)
        twin_violation(i->site, "reads byte %llu of %s, which nothing has written",
                       (unsigned long long)at, p->name);
    if (x->writer != NOBODY && x->wrote_epoch == i->core->epoch &&
        ((x->bytes | x->others) & want)) {
        if (x->writer != me || (x->others & want))
            twin_violation(
                i->site,
                "reads byte %llu of %s, which another core writes without a SyncAll in between",
                (unsigned long long)at, p->name);
        if (x->wrote > i->limit[x->write_pipe] && x->write_pipe != i->pipe)
            twin_violation(i->site,
                           "reads byte %llu of %s before its own write is known to be complete: "
                           "SetFlag/WaitFlag<%s_%s> is missing",
                           (unsigned long long)at, p->name, twin_pipe_name[x->write_pipe],
                           twin_pipe_name[i->pipe]);
    }
    if (x->read_epoch != i->core->epoch || x->reader == NOBODY)
        x->reader = me;
    else if (x->reader != me)
        x->reader = MANY;
    x->read_epoch = (uint16_t)i->core->epoch;
    if (x->reader == me && i->pipe == TWIN_MTE2) x->read = i->seq;
}

static void write_cell(const struct place *p, struct cell *x, uint32_t set, uint64_t at) {
    const struct twin_issue *i = p->issue;
    uint16_t me = (uint16_t)(i->core->index + 1), epoch = (uint16_t)i->core->epoch;
    bool atomic = i->core->atomic >= 0;
    if (atomic && (x->all_bytes & set) != set)
        twin_violation(i->site, "adds to byte %llu of %s, which nothing has set to a value",
                       (unsigned long long)at, p->name);
    if (x->reader != NOBODY && x->read_epoch == epoch) {
        if (x->reader != me)
            twin_violation(
                i->site,
                "writes byte %llu of %s, which another core reads without a SyncAll in between",
                (unsigned long long)at, p->name);
        if (x->read > i->limit[TWIN_MTE2] && i->pipe == TWIN_MTE3)
            twin_violation(i->site,
                           "writes byte %llu of %s while its own read may still be under way: "
                           "SetFlag/WaitFlag<MTE2_MTE3> is missing",
                           (unsigned long long)at, p->name);
    }
    bool now = x->writer != NOBODY && x->wrote_epoch == epoch;
    if (now && x->writer != me) {
        x->others |= x->bytes;
        x->bytes = 0;
    }
    if (now && (x->others & set) && !(atomic && x->atomic))
        twin_violation(i->site, "byte %llu of %s is also written by another core",
                       (unsigned long long)at, p->name);
    if (now && x->others && !(atomic && x->atomic))
        twin_violation(i->site, "another core writes into the same 32 bytes at %llu of %s",
                       (unsigned long long)at / 32 * 32, p->name);
    if (!now || x->writer != me || x->wrote <= i->limit[x->write_pipe]) x->pending = 0;
    if (!(atomic && x->atomic) && (x->pending & set))
        twin_violation(i->site,
                       "writes byte %llu of %s twice without PipeBarrier<PIPE_MTE3> in between",
                       (unsigned long long)at, p->name);
    if (!now) x->bytes = x->others = 0;
    x->bytes |= set;
    x->pending |= set;
    x->all_bytes |= set;
    x->writer = me;
    x->wrote_epoch = epoch;
    x->write_pipe = (uint8_t)i->pipe;
    x->wrote = i->seq;
    x->atomic = (uint8_t)(!atomic ? 0 : now && x->atomic < 255 ? x->atomic + 1 : 1);
    if (x->atomic == 3 && (i->core->atomic == 0 || i->core->atomic == 1 || i->core->atomic == 5))
        twin_warn(i->site,
                  "three or more floating-point additions meet at byte %llu of %s: their order "
                  "decides the bits",
                  (unsigned long long)at, p->name);
}

static void check_reads(const struct place *p, const struct reads *r, uint32_t set, uint64_t at) {
    const struct twin_issue *i = p->issue;
    if (r->reader != i->core->index + 1 || i->pipe != TWIN_MTE3) return;
    for (int k = 0; k < READS; k++)
        if (r->last[k].seq > i->limit[TWIN_MTE2] && r->last[k].bytes & set)
            twin_violation(i->site,
                           "writes byte %llu of %s while its own read of the input in this memory "
                           "may still be under way: SetFlag/WaitFlag<MTE2_MTE3> is missing",
                           (unsigned long long)at, p->name);
}

static void touch(const struct place *p, struct twin_gm_shadow *s, uint64_t from, uint64_t bytes,
                  bool load) {
    while (bytes) {
        uint32_t first = from % TWIN_BLOCK_BYTES;
        uint32_t n = TWIN_BLOCK_BYTES - first < bytes ? TWIN_BLOCK_BYTES - first : (uint32_t)bytes;
        uint32_t mask = (n == 32 ? ~0u : (1u << n) - 1) << first;
        struct cell *x = &s->cell[from / TWIN_BLOCK_BYTES];
        if (load)
            read_cell(p, x, mask, from);
        else
            write_cell(p, x, mask, from);
        if (!load && s->reads) check_reads(p, &s->reads[from / TWIN_BLOCK_BYTES], mask, from);
        from += n;
        bytes -= n;
    }
}

static void note_read(struct reads *r, const struct twin_issue *i, uint32_t bits) {
    uint16_t me = (uint16_t)(i->core->index + 1);
    if (r->reader != me) {
        memset(r, 0, sizeof *r);
    } else if (r->last[0].seq != i->seq) {
        uint32_t oldest = r->last[READS - 1].bytes;
        memmove(r->last + 1, r->last, (READS - 1) * sizeof r->last[0]);
        r->last[READS - 1].bytes |= oldest;
        r->last[0].bytes = 0;
    }
    r->reader = me;
    r->last[0].bytes |= bits;
    r->last[0].seq = i->seq;
}

/* A run of bytes of an input whose memory an output has. ub: where they were loaded to, or -1:
 * they went to the scalar unit. */
static void take(const struct twin_issue *i, uint32_t arg, uint64_t from, uint64_t bytes,
                 int64_t ub) {
    struct twin_core *c = i->core;
    const struct twin_job *job = c->job;
    while (bytes) {
        uint32_t first = from % TWIN_BLOCK_BYTES;
        uint32_t n = TWIN_BLOCK_BYTES - first < bytes ? TWIN_BLOCK_BYTES - first : (uint32_t)bytes;
        uint32_t bits = (n == 32 ? ~0u : (1u << n) - 1) << first;
        struct cell *x = &job->heir[arg]->cell[from / TWIN_BLOCK_BYTES];
        if (i->pipe == TWIN_MTE2)
            note_read(&job->heir[arg]->reads[from / TWIN_BLOCK_BYTES], i, bits);
        for (uint32_t k = 0; k < n && x->all_bytes & bits; k++) {
            if (!(x->all_bytes >> (first + k) & 1)) continue;
            c->lost = (struct twin_lost){arg_name(job, arg), arg_name(job, job->heir_arg[arg]),
                                         from + k, x->writer - 1u, *i->site};
            if (ub < 0)
                twin_violation(i->site,
                               "reads byte %llu of %s, which core %u has overwritten by %s",
                               (unsigned long long)c->lost.byte, c->lost.input, c->lost.writer,
                               c->lost.output);
            twin_ub_define(c, (uint32_t)ub + k, 1, false);
        }
        from += n;
        bytes -= n;
        ub += ub < 0 ? 0 : n;
    }
}

void twin_gm_take(const struct twin_issue *i, const struct twin_dma *v, uint64_t ub_step) {
    uint32_t arg = (uint32_t)(v->gm >> TWIN_GM_SHIFT) - 1;
    if (!i->core->job->heir[arg]) return;
    uint64_t offset = v->gm & ((1ull << TWIN_GM_SHIFT) - 1);
    int64_t ub = v->ub.at ? (int64_t)twin_ub_at(i->core, &v->ub) + v->left * v->size : -1;
    for (uint64_t b = 0; b < v->blocks; b++)
        take(i, arg, (uint64_t)((int64_t)offset + (int64_t)b * ((int64_t)v->length + v->gm_gap)),
             v->length, ub < 0 ? ub : ub + (int64_t)(b * ub_step));
}

uint8_t *twin_gm_access(const struct twin_issue *i, const struct twin_dma *v) {
    struct twin_job *job = i->core->job;
    const struct twin_launch *l = job->launch;
    bool load = v->kind == TWIN_LOAD;
    uint64_t arg = (v->gm >> TWIN_GM_SHIFT) - 1, offset = v->gm & ((1ull << TWIN_GM_SHIFT) - 1);
    if (arg > l->args || v->gm >> TWIN_GM_SHIFT == 0)
        twin_violation(
            i->site, "GM address 0x%llx belongs to no argument%s", (unsigned long long)v->gm,
            v->gm >> 32 ? "" : " (an absent input or output, or SetGlobalBuffer is missing)");
    if (!load && job->heir[arg]) arg = job->heir_arg[arg];
    struct place p = {i, (uint32_t)arg, offset, arg_name(job, (uint32_t)arg)};
    uint64_t bytes = arg == l->args ? l->workspace : l->arg[arg].bytes;
    int64_t step = (int64_t)v->length + v->gm_gap;
    int64_t last = (int64_t)offset + (int64_t)(v->blocks - 1) * step;
    int64_t low = step < 0 ? last : (int64_t)offset,
            high = (step < 0 ? (int64_t)offset : last) + (int64_t)v->length;
    if (low < 0 || (uint64_t)high > bytes)
        twin_violation(i->site, "bytes %lld..%lld of %s, which has %llu", (long long)low,
                       (long long)high, p.name, (unsigned long long)bytes);
    if (!v->pad && offset % v->size)
        twin_violation(i->site, "byte %llu of %s is not aligned to the element size",
                       (unsigned long long)offset, p.name);
    if (!load && !l->steps_only && arg < l->args && l->arg[arg].role == TWIN_INPUT)
        twin_violation(i->site, "writes to the input %s", p.name);
    job->moved[arg][!load] += v->blocks * v->length;
    struct twin_gm_shadow *s = job->shadow[arg];
    if (s) {
        if (v->gm_gap == 0)
            touch(&p, s, offset, v->blocks * v->length, load);
        else
            for (uint64_t b = 0; b < v->blocks; b++)
                touch(&p, s, (uint64_t)((int64_t)offset + (int64_t)b * step), v->length, load);
    }
    uint8_t *data = arg == l->args ? job->workspace : l->arg[arg].data;
    return data ? data + offset : NULL;
}
