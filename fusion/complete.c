/* SPDX-License-Identifier: Apache-2.0
 *
 * Is every function of GE that the adapter calls there?
 */
#include <stdbool.h>
#include <stddef.h>

#define FUSION_GE(symbol) extern const char symbol[] __attribute__((weak));
#include "symbols.inc"
#undef FUSION_GE

bool fusion_ge_is_complete(void);

bool fusion_ge_is_complete(void) {
    static const char *const needed[] = {
#define FUSION_GE(symbol) symbol,
#include "symbols.inc"
#undef FUSION_GE
        NULL,
    };
    for (size_t i = 0; i + 1 < sizeof needed / sizeof *needed; i++)
        if (!needed[i]) return false;
    return true;
}
