/* SPDX-License-Identifier: Apache-2.0
 *
 * aclnnRotaryPositionEmbeddingGrad in the interleave mode and without x, so that only dx is
 * computed: dx[2i] = cos[2i] dy[2i] + sin[2i+1] dy[2i+1], dx[2i+1] = cos[2i+1] dy[2i+1] - sin[2i]
 * dy[2i]. The outputs that are not wanted are tensors without elements.
 */
#include "aclnn_rotary_position_embedding_grad.h"
#include "device.h"

#include <stdlib.h>

enum { D = 128, INTERLEAVE = 1 };

static bool check(const struct tensor *dy, const struct tensor *cos, const struct tensor *sin,
                  struct tensor *dx) {
    static double expected[D];
    for (int i = 0; i < D; i += 2) {
        expected[i] =
            (double)cos->host[i] * dy->host[i] + (double)sin->host[i + 1] * dy->host[i + 1];
        expected[i + 1] =
            (double)cos->host[i + 1] * dy->host[i + 1] - (double)sin->host[i] * dy->host[i];
    }
    return agrees("dx", dx, expected);
}

int main(void) {
    const int64_t dim[] = {1, 1, 1, D}, none[] = {1, 1, 1, 0};
    struct tensor dy = {0}, cos = {0}, sin = {0}, dx = {0};
    aclrtStream stream;
    if (!device_begin(&stream)) {
        return EXIT_FAILURE;
    }
    aclTensor *dcos = aclCreateTensor(none, 4, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, none, 4, NULL);
    aclTensor *dsin = aclCreateTensor(none, 4, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, none, 4, NULL);
    bool good = dcos && dsin && tensor_begin(&dy, 4, dim) && tensor_begin(&cos, 4, dim) &&
                tensor_begin(&sin, 4, dim) && tensor_begin(&dx, 4, dim);
    if (good) {
        uint64_t size = 0;
        aclOpExecutor *executor = NULL;
        const aclnnStatus code = aclnnRotaryPositionEmbeddingGradGetWorkspaceSize(
            dy.acl, cos.acl, sin.acl, NULL, INTERLEAVE, dx.acl, dcos, dsin, &size, &executor);
        good = finish("aclnnRotaryPositionEmbeddingGrad", code, aclnnRotaryPositionEmbeddingGrad,
                      size, executor, stream) &&
               check(&dy, &cos, &sin, &dx);
    }
    tensor_end(&dy);
    tensor_end(&cos);
    tensor_end(&sin);
    tensor_end(&dx);
    if (dcos) {
        aclDestroyTensor(dcos);
    }
    if (dsin) {
        aclDestroyTensor(dsin);
    }
    device_end(stream);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
