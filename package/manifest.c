/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "text.h"

#define FIRST_LINE "package=ascgrad-opp"

/* Splits a value into words, in place. */
static size_t split(char *value, const char *words[MAX_TYPES]) {
    size_t n = 0;
    char *rest;
    for (char *word = strtok_r(value, " ", &rest); word && n < MAX_TYPES;
         word = strtok_r(NULL, " ", &rest))
        words[n++] = word;
    return n;
}

static bool refuse(char why[WHY], int line, const char *what) {
    snprintf(why, WHY, "line %d %s", line, what);
    return false;
}

static bool add_made(struct manifest *m, char *path) {
    char **more = realloc(m->made, (m->made_count + 1) * sizeof *more);
    if (!more) return false;
    m->made = more;
    m->made[m->made_count++] = path;
    return true;
}

/* A line "<name><TYPE> <text>". */
static void about_type(struct manifest *m, char *line, const char *name,
                       const char *texts[MAX_TYPES]) {
    const size_t size = strlen(name);
    char *text = strncmp(line, name, size) == 0 ? strchr(line + size, ' ') : NULL;
    if (!text) return;
    *text++ = 0;
    for (size_t i = 0; i < m->types; i++)
        if (strcmp(m->type[i], line + size) == 0) texts[i] = text;
}

/* A line before the empty one. Unknown ones are left to newer versions. */
static bool read_head(struct manifest *m, char *line, int *format) {
    const struct {
        const char *name;
        const char **value;
    } fields[] = {{"version=", &m->version},   {"arch=", &m->arches},    {"soc=", &m->chips},
                  {"ir_sha256=", &m->ir},      {"glibc=", &m->glibc},    {"mode=", &m->mode},
                  {"left_out=", &m->left_out}, {"machine=", &m->machine}};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        const size_t size = strlen(fields[i].name);
        if (strncmp(line, fields[i].name, size) == 0) *fields[i].value = line + size;
    }
    if (strncmp(line, "format=", 7) == 0) *format = atoi(line + 7);
    if (strncmp(line, "ops=", 4) == 0) m->types = split(line + 4, m->type);
    about_type(m, line, "kernel ", m->kernel);
    about_type(m, line, "owner ", m->why);
    return strncmp(line, "made=", 5) != 0 || add_made(m, line + 5);
}

/* A line behind the empty one: a file or a link. */
static bool read_entry(struct manifest *m, char *line, int number, char why[WHY]) {
    struct manifest_entry *entry = &m->entry[m->entries];
    if (strncmp(line, "link ", 5) == 0) {
        char *target = strchr(line + 5, ' ');
        if (!target) return refuse(why, number, "is a link to nothing");
        *target++ = 0;
        *entry = (struct manifest_entry){.path = line + 5, .target = target};
    } else {
        if (strspn(line, "0123456789abcdef") != 64 || strncmp(line + 64, "  ", 2) != 0)
            return refuse(why, number, "is neither a file, a link nor the end");
        line[64] = 0;
        *entry = (struct manifest_entry){.path = line + 66, .sum = line};
    }
    if (!path_is_plain(entry->path)) {
        snprintf(why, WHY, "line %d names '%.200s', which is not inside the package", number,
                 entry->path);
        return false;
    }
    m->entries++;
    return true;
}

/* Names of types, kernels and chips become parts of paths. */
static bool is_name(const char *word) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    const size_t size = strspn(word, letters);
    return size > 0 && size < 64 && !word[size];
}

static bool check_names(const struct manifest *m, char why[WHY]) {
    const char *bad = NULL;
    char chip[128];
    for (size_t i = 0; i < m->types; i++) {
        if (!is_name(m->type[i])) bad = m->type[i];
        if (m->kernel[i] && !is_name(m->kernel[i])) bad = m->kernel[i];
    }
    for (const char *at = m->chips; !bad && next_word(&at, ' ', chip, sizeof chip);)
        if (!is_name(chip)) bad = chip;
    for (const char *at = m->machine; !bad && next_word(&at, ',', chip, sizeof chip);)
        if (!is_name(chip)) bad = chip;
    if (bad) snprintf(why, WHY, "'%.200s' is no name of an operator type, a kernel or a chip", bad);
    return !bad;
}

static bool read_lines(struct manifest *m, size_t size, char why[WHY]) {
    int number = 0, format = 1;
    bool head = true, ended = false;
    m->entry = calloc(size / 8 + 1, sizeof *m->entry); /* no line of an entry is shorter */
    if (!m->entry) return refuse(why, 1, "finds no memory");
    for (char *line = m->text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        number++;
        if (!next) return refuse(why, number, "is cut short");
        *next++ = 0;
        if (ended) return refuse(why, number, "comes behind the end");
        if (head && !*line) {
            head = false;
        } else if (head) {
            if (!read_head(m, line, &format)) return refuse(why, number, "finds no memory");
        } else if (strncmp(line, "end ", 4) == 0) {
            ended = true;
            if (strtoul(line + 4, NULL, 10) != m->entries)
                return refuse(why, number, "counts other files than there are lines");
        } else if (*line && !read_entry(m, line, number, why)) {
            return false;
        }
    }
    if (format >= 2 && !ended) return refuse(why, number, "is the last one, but not the end");
    if (format < 2 && m->entries == 0) return refuse(why, number, "is the last one, and no file");
    return check_names(m, why);
}

bool manifest_read(int package, struct manifest *m, char why[WHY]) {
    size_t size = 0;
    *m = (struct manifest){0};
    why[0] = 0;
    m->text = file_read(package, MANIFEST_NAME, &size);
    if (!m->text) {
        if (errno != ENOENT)
            snprintf(why, WHY, "%s", errno == EINVAL ? "it is not a file" : strerror(errno));
        return false;
    }
    const size_t first = strlen(FIRST_LINE);
    if (strncmp(m->text, FIRST_LINE "\n", first + 1) != 0) {
        manifest_free(m);
        return false;
    }
    if (strlen(m->text) != size) {
        refuse(why, 1, "or a later one has a zero byte");
        manifest_free(m);
        return false;
    }
    m->version = m->arches = m->chips = m->ir = m->glibc = m->mode = m->left_out = m->machine = "";
    if (read_lines(m, size, why)) return true;
    manifest_free(m);
    return false;
}

void manifest_free(struct manifest *m) {
    free(m->text);
    free(m->made);
    free(m->entry);
    *m = (struct manifest){0};
}

bool manifest_offers(const struct manifest *m, const char *type) {
    bool ours = false;
    for (size_t i = 0; i < m->types; i++)
        ours = ours || strcmp(m->type[i], type) == 0;
    return ours && !word_in(type, m->left_out, ' ');
}

const struct manifest_entry *manifest_find(const struct manifest *m, const char *path) {
    for (size_t i = 0; i < m->entries; i++)
        if (strcmp(m->entry[i].path, path) == 0) return &m->entry[i];
    return NULL;
}
