/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the kernel that tiling is asked for is ours. CANN has one tiling function per operator
 * type, and where a custom package has one it is that; the kernel is looked up elsewhere. GE
 * compiles our kernel from the package's source, so there the two belong together. aclnn (nnopbase)
 * takes whatever its index of binaries has, which for a type that CANN has too is CANN's kernel
 * unless binaries of ours are installed. Our numbers would make that kernel compute nonsense
 * without a word, so it gets none. Who asks is seen from the compile info:
 *
 *   NULL                aclnn's plain route, which has none and does not say which kernel it found:
 *                       the installer has written into the library for which chips ours are there
 *   marked as foreign   aclnn's composite route, which names the kernel when it calls tiling_parse
 *   otherwise           GE, at compile time or run time, the kernel compiler, or aclnn with ours
 */
#include "context.h"
#include "platform.h"

#include <stdlib.h>

#define OUR_KERNELS "ascgrad_" /* how the names of our binaries begin: ascgrad_<Type>_<md5> */
#define REMEDY      "run scripts/compile.sh of the package, or install it with --no-override"

/* What the creator makes, tiling_parse fills, and GE or aclnn hands to every tiling call. */
struct compile_info {
    bool foreign;
    char kernel[96]; /* cut if it is longer; for the refusal only */
};

void *ascgrad_ge_compile_info_new(void) {
    return calloc(1, sizeof(struct compile_info));
}

void ascgrad_ge_compile_info_delete(void *compile_info) {
    free(compile_info);
}

/* Only the composite route says a kernel type that is the operator's. GE at run time has the name
 * of its own step there ("TilingParse"); its other callers say nothing at all. */
static const struct ge_kernel *named_kernel(const struct ge_context *context) {
    const struct ge_kernel *kernel = context->extend;
    const char *type = context->node ? context->node->type : NULL;
    return kernel && kernel->type && type && strcmp(kernel->type, type) == 0 ? kernel : NULL;
}

/* The one output is the object of the creator. Without one, which is a creator out of memory, every
 * later tiling call would look like aclnn's, so this is where it ends. */
uint32_t ascgrad_ge_tiling_parse(struct ge_context *context) {
    const struct ge_slot *slot = context ? ascgrad_output_slot(context, 0) : NULL;
    struct compile_info *info = slot ? slot->value.pointer : NULL;
    if (!info) {
        ascgrad_log("tiling_parse was called without a place for its compile info");
        return GE_FAILED;
    }
    *info = (struct compile_info){.foreign = false};
    const struct ge_kernel *kernel = named_kernel(context);
    if (kernel) {
        const char *name = kernel->name ? kernel->name : "";
        info->foreign = strncmp(name, OUR_KERNELS, sizeof OUR_KERNELS - 1) != 0;
        memcpy(info->kernel, name, strnlen(name, sizeof info->kernel - 1));
    }
    return GE_SUCCESS;
}

/* Whether a chip is in a list like "ascend910b,ascend910_93". */
static bool listed(const char *list, const char *chip) {
    const size_t size = strlen(chip);
    for (const char *at = list; size > 0 && *at; at += *at == ',') {
        const size_t n = strcspn(at, ",");
        if (n == size && memcmp(at, chip, size) == 0) {
            return true;
        }
        at += n;
    }
    return false;
}

static bool installed_for(const volatile char *chips, const char *chip) {
    char list[ASCGRAD_CHIPS];
    for (size_t i = 0; i < sizeof list; i++) {
        list[i] = chips[i];
    }
    list[sizeof list - 1] =
        '\0'; /* as the installer leaves it; one that does not is not followed */
    return listed(list, chip);
}

static const struct compile_info *compile_info(const struct ge_context *context) {
    const struct ge_slot *slot =
        ascgrad_input_slot(context, context->node->inputs + context->node->outputs);
    return slot ? slot->value.pointer : NULL;
}

bool ascgrad_asked_by_aclnn(const struct ge_context *context) {
    const struct compile_info *info = compile_info(context);
    return !info || info->kernel[0];
}

ascgrad_result ascgrad_guard(const struct ge_context *context, const struct ascgrad_node *node,
                             void *platform, const volatile char *chips,
                             struct ascgrad_error *error) {
    const struct compile_info *info = compile_info(context);
    if (info && info->foreign) {
        return ascgrad_refuse(
            error, node, "aclnn asks on behalf of kernel '%s', which is not ascgrad's; " REMEDY,
            info->kernel);
    }
    if (info) {
        return ASCGRAD_DONE;
    }
    char chip[32];
    ascgrad_chip_name(platform, chip, sizeof chip);
    if (!installed_for(chips, chip)) {
        return ascgrad_refuse(error, node,
                              "aclnn asks on behalf of a kernel that is not ascgrad's, because no "
                              "kernel binaries of ascgrad for %s on %s are installed; " REMEDY,
                              node->ir->type, chip[0] ? chip : "an unknown chip");
    }
    return ASCGRAD_DONE;
}
