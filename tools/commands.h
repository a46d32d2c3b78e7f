/* SPDX-License-Identifier: Apache-2.0
 *
 * The subcommands of `ascgrad`. Each gets the words behind its name and returns the exit status:
 * 0 done, 1 wrong usage, 2 the operator refuses, 3 the twin found a violation, 4 file trouble.
 */
#ifndef ASCGRAD_TOOLS_COMMANDS_H
#define ASCGRAD_TOOLS_COMMANDS_H

#include <stdbool.h>

enum { EXIT_DONE = 0, EXIT_USAGE = 1, EXIT_REFUSED = 2, EXIT_VIOLATION = 3, EXIT_FILES = 4 };

int cmd_ops(int argc, char **argv);
int cmd_support(int argc, char **argv);
int cmd_infer(int argc, char **argv);
int cmd_tile(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_perf(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_fusion(int argc, char **argv);
int cmd_ttk(int argc, char **argv);
int cmd_accept(int argc, char **argv);

/* Does tiling accept the operator's first check row on this chip, in every dtype? */
unsigned check_supported(const char *type, const char *soc);

/* "ascgrad: <sentence>" on stderr. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
