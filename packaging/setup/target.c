/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the package goes: which directory, and whether that is acceptable. Nothing is written here.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../package/files.h"
#include "setup.h"

enum { DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

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
        if (lstat(above, &info) == 0 && S_ISLNK(info.st_mode))
            return give_up(REFUSED, "%s is a symbolic link that leads nowhere", above);
        char *slash = strrchr(above, '/');
        if (slash == above) slash++;
        *slash = 0;
    }
    if (!S_ISDIR(info.st_mode)) return give_up(REFUSED, "%s is not a directory", above);
    return DONE;
}

/* Other installers may remove what is above while we do not hold the lock. */
static bool has_vanished(const struct setup *s) {
    return s->target.root_fd < 0 && errno == ENOENT;
}

/* Whoever may write in a directory on the way may put another one in its place. The sticky bit
 * hinders that, except for names that are not taken yet: not where we put ours. */
static int check_ancestor(struct setup *s, const char *path, bool last) {
    struct stat info;
    if (stat(path, &info) != 0)
        return has_vanished(s) ? DONE
                               : give_up(REFUSED, "cannot look at %s: %s", path, strerror(errno));
    const bool sticky = (info.st_mode & S_ISVTX) && !last;
    if ((info.st_mode & S_IWOTH) && !sticky) {
        /* What is there already may go, and may be compiled for. */
        if (s->options.action == INSTALL)
            return refuse(s, "every user may write in %s; repair it with chmod o-w", path);
        warn("every user may write in %s; repair it with chmod o-w", path);
    } else if ((info.st_mode & S_IWGRP) && !sticky && info.st_gid != 0) {
        warn("group %u may write in %s, and so replace what is installed there",
             (unsigned)info.st_gid, path);
    }
    if (info.st_uid != 0 && info.st_uid != geteuid())
        warn("%s belongs to user %u, who can replace what is installed there", path,
             (unsigned)info.st_uid);
    return DONE;
}

static int check_ancestors(struct setup *s, const char *above) {
    char real[PATH_MAX];
    if (!realpath(above, real))
        return has_vanished(s) ? DONE
                               : give_up(REFUSED, "cannot enter %s: %s", above, strerror(errno));
    int status = check_ancestor(s, "/", false);
    for (char *at = real; status == DONE && at[1];) {
        at += 1 + strcspn(at + 1, "/");
        const char kept = *at;
        *at = 0;
        status = check_ancestor(s, real, !kept && strcmp(above, s->target.vendors) == 0);
        *at = kept;
        if (!kept) break;
    }
    return status;
}

static int foreign(void *context, int at, const char *path, const struct stat *info) {
    const struct setup *s = context;
    (void)at;
    if (info->st_uid == geteuid()) return DONE;
    return give_up(REFUSED, "%s/%s belongs to user %u; only that user or root may remove it",
                   s->target.dir, path, (unsigned)info->st_uid);
}

/* An ordinary user can replace only what is his own, down to the last directory. */
static int check_owner(const struct setup *s, const struct stat *info) {
    if (geteuid() == 0) return DONE;
    if (info->st_uid != geteuid())
        return give_up(REFUSED, "%s belongs to user %u; only that user or root may replace it",
                       s->target.dir, (unsigned)info->st_uid);
    const int status = tree_walk_dirs(s->old_fd, foreign, (void *)s);
    if (status >= 0) return status;
    return give_up(REFUSED, "cannot look through %s: %s", s->target.dir, strerror(errno));
}

/* vendors/, if it is there: below the directory that we hold, once we hold it. */
static int open_vendors(struct target *t) {
    struct stat info;
    t->vendors_fd =
        t->root_fd >= 0 ? openat(t->root_fd, "vendors", DIRECTORY) : open(t->vendors, DIRECTORY);
    if (t->vendors_fd >= 0 || errno == ENOENT) return DONE;
    const int trouble = errno;
    if (lstat(t->vendors, &info) == 0 && S_ISLNK(info.st_mode))
        return give_up(REFUSED, "%s is a symbolic link; use --install-path= with its parent",
                       t->vendors);
    return give_up(REFUSED, "cannot open %s: %s", t->vendors, strerror(trouble));
}

/* Opens what is there, and looks at an old version in it. */
static int open_target(struct setup *s) {
    struct target *t = &s->target;
    struct stat info;
    char why[WHY];
    int status = open_vendors(t);
    if (status != DONE || t->vendors_fd < 0) return status;
    if (fstatat(t->vendors_fd, VENDOR, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? DONE
                               : give_up(REFUSED, "cannot look at %s: %s", t->dir, strerror(errno));
    if (S_ISLNK(info.st_mode))
        return give_up(REFUSED, "%s is a symbolic link; remove it first", t->dir);
    if (!S_ISDIR(info.st_mode)) return give_up(REFUSED, "%s is not a directory", t->dir);
    s->old_fd = openat(t->vendors_fd, VENDOR, DIRECTORY);
    if (s->old_fd < 0) return give_up(REFUSED, "cannot open %s: %s", t->dir, strerror(errno));
    s->old_ino = info.st_ino;
    status = check_owner(s, &info);
    if (status != DONE) return status;
    s->has_old = manifest_read(s->old_fd, &s->old, why);
    if (!why[0]) return DONE;
    return give_up(REFUSED, "%s/" MANIFEST_NAME " is spoilt: %s. Nothing was changed", t->dir, why);
}

static void close_target(struct setup *s) {
    if (s->target.vendors_fd >= 0) close(s->target.vendors_fd);
    if (s->old_fd >= 0) close(s->old_fd);
    s->target.vendors_fd = s->old_fd = -1;
    manifest_free(&s->old);
    s->has_old = false;
    s->old_ino = 0;
}

/* A directory of ours that lost its package.info, or one that somebody else made: what is in it may
 * stay if none of it is in the way of a file of ours. */
static int taken_name(void *context, int at, const char *path, const struct stat *info) {
    const struct manifest *m = context;
    const size_t size = strlen(path);
    (void)at;
    (void)info;
    for (size_t i = 0; i < m->entries; i++) {
        const char *ours = m->entry[i].path;
        if (strncmp(ours, path, size) == 0 && (!ours[size] || ours[size] == '/')) return 1;
    }
    return 0;
}

/* May we write there? */
static int check_access(const struct setup *s, const char *above) {
    if (access(above, W_OK | X_OK) == 0 || has_vanished(s)) return DONE;
    if (errno == EROFS)
        return give_up(REFUSED, "%s is on a file system that is mounted read-only", above);
    if (errno != EACCES) return give_up(REFUSED, "cannot write in %s: %s", above, strerror(errno));
    return give_up(REFUSED,
                   "user %u may not write in %s; install as its owner, or elsewhere with "
                   "--install-path=DIR",
                   (unsigned)geteuid(), above);
}

static int check_content(struct setup *s) {
    const int status = open_target(s);
    if (status != DONE || s->options.action != INSTALL || s->old_fd < 0 || s->has_old)
        return status;
    if (tree_walk(s->old_fd, taken_name, &s->source) == 0) return DONE;
    return give_up(REFUSED,
                   "%s was not made by this installer (no " MANIFEST_NAME
                   " of ours); move it away first",
                   s->target.dir);
}

/* As readable as the directory above. */
static int choose_modes(struct setup *s, const char *above) {
    struct target *t = &s->target;
    struct stat info;
    t->dir_mode = 0755;
    t->file_mode = 0644;
    if (stat(above, &info) != 0)
        return has_vanished(s) ? DONE
                               : give_up(REFUSED, "cannot look at %s: %s", above, strerror(errno));
    if ((info.st_mode & (S_IROTH | S_IXOTH)) == (S_IROTH | S_IXOTH)) return DONE;
    if (s->options.for_all && !s->looked)
        warn("other users cannot enter %s; to let them: chmod o+rx %s", above, above);
    if (s->options.for_all) return DONE;
    t->dir_mode = 0750;
    t->file_mode = 0640;
    return DONE;
}

int target_check(struct setup *s) {
    struct target *t = &s->target;
    struct stat info;
    char above[PATH_MAX + 16];
    close_target(s);
    if (!t->own && (stat(t->root, &info) != 0 || !S_ISDIR(info.st_mode)))
        return give_up(REFUSED, "%s: %s is not a directory", t->from, t->root);
    int status = find_above(t, above);
    if (status == DONE) status = check_access(s, above);
    if (status == DONE && !s->looked) status = check_ancestors(s, above);
    /* What is in it holds still only under the lock. */
    if (status == DONE && (t->root_fd >= 0 || s->options.dry_run)) status = check_content(s);
    if (status == DONE) status = choose_modes(s, above);
    t->there = strcmp(above, t->vendors) == 0;
    s->looked = status == DONE;
    return status;
}
