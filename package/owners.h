/* SPDX-License-Identifier: Apache-2.0
 *
 * The rule: kernel and tiling of an operator type have one owner. CANN runs a type on two roads. A
 * GE graph takes the kernel from the package whose ops-info was chosen; aclnn takes it from the
 * index of kernel binaries, package by package, key by key. Both take tiling from one registry,
 * custom packages first. So a type that CANN has may be ours only where our binaries answer every
 * key that CANN's would: otherwise CANN's kernel would be launched with our tiling.
 *
 * Here is what both the installer and doctor need to decide and to see that.
 */
#ifndef ASCGRAD_SETUP_OWNERS_H
#define ASCGRAD_SETUP_OWNERS_H

#include <stdbool.h>
#include <stddef.h>

#include "json.h"
#include "text.h"

#define TBE "op_impl/ai_core/tbe"

/* What a package, or CANN's built-in directory, says about one chip. */
struct offer {
    struct json **store; /* its ops-info files */
    size_t stores;
    struct json **index; /* its indexes of kernel binaries: CANN may have one per sub-package */
    size_t indexes;
    int trouble;        /* errno of a file or directory that is there but could not be read, or 0 */
    struct text unread; /* what was read but is no JSON object, a line each with its place */
};

/* Adds what <package>/op_impl/ai_core/tbe has for the chip. */
void offer_add(int package, const char *chip, struct offer *offer);
void offer_free(struct offer *offer);

const struct json *offer_record(const struct offer *offer, const char *type);
/* The entry of a type in an index: of the index that has it. */
const struct json *offer_binaries(const struct offer *offer, const char *type);
bool offer_has(const struct offer *offer, const char *type); /* on either road */

/* What a type's entry in an index answers: the keys, one a line, if they are of the kind that ours
 * are (simplifiedKeyMode 0); the binary for one key, or NULL. No entry answers nothing. */
void binaries_keys(const struct json *binaries, struct text *keys);
const struct json *binaries_answer(const struct json *binaries, const char *key, size_t size);

/* The keys that a record asks for: every column, deterministic 0 and 1, precision 0 and 1, one a
 * line. False: a dtype or format that has no number here; why names it. */
bool record_keys(const struct json *record, const char *type, struct text *keys, struct text *why);

/* Does `ours` answer every key that our own record, CANN's record and CANN's index have for the
 * type? If not, why says which one is missing. The files behind the keys are looked for below
 * `package`, an open directory. */
bool offer_complete(int package, const struct offer *ours, const struct offer *cann,
                    const char *type, struct text *why);

#endif
