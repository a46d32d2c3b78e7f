/* SPDX-License-Identifier: Apache-2.0
 *
 * A reader for the JSON of attributes.h. It walks over the whole text, checks its form, and
 * remembers the numbers of the one attribute asked for. Nesting is limited, nothing is allocated.
 */
#include "attributes.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 32 };

struct reader {
    const char *at;
    const char *wanted;
    double *values;
    size_t room;
    long found; /* numbers of the attribute asked for, once it is found */
    long count; /* numbers in the object being read */
};

static bool read_value(struct reader *r, int depth, bool numbers);

static void skip_space(struct reader *r) {
    r->at += strspn(r->at, " \t\r\n");
}

static bool take(struct reader *r, char c) {
    skip_space(r);
    if (*r->at != c) return false;
    r->at++;
    return true;
}

/* A string; *start and *size are its text as written, without the quotes. */
static bool read_string(struct reader *r, const char **start, size_t *size) {
    if (!take(r, '"')) return false;
    *start = r->at;
    for (; *r->at != '"'; r->at++) {
        if (*r->at == '\\' && r->at[1] != '\0') r->at++;
        if (*r->at == '\0') return false;
    }
    *size = (size_t)(r->at - *start);
    r->at++;
    return true;
}

static bool text_is(const char *start, size_t size, const char *wanted) {
    return strlen(wanted) == size && memcmp(start, wanted, size) == 0;
}

static bool read_number(struct reader *r, bool keep) {
    char *end;
    double value = strtod(r->at, &end);
    if (end == r->at || !isfinite(value)) return false;
    r->at = end;
    if (!keep) return true;
    if ((size_t)r->count < r->room) r->values[r->count] = value;
    r->count++;
    return true;
}

static bool read_array(struct reader *r, int depth, bool numbers) {
    if (take(r, ']')) return true;
    do {
        if (!read_value(r, depth, numbers)) return false;
    } while (take(r, ','));
    return take(r, ']');
}

static bool is_number(const char *key, size_t size) {
    static const char *const keys[] = {"i", "ints", "f", "floats"};
    for (size_t i = 0; i < 4; i++) {
        if (text_is(key, size, keys[i])) return true;
    }
    return false;
}

/* GE writes the members in the order of their names: i, ints, name. So numbers come before the
 * name is known; they are kept from the first until an object with the right name has closed. */
static bool read_object(struct reader *r, int depth) {
    bool named = false, ours = r->found == ONNX_ABSENT;
    if (ours) r->count = 0;
    if (take(r, '}')) return true;
    do {
        const char *key, *text;
        size_t key_size, size;
        if (!read_string(r, &key, &key_size) || !take(r, ':')) return false;
        skip_space(r);
        bool numbers = ours && is_number(key, key_size);
        if (text_is(key, key_size, "name") && *r->at == '"') {
            if (!read_string(r, &text, &size)) return false;
            named = text_is(text, size, r->wanted);
        } else if (!read_value(r, depth, numbers)) {
            return false;
        }
    } while (take(r, ','));
    if (ours && named && r->found == ONNX_ABSENT) r->found = r->count;
    return take(r, '}');
}

static bool read_value(struct reader *r, int depth, bool numbers) {
    const char *text;
    size_t size;
    if (depth >= DEPTH) return false;
    skip_space(r);
    if (*r->at == '"' && numbers) { /* a float */
        r->at++;
        return read_number(r, true) && take(r, '"');
    }
    if (*r->at == '"') return read_string(r, &text, &size);
    if (take(r, '{')) return read_object(r, depth + 1);
    if (take(r, '[')) return read_array(r, depth + 1, numbers);
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < 3; i++) {
        if (strncmp(r->at, words[i], strlen(words[i])) == 0) {
            r->at += strlen(words[i]);
            return true;
        }
    }
    return read_number(r, numbers);
}

long onnx_attribute(const char *json, const char *name, double *values, size_t room) {
    struct reader r = {
        .at = json, .wanted = name, .values = values, .room = room, .found = ONNX_ABSENT};
    if (!read_value(&r, 0, false)) return ONNX_MALFORMED;
    skip_space(&r);
    return *r.at == '\0' ? r.found : ONNX_MALFORMED;
}
