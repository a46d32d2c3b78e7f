/* SPDX-License-Identifier: Apache-2.0
 *
 * Tiling refuses to serve another package's kernel (ge/guard.c). Asked of the finished library, for
 * every operator type in it, in the way of each caller there is; the list of chips is written into
 * copies of the library as the installer writes it.
 *
 * usage: test_guard OPMASTER       (libregister.so and libplatform.so must be found: the stubs)
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../cann/registry/fake_ge.h"
#include "patched.h"

static int checks, failures;
static char logged[512];

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        checks++;                                                                                  \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: failed: %s: ", __FILE__, __LINE__, #condition);                \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fprintf(stderr, "\n");                                                                 \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

/* The library prefers GE's log function to stderr when the process has one. */
__attribute__((visibility("default"))) void DlogRecord(int32_t module, int32_t level,
                                                       const char *format, ...);
void DlogRecord(int32_t module, int32_t level, const char *format, ...) {
    va_list args;
    (void)module;
    (void)level;
    va_start(args, format);
    vsnprintf(logged, sizeof logged, format, args);
    va_end(args);
}

struct platform_row {
    const char *label, *key, *value;
};
#define CHIP(name)                                                                                 \
    {                                                                                              \
        {"version", "Short_SoC_version", name}, {"version", "NpuArch", "2201"},                    \
            {"SoCInfo", "ai_core_cnt", "48"}, {"AICoreSpec", "ub_size", "196608"}, {               \
            NULL, NULL, NULL                                                                       \
        }                                                                                          \
    }
static const struct platform_row a2[] = CHIP("Ascend910B"), a3[] = CHIP("Ascend910_93"),
                                 nameless[] = CHIP("");

/* ---- a node of any type: what its tiling says of the shapes does not matter here */

static struct fake_tensor in[ASCGRAD_MAX_INPUTS], out[ASCGRAD_MAX_OUTPUTS];
static struct fake_attr attr[ASCGRAD_MAX_ATTRS];

static struct fake_node node_of(const struct ascgrad_ir *ir) {
    for (uint32_t i = 0; i < ASCGRAD_MAX_INPUTS; i++) {
        in[i] = (struct fake_tensor){.dtype = 1, .rank = 3, .dim = {2, 4, 4}};
    }
    for (uint32_t o = 0; o < ASCGRAD_MAX_OUTPUTS; o++) {
        out[o] = (struct fake_tensor){.dtype = 1, .rank = 1, .dim = {-1}};
    }
    for (uint32_t a = 0; a < ir->attrs; a++) {
        const enum ascgrad_attr_kind kind = ir->attr[a].kind;
        attr[a] = (struct fake_attr){.kind = kind == ASCGRAD_ATTR_INT    ? 'i'
                                             : kind == ASCGRAD_ATTR_BOOL ? 'b'
                                                                         : 'l',
                                     .i = 1,
                                     .list = {2},
                                     .count = 1};
    }
    return (struct fake_node){.type = ir->type,
                              .name = ir->type,
                              .in = in,
                              .ir_in = ir->inputs,
                              .out = out,
                              .ir_out = ir->outputs,
                              .attr = attr,
                              .attrs = ir->attrs};
}

/* Whether the guard lets the call pass; logged is what it said if not. */
static bool passes(const struct ge_op_functions *row, const struct ascgrad_ir *ir,
                   const struct platform_row *chip, void *compile_info) {
    struct fake_ge ge;
    struct fake_node node = node_of(ir);
    node.aclnn = !compile_info;
    fake_tiling(&ge, &node, FAKE_2026, chip, compile_info, 16384);
    logged[0] = '\0';
    const uint32_t status = row->tiling(ge.context);
    const bool refused = strstr(logged, "aclnn asks on behalf of") != NULL;
    CHECK(!refused || status == GE_FAILED, "%s", ir->type);
    if (refused) { /* and nothing was decided */
        CHECK(get64(ge.slot[ge.inputs], 0) == FAKE_UNTOUCHED, "%s", ir->type);
        CHECK(get64(ge.tiling_data, 8) == 0, "%s", ir->type);
    } else {
        CHECK(status == GE_SUCCESS || !strncmp(logged + 10, ir->type, strlen(ir->type)),
              "%s: said '%s'", ir->type, logged);
        CHECK(!strstr(logged, "GE "), "%s: the node is no good: %s", ir->type, logged);
    }
    fake_end(&ge);
    return !refused;
}

/* ---- aclnn's plain route */

static void check_plain(void) {
    static const struct {
        const char *list;
        bool a2, a3;
    } rows[] = {
        {"", false, false},
        {"ascend910b", true, false},
        {"ascend910_93", false, true},
        {"ascend910b,ascend910_93", true, true},
        {"ascend950,ascend910_93,ascend910b", true, true},
        {"ascend910", false, false},
        {"ascend910b1", false, false},
        {"xascend910b,ascend910", false, false},
        {"Ascend910B", false, false},
        {",", false, false},
        {",,ascend910b", true, false},
        {"ascend310p,ascend310p3,ascend610,ascend910,ascend95,ascend910b", true, false},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        struct patched library;
        patched_open(&library, NULL, rows[r].list, strlen(rows[r].list));
        for (uint32_t i = 0; i < ascgrad_ir_count; i++) {
            const struct ascgrad_ir *ir = &ascgrad_ir_table[i];
            const struct ge_op_functions *row = &library.table[i];
            CHECK(passes(row, ir, a2, NULL) == rows[r].a2, "%s '%s'", ir->type, rows[r].list);
            CHECK(passes(row, ir, a3, NULL) == rows[r].a3, "%s '%s'", ir->type, rows[r].list);
            CHECK(!passes(row, ir, nameless, NULL), "%s '%s'", ir->type, rows[r].list);
            CHECK(strstr(logged, "on an unknown chip"), "said '%s'", logged);
        }
        patched_close(&library);
    }
    for (uint32_t only = 0; only < ascgrad_ir_count;
         only++) { /* each type has a field of its own */
        struct patched library;
        patched_open(&library, ascgrad_ir_table[only].type, "ascend910b", 10);
        for (uint32_t i = 0; i < ascgrad_ir_count; i++) {
            CHECK(passes(&library.table[i], &ascgrad_ir_table[i], a2, NULL) == (i == only), "%s",
                  ascgrad_ir_table[i].type);
        }
        patched_close(&library);
    }
    char full[PATCHED_FIELD]; /* a list that nobody ended: the last byte does not count */
    memset(full, ',', sizeof full);
    memcpy(full + PATCHED_FIELD - 10, "ascend910b", 10);
    struct patched library;
    patched_open(&library, NULL, full, sizeof full);
    CHECK(!passes(&library.table[0], &ascgrad_ir_table[0], a2, NULL), "said '%s'", logged);
    patched_close(&library);
}

/* ---- callers that have a compile info */

static bool parsed_passes(const struct ge_op_functions *row, const struct ascgrad_ir *ir,
                          const struct fake_kernel *kernel, void *compile_info) {
    struct fake_ge ge;
    const struct fake_node node = node_of(ir);
    fake_tiling_parse(&ge, &node, a2, kernel, compile_info);
    CHECK(row->tiling_parse(ge.context) == GE_SUCCESS, "%s", ir->type);
    fake_end(&ge);
    return passes(row, ir, a2, compile_info);
}

static void check_parsed(const struct ge_op_functions *row, const struct ascgrad_ir *ir) {
    char ours[128], theirs[128], nearly[128], endless[512], cut[128];
    snprintf(ours, sizeof ours, "ascgrad_%s_0123456789abcdef0123456789abcdef", ir->type);
    snprintf(theirs, sizeof theirs, "%s_0123456789abcdef0123456789abcdef", ir->type);
    snprintf(nearly, sizeof nearly, "Ascgrad_%s_0123456789abcdef0123456789abcdef", ir->type);
    memset(endless, 'k', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    snprintf(cut, sizeof cut, "kernel '%.95s'", endless);
    const struct {
        struct fake_kernel kernel;
        const char *said; /* NULL: passes */
    } rows[] = {
        {{ours, ir->type}, NULL},      {{theirs, ir->type}, theirs},
        {{nearly, ir->type}, nearly},  {{"ascgrad", ir->type}, "'ascgrad'"},
        {{"", ir->type}, "kernel ''"}, {{NULL, ir->type}, "kernel ''"},
        {{endless, ir->type}, cut},    {{theirs, "TilingParse"}, NULL}, /* GE at run time */
        {{theirs, ""}, NULL},          {{theirs, NULL}, NULL},
        {{NULL, NULL}, NULL},
    };
    void *info = row->compile_info_creator();
    CHECK(info, "%s", ir->type);
    CHECK(passes(row, ir, a2, info), "%s unparsed: %s", ir->type, logged);
    CHECK(parsed_passes(row, ir, NULL, info), "%s, Python and static GE: %s", ir->type, logged);
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        const bool pass = parsed_passes(row, ir, &rows[r].kernel, info); /* forgets the last one */
        CHECK(pass == !rows[r].said, "%s, row %zu: '%s'", ir->type, r, logged);
        CHECK(!rows[r].said || strstr(logged, rows[r].said), "row %zu said '%s'", r, logged);
    }
    row->compile_info_deleter(info);
    row->compile_info_deleter(NULL);
}

/* tiling_parse on contexts that lack what they should have. */
static void check_spoilt(const struct ge_op_functions *row, const struct ascgrad_ir *ir) {
    const struct fake_node node = node_of(ir);
    const struct fake_kernel theirs = {"theirs", ir->type};
    void *info = row->compile_info_creator();
    for (int how = 0; how < 6; how++) {
        struct fake_ge ge;
        fake_tiling_parse(&ge, &node, a2, &theirs, info);
        if (how == 0) put64(ge.context, 8, 0);          /* no outputs */
        if (how == 1) put64(ge.context, 40 + 8 * 3, 0); /* no slot */
        if (how == 2) put64(ge.slot[3], 0, 0);          /* no object */
        if (how == 3) put64(ge.context, 16, 0);         /* no node: nothing to compare with */
        if (how == 4) put64(ge.info, 0, 0);             /* no type */
        if (how == 5)                                   /* no inputs: the outputs begin at once */
            put64(ge.context, 0, 0), put64(ge.context, 40, get64(ge.context, 40 + 8 * 3));
        logged[0] = '\0';
        const uint32_t status = row->tiling_parse(ge.context);
        CHECK((status == GE_FAILED) == (how < 3), "%s, spoilt %d: %u", ir->type, how, status);
        CHECK((logged[0] != '\0') == (how < 3), "%s, spoilt %d said '%s'", ir->type, how, logged);
        fake_end(&ge);
        CHECK(how < 3 || passes(row, ir, a2, info) == (how < 5), "%s, spoilt %d", ir->type, how);
    }
    CHECK(row->tiling_parse(NULL) == GE_FAILED, "%s", ir->type);
    row->compile_info_deleter(info);

    struct fake_ge ge; /* no slot of the compile info at all, as the composite route may have it */
    fake_tiling(&ge, &node, FAKE_8_1, a2, NULL, 16384);
    put64(ge.context, 40 + 8 * (ge.n_in + ge.n_out), 0);
    logged[0] = '\0';
    CHECK(row->tiling(ge.context) == GE_FAILED, "%s", ir->type);
    CHECK(strstr(logged, "aclnn asks on behalf of a kernel"), "said '%s'", logged);
    fake_end(&ge);
}

/* The sentences in full, with the longest names there are. */
static void check_sentences(const struct patched *library) {
    for (uint32_t i = 0; i < ascgrad_ir_count; i++) {
        const struct ascgrad_ir *ir = &ascgrad_ir_table[i];
        const char *remedy =
            "; run scripts/compile.sh of the package, or install it with --no-override";
        char want[512], kernel[128];
        snprintf(want, sizeof want,
                 "[ascgrad] %s '%s': aclnn asks on behalf of a kernel that is not ascgrad's, "
                 "because no kernel binaries of ascgrad for %s on ascend910_93 are installed%s",
                 ir->type, ir->type, ir->type, remedy);
        CHECK(!passes(&library->table[i], ir, a3, NULL), "%s", ir->type);
        CHECK(!strcmp(logged, want), "said '%s'", logged);
        snprintf(kernel, sizeof kernel, "%s_0123456789abcdef0123456789abcdef_high_performance",
                 ir->type);
        snprintf(want, sizeof want,
                 "[ascgrad] %s '%s': aclnn asks on behalf of kernel '%s', which is not ascgrad's%s",
                 ir->type, ir->type, kernel, remedy);
        void *info = library->table[i].compile_info_creator();
        const struct fake_kernel theirs = {kernel, ir->type};
        CHECK(!parsed_passes(&library->table[i], ir, &theirs, info), "%s", ir->type);
        CHECK(!strcmp(logged, want), "said '%s'", logged);
        library->table[i].compile_info_deleter(info);
    }
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: test_guard OPMASTER\n");
        return 2;
    }
    patched_original(argv[1]);
    check_plain();
    struct patched library;
    patched_open(&library, NULL, "", 0);
    for (uint32_t i = 0; i < ascgrad_ir_count; i++) {
        check_parsed(&library.table[i], &ascgrad_ir_table[i]);
        check_spoilt(&library.table[i], &ascgrad_ir_table[i]);
    }
    check_sentences(&library);
    patched_close(&library);
    printf("%u operators, %d checks, %d failures\n", ascgrad_ir_count, checks, failures);
    return failures != 0;
}
