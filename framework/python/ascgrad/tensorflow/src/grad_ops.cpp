/* SPDX-License-Identifier: Apache-2.0
 *
 * The operators in TensorFlow, under the names of the IR, so that the parser of the package
 * finds them on the NPU. Shapes come from libascgrad's infer functions, the CPU kernels run its
 * fast twin; refusals are InvalidArgument with the operator's sentence.
 *
 * TensorFlow has no optional inputs: optional input x is a list of at most one tensor, its length
 * given by x_type.
 */
#include <ascgrad.h>

#include <memory>
#include <string>
#include <vector>

#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace {

using namespace tensorflow;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

int type_number(DataType type) {
    return type == DT_HALF       ? ASCGRAD_TYPE_FP16
           : type == DT_BFLOAT16 ? ASCGRAD_TYPE_BF16
                                 : ASCGRAD_TYPE_FP32;
}

bool find_ir(const std::string &op, ascgrad_op_info *ir) {
    for (uint32_t i = 0; ascgrad_describe(i, ir); i++) {
        if (op == ir->type) return true;
    }
    return false;
}

/* What is fixed when a node is made: its attributes and which inputs it has. Context has GetAttr.
 */
struct Node {
    ascgrad_op_info ir;
    std::vector<int> position; /* of IR input i among the node's inputs, or -1 */
    std::vector<ascgrad_setting> settings;
    std::vector<std::vector<int64_t>> lists;
    std::vector<std::vector<float>> reals;

    template <class Context> Status read(const std::string &op, Context *context) {
        if (!find_ir(op, &ir)) return errors::Internal("libascgrad has no operator ", op);
        int next = 0;
        for (uint32_t i = 0; i < ir.inputs; i++) {
            std::vector<DataType> types;
            if (!ir.in[i].optional) {
                types.push_back(DT_FLOAT);
            } else {
                TF_RETURN_IF_ERROR(context->GetAttr(std::string(ir.in[i].name) + "_type", &types));
                if (types.size() > 1)
                    return errors::InvalidArgument(op, ": ", ir.in[i].name,
                                                   " is one tensor or none");
            }
            position.push_back(types.empty() ? -1 : next++);
        }
        return read_settings(context);
    }

    template <class Context> Status read_settings(Context *context) {
        lists.resize(ir.attrs);
        reals.resize(ir.attrs);
        for (uint32_t i = 0; i < ir.attrs; i++) {
            ascgrad_setting setting = {};
            setting.set = true;
            const std::string kind = ir.attr[i].type;
            if (kind == "bool") {
                bool value;
                TF_RETURN_IF_ERROR(context->GetAttr(ir.attr[i].name, &value));
                setting.value = value;
            } else if (kind == "int") {
                TF_RETURN_IF_ERROR(context->GetAttr(ir.attr[i].name, &setting.value));
            } else if (kind == "float") {
                TF_RETURN_IF_ERROR(context->GetAttr(ir.attr[i].name, &setting.real));
            } else if (kind == "listInt") {
                TF_RETURN_IF_ERROR(context->GetAttr(ir.attr[i].name, &lists[i]));
                setting.list = lists[i].data(), setting.count = lists[i].size();
            } else {
                TF_RETURN_IF_ERROR(context->GetAttr(ir.attr[i].name, &reals[i]));
                setting.reals = reals[i].data(), setting.count = reals[i].size();
            }
            settings.push_back(setting);
        }
        return Status();
    }

    ascgrad_call call(const std::vector<ascgrad_tensor> &in,
                      std::vector<ascgrad_tensor> &out) const {
        ascgrad_call c = {};
        c.size = sizeof c;
        c.op = ir.type;
        c.in = in.data(), c.inputs = ir.inputs;
        c.out = out.data(), c.outputs = ir.outputs;
        c.attr = settings.data(), c.attrs = ir.attrs;
        c.fast = true;
        return c;
    }
};

Status as_status(int code, const char *why) {
    return code == ASCGRAD_OK ? Status() : Status(errors::InvalidArgument(why));
}

/* An unknown dimension is -1, an unknown rank is rank 1 with dimension -2. */
ascgrad_tensor from_shape(InferenceContext *c, ShapeHandle shape, bool *known) {
    ascgrad_tensor tensor = {};
    tensor.rank = c->RankKnown(shape) ? c->Rank(shape) : 1;
    if (!c->RankKnown(shape)) tensor.dim[0] = -2;
    for (int k = 0; c->RankKnown(shape) && k < tensor.rank; k++)
        tensor.dim[k] = c->Value(c->Dim(shape, k));
    *known = *known && c->FullyDefined(shape);
    return tensor;
}

/* The attribute with the dtype of required input i; as _build.py names it. */
std::string type_attribute(const ascgrad_op_info &ir, uint32_t i) {
    uint32_t first = 0;
    while (ir.in[first].optional || std::string(ir.in[first].types) != ir.in[i].types)
        first++;
    return first ? std::string("T") + ir.in[first].name : "T";
}

/* Sets the dtypes of the inputs that are there. */
Status read_types(InferenceContext *c, const Node &node, std::vector<ascgrad_tensor> &in) {
    for (uint32_t i = 0; i < node.ir.inputs; i++) {
        if (node.position[i] < 0) continue;
        const bool always_float = std::string(node.ir.in[i].types).find('1') == std::string::npos;
        DataType type = DT_FLOAT;
        std::vector<DataType> types;
        if (node.ir.in[i].optional) {
            TF_RETURN_IF_ERROR(c->GetAttr(std::string(node.ir.in[i].name) + "_type", &types));
            type = types[0];
        } else if (!always_float) {
            TF_RETURN_IF_ERROR(c->GetAttr(type_attribute(node.ir, i), &type));
        }
        in[i].dtype = type_number(type);
    }
    return Status();
}

Status infer_shapes(InferenceContext *c, const char *op) {
    Node node;
    TF_RETURN_IF_ERROR(node.read(op, c));
    std::vector<ascgrad_tensor> in(node.ir.inputs), out(node.ir.outputs);
    bool known = true;
    for (uint32_t i = 0; i < node.ir.inputs; i++) {
        in[i].rank = -1;
        if (node.position[i] < 0) continue;
        if (c->RankKnown(c->input(node.position[i])) &&
            c->Rank(c->input(node.position[i])) > ASCGRAD_RANK_MAX) {
            return errors::InvalidArgument(op, ": ", node.ir.in[i].name,
                                           " has too many dimensions");
        }
        in[i] = from_shape(c, c->input(node.position[i]), &known);
    }
    TF_RETURN_IF_ERROR(read_types(c, node, in));
    ascgrad_call call = node.call(in, out);
    char why[ASCGRAD_WHY];
    TF_RETURN_IF_ERROR(as_status(ascgrad_infer(&call, why), why));
    if (known) { /* everything can be checked, not only the shapes */
        std::unique_ptr<ascgrad_plan> plan(new ascgrad_plan);
        TF_RETURN_IF_ERROR(as_status(ascgrad_tile(&call, plan.get(), why), why));
    }
    for (uint32_t i = 0; i < node.ir.outputs; i++) {
        const bool any_rank = out[i].rank == 1 && out[i].dim[0] == -2;
        std::vector<shape_inference::DimensionHandle> dims;
        for (int k = 0; !any_rank && k < out[i].rank; k++)
            dims.push_back(c->MakeDim(out[i].dim[k]));
        c->set_output(i, any_rank ? c->UnknownShape() : c->MakeShape(dims));
    }
    return Status();
}

class GradKernel : public OpKernel {
  public:
    explicit GradKernel(OpKernelConstruction *context) : OpKernel(context) {
        OP_REQUIRES_OK(context, node_.read(type_string(), context));
    }

    void Compute(OpKernelContext *context) override {
        std::vector<ascgrad_tensor> in(node_.ir.inputs), out(node_.ir.outputs);
        for (uint32_t i = 0; i < node_.ir.inputs; i++) {
            in[i].rank = -1;
            if (node_.position[i] < 0) continue;
            const Tensor &tensor = context->input(node_.position[i]);
            OP_REQUIRES(context, tensor.dims() <= ASCGRAD_RANK_MAX,
                        errors::InvalidArgument(type_string(), ": too many dimensions"));
            in[i].dtype = type_number(tensor.dtype());
            in[i].rank = tensor.dims();
            for (int k = 0; k < tensor.dims(); k++)
                in[i].dim[k] = tensor.dim_size(k);
            if (tensor.NumElements()) in[i].data = const_cast<char *>(tensor.tensor_data().data());
        }
        ascgrad_call call = node_.call(in, out);
        char why[ASCGRAD_WHY];
        OP_REQUIRES_OK(context, as_status(ascgrad_infer(&call, why), why));
        for (uint32_t i = 0; i < node_.ir.outputs; i++) {
            TensorShape shape;
            for (int k = 0; k < out[i].rank; k++)
                shape.AddDim(out[i].dim[k]);
            Tensor *tensor = nullptr;
            OP_REQUIRES_OK(context, context->allocate_output(i, shape, &tensor));
            if (tensor->NumElements() == 0) continue; /* an absent part: any dtype will do */
            OP_REQUIRES(context, type_number(tensor->dtype()) == out[i].dtype,
                        errors::InvalidArgument(type_string(), ": ", node_.ir.out[i].name, " is ",
                                                DataTypeString(tensor->dtype()),
                                                ", which is not the dtype of its input"));
            out[i].data = const_cast<char *>(tensor->tensor_data().data());
        }
        OP_REQUIRES_OK(context, as_status(ascgrad_run(&call, nullptr, why), why));
    }

  private:
    Node node_;
};

} // namespace

/* REGISTER_OP and kernel of every operator, written from the IR by _build.py. */
#include "registrations.inc"
