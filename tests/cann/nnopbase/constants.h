/* SPDX-License-Identifier: Apache-2.0
 *
 * ASCGRAD_STANDIN_CONSTANT=NAME=VALUE: a chip that differs from the model in one constant, of the
 * cycle model or of the chip.
 */
#ifndef ASCGRAD_STANDIN_CONSTANTS_H
#define ASCGRAD_STANDIN_CONSTANTS_H

#include "../../../twin/cycle_table.h"
#include "../../../twin/gauge.h"

#include <stdlib.h>
#include <string.h>

/* As of ascgrad_run_with; NULL: nothing differs. */
static inline const double *standin_constants(const struct twin_soc *soc) {
    static _Thread_local double table[128];
    const char *given = getenv("ASCGRAD_STANDIN_CONSTANT"), *name;
    struct twin_soc copy = *soc;
    uint32_t count = 0, own = 0;
    if (!given) {
        return NULL;
    }
    while (twin_cycle_name(count)) {
        count++;
    }
    while (twin_soc_constant(&copy, own, &name)) {
        own++;
    }
    for (uint32_t i = 0; i < count + own && i < 128; i++) {
        const double *place =
            i < count ? &twin_cycle_builtin[i] : twin_soc_constant(&copy, i - count, &name);
        name = i < count ? twin_cycle_name(i) : name;
        const size_t n = strlen(name);
        const bool this = strncmp(given, name, n) == 0 && given[n] == '=';
        table[i] = this ? strtod(given + n + 1, NULL) : *place;
    }
    return table;
}

#endif
