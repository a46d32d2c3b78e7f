/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of `ascgrad accept` share: the options, the cases and what became of each on every
 * road, the runners that do the work on the chip, the report.
 */
#ifndef ASCGRAD_TOOLS_ACCEPT_H
#define ASCGRAD_TOOLS_ACCEPT_H

#include <limits.h>
#include <sys/types.h>

#include "../../package/json.h"
#include "../../package/text.h"
#include "wire.h"
#include "gauges.h"
#include "questions.h"
#include "../check/check.h"

/* CANN's own operator is asked on one of the two roads, in a world without our package. */
enum road { ROAD_GE, ROAD_ACLNN, ROAD_CANN, ROADS };

/* weigh.c: the distribution of errors, in ulp of the output's type. The last bin is open. */
enum { ACCEPT_BINS = 12, ACCEPT_TYPES = 3, ACCEPT_WHY = WIRE_TEXT + 100 };
extern const double accept_bin_end[ACCEPT_BINS - 1];
extern const int32_t accept_type[ACCEPT_TYPES];

struct accept_options {
    bool quick, calibrate, questions, times;
    const char *op, *out, *ge_runner;
    bool road[ROADS];
    int timeout, device;
};

enum verdict { VERDICT_SKIP, VERDICT_PASS, VERDICT_FAIL };

struct accept_output {
    int64_t elements, differ; /* differ: other bits than the twin's */
    double contract;          /* what is beyond rounding over what is allowed: at most 1 */
    double ulp;               /* largest error */
    double matched;           /* share within the vendor's tolerance */
    double absolute;          /* largest error, for the vendor's limit */
    bool vendor;              /* the vendor's published standard is met */
    int64_t worst, other;     /* where: the largest of contract, the first that differs */
    double got, want;         /* there: at worst, or else at other */
};

/* A case on a road. */
struct accept_result {
    enum verdict verdict;
    char why[ACCEPT_WHY]; /* of a failure or of what was left out */
    struct accept_output out[ASCGRAD_OUTPUTS_MAX];
    int repeats, cores, dynamic, in_place; /* runs that were done */
    uint32_t times, again_times;
    double p50, again_p50; /* us: with the data in memory, and behind the same call */
    bool on_host;
};

struct accept_case {
    const struct row *row;
    const char *star; /* the dtype for * */
    bool large, timed;
    char *text; /* as `ascgrad check --rows` takes it */
    uint64_t seed;
    struct ascgrad_op_info op;
    bool modelled;
    double model_us, model_l2_us, launch_us, roofline_us, copy_us, copy_l2_us, l2_share;
    struct accept_result result[ROADS];
};

struct accept_road {
    bool asked;
    char why[ACCEPT_WHY]; /* it could not be used: why */
    char cores[16], l2[16];
};

/* What the chip said to a question. */
enum answer_verdict { ANSWER_NOT_ASKED, ANSWER_AGREES, ANSWER_DIFFERS };

struct accept_answer {
    enum answer_verdict verdict;
    const char *expected;      /* the twin's; NULL: not asked on this chip */
    char got[QUESTION_ANSWER]; /* "": the chip did not answer */
    char why[ACCEPT_WHY];
};

/* What became of a small kernel, by where its data lie. */
enum gauge_verdict { GAUGE_NOT_MEASURED, GAUGE_AGREES, GAUGE_DIFFERS };

struct accept_gauge {
    char why[ACCEPT_WHY];                             /* it was not measured */
    double model[GAUGE_PLACES_OF_DATA], launch;       /* us, by the model; 0: no model */
    double p50[GAUGE_PLACES_OF_DATA];                 /* us, launch included; 0: not measured */
    enum gauge_verdict verdict[GAUGE_PLACES_OF_DATA]; /* beside the model */
};

/* Why an operator's time is not what the model says. */
enum accept_cause { CAUSE_UNKNOWN, CAUSE_SMALL, CAUSE_AGREES, CAUSE_MODEL, CAUSE_KERNEL, CAUSES };

/* A constant of the cycle model and what the measured times say of it. */
struct accept_constant {
    const char *name;
    double value, proposed, influence; /* influence: d log(time) / d log(value), rms */
};

struct accept {
    struct accept_options options;
    char package[PATH_MAX], opp[PATH_MAX], share[PATH_MAX], bin[PATH_MAX], scratch[PATH_MAX];
    int from_fd;         /* the working directory of the caller; ours is scratch */
    char from[PATH_MAX]; /* its name, "" if it has none */
    char ge_runner[PATH_MAX];
    struct accept_secret *secret;
    size_t secrets;
    char left_out[1024];     /* types that the installation left to CANN */
    char soc[64];            /* as the runtime calls the chip */
    const char *model;       /* what the twin calls it, or NULL: times are not predicted */
    struct text environment; /* members of a JSON object, without braces */
    char *doctor;            /* its answer, scrubbed */
    char doctor_worst[8];
    struct accept_road road[ROADS];
    enum question_chip chip;
    struct accept_answer *answer; /* by question */
    struct accept_gauge gauge[GAUGES];
    struct accept_case *cases;
    size_t count;
    uint64_t histogram[ACCEPT_TYPES][ACCEPT_BINS];
    double fit_before, fit_after, fit_offset; /* rms of log(measured / modelled) */
    struct accept_constant *constant;
    size_t constants;
    char date[32];
    double took; /* seconds */
    bool interrupted;
};

/* place.c: where things are, and what may be told of this machine. */
/* Into a folder of our own, which is empty: programs, libraries and modules that somebody looks for
 * in the working directory are not found there. accept_leave deletes it. */
bool accept_move(struct accept *a, char why[ACCEPT_WHY]);
void accept_leave(struct accept *a);
bool accept_find(struct accept *a, char why[ACCEPT_WHY]);
void accept_environment(struct accept *a);
/* May another package's operator of this type be called as ours is, with so many attributes? */
bool accept_cann_has(const struct accept *a, const struct ascgrad_op_info *op, uint32_t used);

/* private.c: what is private on this machine, and how it is taken out of a text. */
void accept_learn(struct accept *a);
void accept_forget(struct accept *a);
/* Paths outside the opp and the package, and the names of host and user, go. What is left is UTF-8
 * without control characters. */
void accept_scrub(const struct accept *a, const char *from, char *to, size_t size);
#define ACCEPT_ODD "\357\277\275" /* U+FFFD, for what is none */

/* rows.c */
bool accept_choose(struct accept *a);

/* child.c: a program, its pipes, and a watchdog. */
struct runner {
    const char *argv[7], *env[3]; /* env: NAME=VALUE to set; NAME to unset */
    pid_t pid;                    /* 0: not running */
    int to, from, err;
    char tail[4096]; /* the last that it said on stderr */
    bool cut;        /* and it has said more */
};
bool runner_start(struct runner *r, char why[ACCEPT_WHY]);
void runner_stop(struct runner *r);
enum runner_end { RUNNER_WELL, RUNNER_HANGS, RUNNER_DIED };
/* Sends and receives; after a hang or a death the runner is gone and why says how it ended. */
enum runner_end runner_send(struct runner *r, const void *data, size_t size, double deadline,
                            char why[ACCEPT_WHY]);
enum runner_end runner_receive(struct runner *r, void *data, size_t size, double deadline,
                               char why[ACCEPT_WHY]);
double accept_now(void); /* seconds */
/* A command's standard output, at most so many seconds of it, and its wait status. To be freed. */
char *accept_output_of(const char *const argv[], double seconds, int *status);

/* roads.c: the runners of the roads. */
struct roads {
    struct runner runner[ROADS][2]; /* CANN's own has two: of functions, of graphs */
    int cann_kind;
    char library[PATH_MAX], aclnn[PATH_MAX], ge[PATH_MAX], opp[PATH_MAX + 32], device[16];
};
void roads_open(struct accept *a, struct roads *roads);
void roads_close(struct roads *roads);

/* Starts a runner and asks what it is; road gets that, or why it does not run. */
bool roads_greet(struct accept *a, struct runner *r, struct accept_road *road);

/* A kernel of share/accept/probe: compiled with the toolkit's compiler, launched by the runner. */
struct probe {
    struct accept *a;
    struct runner runner;
    char file[PATH_MAX], kernel[WIRE_NAME];
    char closed[ACCEPT_WHY]; /* it cannot be launched, or no longer: why */
};
bool probe_open(struct accept *a, struct probe *p, const char *program, const char *type);
void probe_close(struct probe *p, const char *why);
struct wire_request probe_request(const struct probe *p, enum wire_kind kind, size_t tiling);
/* inputs: of those that are sent, behind the file's name. False: why says what happened. */
bool probe_exchange(struct probe *p, const struct wire_request *request, const void *const input[],
                    void *out, struct wire_answer *answer, char why[ACCEPT_WHY]);

/* measure.c: the small kernels, by the same program; and what follows from their times. */
void accept_measure(struct accept *a, const char *program);
void accept_say_gauges(const struct accept *a);
void accept_say_causes(const struct accept *a);
const char *accept_gauge_name(enum gauge_verdict verdict);
/* What was measured of it in public on such a chip, or NULL. */
const struct gauge_public *accept_public(const struct accept *a, size_t i, enum gauge_place place);
/* Is reading past the L2, as op_tiling/l2.h does it, right on this chip? A sentence; *holds: 1 yes,
 * 0 no, -1 not measured. */
void accept_l2_rule(const struct accept *a, int *holds, char text[ACCEPT_WHY]);
/* Of a case on the aclnn road; *ratio: measured over modelled, launches taken off. */
enum accept_cause accept_cause(const struct accept *a, const struct accept_case *c,
                               enum gauge_place place, double *ratio);
const char *accept_cause_name(enum accept_cause cause);
double accept_p50(float *us, uint32_t times); /* sorts */
/* How fast an operator is, by the largest row that tells: its time without launch over a copy of
 * the least bytes as this chip runs it, and CANN's time over ours. A case is NULL, and a figure 0,
 * where nothing was measured. */
struct accept_speed {
    const struct accept_case *copied, *beside;
    double over_copy[GAUGE_PLACES_OF_DATA], over_cann;
};
struct accept_speed accept_speed(const struct accept *a, const char *type);

/* ask.c: the questions, by the runner's program. */
void accept_ask(struct accept *a, const char *program);
void accept_count_answers(const struct accept *a, size_t count[3]);
void accept_say_answers(const struct accept *a);
const char *accept_answer_name(enum answer_verdict verdict);
bool accept_stopped(void); /* accept.c: by a signal */

/* data against the twin's, which t has, and against double precision. The errors go into the
 * histogram of a, unless it is NULL. */
void accept_weigh(struct accept *a, struct accept_output *o, const struct ascgrad_tensor *t,
                  const void *data, const struct ref_tensor *want);

/* judge.c: one case on all roads. */
void accept_judge(struct accept *a, struct roads *roads, struct accept_case *c);
/* How many cases were left out, passed and failed on a road; is that a pass? */
bool accept_verdict(const struct accept *a, enum road road, size_t count[3]);
bool accept_passed(const struct accept *a);

/* fit.c */
void accept_fit(struct accept *a);

/* The files of the report as text; zip.c packs them. */
void accept_json(const struct accept *a, struct text *out);
void accept_junit(const struct accept *a, struct text *out);
void accept_html(const struct text *json, struct text *out);
struct accept_file {
    const char *name;
    const struct text *text;
};
void accept_zip(const struct accept_file *file, size_t files, struct text *out);

const char *accept_road_name(enum road road);
const char *accept_verdict_name(enum verdict verdict);

#endif
