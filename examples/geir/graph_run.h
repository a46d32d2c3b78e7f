/* SPDX-License-Identifier: Apache-2.0
 *
 * What the example programs share: start GE, feed a graph, run it, compare, and clean up on every
 * path.
 *
 *     GraphRun run("name", argc, argv);              // GE is up; argv[1] may be fp32, fp16 or bf16
 *     ge::Operator x = run.input("x", {{2, 4}, {...}});
 *     auto node = ge::op::SomeOperator("node").set_input_x(x);
 *     run.expect(node, 0, "dx", {{2, 4}, {...}});
 *     return run.finish();                           // 0 if every number is as expected
 *
 * Built against CANN 8.x as it is; with -DASCGRAD_GE_V2 for the session of CANN 9 (ge/ge_api_v2.h).
 */
#ifndef ASCGRAD_GRAPH_RUN_H
#define ASCGRAD_GRAPH_RUN_H

#include <cstdint>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/operator.h"
#include "graph/types.h"

struct Array {
    std::vector<int64_t> shape;
    std::vector<float> values;
};

/* count numbers: first, first + step, ... */
std::vector<float> counting(size_t count, float first = 1, float step = 1);

class GraphRun {
  public:
    GraphRun(const char *name, int argc, char **argv);
    ~GraphRun();
    GraphRun(const GraphRun &) = delete;
    GraphRun &operator=(const GraphRun &) = delete;

    /* A graph input of the type asked for on the command line, or always fp32 (statistics of a
     * norm). */
    ge::Operator input(const char *name, const Array &array);
    ge::Operator input_fp32(const char *name, const Array &array);

    /* Output number index of the node becomes an output of the graph and must have these numbers.
     */
    void expect(const ge::Operator &node, size_t index, const char *name, const Array &array);

    int finish();

  private:
    struct Input {
        Array array;
        ge::DataType type;
    };
    struct Output {
        const char *name;
        Array array;
    };

    ge::Operator add_input(const char *name, const Array &array, ge::DataType type);
    bool execute(std::vector<std::vector<uint8_t>> &results);
    size_t compare(const Output &wanted, const std::vector<uint8_t> &result) const;

    const char *name_;
    ge::DataType type_ = ge::DT_FLOAT;
    bool ready_ = false;
    std::vector<Input> inputs_;
    std::vector<ge::Operator> data_;
    std::vector<Output> outputs_;
    std::vector<std::pair<ge::Operator, std::vector<size_t>>> nodes_;
};

#endif
