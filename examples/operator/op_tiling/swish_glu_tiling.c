/* SPDX-License-Identifier: Apache-2.0
 *
 * SwishGluGrad: dy, a, b, [accumulated] -> da, db, all of one shape. Every element stands alone, so
 * any cut gives the same bits.
 */
#include "../core/node.h"
#include "../op_kernel/swish_glu_grad_tiling_data.h"

enum { DY, A, B, ACCUMULATED, INPUTS };
enum { BETA };

static ascgrad_result check(const struct ascgrad_node *node, struct ascgrad_error *error) {
    if (ascgrad_need_inputs(node, error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
    const struct ascgrad_shape *a = node->in[A].shape;
    for (uint32_t i = DY; i < INPUTS; i++) {
        struct ascgrad_text x, y;
        if (!node->in[i].present || ascgrad_shape_equal(node->in[i].shape, a)) continue;
        return ascgrad_refuse(error, node, "%s %s must have the shape of a %s",
                              node->ir->in[i].name, ascgrad_shape_text(node->in[i].shape, &x),
                              ascgrad_shape_text(a, &y));
    }
    for (uint32_t i = 0; i < 2; i++) {
        if (ascgrad_need_output(node, i, a, node->in[A].dtype, error) != ASCGRAD_DONE)
            return ASCGRAD_REFUSED;
    }
    float beta = node->attr[BETA].f;
    if (!(beta > 0 && beta <= 100)) {
        return ascgrad_refuse(error, node, "beta is %g, but must be above 0 and at most 100",
                              (double)beta);
    }
    return ASCGRAD_DONE;
}

ascgrad_tile_fn ascgrad_tile_swish_glu_grad;

ascgrad_result ascgrad_tile_swish_glu_grad(const struct ascgrad_node *node,
                                           const struct ascgrad_chip *chip,
                                           struct ascgrad_launch *launch,
                                           struct ascgrad_error *error) {
    if (ascgrad_need_later_chip(node, chip, error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
    if (check(node, error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
    const struct ascgrad_shape *a = node->in[A].shape;
    uint64_t need = SWISH_GLU_UB(ascgrad_dtype_size(node->in[A].dtype));
    if (need > chip->ub) {
        return ascgrad_refuse(error, node, "the kernel needs %llu bytes of UB, the chip has %llu",
                              (unsigned long long)need, (unsigned long long)chip->ub);
    }
    SwishGluGradTilingData d = {.elements = ascgrad_elements(a, 0, a->rank),
                                .accumulate = node->in[ACCUMULATED].present,
                                .beta = node->attr[BETA].f};
    d.units = d.elements / SWISH_GLU_UNIT + (d.elements % SWISH_GLU_UNIT != 0);
    launch->key = 0;
    launch->workspace = 0;
    launch->sync_all = false;
    launch->block_dim = d.units < 1 ? 1 : d.units < chip->cores ? (uint32_t)d.units : chip->cores;
    return ascgrad_put(launch, node, &d, sizeof d, error);
}
