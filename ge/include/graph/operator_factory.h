/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of GE's ge::OperatorFactory that the parser plugins and the example graphs need, for
 * machines without a CANN toolkit.
 */
#ifndef ASCGRAD_GRAPH_OPERATOR_FACTORY_H
#define ASCGRAD_GRAPH_OPERATOR_FACTORY_H

#include "graph/operator.h"

namespace ge {

GE_CLASS OperatorFactory {
  public:
    static Operator CreateOperator(const char *name, const char *type);
    static bool IsExistOp(const char *type);
};

} // namespace ge

#endif
