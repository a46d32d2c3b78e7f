/* SPDX-License-Identifier: Apache-2.0
 *
 * libcust_tf_parsers.so: how nodes of a TensorFlow graph become our GE operators. The TensorFlow
 * operators have the names of the IR (framework/tensorflow/ops.cpp registers them on TensorFlow's
 * side).
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

struct Signature {
    const char *type;
    std::vector<const char *> required, optional, attributes; /* attributes are integers */
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
    for (const char *attribute : ir.attributes) {
        int64_t value = 0;
        if (node.GetAttr(attribute, value) == ge::GRAPH_SUCCESS) op.SetAttr(attribute, value);
    }
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

const Signature &rotary_position_embedding_grad() {
    static const Signature ir = {
        "RotaryPositionEmbeddingGrad", {"dy", "cos", "sin"}, {"x"}, {"mode"}};
    return ir;
}

const Signature &norm_rope_concat_grad() {
    static const Signature ir = {
        "NormRopeConcatGrad",
        {"grad_query_output", "grad_key_output", "grad_value_output", "query", "key"},
        {"encoder_query", "encoder_key", "norm_query_weight", "norm_query_mean", "norm_query_rstd",
         "norm_key_weight", "norm_key_mean", "norm_key_rstd", "norm_added_query_weight",
         "norm_added_query_mean", "norm_added_query_rstd", "norm_added_key_weight",
         "norm_added_key_mean", "norm_added_key_rstd", "rope_sin", "rope_cos"},
        {"norm_type", "norm_added_type", "rope_type", "concat_order"}};
    return ir;
}

using SignatureOf = const Signature &(*)();

/* The attribute original_type is what makes the parser call the second function. */
template <SignatureOf ir> domi::Status map_node(const Operator &source, Operator &op) {
    if (domi::AutoMappingByOpFn(source, op) != domi::SUCCESS) return domi::FAILED;
    op.SetAttr("original_type", ir().type);
    return domi::SUCCESS;
}

template <SignatureOf ir> domi::Status expand_node(const Operator &node, ge::Graph &graph) {
    return to_graph(node, graph, ir());
}

} // namespace

namespace domi {

REGISTER_CUSTOM_OP("RotaryMulGrad")
    .FrameworkType(TENSORFLOW)
    .OriginOpType("RotaryMulGrad")
    .ParseParamsByOperatorFn(AutoMappingByOpFn);

REGISTER_CUSTOM_OP("RopeGrad")
    .FrameworkType(TENSORFLOW)
    .OriginOpType("RopeGrad")
    .ParseParamsByOperatorFn(AutoMappingByOpFn);

REGISTER_CUSTOM_OP("ExpSegsumGrad")
    .FrameworkType(TENSORFLOW)
    .OriginOpType("ExpSegsumGrad")
    .ParseParamsByOperatorFn(AutoMappingByOpFn);

REGISTER_CUSTOM_OP("RotaryPositionEmbeddingGrad")
    .FrameworkType(TENSORFLOW)
    .OriginOpType("RotaryPositionEmbeddingGrad")
    .ParseParamsByOperatorFn(map_node<rotary_position_embedding_grad>)
    .ParseOpToGraphFn(expand_node<rotary_position_embedding_grad>);

REGISTER_CUSTOM_OP("NormRopeConcatGrad")
    .FrameworkType(TENSORFLOW)
    .OriginOpType("NormRopeConcatGrad")
    .ParseParamsByOperatorFn(map_node<norm_rope_concat_grad>)
    .ParseOpToGraphFn(expand_node<norm_rope_concat_grad>);

} // namespace domi
