/* SPDX-License-Identifier: Apache-2.0
 *
 * The probe of `ascgrad accept` on the twin. ASCGRAD_STANDIN_PROBE=differ:N, stop:N, hang:N,
 * crash:N: a chip that answers question N in another way, or not at all.
 */
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../tools/accept/probe/ascgrad_probe_tiling_data.h"
#include "../../../twin/launch.h"

extern twin_entry_fn twin_entry_ascgrad_probe_0_fast;
extern const uint32_t twin_arity_ascgrad_probe_0_fast;

static bool planted(const char *kind, uint32_t question) {
    const char *given = getenv("ASCGRAD_STANDIN_PROBE");
    char wanted[32];
    snprintf(wanted, sizeof wanted, "%s:%u", kind, question);
    return given && strcmp(given, wanted) == 0;
}

__attribute__((visibility("default"))) int standin_probe(const char *soc, void *const *args);
int standin_probe(const char *soc, void *const *args) {
    const AscgradProbeTilingData *tiling = args[3];
    uint32_t *y = args[1];
    char name[32] = "", why[TWIN_WHY];
    for (size_t i = 0; i + 1 < sizeof name && soc[i]; i++) {
        name[i] = (char)tolower((unsigned char)soc[i]);
    }
    const struct twin_arg arg[] = {{"x", TWIN_INPUT, args[0], 8 * PROBE_WORDS},
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
        .soc = twin_find_soc(strncmp(name, "ascend950", 9) == 0 ? "ascend950" : name),
    };
    if (planted("hang", tiling->question)) {
        pause();
    }
    if (planted("crash", tiling->question)) {
        raise(SIGSEGV);
    }
    if (planted("stop", tiling->question) || !launch.soc) {
        return 1;
    }
    const int code = twin_run(&launch, NULL, why);
    if (code == TWIN_OK && planted("differ", tiling->question)) {
        y[0] = y[0] == PROBE_UNTOUCHED ? 0 : PROBE_UNTOUCHED;
    }
    return code;
}
