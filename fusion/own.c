/* SPDX-License-Identifier: Apache-2.0
 *
 * See own.h. Nothing here is newer than the oldest C library that CANN runs on, and nothing is
 * taken from CANN but weak references.
 */
#define _GNU_SOURCE
#include "own.h"

#include "../core/verbose.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPERATOR "RotaryPositionEmbeddingGrad"

enum { MODULE_OP = 63, RUN_LOG = 0x01000000, INFO = 1 };

extern void DlogRecord(int32_t module, int32_t level, const char *format, ...)
    __attribute__((weak, format(printf, 3, 4)));

/* Looks for the library that holds this very function. */
static int is_this_library(struct dl_phdr_info *info, size_t size, void *found) {
    (void)size;
    uintptr_t here = (uintptr_t)is_this_library;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (info->dlpi_phdr[i].p_type != PT_LOAD || here < start ||
            here - start >= info->dlpi_phdr[i].p_memsz)
            continue;
        snprintf(found, PATH_MAX, "%s", info->dlpi_name ? info->dlpi_name : "");
        return 1;
    }
    return 0;
}

static bool file_names_operator(const char *path) {
    FILE *file = fopen(path, "r");
    char line[4096];
    bool named = false;
    while (file && !named && fgets(line, sizeof line, file))
        named = strstr(line, "\"" OPERATOR "\"") != NULL;
    if (file) fclose(file);
    return named;
}

/* Chips have long names, their folders the short ones: Ascend910B1 is in ascend910b. */
static bool begins(const char *soc, const char *folder) {
    while (*folder && tolower((unsigned char)*soc) == *folder)
        soc++, folder++;
    return *folder == '\0';
}

bool fusion_operator_is_ours(const char *soc) {
    char library[PATH_MAX] = "", config[PATH_MAX + 64], file[2 * PATH_MAX];
    dl_iterate_phdr(is_this_library, library);
    /* <vendor>/custom_fusion_passes/<this library> */
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(library, '/');
        if (!slash) return false;
        *slash = '\0';
    }
    snprintf(config, sizeof config, "%s/op_impl/ai_core/tbe/config", library);
    DIR *folder = opendir(config);
    bool ours = false;
    for (struct dirent *entry; folder && !ours && (entry = readdir(folder));) {
        if (entry->d_name[0] == '.' || !begins(soc, entry->d_name)) continue;
        snprintf(file, sizeof file, "%s/%s/aic-%s-ops-info.json", config, entry->d_name,
                 entry->d_name);
        ours = file_names_operator(file);
    }
    if (folder) closedir(folder);
    return ours;
}

static bool is(const char *variable, const char *value) {
    const char *set = getenv(variable);
    return set && strcmp(set, value) == 0;
}

bool fusion_switched_off(void) {
    return is("ASCGRAD_FUSION", "0");
}

void fusion_explain(const char *sentence) {
    if (ascgrad_verbose()) fprintf(stderr, "[ascgrad] fusion: %s\n", sentence);
}

void fusion_report(const char *sentence) {
    if (DlogRecord) DlogRecord(MODULE_OP | RUN_LOG, INFO, "[ascgrad] fusion: %s", sentence);
    if (!DlogRecord || ascgrad_verbose()) fprintf(stderr, "[ascgrad] fusion: %s\n", sentence);
}
