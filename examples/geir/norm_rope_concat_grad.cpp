/* SPDX-License-Identifier: Apache-2.0
 *
 * NormRopeConcatGrad in a graph: layer norm with weight and bias, an encoder part behind the main
 * part, interleaved rope on the first five positions. Everything is 1 but the means: 0, and 1 for
 * the encoder's query. query, key: [B, S, N, D]; the gradients that come in: [B, N, S + encoder S,
 * D]. B 1, N 10, D 6, S 5 and 3.
 */
#include "ascgrad_ops.h"
#include "graph_run.h"

namespace {

Array filled(const std::vector<int64_t> &shape, float value) {
    size_t count = 1;
    for (int64_t n : shape)
        count *= static_cast<size_t>(n);
    return {shape, counting(count, value, 0)};
}

/* even, odd, even, odd, ... */
Array pairs(const std::vector<int64_t> &shape, float even, float odd) {
    Array array = filled(shape, even);
    for (size_t i = 1; i < array.values.size(); i += 2)
        array.values[i] = odd;
    return array;
}

} // namespace

int main(int argc, char **argv) {
    GraphRun run("norm_rope_concat_grad", argc, argv);
    const std::vector<int64_t> main_part = {1, 5, 10, 6}, encoder = {1, 3, 10, 6},
                               joined = {1, 10, 8, 6}, row = {6};
    const std::vector<int64_t> main_stats = {1, 5, 10, 1}, encoder_stats = {1, 3, 10, 1},
                               table = {5, 6};

    ge::Operator grad_query = run.input("grad_query_output", filled(joined, 1));
    ge::Operator grad_key = run.input("grad_key_output", filled(joined, 1));
    ge::Operator grad_value = run.input("grad_value_output", filled(joined, 1));
    ge::Operator query = run.input("query", filled(main_part, 1));
    ge::Operator key = run.input("key", filled(main_part, 1));
    ge::Operator encoder_query = run.input("encoder_query", filled(encoder, 1));
    ge::Operator encoder_key = run.input("encoder_key", filled(encoder, 1));
    ge::Operator weight = run.input("weight", filled(row, 1));
    ge::Operator mean = run.input_fp32("mean", filled(main_stats, 0));
    ge::Operator rstd = run.input_fp32("rstd", filled(main_stats, 1));
    ge::Operator added_query_mean = run.input_fp32("added_query_mean", filled(encoder_stats, 1));
    ge::Operator added_key_mean = run.input_fp32("added_key_mean", filled(encoder_stats, 0));
    ge::Operator added_rstd = run.input_fp32("added_rstd", filled(encoder_stats, 1));
    ge::Operator rope = run.input("rope", filled(table, 1));

    auto grad = ge::op::NormRopeConcatGrad("norm_rope_concat_grad")
                    .set_input_grad_query_output(grad_query)
                    .set_input_grad_key_output(grad_key)
                    .set_input_grad_value_output(grad_value)
                    .set_input_query(query)
                    .set_input_key(key)
                    .set_input_encoder_query(encoder_query)
                    .set_input_encoder_key(encoder_key)
                    .set_input_norm_query_weight(weight)
                    .set_input_norm_query_mean(mean)
                    .set_input_norm_query_rstd(rstd)
                    .set_input_norm_key_weight(weight)
                    .set_input_norm_key_mean(mean)
                    .set_input_norm_key_rstd(rstd)
                    .set_input_norm_added_query_weight(weight)
                    .set_input_norm_added_query_mean(added_query_mean)
                    .set_input_norm_added_query_rstd(added_rstd)
                    .set_input_norm_added_key_weight(weight)
                    .set_input_norm_added_key_mean(added_key_mean)
                    .set_input_norm_added_key_rstd(added_rstd)
                    .set_input_rope_sin(rope)
                    .set_input_rope_cos(rope)
                    .set_attr_norm_type(2)
                    .set_attr_norm_added_type(2)
                    .set_attr_rope_type(1)
                    .set_attr_concat_order(0);

    /* rope turns (1, 1) into (2, 0); the norm takes its mean 1 off twice, as the normalised x is 1
     */
    run.expect(grad, 0, "grad_query", pairs(main_part, 0, -2));
    run.expect(grad, 1, "grad_key", pairs(main_part, 0, -2));
    run.expect(grad, 2, "grad_value", filled(main_part, 1));
    /* the encoder rows are not rotated; the normalised x is 0 for the query, 1 for the key */
    run.expect(grad, 3, "grad_encoder_query", filled(encoder, 0));
    run.expect(grad, 4, "grad_encoder_key", filled(encoder, -1));
    run.expect(grad, 5, "grad_encoder_value", filled(encoder, 1));
    /* sums over 5 * 10 and 3 * 10 rows */
    for (size_t i = 6; i < 10; i++)
        run.expect(grad, i, "gradient of weight or bias", pairs(row, 100, 0));
    run.expect(grad, 10, "grad_norm_added_query_weight", filled(row, 0));
    for (size_t i = 11; i < 14; i++)
        run.expect(grad, i, "gradient of added weight or bias", filled(row, 30));
    return run.finish();
}
