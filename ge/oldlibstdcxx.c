/* SPDX-License-Identifier: Apache-2.0
 *
 * Lets a C++ library built with a new GCC load beside an old libstdc++, as oldlibc.c does for the C
 * library. Since GCC 11 the containers of the headers call std::__throw_bad_array_new_length, which
 * libstdc++ has only since then (GLIBCXX_3.4.29). Our own copy, hidden, throws the base class of
 * what the original throws, by a function that libstdc++ has always had.
 */
extern void throw_bad_alloc(void) __asm__("_ZSt17__throw_bad_allocv") __attribute__((noreturn));

void throw_bad_array_new_length(void) __asm__("_ZSt28__throw_bad_array_new_lengthv")
    __attribute__((visibility("hidden"), noreturn));

void throw_bad_array_new_length(void) {
    throw_bad_alloc();
}
