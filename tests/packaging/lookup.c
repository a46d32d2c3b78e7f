/* SPDX-License-Identifier: Apache-2.0
 *
 * Plays the part that GE and nnopbase have in common: one registry of functions per operator type,
 * filled library by library in the order given, where the first that has a type keeps it. Then
 * calls tiling the way each road does and says who answered what.
 *
 *   lookup LIBRARY... <QUERIES
 *
 * A query is a line of words:  ROAD TYPE ATTRS attr... INPUTS input... OUTPUTS output...
 *   ROAD     ge         compile info from the creator, tiling_parse without a kernel's name
 *            plain      nnopbase's individual route: no compile info
 *            KERNEL     nnopbase's composite route: tiling_parse sees the kernel's name
 *   attr     i:5  b:1  f:0.5  l:2,1,4  r:0.5,2
 *   input    dtype:dims as numbers, 27:11,128, or - if absent
 * The answer is a line:  LIBRARY-NUMBER STATUS KEY BLOCKS   (-1 if nobody has the type)
 *
 * The query "ir TYPE" is answered by what GE's factory was told of the type first, in the words of
 * the stub of libregister.so, or by "nothing".
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../ge/layout.h"
#include "../cann/registry/fake_ge.h"

enum { MAX = 32 };

/* What the stub of libplatform.so takes for a platform. */
static struct {
    const char *label, *key, *value;
} platform[] = {
    {"version", "Short_SoC_version", "Ascend910B"},
    {"SoCInfo", "core_type_list", "CubeCore,VectorCore"},
    {"SoCInfo", "vector_core_cnt", "48"},
    {"AICoreSpec", "ub_size", "196608"},
    {NULL, NULL, NULL},
};

struct library {
    struct ge_op_functions *table;
    size_t count;
};

static void load(const char *path, struct library *library) {
    void *handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    size_t (*count)(void) = NULL;
    int32_t (*fill)(struct ge_op_functions *, size_t) = NULL;
    if (!handle) {
        fprintf(stderr, "lookup: %s\n", dlerror());
        exit(1);
    }
    void *symbol = dlsym(handle, "GetRegisteredOpNum");
    memcpy(&count, &symbol, sizeof symbol);
    symbol = dlsym(handle, "GetOpImplFunctions");
    memcpy(&fill, &symbol, sizeof symbol);
    library->count = count();
    library->table = calloc(library->count + 1, sizeof *library->table);
    if (fill(library->table, library->count) != 0) exit(1);
}

static char *word(void) {
    char *w = strtok(NULL, " \n");
    if (!w) {
        fprintf(stderr, "lookup: a word is missing\n");
        exit(1);
    }
    return w;
}

static uint64_t numbers(char *list, int64_t *to) {
    uint64_t n = 0;
    for (char *rest, *one = strtok_r(list, ",", &rest); one; one = strtok_r(NULL, ",", &rest))
        to[n++] = atoll(one);
    return n;
}

static uint64_t reals(char *list, float *to) {
    uint64_t n = 0;
    for (char *rest, *one = strtok_r(list, ",", &rest); one; one = strtok_r(NULL, ",", &rest))
        to[n++] = strtof(one, NULL);
    return n;
}

static uint64_t read_attrs(struct fake_attr *attr) {
    const int count = atoi(word());
    for (int i = 0; i < count; i++) {
        char *w = word();
        attr[i] = (struct fake_attr){.kind = w[0]};
        if (w[0] == 'l') {
            attr[i].count = numbers(w + 2, attr[i].list);
        } else if (w[0] == 'f' || w[0] == 'r') {
            attr[i].count = reals(w + 2, attr[i].f);
        } else {
            attr[i].i = atoll(w + 2);
        }
    }
    return (uint64_t)count;
}

static uint64_t read_tensors(struct fake_tensor *tensor) {
    const int count = atoi(word());
    for (int i = 0; i < count; i++) {
        char *w = word();
        tensor[i] = (struct fake_tensor){.absent = w[0] == '-'};
        if (tensor[i].absent) continue;
        tensor[i].dtype = atoi(w);
        tensor[i].rank = (int64_t)numbers(strchr(w, ':') + 1, tensor[i].dim);
    }
    return (uint64_t)count;
}

static void answer_ir(void) {
    const char *(*ir)(const char *) = NULL;
    void *symbol = dlsym(RTLD_DEFAULT, "stub_ir");
    memcpy(&ir, &symbol, sizeof symbol);
    const char *known = ir ? ir(word()) : NULL;
    printf("%s\n", known ? known : "nothing");
}

static void answer(const struct library *libraries, int count, char *road) {
    struct fake_tensor in[MAX], out[MAX];
    struct fake_attr attr[MAX];
    struct fake_node node = {.type = word(), .name = "n", .in = in, .out = out, .attr = attr};
    const struct ge_op_functions *found = NULL;
    int owner = -1;
    node.attrs = read_attrs(attr);
    node.ir_in = read_tensors(in);
    node.ir_out = read_tensors(out);
    node.aclnn = strcmp(road, "plain") == 0;
    for (int i = 0; i < count && !found; i++)
        for (size_t k = 0; k < libraries[i].count && !found; k++)
            if (strcmp(libraries[i].table[k].type, node.type) == 0 &&
                libraries[i].table[k].tiling) {
                found = &libraries[i].table[k];
                owner = i;
            }
    if (!found) {
        printf("-1 0 0 0\n");
        return;
    }
    struct fake_ge ge;
    void *compile_info = NULL;
    uint32_t status = 0;
    if (!node.aclnn) {
        const struct fake_kernel kernel = {road, node.type};
        compile_info = found->compile_info_creator();
        fake_tiling_parse(&ge, &node, platform, strcmp(road, "ge") == 0 ? NULL : &kernel,
                          compile_info);
        status = found->tiling_parse(ge.context);
        fake_end(&ge);
    }
    fake_tiling(&ge, &node, FAKE_2026, platform, compile_info, 16384);
    if (status == 0) status = found->tiling(ge.context);
    printf("%d %u %llu %u\n", owner, (unsigned)status,
           (unsigned long long)get64(ge.slot[ge.inputs], 0),
           (unsigned)get32(ge.slot[ge.inputs + 1], 0));
    fake_end(&ge);
    if (compile_info) found->compile_info_deleter(compile_info);
}

int main(int argc, char **argv) {
    struct library libraries[MAX];
    char line[4096];
    const int count = argc - 1 < MAX ? argc - 1 : MAX;
    for (int i = 0; i < count; i++)
        load(argv[i + 1], &libraries[i]);
    while (fgets(line, sizeof line, stdin)) {
        char *road = strtok(line, " \n");
        if (road && strcmp(road, "ir") == 0)
            answer_ir();
        else if (road)
            answer(libraries, count, road);
    }
    return 0;
}
