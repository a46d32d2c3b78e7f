/* SPDX-License-Identifier: Apache-2.0
 *
 * The cycle model, second half: an event simulation of each core. The scalar unit issues in program
 * order, each step after the instructions that lead to it, and waits where the queue of a pipe is
 * full; each pipe works in order. Loads and stores of a core share its part of the chip's
 * bandwidth, which is divided by the cores that move data in this phase; whoever is alone gets all
 * of the part, up to the peak of his direction, and a core that is alone has both directions at
 * their peaks. What the chip gives depends on what lies in the L2, and on how much of the rest is
 * read and how much is written. Phases end at SyncAll.
 */
#include "cycles.h"

#include <stdlib.h>
#include <string.h>

struct pipe_state {
    size_t next;   /* step to look at */
    double free;   /* may issue again */
    double ready;  /* what it waits for */
    double done;   /* everything issued is complete */
    double issued; /* the scalar unit has got here */
    double busy;
    double settled;                /* V: when nothing of what it has done is under way any more */
    uint64_t pushed, popped;       /* steps that entered and left its queue */
    double left[TWIN_QUEUE_DEPTH]; /* when the last ones left it */
    const char *ready_for;         /* what `ready` waits for */
    double wait;                   /* scalar unit: how long it has stood still, and what for */
    const char *wait_for;
    bool moving;         /* a transfer is under way */
    double start, bytes; /* of its data */
    double began, waited;
};

struct machine {
    const struct twin_step *step;
    size_t end;
    struct pipe_state pipe[TWIN_PIPES];
    double (*flag)[TWIN_EVENT_IDS]; /* when set, -1 when not; kept over SyncAll */
    double *passed; /* when the scalar unit got past step i, -1 before; indexed from begin */
    size_t begin;
    double now; /* of the transfers */
    double share, peak[TWIN_PIPES], latency[TWIN_PIPES], issue;
    struct twin_memory memory;
    double scalar; /* cycles per scalar instruction; 0: it is free, and queues never fill */
    struct twin_trace *trace;
    uint32_t core;
};

static bool stops_scalar(const struct twin_step *s) {
    return s->kind == TWIN_STEP_BARRIER_ALL || s->kind == TWIN_STEP_SYNC ||
           (s->kind == TWIN_STEP_WAIT && s->pipe == TWIN_S);
}

/* Why the scalar unit stands still at a step. */
static const char *waits_for(const struct twin_step *step) {
    static const char *const full[] = {"S", "queue of V", "queue of MTE2", "queue of MTE3"};
    if (step->pipe != TWIN_S) return full[step->pipe];
    return step->kind == TWIN_STEP_WAIT ? twin_event_name(step->event) : step->site.call;
}

static double later(double a, double b) {
    return a > b ? a : b;
}

/* When the queue of the step's pipe has room again; false: that is not known yet. */
static bool find_room(const struct machine *m, const struct twin_step *step, double *at) {
    const struct pipe_state *p = &m->pipe[step->pipe];
    if (m->scalar == 0 || step->pipe == TWIN_S || p->pushed < TWIN_QUEUE_DEPTH) return true;
    if (p->pushed - p->popped >= TWIN_QUEUE_DEPTH) return false;
    *at = later(*at, p->left[p->pushed % TWIN_QUEUE_DEPTH]);
    return true;
}

/* The scalar unit: true if it got one step on. */
static bool advance_scalar(struct machine *m) {
    struct pipe_state *s = &m->pipe[TWIN_S];
    if (s->next >= m->end) return false;
    const struct twin_step *step = &m->step[s->next];
    double work = step->scalar * m->scalar, from = s->free, ready = from + work;
    if (!find_room(m, step, &ready)) return false;
    if (step->kind == TWIN_STEP_BARRIER_ALL || step->kind == TWIN_STEP_SYNC) {
        for (int p = TWIN_V; p < TWIN_PIPES; p++)
            if (m->pipe[p].next < s->next || m->pipe[p].moving) return false;
        for (int p = TWIN_V; p < TWIN_PIPES; p++)
            ready = later(ready, later(m->pipe[p].done, m->pipe[p].ready));
    } else if (step->pipe == TWIN_S && step->kind == TWIN_STEP_WAIT) {
        double *flag = &m->flag[step->event][step->id];
        if (*flag < 0) return false;
        ready = later(ready, *flag);
        *flag = -1;
    } else if (step->pipe == TWIN_S && step->kind == TWIN_STEP_SET) {
        if (m->flag[step->event][step->id] >= 0) return false;
        m->flag[step->event][step->id] = ready;
    }
    if (work > 0) {
        twin_trace_deed(m->trace, &(struct twin_deed){m->core, TWIN_S, step, from, from + work,
                                                      s->wait, s->wait_for});
        s->wait = 0;
    }
    s->wait += ready - (from + work);
    if (ready > from + work) s->wait_for = waits_for(step);
    s->busy += work;
    s->free = s->done = m->passed[s->next - m->begin] = ready;
    m->pipe[step->pipe].pushed++;
    s->next++;
    return true;
}

/* Tells that the pipe works on a step; issued, ready and free say what it has waited for. */
static void tell(struct machine *m, int p, double from, double to, double wait) {
    const struct pipe_state *s = &m->pipe[p];
    twin_trace_deed(m->trace,
                    &(struct twin_deed){m->core, p, &m->step[s->next], from, to, wait,
                                        s->issued >= s->ready ? "scalar unit" : s->ready_for});
}

static void leave_queue(struct pipe_state *s, double at) {
    double last = s->popped ? s->left[(s->popped - 1) % TWIN_QUEUE_DEPTH] : at;
    s->left[s->popped++ % TWIN_QUEUE_DEPTH] = later(last, at);
}

static bool advance(struct machine *m, int p) {
    struct pipe_state *s = &m->pipe[p];
    if (s->moving || s->next >= m->end || s->next >= m->pipe[TWIN_S].next) return false;
    const struct twin_step *step = &m->step[s->next];
    if (step->pipe == p || stops_scalar(step))
        s->issued = later(s->issued, m->passed[s->next - m->begin]);
    if (step->pipe != p || stops_scalar(step)) {
        s->next++;
        return true;
    }
    switch (step->kind) {
    case TWIN_STEP_WORK:
    case TWIN_STEP_COUNT: {
        bool drains = step->kind == TWIN_STEP_COUNT;
        double modes = step->id * TWIN_MODE_CYCLES;
        double open = drains ? later(s->free, s->settled) : s->free;
        double from = later(later(open + modes, s->ready), s->issued), wait = from - open - modes;
        s->free = from + step->cost;
        s->done = later(s->done, s->free + TWIN_V_DRAIN);
        s->settled = s->free + TWIN_MODE_DRAIN;
        if (drains) s->free = s->settled;
        s->busy += s->free - from;
        tell(m, p, from, s->free, wait);
        leave_queue(s, from);
        break;
    }
    case TWIN_STEP_SWITCH:
        s->free = later(s->free, s->settled);
        /* fall through */
    case TWIN_STEP_MODE:
        leave_queue(s, later(s->free, s->issued));
        s->free = later(s->free, s->issued) + TWIN_MODE_CYCLES;
        break;
    case TWIN_STEP_BARRIER:
        if (s->done > s->ready) s->ready_for = "PipeBarrier";
        s->ready = later(s->ready, s->done);
        leave_queue(s, later(s->ready, s->issued));
        break;
    case TWIN_STEP_SET:
        if (m->flag[step->event][step->id] >= 0)
            return false; /* the wait before it is still to come */
        m->flag[step->event][step->id] = later(later(s->done, s->ready), s->issued);
        leave_queue(s, later(later(s->free, s->ready), s->issued));
        break;
    case TWIN_STEP_WAIT:
        if (m->flag[step->event][step->id] < 0) return false;
        if (m->flag[step->event][step->id] > s->ready) s->ready_for = twin_event_name(step->event);
        s->ready = later(s->ready, m->flag[step->event][step->id]);
        m->flag[step->event][step->id] = -1;
        leave_queue(s, later(s->ready, s->issued));
        break;
    case TWIN_STEP_DMA:
        s->began = later(later(s->free, s->ready), s->issued);
        s->waited = s->began - s->free;
        leave_queue(s, s->began);
        s->start =
            s->began +
            later(0, m->issue - TWIN_DMA_COVERED / (m->peak[p] < m->share ? m->peak[p] : m->share));
        s->bytes = step->cost;
        s->moving = true;
        return true;
    }
    s->next++;
    return true;
}

/* Rates of loads and stores when both (or one) move data. */
static void rates(const struct machine *m, const bool on[TWIN_PIPES], double rate[TWIN_PIPES]) {
    double load = m->peak[TWIN_MTE2], store = m->peak[TWIN_MTE3], share = m->share;
    rate[TWIN_MTE2] = on[TWIN_MTE2] ? (load < share ? load : share) : 0;
    rate[TWIN_MTE3] = on[TWIN_MTE3] ? (store < share ? store : share) : 0;
    if (!on[TWIN_MTE2] || !on[TWIN_MTE3] || load + store <= share) return;
    double half = share / 2;
    if (load < half)
        rate[TWIN_MTE2] = load, rate[TWIN_MTE3] = share - load;
    else if (store < half)
        rate[TWIN_MTE3] = store, rate[TWIN_MTE2] = share - store;
    else
        rate[TWIN_MTE2] = rate[TWIN_MTE3] = half;
    if (rate[TWIN_MTE3] > store) rate[TWIN_MTE3] = store;
    if (rate[TWIN_MTE2] > load) rate[TWIN_MTE2] = load;
}

/* Moves the transfers on to the next start or end. False: nothing is moving. */
static bool advance_transfers(struct machine *m) {
    bool on[TWIN_PIPES] = {false};
    double rate[TWIN_PIPES] = {0}, next = -1;
    for (int p = TWIN_MTE2; p < TWIN_PIPES; p++) {
        on[p] = m->pipe[p].moving && m->pipe[p].start <= m->now;
        if (m->pipe[p].moving && !on[p] && (next < 0 || m->pipe[p].start < next))
            next = m->pipe[p].start;
    }
    rates(m, on, rate);
    for (int p = TWIN_MTE2; p < TWIN_PIPES; p++) {
        double end = on[p] ? m->now + m->pipe[p].bytes / rate[p] : -1;
        if (on[p] && (next < 0 || end < next)) next = end;
    }
    if (next < 0) return false;
    for (int p = TWIN_MTE2; p < TWIN_PIPES; p++) {
        struct pipe_state *s = &m->pipe[p];
        if (!on[p]) continue;
        s->bytes -= (next - m->now) * rate[p];
        if (s->bytes > 1e-6) continue;
        s->moving = false;
        s->free = next;
        s->done = later(s->done, next + m->latency[p]);
        s->busy += next - s->began;
        tell(m, p, s->began, next, s->waited);
        s->next++;
    }
    m->now = next;
    return true;
}

/* Runs the steps [begin, end) of one phase; all pipes start together at time from. Returns when all
 * is complete, -1 if a pipe is stuck: the checker has seen every wait meet its set, so that would
 * be a fault of the simulation. */
static double run_phase(struct machine *m, double from) {
    for (int p = 0; p < TWIN_PIPES; p++) {
        struct pipe_state *s = &m->pipe[p];
        *s = (struct pipe_state){.next = m->begin,
                                 .free = from,
                                 .ready = from,
                                 .done = from,
                                 .issued = from,
                                 .settled = from,
                                 .busy = s->busy};
    }
    m->now = from;
    for (bool go = true; go;) {
        go = false;
        while (advance_scalar(m))
            go = true;
        for (int p = TWIN_V; p < TWIN_PIPES; p++)
            while (advance(m, p))
                go = true;
        if (!go) go = advance_transfers(m);
    }
    double end = from;
    for (int p = 0; p < TWIN_PIPES; p++)
        if (m->pipe[p].next < m->end) return -1;
    for (int p = 0; p < TWIN_PIPES; p++)
        end = later(end, later(m->pipe[p].done, m->pipe[p].free));
    return end;
}

/* The bytes that all cores move in a phase. */
struct traffic {
    uint32_t movers; /* cores that move any */
    double load, store;
};

/* The end of the phase that starts at step begin; what these cores move in it is added to
 * traffic. */
static size_t phase_end(const struct twin_steps *s, size_t begin, uint32_t cores,
                        struct traffic *traffic) {
    bool moves = false;
    size_t i = begin;
    for (bool go = true; go && i < s->count; i++) {
        const struct twin_step *step = &s->step[i];
        go = step->kind != TWIN_STEP_SYNC;
        if (step->kind != TWIN_STEP_DMA) continue;
        moves = true;
        *(step->pipe == TWIN_MTE2 ? &traffic->load : &traffic->store) += step->cost * (double)cores;
    }
    traffic->movers += moves ? cores : 0;
    return i;
}

/* The first core with the same steps, which is simulated for all of them; a trace wants each. */
static uint32_t leader(const struct twin_job *job, uint32_t core, const struct twin_trace *trace) {
    uint32_t i = 0;
    while (!trace && job->core[i].steps != job->core[core].steps)
        i++;
    return trace ? core : i;
}

/* Bytes per cycle of a chip's memory, for so many bytes read and written. */
static double hbm_rate(const struct twin_soc *soc, double read, double written) {
    if (soc->arch == ASCGRAD_ARCH_950) return soc->hbm_per_cycle * TWIN_HBM_STREAM_3510;
    double all = read + written, mixed = all > 0 ? 4 * read * written / (all * all) : 0;
    return soc->hbm_per_cycle * TWIN_HBM_STREAM_2201 * (1 - mixed * TWIN_HBM_MIXED_2201);
}

/* Bytes per cycle of one core in a phase: memory and L2 work at the same time, and the slower one
 * decides. */
static double share_of(const struct twin_soc *soc, const struct twin_memory *memory,
                       const struct traffic *t) {
    double read = t->load * (1 - memory->load_hits), written = t->store * (1 - memory->store_hits);
    double all = t->load + t->store, cycles = all / soc->l2_per_cycle;
    if (all <= 0) return soc->hbm_per_cycle;
    if (read + written > 0) cycles = later(cycles, (read + written) / hbm_rate(soc, read, written));
    return all / cycles / t->movers;
}

static void set_chip(struct machine *m, const struct twin_soc *soc) {
    bool a2 = soc->arch != ASCGRAD_ARCH_950; /* the first 910: no figures of its own are public */
    double hits = m->memory.load_hits, cold = a2 ? TWIN_LOAD_PEAK_2201 : TWIN_LOAD_PEAK_3510;
    double near = a2 ? TWIN_L2_LOAD_PEAK_2201 : TWIN_L2_LOAD_PEAK_3510;
    m->issue = a2 ? TWIN_DMA_ISSUE_2201 : TWIN_DMA_ISSUE_3510;
    m->latency[TWIN_MTE2] = a2 ? TWIN_LOAD_LATENCY_2201 : TWIN_LOAD_LATENCY_3510;
    m->latency[TWIN_MTE3] = a2 ? TWIN_STORE_LATENCY_2201 : TWIN_STORE_LATENCY_3510;
    m->peak[TWIN_MTE2] = 1 / (hits / near + (1 - hits) / cold);
    m->peak[TWIN_MTE3] = a2 ? TWIN_STORE_PEAK_2201 : TWIN_STORE_PEAK_3510;
}

/* What differs between one simulation of the same steps and the next. */
struct setting {
    double scalar; /* cycles per scalar instruction */
    struct twin_memory memory;
};

/* One core's phase [m->begin, m->end) from this time on; when it is through, or -1. */
static double run_core(struct machine *m, double from, double busy[TWIN_PIPES]) {
    memset(m->pipe, 0, sizeof m->pipe);
    double end = run_phase(m, from);
    for (int p = 0; p < TWIN_PIPES; p++)
        busy[p] += m->pipe[p].busy;
    return end;
}

/* All phases of all cores. core_time[i]: when core i was through; busy as in the report. NULL, or
 * what went wrong. */
static const char *run_all(struct twin_job *job, const struct setting *setting,
                           struct twin_trace *trace, double *core_time,
                           double (*busy)[TWIN_PIPES]) {
    uint32_t n = job->launch->block_dim, lead[TWIN_MAX_CORES];
    size_t at[TWIN_MAX_CORES] = {0};
    struct machine m = {.trace = trace, .scalar = setting->scalar, .memory = setting->memory};
    memset(busy, 0, n * sizeof *busy);
    set_chip(&m, job->launch->soc);
    size_t longest = 1;
    for (uint32_t i = 0; i < n; i++) {
        if (job->core[i].steps->lost) return "out of memory";
        if (job->core[i].steps->count > longest) longest = job->core[i].steps->count;
        lead[i] = leader(job, i, trace);
    }
    double(*flags)[TWIN_EVENTS][TWIN_EVENT_IDS] = malloc(n * sizeof *flags);
    m.passed = malloc(longest * sizeof *m.passed);
    const char *wrong = flags && m.passed ? NULL : "out of memory";
    for (uint32_t i = 0; !wrong && i < n; i++)
        for (int e = 0; e < TWIN_EVENTS; e++)
            for (int id = 0; id < TWIN_EVENT_IDS; id++)
                flags[i][e][id] = -1;
    double time = 0;
    for (bool more = !wrong; more;) {
        struct traffic traffic = {0};
        size_t end[TWIN_MAX_CORES];
        for (uint32_t i = 0; i < n; i++) {
            const struct twin_steps *s = job->core[i].steps;
            if (lead[i] == i) end[i] = phase_end(s, at[i], trace ? 1 : s->cores, &traffic);
        }
        m.share = share_of(job->launch->soc, &setting->memory, &traffic);
        double last = time;
        more = false;
        for (uint32_t i = 0; i < n; i++) {
            const struct twin_steps *s = job->core[i].steps;
            core_time[i] = core_time[lead[i]];
            if (lead[i] != i) continue;
            m.step = s->step;
            m.begin = at[i];
            m.end = end[i];
            m.core = i;
            m.flag = flags[i];
            core_time[i] = run_core(&m, time, busy[i]);
            if (core_time[i] < 0) wrong = "the cycle model is stuck, which is a fault of the twin";
            last = later(last, core_time[i]);
            more = more || (end[i] > at[i] && s->step[end[i] - 1].kind == TWIN_STEP_SYNC);
            at[i] = end[i];
        }
        time = last + (more ? TWIN_SYNC_ALL : 0);
        more = more && !wrong;
    }
    for (uint32_t i = 0; i < n; i++)
        memcpy(busy[i], busy[lead[i]], sizeof busy[i]);
    free(flags);
    free(m.passed);
    return wrong;
}

/* The slowest core's time. */
static const char *run_slowest(struct twin_job *job, double scalar, struct twin_memory memory,
                               double *cycles) {
    double time[TWIN_MAX_CORES], busy[TWIN_MAX_CORES][TWIN_PIPES];
    const char *wrong = run_all(job, &(struct setting){scalar, memory}, NULL, time, busy);
    *cycles = 0;
    for (uint32_t i = 0; !wrong && i < job->launch->block_dim; i++)
        *cycles = later(*cycles, time[i]);
    return wrong;
}

/* What of the tensors that a kernel works on the L2 can hold. */
static double share_in_l2(const struct twin_job *job) {
    const struct twin_launch *l = job->launch;
    double bytes = 0;
    for (uint32_t a = 0; a <= l->args; a++) {
        uint64_t all = a == l->args ? l->workspace : l->arg[a].bytes;
        uint64_t moved = job->moved[a][0] + job->moved[a][1];
        bytes += (double)(moved < all ? moved : all);
    }
    return bytes > (double)l->soc->l2 ? (double)l->soc->l2 / bytes : 1;
}

/* All times but the first. */
static const char *run_others(struct twin_job *job, struct twin_report *r) {
    const struct twin_memory cold = job->launch->memory;
    r->copy_rate = hbm_rate(job->launch->soc, 1, 1);
    r->l2_share = share_in_l2(job);
    const struct twin_memory near = {r->l2_share, r->l2_share};
    const char *wrong = run_slowest(job, 0, cold, &r->cycles_free);
    if (!wrong) wrong = run_slowest(job, TWIN_SCALAR_LOW, cold, &r->cycles_low);
    if (!wrong) wrong = run_slowest(job, TWIN_SCALAR_HIGH, cold, &r->cycles_high);
    if (!wrong) wrong = run_slowest(job, TWIN_SCALAR_WORST, cold, &r->cycles_worst);
    if (!wrong) wrong = run_slowest(job, TWIN_SCALAR_CYCLES, near, &r->cycles_l2);
    return wrong;
}

const char *twin_cost_finish(struct twin_job *job, struct twin_report *report) {
    const struct twin_launch *l = job->launch;
    double busy[TWIN_MAX_CORES][TWIN_PIPES];
    const struct setting first = {TWIN_SCALAR_CYCLES, l->memory};
    struct twin_trace *trace;
    if (!twin_trace_open(l, &trace)) return "the trace file cannot be written";
    const char *wrong = run_all(job, &first, trace, report->core_cycles, busy);
    for (uint32_t i = 0; !wrong && i < l->block_dim; i++)
        if (report->core_cycles[i] > report->core_cycles[report->slowest]) report->slowest = i;
    report->cycles = report->core_cycles[report->slowest];
    if (!wrong) wrong = run_others(job, report);
    if (!twin_trace_close(trace, job, report) && !wrong) wrong = "the trace file cannot be written";
    if (wrong) return wrong;
    for (uint32_t i = 0; i < l->block_dim; i++) {
        const struct twin_core *c = &job->core[i];
        report->gm_read += c->gm_read;
        report->gm_write += c->gm_write;
        report->all_dmas += c->dmas;
        report->all_barriers += c->barriers;
        report->all_vector_calls += c->vector_calls;
        report->cores_used += c->dmas > 0;
    }
    const struct twin_core *slow = &job->core[report->slowest];
    report->time_us = report->cycles / l->soc->mhz;
    report->time_free_us = report->cycles_free / l->soc->mhz;
    report->time_worst_us = report->cycles_worst / l->soc->mhz;
    for (size_t i = 0; i < slow->steps->count; i++)
        report->scalar += slow->steps->step[i].scalar;
    report->launch_us = l->soc->launch_us + l->soc->launch_us_per_core * l->block_dim;
    report->dmas = slow->dmas;
    report->barriers = slow->barriers;
    report->vector_calls = slow->vector_calls;
    memcpy(report->busy, busy[report->slowest], sizeof report->busy);
    return NULL;
}
