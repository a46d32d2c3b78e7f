/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads the two parser plugins as GE does and drives what they registered: which operators, under
 * which names; nodes with and without optional inputs become the right graph, which is then run;
 * ONNX attributes arrive.
 *
 * usage: test_parsers libcust_tf_parsers.so libcust_onnx_parsers.so npu_supported_ops.json
 */
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

#include "../../framework/onnx_plugin/attributes.h"
#include "ascgrad_ops.h"
#include "ge/ge_api.h"
#include "../cann/registry/parsers.h"
#include "graph/operator_factory.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                   \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

namespace {

using domi::OpRegistrationDataImpl;
using ge::OperatorImpl;

const char *const operators[] = {
#define ASCGRAD_OP(op, kernel) #op,
#include "ascgrad_ops.inc"
};
int passed;

const OpRegistrationDataImpl &parser(const std::string &type, domi::FrameworkType framework) {
    for (const OpRegistrationDataImpl &entry : domi::standin_parsers()) {
        if (entry.type == type && entry.framework == framework) return entry;
    }
    std::fprintf(stderr, "no parser for %s\n", type.c_str());
    std::exit(1);
}

void load(const char *path) {
    if (dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) return;
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
}

int64_t value_of(const ge::NodeImpl &node, const char *attribute) {
    return node.attributes.at(attribute).ints.at(0);
}

ge::Operator node_of(const char *type, size_t inputs) {
    ge::Operator node(ge::AscendString("node"), ge::AscendString(type));
    OperatorImpl::of(node)->dynamic_inputs = inputs;
    return node;
}

void set_types(ge::Operator &node, const char *attribute, std::vector<ge::DataType> types) {
    ge::Attribute value;
    value.kind = ge::Attribute::Types;
    value.types = types;
    OperatorImpl::of(node)->attributes[attribute] = value;
}

void test_registrations() {
    for (const char *type : operators) {
        CHECK(parser(type, domi::TENSORFLOW).origins == std::vector<std::string>{type});
        const auto &onnx = parser(type, domi::ONNX);
        std::set<std::string> names(onnx.origins.begin(), onnx.origins.end());
        CHECK(names.count(std::string("ai.onnx::11::") + type) &&
              names.count(std::string("ai.onnx::15::") + type));
        CHECK(onnx.parse && !onnx.expand);
    }
    CHECK(domi::standin_parsers().size() == 2 * sizeof operators / sizeof *operators);
    passed++;
}

/* npu_supported_ops.json tells TensorFlow's adapter which nodes it may send: those that have a
 * parser, and all of them. */
void test_supported_ops(const char *path) {
    std::ifstream file(path);
    CHECK(file.good());
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    std::set<std::string> listed, parsed;
    for (size_t at = 0; (at = text.find("Grad\"", at)) != std::string::npos; at++) {
        const size_t from = text.rfind('"', at) + 1;
        listed.insert(text.substr(from, at + 4 - from));
    }
    for (const OpRegistrationDataImpl &entry : domi::standin_parsers()) {
        if (entry.framework == domi::TENSORFLOW) parsed.insert(entry.type);
    }
    CHECK(listed == parsed);
    passed++;
}

/* The signatures of the plugin are those of the IR: all inputs connected, in order. */
void test_signatures() {
    for (const char *type : operators) {
        if (!parser(type, domi::TENSORFLOW).expand) continue; /* mapped as it is */
        const ge::Operator like = ge::OperatorFactory::CreateOperator("like", type);
        const auto &ir = *OperatorImpl::of(like);
        ge::Operator source = node_of(type, ir.inputs.size()), node = node_of(type, 0);
        for (const auto &input : ir.inputs)
            set_types(source, (input.name + "_type").c_str(), {ge::DT_FLOAT});
        for (const auto &entry : ir.attributes) {
            const char *name = entry.first.c_str();
            entry.second.kind == ge::Attribute::Real ? source.SetAttr(name, 7.0f)
                                                     : source.SetAttr(name, int64_t(7));
        }
        CHECK(parser(type, domi::TENSORFLOW).parse(source, node) == domi::SUCCESS);
        ge::AscendString original;
        CHECK(node.GetAttr("original_type", original) == ge::GRAPH_SUCCESS);
        CHECK(std::string(original.GetString()) == type);

        ge::Graph graph("expanded");
        CHECK(parser(type, domi::TENSORFLOW).expand(node, graph) == domi::SUCCESS);
        const auto &inside = *ge::GraphImpl::of(graph);
        const auto &op = *inside.outputs[0].first;
        CHECK(op.type == type && op.name == "node" && inside.inputs.size() == ir.inputs.size());
        CHECK(inside.outputs.size() == ir.outputs.size());
        for (size_t i = 0; i < ir.inputs.size(); i++) {
            const auto *input = op.input(ir.inputs[i].name);
            CHECK(input && input->from && value_of(*input->from, "index") == int64_t(i));
        }
        for (const auto &entry : ir.attributes) {
            const ge::Attribute &set = op.attributes.at(entry.first);
            CHECK(entry.second.kind == ge::Attribute::Real ? set.reals.at(0) == 7
                                                           : set.ints.at(0) == 7);
        }
    }
    passed++;
}

/* With and without x, through to the numbers. */
void test_optional_input() {
    for (bool with_x : {false, true}) {
        const char *type = "RotaryPositionEmbeddingGrad";
        ge::Operator source = node_of(type, with_x ? 4 : 3), node = node_of(type, 0);
        set_types(source, "x_type",
                  with_x ? std::vector<ge::DataType>{ge::DT_FLOAT} : std::vector<ge::DataType>{});
        source.SetAttr("mode", int64_t(1));
        ge::Graph graph("expanded");
        CHECK(parser(type, domi::TENSORFLOW).parse(source, node) == domi::SUCCESS);
        CHECK(parser(type, domi::TENSORFLOW).expand(node, graph) == domi::SUCCESS);

        const float numbers[] = {1, 2, 3, 4};
        const ge::TensorDesc desc(ge::Shape({1, 1, 4}), ge::FORMAT_ND, ge::DT_FLOAT);
        const std::vector<ge::Tensor> inputs(
            with_x ? 4 : 3, {desc, reinterpret_cast<const uint8_t *>(numbers), sizeof numbers});
        std::vector<ge::Tensor> outputs;
        CHECK(ge::GEInitialize({}) == ge::SUCCESS);
        {
            ge::Session session({});
            CHECK(session.AddGraph(1, graph) == ge::SUCCESS &&
                  session.RunGraph(1, inputs, outputs) == ge::SUCCESS);
        }
        CHECK(ge::GEFinalize() == ge::SUCCESS && outputs.size() == 3);
        const float *dx = reinterpret_cast<const float *>(outputs[0].GetData());
        const float *dcos = reinterpret_cast<const float *>(outputs[1].GetData());
        CHECK(dx[0] == 5 && dx[1] == 3 && dx[2] == 25 && dx[3] == 7);
        CHECK(dcos[3] == (with_x ? 16 : 0));
    }
    ge::Operator wrong =
        node_of("RotaryPositionEmbeddingGrad", 2); /* fewer inputs than the IR needs */
    ge::Graph graph("expanded");
    CHECK(parser("RotaryPositionEmbeddingGrad", domi::TENSORFLOW).expand(wrong, graph) ==
          domi::FAILED);
    passed++;
}

domi::Status onnx(const char *type, const char *json, ge::Operator &op) {
    ge::Operator source = node_of(type, 1);
    if (json) source.SetAttr("attribute", json);
    op = node_of(type, 0);
    return parser(type, domi::ONNX).parse(source, op);
}

void test_onnx_attributes() {
    ge::Operator op;
    CHECK(onnx("RopeGrad",
               "{\n \"attribute\": [{\"ints\": [5, 7, 9], \"name\": \"qSeqLen\", \"type\": 7},"
               "{\"i\": 1, \"name\": \"exact_grad\", \"type\": 2}]}",
               op) == domi::SUCCESS);
    CHECK((OperatorImpl::of(op)->attributes.at("qSeqLen").ints == std::vector<int64_t>{5, 7, 9}));
    CHECK(OperatorImpl::of(op)->attributes.at("exact_grad").kind == ge::Attribute::Bool);
    CHECK(value_of(*OperatorImpl::of(op), "exact_grad") == 1);
    CHECK(onnx("RopeGrad", nullptr, op) == domi::FAILED); /* qSeqLen is required */
    CHECK(onnx("RotaryPositionEmbeddingGrad", "{\"attribute\":[{\"name\":\"mode\",\"i\":2}]}",
               op) == domi::SUCCESS);
    CHECK(value_of(*OperatorImpl::of(op), "mode") == 2);
    CHECK(onnx("RotaryMulGrad", "{\"attribute\":[{\"name\":\"need_backward\",\"type\":2}]}", op) ==
          domi::SUCCESS);
    CHECK(value_of(*OperatorImpl::of(op), "need_backward") == 0); /* a zero is left out */
    CHECK(onnx("RotaryMulGrad", nullptr, op) == domi::SUCCESS &&
          OperatorImpl::of(op)->attributes.empty());
    CHECK(onnx("NormRopeConcatGrad",
               "{\"attribute\":[{\"name\":\"rope_type\",\"f\":\"1.5\",\"i\":1,\"t\":{\"x\":[]}},"
               "{\"name\":\"norm_type\",\"i\":2}]}",
               op) == domi::SUCCESS);
    CHECK(value_of(*OperatorImpl::of(op), "norm_type") == 2);
    CHECK(onnx("ExpSegsumGrad", nullptr, op) == domi::SUCCESS);
    for (const char *bad :
         {"", "{", "{\"attribute\":[{\"name\":\"mode\",\"i\":1.5}]}", "[1,", "{\"a\"}", "\"", "nul",
          "{\"attribute\":[{\"name\":\"mode\",\"i\":1}]} x", "{\"attribute\":[{\"name\":\"mode\"",
          "{\"i\":99999999999999999999,\"name\":\"mode\"}"}) {
        CHECK(onnx("RotaryPositionEmbeddingGrad", bad, op) == domi::FAILED);
    }
    const std::string deep(100000, '[');
    CHECK(onnx("RotaryPositionEmbeddingGrad", deep.c_str(), op) == domi::FAILED);
    passed++;
}

/* Floats come as text or as numbers; no operator has one yet, so the reader is asked itself. */
void test_onnx_floats() {
    const char *json = "{\"attribute\":[{\"f\":\"1e-05\",\"name\":\"eps\",\"type\":1},"
                       "{\"floats\":[0.5,\"-2\"],\"name\":\"scales\",\"type\":6}]}";
    double values[2] = {};
    CHECK(onnx_attribute(json, "eps", values, 2) == 1 && values[0] == 1e-05);
    CHECK(onnx_attribute(json, "scales", values, 2) == 2 && values[0] == 0.5 && values[1] == -2);
    CHECK(onnx_attribute(json, "other", values, 2) == ONNX_ABSENT);
    for (const char *bad : {"one", "1e999", "1x", "nan"}) {
        const std::string text = std::string("{\"f\":\"") + bad + "\",\"name\":\"eps\"}";
        CHECK(onnx_attribute(text.c_str(), "eps", values, 2) == ONNX_MALFORMED);
    }
    passed++;
}

} // namespace

int main(int argc, char **argv) {
    CHECK(argc == 4);
    load(argv[1]);
    load(argv[2]);
    test_registrations();
    test_supported_ops(argv[3]);
    test_signatures();
    test_optional_input();
    test_onnx_attributes();
    test_onnx_floats();
    std::printf("%d passed, 0 failed\n", passed);
    return 0;
}
