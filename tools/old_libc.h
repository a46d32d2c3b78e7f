/* SPDX-License-Identifier: Apache-2.0
 *
 * For small programs that open CANN's libraries and must run on every system that CANN runs on:
 * they ask for nothing that glibc 2.17 does not have. The loader's functions by their old versions,
 * which lie in libdl.so.2 there and in libc.so.6 since 2.34, and no start files, which in a new
 * glibc want a new one: the program begins in begin().
 */
#ifndef ASCGRAD_TOOLS_OLD_LIBC_H
#define ASCGRAD_TOOLS_OLD_LIBC_H

#include <stdint.h>

#if defined(__x86_64__)
#define OLD "GLIBC_2.2.5"
__asm__(".globl _start\n_start: xor %ebp, %ebp\n mov %rsp, %rdi\n and $-16, %rsp\n call begin\n");
#elif defined(__aarch64__)
#define OLD "GLIBC_2.17"
__asm__(".globl _start\n_start: mov x29, #0\n mov x30, #0\n mov x0, sp\n bl begin\n");
#else
#error "only x86_64 and aarch64 are known here"
#endif

__asm__(".symver dlopen,dlopen@" OLD);
__asm__(".symver dlsym,dlsym@" OLD);
__asm__(".symver dlerror,dlerror@" OLD);

/* The kernel puts argc, then the argument pointers, at the top of the stack. */
__attribute__((noreturn, used)) void begin(const uintptr_t *stack);

#endif
