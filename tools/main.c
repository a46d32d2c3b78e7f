/* SPDX-License-Identifier: Apache-2.0
 *
 * The `ascgrad` command: see the operators, ask them, run them on the twin, check them, check an
 * installation.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined __GLIBC__
#include <malloc.h>
#endif

#include "../twin/ascgrad.h"
#include "commands.h"
#include "doctor/doctor.h"
#include "help.h"

void complain(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("ascgrad: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

static int cmd_help(int argc, char **argv) {
    if (argc <= 1 && help_print(argc ? argv[0] : NULL)) return EXIT_DONE;
    help_unknown_command(argv[0]);
    return EXIT_USAGE;
}

static int cmd_man(int argc, char **argv) {
    (void)argv;
    if (argc == 0) return help_man(), EXIT_DONE;
    complain("usage: ascgrad man");
    return EXIT_USAGE;
}

static int cmd_completion(int argc, char **argv) {
    if (argc == 1 && help_completion(argv[0])) return EXIT_DONE;
    complain("usage: ascgrad completion bash");
    return EXIT_USAGE;
}

static int cmd_version(int argc, char **argv) {
    (void)argv;
    if (argc == 0) return printf("ascgrad %s\n", ascgrad_version()), EXIT_DONE;
    complain("usage: ascgrad version");
    return EXIT_USAGE;
}

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"ops", cmd_ops},         {"infer", cmd_infer},
    {"tile", cmd_tile},       {"run", cmd_run},
    {"perf", cmd_perf},       {"check", cmd_check},
    {"support", cmd_support}, {"doctor", ascgrad_doctor},
    {"fusion", cmd_fusion},   {"ttk", cmd_ttk},
    {"accept", cmd_accept},   {"help", cmd_help},
    {"man", cmd_man},         {"completion", cmd_completion},
    {"version", cmd_version},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

/* The command's words with --option=VALUE as two words; options are looked up in the help. words
 * has room for twice argc. -1: there is no such option. */
static int split_words(const char *command, int argc, char **argv, char **words) {
    int n = 0;
    for (int i = 0; i < argc; i++) {
        words[n++] = argv[i];
        if (strncmp(argv[i], "--", 2) != 0) continue;
        char *value = strchr(argv[i], '=');
        const enum help_option option = help_find_option(command, argv[i]);
        if (option == OPTION_UNKNOWN) {
            help_unknown_option(command, argv[i]);
            return -1;
        }
        if (option == OPTION_SWITCH && value) {
            complain("%.*s takes no value", (int)(value - argv[i]), argv[i]);
            return -1;
        }
        if (option == OPTION_SWITCH) continue;
        if (value) {
            *value = 0;
            words[n++] = value + 1;
        } else if (i + 1 < argc) {
            words[n++] = argv[++i];
        }
    }
    return n;
}

static int run(int argc, char **argv) {
    if (argc < 2) {
        fputs("usage: ascgrad COMMAND ...; ascgrad --help lists the commands\n", stderr);
        return EXIT_USAGE;
    }
    const char *command = strcmp(argv[1], "--version") == 0 ? "version" : argv[1];
    if (strcmp(command, "--help") == 0 || strcmp(command, "-h") == 0) command = "help";
    size_t k = 0;
    while (k < COMMANDS && strcmp(command, commands[k].name) != 0)
        k++;
    if (k == COMMANDS) {
        help_unknown_command(command);
        return EXIT_USAGE;
    }
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            help_print(command);
            return EXIT_DONE;
        }
    char **words = calloc(2 * (size_t)argc, sizeof *words);
    if (!words) {
        complain("out of memory");
        return EXIT_FILES;
    }
    const int n = split_words(command, argc - 2, argv + 2, words);
    const int status = n < 0 ? EXIT_USAGE : commands[k].run(n, words);
    free(words);
    return status;
}

/* A checked run gives back megabytes for each core, and the next run wants them again: to get them
 * from the system, page by page, takes as long as a small run. */
static void keep_memory(void) {
#if defined __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 20); /* the most that any glibc accepts */
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

/* A full disk shows when the last words are written, at the latest. */
int main(int argc, char **argv) {
    keep_memory();
    int status = run(argc, argv);
    bool written = !ferror(stdout);
    if (fclose(stdout) == 0 && written) return status;
    complain("standard output could not be written in full");
    return status == EXIT_DONE ? EXIT_FILES : status;
}
