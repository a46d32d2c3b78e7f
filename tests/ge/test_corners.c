/* SPDX-License-Identifier: Apache-2.0
 *
 * Contexts and platforms that GE may make but hardly ever does: no instance information for
 * outputs, outputs without a shape, bounds of different ranks, chips with odd numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "../../ge/platform.h"
#include "probes.h"

static void spoil_range_max(struct fake_ge *ge, uint64_t input, uint64_t rank, int64_t first) {
    uint8_t *range = (uint8_t *)(uintptr_t)get64(ge->slot[input], 0);
    uint8_t *max = (uint8_t *)(uintptr_t)get64(range, 8);
    put64(max, 0, rank);
    put64(max, 8, (uint64_t)first);
}

static uint32_t call_range(struct fake_ge *ge, const struct fake_node *node) {
    logged[0] = '\0';
    return ascgrad_ge_infer_shape_range(ge->context, ir_of(node->type), probe_infer);
}

/* Outputs without instance information are the IR's, one for one; an instance that says 0 is no
 * output. */
static void test_output_instances(void **state) {
    (void)state;
    struct fake_ge ge;
    fake_infer_shape(&ge, &exp_node);
    put64(ge.info, 40, 0);
    assert_int_equal(ascgrad_ge_infer_shape(ge.context, ir_of("ExpSegsumGrad"), probe_infer),
                     GE_SUCCESS);
    assert_int_equal(get64(ge.tensor[0], 0), 3);
    put64(ge.info, 32, 0); /* not even a tensor */
    assert_int_equal(ascgrad_ge_infer_shape(ge.context, ir_of("ExpSegsumGrad"), probe_infer),
                     GE_FAILED);
    fake_end(&ge);

    fake_infer_shape(&ge, &exp_node);
    put32(ge.info, ge.attrs_at + get64(ge.info, 48) + 4, 0);
    assert_int_equal(ascgrad_ge_infer_shape(ge.context, ir_of("ExpSegsumGrad"), probe_infer),
                     GE_FAILED);
    assert_non_null(strstr(logged, "grad_input"));
    fake_end(&ge);

    fake_infer_shape(&ge, &rope_node); /* two outputs, information for one */
    put64(ge.info, 40, 1);
    assert_int_equal(ascgrad_ge_infer_shape(ge.context, ir_of("RopeGrad"), probe_infer), GE_FAILED);
    fake_end(&ge);
}

static void test_tiling_outputs(void **state) {
    (void)state;
    struct fake_ge ge;
    next_launch =
        (struct ascgrad_launch){.key = 1, .block_dim = 1, .sync_all = true, .workspace = 64};
    fake_tiling(&ge, &exp_node, FAKE_2026, chip_8_1, ge_compile_info(), 64);
    put64(ge.slot[2], 0, 0); /* the output's slot has no shape */
    assert_int_equal(call_tiling(&ge, "ExpSegsumGrad"), GE_FAILED);
    assert_non_null(strstr(logged, "no shape for grad_input"));
    fake_end(&ge);

    fake_tiling(&ge, &exp_node, FAKE_2026, chip_8_1, ge_compile_info(),
                64); /* a GE that has no place for the schedule mode */
    put64(ge.context, 40 + 8 * (ge.inputs + 6), 0);
    uint64_t outputs = get64(ge.context, 8);
    for (uint64_t i = 5; i < outputs; i++)
        put64(ge.context, 40 + 8 * (ge.inputs + i), 0);
    assert_int_equal(call_tiling(&ge, "ExpSegsumGrad"), GE_SUCCESS);
    fake_end(&ge);

    fake_tiling(&ge, &exp_node, FAKE_2026, chip_8_1, ge_compile_info(),
                64); /* key, but no block dim */
    put64(ge.context, 40 + 8 * (ge.inputs + 1), 0);
    assert_int_equal(call_tiling(&ge, "ExpSegsumGrad"), GE_FAILED);
    fake_end(&ge);
}

/* An attribute block too short for its own head is no attributes at all. */
static void test_short_attributes(void **state) {
    (void)state;
    struct fake_ge ge;
    fake_infer_shape(&ge, &mul_node);
    put64(ge.info, 40, 0);
    put64(ge.info, 48, 8);
    assert_int_equal(ascgrad_ge_infer_shape(ge.context, ir_of("RotaryMulGrad"), probe_infer),
                     GE_SUCCESS);
    assert_int_equal(seen.attr[0].i, 1);
    fake_end(&ge);
}

/* Where the bounds themselves are no valid node, only what they agree in is inferred from. */
static void test_open_ranges(void **state) {
    (void)state;
    const struct fake_tensor in[] = {{.dtype = FP32, .rank = 2, .dim = {3, 4}, .max = {8, 7}},
                                     {.dtype = FP32, .rank = 2, .dim = {3, 4}, .max = {8, 9}}};
    struct fake_node node = exp_node;
    struct fake_ge ge;
    node.in = in;
    fake_infer_range(&ge, &node); /* the lower bounds are fine, the upper ones are not */
    assert_int_equal(call_range(&ge, &node), GE_SUCCESS);
    fake_end(&ge);

    fake_infer_range(&ge, &node);
    spoil_range_max(&ge, 0, 1, 5); /* another rank */
    assert_int_equal(call_range(&ge, &node), GE_SUCCESS);
    fake_end(&ge);

    const struct fake_tensor odd[] = {{.dtype = FP32, .rank = 2, .dim = {3, 5}, .max = {8, 5}},
                                      {.dtype = FP32, .rank = 2, .dim = {3, 5}, .max = {8, 5}}};
    node.in = odd; /* certain, and certainly wrong */
    fake_infer_range(&ge, &node);
    assert_int_equal(call_range(&ge, &node), GE_FAILED);
    assert_non_null(strstr(logged, "no good: 5 and 5"));
    fake_end(&ge);

    const struct fake_tensor unknown[] = {{.dtype = FP32, .rank = 1, .dim = {-2}, .max = {-2}},
                                          {.dtype = FP32, .rank = 2, .dim = {3, 5}, .max = {8, 7}},
                                          {.dtype = FP32, .rank = 2, .dim = {3, 5}, .max = {8, 7}},
                                          {.absent = true}};
    struct fake_node rpe = rpe_node;
    rpe.in = unknown;
    fake_infer_range(&ge, &rpe);
    spoil_range_max(&ge, 0, 1, 5);
    assert_int_equal(call_range(&ge, &rpe), GE_SUCCESS);
    fake_end(&ge);

    fake_infer_range(&ge, &rpe); /* a lower bound of 3 and no upper one */
    spoil_range_max(&ge, 1, 1, -2);
    assert_int_equal(call_range(&ge, &rpe), GE_SUCCESS);
    fake_end(&ge);

    fake_infer_range(&ge, &exp_node);
    put64((void *)(uintptr_t)get64(ge.slot[ge.inputs], 0), 8, 0); /* no room for the upper bound */
    assert_int_equal(call_range(&ge, &exp_node), GE_FAILED);
    fake_end(&ge);
}

/* An absent optional input when the bounds clash. */
static void test_open_range_with_absent_input(void **state) {
    (void)state;
    const struct fake_tensor in[] = {{.dtype = FP32, .rank = 2, .dim = {3, 5}, .max = {8, 8}},
                                     {.dtype = FP32, .rank = 2, .dim = {3, 5}, .max = {8, 8}},
                                     {.dtype = FP32, .rank = 2, .dim = {3, 5}, .max = {8, 8}},
                                     {.absent = true}};
    struct fake_node node = rpe_node;
    struct fake_ge ge;
    node.in = in;
    fake_infer_range(&ge, &node);
    assert_int_equal(call_range(&ge, &node), GE_SUCCESS);
    assert_false(seen.in[3].present);
    fake_end(&ge);
}

static void test_odd_chips(void **state) {
    (void)state;
    static const struct {
        const char *soc, *arch, *cores, *ub;
        uint32_t want_arch; /* 0: refused */
    } rows[] = {
        {"Ascend910B", "", "48", "196608", 2201},
        {"Ascend910_93", "", "48", "196608", 2201},
        {"Ascend910_95", "", "64", "253952", 3510},
        {"Ascend950", "", "64", "253952", 3510},
        {"Ascend910", "", "32", "262144", 1001},
        {"Ascend310P", "", "8", "262144", 0},
        {"Ascend910B", "22010000000", "48", "196608",
         2201}, /* more than 32 bits: the name counts */
        {"Ascend910B", "99999999999999999999", "48", "196608", 2201}, /* no number at all */
        {"Ascend910B", "2201", "70000", "196608", 0},
        {"Ascend910B", "2201", "4 8", "196608", 0},
        {"Ascend910B", "2201", "48", "200", 0},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        const struct platform_row platform[] = {{"version", "Short_SoC_version", rows[r].soc},
                                                {"version", "NpuArch", rows[r].arch},
                                                {"SoCInfo", "ai_core_cnt", rows[r].cores},
                                                {"AICoreSpec", "ub_size", rows[r].ub},
                                                {NULL, NULL, NULL}};
        struct ascgrad_node node = {.ir = ascgrad_ir_table, .name = "n"};
        struct ascgrad_error error = {""};
        struct ascgrad_chip chip = {0};
        ascgrad_result result =
            ascgrad_read_chip((void *)(uintptr_t)platform, &node, &chip, &error);
        if (result != (rows[r].want_arch ? ASCGRAD_DONE : ASCGRAD_REFUSED) ||
            (rows[r].want_arch && chip.arch != rows[r].want_arch)) {
            fail_msg("row %zu: arch %u, '%s'", r, chip.arch, error.text);
        }
    }
    assert_int_equal(ascgrad_system_workspace(2201), 16 << 20);
    assert_int_equal(ascgrad_system_workspace(3510), 16 << 20);
    assert_int_equal(ascgrad_system_workspace(1001), 2 << 20);
}

static void test_put_corners(void **state) {
    (void)state;
    char buffer[8];
    struct ascgrad_node node = {.ir = ascgrad_ir_table, .name = "n"};
    struct ascgrad_error error;
    struct ascgrad_launch launch = {
        .data = buffer, .capacity = 4, .size = 5}; /* overfull already */
    assert_int_equal(ascgrad_put(&launch, &node, "a", 1, &error), ASCGRAD_REFUSED);
    launch = (struct ascgrad_launch){.data = buffer, .capacity = 4};
    assert_int_equal(ascgrad_put(&launch, &node, NULL, 0, &error), ASCGRAD_DONE);
    assert_int_equal(launch.size, 0);
    struct ascgrad_shape a = {.rank = 26}, b = {.rank = 26};
    assert_false(ascgrad_shape_equal(&a, &b)); /* a rank that cannot be is equal to nothing */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_output_instances),
        cmocka_unit_test(test_tiling_outputs),
        cmocka_unit_test(test_short_attributes),
        cmocka_unit_test(test_open_ranges),
        cmocka_unit_test(test_open_range_with_absent_input),
        cmocka_unit_test(test_odd_chips),
        cmocka_unit_test(test_put_corners),
    };
    return cmocka_run_group_tests(tests, make_norm, NULL);
}
