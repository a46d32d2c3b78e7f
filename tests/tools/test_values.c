/* SPDX-License-Identifier: Apache-2.0
 *
 * The error figure of `ascgrad check` (tools/check/values.c): what rounding must cost counts
 * nothing, and the rest is measured against what is allowed.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../../tools/check/values.h"

static void test_error(void **state) {
    (void)state;
    static const struct {
        int32_t dtype;
        double got, want, magnitude, error;
    } rows[] = {
        {ASCGRAD_TYPE_FP16, 1, 1, 1, 0},
        {ASCGRAD_TYPE_FP16, 1, 1 + 0x1p-11, 1, 0},              /* half an ulp exactly */
        {ASCGRAD_TYPE_FP16, 1, 1 + 0x1p-11 + 0x1p-21, 1, 0.5},  /* and half of 2^-20 */
        {ASCGRAD_TYPE_FP16, 1, 1 + 0x1p-11 + 0x1p-21, 2, 0.25}, /* of terms twice as large */
        {ASCGRAD_TYPE_FP16, 1, 1 + 0x1p-11 + 0x1p-19, 1, 2},    /* too much */
        {ASCGRAD_TYPE_BF16, 1, 1 + 0x1p-8 + 0x1p-20, 1, 1},     /* just what is allowed */
        {ASCGRAD_TYPE_FP32, 1, 1 + 0x1p-24, 1, 0},              /* fp32 rounds, too */
        {ASCGRAD_TYPE_FP32, 1 + 0x1p-21, 1, 1, 0.5 - 0x1p-4},   /* 2^-21 less 2^-24 */
        {ASCGRAD_TYPE_FP32, 0x1p-149, 0, 0, 1e30},              /* nothing is allowed for 0 */
        {ASCGRAD_TYPE_FP32, NAN, 1, 1, 1e30},
        {ASCGRAD_TYPE_FP32, NAN, NAN, 1, 0},
        {ASCGRAD_TYPE_FP32, -INFINITY, INFINITY, 1, 1e30},
        {ASCGRAD_TYPE_FP16, INFINITY, 65520, 1, 0}, /* beyond the type's range */
        {ASCGRAD_TYPE_FP16, INFINITY, 65500, 1, 1e30},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double error = value_error(rows[i].dtype, rows[i].got, rows[i].want, rows[i].magnitude);
        if (error != rows[i].error) fail_msg("row %zu: %g, not %g", i, error, rows[i].error);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
