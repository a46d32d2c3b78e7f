/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiles the REG_OP blocks into the library that GE loads: the static objects they define tell GE
 * what the operators look like. The same file, linked with irdump/irdump.cpp instead of GE, prints
 * the IR.
 *
 * GE keeps the first IR that it is told of a type, and custom packages speak before CANN does. So
 * nothing is said of a type that is left to CANN: a graph with it must be read by CANN's own IR,
 * whatever inputs, attributes and dtypes that has in the version that is installed.
 */
#include "graph/operator_reg.h"

extern "C" bool ascgrad_offers(const char *type);

namespace ge {

/* Stands where the blocks have GE's own class. */
struct RegisterIfOffered {
    template <typename Create> RegisterIfOffered(const char *type, const Create &create) {
        if (ascgrad_offers(type)) {
            const OperatorCreatorRegister said(type, create);
        }
    }
};

} // namespace ge

#ifdef ASCGRAD_IRDUMP
bool ascgrad_in_place(const char *type, const char *input, const char *output);
#define ASCGRAD_IN_PLACE(type, input, output)                                                      \
    static const bool type##_##output = ascgrad_in_place(#type, #input, #output);
#endif

#define OperatorCreatorRegister RegisterIfOffered
#include "inc/ascgrad_ops.h"
