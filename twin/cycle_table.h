/* SPDX-License-Identifier: Apache-2.0
 *
 * The constants of the cycle model as the model reads them: under their names, but from a table
 * that a caller may replace for one run, to fit them to measured times.
 */
#ifndef TWIN_CYCLE_TABLE_H
#define TWIN_CYCLE_TABLE_H

#include "cycle_constants.h"
#include "cycle_table.inc" /* made by constants.awk */

/* Of the run that this thread is in. */
extern _Thread_local const double *twin_cycle;
extern const double twin_cycle_builtin[];

/* The name of constant number index, or NULL past the last one. */
const char *twin_cycle_name(uint32_t index);

#endif
