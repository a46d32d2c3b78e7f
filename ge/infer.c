/* SPDX-License-Identifier: Apache-2.0
 *
 * GE's three inference calls. Slots: inputs 0..N-1 by instance, outputs 0..M-1 by instance. Answers
 * are made in local memory and copied out at the end, so that a refusal leaves GE's outputs as they
 * were.
 */
#include "context.h"
#include "../core/verbose.h"

struct answers {
    struct ascgrad_shape shape[ASCGRAD_MAX_OUTPUTS];
};

static ascgrad_result infer_into(struct answers *answers, const struct ascgrad_node *node,
                                 ascgrad_infer_fn *infer, struct ascgrad_error *error) {
    struct ascgrad_shape *out[ASCGRAD_MAX_OUTPUTS];
    for (uint32_t o = 0; o < ASCGRAD_MAX_OUTPUTS; o++) {
        out[o] = &answers->shape[o];
        out[o]->rank = 0;
    }
    return infer(node, out, error);
}

/* Dimensions beyond the rank are nobody's business. */
static void copy_shape(struct ge_shape *to, const struct ascgrad_shape *from) {
    to->rank = from->rank;
    memcpy(to->dim, from->dim, from->rank * sizeof from->dim[0]);
}

static ascgrad_result no_output(const struct ascgrad_node *node, const struct ascgrad_ir *ir,
                                uint32_t o, struct ascgrad_error *error) {
    return ascgrad_refuse(error, node, "GE has no place for output %s", ir->out[o].name);
}

static ascgrad_result infer_shape(struct ge_context *context, const struct ascgrad_ir *ir,
                                  ascgrad_infer_fn *infer, struct ascgrad_error *error) {
    struct ascgrad_node node;
    struct answers answers;
    struct ge_shape *to[ASCGRAD_MAX_OUTPUTS];
    if (ascgrad_read_context(context, ir, ASCGRAD_ORIGIN_SHAPES, &node, error) != ASCGRAD_DONE) {
        return ASCGRAD_REFUSED;
    }
    for (uint32_t o = 0; o < ir->outputs; o++) {
        struct ge_slot *slot = ascgrad_ir_output_slot(context, o);
        to[o] = slot ? slot->value.pointer : NULL;
        if (!to[o]) {
            return no_output(&node, ir, o, error);
        }
    }
    if (infer_into(&answers, &node, infer, error) != ASCGRAD_DONE) {
        return ASCGRAD_REFUSED;
    }
    for (uint32_t o = 0; o < ir->outputs; o++) {
        copy_shape(to[o], &answers.shape[o]);
    }
    return ASCGRAD_DONE;
}

/* What is known of a shape of which the bounds are known: the dimensions in which they agree. */
static void known_part(const struct ascgrad_shape *min, const struct ascgrad_shape *max,
                       struct ascgrad_shape *known) {
    if (min->rank != max->rank || !ascgrad_rank_known(min) || !ascgrad_rank_known(max)) {
        *known = (struct ascgrad_shape){.rank = 1, .dim = {ASCGRAD_UNKNOWN_RANK}};
        return;
    }
    known->rank = min->rank;
    for (uint64_t i = 0; i < min->rank; i++) {
        known->dim[i] = min->dim[i] == max->dim[i] ? min->dim[i] : ASCGRAD_UNKNOWN_DIM;
    }
}

/* The bounds of different inputs need not fit each other: T in [1,8] for one and [1,16] for the
 * other is a fine graph, yet 8 and 16 is no valid node, and neither is the odd lower bound of an
 * even dimension. Then the outputs are inferred from what is certain, and the rest is left open: at
 * least 0, no upper bound. */
static ascgrad_result infer_open_range(const struct ascgrad_node *min,
                                       const struct ascgrad_node *max, ascgrad_infer_fn *infer,
                                       struct answers *low, struct answers *high,
                                       struct ascgrad_error *error) {
    struct ascgrad_node node = *min;
    struct ascgrad_shape known[ASCGRAD_MAX_INPUTS];
    for (uint32_t i = 0; i < node.ir->inputs; i++) {
        if (node.in[i].present) {
            known_part(min->in[i].shape, max->in[i].shape, &known[i]);
            node.in[i].shape = &known[i];
        }
    }
    if (infer_into(low, &node, infer, error) != ASCGRAD_DONE) {
        return ASCGRAD_REFUSED;
    }
    *high = *low;
    for (uint32_t o = 0; o < node.ir->outputs; o++) {
        struct ascgrad_shape *shape = &low->shape[o];
        for (uint64_t i = 0; i < shape->rank; i++) {
            shape->dim[i] = shape->dim[i] == ASCGRAD_UNKNOWN_DIM ? 0 : shape->dim[i];
        }
    }
    return ASCGRAD_DONE;
}

static ascgrad_result infer_shape_range(struct ge_context *context, const struct ascgrad_ir *ir,
                                        ascgrad_infer_fn *infer, struct ascgrad_error *error) {
    struct ascgrad_node min, max;
    struct answers low, high;
    struct ge_range *to[ASCGRAD_MAX_OUTPUTS];
    if (ascgrad_read_context(context, ir, ASCGRAD_MIN_SHAPES, &min, error) != ASCGRAD_DONE ||
        ascgrad_read_context(context, ir, ASCGRAD_MAX_SHAPES, &max, error) != ASCGRAD_DONE) {
        return ASCGRAD_REFUSED;
    }
    for (uint32_t o = 0; o < ir->outputs; o++) {
        struct ge_slot *slot = ascgrad_ir_output_slot(context, o);
        to[o] = slot ? slot->value.pointer : NULL;
        if (!to[o] || !to[o]->min || !to[o]->max) {
            return no_output(&min, ir, o, error);
        }
    }
    if ((infer_into(&low, &min, infer, error) != ASCGRAD_DONE ||
         infer_into(&high, &max, infer, error) != ASCGRAD_DONE) &&
        infer_open_range(&min, &max, infer, &low, &high, error) != ASCGRAD_DONE) {
        return ASCGRAD_REFUSED;
    }
    for (uint32_t o = 0; o < ir->outputs; o++) {
        copy_shape(to[o]->min, &low.shape[o]);
        copy_shape(to[o]->max, &high.shape[o]);
    }
    return ASCGRAD_DONE;
}

static ascgrad_result infer_dtype(struct ge_context *context, const struct ascgrad_ir *ir,
                                  ascgrad_infer_dtype_fn *infer, struct ascgrad_error *error) {
    struct ascgrad_node node;
    int32_t dtype[ASCGRAD_MAX_OUTPUTS] = {0};
    struct ge_slot *to[ASCGRAD_MAX_OUTPUTS];
    if (ascgrad_read_context(context, ir, ASCGRAD_NO_SHAPES, &node, error) != ASCGRAD_DONE) {
        return ASCGRAD_REFUSED;
    }
    for (uint32_t o = 0; o < ir->outputs; o++) {
        to[o] = ascgrad_ir_output_slot(context, o);
        if (!to[o]) {
            return no_output(&node, ir, o, error);
        }
    }
    if (infer(&node, dtype, error) != ASCGRAD_DONE) {
        return ASCGRAD_REFUSED;
    }
    for (uint32_t o = 0; o < ir->outputs; o++) {
        to[o]->value.i32 = dtype[o];
    }
    return ASCGRAD_DONE;
}

/* The line of ASCGRAD_VERBOSE: the inputs, and the answers as they stand in GE's context. */
static void tell(const char *what, const struct ge_context *context, const struct ascgrad_ir *ir,
                 enum ascgrad_shape_of shapes, bool done, double begin) {
    struct ascgrad_node node;
    struct ascgrad_error error;
    struct ascgrad_line line = {.size = 0};
    ascgrad_line_add(&line, "%s %s", what, ir->type);
    if (ascgrad_read_context(context, ir, shapes, &node, &error) == ASCGRAD_DONE) {
        for (uint32_t i = 0; i < ir->inputs; i++) {
            if (node.in[i].present) {
                ascgrad_line_arg(&line, ir->in[i].name, &node.in[i]);
            }
        }
    }
    ascgrad_line_add(&line, done ? " ->" : " refused");
    for (uint32_t o = 0; done && o < ir->outputs; o++) {
        const struct ge_slot *slot = ascgrad_ir_output_slot(context, o);
        struct ascgrad_text text;
        if (shapes == ASCGRAD_NO_SHAPES) {
            ascgrad_line_add(&line, " %s=%s", ir->out[o].name, ascgrad_dtype_name(slot->value.i32));
        } else {
            ascgrad_line_add(&line, " %s=%s", ir->out[o].name,
                             ascgrad_shape_text(slot->value.pointer, &text));
        }
    }
    ascgrad_line_end(&line, begin);
}

uint32_t ascgrad_ge_infer_shape(struct ge_context *context, const struct ascgrad_ir *ir,
                                ascgrad_infer_fn *infer) {
    struct ascgrad_error error;
    const double begin = ascgrad_verbose_clock();
    const bool done = infer_shape(context, ir, infer, &error) == ASCGRAD_DONE;
    if (begin > 0) {
        tell("infer", context, ir, ASCGRAD_ORIGIN_SHAPES, done, begin);
    }
    return done ? GE_SUCCESS : ascgrad_ge_fail(&error);
}

uint32_t ascgrad_ge_infer_shape_range(struct ge_context *context, const struct ascgrad_ir *ir,
                                      ascgrad_infer_fn *infer) {
    struct ascgrad_error error;
    return infer_shape_range(context, ir, infer, &error) == ASCGRAD_DONE ? GE_SUCCESS
                                                                         : ascgrad_ge_fail(&error);
}

uint32_t ascgrad_ge_infer_dtype(struct ge_context *context, const struct ascgrad_ir *ir,
                                ascgrad_infer_dtype_fn *infer) {
    struct ascgrad_error error;
    const double begin = ascgrad_verbose_clock();
    const bool done = infer_dtype(context, ir, infer, &error) == ASCGRAD_DONE;
    if (begin > 0) {
        tell("infer dtype", context, ir, ASCGRAD_NO_SHAPES, done, begin);
    }
    return done ? GE_SUCCESS : ascgrad_ge_fail(&error);
}
