/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for CANN's own tiling library, or another vendor's: registers the types in TYPES, with
 * a tiling that answers KEY and 7 blocks whoever asks. FAULT_* spoil something.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../../../ge/layout.h"

#define EXPORT __attribute__((visibility("default")))
#ifndef KEY
#define KEY 77
#endif

static const char *const types[] = {TYPES};
enum { COUNT = sizeof types / sizeof types[0] };

#ifdef FAULT_CRASH
__attribute__((constructor)) static void crash(void) {
    __builtin_trap();
}
#endif

static uint32_t tiling(struct ge_context *context) {
    context->values[context->inputs]->value.u64 = KEY;
    context->values[context->inputs + 1]->value.u32 = 7;
    return 0;
}

static uint32_t parse(struct ge_context *context) {
    (void)context;
    return 0;
}

static void *create(void) {
    static char nothing;
    return &nothing;
}

static void delete (void *nothing) {
    (void)nothing;
}

#ifdef FAULT_UNRESOLVED
extern size_t not_there_at_all(void);
#undef FAULT_UNRESOLVED
#define FAULT_UNRESOLVED not_there_at_all()
#else
#define FAULT_UNRESOLVED 0
#endif

EXPORT size_t GetRegisteredOpNum(void) {
    return COUNT + FAULT_UNRESOLVED;
}

EXPORT int32_t GetOpImplFunctions(struct ge_op_functions *table, size_t count) {
    for (size_t i = 0; i < count; i++) {
        table[i].type = types[i];
        table[i].tiling = tiling;
        table[i].tiling_parse = parse;
        table[i].compile_info_creator = create;
        table[i].compile_info_deleter = delete;
    }
    return 0;
}

#ifndef FAULT_NO_CT
EXPORT size_t GetRegisteredOpCtNum(void) {
    return 0;
}
#endif
