/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns the platform's texts into the four numbers tiling works with. The rules are those of
 * CANN's own platform_ascendc, which answers the same questions for C++ tilings.
 */
#include "platform.h"

#include <inttypes.h>

struct text {
    char s[64];
};

static const char *value(void *platform, const char *label, const char *key, struct text *text) {
    ascgrad_platform_value(platform, label, key, text->s, sizeof text->s);
    return text->s;
}

/* 0 for anything that is not a plain positive number. */
static uint64_t number(void *platform, const char *label, const char *key) {
    struct text text;
    uint64_t n = 0;
    for (const char *s = value(platform, label, key, &text); *s; s++) {
        if (*s < '0' || *s > '9' || n > UINT32_MAX) {
            return 0;
        }
        n = n * 10 + (uint64_t)(*s - '0');
    }
    return n;
}

static const char *soc_name(void *platform, struct text *text) {
    return value(platform, "version", "Short_SoC_version", text);
}

/* CANN 8.1 has no NpuArch yet; the short name of the chip says it as well. The 960DT has a number
 * of its own and the kernels of the 950. */
static uint32_t arch_of(void *platform) {
    const uint64_t arch = number(platform, "version", "NpuArch");
    if (arch > 0 && arch <= UINT32_MAX) {
        return arch == ASCGRAD_ARCH_960DT ? ASCGRAD_ARCH_950 : (uint32_t)arch;
    }
    struct text text;
    const char *soc = soc_name(platform, &text);
    if (!strcmp(soc, "Ascend910B") || !strcmp(soc, "Ascend910_93")) {
        return ASCGRAD_ARCH_A2;
    }
    if (!strcmp(soc, "Ascend910_95") || !strcmp(soc, "Ascend950")) {
        return ASCGRAD_ARCH_950;
    }
    if (!strcmp(soc, "Ascend910")) {
        return ASCGRAD_ARCH_910;
    }
    return 0;
}

static uint64_t cores_of(void *platform) {
    struct text text;
    const char *kinds = value(platform, "SoCInfo", "core_type_list", &text);
    const bool split = !strcmp(kinds, "CubeCore,VectorCore");
    return number(platform, "SoCInfo", split ? "vector_core_cnt" : "ai_core_cnt");
}

/* What kernels may use: all of it on the first 910. On A2 and A3 the last 256 bytes belong to the
 * framework. On 950 Ascend C keeps 8 KB of the 256 KB; the platform files of CANN have that taken
 * off already (253952), an unreduced value is reduced here. */
static uint64_t usable_ub(uint64_t ub, uint32_t arch) {
    const uint64_t tail = 256, full_950 = 256 * 1024, kept_950 = 8 * 1024;
    if (arch == ASCGRAD_ARCH_A2) {
        return ub > tail ? ub - tail : 0;
    }
    return arch == ASCGRAD_ARCH_950 && ub >= full_950 ? ub - kept_950 : ub;
}

ascgrad_result ascgrad_read_chip(void *platform, const struct ascgrad_node *node,
                                 struct ascgrad_chip *chip, struct ascgrad_error *error) {
    if (!platform) {
        return ascgrad_refuse(error, node,
                              "GE gave no platform information, so the number of cores"
                              " and the size of the UB are not known");
    }
    struct text text;
    const uint32_t arch = arch_of(platform);
    if (arch != ASCGRAD_ARCH_910 && arch != ASCGRAD_ARCH_A2 && arch != ASCGRAD_ARCH_950) {
        return ascgrad_refuse(error, node,
                              "chip '%s' has architecture %" PRIu32
                              ", supported are %d (first 910), %d (A2, A3) and %d (950)",
                              soc_name(platform, &text), arch, ASCGRAD_ARCH_910, ASCGRAD_ARCH_A2,
                              ASCGRAD_ARCH_950);
    }
    const uint64_t cores = cores_of(platform);
    const uint64_t ub = usable_ub(number(platform, "AICoreSpec", "ub_size"), arch);
    if (cores == 0 || cores > UINT16_MAX || ub == 0) {
        return ascgrad_refuse(error, node,
                              "the platform of chip '%s' reports %" PRIu64
                              " vector cores and %" PRIu64 " usable bytes of UB",
                              soc_name(platform, &text), cores, ub);
    }
    *chip = (struct ascgrad_chip){.cores = (uint32_t)cores,
                                  .arch = arch,
                                  .ub = ub,
                                  .l2 = number(platform, "SoCInfo", "l2_size")};
    return ASCGRAD_DONE;
}

/* Not tolower: that follows the locale. */
void ascgrad_chip_name(void *platform, char *name, size_t size) {
    ascgrad_platform_value(platform, "version", "Short_SoC_version", name, size);
    for (char *s = name; *s; s++) {
        *s = *s >= 'A' && *s <= 'Z' ? (char)(*s - 'A' + 'a') : *s;
    }
}

uint64_t ascgrad_system_workspace(uint32_t arch) {
    const uint64_t mib = 1024 * 1024;
    return arch == ASCGRAD_ARCH_A2 || arch == ASCGRAD_ARCH_950 ? 16 * mib : 2 * mib;
}
