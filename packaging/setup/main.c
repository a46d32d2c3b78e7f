/* SPDX-License-Identifier: Apache-2.0
 *
 *   setup install --payload=DIR --temporary=DIR [options of the .run file]
 *   setup compile --installed=DIR [--chip=A,B | --fusion | --no-fusion] [--quiet]
 *   setup uninstall --installed=DIR [--quiet]
 *
 * See setup.h. Exit status: 0 done, 1 wrong usage, 2 refused, 3 failed and backed out, 4 done, but
 * an operator type that was ours is ours no more.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../../package/ask.h"
#include "../../package/files.h"
#include "setup.h"

volatile sig_atomic_t setup_stopped;

static void stop(int number) {
    (void)number;
    setup_stopped = 1;
}

/* A signal that was ignored when we came stays so: nohup. But the .run ignores them all on the way
 * to us, so that none strikes in between, and names those that it found not ignored. */
static void catch_signals(const char *found) {
    static const struct {
        const char *name;
        int number;
    } signals[] = {
        {"HUP", SIGHUP}, {"INT", SIGINT}, {"TERM", SIGTERM}, {"QUIT", SIGQUIT}, {"", SIGXCPU}};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct sigaction action;
        const bool ignored =
            sigaction(signals[i].number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
        if (ignored && !(found && word_in(signals[i].name, found, ','))) continue;
        action = (struct sigaction){.sa_handler = stop, .sa_flags = SA_RESTART};
        sigaction(signals[i].number, &action, NULL);
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* too large a file is an error like others */
}

/* What we open must not become standard output by chance. */
static void open_standard_files(void) {
    while (true) {
        const int fd = open("/dev/null", O_RDWR);
        if (fd < 0) return;
        if (fd > STDERR_FILENO) {
            close(fd);
            return;
        }
    }
}

static bool value_of(const char *word, const char *name, const char **value) {
    const size_t size = strlen(name);
    if (strncmp(word, name, size) != 0 || !word[size]) return false;
    *value = word + size;
    return true;
}

static bool read_option(struct options *o, const char *word, char installed[PATH_MAX]) {
    const struct {
        const char *word;
        bool *flag;
    } flags[] = {{"--install-for-all", &o->for_all},
                 {"--no-override", &o->no_override},
                 {"--graph-only", &o->graph_only},
                 {"--no-compile", &o->no_compile},
                 {"--fusion", &o->fusion},
                 {"--no-fusion", &o->no_fusion},
                 {"--force", &o->force},
                 {"--dry-run", &o->dry_run},
                 {"--quiet", &o->quiet},
                 {"-q", &o->quiet}};
    const char *dir;
    const bool fresh = o->action != COMPILE && !installed[0];
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (strcmp(word, flags[i].word) == 0) {
            const bool pass = flags[i].flag == &o->fusion || flags[i].flag == &o->no_fusion;
            if (!fresh && flags[i].flag != &o->quiet && !(pass && o->action == COMPILE))
                return false;
            *flags[i].flag = true;
            return true;
        }
    if (o->action == INSTALL && strcmp(word, "--uninstall") == 0) {
        o->action = UNINSTALL;
        return true;
    }
    if (value_of(word, "--installed=", &dir)) {
        snprintf(installed, PATH_MAX, "%s", dir);
        return true;
    }
    return (o->action != UNINSTALL && value_of(word, "--chip=", &o->chips)) ||
           (fresh && (value_of(word, "--install-path=", &o->install_path) ||
                      value_of(word, "--payload=", &o->payload) ||
                      value_of(word, "--signals=", &o->signals) ||
                      value_of(word, "--temporary=", &o->temporary)));
}

/* An installed package lies in vendors/ascgrad below the directory it was installed to. */
static int from_installed(struct setup *s, char installed[PATH_MAX]) {
    static const char end[] = "/vendors/" VENDOR;
    const size_t size = strlen(installed);
    if (size <= sizeof end - 1 || strcmp(installed + size - (sizeof end - 1), end) != 0)
        return give_up(REFUSED, "%s is not vendors/" VENDOR " below a directory", installed);
    installed[size - (sizeof end - 1)] = 0;
    s->options.install_path = installed;
    return DONE;
}

static int read_options(struct setup *s, int argc, char **argv, char installed[PATH_MAX]) {
    static const char *const actions[] = {"install", "compile", "uninstall"};
    struct options *o = &s->options;
    size_t action = 3;
    for (size_t i = 0; argc > 1 && i < 3; i++)
        if (strcmp(argv[1], actions[i]) == 0) action = i;
    if (action == 3) return give_up(USAGE, "setup: install, compile or uninstall?");
    o->action = (enum action)action;
    for (int i = 2; i < argc; i++)
        if (!read_option(o, argv[i], installed))
            return give_up(USAGE, "unknown option: %s", argv[i]);
    if (o->no_override && o->graph_only)
        return give_up(USAGE, "--no-override and --graph-only exclude each other");
    if (o->fusion && o->no_fusion)
        return give_up(USAGE, "--fusion and --no-fusion exclude each other");
    /* `ascgrad fusion` goes this way to a new version that differs in nothing else. */
    o->only_fusion = o->action == COMPILE && (o->fusion || o->no_fusion);
    if (o->only_fusion && o->chips)
        return give_up(USAGE, "--chip and --fusion or --no-fusion exclude each other here");
    if (installed[0]) return from_installed(s, installed);
    return o->payload || o->action == UNINSTALL ? DONE : give_up(USAGE, "setup: no --payload=");
}

/* The C library of this machine must not be older than the libraries need. */
static int check_glibc(struct setup *s) {
    int need[2] = {0}, have[2] = {0};
    struct text answer = {0};
    ask((const char *const[]){"getconf", "GNU_LIBC_VERSION", NULL}, &answer);
    const int found = sscanf(text_of(&answer), "glibc %d.%d", &have[0], &have[1]);
    text_free(&answer);
    if (found != 2 || sscanf(s->source.glibc, "%d.%d", &need[0], &need[1]) != 2) return DONE;
    if (have[0] > need[0] || (have[0] == need[0] && have[1] >= need[1])) return DONE;
    return refuse(s, "the libraries need glibc %d.%d, this machine has %d.%d", need[0], need[1],
                  have[0], have[1]);
}

/* Opens what is installed from: the unpacked .run. */
static int open_payload(struct setup *s) {
    char path[PATH_MAX], why[WHY];
    snprintf(path, sizeof path, "%s/packages/vendors/" VENDOR, s->options.payload);
    s->source_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->source_fd < 0 || !manifest_read(s->source_fd, &s->source, why))
        return give_up(FAILED, "%s is not the content of a package of ascgrad", s->options.payload);
    if (!word_in(s->arch, s->source.arches, ' '))
        return give_up(REFUSED, "this package has no libraries for %s", s->arch);
    snprintf(path, sizeof path, "%s/packages/arch/%s", s->options.payload, s->arch);
    s->arch_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->arch_fd < 0 && errno != ENOENT)
        return give_up(FAILED, "cannot open %s: %s", path, strerror(errno));
    const int status = check_glibc(s);
    return status == DONE ? types_check_chips(s) : status;
}

/* compile.sh: from the installed version to one with kernels, in the same way. */
static int open_installed(struct setup *s) {
    char why[WHY];
    if (!s->has_old) return give_up(REFUSED, "%s is not installed", s->target.dir);
    s->source_fd = fcntl(s->old_fd, F_DUPFD_CLOEXEC, 3);
    if (s->source_fd < 0 || !manifest_read(s->source_fd, &s->source, why))
        return give_up(FAILED, "cannot read %s/" MANIFEST_NAME, s->target.dir);
    s->options.no_override = strcmp(s->source.mode, "no-override") == 0;
    s->options.graph_only = strcmp(s->source.mode, "graph-only") == 0;
    return types_check_chips(s);
}

/* Whose each type is, in the stage. compile.sh compiles whatever way the package was installed. */
static int build_types(struct setup *s) {
    const bool again = s->options.action == COMPILE;
    const bool compile = again || (!s->options.no_compile && !s->options.graph_only);
    int status = again ? switches_forget(s) : DONE;
    if (status == DONE) status = types_decide(s, s->tree_fd);
    if (status == DONE && !compile)
        s->compile_note =
            s->options.graph_only ? "--graph-only was given" : "--no-compile was given";
    if (status == DONE && compile) status = compile_kernels(s);
    if (status == DONE && compile) status = types_decide(s, s->tree_fd);
    return status == DONE ? switches_apply(s) : status;
}

/* From the open stage to the new version in place. */
static int build(struct setup *s) {
    int status = stage_open(s);
    if (status == DONE) status = stage_copy(s);
    if (status == DONE && !s->options.only_fusion) status = build_types(s);
    if (status == DONE) status = stage_seal(s);
    if (status == DONE && setup_stopped) status = give_up(FAILED, "stopped by a signal");
    if (status == DONE) status = place(s);
    return status;
}

/* Under the lock, to the end. */
static int install_locked(struct setup *s) {
    int status = target_prepare(s);
    if (status == DONE && s->options.action == COMPILE) status = open_installed(s);
    if (status == DONE && !s->options.only_fusion) status = types_find_chips(s);
    if (status == DONE && s->options.action == INSTALL && s->options.no_override)
        status = types_decide(s, s->source_fd); /* refuses before anything is written */
    if (status == DONE) status = build(s);
    stage_close(s);
    return status;
}

/* What fails before the lock is held has changed nothing; a refusal need not say so. */
static int before_all(int status) {
    return status == FAILED ? give_up(FAILED, "nothing was changed") : status;
}

static int install(struct setup *s) {
    int status = s->options.action == INSTALL ? open_payload(s) : DONE;
    if (status == DONE) status = target_check(s);
    if (status == DONE && s->options.action == INSTALL && s->options.fusion && s->target.own)
        status = give_up(
            REFUSED, "--fusion: GE takes graph passes from CANN's own vendors only, not from %s",
            s->target.vendors);
    if (status != DONE) return before_all(status);
    if (s->options.dry_run) {
        status = types_find_chips(s);
        if (status == DONE) status = types_decide(s, s->source_fd);
        if (status == DONE) preview(s);
        return status;
    }
    status = target_lock(s);
    if (status == DONE) status = install_locked(s);
    if (status == DONE) {
        status = report(s);
    } else {
        target_back_out(s);
        tell_state(s);
    }
    return status;
}

static int run(struct setup *s, int argc, char **argv) {
    struct utsname machine;
    char installed[PATH_MAX] = "";
    int status = read_options(s, argc, argv, installed);
    catch_signals(s->options.signals);
    if (status != DONE) return status;
    if (chdir("/") != 0) return before_all(give_up(FAILED, "cannot enter /: %s", strerror(errno)));
    if (uname(&machine) != 0)
        return before_all(give_up(FAILED, "cannot tell this machine: %s", strerror(errno)));
    snprintf(s->arch, sizeof s->arch, "%.30s", machine.machine);
    if (strcmp(s->arch, "arm64") == 0) strcpy(s->arch, "aarch64");
    status = target_choose(s);
    if (status != DONE || s->options.action != UNINSTALL)
        return status == DONE ? install(s) : status;
    if (access(s->target.root, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR))
        return uninstall(s);
    status = target_check(s);
    if (status == DONE && !s->options.dry_run) status = target_lock(s);
    if (status == DONE && !s->options.dry_run) status = target_prepare(s);
    return status == DONE ? uninstall(s) : before_all(status);
}

int main(int argc, char **argv) {
    static struct setup s = {.source_fd = -1,
                             .arch_fd = -1,
                             .old_fd = -1,
                             .stage_fd = -1,
                             .tree_fd = -1,
                             .target = {.root_fd = -1, .vendors_fd = -1}};
    umask(022);
    open_standard_files();
    const int status = run(&s, argc, argv);
    for (int fd = STDERR_FILENO + 1; fd < 64; fd++)
        close(fd); /* a directory of many levels takes as many */
    const char *temporary = s.options.temporary;
    if (temporary && tree_remove(AT_FDCWD, temporary) != 0) {
        struct text answer = {0}; /* the shell that started us has rm, too */
        const int trouble = errno;
        if (!ask((const char *const[]){"rm", "-rf", "--", temporary, NULL}, &answer))
            warn("could not delete %s: %s", temporary, strerror(trouble));
        text_free(&answer);
    }
    return status;
}
