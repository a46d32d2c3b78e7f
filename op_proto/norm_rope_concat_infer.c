/* SPDX-License-Identifier: Apache-2.0
 *
 * NormRopeConcatGrad: grad_query is like query, grad_key and grad_value like key, the encoder's
 * like encoder_query and encoder_key, all [B,S,N,D]; the gradients of weight and bias are [D] where
 * their norm type has them: 2, and 4 without a bias. What does not apply is [0]. Unknown dimensions
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
enum { NORM_TYPE, NORM_ADDED_TYPE };

static bool known(const struct ascgrad_arg *arg) {
    return arg->present && arg->shape && ascgrad_rank_known(arg->shape);
}

static ascgrad_result check_presence(const struct ascgrad_node *node, struct ascgrad_error *error) {
    for (uint32_t i = 0; i < TENSORS; i++) {
        const struct ascgrad_arg *in = &node->in[i];
        if (i < ENCODER_QUERY && ascgrad_need_input(node, i, error) != ASCGRAD_DONE) {
            return ASCGRAD_REFUSED;
        }
        struct ascgrad_text text;
        if (known(in) && in->shape->rank != 4) {
            return ascgrad_refuse(error, node, "%s must have 4 dimensions, got %s",
                                  node->ir->in[i].name, ascgrad_shape_text(in->shape, &text));
        }
    }
    return ASCGRAD_DONE;
}

/* Batch, heads and D are the same everywhere; a gradient of the output is [B,N,S,D], all else
 * [B,S,N,D]. */
static ascgrad_result check_common(const struct ascgrad_node *node, struct ascgrad_error *error) {
    static const char *const axis[3] = {"batch", "heads", "D"};
    for (uint32_t a = 0; a < 3; a++) {
        const struct ascgrad_shape *seen = NULL;
        uint32_t first = 0;
        int64_t size = 0;
        for (uint32_t i = 0; i < TENSORS; i++) {
            if (!known(&node->in[i])) continue;
            const struct ascgrad_shape *s = node->in[i].shape;
            int64_t here = s->dim[a == 0 ? 0 : a == 2 ? 3 : i < QUERY ? 1 : 2];
            struct ascgrad_text x, y;
            if (here < 0) continue;
            if (seen && here != size) {
                return ascgrad_refuse(error, node, "%s of %s %s and of %s %s differ", axis[a],
                                      node->ir->in[first].name, ascgrad_shape_text(seen, &x),
                                      node->ir->in[i].name, ascgrad_shape_text(s, &y));
            }
            if (!seen) seen = s, first = i, size = here;
        }
    }
    return ASCGRAD_DONE;
}

/* Sequence of x plus sequence of its encoder part make the sequence of the gradient, where all
 * are known. */
static ascgrad_result check_sequence(const struct ascgrad_node *node, uint32_t grad, uint32_t x,
                                     uint32_t encoder, struct ascgrad_error *error) {
    const struct ascgrad_arg *g = &node->in[grad], *m = &node->in[x], *e = &node->in[encoder];
    if (!known(g) || !known(m) || (e->present && !known(e))) return ASCGRAD_DONE;
    int64_t total = g->shape->dim[2], main = m->shape->dim[1],
            added = e->present ? e->shape->dim[1] : 0;
    if (total < 0 || main < 0 || added < 0 || (main <= total && added == total - main))
        return ASCGRAD_DONE;
    return ascgrad_refuse(error, node, "the sequence of %s is %lld, but %s has %lld and %s %lld",
                          node->ir->in[grad].name, (long long)total, node->ir->in[x].name,
                          (long long)main, node->ir->in[encoder].name, (long long)added);
}

/* D from the first tensor that knows it. */
static int64_t common_dim(const struct ascgrad_node *node) {
    static const uint32_t order[TENSORS] = {QUERY,
                                            KEY,
                                            ENCODER_QUERY,
                                            ENCODER_KEY,
                                            GRAD_QUERY_OUTPUT,
                                            GRAD_KEY_OUTPUT,
                                            GRAD_VALUE_OUTPUT};
    for (uint32_t i = 0; i < TENSORS; i++) {
        const struct ascgrad_arg *in = &node->in[order[i]];
        if (known(in) && in->shape->dim[3] >= 0) return in->shape->dim[3];
    }
    return ASCGRAD_UNKNOWN_DIM;
}

static void set_row(struct ascgrad_shape *out, int64_t size) {
    memset(out, 0, sizeof *out);
    out->rank = 1;
    out->dim[0] = size;
}

ascgrad_result ascgrad_infer_norm_rope_concat_grad(const struct ascgrad_node *node,
                                                   struct ascgrad_shape *const out[],
                                                   struct ascgrad_error *error) {
    static const uint32_t like[FIRST_WEIGHT] = {QUERY,         KEY,         KEY,
                                                ENCODER_QUERY, ENCODER_KEY, ENCODER_KEY};
    if (check_presence(node, error) != ASCGRAD_DONE || check_common(node, error) != ASCGRAD_DONE ||
        check_sequence(node, GRAD_QUERY_OUTPUT, QUERY, ENCODER_QUERY, error) != ASCGRAD_DONE ||
        check_sequence(node, GRAD_KEY_OUTPUT, KEY, ENCODER_KEY, error) != ASCGRAD_DONE ||
        check_sequence(node, GRAD_VALUE_OUTPUT, KEY, ENCODER_KEY, error) != ASCGRAD_DONE) {
        return ASCGRAD_REFUSED;
    }
    for (uint32_t i = 0; i < FIRST_WEIGHT; i++) {
        const struct ascgrad_arg *in = &node->in[like[i]];
        if (in->present && in->shape) {
            *out[i] = *in->shape;
        } else {
            set_row(out[i], 0);
        }
    }
    for (uint32_t i = FIRST_WEIGHT; i < OUTPUTS; i++) {
        int64_t type = node->attr[i < FIRST_ADDED_WEIGHT ? NORM_TYPE : NORM_ADDED_TYPE].i;
        bool there = type == 2 || (type == 4 && i % 2 == 0); /* weight, bias, weight, ... */
        set_row(out[i], there ? common_dim(node) : 0);
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
