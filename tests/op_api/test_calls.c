/* SPDX-License-Identifier: Apache-2.0
 *
 * The aclnn functions against the twin, through an installed package and the stand-in for CANN: the
 * rows of `ascgrad check`, in every dtype, dense and with gaps between the elements of the inputs.
 *
 *   test_calls rows         every row of moderate size, 200 calls per function and more
 *   test_calls threads      eight threads, all functions
 *   test_calls many         10,000 calls, which must leave nothing behind
 */
#include "call.h"

#include "acl/acl.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { LARGE = 60000, THREADS = 8, MANY = 10000, CALLS = 200 };

static const struct {
    const char *type, *text;
} rows[] = {
#define CASE(type, text) {type, text},
#define REFUSE(type, text, sentence)
#include "ascgrad_rows.h"
#undef CASE
#undef REFUSE
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static const char *const dtypes[] = {"fp16", "bf16", "fp32"};
static atomic_int failed;

static void complain(const char *type, const char *text, const char *dtype, bool gaps,
                     const char *why) {
    atomic_fetch_add(&failed, 1);
    fprintf(stderr, "FAIL: %s %s%s (%s): %s\n", type, dtype, gaps ? ", with gaps" : "", text, why);
}

/* aclnn tensors have at most eight axes. */
static bool fits(const struct call *c, int64_t most) {
    for (uint32_t i = 0; i < c->row.ir->inputs; i++) {
        if (c->row.node.in[i].present && c->row.in[i].rank > 8) {
            return false;
        }
    }
    return call_elements(c) <= most;
}

/* One row once; false if it is not for here. */
static bool one(struct call *c, size_t row, const char *dtype, uint64_t seed, int64_t most,
                struct call_workspace *workspace) {
    const bool gaps = seed & 1;
    if (!call_read(c, rows[row].type, rows[row].text, dtype, seed) || !fits(c, most)) {
        return false;
    }
    call_make(c, gaps);
    const aclnnStatus code = call_run(c, workspace);
    char said[64];
    const char *why = NULL;
    if (code != ACL_SUCCESS) {
        const char *message = aclGetRecentErrMsg();
        snprintf(said, sizeof said, "code %d", code);
        why = message ? message : said;
    } else {
        why = call_compare(c);
    }
    if (why) {
        complain(rows[row].type, rows[row].text, dtype, gaps, why);
    }
    call_end(c);
    return true;
}

/* Every row in every dtype, dense and with gaps, and again with other gaps if that is too little.
 */
static void test_function(const struct call_functions *f) {
    struct call *c = malloc(sizeof *c);
    struct call_workspace workspace = {0};
    int calls = 0;
    for (uint64_t seed = 0; c && (seed < 2 || calls < CALLS) && seed < 100; seed++) {
        for (size_t r = 0; r < ROWS; r++) {
            for (size_t d = 0; strcmp(rows[r].type, f->type) == 0 && d < 3; d++) {
                calls += one(c, r, dtypes[d], seed, LARGE, &workspace);
            }
        }
    }
    printf("%s: %d calls\n", f->name, calls);
    if (calls < CALLS) {
        complain(f->type, "", "", false, "too few calls to say anything");
    }
    if (workspace.at) {
        aclrtFree(workspace.at);
    }
    free(c);
}

static void *thread(void *number) {
    struct call *c = malloc(sizeof *c);
    struct call_workspace workspace = {0};
    for (size_t r = (size_t)(uintptr_t)number; c && r < ROWS; r += 5) { /* each row in several */
        one(c, r, dtypes[r % 3], r, LARGE / 8, &workspace);
    }
    if (workspace.at) {
        aclrtFree(workspace.at);
    }
    free(c);
    return NULL;
}

static void test_threads(void) {
    pthread_t id[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++) {
        if (pthread_create(&id[i], NULL, thread, (void *)(i % 5)) != 0) {
            exit(1);
        }
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(id[i], NULL);
    }
}

/* The smallest rows over and over. In the first half malloc still fills its own caches. */
static void test_many(void) {
    struct call *c = malloc(sizeof *c);
    struct call_workspace workspace = {.size = 32u << 20}; /* enough for all */
    size_t before = 0;
    int calls = 0;
    if (aclrtMalloc(&workspace.at, workspace.size, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) {
        exit(1);
    }
    while (c && calls < MANY) {
        for (size_t r = 0; r < ROWS; r++) {
            calls += one(c, r, dtypes[calls % 3], (uint64_t)calls, 600, &workspace);
        }
        if (before == 0 && calls >= MANY / 2) {
            before = mallinfo2().uordblks;
        }
    }
    const size_t after = mallinfo2().uordblks;
    printf("%d calls: %zu bytes in use, %zu half-way\n", calls, after, before);
    if (after > before) {
        complain("", "", "", false, "memory is left behind");
    }
    aclrtFree(workspace.at);
    free(c);
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) {
        return 1;
    }
    if (strcmp(mode, "rows") == 0) {
        for (const struct call_functions *f = call_functions; f->type; f++) {
            test_function(f);
        }
    } else if (strcmp(mode, "threads") == 0) {
        test_threads();
    } else if (strcmp(mode, "many") == 0) {
        test_many();
    } else {
        return 1;
    }
    aclrtResetDevice(0);
    aclFinalize();
    return failed != 0;
}
