/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs of the stand-in as a pass sees and changes them, node by node.
 */
#include <algorithm>
#include <new>

#include "../registry/passes.h"

namespace ge {

int &standin_errors() {
    static int errors;
    return errors;
}

int &standin_throw_after() {
    static int changes = -1;
    return changes;
}

/* GE is C++: memory may be short in any of its functions. */
static void perhaps_throw() {
    if (standin_throw_after() >= 0 && standin_throw_after()-- == 0) throw std::bad_alloc();
}

int &standin_refuse_after() {
    static int edges = -1;
    return edges;
}

static graphStatus wrong() {
    standin_errors()++;
    return STANDIN_FAILED;
}

GNode NodeImpl::wrap(std::shared_ptr<NodeImpl> node) {
    GNode result;
    result.impl_ = std::move(node);
    return result;
}

std::shared_ptr<NodeImpl> NodeImpl::of(const GNode &node) {
    return node.impl_;
}

GNode::GNode() {}

graphStatus GNode::GetType(AscendString &type) const {
    if (!impl_) return wrong();
    type = AscendString(impl_->type.c_str());
    return GRAPH_SUCCESS;
}

graphStatus GNode::GetName(AscendString &name) const {
    if (!impl_) return wrong();
    name = AscendString(impl_->name.c_str());
    return GRAPH_SUCCESS;
}

std::vector<GNodePtr> GNode::GetOutControlNodes() const {
    std::vector<GNodePtr> result;
    for (const auto &node : impl_->owner->nodes)
        for (const auto &before : node->after)
            if (before.lock() == impl_)
                result.push_back(std::make_shared<GNode>(NodeImpl::wrap(node)));
    return result;
}

std::vector<std::pair<GNodePtr, int32_t>> GNode::GetOutDataNodesAndPortIndexs(int32_t port) const {
    std::vector<std::pair<GNodePtr, int32_t>> result;
    if (port < 0 || port >= static_cast<int32_t>(impl_->outputs.size())) wrong();
    for (const auto &node : impl_->owner->nodes)
        for (size_t i = 0; i < node->inputs.size(); i++)
            if (node->inputs[i].port == port && node->inputs[i].from == impl_)
                result.emplace_back(std::make_shared<GNode>(NodeImpl::wrap(node)), i);
    return result;
}

/* As in GE, a name that the node does not have is no error: the index is negative. */
graphStatus GNode::GetInputIndexByName(const AscendString &name, int32_t &index) {
    index = -1;
    for (size_t i = 0; i < impl_->inputs.size(); i++)
        if (impl_->inputs[i].name == name.GetString()) index = static_cast<int32_t>(i);
    return GRAPH_SUCCESS;
}

size_t GNode::GetOutputsSize() const {
    return impl_->outputs.size();
}

graphStatus GNode::GetOutputDesc(int32_t index, TensorDesc &desc) const {
    if (index < 0 || index >= static_cast<int32_t>(impl_->outputs.size())) return wrong();
    desc = impl_->outputs[index].desc;
    return GRAPH_SUCCESS;
}

bool GNode::HasAttr(const AscendString &name) {
    return impl_->attributes.count(name.GetString()) != 0;
}

static const Attribute *attribute(const NodeImpl &node, const AscendString &name, size_t count) {
    auto found = node.attributes.find(name.GetString());
    if (found == node.attributes.end() || found->second.ints.size() < count) return nullptr;
    return &found->second;
}

graphStatus GNode::GetAttr(const AscendString &name, int64_t &value) const {
    const Attribute *a = attribute(*impl_, name, 1);
    if (!a) return wrong();
    value = a->ints[0];
    return GRAPH_SUCCESS;
}

graphStatus GNode::GetAttr(const AscendString &name, bool &value) const {
    const Attribute *a = attribute(*impl_, name, 1);
    if (!a) return wrong();
    value = a->ints[0] != 0;
    return GRAPH_SUCCESS;
}

graphStatus GNode::GetAttr(const AscendString &name, AscendString &value) const {
    const Attribute *a = attribute(*impl_, name, 0);
    if (!a) return wrong();
    value = AscendString(a->text.c_str());
    return GRAPH_SUCCESS;
}

graphStatus GNode::GetAttr(const AscendString &name, Tensor &value) const {
    const Attribute *a = attribute(*impl_, name, 0);
    if (!a || !a->tensor) return wrong();
    value = *a->tensor;
    return GRAPH_SUCCESS;
}

graphStatus GNode::GetAttr(const AscendString &name, std::vector<int64_t> &value) const {
    const Attribute *a = attribute(*impl_, name, 0);
    if (!a) return wrong();
    value = a->ints;
    return GRAPH_SUCCESS;
}

graphStatus GNode::GetAttr(const AscendString &name,
                           std::vector<std::vector<int64_t>> &value) const {
    const Attribute *a = attribute(*impl_, name, 0);
    if (!a) return wrong();
    value.assign(1, a->ints);
    return GRAPH_SUCCESS;
}

graphStatus GNode::GetALLSubgraphs(std::vector<GraphPtr> &graphs) const {
    GraphImpl *root = impl_->owner->root ? impl_->owner->root : impl_->owner;
    if (root->inner.empty()) return wrong();
    graphs = root->inner;
    return GRAPH_SUCCESS;
}

std::vector<GNode> Graph::GetDirectNode() const {
    std::vector<GNode> result;
    for (const auto &node : impl_->nodes)
        result.push_back(NodeImpl::wrap(node));
    return result;
}

std::vector<GNode> Graph::GetAllNodes() const {
    std::vector<GNode> result = GetDirectNode();
    for (const GraphPtr &graph : impl_->inner)
        for (const GNode &node : graph->GetDirectNode())
            result.push_back(node);
    return result;
}

graphStatus Graph::RemoveNode(GNode &node) {
    auto impl = NodeImpl::of(node);
    auto found = std::find(impl_->nodes.begin(), impl_->nodes.end(), impl);
    if (!impl || found == impl_->nodes.end()) return wrong();
    impl_->nodes.erase(found);
    for (auto &other : impl_->nodes)
        for (auto &input : other->inputs)
            if (input.from == impl) input = {input.name, nullptr, -1};
    return GRAPH_SUCCESS;
}

/* The end of an edge, if both of its nodes are in this graph. */
static NodeImpl::Input *edge(const GraphImpl &graph, const GNode &from, const GNode &to,
                             int32_t index) {
    auto a = NodeImpl::of(from), b = NodeImpl::of(to);
    bool inside = std::count(graph.nodes.begin(), graph.nodes.end(), a) == 1 &&
                  std::count(graph.nodes.begin(), graph.nodes.end(), b) == 1;
    if (!inside || index < 0 || index >= static_cast<int32_t>(b->inputs.size())) return nullptr;
    return &b->inputs[index];
}

graphStatus Graph::AddDataEdge(GNode &from, int32_t port, GNode &to, int32_t index) {
    NodeImpl::Input *input = edge(*impl_, from, to, index);
    if (!input || input->port >= 0) return wrong();
    perhaps_throw();
    if (standin_refuse_after() >= 0 && standin_refuse_after()-- == 0) return STANDIN_FAILED;
    input->from = NodeImpl::of(from);
    input->port = port;
    return GRAPH_SUCCESS;
}

graphStatus Graph::RemoveEdge(GNode &from, int32_t port, GNode &to, int32_t index) {
    NodeImpl::Input *input = edge(*impl_, from, to, index);
    if (!input || input->port != port || input->from != NodeImpl::of(from)) return wrong();
    perhaps_throw();
    *input = {input->name, nullptr, -1};
    return GRAPH_SUCCESS;
}

GNode Graph::AddNodeByOp(const Operator &op) {
    perhaps_throw();
    if (!OperatorImpl::of(op)) return GNode();
    auto node = std::make_shared<NodeImpl>(*OperatorImpl::of(op));
    node->owner = impl_.get();
    impl_->nodes.push_back(node);
    return NodeImpl::wrap(node);
}

} // namespace ge
