/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies of the tiling library with lists of chips written into it, as the installer writes them
 * (ge/registry.c), opened and asked for their operators.
 */
#ifndef ASCGRAD_TEST_PATCHED_H
#define ASCGRAD_TEST_PATCHED_H

#include "../../core/ir.h"
#include "../../ge/layout.h"

enum { PATCHED_FIELD = 128, PATCHED_OPS = 16 };

struct patched {
    void *handle;
    struct ge_op_functions table[PATCHED_OPS]; /* in the order of ascgrad_ir_table */
};

/* Reads the library, and makes sure that it has one empty field per type. Ends the program if it
 * has not. */
void patched_original(const char *path);

/* Opens a copy in which `type`, or every type if NULL, has these bytes in its field. */
void patched_open(struct patched *library, const char *type, const char *bytes, size_t size);
void patched_close(struct patched *library);

#endif
