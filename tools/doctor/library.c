/* SPDX-License-Identifier: Apache-2.0
 *
 * Has the two host libraries opened as GE opens them, and asked for their operators, by a program
 * of its own (probe.c): a crash is a finding then and not an end, and this one needs no loader.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../package/owners.h"
#include "parts.h"

enum { PATIENCE = 30 }; /* seconds */

/* probe lies beside this program. */
static bool find_probe(char probe[PATH]) {
    char self[PATH];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0) return false;
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    doctor_text(probe, PATH, "%s/probe", self);
    return true;
}

/* In the child. */
static void become_probe(const char *library, const struct manifest *m, int out) {
    char probe[PATH] = "probe", *words[2 + MAX_TYPES + 1] = {probe, (char *)library};
    for (size_t i = 0; m && i < m->types; i++)
        words[2 + i] = (char *)m->type[i];
    alarm(PATIENCE);
    if (dup2(out, STDOUT_FILENO) < 0) _exit(1);
    if (out != STDOUT_FILENO) close(out);
    if (find_probe(probe)) execv(probe, words);
    printf("!it was not opened, because %s cannot be run: %s", probe, strerror(errno));
    fflush(stdout);
    _exit(0);
}

/* The machine that a library is for, if it is not `arch`; else NULL. dlopen says of such a file
 * that it is not there. */
static const char *foreign(const char *path, const char *arch) {
    unsigned char head[20] = {0};
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const bool elf =
        fd >= 0 && read(fd, head, sizeof head) == sizeof head && memcmp(head, "\177ELF", 4) == 0;
    if (fd >= 0) close(fd);
    const int machine = head[18] | head[19] << 8;
    const char *name = machine == EM_X86_64    ? "x86_64"
                       : machine == EM_AARCH64 ? "aarch64"
                                               : "another machine";
    return elf && strcmp(name, arch) != 0 ? name : NULL;
}

void doctor_ask_library(const char *path, const struct manifest *m, struct text *answer) {
    int ends[2], status = 0;
    char part[4096];
    if (pipe(ends) != 0) {
        text_add(answer, "!cannot make a pipe");
        return;
    }
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        become_probe(path, m, ends[1]);
    }
    close(ends[1]);
    for (ssize_t got; (got = read(ends[0], part, sizeof part)) > 0;)
        text_bytes(answer, part, (size_t)got);
    close(ends[0]);
    const bool ended = child > 0 && waitpid(child, &status, 0) == child;
    if (ended && status == 0 && !answer->failed) return;
    text_free(answer);
    if (!ended) {
        text_add(answer, "!cannot start a child process");
    } else if (WIFSIGNALED(status)) {
        text_add(answer, "!loading it ended in signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    } else {
        text_add(answer, "!loading it ended the program with status %d", WEXITSTATUS(status));
    }
}

static const char *fix_for(const struct doctor *d, const char *error) {
    if (strstr(error, "cannot open shared object")) return d->setup;
    if (strstr(error, "GLIBC")) return "build the package on this machine: ./build.sh";
    if (strstr(error, "undefined symbol"))
        return "build it against this CANN: ./build.sh --cann=<CANN>";
    return INSTALL_AGAIN;
}

/* Is there a line "<type><rest>"? */
static bool listed(const char *lines, const char *type, const char *rest) {
    struct line line, behind;
    while (next_line(&lines, &line))
        if (line_after(line, type, &behind) && behind.size == strlen(rest) &&
            memcmp(behind.s, rest, behind.size) == 0)
            return true;
    return false;
}

bool doctor_tiles(const char *answer, const char *type) {
    return listed(answer, type, " tiling");
}

bool doctor_describes(const char *answer, const char *type) {
    return listed(answer, type, "");
}

static void check_types(struct doctor *d, const char *name, const char *path, const char *types,
                        const char *rest) {
    const struct manifest *m = &d->manifest;
    size_t offered = 0;
    for (size_t i = 0; i < m->types; i++) {
        const bool want = manifest_offers(m, m->type[i]), have = listed(types, m->type[i], rest);
        offered += have;
        if (want == have) continue;
        doctor_say(d, LEVEL_FAIL, name, INSTALL_AGAIN,
                   have ? "%s offers %s, which was left to CANN: the two would be mixed"
                        : "%s does not offer %s",
                   path, m->type[i]);
        return;
    }
    doctor_say(d, LEVEL_OK, name, NULL, "%s loads and offers %zu operators", path, offered);
}

static void check_library(struct doctor *d, const char *name, const char *below, const char *rest) {
    char path[2 * PATH];
    struct text answer = {0};
    TEXT(path, "%s/%s/lib/linux/%s/libcust_%s_rt2.0.so", d->ours->dir, below, d->arch, name);
    if (!doctor_is_file(path)) {
        doctor_say(d, LEVEL_FAIL, name, INSTALL_AGAIN, "%s is missing (the package is for: %s)",
                   path, d->manifest.arches);
        return;
    }
    const char *machine = foreign(path, d->arch);
    if (machine) {
        doctor_say(d, LEVEL_FAIL, name, INSTALL_AGAIN, "%s is for %s, not for %s", path, machine,
                   d->arch);
        return;
    }
    doctor_ask_library(path, NULL, &answer);
    const char *said = text_of(&answer);
    if (said[0] == '!') {
        doctor_say(d, LEVEL_FAIL, name, fix_for(d, said + 1), "%s cannot be used: %s", path,
                   said + 1);
    } else {
        check_types(d, name, path, said, rest);
    }
    text_free(&answer);
}

void doctor_check_libraries(struct doctor *d) {
    check_library(d, "opsproto", "op_proto", "");
    check_library(d, "opmaster", TBE "/op_tiling", " tiling");
}
