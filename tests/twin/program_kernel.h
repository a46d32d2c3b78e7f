/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a Program: fills the UB from memory, issues its steps, each of them complete before the next
 * begins but for copies that go through a queue, and writes the UB back. Include behind
 * kernel_operator.h, the twin's or CANN's own. PROGRAM_BEGINS() and PROGRAM_DID(index) are called
 * before the first step and behind every step.
 */
#ifndef TESTS_TWIN_PROGRAM_KERNEL_H
#define TESTS_TWIN_PROGRAM_KERNEL_H

#include "issue.h"
#include "programs.h"

namespace forms {

enum Pipe { LOADS, COMPUTES, WRITES };

__aicore__ inline Pipe pipe_of(const Step &s) {
    switch (s.form) {
#define PIPE_CASE(name, kind, call, to, from)                                                      \
    case FORM_##name:                                                                              \
        return kind < LOAD || kind > STORE_PAD ? COMPUTES : kind < STORE ? LOADS : WRITES;
#define FORM PIPE_CASE
#include "form_rows.h"
    }
    return COMPUTES;
}

/* What orders a program's steps: flags of the pipe's own event ids, and queues with buffers of
 * their own beside the program's UB. */
struct Orders {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    TBuf<TPosition::VECIN> ub;
};

__aicore__ inline void begin_orders(Orders &o) {
    o.pipe.InitBuffer(o.ub, ARENA);
    o.pipe.InitBuffer(o.in, 2, SLOT);
    o.pipe.InitBuffer(o.out, 2, SLOT);
}

template <HardEvent EVENT> __aicore__ inline void pass(TPipe &pipe) {
    const auto id = pipe.AllocEventID<EVENT>();
    SetFlag<EVENT>(id);
    WaitFlag<EVENT>(id);
    pipe.ReleaseEventID<EVENT>(id);
}

/* All that `from` has done, and all that it waited for, is complete before `to` goes on. */
__aicore__ inline void order(TPipe &pipe, Pipe from, Pipe to) {
    switch (3 * from + to) {
    case 3 * LOADS + LOADS:
        return PipeBarrier<PIPE_MTE2>();
    case 3 * LOADS + COMPUTES:
        return pass<HardEvent::MTE2_V>(pipe);
    case 3 * LOADS + WRITES:
        return pass<HardEvent::MTE2_MTE3>(pipe);
    case 3 * COMPUTES + LOADS:
        return pass<HardEvent::V_MTE2>(pipe);
    case 3 * COMPUTES + COMPUTES:
        return PipeBarrier<PIPE_V>();
    case 3 * COMPUTES + WRITES:
        return pass<HardEvent::V_MTE3>(pipe);
    case 3 * WRITES + LOADS:
        return pass<HardEvent::MTE3_MTE2>(pipe);
    case 3 * WRITES + COMPUTES:
        return pass<HardEvent::MTE3_V>(pipe);
    case 3 * WRITES + WRITES:
        return PipeBarrier<PIPE_MTE3>();
    }
}

/* A copy through a queue, which alone orders what lies in its buffers: the load may begin before
 * earlier steps are done, the store end behind later ones. Within the UB the vector unit copies. */
__aicore__ inline void issue_queued(Orders &o, const Place &p, const Step &s, Pipe last) {
    Place q = p;
    Step t = s;
    if (pipe_of(s) == LOADS) {
        q.ub = o.in.AllocTensor<uint32_t>();
        t.dst = 0;
        issue(q, t);
        o.in.EnQue(q.ub);
        q.ub = o.in.DeQue<uint32_t>();
        order(o.pipe, last, COMPUTES);
        DataCopy(at<uint32_t>(p, s.dst), q.ub, s.queued / 4);
        o.in.FreeTensor(q.ub);
    } else {
        q.ub = o.out.AllocTensor<uint32_t>();
        order(o.pipe, last, COMPUTES);
        DataCopy(q.ub, at<uint32_t>(p, s.src0), s.queued / 4);
        o.out.EnQue(q.ub);
        q.ub = o.out.DeQue<uint32_t>();
        t.src0 = 0;
        PipeBarrier<PIPE_MTE3>(); /* stores of a program may meet in memory */
        issue(q, t);
        PipeBarrier<PIPE_MTE3>();
        o.out.FreeTensor(q.ub);
    }
}

__aicore__ inline void run_steps(const Program &t, Orders &o, GM_ADDR start, GM_ADDR stored,
                                 GM_ADDR end) {
    Place p;
    p.ub = o.ub.Get<uint32_t>();
    p.from = start;
    p.to = stored;
    DataCopy(p.ub, memory<uint32_t>(start, 0), ARENA / 4);
    PROGRAM_BEGINS();
    Pipe last = LOADS;
    for (uint32_t i = 0; i < t.steps; i++) {
        const Step &s = t.step[i];
        if (s.queued) {
            issue_queued(o, p, s, last);
            last = COMPUTES;
        } else {
            order(o.pipe, last, pipe_of(s));
            last = pipe_of(s);
            issue(p, s);
        }
        PROGRAM_DID(i);
    }
    order(o.pipe, last, WRITES);
    DataCopy(memory<uint32_t>(end, 0), p.ub, ARENA / 4);
}

__aicore__ inline void run_program(const Program &t, GM_ADDR start, GM_ADDR stored, GM_ADDR end) {
    Orders o;
    begin_orders(o);
    run_steps(t, o, start, stored, end);
}

} // namespace forms

#endif
