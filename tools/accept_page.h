/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of accept's page.
 */
#ifndef ASCGRAD_TOOLS_ACCEPT_PAGE_H
#define ASCGRAD_TOOLS_ACCEPT_PAGE_H

#include "accept.h"

/* Over the outputs of a case on a road. */
struct accept_worst {
    double contract, ulp;
    int64_t elements, differ;
    bool vendor, any;
};
struct accept_worst accept_worst_of(const struct accept_case *c, enum road road);

void accept_page_rows(const struct accept *a, struct text *out);
void accept_page_beside(const struct accept *a, struct text *out);
void accept_svg_errors(const struct accept *a, struct text *out);
void accept_svg_times(const struct accept *a, struct text *out);

#endif
