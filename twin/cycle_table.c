/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stddef.h>

#include "cycle_table.h"

static const char *const names[] = {
#include "cycle_names.inc"
};

const double twin_cycle_builtin[] = {
#include "cycle_values.inc"
};

_Thread_local const double *twin_cycle = twin_cycle_builtin;

const char *twin_cycle_name(uint32_t index) {
    return index < sizeof names / sizeof names[0] ? names[index] : NULL;
}
