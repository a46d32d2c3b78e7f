/* SPDX-License-Identifier: Apache-2.0
 *
 * Between GE's graphs and the matcher. Nothing here throws anything but what GE and the C++ library
 * throw; pass.cpp catches that.
 */
#ifndef ASCGRAD_FUSION_ADAPTER_H
#define ASCGRAD_FUSION_ADAPTER_H

#include <memory>
#include <vector>

#include "graph/gnode.h"
#include "graph/graph.h"
#include "match.h"

/* GE's functions are weak references in every file of the adapter: one that a GE lacks must not
 * keep this library from being opened, because GE then fails as a whole. */
#define FUSION_GE(symbol) __asm__(".weak " #symbol);
#include "symbols.inc"
#undef FUSION_GE

namespace fusion {

/* A GE graph and our view of it: node i of the one is node i of the other. */
struct View {
    std::vector<ge::GNode> nodes;
    std::unique_ptr<fusion_graph, void (*)(fusion_graph *)> graph{fusion_graph_new(),
                                                                  fusion_graph_free};
};

/* False if there is no memory for the view. */
bool read_graph(const ge::Graph &graph, View &view);

/* Puts the operator in the place of what was matched. False if GE refuses; the graph then computes
 * what it did before. */
bool rewrite(ge::Graph &graph, View &view, const fusion_match &match);

/* Removes what nobody reads any more, from the tensors of a match backwards. */
void remove_dead(ge::Graph &graph, View &view, const fusion_match &match);

} // namespace fusion

#endif
