/* SPDX-License-Identifier: Apache-2.0
 *
 * Lets a library built on a new Linux load on an old one. The shared pointers of libstdc++ read
 * this variable to leave out atomics in single-threaded programs, which glibc has only since 2.32,
 * while CANN runs on systems with 2.17. Our own copy, hidden, says "many threads": always right.
 */
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;
