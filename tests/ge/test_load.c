/* SPDX-License-Identifier: Apache-2.0
 *
 * The two libraries as GE meets them: opened from disk, asked for their tables, called. Each is
 * opened twice under different file names in one process, as happens when a package is installed
 * for two roots.
 *
 * usage: test_load OPSPROTO OPMASTER       (libregister.so and libplatform.so must be found: the
 * stubs)
 */
#define _GNU_SOURCE /* RTLD_DEFAULT, mkdtemp */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../ge/layout.h"
#include "../cann/registry/fake_ge.h"

static const char *const types[] = {
#define ASCGRAD_OP(type, op) #type,
#include "ascgrad_ops.inc"
#undef ASCGRAD_OP
};

enum { OPS = sizeof types / sizeof types[0], POISON = 0xA5, BF16 = 27 };

/* The stub of libplatform.so takes an array of rows for a platform. */
static const struct {
    const char *label, *key, *value;
} ascend910b1[] = {
    {"version", "Short_SoC_version", "Ascend910B"},
    {"SoCInfo", "core_type_list", "CubeCore,VectorCore"},
    {"SoCInfo", "vector_core_cnt", "48"},
    {"AICoreSpec", "ub_size", "196608"},
    {NULL, NULL, NULL},
};

static int failures;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

struct library {
    void *handle;
    struct ge_op_functions table[OPS];
};

static void copy_file(const char *from, const char *to) {
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    char buffer[65536];
    size_t n;
    if (!in || !out) {
        perror(in ? to : from);
        exit(2);
    }
    while ((n = fread(buffer, 1, sizeof buffer, in)) > 0) {
        if (fwrite(buffer, 1, n, out) != n) {
            perror(to);
            exit(2);
        }
    }
    fclose(in);
    fclose(out);
}

/* dlsym gives an object pointer; ISO C has no cast for that. */
static void find(void *handle, const char *name, void *function) {
    void *symbol = dlsym(handle, name);
    CHECK(symbol != NULL);
    if (!symbol) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    memcpy(function, &symbol, sizeof symbol);
}

static void open_library(struct library *library, const char *path) {
    size_t (*count)(void), (*ct_count)(void);
    int32_t (*functions)(struct ge_op_functions *, size_t);
    library->handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!library->handle) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    find(library->handle, "GetRegisteredOpNum", &count);
    find(library->handle, "GetRegisteredOpCtNum", &ct_count);
    find(library->handle, "GetOpImplFunctions", &functions);
    if (count() != OPS) {
        fprintf(stderr, "%s offers %zu operators, the IR has %d\n", path, count(), OPS);
        exit(1);
    }
    CHECK(ct_count() == 0);
    CHECK(functions(NULL, OPS) != 0);
    CHECK(functions(library->table, OPS - 1) != 0);
    memset(library->table, POISON, sizeof library->table);
    CHECK(functions(library->table, OPS) == 0);
}

/* Written are all pointers and numbers, never the two C++ containers. */
static void check_row(const struct ge_op_functions *row, int op, bool proto) {
    CHECK(!strcmp(row->type, types[op]));
    CHECK((row->infer_shape != NULL) == proto);
    CHECK((row->infer_shape_range != NULL) == proto);
    CHECK((row->infer_dtype != NULL) == proto);
    CHECK((row->tiling != NULL) == !proto);
    CHECK((row->tiling_parse != NULL) == !proto);
    CHECK((row->compile_info_creator != NULL) == !proto);
    CHECK((row->compile_info_deleter != NULL) == !proto);
    CHECK(row->max_tiling_data_size == (proto ? 0 : 16384));
    CHECK(row->inputs_dependency == 0 && row->host_inputs == 0 && row->tiling_dependency == 0);
    CHECK(row->tiling_dependency_placements == 0 && row->output_shape_depend_compute == 0);
    CHECK(row->op_execute == NULL && row->simplified_key == NULL);
    for (size_t i = 0; i < sizeof row->private_attrs; i++) {
        CHECK(row->private_attrs[i] == POISON);
    }
    for (size_t i = 0; i < sizeof row->unique_private_attrs; i++) {
        CHECK(row->unique_private_attrs[i] == POISON);
    }
}

static const struct fake_tensor in[] = {
    {.dtype = BF16, .rank = 3, .dim = {2, 4, 4}, .max = {2, 8, 8}},
    {.dtype = BF16, .rank = 3, .dim = {2, 4, 4}, .max = {2, 8, 8}}};
static const struct fake_tensor out[] = {{.dtype = BF16, .rank = 2, .dim = {2, 4}}};
static const struct fake_node exp_node = {
    .type = "ExpSegsumGrad", .name = "e", .in = in, .ir_in = 2, .out = out, .ir_out = 1};

static void check_inference(const struct ge_op_functions *row) {
    struct fake_ge ge;
    fake_infer_shape(&ge, &exp_node);
    CHECK(row->infer_shape(ge.context) == GE_SUCCESS);
    CHECK(get64(ge.tensor[0], 0) == 2 && get64(ge.tensor[0], 8) == 2 &&
          get64(ge.tensor[0], 16) == 4);
    fake_end(&ge);
    fake_infer_dtype(&ge, &exp_node);
    CHECK(row->infer_dtype(ge.context) == GE_SUCCESS);
    CHECK(get32(ge.slot[ge.inputs], 0) == BF16);
    fake_end(&ge);
    fake_infer_range(&ge, &exp_node);
    CHECK(row->infer_shape_range(ge.context) == GE_SUCCESS);
    CHECK(get64(ge.tensor[0], 16) == 4 && get64(ge.tensor[1], 16) == 8);
    fake_end(&ge);
    CHECK(row->infer_shape(NULL) == GE_FAILED);
}

static void check_tiling(const struct ge_op_functions *row) {
    struct fake_ge ge;
    void *compile_info = row->compile_info_creator();
    CHECK(compile_info != NULL);
    fake_tiling_parse(&ge, &exp_node, ascend910b1, NULL, compile_info);
    CHECK(row->tiling_parse(ge.context) == GE_SUCCESS);
    fake_end(&ge);
    fake_tiling(&ge, &exp_node, FAKE_2026, ascend910b1, compile_info, 16384);
    CHECK(row->tiling(ge.context) == GE_SUCCESS);
    const uint32_t blocks = get32(ge.slot[ge.inputs + 1], 0);
    CHECK(blocks >= 1 && blocks <= 48);
    CHECK(get64(ge.tiling_data, 8) > 0);
    CHECK(get64(ge.workspace, 8) == 1 && get64(ge.workspace, 56) >= 16 * 1024 * 1024);
    fake_end(&ge);
    row->compile_info_deleter(compile_info);
    CHECK(row->tiling(NULL) == GE_FAILED);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: test_load OPSPROTO OPMASTER\n");
        return 2;
    }
    /* First as the kernel compiler does it: locally, and with a function of libregister.so looked
     * up in our library, which only works if ours says that it needs libregister.so. */
    void *local = dlopen(argv[2], RTLD_LAZY | RTLD_LOCAL);
    CHECK(local && dlsym(local, "TbeLoadSoAndSaveToRegistry"));
    if (local) {
        dlclose(local);
    }

    char dir[] = "/tmp/ascgrad-load-XXXXXX";
    if (!mkdtemp(dir)) {
        perror(dir);
        return 2;
    }
    static struct library proto[2], master[2];
    for (int i = 0; i < 2; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/proto%d.so", dir, i);
        copy_file(argv[1], path);
        open_library(&proto[i], path);
        unlink(path);
        snprintf(path, sizeof path, "%s/master%d.so", dir, i);
        copy_file(argv[2], path);
        open_library(&master[i], path);
        unlink(path);
    }
    rmdir(dir);

    for (int op = 0; op < OPS; op++) {
        for (int i = 0; i < 2; i++) {
            check_row(&proto[i].table[op], op, true);
            check_row(&master[i].table[op], op, false);
        }
        /* Each copy answers for itself. */
        CHECK(proto[0].table[op].infer_shape != proto[1].table[op].infer_shape);
        CHECK(master[0].table[op].tiling != master[1].table[op].tiling);
    }
    int known = 0;
    while (known < OPS && strcmp(types[known], "ExpSegsumGrad") != 0)
        known++;
    if (known == OPS) {
        fprintf(stderr, "there is no ExpSegsumGrad to call\n");
        return 1;
    }
    for (int i = 0; i < 2; i++) {
        check_inference(&proto[i].table[known]);
        check_tiling(&master[i].table[known]);
    }
    int (*registered)(void);
    find(RTLD_DEFAULT, "stub_registered_operators", &registered);
    CHECK(registered() == 2 * OPS); /* REG_OP of both copies reached "GE" */
    printf("%s: %d failures\n", argv[0], failures);
    return failures ? 1 : 0;
}
