/* SPDX-License-Identifier: Apache-2.0 */
#include "gauge.h"

#include <math.h>

#include "cycle_table.h"

double *twin_soc_constant(struct twin_soc *soc, uint32_t index, const char **name) {
    static const char *const names[] = {"hbm_bytes_per_cycle", "launch_us", "l2_bytes_per_cycle"};
    double *const place[] = {&soc->hbm_per_cycle, &soc->launch_us, &soc->l2_per_cycle};
    if (index >= sizeof names / sizeof *names) return NULL;
    *name = names[index];
    return place[index];
}

struct twin_soc twin_soc_with(const struct twin_soc *soc, const double *constants) {
    struct twin_soc with = *soc;
    uint32_t behind = 0;
    const char *name;
    while (twin_cycle_name(behind))
        behind++;
    for (uint32_t i = 0; constants && twin_soc_constant(&with, i, &name); i++)
        *twin_soc_constant(&with, i, &name) = constants[behind + i];
    return with;
}

double twin_again(double bytes, double l2) {
    double hits = 0;
    if (bytes <= l2) return 1;
    for (int i = 0; i < 200; i++)
        hits = 1 + expm1(-(1 - hits) * bytes / l2); /* exp would ask for a newer C library */
    return hits;
}

int twin_gauge(const struct twin_gauge *g, const struct twin_soc *soc, const double *constants,
               double us[2], char why[TWIN_WHY]) {
    const struct twin_soc with = twin_soc_with(soc, constants);
    const struct twin_arg arg[] = {{"x", TWIN_INPUT, g->x, g->x_bytes},
                                   {"y", TWIN_OUTPUT, g->y, g->y_bytes}};
    const struct twin_launch launch = {
        .op = g->name,
        .entry = g->entry,
        .arity = g->arity,
        .arg = arg,
        .args = 2,
        .tiling = g->tiling,
        .tiling_bytes = g->tiling_bytes,
        .block_dim = g->cores,
        .soc = &with,
        .checked = true,
        .constants = constants,
        .memory = g->memory,
    };
    struct twin_report report = {0};
    const int code = twin_run(&launch, &report, why);
    us[0] = report.time_us;
    us[1] = report.launch_us;
    return code;
}
