/* SPDX-License-Identifier: Apache-2.0
 *
 * Lets libascgrad, built on a new Linux, load on one with glibc 2.17: the wheel promises that
 * (manylinux_2_17). glibc 2.34 moved the threads into libc.so.6 and gave them a new version, 2.29
 * did so to log; both still have the old ones, under the version that glibc began with on the
 * machine. These hidden functions stand before the new ones and call the old.
 */
#include <math.h>
#include <pthread.h>
#include <signal.h>

#if defined(__x86_64__)
#define OLDEST "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define OLDEST "GLIBC_2.17"
#else
#error "which version did glibc begin with on this machine?"
#endif

/* OLD(result, name, parameters, arguments): name() calls the oldest name() of glibc. */
#define OLD(result, name, parameters, arguments)                                                   \
    extern result old_##name parameters;                                                           \
    __asm__(".symver old_" #name "," #name "@" OLDEST);                                            \
    __attribute__((visibility("hidden"))) result name parameters {                                 \
        return old_##name arguments;                                                               \
    }

OLD(double, log, (double x), (x))
OLD(int, pthread_attr_setstacksize, (pthread_attr_t * attr, size_t size), (attr, size))
OLD(int, pthread_create,
    (pthread_t * thread, const pthread_attr_t *attr, void *(*start)(void *), void *data),
    (thread, attr, start, data))
OLD(int, pthread_join, (pthread_t thread, void **result), (thread, result))
OLD(int, pthread_sigmask, (int how, const sigset_t *set, sigset_t *before), (how, set, before))
OLD(int, pthread_once, (pthread_once_t * once, void (*first)(void)), (once, first))
