/* SPDX-License-Identifier: Apache-2.0
 *
 * What a plan of SwishGluGrad must be.
 */
#include "../../op_kernel/swish_glu_grad_tiling_data.h"
#include "property.h"

static void make(struct trial *t, int32_t dtype) {
    int64_t dim[4];
    uint32_t rank = (uint32_t)draw(t, 5);
    for (uint32_t i = 0; i < rank; i++)
        dim[i] = chance(t, 80) ? draw_size(t) : draw_width(t);
    for (uint32_t i = 0; i < 4; i++)
        if (i < 3 || chance(t, 50)) set_input(t, i, dtype, rank, dim);
    t->node.attr[0].f = (float)(1 + draw(t, 300)) / 100;
}

static const char *judge(const struct trial *t, const struct ascgrad_launch *launch) {
    SwishGluGradTilingData d;
    NEED(launch->size == sizeof d);
    memcpy(&d, launch->data, sizeof d);
    const struct ascgrad_shape *a = t->node.in[1].shape;
    NEED(d.elements == ascgrad_elements(a, 0, a->rank));
    NEED((wide_int)d.units * SWISH_GLU_UNIT >= d.elements);
    NEED((wide_int)(d.units - 1) * SWISH_GLU_UNIT < d.elements || d.units == 0);
    NEED(launch->block_dim <= (d.units > 1 ? d.units : 1));
    NEED(d.accumulate == (t->node.in[3].present ? 1u : 0u) && d.beta == t->node.attr[0].f);
    NEED(SWISH_GLU_UB(ascgrad_dtype_size(t->node.in[1].dtype)) <= t->chip.ub);
    NEED(!launch->sync_all && launch->workspace == 0 && launch->key == 0);
    return NULL;
}

const struct property property_swish_glu_grad = {"swish_glu_grad", make, judge, NULL};
