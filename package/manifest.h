/* SPDX-License-Identifier: Apache-2.0
 *
 * package.info: what a package is, what an installation made of it, and every file with its
 * checksum. Lines, in this order:
 *
 *   package=ascgrad-opp               always the first
 *   name=value                        version, format, arch, soc, ops, machine, left_out, made,
 *                                     ...; made= may repeat
 *   kernel TYPE name                  the kernel of an operator type
 *   owner TYPE ge=X aclnn=Y why       who has the type on which road; after an installation
 *   (empty)
 *   SHA256  path                      64 hexadecimal digits, two spaces
 *   link path target
 *   end N                             files and links; since format 2, to notice a cut file
 *
 * Every path is relative and stays below the package: see path_is_plain.
 */
#ifndef ASCGRAD_SETUP_MANIFEST_H
#define ASCGRAD_SETUP_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>

#define MANIFEST_NAME "package.info"

/* The graph pass as it is shipped, and where GE opens whatever it finds. */
#define FUSION_NAME    "libascgrad_fusion.so"
#define FUSION_SHIPPED "fusion/" FUSION_NAME
#define FUSION_ACTIVE  "custom_fusion_passes/" FUSION_NAME

enum { MANIFEST_FORMAT = 2, MAX_TYPES = 64, WHY = 512 };

struct manifest_entry {
    const char *path;
    const char *sum;    /* of a file, else NULL */
    const char *target; /* of a link, else NULL */
};

struct manifest {
    char *text; /* everything below points into it */
    const char *version, *arches, *chips, *ir, *glibc, *mode;
    const char *machine; /* the chips that counted when it was installed, with commas */
    const char *type[MAX_TYPES], *kernel[MAX_TYPES]; /* operator types, and their kernels' names */
    const char *why[MAX_TYPES]; /* they belong to whom they belong; NULL before an installation */
    size_t types;
    const char *left_out; /* types that this installation leaves to CANN, separated by spaces */
    char **made;          /* directories and files that installing had to make, innermost first */
    size_t made_count;
    struct manifest_entry *entry;
    size_t entries;
};

/* Reads the package.info of the package in the open directory. False: m is empty, and why says what
 * is wrong; with an empty why there is none, or it is not ours. */
bool manifest_read(int package, struct manifest *m, char why[WHY]);
void manifest_free(struct manifest *m);

/* Is the type offered by this installation? */
bool manifest_offers(const struct manifest *m, const char *type);
/* The entry of a path, or NULL. */
const struct manifest_entry *manifest_find(const struct manifest *m, const char *path);

#endif
