/* SPDX-License-Identifier: Apache-2.0
 *
 * What the command says of itself. help.txt is the one table of commands and options: the texts of
 * --help, the manual page and the completion are made of it, and options are looked up in it.
 */
#ifndef ASCGRAD_TOOLS_HELP_H
#define ASCGRAD_TOOLS_HELP_H

#include <stdbool.h>
#include <stddef.h>

/* The text of a command, or with NULL the list of all; false: there is no such command. */
bool help_print(const char *command);
void help_man(void);
bool help_completion(const char *shell);

/* What is known of an option of a command. */
enum help_option { OPTION_UNKNOWN, OPTION_SWITCH, OPTION_WITH_VALUE };
enum help_option help_find_option(const char *command, const char *option);

/* "ascgrad: <sentence>" on stderr for a word that is none of those that next gives, with the
 * nearest of them, or all of them. */
typedef const char *help_next(size_t index);
void help_unknown(const char *what, const char *word, help_next *next);
void help_unknown_command(const char *word);
void help_unknown_option(const char *command, const char *word);
void help_unknown_operator(const char *word);
void help_unknown_chip(const char *word);

/* A family of chips, whose names begin with the family's, and what a reader calls it. */
struct help_family {
    const char *name, *title;
};
/* Of those that the twin has a chip of; NULL past the last one. */
const struct help_family *help_family(size_t index);
/* Of families that fit, the one with the longest name; NULL: the package is not for this chip. */
const struct help_family *help_family_of(const char *chip);

/* The twin's chip for the name of a chip or of a family (ascend910b: ascend910b1), or NULL. */
const char *help_chip(const char *name);

#endif
