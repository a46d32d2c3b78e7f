/* SPDX-License-Identifier: Apache-2.0
 *
 * The stage: a directory beside the target that only we can enter. The new version is put together
 * in it, under its final name, and nothing of it is visible to anybody before it is whole.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "../../package/files.h"
#include "setup.h"

/* Whoever may write in vendors/ could have put another directory in the place of the new one. */
static bool is_private(int stage) {
    struct stat info;
    if (fstat(stage, &info) != 0) return false;
    if (info.st_uid == geteuid() && (info.st_mode & 077) == 0) return true;
    errno = EPERM;
    return false;
}

/* No small letters in the random part: nnopbase takes the first ".o" of a path for its end. */
int stage_make(struct setup *s) {
    unsigned char bytes[6];
    for (int tries = 0; tries < 100; tries++) {
        if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) break;
        snprintf(s->stage_name, sizeof s->stage_name, STAGE_PREFIX "%02X%02X%02X%02X%02X%02X",
                 bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5]);
        if (mkdirat(s->target.vendors_fd, s->stage_name, 0700) == 0) {
            s->stage_fd = dir_open(s->target.vendors_fd, s->stage_name);
            if (s->stage_fd < 0 || !is_private(s->stage_fd)) break;
            if (s->options.action == UNINSTALL) return 0;
            s->tree_fd = dir_make(s->stage_fd, VENDOR, s->target.dir_mode);
            return s->tree_fd < 0 ? -1 : 0;
        }
        s->stage_name[0] = 0;
        if (errno != EEXIST) break;
    }
    return -1;
}

int stage_open(struct setup *s) {
    if (stage_make(s) == 0) return DONE;
    return give_up(FAILED, "cannot write in %s: %s", s->target.vendors, strerror(errno));
}

int stage_has_old(int stage, int vendors) {
    struct stat info;
    if (fstatat(stage, OLD_NAME, &info, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT ? 0 : -1;
    if (fstatat(vendors, VENDOR "/" MANIFEST_NAME, &info, AT_SYMLINK_NOFOLLOW) == 0) return 0;
    return errno == ENOENT ? 1 : -1;
}

int stage_restore(int stage, int vendors) {
    if (tree_remove(vendors, VENDOR) != 0) return -1;
    return renameat(stage, OLD_NAME, vendors, VENDOR);
}

void stage_close(struct setup *s) {
    const int vendors = s->target.vendors_fd;
    const bool open = s->stage_fd >= 0;
    if (s->tree_fd >= 0) close(s->tree_fd);
    const int needed = open ? stage_has_old(s->stage_fd, vendors) : 0;
    int result = needed < 0 ? -1 : 0;
    if (needed > 0) {
        strcpy(s->stage_kept, s->stage_name);
    } else if (s->stage_name[0] && result == 0) {
        if (open) result = tree_empty(s->stage_fd);
        if (result == 0) result = unlinkat(vendors, s->stage_name, AT_REMOVEDIR);
    }
    if (result != 0)
        warn("could not delete all of %s/%s: %s; the next run will", s->target.vendors,
             s->stage_name, strerror(errno));
    if (open) close(s->stage_fd);
    s->tree_fd = s->stage_fd = -1;
    s->stage_name[0] = 0;
}

static int cannot_write(const struct setup *s, const char *path) {
    return give_up(FAILED, "cannot write %s in %s: %s", path, s->target.vendors, strerror(errno));
}

/* A program stays one. */
static mode_t mode_of(const struct setup *s, const struct stat *info) {
    return info->st_mode & S_IXUSR ? s->target.dir_mode : s->target.file_mode;
}

static int copy_arch(void *context, int at, const char *path, const struct stat *info) {
    struct setup *s = context;
    if (file_copy(at, path, s->tree_fd, path, mode_of(s, info), s->target.dir_mode, NULL) == 0)
        return DONE;
    return cannot_write(s, path);
}

static int copy_files(struct setup *s) {
    for (size_t i = 0; i < s->source.entries; i++) {
        const struct manifest_entry *entry = &s->source.entry[i];
        struct stat info;
        char hex[65];
        if (setup_stopped) return give_up(FAILED, "stopped by a signal");
        if (!entry->sum || strcmp(entry->path, FUSION_ACTIVE) == 0) continue;
        if (file_stat(s->source_fd, entry->path, &info) != 0 ||
            file_copy(s->source_fd, entry->path, s->tree_fd, entry->path, mode_of(s, &info),
                      s->target.dir_mode, hex) != 0)
            return cannot_write(s, entry->path);
        if (strcmp(hex, entry->sum) != 0)
            return give_up(FAILED, "%s is not what " MANIFEST_NAME " says", entry->path);
    }
    return s->arch_fd < 0 ? DONE : tree_walk(s->arch_fd, copy_arch, s);
}

/* A link to the file for this machine, or none if there is no such file. */
static int point(struct setup *s, const char *dir, const char *name, const char *file) {
    char path[PATH_MAX], target[PATH_MAX];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    snprintf(target, sizeof target, "%s/%s", dir, file);
    if (file_stat(s->tree_fd, target, &info) != 0)
        return errno == ENOENT ? DONE : cannot_write(s, path);
    if (file_link(s->tree_fd, path, file, s->target.dir_mode) == 0) return DONE;
    return cannot_write(s, path);
}

/* What TensorFlow 2 always needs, and everybody after --install-path. */
static int write_set_env(struct setup *s) {
    struct text script = {0};
    text_add(&script, "# Source this before starting Python or any program that uses CANN: puts "
                      "ascgrad first in\n"
                      "# ASCEND_CUSTOM_OPP_PATH, once, and leaves no empty element in it.\n"
                      "_ascgrad_dir=");
    text_quoted(&script, s->target.dir);
    text_add(&script, "\n"
                      "_ascgrad_path=$_ascgrad_dir\n"
                      "_ascgrad_rest=${ASCEND_CUSTOM_OPP_PATH-}:\n"
                      "while [ -n \"$_ascgrad_rest\" ]; do\n"
                      "    _ascgrad_one=${_ascgrad_rest%%%%:*}\n"
                      "    _ascgrad_rest=${_ascgrad_rest#*:}\n"
                      "    case $_ascgrad_one in\n"
                      "    '' | \"$_ascgrad_dir\") ;;\n"
                      "    *) _ascgrad_path=$_ascgrad_path:$_ascgrad_one ;;\n"
                      "    esac\n"
                      "done\n"
                      "export ASCEND_CUSTOM_OPP_PATH=\"$_ascgrad_path\"\n"
                      "unset _ascgrad_dir _ascgrad_path _ascgrad_rest _ascgrad_one\n");
    const char *path = "bin/set_env.bash";
    file_unlink(s->tree_fd, path); /* the one of an installed package, when compiling later */
    const int result = script.failed ? -1
                                     : file_write(s->tree_fd, path, script.s, script.size,
                                                  s->target.dir_mode, s->target.dir_mode);
    text_free(&script);
    return result == 0 ? DONE : cannot_write(s, path);
}

/* GE opens every library that lies there, and fails as a whole if it cannot: so a second copy, of
 * this machine's only, and only if it is wanted. */
static int activate_fusion(struct setup *s) {
    struct stat info;
    const bool was = s->has_old && manifest_find(&s->old, FUSION_ACTIVE);
    if (s->options.no_fusion || (!s->options.fusion && !was)) return DONE;
    if (file_stat(s->tree_fd, FUSION_SHIPPED, &info) != 0)
        return give_up(REFUSED, "this package has no graph pass for %s", s->arch);
    if (file_copy(s->tree_fd, FUSION_SHIPPED, s->tree_fd, FUSION_ACTIVE, s->target.file_mode,
                  s->target.dir_mode, NULL) == 0)
        return DONE;
    return cannot_write(s, FUSION_ACTIVE);
}

int stage_copy(struct setup *s) {
    char library[96], command[64];
    snprintf(library, sizeof library, "lib/linux/%s/libcust_opmaster_rt2.0.so", s->arch);
    snprintf(command, sizeof command, "%s/ascgrad", s->arch);
    int status = copy_files(s);
    if (status == DONE) status = point(s, TBE "/op_tiling", "liboptiling.so", library);
    if (status == DONE) status = point(s, "bin", "ascgrad", command);
    if (status == DONE) status = activate_fusion(s);
    if (status == DONE) status = write_set_env(s);
    return status;
}

/* One line of the new package.info. */
struct sums {
    struct setup *s;
    struct text lines;
    size_t count;
};

static int add_sum(void *context, int at, const char *path, const struct stat *info) {
    struct sums *sums = context;
    char hex[65];
    if (S_ISLNK(info->st_mode)) {
        char *target = file_readlink(at, path);
        if (!target) return cannot_write(sums->s, path);
        text_add(&sums->lines, "link %s %s\n", path, target);
        free(target);
    } else {
        if (file_sum(at, path, hex) != 0) return cannot_write(sums->s, path);
        text_add(&sums->lines, "%s  %s\n", hex, path);
    }
    sums->count++;
    return DONE;
}

/* Whose the types are: as it was decided now, or as it was. */
static void add_owners(struct text *info, const struct setup *s) {
    const struct manifest *m = &s->source;
    const bool as_it_was = s->options.only_fusion;
    text_add(info, "machine=%s\nleft_out=", as_it_was ? m->machine : text_of(&s->chips));
    if (as_it_was) text_add(info, "%s", m->left_out);
    for (size_t i = 0, n = 0; i < m->types; i++)
        if (!as_it_was && s->decision[i].left) text_add(info, "%s%s", n++ ? " " : "", m->type[i]);
    text_add(info, "\n");
    for (size_t i = 0; i < m->types; i++) {
        const struct decision *d = &s->decision[i];
        if (!as_it_was)
            text_add(info, "owner %s ge=%s aclnn=%s %s\n", m->type[i], owner_in_graphs(d),
                     owner_of_calls(d), text_of(&d->why));
        else if (m->why[i])
            text_add(info, "owner %s %s\n", m->type[i], m->why[i]);
    }
}

/* package.info: what was shipped, what this installation did, and the files as they are now. */
static int write_info(struct setup *s) {
    const struct manifest *m = &s->source;
    const struct options *o = &s->options;
    struct sums sums = {.s = s};
    struct text info = {0};
    struct line line;
    if (tree_walk(s->tree_fd, add_sum, &sums) != DONE) return FAILED;
    text_add(&info, "package=ascgrad-opp\nversion=%s\nformat=%d\narch=%s\nsoc=%s\nops=", m->version,
             MANIFEST_FORMAT, m->arches, m->chips);
    for (size_t i = 0; i < m->types; i++)
        text_add(&info, "%s%s", i ? " " : "", m->type[i]);
    text_add(&info, "\nir_sha256=%s\nglibc=%s\n", m->ir, m->glibc);
    for (size_t i = 0; i < m->types; i++)
        text_add(&info, "kernel %s %s\n", m->type[i], m->kernel[i] ? m->kernel[i] : "");
    text_add(&info, "mode=%s\n",
             o->graph_only    ? "graph-only"
             : o->no_override ? "no-override"
                              : "default");
    add_owners(&info, s);
    for (const char *at = text_of(&s->target.made); next_line(&at, &line);)
        text_add(&info, "made=%.*s\n", (int)line.size, line.s);
    text_add(&info, "\n%send %zu\n", text_of(&sums.lines), sums.count);
    const bool failed = info.failed || sums.lines.failed;
    if (failed) errno = ENOMEM;
    const int result = failed ? -1
                              : file_write(s->tree_fd, MANIFEST_NAME, info.s, info.size,
                                           s->target.file_mode, s->target.dir_mode);
    text_free(&info);
    text_free(&sums.lines);
    return result == 0 ? DONE : cannot_write(s, MANIFEST_NAME);
}

int stage_seal(struct setup *s) {
    const int status = write_info(s);
    return status == DONE ? keep_strangers(s) : status;
}
