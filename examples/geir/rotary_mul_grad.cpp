/* SPDX-License-Identifier: Apache-2.0
 *
 * RotaryMulGrad in a graph: the backward of y = r1 * x + r2 * rotate_half(x).
 * x, dy, dx: [B, S, N, D]; r1 (cos), r2 (sin), dr1, dr2: the same rank, each leading axis 1 or as
 * x.
 */
#include "ascgrad_ops.h"
#include "graph_run.h"

int main(int argc, char **argv) {
    GraphRun run("rotary_mul_grad", argc, argv);

    ge::Operator x = run.input("x", {{2, 1, 1, 4}, counting(8)});
    ge::Operator r1 = run.input("r1", {{1, 1, 1, 4}, {1, 2, 3, 4}});
    ge::Operator r2 = run.input("r2", {{1, 1, 1, 4}, {5, 6, 7, 8}});
    ge::Operator dy = run.input("dy", {{2, 1, 1, 4}, {1, -2, 3, 1, 2, 1, -1, 3}});
    auto grad = ge::op::RotaryMulGrad("rotary_mul_grad")
                    .set_input_x(x)
                    .set_input_r1(r1)
                    .set_input_r2(r2)
                    .set_input_dy(dy)
                    .set_attr_need_backward(true);

    /* dx[0] = r1[0] dy[0] + r2[2] dy[2] = 1 + 21; dr1 and dr2 are sums over the batch */
    run.expect(grad, 0, "dx", {{2, 1, 1, 4}, {22, 4, 4, 16, -5, 26, -13, 6}});
    run.expect(grad, 1, "dr1", {{1, 1, 1, 4}, {11, 2, 2, 28}});
    run.expect(grad, 2, "dr2", {{1, 1, 1, 4}, {-17, 0, -2, 20}});
    return run.finish();
}
