/* SPDX-License-Identifier: Apache-2.0
 *
 * RotaryPositionEmbeddingGrad in a graph, interleaved rotation (mode 1).
 * dy, x, dx: [B, S, N, D]; cos, sin, dcos, dsin: the same rank, each leading axis 1 or as dy. x is
 * optional: without it leave set_input_x out, and dcos and dsin are zeros.
 */
#include "ascgrad_ops.h"
#include "graph_run.h"

int main(int argc, char **argv) {
    GraphRun run("rotary_position_embedding_grad", argc, argv);

    ge::Operator dy = run.input("dy", {{2, 1, 1, 4}, {1, -2, 3, 1, 2, 1, -1, 3}});
    ge::Operator cos = run.input("cos", {{1, 1, 1, 4}, {1, 2, 3, 4}});
    ge::Operator sin = run.input("sin", {{1, 1, 1, 4}, {5, 6, 7, 8}});
    ge::Operator x = run.input("x", {{2, 1, 1, 4}, counting(8)});
    auto grad = ge::op::RotaryPositionEmbeddingGrad("rotary_position_embedding_grad")
                    .set_input_dy(dy)
                    .set_input_cos(cos)
                    .set_input_sin(sin)
                    .set_input_x(x)
                    .set_attr_mode(1);

    /* dx[0] = cos[0] dy[0] + sin[1] dy[1] = 1 - 12 */
    run.expect(grad, 0, "dx", {{2, 1, 1, 4}, {-11, -9, 17, -17, 8, -8, 21, 19}});
    run.expect(grad, 1, "dcos", {{1, 1, 1, 4}, {11, 2, 2, 28}});
    run.expect(grad, 2, "dsin", {{1, 1, 1, 4}, {-14, 3, -4, 24}});
    return run.finish();
}
