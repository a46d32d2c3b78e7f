/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for CANN's own library of prototypes, in a version whose IR differs from ours: every
 * type that PROTO(...) names has other dtypes and an attribute that only CANN knows.
 */
#include "graph/operator_reg.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace ge {

#define PROTO(Type)                                                                                \
    REG_OP(Type)                                                                                   \
        .INPUT(x, TensorType({DT_DOUBLE}))                                                         \
        .OUTPUT(y, TensorType({DT_DOUBLE}))                                                        \
        .ATTR(of_cann, Int, 7)                                                                     \
        .OP_END_FACTORY_REG(Type)
PROTOS

} // namespace ge

EXPORT size_t GetRegisteredOpNum(void) {
    return 0;
}

EXPORT int GetOpImplFunctions(void *, size_t) {
    return 0;
}

EXPORT size_t GetRegisteredOpCtNum(void) {
    return 0;
}
