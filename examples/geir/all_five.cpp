/* SPDX-License-Identifier: Apache-2.0
 *
 * One graph with the five operators; the result of the first one goes into the second.
 */
#include "ascgrad_ops.h"
#include "graph_run.h"

int main(int argc, char **argv) {
    GraphRun run("all_five", argc, argv);
    const std::vector<int64_t> shape = {2, 1, 1, 4}, row = {1, 1, 1, 4}, table = {1, 4};

    ge::Operator x = run.input("x", {shape, counting(8)});
    ge::Operator dy = run.input("dy", {shape, {1, -2, 3, 1, 2, 1, -1, 3}});
    ge::Operator cos = run.input("cos", {row, {1, 2, 3, 4}});
    ge::Operator sin = run.input("sin", {row, {5, 6, 7, 8}});
    auto rotary = ge::op::RotaryMulGrad("rotary")
                      .set_input_x(x)
                      .set_input_r1(cos)
                      .set_input_r2(sin)
                      .set_input_dy(dy);

    ge::Operator cos2 = run.input("cos2", {row, {1, 2, 1, 1}});
    ge::Operator sin2 = run.input("sin2", {row, {0, 1, 2, 1}});
    auto embedding = ge::op::RotaryPositionEmbeddingGrad("embedding")
                         .set_input_dy(rotary, 0)
                         .set_input_cos(cos2)
                         .set_input_sin(sin2)
                         .set_attr_mode(1);

    ge::Operator q = run.input("q", {{3, 4}, counting(12)});
    ge::Operator cos3 = run.input("cos3", {{2, 4}, {1, 2, 3, 4, 4, 3, 2, 1}});
    ge::Operator sin3 = run.input("sin3", {{2, 4}, {1, 0, 2, 1, 1, 2, 0, 1}});
    auto rope = ge::op::RopeGrad("rope")
                    .set_input_q(q)
                    .set_input_k(q)
                    .set_input_cos(cos3)
                    .set_input_sin(sin3)
                    .set_attr_qSeqLen({2, 1})
                    .set_attr_exact_grad(true);

    ge::Operator joined = run.input("joined", {{1, 1, 2, 4}, counting(8)});
    ge::Operator part = run.input("part", {{1, 2, 1, 4}, counting(8)});
    ge::Operator cos4 = run.input("cos4", {table, {1, 2, 1, 1}});
    ge::Operator sin4 = run.input("sin4", {table, {0, 1, 2, 1}});
    auto concat = ge::op::NormRopeConcatGrad("concat")
                      .set_input_grad_query_output(joined)
                      .set_input_grad_key_output(joined)
                      .set_input_grad_value_output(joined)
                      .set_input_query(part)
                      .set_input_key(part)
                      .set_input_rope_sin(sin4)
                      .set_input_rope_cos(cos4)
                      .set_attr_rope_type(2);

    ge::Operator square = run.input("square", {{4, 4}, counting(16)});
    ge::Operator ones = run.input("ones", {{4, 4}, counting(16, 1, 0)});
    auto segsum =
        ge::op::ExpSegsumGrad("segsum").set_input_grad_output(square).set_input_grad_self(ones);

    run.expect(rotary, 1, "dr1", {row, {11, 2, 2, 28}});
    run.expect(embedding, 0, "dx", {shape, {26, 8, 20, 8, 21, 52, -7, 32}});
    run.expect(rope, 1, "k_grad", {{3, 4}, {7, 8, 8, 16, 20, 26, 9, -4, 31, 32, 24, 48}});
    run.expect(concat, 0, "grad_query",
               {{1, 2, 1, 4}, {7, 8, 3, 2, 5, 6, 7, 8}}); /* only row 0 is rotated */
    run.expect(concat, 2, "grad_value", {{1, 2, 1, 4}, counting(8)});
    run.expect(segsum, 0, "grad_input", {{4}, {0, 27, 46, 42}});
    return run.finish();
}
