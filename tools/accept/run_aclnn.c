/* SPDX-License-Identifier: Apache-2.0
 *
 * accept_aclnn LIBRARY DEVICE: runs calls of the aclnn functions on the chip for `ascgrad accept`,
 * which is linked statically and cannot open libraries. LIBRARY is libcust_opapi.so with its path,
 * "cann" for CANN's own, or "ask" for none, where only the probe is to be launched. Requests come
 * on standard input, answers go to standard output (wire.h).
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../old_libc.h"
#include "run.h"

typedef struct aclOpExecutor aclOpExecutor;
typedef int32_t aclnnStatus;

union attr {
    int64_t i;
    bool b;
    double f;
    aclIntArray *list;
    aclFloatArray *reals;
};

/* Of a type those with fewer attributes come first. */
struct function {
    const char *type, *name;
    uint32_t attrs;
    aclnnStatus (*prepare)(void *function, const aclTensor *const in[], const union attr attr[],
                           const aclTensor *const out[], uint64_t *size, aclOpExecutor **executor);
};

#include "accept_calls.inc"

enum { FORMAT_ND = 2, VECTOR_CORES = 1 };
enum { FLUSH = 256 << 20 }; /* larger than the L2 of every chip */

struct acl acl;

static const struct {
    const char *name;
    void *to;
    enum { ALWAYS, FOR_FUNCTIONS, OPTIONAL } need;
} names[] = {
#define NEED(name)                                                                                 \
    { #name, &acl.name, ALWAYS }
#define BASE(name)                                                                                 \
    { #name, &acl.name, FOR_FUNCTIONS }
#define MAY(name)                                                                                  \
    { #name, &acl.name, OPTIONAL }
    NEED(aclInit),
    NEED(aclrtSetDevice),
    NEED(aclrtCreateStream),
    NEED(aclrtFree),
    NEED(aclrtSynchronizeStream),
    NEED(aclrtMalloc),
    NEED(aclrtMemset),
    NEED(aclrtMemcpy),
    NEED(aclrtCreateEvent),
    NEED(aclrtRecordEvent),
    NEED(aclrtEventElapsedTime),
    NEED(aclrtGetSocName),
    BASE(aclCreateTensor),
    NEED(aclGetRecentErrMsg),
    BASE(aclDestroyTensor),
    BASE(aclCreateIntArray),
    BASE(aclCreateFloatArray),
    MAY(aclrtMemsetAsync),
    MAY(aclrtSetDeviceResLimit),
    MAY(aclrtResetDeviceResLimit),
};

static void *library[8];
static size_t libraries;
static int32_t device;
static void *before, *after, *flush;
void *stream;

static bool open_first(const char *const name[], struct wire_answer *answer) {
    for (size_t i = 0; name[i]; i++) {
        void *handle = dlopen(name[i], RTLD_NOW | RTLD_GLOBAL);
        if (handle) {
            library[libraries++] = handle;
            return true;
        }
        const char *why = dlerror();
        snprintf(answer->text, sizeof answer->text, "%s cannot be opened: %s", name[i],
                 why ? why : "no reason given");
    }
    return false;
}

void *find(const char *name) {
    void *symbol = NULL;
    for (size_t i = 0; i < libraries && !symbol; i++)
        symbol = dlsym(library[i], name);
    return symbol;
}

bool good(struct wire_answer *answer, const char *what, int code) {
    if (code == 0) return true;
    const char *message = acl.aclGetRecentErrMsg ? acl.aclGetRecentErrMsg() : NULL;
    message = message ? message : "";
    snprintf(answer->text, sizeof answer->text, "%s: error %d%s%.*s", what, code,
             *message ? ": " : "", (int)strcspn(message, "\n"), message);
    answer->status = WIRE_FAILED;
    return false;
}

static bool start(const char *functions, struct wire_answer *answer) {
    static const char *const runtime[] = {"libascendcl.so", "libacl_rt.so", NULL};
    static const char *const base[] = {"libnnopbase.so", NULL};
    static const char *const own[] = {"libopapi.so", "libopapi_transformer.so", NULL};
    const char *const given[] = {functions, NULL};
    const bool cann = strcmp(functions, "cann") == 0, ask = strcmp(functions, "ask") == 0;
    answer->status = WIRE_FAILED;
    if (!open_first(runtime, answer)) return false;
    if (!ask && (!open_first(base, answer) || !open_first(cann ? own : given, answer)))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *symbol = find(names[i].name);
        memcpy(names[i].to, &symbol, sizeof symbol);
        if (symbol || names[i].need == OPTIONAL || (ask && names[i].need != ALWAYS)) continue;
        snprintf(answer->text, sizeof answer->text, "CANN has no function %s", names[i].name);
        return false;
    }
    return good(answer, "aclInit", acl.aclInit(NULL)) &&
           good(answer, "aclrtSetDevice", acl.aclrtSetDevice(device)) &&
           good(answer, "aclrtCreateStream", acl.aclrtCreateStream(&stream)) &&
           good(answer, "aclrtCreateEvent", acl.aclrtCreateEvent(&before)) &&
           good(answer, "aclrtCreateEvent", acl.aclrtCreateEvent(&after));
}

static void hello(struct wire_answer *answer) {
    const char *soc = acl.aclrtGetSocName();
    answer->status = WIRE_DONE;
    snprintf(answer->text, sizeof answer->text, "soc=%s\ncores=%s\nl2=%s\n", soc ? soc : "?",
             acl.aclrtSetDeviceResLimit ? "varied" : "fixed",
             acl.aclrtMemsetAsync ? "cold" : "warm");
}

/* One call: its functions, its tensors on the device. */
struct call {
    const struct wire_request *request;
    const struct function *function;
    void *prepare;
    aclnnStatus (*launch)(void *, uint64_t, aclOpExecutor *, void *);
    void *address[WIRE_TENSORS], *workspace;
    uint64_t workspace_size;
    const aclTensor *tensor[WIRE_TENSORS];
    union attr attr[WIRE_ATTRS];
    aclOpExecutor *executor[2]; /* of those that are timed */
};

/* The function with the fewest attributes that can say what the call says: CANN has only that one,
 * and on our own road each is called by some of the rows. */
static bool find_functions(struct call *c, struct wire_answer *answer) {
    char name[2 * WIRE_NAME];
    for (size_t i = 0; i < sizeof functions / sizeof functions[0] && !c->function; i++)
        if (strcmp(functions[i].type, c->request->type) == 0 &&
            functions[i].attrs >= c->request->used)
            c->function = &functions[i];
    snprintf(name, sizeof name, "%sGetWorkspaceSize", c->function ? c->function->name : "?");
    c->prepare = c->function ? find(name) : NULL;
    void *launch = c->prepare ? find(c->function->name) : NULL;
    memcpy(&c->launch, &launch, sizeof launch);
    if (launch) return true;
    answer->status = WIRE_NOT_THERE;
    snprintf(answer->text, sizeof answer->text, "there is no function %s",
             c->function ? c->function->name : c->request->type);
    return false;
}

static bool fill(struct call *c, uint32_t input, void *const data[], struct wire_answer *answer) {
    const uint64_t bytes = c->request->tensor[input].bytes;
    return !bytes || good(answer, "aclrtMemcpy",
                          acl.aclrtMemcpy(c->address[input], bytes, data[input], bytes, TO_DEVICE));
}

static bool describe(struct call *c, uint32_t i, struct wire_answer *answer) {
    const struct wire_tensor *t = &c->request->tensor[i];
    c->tensor[i] = acl.aclCreateTensor(t->dim, (uint64_t)t->rank, t->dtype, NULL, 0, FORMAT_ND,
                                       t->dim, (uint64_t)t->rank, c->address[i]);
    return c->tensor[i] || good(answer, "aclCreateTensor", -1);
}

static bool make_tensors(struct call *c, void *const data[], struct wire_answer *answer) {
    const struct wire_request *r = c->request;
    for (uint32_t i = 0; i < r->inputs + r->outputs; i++) {
        const struct wire_tensor *t = &r->tensor[i];
        if (t->rank < 0) continue;
        if (t->bytes &&
            !good(answer, "aclrtMalloc", acl.aclrtMalloc(&c->address[i], t->bytes, HUGE_FIRST)))
            return false;
        if ((i < r->inputs && !fill(c, i, data, answer)) || !describe(c, i, answer)) return false;
    }
    return true;
}

static bool make_attrs(struct call *c, void *const data[], struct wire_answer *answer) {
    for (uint32_t i = 0; i < c->request->attrs; i++) {
        const struct wire_attr *a = &c->request->attr[i];
        if (a->kind == 'i') c->attr[i].i = a->value;
        if (a->kind == 'b') c->attr[i].b = a->value != 0;
        if (a->kind == 'f') c->attr[i].f = a->real;
        if (a->kind == 'l') c->attr[i].list = acl.aclCreateIntArray(data[i], a->count);
        if (a->kind == 'r') c->attr[i].reals = acl.aclCreateFloatArray(data[i], a->count);
        if ((a->kind == 'l' && !c->attr[i].list) || (a->kind == 'r' && !c->attr[i].reals))
            return good(answer, "a list attribute", -1);
    }
    return true;
}

/* The first half of the function, and workspace for the second. */
static bool prepare(struct call *c, aclOpExecutor **executor, struct wire_answer *answer) {
    uint64_t size = 0;
    if (!good(answer, c->function->name,
              c->function->prepare(c->prepare, c->tensor, c->attr, c->tensor + c->request->inputs,
                                   &size, executor)))
        return false;
    if (size > c->workspace_size) {
        if (c->workspace) acl.aclrtFree(c->workspace);
        c->workspace = NULL;
        c->workspace_size = size;
        return good(answer, "workspace", acl.aclrtMalloc(&c->workspace, size, HUGE_FIRST));
    }
    return true;
}

static bool launch(struct call *c, aclOpExecutor *executor, struct wire_answer *answer) {
    if (good(answer, c->function->name,
             c->launch(c->workspace, c->workspace_size, executor, stream)))
        return true;
    answer->broken = 1;
    return false;
}

static bool wait(struct call *c, struct wire_answer *answer) {
    if (good(answer, c->function->name, acl.aclrtSynchronizeStream(stream))) return true;
    answer->broken = 1;
    return false;
}

/* Whether an output has the memory of an input. */
static bool is_in_place(const struct call *c, uint32_t output) {
    const int32_t input = c->request->tensor[output].place;
    return input >= 0 && c->address[output] == c->address[input];
}

/* One run; the outputs go to copies. */
static bool run(struct call *c, char *copies, struct wire_answer *answer) {
    const struct wire_request *r = c->request;
    aclOpExecutor *executor = NULL;
    for (uint32_t i = r->inputs; i < r->inputs + r->outputs; i++)
        if (r->tensor[i].bytes && !is_in_place(c, i) &&
            !good(answer, "aclrtMemset",
                  acl.aclrtMemset(c->address[i], r->tensor[i].bytes, 0xA5, r->tensor[i].bytes)))
            return false;
    if (!prepare(c, &executor, answer) || !launch(c, executor, answer) || !wait(c, answer))
        return false;
    for (uint32_t i = r->inputs; i < r->inputs + r->outputs; i++) {
        const uint64_t bytes = r->tensor[i].bytes;
        if (bytes && !good(answer, "aclrtMemcpy",
                           acl.aclrtMemcpy(copies, bytes, c->address[i], bytes, TO_HOST)))
            return false;
        copies += bytes;
    }
    return true;
}

/* The same with every output that may in the memory of its input, which has its data again
 * afterwards. done: there was one. */
static bool run_in_place(struct call *c, void *const data[], char *copies, bool *done,
                         struct wire_answer *answer) {
    const struct wire_request *r = c->request;
    struct call here = *c;
    bool well = true;
    *done = false;
    for (uint32_t i = r->inputs; well && i < r->inputs + r->outputs; i++)
        if (r->tensor[i].place >= 0) {
            here.address[i] = c->address[r->tensor[i].place];
            well = *done = describe(&here, i, answer);
        }
    if (*done) well = run(&here, copies, answer);
    for (uint32_t i = r->inputs; i < r->inputs + r->outputs; i++)
        if (r->tensor[i].place >= 0) {
            if (here.tensor[i] && here.tensor[i] != c->tensor[i])
                acl.aclDestroyTensor(here.tensor[i]);
            well = well && fill(c, (uint32_t)r->tensor[i].place, data, answer);
        }
    c->workspace = here.workspace;
    c->workspace_size = here.workspace_size;
    return well;
}

/* One time. 256 MB are written before it, so that the L2 holds nothing else, and so that the host
 * is through before the device is. again: behind the same once more, which fills the L2. */
static bool take_time(const struct timed *t, bool again, float *us, struct wire_answer *answer) {
    float ms = 0;
    if (!t->prepare(t->context, 0, answer) || (again && !t->prepare(t->context, 1, answer)))
        return false;
    if (flush &&
        !good(answer, "aclrtMemsetAsync", acl.aclrtMemsetAsync(flush, FLUSH, 0, FLUSH, stream)))
        return false;
    if (again && !t->launch(t->context, 1, answer)) return false;
    if (!good(answer, "aclrtRecordEvent", acl.aclrtRecordEvent(before, stream)) ||
        !t->launch(t->context, 0, answer) ||
        !good(answer, "aclrtRecordEvent", acl.aclrtRecordEvent(after, stream)))
        return false;
    if (!good(answer, "aclrtSynchronizeStream", acl.aclrtSynchronizeStream(stream))) {
        answer->broken = 1;
        return false;
    }
    if (!good(answer, "aclrtEventElapsedTime", acl.aclrtEventElapsedTime(&ms, before, after)))
        return false;
    *us = ms * 1000;
    return true;
}

bool take_times(const struct timed *timed, uint32_t times, struct wire_answer *answer) {
    if (acl.aclrtMemsetAsync && !flush && acl.aclrtMalloc(&flush, FLUSH, HUGE_FIRST) != 0)
        flush = NULL;
    for (; answer->times < times; answer->times++)
        if (!take_time(timed, false, &answer->us[answer->times], answer)) return false;
    for (; answer->again_times < times; answer->again_times++)
        if (!take_time(timed, true, &answer->again_us[answer->again_times], answer)) return false;
    return true;
}

static bool prepare_one(void *context, int which, struct wire_answer *answer) {
    struct call *c = context;
    return prepare(c, &c->executor[which], answer);
}

static bool launch_one(void *context, int which, struct wire_answer *answer) {
    struct call *c = context;
    return launch(c, c->executor[which], answer);
}

static void free_call(struct call *c) {
    for (size_t i = 0; i < WIRE_TENSORS; i++) {
        if (c->tensor[i]) acl.aclDestroyTensor(c->tensor[i]);
        if (c->address[i]) acl.aclrtFree(c->address[i]);
    }
    if (c->workspace) acl.aclrtFree(c->workspace);
}

/* copies: room for the outputs of every run. */
static void answer_call(const struct wire_request *r, void *const data[], void *const lists[],
                        char *copies, size_t each, struct wire_answer *answer) {
    struct call c = {.request = r};
    bool well = find_functions(&c, answer) && make_tensors(&c, data, answer) &&
                make_attrs(&c, lists, answer);
    for (uint32_t i = 0; well && i < r->runs; i++) {
        const uint32_t cores = r->run[i].cores;
        bool done = true;
        if (r->run[i].dynamic) continue; /* every call is */
        if (cores && (!acl.aclrtSetDeviceResLimit || !acl.aclrtResetDeviceResLimit ||
                      acl.aclrtSetDeviceResLimit(device, VECTOR_CORES, cores) != 0))
            continue;
        well = r->run[i].in_place ? run_in_place(&c, data, copies + i * each, &done, answer)
                                  : run(&c, copies + i * each, answer);
        if (cores) acl.aclrtResetDeviceResLimit(device);
        if (well && done) answer->done |= 1u << i;
    }
    if (well) well = take_times(&(struct timed){prepare_one, launch_one, &c}, r->times, answer);
    if (well) answer->status = WIRE_DONE;
    if (!answer->broken) free_call(&c);
}

static bool read_all(int in, void **to, size_t size) {
    *to = malloc(size ? size : 1);
    return *to && wire_read(in, *to, size);
}

static bool serve(int in, int out, struct wire_request *r) {
    void *data[WIRE_TENSORS] = {NULL}, *lists[WIRE_ATTRS] = {NULL};
    struct wire_answer answer = {.magic = WIRE_MAGIC, .status = WIRE_FAILED};
    size_t each = 0;
    bool well = true;
    if (r->inputs + r->outputs > WIRE_TENSORS || r->attrs > WIRE_ATTRS || r->runs > WIRE_RUNS ||
        r->times > WIRE_TIMES)
        return false;
    for (uint32_t i = 0; well && i < r->inputs; i++)
        if (r->tensor[i].rank >= 0) well = read_all(in, &data[i], r->tensor[i].bytes);
    for (uint32_t i = 0; well && i < r->attrs; i++)
        if (r->attr[i].kind == 'l' || r->attr[i].kind == 'r')
            well = read_all(in, &lists[i], r->attr[i].bytes);
    for (uint32_t i = r->inputs; i < r->inputs + r->outputs; i++)
        each += r->tensor[i].bytes;
    char *copies = well ? calloc(r->runs + 1, each + 1) : NULL;
    if (copies && (r->kind == WIRE_ASK || r->kind == WIRE_GAUGE))
        run_ask(r, data, copies, &answer);
    else if (copies)
        answer_call(r, data, lists, copies, each, &answer);
    well = copies && wire_write(out, &answer, sizeof answer);
    for (uint32_t i = 0; well && answer.status == WIRE_DONE && i < r->runs; i++)
        if (answer.done >> i & 1) well = wire_write(out, copies + i * each, each);
    free(copies);
    for (size_t i = 0; i < WIRE_TENSORS; i++)
        free(data[i]);
    for (size_t i = 0; i < WIRE_ATTRS; i++)
        free(lists[i]);
    return well;
}

void begin(const uintptr_t *stack) {
    static struct wire_request request;
    struct wire_answer answer = {.magic = WIRE_MAGIC};
    if (stack[0] != 3) {
        dprintf(STDERR_FILENO, "usage: accept_aclnn LIBRARY DEVICE, as `ascgrad accept` does\n");
        _exit(2);
    }
    /* What the libraries print is no part of an answer. */
    const int out = dup(STDOUT_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    device = (int32_t)strtol((const char *)stack[3], NULL, 10);
    const bool up = start((const char *)stack[2], &answer);
    while (wire_read(STDIN_FILENO, &request, sizeof request) && request.magic == WIRE_MAGIC) {
        if (request.kind != WIRE_HELLO && up) {
            if (!serve(STDIN_FILENO, out, &request)) break;
            continue;
        }
        if (up) hello(&answer);
        if (!wire_write(out, &answer, sizeof answer) || !up) break;
    }
    _exit(0); /* no destructors of strange libraries */
}
