/* SPDX-License-Identifier: Apache-2.0
 *
 * RopeGrad in a graph: two sequences of 2 and 1 tokens, packed; twice, for its two formulas
 * (docs/rope_grad.md). q, q_grad: [tokens, heads * D]; k, k_grad: [tokens, kv heads * D]; cos, sin:
 * [positions, D].
 */
#include "ascgrad_ops.h"
#include "graph_run.h"

int main(int argc, char **argv) {
    GraphRun run("rope_grad", argc, argv);

    ge::Operator q = run.input("q", {{3, 4}, counting(12)});
    ge::Operator k = run.input("k", {{3, 4}, {1, -1, 2, -2, 3, 1, 0, 1, 2, 2, 1, 1}});
    ge::Operator cos = run.input("cos", {{2, 4}, {1, 2, 3, 4, 4, 3, 2, 1}});
    ge::Operator sin = run.input("sin", {{2, 4}, {1, 0, 2, 1, 1, 2, 0, 1}});
    auto grad = ge::op::RopeGrad("rope_grad")
                    .set_input_q(q)
                    .set_input_k(k)
                    .set_input_cos(cos)
                    .set_input_sin(sin)
                    .set_attr_qSeqLen({2, 1});
    auto exact = ge::op::RopeGrad("rope_grad_exact")
                     .set_input_q(q)
                     .set_input_k(k)
                     .set_input_cos(cos)
                     .set_input_sin(sin)
                     .set_attr_qSeqLen({2, 1})
                     .set_attr_exact_grad(true);

    /* default: q[0] (cos[0] + sin[2]) = 1 * 3; true gradient: q[0] cos[0] + q[2] sin[2] = 1 + 6 */
    run.expect(grad, 0, "q_grad", {{3, 4}, {3, 6, 6, 16, 20, 24, 7, -8, 27, 30, 22, 48}});
    run.expect(grad, 1, "k_grad", {{3, 4}, {3, -3, 4, -8, 12, 4, 0, -1, 6, 6, 2, 4}});
    run.expect(exact, 0, "exact q_grad", {{3, 4}, {7, 8, 8, 16, 20, 26, 9, -4, 31, 32, 24, 48}});
    run.expect(exact, 1, "exact k_grad", {{3, 4}, {5, -4, 5, -8, 12, 4, -3, -1, 4, 5, 1, 4}});
    return run.finish();
}
