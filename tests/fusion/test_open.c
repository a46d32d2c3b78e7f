/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens the pass as GE does, in a process without GE: libregister.so is an empty library here.
 * Twice, and again after it was closed.
 *
 * usage: test_open LIBRARY
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    for (int turn = 0; argc == 2 && turn < 2; turn++) {
        void *first = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        void *second = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        if (!first || first != second) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        dlclose(second);
        dlclose(first);
        if (dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD)) {
            fprintf(stderr, "%s cannot be unloaded\n", argv[1]);
            return 1;
        }
    }
    return argc == 2 ? 0 : 1;
}
