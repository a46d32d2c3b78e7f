/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares layout.h with the headers of the CANN toolkit a build has found. Compiles to nothing; if
 * it does not compile, this toolkit moved something and ge/layout.h must follow before the
 * libraries can be trusted. Built only with a toolkit: g++ -std=c++17 -c -I <toolkit>/include
 * ge/layout_check.cpp
 */
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <vector>

/* The members are private, and only their offsets are wanted. All standard headers are in already.
 */
#define private public
#define protected public
#include "exe_graph/runtime/compute_node_info.h"
#include "exe_graph/runtime/context_extend.h"
#include "exe_graph/runtime/continuous_vector.h"
#include "exe_graph/runtime/kernel_run_context.h"
#include "exe_graph/runtime/range.h"
#include "exe_graph/runtime/tensor.h"
#include "exe_graph/runtime/tiling_context.h"
#include "exe_graph/runtime/tiling_data.h"
#if __has_include("register/op_impl_kernel_registry.h")
#include "register/op_impl_kernel_registry.h"
#define HAVE_KERNEL_REGISTRY 1
#endif
#undef private
#undef protected

#include "layout.h"
#include "../core/node.h"

#define MOVED "this CANN toolkit differs from ge/layout.h: "
#define SAME_SIZE(theirs, ours)                                                                    \
    static_assert(sizeof(theirs) == sizeof(struct ours), MOVED "size of " #theirs)
#define SAME_PLACE(theirs, their_field, ours, our_field)                                           \
    static_assert(offsetof(theirs, their_field) == offsetof(struct ours, our_field),               \
                  MOVED #theirs "::" #their_field)
#define SAME_VALUE(theirs, ours)                                                                   \
    static_assert(static_cast<long long>(theirs) == (ours), MOVED #theirs)

namespace gert {

static_assert(Shape::kMaxDimNum == ASCGRAD_MAX_RANK, MOVED "highest rank");
SAME_SIZE(Shape, ge_shape);
SAME_PLACE(Shape, dim_num_, ge_shape, rank);
SAME_PLACE(Shape, dims_, ge_shape, dim);

SAME_SIZE(StorageShape, ge_storage_shape);
SAME_PLACE(StorageShape, origin_shape_, ge_storage_shape, origin);
SAME_PLACE(StorageShape, storage_shape_, ge_storage_shape, storage);

SAME_SIZE(StorageFormat, ge_storage_format);
SAME_PLACE(StorageFormat, origin_format_, ge_storage_format, origin);
SAME_PLACE(StorageFormat, storage_format_, ge_storage_format, storage);

static_assert(offsetof(Tensor, storage_shape_) == 0, MOVED "a Tensor begins with its shapes");

SAME_SIZE(CompileTimeTensorDesc, ge_tensor_desc);
SAME_PLACE(CompileTimeTensorDesc, data_type_, ge_tensor_desc, dtype);
SAME_PLACE(CompileTimeTensorDesc, storage_format_, ge_tensor_desc, format);

SAME_SIZE(AnchorInstanceInfo, ge_instance);
SAME_PLACE(AnchorInstanceInfo, instance_start_, ge_instance, start);
SAME_PLACE(AnchorInstanceInfo, instantiation_num_, ge_instance, count);

static_assert(offsetof(ComputeNodeInfo, place_holder) == sizeof(struct ge_node_info),
              MOVED "what follows ComputeNodeInfo");
SAME_PLACE(ComputeNodeInfo, node_type_, ge_node_info, type);
SAME_PLACE(ComputeNodeInfo, node_name_, ge_node_info, name);
SAME_PLACE(ComputeNodeInfo, ir_inputs_num_, ge_node_info, ir_inputs);
SAME_PLACE(ComputeNodeInfo, inputs_num_, ge_node_info, inputs);
SAME_PLACE(ComputeNodeInfo, outputs_num_, ge_node_info, outputs);
SAME_PLACE(ComputeNodeInfo, ir_outputs_num_, ge_node_info, ir_outputs);
SAME_PLACE(ComputeNodeInfo, runtime_attr_size_, ge_node_info, attrs_size);

SAME_PLACE(ContinuousVector, capacity_, ge_vector, capacity);
SAME_PLACE(ContinuousVector, size_, ge_vector, size);
static_assert(offsetof(ContinuousVector, elements) == sizeof(struct ge_vector),
              MOVED "what follows ContinuousVector");

SAME_SIZE(TilingData, ge_tiling_data);
SAME_PLACE(TilingData, capacity_, ge_tiling_data, capacity);
SAME_PLACE(TilingData, data_size_, ge_tiling_data, size);
SAME_PLACE(TilingData, data_, ge_tiling_data, data);

SAME_SIZE(Range<Shape>, ge_range);
SAME_PLACE(Range<Shape>, min_, ge_range, min);
SAME_PLACE(Range<Shape>, max_, ge_range, max);

SAME_SIZE(AsyncAnyValue, ge_slot);
SAME_PLACE(AsyncAnyValue, data, ge_slot, value);
SAME_PLACE(AsyncAnyValue, deleter, ge_slot, deleter);

SAME_PLACE(KernelExtendInfo, kernel_name_, ge_kernel, name);
SAME_PLACE(KernelExtendInfo, kernel_type_, ge_kernel, type);

SAME_SIZE(KernelRunContext, ge_context);
SAME_PLACE(KernelRunContext, input_size, ge_context, inputs);
SAME_PLACE(KernelRunContext, output_size, ge_context, outputs);
SAME_PLACE(KernelRunContext, compute_node_info, ge_context, node);
SAME_PLACE(KernelRunContext, kernel_extend_info, ge_context, extend);
SAME_PLACE(KernelRunContext, output_start, ge_context, output_start);
SAME_PLACE(KernelRunContext, values, ge_context, values);

/* The slots tiling.c answers in. */
SAME_VALUE(TilingContext::kOutputTilingKey, 0);
SAME_VALUE(TilingContext::kOutputBlockDim, 1);
SAME_VALUE(TilingContext::kOutputTilingData, 3);
SAME_VALUE(TilingContext::kOutputWorkspace, 4);
SAME_VALUE(TilingContext::kOutputScheduleMode, 6);

SAME_VALUE(ge::DT_FLOAT, ASCGRAD_FP32);
SAME_VALUE(ge::DT_FLOAT16, ASCGRAD_FP16);
SAME_VALUE(ge::DT_BF16, ASCGRAD_BF16);
SAME_VALUE(ge::GRAPH_SUCCESS, GE_SUCCESS);
SAME_VALUE(ge::GRAPH_FAILED, GE_FAILED);

#ifdef HAVE_KERNEL_REGISTRY
/* The header of the table itself is not installed: a type name in front of OpImplFunctions. */
struct Row {
    const char *op_type;
    OpImplKernelRegistry::OpImplFunctions functions;
};
#define SAME_FUNCTION(their_field, our_field)                                                      \
    static_assert(offsetof(Row, functions.their_field) ==                                          \
                      offsetof(struct ge_op_functions, our_field),                                 \
                  MOVED "OpImplFunctions::" #their_field)
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
SAME_SIZE(Row, ge_op_functions);
SAME_FUNCTION(infer_shape, infer_shape);
SAME_FUNCTION(infer_shape_range, infer_shape_range);
SAME_FUNCTION(infer_datatype, infer_dtype);
SAME_FUNCTION(tiling, tiling);
SAME_FUNCTION(tiling_parse, tiling_parse);
SAME_FUNCTION(compile_info_creator, compile_info_creator);
SAME_FUNCTION(compile_info_deleter, compile_info_deleter);
SAME_FUNCTION(max_tiling_data_size, max_tiling_data_size);
SAME_FUNCTION(inputs_dependency, inputs_dependency);
SAME_FUNCTION(private_attrs, private_attrs);
SAME_FUNCTION(unique_private_attrs, unique_private_attrs);
SAME_FUNCTION(host_inputs, host_inputs);
SAME_FUNCTION(op_execute_func, op_execute);
SAME_FUNCTION(tiling_dependency, tiling_dependency);
SAME_FUNCTION(gen_simplifiedkey, simplified_key);
SAME_FUNCTION(tiling_dependency_placements, tiling_dependency_placements);
SAME_FUNCTION(output_shape_depend_compute, output_shape_depend_compute);
#endif

} // namespace gert
