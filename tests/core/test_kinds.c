/* SPDX-License-Identifier: Apache-2.0
 *
 * Float attributes, alone and in lists, from REG_OP (kinds.cpp) to the operator: irdump's table,
 * GE's attribute block, the words of the command line, the C API's description.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "../../ge/context.h"
#include "../../tools/call/request.h"
#include "../cann/registry/fake_ge.h"

enum { SCALE, EPSILON, WEIGHTS, STEPS };

static const struct fake_tensor tensor = {.dtype = ASCGRAD_FP32, .rank = 1, .dim = {8}};

static void read_attrs(const struct fake_attr *attr, uint64_t attrs, ascgrad_result want,
                       struct ascgrad_node *node, struct ascgrad_error *error) {
    struct fake_ge ge;
    struct fake_node fake = {.type = "KindsGrad", .name = "n", .in = &tensor, .out = &tensor};
    fake.ir_in = fake.ir_out = 1;
    fake.attr = attr;
    fake.attrs = attrs;
    fake_infer_shape(&ge, &fake);
    assert_int_equal(
        ascgrad_read_context(ge.context, ascgrad_ir_table, ASCGRAD_ORIGIN_SHAPES, node, error),
        want);
    if (want == ASCGRAD_DONE && node->attr[WEIGHTS].count) {
        assert_true(ascgrad_float_at(&node->attr[WEIGHTS], 0) == 0.5f);
        assert_true(ascgrad_float_at(&node->attr[WEIGHTS], 2) == -3.25f);
    }
    fake_end(&ge);
}

static void test_table(void **state) {
    (void)state;
    const struct ascgrad_ir *ir = ascgrad_ir_table;
    assert_string_equal(ir->type, "KindsGrad");
    assert_int_equal(ir->attrs, 4);
    assert_true(ir->attr[SCALE].required && ir->attr[SCALE].kind == ASCGRAD_ATTR_FLOAT);
    assert_true(!ir->attr[EPSILON].required && ir->attr[EPSILON].initial_f == 1e-5f);
    assert_true(ir->attr[WEIGHTS].required && ir->attr[WEIGHTS].kind == ASCGRAD_ATTR_LIST_FLOAT);
    assert_true(!ir->attr[STEPS].required && ir->attr[STEPS].kind == ASCGRAD_ATTR_LIST_FLOAT);
}

static void test_bridge(void **state) {
    (void)state;
    struct ascgrad_node node;
    struct ascgrad_error error = {""};
    struct fake_attr attr[] = {{.kind = 'f', .f = {2.5f}},
                               {.kind = 'f', .f = {0.125f}},
                               {.kind = 'r', .f = {0.5f, 7, -3.25f}, .count = 3}};
    read_attrs(attr, 3, ASCGRAD_DONE, &node, &error);
    assert_true(node.attr[SCALE].f == 2.5f && node.attr[EPSILON].f == 0.125f);
    assert_int_equal(node.attr[WEIGHTS].count, 3);
    assert_int_equal(node.attr[STEPS].count, 0);
    read_attrs(attr, 2, ASCGRAD_REFUSED, &node, &error);
    assert_non_null(strstr(error.text, "attribute weights is required"));
    attr[2].count = 0;
    read_attrs(attr, 3, ASCGRAD_DONE, &node, &error);
    assert_int_equal(node.attr[WEIGHTS].count, 0);
}

/* A list that claims more floats than the block holds. */
static void test_block_too_short(void **state) {
    (void)state;
    struct fake_ge ge;
    struct ascgrad_node node;
    struct ascgrad_error error = {""};
    const struct fake_attr attr[] = {
        {.kind = 'f'}, {.kind = 'f'}, {.kind = 'r', .f = {1, 2}, .count = 2}};
    struct fake_node fake = {.type = "KindsGrad", .name = "n", .in = &tensor, .out = &tensor};
    fake.ir_in = fake.ir_out = 1;
    fake.attr = attr;
    fake.attrs = 3;
    fake_infer_shape(&ge, &fake);
    uint8_t *block = ge.info + ge.attrs_at;
    uint64_t list, three = 3;
    memcpy(&list, block + 48 + 8 * WEIGHTS, sizeof list);
    memcpy(block + list, &three, sizeof three);
    memcpy(block + list + 8, &three, sizeof three);
    assert_int_equal(
        ascgrad_read_context(ge.context, ascgrad_ir_table, ASCGRAD_ORIGIN_SHAPES, &node, &error),
        ASCGRAD_REFUSED);
    assert_non_null(strstr(error.text, "attribute weights lies outside"));
    fake_end(&ge);
}

static void test_words(void **state) {
    (void)state;
    struct request r;
    char why[ASCGRAD_WHY];
    assert_true(request_begin(&r, "kinds_grad"));
    assert_true(request_attr(&r, "epsilon=1e-6", why) && r.attr[EPSILON].real == 1e-6f);
    assert_true(request_attr(&r, "scale=-0.5", why) && r.attr[SCALE].real == -0.5f);
    assert_true(request_attr(&r, "weights=0.5,7,-3.25", why));
    assert_int_equal(r.attr[WEIGHTS].count, 3);
    assert_true(r.attr[WEIGHTS].reals[2] == -3.25f);
    assert_true(request_attr(&r, "steps=", why) && r.attr[STEPS].count == 0);
    request_free(&r);
    static const char *const wrong[] = {"scale=one",    "scale=1e39",  "scale=1,2",
                                        "weights=1,,2", "weights=1,x", "weights=1,"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_true(request_begin(&r, "KindsGrad"));
        assert_false(request_attr(&r, wrong[i], why));
        assert_non_null(strstr(why, i < 3 ? "is of type float" : "is of type listFloat"));
        request_free(&r);
    }
}

static void test_description(void **state) {
    (void)state;
    struct ascgrad_op_info op;
    struct text_float text;
    assert_true(ascgrad_describe(0, &op));
    assert_false(ascgrad_describe(1, &op));
    assert_string_equal(op.attr[SCALE].type, "float");
    assert_string_equal(op.attr[STEPS].type, "listFloat");
    assert_true(op.attr[EPSILON].initial_real == 1e-5f);
    assert_string_equal(text_print_float(1e-5f, &text), "1e-05");
    assert_string_equal(text_print_float(0.1f, &text), "0.1");
    assert_string_equal(text_print_float(16777217.0f, &text), "16777216");
    assert_string_equal(text_print_float(0, &text), "0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),           cmocka_unit_test(test_bridge),
        cmocka_unit_test(test_block_too_short), cmocka_unit_test(test_words),
        cmocka_unit_test(test_description),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
