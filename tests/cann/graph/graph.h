/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of the stand-in's operators and graphs.
 */
#ifndef STANDIN_GRAPH_H
#define STANDIN_GRAPH_H

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/tensor.h"

namespace ge {

struct Attribute {
    enum { Int, Bool, List, Text, Types, Real, Reals } kind = Int;
    int64_t value = 0;
    std::vector<int64_t> list;
    std::string text;
    std::vector<DataType> types;
    float real = 0;
    std::vector<float> reals;
};

class OperatorImpl {
  public:
    using Pointer = std::shared_ptr<OperatorImpl>;
    struct Edge {
        Pointer source;
        uint32_t output;
    };

    static Pointer of(const Operator &op) { return op.impl_; }
    static Operator create(const std::string &name, const std::string &type);

    std::string name, type;
    std::vector<std::string> inputs, outputs; /* as registered */
    std::map<std::string, Edge> edges;
    std::map<std::string, Attribute> attributes;
    std::map<std::string, TensorDesc> descs;
    size_t dynamic_inputs = 0; /* inputs of a framework's node, for the parser test */
};

class GraphImpl {
  public:
    static std::shared_ptr<GraphImpl> of(const Graph &graph) { return graph.impl_; }

    std::vector<OperatorImpl::Pointer> inputs;
    std::vector<std::pair<OperatorImpl::Pointer, size_t>> outputs;
};

} // namespace ge

#endif
