/* SPDX-License-Identifier: Apache-2.0
 *
 * The probe of `ascgrad accept` on the twin: for its questions themselves, and for the stand-in.
 */
#ifndef TESTS_TOOLS_PROBE_ON_TWIN_H
#define TESTS_TOOLS_PROBE_ON_TWIN_H

#include "../../tools/accept/probe/ascgrad_probe_tiling_data.h"
#include "../../twin/launch.h"

extern twin_entry_fn twin_entry_ascgrad_probe_0_fast;
extern const uint32_t twin_arity_ascgrad_probe_0_fast;

/* x has 2 * PROBE_WORDS words, y PROBE_WORDS. As twin_run. */
static inline int probe_on_twin(const struct twin_soc *soc, void *x, void *y,
                                const AscgradProbeTilingData *tiling, char why[TWIN_WHY]) {
    const struct twin_arg arg[] = {{"x", TWIN_INPUT, x, 8 * PROBE_WORDS},
                                   {"y", TWIN_OUTPUT, y, 4 * PROBE_WORDS}};
    const struct twin_launch launch = {
        .op = "AscgradProbe",
        .entry = twin_entry_ascgrad_probe_0_fast,
        .arity = twin_arity_ascgrad_probe_0_fast,
        .arg = arg,
        .args = 2,
        .tiling = tiling,
        .tiling_bytes = sizeof *tiling,
        .block_dim = 1,
        .soc = soc,
    };
    return twin_run(&launch, NULL, why);
}

#endif
