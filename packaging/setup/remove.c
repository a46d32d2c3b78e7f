/* SPDX-License-Identifier: Apache-2.0
 *
 * Removing the package: exactly the files that its package.info names, inside its own directory,
 * and no symbolic link is followed to them. What others put there stays.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "files.h"
#include "setup.h"

/* Is this path, perhaps through links above it, the config.ini we edit? */
static bool is_config(const struct setup *s, const char *path) {
    struct stat there, ours;
    return lstat(path, &there) == 0 && S_ISREG(there.st_mode) &&
           fstatat(s->target.vendors_fd, CONFIG_NAME, &ours, AT_SYMLINK_NOFOLLOW) == 0 &&
           there.st_dev == ours.st_dev && there.st_ino == ours.st_ino;
}

/* Takes us out of config.ini; removes the file if we made it and nothing else is in it. */
static int config_remove(struct setup *s) {
    const struct target *t = &s->target;
    struct stat info;
    struct text names = {0}, out = {0};
    bool made = false;
    char *content = file_read_following(t->vendors_fd, CONFIG_NAME, NULL);
    if (!content) {
        if (errno == ENOENT) return DONE;
        return give_up(FAILED, "cannot read %s: %s; nothing was removed", t->config,
                       errno == EINVAL ? "it is not a file" : strerror(errno));
    }
    config_names(content, NULL, &names);
    const bool listed = word_in(VENDOR, text_of(&names), ',');
    text_free(&names);
    config_names(content, VENDOR, &names);
    for (size_t i = 0; i < s->old.made_count; i++)
        made = made || is_config(s, s->old.made[i]);
    int result = 0;
    if (listed && made && !names.size && !config_has_more(content)) {
        result = unlinkat(t->vendors_fd, CONFIG_NAME, 0);
    } else if (listed) {
        config_with(content, text_of(&names), &out);
        result = fstatat(t->vendors_fd, CONFIG_NAME, &info, 0);
        if (result == 0) result = config_replace(s, &out, info.st_mode & 0777);
    }
    const int trouble = errno;
    free(content);
    text_free(&names);
    text_free(&out);
    if (result == 0) return DONE;
    return give_up(FAILED, "cannot edit %s: %s; nothing was removed", t->config, strerror(trouble));
}

struct others {
    const struct manifest *m;
    struct text names;
};

static int note_stranger(void *context, int at, const char *path, const struct stat *info) {
    struct others *others = context;
    const struct manifest_entry *entry = manifest_find(others->m, path);
    (void)at;
    /* A file in the place of a link of ours, or a link in that of a file, is not ours. */
    const bool changed = entry && (S_ISLNK(info->st_mode) != (entry->target != NULL));
    if (changed || is_stranger(others->m, path)) text_add(&others->names, "\n%s", path);
    return 0;
}

static int remove_bytecode(void *context, int at, const char *path, const struct stat *info) {
    const struct others *others = context;
    (void)info;
    if (!is_stranger(others->m, path) && !manifest_find(others->m, path) &&
        strcmp(path, MANIFEST_NAME) != 0)
        file_unlink(at, path);
    return 0;
}

/* Deletes what package.info names; package.info last, so that a second try can go on. */
static int remove_files(struct setup *s, struct others *others) {
    const struct manifest *m = &s->old;
    int status = DONE;
    tree_walk(s->old_fd, remove_bytecode, others);
    for (size_t i = 0; i < m->entries; i++) {
        const char *path = m->entry[i].path;
        struct stat info;
        if (file_stat(s->old_fd, path, &info) != 0) continue; /* gone, or behind a link */
        if (S_ISLNK(info.st_mode) != (m->entry[i].target != NULL)) continue;
        if (file_unlink(s->old_fd, path) != 0 && errno != ENOENT)
            status =
                give_up(FAILED, "cannot remove %s/%s: %s", s->target.dir, path, strerror(errno));
    }
    tree_prune(s->old_fd);
    if (status == DONE && file_unlink(s->old_fd, MANIFEST_NAME) != 0)
        status = give_up(FAILED, "cannot remove %s/" MANIFEST_NAME ": %s", s->target.dir,
                         strerror(errno));
    return status;
}

static int remove_package(struct setup *s) {
    struct others others = {.m = &s->old};
    int status = config_remove(s);
    if (status != DONE) return status;
    if (tree_walk(s->old_fd, note_stranger, &others) != 0 || others.names.failed)
        return give_up(FAILED, "cannot look through %s: %s", s->target.dir, strerror(errno));
    if (!others.names.size) {
        /* From one moment to the next it is no longer there; clearing it away may take its time. */
        if (renameat(s->target.vendors_fd, VENDOR, s->stage_fd, "gone") != 0)
            status = give_up(FAILED, "cannot remove %s: %s", s->target.dir, strerror(errno));
    } else {
        status = remove_files(s, &others);
        if (status == DONE)
            warn("left in %s, because ascgrad did not put it there:%s", s->target.dir,
                 text_of(&others.names));
    }
    text_free(&others.names);
    return status;
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
    int status = stage_open(s);
    if (status == DONE) status = remove_package(s);
    stage_close(s);
    if (status != DONE) return status;
    target_unmake(s);
    say(s, "removed %s from %s", version, s->target.dir);
    return DONE;
}
