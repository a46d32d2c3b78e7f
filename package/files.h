/* SPDX-License-Identifier: Apache-2.0
 *
 * Files below a directory that is held open. A path is relative, and no symbolic link on it is ever
 * followed: whoever may write there cannot lead us elsewhere. Nothing here blocks on a pipe or a
 * device. Results: 0 or a descriptor, or -1 with errno.
 */
#ifndef ASCGRAD_SETUP_FILES_H
#define ASCGRAD_SETUP_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* A relative path without empty, "." and ".." parts. */
bool path_is_plain(const char *path);

int dir_open(int at, const char *path);
/* mkdir -p below `at`; what it makes gets the mode, whatever the umask. */
int dir_make(int at, const char *path, mode_t mode);

/* The whole of a regular file, with a 0 behind it, to be freed. NULL with errno; EINVAL: not a
 * regular file. size may be NULL. */
char *file_read(int at, const char *path, size_t *size);
/* The same for files of others, which are read as CANN reads them: links are followed. */
char *file_read_following(int at, const char *path, size_t *size);
/* And with what was read goes whose it is: of the same file, whatever the name leads to later. */
char *file_read_seen(int at, const char *path, size_t *size, struct stat *info);
/* A new file with its directories. The mode holds whatever the umask. EEXIST if the name is taken.
 */
int file_write(int at, const char *path, const void *data, size_t size, mode_t mode,
               mode_t dir_mode);
int file_copy(int from, const char *from_path, int to, const char *to_path, mode_t mode,
              mode_t dir_mode, char hex[65]); /* hex: of what was written; may be NULL */
int file_sum(int at, const char *path, char hex[65]);
/* What is there, not followed. */
int file_stat(int at, const char *path, struct stat *info);
int file_unlink(int at, const char *path);
int file_link(int at, const char *path, const char *target, mode_t dir_mode);
/* A second name for a file, a link, a pipe, ... under the same path elsewhere. */
int file_share(int from, int to, const char *path, mode_t dir_mode);
/* The target of a link, to be freed. */
/* Writes less over a regular file than there is in it. -1 with errno. */
int file_shorten(int at, const char *path, const void *data, size_t size);
char *file_readlink(int at, const char *path);

/* Removes a file, a link or a directory with all in it. Missing is fine. */
int tree_remove(int at, const char *name);
int tree_empty(int dir); /* all that is in an open directory */
/* Removes the empty directories below `at`, but not `at` itself. */
void tree_prune(int at);

/* Calls each() for everything below `at` that is not a directory, in the order of names; a result
 * other than 0 ends the walk and is returned. */
typedef int tree_fn(void *context, int at, const char *path, const struct stat *info);
int tree_walk(int at, tree_fn *each, void *context);
int tree_walk_dirs(int at, tree_fn *each, void *context); /* for every directory instead */

#endif
