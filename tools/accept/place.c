/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the package is that `ascgrad accept` tries, and what its report says of the machine: chip,
 * driver, CANN, frameworks, checksums.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "../../package/chips.h"
#include "../../package/files.h"
#include "../../package/owners.h"
#include "../../package/sha256.h"
#include "accept.h"
#include "../doctor/doctor.h"
#include "../doctor/parts.h"

static bool is_package(const char *dir) {
    char info[PATH_MAX + 32];
    TEXT(info, "%s/" MANIFEST_NAME, dir);
    char *text = file_read_following(AT_FDCWD, info, NULL);
    const bool ours = text && strncmp(text, "package=ascgrad-opp\n", 20) == 0;
    free(text);
    return ours;
}

/* The package that GE finds first; else the one that this program lies in. */
static void find_package_dir(struct accept *a) {
    const char *custom = getenv("ASCEND_CUSTOM_OPP_PATH");
    char dir[PATH_MAX];
    for (const char *at = custom ? custom : ""; next_word(&at, ':', dir, sizeof dir);)
        if (dir[0] && !a->package[0] && is_package(dir)) TEXT(a->package, "%s", dir);
    if (a->package[0]) return;
    TEXT(dir, "%.4000s/vendors/ascgrad", a->opp);
    if (a->opp[0] && is_package(dir)) TEXT(a->package, "%s", dir);
    if (a->package[0]) return;
    TEXT(dir, "%.4000s/../..", a->bin); /* bin/<arch>/ascgrad */
    if (is_package(dir)) TEXT(a->package, "%s", dir);
}

static void read_left_out(struct accept *a) {
    const int dir = open(a->package, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct manifest m;
    char why[WHY];
    if (dir >= 0 && manifest_read(dir, &m, why)) {
        TEXT(a->left_out, "%s", m.left_out ? m.left_out : "");
        manifest_free(&m);
    }
    if (dir >= 0) close(dir);
}

/* A path as it was meant where the command was called. */
static void absolute(const struct accept *a, const char *path, struct text *out) {
    const bool relative = path[0] && path[0] != '/' && a->from[0];
    text_add(out, "%s%s%s", relative ? a->from : "", relative ? "/" : "", path);
}

bool accept_move(struct accept *a, char why[ACCEPT_WHY]) {
    static const char *const lists[] = {"ASCEND_OPP_PATH", "ASCEND_HOME_PATH",
                                        "ASCEND_TOOLKIT_HOME", "ASCEND_CUSTOM_OPP_PATH", "TMPDIR"};
    char word[PATH_MAX];
    a->from_fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (!getcwd(a->from, sizeof a->from)) a->from[0] = 0;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        struct text value = {0};
        for (const char *at = getenv(lists[i]); at && next_word(&at, ':', word, sizeof word);) {
            if (value.size) text_add(&value, ":");
            absolute(a, word, &value);
        }
        if (value.size) setenv(lists[i], value.s, 1);
        text_free(&value);
    }
    if (a->options.ge_runner) {
        struct text file = {0};
        absolute(a, a->options.ge_runner, &file);
        TEXT(a->ge_runner, "%s", text_of(&file));
        text_free(&file);
    }
    const char *tmp = getenv("TMPDIR");
    TEXT(a->scratch, "%.3000s/ascgrad-accept.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (mkdtemp(a->scratch) && chdir(a->scratch) == 0) return true;
    snprintf(why, ACCEPT_WHY, "no folder for temporary files: %s", strerror(errno));
    return false;
}

void accept_leave(struct accept *a) {
    if (chdir("/") == 0) tree_remove(AT_FDCWD, a->scratch);
    if (a->from_fd >= 0) close(a->from_fd);
    accept_forget(a);
}

bool accept_find(struct accept *a, char why[ACCEPT_WHY]) {
    const char *opp = getenv("ASCEND_OPP_PATH"), *home = getenv("ASCEND_HOME_PATH");
    const ssize_t n = readlink("/proc/self/exe", a->bin, sizeof a->bin - 1);
    a->bin[n > 0 ? n : 0] = 0;
    char *slash = strrchr(a->bin, '/');
    if (slash) *slash = 0;
    if (opp && *opp)
        TEXT(a->opp, "%.4000s", opp);
    else if (home && *home)
        TEXT(a->opp, "%.4000s/opp", home);
    find_package_dir(a);
    TEXT(a->share, "%.4000s/share/accept", a->package);
    if (a->package[0]) return read_left_out(a), true;
    snprintf(why, ACCEPT_WHY,
             "no ascgrad package is installed here that CANN would find; ascgrad doctor says more");
    return false;
}

/* ---- the environment */

static void member(struct accept *a, const char *name, const char *value) {
    char clean[1024];
    text_add(&a->environment, "%s    ", a->environment.size ? ",\n" : "");
    accept_scrub(a, name, clean, sizeof clean);
    doctor_json_text(&a->environment, clean);
    text_add(&a->environment, ": ");
    accept_scrub(a, value, clean, sizeof clean);
    for (size_t n = strlen(clean); n > 0 && clean[n - 1] == ' '; n--)
        clean[n - 1] = 0;
    doctor_json_text(&a->environment, clean);
}

/* The value behind key in the first of the files that has it; "" without one. */
static void value_in(const char *const file[], const char *key, char *value, size_t size) {
    value[0] = 0;
    for (size_t i = 0; file[i] && !value[0]; i++) {
        char *text = file_read_following(AT_FDCWD, file[i], NULL);
        const char *rest = text;
        struct line line, after;
        while (text && !value[0] && next_line(&rest, &line))
            if (line_after(line, key, &after))
                snprintf(value, size, "%.*s", (int)after.size, after.s);
        free(text);
    }
}

static void versions(struct accept *a) {
    const char *home = getenv("ASCEND_HOME_PATH");
    char toolkit[3][PATH_MAX], value[256];
    struct utsname machine = {.machine = ""};
    uname(&machine);
    TEXT(toolkit[0], "%.3000s/%s-linux/ascend_toolkit_install.info", home ? home : "",
         machine.machine);
    TEXT(toolkit[1], "%.3000s/version.info", home ? home : "");
    TEXT(toolkit[2], "%.3000s/version.info", a->opp);
    const char *const cann[] = {toolkit[0], toolkit[1], toolkit[2], NULL};
    const char *const driver[] = {"/usr/local/Ascend/driver/version.info", NULL};
    value_in(cann, "version=", value, sizeof value);
    if (!value[0]) value_in(cann, "Version=", value, sizeof value);
    member(a, "cann", value[0] ? value : "unknown");
    value_in(driver, "Version=", value, sizeof value);
    member(a, "driver", value[0] ? value : "unknown");
    TEXT(value, "%s %s %s", machine.sysname, machine.release, machine.machine);
    member(a, "system", value);
}

static void frameworks(struct accept *a) {
    static const char program[] =
        "from importlib.metadata import version, PackageNotFoundError\n"
        "import platform\n"
        "found = ['python ' + platform.python_version()]\n"
        "for name in ('torch', 'torch_npu', 'tensorflow', 'npu_device', 'mindspore', 'ascgrad'):\n"
        "    try:\n"
        "        found.append(name + ' ' + version(name))\n"
        "    except PackageNotFoundError:\n"
        "        pass\n"
        "print(', '.join(found))\n";
    const char *const argv[] = {"python3", "-c", program, NULL};
    int status;
    char *text = accept_output_of(argv, 20, &status);
    member(a, "frameworks", status == 0 && text ? text : "no python3");
    free(text);
}

/* Whatever is loaded into GE or aclnn, and the manifest that has the sums of all the rest. */
static void checksums(struct accept *a) {
    const int dir = open(a->package, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct manifest m = {0};
    char why[WHY], sum[65];
    const bool good = dir >= 0 && manifest_read(dir, &m, why);
    member(a, "package", good ? m.version : "unknown");
    if (dir >= 0 && file_sum(dir, MANIFEST_NAME, sum) == 0) member(a, MANIFEST_NAME, sum);
    for (size_t i = 0; good && i < m.entries; i++) {
        const char *path = m.entry[i].path;
        const size_t n = strlen(path);
        if (n > 3 && strcmp(path + n - 3, ".so") == 0 && m.entry[i].sum &&
            file_sum(dir, path, sum) == 0)
            member(a, path, sum);
    }
    if (good) manifest_free(&m);
    if (dir >= 0) close(dir);
}

/* Words of doctor's own that a user may be called, too. */
static bool own_word(const struct json *value) {
    return value->name && word_in(value->name, "level check worst", ' ');
}

static void scrub_json(const struct accept *a, struct json *value) {
    for (; value; value = value->next) {
        if (value->kind == JSON_STRING && value->text && !own_word(value)) {
            const size_t room = strlen(value->text) * 6 + 64;
            char *clean = malloc(room);
            if (clean) accept_scrub(a, value->text, clean, room);
            free(value->text);
            value->text = clean ? clean : strdup("");
        }
        scrub_json(a, value->child);
    }
}

/* doctor prints; it does so into a pipe, in a process of its own. */
static void ask_doctor(struct accept *a) {
    char exe[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    int status, line;
    if (n <= 0) return;
    exe[n] = 0;
    const char *const argv[] = {exe, "doctor", "--json", NULL};
    char *text = accept_output_of(argv, 60, &status);
    struct json *json = text ? json_parse(text, &line) : NULL;
    struct text out = {0};
    free(text);
    if (!json) return;
    const char *worst = json_string(json, "worst");
    TEXT(a->doctor_worst, "%s", worst ? worst : "fail");
    scrub_json(a, json);
    json_print(&out, json);
    json_free(json);
    a->doctor = out.s;
}

void accept_environment(struct accept *a) {
    struct text chips = {0};
    chips_of_machine(&chips);
    member(a, "ascgrad", ascgrad_version());
    member(a, "chip", a->soc[0] ? a->soc : "unknown");
    member(a, "npu-smi", chips.size ? text_of(&chips) : "names no chip that is known");
    text_free(&chips);
    versions(a);
    frameworks(a);
    checksums(a);
    TEXT(a->doctor_worst, "fail");
    ask_doctor(a);
}

/* ---- CANN's own operator */

/* The names in a record of ops-info: input0, input1, ..., or the list of attributes. */
static bool same_args(const struct json *record, const char *kind,
                      const struct ascgrad_arg_info *arg, uint32_t count) {
    for (uint32_t i = 0; i <= count; i++) {
        char key[32];
        TEXT(key, "%s%u", kind, i);
        const struct json *entry = json_get(record, key);
        const char *name = entry ? json_string(entry, "name") : NULL;
        if (i == count) return !entry;
        if (!name || strcmp(name, arg[i].name) != 0) return false;
    }
    return false;
}

/* Those that CANN has are the first of ours, and so many of ours are among them. */
static bool same_attrs(const struct json *record, const struct ascgrad_op_info *op, uint32_t used) {
    const struct json *attr = json_get(record, "attr");
    const char *list = attr ? json_string(attr, "list") : NULL;
    char name[256];
    uint32_t n = 0;
    for (const char *at = list ? list : ""; next_word(&at, ',', name, sizeof name); n++)
        if (n >= op->attrs || strcmp(name, op->attr[n].name) != 0) return false;
    return n >= used;
}

bool accept_cann_has(const struct accept *a, const struct ascgrad_op_info *op, uint32_t used) {
    char dir[PATH_MAX], chip[64];
    const char *name = chip_short_name(a->soc);
    struct offer offer = {0};
    TEXT(dir, "%.4000s/built-in", a->opp);
    const int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    TEXT(chip, "%s", name && *name ? name : "ascend910b");
    if (fd < 0) return false;
    offer_add(fd, chip, &offer);
    const struct json *record = offer_record(&offer, op->type);
    const bool same = record && same_args(record, "input", op->in, op->inputs) &&
                      same_args(record, "output", op->out, op->outputs) &&
                      same_attrs(record, op, used);
    offer_free(&offer);
    close(fd);
    return same;
}
