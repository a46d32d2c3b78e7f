/* SPDX-License-Identifier: Apache-2.0
 *
 * GE's five calls, on contexts laid out byte by byte (fake_ge.c), in the form of CANN 8.1 and of
 * 2026.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "probes.h"

/* ---- inference
 * -------------------------------------------------------------------------------------- */

static uint32_t call_infer(struct fake_ge *ge, const struct fake_node *node) {
    logged[0] = '\0';
    return ascgrad_ge_infer_shape(ge->context, ir_of(node->type), probe_infer);
}

static void test_infer_shape(void **state) {
    (void)state;
    struct fake_ge ge;
    fake_infer_shape(&ge, &exp_node);
    assert_int_equal(call_infer(&ge, &exp_node), GE_SUCCESS);
    assert_string_equal(seen.ir->type, "ExpSegsumGrad");
    assert_string_equal(seen.name, "e1");
    assert_int_equal(seen.ir->inputs, 2);
    assert_int_equal(seen.ir->outputs, 1);
    assert_int_equal(seen.ir->attrs, 0);
    assert_int_equal(seen.in[1].dtype, BF16);
    assert_int_equal(seen_shape[1].rank, 3);
    assert_int_equal(seen_shape[1].dim[0], 2);
    assert_int_equal(get64(ge.tensor[0], 0), 3);
    assert_int_equal(get64(ge.tensor[0], 8), 2);
    assert_int_equal(get64(ge.tensor[0], 24), 4);
    assert_int_equal(get64(ge.tensor[0], 32), 0); /* nothing behind the rank */
    fake_end(&ge);
}

static void test_infer_unknown(void **state) {
    (void)state;
    struct fake_ge ge;
    const struct fake_tensor in[] = {{.dtype = FP32, .rank = 1, .dim = {-2}},
                                     {.dtype = FP32, .rank = 2, .dim = {-1, -1}}};
    struct fake_node node = exp_node;
    node.in = in;
    fake_infer_shape(&ge, &node);
    assert_int_equal(call_infer(&ge, &node), GE_SUCCESS);
    assert_int_equal(get64(ge.tensor[0], 0), 1);
    assert_int_equal((int64_t)get64(ge.tensor[0], 8), -2);
    fake_end(&ge);
}

static void test_infer_refusal_is_told(void **state) {
    (void)state;
    struct fake_ge ge;
    const struct fake_tensor in[] = {{.dtype = FP32, .rank = 2, .dim = {4, 4}},
                                     {.dtype = FP32, .rank = 2, .dim = {4, 6}}};
    struct fake_node node = exp_node;
    node.in = in;
    fake_infer_shape(&ge, &node);
    assert_int_equal(call_infer(&ge, &node), GE_FAILED);
    assert_string_equal(logged, "[ascgrad] ExpSegsumGrad 'e1': no good: 4 and 6");
    assert_int_equal(get64(ge.tensor[0], 0), 0); /* the output is as it was */
    fake_end(&ge);
}

static void test_attributes(void **state) {
    (void)state;
    struct fake_ge ge;
    fake_infer_shape(&ge, &rope_node);
    assert_int_equal(call_infer(&ge, &rope_node), GE_SUCCESS);
    assert_int_equal(seen.attr[0].kind, ASCGRAD_ATTR_LIST_INT);
    assert_int_equal(seen.attr[0].count, 4);
    assert_memory_equal(seen_list, rope_attr[0].list, 4 * sizeof(int64_t));
    assert_int_equal(seen.attr[1].kind, ASCGRAD_ATTR_BOOL);
    assert_int_equal(seen.attr[1].i, 1);
    fake_end(&ge);

    fake_infer_shape(&ge, &rpe_node);
    assert_int_equal(call_infer(&ge, &rpe_node), GE_SUCCESS);
    assert_int_equal(seen.attr[0].kind, ASCGRAD_ATTR_INT);
    assert_int_equal(seen.attr[0].i, -3);
    assert_false(seen.in[3].present);
    assert_null(seen.in[3].shape);
    fake_end(&ge);

    fake_infer_shape(&ge, &mul_node);
    assert_int_equal(call_infer(&ge, &mul_node), GE_SUCCESS);
    assert_int_equal(seen.attr[0].i, 0); /* the default is 1 */
    fake_end(&ge);
}

/* GE may give no attributes at all: none in the block, or no block. */
static void test_missing_attributes(void **state) {
    (void)state;
    struct fake_ge ge;
    struct fake_node node = mul_node;
    node.attrs = 0;
    fake_infer_shape(&ge, &node);
    assert_int_equal(call_infer(&ge, &node), GE_SUCCESS);
    assert_int_equal(seen.attr[0].kind, ASCGRAD_ATTR_BOOL);
    assert_int_equal(seen.attr[0].i, 1);
    fake_end(&ge);

    node = rope_node;
    node.attrs = 0;
    fake_infer_shape(&ge, &node);
    assert_int_equal(call_infer(&ge, &node), GE_FAILED);
    assert_non_null(strstr(logged, "attribute qSeqLen is required"));
    fake_end(&ge);

    node.attrs = 1; /* the list, not the bool */
    fake_infer_shape(&ge, &node);
    assert_int_equal(call_infer(&ge, &node), GE_SUCCESS);
    assert_int_equal(seen.attr[0].count, 4);
    assert_int_equal(seen.attr[1].i, 0);
    fake_end(&ge);

    const struct fake_attr empty[] = {{.kind = 'l', .count = 0}};
    node.attr = empty;
    fake_infer_shape(&ge, &node);
    assert_int_equal(call_infer(&ge, &node), GE_SUCCESS);
    assert_int_equal(seen.attr[0].count, 0);
    fake_end(&ge);
}

static void test_optional_inputs(void **state) {
    (void)state;
    struct fake_ge ge;
    fake_infer_shape(&ge, &norm_node);
    assert_int_equal(call_infer(&ge, &norm_node), GE_SUCCESS);
    for (int i = 0; i < 21; i++) {
        assert_int_equal(seen.in[i].present, !norm_in[i].absent);
        if (seen.in[i].present) {
            assert_int_equal(seen_shape[i].dim[0], i);
        }
    }
    for (int a = 0; a < 4; a++) {
        assert_int_equal(seen.attr[a].i, norm_attr[a].i);
    }
    fake_end(&ge);

    struct fake_node shorter = norm_node; /* trailing absent inputs may not be listed at all */
    shorter.ir_in = 5;
    fake_infer_shape(&ge, &shorter);
    assert_int_equal(call_infer(&ge, &shorter), GE_SUCCESS);
    assert_true(seen.in[4].present);
    assert_false(seen.in[5].present);
    assert_false(seen.in[20].present);
    fake_end(&ge);
}

static void test_infer_dtype(void **state) {
    (void)state;
    struct fake_ge ge;
    fake_infer_dtype(&ge, &norm_node);
    assert_int_equal(ascgrad_ge_infer_dtype(ge.context, ir_of(norm_node.type), probe_dtype),
                     GE_SUCCESS);
    for (uint64_t o = 0; o < 14; o++) {
        assert_int_equal(get32(ge.slot[ge.inputs + o], 0), FP16);
    }
    assert_null(seen.in[0].shape);
    fake_end(&ge);

    const struct fake_tensor in[] = {{.dtype = FP32}, {.dtype = INT32}};
    struct fake_node node = exp_node;
    node.in = in;
    fake_infer_dtype(&ge, &node);
    assert_int_equal(ascgrad_ge_infer_dtype(ge.context, ir_of(node.type), probe_dtype), GE_FAILED);
    assert_non_null(strstr(logged, "grad_self must be fp16, fp32 or bf16, got int32"));
    assert_int_equal(get64(ge.slot[ge.inputs], 0), FAKE_UNTOUCHED);
    fake_end(&ge);
}

static void test_infer_range(void **state) {
    (void)state;
    struct fake_ge ge;
    fake_infer_range(&ge, &exp_node);
    assert_int_equal(ascgrad_ge_infer_shape_range(ge.context, ir_of("ExpSegsumGrad"), probe_infer),
                     GE_SUCCESS);
    assert_int_equal(get64(ge.tensor[0], 0), 3);
    assert_int_equal(get64(ge.tensor[0], 16), 4);
    assert_int_equal(get64(ge.tensor[1], 0), 3);
    assert_int_equal(get64(ge.tensor[1], 16), 8);
    fake_end(&ge);
}

/* Bounds that make no valid node by themselves leave the output open instead of failing a valid
 * graph. */
static void test_infer_range_clash(void **state) {
    (void)state;
    struct fake_ge ge;
    const struct fake_tensor in[] = {
        {.dtype = FP32, .rank = 3, .dim = {7, 1, 1}, .max = {7, 8, 8}},
        {.dtype = FP32, .rank = 3, .dim = {7, 1, 1}, .max = {7, 16, 16}},
    };
    struct fake_node node = exp_node;
    node.in = in;
    fake_infer_range(&ge, &node);
    assert_int_equal(ascgrad_ge_infer_shape_range(ge.context, ir_of("ExpSegsumGrad"), probe_infer),
                     GE_SUCCESS);
    assert_int_equal(get64(ge.tensor[0], 0), 3);
    assert_int_equal(get64(ge.tensor[0], 8), 7); /* certain */
    assert_int_equal(get64(ge.tensor[0], 16), 0);
    assert_int_equal(get64(ge.tensor[1], 8), 7);
    assert_int_equal((int64_t)get64(ge.tensor[1], 16), -1);
    fake_end(&ge);
}

/* ---- tiling
 * ----------------------------------------------------------------------------------------- */

static void check_tiling(const struct fake_node *node, enum fake_era era) {
    struct fake_ge ge;
    next_launch = (struct ascgrad_launch){
        .key = 0x1122334455667788, .block_dim = 48, .workspace = 4096, .sync_all = true};
    fake_tiling(&ge, node, era, chip_8_1, ge_compile_info(), 64);
    put64(ge.tiling_data, 8, 8); /* someone wrote 8 bytes already */
    assert_int_equal(call_tiling(&ge, node->type), GE_SUCCESS);
    uint8_t *const *out = ge.slot + ge.inputs;
    assert_true(get64(out[0], 0) == 0x1122334455667788);
    assert_int_equal(get32(out[1], 0), 48);
    assert_true(get64(out[2], 0) == FAKE_UNTOUCHED);
    assert_int_equal(get64(ge.tiling_data, 8), 8 + sizeof payload);
    assert_int_equal(ge.tiling_buffer[7], 0xEE);
    assert_memory_equal(ge.tiling_buffer + 8, payload, sizeof payload);
    assert_int_equal(ge.tiling_buffer[8 + sizeof payload], 0xEE);
    assert_int_equal(get64(ge.workspace, 8), 1);
    assert_int_equal(get64(ge.workspace, 56), 16 * 1024 * 1024 + 4096);
    assert_true(get64(out[5], 0) == FAKE_UNTOUCHED);
    assert_int_equal(get32(out[6], 0), 1);
    for (int s = 7; s < (int)era; s++) {
        assert_true(get64(out[s], 0) == FAKE_UNTOUCHED);
    }
    assert_int_equal(seen_chip.cores, 48);
    assert_int_equal(seen_chip.arch, 2201);
    assert_int_equal(seen_chip.ub, 196352);
    for (uint64_t i = 0; i < node->ir_in; i++) {
        assert_int_equal(seen.in[i].present, !node->in[i].absent);
        if (seen.in[i].present) {
            assert_int_equal(seen.in[i].dtype, node->in[i].dtype);
            assert_memory_equal(seen_shape[i].dim, node->in[i].dim, 8 * (size_t)node->in[i].rank);
        }
    }
    for (uint64_t o = 0; o < node->ir_out; o++) {
        assert_true(seen.out[o].present);
        assert_int_equal(seen.out[o].dtype, node->out[o].dtype);
        assert_int_equal(seen_out_shape[o].dim[0], node->out[o].dim[0]);
    }
    fake_end(&ge);
}

static void test_tiling(void **state) {
    (void)state;
    const struct fake_node *const nodes[] = {&exp_node, &rope_node, &rpe_node, &mul_node,
                                             &norm_node};
    for (int n = 0; n < 5; n++) {
        check_tiling(nodes[n], FAKE_8_1);
        check_tiling(nodes[n], FAKE_2026);
    }
}

/* Without SyncAll the schedule mode stays GE's; a slice of a node differs in its storage shape
 * only. */
static void test_tiling_details(void **state) {
    (void)state;
    struct fake_ge ge;
    next_launch = (struct ascgrad_launch){.key = 1, .block_dim = 3};
    fake_tiling(&ge, &exp_node, FAKE_8_1, chip_8_1, ge_compile_info(), 64);
    put64(ge.tensor[0], 248 + 8, 1);
    put64(ge.tensor[2], 248 + 8, (uint64_t)-1); /* an output shape GE does not know */
    assert_int_equal(call_tiling(&ge, "ExpSegsumGrad"), GE_SUCCESS);
    assert_int_equal(seen_shape[0].dim[0], 1);
    assert_null(seen.out[0].shape);
    assert_true(get64(ge.slot[ge.inputs + 6], 0) == FAKE_UNTOUCHED);
    assert_int_equal(get64(ge.workspace, 56), 16 * 1024 * 1024);
    fake_end(&ge);
}

/* An input without a tensor is absent whatever else is said of it; what byte 104 of a description
 * says counts for nothing. */
static void test_presence(void **state) {
    (void)state;
    struct fake_ge ge;
    struct fake_node node = rpe_node;
    next_launch = (struct ascgrad_launch){.key = 1, .block_dim = 3};
    for (int aclnn = 0; aclnn < 2; aclnn++) {
        node.aclnn = aclnn == 1;
        fake_tiling(&ge, &node, FAKE_2026, chip_8_1, ge_compile_info(), 64);
        assert_int_equal(ge.n_in, aclnn ? 4 : 3);
        for (uint64_t d = 0; d < ge.n_in + ge.n_out; d++) {
            ge.info[80 + 48 * 4 + 144 * d + 104] = 0xFF;
        }
        assert_int_equal(call_tiling(&ge, node.type), GE_SUCCESS);
        for (int i = 0; i < 4; i++) {
            assert_int_equal(seen.in[i].present, i < 3);
        }
        for (int o = 0; o < 3; o++) {
            assert_true(seen.out[o].present);
            assert_int_equal(seen_out_shape[o].dim[0], node.out[o].dim[0]);
        }
        fake_end(&ge);
    }

    fake_tiling(&ge, &mul_node, FAKE_2026, chip_8_1, ge_compile_info(), 64);
    put64(ge.slot[3], 0, 0); /* an instance and no tensor */
    assert_int_equal(call_tiling(&ge, mul_node.type), GE_SUCCESS);
    assert_true(seen.in[2].present);
    assert_false(seen.in[3].present);
    put64(ge.slot[1], 0, 0);
    assert_int_equal(call_tiling(&ge, mul_node.type), GE_FAILED);
    assert_string_equal(logged, "[ascgrad] RotaryMulGrad 'm1': input 1 is required");
    fake_end(&ge);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_infer_shape),           cmocka_unit_test(test_infer_unknown),
        cmocka_unit_test(test_infer_refusal_is_told), cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_missing_attributes),    cmocka_unit_test(test_optional_inputs),
        cmocka_unit_test(test_infer_dtype),           cmocka_unit_test(test_infer_range),
        cmocka_unit_test(test_infer_range_clash),     cmocka_unit_test(test_tiling),
        cmocka_unit_test(test_tiling_details),        cmocka_unit_test(test_presence),
    };
    return cmocka_run_group_tests(tests, make_norm, NULL);
}
