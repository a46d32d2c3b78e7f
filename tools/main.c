/* SPDX-License-Identifier: Apache-2.0
 *
 * The `ascgrad` command: see the operators, ask them, run them on the twin, check them, check an
 * installation.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#if defined __GLIBC__
#include <malloc.h>
#endif

#include "../twin/ascgrad.h"
#include "commands.h"
#include "doctor.h"

static const char help[] =
    "usage: ascgrad COMMAND ...\n"
    "\n"
    "  ops [--json]                      the IR of the operators\n"
    "  infer OP --in NAME=SPEC ...       output shapes: one line per output\n"
    "  tile  OP --in NAME=SPEC ...       what tiling decides, as JSON\n"
    "  run   OP --in NAME=FILE --out NAME=FILE ...   run on the CPU twin\n"
    "  perf  OP --in NAME=SPEC ...       cycle model, data in memory and in the L2, as JSON\n"
    "  check [OP] [--list]               every operator on the twin against the reference\n"
    "  check --rows FILE                 the same for your own rows: OP NAME=SPEC ... NAME=VALUE\n"
    "  support                           the support matrix\n"
    "  doctor [--opp DIR] [--json]       is the package installed, first, loadable, for this "
    "chip?\n"
    "  accept [--quick] [--out DIR]      the installed operators on this machine's chip, with a "
    "report;\n"
    "                                    ascgrad accept --help says more\n"
    "  fusion on|off|status [--opp DIR]  the graph pass of the installed package\n"
    "  ttk DIR                           the rows as cases of the vendor's test kit\n"
    "  version\n"
    "\n"
    "SPEC is dtype[shape]: fp32[2,4,128], bf16[], fp16[2,-1,5,128] (infer only), fp32[-2] (unknown "
    "rank).\n"
    "FILE is NumPy .npy in C order: <f4, <f2, or <u2 with the suffix :bf16 (x=x.npy:bf16).\n"
    "More for infer, tile, run, perf: --attr NAME=VALUE (mode=1, need_backward=false, "
    "qSeqLen=5,7,9),\n"
    "--soc NAME (default %s), --cores N. run: --fast, --report FILE, --reference. perf, run: "
    "--trace "
    "FILE.\n"
    "perf --html FILE: a page with pictures; --soc and --cores may then be given several times.\n"
    "An optional input is left out.\n"
    "\n"
    "Exit status: 0 done, 1 wrong usage, 2 the operator refuses, 3 the twin found a violation,\n"
    "4 file trouble. doctor: 0 well (perhaps with warnings), 2 something fails.\n";

void complain(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("ascgrad: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"ops", cmd_ops},         {"infer", cmd_infer},       {"tile", cmd_tile},
    {"run", cmd_run},         {"perf", cmd_perf},         {"check", cmd_check},
    {"support", cmd_support}, {"doctor", ascgrad_doctor}, {"fusion", cmd_fusion},
    {"ttk", cmd_ttk},
};

static int run(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, help, ascgrad_soc_name(0));
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "accept") == 0) return cmd_accept(argc - 2, argv + 2);
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            printf(help, ascgrad_soc_name(0));
            return EXIT_DONE;
        }
    if (strcmp(argv[1], "version") == 0 || strcmp(argv[1], "--version") == 0) {
        printf("ascgrad %s\n", ascgrad_version());
        return EXIT_DONE;
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(argv[1], commands[i].name) == 0) return commands[i].run(argc - 2, argv + 2);
    complain("there is no command '%s'; see ascgrad --help", argv[1]);
    return EXIT_USAGE;
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
