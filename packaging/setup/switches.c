/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes the stage say what was decided. A type that is left to CANN loses its record wherever CANN
 * looks for one (ops-info, TensorFlow's list, the index of kernel binaries) and its switch in our
 * libraries, so that neither our kernel nor our tiling is found. Binaries of a type are complete
 * for a chip or not there. Source and launcher stay: without a record nobody finds them, and
 * compile.sh needs them.
 *
 * scripts/whole/ has the files by type as they were shipped, so that nothing is lost by leaving
 * out.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../package/files.h"
#include "../../package/json.h"
#include "setup.h"

#define WHOLE "scripts/whole"
enum { CHIPS_FIELD = 128 }; /* bytes behind ascgrad-binaries:TYPE=, see ge/registry.c */

static int cannot(const char *what, const char *path) {
    return give_up(FAILED, "cannot %s %s: %s", what, path, strerror(errno));
}

static int replace(struct setup *s, const char *path, const char *data, size_t size) {
    if (file_unlink(s->tree_fd, path) != 0 && errno != ENOENT) return cannot("replace", path);
    if (file_write(s->tree_fd, path, data, size, s->target.file_mode, s->target.dir_mode) != 0)
        return cannot("write", path);
    return DONE;
}

/* The JSON object in a file of the stage, or NULL after saying so. */
static struct json *read_object(int at, const char *path) {
    int line = 0;
    char *text = file_read(at, path, NULL);
    struct json *all = text ? json_parse(text, &line) : NULL;
    free(text);
    if (all && all->kind == JSON_OBJECT) return all;
    json_free(all);
    give_up(FAILED, "%s is not a JSON object (line %d)", path, line);
    return NULL;
}

static int write_object(struct setup *s, const char *path, const struct json *all) {
    struct text out = {0};
    json_print(&out, all);
    errno = ENOMEM;
    const int status = out.failed ? cannot("write", path) : replace(s, path, out.s, out.size);
    text_free(&out);
    return status;
}

static int restore_without(void *context, int at, const char *path, const struct stat *info) {
    struct setup *s = context;
    struct json *all = read_object(at, path);
    (void)info;
    if (!all) return FAILED;
    for (size_t i = 0; i < s->source.types; i++)
        if (s->decision[i].left) json_drop(all, s->source.type[i]);
    const int status = write_object(s, path, all);
    json_free(all);
    return status;
}

static int apply_records(struct setup *s) {
    const int whole = dir_open(s->tree_fd, WHOLE);
    if (whole < 0) return cannot("open", WHOLE);
    const int status = tree_walk(whole, restore_without, s);
    close(whole);
    return status < 0 ? cannot("read", WHOLE) : status;
}

/* Before anything is decided, nothing is left out. */
int switches_forget(struct setup *s) {
    return apply_records(s);
}

/* Removes a file or a directory of the stage, if it is there. */
__attribute__((format(printf, 2, 3))) static int drop(struct setup *s, const char *format, ...) {
    char path[PATH_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(path, sizeof path, format, args);
    va_end(args);
    char *slash = strrchr(path, '/');
    *slash = 0;
    const int dir = dir_open(s->tree_fd, path);
    if (dir < 0) return errno == ENOENT ? DONE : cannot("open", path);
    const int result = tree_remove(dir, slash + 1);
    close(dir);
    return result == 0 ? DONE : cannot("remove", slash + 1);
}

static int drop_chip(struct setup *s, const char *chip) {
    const int status = drop(s, TBE "/kernel/config/%s", chip);
    return status == DONE ? drop(s, TBE "/kernel/%s", chip) : status;
}

/* Takes the types without complete binaries out of the kernels of a chip. */
static int apply_chip(struct setup *s, const char *chip) {
    char path[PATH_MAX];
    struct stat info;
    snprintf(path, sizeof path, TBE "/kernel/config/%s/binary_info_config.json", chip);
    if (file_stat(s->tree_fd, path, &info) != 0)
        return errno == ENOENT ? drop_chip(s, chip) : cannot("look at", path);
    struct json *index = read_object(s->tree_fd, path);
    int status = index ? DONE : FAILED;
    for (size_t i = 0; status == DONE && i < s->source.types; i++) {
        const struct decision *d = &s->decision[i];
        const char *kernel = s->source.kernel[i] ? s->source.kernel[i] : "";
        if (!d->left && word_in(chip, text_of(&d->chips), ',')) continue;
        json_drop(index, s->source.type[i]);
        status = drop(s, TBE "/kernel/%s/%s", chip, kernel);
        if (status == DONE) status = drop(s, TBE "/kernel/config/%s/%s.json", chip, kernel);
    }
    if (status == DONE) status = write_object(s, path, index);
    if (status == DONE && !index->child) status = drop_chip(s, chip);
    json_free(index);
    return status;
}

static int apply_kernels(struct setup *s) {
    struct stat info;
    if (file_stat(s->tree_fd, TBE "/kernel", &info) != 0)
        return errno == ENOENT ? DONE : cannot("look at", TBE "/kernel");
    char chip[64];
    for (const char *at = s->source.chips; next_word(&at, ' ', chip, sizeof chip);)
        if (apply_chip(s, chip) != DONE) return FAILED;
    const int tbe = dir_open(s->tree_fd, TBE);
    if (tbe < 0) return cannot("open", TBE);
    const int kernel = dir_open(tbe, "kernel");
    if (kernel >= 0) {
        tree_prune(kernel);
        close(kernel);
        unlinkat(tbe, "kernel", AT_REMOVEDIR); /* if nothing is left */
    }
    close(tbe);
    return DONE;
}

/* The bytes behind "<name>:<type>=" in a library, or NULL. */
static char *find_switch(char *data, size_t size, const char *name, const char *type, size_t room) {
    char text[128];
    const int length = snprintf(text, sizeof text, "%s:%s=", name, type);
    char *found = memmem(data, size, text, (size_t)length);
    if (!found || (size_t)(data + size - found) < (size_t)length + room) return NULL;
    return found + length;
}

static int apply_library(struct setup *s, const char *path) {
    size_t size = 0;
    char *data = file_read(s->tree_fd, path, &size);
    int status = data ? DONE : cannot("read", path);
    for (size_t i = 0; status == DONE && i < s->source.types; i++) {
        const struct decision *d = &s->decision[i];
        char *offer = find_switch(data, size, "ascgrad-offers", s->source.type[i], 1);
        char *chips = find_switch(data, size, "ascgrad-binaries", s->source.type[i], CHIPS_FIELD);
        if (offer) *offer = d->left ? '0' : '1';
        if (chips && d->chips.size >= CHIPS_FIELD)
            status = give_up(FAILED, "%s has no room for the chips %s", path, text_of(&d->chips));
        else if (chips)
            memcpy(memset(chips, 0, CHIPS_FIELD), text_of(&d->chips), d->left ? 0 : d->chips.size);
        if (!offer || (!chips && strstr(path, "opmaster")))
            status = give_up(FAILED, "%s has no switch for %s", path, s->source.type[i]);
    }
    if (status == DONE) status = replace(s, path, data, size);
    free(data);
    return status;
}

int switches_apply(struct setup *s) {
    int status = apply_records(s);
    if (status == DONE) status = apply_kernels(s);
    for (size_t i = 0; status == DONE && i < s->source.entries; i++) {
        const char *path = s->source.entry[i].path;
        if (s->source.entry[i].sum && strstr(path, "_rt2.0.so")) status = apply_library(s, path);
    }
    return status;
}
