/* SPDX-License-Identifier: Apache-2.0
 *
 * libascgrad_ms.so: the operators behind MindSpore's aot interface for the CPU,
 * ascgrad_ms_<Operator>().
 *
 * That interface passes tensors only, so attributes and the absence of inputs come as one more
 * input, int64 settings: [mask of the inputs that are there, attribute, ...], a float as its bits,
 * a list of integers as its length and its values. Parameters are the inputs that are there,
 * settings, the outputs except those that do not apply (shape [0]).
 */
#include <ascgrad.h>
#include <stdio.h>
#include <string.h>

static int fail(const char *op, const char *why) {
    fprintf(stderr, "%s: %s\n", op, why);
    return 1;
}

static bool find(const char *op, struct ascgrad_op_info *ir) {
    for (uint32_t i = 0; ascgrad_describe(i, ir); i++) {
        if (strcmp(ir->type, op) == 0) return true;
    }
    return false;
}

static bool describe(struct ascgrad_tensor *t, const char *dtype, int rank, const int64_t *shape,
                     void *data) {
    static const struct {
        const char *name;
        int number;
    } types[] = {{"float32", ASCGRAD_TYPE_FP32},
                 {"float16", ASCGRAD_TYPE_FP16},
                 {"bfloat16", ASCGRAD_TYPE_BF16}};
    if (rank < 0 || rank > ASCGRAD_RANK_MAX) return false;
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(dtype, types[i].name) != 0) continue;
        *t = (struct ascgrad_tensor){.dtype = types[i].number, .rank = rank, .data = data};
        for (int k = 0; k < rank; k++)
            t->dim[k] = shape[k];
        return true;
    }
    return false;
}

/* Attributes out of the settings behind the mask; false if they do not add up. */
static bool read_settings(const struct ascgrad_op_info *ir, const int64_t *at, int64_t left,
                          struct ascgrad_setting *attr) {
    for (uint32_t i = 0; i < ir->attrs; i++) {
        if (left < 1) return false;
        attr[i] = (struct ascgrad_setting){.set = true, .value = *at};
        int64_t used = 1;
        if (strcmp(ir->attr[i].type, "float") == 0) {
            const int32_t bits = (int32_t)*at;
            memcpy(&attr[i].real, &bits, sizeof bits);
        } else if (strcmp(ir->attr[i].type, "listInt") == 0) {
            if (*at < 0 || *at >= left) return false;
            attr[i].list = at + 1;
            attr[i].count = (size_t)*at;
            used += *at;
        }
        at += used;
        left -= used;
    }
    return left == 0;
}

static int run(const char *op, int nparam, void **params, int *ndims, int64_t **shapes,
               const char **dtypes) {
    struct ascgrad_op_info ir;
    struct ascgrad_tensor in[ASCGRAD_INPUTS_MAX], out[ASCGRAD_OUTPUTS_MAX];
    struct ascgrad_setting attr[ASCGRAD_ATTRS_MAX];
    char why[ASCGRAD_WHY];
    if (!find(op, &ir)) return fail(op, "not in libascgrad");

    int settings = 0; /* the only int64 parameter */
    while (settings < nparam && strcmp(dtypes[settings], "int64") != 0)
        settings++;
    if (settings == nparam || ndims[settings] != 1 || shapes[settings][0] < 1)
        return fail(op, "no settings");
    const int64_t *values = params[settings];
    int next = 0;
    for (uint32_t i = 0; i < ir.inputs; i++) {
        in[i].rank = -1;
        if (!(values[0] >> i & 1)) continue;
        if (next >= settings ||
            !describe(&in[i], dtypes[next], ndims[next], shapes[next], params[next])) {
            return fail(op, "inputs are float32, float16 or bfloat16, as many as the mask says");
        }
        next++;
    }
    if (!read_settings(&ir, values + 1, shapes[settings][0] - 1, attr))
        return fail(op, "settings do not fit the IR");

    struct ascgrad_call call = {.size = sizeof call,
                                .op = op,
                                .in = in,
                                .inputs = ir.inputs,
                                .out = out,
                                .outputs = ir.outputs,
                                .attr = attr,
                                .attrs = ir.attrs,
                                .fast = true};
    if (ascgrad_infer(&call, why) != ASCGRAD_OK) return fail(op, why);
    next = settings + 1;
    for (uint32_t i = 0; i < ir.outputs; i++) {
        if (out[i].rank == 1 && out[i].dim[0] == 0) continue;
        if (next >= nparam) return fail(op, "too few outputs");
        out[i].data = params[next++];
    }
    return ascgrad_run(&call, NULL, why) == ASCGRAD_OK ? 0 : fail(op, why);
}

#define ASCGRAD_OP(op, kernel)                                                                     \
    ASCGRAD_API int ascgrad_ms_##op(int nparam, void **params, int *ndims, int64_t **shapes,       \
                                    const char **dtypes, void *stream, void *extra);               \
    int ascgrad_ms_##op(int nparam, void **params, int *ndims, int64_t **shapes,                   \
                        const char **dtypes, void *stream, void *extra) {                          \
        (void)stream;                                                                              \
        (void)extra;                                                                               \
        return run(#op, nparam, params, ndims, shapes, dtypes);                                    \
    }
#include "ascgrad_ops.inc"
