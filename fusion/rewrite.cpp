/* SPDX-License-Identifier: Apache-2.0
 *
 * One match becomes one node. The new node is made and fed first; then the readers of the old
 * results are moved to it, one edge after the other, so that the graph computes the same at every
 * step; what nobody reads is removed last. Whatever GE refuses or throws on the way, the graph is
 * then as it was.
 */
#include <string>

#include "adapter.h"
#include "graph/operator_factory.h"
#include "types.h"

namespace fusion {
namespace {

/* One output of a node, with its descriptor. */
struct Source {
    ge::GNode node;
    int32_t port = 0;
    ge::TensorDesc desc;
    std::vector<int64_t> dims;
};

class Rewriter {
  public:
    Rewriter(ge::Graph &graph, View &view, std::string name)
        : graph_(graph), view_(view), name_(std::move(name)) {}

    bool source(int32_t tensor, Source &result) {
        const fusion_tensor &t = view_.graph->tensor[tensor];
        result.node = view_.nodes[t.node];
        result.port = t.port;
        result.dims.assign(t.dim, t.dim + t.rank);
        return result.node.GetOutputDesc(t.port, result.desc) == ge::GRAPH_SUCCESS;
    }

    /* A node of a type that GE knows, with one output. The descriptors are set here: at this stage
     * nothing is inferred for a pass. */
    bool add(const char *type, const char *suffix, const Source &x, const char *parameter,
             const std::vector<int64_t> &values, const std::vector<int64_t> &dims, Source &result) {
        Source constant;
        if (!add_constant(suffix, values, constant)) return false;
        ge::Operator op = ge::OperatorFactory::CreateOperator(fresh(suffix).c_str(), type);
        result.desc = shaped(x.desc, dims);
        result.dims = dims;
        result.port = 0;
        return op.UpdateInputDesc("x", x.desc) == ge::GRAPH_SUCCESS &&
               op.UpdateInputDesc(parameter, constant.desc) == ge::GRAPH_SUCCESS &&
               op.UpdateOutputDesc("y", result.desc) == ge::GRAPH_SUCCESS &&
               insert(op, result.node) && connect(x, result.node, "x") &&
               connect(constant, result.node, parameter);
    }

    /* The table in the shape that the operator wants: as many axes as dy, and as many lanes. */
    bool table(const fusion_table &table, const fusion_tensor &dy, const char *name,
               Source &result) {
        if (!source(table.tensor, result)) return false;
        std::vector<int64_t> dims(dy.rank - result.dims.size(), 1);
        dims.insert(dims.end(), result.dims.begin(), result.dims.end());
        std::string suffix = std::string("_") + name;
        std::vector<int64_t> twice(dims.size(), 1);
        if (table.how == FUSION_PAIRS) {
            dims.push_back(1);
            twice.push_back(1);
        }
        if (dims != result.dims && !reshape(result, dims, suffix + "_in")) return false;
        if (table.how == FUSION_WHOLE) return true;
        twice.back() = 2;
        dims.back() *= 2;
        Source whole;
        if (!add("Tile", (suffix + "_twice").c_str(), result, "multiples", twice, dims, whole))
            return false;
        result = whole;
        if (table.how == FUSION_HALVES) return true;
        dims.pop_back();
        dims.back() *= 2;
        return reshape(result, dims, suffix + "_out");
    }

    bool reshape(Source &x, const std::vector<int64_t> &dims, const std::string &suffix) {
        Source result;
        if (!add("Reshape", suffix.c_str(), x, "shape", dims, dims, result)) return false;
        x = result;
        return true;
    }

    bool insert(const ge::Operator &op, ge::GNode &node) {
        ge::AscendString name;
        node = graph_.AddNodeByOp(op);
        if (node.GetName(name) != ge::GRAPH_SUCCESS) return false;
        added_.push_back(node);
        return true;
    }

    bool connect(const Source &from, ge::GNode &to, const char *input) {
        int32_t index = -1;
        ge::GNode node = from.node;
        return to.GetInputIndexByName(input, index) == ge::GRAPH_SUCCESS && index >= 0 &&
               graph_.AddDataEdge(node, from.port, to, index) == ge::GRAPH_SUCCESS;
    }

    /* Every reader of the tensor reads `to` instead. */
    bool move_readers(int32_t tensor, Source &to) {
        const fusion_tensor &t = view_.graph->tensor[tensor];
        ge::GNode old = view_.nodes[t.node];
        for (auto &reader : old.GetOutDataNodesAndPortIndexs(t.port)) {
            if (!reader.first) return false;
            moved_.push_back({old, t.port, to.node, to.port, *reader.first, reader.second});
            if (graph_.RemoveEdge(old, t.port, *reader.first, reader.second) != ge::GRAPH_SUCCESS ||
                graph_.AddDataEdge(to.node, to.port, *reader.first, reader.second) !=
                    ge::GRAPH_SUCCESS)
                return false;
        }
        return true;
    }

    /* Gives the readers back and takes away what was added. */
    void undo() noexcept {
        for (auto edge = moved_.rbegin(); edge != moved_.rend(); ++edge)
            quietly([&] {
                if (reads(edge->to, edge->to_port, *edge))
                    (void)graph_.RemoveEdge(edge->to, edge->to_port, edge->reader,
                                            edge->reader_port);
                if (!reads(edge->from, edge->from_port, *edge))
                    (void)graph_.AddDataEdge(edge->from, edge->from_port, edge->reader,
                                             edge->reader_port);
            });
        for (auto node = added_.rbegin(); node != added_.rend(); ++node)
            quietly([&] { (void)graph_.RemoveNode(*node); });
    }

    static ge::TensorDesc shaped(ge::TensorDesc desc, const std::vector<int64_t> &dims) {
        desc.SetShape(ge::Shape(dims));
        desc.SetOriginShape(ge::Shape(dims));
        return desc;
    }

    std::string fresh(const std::string &suffix) const { return name_ + "_ascgrad" + suffix; }

  private:
    bool add_constant(const char *suffix, const std::vector<int64_t> &values, Source &result) {
        std::string name = fresh(suffix) + "_value";
        result.desc = ge::TensorDesc(ge::Shape({static_cast<int64_t>(values.size())}),
                                     ge::FORMAT_ND, ge::DT_INT64);
        result.desc = shaped(result.desc, {static_cast<int64_t>(values.size())});
        ge::Tensor tensor(result.desc, reinterpret_cast<const uint8_t *>(values.data()),
                          values.size() * sizeof(int64_t));
        ge::Operator op = ge::OperatorFactory::CreateOperator(name.c_str(), "Const");
        op.SetAttr("value", tensor);
        return op.UpdateOutputDesc("y", result.desc) == ge::GRAPH_SUCCESS &&
               insert(op, result.node);
    }

    struct Edge { /* of a reader: whom it read, and whom it reads now */
        ge::GNode from;
        int32_t from_port;
        ge::GNode to;
        int32_t to_port;
        ge::GNode reader;
        int32_t reader_port;
    };

    template <typename Work> static void quietly(Work work) noexcept {
        try {
            work();
        } catch (...) {
        }
    }

    /* Does the reader of an edge read this result, there? */
    static bool reads(const ge::GNode &source, int32_t port, const Edge &edge) {
        for (auto &reader : source.GetOutDataNodesAndPortIndexs(port)) {
            ge::AscendString a, b;
            if (reader.first && reader.second == edge.reader_port &&
                reader.first->GetName(a) == ge::GRAPH_SUCCESS &&
                edge.reader.GetName(b) == ge::GRAPH_SUCCESS &&
                std::string(a.GetString()) == b.GetString())
                return true;
        }
        return false;
    }

    ge::Graph &graph_;
    View &view_;
    std::string name_;
    std::vector<ge::GNode> added_;
    std::vector<Edge> moved_;
};

/* The node itself: descriptors by name, then the edges. */
bool add_operator(Rewriter &rewriter, const fusion_match &match, const fusion_tensor &dy_shape,
                  Source &result) {
    Source dx, dy, cos, sin, x;
    bool sums = match.x != FUSION_ABSENT;
    if (!rewriter.source(match.dx, dx) || !rewriter.source(match.dy, dy) ||
        !rewriter.table(match.cos, dy_shape, "cos", cos) ||
        !rewriter.table(match.sin, dy_shape, "sin", sin) || (sums && !rewriter.source(match.x, x)))
        return false;
    ge::Operator op = ge::OperatorFactory::CreateOperator(rewriter.fresh("").c_str(),
                                                          "RotaryPositionEmbeddingGrad");
    op.SetAttr("mode", static_cast<int64_t>(match.mode));
    bool described = op.UpdateInputDesc("dy", dy.desc) == ge::GRAPH_SUCCESS &&
                     op.UpdateInputDesc("cos", cos.desc) == ge::GRAPH_SUCCESS &&
                     op.UpdateInputDesc("sin", sin.desc) == ge::GRAPH_SUCCESS &&
                     op.UpdateOutputDesc("dx", dx.desc) == ge::GRAPH_SUCCESS &&
                     op.UpdateOutputDesc("dcos", cos.desc) == ge::GRAPH_SUCCESS &&
                     op.UpdateOutputDesc("dsin", sin.desc) == ge::GRAPH_SUCCESS &&
                     (!sums || op.UpdateInputDesc("x", x.desc) == ge::GRAPH_SUCCESS);
    result.desc = cos.desc;
    result.dims = cos.dims;
    return described && rewriter.insert(op, result.node) &&
           rewriter.connect(dy, result.node, "dy") && rewriter.connect(cos, result.node, "cos") &&
           rewriter.connect(sin, result.node, "sin") &&
           (!sums || rewriter.connect(x, result.node, "x"));
}

} // namespace

namespace {

bool replace(Rewriter &rewriter, const View &view, const fusion_match &match) {
    const fusion_tensor *tensor = view.graph->tensor;
    /* Output 0 is dx; 1 and 2 may have to lose the axes that the sums lost. */
    Source results[3];
    const int32_t replaced[] = {match.dx, match.dcos, match.dsin};
    bool good = add_operator(rewriter, match, tensor[match.dy], results[0]);
    for (int32_t i = 1; good && i < 3; i++) {
        if (replaced[i] == FUSION_ABSENT) continue;
        const fusion_tensor &old = tensor[replaced[i]];
        std::vector<int64_t> dims(old.dim, old.dim + old.rank);
        results[i] = results[0];
        results[i].port = i;
        if (dims != results[i].dims)
            good = rewriter.reshape(results[i], dims, i == 1 ? "_dcos" : "_dsin");
    }
    for (int32_t i = 0; good && i < 3; i++)
        good = replaced[i] == FUSION_ABSENT || rewriter.move_readers(replaced[i], results[i]);
    return good;
}

} // namespace

bool rewrite(ge::Graph &graph, View &view, const fusion_match &match) {
    const fusion_tensor &dx = view.graph->tensor[match.dx];
    Rewriter rewriter(graph, view, view.graph->node[dx.node].name);
    bool good = false;
    try {
        good = replace(rewriter, view, match);
    } catch (...) {
    }
    if (!good) rewriter.undo();
    return good;
}

void remove_dead(ge::Graph &graph, View &view, const fusion_match &match) {
    std::vector<int32_t> queue;
    for (int32_t tensor : {match.dx, match.dcos, match.dsin})
        if (tensor != FUSION_ABSENT) queue.push_back(view.graph->tensor[tensor].node);
    while (!queue.empty()) {
        int32_t n = queue.back();
        queue.pop_back();
        fusion_node &node = view.graph->node[n];
        std::string type = node.type;
        /* Only what the matcher understands has no effects; outputs is 0 once a node is removed. */
        if ((!node.known && type != "Const" && type != "Constant") || node.control ||
            node.outputs == 0)
            continue;
        bool read = false;
        for (int32_t port = 0; port < node.outputs; port++)
            read |= !view.nodes[n].GetOutDataNodesAndPortIndexs(port).empty();
        if (read || graph.RemoveNode(view.nodes[n]) != ge::GRAPH_SUCCESS) continue;
        node.outputs = 0;
        for (int32_t i = 0; i < node.inputs; i++)
            if (node.input[i] != FUSION_ABSENT)
                queue.push_back(view.graph->tensor[node.input[i]].node);
    }
}

} // namespace fusion
