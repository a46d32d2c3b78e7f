/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiles the REG_OP blocks into the library that GE loads: the static objects they define tell GE
 * what the operators look like. The same file, linked with irdump/irdump.cpp instead of GE, prints
 * the IR.
 */
#include "inc/ascgrad_ops.h"
