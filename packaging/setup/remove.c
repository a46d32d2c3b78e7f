/* SPDX-License-Identifier: Apache-2.0
 *
 * Removing the package: exactly the files that its package.info names, inside its own directory,
 * and no symbolic link is followed to them. What others put there stays.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../package/files.h"
#include "setup.h"

struct others {
    const struct manifest *m;
    struct text names;
};

/* Something else in the place of a file or a link of ours is not ours. */
static bool is_as_made(const struct manifest_entry *entry, const struct stat *info) {
    return entry->target ? S_ISLNK(info->st_mode) : S_ISREG(info->st_mode);
}

static int note_stranger(void *context, int at, const char *path, const struct stat *info) {
    struct others *others = context;
    const struct manifest_entry *entry = manifest_find(others->m, path);
    (void)at;
    if ((entry && !is_as_made(entry, info)) || is_stranger(others->m, path))
        text_add(&others->names, "\n%s", path);
    return 0;
}

static int remove_bytecode(void *context, int at, const char *path, const struct stat *info) {
    const struct others *others = context;
    (void)info;
    if (is_stranger(others->m, path) || manifest_find(others->m, path) ||
        strcmp(path, MANIFEST_NAME) == 0)
        return 0;
    return file_unlink(at, path);
}

/* Deletes what package.info names; package.info last, so that a second try can go on. */
static int remove_files(struct setup *s, struct others *others) {
    const struct manifest *m = &s->old;
    int status = DONE;
    if (tree_walk(s->old_fd, remove_bytecode, others) != 0)
        status = give_up(FAILED, "cannot clear %s: %s", s->target.dir, strerror(errno));
    for (size_t i = 0; i < m->entries; i++) {
        const char *path = m->entry[i].path;
        struct stat info;
        const int seen = file_stat(s->old_fd, path, &info);
        if (seen != 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
            continue; /* gone, or behind a link */
        if (seen == 0 && !is_as_made(&m->entry[i], &info)) continue;
        if (seen != 0 || (file_unlink(s->old_fd, path) != 0 && errno != ENOENT))
            status =
                give_up(FAILED, "cannot remove %s/%s: %s", s->target.dir, path, strerror(errno));
    }
    tree_prune(s->old_fd);
    if (status == DONE && file_unlink(s->old_fd, MANIFEST_NAME) != 0)
        status = give_up(FAILED, "cannot remove %s/" MANIFEST_NAME ": %s", s->target.dir,
                         strerror(errno));
    return status;
}

/* From one moment to the next it is no longer there; clearing it away may take its time. Files of
 * others, or a file system that cannot rename it, need the slow way. */
static int remove_tree(struct setup *s, struct others *others) {
    const int vendors = s->target.vendors_fd;
    if (!others->names.size && s->stage_fd >= 0) {
        if (renameat(vendors, VENDOR, s->stage_fd, "gone") == 0) return DONE;
        if (errno != EXDEV)
            return give_up(FAILED, "cannot remove %s: %s", s->target.dir, strerror(errno));
    }
    const int status = remove_files(s, others);
    if (status != DONE) return status;
    if (!others->names.size) {
        if (unlinkat(vendors, VENDOR, AT_REMOVEDIR) == 0) return DONE;
        return give_up(FAILED, "cannot remove %s: %s", s->target.dir, strerror(errno));
    }
    warn("left in %s, because ascgrad did not put it there:%s", s->target.dir,
         text_of(&others->names));
    return DONE;
}

/* All that can be found wrong is found before the first change. */
static int remove_package(struct setup *s) {
    struct others others = {.m = &s->old};
    struct listing listing = {0};
    int status = DONE;
    if (tree_walk(s->old_fd, note_stranger, &others) != 0 || others.names.failed)
        status = give_up(FAILED, "cannot look through %s: %s", s->target.dir, strerror(errno));
    if (status == DONE) status = listing_drop(s, &listing);
    if (status == DONE && setup_stopped) status = give_up(FAILED, "stopped by a signal");
    if (status == DONE && listing_commit(s, &listing) != 0)
        status = give_up(FAILED, "cannot edit %s: %s", s->target.config, strerror(errno));
    if (status == DONE) status = remove_tree(s, &others);
    text_free(&others.names);
    return status;
}

static size_t count_files(const struct setup *s) {
    size_t count = 0;
    struct stat info;
    for (size_t i = 0; i < s->old.entries; i++)
        count += file_stat(s->old_fd, s->old.entry[i].path, &info) == 0;
    return count;
}

/* After a failure: what is on the disk now. */
static void tell_what_is_left(const struct setup *s, size_t were, bool was_listed) {
    if (count_files(s) == were && is_listed(s) == was_listed)
        give_up(FAILED, "nothing was changed");
    else
        give_up(FAILED, "%s is removed in part. Run this again: it does the rest", s->target.dir);
}

int uninstall(struct setup *s) {
    char version[64];
    if (!s->has_old) {
        say(s, "not installed in %s: nothing to remove", s->target.vendors);
        return DONE;
    }
    snprintf(version, sizeof version, "%s", s->old.version);
    if (s->options.dry_run) {
        say(s, "would remove %s; dry run: nothing was changed", s->target.dir);
        return DONE;
    }
    const size_t files = count_files(s);
    const bool listed = is_listed(s);
    /* On a full disk it goes without a stage: files are deleted, and none is made. */
    int status = DONE;
    if (stage_make(s) != 0 && errno != ENOSPC && errno != EDQUOT)
        status = give_up(FAILED, "cannot write in %s: %s", s->target.vendors, strerror(errno));
    if (status == DONE) status = remove_package(s);
    stage_close(s);
    if (status != DONE) {
        tell_what_is_left(s, files, listed);
        return status;
    }
    target_unmake(s);
    say(s, "removed %s from %s", version, s->target.dir);
    return DONE;
}
