/* SPDX-License-Identifier: Apache-2.0 */
#include "npy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

const char *npy_parse(const unsigned char *file, size_t size, bool bf16,
                      struct ascgrad_tensor *tensor) {
    if (size < 10 || memcmp(file, magic, sizeof magic) != 0) return "this is not a .npy file";
    size_t prefix = file[6] == 1 ? 10 : 12;
    if (file[6] < 1 || file[6] > 3 || size < prefix) return "this .npy version is not known";
    size_t length = file[8] | (size_t)file[9] << 8;
    if (prefix == 12) length |= (size_t)file[10] << 16 | (size_t)file[11] << 24;
    if (length > size - prefix || length > 65535) return "the header is cut off or too long";
    char *header = malloc(length + 1);
    if (!header) return "out of memory";
    memcpy(header, file + prefix, length);
    header[length] = 0;
    const char *order = header_value(header, "fortran_order");
    const char *wrong = parse_type(header_value(header, "descr"), bf16, tensor);
    if (!wrong) wrong = parse_shape(header_value(header, "shape"), tensor);
    if (!wrong && (!order || strncmp(order, "False", 5) != 0))
        wrong = "the array is not in C order";
    free(header);
    if (wrong) return wrong;
    int64_t bytes = text_tensor_bytes(tensor);
    if (bytes < 0) return "the array is larger than 64 bits can say";
    if ((uint64_t)bytes > size - prefix - length) return "the data is cut off";
    if ((uint64_t)bytes < size - prefix - length) return "there is more data than the shape says";
    tensor->data = malloc(bytes ? (size_t)bytes : 1);
    if (!tensor->data) return "out of memory";
    memcpy(tensor->data, file + prefix + length, (size_t)bytes);
    return NULL;
}

/* All of a file, which may be a pipe. */
static const char *read_all(FILE *f, unsigned char **data, size_t *size) {
    size_t capacity = 0;
    for (;;) {
        if (*size == capacity) {
            capacity = capacity ? capacity * 2 : 65536;
            unsigned char *more = realloc(*data, capacity);
            if (!more) return "out of memory";
            *data = more;
        }
        size_t n = fread(*data + *size, 1, capacity - *size, f);
        *size += n;
        if (ferror(f)) return strerror(errno);
        if (n == 0) return NULL;
    }
}

const char *npy_read(const char *path, bool bf16, struct ascgrad_tensor *tensor) {
    FILE *f = fopen(path, "rb");
    if (!f) return strerror(errno);
    unsigned char *file = NULL;
    size_t size = 0;
    const char *wrong = read_all(f, &file, &size);
    if (!wrong) wrong = npy_parse(file, size, bf16, tensor);
    free(file);
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

/* Writes and closes; errno tells why not. */
static bool write_file(FILE *f, const struct ascgrad_tensor *tensor) {
    bool good = write_all(f, tensor);
    int wrong = errno;
    if (fclose(f) != 0)
        good = false;
    else
        errno = wrong;
    return good;
}

/* A new file beside path, under a name that nobody has. */
static FILE *open_beside(const char *path, mode_t mode, char *part, size_t size) {
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;
    for (unsigned n = (unsigned)getpid(), tries = 0; tries < 100; tries++, n += 40503) {
        if ((size_t)snprintf(part, size, "%.*s.ascgrad-%08x", folder, path, n) >= size) {
            errno = ENAMETOOLONG;
            return NULL;
        }
        int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
        if (fd >= 0) return fdopen(fd, "wb");
        if (errno != EEXIST) return NULL;
    }
    return NULL;
}

/* The file is whole or as it was before. */
static const char *replace(const char *path, mode_t mode, const struct ascgrad_tensor *tensor) {
    char part[PATH_MAX];
    FILE *f = open_beside(path, mode, part, sizeof part);
    if (!f) return strerror(errno);
    if (write_file(f, tensor) && rename(part, path) == 0) return NULL;
    const char *wrong = strerror(errno);
    remove(part);
    return wrong;
}

const char *npy_write(const char *path, const struct ascgrad_tensor *tensor) {
    struct stat at;
    if (stat(path, &at) != 0) {
        if (lstat(path, &at) == 0) return "this link leads nowhere";
        return replace(path, 0666, tensor);
    }
    if (S_ISDIR(at.st_mode)) return strerror(EISDIR);
    if (!(at.st_mode & 0222) || access(path, W_OK) != 0) return "this file is read-only";
    if (!S_ISREG(at.st_mode)) { /* a device or a pipe is written to */
        FILE *f = fopen(path, "wb");
        return f && write_file(f, tensor) ? NULL : strerror(errno);
    }
    char *real = realpath(path, NULL); /* a link stays, the file behind it is new */
    const char *wrong = real ? replace(real, at.st_mode & 0777, tensor) : strerror(errno);
    free(real);
    return wrong;
}
