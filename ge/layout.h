/* SPDX-License-Identifier: Apache-2.0
 *
 * How GE lays out what it hands to an operator's functions, as C. The types are those of GE's
 * exe_graph headers; they are standard-layout there, carry reserved bytes, and have kept these
 * offsets from CANN 8.1 to 2026 on x86_64 and aarch64. Every offset is asserted here, and again
 * against the toolkit's own headers by layout_check.cpp when a build finds a toolkit.
 */
#ifndef ASCGRAD_GE_LAYOUT_H
#define ASCGRAD_GE_LAYOUT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GE_SUCCESS 0u
#define GE_FAILED  0xFFFFFFFFu

/* gert::Shape */
struct ge_shape {
    uint64_t rank;
    int64_t dim[25];
    uint8_t reserved[40];
};

/* gert::StorageShape. What GE calls a Tensor begins with one. */
struct ge_storage_shape {
    struct ge_shape origin;
    struct ge_shape storage;
    uint8_t reserved[40];
};

/* gert::StorageFormat with its ExpandDimsType */
struct ge_storage_format {
    int32_t origin;
    int32_t storage;
    uint8_t expand_dims[48];
    uint8_t reserved[40];
};

/* gert::CompileTimeTensorDesc. Since 2026 GE sets bit 0 of the reserved bytes for an output that an
 * operator declared nullable and nobody reads. Ours declare none, and aclnn leaves the byte as
 * malloc gave it: not read, for inputs or outputs. */
struct ge_tensor_desc {
    int32_t dtype;
    struct ge_storage_format format __attribute__((aligned(8)));
    uint8_t reserved[40];
};

/* gert::AnchorInstanceInfo: which tensors of the node belong to one IR input or output */
struct ge_instance {
    uint32_t start;
    uint32_t count;
    uint8_t reserved[40];
};

/* gert::ComputeNodeInfo. Packed behind it: ge_instance[ir_inputs], ge_tensor_desc[inputs],
 * ge_tensor_desc[outputs], attribute block of attrs_size bytes, ge_instance[ir_outputs]. */
struct ge_node_info {
    const char *type;
    const char *name;
    uint64_t ir_inputs;
    uint64_t inputs;
    uint64_t outputs;
    uint64_t ir_outputs;
    uint64_t attrs_size;
    uint8_t reserved[24];
};

/* gert::RuntimeAttrsDef, then uint64_t offset[count] from its own start. Nothing behind it is
 * aligned. */
struct ge_attrs {
    uint64_t count;
    uint8_t reserved[40];
};

/* gert::ContinuousVector, elements behind it. The C++ class ends in an 8-byte member that stands
 * for the first element, hence its size of 64. */
struct ge_vector {
    uint64_t capacity;
    uint64_t size;
    uint8_t reserved[40];
};

/* gert::TilingData */
struct ge_tiling_data {
    uint64_t capacity;
    uint64_t size;
    void *data;
    uint8_t reserved[40];
};

/* gert::Range<Tensor>, as seen through the shape a Tensor begins with */
struct ge_range {
    struct ge_shape *min;
    struct ge_shape *max;
    uint8_t reserved[40];
};

/* AsyncAnyValue: up to 8 bytes live in the slot, anything larger behind the pointer. */
struct ge_slot {
    union {
        void *pointer;
        uint64_t u64;
        uint32_t u32;
        int32_t i32;
    } value;
    void (*deleter)(void *);
};

/* gert::KernelExtendInfo up to the reserved bytes, which nnopbase's does not have. name and type
 * are those of a step of GE's own graph, or of aclnn's kernel (guard.c). */
struct ge_kernel {
    const char *name;
    const char *type;
};

/* KernelRunContext: the one object behind all of GE's context classes. values holds the inputs,
 * then the outputs. Which slot means what depends on the call (infer.c, tiling.c). */
struct ge_context {
    uint64_t inputs;
    uint64_t outputs;
    const struct ge_node_info *node;
    const struct ge_kernel *extend;
    struct ge_slot **output_start;
    struct ge_slot *values[1];
};

/* gert::TypesToImpl, one row of the table that GetOpImplFunctions fills. The two containers are C++
 * objects that GE has constructed already: never touched. */
struct ge_op_functions {
    const char *type;
    uint32_t (*infer_shape)(struct ge_context *);
    uint32_t (*infer_shape_range)(struct ge_context *);
    uint32_t (*infer_dtype)(struct ge_context *);
    uint32_t (*tiling)(struct ge_context *);
    uint32_t (*tiling_parse)(struct ge_context *);
    void *(*compile_info_creator)(void);
    void (*compile_info_deleter)(void *);
    uint64_t max_tiling_data_size;
    uint64_t inputs_dependency;
    uint8_t private_attrs[24];        /* std::vector */
    uint8_t unique_private_attrs[56]; /* std::unordered_set */
    uint64_t host_inputs;
    void (*op_execute)(void);
    uint64_t tiling_dependency;
    void (*simplified_key)(void);
    uint8_t tiling_dependency_placements;
    uint64_t output_shape_depend_compute;
};

#define GE_SIZE(type, size) static_assert(sizeof(struct type) == (size), "size of " #type)
#define GE_AT(type, field, offset)                                                                 \
    static_assert(offsetof(struct type, field) == (offset), "offset of " #type "." #field)

static_assert(sizeof(void *) == 8 && sizeof(size_t) == 8, "GE exists for 64-bit hosts only");

GE_SIZE(ge_shape, 248);
GE_AT(ge_shape, rank, 0);
GE_AT(ge_shape, dim, 8);
GE_AT(ge_shape, reserved, 208);

GE_SIZE(ge_storage_shape, 536);
GE_AT(ge_storage_shape, origin, 0);
GE_AT(ge_storage_shape, storage, 248);
GE_AT(ge_storage_shape, reserved, 496);

GE_SIZE(ge_storage_format, 96);
GE_AT(ge_storage_format, origin, 0);
GE_AT(ge_storage_format, storage, 4);
GE_AT(ge_storage_format, expand_dims, 8);
GE_AT(ge_storage_format, reserved, 56);

GE_SIZE(ge_tensor_desc, 144);
GE_AT(ge_tensor_desc, dtype, 0);
GE_AT(ge_tensor_desc, format, 8);
GE_AT(ge_tensor_desc, reserved, 104);

GE_SIZE(ge_instance, 48);
GE_AT(ge_instance, start, 0);
GE_AT(ge_instance, count, 4);

GE_SIZE(ge_node_info, 80);
GE_AT(ge_node_info, type, 0);
GE_AT(ge_node_info, name, 8);
GE_AT(ge_node_info, ir_inputs, 16);
GE_AT(ge_node_info, inputs, 24);
GE_AT(ge_node_info, outputs, 32);
GE_AT(ge_node_info, ir_outputs, 40);
GE_AT(ge_node_info, attrs_size, 48);

GE_SIZE(ge_attrs, 48);
GE_AT(ge_attrs, count, 0);

GE_SIZE(ge_vector, 56);
GE_AT(ge_vector, capacity, 0);
GE_AT(ge_vector, size, 8);

GE_SIZE(ge_tiling_data, 64);
GE_AT(ge_tiling_data, capacity, 0);
GE_AT(ge_tiling_data, size, 8);
GE_AT(ge_tiling_data, data, 16);

GE_SIZE(ge_range, 56);
GE_AT(ge_range, min, 0);
GE_AT(ge_range, max, 8);

GE_SIZE(ge_slot, 16);
GE_AT(ge_slot, value, 0);
GE_AT(ge_slot, deleter, 8);

GE_SIZE(ge_kernel, 16);
GE_AT(ge_kernel, name, 0);
GE_AT(ge_kernel, type, 8);

GE_SIZE(ge_context, 48);
GE_AT(ge_context, inputs, 0);
GE_AT(ge_context, outputs, 8);
GE_AT(ge_context, node, 16);
GE_AT(ge_context, extend, 24);
GE_AT(ge_context, output_start, 32);
GE_AT(ge_context, values, 40);

GE_SIZE(ge_op_functions, 208);
GE_AT(ge_op_functions, type, 0);
GE_AT(ge_op_functions, infer_shape, 8);
GE_AT(ge_op_functions, infer_shape_range, 16);
GE_AT(ge_op_functions, infer_dtype, 24);
GE_AT(ge_op_functions, tiling, 32);
GE_AT(ge_op_functions, tiling_parse, 40);
GE_AT(ge_op_functions, compile_info_creator, 48);
GE_AT(ge_op_functions, compile_info_deleter, 56);
GE_AT(ge_op_functions, max_tiling_data_size, 64);
GE_AT(ge_op_functions, inputs_dependency, 72);
GE_AT(ge_op_functions, private_attrs, 80);
GE_AT(ge_op_functions, unique_private_attrs, 104);
GE_AT(ge_op_functions, host_inputs, 160);
GE_AT(ge_op_functions, op_execute, 168);
GE_AT(ge_op_functions, tiling_dependency, 176);
GE_AT(ge_op_functions, simplified_key, 184);
GE_AT(ge_op_functions, tiling_dependency_placements, 192);
GE_AT(ge_op_functions, output_shape_depend_compute, 200);

#ifdef __cplusplus
}
#endif
#endif
