/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches the probe: an object that the toolkit's kernel compiler has written, with its
 * description beside it, by the runtime's functions for that (CANN 8.1 and later).
 */
#include <stdio.h>
#include <string.h>

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

/* The only function of the object: by its key, or by the names that it may have. */
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

static bool launch(void *function, void *const address[ARGS], struct wire_answer *answer) {
    void *args = NULL, *place;
    if (!good(answer, "aclrtKernelArgsInit", binary.aclrtKernelArgsInit(function, &args)))
        return false;
    for (int i = 0; i < ARGS; i++) {
        void *value = address[i];
        if (!good(answer, "aclrtKernelArgsAppend",
                  binary.aclrtKernelArgsAppend(args, &value, sizeof value, &place)))
            return false;
    }
    if (!good(answer, "aclrtKernelArgsFinalize", binary.aclrtKernelArgsFinalize(args)))
        return false;
    if (good(answer, "aclrtLaunchKernelWithConfig",
             binary.aclrtLaunchKernelWithConfig(function, 1, stream, NULL, args, NULL)) &&
        good(answer, "aclrtSynchronizeStream", acl.aclrtSynchronizeStream(stream)))
        return true;
    answer->broken = 1;
    return false;
}

void run_ask(const struct wire_request *request, void *const data[], char *y,
             struct wire_answer *answer) {
    const uint64_t bytes[ARGS] = {request->tensor[2].bytes, request->tensor[3].bytes, WORKSPACE,
                                  request->tensor[1].bytes};
    const void *from[ARGS] = {[X] = data[2], [TILING] = data[1]};
    void *address[ARGS] = {NULL}, *function = NULL;
    bool well = request->inputs == 3 && request->outputs == 1 && request->runs == 1 &&
                find_all(answer) && load(data[0], request->type, &function, answer);
    for (int i = 0; well && i < ARGS; i++)
        well =
            good(answer, "aclrtMalloc", acl.aclrtMalloc(&address[i], bytes[i], HUGE_FIRST)) &&
            (!from[i] || good(answer, "aclrtMemcpy",
                              acl.aclrtMemcpy(address[i], bytes[i], from[i], bytes[i], TO_DEVICE)));
    well = well && launch(function, address, answer) &&
           good(answer, "aclrtMemcpy", acl.aclrtMemcpy(y, bytes[Y], address[Y], bytes[Y], TO_HOST));
    if (well) answer->status = WIRE_DONE, answer->done = 1;
    for (int i = 0; !answer->broken && i < ARGS; i++)
        if (address[i]) acl.aclrtFree(address[i]);
}
