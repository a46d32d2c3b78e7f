/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a Program: fills the UB from memory, issues its steps, each of them complete before the next
 * begins, and writes the UB back. Include behind kernel_operator.h, the twin's or CANN's own.
 * PROGRAM_BEGINS() and PROGRAM_DID(index) are called before the first step and behind every step.
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

template <HardEvent EVENT> __aicore__ inline void pass() {
    SetFlag<EVENT>((event_t)0);
    WaitFlag<EVENT>((event_t)0);
}

/* All that `from` has done, and all that it waited for, is complete before `to` goes on. */
__aicore__ inline void order(Pipe from, Pipe to) {
    switch (3 * from + to) {
    case 3 * LOADS + LOADS:
        return PipeBarrier<PIPE_MTE2>();
    case 3 * LOADS + COMPUTES:
        return pass<HardEvent::MTE2_V>();
    case 3 * LOADS + WRITES:
        return pass<HardEvent::MTE2_MTE3>();
    case 3 * COMPUTES + LOADS:
        return pass<HardEvent::V_MTE2>();
    case 3 * COMPUTES + COMPUTES:
        return PipeBarrier<PIPE_V>();
    case 3 * COMPUTES + WRITES:
        return pass<HardEvent::V_MTE3>();
    case 3 * WRITES + LOADS:
        return pass<HardEvent::MTE3_MTE2>();
    case 3 * WRITES + COMPUTES:
        return pass<HardEvent::MTE3_V>();
    case 3 * WRITES + WRITES:
        return PipeBarrier<PIPE_MTE3>();
    }
}

__aicore__ inline void run_steps(const Program &t, const LocalTensor<uint32_t> &ub, GM_ADDR start,
                                 GM_ADDR stored, GM_ADDR end) {
    Place p;
    p.ub = ub;
    p.from = start;
    p.to = stored;
    DataCopy(p.ub, memory<uint32_t>(start, 0), ARENA / 4);
    PROGRAM_BEGINS();
    Pipe last = LOADS;
    for (uint32_t i = 0; i < t.steps; i++) {
        order(last, pipe_of(t.step[i]));
        last = pipe_of(t.step[i]);
        issue(p, t.step[i]);
        PROGRAM_DID(i);
    }
    order(last, WRITES);
    DataCopy(memory<uint32_t>(end, 0), p.ub, ARENA / 4);
}

__aicore__ inline void run_program(const Program &t, GM_ADDR start, GM_ADDR stored, GM_ADDR end) {
    TPipe pipe;
    TBuf<TPosition::VECIN> buffer;
    pipe.InitBuffer(buffer, ARENA);
    run_steps(t, buffer.Get<uint32_t>(), start, stored, end);
}

} // namespace forms

#endif
