/* SPDX-License-Identifier: Apache-2.0 */
#include "npy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../out.h"
#include "request.h"

static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

/* The value of a key in the header's dictionary: the text behind "'key':", or NULL. */
static const char *header_value(const char *header, const char *key) {
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s'", key);
    const char *at = strstr(header, quoted);
    if (!at) return NULL;
    at += strlen(quoted);
    while (*at == ' ')
        at++;
    if (*at != ':') return NULL;
    at++;
    while (*at == ' ')
        at++;
    return at;
}

static const char *parse_shape(const char *at, struct ascgrad_tensor *tensor) {
    if (!at || *at != '(') return "the header has no shape";
    at++;
    tensor->rank = 0;
    for (;;) {
        while (*at == ' ' || *at == ',')
            at++;
        if (*at == ')') return NULL;
        if (*at < '0' || *at > '9') return "the shape in the header is not a list of numbers";
        if (tensor->rank == 25) return "the array has more than 25 axes";
        errno = 0;
        char *end;
        long long dim = strtoll(at, &end, 10);
        if (errno) return "a dimension in the header does not fit 64 bits";
        tensor->dim[tensor->rank++] = dim;
        at = end;
    }
}

static const char *parse_type(const char *at, bool bf16, struct ascgrad_tensor *tensor) {
    if (!at) return "the header has no descr";
    if (bf16) {
        if (strncmp(at, "'<u2'", 5) != 0) return "bf16 data must be stored as <u2";
        tensor->dtype = ASCGRAD_TYPE_BF16;
        return NULL;
    }
    if (strncmp(at, "'<f4'", 5) == 0)
        tensor->dtype = ASCGRAD_TYPE_FP32;
    else if (strncmp(at, "'<f2'", 5) == 0)
        tensor->dtype = ASCGRAD_TYPE_FP16;
    else if (strncmp(at, "'<u2'", 5) == 0)
        return "<u2 data needs the suffix :bf16";
    else
        return "only <f4, <f2 and (with :bf16) <u2 are known";
    return NULL;
}

/* What stands before the data: dtype and shape. */
static const char *read_header(FILE *f, bool bf16, struct ascgrad_tensor *tensor) {
    unsigned char prefix[12];
    if (fread(prefix, 1, 10, f) != 10 || memcmp(prefix, magic, sizeof magic) != 0)
        return "this is not a .npy file";
    if (prefix[6] < 1 || prefix[6] > 3 || (prefix[6] > 1 && fread(prefix + 10, 1, 2, f) != 2))
        return "this .npy version is not known";
    size_t length = prefix[8] | (size_t)prefix[9] << 8;
    if (prefix[6] > 1) length |= (size_t)prefix[10] << 16 | (size_t)prefix[11] << 24;
    if (length > 65535) return "the header is cut off or too long";
    char *header = malloc(length + 1);
    if (!header) return "out of memory";
    const bool whole = fread(header, 1, length, f) == length;
    header[length] = 0;
    const char *order = header_value(header, "fortran_order");
    const char *wrong = whole ? parse_type(header_value(header, "descr"), bf16, tensor)
                              : "the header is cut off or too long";
    if (!wrong) wrong = parse_shape(header_value(header, "shape"), tensor);
    if (!wrong && (!order || strncmp(order, "False", 5) != 0))
        wrong = "the array is not in C order";
    free(header);
    return wrong;
}

/* As many bytes, and then the end. Room is made for what a file has, and for more of a pipe as it
 * comes: a header may promise anything. */
static const char *read_data(FILE *f, uint64_t most, struct ascgrad_tensor *tensor) {
    const int64_t bytes = text_tensor_bytes(tensor);
    if (bytes < 0) return "the array is larger than 64 bits can say";
    if ((uint64_t)bytes > most) return "the data is cut off";
    unsigned char *data = NULL;
    for (size_t got = 0, room = most < UINT64_MAX ? (size_t)bytes : 1 << 20;; room *= 2) {
        if (room > (size_t)bytes) room = (size_t)bytes;
        unsigned char *more = realloc(data, room ? room : 1);
        const char *wrong = more ? NULL : "out of memory";
        if (more) data = more;
        if (!wrong) got += fread(data + got, 1, room - got, f);
        if (ferror(f)) wrong = strerror(errno);
        if (!wrong && got < room) wrong = "the data is cut off";
        if (!wrong && got == (size_t)bytes && fgetc(f) != EOF)
            wrong = "there is more data than the shape says";
        if (wrong) free(data);
        if (!wrong && got == (size_t)bytes) tensor->data = data;
        if (wrong || got == (size_t)bytes) return wrong;
    }
}

const char *npy_parse(const unsigned char *file, size_t size, bool bf16,
                      struct ascgrad_tensor *tensor) {
    FILE *f = size ? fmemopen((void *)file, size, "rb") : NULL;
    if (!f) return size ? strerror(errno) : "this is not a .npy file";
    const char *wrong = read_header(f, bf16, tensor);
    if (!wrong) wrong = read_data(f, size, tensor);
    fclose(f);
    return wrong;
}

const char *npy_read(const char *path, bool bf16, struct ascgrad_tensor *tensor) {
    struct stat at;
    FILE *f = fopen(path, "rb");
    if (!f) return strerror(errno);
    const bool file = fstat(fileno(f), &at) == 0 && S_ISREG(at.st_mode);
    const char *wrong = read_header(f, bf16, tensor);
    if (wrong && ferror(f)) wrong = strerror(errno);
    if (!wrong) wrong = read_data(f, file ? (uint64_t)at.st_size : UINT64_MAX, tensor);
    fclose(f);
    return wrong;
}

static int write_all(FILE *f, const struct ascgrad_tensor *t) {
    char shape[25 * 22 + 4];
    size_t n = 0;
    for (int i = 0; i < t->rank; i++)
        n += (size_t)snprintf(shape + n, sizeof shape - n, "%lld, ", (long long)t->dim[i]);
    if (n > 2) n -= t->rank == 1 ? 1 : 2; /* (5,) but (5, 6) */
    shape[n] = 0;
    const char *descr = t->dtype == ASCGRAD_TYPE_FP32   ? "<f4"
                        : t->dtype == ASCGRAD_TYPE_FP16 ? "<f2"
                                                        : "<u2";
    char header[1024];
    int length = snprintf(header, sizeof header,
                          "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape);
    int padded = (10 + length + 1 + 63) / 64 * 64 - 10;
    unsigned char prefix[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    prefix[8] = (unsigned char)(padded & 255);
    prefix[9] = (unsigned char)(padded >> 8);
    size_t bytes = (size_t)text_tensor_bytes(t);
    return fwrite(prefix, 1, 10, f) == 10 &&
           fprintf(f, "%s%*s\n", header, padded - length - 1, "") == padded &&
           (bytes == 0 || fwrite(t->data, 1, bytes, f) == bytes);
}

const char *npy_write(const char *path, const struct ascgrad_tensor *tensor) {
    struct out out;
    const char *wrong = out_begin(&out, path, OUT_GIVEN);
    if (wrong) return wrong;
    if (write_all(out.file, tensor)) return out_end(&out);
    wrong = strerror(errno);
    out_drop(&out);
    return wrong;
}
