/* SPDX-License-Identifier: Apache-2.0
 *
 * ASCGRAD_VERBOSE (core/verbose.c): one line for each call of GE, and not a byte without it.
 *
 * usage: test_verbose loud|quiet
 */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "probes.h"

static bool loud;
static char told[4096];

static void infer(void) {
    struct fake_ge ge;
    fake_infer_shape(&ge, &exp_node);
    assert_int_equal(ascgrad_ge_infer_shape(ge.context, ir_of(exp_node.type), probe_infer),
                     GE_SUCCESS);
    fake_end(&ge);
}

static void infer_dtype(void) {
    struct fake_ge ge;
    fake_infer_dtype(&ge, &exp_node);
    assert_int_equal(ascgrad_ge_infer_dtype(ge.context, ir_of(exp_node.type), probe_dtype),
                     GE_SUCCESS);
    fake_end(&ge);
}

static void refuse(void) {
    struct fake_ge ge;
    const struct fake_tensor in[] = {{.dtype = FP32, .rank = 1, .dim = {3}},
                                     {.dtype = FP32, .rank = 1, .dim = {3}}};
    struct fake_node node = exp_node;
    node.in = in;
    fake_infer_shape(&ge, &node);
    assert_int_equal(ascgrad_ge_infer_shape(ge.context, ir_of(node.type), probe_infer), GE_FAILED);
    fake_end(&ge);
}

static void tile(void) {
    struct fake_ge ge;
    next_launch = (struct ascgrad_launch){.key = 7, .block_dim = 40, .workspace = 4096};
    fake_tiling(&ge, &exp_node, FAKE_2026, chip_8_1, ge_compile_info(), 64);
    assert_int_equal(call_tiling(&ge, exp_node.type), GE_SUCCESS);
    fake_end(&ge);
}

/* What a call writes to stderr. */
static const char *listen(void (*call)(void)) {
    FILE *file = tmpfile();
    const int before = dup(2);
    assert_true(file && before >= 0 && dup2(fileno(file), 2) >= 0);
    call();
    fflush(stderr);
    dup2(before, 2);
    close(before);
    rewind(file);
    told[fread(told, 1, sizeof told - 1, file)] = '\0';
    fclose(file);
    return told;
}

static void check(void (*call)(void), const char *begin) {
    const char *line = listen(call);
    if (!loud) {
        assert_string_equal(line, "");
        return;
    }
    assert_memory_equal(line, begin, strlen(begin));
    double us = -1;
    char end[8] = "";
    assert_int_equal(sscanf(line + strlen(begin), ", %lf %7[us\n]", &us, end), 2);
    assert_true(us >= 0 && us < 1e6);
    assert_string_equal(end, "us\n");
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1); /* one line */
}

static void test_lines(void **state) {
    (void)state;
    check(infer, "[ascgrad] infer ExpSegsumGrad grad_output=bf16[2,4,4] grad_self=bf16[2,4,4] -> "
                 "grad_input=[2,4,4]");
    check(infer_dtype,
          "[ascgrad] infer dtype ExpSegsumGrad grad_output=bf16 grad_self=bf16 -> grad_input=bf16");
    check(refuse, "[ascgrad] infer ExpSegsumGrad grad_output=fp32[3] grad_self=fp32[3] refused");
    check(tile, "[ascgrad] tiling ExpSegsumGrad grad_output=bf16[2,4,4] grad_self=bf16[2,4,4] -> "
                "key 7, 40 of 48 blocks, workspace 4096, 24 bytes, for GE");
}

int main(int argc, char **argv) {
    loud = argc == 2 && strcmp(argv[1], "loud") == 0;
    setenv("ASCGRAD_VERBOSE", loud ? "1" : "0", 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
