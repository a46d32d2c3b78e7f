/* SPDX-License-Identifier: Apache-2.0
 *
 * The installer's --no-override switches an operator off inside the library's own bytes
 * (ge/registry.c): it is then not registered, neither its functions nor its IR, and the others
 * still are. Each operator in turn, in a process of its own.
 *
 * usage: test_offers LIBRARY     opsproto is the one that has the IR
 */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../ge/layout.h"

static const char *const types[] = {
#define ASCGRAD_OP(type, op) #type,
#include "ascgrad_ops.inc"
#undef ASCGRAD_OP
};
enum { OPS = sizeof types / sizeof types[0] };

/* The stub of libregister.so is "GE": it has the IR of all types but one, or of none. */
static const char *check_ir(const char *without, int has_ir) {
    const char *(*ir)(const char *) = (const char *(*)(const char *))dlsym(RTLD_DEFAULT, "stub_ir");
    if (!ir) return "the stub of libregister.so is not loaded";
    if (ir(without)) return "GE is told its IR";
    for (int i = 0; i < OPS; i++)
        if (strcmp(types[i], without) != 0 && (ir(types[i]) != NULL) != has_ir)
            return has_ir ? "GE is not told the IR of the others" : "GE is told an IR";
    return NULL;
}

/* NULL, or what is wrong with a library that offers all but `without`. */
static const char *check(const char *path, const char *without, int has_ir) {
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!library) return dlerror();
    size_t (*count)(void) = (size_t(*)(void))dlsym(library, "GetRegisteredOpNum");
    int32_t (*fill)(struct ge_op_functions *, size_t) =
        (int32_t(*)(struct ge_op_functions *, size_t))dlsym(library, "GetOpImplFunctions");
    struct ge_op_functions table[OPS];
    memset(table, 0, sizeof table);
    if (count() != OPS - 1) return "the count is not one less";
    if (fill(table, OPS) == 0) return "a table of another length is filled";
    if (fill(NULL, OPS - 1) == 0) return "no table is filled";
    if (fill(table, OPS - 1) != 0) return "the table is not filled";
    for (int i = 0; i < OPS - 1; i++)
        if (!table[i].type || strcmp(table[i].type, without) == 0) return "it is still offered";
    return table[OPS - 1].type ? "the table is overrun" : check_ir(without, has_ir);
}

/* A copy of the library with that operator switched off. */
static const char *switch_off(const char *bytes, size_t n, const char *type, int has_ir) {
    static char copy[8 << 20];
    char path[] = "/tmp/ascgrad-offers-XXXXXX", mark[80];
    size_t length = (size_t)snprintf(mark, sizeof mark, "ascgrad-offers:%s=1", type);
    int found = 0, fd = mkstemp(path);
    memcpy(copy, bytes, n);
    for (size_t i = 0; i + length < n; i++)
        if (memcmp(copy + i, mark, length + 1) == 0) copy[i + length - 1] = '0', found++;
    const char *wrong = found == 1 ? NULL : "the library does not have its mark once";
    if (fd < 0 || write(fd, copy, n) != (ssize_t)n) wrong = "no temporary file";
    if (!wrong) wrong = check(path, type, has_ir);
    close(fd);
    unlink(path);
    return wrong;
}

int main(int argc, char **argv) {
    static char bytes[8 << 20];
    FILE *in = argc == 2 ? fopen(argv[1], "rb") : NULL;
    int failed = 0, status;
    if (!in) return 2;
    size_t n = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    for (int i = 0; i < OPS; i++) {
        if (fork() == 0) { /* GE forgets nothing that it was told */
            const char *wrong = switch_off(bytes, n, types[i], strstr(argv[1], "opsproto") != NULL);
            if (wrong) printf("FAIL %s without %s: %s\n", argv[1], types[i], wrong);
            return wrong != NULL;
        }
        failed += wait(&status) < 0 || status != 0;
    }
    printf("%d passed, %d failed\n", OPS - failed, failed);
    return failed != 0;
}
