/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of GE's ge::Graph that the parser plugins and the example graphs need, for machines
 * without a CANN toolkit.
 */
#ifndef ASCGRAD_GRAPH_GRAPH_H
#define ASCGRAD_GRAPH_GRAPH_H

#include <memory>
#include <utility>
#include <vector>

#include "graph/operator.h"

namespace ge {

class GraphImpl; /* GE's own; test doubles bring theirs */

GE_CLASS Graph {
  public:
    explicit Graph(const char *name);
    Graph &SetInputs(const std::vector<Operator> &inputs);
    Graph &SetOutputs(const std::vector<std::pair<Operator, std::vector<size_t>>> &outputs);

  private:
    friend class GraphImpl;
    std::shared_ptr<GraphImpl> impl_;
};

static_assert(sizeof(Graph) == 16, "GE's object size");

} // namespace ge

#endif
