/* SPDX-License-Identifier: Apache-2.0
 *
 * vendors/config.ini: the order in which CANN asks vendor packages, in its line load_priority=.
 * CANN's readers do not agree: most read the first line only and want exactly one '='.
 */
#ifndef ASCGRAD_SETUP_CONFIG_H
#define ASCGRAD_SETUP_CONFIG_H

#include <stdbool.h>

#include "text.h"

#define CONFIG_KEY "load_priority"

/* What is wrong with a first line, or NULL. */
const char *config_trouble(const char *line);

/* The names in every load_priority line of the text, in order, each once, with a comma between;
 * `without` (or NULL) is left out. */
void config_names(const char *content, const char *without, struct text *names);

/* The file (NULL: there is none) with this vendor in front, and without it. Every byte that is not
 * about the vendor stays, and without undoes with. Where the first line is not one that all of
 * CANN's readers take, a line goes before it, with the names that CANN finds further down, and a
 * comment that says so. False: a second '=' in the first line, which CANN would reject. */
bool config_with(const char *content, const char *vendor, struct text *out);
void config_without(const char *content, const char *vendor, struct text *out);
/* Is there anything but load_priority lines? */
bool config_has_more(const char *content);

#endif
