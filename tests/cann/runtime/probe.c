/* SPDX-License-Identifier: Apache-2.0
 *
 * The two kernels of `ascgrad accept` on the twin.
 *
 * The probe: ASCGRAD_STANDIN_PROBE=differ:N, stop:N, hang:N, crash:N is a chip that answers
 * question N in another way, or not at all.
 *
 * The one that times are taken of: ASCGRAD_STANDIN_GAUGE=NAME:PLACE:FACTOR,... is a chip that takes
 * so many times as long for it as the model says, with the data in memory (PLACE is 0) or again in
 * the L2 (1); FACTOR 0 is one that does nothing at all.
 */
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../tools/accept/gauges.h"
#include "../../tools/probe_on_twin.h"
#include "../nnopbase/constants.h"

#define API __attribute__((visibility("default")))

extern twin_entry_fn twin_entry_ascgrad_gauge_0_fast;
extern const uint32_t twin_arity_ascgrad_gauge_0_fast;

static const struct twin_soc *find_chip(const char *soc) {
    char name[32] = "";
    for (size_t i = 0; i + 1 < sizeof name && soc[i]; i++) {
        name[i] = (char)tolower((unsigned char)soc[i]);
    }
    return twin_find_soc(strncmp(name, "ascend950", 9) == 0 ? "ascend950" : name);
}

static bool planted(const char *kind, uint32_t question) {
    const char *given = getenv("ASCGRAD_STANDIN_PROBE");
    char wanted[32];
    snprintf(wanted, sizeof wanted, "%s:%u", kind, question);
    return given && strcmp(given, wanted) == 0;
}

API int standin_probe(const char *soc, uint32_t blocks, bool again, void *const *args, double *us);
int standin_probe(const char *soc, uint32_t blocks, bool again, void *const *args, double *us) {
    const AscgradProbeTilingData *tiling = args[3];
    const struct twin_soc *chip = find_chip(soc);
    uint32_t *y = args[1];
    char why[TWIN_WHY];
    (void)blocks, (void)again, (void)us;
    if (planted("hang", tiling->question)) {
        pause();
    }
    if (planted("crash", tiling->question)) {
        raise(SIGSEGV);
    }
    if (planted("stop", tiling->question) || !chip) {
        return 1;
    }
    const int code = probe_on_twin(chip, args[0], y, tiling, why);
    if (code == TWIN_OK && planted("differ", tiling->question)) {
        y[0] = y[0] == PROBE_UNTOUCHED ? 0 : PROBE_UNTOUCHED;
    }
    return code;
}

static double factor_of(const char *name, bool again) {
    const char *at = getenv("ASCGRAD_STANDIN_GAUGE");
    char wanted[48];
    snprintf(wanted, sizeof wanted, "%s:%d:", name, again);
    for (; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        if (strncmp(at, wanted, strlen(wanted)) == 0) {
            return strtod(at + strlen(wanted), NULL);
        }
    }
    return 1;
}

/* Really, but once: launches of the same kernel do the same again. */
static int run_once(const struct gauge *g, const struct twin_soc *soc, uint32_t blocks,
                    void *const *args) {
    static void *last;
    static AscgradGaugeTilingData seen;
    struct twin_arg arg[] = {{"x", TWIN_INPUT, args[0], 0}, {"y", TWIN_OUTPUT, args[1], 0}};
    char why[TWIN_WHY];
    if (last == args[1] && memcmp(&seen, args[3], sizeof seen) == 0) {
        return TWIN_OK;
    }
    last = args[1];
    memcpy(&seen, args[3], sizeof seen);
    gauge_sizes(g, &arg[0].bytes, &arg[1].bytes);
    const struct twin_launch launch = {
        .op = "AscgradGauge",
        .entry = twin_entry_ascgrad_gauge_0_fast,
        .arity = twin_arity_ascgrad_gauge_0_fast,
        .arg = arg,
        .args = 2,
        .tiling = args[3],
        .tiling_bytes = sizeof seen,
        .block_dim = blocks,
        .soc = soc,
    };
    return twin_run(&launch, NULL, why);
}

API int standin_gauge(const char *soc, uint32_t blocks, bool again, void *const *args, double *us);
int standin_gauge(const char *soc, uint32_t blocks, bool again, void *const *args, double *us) {
    static struct { double us[2]; } known[GAUGES][GAUGE_PLACES_OF_DATA];
    const struct twin_soc *chip = find_chip(soc);
    size_t n = 0;
    AscgradGaugeTilingData tiling;
    for (; chip && n < gauge_count; n++) {
        tiling = gauge_tiling(&gauges[n]);
        if (memcmp(&tiling, args[3], sizeof tiling) == 0) {
            break;
        }
    }
    if (!chip || n == gauge_count || blocks != (gauges[n].cores ? gauges[n].cores : chip->cores)) {
        return 1;
    }
    const enum gauge_place place = again ? GAUGE_AGAIN : GAUGE_COLD;
    const double factor = factor_of(gauges[n].name, again);
    double *time = known[n][place].us;
    if (time[1] <= 0 && !gauge_model(&gauges[n], chip, place, standin_constants(chip), time)) {
        return 1;
    }
    *us = n == GAUGE_LAUNCH ? factor * (time[0] + time[1]) : factor * time[0] + time[1];
    return factor > 0 ? run_once(&gauges[n], chip, blocks, args) : TWIN_OK;
}
