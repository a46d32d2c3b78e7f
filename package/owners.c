/* SPDX-License-Identifier: Apache-2.0 */
#include "owners.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"

/* Files of one kind, as they are found. */
struct found {
    struct json ***list;
    size_t *count;
    struct offer *offer;
};

/* What is not there, or is something else, says nothing; what cannot be read may hide anything. */
static void note_trouble(const struct found *f) {
    if (errno != ENOENT && errno != ENOTDIR && errno != EINVAL && !f->offer->trouble)
        f->offer->trouble = errno;
}

/* A file that is listed, and says nothing to us: it may hide anything, too. */
static void note_unread(int dir, const char *name, const char *what, int line,
                        const struct found *f) {
    char self[64], path[PATH_MAX] = "";
    snprintf(self, sizeof self, "/proc/self/fd/%d", dir);
    if (readlink(self, path, sizeof path - 1) < 0) path[0] = 0;
    text_add(&f->offer->unread, "%s/%s %s", path, name, what);
    if (line) text_add(&f->offer->unread, " (line %d)", line);
    text_add(&f->offer->unread, "\n");
    if (f->offer->unread.failed) f->offer->trouble = ENOMEM;
}

static void add_json(int dir, const char *name, const struct found *f) {
    int line = 0;
    size_t size = 0;
    errno = 0;
    char *text = file_read_following(dir, name, &size);
    if (!text && (errno == ENOENT || errno == ENOTDIR || errno == EINVAL || errno == ELOOP)) {
        note_unread(dir, name, errno == EINVAL ? "is not a file" : "is a link to nothing", 0, f);
        return;
    }
    if (!text) note_trouble(f);
    if (!text) return;
    errno = 0;
    struct json *value = strlen(text) == size ? json_parse(text, &line) : NULL;
    free(text);
    if (!value && errno == ENOMEM) {
        note_trouble(f);
    } else if (!value || value->kind != JSON_OBJECT) {
        note_unread(dir, name, "is not a JSON object", line, f);
    } else {
        struct json **more = realloc(*f->list, (*f->count + 1) * sizeof **f->list);
        if (more) {
            *f->list = more;
            more[(*f->count)++] = value;
            return;
        }
        note_trouble(f);
    }
    json_free(value);
}

/* Every JSON file in a directory, and in those inside it: newer CANNs have one a sub-package. */
static void add_all(int at, const char *path, const char *only, int deeper, const struct found *f) {
    const int dir = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int again = dir < 0 ? -1 : fcntl(dir, F_DUPFD_CLOEXEC, 3);
    DIR *names = again < 0 ? NULL : fdopendir(again);
    if (!names) note_trouble(f);
    if (!names && again >= 0) close(again);
    for (struct dirent *entry; names;) {
        errno = 0;
        if (!(entry = readdir(names))) {
            if (errno) note_trouble(f);
            break;
        }
        const size_t size = strlen(entry->d_name);
        if (entry->d_name[0] == '.') continue;
        if (size > 5 && strcmp(entry->d_name + size - 5, ".json") == 0) {
            if (!only || strcmp(entry->d_name, only) == 0) add_json(dir, entry->d_name, f);
        } else if (deeper) {
            add_all(dir, entry->d_name, only, 0, f);
        }
    }
    if (names) closedir(names);
    if (dir >= 0) close(dir);
}

void offer_add(int package, const char *chip, struct offer *offer) {
    char path[PATH_MAX];
    const struct found stores = {&offer->store, &offer->stores, offer};
    const struct found indexes = {&offer->index, &offer->indexes, offer};
    snprintf(path, sizeof path, TBE "/config/%s", chip);
    add_all(package, path, NULL, 1, &stores);
    snprintf(path, sizeof path, TBE "/kernel/config/%s", chip);
    add_all(package, path, "binary_info_config.json", 1, &indexes);
}

void offer_free(struct offer *offer) {
    for (size_t i = 0; i < offer->stores; i++)
        json_free(offer->store[i]);
    for (size_t i = 0; i < offer->indexes; i++)
        json_free(offer->index[i]);
    free(offer->store);
    free(offer->index);
    text_free(&offer->unread);
    *offer = (struct offer){0};
}

static const struct json *find(struct json *const *list, size_t count, const char *type) {
    const struct json *found = NULL;
    for (size_t i = 0; !found && i < count; i++)
        found = json_get(list[i], type);
    return found;
}

const struct json *offer_record(const struct offer *offer, const char *type) {
    return find(offer->store, offer->stores, type);
}

const struct json *offer_binaries(const struct offer *offer, const char *type) {
    return find(offer->index, offer->indexes, type);
}

bool offer_has(const struct offer *offer, const char *type) {
    return offer_record(offer, type) || offer_binaries(offer, type);
}

/* GE's numbers, as they stand in keys. */
struct number {
    const char *name;
    int value;
};

static int number_of(const struct number *list, const char *name, size_t size) {
    for (; list->name; list++)
        if (strlen(list->name) == size && memcmp(list->name, name, size) == 0) return list->value;
    return -1;
}

static const struct number dtypes[] = {
    {"float32", 0}, {"float", 0},   {"float16", 1}, {"int8", 2},      {"int32", 3},
    {"uint8", 4},   {"int16", 6},   {"uint16", 7},  {"uint32", 8},    {"int64", 9},
    {"uint64", 10}, {"double", 11}, {"bool", 12},   {"bfloat16", 27}, {NULL, 0}};
static const struct number formats[] = {{"NCHW", 0},    {"NHWC", 1},        {"ND", 2},
                                        {"NC1HWC0", 3}, {"FRACTAL_NZ", 29}, {NULL, 0}};

/* The entry of a comma list; false behind its end. */
static bool entry_of(const char *list, size_t column, const char **entry, size_t *size) {
    for (; column > 0; column--) {
        list = strchr(list, ',');
        if (!list) return false;
        list++;
    }
    *entry = list;
    *size = strcspn(list, ",");
    return true;
}

/* "/<dtype>,<format>" for every tensor of a column that is not optional. 1: done, 0: there is no
 * such column, -1: why says what has no number. */
static int column_key(const struct json *record, size_t column, struct text *key,
                      struct text *why) {
    static const char *const sides[] = {"input", "output"};
    bool any = false;
    for (size_t side = 0; side < 2; side++) {
        for (int i = 0;; i++) {
            char name[32];
            const char *entry;
            size_t size;
            snprintf(name, sizeof name, "%s%d", sides[side], i);
            const struct json *tensor = json_get(record, name);
            if (!tensor) break;
            const char *kind = json_string(tensor, "paramType");
            const char *dtype = json_string(tensor, "dtype"),
                       *format = json_string(tensor, "format");
            if (kind && strcmp(kind, "optional") == 0) continue;
            if (!dtype || !entry_of(dtype, column, &entry, &size)) return 0;
            const int number = number_of(dtypes, entry, size);
            if (number < 0) {
                text_add(why, "%s of dtype %.*s", name, (int)size, entry);
                return -1;
            }
            int layout = 2;
            if (format && entry_of(format, column, &entry, &size))
                layout = number_of(formats, entry, size);
            if (layout < 0) {
                text_add(why, "%s of format %.*s", name, (int)size, entry);
                return -1;
            }
            text_add(key, "/%d,%d", number, layout);
            any = true;
        }
    }
    return any;
}

bool record_keys(const struct json *record, const char *type, struct text *keys, struct text *why) {
    for (size_t column = 0;; column++) {
        struct text key = {0};
        const int result = column_key(record, column, &key, why);
        if (result == 1)
            for (int d = 0; d < 2; d++)
                for (int p = 0; p < 2; p++)
                    text_add(keys, "%s/d=%d,p=%d%s\n", type, d, p, text_of(&key));
        text_free(&key);
        if (result == 0 && column == 0) text_add(why, "no dtypes in its ops-info");
        if (result != 1) return result == 0 && column > 0;
    }
}

const struct json *binaries_answer(const struct json *binaries, const char *key, size_t size) {
    const struct json *list = json_get(binaries, "binaryList");
    for (const struct json *binary = list ? list->child : NULL; binary; binary = binary->next) {
        const struct json *keys = json_get(binary, "simplifiedKey");
        for (const struct json *one = keys ? keys->child : NULL; one; one = one->next)
            if (one->kind == JSON_STRING && strlen(one->text) == size &&
                memcmp(one->text, key, size) == 0)
                return binary;
    }
    return NULL;
}

static bool is_there(int package, const struct json *binary, const char *field) {
    const char *path = json_string(binary, field);
    char full[PATH_MAX];
    struct stat info;
    if (!path || !path_is_plain(path)) return false;
    return snprintf(full, sizeof full, TBE "/kernel/%s", path) < (int)sizeof full &&
           fstatat(package, full, &info, 0) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
}

void binaries_keys(const struct json *binaries, struct text *keys) {
    const struct json *mode = json_get(binaries, "simplifiedKeyMode");
    const struct json *list = json_get(binaries, "binaryList");
    if (mode && mode->text && strcmp(mode->text, "0") != 0) return;
    for (const struct json *binary = list ? list->child : NULL; binary; binary = binary->next) {
        const struct json *found = json_get(binary, "simplifiedKey");
        for (const struct json *one = found ? found->child : NULL; one; one = one->next)
            if (one->kind == JSON_STRING) text_add(keys, "%s\n", one->text);
    }
}

bool offer_complete(int package, const struct offer *ours, const struct offer *cann,
                    const char *type, struct text *why) {
    const struct json *record = offer_record(ours, type), *theirs = offer_record(cann, type);
    const struct json *binaries = offer_binaries(ours, type);
    struct text keys = {0}, trouble = {0};
    struct line line;
    bool complete = true;
    if (!record || !binaries) {
        text_add(why, "no kernel binaries");
        return false;
    }
    if (!record_keys(record, type, &keys, &trouble) ||
        (theirs && !record_keys(theirs, type, &keys, &trouble))) {
        text_add(why, "CANN has %s", text_of(&trouble));
        complete = false;
    }
    binaries_keys(offer_binaries(cann, type), &keys);
    for (const char *at = text_of(&keys); complete && next_line(&at, &line);) {
        const struct json *binary = binaries_answer(binaries, line.s, line.size);
        complete =
            binary && is_there(package, binary, "binPath") && is_there(package, binary, "jsonPath");
        if (!complete) text_add(why, "no kernel binary for the key %.*s", (int)line.size, line.s);
    }
    text_free(&keys);
    text_free(&trouble);
    return complete;
}
