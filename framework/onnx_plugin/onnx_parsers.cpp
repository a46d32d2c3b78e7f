/* SPDX-License-Identifier: Apache-2.0
 *
 * libcust_onnx_parsers.so: how nodes of an ONNX model become our GE operators. Inputs go by
 * position (an empty name is an absent optional input), attributes have the names of the IR:
 * parsers.inc, written from it, lists them.
 */
#include <cstdio>
#include <vector>

#include "attributes.h"
#include "graph/operator.h"
#include "register/register.h"

namespace {

using ge::Operator;

enum class Kind { Int, Bool, Float, ListInt, ListFloat };
struct Attribute {
    const char *name;
    Kind kind;
    bool required;
};

/* False if one of the numbers is not an integer that a double holds exactly. */
bool to_integers(const std::vector<double> &values, std::vector<int64_t> *integers) {
    for (const double value : values) {
        if (!(value >= -0x1p53 && value <= 0x1p53)) return false;
        integers->push_back(static_cast<int64_t>(value));
        if (static_cast<double>(integers->back()) != value) return false;
    }
    return true;
}

/* False if the attribute is malformed, or required and absent. */
bool copy_attribute(const char *json, const Attribute &attribute, Operator &op) {
    const char *name = attribute.name;
    const long count = onnx_attribute(json, name, nullptr, 0);
    const bool list = attribute.kind == Kind::ListInt || attribute.kind == Kind::ListFloat;
    if (count == ONNX_ABSENT) return !attribute.required;
    if (count < 0 || (!list && count > 1)) return false;
    std::vector<double> values(static_cast<size_t>(count));
    onnx_attribute(json, name, values.data(), values.size());
    if (!list && values.empty()) values.push_back(0); /* protobuf leaves a zero out */
    if (attribute.kind == Kind::Float) {
        op.SetAttr(name, static_cast<float>(values[0]));
        return true;
    }
    if (attribute.kind == Kind::ListFloat) {
        op.SetAttr(name, std::vector<float>(values.begin(), values.end()));
        return true;
    }
    std::vector<int64_t> integers;
    if (!to_integers(values, &integers)) return false;
    if (attribute.kind == Kind::ListInt) {
        op.SetAttr(name, integers);
    } else if (attribute.kind == Kind::Bool) {
        op.SetAttr(name, integers[0] != 0);
    } else {
        op.SetAttr(name, integers[0]);
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

/* clang-format off */
#define LIST(...)                  {__VA_ARGS__}
#define INT(name, required)        {#name, Kind::Int, required}
#define BOOL(name, required)       {#name, Kind::Bool, required}
#define FLOAT(name, required)      {#name, Kind::Float, required}
#define LIST_INT(name, required)   {#name, Kind::ListInt, required}
#define LIST_FLOAT(name, required) {#name, Kind::ListFloat, required}
/* clang-format on */

#define SIGNATURE(type, kernel, form, required, optional, attributes)                              \
    domi::Status kernel(const Operator &source, Operator &op) {                                    \
        return copy_attributes(source, op, attributes);                                            \
    }
#include "parsers.inc"
#undef SIGNATURE

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

#define SIGNATURE(type, kernel, ...)                                                               \
    REGISTER_CUSTOM_OP(#type)                                                                      \
        .FrameworkType(ONNX)                                                                       \
        .OriginOpType(in_every_opset(#type))                                                       \
        .ParseParamsByOperatorFn(kernel)                                                           \
        .ImplyType(ImplyType::TVM);
#include "parsers.inc"

} // namespace domi
