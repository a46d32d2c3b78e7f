/* SPDX-License-Identifier: Apache-2.0
 *
 * The threads of fast runs, seen from outside: no call makes one after the first, eight callers
 * share them, a forked child has its own, and none is left when the library is unloaded. Runs the
 * library given by its path; blocks that meet at SyncAll need threads on any machine.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../twin/ascgrad.h"

enum { CALLERS = 8, CALLS = 40, CORES = 4, FREE_T = 70, MATRICES = 9, MEET_T = 400 };
enum { ELEMENTS = MEET_T * MEET_T };

#if defined __SANITIZE_THREAD__
enum { FORKS = 0, OWN = 2 }; /* TSan cannot follow a fork, and has a thread of its own */
#elif defined __SANITIZE_ADDRESS__
enum { FORKS = 0, OWN = 1 }; /* a child may be born with the locks of ASan's allocator closed */
#else
enum { FORKS = 2, OWN = 1 };
#endif

static float grad_output[ELEMENTS], grad_self[ELEMENTS];
static int failed;

typedef int run_fn(const struct ascgrad_call *, struct ascgrad_report *, char *);
static run_fn *run_operator;
static void *library;

static void expect(bool good, const char *what) {
    if (good) return;
    failed++;
    printf("%s\n", what);
}

static void open_library(const char *path) {
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        printf("%s\n", dlerror());
        exit(2);
    }
    *(void **)&run_operator = dlsym(library, "ascgrad_run");
}

/* Sum and number of the thread ids of this process. */
struct tasks {
    long sum;
    int n;
};

static struct tasks tasks_now(void) {
    struct tasks t = {0, 0};
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *e; folder && (e = readdir(folder)) != NULL;)
        if (e->d_name[0] != '.') t.sum += atol(e->d_name), t.n++;
    if (folder) closedir(folder);
    return t;
}

/* Blocks that any thread may take, or blocks that meet: the answer's first bits are enough. */
static bool call(bool meet, float *result) {
    int64_t t = meet ? MEET_T : FREE_T, n = meet ? 1 : MATRICES;
    struct ascgrad_tensor in[2] = {{ASCGRAD_TYPE_FP32, 3, {n, t, t}, grad_output},
                                   {ASCGRAD_TYPE_FP32, 3, {n, t, t}, grad_self}};
    struct ascgrad_tensor out[1] = {{ASCGRAD_TYPE_FP32, 2, {n, t}, result}};
    struct ascgrad_call c = {.size = sizeof c,
                             .op = "ExpSegsumGrad",
                             .in = in,
                             .inputs = 2,
                             .out = out,
                             .outputs = 1,
                             .fast = true,
                             .cores = CORES};
    char why[ASCGRAD_WHY];
    int code = run_operator(&c, NULL, why);
    if (code != ASCGRAD_OK) printf("code %d: %s\n", code, why);
    return code == ASCGRAD_OK;
}

static float want[2][MATRICES * FREE_T + MEET_T];

static void *many_calls(void *argument) {
    float got[MATRICES * FREE_T + MEET_T];
    bool *good = argument;
    *good = true;
    for (int i = 0; i < CALLS && *good; i++) {
        size_t bytes = (i % 2 ? MEET_T : MATRICES * FREE_T) * sizeof *got;
        *good = call(i % 2, got) && memcmp(got, want[i % 2], bytes) == 0;
    }
    return NULL;
}

static void all_callers(void) {
    pthread_t caller[CALLERS];
    bool good[CALLERS];
    for (int i = 0; i < CALLERS; i++)
        if (pthread_create(&caller[i], NULL, many_calls, &good[i]) != 0) exit(2);
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(caller[i], NULL);
        expect(good[i], "a caller got other bits");
    }
}

/* Joined threads may be listed for a moment. */
static struct tasks settled(int n) {
    struct tasks t = tasks_now();
    for (int i = 0; i < 200 && t.n > n; i++, t = tasks_now())
        usleep(10000);
    return t;
}

static void close_library(void) {
    expect(dlclose(library) == 0, "dlclose failed");
    expect(settled(OWN).n == OWN, "threads are left after dlclose");
}

static void in_child(int depth, const char *path) {
    bool good;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        failed = 0;
        expect(tasks_now().n == 1, "the child was born with threads");
        many_calls(&good);
        expect(good, "the child got other bits");
        if (depth > 1) in_child(depth - 1, path);
        close_library();
        open_library(path);
        many_calls(&good);
        expect(good, "the child got other bits after dlclose");
        exit(failed != 0);
    }
    int status = -1;
    expect(child > 0 && waitpid(child, &status, 0) == child && status == 0, "a child failed");
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    bool good;
    for (int i = 0; i < ELEMENTS; i++) {
        grad_output[i] = (float)(i % 17 - 8) * (1 + (float)(i % 1000) * 0x1p-20f);
        grad_self[i] = (float)(i % 5) / 3;
    }
    for (int round = 0; round < 2; round++) {
        open_library(argv[1]);
        expect(call(false, want[0]) && call(true, want[1]), "the first calls failed");
        struct tasks before = tasks_now(), after;
        expect(before.n > OWN, "blocks that meet had no threads");
        many_calls(&good);
        after = tasks_now();
        expect(good && after.n == before.n && after.sum == before.sum, "a call made a thread");
        all_callers();
        after = settled(before.n);
        expect(after.n == before.n && after.sum == before.sum, "eight callers made threads");
        if (FORKS) in_child(FORKS, argv[1]);
        many_calls(&good);
        expect(good, "the parent got other bits after the fork");
        close_library();
    }
    printf("pool: %d failed\n", failed);
    return failed != 0;
}
