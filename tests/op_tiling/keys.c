/* SPDX-License-Identifier: Apache-2.0
 *
 * Tiling keys in the text of a kernel. The vendor's compile code finds TILING_KEY_IS(n) and
 * KERNEL_TASK_TYPE(n, type) only where n is a literal; a name there makes the key vanish in
 * silence. So kernels have literals, tiling has names, and this compares the two.
 */
#include <stdlib.h>

#include "property.h"

/* The numbers behind every `call` in the text, as bits; false if one is not a literal below 64, or
 * if `type` is given and what follows the number is not that. */
static bool collect(const char *text, const char *call, const char *type, uint64_t *keys) {
    *keys = 0;
    for (const char *at = text; (at = strstr(at, call)) != NULL;) {
        char *end;
        at += strlen(call);
        unsigned long key = strtoul(at, &end, 10);
        if (end == at || key > 63) return false;
        if (type && strncmp(end, type, strlen(type)) != 0) return false;
        if (!type && *end != ')') return false;
        *keys |= (uint64_t)1 << key;
    }
    return true;
}

const char *judge_keys(const char *kernels, const char *kernel, uint64_t keys, uint64_t synced) {
    static char text[1 << 16];
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.cpp", kernels, kernel);
    FILE *file = fopen(path, "r");
    NEED(file != NULL);
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = 0;
    uint64_t branches, mixed;
    NEED(n > 0 && n < sizeof text - 1);
    NEED(collect(text, "TILING_KEY_IS(", NULL, &branches));
    NEED(collect(text, "KERNEL_TASK_TYPE(", ", KERNEL_TYPE_MIX_AIV_1_0)", &mixed));
    NEED(branches == keys);
    NEED(mixed == synced); /* only such a kernel may wait for all cores */
    return NULL;
}
