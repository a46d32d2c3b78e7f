/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of `ascgrad doctor` share: the report, the packages found, small file helpers.
 */
#ifndef ASCGRAD_TOOLS_DOCTOR_PARTS_H
#define ASCGRAD_TOOLS_DOCTOR_PARTS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum level { LEVEL_OK, LEVEL_WARN, LEVEL_FAIL };
enum { MAX_PACKAGES = 64, MAX_OPS = 64, LINE = 1024, PATH = PATH_MAX };

/* One vendor package in the order in which GE asks them. */
struct package {
    char name[256]; /* what GE takes for the vendor name */
    char dir[PATH];
    bool from_env; /* ASCEND_CUSTOM_OPP_PATH; otherwise config.ini */
};

/* package.info of ours. The pointers are into text. */
struct manifest {
    char *text;
    const char *version, *arches, *chips;
    const char *ops[MAX_OPS];
    size_t count;
    const char *left_out[MAX_OPS];
    size_t left_out_count;
};

struct doctor {
    bool json;
    enum level worst;
    size_t lines;
    char opp[PATH];
    char config[PATH];
    char setup[2 * PATH]; /* the command that makes CANN known to a shell */
    char arch[32];        /* x86_64 or aarch64, as GE sees it */
    struct package package[MAX_PACKAGES];
    size_t packages;
    struct package *ours; /* the one GE uses first */
    struct manifest manifest;
};

/* One line of the report. fix is the command that repairs it, or NULL. check names the line in
 * --json. */
void doctor_say(struct doctor *d, enum level level, const char *check, const char *fix,
                const char *format, ...) __attribute__((format(printf, 5, 6)));

/* printf into a fixed buffer; a text that is too long is cut. */
void doctor_text(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define TEXT(out, ...) doctor_text(out, sizeof(out), __VA_ARGS__)

/* The whole file with a 0 behind it, to be freed; NULL if it cannot be read. */
char *doctor_read(const char *path, size_t *size);
bool doctor_is_dir(const char *path);
bool doctor_is_file(const char *path);
/* A path as a word of the shell. */
const char *doctor_quote(const char *path, char *out, size_t size);
void doctor_sha256(const void *data, size_t size, char hex[65]);

/* doctor_find.c: opp directory, ASCEND_CUSTOM_OPP_PATH, config.ini, which package is ours. */
void doctor_find(struct doctor *d, const char *opp);

/* doctor_package.c: package.info, the files of our package, the way to them, their permissions. */
bool doctor_read_manifest(const char *dir, struct manifest *m); /* false: not ours */
void doctor_check_files(struct doctor *d);
void doctor_check_access(struct doctor *d);

/* doctor_library.c: the two libraries, opened as GE opens them. */
void doctor_check_libraries(struct doctor *d);

/* doctor_opsinfo.c: ops-info for every chip, the chip of this machine, other providers of our
 * types. */
void doctor_check_ops_info(struct doctor *d);
void doctor_check_duplicates(struct doctor *d);
bool doctor_offers(const struct manifest *m, const char *type);

#endif
