/* SPDX-License-Identifier: Apache-2.0
 *
 * A stand-in for GE's session, as far as the example graphs use it: RunGraph runs every node on the
 * checked twin of libascgrad. Tests only.
 */
#ifndef STANDIN_GE_API_H
#define STANDIN_GE_API_H

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/tensor.h"

namespace ge {

using Status = uint32_t;
constexpr Status SUCCESS = 0;
constexpr Status FAILED = 0xFFFFFFFF;

Status GEInitialize(const std::map<AscendString, AscendString> &options);
Status GEFinalize();
AscendString GEGetErrorMsgV2();

class Session {
  public:
    explicit Session(const std::map<AscendString, AscendString> &options);
    ~Session();
    Status AddGraph(uint32_t id, const Graph &graph);
    Status RunGraph(uint32_t id, const std::vector<Tensor> &inputs, std::vector<Tensor> &outputs);

  private:
    std::map<uint32_t, Graph> graphs_;
    uint32_t cores_;
    /* The last run of a graph, and how often it was the same: see RunGraph. */
    struct {
        uint32_t id, times;
        std::string inputs;
        std::vector<Tensor> outputs;
    } last_ = {};
};

} // namespace ge

/* What the tests ask: is GE down and every session gone? */
bool standin_is_clean();

#endif
