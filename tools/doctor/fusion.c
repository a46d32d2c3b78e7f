/* SPDX-License-Identifier: Apache-2.0
 *
 * The graph pass. GE opens whatever lies in custom_fusion_passes/ of CANN's own vendors, and does
 * not start if it cannot; so the pass is opened here in the same way.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"

void doctor_check_fusion(struct doctor *d) {
    char path[PATH + 64];
    struct text answer = {0};
    TEXT(path, "%s/" FUSION_ACTIVE, d->ours->dir);
    if (!doctor_is_file(path)) {
        doctor_say(d, LEVEL_OK, "fusion", NULL,
                   "graph pass: off (`ascgrad fusion on` lets GE use it)");
        return;
    }
    doctor_ask_library(path, NULL, &answer);
    const char *off = getenv("ASCGRAD_FUSION");
    if (text_of(&answer)[0] == '!') {
        doctor_say(d, LEVEL_FAIL, "fusion", "ascgrad fusion off",
                   "graph pass: GE will not start, because it cannot open %s: %s", path,
                   text_of(&answer) + 1);
    } else if (d->ours->from_env) {
        doctor_say(d, LEVEL_WARN, "fusion", NULL,
                   "graph pass: GE does not look for it in %s, only in CANN's own vendors",
                   d->ours->dir);
    } else if (off && strcmp(off, "0") == 0) {
        doctor_say(d, LEVEL_OK, "fusion", NULL, "graph pass: on, but ASCGRAD_FUSION=0 is set here");
    } else {
        doctor_say(d, LEVEL_OK, "fusion", NULL, "graph pass: on, and opens as GE opens it");
    }
    text_free(&answer);
}
