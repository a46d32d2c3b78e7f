/* SPDX-License-Identifier: Apache-2.0
 *
 * libcust_onnx_parsers.so: how nodes of an ONNX model become our GE operators. Inputs go by
 * position (an empty name is an absent optional input), attributes have the names of the IR and are
 * integers or lists of integers.
 */
#include <cstdio>
#include <vector>

#include "attributes.h"
#include "graph/operator.h"
#include "register/register.h"

namespace {

using ge::Operator;

enum class Kind { Int, Bool, List };
struct Attribute {
    const char *name;
    Kind kind;
    bool required;
};

/* False if the attribute is malformed, or required and absent. */
bool copy_attribute(const char *json, const Attribute &attribute, Operator &op) {
    const long count = onnx_attribute(json, attribute.name, nullptr, 0);
    if (count == ONNX_ABSENT) return !attribute.required;
    if (count < 0 || (attribute.kind != Kind::List && count > 1)) return false;
    std::vector<int64_t> values(static_cast<size_t>(count));
    onnx_attribute(json, attribute.name, values.data(), values.size());
    if (attribute.kind == Kind::List) {
        op.SetAttr(attribute.name, values);
        return true;
    }
    const int64_t value = values.empty() ? 0 : values[0]; /* protobuf leaves a zero out */
    if (attribute.kind == Kind::Bool) {
        op.SetAttr(attribute.name, value != 0);
    } else {
        op.SetAttr(attribute.name, value);
    }
    return true;
}

domi::Status copy_attributes(const Operator &source, Operator &op,
                             const std::vector<Attribute> &attributes) {
    ge::AscendString text;
    const bool any =
        source.GetAttr("attribute", text) == ge::GRAPH_SUCCESS && text.GetString() != nullptr;
    for (const Attribute &attribute : attributes) {
        if (!copy_attribute(any ? text.GetString() : "{}", attribute, op)) {
            std::fprintf(stderr,
                         "ascgrad: ONNX attribute '%s' is missing or not what the operator takes\n",
                         attribute.name);
            return domi::FAILED;
        }
    }
    return domi::SUCCESS;
}

domi::Status no_attributes(const Operator &, Operator &) {
    return domi::SUCCESS;
}

domi::Status rotary_mul_grad(const Operator &source, Operator &op) {
    return copy_attributes(source, op, {{"need_backward", Kind::Bool, false}});
}

domi::Status rotary_position_embedding_grad(const Operator &source, Operator &op) {
    return copy_attributes(source, op, {{"mode", Kind::Int, false}});
}

domi::Status rope_grad(const Operator &source, Operator &op) {
    return copy_attributes(source, op,
                           {{"qSeqLen", Kind::List, true}, {"exact_grad", Kind::Bool, false}});
}

domi::Status norm_rope_concat_grad(const Operator &source, Operator &op) {
    return copy_attributes(source, op,
                           {{"norm_type", Kind::Int, false},
                            {"norm_added_type", Kind::Int, false},
                            {"rope_type", Kind::Int, false},
                            {"concat_order", Kind::Int, false}});
}

/* GE looks a node up by domain, opset version and name. */
std::vector<ge::AscendString> in_every_opset(const char *type) {
    std::vector<ge::AscendString> names;
    for (int version = 9; version <= 18; version++) {
        char name[80];
        std::snprintf(name, sizeof name, "ai.onnx::%d::%s", version, type);
        names.emplace_back(name);
    }
    return names;
}

} // namespace

namespace domi {

#define PARSER(type, parse)                                                                        \
    REGISTER_CUSTOM_OP(type)                                                                       \
        .FrameworkType(ONNX)                                                                       \
        .OriginOpType(in_every_opset(type))                                                        \
        .ParseParamsByOperatorFn(parse)                                                            \
        .ImplyType(ImplyType::TVM)

PARSER("RotaryMulGrad", rotary_mul_grad);
PARSER("RotaryPositionEmbeddingGrad", rotary_position_embedding_grad);
PARSER("RopeGrad", rope_grad);
PARSER("NormRopeConcatGrad", norm_rope_concat_grad);
PARSER("ExpSegsumGrad", no_attributes);

} // namespace domi
