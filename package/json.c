/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 512 };

struct reader {
    const char *at;
    int line;
};

static struct json *read_value(struct reader *r, int depth);

static void skip_space(struct reader *r) {
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')
        r->line += *r->at++ == '\n';
}

static bool take(struct reader *r, char c) {
    skip_space(r);
    if (*r->at != c) return false;
    r->at++;
    return true;
}

static struct json *new_value(enum json_kind kind) {
    struct json *value = calloc(1, sizeof *value);
    if (value) value->kind = kind;
    return value;
}

/* Names and values in a package are ASCII; \u beyond that becomes '?'. */
static char read_escape(struct reader *r) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char c = *r->at;
    if (!c) return 0;
    r->at++;
    if (c == 'u') {
        char hex[5] = {0};
        for (int i = 0; i < 4; i++) {
            if (!isxdigit((unsigned char)r->at[i])) return 0;
            hex[i] = r->at[i];
        }
        r->at += 4;
        const long code = strtol(hex, NULL, 16);
        return code > 0 && code < 128 ? (char)code : '?';
    }
    const char *found = strchr(from, c);
    return found ? to[found - from] : 0;
}

static char *read_string(struct reader *r) {
    if (!take(r, '"')) return NULL;
    size_t size = 0;
    while (r->at[size] && r->at[size] != '"')
        size += r->at[size] == '\\' && r->at[size + 1] ? 2 : 1;
    char *text = malloc(size + 1), *out = text;
    while (text && *r->at != '"') {
        char c = *r->at;
        if ((unsigned char)c < 0x20) {
            c = 0; /* control characters, the end of the text among them */
        } else {
            r->at++;
            if (c == '\\') c = read_escape(r);
        }
        if (!c) {
            free(text);
            return NULL;
        }
        *out++ = c;
    }
    if (text) {
        *out = 0;
        r->at++;
    }
    return text;
}

static struct json *read_members(struct reader *r, enum json_kind kind, int depth) {
    const char close = kind == JSON_OBJECT ? '}' : ']';
    struct json *value = new_value(kind);
    if (!value || take(r, close)) return value;
    struct json **end = &value->child;
    do {
        char *name = NULL;
        if (kind == JSON_OBJECT && (!(name = read_string(r)) || !take(r, ':'))) {
            free(name);
            json_free(value);
            return NULL;
        }
        struct json *child = read_value(r, depth + 1);
        if (!child) {
            free(name);
            json_free(value);
            return NULL;
        }
        child->name = name;
        *end = child;
        end = &child->next;
    } while (take(r, ','));
    if (take(r, close)) return value;
    json_free(value);
    return NULL;
}

/* true, false, null or a number. */
static struct json *read_word(struct reader *r) {
    const size_t size = strcspn(r->at, " \t\r\n,]}");
    struct json *value = new_value(JSON_NUMBER);
    char *text = value ? strndup(r->at, size) : NULL;
    if (!text) {
        json_free(value);
        return NULL;
    }
    value->text = text;
    r->at += size;
    if (!strcmp(text, "true") || !strcmp(text, "false")) {
        value->kind = JSON_BOOL;
    } else if (!strcmp(text, "null")) {
        value->kind = JSON_NULL;
    } else {
        char *end;
        strtod(text, &end);
        if ((*text != '-' && !isdigit((unsigned char)*text)) || *end) {
            json_free(value);
            return NULL;
        }
    }
    return value;
}

static struct json *read_value(struct reader *r, int depth) {
    if (depth > MAX_DEPTH) return NULL;
    skip_space(r);
    if (take(r, '{')) return read_members(r, JSON_OBJECT, depth);
    if (take(r, '[')) return read_members(r, JSON_ARRAY, depth);
    if (*r->at != '"') return read_word(r);
    char *text = read_string(r);
    struct json *value = text ? new_value(JSON_STRING) : NULL;
    if (value) {
        value->text = text;
    } else {
        free(text);
    }
    return value;
}

struct json *json_parse(const char *text, int *line) {
    static const char mark[] = "\357\273\277"; /* of UTF-8, which CANN's reader skips, too */
    struct reader r = {text + (strncmp(text, mark, 3) == 0 ? 3 : 0), 1};
    struct json *value = read_value(&r, 0);
    skip_space(&r);
    *line = r.line;
    if (value && *r.at == 0) return value;
    json_free(value);
    return NULL;
}

void json_free(struct json *value) {
    while (value) {
        struct json *next = value->next;
        json_free(value->child);
        free(value->name);
        free(value->text);
        free(value);
        value = next;
    }
}

const struct json *json_get(const struct json *object, const char *name) {
    if (!object || object->kind != JSON_OBJECT) return NULL;
    const struct json *child = object->child;
    while (child && strcmp(child->name, name) != 0)
        child = child->next;
    return child;
}

const char *json_string(const struct json *object, const char *name) {
    const struct json *value = json_get(object, name);
    return value && value->kind == JSON_STRING ? value->text : NULL;
}

static void print_string(struct text *out, const char *s) {
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    text_bytes(out, "\"", 1);
    for (; *s; s++) {
        const char *found = strchr(from, *s);
        if (found) {
            text_add(out, "\\%c", to[found - from]);
        } else if ((unsigned char)*s < 0x20 || *s == 0x7f) {
            text_add(out, "\\u%04x", (unsigned)*s);
        } else {
            text_bytes(out, s, 1);
        }
    }
    text_bytes(out, "\"", 1);
}

static void print_value(struct text *out, const struct json *value, int depth) {
    const bool object = value->kind == JSON_OBJECT;
    if (value->kind == JSON_STRING) {
        print_string(out, value->text);
    } else if (!object && value->kind != JSON_ARRAY) {
        text_add(out, "%s", value->text);
    } else {
        text_add(out, object ? "{" : "[");
        for (const struct json *child = value->child; child; child = child->next) {
            text_add(out, "%s\n%*s", child == value->child ? "" : ",", 4 * (depth + 1), "");
            if (object) {
                print_string(out, child->name);
                text_add(out, ": ");
            }
            print_value(out, child, depth + 1);
        }
        if (value->child) text_add(out, "\n%*s", 4 * depth, "");
        text_add(out, object ? "}" : "]");
    }
}

void json_print(struct text *out, const struct json *value) {
    print_value(out, value, 0);
    text_add(out, "\n");
}

void json_drop(struct json *object, const char *name) {
    for (struct json **at = &object->child; *at; at = &(*at)->next) {
        if (strcmp((*at)->name, name) != 0) continue;
        struct json *gone = *at;
        *at = gone->next;
        gone->next = NULL;
        json_free(gone);
        return;
    }
}
