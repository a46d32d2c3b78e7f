/* SPDX-License-Identifier: Apache-2.0
 *
 * `ascgrad doctor`: goes the way GE goes from the environment to our functions, and says at every
 * step what GE would see. GE itself skips what it cannot use with a line in a log, so that a broken
 * installation looks like an unknown operator. The parts are in doctor_*.c.
 */
#include "doctor.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "parts.h"

enum { STATUS_WELL = 0, STATUS_USAGE = 1, STATUS_FAIL = 2 };

size_t doctor_utf8(const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    const size_t size = at[0] < 0x80   ? 1
                        : at[0] < 0xc2 ? 0
                        : at[0] < 0xe0 ? 2
                        : at[0] < 0xf0 ? 3
                                       : 4;
    uint32_t value = size == 1 ? at[0] : at[0] & (0xffu >> (size + 1));
    if (size == 0 || at[0] > 0xf4) return 0;
    for (size_t i = 1; i < size; i++) {
        if ((at[i] & 0xc0) != 0x80) return 0;
        value = value << 6 | (at[i] & 0x3f);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool odd = value < least[size] || (value >= 0xd800 && value < 0xe000) ||
                     value > 0x10ffff || (value & 0xfffe) == 0xfffe ||
                     (value >= 0xfdd0 && value < 0xfdf0) || (value >= 0x7f && value < 0xa0);
    return odd ? 0 : size;
}

void doctor_json_text(struct text *out, const char *text) {
    text_add(out, "\"");
    for (const char *at = text; *at;) {
        const size_t size = doctor_utf8(at);
        if (size == 0) {
            text_add(out, "\\ufffd");
        } else if ((unsigned char)*at < 0x20) {
            text_add(out, "\\u%04x", *at);
        } else {
            if (*at == '"' || *at == '\\') text_add(out, "\\");
            text_bytes(out, at, size);
        }
        at += size ? size : 1;
    }
    text_add(out, "\"");
}

static void print_json_text(const char *text) {
    struct text out = {0};
    doctor_json_text(&out, text);
    fputs(text_of(&out), stdout);
    text_free(&out);
}

void doctor_say(struct doctor *d, enum level level, const char *check, const char *fix,
                const char *format, ...) {
    static const char *const tag[] = {"[OK]  ", "[WARN]", "[FAIL]"};
    static const char *const name[] = {"ok", "warn", "fail"};
    char text[2 * PATH];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (level > d->worst) d->worst = level;
    if (!d->json) {
        printf("%s %s\n", tag[level], text);
        if (fix && level != LEVEL_OK) printf("       fix: %s\n", fix);
        return;
    }
    printf("%s\n    {\"level\": \"%s\", \"check\": \"%s\", \"text\": ", d->lines++ ? "," : "",
           name[level], check);
    print_json_text(text);
    if (fix && level != LEVEL_OK) {
        printf(", \"fix\": ");
        print_json_text(fix);
    }
    putchar('}');
}

void doctor_text(char *out, size_t size, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(out, size, format, args);
    va_end(args);
}

bool doctor_is_dir(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool doctor_is_file(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

const char *doctor_quote(const char *path, char *out, size_t size) {
    struct text quoted = {0};
    text_quoted(&quoted, path);
    doctor_text(out, size, "%s", text_of(&quoted));
    text_free(&quoted);
    return out;
}

bool doctor_closed(const char *path, char closed[PATH]) {
    const size_t size = strlen(path);
    for (size_t n = 1; n <= size; n++) {
        if (path[n] != '/' && path[n] != 0) continue;
        doctor_text(closed, PATH, "%.*s", (int)n, path);
        if (path[n] == 0 && !doctor_is_dir(closed)) return false;
        if (access(closed, X_OK) != 0) return errno == EACCES;
    }
    return false;
}

/* Without the compiler of the toolkit GE finds everything and then cannot build a kernel. */
static void check_toolkit(struct doctor *d) {
    const char *home = getenv("ASCEND_HOME_PATH");
    static const char *const below[] = {"compiler/ccec_compiler/bin", "bin", "ccec_compiler/bin"};
    char at[PATH], list[PATH], *rest;
    for (size_t i = 0; home && *home && i < sizeof below / sizeof below[0]; i++) {
        TEXT(at, "%s/%s/bisheng", home, below[i]);
        if (access(at, X_OK) == 0) {
            doctor_say(d, LEVEL_OK, "compiler", NULL, "kernel compiler: %s", at);
            return;
        }
    }
    TEXT(list, "%s", getenv("PATH") ? getenv("PATH") : "");
    for (char *dir = strtok_r(list, ":", &rest); dir; dir = strtok_r(NULL, ":", &rest)) {
        TEXT(at, "%s/bisheng", dir);
        if (access(at, X_OK) == 0) {
            doctor_say(d, LEVEL_OK, "compiler", NULL, "kernel compiler: %s", at);
            return;
        }
    }
    doctor_say(d, LEVEL_WARN, "compiler", d->setup,
               "no kernel compiler (bisheng) on PATH or below ASCEND_HOME_PATH: GE compiles our "
               "kernels on this machine and needs CANN's toolkit, not only its runtime");
}

static void examine(struct doctor *d, const char *opp) {
    doctor_find(d, opp);
    if (d->ours) {
        doctor_check_files(d);
        doctor_check_access(d);
        doctor_check_libraries(d);
        doctor_check_ops_info(d);
        doctor_check_fusion(d);
        doctor_check_owners(d);
    }
    check_toolkit(d);
}

void doctor_free(struct doctor *d) {
    for (size_t i = 0; i < d->packages; i++)
        close(d->package[i].fd);
    manifest_free(&d->manifest);
    text_free(&d->chips);
    text_free(&d->owners);
    free(d);
}

int ascgrad_doctor(int argc, char **argv) {
    struct doctor *d = calloc(1, sizeof *d);
    const char *opp = NULL;
    if (!d) return STATUS_FAIL;
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            d->json = true;
        } else if (strcmp(argv[i], "--opp") == 0 && i + 1 < argc) {
            opp = argv[++i];
        } else {
            fprintf(stderr,
                    "ascgrad: doctor does not know '%s'; usage: doctor [--opp DIR] [--json]\n",
                    argv[i]);
            doctor_free(d);
            return STATUS_USAGE;
        }
    }
    if (d->json) printf("{\n  \"format\": 1,\n  \"checks\": [");
    examine(d, opp);
    static const char *const verdict[] = {"ok", "warn", "fail"};
    if (d->json) {
        printf("\n  ],\n  \"owners\": [%s\n  ],\n  \"worst\": \"%s\"\n}\n", text_of(&d->owners),
               verdict[d->worst]);
    } else {
        fputs(text_of(&d->owners), stdout);
        printf("%s\n", d->worst == LEVEL_OK     ? "all well"
                       : d->worst == LEVEL_WARN ? "usable, with warnings"
                                                : "not usable: see [FAIL]");
    }
    const int status = d->worst == LEVEL_FAIL ? STATUS_FAIL : STATUS_WELL;
    doctor_free(d);
    return status;
}
