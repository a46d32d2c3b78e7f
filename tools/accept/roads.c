/* SPDX-License-Identifier: Apache-2.0
 *
 * The runners: for aclnn a program that lies beside this one; for GE one that is built here, from
 * the sources in the package against the headers of the toolkit, because GE's interface is C++. For
 * CANN's own operators both again, in an opp that has everything but vendors.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "../../package/files.h"
#include "accept.h"
#include "../doctor/parts.h"

const char *accept_road_name(enum road road) {
    static const char *const name[] = {"ge", "aclnn", "cann"};
    return name[road];
}

/* An opp with links to all that the real one has, except vendors. */
static bool make_bare_opp(const struct accept *a, struct roads *roads) {
    TEXT(roads->opp, "ASCEND_OPP_PATH=%.4000s/opp", a->scratch);
    const char *dir = strchr(roads->opp, '=') + 1;
    DIR *opp = mkdir(dir, 0755) == 0 ? opendir(a->opp) : NULL;
    bool some = false;
    for (struct dirent *e; opp && (e = readdir(opp));) {
        char from[PATH_MAX + 300], to[PATH_MAX + 300];
        if (e->d_name[0] == '.' || strcmp(e->d_name, "vendors") == 0) continue;
        TEXT(from, "%s/%s", a->opp, e->d_name);
        TEXT(to, "%s/%s", dir, e->d_name);
        some |= symlink(from, to) == 0;
    }
    if (opp) closedir(opp);
    return some;
}

static bool build_ge(struct accept *a, struct roads *roads, char why[ACCEPT_WHY]) {
    char script[PATH_MAX + 32], clean[ACCEPT_WHY];
    int status;
    if (a->ge_runner[0]) {
        TEXT(roads->ge, "%s", a->ge_runner);
        return true;
    }
    TEXT(script, "%s/build_ge.sh", a->share);
    TEXT(roads->ge, "%.4000s/accept_ge", a->scratch);
    const char *const argv[] = {"sh", script, roads->ge, NULL};
    char *text = accept_output_of(argv, 300, &status);
    if (status == 0) {
        free(text);
        return true;
    }
    accept_scrub(a, text ? text : "the build took too long", clean, sizeof clean);
    snprintf(why, ACCEPT_WHY, "the runner cannot be built: %.1000s", clean);
    free(text);
    return false;
}

/* A value out of a runner's greeting. */
static void tell(const struct accept *a, struct line value, char *to, size_t size) {
    char raw[WIRE_TEXT];
    TEXT(raw, "%.*s", (int)value.size, value.s);
    accept_scrub(a, raw, to, size);
}

bool roads_greet(struct accept *a, struct runner *r, struct accept_road *road) {
    static const struct wire_request request = {.magic = WIRE_MAGIC, .kind = WIRE_HELLO};
    struct wire_answer answer = {0};
    char why[ACCEPT_WHY] = "";
    const double deadline = accept_now() + a->options.timeout;
    bool good = runner_start(r, why) &&
                runner_send(r, &request, sizeof request, deadline, why) == RUNNER_WELL &&
                runner_receive(r, &answer, sizeof answer, deadline, why) == RUNNER_WELL;
    wire_end(&answer);
    if (good && (answer.magic != WIRE_MAGIC || answer.status != WIRE_DONE)) {
        snprintf(why, sizeof why, "%s", answer.magic == WIRE_MAGIC ? answer.text : "?");
        good = false;
    }
    if (!good) {
        accept_scrub(a, why, road->why, sizeof road->why);
        runner_stop(r);
        return false;
    }
    struct line line, value;
    for (const char *at = answer.text; next_line(&at, &line);) {
        if (line_after(line, "soc=", &value) && !a->soc[0]) tell(a, value, a->soc, sizeof a->soc);
        if (line_after(line, "cores=", &value)) tell(a, value, road->cores, sizeof road->cores);
        if (line_after(line, "l2=", &value)) tell(a, value, road->l2, sizeof road->l2);
    }
    return true;
}

static void set_runner(struct roads *roads, struct runner *r, bool ge, bool cann) {
    memset(r, 0, sizeof *r);
    r->argv[0] = ge ? roads->ge : roads->aclnn;
    r->argv[1] = ge ? roads->device : cann ? "cann" : roads->library;
    r->argv[2] = ge ? NULL : roads->device;
    r->env[0] = cann ? roads->opp : NULL;
    r->env[1] = cann ? "ASCEND_CUSTOM_OPP_PATH" : NULL;
}

void roads_open(struct accept *a, struct roads *roads) {
    struct accept_road *ge = &a->road[ROAD_GE], *aclnn = &a->road[ROAD_ACLNN],
                       *cann = &a->road[ROAD_CANN];
    memset(roads, 0, sizeof *roads);
    /* beside this program; the one in the wheel has none */
    struct utsname machine = {.machine = ""};
    uname(&machine);
    TEXT(roads->aclnn, "%.4000s/accept_aclnn", a->bin);
    if (access(roads->aclnn, X_OK) != 0)
        TEXT(roads->aclnn, "%.4000s/bin/%s/accept_aclnn", a->package, machine.machine);
    TEXT(roads->library, "%.4000s/op_api/lib/libcust_opapi.so", a->package);
    TEXT(roads->device, "%d", a->options.device);
    for (int i = 0; i < ROADS; i++)
        a->road[i].asked = a->options.road[i];
    const bool built = ge->asked && build_ge(a, roads, ge->why);
    set_runner(roads, &roads->runner[ROAD_GE][0], true, false);
    set_runner(roads, &roads->runner[ROAD_ACLNN][0], false, false);
    set_runner(roads, &roads->runner[ROAD_CANN][0], false, true);
    set_runner(roads, &roads->runner[ROAD_CANN][1], true, true);
    if (aclnn->asked) roads_greet(a, &roads->runner[ROAD_ACLNN][0], aclnn);
    if (built) roads_greet(a, &roads->runner[ROAD_GE][0], ge);
    if (cann->asked && !make_bare_opp(a, roads)) snprintf(cann->why, sizeof cann->why, "no opp");
    /* CANN's functions, or, where they are not, its graphs */
    if (!cann->asked || cann->why[0]) return;
    roads->cann_kind = aclnn->asked && roads_greet(a, &roads->runner[ROAD_CANN][0], cann) ? 0 : 1;
    if (roads->cann_kind == 1 && ge->asked && !ge->why[0]) cann->why[0] = 0;
}

void roads_close(struct roads *roads) {
    for (int i = 0; i < ROADS; i++)
        for (int k = 0; k < 2; k++)
            runner_stop(&roads->runner[i][k]);
}
