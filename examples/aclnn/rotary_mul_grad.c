/* SPDX-License-Identifier: Apache-2.0
 *
 * aclnnRotaryMulGrad, the backward of y = r1 x + r2 rotate_half(x), with r1 and r2 shared by batch
 * and heads: dx = r1 dy - rotate_half(r2 dy), and dr1 = dy x, dr2 = dy rotate_half(x), each summed
 * over the axes that were broadcast.
 */
#include "aclnn_rotary_mul_grad.h"
#include "device.h"

#include <stdlib.h>

enum { B = 2, S = 5, N = 3, D = 64, X = 0, R1, R2, DY, DX, DR1, DR2, TENSORS };

static bool check(struct tensor *t) {
    static double dx[B * S * N * D], dr1[S * D], dr2[S * D];
    for (int row = 0; row < B * S * N; row++) {
        const float *x = t[X].host + row * D, *dy = t[DY].host + row * D;
        const int s = row / N % S;
        const float *r1 = t[R1].host + s * D, *r2 = t[R2].host + s * D;
        for (int j = 0; j < D; j++) {
            const int other = j < D / 2 ? j + D / 2 : j - D / 2;
            const double turned = j < D / 2 ? -(double)x[other] : x[other];
            const double back = (double)r2[other] * dy[other];
            dx[row * D + j] = (double)r1[j] * dy[j] + (j < D / 2 ? back : -back);
            dr1[s * D + j] += (double)dy[j] * x[j];
            dr2[s * D + j] += dy[j] * turned;
        }
    }
    return agrees("dx", &t[DX], dx) && agrees("dr1", &t[DR1], dr1) && agrees("dr2", &t[DR2], dr2);
}

int main(void) {
    const int64_t whole[] = {B, S, N, D}, shared[] = {1, S, 1, D};
    struct tensor t[TENSORS] = {{0}};
    aclrtStream stream;
    if (!device_begin(&stream)) {
        return EXIT_FAILURE;
    }
    bool good = true;
    for (int i = 0; i < TENSORS; i++) {
        const bool large = i == X || i == DY || i == DX;
        good = good && tensor_begin(&t[i], 4, large ? whole : shared);
    }
    if (good) {
        uint64_t size = 0;
        aclOpExecutor *executor = NULL;
        const aclnnStatus code =
            aclnnRotaryMulGradGetWorkspaceSize(t[X].acl, t[R1].acl, t[R2].acl, t[DY].acl, true,
                                               t[DX].acl, t[DR1].acl, t[DR2].acl, &size, &executor);
        good = finish("aclnnRotaryMulGrad", code, aclnnRotaryMulGrad, size, executor, stream) &&
               check(t);
    }
    for (int i = 0; i < TENSORS; i++) {
        tensor_end(&t[i]);
    }
    device_end(stream);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
