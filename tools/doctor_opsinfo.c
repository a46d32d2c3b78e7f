/* SPDX-License-Identifier: Apache-2.0
 *
 * ops-info: by this file GE decides that an operator runs on the AI Core with our kernel. One bad
 * record and GE drops the whole file with a line in a log, so every rule of its reader is checked
 * here.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor_json.h"
#include "doctor_parts.h"

#define INSTALL_AGAIN "sh ascgrad-opp_<version>_linux-<arch>.run    (installs over it)"

bool doctor_offers(const struct manifest *m, const char *type) {
    bool ours = false;
    for (size_t i = 0; i < m->count; i++)
        ours = ours || strcmp(m->ops[i], type) == 0;
    for (size_t i = 0; i < m->left_out_count; i++)
        ours = ours && strcmp(m->left_out[i], type) != 0;
    return ours;
}

static bool one_of(const char *word, const char *list) {
    const size_t size = word ? strlen(word) : 0;
    for (const char *at = list; size && (at = strstr(at, word)); at++)
        if ((at == list || at[-1] == ' ') && (at[size] == ' ' || at[size] == 0)) return true;
    return false;
}

static size_t columns(const char *list) {
    size_t n = 1;
    for (; *list; list++)
        n += *list == ',';
    return n;
}

/* inputN or outputN. want: columns of the first tensor, 0 before it. */
static bool check_tensor(const struct json *tensor, size_t *want, char why[LINE]) {
    static const char *const lists[] = {"dtype", "format", "unknownshape_format"};
    const char *type = json_string(tensor, "paramType");
    if (!json_string(tensor, "name"))
        return doctor_text(why, LINE, "%s has no name", tensor->name), false;
    if (!one_of(type, "required optional dynamic reserved"))
        return doctor_text(why, LINE, "%s has paramType '%s'", tensor->name, type ? type : ""),
               false;
    for (size_t i = 0; i < 3; i++) {
        const char *list = json_string(tensor, lists[i]);
        if (!list && i == 2) continue;
        if (!list) return doctor_text(why, LINE, "%s has no %s", tensor->name, lists[i]), false;
        const size_t n = columns(list);
        if (*want && n != *want)
            return doctor_text(why, LINE, "%s.%s has %zu entries where others have %zu",
                               tensor->name, lists[i], n, *want),
                   false;
        *want = n;
    }
    return true;
}

static bool check_attrs(const struct json *op, char why[LINE]) {
    const char *list = json_string(json_get(op, "attr"), "list");
    char names[LINE], key[LINE + 8], *rest;
    TEXT(names, "%s", list ? list : "");
    for (char *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        TEXT(key, "attr_%s", name);
        const struct json *attr = json_get(op, key);
        const char *type = json_string(attr, "type");
        if (!one_of(type, "int float bool str listInt listFloat listBool listStr listListInt"))
            return doctor_text(why, LINE, "attribute %s has type '%s'", name, type ? type : ""),
                   false;
        if (!json_string(attr, "value"))
            return doctor_text(why, LINE, "attribute %s has no value", name), false;
        if (!one_of(json_string(attr, "paramType"), "required optional"))
            return doctor_text(why, LINE, "attribute %s has no paramType, and is then skipped",
                               name),
                   false;
    }
    return true;
}

static bool check_flags(const struct json *op, char why[LINE]) {
    static const char *const flags[][2] = {
        {"dynamicShapeSupport", "true false"},
        {"dynamicRankSupport", "true false upgrade_to_dynamic_rank"},
        {"dynamicCompileStatic", "true false tune"},
        {"dynamicFormat", "true false"},
        {"needCheckSupport", "true false"},
        {"precision_reduce", "true false"},
    };
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        const char *value = json_string(json_get(op, flags[i][0]), "flag");
        if (!value && i >= 3) continue;
        if (!one_of(value, flags[i][1]))
            return doctor_text(why, LINE, "%s is '%s'", flags[i][0], value ? value : ""), false;
    }
    return true;
}

static bool check_record(const struct doctor *d, const struct json *op, char why[LINE]) {
    size_t want = 0;
    for (const struct json *part = op->child; part; part = part->next) {
        if (part->kind != JSON_OBJECT)
            return doctor_text(why, LINE, "%s is not an object", part->name), false;
        for (const struct json *leaf = part->child; leaf; leaf = leaf->next)
            if (leaf->kind != JSON_STRING)
                return doctor_text(why, LINE, "%s.%s is not a string", part->name, leaf->name),
                       false;
    }
    for (int side = 0; side < 2; side++) {
        size_t found = 0, total = 0;
        const char *prefix = side ? "output" : "input";
        const size_t size = strlen(prefix);
        for (const struct json *part = op->child; part; part = part->next)
            total +=
                strncmp(part->name, prefix, size) == 0 && isdigit((unsigned char)part->name[size]);
        for (; found < total; found++) {
            char key[32];
            TEXT(key, "%s%zu", prefix, found);
            const struct json *tensor = json_get(op, key);
            if (!tensor) return doctor_text(why, LINE, "%s is missing in the row", key), false;
            if (!check_tensor(tensor, &want, why)) return false;
        }
        if (!found) return doctor_text(why, LINE, "it has no %s0", prefix), false;
    }
    const char *file = json_string(json_get(op, "opFile"), "value");
    char launcher[2 * PATH];
    if (!file) return doctor_text(why, LINE, "it has no opFile"), false;
    TEXT(launcher, "%s/op_impl/ai_core/tbe/%s_impl/dynamic/%s.py", d->ours->dir, d->ours->name,
         file);
    if (!doctor_is_file(launcher))
        return doctor_text(why, LINE, "%.900s is missing", launcher), false;
    return check_attrs(op, why) && check_flags(op, why);
}

static bool check_file(const struct doctor *d, const char *path, char why[LINE]) {
    int line = 0;
    char *text = doctor_read(path, NULL), trouble[LINE];
    if (!text) return doctor_text(why, LINE, "cannot be read"), false;
    struct json *all = json_parse(text, &line);
    free(text);
    bool good = all && all->kind == JSON_OBJECT;
    if (!good) doctor_text(why, LINE, "is not JSON: line %d", line);
    for (const struct json *op = good ? all->child : NULL; good && op; op = op->next) {
        if (op->kind != JSON_OBJECT) {
            good = false;
            doctor_text(why, LINE, "%s is not an object", op->name);
        } else if (!check_record(d, op, trouble)) {
            good = false;
            doctor_text(why, LINE, "%.200s: %.700s", op->name, trouble);
        }
    }
    for (size_t i = 0; good && i < d->manifest.count; i++) {
        const char *type = d->manifest.ops[i];
        if ((json_get(all, type) != NULL) == doctor_offers(&d->manifest, type)) continue;
        good = false;
        doctor_text(why, LINE, json_get(all, type) ? "has %s, which was left to CANN" : "has no %s",
                    type);
    }
    json_free(all);
    return good;
}

/* The chip of this machine as a short name, or "" if it cannot be told. */
static void find_chip(char chip[32]) {
    static const char *const known[][2] = {{"910_93", "ascend910_93"}, {"910B", "ascend910b"},
                                           {"950", "ascend950"},       {"310P", "ascend310p"},
                                           {"310B", "ascend310b"},     {"910A", "ascend910"},
                                           {"910Pro", "ascend910"}};
    char line[LINE];
    chip[0] = 0;
    FILE *list = popen("npu-smi info 2>/dev/null", "r");
    while (list && fgets(line, sizeof line, list))
        for (size_t i = 0; !chip[0] && i < sizeof known / sizeof known[0]; i++)
            if (strstr(line, known[i][0])) doctor_text(chip, 32, "%s", known[i][1]);
    if (list) pclose(list);
}

void doctor_check_ops_info(struct doctor *d) {
    char chips[LINE], chip[32], path[2 * PATH], why[LINE], *rest;
    size_t good = 0;
    TEXT(chips, "%s", d->manifest.chips);
    find_chip(chip);
    bool served = !chip[0];
    for (char *soc = strtok_r(chips, " ", &rest); soc; soc = strtok_r(NULL, " ", &rest)) {
        TEXT(path, "%s/op_impl/ai_core/tbe/config/%s/aic-%s-ops-info.json", d->ours->dir, soc, soc);
        served = served || strcmp(soc, chip) == 0;
        if (check_file(d, path, why)) {
            good++;
        } else {
            doctor_say(d, LEVEL_FAIL, "ops-info", INSTALL_AGAIN,
                       "%s %s: GE then drops all its operators", path, why);
        }
    }
    if (good)
        doctor_say(d, LEVEL_OK, "ops-info", NULL, "ops-info obeys GE's rules for %zu chips: %s",
                   good, d->manifest.chips);
    if (!chip[0]) {
        doctor_say(d, LEVEL_WARN, "chip", "run doctor where the NPU is",
                   "npu-smi names no chip that is known here; the package is for %s",
                   d->manifest.chips);
    } else {
        doctor_say(d, served ? LEVEL_OK : LEVEL_FAIL, "chip", "there is no ascgrad for this chip",
                   served ? "this machine has %s; the package is for %s"
                          : "this machine has %s, the package is only for %s",
                   chip, d->manifest.chips);
    }
}

/* Adds to found the types of ours that a file defines. */
static void collect(const struct doctor *d, const char *path, bool found[MAX_OPS]) {
    int line;
    char *text = doctor_read(path, NULL);
    struct json *all = text ? json_parse(text, &line) : NULL;
    for (size_t i = 0; all && i < d->manifest.count; i++)
        found[i] = found[i] || json_get(all, d->manifest.ops[i]);
    json_free(all);
    free(text);
}

/* All JSON files of all our chips below <root>/op_impl/ai_core/tbe/config. */
static void collect_all(const struct doctor *d, const char *root, bool found[MAX_OPS]) {
    char chips[LINE], dir[2 * PATH], path[3 * PATH], *rest;
    TEXT(chips, "%s", d->manifest.chips);
    for (char *soc = strtok_r(chips, " ", &rest); soc; soc = strtok_r(NULL, " ", &rest)) {
        TEXT(dir, "%s/op_impl/ai_core/tbe/config/%s", root, soc);
        DIR *list = opendir(dir);
        for (struct dirent *entry; list && (entry = readdir(list));) {
            const size_t size = strlen(entry->d_name);
            if (size < 5 || strcmp(entry->d_name + size - 5, ".json") != 0) continue;
            TEXT(path, "%s/%s", dir, entry->d_name);
            collect(d, path, found);
        }
        if (list) closedir(list);
    }
}

void doctor_check_duplicates(struct doctor *d) {
    char builtin[PATH + 32], names[LINE], fix[LINE];
    const struct manifest *m = &d->manifest;
    for (size_t i = 0; i < d->packages; i++) {
        const struct package *p = &d->package[i];
        bool found[MAX_OPS] = {false};
        if (strcmp(p->dir, d->ours->dir) == 0) continue;
        collect_all(d, p->dir, found);
        names[0] = 0;
        for (size_t k = 0; k < m->count; k++)
            if (found[k] && doctor_offers(m, m->ops[k]))
                doctor_text(names + strlen(names), sizeof names - strlen(names), " %s", m->ops[k]);
        if (names[0] && p < d->ours) {
            TEXT(fix,
                 p->from_env
                     ? "take %.500s out of ASCEND_CUSTOM_OPP_PATH, or put ascgrad before it"
                     : "sh ascgrad-opp_<version>_linux-<arch>.run    (puts ascgrad before %.200s)",
                 p->dir);
            doctor_say(d, LEVEL_FAIL, "duplicates", fix, "%s comes before ascgrad and also has:%s",
                       p->dir, names);
        } else if (names[0]) {
            doctor_say(d, LEVEL_OK, "duplicates", NULL, "%s also has:%s; ascgrad comes first",
                       p->dir, names);
        }
    }
    bool found[MAX_OPS] = {false};
    TEXT(builtin, "%s/built-in", d->opp);
    if (d->opp[0]) collect_all(d, builtin, found);
    for (size_t k = 0; k < m->count; k++) {
        const bool ours = doctor_offers(m, m->ops[k]);
        if (ours && found[k])
            doctor_say(d, LEVEL_OK, "built-in", NULL,
                       "%s: ascgrad's takes the place of CANN's own (--no-override keeps CANN's)",
                       m->ops[k]);
        if (!ours)
            doctor_say(d, found[k] ? LEVEL_OK : LEVEL_FAIL, "built-in", INSTALL_AGAIN,
                       found[k] ? "%s: left to CANN's own implementation"
                                : "%s was left to CANN, but CANN has none",
                       m->ops[k]);
    }
}
