/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPU's floating-point control register: the twin computes with rounding to nearest, denormals
 * and no traps, as the AI Core does, whatever the caller has set (a framework may flush denormals).
 */
#ifndef TWIN_FP_STATE_H
#define TWIN_FP_STATE_H

#include <stdint.h>

#if defined __x86_64__
typedef uint32_t fp_state; /* MXCSR; no x87 arithmetic here */
enum { FP_DEFAULT = 0x1f80 };
static inline fp_state fp_get(void) {
    return __builtin_ia32_stmxcsr();
}
static inline void fp_set(fp_state state) {
    __builtin_ia32_ldmxcsr(state);
}
#elif defined __aarch64__
typedef uint64_t fp_state; /* FPCR */
enum { FP_DEFAULT = 0 };
static inline fp_state fp_get(void) {
    fp_state state;
    __asm__ volatile("mrs %0, fpcr" : "=r"(state));
    return state;
}
static inline void fp_set(fp_state state) {
    __asm__ volatile("msr fpcr, %0" : : "r"(state));
}
#else
#error "which register holds the rounding mode of this CPU?"
#endif

/* Returns what fp_set gives back to the caller. */
static inline fp_state fp_enter(void) {
    fp_state caller = fp_get();
    fp_set(FP_DEFAULT);
    return caller;
}

#endif
