/* SPDX-License-Identifier: Apache-2.0
 *
 * The tiling structs as data: which operator registers which struct, and its fields (generated, see
 * fields.awk). Names come from the text of the headers, everything else from the compiler.
 */
#ifndef TWIN_FIELDS_H
#define TWIN_FIELDS_H

#include "ascgrad.h"

#define TYPE_OF(struct_, place) (((struct_ *)0)->place)

/* A member, or an array of them, or a member of a struct in an array: `unit` is what repeats. */
#define FIELD(struct_, member, unit, place, label)                                                 \
    {                                                                                              \
        .name = label, .offset = offsetof(struct_, place), .size = sizeof TYPE_OF(struct_, place), \
        .stride = sizeof TYPE_OF(struct_, unit),                                                   \
        .count = sizeof TYPE_OF(struct_, member) / sizeof TYPE_OF(struct_, unit),                  \
        .is_float = _Generic(TYPE_OF(struct_, place), float                                        \
                             : true, default                                                       \
                             : false),                                                             \
        .is_signed = _Generic(TYPE_OF(struct_, place), int8_t                                      \
                              : true, int16_t                                                      \
                              : true, int32_t                                                      \
                              : true, int64_t                                                      \
                              : true, default                                                      \
                              : false)                                                             \
    }

/* Members follow each other without a gap, so that none can be missing from the list. */
#define END(struct_, member) (offsetof(struct_, member) + sizeof TYPE_OF(struct_, member))
#define FOLLOWS(struct_, member, end)                                                              \
    _Static_assert(offsetof(struct_, member) == (end),                                             \
                   "a field before " #struct_ "." #member " is not listed, or there is padding")

struct tiling_struct {
    const char *kernel; /* "rope_grad"; NULL ends the table */
    size_t size;
    const struct ascgrad_field *field; /* name == NULL ends the list */
};

extern const struct tiling_struct ascgrad_tiling_structs[];

#endif
