/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memmem */
#include "patched.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char original[8 << 20];
static size_t original_size, field[PATCHED_OPS];

static void die(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static size_t find_field(const char *type) {
    static const char empty[PATCHED_FIELD];
    char mark[96];
    const size_t n = (size_t)snprintf(mark, sizeof mark, "ascgrad-binaries:%s=", type);
    const char *at = memmem(original, original_size, mark, n);
    if (!at) die(mark, "not in the library");
    at += n;
    const size_t left = original_size - (size_t)(at - original);
    if (memmem(at, left, mark, n)) die(mark, "in the library twice");
    if (left < sizeof empty || memcmp(at, empty, sizeof empty) != 0) die(mark, "not 64 NULs");
    return (size_t)(at - original);
}

void patched_original(const char *path) {
    FILE *in = fopen(path, "rb");
    if (!in) die(path, "cannot be read");
    original_size = fread(original, 1, sizeof original, in);
    fclose(in);
    if (ascgrad_ir_count > PATCHED_OPS) die(path, "too many operators for this test");
    for (uint32_t i = 0; i < ascgrad_ir_count; i++)
        field[i] = find_field(ascgrad_ir_table[i].type);
}

void patched_open(struct patched *library, const char *type, const char *bytes, size_t size) {
    char path[] = "/tmp/ascgrad-guard-XXXXXX";
    const int fd = mkstemp(path);
    char *copy = malloc(original_size);
    if (fd < 0 || !copy) die(path, "cannot be made");
    memcpy(copy, original, original_size);
    for (uint32_t i = 0; i < ascgrad_ir_count; i++)
        if (!type || strcmp(type, ascgrad_ir_table[i].type) == 0)
            memcpy(copy + field[i], bytes, size);
    if (write(fd, copy, original_size) != (ssize_t)original_size) die(path, "cannot be written");
    close(fd);
    free(copy);
    library->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    unlink(path);
    if (!library->handle) die(path, dlerror());
    int32_t (*fill)(struct ge_op_functions *, size_t) = NULL;
    void *symbol = dlsym(library->handle, "GetOpImplFunctions");
    memcpy(&fill, &symbol, sizeof symbol); /* a function pointer, by way of bytes */
    if (!fill || fill(library->table, ascgrad_ir_count) != 0) die(path, "no table of operators");
}

void patched_close(struct patched *library) {
    dlclose(library->handle);
}
