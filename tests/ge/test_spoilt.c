/* SPDX-License-Identifier: Apache-2.0
 *
 * Contexts that contradict themselves or the IR: each must be refused with a sentence, never
 * followed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probes.h"

static void no_info(struct fake_ge *ge) {
    put64(ge->context, 16, 0);
}
static void no_slots(struct fake_ge *ge) {
    put64(ge->context, 0, 0), put64(ge->context, 8, 0);
}
static void few_inputs(struct fake_ge *ge) {
    put64(ge->context, 0, 1);
}
static void no_outputs(struct fake_ge *ge) {
    put64(ge->context, 8, 0);
}
static void null_slot(struct fake_ge *ge) {
    put64(ge->context, 40 + 8, 0);
}
static void null_shape(struct fake_ge *ge) {
    put64(ge->slot[1], 0, 0);
}
static void null_output(struct fake_ge *ge) {
    put64(ge->context, 40 + 8 * ge->inputs, 0);
}
static void null_output_shape(struct fake_ge *ge) {
    put64(ge->slot[ge->inputs], 0, 0);
}
static void many_ir_inputs(struct fake_ge *ge) {
    put64(ge->info, 16, 1u << 30);
}
static void many_inputs(struct fake_ge *ge) {
    put64(ge->info, 24, UINT64_MAX);
}
static void many_outputs(struct fake_ge *ge) {
    put64(ge->info, 32, UINT64_MAX / 144);
}
static void many_ir_outputs(struct fake_ge *ge) {
    put64(ge->info, 40, UINT64_MAX);
}
static void many_attr_bytes(struct fake_ge *ge) {
    put64(ge->info, 48, UINT64_MAX - 7);
}
static void far_instance(struct fake_ge *ge) {
    put32(ge->info, 80, 1000);
}
static void two_instances(struct fake_ge *ge) {
    put32(ge->info, 80 + 4, 2);
}
static void rank_26(struct fake_ge *ge) {
    uint8_t *p = (uint8_t *)(uintptr_t)get64(ge->slot[0], 0);
    put64(p, 0, 26);
    put64(p, 248, 26);
}
static void rank_huge(struct fake_ge *ge) {
    uint8_t *p = (uint8_t *)(uintptr_t)get64(ge->slot[1], 0);
    put64(p, 0, UINT64_MAX);
    put64(p, 248, UINT64_MAX);
}
static void attr_far(struct fake_ge *ge) {
    put64(ge->info, ge->attrs_at + 48, UINT64_MAX - 3);
}
static void attr_at_end(struct fake_ge *ge) {
    put64(ge->info, ge->attrs_at + 48, get64(ge->info, 48) - 4);
}
static void list_long(struct fake_ge *ge) {
    put64(ge->info, ge->attrs_at + get64(ge->info, ge->attrs_at + 48) + 8, 1ull << 61);
}
static void list_one_more(struct fake_ge *ge) {
    put64(ge->info, ge->attrs_at + get64(ge->info, ge->attrs_at + 48) + 8, 5);
}
static void offsets_outside(struct fake_ge *ge) {
    put64(ge->info, 48, 48 + 4);
}
static void four_outputs(struct fake_ge *ge) {
    put64(ge->context, 8, 4);
}
static void no_platform_slot(struct fake_ge *ge) {
    put64(ge->context, 40 + 8 * (ge->n_in + ge->n_out + 1), 0);
}
static void null_platform(struct fake_ge *ge) {
    put64(ge->slot[ge->n_in + ge->n_out + 1], 0, 0);
}
static void null_tiling_data(struct fake_ge *ge) {
    put64(ge->slot[ge->inputs + 3], 0, 0);
}
static void null_tiling_buffer(struct fake_ge *ge) {
    put64(ge->tiling_data, 16, 0);
}
static void small_tiling_buffer(struct fake_ge *ge) {
    put64(ge->tiling_data, 0, 23);
}
static void overfull_tiling_buffer(struct fake_ge *ge) {
    put64(ge->tiling_data, 8, 65);
}
static void null_workspace(struct fake_ge *ge) {
    put64(ge->slot[ge->inputs + 4], 0, 0);
}
static void no_workspaces(struct fake_ge *ge) {
    put64(ge->workspace, 0, 0);
}
static void null_range_max(struct fake_ge *ge) {
    put64((void *)(uintptr_t)get64(ge->slot[0], 0), 8, 0);
}
static void null_output_range(struct fake_ge *ge) {
    put64((void *)(uintptr_t)get64(ge->slot[ge->inputs], 0), 0, 0);
}

enum { SHAPE = 1, DTYPE = 2, RANGE = 4, TILING = 8, ALL = 15 };

static const struct {
    const char *name;
    void (*spoil)(struct fake_ge *);
    int calls;
    const struct fake_node *node;
} spoilt[] = {
#define SPOIL(how, calls, node)                                                                    \
    { #how, how, calls, &node }
    SPOIL(no_info, ALL, exp_node),
    SPOIL(no_slots, ALL, exp_node),
    SPOIL(few_inputs, ALL, exp_node),
    SPOIL(no_outputs, ALL, exp_node),
    SPOIL(null_slot, ALL, exp_node),
    SPOIL(null_shape, SHAPE | RANGE | TILING, exp_node),
    SPOIL(null_output, ALL, exp_node),
    SPOIL(null_output_shape, SHAPE | RANGE, exp_node),
    SPOIL(many_ir_inputs, ALL, exp_node),
    SPOIL(many_inputs, ALL, exp_node),
    SPOIL(many_outputs, ALL, exp_node),
    SPOIL(many_ir_outputs, ALL, exp_node),
    SPOIL(many_attr_bytes, ALL, rope_node),
    SPOIL(far_instance, ALL, exp_node),
    SPOIL(two_instances, ALL, exp_node),
    SPOIL(rank_26, SHAPE | TILING, exp_node),
    SPOIL(rank_huge, SHAPE | TILING, exp_node),
    SPOIL(attr_far, ALL, rope_node),
    SPOIL(attr_far, ALL, rpe_node),
    SPOIL(attr_at_end, ALL, rope_node),
    SPOIL(attr_at_end, ALL, rpe_node),
    SPOIL(list_long, ALL, rope_node),
    SPOIL(list_one_more, ALL, rope_node),
    SPOIL(offsets_outside, ALL, rope_node),
    SPOIL(four_outputs, TILING, exp_node),
    SPOIL(no_platform_slot, TILING, exp_node),
    SPOIL(null_platform, TILING, exp_node),
    SPOIL(null_tiling_data, TILING, exp_node),
    SPOIL(null_tiling_buffer, TILING, exp_node),
    SPOIL(small_tiling_buffer, TILING, exp_node),
    SPOIL(overfull_tiling_buffer, TILING, exp_node),
    SPOIL(null_workspace, TILING, exp_node),
    SPOIL(no_workspaces, TILING, exp_node),
    SPOIL(null_range_max, RANGE, exp_node),
    SPOIL(null_output_range, RANGE, exp_node),
};

static void test_spoilt_contexts(void **state) {
    (void)state;
    next_launch = (struct ascgrad_launch){.key = 1, .block_dim = 1};
    for (size_t r = 0; r < sizeof spoilt / sizeof spoilt[0]; r++) {
        const struct ascgrad_ir *ir = ir_of(spoilt[r].node->type);
        for (int call = SHAPE; call <= TILING; call *= 2) {
            struct fake_ge ge;
            uint32_t status = GE_FAILED;
            if (!(spoilt[r].calls & call)) {
                continue;
            }
            logged[0] = '\0';
            if (call == SHAPE) {
                fake_infer_shape(&ge, spoilt[r].node);
                spoilt[r].spoil(&ge);
                status = ascgrad_ge_infer_shape(ge.context, ir, probe_infer);
            } else if (call == DTYPE) {
                fake_infer_dtype(&ge, spoilt[r].node);
                spoilt[r].spoil(&ge);
                status = ascgrad_ge_infer_dtype(ge.context, ir, probe_dtype);
            } else if (call == RANGE) {
                fake_infer_range(&ge, spoilt[r].node);
                spoilt[r].spoil(&ge);
                status = ascgrad_ge_infer_shape_range(ge.context, ir, probe_infer);
            } else {
                fake_tiling(&ge, spoilt[r].node, FAKE_8_1, chip_8_1, ge_compile_info(), 64);
                spoilt[r].spoil(&ge);
                status = call_tiling(&ge, spoilt[r].node->type);
                assert_true(get64(ge.slot[ge.inputs], 0) == FAKE_UNTOUCHED);
            }
            if (status != GE_FAILED || logged[0] == '\0') {
                fail_msg("%s of %s, call %d: status %u, said '%s'", spoilt[r].name,
                         spoilt[r].node->type, call, status, logged);
            }
            fake_end(&ge);
        }
    }
    const struct ascgrad_ir *ir = ir_of("ExpSegsumGrad");
    assert_int_equal(ascgrad_ge_infer_shape(NULL, ir, probe_infer), GE_FAILED);
    assert_int_equal(ascgrad_ge_infer_dtype(NULL, ir, probe_dtype), GE_FAILED);
    assert_int_equal(ascgrad_ge_infer_shape_range(NULL, ir, probe_infer), GE_FAILED);
    assert_int_equal(ascgrad_ge_tiling(NULL, ir, probe_tile, ""), GE_FAILED);
}

/* A tiling that breaks its own contract must not reach the chip. */
static void test_bad_launch(void **state) {
    (void)state;
    static const struct ascgrad_launch bad[] = {
        {.block_dim = 0}, {.block_dim = 49}, {.block_dim = 1, .workspace = UINT64_MAX}};
    for (size_t r = 0; r < sizeof bad / sizeof bad[0]; r++) {
        struct fake_ge ge;
        next_launch = bad[r];
        fake_tiling(&ge, &exp_node, FAKE_2026, chip_8_1, ge_compile_info(), 64);
        assert_int_equal(call_tiling(&ge, "ExpSegsumGrad"), GE_FAILED);
        assert_true(get64(ge.slot[ge.inputs], 0) == FAKE_UNTOUCHED);
        assert_int_equal(get64(ge.tiling_data, 8), 0);
        fake_end(&ge);
    }
}

/* Random bytes in everything behind ComputeNodeInfo: instances, descriptions, attributes. Any
 * answer will do; a memory checker watches. */
static void test_random_node_info(void **state) {
    (void)state;
    const struct fake_node *const nodes[] = {&exp_node, &rope_node, &rpe_node, &mul_node,
                                             &norm_node};
    const unsigned seed = 20260802;
    printf("seed %u\n", seed);
    srand(seed);
    next_launch = (struct ascgrad_launch){.key = 1, .block_dim = 1};
    for (int round = 0; round < 2000; round++) {
        const struct fake_node *node = nodes[round % 5];
        struct fake_ge ge;
        fake_tiling(&ge, node, FAKE_2026, chip_8_1, ge_compile_info(), 64);
        const uint64_t end = ge.attrs_at + get64(ge.info, 48) + 48 * node->ir_out;
        for (int n = rand() % 8; n >= 0; n--) {
            const uint64_t at = 80 + (uint64_t)rand() % (end - 80);
            ge.info[at] = (uint8_t)(rand() % 3 ? rand() % 4 : rand());
        }
        call_tiling(&ge, node->type);
        fake_end(&ge);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spoilt_contexts),
        cmocka_unit_test(test_bad_launch),
        cmocka_unit_test(test_random_node_info),
    };
    return cmocka_run_group_tests(tests, make_norm, NULL);
}
