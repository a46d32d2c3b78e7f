/* SPDX-License-Identifier: Apache-2.0
 *
 * The ground to build on: directories above the target that have to be made, the lock, and what an
 * earlier run may have left.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "../../package/files.h"
#include "setup.h"

enum { DIRECTORY = O_RDONLY | O_DIRECTORY | O_CLOEXEC, PATIENCE = 300 };

static void put_first(struct text *lines, const char *path) {
    struct text longer = {0};
    text_add(&longer, "%s\n%s", path, text_of(lines));
    longer.failed = longer.failed || lines->failed;
    text_free(lines);
    *lines = longer;
}

/* mkdir -p that remembers what it made, so that it can be taken away again. */
static int make_root(struct setup *s) {
    struct target *t = &s->target;
    char path[PATH_MAX];
    for (size_t n = 1; t->root[n - 1]; n++) {
        if (t->root[n] != '/' && t->root[n] != 0) continue;
        snprintf(path, sizeof path, "%.*s", (int)n, t->root);
        if (mkdir(path, t->dir_mode) == 0) {
            put_first(&t->fresh, path);
        } else if (errno == ENOENT) {
            return DONE; /* somebody removes what we make: the caller tries again */
        } else if (errno != EEXIST) {
            return give_up(FAILED, "cannot create %s: %s", path, strerror(errno));
        }
        if (!t->root[n]) break;
    }
    return DONE;
}

/* The lock is the root directory itself: no lock file stays behind, and the kernel releases it
 * whatever happens. */
static int wait_for_lock(struct setup *s, int fd) {
    const struct timespec nap = {.tv_nsec = 50 * 1000 * 1000};
    for (int naps = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; naps++) {
        if (errno != EWOULDBLOCK)
            return give_up(FAILED, "cannot lock %s: %s", s->target.root, strerror(errno));
        text_free(&s->target.fresh); /* somebody else uses it already */
        if (naps == 60) say(s, "waiting for another installation in %s", s->target.root);
        if (naps == PATIENCE * 20)
            return give_up(FAILED, "another installation has held %s for five minutes",
                           s->target.root);
        if (setup_stopped) return give_up(FAILED, "stopped while waiting for another installation");
        nanosleep(&nap, NULL);
    }
    return DONE;
}

int target_lock(struct setup *s) {
    struct target *t = &s->target;
    struct stat held, there;
    for (int tries = 0; tries < 1000; tries++) {
        t->root_fd = open(t->root, DIRECTORY);
        if (t->root_fd < 0 && errno == ENOENT && s->options.action == INSTALL && t->own) {
            if (make_root(s) != DONE) return FAILED;
            continue;
        }
        if (t->root_fd < 0 && errno == ENOENT && s->options.action == UNINSTALL)
            return DONE; /* then there is nothing to remove */
        if (t->root_fd < 0) return give_up(FAILED, "cannot open %s: %s", t->root, strerror(errno));
        const int status = wait_for_lock(s, t->root_fd);
        if (status != DONE) return status;
        /* The directory may have been removed, and made again, while we waited. */
        if (fstat(t->root_fd, &held) == 0 && stat(t->root, &there) == 0 &&
            held.st_dev == there.st_dev && held.st_ino == there.st_ino)
            return DONE;
        close(t->root_fd);
        t->root_fd = -1;
    }
    return give_up(FAILED, "%s comes and goes; is something removing it?", t->root);
}

/* The stage of a run that was killed; also what version 1.0.0 left in such a case. */
static bool is_leftover(const char *name) {
    static const char *const old[] = {"new.", "old", "gone", "config."};
    const size_t size = strlen(STAGE_PREFIX);
    if (strncmp(name, STAGE_PREFIX, size) != 0) return false;
    if (strspn(name + size, "0123456789ABCDEF") == 12 && !name[size + 12]) return true;
    for (size_t i = 0; i < sizeof old / sizeof old[0]; i++)
        if (strncmp(name + size, old[i], strlen(old[i])) == 0) return true;
    return false;
}

/* Where a file system cannot exchange directories, a run may have ended when the old version was
 * out of its place and the new one not yet in it. */
static int bring_back(int vendors, const char *name) {
    struct stat info;
    if (strcmp(name, STAGE_PREFIX "old") == 0) { /* of 1.0.0 */
        if (fstatat(vendors, VENDOR, &info, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT) return 0;
        return renameat(vendors, name, vendors, VENDOR);
    }
    const int stage = openat(vendors, name, DIRECTORY | O_NOFOLLOW);
    if (stage < 0) return errno == ENOTDIR || errno == ELOOP ? 0 : -1;
    int result = stage_has_old(stage, vendors);
    if (result == 1) result = stage_restore(stage, vendors);
    const int trouble = errno;
    close(stage);
    errno = trouble;
    return result;
}

/* Under the lock, so no installer is using it; but compilers of one that was killed may need a
 * moment to end. */
static int remove_leftover(int vendors, const char *name) {
    const struct timespec nap = {.tv_nsec = 100 * 1000 * 1000};
    int result = tree_remove(vendors, name);
    for (int naps = 0; result != 0 && errno == ENOTEMPTY && naps < 50; naps++) {
        nanosleep(&nap, NULL);
        result = tree_remove(vendors, name);
    }
    return result;
}

static int clean_leftovers(struct setup *s, int vendors) {
    const int again = openat(vendors, ".", DIRECTORY);
    DIR *list = again < 0 ? NULL : fdopendir(again);
    int status =
        list ? DONE : give_up(FAILED, "cannot read %s: %s", s->target.vendors, strerror(errno));
    for (struct dirent *entry; status == DONE && (entry = readdir(list));) {
        if (!is_leftover(entry->d_name)) continue;
        if (bring_back(vendors, entry->d_name) != 0)
            status = give_up(FAILED, "cannot put back the version in %s/%s: %s", s->target.vendors,
                             entry->d_name, strerror(errno));
        else if (remove_leftover(vendors, entry->d_name) != 0)
            warn("cannot delete %s/%s, which an interrupted run left: %s", s->target.vendors,
                 entry->d_name, strerror(errno));
    }
    if (list) closedir(list);
    return status;
}

/* Only our own way down may be taken away, whatever package.info says: vendors/ and the directories
 * above it. config.ini is dealt with where it is edited. */
static bool may_unmake(const struct setup *s, const char *path, char real[PATH_MAX]) {
    if (path[0] != '/' || !realpath(path, real)) return false;
    const size_t size = strlen(real);
    return size > 1 && strncmp(s->target.real_vendors, real, size) == 0 &&
           (s->target.real_vendors[size] == '/' || s->target.real_vendors[size] == 0);
}

/* For package.info: what this run made, what earlier versions made. */
static int note_made(struct setup *s) {
    struct target *t = &s->target;
    struct stat info;
    char real[PATH_MAX];
    if (!realpath(t->vendors, t->real_vendors)) t->real_vendors[0] = 0;
    text_free(&t->made);
    text_add(&t->made, "%s", text_of(&t->fresh));
    for (size_t i = 0; i < s->old.made_count; i++)
        if (may_unmake(s, s->old.made[i], real) || strcmp(s->old.made[i], t->config) == 0)
            text_add(&t->made, "%s\n", s->old.made[i]);
    if (s->options.action == INSTALL && !t->own &&
        fstatat(t->vendors_fd, CONFIG_NAME, &info, AT_SYMLINK_NOFOLLOW) != 0)
        put_first(&t->made, t->config);
    return t->made.failed || t->fresh.failed ? give_up(FAILED, "out of memory") : DONE;
}

int target_prepare(struct setup *s) {
    struct target *t = &s->target;
    if (s->options.action == INSTALL) {
        const bool was_there = t->there;
        if (mkdirat(t->root_fd, "vendors", t->dir_mode) == 0)
            put_first(&t->fresh, t->vendors);
        else if (errno != EEXIST)
            return give_up(FAILED, "cannot create %s: %s", t->vendors, strerror(errno));
        else if (!was_there)
            s->looked = false; /* somebody made it since we looked */
    }
    const int vendors = openat(t->root_fd, "vendors", DIRECTORY | O_NOFOLLOW);
    int status = vendors < 0 ? DONE : clean_leftovers(s, vendors);
    if (vendors >= 0) close(vendors);
    if (status == DONE) status = target_check(s); /* what is true now that nobody else changes it */
    return status == DONE ? note_made(s) : status;
}

void target_unmake(struct setup *s) {
    struct line line;
    for (const char *at = text_of(&s->target.made); next_line(&at, &line);) {
        char path[PATH_MAX], real[PATH_MAX];
        snprintf(path, sizeof path, "%.*s", (int)line.size, line.s);
        if (may_unmake(s, path, real)) rmdir(real);
    }
}

void target_back_out(struct setup *s) {
    struct line line;
    for (const char *at = text_of(&s->target.fresh); next_line(&at, &line);) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%.*s", (int)line.size, line.s);
        if (rmdir(path) != 0 && errno != ENOENT && errno != ENOTEMPTY && errno != EEXIST)
            warn("cannot remove the empty directory %s: %s", path, strerror(errno));
    }
    text_free(&s->target.fresh);
}
