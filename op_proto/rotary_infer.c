/* SPDX-License-Identifier: Apache-2.0
 *
 * RotaryMulGrad(x, r1, r2, dy) and RotaryPositionEmbeddingGrad(dy, cos, sin, [x]): the gradients
 * look like what they belong to. dx is like x (like dy where x may be absent), the other two are
 * like cos and sin. Unknown dimensions and unknown rank pass through; whether the shapes agree is
 * for tiling to say, which sees them all.
 */
#include "../core/node.h"

ascgrad_infer_fn ascgrad_infer_rotary_mul_grad;
ascgrad_infer_fn ascgrad_infer_rotary_position_embedding_grad;
ascgrad_infer_dtype_fn ascgrad_infer_dtype_rotary_mul_grad;
ascgrad_infer_dtype_fn ascgrad_infer_dtype_rotary_position_embedding_grad;

/* In both operators output i looks like input i. */
static ascgrad_result infer(const struct ascgrad_node *node, struct ascgrad_shape *const out[],
                            struct ascgrad_error *error) {
    for (uint32_t i = 0; i < 3; i++) {
        const struct ascgrad_shape *shape = node->in[i].shape;
        if (ascgrad_need_input(node, i, error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
        if (shape->rank > ASCGRAD_MOST_DIMS) {
            struct ascgrad_text text;
            return ascgrad_refuse(error, node, "%s has more than %d dimensions: %s",
                                  node->ir->in[i].name, ASCGRAD_MOST_DIMS,
                                  ascgrad_shape_text(shape, &text));
        }
        *out[i] = *shape;
    }
    return ASCGRAD_DONE;
}

static ascgrad_result infer_dtype(const struct ascgrad_node *node, int32_t out[]) {
    for (uint32_t i = 0; i < 3; i++) {
        out[i] = node->in[i].dtype;
    }
    return ASCGRAD_DONE;
}

ascgrad_result ascgrad_infer_rotary_mul_grad(const struct ascgrad_node *node,
                                             struct ascgrad_shape *const out[],
                                             struct ascgrad_error *error) {
    return infer(node, out, error);
}

ascgrad_result ascgrad_infer_rotary_position_embedding_grad(const struct ascgrad_node *node,
                                                            struct ascgrad_shape *const out[],
                                                            struct ascgrad_error *error) {
    return infer(node, out, error);
}

ascgrad_result ascgrad_infer_dtype_rotary_mul_grad(const struct ascgrad_node *node, int32_t out[],
                                                   struct ascgrad_error *error) {
    (void)error;
    return infer_dtype(node, out);
}

ascgrad_result ascgrad_infer_dtype_rotary_position_embedding_grad(const struct ascgrad_node *node,
                                                                  int32_t out[],
                                                                  struct ascgrad_error *error) {
    (void)error;
    return infer_dtype(node, out);
}
