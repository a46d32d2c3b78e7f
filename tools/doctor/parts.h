/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of `ascgrad doctor` share: the report, the packages found, small file helpers.
 */
#ifndef ASCGRAD_TOOLS_DOCTOR_PARTS_H
#define ASCGRAD_TOOLS_DOCTOR_PARTS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "../../package/manifest.h"
#include "../../package/text.h"

enum level { LEVEL_OK, LEVEL_WARN, LEVEL_FAIL };
enum { MAX_PACKAGES = 64, LINE = 1024, PATH = PATH_MAX };

#define INSTALL       "sh ascgrad-opp_<version>_linux-<arch>.run"
#define INSTALL_AGAIN INSTALL "    (installs over it)"

/* One vendor package in the order in which GE asks them. */
struct package {
    char name[256]; /* what GE takes for the vendor name */
    char dir[PATH];
    int fd;    /* of dir */
    dev_t dev; /* two spellings of a directory are one package */
    ino_t ino;
    bool from_env; /* ASCEND_CUSTOM_OPP_PATH; otherwise config.ini */
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
    struct text chips;  /* of this machine, else those it was installed for, with commas */
    struct text owners; /* who has what: rows of --json, or lines for the reader */
};

/* With all that was found. */
void doctor_free(struct doctor *d);

/* One line of the report. fix is the command that repairs it, or NULL. check names the line in
 * --json. */
void doctor_say(struct doctor *d, enum level level, const char *check, const char *fix,
                const char *format, ...) __attribute__((format(printf, 5, 6)));

/* printf into a fixed buffer; a text that is too long is cut. */
void doctor_text(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define TEXT(out, ...) doctor_text(out, sizeof(out), __VA_ARGS__)

bool doctor_is_dir(const char *path);
bool doctor_is_file(const char *path);
/* A path as a word of the shell. */
const char *doctor_quote(const char *path, char *out, size_t size);
/* The bytes of the character that a text begins with; 0: none that a page, JSON and XML may have.
 */
size_t doctor_utf8(const char *text);
/* Text as a JSON string. What is no such character becomes U+FFFD. */
void doctor_json_text(struct text *out, const char *text);
/* The directory on the way to path, or path itself, that this user may not enter; false if there is
 * none. */
bool doctor_closed(const char *path, char closed[PATH]);

/* find.c: opp directory, ASCEND_CUSTOM_OPP_PATH, config.ini, which package is ours. */
void doctor_find(struct doctor *d, const char *opp);

/* package.c: the files of our package, the way to them, their permissions. */
void doctor_check_files(struct doctor *d);
void doctor_check_access(struct doctor *d);

/* fusion.c: the graph pass, on or off; if on, opened as GE opens it. */
void doctor_check_fusion(struct doctor *d);

/* library.c: the two libraries, opened as GE opens them. */
void doctor_check_libraries(struct doctor *d);
/* Any library: "!<sentence>" if it cannot be used, else its operator types, one per line, each with
 * " tiling" if it has that function; with a manifest, those of its types whose IR the library tells
 * GE. */
void doctor_ask_library(const char *path, const struct manifest *m, struct text *answer);
/* Is the type among them, with tiling, or described? */
bool doctor_tiles(const char *answer, const char *type);
bool doctor_describes(const char *answer, const char *type);

/* opsinfo.c: ops-info for every chip, the chip of this machine. */
void doctor_check_ops_info(struct doctor *d);

/* owners.c: whose kernel meets whose tiling, on both roads. */
void doctor_check_owners(struct doctor *d);

#endif
