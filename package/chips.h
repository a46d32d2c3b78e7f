/* SPDX-License-Identifier: Apache-2.0
 *
 * The chips of this machine, by the short names that CANN gives its directories.
 */
#ifndef ASCGRAD_SETUP_CHIPS_H
#define ASCGRAD_SETUP_CHIPS_H

#include "text.h"

/* Asks npu-smi; adds the names, each once, with a comma between. Nothing if there is no npu-smi, no
 * chip, or none that is known. */
void chips_of_machine(struct text *chips);

/* The short name of what npu-smi calls a chip, or NULL; "" if only its board can tell. */
const char *chip_short_name(const char *name);

#endif
