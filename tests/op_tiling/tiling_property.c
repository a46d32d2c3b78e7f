/* SPDX-License-Identifier: Apache-2.0
 *
 * Random calls of every tiling function: shapes from empty to absurd, broadcasts, optional inputs,
 * attributes, chips. A call is refused with a sentence that names the operator, or its plan is one
 * that the kernel can carry out: see the judges in property_*.c. The same call gives the same bytes
 * twice; the output shapes of infer are accepted.
 *
 *     tiling_property [--count N] [--seed S] [--kernels op_kernel] [OPERATOR]
 *
 * With --kernels, N is expected to bring up every key that the kernels have.
 */
#include "property.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "../functions.h"

/* In the order of functions[]. */
static const struct property *const properties[] = {
#define ASCGRAD_OP(type, op) &property_##op,
#include "ascgrad_ops.inc"
#undef ASCGRAD_OP
};

enum { CAPACITY = 16384 };

int64_t draw_size(struct trial *t) {
    uint64_t kind = draw(t, 100);
    if (kind < 25) return 1;
    if (kind < 65) return 1 + (int64_t)draw(t, 20);
    if (kind < 85) return 1 + (int64_t)draw(t, 300);
    if (kind < 95) return 1 + (int64_t)draw(t, 20000);
    if (kind < 97) return 0;
    return (int64_t)1 << draw(t, kind < 99 ? 33 : 62);
}

int64_t draw_width(struct trial *t) {
    static const int64_t edges[] = {2,   4,    8,    16,   32,   64,   128,  256,  512,
                                    768, 1024, 1536, 2032, 2048, 3072, 4096, 8192, 16384};
    uint64_t kind = draw(t, 100);
    if (kind < 45) return edges[draw(t, 18)];
    if (kind < 60) return edges[draw(t, 18)] + 2 * (int64_t)draw(t, 9) - 8;
    if (kind < 90) return 2 * (1 + (int64_t)draw(t, 300));
    if (kind < 98) return 2 * (1 + (int64_t)draw(t, 20000));
    return (int64_t)2 << draw(t, 40);
}

void set_input(struct trial *t, uint32_t i, int32_t dtype, uint32_t rank, const int64_t *dim) {
    t->in[i].rank = rank;
    for (uint32_t k = 0; k < rank; k++)
        t->in[i].dim[k] = dim[k];
    t->node.in[i] = (struct ascgrad_arg){true, dtype, &t->in[i]};
}

static void draw_chip(struct trial *t) {
    static const uint64_t ub[] = {196352, 196352, 253952, 253952, 262144 - 256};
    t->chip.cores = chance(t, 50) ? (chance(t, 50) ? 40 : 48) : 1 + (uint32_t)draw(t, 64);
    t->chip.ub = chance(t, 3) ? draw(t, 400000) : ub[draw(t, 5)];
    t->chip.arch = t->chip.ub == 253952 ? 3510 : 2201;
    if (chance(t, 15)) { /* the first 910 */
        t->chip.cores = chance(t, 50) ? 32 : 1 + (uint32_t)draw(t, 32);
        t->chip.ub = t->chip.ub < 196352 ? t->chip.ub : 262144;
        t->chip.arch = 1001;
    }
}

/* Now and then the L2 has about the bytes of an input, or of two of them. */
static void draw_l2(struct trial *t) {
    wide_int bytes[2] = {0, 0};
    t->chip.l2 = 0;
    for (int i = 0; i < 2; i++) {
        const struct ascgrad_arg *in = &t->node.in[draw(t, t->node.ir->inputs)];
        bytes[i] = in->present ? (wide_int)ascgrad_dtype_size(in->dtype) : 0;
        for (uint64_t k = 0; in->present && k < in->shape->rank && bytes[i] < INT64_MAX; k++)
            bytes[i] *= in->shape->dim[k];
    }
    wide_int all = bytes[0] + (chance(t, 80) ? bytes[1] : 0) + (int64_t)draw(t, 3) - 1;
    if (chance(t, 30) && all > 0 && all < INT64_MAX / 4) t->chip.l2 = (uint64_t)all;
}

/* One thing that does not fit the rest. */
static void spoil(struct trial *t) {
    uint32_t i = (uint32_t)draw(t, t->node.ir->inputs), k = (uint32_t)draw(t, 5);
    static const int64_t odd[] = {-1, -2, 0, 1, 3, INT64_MAX, INT64_MIN, (int64_t)1 << 40, 7, 129};
    switch (draw(t, 8)) {
    case 0:
        t->in[i].dim[k % ASCGRAD_MAX_RANK] = odd[draw(t, 10)];
        break;
    case 1:
        t->in[i].rank = draw(t, 4) ? draw(t, 7) : draw(t, 40);
        break;
    case 2:
        t->node.in[i].dtype = (int32_t)draw(t, 30);
        break;
    case 3:
        t->node.in[i].present = false;
        break;
    case 4:
        t->node.in[i].shape = NULL;
        break;
    case 5:
        t->node.attr[draw(t, ASCGRAD_MAX_ATTRS)].i = (int64_t)draw(t, 8) - 2;
        break;
    case 6:
        t->list[draw(t, 20)] = odd[draw(t, 10)];
        break;
    default:
        t->in[i].dim[k] += 1 - 2 * (int64_t)draw(t, 2);
        break;
    }
    if (!t->node.in[i].present) t->node.in[i].shape = NULL;
}

static void make(struct trial *t, const struct ascgrad_ir *ir, const struct property *property) {
    memset(&t->node, 0, sizeof t->node);
    memset(t->in, 0, sizeof t->in);
    t->node = (struct ascgrad_node){.ir = ir, .name = "trial"};
    for (uint32_t i = 0; i < ir->attrs; i++) {
        t->node.attr[i] = ascgrad_attr_default(&ir->attr[i]);
        t->node.attr[i].list = t->list;
    }
    draw_chip(t);
    uint32_t columns = 1;
    while (ascgrad_type_at(ir->in[0].types, columns) >= 0) {
        columns++;
    }
    const uint32_t column = (uint32_t)draw(t, columns);
    property->make(t, ascgrad_type_at(ir->in[0].types, column));
    for (uint32_t i = 0; i < ir->inputs; i++) {
        t->node.in[i].dtype = ascgrad_type_at(ir->in[i].types, column);
    }
    draw_l2(t);
    if (chance(t, 10)) spoil(t);
}

static void print_trial(const struct trial *t) {
    printf("  chip: cores %u, arch %u, ub %" PRIu64 "\n", t->chip.cores, t->chip.arch, t->chip.ub);
    for (uint32_t i = 0; i < t->node.ir->inputs; i++) {
        const struct ascgrad_arg *in = &t->node.in[i];
        struct ascgrad_text text;
        if (in->present)
            printf("  input %u: %s%s\n", i, ascgrad_dtype_name(in->dtype),
                   in->shape ? ascgrad_shape_text(in->shape, &text) : " (no shape)");
    }
    for (uint32_t i = 0; i < t->node.ir->attrs; i++) {
        printf("  attribute %u: %" PRId64, i, t->node.attr[i].i);
        for (size_t k = 0; k < t->node.attr[i].count && k < 80; k++)
            printf("%s%" PRId64, k ? "," : " list ", ascgrad_list_at(&t->node.attr[i], k));
        printf("\n");
    }
}

struct tally {
    uint64_t accepted, refused, failed;
    /* a bit for each key */
    uint64_t keys, synced;
};

static unsigned char first_data[CAPACITY], again_data[CAPACITY], other_data[CAPACITY];

static ascgrad_result call(size_t op, const struct trial *t, const struct ascgrad_chip *chip,
                           unsigned char *data, struct ascgrad_launch *launch,
                           struct ascgrad_error *error) {
    memset(launch, 0xa5, sizeof *launch); /* what tiling does not set is rubbish */
    launch->data = data;
    launch->capacity = CAPACITY;
    launch->size = 0;
    error->text[0] = 0;
    return functions[op].tile(&t->node, chip, launch, error);
}

static const char *common(const struct trial *t, const struct ascgrad_launch *l) {
    NEED(l->key < 64 && l->block_dim >= 1 && l->block_dim <= t->chip.cores);
    NEED(l->size > 0 && l->size <= CAPACITY && l->size % 8 == 0);
    NEED(*(const unsigned char *)&l->sync_all <= 1);
    NEED(!l->sync_all || l->workspace > 0);
    NEED(l->workspace < (uint64_t)1 << 62);
    return NULL;
}

/* The plan again, with the output shapes that infer gives, and on another chip. */
static const char *repeat(size_t op, struct trial *t, const struct ascgrad_launch *first) {
    struct ascgrad_launch again, other;
    struct ascgrad_error error;
    struct ascgrad_shape *outs[ASCGRAD_MAX_OUTPUTS];
    for (uint32_t i = 0; i < ASCGRAD_MAX_OUTPUTS; i++)
        outs[i] = &t->out[i];
    int32_t dtype[ASCGRAD_MAX_OUTPUTS];
    NEED(functions[op].infer(&t->node, outs, &error) == ASCGRAD_DONE);
    NEED(functions[op].infer_dtype(&t->node, dtype, &error) == ASCGRAD_DONE);
    struct ascgrad_node plain = t->node;
    for (uint32_t i = 0; i < t->node.ir->outputs; i++)
        t->node.out[i] = (struct ascgrad_arg){true, dtype[i], &t->out[i]};
    memset(again_data, 0x5a, sizeof again_data);
    ascgrad_result result = call(op, t, &t->chip, again_data, &again, &error);
    t->node = plain;
    NEED(result == ASCGRAD_DONE);
    NEED(again.key == first->key && again.block_dim == first->block_dim &&
         again.workspace == first->workspace);
    NEED(again.sync_all == first->sync_all && again.size == first->size);
    NEED(memcmp(first_data, again_data, first->size) == 0);
    struct ascgrad_chip chip = {1 + (uint32_t)draw(t, 64), 3510, 253952, t->chip.l2};
    if (t->chip.arch == 1001)
        chip = (struct ascgrad_chip){1 + (uint32_t)draw(t, 32), 1001, 262144, t->chip.l2};
    NEED(call(op, t, &chip, other_data, &other, &error) == ASCGRAD_DONE);
    NEED(other.block_dim >= 1 && other.block_dim <= chip.cores);
    return properties[op]->judge_pair ? properties[op]->judge_pair(first, &other) : NULL;
}

static const char *refusal(const struct trial *t, const struct ascgrad_error *error) {
    size_t n = strlen(t->node.ir->type);
    NEED(memchr(error->text, 0, sizeof error->text) != NULL);
    NEED(strncmp(error->text, t->node.ir->type, n) == 0);
    NEED(strlen(error->text) > n + 20);
    /* every chip that there is has room for every call */
    NEED(!strstr(error->text, "the kernel needs") || t->chip.ub < 196352);
    return NULL;
}

static void try_one(size_t op, struct trial *t, uint64_t seed, struct tally *tally) {
    struct ascgrad_launch launch;
    struct ascgrad_error error;
    memset(first_data, 0xa5, sizeof first_data);
    const char *wrong;
    if (call(op, t, &t->chip, first_data, &launch, &error) == ASCGRAD_DONE) {
        tally->accepted++;
        wrong = common(t, &launch);
        if (!wrong) tally->keys |= (uint64_t)1 << launch.key;
        if (!wrong && launch.sync_all) tally->synced |= (uint64_t)1 << launch.key;
        if (!wrong) wrong = properties[op]->judge(t, &launch);
        if (!wrong) wrong = repeat(op, t, &launch);
    } else {
        tally->refused++;
        wrong = refusal(t, &error);
    }
    if (!wrong) return;
    if (tally->failed++ < 10) {
        printf("FAIL %s, seed %" PRIu64 ": not %s; %s\n", t->node.ir->type, seed, wrong,
               error.text);
        print_trial(t);
    }
}

static uint64_t number(const char *text) {
    return text ? strtoull(text, NULL, 10) : 0;
}

int main(int argc, char **argv) {
    uint64_t count = 100000, seed = (uint64_t)time(NULL), failed = 0;
    const char *only = NULL, *kernels = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--count") == 0)
            count = number(argv[++i]);
        else if (strcmp(argv[i], "--seed") == 0)
            seed = number(argv[++i]);
        else if (strcmp(argv[i], "--kernels") == 0)
            kernels = argv[++i];
        else
            only = argv[i];
    }
    static struct trial trial;
    bool known = false;
    for (size_t op = 0; op < sizeof functions / sizeof functions[0]; op++) {
        if (only && strcmp(only, functions[op].type) != 0) continue;
        const struct ascgrad_ir *ir = NULL;
        for (uint32_t k = 0; k < ascgrad_ir_count; k++)
            if (strcmp(ascgrad_ir_table[k].type, functions[op].type) == 0)
                ir = &ascgrad_ir_table[k];
        struct tally tally = {0};
        clock_t start = clock();
        for (uint64_t i = 0; i < count && tally.failed < 1000; i++) {
            trial.random = seed + i; /* --seed S --count 1 repeats a failure */
            make(&trial, ir, properties[op]);
            try_one(op, &trial, seed + i, &tally);
        }
        printf("%s: seed %" PRIu64 ", %" PRIu64 " accepted, %" PRIu64 " refused, %" PRIu64
               " failed, %.1f s\n",
               functions[op].type, seed, tally.accepted, tally.refused, tally.failed,
               (double)(clock() - start) / CLOCKS_PER_SEC);
        fflush(stdout);
        const char *wrong =
            kernels ? judge_keys(kernels, properties[op]->kernel, tally.keys, tally.synced) : NULL;
        if (wrong) printf("FAIL %s: not %s\n", functions[op].type, wrong);
        failed += tally.failed + (wrong != NULL);
        if (count >= 1000 && !tally.accepted) {
            printf("FAIL %s: not one call was accepted\n", functions[op].type);
            failed++;
        }
        known = true;
    }
    if (!known) {
        printf("FAIL there is no operator '%s'\n", only);
        failed++;
    }
    return failed != 0;
}
