/* SPDX-License-Identifier: Apache-2.0
 *
 * ascgrad_describe and ascgrad_in_place: the generated IR in the words of the C API.
 */
#include "../core/ir.h"
#include "ascgrad.h"

bool ascgrad_describe(uint32_t index, struct ascgrad_op_info *info) {
    if (index >= ascgrad_ir_count || !info) return false;
    const struct ascgrad_ir *ir = &ascgrad_ir_table[index];
    *info = (struct ascgrad_op_info){ir->type,  ir->kernel, ir->inputs, ir->outputs,
                                     ir->attrs, {{0}},      {{0}},      {{0}}};
    for (uint32_t i = 0; i < ir->inputs; i++)
        info->in[i] =
            (struct ascgrad_arg_info){ir->in[i].name, ir->in[i].optional, ir->in[i].types};
    for (uint32_t i = 0; i < ir->outputs; i++)
        info->out[i] = (struct ascgrad_arg_info){ir->out[i].name, false, ir->out[i].types};
    for (uint32_t i = 0; i < ir->attrs; i++) {
        const struct ascgrad_ir_attr *a = &ir->attr[i];
        info->attr[i] = (struct ascgrad_attr_info){
            .name = a->name, .type = ascgrad_attr_kind_name(a->kind), .required = a->required};
        if (a->kind == ASCGRAD_ATTR_FLOAT)
            info->attr[i].initial_real = a->initial_f;
        else
            info->attr[i].initial = a->initial;
    }
    return true;
}

int32_t ascgrad_in_place(uint32_t index, uint32_t output) {
    if (index >= ascgrad_ir_count || output >= ascgrad_ir_table[index].outputs) return -1;
    return (int32_t)ascgrad_ir_table[index].out[output].in_place - 1;
}
