/* SPDX-License-Identifier: Apache-2.0
 *
 * What another program prints. No shell is needed for it, and one that hangs (npu-smi does, with a
 * broken driver) or a signal to us ends it.
 */
#ifndef ASCGRAD_SETUP_ASK_H
#define ASCGRAD_SETUP_ASK_H

#include <stdbool.h>

#include "text.h"

/* Starts argv[0], found by PATH, and adds its standard output. False: it could not be started or
 * did not end well. */
bool ask(const char *const argv[], struct text *answer);

#endif
