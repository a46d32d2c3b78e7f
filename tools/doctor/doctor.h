/* SPDX-License-Identifier: Apache-2.0
 *
 * ascgrad doctor [--opp DIR] [--json]: repeats aloud how GE finds and loads the package.
 */
#ifndef ASCGRAD_TOOLS_DOCTOR_H
#define ASCGRAD_TOOLS_DOCTOR_H

/* The words behind "doctor". Exit status: 0 all well or only warnings, 1 wrong usage, 2 at least
 * one [FAIL]. */
int ascgrad_doctor(int argc, char **argv);

#endif
