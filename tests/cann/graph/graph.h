/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of the stand-in's graphs: a node is what a program calls an operator until it is in a
 * graph. It follows GE where a pass could stumble: inputs lie in another order than in the IR,
 * removing a node does not relink anything, and asking for what is not there counts as an error, as
 * it puts one into GE's log.
 */
#ifndef STANDIN_GRAPH_H
#define STANDIN_GRAPH_H

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/gnode.h"
#include "graph/tensor.h"

namespace ge {

constexpr graphStatus STANDIN_FAILED = 0xFFFFFFFF;

struct Attribute {
    enum Kind { Int, Bool, List, Text, Types, Real, Reals, Data } kind = Int;
    std::vector<int64_t> ints; /* of Int and Bool, too */
    std::vector<float> reals;  /* of Real, too */
    std::string text;
    std::vector<DataType> types;
    std::shared_ptr<Tensor> tensor;
};

class NodeImpl {
  public:
    struct Input {
        std::string name;
        std::shared_ptr<NodeImpl> from;
        int32_t port = -1; /* -1: not connected */
    };
    struct Output {
        std::string name;
        TensorDesc desc;
    };
    std::string name, type;
    std::vector<Input> inputs;
    std::vector<Output> outputs;
    std::map<std::string, Attribute> attributes;
    std::vector<std::weak_ptr<NodeImpl>> after; /* control edges into this node */
    GraphImpl *owner = nullptr;
    size_t dynamic_inputs = 0; /* inputs of a framework's node, for the parser test */

    const Input *input(const std::string &name) const; /* or nullptr */
    static GNode wrap(std::shared_ptr<NodeImpl> node);
    static std::shared_ptr<NodeImpl> of(const GNode &node);
};

class OperatorImpl : public NodeImpl {
  public:
    static std::shared_ptr<OperatorImpl> of(const Operator &op) { return op.impl_; }
    static Operator create(const std::string &name, const std::string &type);
};

class GraphImpl {
  public:
    std::vector<std::shared_ptr<NodeImpl>> nodes; /* that a pass sees */
    std::vector<std::shared_ptr<NodeImpl>> inputs;
    std::vector<std::pair<std::shared_ptr<NodeImpl>, size_t>> outputs;
    std::vector<GraphPtr> inner; /* of the root: all subgraphs */
    GraphImpl *root = nullptr;   /* of a subgraph */

    static std::shared_ptr<GraphImpl> of(const Graph &graph) { return graph.impl_; }
};

} // namespace ge

#endif
