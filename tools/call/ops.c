/* SPDX-License-Identifier: Apache-2.0
 *
 * `ascgrad ops` and `ascgrad support`: what there is.
 */
#include <stdio.h>
#include <string.h>

#include "../../twin/ascgrad.h"
#include "../commands.h"
#include "../help.h"
#include "request.h"

static void json_args(const char *key, const struct ascgrad_arg_info *args, uint32_t n) {
    printf("    \"%s\": [", key);
    for (uint32_t i = 0; i < n; i++)
        printf("%s\n      {\"name\": \"%s\", \"optional\": %s, \"types\": \"%s\"}", i ? "," : "",
               args[i].name, args[i].optional ? "true" : "false", args[i].types);
    printf("\n    ],\n");
}

/* The default as JSON and as the user types it: 1, true, 1e-05; a list's is "". */
static const char *initial(const struct ascgrad_attr_info *a, const char *list,
                           struct text_float *text) {
    if (strncmp(a->type, "list", 4) == 0) return list;
    if (strcmp(a->type, "bool") == 0) return a->initial ? "true" : "false";
    if (strcmp(a->type, "float") == 0) return text_print_float(a->initial_real, text);
    snprintf(text->s, sizeof text->s, "%lld", (long long)a->initial);
    return text->s;
}

static void json_attrs(const struct ascgrad_op_info *op) {
    printf("    \"attrs\": [");
    for (uint32_t i = 0; i < op->attrs; i++) {
        const struct ascgrad_attr_info *a = &op->attr[i];
        printf("%s\n      {\"name\": \"%s\", \"type\": \"%s\", \"required\": %s", i ? "," : "",
               a->name, a->type, a->required ? "true" : "false");
        struct text_float text;
        if (!a->required) printf(", \"default\": %s", initial(a, "[]", &text));
        printf("}");
    }
    printf("%s]\n", op->attrs ? "\n    " : "");
}

static void print_json(void) {
    struct ascgrad_op_info op;
    printf("[");
    for (uint32_t i = 0; ascgrad_describe(i, &op); i++) {
        printf("%s\n  {\n    \"type\": \"%s\",\n    \"kernel\": \"%s\",\n", i ? "," : "", op.type,
               op.kernel);
        json_args("inputs", op.in, op.inputs);
        json_args("outputs", op.out, op.outputs);
        json_attrs(&op);
        printf("  }");
    }
    printf("\n]\n");
}

static void print_text(void) {
    struct ascgrad_op_info op;
    for (uint32_t i = 0; ascgrad_describe(i, &op); i++) {
        printf("%s%s\n", i ? "\n" : "", op.type);
        for (uint32_t k = 0; k < op.inputs; k++)
            printf("  in   %-28s %-24s%s\n", op.in[k].name, op.in[k].types,
                   op.in[k].optional ? " optional" : "");
        for (uint32_t k = 0; k < op.outputs; k++)
            printf("  out  %-28s %s\n", op.out[k].name, op.out[k].types);
        for (uint32_t k = 0; k < op.attrs; k++) {
            const struct ascgrad_attr_info *a = &op.attr[k];
            struct text_float text;
            printf("  attr %-28s %-24s %s%s\n", a->name, a->type, a->required ? "required" : "= ",
                   a->required ? "" : initial(a, "", &text));
        }
    }
}

int cmd_ops(int argc, char **argv) {
    if (argc == 0) {
        print_text();
        return EXIT_DONE;
    }
    if (argc == 1 && strcmp(argv[0], "--json") == 0) {
        print_json();
        return EXIT_DONE;
    }
    complain("usage: ascgrad ops [--json]");
    return EXIT_USAGE;
}

/* The dtypes, as bits, that all chips of a family have. */
static unsigned family_supports(const char *type, const struct help_family *family) {
    const char *name;
    unsigned dtypes = ~0u;
    for (uint32_t i = 0; (name = ascgrad_soc_name(i)); i++)
        if (help_family_of(name) == family) dtypes &= check_supported(type, name);
    return dtypes;
}

/* Each type of a list once: "fp16,fp32,fp16" -> "fp16,fp32". */
static void print_distinct(const char *types) {
    for (const char *type = types; type; type = strchr(type, ',') ? strchr(type, ',') + 1 : NULL) {
        const size_t n = strcspn(type, ",");
        const char *first = types;
        while (strncmp(first, type, n) != 0)
            first = strchr(first, ',') + 1;
        if (first == type) printf("%s%.*s", type == types ? "" : ",", (int)n, type);
    }
}

int cmd_support(int argc, char **argv) {
    (void)argv;
    if (argc) {
        complain("usage: ascgrad support");
        return EXIT_USAGE;
    }
    /* by the bits of check_supported */
    static const char *const words[] = {"no",   "fp32",      "fp16",      "fp32,fp16",
                                        "bf16", "fp32,bf16", "fp16,bf16", "yes"};
    const struct help_family *family;
    struct ascgrad_op_info op;
    printf("| operator | dtypes |");
    for (size_t f = 0; (family = help_family(f)); f++)
        printf(" %s |", family->title);
    printf(" CPU twin |\n|---|---|");
    for (size_t f = 0; help_family(f); f++)
        printf("---|");
    printf("---|\n");
    for (uint32_t i = 0; ascgrad_describe(i, &op); i++) {
        printf("| %s | ", op.type);
        print_distinct(op.in[0].types);
        printf(" |");
        for (size_t f = 0; (family = help_family(f)); f++)
            printf(" %s |", words[family_supports(op.type, family)]);
        printf(" yes |\n");
    }
    return EXIT_DONE;
}
