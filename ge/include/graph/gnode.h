/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of GE's ge::GNode that the graph pass needs, for machines without a CANN toolkit.
 */
#ifndef ASCGRAD_GRAPH_GNODE_H
#define ASCGRAD_GRAPH_GNODE_H

#include "graph/graph.h"
#include "graph/tensor.h"

namespace ge {

class NodeImpl;
using GNodePtr = std::shared_ptr<GNode>;
using GraphPtr = std::shared_ptr<Graph>;

GE_CLASS GNode {
  public:
    GNode();
    graphStatus GetType(AscendString & type) const;
    graphStatus GetName(AscendString & name) const;
    std::vector<GNodePtr> GetOutControlNodes() const;
    std::vector<std::pair<GNodePtr, int32_t>> GetOutDataNodesAndPortIndexs(int32_t index) const;
    graphStatus GetInputIndexByName(const AscendString &name, int32_t &index);
    size_t GetOutputsSize() const;
    graphStatus GetOutputDesc(int32_t index, TensorDesc & desc) const;
    bool HasAttr(const AscendString &name);
    graphStatus GetAttr(const AscendString &name, int64_t &value) const;
    graphStatus GetAttr(const AscendString &name, bool &value) const;
    graphStatus GetAttr(const AscendString &name, AscendString &value) const;
    graphStatus GetAttr(const AscendString &name, Tensor &value) const;
    graphStatus GetAttr(const AscendString &name, std::vector<int64_t> &value) const;
    graphStatus GetAttr(const AscendString &name, std::vector<std::vector<int64_t>> &value) const;
    graphStatus GetALLSubgraphs(std::vector<GraphPtr> & graphs) const;

  private:
    friend class NodeImpl;
    std::shared_ptr<NodeImpl> impl_;
};

static_assert(sizeof(GNode) == 16, "GE's object size");

} // namespace ge

#endif
