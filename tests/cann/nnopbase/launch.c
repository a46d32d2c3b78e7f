/* SPDX-License-Identifier: Apache-2.0
 *
 * The chip of the stand-in, one that the twin knows, and a launch on it: the kernel of the type and
 * dtypes runs on the checked twin, with the arguments, tiling data, key and blocks of the launch.
 */
#include "../standin.h"

#include "constants.h"

#include "../../../twin/launch.h"
#include "../../../op_api/include/ascgrad_acl.h"
#include "../include/acl/acl_rt.h"

#include <ctype.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The share of the workspace that belongs to Ascend C. */
#define SYSTEM_WORKSPACE (16u << 20)

#define ASCGRAD_COLUMN(type, op, column, first)                                                    \
    twin_entry_fn twin_entry_##op##_##first##_checked;                                             \
    extern const uint32_t twin_arity_##op##_##first##_checked;
#include "ascgrad_columns.inc"
#undef ASCGRAD_COLUMN

static const struct {
    const char *type;
    int32_t column;
    twin_entry_fn *entry;
    const uint32_t *arity;
} kernels[] = {
#define ASCGRAD_COLUMN(type, op, column, first)                                                    \
    {#type, column, twin_entry_##op##_##first##_checked, &twin_arity_##op##_##first##_checked},
#include "ascgrad_columns.inc"
#undef ASCGRAD_COLUMN
};

/* The column of dtypes whose kernel it is: optional inputs are no part of the key. */
static int32_t column_of(const struct standin_launch *l) {
    struct ascgrad_node node = {0};
    for (uint32_t i = 0; i < ascgrad_ir_count; i++) {
        if (strcmp(ascgrad_ir_table[i].type, l->type) == 0) {
            node.ir = &ascgrad_ir_table[i];
        }
    }
    if (!node.ir || node.ir->inputs != l->inputs || node.ir->outputs != l->outputs) {
        return -1;
    }
    for (uint32_t i = 0; i < l->inputs; i++) {
        node.in[i] = (struct ascgrad_arg){!node.ir->in[i].optional, l->dtype[i], NULL};
    }
    for (uint32_t i = 0; i < l->outputs; i++) {
        node.out[i] = (struct ascgrad_arg){true, l->dtype[l->inputs + i], NULL};
    }
    return ascgrad_column(&node);
}

static struct {
    const struct twin_soc *soc;
    const char *directory, *family;
    char cores[16], ub[16];
    struct standin_row row[5];
} chip;

static void find_chip(void) {
    static const char *const family[][3] = {
        {"ascend910b", "ascend910b", "Ascend910B"},
        {"ascend910_93", "ascend910_93", "Ascend910_93"},
        {"ascend950", "ascend950", "Ascend950"},
    };
    char name[32] = "";
    for (size_t i = 0; i < sizeof name - 1 && aclrtGetSocName()[i]; i++) {
        name[i] = (char)tolower((unsigned char)aclrtGetSocName()[i]);
    }
    for (size_t i = 0; i < sizeof family / sizeof family[0]; i++) {
        if (strncmp(name, family[i][0], strlen(family[i][0])) == 0) {
            chip.directory = family[i][1];
            chip.family = family[i][2];
        }
    }
    const bool is_950 = strncmp(name, "ascend950", 9) == 0;
    chip.soc = chip.directory ? twin_find_soc(is_950 ? "ascend950" : name) : NULL;
    if (!chip.soc) {
        return;
    }
    snprintf(chip.cores, sizeof chip.cores, "%u", chip.soc->cores);
    snprintf(chip.ub, sizeof chip.ub, "%u", chip.soc->ub + (is_950 ? 0 : 256));
    chip.row[0] = (struct standin_row){"version", "Short_SoC_version", chip.family};
    chip.row[1] = (struct standin_row){"SoCInfo", "core_type_list", "CubeCore,VectorCore"};
    chip.row[2] = (struct standin_row){"SoCInfo", "vector_core_cnt", chip.cores};
    chip.row[3] = (struct standin_row){"AICoreSpec", "ub_size", chip.ub};
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

const struct standin_row *standin_platform(void) {
    static _Thread_local char cores[16];
    static _Thread_local struct standin_row row[5];
    pthread_once(&once, find_chip);
    const uint32_t limit = standin_core_limit();
    if (!chip.soc || limit == 0 || limit >= chip.soc->cores) {
        return chip.soc ? chip.row : NULL;
    }
    snprintf(cores, sizeof cores, "%u", limit);
    memcpy(row, chip.row, sizeof row);
    row[2].value = cores;
    return row;
}

const char *standin_chip(void) {
    return standin_platform() ? chip.directory : NULL;
}

/* A kernel file is ours by its name, as in the guard of ge/guard.c; of another we have no code. */
static bool ours(const struct standin_launch *l) {
    const char *slash = strrchr(l->kernel->path, '/');
    char prefix[96];
    snprintf(prefix, sizeof prefix, "ascgrad_%s_", l->type);
    return slash && strncmp(slash + 1, prefix, strlen(prefix)) == 0;
}

static bool has_key(const struct standin_kernel *kernel, uint64_t key) {
    for (size_t i = 0; i < kernel->keys; i++) {
        if (kernel->tiling_key[i] == key) {
            return true;
        }
    }
    return false;
}

bool standin_fault(const char *kind, const char *type, uint64_t bytes) {
    const char *fault = getenv("ASCGRAD_STANDIN_FAULT");
    char wanted[160];
    snprintf(wanted, sizeof wanted, "%s:%s:%llu", kind, type, (unsigned long long)bytes);
    return fault && strcmp(fault, wanted) == 0;
}

/* ASCGRAD_STANDIN_SLOW=TYPE:FACTOR: kernels of a type take so many times as long. */
static double standin_slow(const char *type, double us) {
    const char *given = getenv("ASCGRAD_STANDIN_SLOW");
    const size_t n = strlen(type);
    return given && strncmp(given, type, n) == 0 && given[n] == ':'
               ? us * strtod(given + n + 1, NULL)
               : us;
}

/* Faults that a launch can have without the checker seeing them. */
static void spoil(const struct standin_launch *l) {
    if (standin_fault("hang", l->type, l->bytes[0])) {
        pause();
    }
    if (standin_fault("crash", l->type, l->bytes[0])) {
        raise(SIGSEGV);
    }
    if (standin_fault("bit", l->type, l->bytes[0])) {
        *(uint8_t *)l->data[l->inputs] ^= 1;
    }
}

static uint64_t mix(uint64_t sum, const void *data, size_t bytes) {
    const uint8_t *at = data;
    for (uint64_t word = 0; bytes; at += sizeof word, bytes -= bytes < 8 ? bytes : 8) {
        memcpy(&word, at, bytes < 8 ? bytes : 8);
        sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
        sum ^= sum >> 32;
    }
    return sum;
}

/* All that a launch reads, and what it has written or will. */
static uint64_t sum_of(const struct standin_launch *l) {
    const uint64_t numbers[] = {(uintptr_t)l->kernel, l->key, l->workspace, l->block_dim};
    uint64_t sum = mix(mix(1, numbers, sizeof numbers), l->tiling, l->tiling_bytes);
    for (uint32_t i = 0; i < l->inputs + l->outputs; i++) {
        sum = mix(sum, &l->bytes[i], sizeof l->bytes[i]);
        sum = mix(sum, l->data[i], l->bytes[i]);
    }
    return sum;
}

/* The launch before this one. If nothing has changed since, as where times are taken, what this one
 * would write is there already, and only the clock goes on. */
static _Thread_local struct {
    uint64_t sum;
    double us[2];
} before;

int standin_launch(const struct standin_launch *l) {
    struct twin_arg arg[TWIN_MAX_ARGS];
    uint32_t in_place[TWIN_MAX_ARGS] = {0};
    struct twin_report report;
    char why[TWIN_WHY] = "";
    if (!ours(l) || !has_key(l->kernel, l->key)) {
        standin_report("EZ9999", "kernel %s cannot be launched with key %llu", l->kernel->path,
                       (unsigned long long)l->key);
        return STANDIN_LAUNCH;
    }
    const bool again = standin_again();
    if (before.sum == sum_of(l)) {
        standin_advance(before.us[again]);
        return 0;
    }
    before.sum = 0;
    for (uint32_t i = 0; i < l->inputs + l->outputs; i++) {
        arg[i] = (struct twin_arg){
            .name = l->name[i],
            .role = i < l->inputs ? TWIN_INPUT : TWIN_OUTPUT,
            .data = l->bytes[i] ? l->data[i] : NULL,
            .bytes = l->bytes[i],
        };
        for (uint32_t k = 0; i >= l->inputs && arg[i].data && k < l->inputs; k++) {
            if (arg[k].data == arg[i].data) {
                in_place[i] = k + 1;
            }
        }
    }
    const int32_t column = column_of(l);
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
        if (strcmp(kernels[k].type, l->type) != 0 || kernels[k].column != column) {
            continue;
        }
        const double *constants = standin_constants(chip.soc);
        const struct twin_soc soc = twin_soc_with(chip.soc, constants);
        const struct twin_launch launch = {
            .op = l->type,
            .entry = kernels[k].entry,
            .arity = *kernels[k].arity,
            .arg = arg,
            .args = l->inputs + l->outputs,
            .in_place = in_place,
            .tiling = l->tiling,
            .tiling_bytes = l->tiling_bytes,
            .workspace = l->workspace > SYSTEM_WORKSPACE ? l->workspace - SYSTEM_WORKSPACE : 0,
            .key = l->key,
            .block_dim = l->block_dim,
            .sync_all = l->all_at_once,
            .soc = &soc,
            .checked = true,
            .constants = constants,
        };
        const int code = twin_run(&launch, &report, why);
        if (code != TWIN_OK) {
            standin_report("EZ9999", "%s", why);
        } else {
            spoil(l);
            before.sum = sum_of(l);
            before.us[0] = standin_slow(l->type, report.cycles / soc.mhz) + report.launch_us;
            before.us[1] = standin_slow(l->type, report.cycles_l2 / soc.mhz) + report.launch_us;
            standin_advance(before.us[again]);
        }
        return code == TWIN_OK ? 0 : STANDIN_LAUNCH;
    }
    return STANDIN_LAUNCH;
}
