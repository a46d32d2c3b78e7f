/* SPDX-License-Identifier: Apache-2.0
 *
 * Our name in vendors/config.ini. What there is to write is written into the stage before anything
 * else changes; what is left is one rename. Every other byte of the file stays. Uninstalling on a
 * full disk has no stage: what is left of the file, which is shorter, is then written over it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../package/config.h"
#include "../../package/files.h"
#include "setup.h"

struct content {
    char *text; /* "" if there is no file */
    bool there;
    bool shared; /* it has other names: a link leads to it */
    struct stat info;
};

/* Links are followed, as CANN follows them. */
static int read_config(const struct setup *s, struct content *c) {
    const char *why = NULL;
    struct stat name;
    size_t size = 0;
    c->text = file_read_seen(s->target.vendors_fd, CONFIG_NAME, &size, &c->info);
    c->there = c->text != NULL;
    c->shared =
        c->there && (fstatat(s->target.vendors_fd, CONFIG_NAME, &name, AT_SYMLINK_NOFOLLOW) != 0 ||
                     !S_ISREG(name.st_mode) || name.st_nlink > 1);
    if (c->there && strlen(c->text) != size) {
        why = "it has a zero byte";
    } else if (!c->there && errno == ENOENT) {
        c->text = strdup("");
        if (!c->text) why = "out of memory";
    } else if (!c->there) {
        why = errno == EINVAL ? "it is not a file" : strerror(errno);
    }
    if (!why) return DONE;
    free(c->text);
    return give_up(FAILED, "cannot read %s: %s", s->target.config, why);
}

/* The new file, in the stage; its owner is that of the old one. */
static int put_config(struct setup *s, const struct content *c, const struct text *out,
                      mode_t mode) {
    errno = out->failed ? ENOMEM : ENOSPC; /* there is no stage on a full disk */
    if (!out->failed && s->stage_fd >= 0 &&
        file_write(s->stage_fd, CONFIG_NAME, out->s, out->size, mode, 0) == 0 &&
        (!c->there || geteuid() != 0 ||
         fchownat(s->stage_fd, CONFIG_NAME, c->info.st_uid, c->info.st_gid, AT_SYMLINK_NOFOLLOW) ==
             0))
        return DONE;
    return FAILED;
}

static int write_config(struct setup *s, const struct content *c, const struct text *out,
                        mode_t mode) {
    if (put_config(s, c, out, mode) == DONE) return DONE;
    return give_up(FAILED, "cannot write a new %s: %s", s->target.config, strerror(errno));
}

/* --install-for-all: may everybody read it? Not what a link leads to, nor another user's. */
static bool may_open(const struct setup *s, const struct content *c) {
    struct stat vendors;
    if (!s->options.for_all || c->shared) return false;
    return !c->there || c->info.st_uid == 0 || c->info.st_uid == geteuid() ||
           (fstat(s->target.vendors_fd, &vendors) == 0 && vendors.st_uid == c->info.st_uid);
}

int listing_add(struct setup *s, struct listing *listing) {
    const struct target *t = &s->target;
    struct text out = {0};
    struct content c;
    if (read_config(s, &c) != DONE) return FAILED;
    const mode_t had = c.there ? c.info.st_mode & 0777 : t->file_mode;
    const mode_t mode = may_open(s, &c) ? had | S_IRUSR | S_IRGRP | S_IROTH : had;
    int status = DONE;
    if (!config_with(c.there ? c.text : NULL, VENDOR, &out)) {
        status = give_up(FAILED,
                         "%s: load_priority has a second '='; GE rejects such a line. "
                         "Repair it first",
                         t->config);
    } else {
        if (s->options.for_all && (mode & S_IROTH) == 0)
            warn("other users cannot read %s; it is somebody else's, or a link, so its mode stays",
                 t->config);
        listing->change =
            out.failed || !c.there || mode != had || strcmp(c.text, text_of(&out)) != 0;
        if (listing->change) status = write_config(s, &c, &out, mode);
    }
    free(c.text);
    text_free(&out);
    return status;
}

/* Is this path, perhaps through links above it, the config.ini we edit? */
static bool is_config(const struct setup *s, const char *path) {
    struct stat there, ours;
    return lstat(path, &there) == 0 && S_ISREG(there.st_mode) &&
           fstatat(s->target.vendors_fd, CONFIG_NAME, &ours, AT_SYMLINK_NOFOLLOW) == 0 &&
           there.st_dev == ours.st_dev && there.st_ino == ours.st_ino;
}

int listing_drop(struct setup *s, struct listing *listing) {
    struct text names = {0}, out = {0};
    struct content c;
    bool made = false;
    if (read_config(s, &c) != DONE) return FAILED;
    config_names(c.text, NULL, &names);
    listing->change = word_in(VENDOR, text_of(&names), ',');
    text_free(&names);
    config_names(c.text, VENDOR, &names);
    for (size_t i = 0; i < s->old.made_count; i++)
        made = made || is_config(s, s->old.made[i]);
    /* What we made and nobody else uses goes. */
    listing->remove = listing->change && made && !names.size && !config_has_more(c.text);
    config_without(c.text, VENDOR, &out);
    out.failed = out.failed || names.failed;
    int status = DONE;
    if (listing->change && !listing->remove) {
        status = put_config(s, &c, &out, c.info.st_mode & 0777);
        listing->over = status != DONE && (errno == ENOSPC || errno == EDQUOT) && !c.shared;
        if (listing->over) {
            status = DONE;
            listing->shorter = out;
            out = (struct text){0};
        } else if (status != DONE) {
            give_up(FAILED, "cannot write a new %s: %s", s->target.config, strerror(errno));
        }
    }
    free(c.text);
    text_free(&names);
    text_free(&out);
    return status;
}

int listing_commit(struct setup *s, struct listing *listing) {
    const struct target *t = &s->target;
    struct stat there;
    if (!listing->change) return 0;
    if (listing->remove) return unlinkat(t->vendors_fd, CONFIG_NAME, 0);
    if (listing->over) {
        const int result = file_shorten(t->vendors_fd, CONFIG_NAME, text_of(&listing->shorter),
                                        listing->shorter.size);
        text_free(&listing->shorter);
        return result;
    }
    const bool known = fstatat(t->vendors_fd, CONFIG_NAME, &there, AT_SYMLINK_NOFOLLOW) == 0;
    const bool link = known && S_ISLNK(there.st_mode);
    const int result = renameat(s->stage_fd, CONFIG_NAME, t->vendors_fd, CONFIG_NAME);
    if (result == 0 && link)
        warn("%s was a symbolic link; it is a file of its own now, and what the link led to is as "
             "it was",
             t->config);
    if (result == 0 && known && !link && there.st_nlink > 1)
        warn("%s had other names (hard links); it is a file of its own now, and those are as they "
             "were",
             t->config);
    return result;
}

bool is_listed(const struct setup *s) {
    struct text names = {0};
    char *text = file_read_following(s->target.vendors_fd, CONFIG_NAME, NULL);
    config_names(text ? text : "", NULL, &names);
    const bool listed = word_in(VENDOR, text_of(&names), ',');
    text_free(&names);
    free(text);
    return listed;
}
