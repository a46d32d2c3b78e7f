/* SPDX-License-Identifier: Apache-2.0
 *
 * Where GE looks for operator packages, in its order: the entries of ASCEND_CUSTOM_OPP_PATH, then
 * the vendors in the first line of vendors/config.ini. Its own operators come last.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "doctor_parts.h"

#define INSTALL "sh ascgrad-opp_<version>_linux-<arch>.run"

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
        char *text = doctor_read(path, NULL);
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

static void add_package(struct doctor *d, const char *dir, const char *name, bool from_env) {
    for (size_t i = 0; i < d->packages; i++)
        if (strcmp(d->package[i].dir, dir) == 0) return;
    if (d->packages == MAX_PACKAGES) return;
    struct package *p = &d->package[d->packages++];
    TEXT(p->dir, "%s", dir);
    TEXT(p->name, "%s", name);
    p->from_env = from_env;
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
        if (!doctor_is_dir(dir)) {
            doctor_say(d, LEVEL_WARN, "custom-path", "take it out of ASCEND_CUSTOM_OPP_PATH",
                       "ASCEND_CUSTOM_OPP_PATH: %s is not a directory; GE skips it", dir);
            continue;
        }
        if (doctor_is_dir(inside))
            doctor_say(d, LEVEL_WARN, "custom-path", "name <dir>/vendors/<vendor> instead",
                       "ASCEND_CUSTOM_OPP_PATH: %s holds vendors/; an entry must be a vendor's own "
                       "directory",
                       dir);
        const char *name = strrchr(dir, '/');
        add_package(d, dir, name ? name + 1 : dir, true);
    }
    if (empty)
        doctor_say(d, LEVEL_WARN, "custom-path", "take the leading, trailing or double ':' out",
                   "ASCEND_CUSTOM_OPP_PATH has an empty element, which some programs take for the "
                   "current directory");
}

/* The rules of GE's readers together: first line, one '=', load_priority. NULL: the line is good.
 */
static const char *config_trouble(const char *line) {
    const char *equals = strchr(line, '=');
    if (line[0] == '#' || line[0] == ';')
        return "begins with a comment, and GE reads only the first line";
    if (!equals || strncmp(line, "load_priority", 13) != 0)
        return "does not begin with load_priority=";
    if (strchr(equals + 1, '=')) return "has a second '=', and GE then ignores it";
    if (strchr(line, '\r')) return "ends in a carriage return, which becomes part of the last name";
    if (equals != line + 13) return "has a space before '='";
    if (equals[1] == 0) return "names no vendor";
    return NULL;
}

static void read_config(struct doctor *d) {
    char *text = doctor_read(d->config, NULL);
    char fix[2 * PATH], quoted[PATH];
    if (!text) {
        if (errno == EACCES)
            doctor_say(
                d, LEVEL_FAIL, "config",
                (TEXT(fix, "chmod a+r %s", doctor_quote(d->config, quoted, sizeof quoted)), fix),
                "%s: this user may not read it", d->config);
        return;
    }
    char line[LINE];
    TEXT(line, "%.*s", (int)strcspn(text, "\n"), text);
    free(text);
    const char *trouble = config_trouble(line);
    if (trouble) {
        doctor_say(d, LEVEL_FAIL, "config", INSTALL "    (puts the line right)",
                   "%s: line 1 '%s' %s", d->config, line, trouble);
        return;
    }
    doctor_say(d, LEVEL_OK, "config", NULL, "%s: %s", d->config, line);
    char *rest;
    for (char *name = strtok_r(line + 14, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        char dir[PATH + 300];
        name += strspn(name, " \t");
        TEXT(dir, "%.3000s/vendors/%.255s", d->opp, name);
        if (doctor_is_dir(dir)) {
            add_package(d, dir, name, false);
        } else {
            TEXT(fix, strcmp(name, "ascgrad") == 0 ? INSTALL : "take %.200s out of %.3000s", name,
                 d->config);
            doctor_say(d, strcmp(name, "ascgrad") == 0 ? LEVEL_FAIL : LEVEL_WARN, "config", fix,
                       "%s lists %s, but %s is not there", d->config, name, dir);
        }
    }
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

static void find_ours(struct doctor *d) {
    for (size_t i = 0; i < d->packages; i++) {
        struct package *p = &d->package[i];
        struct manifest m;
        if (!doctor_read_manifest(p->dir, &m)) continue;
        if (!d->ours) {
            d->ours = p;
            d->manifest = m;
            continue;
        }
        if (strcmp(p->dir, d->ours->dir) != 0)
            doctor_say(d, LEVEL_WARN, "package", "uninstall one: sh <dir>/scripts/uninstall.sh",
                       "there is a second ascgrad, %s in %s; GE uses %s in %s", m.version, p->dir,
                       d->manifest.version, d->ours->dir);
        free(m.text);
    }
    if (!d->ours) {
        not_found(d);
        return;
    }
    doctor_say(d, LEVEL_OK, "package", NULL, "ascgrad %s in %s, number %d of %zu packages",
               d->manifest.version, d->ours->dir, (int)(d->ours - d->package) + 1, d->packages);
    bool in_env = false;
    for (size_t i = 0; i < d->packages; i++)
        in_env = in_env || (d->package[i].from_env && strcmp(d->package[i].dir, d->ours->dir) == 0);
    if (!in_env) {
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
    if (d->opp[0]) {
        errno = 0;
        read_config(d);
    }
    find_ours(d);
}
