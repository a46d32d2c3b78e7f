/* SPDX-License-Identifier: Apache-2.0
 *
 * What the chip is, from the platform object that GE puts into a tiling context.
 */
#ifndef ASCGRAD_GE_PLATFORM_H
#define ASCGRAD_GE_PLATFORM_H

#include "../core/node.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Copies the platform's value of key in [label] into text, which is empty if there is none or it
 * does not fit. platform is a fe::PlatFormInfos *, not NULL. This is all the C++ there is
 * (platform.cpp). */
void ascgrad_platform_value(void *platform, const char *label, const char *key, char *text,
                            size_t size);

/* Vector cores, usable UB and architecture; refuses what it cannot find or does not know. */
ascgrad_result ascgrad_read_chip(void *platform, const struct ascgrad_node *node,
                                 struct ascgrad_chip *chip, struct ascgrad_error *error);

/* The chip's short name as its folders are called, "ascend910b"; empty if the platform has none. */
void ascgrad_chip_name(void *platform, char *name, size_t size);

/* The workspace that Ascend C takes for itself, in front of the operator's. */
uint64_t ascgrad_system_workspace(uint32_t arch);

#ifdef __cplusplus
}
#endif
#endif
