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
    errno = 0;
    for (struct dirent *entry; (entry = readdir(list));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        char **more = realloc(*names, (size_t)(count + 1) * sizeof **names);
        if (more) *names = more;
        if (!more || !(more[count] = strdup(entry->d_name))) break;
        count++;
    }
    const int trouble = errno;
    closedir(list);
    if (trouble) {
        for (int i = 0; i < count; i++)
            free((*names)[i]);
        free(*names);
        *names = NULL;
        errno = trouble;
        return -1;
    }
    if (count > 1) qsort(*names, (size_t)count, sizeof **names, by_name);
    return count;
}

static void free_names(char **names, int count) {
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

/* Empties the directory `dir`. */
static int empty(int dir) {
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
    const int result = empty(dir);
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

static int walk(int at, const char *above, tree_fn *each, void *context, int root) {
    char **names;
    const int count = names_in(at, &names);
    int result = count < 0 ? -1 : 0;
    for (int i = 0; i < count && result == 0; i++) {
        char path[PATH_MAX];
        struct stat info;
        const int size = snprintf(path, sizeof path, "%s%s", above, names[i]);
        if (size + 1 >= (int)sizeof path) {
            errno = ENAMETOOLONG;
            result = -1;
        } else if (fstatat(at, names[i], &info, AT_SYMLINK_NOFOLLOW) != 0) {
            result = errno == ENOENT ? 0 : -1;
        } else if (!S_ISDIR(info.st_mode)) {
            result = each(context, root, path, &info);
        } else {
            const int dir = openat(at, names[i], DIRECTORY);
            memcpy(path + size, "/", 2);
            result = dir < 0 ? -1 : walk(dir, path, each, context, root);
            if (dir >= 0) {
                const int trouble = errno;
                close(dir);
                errno = trouble;
            }
        }
    }
    const int trouble = errno;
    if (count >= 0) free_names(names, count);
    errno = trouble;
    return result;
}

int tree_walk(int at, tree_fn *each, void *context) {
    return walk(at, "", each, context, at);
}
