/* SPDX-License-Identifier: Apache-2.0
 *
 * Files in our directory that are not ours: they move on to the new version. Also the whole of an
 * old version, where it cannot be renamed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../package/files.h"
#include "setup.h"

/* Bytecode that Python makes of our own launchers is ours, too. */
static bool is_bytecode(const char *path) {
    static const char impl[] = TBE "/" VENDOR "_impl/";
    const char *cache = strstr(path, "/__pycache__/");
    const size_t size = strlen(path);
    return strncmp(path, impl, strlen(impl)) == 0 && cache && !strchr(cache + 13, '/') &&
           size > 4 && strcmp(path + size - 4, ".pyc") == 0;
}

bool is_stranger(const struct manifest *m, const char *path) {
    return strcmp(path, MANIFEST_NAME) != 0 && !manifest_find(m, path) && !is_bytecode(path);
}

/* A second name for the same file, so that a pipe or a device moves on like anything else; a copy
 * where the file system, or its owner, does not allow that. */
static int carry(int from, int to, const char *path, const struct stat *info, mode_t dir_mode) {
    if (file_share(from, to, path, dir_mode) == 0) return 0;
    if (S_ISREG(info->st_mode))
        return file_copy(from, path, to, path, info->st_mode & 0777, dir_mode, NULL);
    if (!S_ISLNK(info->st_mode)) return -1;
    char *target = file_readlink(from, path);
    const int result = target ? file_link(to, path, target, dir_mode) : -1;
    free(target);
    return result;
}

/* A link in the way of a file of ours leads to what stays where it is. A file in the way is
 * somebody's work. */
static int keep_stranger(void *context, int at, const char *path, const struct stat *info) {
    struct setup *s = context;
    struct stat there;
    if (s->has_old && !is_stranger(&s->old, path)) return DONE;
    if (file_stat(s->tree_fd, path, &there) == 0) {
        if (!S_ISLNK(info->st_mode))
            return give_up(REFUSED,
                           "%s/%s was not made by this installer, and " VENDOR
                           " has a file of that name; move it away first",
                           s->target.dir, path);
        warn("%s was a symbolic link, which ascgrad did not make; the new version replaces it",
             path);
        return DONE;
    }
    say(s, "keeping %s, which ascgrad did not install", path);
    if (carry(at, s->tree_fd, path, info, s->target.dir_mode) == 0) return DONE;
    return give_up(FAILED, "cannot keep %s/%s, which ascgrad did not install: %s", s->target.dir,
                   path, strerror(errno));
}

int keep_strangers(struct setup *s) {
    if (s->old_fd < 0) return DONE;
    const int result = tree_walk(s->old_fd, keep_stranger, s);
    if (result >= 0) return result;
    return give_up(FAILED, "cannot look through %s: %s", s->target.dir, strerror(errno));
}

struct copy {
    int to;
    mode_t dir_mode;
};

static int copy_one(void *context, int at, const char *path, const struct stat *info) {
    const struct copy *copy = context;
    return carry(at, copy->to, path, info, copy->dir_mode);
}

int keep_copy(struct setup *s, int to) {
    struct copy copy = {to, s->target.dir_mode};
    return tree_walk(s->old_fd, copy_one, &copy);
}
