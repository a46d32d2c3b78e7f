/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers in double into the operator's dtype, through the twin, and back.
 */
#include "operate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../twin/ascgrad.h"
#include "../../twin/half.h"
#include "evaluate.h"

static void put(struct ascgrad_tensor *t, const double *values, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        float f = (float)values[i];
        if (t->dtype == ASCGRAD_FP32)
            ((float *)t->data)[i] = f;
        else
            ((uint16_t *)t->data)[i] =
                t->dtype == ASCGRAD_FP16 ? twin_f32_to_f16(f) : twin_f32_to_bf16(f);
    }
}

static void get(const struct ascgrad_tensor *t, double *values, int64_t count) {
    for (int64_t i = 0; values && i < count; i++) {
        uint16_t bits = ((const uint16_t *)t->data)[i];
        values[i] = t->dtype == ASCGRAD_FP32   ? (double)((const float *)t->data)[i]
                    : t->dtype == ASCGRAD_FP16 ? (double)twin_f16_to_f32(bits)
                                               : (double)twin_bf16_to_f32(bits);
    }
}

/* A tensor with room for its elements; absent if there is no shape. */
static struct ascgrad_tensor make(const struct fusion_tensor *shape, int32_t dtype) {
    struct ascgrad_tensor t = {.dtype = dtype, .rank = -1};
    if (!shape) return t;
    t.rank = shape->rank;
    memcpy(t.dim, shape->dim, (size_t)shape->rank * sizeof *t.dim);
    t.data = calloc((size_t)elements_of(shape) + 1, sizeof(float));
    return t;
}

bool operate(const struct operation *o) {
    int32_t dtype = o->dy_shape->dtype;
    int64_t large = elements_of(o->dy_shape), small = elements_of(o->table_shape);
    struct ascgrad_tensor in[4] = {make(o->dy_shape, dtype), make(o->table_shape, dtype),
                                   make(o->table_shape, dtype),
                                   make(o->x ? o->dy_shape : NULL, dtype)};
    struct ascgrad_tensor out[3] = {make(o->dy_shape, dtype), make(o->table_shape, dtype),
                                    make(o->table_shape, dtype)};
    struct ascgrad_setting mode = {.set = true, .value = o->mode};
    struct ascgrad_call call = {.size = sizeof call,
                                .op = "RotaryPositionEmbeddingGrad",
                                .in = in,
                                .inputs = 4,
                                .out = out,
                                .outputs = 3,
                                .attr = &mode,
                                .attrs = 1};
    char why[ASCGRAD_WHY];
    put(&in[0], o->dy, large);
    put(&in[1], o->cos, small);
    put(&in[2], o->sin, small);
    if (o->x) put(&in[3], o->x, large);
    int code = ascgrad_run(&call, NULL, why);
    if (code != ASCGRAD_OK) fprintf(stderr, "the operator: %s\n", why);
    get(&out[0], o->dx, large);
    if (o->x) get(&out[1], o->dcos, small);
    if (o->x) get(&out[2], o->dsin, small);
    for (int i = 0; i < 4; i++)
        free(in[i].data);
    for (int i = 0; i < 3; i++)
        free(out[i].data);
    return code == ASCGRAD_OK;
}
