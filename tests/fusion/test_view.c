/* SPDX-License-Identifier: Apache-2.0
 *
 * The view of a graph: spoilt ones are refused with a sentence, reasons are told, and a hundred
 * thousand nodes take less than a second.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "text.h"

static const char *folder;

static struct fusion_graph *load(const char *name) {
    char path[4096];
    struct recorded r;
    snprintf(path, sizeof path, "%s/%s.txt", folder, name);
    assert_true(read_recorded(path, &r));
    return r.graph;
}

static int32_t matches_in(const struct fusion_graph *graph) {
    struct fusion_found found;
    struct ascgrad_error error;
    assert_int_equal(fusion_find(graph, &found, NULL, &error), ASCGRAD_DONE);
    free(found.match);
    return found.count;
}

/* The sentence must name what is wrong. */
static void refused(struct fusion_graph *graph, const char *sentence) {
    struct fusion_found found;
    struct ascgrad_error error = {{0}};
    assert_int_equal(fusion_find(graph, &found, NULL, &error), ASCGRAD_REFUSED);
    if (!strstr(error.text, sentence)) fail_msg("'%s' does not say '%s'", error.text, sentence);
    assert_int_equal(found.count, 0);
    free(found.match);
    fusion_graph_free(graph);
}

static void test_empty(void **state) {
    (void)state;
    struct fusion_graph *graph = fusion_graph_new();
    assert_int_equal(matches_in(graph), 0);
    fusion_graph_free(graph);
}

static void test_spoilt(void **state) {
    (void)state;
    struct fusion_graph *g;
    g = load("torch_half");
    int32_t dx = find_tensor(g, "add_1"), mul = find_tensor(g, "mul_2");
    g->node[g->tensor[mul].node].input[0] = dx;
    refused(g, "cycle");
    g = load("torch_half");
    g->node[g->tensor[mul].node].input[0] = mul;
    refused(g, "cycle");
    g = load("torch_half");
    fusion_add_control(g, g->tensor[dx].node, g->tensor[mul].node);
    refused(g, "cycle");
    g = load("torch_half");
    g->node[g->tensor[mul].node].input[1] = g->tensors;
    refused(g, "input 1 of 'mul_2' is tensor");
    g = load("torch_half");
    g->node[g->tensor[mul].node].input[1] = -7;
    refused(g, "input 1 of 'mul_2' is tensor -7");
    g = load("torch_half");
    g->tensor[mul].rank = 9;
    refused(g, "has rank 9");
    g = load("torch_half");
    g->tensor[mul].dim[0] = INT64_MAX;
    refused(g, "absurd dimension");
    g = load("torch_half");
    g->tensor[mul].dim[1] = -5;
    refused(g, "absurd dimension -5");
    g = load("torch_half");
    g->tensor[mul].node = 3000;
    refused(g, "belongs to node 3000");
    g = load("torch_half");
    g->node[g->tensor[mul].node].first++;
    refused(g, "belongs to another node");
    g = load("torch_half");
    g->node[g->tensor[mul].node].outputs = 4000;
    refused(g, "not there");
    g = load("torch_half");
    g->tensor[find_tensor(g, "k.4")].count = -1;
    refused(g, "says it has -1 elements");
}

/* Shapes and parameters that contradict each other are no cycle and no wild pointer: nothing
 * matches, and nothing is read that is not there (the sanitizers look on). */
static void test_contradictions(void **state) {
    (void)state;
    static const char *const names[] = {"torch_half", "torch_half_slices", "torch_pairs",
                                        "tensorflow_half_slices", "tensorflow_real_imag"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        struct fusion_graph *whole = load(names[k]);
        int32_t tensors = whole->tensors;
        fusion_graph_free(whole);
        for (int32_t t = 0; t < tensors; t++) {
            static const int64_t values[] = {-1, 0, 1, 3, 5, 1 << 20, INT64_MAX / 4};
            for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
                struct fusion_graph *g = load(names[k]);
                struct fusion_tensor *tensor = &g->tensor[t];
                struct fusion_found found;
                struct ascgrad_error error;
                for (int64_t i = 0; i < tensor->count; i++)
                    tensor->ints[i] = values[v];
                if (tensor->count == 0 && tensor->rank > 0)
                    tensor->dim[tensor->rank - 1] = values[v];
                if (fusion_find(g, &found, NULL, &error) == ASCGRAD_DONE) free(found.match);
                fusion_graph_free(g);
            }
        }
    }
}

/* A table of five rows for a gradient of four. */
static void test_shapes_that_do_not_meet(void **state) {
    (void)state;
    for (int64_t rows = 1; rows < 6; rows++) {
        struct fusion_graph *g = load("torch_half");
        g->tensor[find_tensor(g, "cos")].dim[2] = rows;
        g->tensor[find_tensor(g, "sin")].dim[2] = rows;
        assert_int_equal(matches_in(g), rows == 1 || rows == 4);
        fusion_graph_free(g);
    }
}

/* What an attribute changes must change the answer. */
static void test_attributes(void **state) {
    (void)state;
    static const struct {
        const char *type, *attr;
        int64_t harmless, harmful;
    } rows[] = {{"GatherV2", "batch_dims", 0, 1},
                {"ScatterElements", "reduction", 1, 0}, /* "none", or another */
                {"ScatterElements", "axis", 3, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int32_t harm = 0; harm < 2; harm++) {
            struct fusion_graph *g = load("torch_pairs");
            int64_t value = harm ? rows[i].harmful : rows[i].harmless;
            for (int32_t n = 0; n < g->nodes; n++)
                if (strcmp(g->node[n].type, rows[i].type) == 0)
                    fusion_add_attr(g, n, rows[i].attr, &value, 1);
            assert_int_equal(matches_in(g), !harm);
            fusion_graph_free(g);
        }
}

static void test_missing_inputs(void **state) {
    (void)state;
    struct fusion_graph *g = load("torch_half");
    for (int32_t n = 0; n < g->nodes; n++)
        for (int32_t i = 0; i < g->node[n].inputs; i++) {
            struct fusion_graph *spoilt = load("torch_half");
            spoilt->node[n].input[i] = FUSION_ABSENT;
            /* Ends of slices are in the shapes, and a step of one is the default. */
            bool slice = strcmp(g->node[n].type, "StridedSliceV2") == 0;
            int32_t expected = slice && (i == 2 || i == 4);
            assert_int_equal(matches_in(spoilt), expected);
            fusion_graph_free(spoilt);
        }
    fusion_graph_free(g);
}

static void hear(void *self, const char *sentence) {
    snprintf(self, 400, "%s", sentence);
}

static void test_reasons(void **state) {
    (void)state;
    static const struct {
        const char *graph, *reason;
    } rows[] = {
        {"left_control_edge", "'dx' is rope's backward, but control edges hold its nodes"},
        {"left_fp64", "which the operator does not have"},
        {"left_two_shapes", "a cos and a sin of two shapes"},
        {"left_wrong_sign", "no tensor holds its sin as it is used"},
        {"tensorflow_half_any_batch", "has a dimension that is not known"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char heard[400] = "";
        struct fusion_listener listener = {hear, heard};
        struct fusion_found found;
        struct ascgrad_error error;
        struct fusion_graph *graph = load(rows[i].graph);
        assert_int_equal(fusion_find(graph, &found, &listener, &error), ASCGRAD_DONE);
        if (!strstr(heard, rows[i].reason))
            fail_msg("%s: '%s' does not say '%s'", rows[i].graph, heard, rows[i].reason);
        free(found.match);
        fusion_graph_free(graph);
    }
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int32_t node(struct fusion_graph *g, const char *type, int32_t a, int32_t b, int32_t lanes) {
    int32_t n = fusion_add_node(g, type, type, 1);
    if (a >= 0) fusion_add_input(g, n, a);
    if (b >= 0) fusion_add_input(g, n, b);
    g->tensor[g->node[n].first] =
        (struct fusion_tensor){.node = n, .rank = 4, .dim = {8, 32, 4096, lanes}};
    return g->node[n].first;
}

/* One rope after the other on 128 lanes, each rotating what the one before it gave; every second
 * one with the wrong sign. */
static struct fusion_graph *many_ropes(int32_t nodes, int32_t *expected) {
    struct fusion_graph *g = fusion_graph_new();
    int32_t dy = node(g, "Data", -1, -1, 128), cos = node(g, "Data", -1, -1, 128);
    int32_t sin = node(g, "Data", -1, -1, 128);
    int32_t axis = node(g, "Const", -1, -1, 1);
    int64_t last = 3;
    g->tensor[axis].rank = 0;
    fusion_set_ints(g, axis, &last, 1);
    for (int32_t k = 0; g->nodes < nodes; k++) {
        int32_t straight = node(g, "Mul", dy, cos, 128), product = node(g, "Mul", dy, sin, 128);
        int32_t parts = fusion_add_node(g, "Split", "Split", 2);
        fusion_add_input(g, parts, axis);
        fusion_add_input(g, parts, product);
        for (int32_t i = 0; i < 2; i++)
            g->tensor[g->node[parts].first + i] = (struct fusion_tensor){
                .node = parts, .port = i, .rank = 4, .dim = {8, 32, 4096, 64}};
        int32_t low = g->node[parts].first, minus = node(g, "Neg", low + k % 2, -1, 64);
        int32_t turned = node(g, "ConcatV2", low + 1 - k % 2, minus, 128);
        fusion_add_input(g, g->tensor[turned].node, axis);
        int32_t sum = node(g, "AddN", turned, straight, 128);
        *expected += k % 2 == 0;
        /* Something opaque between two ropes, and sums without a rope. */
        dy = node(g, "MatMul", sum, -1, 128);
        for (int32_t i = 0; i < 4; i++)
            dy = node(g, "Add", dy, node(g, "Mul", dy, cos, 128), 128);
        dy = node(g, "MatMul", dy, -1, 128);
    }
    return g;
}

static void test_hundred_thousand_nodes(void **state) {
    (void)state;
    int32_t expected = 0;
    struct fusion_graph *g = many_ropes(100000, &expected);
    double start = seconds();
    assert_int_equal(matches_in(g), expected);
    double took = seconds() - start;
    printf("%d nodes, %d ropes found: %.3f s\n", g->nodes, expected, took);
#ifndef __SANITIZE_ADDRESS__
    assert_true(took < 1.0);
#endif
    fusion_graph_free(g);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),          cmocka_unit_test(test_spoilt),
        cmocka_unit_test(test_contradictions), cmocka_unit_test(test_shapes_that_do_not_meet),
        cmocka_unit_test(test_attributes),     cmocka_unit_test(test_missing_inputs),
        cmocka_unit_test(test_reasons),        cmocka_unit_test(test_hundred_thousand_nodes),
    };
    if (argc != 2) return 1;
    folder = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
