/* SPDX-License-Identifier: Apache-2.0
 *
 * The files of the package: are they the ones that were installed, are they where GE looks, may
 * everybody read them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../package/files.h"
#include "../../package/owners.h"
#include "parts.h"

/* What is wrong with a file or link of the package, or NULL. */
static const char *trouble_with(const struct doctor *d, const struct manifest_entry *entry) {
    char hex[65];
    if (entry->target) {
        char *target = file_readlink(d->ours->fd, entry->path);
        const bool same = target && strcmp(target, entry->target) == 0;
        free(target);
        return same ? NULL : "is not the link it was";
    }
    if (file_sum(d->ours->fd, entry->path, hex) == 0)
        return strcmp(hex, entry->sum) == 0 ? NULL : "was changed";
    return errno == ENOENT   ? "is missing"
           : errno == EACCES ? "cannot be read by this user"
           : errno == EINVAL ? "is not a file any more"
                             : "cannot be read";
}

static void check_sums(struct doctor *d) {
    const struct manifest *m = &d->manifest;
    const char *trouble = NULL, *path = NULL;
    size_t bad = 0;
    for (size_t i = 0; i < m->entries; i++) {
        const char *found = trouble_with(d, &m->entry[i]);
        if (found && bad++ == 0) {
            trouble = found;
            path = m->entry[i].path;
        }
    }
    if (bad) {
        doctor_say(d, LEVEL_FAIL, "files", INSTALL_AGAIN,
                   "%s/%s %s (%zu of the files of the package are not as installed)", d->ours->dir,
                   path, trouble, bad);
    } else {
        doctor_say(d, LEVEL_OK, "files", NULL, "%zu files and links, each as the package has it",
                   m->entries);
    }
}

/* FE registers the operators only if both directories are there, the second named after the vendor.
 */
static void check_layout(struct doctor *d) {
    char impl[300];
    struct stat info;
    TEXT(impl, TBE "/%s_impl", d->ours->name);
    if (file_stat(d->ours->fd, TBE "/config", &info) != 0) {
        doctor_say(d, LEVEL_FAIL, "layout", INSTALL_AGAIN, "%s/" TBE "/config is missing",
                   d->ours->dir);
    } else if (file_stat(d->ours->fd, impl, &info) != 0) {
        doctor_say(d, LEVEL_FAIL, "layout", "call the directory ascgrad again, or install again",
                   "%s/%s is missing: GE takes the vendor name from the directory, so it must not "
                   "be renamed",
                   d->ours->dir, impl);
    }
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_->/.";
    const char *dir = d->ours->dir;
    if (dir[strspn(dir, allowed)] || strstr(dir, "//") || strstr(dir, ".."))
        doctor_say(d, LEVEL_FAIL, "path",
                   "sh ascgrad-opp_<version>_linux-<arch>.run --install-path=/opt/ascgrad",
                   "GE compiles kernels only from paths of letters, digits and _-./, without // "
                   "and ..: %s",
                   dir);
    if (strstr(dir, "built-in"))
        doctor_say(d, LEVEL_FAIL, "path", "install somewhere else",
                   "%s contains 'built-in', which GE takes for its own operators", dir);
}

/* GE drops a package without a word if version.info does not fit. Ours has none. */
static void check_version_gate(struct doctor *d) {
    char path[PATH + 32], quoted[PATH], fix[PATH + 64];
    TEXT(path, "%s/version.info", d->ours->dir);
    if (access(path, F_OK) != 0) {
        doctor_say(d, LEVEL_OK, "version", NULL, "no version.info: GE does not compare versions");
        return;
    }
    TEXT(fix, "rm %s", doctor_quote(path, quoted, sizeof quoted));
    doctor_say(d, LEVEL_FAIL, "version", fix,
               "%s is not ours; GE compares it with its own version and silently drops the package "
               "if it does not fit",
               path);
}

/* The kernel compiler opens liboptiling.so at this fixed place. */
static void check_link(struct doctor *d) {
    char link[PATH + 64], real[PATH], want[64];
    TEXT(link, "%s/op_impl/ai_core/tbe/op_tiling/liboptiling.so", d->ours->dir);
    TEXT(want, "/lib/linux/%s/", d->arch);
    if (!realpath(link, real)) {
        doctor_say(d, LEVEL_FAIL, "liboptiling", INSTALL_AGAIN,
                   "%s leads nowhere: kernels for known shapes cannot be compiled", link);
    } else if (!strstr(real, want)) {
        doctor_say(d, LEVEL_FAIL, "liboptiling", INSTALL_AGAIN,
                   "%s leads to %s, which is not for %s", link, real, d->arch);
    } else {
        doctor_say(d, LEVEL_OK, "liboptiling", NULL, "liboptiling.so leads to the library for %s",
                   d->arch);
    }
}

void doctor_check_files(struct doctor *d) {
    check_layout(d);
    check_sums(d);
    check_version_gate(d);
    check_link(d);
}

struct access_count {
    size_t closed, open;
    char first_closed[PATH], first_open[PATH];
};

static void look_at(struct access_count *count, const char *dir, int at, const char *path) {
    struct stat info;
    if (fstatat(at, path, &info, AT_SYMLINK_NOFOLLOW) != 0 || S_ISLNK(info.st_mode)) return;
    const mode_t need = S_ISDIR(info.st_mode) ? S_IROTH | S_IXOTH : S_IROTH;
    if ((info.st_mode & need) != need && count->closed++ == 0)
        TEXT(count->first_closed, "%s/%s", dir, path);
    if ((info.st_mode & S_IWOTH) && !(info.st_mode & S_ISVTX) && count->open++ == 0)
        TEXT(count->first_open, "%s/%s", dir, path);
}

/* Every directory from / to dir; others need only pass through those above. */
static void look_above(struct access_count *count, const char *dir) {
    char path[PATH];
    for (const char *slash = strchr(dir + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        struct stat info;
        TEXT(path, "%.*s", (int)(slash - dir), dir);
        if (stat(path, &info) != 0) continue;
        if (!(info.st_mode & S_IXOTH) && count->closed++ == 0)
            TEXT(count->first_closed, "%s", path);
        if ((info.st_mode & S_IWOTH) && !(info.st_mode & S_ISVTX) && count->open++ == 0)
            TEXT(count->first_open, "%s", path);
    }
}

/* Every file of the package and the directories they lie in. */
static void look_inside(struct access_count *count, const struct doctor *d) {
    const int at = d->ours->fd;
    const char *dir = d->ours->dir;
    char path[PATH];
    look_at(count, dir, at, ".");
    look_at(count, dir, at, MANIFEST_NAME);
    for (size_t i = 0; i < d->manifest.entries; i++) {
        TEXT(path, "%s", d->manifest.entry[i].path);
        look_at(count, dir, at, path);
        char *slash = strrchr(path, '/');
        if (slash) *slash = 0;
        if (slash) look_at(count, dir, at, path);
    }
}

void doctor_check_access(struct doctor *d) {
    struct access_count count = {0};
    char fix[2 * PATH], quoted[PATH];
    look_above(&count, d->ours->dir);
    look_inside(&count, d);
    if (!d->ours->from_env) {
        char vendors[PATH];
        TEXT(vendors, "%s", d->config);
        *strrchr(vendors, '/') = 0;
        const int at = open(vendors, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        look_at(&count, vendors, at, strrchr(d->config, '/') + 1);
        if (at >= 0) close(at);
    }
    if (count.closed) {
        TEXT(fix, "chmod o+rX %s    or install again with --install-for-all",
             doctor_quote(count.first_closed, quoted, sizeof quoted));
        doctor_say(d, LEVEL_WARN, "access", fix,
                   "other users cannot use the package: %s is closed to them (%zu such)",
                   count.first_closed, count.closed);
    } else {
        doctor_say(d, LEVEL_OK, "access", NULL, "every user of this machine can read the package");
    }
    if (count.open) {
        TEXT(fix, "chmod o-w %s", doctor_quote(count.first_open, quoted, sizeof quoted));
        doctor_say(d, LEVEL_WARN, "write", fix,
                   "every user of this machine may change %s (%zu such)", count.first_open,
                   count.open);
    }
}
