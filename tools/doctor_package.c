/* SPDX-License-Identifier: Apache-2.0
 *
 * The files of the package: are they the ones that were installed, are they where GE looks, may
 * everybody read them.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor_parts.h"

#define INSTALL_AGAIN "sh ascgrad-opp_<version>_linux-<arch>.run    (installs over it)"

/* Splits a value of package.info into words, in place. */
static size_t split(char *value, const char *words[MAX_OPS]) {
    size_t n = 0;
    char *rest;
    for (char *word = strtok_r(value, " ", &rest); word && n < MAX_OPS;
         word = strtok_r(NULL, " ", &rest))
        words[n++] = word;
    return n;
}

bool doctor_read_manifest(const char *dir, struct manifest *m) {
    char path[PATH + 32];
    memset(m, 0, sizeof *m);
    TEXT(path, "%s/package.info", dir);
    m->text = doctor_read(path, NULL);
    if (!m->text || strncmp(m->text, "package=ascgrad-opp\n", 20) != 0) {
        free(m->text);
        m->text = NULL;
        return false;
    }
    char *at = m->text;
    while (*at && *at != '\n') {
        char *end = at + strcspn(at, "\n"), *equals = memchr(at, '=', (size_t)(end - at));
        const bool last = *end == 0;
        *end = 0;
        if (strncmp(at, "version=", 8) == 0) m->version = at + 8;
        if (strncmp(at, "arch=", 5) == 0) m->arches = at + 5;
        if (strncmp(at, "soc=", 4) == 0) m->chips = at + 4;
        if (strncmp(at, "ops=", 4) == 0) m->count = split(equals + 1, m->ops);
        if (strncmp(at, "left_out=", 9) == 0) m->left_out_count = split(equals + 1, m->left_out);
        if (last) break;
        at = end + 1;
    }
    if (!m->version) m->version = "unknown";
    if (!m->arches) m->arches = "";
    if (!m->chips) m->chips = "";
    return true;
}

/* One line "<sha256>  <path>" or "link <path> <target>" of package.info. Returns what is wrong, or
 * NULL. */
static const char *check_line(const struct doctor *d, const char *line, size_t size,
                              char path[PATH]) {
    if (size > 5 && strncmp(line, "link ", 5) == 0) {
        const char *to = memchr(line + 5, ' ', size - 5);
        char target[PATH];
        if (!to) return NULL;
        doctor_text(path, PATH, "%.2000s/%.*s", d->ours->dir, (int)(to - line - 5), line + 5);
        const ssize_t n = readlink(path, target, sizeof target);
        to++;
        return n == line + size - to && memcmp(target, to, (size_t)n) == 0
                   ? NULL
                   : "is not the link it was";
    }
    if (size < 67 || line[64] != ' ' || line[65] != ' ') return NULL;
    doctor_text(path, PATH, "%.2000s/%.*s", d->ours->dir, (int)size - 66, line + 66);
    size_t bytes = 0;
    char *data = doctor_read(path, &bytes), hex[65];
    if (!data) return access(path, F_OK) == 0 ? "cannot be read" : "is missing";
    doctor_sha256(data, bytes, hex);
    free(data);
    return memcmp(hex, line, 64) == 0 ? NULL : "was changed";
}

static void check_sums(struct doctor *d) {
    char info[PATH + 32], path[PATH], first[PATH + 64] = "";
    TEXT(info, "%s/package.info", d->ours->dir);
    char *text = doctor_read(info, NULL);
    size_t files = 0, bad = 0;
    for (const char *at = text; at && *at; at += strcspn(at, "\n"), at += *at == '\n') {
        const size_t size = strcspn(at, "\n");
        const bool is_file = size > 66 && isxdigit((unsigned char)at[0]) && at[64] == ' ';
        const char *trouble = check_line(d, at, size, path);
        files += is_file;
        if (trouble && bad++ == 0) TEXT(first, "%s %s", path, trouble);
    }
    free(text);
    if (bad) {
        doctor_say(d, LEVEL_FAIL, "files", INSTALL_AGAIN,
                   "%s (%zu of the files of the package are not as installed)", first, bad);
    } else {
        doctor_say(d, LEVEL_OK, "files", NULL, "%zu files, each with the checksum of the package",
                   files);
    }
}

/* FE registers the operators only if both directories are there, the second named after the vendor.
 */
static void check_layout(struct doctor *d) {
    char config[PATH + 64], impl[PATH + 320];
    TEXT(config, "%s/op_impl/ai_core/tbe/config", d->ours->dir);
    TEXT(impl, "%s/op_impl/ai_core/tbe/%s_impl", d->ours->dir, d->ours->name);
    if (!doctor_is_dir(config)) {
        doctor_say(d, LEVEL_FAIL, "layout", INSTALL_AGAIN, "%s is missing", config);
    } else if (!doctor_is_dir(impl)) {
        doctor_say(
            d, LEVEL_FAIL, "layout", "call the directory ascgrad again, or install again",
            "%s is missing: GE takes the vendor name from the directory, so it must not be renamed",
            impl);
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

static void look_at(struct access_count *count, const char *path) {
    struct stat info;
    if (lstat(path, &info) != 0 || S_ISLNK(info.st_mode)) return;
    const mode_t need = S_ISDIR(info.st_mode) ? S_IROTH | S_IXOTH : S_IROTH;
    if ((info.st_mode & need) != need && count->closed++ == 0)
        TEXT(count->first_closed, "%s", path);
    if ((info.st_mode & S_IWOTH) && !(info.st_mode & S_ISVTX) && count->open++ == 0)
        TEXT(count->first_open, "%s", path);
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

/* Files and every directory between them and the package, from the list in package.info. */
static void look_inside(struct access_count *count, const char *dir) {
    char info[PATH + 32], path[PATH];
    TEXT(info, "%s/package.info", dir);
    look_at(count, dir);
    look_at(count, info);
    char *text = doctor_read(info, NULL);
    for (const char *at = text; at && *at; at += strcspn(at, "\n"), at += *at == '\n') {
        const size_t size = strcspn(at, "\n");
        if (size < 67 || at[64] != ' ' || at[65] != ' ') continue;
        TEXT(path, "%.2000s/%.*s", dir, (int)size - 66, at + 66);
        look_at(count, path);
        char *slash = strrchr(path, '/');
        *slash = 0;
        look_at(count, path);
    }
    free(text);
}

void doctor_check_access(struct doctor *d) {
    struct access_count count = {0};
    char fix[2 * PATH], quoted[PATH];
    look_above(&count, d->ours->dir);
    look_inside(&count, d->ours->dir);
    if (!d->ours->from_env) look_at(&count, d->config);
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
