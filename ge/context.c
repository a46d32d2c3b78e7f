/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a context of GE into a node. Nothing in it is trusted: counts, instance numbers, ranks and
 * attribute offsets are checked against the IR and against each other before they are used, so that
 * a context of another GE version, or of another package's prototype, is refused with a sentence.
 */
#include "context.h"

#include <inttypes.h>

struct ge_slot *ascgrad_input_slot(const struct ge_context *context, uint64_t index) {
    return index < context->inputs ? context->values[index] : NULL;
}

struct ge_slot *ascgrad_output_slot(const struct ge_context *context, uint64_t index) {
    return index < context->outputs ? context->values[context->inputs + index] : NULL;
}

/* The parts behind ge_node_info. The counts have been checked by check_counts. */
static const struct ge_instance *input_instances(const struct ge_node_info *info) {
    return (const struct ge_instance *)(info + 1);
}

static const struct ge_tensor_desc *descs(const struct ge_node_info *info) {
    return (const struct ge_tensor_desc *)(input_instances(info) + info->ir_inputs);
}

static const char *attr_block(const struct ge_node_info *info) {
    return (const char *)(descs(info) + info->inputs + info->outputs);
}

/* Behind the attribute block, so possibly not aligned. */
static struct ge_instance output_instance(const struct ge_node_info *info, uint64_t output) {
    struct ge_instance instance;
    memcpy(&instance, attr_block(info) + info->attrs_size + output * sizeof instance,
           sizeof instance);
    return instance;
}

/* Fewer inputs than the IR has is fine: the compile-time route drops trailing absent ones. More
 * means that the prototype in use is not ours. All our inputs and outputs are single tensors. */
static ascgrad_result check_counts(const struct ge_node_info *info, const struct ascgrad_ir *ir,
                                   const struct ascgrad_node *node, struct ascgrad_error *error) {
    if (info->ir_inputs > ir->inputs || info->inputs > info->ir_inputs) {
        return ascgrad_refuse(error, node,
                              "GE sees %" PRIu64 " inputs (%" PRIu64
                              " connected), our prototype has"
                              " %" PRIu32 "; is another package's prototype loaded?",
                              info->ir_inputs, info->inputs, ir->inputs);
    }
    if (info->ir_outputs > ir->outputs || info->outputs > ir->outputs) {
        return ascgrad_refuse(error, node,
                              "GE sees %" PRIu64 " outputs, our prototype has %" PRIu32
                              "; is another package's prototype loaded?",
                              info->outputs, ir->outputs);
    }
    if (info->attrs_size > UINT32_MAX) {
        return ascgrad_refuse(error, node, "GE's attribute block claims %" PRIu64 " bytes",
                              info->attrs_size);
    }
    return ASCGRAD_DONE;
}

/* The shape an input slot shows under the given view; NULL if the slot has none. */
static const struct ge_shape *slot_shape(const struct ge_slot *slot, enum ascgrad_shape_of shapes) {
    const void *p = slot ? slot->value.pointer : NULL;
    if (!p) {
        return NULL;
    }
    switch (shapes) {
    case ASCGRAD_ORIGIN_SHAPES:
        return p;
    /* Equal to the origin shape for the ND format our operators declare, except where GE cuts a
     * node into slices: it then changes the storage shape only, and that is what the kernel gets.
     */
    case ASCGRAD_STORAGE_SHAPES:
        return &((const struct ge_storage_shape *)p)->storage;
    case ASCGRAD_MIN_SHAPES:
        return ((const struct ge_range *)p)->min;
    case ASCGRAD_MAX_SHAPES:
        return ((const struct ge_range *)p)->max;
    case ASCGRAD_NO_SHAPES:
        break;
    }
    return NULL;
}

static ascgrad_result read_shape(const struct ge_slot *slot, enum ascgrad_shape_of shapes,
                                 const char *arg_name, struct ascgrad_arg *arg,
                                 const struct ascgrad_node *node, struct ascgrad_error *error) {
    const struct ge_shape *shape = slot_shape(slot, shapes);
    if (!shape) {
        return ascgrad_refuse(error, node, "GE gave no shape for %s", arg_name);
    }
    if (shape->rank > ASCGRAD_MAX_RANK) {
        return ascgrad_refuse(error, node, "%s has rank %" PRIu64 ", the most GE knows is %d",
                              arg_name, shape->rank, ASCGRAD_MAX_RANK);
    }
    static_assert(offsetof(struct ascgrad_shape, dim) == offsetof(struct ge_shape, dim) &&
                      sizeof(struct ascgrad_shape) == offsetof(struct ge_shape, reserved),
                  "our shape is the beginning of GE's");
    arg->shape = (const struct ascgrad_shape *)(const void *)shape;
    return ASCGRAD_DONE;
}

/* An input is there if it has an instance and a tensor behind its slot, and nothing else says so:
 * aclnn keeps a slot for every IR input, with no instance and a NULL tensor for an absent one, and
 * does not initialise the description in between. A slot that holds no tensor in spite of its
 * instance is an absent input as well: the kernel gets a NULL address for it, and what tiling
 * decides must fit that. An operator that needs the input refuses then by its name; shape inference
 * the same, as nothing can be inferred from a tensor that is not there. A context without the slot
 * contradicts itself and is refused here. For dtypes there is no such thing as a NULL tensor: the
 * dtype lies in the slot, and 0 is fp32. */
static ascgrad_result read_input(const struct ge_context *context, const struct ascgrad_ir *ir,
                                 uint32_t i, enum ascgrad_shape_of shapes,
                                 struct ascgrad_node *node, struct ascgrad_error *error) {
    const struct ge_node_info *info = context->node;
    struct ascgrad_arg *arg = &node->in[i];
    *arg = (struct ascgrad_arg){.present = false};
    if (i >= info->ir_inputs || input_instances(info)[i].count == 0) {
        return ASCGRAD_DONE;
    }
    const struct ge_instance instance = input_instances(info)[i];
    if (instance.count > 1 || instance.start >= info->inputs) {
        return ascgrad_refuse(error, node,
                              "GE gave %" PRIu32 " tensors from %" PRIu32
                              " for input %s, the node has"
                              " %" PRIu64,
                              instance.count, instance.start, ir->in[i].name, info->inputs);
    }
    const struct ge_tensor_desc *desc = &descs(info)[instance.start];
    const struct ge_slot *slot = ascgrad_input_slot(context, instance.start);
    if (!slot) {
        return ascgrad_refuse(error, node, "GE gave no slot for %s", ir->in[i].name);
    }
    if (shapes == ASCGRAD_NO_SHAPES) {
        arg->present = true;
        arg->dtype = slot->value.i32;
        return ASCGRAD_DONE;
    }
    if (!slot->value.pointer) {
        return ASCGRAD_DONE;
    }
    arg->present = true;
    arg->dtype = desc->dtype;
    return read_shape(slot, shapes, ir->in[i].name, arg, node, error);
}

/* Instance of an IR output, or -1. Some contexts carry no instance information for outputs; then
 * the tensors can only be the IR's, one for one. */
static int64_t output_index(const struct ge_node_info *info, uint32_t output) {
    if (output >= info->ir_outputs) {
        return info->ir_outputs == 0 && output < info->outputs ? (int64_t)output : -1;
    }
    const struct ge_instance instance = output_instance(info, output);
    return instance.count == 1 && instance.start < info->outputs ? (int64_t)instance.start : -1;
}

struct ge_slot *ascgrad_ir_output_slot(const struct ge_context *context, uint32_t output) {
    const int64_t index = output_index(context->node, output);
    return index < 0 ? NULL : ascgrad_output_slot(context, (uint64_t)index);
}

/* Tiling only. An output shape is a check on the graph, not needed: one that GE does not know is
 * left out. An output without a tensor is refused: the kernels write all of theirs. */
static ascgrad_result read_output(const struct ge_context *context, const struct ascgrad_ir *ir,
                                  uint32_t o, struct ascgrad_node *node,
                                  struct ascgrad_error *error) {
    const struct ge_node_info *info = context->node;
    struct ascgrad_arg *arg = &node->out[o];
    *arg = (struct ascgrad_arg){.present = false};
    const int64_t index = output_index(info, o);
    if (index < 0) {
        return ASCGRAD_DONE;
    }
    const struct ge_tensor_desc *desc = &descs(info)[info->inputs + (uint64_t)index];
    arg->present = true;
    arg->dtype = desc->dtype;
    const struct ge_slot *slot = ascgrad_input_slot(context, info->inputs + (uint64_t)index);
    if (read_shape(slot, ASCGRAD_STORAGE_SHAPES, ir->out[o].name, arg, node, error) !=
        ASCGRAD_DONE) {
        return ASCGRAD_REFUSED;
    }
    if (!ascgrad_shape_concrete(arg->shape)) {
        arg->shape = NULL;
    }
    return ASCGRAD_DONE;
}

/* Copies size bytes at `offset` of the attribute block; false if they are not all inside. The block
 * is packed without alignment, so there is no other way to read it. */
static bool attr_bytes(const struct ge_node_info *info, uint64_t offset, void *to, uint64_t size) {
    if (offset > info->attrs_size || size > info->attrs_size - offset) {
        return false;
    }
    memcpy(to, attr_block(info) + offset, size);
    return true;
}

static bool read_attr_value(const struct ge_node_info *info, uint64_t offset,
                            struct ascgrad_attr *attr) {
    switch (attr->kind) {
    case ASCGRAD_ATTR_INT:
        return attr_bytes(info, offset, &attr->i, sizeof attr->i);
    case ASCGRAD_ATTR_BOOL: {
        uint8_t byte = 0;
        const bool inside = attr_bytes(info, offset, &byte, sizeof byte);
        attr->i = byte != 0;
        return inside;
    }
    case ASCGRAD_ATTR_FLOAT:
        return attr_bytes(info, offset, &attr->f, sizeof attr->f);
    case ASCGRAD_ATTR_LIST_INT:
    case ASCGRAD_ATTR_LIST_FLOAT: {
        const uint64_t each = attr->kind == ASCGRAD_ATTR_LIST_INT ? sizeof(int64_t) : sizeof(float);
        struct ge_vector vector;
        if (!attr_bytes(info, offset, &vector, sizeof vector)) {
            return false;
        }
        const uint64_t room = info->attrs_size - offset - sizeof vector;
        attr->count = vector.size;
        attr->list = attr_block(info) + offset + sizeof vector;
        return vector.size <= room / each;
    }
    }
    return false;
}

static ascgrad_result read_attr(const struct ge_node_info *info, const struct ascgrad_ir *ir,
                                uint32_t a, struct ascgrad_node *node,
                                struct ascgrad_error *error) {
    const struct ascgrad_ir_attr *known = &ir->attr[a];
    struct ascgrad_attr *attr = &node->attr[a];
    *attr = ascgrad_attr_default(known);
    struct ge_attrs head = {.count = 0};
    if (!attr_bytes(info, 0, &head, sizeof head) || a >= head.count) {
        return known->required
                   ? ascgrad_refuse(error, node, "attribute %s is required", known->name)
                   : ASCGRAD_DONE;
    }
    uint64_t offset = 0;
    if (!attr_bytes(info, sizeof head + a * sizeof offset, &offset, sizeof offset) ||
        !read_attr_value(info, offset, attr)) {
        return ascgrad_refuse(error, node,
                              "attribute %s lies outside GE's attribute block of %" PRIu64 " bytes",
                              known->name, info->attrs_size);
    }
    return ASCGRAD_DONE;
}

ascgrad_result ascgrad_read_context(const struct ge_context *context, const struct ascgrad_ir *ir,
                                    enum ascgrad_shape_of shapes, struct ascgrad_node *node,
                                    struct ascgrad_error *error) {
    /* Not the whole struct: it is large, and every entry that counts is written below. */
    node->ir = ir;
    node->name = NULL;
    if (!context || !context->node) {
        return ascgrad_refuse(error, node, "GE gave no %s",
                              context ? "node information" : "context");
    }
    const struct ge_node_info *info = context->node;
    node->name = info->name;
    if (check_counts(info, ir, node, error) != ASCGRAD_DONE) {
        return ASCGRAD_REFUSED;
    }
    for (uint32_t i = 0; i < ir->inputs; i++) {
        if (read_input(context, ir, i, shapes, node, error) != ASCGRAD_DONE) {
            return ASCGRAD_REFUSED;
        }
    }
    for (uint32_t o = 0; o < ir->outputs; o++) {
        node->out[o] = (struct ascgrad_arg){.present = true};
        if (shapes == ASCGRAD_STORAGE_SHAPES &&
            read_output(context, ir, o, node, error) != ASCGRAD_DONE) {
            return ASCGRAD_REFUSED;
        }
    }
    for (uint32_t a = 0; a < ir->attrs; a++) {
        if (read_attr(info, ir, a, node, error) != ASCGRAD_DONE) {
            return ASCGRAD_REFUSED;
        }
    }
    return ASCGRAD_DONE;
}
