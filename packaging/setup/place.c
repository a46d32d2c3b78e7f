/* SPDX-License-Identifier: Apache-2.0
 *
 * The step from the old version to the new one. Where the file system can exchange two directories
 * (renameat2), a kill at any moment leaves one of them, whole; elsewhere it takes two renames, and
 * the next run mends what a kill between them leaves. Signals are not looked at in here: from the
 * first rename on the work is finished or undone.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "config.h"
#include "files.h"
#include "setup.h"

enum { EXCHANGE = 2 }; /* RENAME_EXCHANGE, which old headers lack */

/* Swaps the tree in the stage and the target. By number: glibc has the call since 2.28 only. */
static int exchange(struct setup *s) {
    return (int)syscall(SYS_renameat2, s->stage_fd, VENDOR, s->target.vendors_fd, VENDOR, EXCHANGE);
}

/* Which tree is in the target now? Asked of the disk, not of a variable. */
static bool is_in_place(const struct setup *s, ino_t tree) {
    struct stat info;
    return fstatat(s->target.vendors_fd, VENDOR, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
           info.st_ino == tree;
}

static int put_in_place(struct setup *s) {
    const int vendors = s->target.vendors_fd;
    if (s->old_fd < 0) {
        if (renameat(s->stage_fd, VENDOR, vendors, VENDOR) == 0) return DONE;
        return give_up(FAILED, "cannot create %s: %s", s->target.dir, strerror(errno));
    }
    if (exchange(s) == 0) return DONE;
    if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP)
        return give_up(FAILED, "cannot replace %s: %s", s->target.dir, strerror(errno));
    if (renameat(vendors, VENDOR, s->stage_fd, "old") != 0)
        return give_up(FAILED, "cannot replace %s: %s", s->target.dir, strerror(errno));
    if (renameat(s->stage_fd, VENDOR, vendors, VENDOR) == 0) return DONE;
    return give_up(FAILED, "cannot create %s: %s", s->target.dir, strerror(errno));
}

/* Back to where we were, by what is there. False: it could not be done. */
static bool take_back(struct setup *s, ino_t new_ino) {
    const int vendors = s->target.vendors_fd;
    struct stat info;
    if (is_in_place(s, new_ino)) {
        if (s->old_fd < 0) return renameat(vendors, VENDOR, s->stage_fd, VENDOR) == 0;
        if (exchange(s) == 0) return true;
        if (renameat(vendors, VENDOR, s->stage_fd, VENDOR) != 0) return false;
    }
    if (fstatat(s->stage_fd, "old", &info, AT_SYMLINK_NOFOLLOW) == 0)
        return renameat(s->stage_fd, "old", vendors, VENDOR) == 0;
    return true;
}

int config_replace(struct setup *s, const struct text *content, mode_t mode) {
    const struct target *t = &s->target;
    struct stat there;
    const bool was = fstatat(t->vendors_fd, CONFIG_NAME, &there, 0) == 0;
    if (content->failed) errno = ENOMEM;
    if (content->failed ||
        file_write(s->stage_fd, CONFIG_NAME, content->s, content->size, mode, 0) != 0)
        return -1;
    if (was && geteuid() == 0 &&
        fchownat(s->stage_fd, CONFIG_NAME, there.st_uid, there.st_gid, AT_SYMLINK_NOFOLLOW) != 0)
        return -1;
    if (fstatat(t->vendors_fd, CONFIG_NAME, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISLNK(there.st_mode))
        warn("%s was a symbolic link; it is a file of its own now", t->config);
    return renameat(s->stage_fd, CONFIG_NAME, t->vendors_fd, CONFIG_NAME);
}

static int config_add(struct setup *s) {
    const struct target *t = &s->target;
    struct stat there;
    struct text names = {0}, out = {0};
    char *content = file_read_following(t->vendors_fd, CONFIG_NAME, NULL);
    if (!content && errno != ENOENT)
        return give_up(FAILED, "cannot read %s: %s", t->config,
                       errno == EINVAL ? "it is not a file" : strerror(errno));
    mode_t mode = t->file_mode, had = 0;
    if (fstatat(t->vendors_fd, CONFIG_NAME, &there, 0) == 0) mode = had = there.st_mode & 0777;
    if (s->options.for_all) mode |= S_IRUSR | S_IRGRP | S_IROTH;
    text_add(&names, VENDOR);
    config_names(content ? content : "", VENDOR, &names);
    int result = -1, status = FAILED;
    if (!config_with(content ? content : "", text_of(&names), &out)) {
        give_up(FAILED,
                "%s: load_priority has a second '='; GE rejects such a line. Repair it first",
                t->config);
    } else {
        const bool same = content && !out.failed && strcmp(content, out.s) == 0 && mode == had;
        result = names.failed ? -1 : same ? 0 : config_replace(s, &out, mode);
        status = result == 0 ? DONE
                             : give_up(FAILED, "cannot put " VENDOR " first in %s: %s", t->config,
                                       strerror(errno));
    }
    free(content);
    text_free(&names);
    text_free(&out);
    return status;
}

int place(struct setup *s) {
    struct stat info;
    if (fstat(s->tree_fd, &info) != 0)
        return give_up(FAILED, "cannot look at the stage: %s", strerror(errno));
    int status = put_in_place(s);
    if (status == DONE && !s->target.own && s->options.action == INSTALL) status = config_add(s);
    if (status == DONE) return DONE;
    if (!take_back(s, info.st_ino))
        warn("%s could not be put back: %s. Run the installation again: it mends this",
             s->target.dir, strerror(errno));
    return status;
}
