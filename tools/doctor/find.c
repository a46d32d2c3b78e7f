/* SPDX-License-Identifier: Apache-2.0
 *
 * Where GE looks for operator packages, in its order: the entries of ASCEND_CUSTOM_OPP_PATH, then
 * the vendors in the first line of vendors/config.ini. Its own operators come last.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../../package/config.h"
#include "../../package/files.h"
#include "parts.h"

/* CANN's set_env.sh lies beside its opp directory. */
static void find_setup(struct doctor *d) {
    char path[PATH], quoted[PATH];
    TEXT(path, "%.4000s", d->opp);
    char *slash = strrchr(path, '/');
    if (slash) doctor_text(slash, sizeof path - (size_t)(slash - path), "/set_env.sh");
    if (slash && doctor_is_file(path)) {
        TEXT(d->setup, ". %s", doctor_quote(path, quoted, sizeof quoted));
    } else {
        TEXT(d->setup, ". <CANN>/set_env.sh");
    }
}

/* True, after saying so, if path, or a directory above it, is closed to this user. */
static bool said_closed(struct doctor *d, enum level level, const char *check, const char *path) {
    char closed[PATH], fix[2 * PATH], quoted[PATH];
    if (!doctor_closed(path, closed)) return false;
    TEXT(fix, "chmod o+x %s    (its owner or root)", doctor_quote(closed, quoted, sizeof quoted));
    doctor_say(d, level, check, fix, "%s cannot be reached: this user may not enter %s", path,
               closed);
    return true;
}

static void find_opp(struct doctor *d, const char *given) {
    const char *path = getenv("ASCEND_OPP_PATH"), *home = getenv("ASCEND_HOME_PATH");
    const char *from = "ASCEND_OPP_PATH";
    find_setup(d);
    if (given) {
        TEXT(d->opp, "%s", given);
        from = "--opp";
    } else if (path && *path) {
        TEXT(d->opp, "%s", path);
    } else if (home && *home) {
        TEXT(d->opp, "%s/opp", home);
        from = "ASCEND_HOME_PATH";
    } else {
        doctor_say(
            d, LEVEL_FAIL, "opp", d->setup,
            "neither ASCEND_OPP_PATH nor ASCEND_HOME_PATH is set: GE does not know its operators");
        return;
    }
    for (size_t n = strlen(d->opp); n > 1 && d->opp[n - 1] == '/'; n--)
        d->opp[n - 1] = 0;
    find_setup(d);
    TEXT(d->config, "%.4000s/vendors/config.ini", d->opp);
    char builtin[PATH];
    TEXT(builtin, "%.4000s/built-in", d->opp);
    if (said_closed(d, LEVEL_FAIL, "opp", builtin)) return;
    if (!doctor_is_dir(d->opp)) {
        doctor_say(d, LEVEL_FAIL, "opp", d->setup, "opp directory (from %s): %s is not there", from,
                   d->opp);
    } else if (!doctor_is_dir(builtin)) {
        doctor_say(d, LEVEL_FAIL, "built-in", d->setup,
                   "%s is missing: without it GE ignores every custom package", builtin);
    } else {
        doctor_say(d, LEVEL_OK, "opp", NULL, "opp directory (from %s): %s", from, d->opp);
    }
}

/* The machine GE loads libraries for: scene.info of CANN, else the machine itself. */
static void find_arch(struct doctor *d) {
    struct utsname machine;
    TEXT(d->arch, "%s", uname(&machine) == 0 ? machine.machine : "unknown");
    if (strcmp(d->arch, "arm64") == 0) TEXT(d->arch, "aarch64");
    static const char *const places[] = {"%.4000s/scene.info", "%.4000s/../runtime/scene.info"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char path[PATH];
        snprintf(path, sizeof path, i ? places[1] : places[0], d->opp);
        char *text = file_read_following(AT_FDCWD, path, NULL);
        const char *at = text ? strstr(text, "arch=") : NULL;
        if (at) {
            char arch[32];
            TEXT(arch, "%.*s", (int)strcspn(at + 5, "\r\n \t"), at + 5);
            if (strcmp(arch, d->arch) != 0)
                doctor_say(d, LEVEL_WARN, "machine", NULL, "%s says %s, this machine is %s", path,
                           arch, d->arch);
            TEXT(d->arch, "%s", arch);
        }
        free(text);
        if (at) return;
    }
}

/* A directory that GE would take for a vendor package. False: there is none. */
static bool add_package(struct doctor *d, const char *dir, const char *name, bool from_env) {
    struct stat info;
    const int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC); /* need not be listable */
    if (fd < 0) return said_closed(d, LEVEL_FAIL, "package", dir);
    bool known = fstat(fd, &info) != 0 || d->packages == MAX_PACKAGES;
    for (size_t i = 0; i < d->packages; i++)
        known = known || (d->package[i].dev == info.st_dev && d->package[i].ino == info.st_ino);
    if (known) {
        close(fd);
        return true;
    }
    struct package *p = &d->package[d->packages++];
    TEXT(p->dir, "%s", dir);
    TEXT(p->name, "%s", name);
    p->fd = fd;
    p->dev = info.st_dev;
    p->ino = info.st_ino;
    p->from_env = from_env;
    return true;
}

static void read_custom_path(struct doctor *d) {
    const char *value = getenv("ASCEND_CUSTOM_OPP_PATH");
    if (!value || !*value) return;
    bool empty = false;
    for (const char *at = value; at; at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
        char dir[PATH], inside[PATH + 32];
        TEXT(dir, "%.*s", (int)strcspn(at, ":"), at);
        size_t n = strlen(dir);
        while (n > 1 && dir[n - 1] == '/')
            dir[--n] = 0;
        if (n == 0) {
            empty = true;
            continue;
        }
        TEXT(inside, "%s/vendors", dir);
        const char *name = strrchr(dir, '/');
        if (!add_package(d, dir, name ? name + 1 : dir, true)) {
            doctor_say(d, LEVEL_WARN, "custom-path", "take it out of ASCEND_CUSTOM_OPP_PATH",
                       "ASCEND_CUSTOM_OPP_PATH: %s is not a directory; GE skips it", dir);
            continue;
        }
        if (doctor_is_dir(inside))
            doctor_say(d, LEVEL_WARN, "custom-path", "name <dir>/vendors/<vendor> instead",
                       "ASCEND_CUSTOM_OPP_PATH: %s holds vendors/; an entry must be a vendor's own "
                       "directory",
                       dir);
    }
    if (empty)
        doctor_say(d, LEVEL_WARN, "custom-path", "take the leading, trailing or double ':' out",
                   "ASCEND_CUSTOM_OPP_PATH has an empty element, which some programs take for the "
                   "current directory");
}

/* config.ini cannot be read: why, unless it is simply not there. */
static void no_config(struct doctor *d) {
    char fix[2 * PATH], quoted[PATH];
    const int error = errno;
    if (error == ENOENT || said_closed(d, LEVEL_FAIL, "config", d->config)) return;
    doctor_quote(d->config, quoted, sizeof quoted);
    if (error == EACCES) {
        TEXT(fix, "chmod a+r %s", quoted);
        doctor_say(d, LEVEL_FAIL, "config", fix, "%s: this user may not read it", d->config);
    } else {
        TEXT(fix, "rm %s    then " INSTALL, quoted);
        doctor_say(d, LEVEL_FAIL, "config", fix,
                   error == EINVAL ? "%s is not a file, and GE may wait for it for ever"
                                   : "%s cannot be read",
                   d->config);
    }
}

static void add_vendor(struct doctor *d, const char *name) {
    char dir[PATH + 300], fix[2 * PATH];
    const bool ours = strcmp(name, "ascgrad") == 0;
    TEXT(dir, "%s/vendors/%.255s", d->opp, name);
    if (add_package(d, dir, name, false)) return;
    TEXT(fix, ours ? INSTALL : "take %.200s out of %.3000s", name, d->config);
    doctor_say(d, ours ? LEVEL_FAIL : LEVEL_WARN, "config", fix, "%s lists %s, but %s is not there",
               d->config, name, dir);
}

/* A carriage return behind another vendor's name is that vendor's trouble. */
static bool spoils_another(const char *line) {
    char part[4096];
    struct text names = {0};
    const size_t size = strcspn(line, "\r");
    if (line[size] != '\r' || line[size + 1]) return false;
    TEXT(part, "%.*s", (int)size, line);
    config_names(part, NULL, &names);
    const char *last = strrchr(text_of(&names), ',');
    const bool another = names.size && !config_trouble(part) &&
                         strcmp(last ? last + 1 : text_of(&names), "ascgrad") != 0;
    text_free(&names);
    return another;
}

static void read_config(struct doctor *d) {
    char *line = file_read_following(AT_FDCWD, d->config, NULL);
    if (!line) {
        no_config(d);
        return;
    }
    line[strcspn(line, "\n")] = 0; /* CANN's readers see no more */
    const char *trouble = config_trouble(line);
    if (trouble && spoils_another(line)) {
        char fix[2 * PATH], quoted[PATH];
        TEXT(fix, "sed -i 's/\\r$//' %s", doctor_quote(d->config, quoted, sizeof quoted));
        doctor_say(d, LEVEL_WARN, "config", fix, "%s: line 1 %s, which is not ascgrad", d->config,
                   trouble);
        line[strcspn(line, "\r")] = 0;
        trouble = NULL;
    }
    if (trouble) {
        doctor_say(d, LEVEL_FAIL, "config", INSTALL "    (puts the line right)",
                   "%s: line 1 '%s' %s", d->config, line, trouble);
    } else {
        struct text names = {0};
        char name[256];
        doctor_say(d, LEVEL_OK, "config", NULL, "%s: %s", d->config, line);
        config_names(line, NULL, &names);
        for (const char *at = text_of(&names); next_word(&at, ',', name, sizeof name);)
            add_vendor(d, name);
        text_free(&names);
    }
    free(line);
}

/* The directory of the package that this program was installed with, or "". */
static void own_package(char *out, size_t size) {
    char exe[PATH];
    const ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    out[0] = 0;
    if (n <= 0) return;
    exe[n] = 0;
    for (int up = 0; up < 3; up++) { /* bin/<arch>/ascgrad */
        char *slash = strrchr(exe, '/');
        if (!slash) return;
        *slash = 0;
    }
    char info[PATH + 32];
    TEXT(info, "%s/package.info", exe);
    if (doctor_is_file(info)) doctor_text(out, size, "%s", exe);
}

static void not_found(struct doctor *d) {
    char own[PATH], dir[PATH + 32], fix[2 * PATH], quoted[PATH];
    own_package(own, sizeof own);
    TEXT(dir, "%.4000s/vendors/ascgrad", d->opp);
    if (doctor_is_dir(dir)) {
        doctor_say(d, LEVEL_FAIL, "package", INSTALL,
                   "%s is there, but neither config.ini nor ASCEND_CUSTOM_OPP_PATH names it, or "
                   "its package.info is gone: "
                   "GE does not see it",
                   dir);
    } else if (own[0]) {
        char env[PATH + 32];
        TEXT(env, "%s/bin/set_env.bash", own);
        TEXT(fix, ". %s    before starting the program", doctor_quote(env, quoted, sizeof quoted));
        doctor_say(d, LEVEL_FAIL, "package", fix,
                   "%s is not in ASCEND_CUSTOM_OPP_PATH: GE does not see it", own);
    } else {
        doctor_say(d, LEVEL_FAIL, "package", INSTALL,
                   "no ascgrad package among the %zu that GE would load", d->packages);
    }
}

/* A package.info that is there and cannot be used. */
static void spoilt(struct doctor *d, const struct package *p, const char *why) {
    char path[PATH + 32], fix[2 * PATH], quoted[PATH];
    TEXT(path, "%s/" MANIFEST_NAME, p->dir);
    if (errno == EACCES) {
        if (said_closed(d, LEVEL_FAIL, "package", path)) return;
        TEXT(fix, "chmod -R o+rX %s    (its owner or root)",
             doctor_quote(p->dir, quoted, sizeof quoted));
        doctor_say(d, LEVEL_FAIL, "package", fix, "%s: this user may not read it", path);
        return;
    }
    TEXT(fix, "mv %s <elsewhere>    then " INSTALL, doctor_quote(p->dir, quoted, sizeof quoted));
    doctor_say(d, LEVEL_FAIL, "package", fix, "%s is damaged: %s", path, why);
}

static void find_ours(struct doctor *d) {
    bool said = false;
    for (size_t i = 0; i < d->packages; i++) {
        struct package *p = &d->package[i];
        struct manifest m;
        char why[WHY];
        errno = 0;
        bool good = manifest_read(p->fd, &m, why);
        if (good && m.types == 0) {
            manifest_free(&m);
            TEXT(why, "it names no operator types");
            good = false;
        }
        if (!good) {
            if (why[0]) spoilt(d, p, why);
            said = said || why[0];
            continue;
        }
        if (!d->ours) {
            d->ours = p;
            d->manifest = m;
            continue;
        }
        doctor_say(d, LEVEL_WARN, "package", "uninstall one: sh <dir>/scripts/uninstall.sh",
                   "there is a second ascgrad, %s in %s; GE uses %s in %s", m.version, p->dir,
                   d->manifest.version, d->ours->dir);
        manifest_free(&m);
    }
    if (said && !d->ours) return;
    if (!d->ours) {
        not_found(d);
        return;
    }
    doctor_say(d, LEVEL_OK, "package", NULL, "ascgrad %s in %s, number %d of %zu packages",
               d->manifest.version, d->ours->dir, (int)(d->ours - d->package) + 1, d->packages);
    if (!d->ours->from_env) {
        char env[PATH + 32], quoted[PATH], fix[2 * PATH];
        TEXT(env, "%s/bin/set_env.bash", d->ours->dir);
        TEXT(fix, ". %s    before starting Python", doctor_quote(env, quoted, sizeof quoted));
        doctor_say(d, LEVEL_WARN, "tensorflow", fix,
                   "TensorFlow 2 does not read config.ini and needs ascgrad in "
                   "ASCEND_CUSTOM_OPP_PATH (others do not)");
    }
}

void doctor_find(struct doctor *d, const char *opp) {
    find_opp(d, opp);
    find_arch(d);
    read_custom_path(d);
    if (d->opp[0]) read_config(d);
    find_ours(d);
}
