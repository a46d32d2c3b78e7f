/* SPDX-License-Identifier: Apache-2.0
 *
 * The threads of fast runs. A call takes those that idle and gives them back; whoever has not begun
 * when the caller is through is called off, so that a small call never waits for a thread to wake.
 * Both sides look out for each other for a moment before they fall asleep.
 */
#include "pool.h"

#include "check.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { LOOKOUT_US = 50 };

/* What one call runs. */
struct crew {
    twin_task_fn *task;
    void *context;
    atomic_uint out; /* helpers that are not back yet */
    pthread_cond_t back;
};

/* A thread with its core; the same without a thread lends a core to a caller. */
struct helper {
    struct helper *next; /* idle or spare */
    struct helper *made; /* the one made before it */
    struct pool *pool;
    struct crew *crew; /* whom it works for */
    atomic_uint news;  /* counts what it should look at */
    bool begun, asleep;
    bool threaded;
    pthread_t thread;
    pthread_cond_t wake;
    struct twin_core core;
};

struct pool {
    pid_t owner;
    struct pool *parent; /* of the process that this one was forked from: memory, no threads */
    pthread_mutex_t lock;
    pthread_cond_t freed; /* for callers that need several at once */
    struct helper *idle, *spare, *made;
    uint32_t threads, idlers, calls, waiting;
    bool stop;
};

static _Atomic(struct pool *) current;

static struct pool *make_pool(struct pool *parent) {
    struct pool *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->owner = getpid();
    p->parent = parent;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->freed, NULL);
    return p;
}

/* The pool of this process. After a fork the parent's locks may be held by threads that the child
 * does not have, so it gets a new one. */
static struct pool *this_pool(void) {
    struct pool *p = atomic_load(&current);
    if (p && p->owner == getpid()) return p;
    struct pool *mine = make_pool(p);
    if (!mine) return NULL;
    if (atomic_compare_exchange_strong(&current, &p, mine)) return mine;
    free(mine); /* another thread of the child was faster */
    return p;
}

static int64_t now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

static void rest(void) {
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

bool twin_look_out(const atomic_uint *number, unsigned old) {
    for (int64_t end = now_us() + LOOKOUT_US; atomic_load(number) == old; rest())
        if (now_us() >= end) return false;
    return true;
}

static void *help(void *argument) {
    struct helper *h = argument;
    struct pool *p = h->pool;
    for (unsigned seen = 0;; pthread_mutex_unlock(&p->lock)) {
        twin_look_out(&h->news, seen);
        pthread_mutex_lock(&p->lock);
        h->asleep = true;
        while (!h->crew && !p->stop)
            pthread_cond_wait(&h->wake, &p->lock);
        h->asleep = false;
        seen = h->news;
        struct crew *crew = h->crew;
        if (!crew) break;
        h->begun = true;
        pthread_mutex_unlock(&p->lock);
        crew->task(crew->context, &h->core);
        pthread_mutex_lock(&p->lock);
        h->begun = false;
        h->crew = NULL;
        h->next = p->idle;
        p->idle = h;
        p->idlers++;
        if (--crew->out == 0) pthread_cond_signal(&crew->back);
        if (p->waiting) pthread_cond_broadcast(&p->freed);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* From here on the pool is locked. */
static struct helper *make_helper(struct pool *p) {
    struct helper *h = calloc(1, sizeof *h);
    if (!h) return NULL;
    if (!twin_core_open(NULL, &h->core, 0, false)) {
        free(h);
        return NULL;
    }
    h->pool = p;
    h->made = p->made;
    p->made = h;
    return h;
}

/* The program's signals are for the program's threads. */
static bool start_thread(struct pool *p) {
    struct helper *h = make_helper(p);
    if (!h) return false;
    sigset_t all, before;
    sigfillset(&all);
    pthread_cond_init(&h->wake, NULL);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    h->threaded = pthread_create(&h->thread, NULL, help, h) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    struct helper **list = h->threaded ? &p->idle : &p->spare;
    h->next = *list;
    *list = h;
    p->threads += h->threaded;
    p->idlers += h->threaded;
    return h->threaded;
}

static struct helper *take_spare(struct pool *p) {
    struct helper *h = p->spare;
    if (!h) return make_helper(p);
    p->spare = h->next;
    return h;
}

/* Gives the crew up to `want` helpers. Callers that need all of theirs go first. */
static uint32_t call_helpers(struct pool *p, struct crew *crew, uint32_t want, bool all,
                             struct helper **called) {
    while (p->threads < want && start_thread(p)) {
    }
    if (all && p->threads < want) return 0;
    if (!all && p->waiting) return 0;
    p->waiting += all;
    while (all && p->idlers < want)
        pthread_cond_wait(&p->freed, &p->lock);
    p->waiting -= all;
    uint32_t n = 0;
    for (; n < want && p->idle; n++) {
        struct helper *h = called[n] = p->idle;
        p->idle = h->next;
        p->idlers--;
        h->crew = crew;
        h->news++;
        crew->out++;
        if (h->asleep) pthread_cond_signal(&h->wake);
    }
    return n;
}

static void call_off(struct pool *p, struct crew *crew, struct helper **called, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        struct helper *h = called[i];
        if (h->crew != crew || h->begun) continue;
        h->crew = NULL;
        h->next = p->idle;
        p->idle = h;
        p->idlers++;
        crew->out--;
    }
    if (p->waiting) pthread_cond_broadcast(&p->freed);
}

bool twin_pool_run(uint32_t threads, bool all, twin_task_fn *task, void *context) {
    struct pool *p = this_pool();
    struct crew crew = {.task = task, .context = context};
    struct helper *called[TWIN_MAX_CORES];
    if (!p) return false;
    pthread_cond_init(&crew.back, NULL);
    pthread_mutex_lock(&p->lock);
    p->calls++;
    struct helper *own = take_spare(p);
    uint32_t n = own && threads > 1 ? call_helpers(p, &crew, threads - 1, all, called) : 0;
    bool good = own && (!all || n + 1 == threads);
    pthread_mutex_unlock(&p->lock);
    if (good) task(context, &own->core);
    if (!all) { /* others must meet */
        pthread_mutex_lock(&p->lock);
        call_off(p, &crew, called, n);
        pthread_mutex_unlock(&p->lock);
    }
    for (unsigned out = crew.out; out && twin_look_out(&crew.out, out);)
        out = crew.out;
    pthread_mutex_lock(&p->lock);
    while (crew.out)
        pthread_cond_wait(&crew.back, &p->lock);
    if (own) {
        own->next = p->spare;
        p->spare = own;
    }
    p->calls--;
    pthread_mutex_unlock(&p->lock);
    pthread_cond_destroy(&crew.back);
    return good;
}

static void free_pool(struct pool *p, bool alive) {
    while (p->made) {
        struct helper *h = p->made;
        p->made = h->made;
        if (alive && h->threaded) {
            pthread_join(h->thread, NULL);
            pthread_cond_destroy(&h->wake);
        }
        twin_core_close(&h->core);
        free(h);
    }
    free(p);
}

/* The library is unloaded, or the program ends; if it ends in the middle of a call, nothing may be
 * taken away. */
__attribute__((destructor)) static void end_pool(void) {
    struct pool *p = atomic_load(&current);
    if (!p) return;
    bool alive = p->owner == getpid();
    if (alive) {
        pthread_mutex_lock(&p->lock);
        bool busy = p->calls != 0;
        p->stop = !busy;
        for (struct helper *h = p->made; h && !busy; h = h->made) {
            if (!h->threaded) continue;
            h->news++;
            pthread_cond_signal(&h->wake);
        }
        pthread_mutex_unlock(&p->lock);
        if (busy) return;
    }
    atomic_store(&current, NULL);
    for (struct pool *next; p; p = next, alive = false) {
        next = p->parent;
        free_pool(p, alive);
    }
}
