/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches the probe, and the kernel that times are taken of: objects that the toolkit's kernel
 * compiler has written, with their descriptions beside them, by the runtime's functions for that
 * (CANN 8.1 and later).
 */
#include <stdio.h>
#include <string.h>

#include "probe/ascgrad_gauge_tiling_data.h"
#include "run.h"

enum { WORKSPACE = 16 << 20 }; /* as GE gives it to every kernel: the library's own share */

static struct {
    int (*aclrtBinaryLoadFromFile)(const char *, void *, void **);
    int (*aclrtBinaryGetFunctionByEntry)(void *, uint64_t, void **);
    int (*aclrtBinaryGetFunction)(void *, const char *, void **);
    int (*aclrtKernelArgsInit)(void *, void **);
    int (*aclrtKernelArgsAppend)(void *, void *, size_t, void **);
    int (*aclrtKernelArgsFinalize)(void *);
    int (*aclrtLaunchKernelWithConfig)(void *, uint32_t, void *, void *, void *, void *);
} binary;

static bool find_all(struct wire_answer *answer) {
    static const struct {
        const char *name;
        void *to;
    } names[] = {
#define NAME(name) {#name, &binary.name}
        NAME(aclrtBinaryLoadFromFile),     NAME(aclrtBinaryGetFunctionByEntry),
        NAME(aclrtBinaryGetFunction),      NAME(aclrtKernelArgsInit),
        NAME(aclrtKernelArgsAppend),       NAME(aclrtKernelArgsFinalize),
        NAME(aclrtLaunchKernelWithConfig),
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *symbol = find(names[i].name);
        memcpy(names[i].to, &symbol, sizeof symbol);
        if (symbol) continue;
        answer->status = WIRE_NOT_THERE;
        snprintf(answer->text, sizeof answer->text, "CANN has no function %s", names[i].name);
        return false;
    }
    return true;
}

/* The only function of the object: by its key, or by the names that it may have. A process has one
 * object. */
static bool load(const char *file, const char *name, void **function, struct wire_answer *answer) {
    static void *handle;
    char with_key[WIRE_NAME + 2];
    if (!handle && !good(answer, "aclrtBinaryLoadFromFile",
                         binary.aclrtBinaryLoadFromFile(file, NULL, &handle)))
        return false;
    snprintf(with_key, sizeof with_key, "%s_0", name);
    return binary.aclrtBinaryGetFunctionByEntry(handle, 0, function) == 0 ||
           binary.aclrtBinaryGetFunction(handle, with_key, function) == 0 ||
           good(answer, "aclrtBinaryGetFunction",
                binary.aclrtBinaryGetFunction(handle, name, function));
}

enum { X, Y, SPACE, TILING, ARGS };

struct kernel {
    void *function, *args[2], *address[ARGS];
    uint64_t bytes[ARGS];
    uint32_t cores;
};

static bool prepare(void *context, int which, struct wire_answer *answer) {
    struct kernel *k = context;
    void *place, **args = &k->args[which];
    if (!good(answer, "aclrtKernelArgsInit", binary.aclrtKernelArgsInit(k->function, args)))
        return false;
    for (int i = 0; i < ARGS; i++) {
        void *value = k->address[i];
        if (!good(answer, "aclrtKernelArgsAppend",
                  binary.aclrtKernelArgsAppend(*args, &value, sizeof value, &place)))
            return false;
    }
    return good(answer, "aclrtKernelArgsFinalize", binary.aclrtKernelArgsFinalize(*args));
}

static bool launch(void *context, int which, struct wire_answer *answer) {
    struct kernel *k = context;
    if (good(answer, "aclrtLaunchKernelWithConfig",
             binary.aclrtLaunchKernelWithConfig(k->function, k->cores, stream, NULL, k->args[which],
                                                NULL)))
        return true;
    answer->broken = 1;
    return false;
}

static bool launch_and_wait(struct kernel *k, struct wire_answer *answer) {
    if (!prepare(k, 0, answer) || !launch(k, 0, answer)) return false;
    if (good(answer, "aclrtSynchronizeStream", acl.aclrtSynchronizeStream(stream))) return true;
    answer->broken = 1;
    return false;
}

/* Memory on the device; what it holds comes from the request, or is one byte all over. */
static bool make(struct kernel *k, int i, const void *from, int fill, struct wire_answer *answer) {
    const uint64_t bytes = k->bytes[i];
    if (!good(answer, "aclrtMalloc", acl.aclrtMalloc(&k->address[i], bytes, HUGE_FIRST)))
        return false;
    if (from)
        return good(answer, "aclrtMemcpy",
                    acl.aclrtMemcpy(k->address[i], bytes, from, bytes, TO_DEVICE));
    return fill < 0 ||
           good(answer, "aclrtMemset", acl.aclrtMemset(k->address[i], bytes, fill, bytes));
}

void run_ask(const struct wire_request *r, void *const data[], char *out,
             struct wire_answer *answer) {
    const bool gauge = r->kind == WIRE_GAUGE;
    const struct wire_tensor *last = &r->tensor[r->inputs];
    struct kernel k = {
        .bytes = {r->tensor[2].bytes, r->tensor[3].bytes, WORKSPACE, r->tensor[1].bytes},
        .cores = gauge ? r->run[0].cores : 1};
    bool well = r->inputs == (gauge ? 4 : 3) && r->outputs == 1 && r->runs == 1 &&
                last->bytes <= k.bytes[Y] && find_all(answer) &&
                load(data[0], r->type, &k.function, answer);
    well = well && make(&k, X, data[2], GAUGE_X_BYTE, answer) &&
           make(&k, Y, NULL, gauge ? GAUGE_Y_BYTE : -1, answer) &&
           make(&k, SPACE, NULL, -1, answer) && make(&k, TILING, data[1], -1, answer) &&
           launch_and_wait(&k, answer) &&
           (!gauge || take_times(&(struct timed){prepare, launch, &k}, r->times, answer)) &&
           good(answer, "aclrtMemcpy",
                acl.aclrtMemcpy(out, last->bytes, (char *)k.address[Y] + k.bytes[Y] - last->bytes,
                                last->bytes, TO_HOST));
    if (well) answer->status = WIRE_DONE, answer->done = 1;
    for (int i = 0; !answer->broken && i < ARGS; i++)
        if (k.address[i]) acl.aclrtFree(k.address[i]);
}
