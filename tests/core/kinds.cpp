/* SPDX-License-Identifier: Apache-2.0
 *
 * An operator with an attribute of every kind, as often as the IR has room for; test_kinds.c
 * follows it through irdump, the bridge, the command's words and the C API.
 */
#include "graph/operator_reg.h"

namespace ge {

REG_OP(KindsGrad)
    .INPUT(dy, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16}))
    .OUTPUT(dx, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16}))
    .REQUIRED_ATTR(scale, Float)
    .ATTR(epsilon, Float, 1e-5f)
    .REQUIRED_ATTR(weights, ListFloat)
    .ATTR(steps, ListFloat, {})
    .OP_END_FACTORY_REG(KindsGrad)

} // namespace ge
