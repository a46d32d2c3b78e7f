/* SPDX-License-Identifier: Apache-2.0
 *
 * NumPy .npy files: C order, little endian, <f4, <f2 and <u2 (the bits of bf16).
 */
#ifndef ASCGRAD_TOOLS_NPY_H
#define ASCGRAD_TOOLS_NPY_H

#include "../../twin/ascgrad.h"

/* Reads the file into a tensor; data is allocated with malloc. With bf16 the file must be <u2.
 * Returns NULL, or a sentence without the file's name. */
const char *npy_read(const char *path, bool bf16, struct ascgrad_tensor *tensor);

/* The same for a file already in memory; data is copied. */
const char *npy_parse(const unsigned char *file, size_t size, bool bf16,
                      struct ascgrad_tensor *tensor);

/* Writes the file whole or not at all, as out.h has it. NULL or a sentence. */
const char *npy_write(const char *path, const struct ascgrad_tensor *tensor);

#endif
