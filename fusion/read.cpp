/* SPDX-License-Identifier: Apache-2.0
 *
 * A GE graph into the matcher's view. Inputs are found by their IR names: their order in a node is
 * that of their creation. GE writes an error for questions about what is not there, so that nothing
 * is asked for before it is known to exist.
 */
#include <cstring>
#include <string>
#include <unordered_map>
#include <utility>

#include "adapter.h"
#include "types.h"

namespace fusion {
namespace {

/* Larger constants are of no interest as parameters, and not searched for something that is not
 * zero. */
constexpr int64_t kMostInts = 1 << 16, kMostZeros = 1 << 24;

std::string name_of(const ge::GNode &node) {
    ge::AscendString name;
    return node.GetName(name) == ge::GRAPH_SUCCESS && name.GetString() ? name.GetString() : "";
}

std::string type_of(const ge::GNode &node) {
    ge::AscendString type;
    return node.GetType(type) == ge::GRAPH_SUCCESS && type.GetString() ? type.GetString() : "";
}

void read_shape(const ge::TensorDesc &desc, fusion_tensor &tensor) {
    std::vector<int64_t> dims = desc.GetShape().GetDims();
    tensor.dtype = desc.GetDataType();
    tensor.rank = FUSION_UNKNOWN_RANK;
    if (dims.size() > FUSION_MAX_RANK || (dims.size() == 1 && dims[0] == ASCGRAD_UNKNOWN_RANK))
        return;
    tensor.rank = static_cast<int32_t>(dims.size());
    for (size_t i = 0; i < dims.size(); i++)
        tensor.dim[i] = dims[i];
}

template <typename T> std::vector<int64_t> widen(const uint8_t *data, size_t size) {
    std::vector<int64_t> ints;
    for (size_t at = 0; at + sizeof(T) <= size; at += sizeof(T)) {
        T value;
        std::memcpy(&value, data + at, sizeof value);
        ints.push_back(value);
    }
    return ints;
}

bool read_constant(ge::GNode &node, fusion_graph *graph, int32_t t) {
    fusion_tensor &tensor = graph->tensor[t];
    if (!fusion_static(&tensor) || !node.HasAttr("value")) return true;
    bool integers = tensor.dtype == ge::DT_INT32 || tensor.dtype == ge::DT_INT64;
    int64_t elements = fusion_elements(&tensor, 0, tensor.rank);
    if (elements < 1 || elements > (integers ? kMostInts : kMostZeros)) return true;
    ge::Tensor value;
    if (node.GetAttr("value", value) != ge::GRAPH_SUCCESS) return true;
    const uint8_t *data = const_cast<const ge::Tensor &>(value).GetData();
    size_t size = value.GetSize(), at = 0;
    while (data && at < size && data[at] == 0)
        at++;
    tensor.zeros = data && size > 0 && at == size;
    if (!data || !integers) return true;
    std::vector<int64_t> ints =
        tensor.dtype == ge::DT_INT64 ? widen<int64_t>(data, size) : widen<int32_t>(data, size);
    if (static_cast<int64_t>(ints.size()) != elements) return true;
    return fusion_set_ints(graph, t, ints.data(), elements);
}

/* An attribute as integers; empty if it is not of the kind it should be. */
std::vector<int64_t> read_attr(const ge::GNode &node, const char *name, fusion_attr_kind kind) {
    std::vector<int64_t> ints;
    std::vector<std::vector<int64_t>> rows;
    int64_t number = 0;
    bool flag = false;
    ge::AscendString text;
    ge::graphStatus status = ge::GRAPH_SUCCESS;
    switch (kind) {
    case FUSION_INT:
        status = node.GetAttr(name, number);
        ints.push_back(number);
        break;
    case FUSION_BOOL:
        status = node.GetAttr(name, flag);
        ints.push_back(flag);
        break;
    case FUSION_LIST:
        status = node.GetAttr(name, ints);
        break;
    case FUSION_LIST_LIST:
        status = node.GetAttr(name, rows);
        for (const auto &row : rows)
            ints.insert(ints.end(), row.begin(), row.end());
        break;
    case FUSION_NONE:
        status = node.GetAttr(name, text);
        ints.push_back(text.GetString() && std::strcmp(text.GetString(), "none") == 0);
        break;
    }
    if (status != ge::GRAPH_SUCCESS) ints.clear();
    return ints;
}

bool read_attrs(ge::GNode &node, fusion_graph *graph, int32_t n) {
    const fusion_type *type = graph->node[n].known;
    for (int32_t i = 0; i < FUSION_TYPE_ATTRS && type->attr[i].name; i++) {
        if (!node.HasAttr(type->attr[i].name)) continue;
        std::vector<int64_t> ints = read_attr(node, type->attr[i].name, type->attr[i].kind);
        if (!fusion_add_attr(graph, n, type->attr[i].name, ints.data(),
                             static_cast<int64_t>(ints.size())))
            return false;
    }
    return true;
}

/* What is connected to each input of a node, by its index there. */
using Connected = std::unordered_map<int32_t, int32_t>;

/* The index of an input, negative if the node has none of that name. */
int32_t index_of(ge::GNode &node, const std::string &input) {
    int32_t index = -1;
    return node.GetInputIndexByName(input.c_str(), index) == ge::GRAPH_SUCCESS ? index : -1;
}

bool add_input(fusion_graph *graph, int32_t n, int32_t index, const Connected &connected) {
    auto found = connected.find(index);
    return fusion_add_input(graph, n, found == connected.end() ? FUSION_ABSENT : found->second);
}

/* The members of a dynamic input are called x0, x1, ... */
bool read_inputs(ge::GNode &node, fusion_graph *graph, int32_t n, const Connected &connected) {
    const fusion_type *type = graph->node[n].known;
    for (int32_t i = 0; i < FUSION_TYPE_INPUTS && type->input[i]; i++) {
        const char *name = type->input[i];
        bool dynamic = *name == '*';
        if (dynamic || *name == '?') name++;
        if (!dynamic && !add_input(graph, n, index_of(node, name), connected)) return false;
        for (int32_t k = 0, index; dynamic; k++) {
            if ((index = index_of(node, name + std::to_string(k))) < 0) break;
            if (!add_input(graph, n, index, connected)) return false;
        }
    }
    return true;
}

} // namespace

bool read_graph(const ge::Graph &from, View &view) {
    fusion_graph *graph = view.graph.get();
    if (!graph) return false;
    view.nodes = from.GetDirectNode();
    std::unordered_map<std::string, int32_t> number;
    for (size_t i = 0; i < view.nodes.size(); i++) {
        std::string name = name_of(view.nodes[i]), type = type_of(view.nodes[i]);
        int32_t outputs = static_cast<int32_t>(view.nodes[i].GetOutputsSize());
        int32_t n = fusion_add_node(graph, type.c_str(), name.c_str(), outputs);
        if (n == FUSION_ABSENT) return false;
        number[name] = n;
        for (int32_t port = 0; port < outputs; port++) {
            ge::TensorDesc desc;
            if (view.nodes[i].GetOutputDesc(port, desc) == ge::GRAPH_SUCCESS)
                read_shape(desc, graph->tensor[graph->node[n].first + port]);
        }
        if ((type == "Const" || type == "Constant") && outputs == 1 &&
            !read_constant(view.nodes[i], graph, graph->node[n].first))
            return false;
    }
    /* Edges from the side of the outputs, where their number is known. */
    std::vector<Connected> connected(view.nodes.size());
    for (int32_t n = 0; n < graph->nodes; n++) {
        for (int32_t port = 0; port < graph->node[n].outputs; port++)
            for (const auto &peer : view.nodes[n].GetOutDataNodesAndPortIndexs(port)) {
                auto found = peer.first ? number.find(name_of(*peer.first)) : number.end();
                if (found != number.end())
                    connected[found->second][peer.second] = graph->node[n].first + port;
            }
        for (const auto &peer : view.nodes[n].GetOutControlNodes()) {
            auto found = peer ? number.find(name_of(*peer)) : number.end();
            if (found == number.end())
                graph->node[n].control = true;
            else if (!fusion_add_control(graph, n, found->second))
                return false;
        }
    }
    for (int32_t n = 0; n < graph->nodes; n++) {
        if (graph->node[n].known) {
            if (!read_inputs(view.nodes[n], graph, n, connected[n]) ||
                !read_attrs(view.nodes[n], graph, n))
                return false;
            continue;
        }
        for (const auto &edge : connected[n])
            if (!fusion_add_input(graph, n, edge.second)) return false;
    }
    return true;
}

} // namespace fusion
