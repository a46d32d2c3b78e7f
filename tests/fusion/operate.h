/* SPDX-License-Identifier: Apache-2.0
 *
 * RotaryPositionEmbeddingGrad on the twin, on numbers in double that are numbers of the dtype.
 */
#ifndef ASCGRAD_TESTS_FUSION_OPERATE_H
#define ASCGRAD_TESTS_FUSION_OPERATE_H

#include "../../fusion/graph.h"

/* dy's shape is dx's, the table's is that of cos, sin, dcos and dsin. x may be NULL; dcos and dsin
 * are then not filled. False, with a sentence on stderr, if the operator refuses. */
struct operation {
    int64_t mode;
    const struct fusion_tensor *dy_shape, *table_shape;
    const double *dy, *cos, *sin, *x;
    double *dx, *dcos, *dsin;
};
bool operate(const struct operation *operation);

#endif
