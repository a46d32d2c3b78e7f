/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the package goes: which directory, whether that is acceptable, the lock on it, and what an
 * earlier run may have left there.
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

#include "files.h"
#include "setup.h"

enum { DIRECTORY = O_RDONLY | O_DIRECTORY | O_CLOEXEC, PATIENCE = 300 };

static const char *environment(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static int no_target(void) {
    static const char *const guesses[] = {"/usr/local/Ascend/cann",
                                          "/usr/local/Ascend/ascend-toolkit/latest"};
    for (size_t i = 0; i < sizeof guesses / sizeof guesses[0]; i++) {
        char opp[PATH_MAX];
        struct stat info;
        snprintf(opp, sizeof opp, "%s/opp", guesses[i]);
        if (stat(opp, &info) == 0 && S_ISDIR(info.st_mode))
            return give_up(REFUSED, "ASCEND_OPP_PATH is not set. Run: . %s/set_env.sh", guesses[i]);
    }
    return give_up(REFUSED, "neither ASCEND_OPP_PATH nor ASCEND_HOME_PATH is set. Source CANN's "
                            "set_env.sh, or use --install-path=DIR");
}

int target_choose(struct setup *s) {
    struct target *t = &s->target;
    const char *opp = environment("ASCEND_OPP_PATH"), *home = environment("ASCEND_HOME_PATH");
    const char *below = "";
    t->own = s->options.install_path != NULL;
    const char *root = s->options.install_path;
    t->from = "--install-path";
    if (!root && opp) {
        root = opp;
        t->from = "ASCEND_OPP_PATH";
    } else if (!root && home) {
        root = home;
        below = "/opp";
        t->from = "ASCEND_HOME_PATH";
    }
    if (!root) return no_target();
    if (strchr(root, '\n')) return give_up(REFUSED, "%s contains a line break", t->from);
    if (strchr(root, ':'))
        return give_up(REFUSED,
                       "%s contains a colon, which ASCEND_CUSTOM_OPP_PATH cannot carry: '%s'",
                       t->from, root);
    if (root[0] != '/')
        return give_up(REFUSED, "%s must be an absolute path, not '%s'", t->from, root);
    const size_t size = strlen(root);
    if (strstr(root, "/../") || (size >= 3 && strcmp(root + size - 3, "/..") == 0))
        return give_up(REFUSED, "%s contains '..': '%s'", t->from, root);
    if (size + strlen(below) + 256 > PATH_MAX)
        return give_up(REFUSED, "%s has %zu characters, which leaves no room for the files",
                       t->from, size);
    snprintf(t->root, sizeof t->root, "%s%s", root, below);
    for (size_t n = strlen(t->root); n > 0 && t->root[n - 1] == '/'; n--)
        t->root[n - 1] = 0;
    if (!t->root[0]) return give_up(REFUSED, "%s is the root directory", t->from);
    snprintf(t->vendors, sizeof t->vendors, "%s/vendors", t->root);
    snprintf(t->dir, sizeof t->dir, "%s/" VENDOR, t->vendors);
    snprintf(t->config, sizeof t->config, "%s/" CONFIG_NAME, t->vendors);
    return DONE;
}

/* The deepest directory on the way to vendors/ that exists. */
static int find_above(const struct target *t, char above[PATH_MAX + 16]) {
    struct stat info;
    strcpy(above, t->vendors);
    while (stat(above, &info) != 0) {
        if (errno != ENOENT && errno != ENOTDIR)
            return give_up(REFUSED, "cannot look at %s: %s", above, strerror(errno));
        char *slash = strrchr(above, '/');
        if (slash == above) slash++;
        *slash = 0;
    }
    if (!S_ISDIR(info.st_mode)) return give_up(REFUSED, "%s is not a directory", above);
    return DONE;
}

/* Whoever may write in a directory on the way may put another one in its place. */
static int check_ancestor(struct setup *s, const char *path) {
    struct stat info;
    if (stat(path, &info) != 0)
        return give_up(REFUSED, "cannot look at %s: %s", path, strerror(errno));
    const bool sticky = info.st_mode & S_ISVTX;
    if ((info.st_mode & S_IWOTH) && !sticky)
        return refuse(s, "every user may write in %s; repair it with chmod o-w", path);
    if ((info.st_mode & S_IWGRP) && !sticky && info.st_gid != 0) {
        warn("group %u may write in %s, and so replace what is installed there",
             (unsigned)info.st_gid, path);
    } else if (info.st_uid != 0 && info.st_uid != geteuid()) {
        warn("%s belongs to user %u, who can replace what is installed there", path,
             (unsigned)info.st_uid);
    }
    return DONE;
}

static int check_ancestors(struct setup *s, const char *above) {
    char real[PATH_MAX];
    if (!realpath(above, real))
        return give_up(REFUSED, "cannot enter %s: %s", above, strerror(errno));
    int status = check_ancestor(s, "/");
    for (char *at = real; status == DONE && at[1];) {
        at += 1 + strcspn(at + 1, "/");
        const char kept = *at;
        *at = 0;
        status = check_ancestor(s, real);
        *at = kept;
        if (!kept) break;
    }
    return status;
}

/* Opens what is there, and looks at an old version in it. */
static int open_target(struct setup *s) {
    struct target *t = &s->target;
    struct stat info;
    char why[WHY];
    t->vendors_fd = open(t->vendors, DIRECTORY | O_NOFOLLOW);
    if (t->vendors_fd < 0) {
        if (errno == ELOOP || (errno == ENOTDIR && lstat(t->vendors, &info) == 0))
            return give_up(REFUSED,
                           S_ISLNK(info.st_mode) || errno == ELOOP
                               ? "%s is a symbolic link; use --install-path= with its parent"
                               : "%s is not a directory",
                           t->vendors);
        return errno == ENOENT
                   ? DONE
                   : give_up(REFUSED, "cannot open %s: %s", t->vendors, strerror(errno));
    }
    if (fstatat(t->vendors_fd, VENDOR, &info, AT_SYMLINK_NOFOLLOW) != 0) return DONE;
    if (S_ISLNK(info.st_mode))
        return give_up(REFUSED, "%s is a symbolic link; remove it first", t->dir);
    if (!S_ISDIR(info.st_mode)) return give_up(REFUSED, "%s is not a directory", t->dir);
    if (geteuid() != 0 && info.st_uid != geteuid())
        return give_up(REFUSED, "%s belongs to user %u; only that user or root may replace it",
                       t->dir, (unsigned)info.st_uid);
    s->old_fd = openat(t->vendors_fd, VENDOR, DIRECTORY | O_NOFOLLOW);
    if (s->old_fd < 0) return give_up(REFUSED, "cannot open %s: %s", t->dir, strerror(errno));
    s->old_ino = info.st_ino;
    s->has_old = manifest_read(s->old_fd, &s->old, why);
    if (why[0])
        return give_up(REFUSED, "%s/" MANIFEST_NAME " is spoilt: %s. Nothing was changed", t->dir,
                       why);
    return DONE;
}

static void close_target(struct setup *s) {
    if (s->target.vendors_fd >= 0) close(s->target.vendors_fd);
    if (s->old_fd >= 0) close(s->old_fd);
    s->target.vendors_fd = s->old_fd = -1;
    manifest_free(&s->old);
    s->has_old = false;
}

/* A directory of ours that lost its package.info, or one that somebody else made: what is in it may
 * stay if none of it has the name of a file of ours. */
static int taken_name(void *context, int at, const char *path, const struct stat *info) {
    (void)at;
    (void)info;
    return manifest_find(context, path) != NULL;
}

int target_check(struct setup *s) {
    struct target *t = &s->target;
    struct stat info;
    char above[PATH_MAX + 16];
    close_target(s);
    if (!t->own && (stat(t->root, &info) != 0 || !S_ISDIR(info.st_mode)))
        return give_up(REFUSED, "%s: %s is not a directory", t->from, t->root);
    int status = find_above(t, above);
    if (status == DONE) status = open_target(s);
    if (status != DONE) return status;
    if (access(above, W_OK | X_OK) != 0) {
        if (errno == EROFS)
            return give_up(REFUSED, "%s is on a file system that is mounted read-only", above);
        return give_up(REFUSED,
                       "user %u may not write in %s; install as its owner, or elsewhere with "
                       "--install-path=DIR",
                       (unsigned)geteuid(), above);
    }
    if (!s->looked) status = check_ancestors(s, above);
    if (status != DONE) return status;
    if (s->options.action == INSTALL && s->old_fd >= 0 && !s->has_old &&
        tree_walk(s->old_fd, taken_name, &s->source) != 0)
        return give_up(REFUSED,
                       "%s was not made by this installer (no " MANIFEST_NAME
                       " of ours); move it away first",
                       t->dir);
    t->dir_mode = 0755;
    t->file_mode = 0644;
    if (stat(above, &info) != 0) return give_up(REFUSED, "cannot look at %s", above);
    if ((info.st_mode & (S_IROTH | S_IXOTH)) != (S_IROTH | S_IXOTH)) {
        if (s->options.for_all && !s->looked) {
            warn("other users cannot enter %s; to let them: chmod o+rx %s", above, above);
        } else if (!s->options.for_all) {
            t->dir_mode = 0750;
            t->file_mode = 0640;
        }
    }
    s->looked = true;
    return DONE;
}

/* mkdir -p that remembers what it made, so that uninstalling can take it away again. */
static int make_root(struct setup *s) {
    struct target *t = &s->target;
    char path[PATH_MAX];
    struct text made = {0};
    for (size_t n = 1; t->root[n - 1]; n++) {
        if (t->root[n] != '/' && t->root[n] != 0) continue;
        snprintf(path, sizeof path, "%.*s", (int)n, t->root);
        if (mkdir(path, t->dir_mode) == 0) {
            struct text longer = {0};
            text_add(&longer, "%s\n%s", path, text_of(&made));
            text_free(&made);
            made = longer;
        } else if (errno != EEXIST) {
            give_up(FAILED, "cannot create %s: %s", path, strerror(errno));
            text_add(&t->made, "%s", text_of(&made));
            text_free(&made);
            return FAILED;
        }
        if (!t->root[n]) break;
    }
    text_add(&t->made, "%s", text_of(&made));
    text_free(&made);
    return DONE;
}

/* The lock is the root directory itself: no lock file stays behind, and the kernel releases it
 * whatever happens. */
static int wait_for_lock(struct setup *s, int fd) {
    const struct timespec nap = {.tv_nsec = 50 * 1000 * 1000};
    for (int naps = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; naps++) {
        if (errno != EWOULDBLOCK)
            return give_up(FAILED, "cannot lock %s: %s", s->target.root, strerror(errno));
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

/* Two renames replaced the old version where a file system cannot exchange directories, and the run
 * ended between them: the old version lies in the stage. */
static void bring_back(struct setup *s, int stage) {
    struct stat info;
    if (fstatat(stage, "old", &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode) &&
        fstatat(s->target.vendors_fd, VENDOR, &info, AT_SYMLINK_NOFOLLOW) != 0)
        renameat(stage, "old", s->target.vendors_fd, VENDOR);
}

/* What interrupted runs left behind. Under the lock, so nobody is using it. */
static void clean_leftovers(struct setup *s) {
    const int vendors = s->target.vendors_fd;
    const int again = openat(vendors, ".", DIRECTORY);
    DIR *list = again < 0 ? NULL : fdopendir(again);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        if (strncmp(entry->d_name, STAGE_PREFIX, strlen(STAGE_PREFIX)) != 0) continue;
        const int stage = openat(vendors, entry->d_name, DIRECTORY | O_NOFOLLOW);
        if (stage >= 0) {
            bring_back(s, stage);
            close(stage);
        }
        tree_remove(vendors, entry->d_name);
    }
    if (list) closedir(list);
}

int target_prepare(struct setup *s) {
    struct target *t = &s->target;
    struct stat info;
    if (s->options.action == INSTALL && mkdirat(t->root_fd, "vendors", t->dir_mode) == 0) {
        struct text made = {0};
        text_add(&made, "%s\n%s", t->vendors, text_of(&t->made));
        text_free(&t->made);
        t->made = made;
    }
    const int vendors = openat(t->root_fd, "vendors", DIRECTORY | O_NOFOLLOW);
    if (vendors >= 0) {
        const int kept = t->vendors_fd;
        t->vendors_fd = vendors;
        clean_leftovers(s);
        t->vendors_fd = kept;
        close(vendors);
    }
    const int status = target_check(s); /* what is true now that nobody else changes it */
    if (status != DONE) return status;
    if (!realpath(t->vendors, t->real_vendors)) t->real_vendors[0] = 0;
    for (size_t i = 0; i < s->old.made_count; i++)
        text_add(&t->made, "%s\n", s->old.made[i]);
    if (s->options.action == INSTALL && !t->own &&
        fstatat(t->vendors_fd, CONFIG_NAME, &info, AT_SYMLINK_NOFOLLOW) != 0) {
        struct text made = {0};
        text_add(&made, "%s\n%s", t->config, text_of(&t->made));
        text_free(&t->made);
        t->made = made;
    }
    return t->made.failed ? give_up(FAILED, "out of memory") : DONE;
}

/* Only our own way down may be taken away, whatever package.info says: vendors/ and the directories
 * above it. config.ini is dealt with where it is edited. */
static bool may_unmake(const struct setup *s, const char *path) {
    char real[PATH_MAX];
    if (path[0] != '/' || !realpath(path, real)) return false;
    const size_t size = strlen(real);
    return size > 1 && strncmp(s->target.real_vendors, real, size) == 0 &&
           (s->target.real_vendors[size] == '/' || s->target.real_vendors[size] == 0);
}

void target_unmake(struct setup *s) {
    struct line line;
    for (const char *at = text_of(&s->target.made); next_line(&at, &line);) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%.*s", (int)line.size, line.s);
        if (may_unmake(s, path)) rmdir(path);
    }
}
