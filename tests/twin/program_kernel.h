/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a Program: fills the UB from memory, issues its steps, each of them complete before the next
 * begins, and writes the UB back. Include behind kernel_operator.h, the twin's or CANN's own.
 * PROGRAM_BEGINS and PROGRAM_DID(index) are called before the first step and behind every step.
 */
#ifndef TESTS_TWIN_PROGRAM_KERNEL_H
#define TESTS_TWIN_PROGRAM_KERNEL_H

#include "issue.h"
#include "programs.h"

namespace forms {

__aicore__ inline void run_program(const Program &t, GM_ADDR start, GM_ADDR stored, GM_ADDR end) {
    TPipe pipe;
    TBuf<TPosition::VECIN> buffer;
    pipe.InitBuffer(buffer, ARENA);
    Place p;
    p.ub = buffer.Get<uint32_t>();
    p.from = start;
    p.to = stored;
    DataCopy(p.ub, memory<uint32_t>(start, 0), ARENA / 4);
    PipeBarrier<PIPE_ALL>();
    PROGRAM_BEGINS();
    for (uint32_t i = 0; i < t.steps; i++) {
        issue(p, t.step[i]);
        PipeBarrier<PIPE_ALL>();
        PROGRAM_DID(i);
    }
    DataCopy(memory<uint32_t>(end, 0), p.ub, ARENA / 4);
}

} // namespace forms

#endif
