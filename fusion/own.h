/* SPDX-License-Identifier: Apache-2.0
 *
 * What the pass asks of its surroundings: its own package, the environment, the log.
 */
#ifndef ASCGRAD_FUSION_OWN_H
#define ASCGRAD_FUSION_OWN_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Is the operator that this pass writes ours on this chip ("Ascend910B1")? The package that this
 * library was loaded from says so: in its ops-info of the chip. An operator that was left to CANN,
 * a chip that we have no kernels for, a library outside a package: no. */
bool fusion_operator_is_ours(const char *soc);

/* ASCGRAD_FUSION=0 */
bool fusion_switched_off(void);

/* One line per rewrite, in CANN's run log, where there is one; with ASCGRAD_VERBOSE=1, or without
 * a log, on stderr. */
void fusion_report(const char *sentence);

/* Reasons, only with ASCGRAD_VERBOSE=1. */
void fusion_explain(const char *sentence);

#ifdef __cplusplus
}
#endif
#endif
