/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole directories: walking and removing them. See files.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"

enum { DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void free_names(char **names, int count) {
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

/* The names in a directory, sorted; each and the list must be freed. -1: errno. */
static int names_in(int dir, char ***names) {
    const int again = openat(dir, ".", DIRECTORY);
    DIR *list = again < 0 ? NULL : fdopendir(again);
    int count = 0;
    *names = NULL;
    if (!list) {
        if (again >= 0) close(again);
        return -1;
    }
    for (struct dirent *entry; errno = 0, (entry = readdir(list));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        char **more = realloc(*names, (size_t)(count + 1) * sizeof **names);
        if (more) *names = more;
        if (!more || !(more[count] = strdup(entry->d_name))) break;
        count++;
    }
    const int trouble = errno;
    closedir(list);
    if (trouble) {
        free_names(*names, count);
        *names = NULL;
        errno = trouble;
        return -1;
    }
    if (count > 1) qsort(*names, (size_t)count, sizeof **names, by_name);
    return count;
}

int tree_empty(int dir) {
    char **names;
    const int count = names_in(dir, &names);
    int result = count < 0 ? -1 : 0, trouble = errno;
    for (int i = 0; i < count; i++)
        if (tree_remove(dir, names[i]) != 0) {
            result = -1;
            trouble = errno;
        }
    if (count >= 0) free_names(names, count);
    errno = trouble;
    return result;
}

int tree_remove(int at, const char *name) {
    if (unlinkat(at, name, 0) == 0 || errno == ENOENT) return 0;
    if (errno != EISDIR && errno != EPERM) return -1;
    const int dir = openat(at, name, DIRECTORY);
    if (dir < 0) return -1;
    fchmod(dir, 0700); /* a directory of our own may be closed to us */
    const int result = tree_empty(dir);
    const int trouble = errno;
    close(dir);
    errno = trouble;
    return result == 0 ? unlinkat(at, name, AT_REMOVEDIR) : -1;
}

void tree_prune(int at) {
    char **names;
    const int count = names_in(at, &names);
    for (int i = 0; i < count; i++) {
        const int dir = openat(at, names[i], DIRECTORY);
        if (dir < 0) continue;
        tree_prune(dir);
        close(dir);
        unlinkat(at, names[i], AT_REMOVEDIR);
    }
    if (count >= 0) free_names(names, count);
}

/* A walk has one buffer for all its paths: directories may be nested deeply. */
struct walk {
    int root;
    bool dirs; /* it is about directories, not about everything else */
    tree_fn *each;
    void *context;
    char path[PATH_MAX];
};

static int walk(struct walk *w, int at, size_t above);

static int walk_into(struct walk *w, int at, const char *name, size_t size,
                     const struct stat *info) {
    int result = w->dirs ? w->each(w->context, w->root, w->path, info) : 0;
    if (result != 0) return result;
    const int dir = openat(at, name, DIRECTORY);
    if (dir < 0) return -1;
    memcpy(w->path + size, "/", 2);
    result = walk(w, dir, size + 1);
    const int trouble = errno;
    close(dir);
    errno = trouble;
    return result;
}

static int walk(struct walk *w, int at, size_t above) {
    char **names;
    const int count = names_in(at, &names);
    int result = count < 0 ? -1 : 0;
    for (int i = 0; i < count && result == 0; i++) {
        struct stat info;
        const size_t size = above + strlen(names[i]);
        if (size + 2 > sizeof w->path) {
            errno = ENAMETOOLONG;
            result = -1;
            break;
        }
        strcpy(w->path + above, names[i]);
        if (fstatat(at, names[i], &info, AT_SYMLINK_NOFOLLOW) != 0) {
            result = errno == ENOENT ? 0 : -1;
        } else if (S_ISDIR(info.st_mode)) {
            result = walk_into(w, at, names[i], size, &info);
        } else if (!w->dirs) {
            result = w->each(w->context, w->root, w->path, &info);
        }
    }
    const int trouble = errno;
    if (count >= 0) free_names(names, count);
    errno = trouble;
    return result;
}

int tree_walk(int at, tree_fn *each, void *context) {
    struct walk w = {.root = at, .each = each, .context = context};
    return walk(&w, at, 0);
}

int tree_walk_dirs(int at, tree_fn *each, void *context) {
    struct walk w = {.root = at, .dirs = true, .each = each, .context = context};
    return walk(&w, at, 0);
}
