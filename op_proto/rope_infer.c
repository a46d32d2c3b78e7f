/* SPDX-License-Identifier: Apache-2.0
 *
 * RopeGrad: q_grad [tokens, heads * D] is like q, k_grad [tokens, kv heads * D] is like k.
 * The attribute is compared with the shapes by tiling: tokens may be unknown here.
 */
#include "../core/node.h"

ascgrad_infer_fn ascgrad_infer_rope_grad;
ascgrad_infer_dtype_fn ascgrad_infer_dtype_rope_grad;

ascgrad_result ascgrad_infer_rope_grad(const struct ascgrad_node *node,
                                       struct ascgrad_shape *const out[],
                                       struct ascgrad_error *error) {
    for (uint32_t i = 0; i < 2; i++) {
        const struct ascgrad_arg *in = &node->in[i];
        if (ascgrad_need_input(node, i, error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
        struct ascgrad_text text;
        if (in->shape->rank > ASCGRAD_MAX_RANK ||
            (ascgrad_rank_known(in->shape) && in->shape->rank != 2)) {
            return ascgrad_refuse(error, node, "%s must have 2 dimensions [tokens, hidden], got %s",
                                  node->ir->in[i].name, ascgrad_shape_text(in->shape, &text));
        }
        *out[i] = *in->shape;
    }
    return ASCGRAD_DONE;
}

ascgrad_result ascgrad_infer_dtype_rope_grad(const struct ascgrad_node *node, int32_t out[],
                                             struct ascgrad_error *error) {
    (void)error;
    out[0] = node->in[0].dtype;
    out[1] = node->in[1].dtype;
    return ASCGRAD_DONE;
}
