/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <string.h>

const char *config_trouble(const char *line) {
    const size_t key = strlen(CONFIG_KEY);
    const char *equals = strchr(line, '=');
    if (line[0] == '#' || line[0] == ';')
        return "begins with a comment, and GE reads only the first line";
    if (!equals || strncmp(line, CONFIG_KEY, key) != 0) return "does not begin with load_priority=";
    if (strchr(equals + 1, '=')) return "has a second '=', and GE then ignores it";
    if (strchr(line, '\r')) return "ends in a carriage return, which becomes part of the last name";
    if (equals != line + key)
        return line[key + strspn(line + key, " \t")] == '=' ? "has a space before '='"
                                                            : "does not begin with load_priority=";
    if (equals[1] == 0) return "names no vendor";
    return NULL;
}

/* The value of a load_priority line, spaces before the '=' or not. */
static bool is_priority(struct line line, struct line *value) {
    struct line rest;
    while (line.size && (*line.s == ' ' || *line.s == '\t'))
        line.s++, line.size--;
    if (!line_after(line, CONFIG_KEY, &rest)) return false;
    while (rest.size && (*rest.s == ' ' || *rest.s == '\t'))
        rest.s++, rest.size--;
    return line_after(rest, "=", value);
}

void config_names(const char *content, const char *without, struct text *names) {
    struct line line, value;
    for (const char *at = content; next_line(&at, &line);) {
        if (!is_priority(line, &value)) continue;
        while (value.size) {
            const char *comma = memchr(value.s, ',', value.size);
            size_t size = comma ? (size_t)(comma - value.s) : value.size;
            struct text name = {0};
            const char *s = value.s;
            value.s += size + (comma != NULL);
            value.size -= size + (comma != NULL);
            while (size && strchr(" \t\r", *s))
                s++, size--;
            while (size && strchr(" \t\r", s[size - 1]))
                size--;
            text_bytes(&name, s, size);
            if (size && !word_in(text_of(&name), text_of(names), ',') &&
                (!without || strcmp(text_of(&name), without) != 0))
                text_add(names, "%s%s", names->size ? "," : "", text_of(&name));
            names->failed = names->failed || name.failed;
            text_free(&name);
        }
    }
}

bool config_with(const char *content, const char *names, struct text *out) {
    struct line line, value;
    text_add(out, "%s=%s\n", CONFIG_KEY, names);
    for (const char *at = content; next_line(&at, &line);) {
        if (is_priority(line, &value)) continue;
        text_bytes(out, line.s, line.size);
        text_bytes(out, "\n", 1);
    }
    return !strchr(names, '=');
}

bool config_has_more(const char *content) {
    struct line line, value;
    for (const char *at = content; next_line(&at, &line);)
        if (line.size && !is_priority(line, &value)) return true;
    return false;
}
