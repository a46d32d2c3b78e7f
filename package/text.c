/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_bytes(struct text *text, const void *data, size_t size) {
    if (text->failed || size == 0) return;
    if (text->room - text->size <= size) {
        const size_t room = 2 * text->size + size + 256;
        char *s = realloc(text->s, room);
        if (!s) {
            text->failed = true;
            return;
        }
        text->s = s;
        text->room = room;
    }
    memcpy(text->s + text->size, data, size);
    text->size += size;
    text->s[text->size] = 0;
}

void text_add(struct text *text, const char *format, ...) {
    char *s = NULL;
    va_list args;
    va_start(args, format);
    const int size = vasprintf(&s, format, args);
    va_end(args);
    if (size < 0) {
        text->failed = true;
        return;
    }
    text_bytes(text, s, (size_t)size);
    free(s);
}

void text_free(struct text *text) {
    free(text->s);
    *text = (struct text){0};
}

const char *text_of(const struct text *text) {
    return text->s ? text->s : "";
}

bool next_line(const char **at, struct line *line) {
    if (!*at || !**at) return false;
    line->s = *at;
    line->size = strcspn(*at, "\n");
    *at += line->size + ((*at)[line->size] == '\n');
    return true;
}

bool line_after(struct line line, const char *name, struct line *rest) {
    const size_t size = strlen(name);
    if (line.size < size || memcmp(line.s, name, size) != 0) return false;
    *rest = (struct line){line.s + size, line.size - size};
    return true;
}

bool word_in(const char *word, const char *list, char between) {
    const size_t size = strlen(word);
    for (const char *at = list; size && *at;) {
        const char *end = strchr(at, between);
        const size_t length = end ? (size_t)(end - at) : strlen(at);
        if (length == size && memcmp(at, word, size) == 0) return true;
        at += length + (end != NULL);
    }
    return false;
}

bool next_word(const char **at, char between, char *word, size_t size) {
    while (**at == between)
        ++*at;
    if (!**at) return false;
    const char *end = strchr(*at, between);
    const size_t length = end ? (size_t)(end - *at) : strlen(*at);
    snprintf(word, size, "%.*s", (int)length, *at);
    *at += length;
    return true;
}

void text_quoted(struct text *text, const char *path) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=";
    if (*path && path[strspn(path, plain)] == 0) {
        text_add(text, "%s", path);
        return;
    }
    text_bytes(text, "'", 1);
    for (; *path; path++)
        text_bytes(text, *path == '\'' ? "'\\''" : path, *path == '\'' ? 4 : 1);
    text_bytes(text, "'", 1);
}
