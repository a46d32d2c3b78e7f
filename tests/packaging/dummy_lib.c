/* SPDX-License-Identifier: Apache-2.0
 *
 * A stand-in for the two host libraries: offers the five operators the way the real ones do,
 * switches included. FAULT_* spoil something.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
enum { ROW = 208 };

static volatile const char offers[][64] = {
#ifndef FAULT_SHORT
    "ascgrad-offers:RotaryMulGrad=1",
#endif
    "ascgrad-offers:RotaryPositionEmbeddingGrad=1",
    "ascgrad-offers:RopeGrad=1",
    "ascgrad-offers:NormRopeConcatGrad=1",
    "ascgrad-offers:ExpSegsumGrad=1",
};
enum { COUNT = sizeof offers / sizeof offers[0] };
static char types[COUNT][64];

#ifdef FAULT_UNRESOLVED
extern int not_there_at_all(void);
#endif

/* The type without "ascgrad-offers:" and without "=1", or NULL if switched off. */
static const char *offered(size_t i) {
    char text[64];
    for (size_t k = 0; k < sizeof text; k++)
        text[k] = offers[i][k];
    char *end = strchr(text, '=');
    if (end[1] == '0') return NULL;
    *end = 0;
    return strcpy(types[i], strchr(text, ':') + 1);
}

#ifdef FAULT_CRASH
__attribute__((constructor)) static void crash(void) {
    *(volatile int *)8 = 0;
}
#endif

EXPORT size_t GetRegisteredOpNum(void) {
    size_t n = 0;
    for (size_t i = 0; i < COUNT; i++)
        n += offered(i) != NULL;
#ifdef FAULT_UNRESOLVED
    n += (size_t)not_there_at_all();
#endif
    return n;
}

EXPORT int32_t GetOpImplFunctions(void *table, size_t count) {
    size_t n = 0;
    for (size_t i = 0; i < COUNT && n < count; i++) {
        const char *type = offered(i);
        if (type) memcpy((char *)table + ROW * n++, &type, sizeof type);
    }
    return 0;
}

#ifndef FAULT_NO_CT
EXPORT size_t GetRegisteredOpCtNum(void) {
    return 0;
}
#endif
