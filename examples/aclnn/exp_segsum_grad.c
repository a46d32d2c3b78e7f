/* SPDX-License-Identifier: Apache-2.0
 *
 * aclnnExpSegsumBackward: with p = grad_output * grad_self below the diagonal and zero elsewhere,
 * grad_input[k] is the sum of p over the rows from k on and the columns before k.
 */
#include "aclnn_exp_segsum_grad.h"
#include "device.h"

#include <stdlib.h>

enum { BATCH = 2, HEADS = 3, T = 16 };

static bool check(const struct tensor *gradOutput, const struct tensor *gradSelf,
                  struct tensor *gradInput) {
    static double expected[BATCH * HEADS * T];
    for (int m = 0; m < BATCH * HEADS; m++) {
        for (int k = 0; k < T; k++) {
            for (int row = k; row < T; row++) {
                for (int column = 0; column < k; column++) {
                    const int at = (m * T + row) * T + column;
                    expected[m * T + k] += (double)gradOutput->host[at] * gradSelf->host[at];
                }
            }
        }
    }
    return agrees("gradInput", gradInput, expected);
}

int main(void) {
    const int64_t square[] = {BATCH, HEADS, T, T};
    struct tensor gradOutput = {0}, gradSelf = {0}, gradInput = {0};
    aclrtStream stream;
    if (!device_begin(&stream)) {
        return EXIT_FAILURE;
    }
    bool good = tensor_begin(&gradOutput, 4, square) && tensor_begin(&gradSelf, 4, square) &&
                tensor_begin(&gradInput, 3, square);
    if (good) {
        uint64_t size = 0;
        aclOpExecutor *executor = NULL;
        const aclnnStatus code = aclnnExpSegsumBackwardGetWorkspaceSize(
            gradOutput.acl, gradSelf.acl, gradInput.acl, &size, &executor);
        good = finish("aclnnExpSegsumBackward", code, aclnnExpSegsumBackward, size, executor,
                      stream) &&
               check(&gradOutput, &gradSelf, &gradInput);
    }
    tensor_end(&gradOutput);
    tensor_end(&gradSelf);
    tensor_end(&gradInput);
    device_end(stream);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
