/* SPDX-License-Identifier: Apache-2.0
 *
 * Which operator types this installation offers. The rule is in owners.h: a type that CANN has on a
 * chip is ours only if our binaries for that chip are complete. The chips that count are those that
 * counted for the version before, and those that --chip= or npu-smi names; where nobody names one,
 * those that CANN has kernels for; and if that tells nothing, all that CANN has operators for.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../package/chips.h"
#include "../../package/files.h"
#include "setup.h"

enum { MAX_ROOTS = 8 };

/* CANN's built-in directories: where this process would find them. */
struct roots {
    int fd[MAX_ROOTS];
    struct stat info[MAX_ROOTS];
    size_t count;
    int trouble; /* errno of what is there but could not be read, or 0 */
};

static void add_root(struct roots *roots, const char *opp, const char *below) {
    char path[PATH_MAX];
    if (!opp || !*opp || roots->count == MAX_ROOTS) return;
    snprintf(path, sizeof path, "%s%s/built-in", opp, below);
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat *info = &roots->info[roots->count];
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) return;
    if (fd < 0 || fstat(fd, info) != 0) {
        roots->trouble = errno;
        return;
    }
    for (size_t i = 0; i < roots->count; i++)
        if (roots->info[i].st_dev == info->st_dev && roots->info[i].st_ino == info->st_ino) {
            close(fd);
            return;
        }
    roots->fd[roots->count++] = fd;
}

static void open_roots(const struct setup *s, struct roots *roots) {
    roots->count = 0;
    roots->trouble = 0;
    add_root(roots, getenv("ASCEND_OPP_PATH"), "");
    add_root(roots, getenv("ASCEND_HOME_PATH"), "/opp");
    add_root(roots, getenv("ASCEND_HOME_PATH"), "/opp_latest");
    add_root(roots, s->target.root, "");
}

static void close_roots(struct roots *roots) {
    while (roots->count)
        close(roots->fd[--roots->count]);
}

static void add_chip(struct text *chips, const char *chip) {
    if (!word_in(chip, text_of(chips), ',')) text_add(chips, "%s%s", chips->size ? "," : "", chip);
}

/* The chips that CANN has a directory for there. */
static void chips_in(struct roots *roots, const char *path, struct text *chips) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    for (size_t i = 0; i < roots->count; i++) {
        const int dir = openat(roots->fd[i], path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir < 0 && (errno == ENOENT || errno == ENOTDIR)) continue;
        DIR *list = dir < 0 ? NULL : fdopendir(dir);
        if (!list) roots->trouble = errno;
        for (struct dirent *entry; list && (errno = 0, entry = readdir(list));)
            if (!entry->d_name[strspn(entry->d_name, letters)] && strlen(entry->d_name) < 64)
                add_chip(chips, entry->d_name);
        if (errno) roots->trouble = errno;
        if (list) closedir(list);
    }
}

int types_check_chips(const struct setup *s) {
    bool any = !s->options.chips;
    char chip[64];
    for (const char *at = any ? "" : s->options.chips; next_word(&at, ',', chip, sizeof chip);) {
        if (!word_in(chip, s->source.chips, ' '))
            return give_up(USAGE, "--chip: there is no ascgrad for '%s'; the package is for %s",
                           chip, s->source.chips);
        any = true;
    }
    return any ? DONE : give_up(USAGE, "--chip names no chip");
}

int types_find_chips(struct setup *s) {
    struct text named = {0};
    char chip[64];
    for (const char *at = s->old.machine; at && next_word(&at, ',', chip, sizeof chip);)
        add_chip(&s->chips, chip);
    if (s->options.chips)
        text_add(&named, "%s", s->options.chips);
    else
        chips_of_machine(&named);
    for (const char *at = text_of(&named); next_word(&at, ',', chip, sizeof chip);)
        add_chip(&s->chips, chip);
    bool failed = named.failed;
    text_free(&named);
    int trouble = 0;
    if (!s->chips.size && !failed) {
        struct roots roots;
        open_roots(s, &roots);
        chips_in(&roots, TBE "/kernel/config", &s->chips);
        close_roots(&roots);
        trouble = roots.trouble;
    }
    failed = failed || s->chips.failed;
    if (trouble) return give_up(FAILED, "cannot read CANN's kernels: %s", strerror(trouble));
    return failed ? give_up(FAILED, "out of memory") : DONE;
}

/* Every chip that CANN or this package has operators for. */
static void all_chips(const struct setup *s, struct roots *roots, struct text *chips) {
    char chip[64];
    chips_in(roots, TBE "/config", chips);
    for (const char *at = s->source.chips; next_word(&at, ' ', chip, sizeof chip);)
        add_chip(chips, chip);
    for (const char *at = text_of(&s->chips); next_word(&at, ',', chip, sizeof chip);)
        add_chip(chips, chip);
}

/* One chip: what CANN has there, and whether our binaries stand for all of it. */
static void look_at_chip(struct setup *s, int package, struct roots *roots, const char *chip,
                         bool counts) {
    struct offer ours = {0}, cann = {0};
    const bool served = word_in(chip, s->source.chips, ' ');
    offer_add(package, chip, &ours);
    for (size_t i = 0; i < roots->count; i++)
        offer_add(roots->fd[i], chip, &cann);
    if (ours.trouble || ours.unread.size) roots->trouble = ours.trouble ? ours.trouble : EBADMSG;
    if (cann.trouble) roots->trouble = cann.trouble;
    const bool hidden = counts && cann.unread.size; /* any type may be in there */
    if (hidden) text_add(&s->unread, "%s", text_of(&cann.unread));
    for (size_t i = 0; i < s->source.types; i++) {
        struct decision *d = &s->decision[i];
        const char *type = s->source.type[i];
        struct text why = {0};
        const bool has = served && offer_record(&ours, type);
        bool complete = has && offer_complete(package, &ours, &cann, type, &why);
        if (has) add_chip(&d->has, chip);
        if (complete && strstr(s->target.dir, ".o")) {
            complete = false; /* nnopbase cuts a kernel's path at its first ".o" */
            text_add(&why, "'.o' in the path %s, where aclnn cannot use kernels", s->target.dir);
        }
        if (complete) add_chip(&d->chips, chip);
        d->here = d->here || (complete && counts);
        if (hidden || (counts && offer_has(&cann, type))) {
            d->cann_has = true;
            if (hidden && !d->left) {
                d->left = true;
                text_add(&d->why, "CANN may have it on %s, in a file that cannot be read", chip);
            } else if (!complete && !d->left) {
                d->left = true;
                text_add(&d->why, "CANN has it on %s, ascgrad has %s there", chip,
                         has ? text_of(&why) : "no kernels");
            }
        }
        text_free(&why);
    }
    offer_free(&ours);
    offer_free(&cann);
}

/* Whether there is a kernel for a chip of this machine; for any chip if nobody can tell. */
static bool has_kernel_here(const struct setup *s, const struct decision *d) {
    char chip[64];
    for (const char *at = text_of(&s->chips); next_word(&at, ',', chip, sizeof chip);)
        if (word_in(chip, text_of(&d->has), ',')) return true;
    return !s->chips.size;
}

/* From what was seen to what is done. */
static void settle(const struct setup *s, struct decision *d) {
    const bool half = d->left;
    if (s->options.no_override && d->cann_has) {
        text_free(&d->why);
        text_add(&d->why, "--no-override: CANN has it");
        d->left = true;
    }
    if (s->options.graph_only && half) {
        struct text why = {0};
        text_add(&why, "--graph-only: %s; aclnn calls of it are refused", text_of(&d->why));
        text_free(&d->why);
        d->why = why;
        d->left = false;
    }
    if (d->left) d->here = false;
    if (!d->why.size && !has_kernel_here(s, d))
        text_add(&d->why, "ascgrad has no kernel for %s", text_of(&s->chips));
    if (!d->why.size && !d->here)
        text_add(&d->why, "no kernel binaries for %s: GE compiles its kernel, aclnn finds none",
                 s->chips.size ? text_of(&s->chips) : "any chip");
    if (!d->why.size)
        text_add(&d->why, "kernel binaries for %s%s", text_of(&d->chips),
                 d->cann_has ? " stand for all of CANN's" : "");
}

int types_decide(struct setup *s, int package) {
    struct roots roots;
    struct text chips = {0};
    char chip[64];
    open_roots(s, &roots);
    s->cann_known = roots.count > 0;
    if (s->options.no_override && !s->cann_known)
        return give_up(REFUSED, "--no-override: no operators of CANN found; set ASCEND_OPP_PATH");
    for (size_t i = 0; i < s->source.types; i++) {
        text_free(&s->decision[i].why);
        text_free(&s->decision[i].chips);
        text_free(&s->decision[i].has);
        s->decision[i] = (struct decision){0};
    }
    text_free(&s->unread);
    all_chips(s, &roots, &chips);
    for (const char *at = text_of(&chips); next_word(&at, ',', chip, sizeof chip);) {
        const bool counts = !s->chips.size || word_in(chip, text_of(&s->chips), ',');
        if (counts || word_in(chip, s->source.chips, ' '))
            look_at_chip(s, package, &roots, chip, counts);
    }
    bool failed = chips.failed || s->unread.failed;
    text_free(&chips);
    close_roots(&roots);
    for (size_t i = 0; i < s->source.types; i++) {
        settle(s, &s->decision[i]);
        failed = failed || s->decision[i].why.failed || s->decision[i].chips.failed ||
                 s->decision[i].has.failed;
    }
    /* An operator that we overlook in CANN would be half ours. */
    if (roots.trouble)
        return give_up(FAILED, "cannot read all of CANN's and our operators: %s",
                       strerror(roots.trouble));
    return failed ? give_up(FAILED, "out of memory") : DONE;
}

bool types_lacks(const struct setup *s, size_t type, const char *chip) {
    const struct decision *d = &s->decision[type];
    if (s->options.no_override && d->cann_has) return false;
    return word_in(chip, text_of(&d->has), ',') && !word_in(chip, text_of(&d->chips), ',');
}

const char *owner_in_graphs(const struct decision *d) {
    return d->left ? "CANN" : VENDOR;
}

const char *owner_of_calls(const struct decision *d) {
    return d->left ? "CANN" : d->here ? VENDOR : d->cann_has ? "refused" : "nobody";
}
