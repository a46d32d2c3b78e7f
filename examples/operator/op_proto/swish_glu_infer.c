/* SPDX-License-Identifier: Apache-2.0
 *
 * SwishGluGrad: da and db are like a. Whether the shapes agree is for tiling to say.
 */
#include "../core/node.h"

enum { DY, A };

ascgrad_infer_fn ascgrad_infer_swish_glu_grad;
ascgrad_infer_dtype_fn ascgrad_infer_dtype_swish_glu_grad;

ascgrad_result ascgrad_infer_swish_glu_grad(const struct ascgrad_node *node,
                                            struct ascgrad_shape *const out[],
                                            struct ascgrad_error *error) {
    if (ascgrad_need_input(node, A, error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
    for (uint32_t i = 0; i < 2; i++)
        *out[i] = *node->in[A].shape;
    return ASCGRAD_DONE;
}

ascgrad_result ascgrad_infer_dtype_swish_glu_grad(const struct ascgrad_node *node, int32_t out[],
                                                  struct ascgrad_error *error) {
    (void)error;
    out[0] = out[1] = node->in[A].dtype;
    return ASCGRAD_DONE;
}
