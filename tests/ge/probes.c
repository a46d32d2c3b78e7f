/* SPDX-License-Identifier: Apache-2.0 */
#include "probes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../../ge/platform.h"

char logged[512];

/* log.c prefers this, GE's own function, to stderr when the process has one. */
void DlogRecord(int32_t module, int32_t level, const char *format, ...);
void DlogRecord(int32_t module, int32_t level, const char *format, ...) {
    va_list args;
    (void)module;
    (void)level;
    va_start(args, format);
    vsnprintf(logged, sizeof logged, format, args);
    va_end(args);
}

const struct platform_row chip_8_1[] = {
    {"version", "Short_SoC_version", "Ascend910B"},
    {"SoCInfo", "core_type_list", "CubeCore,VectorCore"},
    {"SoCInfo", "vector_core_cnt", "48"},
    {"SoCInfo", "ai_core_cnt", "24"},
    {"AICoreSpec", "ub_size", "196608"},
    {NULL, NULL, NULL},
};

void ascgrad_platform_value(void *platform, const char *label, const char *key, char *text,
                            size_t size) {
    text[0] = '\0';
    for (const struct platform_row *row = platform; row->label; row++) {
        if (!strcmp(row->label, label) && !strcmp(row->key, key)) {
            snprintf(text, size, "%s", row->value);
        }
    }
}

struct ascgrad_node seen;
struct ascgrad_shape seen_shape[ASCGRAD_MAX_INPUTS];
struct ascgrad_shape seen_out_shape[ASCGRAD_MAX_OUTPUTS];
int64_t seen_list[8];

static void keep(const struct ascgrad_node *node) {
    seen = *node;
    for (uint32_t i = 0; i < node->ir->inputs; i++) {
        if (node->in[i].shape) {
            seen_shape[i] = *node->in[i].shape;
        }
    }
    for (uint32_t o = 0; o < node->ir->outputs; o++) {
        if (node->out[o].shape) {
            seen_out_shape[o] = *node->out[o].shape;
        }
    }
    for (uint32_t a = 0; a < node->ir->attrs; a++) {
        const struct ascgrad_attr *attr = &node->attr[a];
        for (size_t k = 0; attr->kind == ASCGRAD_ATTR_LIST_INT && k < attr->count; k++) {
            seen_list[k % 8] = ascgrad_list_at(attr, k);
        }
    }
}

static ascgrad_result need_two(const struct ascgrad_node *node, struct ascgrad_error *error) {
    for (int i = 0; i < 2; i++) {
        if (!node->in[i].present || !node->in[i].shape) {
            return ascgrad_refuse(error, node, "input %d is required", i);
        }
    }
    return ASCGRAD_DONE;
}

ascgrad_result probe_infer(const struct ascgrad_node *node, struct ascgrad_shape *const out[],
                           struct ascgrad_error *error) {
    const struct ascgrad_shape *a = node->in[0].shape, *b = node->in[1].shape;
    keep(node);
    if (need_two(node, error) != ASCGRAD_DONE) {
        return ASCGRAD_REFUSED;
    }
    if (ascgrad_rank_known(a) && ascgrad_rank_known(b)) {
        const int64_t x = a->dim[a->rank - 1], y = b->dim[b->rank - 1];
        if (x >= 0 && y >= 0 && (x != y || x % 2 != 0)) {
            return ascgrad_refuse(error, node, "no good: %d and %d", (int)x, (int)y);
        }
    }
    for (uint32_t o = 0; o < node->ir->outputs; o++) {
        *out[o] = *a;
    }
    return ASCGRAD_DONE;
}

ascgrad_result probe_dtype(const struct ascgrad_node *node, int32_t out[],
                           struct ascgrad_error *error) {
    keep(node);
    if (ascgrad_need_dtype(node, 0, 2, error) != ASCGRAD_DONE) {
        return ASCGRAD_REFUSED;
    }
    for (uint32_t o = 0; o < node->ir->outputs; o++) {
        out[o] = node->in[0].dtype;
    }
    return ASCGRAD_DONE;
}

struct ascgrad_chip seen_chip;
struct ascgrad_launch next_launch;
const char payload[24] = "twenty-four byte struct";

ascgrad_result probe_tile(const struct ascgrad_node *node, const struct ascgrad_chip *chip,
                          struct ascgrad_launch *launch, struct ascgrad_error *error) {
    keep(node);
    seen_chip = *chip;
    if (need_two(node, error) != ASCGRAD_DONE) {
        return ASCGRAD_REFUSED;
    }
    launch->key = next_launch.key;
    launch->block_dim = next_launch.block_dim;
    launch->workspace = next_launch.workspace;
    launch->sync_all = next_launch.sync_all;
    return ascgrad_put(launch, node, payload, sizeof payload, error);
}

void *ge_compile_info(void) {
    static void *info;
    return info ? info : (info = ascgrad_ge_compile_info_new());
}

uint32_t call_tiling(struct fake_ge *ge, const char *type) {
    static const volatile char no_chips[ASCGRAD_CHIPS];
    return ascgrad_ge_tiling(ge->context, ir_of(type), probe_tile, no_chips);
}

const struct ascgrad_ir *ir_of(const char *type) {
    for (uint32_t i = 0; i < ascgrad_ir_count; i++) {
        if (!strcmp(ascgrad_ir_table[i].type, type)) {
            return &ascgrad_ir_table[i];
        }
    }
    return NULL;
}

static const struct fake_tensor exp_in[] = {
    {.dtype = BF16, .rank = 3, .dim = {2, 4, 4}, .max = {2, 8, 8}},
    {.dtype = BF16, .rank = 3, .dim = {2, 4, 4}, .max = {2, 8, 8}},
};
static const struct fake_tensor exp_out[] = {{.dtype = BF16, .rank = 2, .dim = {2, 4}}};
const struct fake_node exp_node = {
    .type = "ExpSegsumGrad", .name = "e1", .in = exp_in, .ir_in = 2, .out = exp_out, .ir_out = 1};

static const struct fake_tensor rope_in[] = {{.dtype = FP16, .rank = 2, .dim = {11, 128}},
                                             {.dtype = FP16, .rank = 2, .dim = {11, 128}},
                                             {.dtype = FP16, .rank = 2, .dim = {64, 128}},
                                             {.dtype = FP16, .rank = 2, .dim = {64, 128}}};
static const struct fake_tensor rope_out[] = {{.dtype = FP16, .rank = 2, .dim = {11, 128}},
                                              {.dtype = FP16, .rank = 2, .dim = {11, 128}}};
const struct fake_attr rope_attr[2] = {{.kind = 'l', .list = {2, 1, 4, 4}, .count = 4},
                                       {.kind = 'b', .i = 1}};
const struct fake_node rope_node = {.type = "RopeGrad",
                                    .name = "r1",
                                    .in = rope_in,
                                    .ir_in = 4,
                                    .out = rope_out,
                                    .ir_out = 2,
                                    .attr = rope_attr,
                                    .attrs = 2};

/* RotaryPositionEmbeddingGrad, x left out */
static const struct fake_tensor rpe_in[] = {{.dtype = FP32, .rank = 4, .dim = {2, -1, 3, 6}},
                                            {.dtype = FP32, .rank = 4, .dim = {1, -1, 1, 6}},
                                            {.dtype = FP32, .rank = 4, .dim = {1, -1, 1, 6}},
                                            {.absent = true}};
static const struct fake_tensor rpe_out[] = {{.dtype = FP32, .rank = 4, .dim = {2, 5, 3, 6}},
                                             {.dtype = FP32, .rank = 4, .dim = {1, 5, 1, 6}},
                                             {.dtype = FP32, .rank = 4, .dim = {1, 5, 1, 6}}};
static const struct fake_attr rpe_attr[] = {{.kind = 'i', .i = -3}};
const struct fake_node rpe_node = {.type = "RotaryPositionEmbeddingGrad",
                                   .name = "p1",
                                   .in = rpe_in,
                                   .ir_in = 4,
                                   .out = rpe_out,
                                   .ir_out = 3,
                                   .attr = rpe_attr,
                                   .attrs = 1};

static const struct fake_attr mul_attr[] = {{.kind = 'b', .i = 0}};
const struct fake_node mul_node = {.type = "RotaryMulGrad",
                                   .name = "m1",
                                   .in = rope_in,
                                   .ir_in = 4,
                                   .out = rpe_out,
                                   .ir_out = 3,
                                   .attr = mul_attr,
                                   .attrs = 1};

struct fake_tensor norm_in[21], norm_out[14];
const struct fake_attr norm_attr[4] = {
    {.kind = 'i', .i = 2}, {.kind = 'i', .i = 1}, {.kind = 'i', .i = 2}, {.kind = 'i', .i = 1}};
const struct fake_node norm_node = {.type = "NormRopeConcatGrad",
                                    .name = "n1",
                                    .in = norm_in,
                                    .ir_in = 21,
                                    .out = norm_out,
                                    .ir_out = 14,
                                    .attr = norm_attr,
                                    .attrs = 4};

int make_norm(void **state) {
    (void)state;
    for (int i = 0; i < 21; i++) {
        norm_in[i] = (struct fake_tensor){
            .absent = i >= 5 && i % 2 == 0, .dtype = FP16, .rank = 2, .dim = {i, 8}, .max = {i, 8}};
    }
    for (int o = 0; o < 14; o++) {
        norm_out[o] = (struct fake_tensor){.dtype = FP16, .rank = 2, .dim = {100 + o, 8}};
    }
    return 0;
}
