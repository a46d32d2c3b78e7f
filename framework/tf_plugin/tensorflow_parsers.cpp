/* SPDX-License-Identifier: Apache-2.0
 *
 * libcust_tf_parsers.so: how nodes of a TensorFlow graph become our GE operators. The TensorFlow
 * operators have the names of the IR (ascgrad.tensorflow registers them on TensorFlow's side), and
 * parsers.inc, written from the IR, says what inputs and attributes they have.
 *
 * TensorFlow has no optional inputs. There an optional input x is a list of no or one tensor, with
 * the attribute x_type telling which; the node is first mapped as it is, then replaced by a graph
 * of one operator whose optional inputs are connected or not.
 */
#include <cstdio>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/operator.h"
#include "graph/operator_factory.h"
#include "register/register.h"

namespace {

using ge::Operator;

/* Hands one attribute over, if the node has it. */
template <class Value> void copy(const char *name, const Operator &node, Operator &op) {
    Value value{};
    if (node.GetAttr(name, value) == ge::GRAPH_SUCCESS) op.SetAttr(name, value);
}

struct Attribute {
    const char *name;
    void (*copy)(const char *name, const Operator &node, Operator &op);
};

struct Signature {
    const char *type;
    std::vector<const char *> required, optional;
    std::vector<Attribute> attributes;
};

/* Reads which optional inputs the node has. */
std::vector<const char *> connected_inputs(const Operator &node, const Signature &ir) {
    std::vector<const char *> names = ir.required;
    for (const char *name : ir.optional) {
        char attribute[64];
        std::snprintf(attribute, sizeof attribute, "%s_type", name);
        std::vector<ge::DataType> types;
        (void)node.GetAttr(attribute, types);
        if (!types.empty()) names.push_back(name);
    }
    return names;
}

domi::Status to_graph(const Operator &node, ge::Graph &graph, const Signature &ir) {
    ge::AscendString name;
    if (node.GetName(name) != ge::GRAPH_SUCCESS) return domi::FAILED;
    Operator op = ge::OperatorFactory::CreateOperator(name.GetString(), ir.type);
    for (const Attribute &attribute : ir.attributes)
        attribute.copy(attribute.name, node, op);
    const std::vector<const char *> names = connected_inputs(node, ir);
    if (names.size() != node.GetInputsSize()) return domi::FAILED;
    std::vector<Operator> inputs;
    for (size_t i = 0; i < names.size(); i++) {
        char data_name[32];
        std::snprintf(data_name, sizeof data_name, "Data_%zu", i);
        Operator data = ge::OperatorFactory::CreateOperator(data_name, "Data");
        data.SetAttr("index", static_cast<int64_t>(i));
        op.SetInput(names[i], data);
        inputs.push_back(data);
    }
    std::vector<size_t> outputs(op.GetOutputsSize());
    for (size_t i = 0; i < outputs.size(); i++)
        outputs[i] = i;
    graph.SetInputs(inputs).SetOutputs({std::make_pair(op, outputs)});
    return domi::SUCCESS;
}

/* clang-format off */
#define LIST(...)                  {__VA_ARGS__}
#define INT(name, required)        {#name, copy<int64_t>}
#define BOOL(name, required)       {#name, copy<bool>}
#define FLOAT(name, required)      {#name, copy<float>}
#define LIST_INT(name, required)   {#name, copy<std::vector<int64_t>>}
#define LIST_FLOAT(name, required) {#name, copy<std::vector<float>>}
/* clang-format on */

/* Only operators with optional inputs are taken apart; TensorFlow's node is the others as it is. */
#define PLAIN(...)
#define WITH_OPTIONAL(...) __VA_ARGS__
#define SIGNATURE(type, kernel, form, required, optional, attributes)                              \
    form(const Signature kernel = {#type, required, optional, attributes};)
#include "parsers.inc"
#undef SIGNATURE
#undef PLAIN
#undef WITH_OPTIONAL

/* The attribute original_type is what makes the parser call the second function. */
template <const Signature *ir> domi::Status map_node(const Operator &source, Operator &op) {
    if (domi::AutoMappingByOpFn(source, op) != domi::SUCCESS) return domi::FAILED;
    op.SetAttr("original_type", ir->type);
    return domi::SUCCESS;
}

template <const Signature *ir> domi::Status expand_node(const Operator &node, ge::Graph &graph) {
    return to_graph(node, graph, *ir);
}

} // namespace

namespace domi {

#define PARSER(type)        REGISTER_CUSTOM_OP(#type).FrameworkType(TENSORFLOW).OriginOpType(#type)
#define PLAIN(type, kernel) PARSER(type).ParseParamsByOperatorFn(AutoMappingByOpFn);
#define WITH_OPTIONAL(type, kernel)                                                                \
    PARSER(type).ParseParamsByOperatorFn(map_node<&kernel>).ParseOpToGraphFn(expand_node<&kernel>);
#define SIGNATURE(type, kernel, form, ...) form(type, kernel)
#include "parsers.inc"

} // namespace domi
