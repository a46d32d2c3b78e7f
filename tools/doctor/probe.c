/* SPDX-License-Identifier: Apache-2.0
 *
 * probe LIBRARY: opens a library of operators as GE does and prints "!<sentence>" if something is
 * wrong, else the operator types, one per line, each with " tiling" if it has that function; of a
 * graph pass (in custom_fusion_passes/) nothing.
 *
 * probe LIBRARY TYPE...: opens it and prints those of the types whose IR it tells GE.
 *
 * `ascgrad doctor` runs it, because the command itself is linked statically and cannot load
 * libraries. It runs on every system that CANN runs on: see old_libc.h.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../ge/layout.h"
#include "../old_libc.h"

enum { MAX_ROWS = 1 << 16 }; /* CANN's own libraries have hundreds */

/* GE hands over constructed rows, and libraries in C++ assign to them. A std::vector of zeros is
 * empty; a std::unordered_set has one bucket, its own. */
static void construct(struct ge_op_functions *row) {
    uint8_t *set = row->unique_private_attrs, *bucket = set + 48;
    const uint64_t buckets = 1;
    const float load = 1;
    memcpy(set, &bucket, sizeof bucket);
    memcpy(set + 8, &buckets, sizeof buckets);
    memcpy(set + 32, &load, sizeof load);
}

/* GE's factory has what the library's constructors told it: ge::OperatorFactory::IsExistOp. */
static void ask_factory(void *library, const uintptr_t *types, int out) {
    bool (*known)(const char *) = NULL;
    void *symbol = dlsym(library, "_ZN2ge15OperatorFactory9IsExistOpEPKc");
    memcpy(&known, &symbol, sizeof symbol);
    for (; known && *types; types++)
        if (known((const char *)*types)) dprintf(out, "%s\n", (const char *)*types);
}

/* types: pointers, the last one NULL */
static void open_library(const char *path, const uintptr_t *types, int out) {
    size_t (*count)(void) = NULL, (*ct_count)(void) = NULL;
    int32_t (*functions)(struct ge_op_functions *, size_t) = NULL;
    const bool pass = strstr(path, "/custom_fusion_passes/") != NULL;
    void *library = dlopen(path, RTLD_NOW | (pass ? RTLD_LOCAL : RTLD_GLOBAL));
    if (!library) {
        dprintf(out, "!%s", dlerror());
        return;
    }
    if (*types) ask_factory(library, types, out);
    if (pass || *types) return;
    static const char *const names[] = {"GetRegisteredOpNum", "GetOpImplFunctions",
                                        "GetRegisteredOpCtNum"};
    for (size_t i = 0; i < 3; i++) {
        void *symbol = dlsym(library, names[i]);
        if (!symbol) {
            dprintf(out, "!no %s in it: GE closes such a library again", names[i]);
            return;
        }
        void *to = i == 0 ? (void *)&count : i == 1 ? (void *)&functions : (void *)&ct_count;
        memcpy(to, &symbol, sizeof symbol); /* a function pointer, by way of bytes */
    }
    const size_t n = count();
    struct ge_op_functions *table = n <= MAX_ROWS ? calloc(n + 1, sizeof *table) : NULL;
    for (size_t i = 0; table && i < n; i++)
        construct(&table[i]);
    ct_count();
    if (n == 0) return; /* every type of it was left to CANN */
    if (!table || functions(table, n) != 0) {
        dprintf(out, "!it offers %zu operators and no table of them", n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        dprintf(out, "%s%s\n", table[i].type ? table[i].type : "?",
                table[i].tiling ? " tiling" : "");
}

void begin(const uintptr_t *stack) {
    if (stack[0] < 2) {
        dprintf(STDERR_FILENO, "usage: probe LIBRARY [TYPE...]\n");
        _exit(2);
    }
    /* What the library itself prints while it loads is no part of the answer. */
    const int out = dup(STDOUT_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    open_library((const char *)stack[2], stack + 3, out);
    _exit(0); /* no destructors of strange libraries */
}
