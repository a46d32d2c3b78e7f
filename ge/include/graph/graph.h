/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of GE's ge::Graph that the parser plugins, the graph pass and the example graphs need,
 * for machines without a CANN toolkit.
 */
#ifndef ASCGRAD_GRAPH_GRAPH_H
#define ASCGRAD_GRAPH_GRAPH_H

#include <memory>
#include <utility>
#include <vector>

#include "graph/operator.h"

namespace ge {

class GNode;     /* graph/gnode.h */
class GraphImpl; /* GE's own; test doubles bring theirs */

GE_CLASS Graph {
  public:
    explicit Graph(const char *name);
    Graph &SetInputs(const std::vector<Operator> &inputs);
    Graph &SetOutputs(const std::vector<std::pair<Operator, std::vector<size_t>>> &outputs);
    std::vector<GNode> GetAllNodes() const;
    std::vector<GNode> GetDirectNode() const;
    GNode AddNodeByOp(const Operator &op);
    graphStatus RemoveNode(GNode & node);
    graphStatus AddDataEdge(GNode & from, int32_t from_port, GNode & to, int32_t to_port);
    graphStatus RemoveEdge(GNode & from, int32_t from_port, GNode & to, int32_t to_port);

  private:
    friend class GraphImpl;
    std::shared_ptr<GraphImpl> impl_;
};

static_assert(sizeof(Graph) == 16, "GE's object size");

} // namespace ge

#endif
