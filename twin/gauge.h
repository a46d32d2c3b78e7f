/* SPDX-License-Identifier: Apache-2.0
 *
 * The time of a small kernel that belongs to no operator, by the cycle model: what a chip must
 * reproduce before its times of an operator say anything about the kernel.
 */
#ifndef TWIN_GAUGE_H
#define TWIN_GAUGE_H

#include "launch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A kernel of x, y, workspace and tiling data, checked build. */
struct twin_gauge {
    const char *name;
    twin_entry_fn *entry;
    uint32_t arity;
    const void *tiling;
    size_t tiling_bytes;
    uint32_t cores;
    void *x, *y;
    uint64_t x_bytes, y_bytes;
    struct twin_memory memory;
};

/* constants: as of ascgrad_run_with, or NULL. us: of the kernel, and of its launch. As twin_run. */
int twin_gauge(const struct twin_gauge *gauge, const struct twin_soc *soc, const double *constants,
               double us[2], char why[TWIN_WHY]);

/* What is still in the L2 of so many bytes when a kernel goes over them again and again: all, if
 * they fit. If not, with lines driven out at random: a line stays if it survives all misses of a
 * round, h = exp(-(1 - h) bytes / l2). */
double twin_again(double bytes, double l2);

/* The constants of a chip that accept --calibrate fits, behind those of cycle_constants.h: the
 * place of number index in soc, and its name; NULL past the last one. */
double *twin_soc_constant(struct twin_soc *soc, uint32_t index, const char **name);
/* The chip with its constants taken from the end of such a table; NULL: as it is. */
struct twin_soc twin_soc_with(const struct twin_soc *soc, const double *constants);

#ifdef __cplusplus
}
#endif
#endif
