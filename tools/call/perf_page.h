/* SPDX-License-Identifier: Apache-2.0
 *
 * `ascgrad perf --html`: what the twin tells of a run is kept, and written into one page.
 */
#ifndef ASCGRAD_TOOLS_PERF_PAGE_H
#define ASCGRAD_TOOLS_PERF_PAGE_H

#include <stdio.h>

#include "../../twin/ascgrad.h"

struct perf_run; /* one run as the watcher saw it */

struct perf_run *perf_run_begin(void); /* NULL: no memory */
const struct ascgrad_watch *perf_run_watch(struct perf_run *run);
void perf_run_free(struct perf_run *run);

/* The page: begin, then each run with its report as JSON, then end. What goes wrong shows in
 * ferror; false: the run was too large for the memory there is. */
void perf_page_begin(FILE *page);
bool perf_page_run(FILE *page, const struct perf_run *run, const struct ascgrad_report *report,
                   void (*print_report)(FILE *, const void *), const void *context);
void perf_page_end(FILE *page);

#endif
