/* SPDX-License-Identifier: Apache-2.0 */
#include "ask.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE = 30 * 1000 }; /* milliseconds without a word */

/* The child: its words go to the pipe, its complaints nowhere. */
static void become(const char *const argv[], int to) {
    const int null = open("/dev/null", O_RDWR);
    setpgid(0, 0);
    signal(SIGPIPE, SIG_DFL);
    if (null >= 0) dup2(null, STDIN_FILENO);
    if (null >= 0) dup2(null, STDERR_FILENO);
    if (dup2(to, STDOUT_FILENO) < 0) _exit(127);
    execvp(argv[0], (char *const *)argv);
    _exit(127);
}

/* Reads to the end. A signal or too long a silence is an end, too, but not a good one. */
static bool listen_to(int from, struct text *answer) {
    char part[4096];
    for (;;) {
        struct pollfd event = {.fd = from, .events = POLLIN};
        if (poll(&event, 1, PATIENCE) <= 0) return false;
        const ssize_t got = read(from, part, sizeof part);
        if (got <= 0) return got == 0;
        text_bytes(answer, part, (size_t)got);
    }
}

bool ask(const char *const argv[], struct text *answer) {
    int ends[2], status = -1;
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    const pid_t child = fork();
    if (child == 0) become(argv, ends[1]);
    close(ends[1]);
    bool good = child > 0 && listen_to(ends[0], answer);
    close(ends[0]);
    if (child <= 0) return false;
    if (!good && kill(-child, SIGKILL) != 0) kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return good && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
