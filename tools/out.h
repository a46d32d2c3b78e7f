/* SPDX-License-Identifier: Apache-2.0
 *
 * A file that a command writes: whole, or as it was before. It grows under a name of its own beside
 * its place and is renamed at the end, so that nothing is ever written through a link that somebody
 * else has laid.
 */
#ifndef ASCGRAD_TOOLS_OUT_H
#define ASCGRAD_TOOLS_OUT_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

struct out {
    FILE *file;
    char path[PATH_MAX]; /* where it goes */
    char part[PATH_MAX]; /* where it grows; empty for a device or a pipe, which is written to */
};

/* Whose name a file has: the user's own word, whose link stays while the file behind it is new; or
 * one of ours in the user's folder, where no link belongs. */
enum out_name { OUT_GIVEN, OUT_OURS };

/* Both: NULL, or a sentence without the file's name; then nothing is left behind. */
const char *out_begin(struct out *out, const char *path, enum out_name name);
const char *out_end(struct out *out);

/* Gives up; what was there is untouched. */
void out_drop(struct out *out);

#endif
