/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of accept's page.
 */
#ifndef ASCGRAD_TOOLS_ACCEPT_PAGE_H
#define ASCGRAD_TOOLS_ACCEPT_PAGE_H

#include "accept.h"

void accept_svg_errors(const struct accept *a, struct text *out);
void accept_svg_times(const struct accept *a, struct text *out);

#endif
