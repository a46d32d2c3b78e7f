/* SPDX-License-Identifier: Apache-2.0
 *
 * The program around a kernel of anybody's (cmake/ascgrad_kernel.cmake): reads its inputs from
 * files of plain bytes, as NumPy's tofile writes them, runs it on the twin and writes its outputs.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../launch.h"

#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c)  JOIN_(a, b, c)
#define TEXT_(x)       #x
#define TEXT(x)        TEXT_(x)
#define ENTRY(mode)    JOIN(twin_entry_, OWN_KERNEL, _0_##mode)
#define PARAMETERS     JOIN(twin_arity_, OWN_KERNEL, _0_checked)
#define KERNEL         TEXT(OWN_KERNEL)

extern twin_entry_fn ENTRY(checked), ENTRY(fast);
extern const uint32_t PARAMETERS;

static const char help[] =
    "usage: " KERNEL " --in NAME=FILE --out NAME=FILE:BYTES ... [options]\n"
    "\n"
    "Runs the Ascend C kernel " KERNEL
    " on the CPU twin. Its tensors are given in the order of its\n"
    "parameters, inputs and outputs as they come; behind them it may have a workspace and tiling.\n"
    "Files hold plain bytes, as numpy.ndarray.tofile writes them.\n"
    "\n"
    "  --blocks N          cores that run it; default 1\n"
    "  --tiling FILE       what GET_TILING_DATA gives the kernel\n"
    "  --key N             the tiling key; default 0\n"
    "  --workspace BYTES   size of the workspace; default 0\n"
    "  --soc NAME          the chip; default %s\n"
    "  --fast              no checks, no times, blocks on threads\n"
    "  --trace FILE        a Chrome trace of every pipe of every core\n"
    "\n"
    "Exit status: 0 done, 1 wrong usage, 3 the kernel breaks a rule of the hardware, 4 file "
    "trouble.\n";

struct own {
    struct twin_launch launch;
    struct twin_arg arg[TWIN_MAX_ARGS];
    const char *file[TWIN_MAX_ARGS]; /* of outputs */
    bool behind;                     /* a workspace or tiling is spoken of */
};

__attribute__((format(printf, 2, 3))) static int fail(int status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs(KERNEL ": ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return status;
}

static int read_file(const char *path, void **data, uint64_t *bytes) {
    FILE *f = fopen(path, "rb");
    if (!f) return fail(TWIN_SYSTEM, "%s: %s", path, strerror(errno));
    size_t room = 1 << 16, size = 0, got;
    char *to = malloc(room);
    while (to && (got = fread(to + size, 1, room - size, f)) > 0) {
        size += got;
        if (size < room) continue;
        char *more = realloc(to, room *= 2);
        if (!more) free(to);
        to = more;
    }
    const bool good = to && !ferror(f);
    fclose(f);
    if (!good) {
        free(to);
        return fail(TWIN_SYSTEM, "%s: cannot be read, or does not fit the memory", path);
    }
    *data = to;
    *bytes = size;
    return TWIN_OK;
}

static int number(const char *option, const char *word, uint64_t *value) {
    char *end;
    errno = 0;
    *value = strtoull(word, &end, 0);
    if (errno || end == word || *end || *word == '-')
        return fail(TWIN_USAGE, "%s wants a number, not '%s'", option, word);
    return TWIN_OK;
}

/* NAME=FILE or NAME=FILE:BYTES */
static int tensor(struct own *own, const char *option, char *word) {
    struct twin_arg *arg = &own->arg[own->launch.args];
    char *file = strchr(word, '=');
    if (!file || !file[1]) return fail(TWIN_USAGE, "%s wants NAME=FILE, not '%s'", option, word);
    if (own->launch.args == TWIN_MAX_ARGS)
        return fail(TWIN_USAGE, "more than %d tensors", TWIN_MAX_ARGS);
    *file++ = 0;
    arg->name = word;
    arg->role = strcmp(option, "--in") == 0 ? TWIN_INPUT : TWIN_OUTPUT;
    own->file[own->launch.args++] = file;
    if (arg->role == TWIN_INPUT) return read_file(file, &arg->data, &arg->bytes);
    char *bytes = strrchr(file, ':');
    if (!bytes) return fail(TWIN_USAGE, "--out wants NAME=FILE:BYTES, not '%s=%s'", word, file);
    *bytes++ = 0;
    int status = number("--out", bytes, &arg->bytes);
    if (status == TWIN_OK && !(arg->data = calloc(1, arg->bytes ? arg->bytes : 1)))
        status = fail(TWIN_SYSTEM, "no memory for %s bytes of %s", bytes, word);
    return status;
}

static int one_option(struct own *own, const char *option, char *word) {
    struct twin_launch *l = &own->launch;
    uint64_t value;
    int status;
    if (strcmp(option, "--in") == 0 || strcmp(option, "--out") == 0)
        return tensor(own, option, word);
    if (strcmp(option, "--tiling") == 0) {
        void *data = NULL;
        status = read_file(word, &data, &value);
        l->tiling = data;
        l->tiling_bytes = value;
        own->behind = true;
        return status;
    }
    if (strcmp(option, "--trace") == 0) return l->trace = word, TWIN_OK;
    if (strcmp(option, "--soc") == 0) {
        l->soc = twin_find_soc(word);
        if (l->soc) return TWIN_OK;
        fail(TWIN_USAGE, "there is no chip '%s'; there are:", word);
        for (size_t i = 0; twin_soc_at(i); i++)
            fprintf(stderr, "%s%s", i ? ", " : "  ", twin_soc_at(i)->name);
        fputc('\n', stderr);
        return TWIN_USAGE;
    }
    if (strcmp(option, "--blocks") == 0) {
        status = number(option, word, &value);
        l->block_dim = value > TWIN_MAX_CORES ? TWIN_MAX_CORES + 1 : (uint32_t)value;
        return status;
    }
    if (strcmp(option, "--key") == 0) return number(option, word, &l->key);
    if (strcmp(option, "--workspace") == 0) {
        own->behind = true;
        return number(option, word, &l->workspace);
    }
    return fail(TWIN_USAGE, "there is no option '%s'; see --help", option);
}

static int parse(struct own *own, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--fast") == 0) {
            own->launch.checked = false;
            continue;
        }
        char *word = strncmp(argv[i], "--", 2) == 0 ? strchr(argv[i], '=') : NULL;
        if (word)
            *word++ = 0;
        else if (i + 1 == argc)
            return fail(TWIN_USAGE, "%s wants a value; see --help", argv[i]);
        const char *option = argv[i];
        int status = one_option(own, option, word ? word : argv[++i]);
        if (status != TWIN_OK) return status;
    }
    const struct twin_launch *l = &own->launch;
    if (l->arity <= l->args || own->behind) return TWIN_OK;
    return fail(
        TWIN_USAGE,
        "the kernel has %u parameters, and %u tensors are given; if the last parameters are "
        "a workspace and tiling, say --workspace or --tiling",
        l->arity, l->args);
}

static int write_outputs(const struct own *own) {
    for (uint32_t i = 0; i < own->launch.args; i++) {
        if (own->arg[i].role != TWIN_OUTPUT) continue;
        FILE *f = fopen(own->file[i], "wb");
        const bool good =
            f && fwrite(own->arg[i].data, 1, own->arg[i].bytes, f) == own->arg[i].bytes;
        if (f && fclose(f) == 0 && good) continue;
        return fail(TWIN_SYSTEM, "%s: cannot be written", own->file[i]);
    }
    return TWIN_OK;
}

static void print_report(const struct own *own, const struct twin_report *r) {
    const struct twin_launch *l = &own->launch;
    printf("%u of %u cores of %s, %.3f us and %.1f us of launch (a model, not a measurement)\n",
           r->cores_used, l->block_dim, l->soc->name, r->time_us, r->launch_us);
    printf("%llu bytes read, %llu written; in the L2 %.3f us\n", (unsigned long long)r->gm_read,
           (unsigned long long)r->gm_write, r->cycles_l2 / l->soc->mhz);
    printf("busy: S %.0f %%, V %.0f %%, MTE2 %.0f %%, MTE3 %.0f %% of %.0f cycles\n",
           100 * r->busy[TWIN_S] / r->cycles, 100 * r->busy[TWIN_V] / r->cycles,
           100 * r->busy[TWIN_MTE2] / r->cycles, 100 * r->busy[TWIN_MTE3] / r->cycles, r->cycles);
    for (uint32_t i = 0; i < l->args; i++)
        if (r->unwritten[i])
            printf("warning: no core wrote %llu of the %llu bytes of %s\n",
                   (unsigned long long)r->unwritten[i], (unsigned long long)own->arg[i].bytes,
                   own->arg[i].name);
    for (uint32_t i = 0; i < r->warnings && i < 8; i++)
        printf("warning: %s\n", r->warning[i]);
}

int main(int argc, char **argv) {
    static struct own own;
    struct twin_report report;
    char why[TWIN_WHY];
    own.launch = (struct twin_launch){.op = KERNEL,
                                      .arity = PARAMETERS,
                                      .own = true,
                                      .arg = own.arg,
                                      .block_dim = 1,
                                      .soc = twin_soc_at(0),
                                      .checked = true};
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        fprintf(argc < 2 ? stderr : stdout, help, twin_soc_at(0)->name);
        return argc < 2 ? TWIN_USAGE : TWIN_OK;
    }
    int status = parse(&own, argc, argv);
    own.launch.entry = own.launch.checked ? ENTRY(checked) : ENTRY(fast);
    if (status == TWIN_OK) {
        status = twin_run(&own.launch, &report, why);
        if (status != TWIN_OK) fprintf(stderr, "%s\n", why);
    }
    if (status == TWIN_OK) status = write_outputs(&own);
    if (status == TWIN_OK && own.launch.checked) print_report(&own, &report);
    for (uint32_t i = 0; i < own.launch.args; i++)
        free(own.arg[i].data);
    free((void *)(uintptr_t)own.launch.tiling);
    return status;
}
