/* SPDX-License-Identifier: Apache-2.0
 *
 * Small kernels that a chip should run as fast as was measured in public, before its times of an
 * operator say anything about the operator's kernel. Each is run with its data in memory, then
 * again and again, so that of its data are in the L2 what fits.
 */
#ifndef ASCGRAD_TOOLS_ACCEPT_GAUGES_H
#define ASCGRAD_TOOLS_ACCEPT_GAUGES_H

#include "../../twin/gauge.h"
#include "probe/ascgrad_gauge_tiling_data.h"
#include "questions.h"

enum gauge_place { GAUGE_COLD, GAUGE_AGAIN, GAUGE_PLACES_OF_DATA };

struct gauge_public {
    double us;          /* 0: nobody has measured it */
    bool launch;        /* its launch is in it */
    const char *source; /* what was measured, where and on which chip */
};

struct gauge {
    const char *name, *what;
    enum AscgradGaugeWhat kind;
    uint32_t tiles, cores; /* cores 0: all */
    bool past;
    double claimed; /* per cent that the model claims to be near */
    struct gauge_public known[CHIPS][GAUGE_PLACES_OF_DATA];
};

extern const struct gauge gauges[];
extern const size_t gauge_count;

/* Their numbers in the table. */
enum {
    GAUGE_LAUNCH,
    GAUGE_VECTOR,
    GAUGE_STREAM,
    GAUGE_SMALL,
    GAUGE_SMALL_PAST,
    GAUGE_LARGE,
    GAUGE_LARGE_PAST,
    GAUGES
};

bool gauge_asked(const struct gauge *g, enum question_chip chip);
void gauge_sizes(const struct gauge *g, uint64_t *x, uint64_t *y);
AscgradGaugeTilingData gauge_tiling(const struct gauge *g);
/* Is this the end of y behind the kernel? */
bool gauge_done(const struct gauge *g, const uint8_t tail[GAUGE_TAIL]);
/* us of the kernel and of its launch, by the model; false: the twin does not run it. A part of a
 * stream is run, and the rest follows from that. */
bool gauge_model(const struct gauge *g, const struct twin_soc *soc, enum gauge_place place,
                 const double *constants, double us[2]);

#endif
