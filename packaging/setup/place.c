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
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../package/files.h"
#include "setup.h"

enum { EXCHANGE = 2 }; /* RENAME_EXCHANGE, which old headers lack */

/* Swaps the tree in the stage and the target. By number: glibc has the call since 2.28 only. */
static int exchange(struct setup *s) {
    return (int)syscall(SYS_renameat2, s->stage_fd, VENDOR, s->target.vendors_fd, VENDOR, EXCHANGE);
}

/* overlayfs cannot rename a directory of an image layer at all: the old version is copied aside and
 * then deleted, package.info first, which tells the next run that the copy is wanted. */
static int set_aside(struct setup *s) {
    if (renameat(s->target.vendors_fd, VENDOR, s->stage_fd, OLD_NAME) == 0) return 0;
    if (errno != EXDEV) return -1;
    const int copy = dir_make(s->stage_fd, "copy", s->target.dir_mode);
    int result = copy < 0 ? -1 : keep_copy(s, copy);
    if (copy >= 0) close(copy);
    if (result == 0) result = renameat(s->stage_fd, "copy", s->stage_fd, OLD_NAME);
    if (result == 0 && file_unlink(s->old_fd, MANIFEST_NAME) != 0 && errno != ENOENT) result = -1;
    if (result == 0) result = tree_remove(s->target.vendors_fd, VENDOR);
    return result;
}

static int put_in_place(struct setup *s) {
    const int vendors = s->target.vendors_fd;
    if (s->old_fd >= 0) {
        if (exchange(s) == 0) return DONE;
        const bool cannot =
            errno == EINVAL || errno == ENOSYS || errno == ENOTSUP || errno == EXDEV;
        if (!cannot || set_aside(s) != 0)
            return give_up(FAILED, "cannot replace %s: %s", s->target.dir, strerror(errno));
    }
    if (renameat(s->stage_fd, VENDOR, vendors, VENDOR) == 0) return DONE;
    return give_up(FAILED, "cannot create %s: %s", s->target.dir, strerror(errno));
}

/* The number of what is in the target now, 0 if there is nothing, or -1. */
static long long number_there(const struct setup *s) {
    struct stat info;
    if (s->target.vendors_fd < 0) return 0;
    if (fstatat(s->target.vendors_fd, VENDOR, &info, AT_SYMLINK_NOFOLLOW) == 0)
        return (long long)info.st_ino;
    return errno == ENOENT ? 0 : -1;
}

/* Back to where we were, by what is there. */
static void take_back(struct setup *s) {
    const int vendors = s->target.vendors_fd;
    if (number_there(s) == (long long)s->new_ino) {
        if (s->old_fd >= 0 && exchange(s) == 0) return;
        if (renameat(vendors, VENDOR, s->stage_fd, VENDOR) != 0) return;
    }
    if (s->old_fd >= 0 && stage_has_old(s->stage_fd, vendors) == 1 &&
        stage_restore(s->stage_fd, vendors) == 0) {
        const long long number = number_there(s); /* a copy has another one */
        if (number > 0) s->old_ino = (ino_t)number;
    }
}

void tell_state(const struct setup *s) {
    const char *dir = s->target.dir;
    const long long number = s->new_ino ? number_there(s) : 0;
    if (!s->new_ino) {
        give_up(FAILED, "nothing was changed"); /* it did not come to that */
    } else if (number < 0) {
        give_up(FAILED, "cannot look at %s: %s. Run this again: it mends what there is to mend",
                dir, strerror(errno));
    } else if (number == (long long)s->old_ino) {
        give_up(FAILED, "nothing was changed");
    } else if (number == 0) {
        give_up(FAILED, "%s is not there now; it is in %s/%s, and the next run puts it back", dir,
                s->target.vendors, s->stage_kept);
    } else {
        give_up(FAILED, "all the same %s is now version %s. Run this again: it does the rest", dir,
                s->source.version);
    }
}

int place(struct setup *s) {
    struct listing listing = {0};
    struct stat info;
    if (fstat(s->tree_fd, &info) != 0)
        return give_up(FAILED, "cannot look at the stage: %s", strerror(errno));
    s->new_ino = info.st_ino;
    int status = DONE;
    if (!s->target.own && s->options.action == INSTALL) status = listing_add(s, &listing);
    if (status != DONE) return status;
    status = put_in_place(s);
    if (status == DONE && listing_commit(s, &listing) != 0)
        status = give_up(FAILED, "cannot put " VENDOR " first in %s: %s", s->target.config,
                         strerror(errno));
    if (status != DONE) take_back(s);
    return status;
}
