/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <string.h>

#define CONFIG_MARK "# the lines below are those from before ascgrad was installed"

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

/* One name of a list, without the blanks around it; value goes on behind it. */
static bool next_name(struct line *value, struct line *name) {
    if (!value->size) return false;
    const char *comma = memchr(value->s, ',', value->size);
    *name = (struct line){value->s, comma ? (size_t)(comma - value->s) : value->size};
    value->s += name->size + (comma != NULL);
    value->size -= name->size + (comma != NULL);
    while (name->size && strchr(" \t\r", *name->s))
        name->s++, name->size--;
    while (name->size && strchr(" \t\r", name->s[name->size - 1]))
        name->size--;
    return true;
}

static bool is_word(struct line name, const char *word) {
    return strlen(word) == name.size && memcmp(name.s, word, name.size) == 0;
}

static void add_names(struct line value, const char *without, struct text *names) {
    for (struct line name; next_name(&value, &name);) {
        struct text one = {0};
        text_bytes(&one, name.s, name.size);
        if (name.size && !word_in(text_of(&one), text_of(names), ',') &&
            (!without || !is_word(name, without)))
            text_add(names, "%s%s", names->size ? "," : "", text_of(&one));
        names->failed = names->failed || one.failed;
        text_free(&one);
    }
}

void config_names(const char *content, const char *without, struct text *names) {
    struct line line, value;
    for (const char *at = content; next_line(&at, &line);)
        if (is_priority(line, &value)) add_names(value, without, names);
}

/* The value of a line up to a vendor's name, and behind it and its comma. */
static bool cut_out(struct line value, const char *vendor, struct line *before,
                    struct line *behind) {
    const char *stop = value.s + value.size;
    struct line rest = value;
    for (struct line name; next_name(&rest, &name);) {
        if (!is_word(name, vendor)) continue;
        const char *end = name.s + name.size, *comma = end;
        *before = (struct line){value.s, (size_t)(name.s - value.s)};
        while (comma < stop && (*comma == ' ' || *comma == '\t'))
            comma++;
        if (comma < stop && *comma == ',')
            end = comma + 1;
        else if (before->size && before->s[before->size - 1] == ',')
            before->size--;
        *behind = (struct line){end, (size_t)(stop - end)};
        return true;
    }
    return false;
}

static void add_line(struct text *out, struct line line) {
    text_bytes(out, line.s, line.size);
}

/* A first line that every reader takes, and that names somebody: then another name fits in. */
static bool is_plain(struct line line, struct line *value) {
    struct text names = {0};
    if (!line_after(line, CONFIG_KEY "=", value)) return false;
    add_names(*value, NULL, &names);
    const bool any = names.size > 0;
    text_free(&names);
    return any;
}

bool config_with(const char *content, const char *vendor, struct text *out) {
    struct line line = {"", 0}, value, before, behind;
    const char *at = content;
    next_line(&at, &line);
    if (is_plain(line, &value)) {
        if (memchr(value.s, '=', value.size)) return false;
        const size_t size = strlen(vendor);
        if (value.size >= size && memcmp(value.s, vendor, size) == 0 &&
            (value.size == size || value.s[size] == ',')) {
            text_add(out, "%s", content);
            return true;
        }
        const bool listed = cut_out(value, vendor, &before, &behind);
        struct text others = {0};
        add_names(value, vendor, &others);
        text_add(out, CONFIG_KEY "=%s%s", vendor, others.size ? "," : "");
        if (others.size) add_line(out, listed ? before : value);
        if (others.size && listed) add_line(out, behind);
        text_add(out, "%s", value.s + value.size);
        out->failed = out->failed || others.failed;
        text_free(&others);
        return true;
    }
    struct text names = {0};
    text_add(&names, "%s", vendor);
    for (at = content; next_line(&at, &line);) {
        if (!is_priority(line, &value)) continue;
        add_names(value, vendor, &names); /* GE's engine takes the first such line, and no other */
        break;
    }
    const bool good = !strchr(text_of(&names), '=');
    text_add(out, CONFIG_KEY "=%s\n", text_of(&names));
    if (content) text_add(out, "%s\n%s", CONFIG_MARK, content);
    out->failed = out->failed || names.failed;
    text_free(&names);
    return good;
}

static void add_without(struct text *out, struct line line, const char *vendor) {
    struct line value, before, behind;
    if (!is_priority(line, &value) || !cut_out(value, vendor, &before, &behind)) {
        add_line(out, line);
        return;
    }
    text_bytes(out, line.s, (size_t)(before.s + before.size - line.s));
    add_line(out, behind);
}

void config_without(const char *content, const char *vendor, struct text *out) {
    const char *at = content;
    struct line line, rest;
    if (next_line(&at, &line) &&
        line_after((struct line){at, strlen(at)}, CONFIG_MARK "\n", &rest)) {
        struct text with = {0};
        config_with(rest.s, vendor, &with);
        const bool as_made = strcmp(text_of(&with), content) == 0;
        out->failed = out->failed || with.failed;
        text_free(&with);
        if (as_made) {
            text_add(out, "%s", rest.s);
            return;
        }
    }
    for (at = content; next_line(&at, &line);) {
        const char *end = line.s + line.size;
        add_without(out, line, vendor);
        text_bytes(out, end, (size_t)(at - end));
    }
}

bool config_has_more(const char *content) {
    struct line line, value;
    for (const char *at = content; next_line(&at, &line);)
        if (line.size && !is_priority(line, &value)) return true;
    return false;
}
