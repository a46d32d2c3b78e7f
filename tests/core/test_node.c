/* SPDX-License-Identifier: Apache-2.0
 *
 * The helpers every infer and tiling function leans on (core/node.c).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "../../core/node.h"

#define BIG (1ll << 40)

#define ANY "fp16,fp32,bf16"
static const struct ascgrad_ir rope = {.type = "RopeGrad"};
static const struct ascgrad_ir one = {.type = "Op", .inputs = 1, .in = {{"x", false, ANY}}};
static const struct ascgrad_ir four = {
    .type = "Op",
    .inputs = 4,
    .outputs = 1,
    .attrs = 1,
    .in = {{"a", false, ANY},
           {"b", true, ANY},
           {"c", false, ANY},
           {"mean", true, "fp32,fp32,fp32"}},
    .out = {{"d", false, ANY}},
    .attr = {{"mode", ASCGRAD_ATTR_INT, true, 0}},
};

static void test_refuse(void **state) {
    (void)state;
    struct ascgrad_error error;
    char name[500];
    struct ascgrad_node node = {.ir = &rope, .name = "layer/3"};
    assert_int_equal(ascgrad_refuse(&error, &node, "%d is not %d", 3, 4), ASCGRAD_REFUSED);
    assert_string_equal(error.text, "RopeGrad 'layer/3': 3 is not 4");

    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    node.name = name; /* a name longer than the buffer must not push the rule out */
    ascgrad_refuse(&error, &node, "%d is not %d", 3, 4);
    assert_non_null(strstr(error.text, "': 3 is not 4"));
    ascgrad_refuse(&error, &node, "%s", name);
    assert_true(strlen(error.text) < sizeof error.text);

    node = (struct ascgrad_node){0};
    assert_int_equal(ascgrad_refuse(&error, &node, "no"), ASCGRAD_REFUSED);
    assert_int_equal(ascgrad_refuse(&error, NULL, "no"), ASCGRAD_REFUSED);
    assert_int_equal(ascgrad_refuse(NULL, &node, "no"), ASCGRAD_REFUSED);
}

static void test_put(void **state) {
    (void)state;
    char buffer[16] = {0};
    struct ascgrad_error error;
    struct ascgrad_node node = {.ir = &one, .name = "n"};
    struct ascgrad_launch launch = {.data = buffer, .capacity = 12};
    assert_int_equal(ascgrad_put(&launch, &node, "12345678", 8, &error), ASCGRAD_DONE);
    assert_int_equal(ascgrad_put(&launch, &node, "abcde", 5, &error), ASCGRAD_REFUSED);
    assert_string_equal(error.text, "Op 'n': the tiling data takes 5 bytes, the buffer has 4 left");
    assert_int_equal(ascgrad_put(&launch, &node, "abcd", 4, &error), ASCGRAD_DONE);
    assert_int_equal(launch.size, 12);
    assert_memory_equal(buffer, "12345678abcd\0\0\0\0", 16);
    launch = (struct ascgrad_launch){.data = NULL, .capacity = 12};
    assert_int_equal(ascgrad_put(&launch, &node, "a", 1, &error), ASCGRAD_REFUSED);
}

static void test_dtypes(void **state) {
    (void)state;
    assert_string_equal(ascgrad_dtype_name(ASCGRAD_BF16), "bf16");
    assert_string_equal(ascgrad_dtype_name(9), "int64");
    assert_string_equal(ascgrad_dtype_name(-7), "another dtype");
    assert_int_equal(ascgrad_dtype_size(ASCGRAD_FP32), 4);
    assert_int_equal(ascgrad_dtype_size(ASCGRAD_FP16), 2);
    assert_int_equal(ascgrad_dtype_size(ASCGRAD_BF16), 2);
    assert_int_equal(ascgrad_dtype_size(3), 0);
}

static void test_shape_text(void **state) {
    (void)state;
    struct ascgrad_text text;
    struct ascgrad_shape shape = {.rank = 3, .dim = {2, -1, 5}};
    assert_string_equal(ascgrad_shape_text(&shape, &text), "[2,-1,5]");
    assert_string_equal(ascgrad_shape_text(&(struct ascgrad_shape){.rank = 0}, &text), "[]");
    assert_string_equal(ascgrad_shape_text(NULL, &text), "none");
    assert_string_equal(ascgrad_shape_text(&(struct ascgrad_shape){.rank = 26}, &text),
                        "[rank 26]");
    shape.rank = ASCGRAD_MAX_RANK;
    for (int i = 0; i < ASCGRAD_MAX_RANK; i++) {
        shape.dim[i] = INT64_MIN;
    }
    ascgrad_shape_text(&shape, &text);
    assert_true(strlen(text.s) < sizeof text.s);
    assert_string_equal(text.s + strlen(text.s) - 5, ",...]");
}

static void test_elements(void **state) {
    (void)state;
    static const struct {
        struct ascgrad_shape shape;
        uint64_t from, to;
        int64_t elements;
    } rows[] = {
        {{3, {2, 3, 5}}, 0, 3, 30},
        {{3, {2, 3, 5}}, 1, 2, 3},
        {{3, {2, 3, 5}}, 3, 3, 1},
        {{0, {0}}, 0, 0, 1},
        {{3, {BIG, BIG, 2}}, 0, 3, -1},
        {{3, {BIG, BIG, 0}}, 0, 3, 0},
        {{2, {INT64_MAX, 1}}, 0, 2, INT64_MAX},
        {{2, {2, -1}}, 0, 2, -1},
        {{26, {1}}, 0, 26, -1},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        assert_true(ascgrad_elements(&rows[r].shape, rows[r].from, rows[r].to) == rows[r].elements);
    }
}

static void test_shape_equal(void **state) {
    (void)state;
    const struct ascgrad_shape a = {2, {2, 3}}, b = {2, {2, 3, 9}}, c = {3, {2, 3, 9}},
                               d = {2, {3, 2}};
    assert_true(ascgrad_shape_equal(&a, &b)); /* what lies behind the rank does not count */
    assert_false(ascgrad_shape_equal(&b, &c));
    assert_false(ascgrad_shape_equal(&a, &d));
    assert_true(ascgrad_shape_concrete(&a));
    assert_false(ascgrad_shape_concrete(&(struct ascgrad_shape){2, {2, -1}}));
    assert_false(ascgrad_shape_concrete(&(struct ascgrad_shape){1, {-2}}));
    assert_false(ascgrad_shape_concrete(&(struct ascgrad_shape){26, {1}}));
}

static void test_need_concrete(void **state) {
    (void)state;
    static const struct {
        struct ascgrad_shape shape;
        const char *refusal;
    } rows[] = {
        {{2, {3, 4}}, NULL},
        {{0, {0}}, NULL},
        {{2, {0, 4}}, NULL},
        {{2, {3, -1}}, "the shape of x must be known"},
        {{1, {-2}}, "got [-2]"},
        {{2, {BIG, BIG}}, "does not fit"},
        {{3, {0, BIG, BIG}}, "does not fit"},  /* a part of it is too large to multiply */
        {{2, {1ll << 60, 1}}, "does not fit"}, /* the bytes do not fit */
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        struct ascgrad_error error = {""};
        struct ascgrad_node node = {.ir = &one, .name = "n"};
        node.in[0] = (struct ascgrad_arg){.present = true, .shape = &rows[r].shape};
        const ascgrad_result result = ascgrad_need_concrete(&node, 0, &error);
        assert_int_equal(result, rows[r].refusal ? ASCGRAD_REFUSED : ASCGRAD_DONE);
        if (rows[r].refusal) {
            assert_non_null(strstr(error.text, rows[r].refusal));
        }
    }
    struct ascgrad_error error;
    struct ascgrad_node node = {.ir = &one, .name = "n"};
    assert_int_equal(ascgrad_need_concrete(&node, 0, &error), ASCGRAD_REFUSED);
    assert_string_equal(error.text, "Op 'n': input x is required but not connected");
}

static void test_need_dtype(void **state) {
    (void)state;
    struct ascgrad_error error;
    struct ascgrad_node node = {.ir = &four, .name = "n"};
    node.in[0] = (struct ascgrad_arg){.present = true, .dtype = ASCGRAD_FP32};
    node.in[1] = (struct ascgrad_arg){.present = false, .dtype = 3};
    node.in[2] = (struct ascgrad_arg){.present = true, .dtype = ASCGRAD_BF16};
    assert_int_equal(ascgrad_need_dtype(&node, 0, 2, &error), ASCGRAD_DONE);
    assert_int_equal(ascgrad_need_dtype(&node, 1, 2, &error), ASCGRAD_DONE);
    assert_int_equal(ascgrad_need_dtype(&node, 0, 3, &error), ASCGRAD_REFUSED);
    assert_string_equal(error.text, "Op 'n': a and c must have one dtype, got fp32 and bf16");
    node.in[1].present = true;
    assert_int_equal(ascgrad_need_dtype(&node, 1, 1, &error), ASCGRAD_REFUSED);
    assert_string_equal(error.text, "Op 'n': b must be fp16, fp32 or bf16, got int32 (3)");
    assert_int_equal(ascgrad_need_dtype(&node, 3, 9, &error), ASCGRAD_DONE);
}

/* Two more columns: 16 bits with tables of fp32. */
static void test_columns(void **state) {
    (void)state;
    static const char data[] = "fp16,fp32,bf16,fp16,bf16", table[] = "fp16,fp32,bf16,fp32,fp32";
    static const struct ascgrad_ir mixed = {
        .type = "Op",
        .inputs = 4,
        .outputs = 1,
        .in = {{"x", false, data},
               {"cos", false, table},
               {"sin", false, table},
               {"dy", true, data}},
        .out = {{"dcos", false, table}},
    };
    enum { H = ASCGRAD_FP16, F = ASCGRAD_FP32, B = ASCGRAD_BF16, NONE = -1 };
    static const struct {
        int32_t dtype[5], column;
        const char *refusal;
    } rows[] = {
        {{H, H, H, H, H}, 0, NULL},
        {{F, F, F, NONE, NONE}, 1, NULL},
        {{B, B, B, NONE, B}, 2, NULL},
        {{H, F, F, H, F}, 3, NULL},
        {{B, F, F, NONE, NONE}, 4, NULL},
        {{B, F, F, NONE, B}, -1, NULL}, /* an output of another column is not need_dtype's matter */
        {{H, B, B, H, NONE}, -1, "cos must be fp16 or fp32 beside x of fp16, got bf16"},
        {{F, B, B, F, NONE}, -1, "cos must be fp32 beside x of fp32, got bf16"},
        {{H, F, H, H, NONE}, -1, "cos and sin must have one dtype, got fp32 and fp16"},
        {{H, F, F, F, NONE}, -1, "x and dy must have one dtype, got fp16 and fp32"},
        {{NONE, F, F, 9, NONE}, -1, "dy must be fp16, fp32 or bf16, got int64 (9)"},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        struct ascgrad_error error = {""};
        struct ascgrad_node node = {.ir = &mixed, .name = "n"};
        for (int i = 0; i < 4; i++) {
            node.in[i] = (struct ascgrad_arg){rows[r].dtype[i] != NONE, rows[r].dtype[i], NULL};
        }
        node.out[0] = (struct ascgrad_arg){rows[r].dtype[4] != NONE, rows[r].dtype[4], NULL};
        assert_int_equal(ascgrad_column(&node), rows[r].column);
        const ascgrad_result result = ascgrad_need_dtype(&node, 0, 4, &error);
        assert_int_equal(result, rows[r].refusal ? ASCGRAD_REFUSED : ASCGRAD_DONE);
        if (rows[r].refusal) {
            assert_string_equal(error.text + strlen("Op 'n': "), rows[r].refusal);
        }
    }
    static const struct ascgrad_ir few = {
        .type = "Op", .inputs = 2, .in = {{"a", true, "fp16,fp32"}, {"b", true, "fp16,fp32"}}};
    struct ascgrad_error error;
    struct ascgrad_node node = {.ir = &few, .name = "n"};
    node.in[1] = (struct ascgrad_arg){true, ASCGRAD_BF16, NULL};
    assert_int_equal(ascgrad_need_dtype(&node, 0, 2, &error), ASCGRAD_REFUSED);
    assert_string_equal(error.text, "Op 'n': b must be fp16 or fp32, got bf16");
    assert_int_equal(ascgrad_type_at(data, 4), ASCGRAD_BF16);
    assert_int_equal(ascgrad_type_at(data, 5), -1);
    assert_int_equal(ascgrad_type_at("int8,fp16", 0), -1);
}

static void test_need_inputs(void **state) {
    (void)state;
    struct ascgrad_error error;
    struct ascgrad_shape shape = {1, {4}};
    struct ascgrad_node node = {.ir = &four, .name = "n"};
    node.in[0] = node.in[2] = (struct ascgrad_arg){true, ASCGRAD_FP16, &shape};
    assert_int_equal(ascgrad_need_inputs(&node, &error), ASCGRAD_DONE);
    node.in[3] = (struct ascgrad_arg){true, ASCGRAD_FP32, &shape}; /* has a type of its own */
    assert_int_equal(ascgrad_need_inputs(&node, &error), ASCGRAD_DONE);
    node.in[3].dtype = ASCGRAD_FP16;
    assert_int_equal(ascgrad_need_inputs(&node, &error), ASCGRAD_REFUSED);
    assert_string_equal(error.text, "Op 'n': mean must be fp32, got fp16");
    node.in[3].present = false;
    node.in[1].present = true; /* connected, but without a shape */
    assert_int_equal(ascgrad_need_inputs(&node, &error), ASCGRAD_REFUSED);
    assert_string_equal(error.text, "Op 'n': input b is required but not connected");
}

static void test_need_output_and_attr(void **state) {
    (void)state;
    struct ascgrad_error error;
    struct ascgrad_shape shape = {1, {4}}, other = {2, {1, 4}};
    struct ascgrad_node node = {.ir = &four, .name = "n"};
    assert_int_equal(ascgrad_need_output(&node, 0, &shape, ASCGRAD_FP16, &error), ASCGRAD_DONE);
    node.out[0] = (struct ascgrad_arg){true, ASCGRAD_FP16, &shape};
    assert_int_equal(ascgrad_need_output(&node, 0, &shape, ASCGRAD_FP16, &error), ASCGRAD_DONE);
    assert_int_equal(ascgrad_need_output(&node, 0, &other, ASCGRAD_FP16, &error), ASCGRAD_REFUSED);
    assert_string_equal(error.text, "Op 'n': d has shape [4], but must be [1,4]");
    assert_int_equal(ascgrad_need_output(&node, 0, &shape, ASCGRAD_FP32, &error), ASCGRAD_REFUSED);
    assert_string_equal(error.text, "Op 'n': d is fp16, but must be fp32");
    node.attr[0].i = 2;
    assert_int_equal(ascgrad_need_attr(&node, 0, 2, &error), ASCGRAD_DONE);
    assert_int_equal(ascgrad_need_attr(&node, 0, 1, &error), ASCGRAD_REFUSED);
    assert_string_equal(error.text, "Op 'n': mode is 2, but must be 0 to 1");
    node.attr[0].i = -1;
    assert_int_equal(ascgrad_need_attr(&node, 0, 1, &error), ASCGRAD_REFUSED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refuse),
        cmocka_unit_test(test_put),
        cmocka_unit_test(test_dtypes),
        cmocka_unit_test(test_shape_text),
        cmocka_unit_test(test_elements),
        cmocka_unit_test(test_shape_equal),
        cmocka_unit_test(test_need_concrete),
        cmocka_unit_test(test_need_dtype),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_need_inputs),
        cmocka_unit_test(test_need_output_and_attr),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
