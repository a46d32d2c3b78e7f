/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel of program_kernel.h on the twin. Built twice, checked and fast; program_saw is told
 * when the steps begin (index STEPS) and when each of them is done.
 */
#include "standard.h"

#include "program_twin.h"

#if TWIN_CHECKED
#define SPACE program_checked
#define ENTRY program_entry_checked
#else
#define SPACE program_fast
#define ENTRY program_entry_fast
#endif

#define PROGRAM_BEGINS()   program_saw(STEPS)
#define PROGRAM_DID(index) program_saw(index)

namespace SPACE {
#include "kernel_operator.h"

#include "program_kernel.h"

static void run(GM_ADDR start, GM_ADDR stored, GM_ADDR end, GM_ADDR tiling) {
    GET_TILING_DATA_WITH_STRUCT(Program, t, tiling);
    forms::run_program(t, start, stored, end);
}
} // namespace SPACE

extern "C" void ENTRY(uint8_t **args) {
    SPACE::run(args[0], args[1], args[2], args[4]);
}
