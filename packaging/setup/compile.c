/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiles the kernels for the chips of this machine into the stage, with the compiler of the
 * installed toolkit. Whatever goes wrong here is no failure of the installation: types without
 * complete binaries are then left to CANN, and the note says why.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../package/files.h"
#include "setup.h"

enum { NO_COMPILER = 3 }; /* of kernels.py */

/* What to compile, as CHIP/TYPE with commas: for the chips of this machine what is not whole. */
static void list_kernels(const struct setup *s, struct text *list) {
    char chip[64];
    for (const char *at = text_of(&s->chips); next_word(&at, ',', chip, sizeof chip);)
        for (size_t i = 0; i < s->source.types; i++)
            if (types_lacks(s, i, chip))
                text_add(list, "%s%s/%s", list->size ? "," : "", chip, s->source.type[i]);
}

static pid_t start(struct setup *s, const char *kernels) {
    char vendor[2 * PATH_MAX], work[2 * PATH_MAX];
    snprintf(vendor, sizeof vendor, "%s/%s/" VENDOR, s->target.vendors, s->stage_name);
    snprintf(work, sizeof work, "%s/%s/work", s->target.vendors, s->stage_name);
    const pid_t self = getpid(), child = fork();
    if (child > 0) setpgid(child, child); /* whoever is first */
    if (child != 0) return child;
    setpgid(0, 0); /* so that a signal reaches the compilers through us alone, and all of them */
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    /* Whatever ends us ends it, too; and it ends the compilers. */
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != self) _exit(NO_COMPILER);
    if (fchdir(s->stage_fd) != 0) _exit(NO_COMPILER); /* the script that is run is our own */
    if (s->options.quiet) {
        const int null = open("/dev/null", O_WRONLY);
        if (null >= 0) dup2(null, STDOUT_FILENO);
    }
    execlp("python3", "python3", "-B", VENDOR "/scripts/kernels.py", "--vendor", vendor, "--work",
           work, "--kernels", kernels, (char *)NULL);
    _exit(NO_COMPILER);
}

/* Waits for the child; a signal ends it, with all it has started. */
static int wait_for(pid_t child, bool *interrupted) {
    const struct timespec nap = {.tv_nsec = 20 * 1000 * 1000};
    int status = 0, naps = 0;
    pid_t ended;
    while ((ended = waitpid(child, &status, WNOHANG)) == 0) {
        if (setup_stopped) {
            *interrupted = true;
            setup_stopped = 0; /* it goes on without the kernels; a second one ends it */
            kill(-child, SIGTERM);
            naps = 1;
        }
        if (*interrupted && naps++ > 250) kill(-child, SIGKILL);
        nanosleep(&nap, NULL);
    }
    kill(-child, SIGKILL);
    return ended == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int compile_kernels(struct setup *s) {
    struct text kernels = {0};
    bool interrupted = false;
    list_kernels(s, &kernels);
    if (!s->chips.size) {
        s->compile_note =
            "nobody names the chip: neither --chip=, nor npu-smi, nor kernels of CANN";
    } else if (kernels.size) {
        fflush(NULL);
        const pid_t child = start(s, text_of(&kernels));
        const int result = child < 0 ? -1 : wait_for(child, &interrupted);
        if (interrupted) {
            s->compile_note = "compiling the kernels was interrupted";
        } else if (result == NO_COMPILER) {
            s->compile_note = "no kernel compiler was found (opc of CANN's toolkit, and python3)";
        } else if (result != 0) {
            s->compile_note = "compiling the kernels failed";
        }
        s->compile_failed = s->compile_note != NULL;
        tree_remove(s->stage_fd, "work");
    }
    text_free(&kernels);
    return DONE;
}
