/* SPDX-License-Identifier: Apache-2.0
 *
 * A tar archive (POSIX ustar) of a few files. Not compressed: the command is linked with no library
 * for that, the files are small, and whoever attaches the archive to an issue may gzip it. Times,
 * owners and modes are fixed, so that the same files give the same archive.
 */
#include <stdio.h>
#include <string.h>

#include "accept.h"

enum { BLOCK = 512 };

static void header(const struct accept_file *file, struct text *out) {
    char block[BLOCK] = {0};
    snprintf(block, 100, "ascgrad-accept/%s", file->name);
    snprintf(block + 100, 8, "%07o", 0644);
    snprintf(block + 108, 8, "%07o", 0);
    snprintf(block + 116, 8, "%07o", 0);
    snprintf(block + 124, 12, "%011llo", (unsigned long long)file->text->size);
    snprintf(block + 136, 12, "%011o", 0);
    memset(block + 148, ' ', 8); /* the sum is taken with blanks in its place */
    block[156] = '0';
    memcpy(block + 257,
           "ustar\0"
           "00",
           8);
    unsigned sum = 0;
    for (size_t i = 0; i < BLOCK; i++)
        sum += (unsigned char)block[i];
    snprintf(block + 148, 8, "%06o", sum);
    text_bytes(out, block, BLOCK);
}

void accept_tar(const struct accept_file *file, size_t files, struct text *out) {
    static const char zeros[2 * BLOCK];
    for (size_t i = 0; i < files; i++) {
        const size_t rest = file[i].text->size % BLOCK;
        header(&file[i], out);
        text_bytes(out, text_of(file[i].text), file[i].text->size);
        if (rest) text_bytes(out, zeros, BLOCK - rest);
        if (file[i].text->failed) out->failed = true;
    }
    text_bytes(out, zeros, sizeof zeros);
}
