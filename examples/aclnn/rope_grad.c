/* SPDX-License-Identifier: Apache-2.0
 *
 * aclnnRopeGrad on two packed sequences, with the true gradient: for every head x of a token at
 * position p, y[j] = x[j] cos[p][j] + x[j+h] sin[p][j+h] in the first half and
 * y[j] = x[j] cos[p][j] - x[j-h] sin[p][j-h] in the second.
 */
#include "aclnn_rope_grad.h"
#include "device.h"

#include <stdlib.h>

enum { TOKENS = 11, POSITIONS = 8, HEADS = 4, KV_HEADS = 2, D = 64 };
enum { Q, K, COS, SIN, Q_GRAD, K_GRAD, TENSORS };
static const int64_t lengths[] = {7, 4};

static bool check(const struct tensor *t, const struct tensor *x, struct tensor *grad, int heads,
                  const char *name) {
    static double expected[TOKENS * HEADS * D];
    int token = 0;
    for (int s = 0; s < 2; s++) {
        for (int64_t p = 0; p < lengths[s]; p++, token++) {
            const float *cos = t[COS].host + p * D, *sin = t[SIN].host + p * D;
            for (int h = 0; h < heads; h++) {
                const float *head = x->host + (token * heads + h) * D;
                for (int j = 0; j < D; j++) {
                    const int other = j < D / 2 ? j + D / 2 : j - D / 2;
                    const double back = (double)head[other] * sin[other];
                    expected[(token * heads + h) * D + j] =
                        (double)head[j] * cos[j] + (j < D / 2 ? back : -back);
                }
            }
        }
    }
    return agrees(name, grad, expected);
}

int main(void) {
    const int64_t q[] = {TOKENS, HEADS * D}, k[] = {TOKENS, KV_HEADS * D}, table[] = {POSITIONS, D};
    const int64_t *const dim[TENSORS] = {q, k, table, table, q, k};
    struct tensor t[TENSORS] = {{0}};
    aclrtStream stream;
    if (!device_begin(&stream)) {
        return EXIT_FAILURE;
    }
    aclIntArray *qSeqLen = aclCreateIntArray(lengths, 2);
    bool good = qSeqLen != NULL;
    for (int i = 0; i < TENSORS; i++) {
        good = good && tensor_begin(&t[i], 2, dim[i]);
    }
    if (good) {
        uint64_t size = 0;
        aclOpExecutor *executor = NULL;
        const aclnnStatus code =
            aclnnRopeGradGetWorkspaceSize(t[Q].acl, t[K].acl, t[COS].acl, t[SIN].acl, qSeqLen, true,
                                          0, t[Q_GRAD].acl, t[K_GRAD].acl, &size, &executor);
        good = finish("aclnnRopeGrad", code, aclnnRopeGrad, size, executor, stream) &&
               check(t, &t[Q], &t[Q_GRAD], HEADS, "qGrad") &&
               check(t, &t[K], &t[K_GRAD], KV_HEADS, "kGrad");
    }
    for (int i = 0; i < TENSORS; i++) {
        tensor_end(&t[i]);
    }
    if (qSeqLen) {
        aclDestroyIntArray(qSeqLen);
    }
    device_end(stream);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
