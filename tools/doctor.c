/* SPDX-License-Identifier: Apache-2.0
 *
 * `ascgrad doctor`: goes the way GE goes from the environment to our functions, and says at every
 * step what GE would see. GE itself skips what it cannot use with a line in a log, so that a broken
 * installation looks like an unknown operator. The parts are in doctor_*.c.
 */
#include "doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor_parts.h"

enum { STATUS_WELL = 0, STATUS_USAGE = 1, STATUS_FAIL = 2 };

static void print_json_text(const char *text) {
    putchar('"');
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            printf("\\%c", c);
        } else if (c < 0x20 || c == 0x7f) {
            printf("\\u%04x", c);
        } else {
            putchar(c);
        }
    }
    putchar('"');
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

char *doctor_read(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    struct stat info;
    if (!file) return NULL;
    char *data = NULL;
    if (fstat(fileno(file), &info) == 0 && S_ISREG(info.st_mode)) {
        const size_t want = (size_t)info.st_size;
        data = malloc(want + 1);
        if (data) {
            const size_t got = fread(data, 1, want, file);
            data[got] = 0;
            if (size) *size = got;
        }
    }
    fclose(file);
    return data;
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
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=";
    if (path[strspn(path, plain)] == 0) {
        doctor_text(out, size, "%s", path);
        return out;
    }
    size_t n = 0;
    out[n++] = '\'';
    for (; *path && n + 6 < size; path++) {
        if (*path == '\'') {
            memcpy(out + n, "'\\''", 4);
            n += 4;
        } else {
            out[n++] = *path;
        }
    }
    out[n++] = '\'';
    out[n] = 0;
    return out;
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
        doctor_check_duplicates(d);
    }
    check_toolkit(d);
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
            free(d);
            return STATUS_USAGE;
        }
    }
    if (d->json) printf("{\n  \"checks\": [");
    examine(d, opp);
    static const char *const verdict[] = {"ok", "warn", "fail"};
    if (d->json) {
        printf("\n  ],\n  \"worst\": \"%s\"\n}\n", verdict[d->worst]);
    } else {
        printf("%s\n", d->worst == LEVEL_OK     ? "all well"
                       : d->worst == LEVEL_WARN ? "usable, with warnings"
                                                : "not usable: see [FAIL]");
    }
    const int status = d->worst == LEVEL_FAIL ? STATUS_FAIL : STATUS_WELL;
    free(d->manifest.text);
    free(d);
    return status;
}
