/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs one operator on the CPU through libascgrad and prints its result and what the twin counted.
 *
 *     export PKG_CONFIG_PATH=P/lib/pkgconfig LD_LIBRARY_PATH=P/lib
 *     cc exp_segsum_grad.c $(pkg-config --cflags --libs ascgrad) -o exp_segsum_grad
 *     ./exp_segsum_grad
 *
 * prints 0 3 4 3, after `cmake --install build --prefix P` in a clone that was built.
 */
#include <ascgrad.h>
#include <stdio.h>

int main(void) {
    float ones[16], result[4];
    for (int i = 0; i < 16; i++)
        ones[i] = 1.0f;

    struct ascgrad_tensor in[2] = {
        {.dtype = ASCGRAD_TYPE_FP32, .rank = 2, .dim = {4, 4}, .data = ones}, /* grad_output */
        {.dtype = ASCGRAD_TYPE_FP32, .rank = 2, .dim = {4, 4}, .data = ones}, /* grad_self */
    };
    struct ascgrad_tensor out[1];
    struct ascgrad_call call = {.size = sizeof call,
                                .op = "ExpSegsumGrad",
                                .in = in,
                                .inputs = 2,
                                .out = out,
                                .outputs = 1};
    struct ascgrad_report report = {.size = sizeof report};
    char why[ASCGRAD_WHY];

    int code = ascgrad_infer(&call, why); /* fills dtype and shape of out */
    out[0].data = result;
    if (code == ASCGRAD_OK) code = ascgrad_run(&call, &report, why);
    if (code != ASCGRAD_OK) {
        fprintf(stderr, "%s: %s\n", ascgrad_code_name(code), why);
        return code;
    }
    for (int i = 0; i < 4; i++)
        printf("%g%c", result[i], i < 3 ? ' ' : '\n');
    fprintf(stderr, "%u block(s), %llu bytes read, %llu written\n", report.block_dim,
            (unsigned long long)report.gm_read, (unsigned long long)report.gm_write);
    return 0;
}
