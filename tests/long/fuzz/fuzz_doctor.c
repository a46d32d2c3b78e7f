/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as config.ini, package.info, ops-info and index of kernel binaries of an opp directory
 * (tools/doctor/*.c). The input is these files, with a line "====" between them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../../tools/doctor/parts.h"

static char root[64];

static void make(const char *path) {
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    mkdir(full, 0755);
}

static void clean(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", root);
    if (system(command) != 0) return;
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    strcpy(root, access("/dev/shm", W_OK) == 0 ? "/dev/shm/ascgrad-XXXXXX" : "/tmp/ascgrad-XXXXXX");
    if (!mkdtemp(root)) exit(2);
    atexit(clean);
    static const char *const dirs[] = {
        "/built-in",
        "/vendors",
        "/vendors/ascgrad",
        "/vendors/ascgrad/op_impl",
        "/vendors/ascgrad/op_impl/ai_core",
        "/vendors/ascgrad/op_impl/ai_core/tbe",
        "/vendors/ascgrad/op_impl/ai_core/tbe/config",
        "/vendors/ascgrad/op_impl/ai_core/tbe/config/ascend910b",
        "/vendors/ascgrad/op_impl/ai_core/tbe/kernel",
        "/vendors/ascgrad/op_impl/ai_core/tbe/kernel/config",
        "/vendors/ascgrad/op_impl/ai_core/tbe/kernel/config/ascend910b",
        "/vendors/other"};
    for (size_t i = 0; i < sizeof dirs / sizeof dirs[0]; i++)
        make(dirs[i]);
    unsetenv("ASCEND_CUSTOM_OPP_PATH");
    return freopen("/dev/null", "w", stdout) ? 0 : 2;
}

static void put(const char *path, const char *bytes, size_t size) {
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    FILE *f = fopen(full, "wb");
    if (!f || fwrite(bytes, 1, size, f) != size || fclose(f) != 0) exit(2);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    static const char *const files[] = {"/vendors/config.ini", "/vendors/ascgrad/package.info",
                                        "/vendors/ascgrad/op_impl/ai_core/tbe/config/ascend910b/"
                                        "aic-ascend910b-ops-info.json",
                                        "/vendors/ascgrad/op_impl/ai_core/tbe/kernel/config/"
                                        "ascend910b/binary_info_config.json"};
    enum { FILES = sizeof files / sizeof files[0] };
    const char *at = (const char *)data, *end = at + size;
    for (int i = 0; i < FILES; i++) {
        const char *cut = i < FILES - 1 ? memmem(at, (size_t)(end - at), "====\n", 5) : NULL;
        put(files[i], at, (size_t)((cut ? cut : end) - at));
        at = cut ? cut + 5 : end;
    }
    struct doctor *d = calloc(1, sizeof *d);
    doctor_find(d, root);
    if (d->ours) {
        doctor_check_files(d);
        doctor_check_access(d);
        doctor_check_ops_info(d);
        doctor_check_owners(d);
    }
    doctor_free(d);
    return 0;
}
