/* SPDX-License-Identifier: Apache-2.0
 *
 * A GE small enough to look into, for the graph pass: graphs, nodes, operators, tensors, and the
 * registration of passes. It follows the real one where the pass could stumble: inputs lie in
 * another order than in the IR, removing a node does not relink anything, and asking for what is
 * not there counts as an error, as it puts one into GE's log.
 */
#ifndef ASCGRAD_TESTS_FUSION_STANDIN_H
#define ASCGRAD_TESTS_FUSION_STANDIN_H

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "register/register_custom_pass.h"

#define EXPORT __attribute__((visibility("default")))

namespace ge {

struct Attribute {
    std::vector<int64_t> ints; /* of a Tensor attribute: its bytes are in tensor */
    std::shared_ptr<Tensor> tensor;
    std::string text;
};

class NodeImpl {
  public:
    struct Input {
        std::string name;
        std::weak_ptr<NodeImpl> from;
        int32_t port = -1; /* -1: not connected */
    };
    std::string type, name;
    std::vector<Input> inputs;
    std::vector<TensorDesc> outputs;
    std::map<std::string, Attribute> attrs;
    std::vector<std::weak_ptr<NodeImpl>> after; /* control edges into this node */
    GraphImpl *owner = nullptr;

    static GNode wrap(std::shared_ptr<NodeImpl> node);
    static std::shared_ptr<NodeImpl> of(const GNode &node);
};

class GraphImpl {
  public:
    std::vector<std::shared_ptr<NodeImpl>> nodes;
    std::vector<GraphPtr> inner; /* of the root: all subgraphs */
    GraphImpl *root = nullptr;   /* of a subgraph */

    static std::shared_ptr<GraphImpl> of(const Graph &graph);
    static void make(Graph &graph);
};

class PassRegistrationDataImpl {
  public:
    std::string name;
    CustomPassFunc run;
    CustomPassStage stage = CustomPassStage::kBeforeInferShape;

    static std::shared_ptr<PassRegistrationDataImpl> of(const PassRegistrationData &data) {
        return data.impl_;
    }
};

class CustomPassContext {
  public:
    virtual ~CustomPassContext() = default;
    graphStatus GetOptionValue(const AscendString &key, AscendString &value) const;
};

/* What the test sees of the stand-in. */
EXPORT std::vector<std::shared_ptr<PassRegistrationDataImpl>> &standin_passes();
EXPORT std::string &standin_soc();
EXPORT bool &standin_has_operator(); /* whether GE knows the type that the pass writes */
EXPORT int &standin_errors();        /* questions that GE would have written an error for */
EXPORT int &standin_refuse_after();  /* edges until AddDataEdge fails; negative: never */
EXPORT int &standin_throw_after();   /* changes of the graph until one throws; negative: never */
void standin_perhaps_throw();

} // namespace ge

#endif
