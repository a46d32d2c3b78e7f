/* SPDX-License-Identifier: Apache-2.0
 *
 * ops-info: by this file GE decides that an operator runs on the AI Core with our kernel. One bad
 * record and GE drops the whole file with a line in a log, so every rule of its reader is checked
 * here.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../package/chips.h"
#include "../../package/files.h"
#include "../../package/owners.h"
#include "parts.h"

static bool one_of(const char *word, const char *list) {
    return word && word_in(word, list, ' ');
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
    char launcher[LINE];
    struct stat info;
    if (!file) return doctor_text(why, LINE, "it has no opFile"), false;
    TEXT(launcher, TBE "/%s_impl/dynamic/%.500s.py", d->ours->name, file);
    if (file_stat(d->ours->fd, launcher, &info) != 0 || !S_ISREG(info.st_mode))
        return doctor_text(why, LINE, "%.900s is missing", launcher), false;
    return check_attrs(op, why) && check_flags(op, why);
}

/* The file as it was shipped, with every type that the chip has; NULL if it is not there. */
static struct json *shipped(const struct doctor *d, const char *path) {
    int line;
    char whole[LINE];
    TEXT(whole, "scripts/whole/%s", path);
    char *text = file_read(d->ours->fd, whole, NULL);
    struct json *all = text ? json_parse(text, &line) : NULL;
    free(text);
    return all;
}

static bool check_file(const struct doctor *d, const char *path, char why[LINE]) {
    int line = 0;
    struct json *whole = shipped(d, path);
    char *text = file_read(d->ours->fd, path, NULL), trouble[LINE];
    struct json *all = text ? json_parse(text, &line) : NULL;
    bool good = all && all->kind == JSON_OBJECT;
    if (!text)
        doctor_text(why, LINE, "cannot be read");
    else if (!good)
        doctor_text(why, LINE, "is not JSON: line %d", line);
    for (const struct json *op = good ? all->child : NULL; good && op; op = op->next) {
        if (op->kind != JSON_OBJECT) {
            good = false;
            doctor_text(why, LINE, "%s is not an object", op->name);
        } else if (!check_record(d, op, trouble)) {
            good = false;
            doctor_text(why, LINE, "%.200s: %.700s", op->name, trouble);
        }
    }
    for (size_t i = 0; good && i < d->manifest.types; i++) {
        const char *type = d->manifest.type[i];
        const bool on_chip = !whole || json_get(whole, type);
        if ((json_get(all, type) != NULL) == (on_chip && manifest_offers(&d->manifest, type)))
            continue;
        good = false;
        doctor_text(why, LINE, json_get(all, type) ? "has %s, which was left to CANN" : "has no %s",
                    type);
    }
    free(text);
    json_free(all);
    json_free(whole);
    return good;
}

static void check_chip(struct doctor *d) {
    const char *chips = text_of(&d->chips);
    char chip[64];
    if (!*chips)
        doctor_say(d, LEVEL_WARN, "chip", "run doctor where the NPU is",
                   "npu-smi names no chip that is known here; the package is for %s%s%s",
                   d->manifest.chips, *d->manifest.machine ? ", installed here for " : "",
                   d->manifest.machine);
    while (next_word(&chips, ',', chip, sizeof chip)) {
        const bool served = word_in(chip, d->manifest.chips, ' ');
        doctor_say(d, served ? LEVEL_OK : LEVEL_FAIL, "chip", "there is no ascgrad for this chip",
                   served ? "this machine has %s; the package is for %s"
                          : "this machine has %s, the package is only for %s",
                   chip, d->manifest.chips);
    }
}

/* By these lists TensorFlow's adapter sends operators to the NPU. One that is no JSON is skipped
 * without a word. */
static void check_tensorflow(struct doctor *d) {
    static const char name[] = "framework/tensorflow/npu_supported_ops.json";
    for (size_t i = 0; i < d->packages; i++) {
        const struct package *p = &d->package[i];
        int line = 0;
        char *text = file_read_following(p->fd, name, NULL);
        struct json *all = text ? json_parse(text, &line) : NULL;
        if (text && (!all || all->kind != JSON_OBJECT))
            doctor_say(d, LEVEL_WARN, "tensorflow",
                       p == d->ours ? INSTALL_AGAIN : "ask its maker, or take it out",
                       "%s/%s is not JSON: line %d; TensorFlow then knows none of its operators",
                       p->dir, name, line);
        json_free(all);
        free(text);
    }
}

void doctor_check_ops_info(struct doctor *d) {
    char soc[64], path[LINE], why[LINE];
    size_t good = 0;
    for (const char *at = d->manifest.chips; next_word(&at, ' ', soc, sizeof soc);) {
        TEXT(path, TBE "/config/%s/aic-%s-ops-info.json", soc, soc);
        if (check_file(d, path, why)) {
            good++;
        } else {
            doctor_say(d, LEVEL_FAIL, "ops-info", INSTALL_AGAIN,
                       "%s/%s %s: GE then drops all its operators", d->ours->dir, path, why);
        }
    }
    if (good)
        doctor_say(d, LEVEL_OK, "ops-info", NULL, "ops-info obeys GE's rules for %zu chips: %s",
                   good, d->manifest.chips);
    chips_of_machine(&d->chips);
    check_chip(d);
    if (!d->chips.size) text_add(&d->chips, "%s", d->manifest.machine);
    check_tensorflow(d);
}
