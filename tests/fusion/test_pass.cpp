/* SPDX-License-Identifier: Apache-2.0
 *
 * The library itself, opened as GE opens it, on a stand-in of GE: every recorded graph becomes a
 * GE graph, is rewritten, and must compute what it did before, with the operator in it exactly
 * where it is expected, nothing dead left and no question that GE would have called an error. Then
 * what can go wrong around it: switches, chips, edges that GE will not make, subgraphs, unloading.
 *
 * usage: test_pass LIBRARY GRAPH...      LIBRARY is in a package whose ops-info has ascend910b
 */
#include <dlfcn.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <set>

#include "../../fusion/types.h"
#include "evaluate.h"
#include "../cann/registry/passes.h"
#include "text.h"

namespace {

using ge::GraphImpl;
using ge::NodeImpl;

int failed;

template <typename... Rest> void fail(const char *format, Rest... rest) {
    std::fprintf(stderr, format, rest...);
    std::fputc('\n', stderr);
    failed++;
}

ge::TensorDesc describe(const fusion_tensor &t) {
    std::vector<int64_t> dims(t.dim, t.dim + (t.rank < 0 ? 0 : t.rank));
    if (t.rank < 0) dims.assign(1, -2);
    return ge::TensorDesc(ge::Shape(dims), ge::FORMAT_ND, static_cast<ge::DataType>(t.dtype));
}

/* Names of a node's inputs. Those of a dynamic one come last, wherever the IR has them. */
std::vector<std::pair<std::string, int32_t>> inputs_of(const fusion_node &node) {
    std::vector<std::pair<std::string, int32_t>> fixed, dynamic;
    int32_t place = 0;
    for (int32_t i = 0; node.known && i < FUSION_TYPE_INPUTS && node.known->input[i]; i++) {
        const char *name = node.known->input[i];
        bool many = *name == '*';
        if (many || *name == '?') name++;
        int32_t first, count = many ? fusion_inputs(&node, name, &first) : 1;
        for (int32_t k = 0; k < count; k++, place++) {
            if (many)
                dynamic.emplace_back(name + std::to_string(k), node.input[place]);
            else if (place < node.inputs)
                fixed.emplace_back(name, node.input[place]);
        }
    }
    for (; place < node.inputs; place++)
        fixed.emplace_back("in" + std::to_string(place), node.input[place]);
    fixed.insert(fixed.end(), dynamic.begin(), dynamic.end());
    return fixed;
}

void set_constant(const fusion_tensor &t, NodeImpl &node) {
    std::vector<uint8_t> bytes;
    for (int64_t i = 0; i < t.count; i++) {
        int32_t narrow = static_cast<int32_t>(t.ints[i]);
        const void *from = t.dtype == 3 ? static_cast<void *>(&narrow) : &t.ints[i];
        size_t size = t.dtype == 3 ? 4 : 8, end = bytes.size();
        bytes.resize(end + size);
        std::memcpy(&bytes[end], from, size);
    }
    if (t.count == 0 && t.zeros) bytes.assign(static_cast<size_t>(elements_of(&t)) * 2, 0);
    ge::Tensor tensor(describe(t), bytes.data(), bytes.size());
    node.attributes["value"].tensor = std::make_shared<ge::Tensor>(tensor);
}

void fill_graph(const fusion_graph *view, const ge::GraphPtr &graph) {
    auto impl = GraphImpl::of(*graph);
    for (int32_t n = 0; n < view->nodes; n++) {
        const fusion_node &from = view->node[n];
        auto node = std::make_shared<NodeImpl>();
        node->type = from.type;
        node->name = from.name;
        node->owner = impl.get();
        for (int32_t i = 0; i < from.outputs; i++)
            node->outputs.push_back({"", describe(view->tensor[from.first + i])});
        for (int32_t i = 0; i < from.attrs; i++)
            node->attributes[from.attr[i].name].ints.assign(from.attr[i].ints,
                                                            from.attr[i].ints + from.attr[i].count);
        if (node->type == "Const") set_constant(view->tensor[from.first], *node);
        for (const auto &input : inputs_of(from)) {
            NodeImpl::Input added;
            added.name = input.first;
            if (input.second != FUSION_ABSENT) {
                added.from = impl->nodes[view->tensor[input.second].node];
                added.port = view->tensor[input.second].port;
            }
            node->inputs.push_back(added);
        }
        for (int32_t i = 0; i < from.afters; i++)
            node->after.push_back(impl->nodes[from.after[i]]);
        impl->nodes.push_back(node);
    }
}

/* The rewritten graph as a view again, to be run. The pass's own reader is not used. */
fusion_graph *view_of(const GraphImpl &graph) {
    fusion_graph *view = fusion_graph_new();
    std::map<NodeImpl *, int32_t> number;
    std::function<int32_t(const std::shared_ptr<NodeImpl> &)> add =
        [&](const std::shared_ptr<NodeImpl> &node) {
            auto found = number.find(node.get());
            if (found != number.end()) return found->second;
            for (const auto &input : node->inputs)
                if (input.port >= 0) add(input.from);
            int32_t n = fusion_add_node(view, node->type.c_str(), node->name.c_str(),
                                        static_cast<int32_t>(node->outputs.size()));
            number[node.get()] = n;
            for (size_t i = 0; i < node->outputs.size(); i++) {
                fusion_tensor &t = view->tensor[view->node[n].first + i];
                std::vector<int64_t> dims = node->outputs[i].desc.GetShape().GetDims();
                t.dtype = node->outputs[i].desc.GetDataType();
                t.rank = dims.size() == 1 && dims[0] == -2 ? -1 : static_cast<int32_t>(dims.size());
                for (size_t k = 0; t.rank >= 0 && k < dims.size(); k++)
                    t.dim[k] = dims[k];
            }
            /* Back into the order of the IR. */
            const fusion_type *type = view->node[n].known;
            std::vector<const NodeImpl::Input *> ordered;
            for (int32_t i = 0; type && i < FUSION_TYPE_INPUTS && type->input[i]; i++) {
                std::string name = type->input[i];
                bool many = name[0] == '*';
                if (many || name[0] == '?') name.erase(0, 1);
                for (const auto &input : node->inputs)
                    if (input.name == name ||
                        (many && input.name.compare(0, name.size(), name) == 0 &&
                         std::isdigit(input.name[name.size()])))
                        ordered.push_back(&input);
            }
            for (const auto &input : node->inputs)
                if (!type) ordered.push_back(&input);
            for (const NodeImpl::Input *input : ordered) {
                int32_t from = input->port < 0 ? -1 : number[input->from.get()];
                fusion_add_input(view, n,
                                 from < 0 ? FUSION_ABSENT : view->node[from].first + input->port);
            }
            for (const auto &attr : node->attributes)
                if (!attr.second.tensor)
                    fusion_add_attr(view, n, strdup(attr.first.c_str()), attr.second.ints.data(),
                                    static_cast<int64_t>(attr.second.ints.size()));
            return n;
        };
    for (const auto &node : graph.nodes)
        add(node);
    return view;
}

/* Constants and inputs of one graph into the same places of another, by name. */
void share_inputs(numbers &from, numbers &to) {
    for (int32_t t = 0; t < to.graph->tensors; t++) {
        const char *name = to.graph->node[to.graph->tensor[t].node].name;
        int32_t same = find_tensor(from.graph, name);
        const fusion_tensor &tensor = to.graph->tensor[t];
        if (same == FUSION_ABSENT || !from.of[same] || !fusion_static(&tensor)) continue;
        const char *type = to.graph->node[tensor.node].type;
        if (std::strcmp(type, "Data") != 0 && std::strcmp(type, "Const") != 0) continue;
        size_t bytes = static_cast<size_t>(elements_of(&tensor)) * sizeof(double);
        to.of[t] = static_cast<double *>(std::malloc(bytes + 8));
        std::memcpy(to.of[t], from.of[same], bytes);
    }
}

/* Parameters of the original constants; those that the pass added are only shapes. */
void share_ints(const fusion_graph *from, fusion_graph *to) {
    for (int32_t t = 0; t < to->tensors; t++) {
        int32_t same = find_tensor(from, to->node[to->tensor[t].node].name);
        if (same == FUSION_ABSENT || to->tensor[t].port > 0) continue;
        if (from->tensor[same].ints)
            fusion_set_ints(to, t, from->tensor[same].ints, from->tensor[same].count);
        to->tensor[t].zeros = from->tensor[same].zeros;
    }
}

/* Everything that the outputs read, in both graphs, in double. Returns how much was compared. */
int64_t compare(const char *path, const fusion_graph *before, const GraphImpl &rewritten) {
    fusion_graph *after = view_of(rewritten);
    numbers old_numbers, new_numbers;
    int64_t compared = 0;
    share_ints(before, after);
    start_numbers(&old_numbers, before, false);
    start_numbers(&new_numbers, after, false);
    draw_inputs(&old_numbers, 7);
    share_inputs(old_numbers, new_numbers);
    std::vector<int32_t> old_out, new_out;
    for (int32_t n = 0; n < before->nodes; n++)
        for (int32_t i = 0;
             std::strcmp(before->node[n].type, "NetOutput") == 0 && i < before->node[n].inputs; i++)
            old_out.push_back(before->node[n].input[i]);
    for (int32_t n = 0; n < after->nodes; n++)
        for (int32_t i = 0;
             std::strcmp(after->node[n].type, "NetOutput") == 0 && i < after->node[n].inputs; i++)
            new_out.push_back(after->node[n].input[i]);
    if (old_out.size() != new_out.size()) fail("%s: outputs are lost", path);
    for (size_t k = 0; k < old_out.size() && k < new_out.size(); k++) {
        const double *a = compute(&old_numbers, old_out[k]);
        const double *b = compute(&new_numbers, new_out[k]);
        if (new_out[k] == FUSION_ABSENT || !a != !b) fail("%s: output %zu cannot be run", path, k);
        for (int64_t i = 0; a && b && i < elements_of(&before->tensor[old_out[k]]); i++) {
            compared++;
            if (!(std::fabs(a[i] - b[i]) <= 1e-12 * (1 + std::fabs(a[i])))) {
                fail("%s: output %zu, element %lld: %g became %g", path, k, (long long)i, a[i],
                     b[i]);
                break;
            }
        }
    }
    free_numbers(&old_numbers);
    free_numbers(&new_numbers);
    fusion_graph_free(after);
    return compared;
}

int count_operators(const GraphImpl &graph) {
    int count = 0;
    for (const auto &node : graph.nodes)
        count += node->type == "RotaryPositionEmbeddingGrad";
    return count;
}

/* Every node is read by another, or was an end from the start. */
void check_alive(const char *path, const fusion_graph *before, const GraphImpl &graph) {
    std::set<NodeImpl *> read;
    std::set<std::string> ends;
    std::vector<bool> used(before->tensors + 1);
    for (const auto &node : graph.nodes)
        for (const auto &input : node->inputs)
            if (input.port >= 0) read.insert(input.from.get());
    for (int32_t n = 0; n < before->nodes; n++)
        for (int32_t i = 0; i < before->node[n].inputs; i++)
            used[before->node[n].input[i] + 1] = true;
    for (int32_t n = 0; n < before->nodes; n++) {
        bool any = false;
        for (int32_t i = 0; i < before->node[n].outputs; i++)
            any = any || used[before->node[n].first + i + 1];
        if (!any || std::strcmp(before->node[n].type, "Data") == 0)
            ends.insert(before->node[n].name);
    }
    for (const auto &node : graph.nodes)
        if (!read.count(node.get()) && !ends.count(node->name))
            fail("%s: '%s' is left and read by nobody", path, node->name.c_str());
}

ge::Status run_pass(const ge::GraphPtr &graph) {
    ge::CustomPassContext context;
    ge::GraphPtr handed = graph;
    if (ge::standin_passes().size() != 1) {
        fail("%zu passes are registered", ge::standin_passes().size());
        return 0xFFFFFFFF;
    }
    return ge::standin_passes()[0]->run(handed, context);
}

/* What a graph is: every node with whom it reads. */
std::multiset<std::string> picture(const GraphImpl &graph) {
    std::multiset<std::string> lines;
    for (const auto &node : graph.nodes) {
        std::string line = node->type + " " + node->name;
        for (const auto &input : node->inputs) {
            const auto &from = input.from;
            line += " " + input.name + "=" +
                    (input.port < 0 || !from ? "-" : from->name + std::to_string(input.port));
        }
        lines.insert(line);
    }
    return lines;
}

void check_file(const char *path) {
    recorded r;
    if (!read_recorded(path, &r)) return fail("%s: cannot be read", path);
    auto graph = std::make_shared<ge::Graph>("test");
    fill_graph(r.graph, graph);
    ge::standin_errors() = 0;
    if (run_pass(graph) != 0) fail("%s: the pass returned an error", path);
    auto impl = GraphImpl::of(*graph);
    if (count_operators(*impl) != r.expected)
        fail("%s: %d operators, expected %d", path, count_operators(*impl), r.expected);
    if (compare(path, r.graph, *impl) == 0 && r.expected > 0) fail("%s: nothing was run", path);
    check_alive(path, r.graph, *impl);
    const auto after = picture(*impl);
    if (run_pass(graph) != 0 || picture(*impl) != after) fail("%s: run again, it changes", path);
    if (ge::standin_errors() != 0)
        fail("%s: GE would have written %d errors", path, ge::standin_errors());
    free_recorded(&r);
}

/* Each edge in turn cannot be made, or each change in turn throws: what was begun is undone, so
 * that the graph is as it was, and the next run does it. With several matches the others are made.
 */
void check_trouble(const char *path, int &after) {
    for (int k = 0;; k++) {
        recorded r;
        if (!read_recorded(path, &r)) return fail("%s: cannot be read", path);
        auto graph = std::make_shared<ge::Graph>("test");
        fill_graph(r.graph, graph);
        auto impl = GraphImpl::of(*graph);
        const auto before = picture(*impl);
        after = k;
        if (run_pass(graph) != 0) fail("%s: the pass returned an error at change %d", path, k);
        bool all = after >= 0;
        after = -1;
        if (!all && r.expected == 1 && picture(*impl) != before)
            fail("%s: trouble at change %d leaves another graph (%zu nodes, %zu before)", path, k,
                 impl->nodes.size(), before.size());
        if (compare(path, r.graph, *impl) == 0) fail("%s: nothing was run", path);
        check_alive(path, r.graph, *impl);
        if (run_pass(graph) != 0 || count_operators(*impl) != r.expected)
            fail("%s: after trouble at change %d the next run makes %d operators", path, k,
                 count_operators(*impl));
        free_recorded(&r);
        if (all) break;
    }
}

/* How many operators a graph gets under the present circumstances. */
int operators_in(const char *path) {
    recorded r;
    if (!read_recorded(path, &r)) return -1;
    auto graph = std::make_shared<ge::Graph>("test");
    fill_graph(r.graph, graph);
    ge::Status status = run_pass(graph);
    int count = count_operators(*GraphImpl::of(*graph));
    free_recorded(&r);
    return status == 0 ? count : -1;
}

void check_subgraph(const char *path) {
    recorded r;
    if (!read_recorded(path, &r)) return fail("%s: cannot be read", path);
    auto root = std::make_shared<ge::Graph>("root"), inner = std::make_shared<ge::Graph>("inner");
    fill_graph(r.graph, inner);
    auto node = std::make_shared<NodeImpl>();
    node->type = node->name = "PartitionedCall";
    node->owner = GraphImpl::of(*root).get();
    GraphImpl::of(*root)->nodes.push_back(node);
    GraphImpl::of(*root)->inner.push_back(inner);
    GraphImpl::of(*inner)->root = GraphImpl::of(*root).get();
    ge::standin_errors() = 0;
    if (run_pass(root) != 0 || count_operators(*GraphImpl::of(*inner)) != r.expected ||
        ge::standin_errors() != 0)
        fail("%s: a subgraph was not rewritten", path);
    free_recorded(&r);
}

void check_switches(const char *path) {
    if (operators_in(path) != 1) fail("%s: no operator", path);
    setenv("ASCGRAD_FUSION", "0", 1);
    if (operators_in(path) != 0) fail("ASCGRAD_FUSION=0 does not switch the pass off");
    unsetenv("ASCGRAD_FUSION");
    for (const char *soc : {"", "Ascend910A", "Ascend310P3", "Ascend910_9391", "Ascend"}) {
        ge::standin_soc() = soc;
        if (operators_in(path) != 0) fail("chip '%s' has no kernel, but is not left alone", soc);
    }
    ge::standin_soc() = "Ascend910B2C";
    if (operators_in(path) != 1) fail("chip Ascend910B2C is left alone");
    ge::standin_has_operator() = false;
    if (operators_in(path) != 0) fail("a type that GE does not know was written");
    ge::standin_has_operator() = true;
    ge::GraphPtr none;
    if (run_pass(none) != 0) fail("no graph is an error");
}

void *open_library(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fail("%s", dlerror());
    return library;
}

} // namespace

int main(int argc, char **argv) {
    if (argc < 3) return 1;
    void *library = open_library(argv[1]), *again = open_library(argv[1]);
    if (!library || library != again || ge::standin_passes().size() != 1) return 1;
    if (ge::standin_passes()[0]->stage != ge::CustomPassStage::kAfterInferShape)
        fail("the pass is not registered behind shape inference");
    ge::standin_soc() = "Ascend910B1";
    for (int i = 2; i < argc; i++)
        check_file(argv[i]);
    /* The rest on two graphs: the simplest, and the one that needs most new nodes. */
    for (int i = 2; i < argc; i++) {
        if (std::strstr(argv[i], "torch_half.txt")) {
            check_switches(argv[i]);
            check_subgraph(argv[i]);
        }
        if (std::strstr(argv[i], "torch_half.txt") || std::strstr(argv[i], "torch_real_imag.txt") ||
            std::strstr(argv[i], "found_twice.txt") ||
            std::strstr(argv[i], "tensorflow_half_low_rank_tables.txt")) {
            check_trouble(argv[i], ge::standin_refuse_after());
            check_trouble(argv[i], ge::standin_throw_after());
        }
    }
    /* As GE ends: what is registered goes first, then the library; and it can come back. */
    for (int turn = 0; turn < 3; turn++) {
        ge::standin_passes().clear();
        if (dlclose(library) != 0) fail("%s", dlerror());
        if (turn == 0 && dlclose(again) != 0) fail("%s", dlerror());
        if (dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD)) fail("the library cannot be unloaded");
        library = open_library(argv[1]);
        if (!library || ge::standin_passes().size() != 1) fail("not registered again");
    }
    std::printf("%d graphs through the library, %d complaints\n", argc - 2, failed);
    return failed ? 1 : 0;
}
