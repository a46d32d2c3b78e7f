/* SPDX-License-Identifier: Apache-2.0 */
#include "out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A new file beside out->path, under a name that nobody has. */
static FILE *open_beside(struct out *out, mode_t mode) {
    const char *slash = strrchr(out->path, '/');
    int folder = slash ? (int)(slash - out->path) + 1 : 0;
    for (unsigned n = (unsigned)getpid(), tries = 0; tries < 100; tries++, n += 40503) {
        if ((size_t)snprintf(out->part, sizeof out->part, "%.*s.ascgrad-%08x", folder, out->path,
                             n) >= sizeof out->part) {
            errno = ENAMETOOLONG;
            break;
        }
        int fd = open(out->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
        if (fd >= 0) return fdopen(fd, "wb");
        if (errno != EEXIST) break;
    }
    out->part[0] = 0;
    return NULL;
}

static const char *set_path(struct out *out, const char *path) {
    if (strlen(path) >= sizeof out->path) return strerror(ENAMETOOLONG);
    strcpy(out->path, path);
    return NULL;
}

const char *out_begin(struct out *out, const char *path, enum out_name name) {
    struct stat at;
    mode_t mode = 0666;
    const char *wrong = NULL;
    *out = (struct out){0};
    const bool link = lstat(path, &at) == 0 && S_ISLNK(at.st_mode);
    if (link && name == OUT_OURS) return "this is a link";
    if (stat(path, &at) != 0) {
        wrong = link ? "this link leads nowhere" : set_path(out, path);
    } else if (S_ISDIR(at.st_mode)) {
        wrong = strerror(EISDIR);
    } else if (!(at.st_mode & 0222) || access(path, W_OK) != 0) {
        wrong = "this file is read-only";
    } else if (!S_ISREG(at.st_mode)) {
        out->file = fopen(path, "wb");
        return out->file ? set_path(out, path) : strerror(errno);
    } else {
        char *real = realpath(path, NULL);
        mode = at.st_mode & 0777;
        wrong = real ? set_path(out, real) : strerror(errno);
        free(real);
    }
    if (wrong) return wrong;
    out->file = open_beside(out, mode);
    return out->file ? NULL : strerror(errno);
}

const char *out_end(struct out *out) {
    FILE *f = out->file;
    bool good = !f || !ferror(f);
    int why = good ? 0 : EIO;
    out->file = NULL;
    if (f && fclose(f) != 0) good = false, why = errno;
    if (good && (!out->part[0] || rename(out->part, out->path) == 0)) return NULL;
    if (good) why = errno;
    out_drop(out);
    return strerror(why);
}

void out_drop(struct out *out) {
    if (out->file) fclose(out->file);
    if (out->part[0]) remove(out->part);
    *out = (struct out){0};
}
