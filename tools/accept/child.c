/* SPDX-License-Identifier: Apache-2.0
 *
 * A runner in a process of its own, so that what hangs or crashes on the chip ends there and not
 * here: pipes to and from it, and a deadline for every exchange. It leads a process group, because
 * CANN starts compilers of its own.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "accept.h"

double accept_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void close_pipes(int pipes[3][2]) {
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++)
            if (pipes[i][k] >= 0) close(pipes[i][k]);
}

static void become(const struct runner *r, int pipes[3][2]) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a runner that hangs does not outlive a killed command */
    dup2(pipes[0][0], STDIN_FILENO);
    dup2(pipes[1][1], STDOUT_FILENO);
    dup2(pipes[2][1], STDERR_FILENO);
    close_pipes(pipes);
    signal(SIGPIPE, SIG_DFL);
    for (size_t i = 0; i < sizeof r->env / sizeof r->env[0] && r->env[i]; i++) {
        char name[PATH_MAX];
        const char *value = strchr(r->env[i], '=');
        snprintf(name, sizeof name, "%.*s", (int)strcspn(r->env[i], "="), r->env[i]);
        if (value)
            setenv(name, value + 1, 1);
        else
            unsetenv(name);
    }
    char *argv[sizeof r->argv / sizeof r->argv[0] + 1] = {NULL};
    for (size_t i = 0; i < sizeof r->argv / sizeof r->argv[0] && r->argv[i]; i++)
        argv[i] = (char *)(uintptr_t)r->argv[i];
    execvp(argv[0], argv);
    _exit(127);
}

bool runner_start(struct runner *r, char why[ACCEPT_WHY]) {
    int pipes[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
    bool good = true;
    for (int i = 0; i < 3; i++)
        good = good && pipe2(pipes[i], O_CLOEXEC) == 0;
    fflush(NULL);
    r->pid = good ? fork() : -1;
    if (r->pid == 0) become(r, pipes);
    if (r->pid < 0) {
        close_pipes(pipes);
        r->pid = 0;
        snprintf(why, ACCEPT_WHY, "no process can be started for %s", r->argv[0]);
        return false;
    }
    setpgid(r->pid, r->pid);
    r->to = pipes[0][1];
    r->from = pipes[1][0];
    r->err = pipes[2][0];
    close(pipes[0][0]);
    close(pipes[1][1]);
    close(pipes[2][1]);
    fcntl(r->to, F_SETFL, O_NONBLOCK);
    fcntl(r->from, F_SETFL, O_NONBLOCK);
    fcntl(r->err, F_SETFL, O_NONBLOCK);
    r->tail[0] = 0;
    r->cut = false;
    return true;
}

/* What is on stderr now; the last of it is kept. */
static void drain(struct runner *r) {
    char piece[4096];
    for (ssize_t n; (n = read(r->err, piece, sizeof piece)) > 0;) {
        const size_t room = sizeof r->tail - 1, old = strlen(r->tail);
        const size_t add = (size_t)n < room ? (size_t)n : room;
        const size_t keep = old + add > room ? room - add : old;
        r->cut |= keep < old || add < (size_t)n;
        memmove(r->tail, r->tail + old - keep, keep);
        memcpy(r->tail + keep, piece + n - add, add);
        r->tail[keep + add] = 0;
        for (char *c = r->tail; c < r->tail + keep + add; c++)
            if (!*c) *c = '?';
    }
}

/* The last that it said, in whole lines; of a line that is too long, whole words of its beginning.
 * What is left of a line whose beginning is lost may be half a path, and is not told. */
static const char *last_words(struct runner *r) {
    enum { MOST = 500 };
    const char *at = r->tail;
    if (r->cut) at += strcspn(at, "\n");
    while (strlen(at) > MOST && at[strcspn(at, "\n")] && at[strcspn(at, "\n") + 1])
        at += strcspn(at, "\n") + 1;
    while (*at == '\n')
        at++;
    size_t n = strlen(at);
    if (n > MOST)
        for (n = MOST; n > 0 && at[n - 1] != ' ';)
            n--;
    r->tail[at - r->tail + (ptrdiff_t)n] = 0;
    return at;
}

/* Ends the process, if it has not ended itself, and returns its wait status. */
static int reap(struct runner *r, bool kill_it) {
    int status = 0;
    /* one that has closed its pipes is about to end; give it a moment to do so by itself */
    for (int i = 0; !kill_it && i < 100; i++) {
        if (waitpid(r->pid, &status, WNOHANG) == r->pid) {
            kill(-r->pid, SIGKILL); /* what it may have left behind */
            goto gone;
        }
        usleep(10000);
    }
    kill(-r->pid, SIGKILL);
    kill(r->pid, SIGKILL);
    waitpid(r->pid, &status, 0);
gone:
    drain(r);
    close(r->to);
    close(r->from);
    close(r->err);
    r->pid = 0;
    return status;
}

void runner_stop(struct runner *r) {
    if (!r->pid) return;
    close(r->to);
    r->to = open("/dev/null", O_WRONLY | O_CLOEXEC);
    reap(r, false);
}

static enum runner_end died(struct runner *r, char why[ACCEPT_WHY]) {
    const int status = reap(r, false);
    const char *said = last_words(r);
    if (WIFSIGNALED(status))
        snprintf(why, ACCEPT_WHY, "the program crashed: %s%s%s", strsignal(WTERMSIG(status)),
                 *said ? "; it said: " : "", said);
    else
        snprintf(why, ACCEPT_WHY, "the program ended with status %d%s%s", WEXITSTATUS(status),
                 *said ? "; it said: " : "", said);
    return RUNNER_DIED;
}

/* Waits until fd is ready; time is up: kills. */
static enum runner_end await(struct runner *r, int fd, short events, double deadline,
                             char why[ACCEPT_WHY]) {
    for (;;) {
        const double left = deadline - accept_now();
        struct pollfd poll_fds[2] = {{fd, events, 0}, {r->err, POLLIN, 0}};
        if (left <= 0) {
            reap(r, true);
            const char *said = last_words(r);
            snprintf(why, ACCEPT_WHY, "no answer in time: it hangs, and was killed%s%s",
                     *said ? "; it said: " : "", said);
            return RUNNER_HANGS;
        }
        poll(poll_fds, 2, left > 0.2 ? 200 : (int)(left * 1000) + 1);
        if (poll_fds[1].revents & POLLIN) drain(r);
        if (poll_fds[0].revents) return RUNNER_WELL;
        if (poll_fds[1].revents & POLLHUP) usleep(1000); /* closed its stderr, nothing else */
    }
}

enum runner_end runner_send(struct runner *r, const void *data, size_t size, double deadline,
                            char why[ACCEPT_WHY]) {
    for (const char *at = data; size > 0;) {
        const enum runner_end end = await(r, r->to, POLLOUT, deadline, why);
        if (end != RUNNER_WELL) return end;
        const ssize_t n = write(r->to, at, size);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (n <= 0) return died(r, why);
        at += n;
        size -= (size_t)n;
    }
    return RUNNER_WELL;
}

enum runner_end runner_receive(struct runner *r, void *data, size_t size, double deadline,
                               char why[ACCEPT_WHY]) {
    for (char *at = data; size > 0;) {
        const enum runner_end end = await(r, r->from, POLLIN, deadline, why);
        if (end != RUNNER_WELL) return end;
        const ssize_t n = read(r->from, at, size);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (n <= 0) return died(r, why);
        at += n;
        size -= (size_t)n;
    }
    return RUNNER_WELL;
}

char *accept_output_of(const char *const argv[], double seconds, int *status) {
    struct runner r = {0};
    struct text out = {0};
    char why[ACCEPT_WHY], piece[4096];
    for (size_t i = 0; argv[i]; i++)
        r.argv[i] = argv[i];
    *status = -1;
    if (!runner_start(&r, why)) return NULL;
    const double deadline = accept_now() + seconds;
    for (;;) {
        if (await(&r, r.from, POLLIN, deadline, why) != RUNNER_WELL) break;
        const ssize_t n = read(r.from, piece, sizeof piece);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (n <= 0) break;
        text_bytes(&out, piece, (size_t)n);
    }
    if (r.pid) *status = reap(&r, false);
    return out.s;
}
