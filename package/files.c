/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sha256.h"

enum { DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

bool path_is_plain(const char *path) {
    if (!*path || strlen(path) >= PATH_MAX) return false;
    for (const char *at = path;;) {
        const size_t size = strcspn(at, "/");
        if (size == 0 || size > NAME_MAX) return false;
        if (at[0] == '.' && (size == 1 || (size == 2 && at[1] == '.'))) return false;
        if (!at[size]) return true;
        at += size + 1;
    }
}

/* Closes without losing the errno that tells what went wrong before. */
static void close_keeping(int fd) {
    const int kept = errno;
    close(fd);
    errno = kept;
}

/* One step down; made if need be, with the mode whatever the umask. */
static int enter(int dir, const char *name, mode_t mode) {
    const bool made = mode && mkdirat(dir, name, 0700) == 0;
    const int next = openat(dir, name, DIRECTORY);
    if (next < 0 || !made || fchmod(next, mode) == 0) return next;
    close_keeping(next);
    return -1;
}

/* Goes down all but the last part of the path; mode 0: nothing is made. The result must be closed.
 * A path that is not plain goes nowhere: nobody leads us up or to the root. */
static int parent_of(int at, const char *path, mode_t mode, const char **last) {
    if (!path_is_plain(path)) {
        errno = EINVAL;
        return -1;
    }
    int dir = fcntl(at, F_DUPFD_CLOEXEC, 3);
    const char *slash;
    for (; dir >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
        char name[NAME_MAX + 1];
        const size_t size = (size_t)(slash - path);
        memcpy(name, path, size);
        name[size] = 0;
        const int next = enter(dir, name, mode);
        close_keeping(dir);
        dir = next;
    }
    *last = path;
    return dir;
}

int dir_make(int at, const char *path, mode_t mode) {
    const char *last;
    const int above = parent_of(at, path, mode, &last);
    if (above < 0) return -1;
    const int dir = enter(above, last, mode);
    close_keeping(above);
    return dir;
}

int dir_open(int at, const char *path) {
    return dir_make(at, path, 0);
}

/* A regular file, open for reading. It is looked at first, because opening a device may do things;
 * and if somebody changes it in between, O_NONBLOCK keeps a pipe from holding us. */
static int open_looked_at(int dir, const char *name, bool follow, struct stat *info) {
    int fd = fstatat(dir, name, info, follow ? 0 : AT_SYMLINK_NOFOLLOW);
    if (fd == 0 && S_ISREG(info->st_mode)) {
        const int more = follow ? 0 : O_NOFOLLOW;
        fd = openat(dir, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | more);
        if (fd >= 0 && fstat(fd, info) != 0) {
            close_keeping(fd);
            fd = -1;
        }
    }
    if (fd < 0 || S_ISREG(info->st_mode)) return fd;
    if (fd > 0) close(fd);
    errno = EINVAL;
    return -1;
}

static int open_regular(int at, const char *path, struct stat *info) {
    const char *last;
    const int dir = parent_of(at, path, 0, &last);
    if (dir < 0) return -1;
    const int fd = open_looked_at(dir, last, false, info);
    close_keeping(dir);
    return fd;
}

static char *read_whole(int fd, const struct stat *info, size_t *size) {
    const size_t want = (size_t)info->st_size;
    char *data = malloc(want + 1);
    size_t have = 0;
    ssize_t got = 1;
    while (data && have < want && (got = read(fd, data + have, want - have)) > 0)
        have += (size_t)got;
    close_keeping(fd);
    if (data && got < 0) {
        free(data);
        return NULL;
    }
    if (data) data[have] = 0;
    if (size) *size = have;
    return data;
}

char *file_read(int at, const char *path, size_t *size) {
    struct stat info;
    const int fd = open_regular(at, path, &info);
    return fd < 0 ? NULL : read_whole(fd, &info, size);
}

char *file_read_seen(int at, const char *path, size_t *size, struct stat *info) {
    const int fd = open_looked_at(at, path, true, info);
    return fd < 0 ? NULL : read_whole(fd, info, size);
}

char *file_read_following(int at, const char *path, size_t *size) {
    struct stat info;
    return file_read_seen(at, path, size, &info);
}

static int write_all(int fd, const char *data, size_t size) {
    while (size > 0) {
        const ssize_t put = write(fd, data, size);
        if (put == 0) errno = EIO;
        if (put <= 0) return -1;
        data += put;
        size -= (size_t)put;
    }
    return 0;
}

/* A new file, open for writing. */
static int create(int at, const char *path, mode_t mode, mode_t dir_mode) {
    const char *last;
    const int dir = parent_of(at, path, dir_mode, &last);
    if (dir < 0) return -1;
    const int fd = openat(dir, last, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    close_keeping(dir);
    if (fd >= 0 && fchmod(fd, mode) != 0) {
        close_keeping(fd);
        return -1;
    }
    return fd;
}

/* A full disk may show only when the file is closed. */
static int finish(int fd, int result) {
    const int kept = errno;
    if (close(fd) != 0 && result == 0) return -1;
    errno = kept;
    return result;
}

int file_write(int at, const char *path, const void *data, size_t size, mode_t mode,
               mode_t dir_mode) {
    const int fd = create(at, path, mode, dir_mode);
    return fd < 0 ? -1 : finish(fd, write_all(fd, data, size));
}

/* Reads to the end; to: a descriptor to copy to, or -1. */
static int pass_on(int from, int to, char hex[65]) {
    static char part[1 << 16];
    struct sha256 sum;
    ssize_t got;
    sha256_begin(&sum);
    while ((got = read(from, part, sizeof part)) > 0) {
        sha256_add(&sum, part, (size_t)got);
        if (to >= 0 && write_all(to, part, (size_t)got) != 0) return -1;
    }
    char unused[65];
    sha256_end(&sum, hex ? hex : unused);
    return got < 0 ? -1 : 0;
}

int file_copy(int from, const char *from_path, int to, const char *to_path, mode_t mode,
              mode_t dir_mode, char hex[65]) {
    struct stat info;
    const int in = open_regular(from, from_path, &info);
    if (in < 0) return -1;
    const int out = create(to, to_path, mode, dir_mode);
    const int result = out < 0 ? -1 : finish(out, pass_on(in, out, hex));
    close_keeping(in);
    return result;
}

int file_sum(int at, const char *path, char hex[65]) {
    struct stat info;
    const int fd = open_regular(at, path, &info);
    if (fd < 0) return -1;
    const int result = pass_on(fd, -1, hex);
    close_keeping(fd);
    return result;
}

int file_stat(int at, const char *path, struct stat *info) {
    const char *last;
    const int dir = parent_of(at, path, 0, &last);
    if (dir < 0) return -1;
    const int result = fstatat(dir, last, info, AT_SYMLINK_NOFOLLOW);
    close_keeping(dir);
    return result;
}

int file_unlink(int at, const char *path) {
    const char *last;
    const int dir = parent_of(at, path, 0, &last);
    if (dir < 0) return -1;
    const int result = unlinkat(dir, last, 0);
    close_keeping(dir);
    return result;
}

int file_link(int at, const char *path, const char *target, mode_t dir_mode) {
    const char *last;
    const int dir = parent_of(at, path, dir_mode, &last);
    if (dir < 0) return -1;
    const int result = symlinkat(target, dir, last);
    close_keeping(dir);
    return result;
}

int file_share(int from, int to, const char *path, mode_t dir_mode) {
    const char *last;
    const int here = parent_of(from, path, 0, &last);
    if (here < 0) return -1;
    const int there = parent_of(to, path, dir_mode, &last);
    const int result = there < 0 ? -1 : linkat(here, last, there, last, 0);
    close_keeping(here);
    if (there >= 0) close_keeping(there);
    return result;
}

int file_shorten(int at, const char *path, const void *data, size_t size) {
    struct stat info;
    const char *last;
    const int dir = parent_of(at, path, 0, &last);
    if (dir < 0) return -1;
    const int fd = openat(dir, last, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    close_keeping(dir);
    if (fd < 0) return -1;
    int result = fstat(fd, &info);
    if (result == 0 && (!S_ISREG(info.st_mode) || (size_t)info.st_size < size)) {
        errno = EINVAL;
        result = -1;
    }
    if (result == 0) result = write_all(fd, data, size);
    return finish(fd, result == 0 ? ftruncate(fd, (off_t)size) : result);
}

char *file_readlink(int at, const char *path) {
    const char *last;
    const int dir = parent_of(at, path, 0, &last);
    char target[PATH_MAX];
    if (dir < 0) return NULL;
    const ssize_t size = readlinkat(dir, last, target, sizeof target);
    close_keeping(dir);
    return size < 0 ? NULL : strndup(target, (size_t)size);
}
