/* SPDX-License-Identifier: Apache-2.0
 *
 * What is private, and how it is taken out of a text: the names of the user and of the host, and
 * paths. Paths that are known (of the environment, the user's home, the working directory, the
 * package, ...) are looked for first, the longest first, as whole strings, because nothing else
 * says where a path with a blank in it ends. What else looks like a path, or lies on this machine,
 * goes too. What is left is UTF-8 without control characters, whatever came in.
 */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "../../package/files.h"
#include "accept.h"
#include "../doctor/parts.h"

extern char **environ;

static void add_clean(struct text *out, const char *text) {
    for (size_t n; *text; text += n ? n : 1) {
        n = doctor_utf8(text);
        if (n)
            text_bytes(out, text, n);
        else
            text_add(out, ACCEPT_ODD);
    }
}

/* ---- what is known */

struct accept_secret {
    char *text, *instead; /* a path's begins with a slash, a name's does not */
    size_t size;
};

static void add_one(struct accept *a, const char *text, const char *instead) {
    const size_t size = strlen(text);
    for (size_t i = 0; i < a->secrets; i++)
        if (strcmp(a->secret[i].text, text) == 0) return;
    struct accept_secret *more = realloc(a->secret, (a->secrets + 1) * sizeof *more);
    if (!more) return;
    a->secret = more;
    more[a->secrets] = (struct accept_secret){strdup(text), strdup(instead), size};
    if (more[a->secrets].text && more[a->secrets].instead) a->secrets++;
}

/* A text as it is, as JSON gives it back, and as a word of the shell. */
static void add_forms(struct accept *a, const char *text, const char *instead) {
    struct text clean = {0}, quoted = {0};
    add_one(a, text, instead);
    add_clean(&clean, text);
    add_one(a, text_of(&clean), instead);
    text_quoted(&quoted, text);
    if (quoted.size > 2 && quoted.s[0] == '\'') {
        quoted.s[quoted.size - 1] = 0;
        add_one(a, quoted.s + 1, instead);
    }
    text_free(&clean);
    text_free(&quoted);
}

static void add_name(struct accept *a, const char *name) {
    static const char *const public[] = {"root", "localhost", "(none)", "ascgrad", "customize"};
    for (size_t i = 0; i < sizeof public / sizeof public[0]; i++)
        if (!name || strcasecmp(name, public[i]) == 0) return;
    if (strlen(name) > 1 && !strchr(name, '/')) add_forms(a, name, "<name>");
}

/* A path, where its links lead, and the folders on the way that are not everybody's. */
static void add_path(struct accept *a, const char *path, const char *instead) {
    char real[PATH_MAX], part[PATH_MAX];
    if (!path || path[0] != '/' || strlen(path) >= sizeof part) return;
    const char *const form[] = {path, realpath(path, real) ? real : path};
    for (size_t i = 0; i < 2; i++) {
        TEXT(part, "%s", form[i]);
        for (const char *with = instead;; with = "<path>") {
            size_t n = strlen(part);
            while (n > 1 && part[n - 1] == '/')
                part[--n] = 0;
            char *last = strrchr(part, '/');
            if (last == part) break; /* of the root's own folders "/..." is looked for anyway */
            add_forms(a, part, with);
            *last = 0;
        }
    }
}

static int by_length(const void *x, const void *y) {
    const struct accept_secret *a = x, *b = y;
    return (a->size < b->size) - (a->size > b->size);
}

/* Name, full name and home of a user: getent knows those of the network, too. */
static void add_user(struct accept *a, uid_t uid) {
    char number[16], field[7][256] = {""};
    int status;
    TEXT(number, "%u", (unsigned)uid);
    const char *const argv[] = {"getent", "passwd", number, NULL};
    char *text = accept_output_of(argv, 10, &status);
    if (status != 0 || !text) {
        free(text);
        text = file_read_following(AT_FDCWD, "/etc/passwd", NULL);
    }
    struct line line;
    for (const char *at = text ? text : ""; next_line(&at, &line);) {
        char whole[1024];
        TEXT(whole, "%.*s", (int)line.size, line.s);
        const char *rest = whole;
        for (size_t i = 0; i < 7 && next_word(&rest, ':', field[i], sizeof field[i]); i++)
            continue;
        if (strcmp(field[2], number) != 0) continue;
        add_name(a, field[0]);
        field[4][strcspn(field[4], ",")] = 0;
        add_name(a, field[4]);
        add_path(a, field[5], "<path>");
    }
    free(text);
}

static void add_host(struct accept *a, const char *name) {
    char label[256];
    if (!name) return;
    TEXT(label, "%.*s", (int)strcspn(name, "\n"), name);
    add_name(a, label);
    label[strcspn(label, ".")] = 0;
    add_name(a, label);
}

void accept_learn(struct accept *a) {
    static const char *const user[] = {"USER", "LOGNAME", "USERNAME", "SUDO_USER"};
    struct utsname host = {.nodename = ""};
    char word[PATH_MAX];
    add_path(a, a->opp, "<opp>");
    add_path(a, a->package, "<package>");
    add_path(a, a->bin, "<path>");
    add_path(a, a->from, "<path>");
    add_path(a, a->scratch, "<path>");
    /* GE calls a package by the name of its folder */
    const char *custom = getenv("ASCEND_CUSTOM_OPP_PATH");
    while (custom && next_word(&custom, ':', word, sizeof word))
        if (strrchr(word, '/')) add_name(a, strrchr(word, '/') + 1);
    for (char **e = environ; *e; e++)
        for (const char *at = strchr(*e, '=') ? strchr(*e, '=') + 1 : "";
             next_word(&at, ':', word, sizeof word);)
            add_path(a, word, "<path>");
    for (size_t i = 0; i < sizeof user / sizeof user[0]; i++)
        add_name(a, getenv(user[i]));
    add_user(a, getuid());
    if (geteuid() != getuid()) add_user(a, geteuid());
    uname(&host);
    char *file = file_read_following(AT_FDCWD, "/etc/hostname", NULL);
    add_host(a, host.nodename);
    add_host(a, file);
    add_host(a, getenv("HOSTNAME"));
    free(file);
    qsort(a->secret, a->secrets, sizeof *a->secret, by_length);
}

void accept_forget(struct accept *a) {
    for (size_t i = 0; i < a->secrets; i++) {
        free(a->secret[i].text);
        free(a->secret[i].instead);
    }
    free(a->secret);
    a->secret = NULL;
    a->secrets = 0;
}

/* ---- what is taken out */

static bool letter(char c) {
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

static bool ends_path(const char *at) {
    if (!*at) return true;
    /* o'brien goes on */
    if (*at == '\'' && letter(at[-1]) && letter(at[1])) return false;
    return strchr(" \t\n\r'\"`:,;)]}<>|", *at) != NULL;
}

static bool exists(const char *path, size_t size) {
    char copy[PATH_MAX];
    struct stat st;
    if (size >= sizeof copy) return false;
    memcpy(copy, path, size);
    copy[size] = 0;
    return lstat(copy, &st) == 0;
}

/* A path that is known begins here, or the text ends within it. */
static const struct accept_secret *known_path(const struct accept *a, const char *at) {
    for (size_t i = 0; i < a->secrets; i++) {
        const struct accept_secret *s = &a->secret[i];
        if (s->text[0] != '/') continue;
        const bool whole = strncmp(at, s->text, s->size) == 0 &&
                           (at[s->size] == '/' || ends_path(at + s->size) ||
                            (at[s->size] == '.' && ends_path(at + s->size + 1)));
        const size_t n = strlen(at);
        if (whole || (n < s->size && n > 1 && strncmp(at, s->text, n) == 0)) return s;
    }
    return NULL;
}

/* Does a path begin at this slash? Behind a letter only in an option (-I/usr/include), or if there
 * is such a folder; of folders that a package has, too, only if the next one is there as well:
 * "op_api/lib/x" has no path in it. */
static bool begins_path(const char *from, const char *at) {
    if (at[1] == 0 || at[1] == '/' || (ends_path(at + 1) && at[1] != '\'')) return false;
    const char *word = at;
    while (word > from && word[-1] == '/')
        word--;
    if (word == from || !(letter(word[-1]) || strchr("_-.", word[-1]))) return true;
    while (word > from && !ends_path(word - 1) && word[-1] != '=')
        word--;
    const size_t first = 1 + strcspn(at + 1, "/ ");
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)first - 1, at + 1);
    return *word == '-' || (at[first] == '/' && exists(at, first) &&
                            (!word_in(name, "bin include lib lib64 scripts share", ' ') ||
                             exists(at, first + 1 + strcspn(at + first + 1, "/ \t\n'\":,;"))));
}

/* The bytes of the path that begins here, known bytes of it and more. */
static size_t path_size(const char *at, size_t known) {
    size_t n = known ? known : 1;
    /* as far as it is there: blanks and all */
    for (size_t end = n; at[end - 1] && end < PATH_MAX; end++)
        if ((ends_path(at + end) || at[end] == '\'') && exists(at, end)) n = end;
    for (;;) {
        while (!ends_path(at + n))
            n++;
        /* "/home/John Smith/x": a word with a slash behind a blank goes with it */
        const size_t word = strspn(at + n, " ");
        const size_t slash = word ? strcspn(at + n + word, "/ \t\n'\"`:,;)]}<>|") : 0;
        if (word != 1 || !slash || at[n + word + slash] != '/' || !letter(at[n + word])) return n;
        n += word + slash;
    }
}

/* The bytes of the name that stands here, or 0; of a host's, the rest of its domain, too. */
static size_t name_size(const struct accept *a, const char *from, const char *at) {
    if (at > from && isalnum((unsigned char)at[-1])) return 0;
    for (size_t i = 0; i < a->secrets; i++) {
        const struct accept_secret *s = &a->secret[i];
        if (s->text[0] == '/' || strncasecmp(at, s->text, s->size) != 0 ||
            isalnum((unsigned char)at[s->size]))
            continue;
        size_t n = s->size;
        while (at[n] == '.' && isalpha((unsigned char)at[n + 1]))
            for (n++; isalnum((unsigned char)at[n]) || at[n] == '-';)
                n++;
        return n;
    }
    return 0;
}

void accept_scrub(const struct accept *a, const char *from, char *to, size_t size) {
    char *const end = to + size - 1;
    const char *open = from; /* no path begins before: what lies in the opp may be told */
    for (const char *at = from; *at;) {
        const struct accept_secret *known = *at == '/' && at >= open ? known_path(a, at) : NULL;
        const char *instead = "<name>";
        size_t skip = 0, put;
        if (known && strcmp(known->instead, "<path>") != 0 && strlen(at) >= known->size) {
            instead = known->instead;
            skip = known->size;
            open = at + path_size(at, skip);
        } else if (known || (*at == '/' && at >= open && begins_path(from, at))) {
            instead = "<path>";
            skip = path_size(at, known ? strnlen(at, known->size) : 0);
        } else {
            skip = name_size(a, from, at);
        }
        if (!skip) {
            const size_t n = doctor_utf8(at);
            instead = n == 0 ? ACCEPT_ODD : iscntrl((unsigned char)*at) ? " " : at;
            put = n == 0 ? strlen(ACCEPT_ODD) : n;
            skip = n ? n : 1;
        } else {
            put = strlen(instead);
        }
        if (put > (size_t)(end - to)) break; /* whole characters only */
        memcpy(to, instead, put);
        to += put;
        at += skip;
    }
    *to = 0;
}
