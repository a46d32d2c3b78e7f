/* SPDX-License-Identifier: Apache-2.0
 *
 * A zip archive of a few files: issue trackers take it, and every system opens it. Its entries are
 * stored, not compressed: the command is linked with no library for that, and the files are small.
 * Times and modes are fixed, so that the same files give the same archive.
 */
#include <stdio.h>
#include <string.h>

#include "accept.h"

enum { VERSION = 20, UTF8_NAMES = 1 << 11, DAY_ONE = 0x21 /* 1980-01-01 */, UNIX = 3 << 8 };

static uint32_t crc32(const char *data, size_t size) {
    uint32_t crc = ~0u;
    for (size_t i = 0; i < size; i++) {
        crc ^= (unsigned char)data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

static void put(struct text *out, uint64_t value, size_t bytes) {
    char little[8];
    for (size_t i = 0; i < bytes; i++)
        little[i] = (char)(value >> 8 * i);
    text_bytes(out, little, bytes);
}

/* What a local header and the directory both say of a file. */
static void describe(const struct accept_file *file, const char *name, uint32_t crc,
                     struct text *out) {
    put(out, VERSION, 2);
    put(out, UTF8_NAMES, 2);
    put(out, 0, 2); /* stored */
    put(out, 0, 2); /* midnight */
    put(out, DAY_ONE, 2);
    put(out, crc, 4);
    put(out, file->text->size, 4);
    put(out, file->text->size, 4);
    put(out, strlen(name), 2);
    put(out, 0, 2); /* no extra field */
}

void accept_zip(const struct accept_file *file, size_t files, struct text *out) {
    struct text directory = {0};
    char name[128];
    for (size_t i = 0; i < files; i++) {
        const size_t at = out->size;
        const uint32_t crc = crc32(text_of(file[i].text), file[i].text->size);
        snprintf(name, sizeof name, "ascgrad-accept/%s", file[i].name);
        put(out, 0x04034b50, 4);
        describe(&file[i], name, crc, out);
        text_bytes(out, name, strlen(name));
        text_bytes(out, text_of(file[i].text), file[i].text->size);
        put(&directory, 0x02014b50, 4);
        put(&directory, UNIX | VERSION, 2);
        describe(&file[i], name, crc, &directory);
        put(&directory, 0, 2);                       /* no comment */
        put(&directory, 0, 2);                       /* disk */
        put(&directory, 0, 2);                       /* internal attributes */
        put(&directory, (uint64_t)0100644 << 16, 4); /* a plain file that its owner may write */
        put(&directory, at, 4);
        text_bytes(&directory, name, strlen(name));
        if (file[i].text->failed || file[i].text->size > UINT32_MAX / 4) out->failed = true;
    }
    const size_t at = out->size;
    text_bytes(out, text_of(&directory), directory.size);
    put(out, 0x06054b50, 4);
    put(out, 0, 4); /* one disk */
    put(out, files, 2);
    put(out, files, 2);
    put(out, directory.size, 4);
    put(out, at, 4);
    put(out, 0, 2); /* no comment */
    if (directory.failed) out->failed = true;
    text_free(&directory);
}
