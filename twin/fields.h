/* SPDX-License-Identifier: Apache-2.0
 *
 * The tiling structs as data: which operator registers which struct, and its fields (generated, see
 * fields.awk).
 */
#ifndef TWIN_FIELDS_H
#define TWIN_FIELDS_H

#include "ascgrad.h"

#define FIELD(struct_, type, name)                                                                 \
    {                                                                                              \
#name, offsetof(struct_, name), sizeof(type), sizeof(((struct_ *)0)->name) / sizeof(type), \
            (type)0.5 != 0                                                                         \
    }

struct tiling_struct {
    const char *kernel; /* "rope_grad"; NULL ends the table */
    size_t size;
    const struct ascgrad_field *field; /* name == NULL ends the list */
};

extern const struct tiling_struct ascgrad_tiling_structs[];

#endif
