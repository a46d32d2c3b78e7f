/* SPDX-License-Identifier: Apache-2.0
 *
 * ExpSegsumGrad in a graph: the backward of y = exp(segsum(x)).
 * grad_output, grad_self: [..., T, T] (grad_self is y); grad_input: [..., T].
 */
#include "ascgrad_ops.h"
#include "graph_run.h"

int main(int argc, char **argv) {
    GraphRun run("exp_segsum_grad", argc, argv);
    const Array ones = {{2, 4, 4}, counting(32, 1, 0)};
    const Array numbers = {{2, 4, 4}, counting(32)};

    ge::Operator grad_output = run.input("grad_output", numbers);
    ge::Operator grad_self = run.input("grad_self", ones);
    auto grad = ge::op::ExpSegsumGrad("exp_segsum_grad")
                    .set_input_grad_output(grad_output)
                    .set_input_grad_self(grad_self);

    /* grad_input[i] is the sum of the products in rows >= i and columns < i */
    run.expect(grad, 0, "grad_input", {{2, 4}, {0, 27, 46, 42, 0, 75, 110, 90}});
    return run.finish();
}
