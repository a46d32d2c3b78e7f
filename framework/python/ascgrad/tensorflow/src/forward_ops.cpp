/* SPDX-License-Identifier: Apache-2.0
 *
 * The five forward operators whose gradients are ours, with simple CPU kernels: widen to float,
 * forward.c, round once.
 */
#include <vector>

#include "forward.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace {

using namespace tensorflow;
using shape_inference::InferenceContext;
using Floats = std::vector<float>;

Floats widen(const Tensor &tensor) {
    Floats values(tensor.NumElements());
    for (int64_t i = 0; i < tensor.NumElements(); i++) {
        values[i] = tensor.dtype() == DT_HALF ? static_cast<float>(tensor.flat<Eigen::half>()(i))
                    : tensor.dtype() == DT_BFLOAT16 ? static_cast<float>(tensor.flat<bfloat16>()(i))
                                                    : tensor.flat<float>()(i);
    }
    return values;
}

void narrow(const Floats &values, Tensor *tensor) {
    for (int64_t i = 0; i < tensor->NumElements(); i++) {
        if (tensor->dtype() == DT_HALF)
            tensor->flat<Eigen::half>()(i) = static_cast<Eigen::half>(values[i]);
        else if (tensor->dtype() == DT_BFLOAT16)
            tensor->flat<bfloat16>()(i) = static_cast<bfloat16>(values[i]);
        else
            tensor->flat<float>()(i) = values[i];
    }
}

std::vector<int64_t> dims_of(const Tensor &tensor) {
    std::vector<int64_t> dims;
    for (int i = 0; i < tensor.dims(); i++)
        dims.push_back(tensor.dim_size(i));
    return dims;
}

void emit(OpKernelContext *context, int index, const TensorShape &shape, const Floats &values) {
    Tensor *tensor = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(index, shape, &tensor));
    narrow(values, tensor);
}

/* mode is an attribute of RotaryPositionEmbedding; RotaryMul is mode 0. */
class RotaryKernel : public OpKernel {
  public:
    explicit RotaryKernel(OpKernelConstruction *context) : OpKernel(context) {
        if (type_string() != "RotaryMul") {
            OP_REQUIRES_OK(context, context->GetAttr("mode", &mode_));
            OP_REQUIRES_OK(context, context->GetAttr("slice_start", &start_));
        }
        OP_REQUIRES(context, mode_ >= 0 && mode_ <= 3,
                    errors::InvalidArgument("mode must be 0 to 3, got ", mode_));
    }
    void Compute(OpKernelContext *context) override {
        const Tensor &x = context->input(0), &cos = context->input(1), &sin = context->input(2);
        const std::vector<int64_t> shape = dims_of(x), table = dims_of(cos);
        bool fits = table.size() == shape.size() && cos.shape() == sin.shape() && !shape.empty();
        for (size_t i = 0; fits && i < shape.size(); i++) {
            bool last = i + 1 == shape.size();
            fits = last ? start_ >= 0 && table[i] <= shape[i] && start_ <= shape[i] - table[i]
                        : table[i] == shape[i] || table[i] == 1;
        }
        OP_REQUIRES(context, fits,
                    errors::InvalidArgument(type_string(), ": cos ", cos.shape().DebugString(),
                                            " and sin ", sin.shape().DebugString(),
                                            " do not fit x ", x.shape().DebugString()));
        const int divisor = mode_ == 2 ? 4 : 2;
        OP_REQUIRES(context, table.back() % divisor == 0,
                    errors::InvalidArgument(type_string(), ": the last dimension of cos ",
                                            cos.shape().DebugString(), " must be a multiple of ",
                                            divisor, ", got ", table.back()));
        Floats y(x.NumElements());
        forward_rotary(widen(x).data(), widen(cos).data(), widen(sin).data(), y.data(), x.dims(),
                       shape.data(), table.data(), mode_, start_);
        emit(context, 0, x.shape(), y);
    }

  private:
    int mode_ = 0;
    int64_t start_ = 0;
};

class RopeKernel : public OpKernel {
  public:
    explicit RopeKernel(OpKernelConstruction *context) : OpKernel(context) {
        OP_REQUIRES_OK(context, context->GetAttr("seq_len", &lengths_));
        OP_REQUIRES_OK(context, context->GetAttr("head_size", &head_));
        OP_REQUIRES_OK(context, context->GetAttr("slice_start", &start_));
        OP_REQUIRES_OK(context, context->GetAttr("start_positions", &positions_));
        OP_REQUIRES(context, positions_.empty() || positions_.size() == lengths_.size(),
                    errors::InvalidArgument("start_positions must be one for each of ",
                                            lengths_.size(), " sequences, got ",
                                            positions_.size()));
    }
    void Compute(OpKernelContext *context) override {
        const Tensor &cos = context->input(2), &sin = context->input(3);
        int64_t tokens = 0;
        bool tables = cos.dims() == 2 && cos.shape() == sin.shape() && cos.dim_size(1) % 2 == 0 &&
                      cos.dim_size(1) > 0;
        const int64_t head = tables && head_ == 0 ? cos.dim_size(1) : head_;
        tables = tables && start_ >= 0 && start_ <= head - cos.dim_size(1);
        for (size_t i = 0; tables && i < lengths_.size(); i++) {
            const int64_t first = positions_.empty() ? 0 : positions_[i];
            tables = first >= 0 && lengths_[i] >= 0 &&
                     (lengths_[i] == 0 || first <= cos.dim_size(0) - lengths_[i]);
            tokens += lengths_[i];
        }
        for (int i = 0; i < 2; i++) {
            const Tensor &x = context->input(i);
            OP_REQUIRES(context,
                        tables && x.dims() == 2 && x.dim_size(0) == tokens &&
                            x.dim_size(1) % head == 0,
                        errors::InvalidArgument("Rope: input ", x.shape().DebugString(),
                                                " does not fit tables ", cos.shape().DebugString(),
                                                " and ", tokens, " tokens"));
            Floats y(x.NumElements());
            forward_rope(widen(x).data(), widen(cos).data(), widen(sin).data(), y.data(),
                         x.dim_size(1) / head, head, cos.dim_size(1), start_, lengths_.data(),
                         positions_.empty() ? nullptr : positions_.data(), lengths_.size());
            emit(context, i, x.shape(), y);
        }
    }

  private:
    std::vector<int64_t> lengths_, positions_;
    int64_t head_ = 0, start_ = 0;
};

class ExpSegsumKernel : public OpKernel {
  public:
    using OpKernel::OpKernel;
    void Compute(OpKernelContext *context) override {
        const Tensor &x = context->input(0);
        OP_REQUIRES(context, x.dims() >= 1,
                    errors::InvalidArgument("ExpSegsum: x must have a dimension"));
        const int64_t t = x.dim_size(x.dims() - 1);
        TensorShape shape = x.shape();
        shape.AddDim(t);
        Floats y(shape.num_elements());
        forward_exp_segsum(widen(x).data(), y.data(), t ? x.NumElements() / t : 0, t);
        emit(context, 0, shape, y);
    }
};

const char *const optional_inputs[] = {"encoder_query",
                                       "encoder_key",
                                       "encoder_value",
                                       "norm_query_weight",
                                       "norm_query_bias",
                                       "norm_key_weight",
                                       "norm_key_bias",
                                       "norm_added_query_weight",
                                       "norm_added_query_bias",
                                       "norm_added_key_weight",
                                       "norm_added_key_bias",
                                       "rope_sin",
                                       "rope_cos"};

class NormRopeConcatKernel : public OpKernel {
  public:
    explicit NormRopeConcatKernel(OpKernelConstruction *context) : OpKernel(context) {
        const char *const names[] = {"norm_type", "norm_added_type", "rope_type", "concat_order"};
        for (int i = 0; i < 4; i++)
            OP_REQUIRES_OK(context, context->GetAttr(names[i], &kind_[i]));
        OP_REQUIRES_OK(context, context->GetAttr("eps", &eps_));
        int next = 3;
        for (const char *name : optional_inputs) {
            std::vector<DataType> types;
            OP_REQUIRES_OK(context, context->GetAttr(std::string(name) + "_type", &types));
            position_.push_back(types.empty() ? -1 : next++);
        }
    }

    void Compute(OpKernelContext *context) override {
        const Tensor *encoder[3], *affine[8], *sin = optional(context, 11),
                                              *cos = optional(context, 12);
        for (int i = 0; i < 3; i++)
            encoder[i] = optional(context, i);
        for (int i = 0; i < 8; i++)
            affine[i] = optional(context, 3 + i);
        OP_REQUIRES(context,
                    kind_[2] == 0 ||
                        (sin && cos && sin->dims() == 2 && sin->shape() == cos->shape()),
                    errors::InvalidArgument("NormRopeConcat: rope_type ", kind_[2],
                                            " needs rope_sin and rope_cos"));
        const Floats sines = sin ? widen(*sin) : Floats(), cosines = cos ? widen(*cos) : Floats();
        const int64_t rope_rows = cos ? cos->dim_size(0) : 0;
        for (int stream = 0; stream < 3; stream++) { /* query, key, value */
            const Tensor &x = context->input(stream);
            const Tensor *extra = encoder[stream];
            OP_REQUIRES(context, x.dims() == 4 && (!extra || fits(x, *extra)),
                        errors::InvalidArgument("NormRopeConcat: ", x.shape().DebugString(),
                                                " is not [B, S, N, D], or ",
                                                "does not fit its encoder part"));
            const int64_t b = x.dim_size(0), s = x.dim_size(1), n = x.dim_size(2),
                          d = x.dim_size(3);
            const int64_t s2 = extra ? extra->dim_size(1) : 0, all = s + s2;
            OP_REQUIRES(context,
                        stream == 2 || kind_[2] == 0 ||
                            (cos->dim_size(1) == d && rope_rows <= all && d % 2 == 0),
                        errors::InvalidArgument("NormRopeConcat: tables ",
                                                cos ? cos->shape().DebugString() : "",
                                                " do not fit"));
            Floats y(b * n * all * d);
            const bool first = kind_[3] == 0;
            const int rope = stream == 2 ? 0 : kind_[2];
            const Floats main_part = normalised(context, x, stream, 0, affine);
            forward_place(main_part.data(), y.data(), sines.data(), cosines.data(), b, s, n, d, all,
                          first ? 0 : s2, rope_rows, rope);
            const Floats extra_part =
                extra ? normalised(context, *extra, stream, 1, affine) : Floats();
            if (!extra && stream < 2) no_statistics(context, stream, 1);
            if (extra) {
                forward_place(extra_part.data(), y.data(), sines.data(), cosines.data(), b, s2, n,
                              d, all, first ? s : 0, rope_rows, rope);
            }
            emit(context, stream, TensorShape({b, n, all, d}), y);
        }
    }

  private:
    static bool fits(const Tensor &x, const Tensor &extra) {
        return extra.dims() == 4 && extra.dim_size(0) == x.dim_size(0) &&
               extra.dim_size(2) == x.dim_size(2) && extra.dim_size(3) == x.dim_size(3);
    }

    const Tensor *optional(OpKernelContext *context, int index) const {
        return position_[index] < 0 ? nullptr : &context->input(position_[index]);
    }

    /* Outputs 3..10 are mean and rstd of query, key, added query, added key. */
    void no_statistics(OpKernelContext *context, int stream, int added) const {
        for (int i = 0; i < 2; i++)
            emit(context, 3 + 4 * added + 2 * stream + i, TensorShape({0}), {});
    }

    Floats normalised(OpKernelContext *context, const Tensor &x, int stream, int added,
                      const Tensor **affine) const {
        const int kind = stream == 2 ? 0 : kind_[added];
        const Tensor *weight = stream == 2 ? nullptr : affine[4 * added + 2 * stream];
        const Tensor *bias = stream == 2 ? nullptr : affine[4 * added + 2 * stream + 1];
        const bool across = kind >= 5 && kind <= 8; /* types 1 to 4, over all heads of a token */
        const int64_t d = x.dim_size(3) * (across ? x.dim_size(2) : 1),
                      rows = d ? x.NumElements() / d : 0;
        const int row_kind = across ? kind - 4 : kind;
        Floats y(x.NumElements()), mean(rows), rstd(rows);
        const bool weighted = row_kind == 2 || row_kind == 4, biased = row_kind == 2;
        if ((weighted && !(weight && weight->NumElements() == d)) ||
            (biased && !(bias && bias->NumElements() == d))) {
            context->CtxFailure(errors::InvalidArgument(
                "NormRopeConcat: norm type ", kind,
                biased ? " needs weight and bias of " : " needs a weight of ", d));
            return y;
        }
        const Floats scale = weighted ? widen(*weight) : Floats(),
                     shift = biased ? widen(*bias) : Floats();
        forward_norm(widen(x).data(), weighted ? scale.data() : nullptr,
                     biased ? shift.data() : nullptr, y.data(), mean.data(), rstd.data(), rows, d,
                     row_kind, eps_);
        if (stream == 2) return y;
        if (kind == 0) {
            no_statistics(context, stream, added);
            return y;
        }
        const TensorShape shape({x.dim_size(0), x.dim_size(1), across ? 1 : x.dim_size(2), 1});
        emit(context, 3 + 4 * added + 2 * stream, shape, mean);
        emit(context, 4 + 4 * added + 2 * stream, shape, rstd);
        return y;
    }

    int kind_[4];
    float eps_;
    std::vector<int> position_;
};

Status same_as_first(InferenceContext *c) {
    for (int i = 0; i < c->num_outputs(); i++)
        c->set_output(i, c->input(i));
    return Status();
}

Status exp_segsum_shape(InferenceContext *c) {
    shape_inference::ShapeHandle x, y;
    TF_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &x));
    if (!c->RankKnown(x)) {
        c->set_output(0, c->UnknownShape());
        return Status();
    }
    TF_RETURN_IF_ERROR(c->Concatenate(x, c->Vector(c->Dim(x, -1)), &y));
    c->set_output(0, y);
    return Status();
}

Status norm_rope_concat_shape(InferenceContext *c) {
    int next = 3; /* the encoder parts are the first optional inputs */
    for (int i = 0; i < 3; i++) {
        shape_inference::ShapeHandle x, extra;
        TF_RETURN_IF_ERROR(c->WithRank(c->input(i), 4, &x));
        shape_inference::DimensionHandle length = c->Dim(x, 1);
        std::vector<DataType> types;
        TF_RETURN_IF_ERROR(c->GetAttr(std::string(optional_inputs[i]) + "_type", &types));
        if (!types.empty()) {
            TF_RETURN_IF_ERROR(c->WithRank(c->input(next++), 4, &extra));
            TF_RETURN_IF_ERROR(c->Add(length, c->Dim(extra, 1), &length));
        }
        c->set_output(i, c->MakeShape({c->Dim(x, 0), c->Dim(x, 2), length, c->Dim(x, 3)}));
    }
    for (int i = 3; i < c->num_outputs(); i++)
        c->set_output(i, c->UnknownShape());
    return Status();
}

} // namespace

#define OPTIONAL(name)                                                                             \
    Input(#name ": " #name "_type").Attr(#name "_type: list({half, bfloat16, float}) >= 0")
#define DTYPES Attr("T: {half, bfloat16, float}")

REGISTER_OP("RotaryMul")
    .Input("x: T")
    .Input("r1: Tr1")
    .Input("r2: Tr1")
    .Output("y: T")
    .Attr("Tr1: {half, bfloat16, float}")
    .DTYPES.SetShapeFn(same_as_first);

REGISTER_OP("RotaryPositionEmbedding")
    .Input("x: T")
    .Input("cos: Tcos")
    .Input("sin: Tcos")
    .Output("y: T")
    .Attr("mode: int = 0")
    .Attr("slice_start: int = 0")
    .Attr("Tcos: {half, bfloat16, float}")
    .DTYPES.SetShapeFn(same_as_first);

REGISTER_OP("Rope")
    .Input("q: T")
    .Input("k: T")
    .Input("cos: T")
    .Input("sin: T")
    .Output("q_out: T")
    .Output("k_out: T")
    .Attr("seq_len: list(int)")
    .Attr("head_size: int = 0")
    .Attr("slice_start: int = 0")
    .Attr("start_positions: list(int) = []")
    .DTYPES.SetShapeFn(same_as_first);

REGISTER_OP("NormRopeConcat")
    .Input("query: T")
    .Input("key: T")
    .Input("value: T")
    .OPTIONAL(encoder_query)
    .OPTIONAL(encoder_key)
    .OPTIONAL(encoder_value)
    .OPTIONAL(norm_query_weight)
    .OPTIONAL(norm_query_bias)
    .OPTIONAL(norm_key_weight)
    .OPTIONAL(norm_key_bias)
    .OPTIONAL(norm_added_query_weight)
    .OPTIONAL(norm_added_query_bias)
    .OPTIONAL(norm_added_key_weight)
    .OPTIONAL(norm_added_key_bias)
    .OPTIONAL(rope_sin)
    .OPTIONAL(rope_cos)
    .Output("query_output: T")
    .Output("key_output: T")
    .Output("value_output: T")
    .Output("norm_query_mean: float")
    .Output("norm_query_rstd: float")
    .Output("norm_key_mean: float")
    .Output("norm_key_rstd: float")
    .Output("norm_added_query_mean: float")
    .Output("norm_added_query_rstd: float")
    .Output("norm_added_key_mean: float")
    .Output("norm_added_key_rstd: float")
    .Attr("norm_type: int = 0")
    .Attr("norm_added_type: int = 0")
    .Attr("rope_type: int = 0")
    .Attr("concat_order: int = 0")
    .Attr("eps: float = 1e-5")
    .DTYPES.SetShapeFn(norm_rope_concat_shape);

REGISTER_OP("ExpSegsum").Input("x: T").Output("y: T").DTYPES.SetShapeFn(exp_segsum_shape);

REGISTER_KERNEL_BUILDER(Name("RotaryMul").Device(DEVICE_CPU), RotaryKernel);
REGISTER_KERNEL_BUILDER(Name("RotaryPositionEmbedding").Device(DEVICE_CPU), RotaryKernel);
REGISTER_KERNEL_BUILDER(Name("Rope").Device(DEVICE_CPU), RopeKernel);
REGISTER_KERNEL_BUILDER(Name("NormRopeConcat").Device(DEVICE_CPU), NormRopeConcatKernel);
REGISTER_KERNEL_BUILDER(Name("ExpSegsum").Device(DEVICE_CPU), ExpSegsumKernel);
