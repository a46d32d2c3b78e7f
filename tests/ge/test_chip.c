/* SPDX-License-Identifier: Apache-2.0
 *
 * From the platform's texts to cores, UB and architecture (ge/chip.c).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "../../ge/platform.h"
#include "probes.h"

static void test_chips(void **state) {
    (void)state;
    static const struct platform_row a950[] = {{"version", "Short_SoC_version", "Ascend950"},
                                               {"version", "NpuArch", "3510"},
                                               {"SoCInfo", "core_type_list", "CubeCore,VectorCore"},
                                               {"SoCInfo", "vector_core_cnt", "64"},
                                               {"SoCInfo", "l2_size", "134217728"},
                                               {"SoCInfo", "ai_core_cnt", "32"},
                                               {"AICoreSpec", "ub_size", "253952"},
                                               {NULL, NULL, NULL}};
    static const struct platform_row full_950[] = {{"version", "Short_SoC_version", "Ascend910_95"},
                                                   {"SoCInfo", "ai_core_cnt", "32"},
                                                   {"AICoreSpec", "ub_size", "262144"},
                                                   {NULL, NULL, NULL}};
    static const struct platform_row a1[] = {{"version", "Short_SoC_version", "Ascend910"},
                                             {"version", "NpuArch", "1001"},
                                             {"SoCInfo", "ai_core_cnt", "32"},
                                             {"AICoreSpec", "ub_size", "262144"},
                                             {NULL, NULL, NULL}};
    static const struct platform_row a350[] = {{"version", "Short_SoC_version", "Ascend350"},
                                               {"version", "NpuArch", "3510"},
                                               {"SoCInfo", "core_type_list", "CubeCore,VectorCore"},
                                               {"SoCInfo", "vector_core_cnt", "32"},
                                               {"SoCInfo", "ai_core_cnt", "16"},
                                               {"AICoreSpec", "ub_size", "253952"},
                                               {NULL, NULL, NULL}};
    static const struct platform_row a960[] = {{"version", "Short_SoC_version", "Ascend960DT"},
                                               {"version", "NpuArch", "9201"},
                                               {"SoCInfo", "ai_core_cnt", "64"},
                                               {"AICoreSpec", "ub_size", "262144"},
                                               {NULL, NULL, NULL}};
    static const struct platform_row a310p[] = {{"version", "Short_SoC_version", "Ascend310P"},
                                                {"version", "NpuArch", "2002"},
                                                {"SoCInfo", "ai_core_cnt", "8"},
                                                {"AICoreSpec", "ub_size", "262144"},
                                                {NULL, NULL, NULL}};
    static const struct platform_row no_cores[] = {{"version", "NpuArch", "2201"},
                                                   {"SoCInfo", "ai_core_cnt", "4x"},
                                                   {"AICoreSpec", "ub_size", "196608"},
                                                   {NULL, NULL, NULL}};
    static const struct platform_row no_ub[] = {{"version", "NpuArch", "2201"},
                                                {"SoCInfo", "ai_core_cnt", "4"},
                                                {"AICoreSpec", "ub_size", "-1"},
                                                {NULL, NULL, NULL}};
    static const struct platform_row nothing[] = {{NULL, NULL, NULL}};
    static const struct {
        const struct platform_row *platform;
        uint32_t cores, arch;
        uint64_t ub, l2;
        const char *refusal;
    } rows[] = {
        {chip_8_1, 48, 2201, 196352, 0, NULL},
        {a950, 64, 3510, 253952, 134217728, NULL},
        {full_950, 32, 3510, 253952, 0, NULL},
        {a1, 32, 1001, 262144, 0, NULL},
        {a350, 32, 3510, 253952, 0, NULL},
        {a960, 64, 3510, 253952, 0, NULL},
        {a310p, 0, 0, 0, 0,
         "chip 'Ascend310P' has architecture 2002, supported are 1001 (first 910),"},
        {no_cores, 0, 0, 0, 0, "reports 0 vector cores and 196352 usable bytes"},
        {no_ub, 0, 0, 0, 0, "reports 4 vector cores and 0 usable bytes"},
        {nothing, 0, 0, 0, 0, "chip '' has architecture 0"},
        {NULL, 0, 0, 0, 0, "no platform information"},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        struct ascgrad_node node = {.ir = ascgrad_ir_table, .name = "n"};
        struct ascgrad_error error = {""};
        struct ascgrad_chip chip = {0};
        void *platform = (void *)(uintptr_t)rows[r].platform;
        const ascgrad_result result = ascgrad_read_chip(platform, &node, &chip, &error);
        assert_int_equal(result, rows[r].refusal ? ASCGRAD_REFUSED : ASCGRAD_DONE);
        if (rows[r].refusal) {
            assert_non_null(strstr(error.text, rows[r].refusal));
        } else {
            assert_int_equal(chip.cores, rows[r].cores);
            assert_int_equal(chip.arch, rows[r].arch);
            assert_int_equal(chip.ub, rows[r].ub);
            assert_int_equal(chip.l2, rows[r].l2);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_chips)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
