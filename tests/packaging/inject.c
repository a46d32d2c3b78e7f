/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a program and lets one of its system calls fail, or be the last one.
 *
 *   inject LOG MODE N ERRNO [--no-exchange] COMMAND...
 *
 *   fail   call number N fails with ERRNO and does nothing
 *   dead   from call number N on every call that changes a file system does so: a disk that dies
 *   kill   SIGKILL comes instead of call number N
 *   count  nothing of that
 *
 * Calls are numbered from the first of main, which must be umask: before it the C library is at
 * work. --no-exchange: the file system cannot exchange directories. Children are left alone. Into
 * LOG goes "<calls> <number of the call that was hit, or -1> <its first argument>", and below it
 * which calls change a file system. The exit status is the program's, or 128 and the signal that
 * ended it.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <elf.h>

#if defined(__x86_64__)
typedef struct user_regs_struct registers;
#define NUMBER(r) ((long)(r).orig_rax)
#define FIRST(r)  ((long)(r).rdi)
#define THIRD(r)  ((long)(r).rdx)
#define RESULT(r) (r).rax
#elif defined(__aarch64__)
typedef struct user_regs_struct registers;
#define NUMBER(r) ((long)(r).regs[8])
#define FIRST(r)  ((long)(r).regs[0])
#define THIRD(r)  ((long)(r).regs[2])
#define RESULT(r) (r).regs[0]
#endif

enum mode { FAIL, DEAD, KILL, COUNT };

struct plan {
    enum mode mode;
    long at;
    int trouble;
    bool no_exchange;
};

static void die(const char *what) {
    perror(what);
    exit(125);
}

static void get(pid_t child, registers *r) {
    struct iovec part = {r, sizeof *r};
    if (ptrace(PTRACE_GETREGSET, child, NT_PRSTATUS, &part) != 0) die("inject: read registers");
}

static void put(pid_t child, registers *r) {
    struct iovec part = {r, sizeof *r};
    if (ptrace(PTRACE_SETREGSET, child, NT_PRSTATUS, &part) != 0) die("inject: write registers");
}

/* At the entry of a call: makes it none at all. */
static void skip(pid_t child, registers *r) {
#if defined(__x86_64__)
    r->orig_rax = (unsigned long long)-1;
    put(child, r);
#else
    int none = -1;
    struct iovec part = {&none, sizeof none};
    (void)r;
    if (ptrace(PTRACE_SETREGSET, child, NT_ARM_SYSTEM_CALL, &part) != 0) die("inject: skip");
#endif
}

static bool changes_files(const registers *r) {
    switch (NUMBER(*r)) {
    case SYS_openat:
        return THIRD(*r) & 0100; /* O_CREAT */
    case SYS_write:
        return FIRST(*r) > 2;
    case SYS_mkdirat:
    case SYS_unlinkat:
    case SYS_renameat2:
    case SYS_linkat:
    case SYS_symlinkat:
    case SYS_fchmod:
    case SYS_fchownat:
#ifdef SYS_renameat
    case SYS_renameat:
#endif
#ifdef SYS_rename
    case SYS_mkdir:
    case SYS_rmdir:
    case SYS_rename:
    case SYS_unlink:
#endif
        return true;
    default:
        return false;
    }
}

/* The error of this call, 0 for none, -1 for a kill. */
static int fault(const struct plan *p, long number, const registers *r) {
    if (NUMBER(*r) == SYS_exit_group || NUMBER(*r) == SYS_rt_sigreturn)
        return p->mode == KILL && number == p->at ? -1 : 0;
    if (p->mode == KILL) return number == p->at ? -1 : 0;
    if (p->mode == FAIL && number == p->at) return p->trouble;
    if (p->mode == DEAD && number >= p->at && changes_files(r)) return p->trouble;
    return p->no_exchange && NUMBER(*r) == SYS_renameat2 ? EINVAL : 0;
}

static void start(char **command) {
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) die("inject: trace");
    raise(SIGSTOP);
    execv(command[0], command);
    die(command[0]);
}

static int follow(pid_t child, const struct plan *p, const char *log) {
    static long changing[100000];
    long calls = 0, hit = -1, argument = -1, changes = 0;
    bool inside = false, started = false;
    int status, trouble = 0, send = 0;
    const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) die("inject: start");
    if (ptrace(PTRACE_SETOPTIONS, child, NULL, options) != 0) die("inject: options");
    for (;;) {
        if (ptrace(PTRACE_SYSCALL, child, NULL, (long)send) != 0 && errno != ESRCH) die("inject");
        send = 0;
        if (waitpid(child, &status, 0) != child) die("inject: wait");
        if (WIFEXITED(status) || WIFSIGNALED(status)) break;
        if (status >> 8 == (SIGTRAP | (PTRACE_EVENT_EXEC << 8))) {
            started = inside = true; /* the call's own end comes next */
            continue;
        }
        if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
            send = WSTOPSIG(status);
            continue;
        }
        registers r;
        inside = !inside;
        if (!started) continue;
        get(child, &r);
        if (calls == 0 && NUMBER(r) != SYS_umask) continue;
        if (inside) {
            trouble = fault(p, ++calls, &r);
            if (changes_files(&r) && changes < 100000) changing[changes++] = calls;
            if (calls == p->at || (trouble && hit < 0)) {
                hit = NUMBER(r);
                argument = FIRST(r);
            }
            if (trouble < 0) kill(child, SIGKILL);
            if (trouble > 0) skip(child, &r);
        } else if (trouble > 0) {
            RESULT(r) = (unsigned long long)-trouble;
            put(child, &r);
            trouble = 0;
        }
    }
    FILE *out = fopen(log, "w");
    if (!out || fprintf(out, "%ld %ld %ld\n", calls, hit, argument) < 0) die(log);
    for (long i = 0; i < changes; i++)
        fprintf(out, "%ld\n", changing[i]);
    if (fclose(out) != 0) die(log);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv) {
    static const char *const modes[] = {"fail", "dead", "kill", "count"};
    struct plan p = {.mode = COUNT};
    if (argc < 6) {
        fputs("inject LOG fail|dead|kill|count N ERRNO [--no-exchange] COMMAND...\n", stderr);
        return 125;
    }
    for (int i = 0; i < 4; i++)
        if (strcmp(argv[2], modes[i]) == 0) p.mode = (enum mode)i;
    p.at = strtol(argv[3], NULL, 10);
    p.trouble = atoi(argv[4]);
    p.no_exchange = strcmp(argv[5], "--no-exchange") == 0;
    const pid_t child = fork();
    if (child < 0) die("inject: fork");
    if (child == 0) start(argv + 5 + p.no_exchange);
    return follow(child, &p, argv[1]);
}
