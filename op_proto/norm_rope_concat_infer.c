/* SPDX-License-Identifier: Apache-2.0
 *
 * NormRopeConcatGrad: grad_query is like query, grad_key like key, grad_value like key with the
 * heads of grad_value_output, the encoder's likewise, all [B,S,N,D]; the gradients of weight and
 * bias are [D] where their norm type has them: 2, and 4 without a bias; those of 6 and 8 are
 * [N * D]. What does not apply is [0], so are value's if grad_value_output is. Unknown dimensions
 * and ranks pass through; dimensions that are known must agree. The values of the attributes are
 * for tiling to judge.
 */
#include "../core/node.h"

ascgrad_infer_fn ascgrad_infer_norm_rope_concat_grad;
ascgrad_infer_dtype_fn ascgrad_infer_dtype_norm_rope_concat_grad;

enum {
    GRAD_QUERY_OUTPUT,
    GRAD_KEY_OUTPUT,
    GRAD_VALUE_OUTPUT,
    QUERY,
    KEY,
    ENCODER_QUERY,
    ENCODER_KEY,
    TENSORS
};
enum { FIRST_WEIGHT = 6, FIRST_ADDED_WEIGHT = 10, OUTPUTS = 14 };
enum { FIRST_WEIGHT_IN = 7, LAST_WEIGHT_IN = 16 };
enum { NORM_TYPE, NORM_ADDED_TYPE, GRAD_LAYOUT = 4 };

static bool known(const struct ascgrad_arg *arg) {
    return arg->present && arg->shape && ascgrad_rank_known(arg->shape);
}

/* Value does not take part; [-1] can only become [0]. */
static bool no_value(const struct ascgrad_arg *arg) {
    return known(arg) && arg->shape->rank == 1 && arg->shape->dim[0] <= 0;
}

static ascgrad_result check_presence(const struct ascgrad_node *node, struct ascgrad_error *error) {
    for (uint32_t i = 0; i < TENSORS; i++) {
        const struct ascgrad_arg *in = &node->in[i];
        if (i < ENCODER_QUERY && ascgrad_need_input(node, i, error) != ASCGRAD_DONE) {
            return ASCGRAD_REFUSED;
        }
        if (i == GRAD_VALUE_OUTPUT && no_value(in)) continue;
        struct ascgrad_text text;
        if (known(in) && in->shape->rank != 4) {
            return ascgrad_refuse(error, node, "%s must have 4 dimensions%s, got %s",
                                  node->ir->in[i].name, i == GRAD_VALUE_OUTPUT ? " or be [0]" : "",
                                  ascgrad_shape_text(in->shape, &text));
        }
    }
    return ASCGRAD_DONE;
}

/* Where a gradient of the output has its sequence: [B,N,S,D] or [B,S,N,D]. */
static uint32_t grad_sequence(const struct ascgrad_node *node) {
    return node->attr[GRAD_LAYOUT].i == 1 ? 1 : 2;
}

/* An input's size along batch, heads or D; unknown if its rank is. */
enum axis { BATCH, HEADS, DIM };

static int64_t size_of(const struct ascgrad_node *node, uint32_t input, enum axis axis) {
    const struct ascgrad_arg *in = &node->in[input];
    if (!known(in) || in->shape->rank != 4) return ASCGRAD_UNKNOWN_DIM;
    uint32_t heads = input < QUERY ? 3 - grad_sequence(node) : 2;
    return in->shape->dim[axis == BATCH ? 0 : axis == HEADS ? heads : 3];
}

/* Inputs that have their heads in common. */
static const uint32_t query_tensors[] = {GRAD_QUERY_OUTPUT, QUERY, ENCODER_QUERY};
static const uint32_t key_tensors[] = {GRAD_KEY_OUTPUT, KEY, ENCODER_KEY};
static const uint32_t all_tensors[TENSORS] = {0, 1, 2, 3, 4, 5, 6};

/* The size that the first of them knows; all that know it must agree. */
static ascgrad_result common(const struct ascgrad_node *node, const uint32_t *input, uint32_t count,
                             enum axis axis, int64_t *size, struct ascgrad_error *error) {
    static const char *const name[] = {"batch", "heads", "D"};
    uint32_t first = 0;
    *size = ASCGRAD_UNKNOWN_DIM;
    for (uint32_t i = 0; i < count; i++) {
        int64_t here = size_of(node, input[i], axis);
        if (here < 0) continue;
        if (*size < 0) {
            *size = here;
            first = input[i];
        } else if (here != *size) {
            struct ascgrad_text x, y;
            return ascgrad_refuse(
                error, node, "%s of %s %s and of %s %s differ", name[axis],
                node->ir->in[first].name, ascgrad_shape_text(node->in[first].shape, &x),
                node->ir->in[input[i]].name, ascgrad_shape_text(node->in[input[i]].shape, &y));
        }
    }
    return ASCGRAD_DONE;
}

/* Sequence of x plus sequence of its encoder part make the sequence of the gradient, where all
 * are known. */
static ascgrad_result check_sequence(const struct ascgrad_node *node, uint32_t grad, uint32_t x,
                                     uint32_t encoder, struct ascgrad_error *error) {
    const struct ascgrad_arg *g = &node->in[grad], *m = &node->in[x], *e = &node->in[encoder];
    if (!known(g) || no_value(g) || !known(m) || (e->present && !known(e))) return ASCGRAD_DONE;
    int64_t total = g->shape->dim[grad_sequence(node)], main = m->shape->dim[1],
            added = e->present ? e->shape->dim[1] : 0;
    if (total < 0 || main < 0 || added < 0 || (main <= total && added == total - main))
        return ASCGRAD_DONE;
    return ascgrad_refuse(error, node, "the sequence of %s is %lld, but %s has %lld and %s %lld",
                          node->ir->in[grad].name, (long long)total, node->ir->in[x].name,
                          (long long)main, node->ir->in[encoder].name, (long long)added);
}

static void set_row(struct ascgrad_shape *out, int64_t size) {
    memset(out, 0, sizeof *out);
    out->rank = 1;
    out->dim[0] = size;
}

/* What x of value would be: like key's with heads of its own. */
static void set_value(const struct ascgrad_node *node, struct ascgrad_shape *out) {
    const struct ascgrad_arg *value = &node->in[GRAD_VALUE_OUTPUT];
    if (no_value(value)) {
        set_row(out, 0);
    } else if (!known(value)) {
        set_row(out, ASCGRAD_UNKNOWN_RANK);
    } else if (ascgrad_rank_known(out)) {
        out->dim[2] = size_of(node, GRAD_VALUE_OUTPUT, HEADS);
    }
}

/* Elements of a weight: D, or heads * D across heads; unknown where one of them is. */
static ascgrad_result weight_size(const struct ascgrad_node *node, int64_t type, int64_t heads,
                                  int64_t dim, int64_t *size, struct ascgrad_error *error) {
    *size = dim;
    if (type < 5 || dim < 0) return ASCGRAD_DONE;
    if (heads < 0) {
        *size = ASCGRAD_UNKNOWN_DIM;
    } else if (__builtin_mul_overflow(heads, dim, size)) {
        return ascgrad_refuse(error, node, "norm type %lld has a weight of heads * D, %lld * %lld",
                              (long long)type, (long long)heads, (long long)dim);
    }
    return ASCGRAD_DONE;
}

ascgrad_result ascgrad_infer_norm_rope_concat_grad(const struct ascgrad_node *node,
                                                   struct ascgrad_shape *const out[],
                                                   struct ascgrad_error *error) {
    static const uint32_t like[FIRST_WEIGHT] = {QUERY,         KEY,         KEY,
                                                ENCODER_QUERY, ENCODER_KEY, ENCODER_KEY};
    int64_t batch, heads[2], dim;
    if (check_presence(node, error) != ASCGRAD_DONE ||
        common(node, all_tensors, TENSORS, BATCH, &batch, error) != ASCGRAD_DONE ||
        common(node, query_tensors, 3, HEADS, &heads[0], error) != ASCGRAD_DONE ||
        common(node, key_tensors, 3, HEADS, &heads[1], error) != ASCGRAD_DONE ||
        common(node, all_tensors, TENSORS, DIM, &dim, error) != ASCGRAD_DONE ||
        check_sequence(node, GRAD_QUERY_OUTPUT, QUERY, ENCODER_QUERY, error) != ASCGRAD_DONE ||
        check_sequence(node, GRAD_KEY_OUTPUT, KEY, ENCODER_KEY, error) != ASCGRAD_DONE ||
        check_sequence(node, GRAD_VALUE_OUTPUT, KEY, ENCODER_KEY, error) != ASCGRAD_DONE) {
        return ASCGRAD_REFUSED;
    }
    for (uint32_t i = 0; i < FIRST_WEIGHT; i++) {
        const struct ascgrad_arg *in = &node->in[like[i]];
        if (in->present && in->shape) {
            *out[i] = *in->shape;
            if (i % 3 == 2) set_value(node, out[i]);
        } else {
            set_row(out[i], 0);
        }
    }
    for (uint32_t i = FIRST_WEIGHT; i < OUTPUTS;
         i++) { /* query's weight, bias, key's weight, ... */
        int64_t type = node->attr[i < FIRST_ADDED_WEIGHT ? NORM_TYPE : NORM_ADDED_TYPE].i, size = 0;
        bool bias = i % 2, key = (i - FIRST_WEIGHT) / 2 % 2;
        bool there = type == 2 || type == 6 || ((type == 4 || type == 8) && !bias);
        if (there && weight_size(node, type, heads[key], dim, &size, error) != ASCGRAD_DONE) {
            return ASCGRAD_REFUSED;
        }
        set_row(out[i], there ? size : 0);
    }
    return ASCGRAD_DONE;
}

ascgrad_result ascgrad_infer_dtype_norm_rope_concat_grad(const struct ascgrad_node *node,
                                                         int32_t out[],
                                                         struct ascgrad_error *error) {
    (void)error;
    uint32_t first = FIRST_WEIGHT_IN; /* weight, mean, rstd, weight, ... */
    while (first < LAST_WEIGHT_IN && !node->in[first].present) {
        first += 3;
    }
    bool wide = node->in[first].present && node->in[first].dtype == ASCGRAD_FP32;
    int32_t weights = wide ? ASCGRAD_FP32 : node->in[QUERY].dtype;
    for (uint32_t i = 0; i < OUTPUTS; i++) {
        out[i] = i < FIRST_WEIGHT ? node->in[QUERY].dtype : weights;
    }
    return ASCGRAD_DONE;
}
