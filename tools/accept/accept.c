/* SPDX-License-Identifier: Apache-2.0
 *
 * `ascgrad accept`: the installed package on this machine's chip. Every row on every road against
 * double precision, the twin and itself, with times; then a report in three formats and one archive
 * to send. docs/accept.md says what it shows.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "accept.h"
#include "../commands.h"
#include "../help.h"
#include "../out.h"
#include "../doctor/parts.h"

static bool set_roads(struct accept_options *o, const char *list) {
    char word[16];
    o->road[ROAD_GE] = o->road[ROAD_ACLNN] = false;
    for (const char *at = list; next_word(&at, ',', word, sizeof word);) {
        if (strcmp(word, "ge") == 0)
            o->road[ROAD_GE] = true;
        else if (strcmp(word, "aclnn") == 0)
            o->road[ROAD_ACLNN] = true;
        else
            return false;
    }
    return o->road[ROAD_GE] || o->road[ROAD_ACLNN];
}

static bool set_number(const char *text, int least, int most, int *value) {
    char *end;
    const long n = strtol(text, &end, 10);
    *value = (int)n;
    return end != text && !*end && n >= least && n <= most;
}

static bool known_op(const char *name) {
    struct request r;
    const bool known = request_begin(&r, name);
    if (known) request_free(&r);
    return known;
}

/* The value of an option; NULL after a complaint that there is none. */
static const char *value_of(int argc, char **argv, int *i) {
    if (*i + 1 < argc) return argv[++*i];
    complain("%s wants a value", argv[*i]);
    return NULL;
}

static bool one_option(struct accept_options *o, const char *name, const char *value) {
    if (strcmp(name, "--op") == 0) return o->op = value, known_op(value);
    if (strcmp(name, "--out") == 0) return o->out = value, *value != 0;
    if (strcmp(name, "--ge-runner") == 0) return o->ge_runner = value, *value != 0;
    if (strcmp(name, "--roads") == 0) return set_roads(o, value);
    if (strcmp(name, "--timeout") == 0) return set_number(value, 1, 86400, &o->timeout);
    return set_number(value, 0, 4095, &o->device);
}

static int parse(struct accept_options *o, int argc, char **argv) {
    static const struct {
        const char *name, *values;
    } with_value[] = {{"--op", NULL},
                      {"--out", "a folder"},
                      {"--roads", "ge, aclnn or ge,aclnn"},
                      {"--timeout", "1 to 86400 seconds"},
                      {"--device", "0 to 4095"},
                      {"--ge-runner", "a program"}};
    *o = (struct accept_options){
        .out = "ascgrad-accept", .timeout = 180, .questions = true, .times = true};
    o->road[ROAD_GE] = o->road[ROAD_ACLNN] = o->road[ROAD_CANN] = true;
    for (int i = 0; i < argc; i++) {
        bool found = true;
        if (strcmp(argv[i], "--quick") == 0)
            o->quick = true;
        else if (strcmp(argv[i], "--calibrate") == 0)
            o->calibrate = true;
        else if (strcmp(argv[i], "--no-cann") == 0)
            o->road[ROAD_CANN] = false;
        else if (strcmp(argv[i], "--no-questions") == 0)
            o->questions = false;
        else if (strcmp(argv[i], "--no-times") == 0)
            o->times = o->road[ROAD_CANN] = false;
        else
            found = false;
        for (size_t k = 0; !found && k < sizeof with_value / sizeof with_value[0]; k++) {
            if (strcmp(argv[i], with_value[k].name) != 0) continue;
            const char *value = value_of(argc, argv, &i);
            if (!value) return EXIT_USAGE;
            if (!one_option(o, with_value[k].name, value)) {
                if (with_value[k].values)
                    complain("accept %s takes %s, not '%s'", with_value[k].name,
                             with_value[k].values, value);
                else
                    help_unknown_operator(value);
                return EXIT_USAGE;
            }
            found = true;
        }
        if (!found) {
            complain("accept does not know '%s'; see ascgrad accept --help", argv[i]);
            return EXIT_USAGE;
        }
    }
    return EXIT_DONE;
}

/* The twin's name of the chip: the same in lower case, or the longest that it begins with. */
static void find_model(struct accept *a) {
    size_t best = 0;
    for (uint32_t i = 0; ascgrad_soc_name(i); i++) {
        const char *name = ascgrad_soc_name(i);
        const size_t n = strlen(name);
        if (n > best && strncasecmp(a->soc, name, n) == 0) a->model = name, best = n;
    }
}

static void show_progress(const struct accept *a, size_t done, const char *what) {
    enum { WIDTH = 30 };
    char bar[WIDTH + 1];
    if (!isatty(STDERR_FILENO)) return;
    for (size_t i = 0; i < WIDTH; i++)
        bar[i] = i * a->count < done * WIDTH ? '#' : '.';
    bar[WIDTH] = 0;
    fprintf(stderr, "\r[%s] %zu/%zu %-40.40s", bar, done, a->count, what);
    if (done == a->count) fprintf(stderr, "\r%80s\r", "");
    fflush(stderr);
}

static void say_failures(const struct accept_case *c) {
    for (int road = 0; road < ROADS; road++)
        if (c->result[road].verdict == VERDICT_FAIL)
            printf("%sFAIL %-5s %s\n           %s\n", isatty(STDERR_FILENO) ? "\r" : "",
                   accept_road_name((enum road)road), c->text, c->result[road].why);
    fflush(stdout);
}

static void say_ratio(double ratio) {
    if (ratio > 0)
        printf(" %10.2f", ratio);
    else
        printf(" %10s", "-");
}

static void summary(const struct accept *a) {
    struct ascgrad_op_info op;
    printf("%-30s", "operator");
    for (int road = 0; road < ROAD_CANN; road++)
        if (a->road[road].asked) printf(" %6s: pass fail skip", accept_road_name((enum road)road));
    printf("%s\n", a->options.times ? "  time/copy  in the L2  CANN/ours" : "");
    for (uint32_t i = 0; ascgrad_describe(i, &op); i++) {
        size_t rows = 0, count[ROADS][3] = {{0}};
        for (size_t k = 0; k < a->count; k++) {
            if (strcmp(a->cases[k].op.type, op.type) != 0) continue;
            rows++;
            for (int road = 0; road < ROADS; road++)
                count[road][a->cases[k].result[road].verdict]++;
        }
        if (!rows) continue;
        printf("%-30s", op.type);
        for (int road = 0; road < ROAD_CANN; road++)
            if (a->road[road].asked)
                printf("         %4zu %4zu %4zu", count[road][VERDICT_PASS],
                       count[road][VERDICT_FAIL], count[road][VERDICT_SKIP]);
        const struct accept_speed speed = accept_speed(a, op.type);
        for (int place = 0; a->options.times && place < GAUGE_PLACES_OF_DATA; place++)
            say_ratio(speed.over_copy[place]);
        if (a->options.times) say_ratio(speed.over_cann);
        printf("\n");
    }
    for (int road = 0; road < ROAD_CANN; road++)
        if (a->road[road].asked && a->road[road].why[0])
            printf("not run: %s: %s\n", accept_road_name((enum road)road), a->road[road].why);
}

static bool write_file(const char *folder, const char *name, const struct text *text) {
    struct out out;
    char path[PATH_MAX];
    const char *wrong = text->failed ? "out of memory" : NULL;
    if (!wrong && (size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
        wrong = strerror(ENAMETOOLONG);
    if (!wrong && !(wrong = out_begin(&out, path, OUT_OURS))) {
        if (fwrite(text_of(text), 1, text->size, out.file) == text->size) {
            wrong = out_end(&out);
        } else {
            wrong = strerror(errno);
            out_drop(&out);
        }
    }
    if (wrong) complain("%s cannot be written: %s", name, wrong);
    return !wrong;
}

static bool write_report(const struct accept *a) {
    struct text text[4] = {{0}};
    const struct accept_file file[4] = {{"report.json", &text[0]},
                                        {"report.html", &text[1]},
                                        {"junit.xml", &text[2]},
                                        {"ascgrad-accept.zip", &text[3]}};
    accept_json(a, &text[0]);
    accept_html(&text[0], &text[1]);
    accept_junit(a, &text[2]);
    accept_zip(file, 3, &text[3]);
    const char *folder = a->options.out;
    struct stat at;
    /* all programs have run, so we may go back to where the caller is */
    bool good = folder[0] == '/' || fchdir(a->from_fd) == 0;
    if (good) mkdir(folder, 0755);
    good = good && stat(folder, &at) == 0;
    if (!good) complain("%s cannot be opened: %s", folder, strerror(errno));
    for (size_t i = 0, open = good; open && i < 4; i++)
        good &= write_file(folder, file[i].name, &text[i]);
    for (size_t i = 0; i < 4; i++)
        text_free(&text[i]);
    return good;
}

static void print_constants(const struct accept *a) {
    if (!a->options.calibrate) return;
    if (!a->constants) {
        printf("calibration: no times were taken on the chip\n");
        return;
    }
    printf("calibration: rms of log(measured / modelled) %.3f, with the proposed values %.3f\n"
           "%-28s %10s %10s %10s\n",
           a->fit_before, a->fit_after, "constant", "now", "proposed", "influence");
    size_t unknown = 0;
    for (size_t i = 0; i < a->constants; i++) {
        const struct accept_constant *c = &a->constant[i];
        unknown += c->influence < 0.01;
        if (c->influence >= 0.01)
            printf("%-28s %10.4g %10.4g %10.3f%s\n", c->name, c->value, c->proposed, c->influence,
                   c->proposed != c->value ? "  <-" : "");
    }
    printf("%zu constants that these rows tell nothing of stay as they are\n", unknown);
}

static volatile sig_atomic_t stop_asked;

static void ask_stop(int number) {
    (void)number;
    stop_asked = 1;
}

bool accept_stopped(void) {
    return stop_asked;
}

/* Every case; after an interrupt the report is of what was done so far, and a second one ends all.
 */
static void run_cases(struct accept *a, struct roads *roads) {
    for (size_t i = 0; i < a->count; i++) {
        struct accept_case *c = &a->cases[i];
        show_progress(a, i, c->text);
        if (!stop_asked) {
            accept_judge(a, roads, c);
            say_failures(c);
            continue;
        }
        a->interrupted = true;
        for (int road = 0; road < ROADS; road++)
            snprintf(c->result[road].why, ACCEPT_WHY, "interrupted before this row");
    }
    show_progress(a, a->count, "");
}

static int run(struct accept *a) {
    static struct roads roads;
    const double start = accept_now();
    const time_t now = time(NULL);
    char why[ACCEPT_WHY];
    strftime(a->date, sizeof a->date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    if (!accept_find(a, why)) {
        complain("%s", why);
        return EXIT_VIOLATION;
    }
    accept_learn(a);
    roads_open(a, &roads);
    accept_ask(a, roads.aclnn);
    find_model(a);
    accept_measure(a, roads.aclnn);
    accept_environment(a);
    const bool chosen = accept_choose(a);
    if (chosen) run_cases(a, &roads);
    roads_close(&roads);
    if (a->options.calibrate && !a->interrupted) accept_fit(a);
    a->took = accept_now() - start;
    accept_say_answers(a);
    accept_say_gauges(a);
    summary(a);
    accept_say_causes(a);
    print_constants(a);
    const bool good = chosen && accept_passed(a), written = write_report(a);
    printf("%s%s\n", good ? "accepted" : "not accepted",
           strcmp(a->doctor_worst, "fail") == 0 ? " (ascgrad doctor says why)" : "");
    if (written)
        printf("%s/report.html and, to send, %s/ascgrad-accept.zip\n", a->options.out,
               a->options.out);
    return !good ? EXIT_VIOLATION : written ? EXIT_DONE : EXIT_FILES;
}

static void list_questions(void) {
    for (size_t i = 0; i < question_count; i++)
        printf("%-20s %s (%s)\n", questions[i].name, questions[i].assumes, questions[i].from);
}

int cmd_accept(int argc, char **argv) {
    static struct accept a;
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--list-questions") != 0) continue;
        list_questions();
        return EXIT_DONE;
    }
    int status = parse(&a.options, argc, argv);
    if (status != EXIT_DONE) return status;
    const struct sigaction once = {.sa_handler = ask_stop, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &once, NULL);
    sigaction(SIGTERM, &once, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    char why[ACCEPT_WHY];
    if (accept_move(&a, why)) {
        status = run(&a);
        accept_leave(&a);
    } else {
        complain("%s", why);
        status = EXIT_FILES;
    }
    text_free(&a.environment);
    free(a.doctor);
    free(a.answer);
    for (size_t i = 0; i < a.count; i++)
        free(a.cases[i].text);
    free(a.cases);
    free(a.constant);
    return status;
}
