/* SPDX-License-Identifier: Apache-2.0
 *
 * The few things every infer and tiling function needs: refusing with one sentence, handing over
 * the tiling struct, and asking a shape questions without ever overflowing.
 */
#include "node.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

ascgrad_result ascgrad_refuse(struct ascgrad_error *error, const struct ascgrad_node *node,
                              const char *format, ...) {
    if (!error) {
        return ASCGRAD_REFUSED;
    }
    const char *type = node && node->ir ? node->ir->type : "operator";
    const char *name = node && node->name ? node->name : "";
    /* Graph node names can be longer than the buffer; the rule must survive, so the name is cut. */
    int used = snprintf(error->text, sizeof error->text, "%.64s '%.96s': ", type, name);
    if (used < 0 || (size_t)used >= sizeof error->text) {
        return ASCGRAD_REFUSED;
    }
    va_list args;
    va_start(args, format);
    vsnprintf(error->text + used, sizeof error->text - (size_t)used, format, args);
    va_end(args);
    return ASCGRAD_REFUSED;
}

ascgrad_result ascgrad_put(struct ascgrad_launch *launch, const struct ascgrad_node *node,
                           const void *data, size_t size, struct ascgrad_error *error) {
    size_t room =
        launch->data && launch->size <= launch->capacity ? launch->capacity - launch->size : 0;
    if (size > room) {
        return ascgrad_refuse(
            error, node, "the tiling data takes %zu bytes, the buffer has %zu left", size, room);
    }
    if (size > 0) {
        memcpy((char *)launch->data + launch->size, data, size);
    }
    launch->size += size;
    return ASCGRAD_DONE;
}

const char *ascgrad_dtype_name(int32_t dtype) {
    switch (dtype) {
    case ASCGRAD_FP32:
        return "fp32";
    case ASCGRAD_FP16:
        return "fp16";
    case ASCGRAD_BF16:
        return "bf16";
    /* Types no operator takes, named all the same because they end up in refusals. */
    case 2:
        return "int8";
    case 3:
        return "int32";
    case 4:
        return "uint8";
    case 6:
        return "int16";
    case 7:
        return "uint16";
    case 8:
        return "uint32";
    case 9:
        return "int64";
    case 10:
        return "uint64";
    case 11:
        return "double";
    case 12:
        return "bool";
    default:
        return "another dtype";
    }
}

size_t ascgrad_dtype_size(int32_t dtype) {
    switch (dtype) {
    case ASCGRAD_FP32:
        return 4;
    case ASCGRAD_FP16:
    case ASCGRAD_BF16:
        return 2;
    default:
        return 0;
    }
}

int32_t ascgrad_type_at(const char *types, uint32_t column) {
    static const int32_t known[] = {ASCGRAD_FP32, ASCGRAD_FP16, ASCGRAD_BF16};
    for (; column > 0; column--) {
        types = strchr(types, ',');
        if (!types) return -1;
        types++;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strncmp(types, ascgrad_dtype_name(known[i]), 4) == 0) return known[i];
    }
    return -1;
}

const char *ascgrad_shape_text(const struct ascgrad_shape *shape, struct ascgrad_text *buffer) {
    static const char more[] = ",...]"; /* room kept free so that a cut shape says that it is cut */
    char *s = buffer->s;
    const size_t room = sizeof buffer->s;
    if (!shape) {
        snprintf(s, room, "none");
        return s;
    }
    if (shape->rank > ASCGRAD_MAX_RANK) {
        snprintf(s, room, "[rank %" PRIu64 "]", shape->rank);
        return s;
    }
    size_t used = (size_t)snprintf(s, room, "[");
    for (uint64_t i = 0; i < shape->rank; i++) {
        char dim[24];
        int n = snprintf(dim, sizeof dim, "%s%" PRId64, i ? "," : "", shape->dim[i]);
        if (used + (size_t)n + sizeof more > room) {
            memcpy(s + used, more, sizeof more);
            return s;
        }
        memcpy(s + used, dim, (size_t)n);
        used += (size_t)n;
    }
    memcpy(s + used, "]", 2);
    return s;
}

bool ascgrad_shape_concrete(const struct ascgrad_shape *s) {
    if (s->rank > ASCGRAD_MAX_RANK) {
        return false;
    }
    for (uint64_t i = 0; i < s->rank; i++) {
        if (s->dim[i] < 0) {
            return false;
        }
    }
    return true;
}

int64_t ascgrad_elements(const struct ascgrad_shape *s, uint64_t from, uint64_t to) {
    if (to > ASCGRAD_MAX_RANK) {
        return -1;
    }
    bool empty = false;
    for (uint64_t i = from; i < to; i++) {
        if (s->dim[i] < 0) {
            return -1;
        }
        empty |= s->dim[i] == 0;
    }
    if (empty) {
        return 0; /* even if the other dimensions alone would not fit */
    }
    int64_t product = 1;
    for (uint64_t i = from; i < to; i++) {
        if (__builtin_mul_overflow(product, s->dim[i], &product)) {
            return -1;
        }
    }
    return product;
}

bool ascgrad_shape_equal(const struct ascgrad_shape *a, const struct ascgrad_shape *b) {
    if (a->rank != b->rank || a->rank > ASCGRAD_MAX_RANK) {
        return false;
    }
    for (uint64_t i = 0; i < a->rank; i++) {
        if (a->dim[i] != b->dim[i]) {
            return false;
        }
    }
    return true;
}

/* Bytes of any part of the tensor fit int64. An empty dimension counts as 1 here: [0,2^62,2^62] has
 * no elements, yet a tiling may multiply its last two dimensions. */
static bool countable(const struct ascgrad_shape *s) {
    const int64_t widest = 8;
    int64_t bytes = widest;
    for (uint64_t i = 0; i < s->rank; i++) {
        if (s->dim[i] > 0 && __builtin_mul_overflow(bytes, s->dim[i], &bytes)) {
            return false;
        }
    }
    return true;
}

ascgrad_result ascgrad_need_input(const struct ascgrad_node *node, uint32_t input,
                                  struct ascgrad_error *error) {
    if (node->in[input].present && node->in[input].shape) return ASCGRAD_DONE;
    return ascgrad_refuse(error, node, "input %s is required but not connected",
                          node->ir->in[input].name);
}

ascgrad_result ascgrad_need_concrete(const struct ascgrad_node *node, uint32_t input,
                                     struct ascgrad_error *error) {
    if (ascgrad_need_input(node, input, error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
    const struct ascgrad_shape *shape = node->in[input].shape;
    const char *name = node->ir->in[input].name;
    struct ascgrad_text text;
    if (!ascgrad_shape_concrete(shape) || shape->rank > ASCGRAD_MOST_DIMS) {
        return ascgrad_refuse(error, node,
                              "the shape of %s must be known with at most %d dimensions, got %s",
                              name, ASCGRAD_MOST_DIMS, ascgrad_shape_text(shape, &text));
    }
    if (!countable(shape)) {
        return ascgrad_refuse(error, node, "the size of %s %s does not fit 63 bits", name,
                              ascgrad_shape_text(shape, &text));
    }
    return ASCGRAD_DONE;
}

/* The columns in which an argument has this dtype, as bits. Tiling asks for every argument of every
 * launch: one walk through the list, and no calls. */
static uint32_t columns_with(const char *types, int32_t dtype) {
    const char *name = ascgrad_dtype_name(dtype);
    uint32_t found = 0;
    for (uint32_t column = 1;; column <<= 1) {
        size_t same = 0;
        while (name[same] && types[same] == name[same]) {
            same++;
        }
        types += same;
        if (!name[same] && (*types == ',' || !*types)) found |= column;
        while (*types && *types != ',') {
            types++;
        }
        if (!*types++) return found;
    }
}

static uint32_t all_columns(const struct ascgrad_ir *ir) {
    uint32_t n = 1;
    for (const char *c = ir->in[0].types; *c; c++) {
        n += *c == ',';
    }
    return n < 32 ? (1u << n) - 1 : UINT32_MAX;
}

int32_t ascgrad_column(const struct ascgrad_node *node) {
    const struct ascgrad_ir *ir = node->ir;
    uint32_t columns = all_columns(ir);
    for (uint32_t i = 0; i < ir->inputs; i++) {
        if (node->in[i].present) columns &= columns_with(ir->in[i].types, node->in[i].dtype);
    }
    for (uint32_t i = 0; i < ir->outputs; i++) {
        if (node->out[i].present) columns &= columns_with(ir->out[i].types, node->out[i].dtype);
    }
    return columns ? __builtin_ctz(columns) : -1;
}

/* "fp16 or fp32": what an argument has in these columns. */
static const char *types_in(const char *types, uint32_t columns, struct ascgrad_text *text) {
    size_t used = 0;
    text->s[0] = 0;
    while (columns) {
        int32_t dtype = ascgrad_type_at(types, (uint32_t)__builtin_ctz(columns));
        columns &= ~columns_with(types, dtype);
        used += (size_t)snprintf(text->s + used, sizeof text->s - used, "%s%s", used ? " or " : "",
                                 ascgrad_dtype_name(dtype));
    }
    return text->s;
}

/* The inputs from `first` on leave these columns, and in none of them input i has its dtype. */
static ascgrad_result refuse_mixture(const struct ascgrad_node *node, uint32_t first, uint32_t i,
                                     uint32_t columns, struct ascgrad_error *error) {
    const struct ascgrad_ir_arg *ir = node->ir->in;
    const char *got = ascgrad_dtype_name(node->in[i].dtype);
    struct ascgrad_text text;
    while (first < i && !node->in[first].present) {
        first++;
    }
    types_in(ir[i].types, columns, &text);
    uint32_t as_here = columns_with(ir[i].types, ascgrad_type_at(ir[i].types, 0));
    if (first == i || as_here == all_columns(node->ir)) { /* whatever the others have */
        return ascgrad_refuse(error, node, "%s must be %s, got %s", ir[i].name, text.s, got);
    }
    for (uint32_t k = first; k < i; k++) {
        if (node->in[k].present && strcmp(ir[k].types, ir[i].types) == 0) {
            return ascgrad_refuse(error, node, "%s and %s must have one dtype, got %s and %s",
                                  ir[k].name, ir[i].name, ascgrad_dtype_name(node->in[k].dtype),
                                  got);
        }
    }
    return ascgrad_refuse(error, node, "%s must be %s beside %s of %s, got %s", ir[i].name, text.s,
                          ir[first].name, ascgrad_dtype_name(node->in[first].dtype), got);
}

ascgrad_result ascgrad_need_dtype(const struct ascgrad_node *node, uint32_t first, uint32_t count,
                                  struct ascgrad_error *error) {
    const struct ascgrad_ir_arg *ir = node->ir->in;
    uint32_t columns = all_columns(node->ir);
    for (uint32_t i = first; i < node->ir->inputs && i - first < count; i++) {
        const struct ascgrad_arg *arg = &node->in[i];
        if (!arg->present) {
            continue;
        }
        if (ascgrad_dtype_size(arg->dtype) == 0) {
            return ascgrad_refuse(error, node,
                                  "%s must be fp16, fp32 or bf16, got %s (%" PRId32 ")", ir[i].name,
                                  ascgrad_dtype_name(arg->dtype), arg->dtype);
        }
        uint32_t left = columns & columns_with(ir[i].types, arg->dtype);
        if (!left) return refuse_mixture(node, first, i, columns, error);
        columns = left;
    }
    return ASCGRAD_DONE;
}

ascgrad_result ascgrad_need_inputs(const struct ascgrad_node *node, struct ascgrad_error *error) {
    for (uint32_t i = 0; i < node->ir->inputs; i++) {
        if (node->ir->in[i].optional && !node->in[i].present) continue;
        if (ascgrad_need_concrete(node, i, error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
    }
    return ascgrad_need_dtype(node, 0, node->ir->inputs, error);
}

ascgrad_result ascgrad_need_output(const struct ascgrad_node *node, uint32_t output,
                                   const struct ascgrad_shape *shape, int32_t dtype,
                                   struct ascgrad_error *error) {
    const struct ascgrad_arg *out = &node->out[output];
    const char *name = node->ir->out[output].name;
    struct ascgrad_text a, b;
    if (!out->present || !out->shape) return ASCGRAD_DONE;
    if (!ascgrad_shape_equal(out->shape, shape)) {
        return ascgrad_refuse(error, node, "%s has shape %s, but must be %s", name,
                              ascgrad_shape_text(out->shape, &a), ascgrad_shape_text(shape, &b));
    }
    if (out->dtype != dtype) {
        return ascgrad_refuse(error, node, "%s is %s, but must be %s", name,
                              ascgrad_dtype_name(out->dtype), ascgrad_dtype_name(dtype));
    }
    return ASCGRAD_DONE;
}

ascgrad_result ascgrad_need_attr(const struct ascgrad_node *node, uint32_t attr, int64_t most,
                                 struct ascgrad_error *error) {
    int64_t value = node->attr[attr].i;
    if (value >= 0 && value <= most) return ASCGRAD_DONE;
    return ascgrad_refuse(error, node, "%s is %" PRId64 ", but must be 0 to %" PRId64,
                          node->ir->attr[attr].name, value, most);
}

ascgrad_result ascgrad_need_later_chip(const struct ascgrad_node *node,
                                       const struct ascgrad_chip *chip,
                                       struct ascgrad_error *error) {
    if (chip->arch != ASCGRAD_ARCH_910) return ASCGRAD_DONE;
    return ascgrad_refuse(
        error, node, "there is no kernel for the first generation of the 910 (architecture %d)",
        ASCGRAD_ARCH_910);
}
