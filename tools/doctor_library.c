/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens the two host libraries as GE does, in a child process so that a crash is a finding and not
 * an end, and asks them for their operators.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "doctor_parts.h"

#define INSTALL_AGAIN "sh ascgrad-opp_<version>_linux-<arch>.run    (installs over it)"

enum { ROW = 208, MAX_ROWS = 1024, PATIENCE = 30 }; /* bytes of one row of GE's table; seconds */

/* In the child: "!<sentence>" if something is wrong, else the operator types, one per line. */
static void open_library(const char *path, FILE *out) {
    size_t (*count)(void) = NULL, (*ct_count)(void) = NULL;
    int32_t (*functions)(void *, size_t) = NULL;
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        fprintf(out, "!%s", dlerror());
        return;
    }
    static const char *const names[] = {"GetRegisteredOpNum", "GetOpImplFunctions",
                                        "GetRegisteredOpCtNum"};
    for (size_t i = 0; i < 3; i++) {
        void *symbol = dlsym(library, names[i]);
        if (!symbol) {
            fprintf(out, "!no %s in it: GE closes such a library again", names[i]);
            return;
        }
        void *to = i == 0 ? (void *)&count : i == 1 ? (void *)&functions : (void *)&ct_count;
        memcpy(to, &symbol, sizeof symbol); /* a function pointer, by way of bytes */
    }
    const size_t n = count();
    char *table = n && n <= MAX_ROWS ? calloc(n, ROW) : NULL;
    ct_count();
    if (!table || functions(table, n) != 0) {
        fprintf(out, "!it offers %zu operators and no table of them", n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const char *type;
        memcpy(&type, table + i * ROW, sizeof type);
        fprintf(out, "%s\n", type ? type : "?");
    }
    free(table);
}

/* What the child wrote, to be freed; a crash is a sentence too. */
static char *ask(const char *path) {
    int ends[2], status = 0;
    char *answer = calloc(1, 1 << 16);
    if (!answer || pipe(ends) != 0) return answer;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        alarm(PATIENCE);
        FILE *out = fdopen(ends[1], "w");
        if (out) {
            open_library(path, out);
            fflush(out);
        }
        _exit(0); /* no destructors of strange libraries */
    }
    close(ends[1]);
    size_t size = 0;
    ssize_t got;
    while (size < (1 << 16) - 1 && (got = read(ends[0], answer + size, (1 << 16) - 1 - size)) > 0)
        size += (size_t)got;
    close(ends[0]);
    if (child < 0) {
        strcpy(answer, "!cannot start a child process");
    } else if (waitpid(child, &status, 0) == child && WIFSIGNALED(status)) {
        snprintf(answer, 256, "!loading it ended in signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    } else if (WEXITSTATUS(status) != 0) {
        snprintf(answer, 256, "!loading it ended the program with status %d", WEXITSTATUS(status));
    }
    return answer;
}

static const char *fix_for(const struct doctor *d, const char *error) {
    if (strstr(error, "cannot open shared object")) return d->setup;
    if (strstr(error, "GLIBC")) return "build the package on this machine: ./build.sh";
    if (strstr(error, "undefined symbol"))
        return "build it against this CANN: ./build.sh --cann=<CANN>";
    return INSTALL_AGAIN;
}

static bool listed(const char *lines, const char *type) {
    const size_t size = strlen(type);
    for (const char *at = lines; *at; at += strcspn(at, "\n"), at += *at == '\n')
        if (strncmp(at, type, size) == 0 && at[size] == '\n') return true;
    return false;
}

static void check_types(struct doctor *d, const char *name, const char *path, const char *types) {
    const struct manifest *m = &d->manifest;
    size_t offered = 0;
    for (size_t i = 0; i < m->count; i++) {
        const bool want = doctor_offers(m, m->ops[i]), have = listed(types, m->ops[i]);
        offered += have;
        if (want == have) continue;
        doctor_say(d, LEVEL_FAIL, name, INSTALL_AGAIN,
                   have ? "%s offers %s, which was left to CANN: the two would be mixed"
                        : "%s does not offer %s",
                   path, m->ops[i]);
        return;
    }
    doctor_say(d, LEVEL_OK, name, NULL, "%s loads and offers %zu operators", path, offered);
}

static void check_library(struct doctor *d, const char *name, const char *below) {
    char path[2 * PATH];
    TEXT(path, "%s/%s/lib/linux/%s/libcust_%s_rt2.0.so", d->ours->dir, below, d->arch, name);
    if (!doctor_is_file(path)) {
        doctor_say(d, LEVEL_FAIL, name, INSTALL_AGAIN, "%s is missing (the package is for: %s)",
                   path, d->manifest.arches);
        return;
    }
    char *answer = ask(path);
    if (!answer || answer[0] == '!') {
        const char *error = answer ? answer + 1 : "out of memory";
        doctor_say(d, LEVEL_FAIL, name, fix_for(d, error), "%s cannot be used: %s", path, error);
    } else {
        check_types(d, name, path, answer);
    }
    free(answer);
}

void doctor_check_libraries(struct doctor *d) {
    check_library(d, "opsproto", "op_proto");
    check_library(d, "opmaster", "op_impl/ai_core/tbe/op_tiling");
}
