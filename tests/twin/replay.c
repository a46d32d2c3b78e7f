/* SPDX-License-Identifier: Apache-2.0
 *
 * Replays recorded effects on the twin and compares: vector instructions with their masks and
 * repeats, mask and mode left behind, bytes read and written, UB and memory afterwards. The
 * fast build must leave the same mask, UB and memory. replay FILE...    effects/<architecture>.txt
 */
#include "effects.h"
#include "program_twin.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct Run run;
static int failures;

static void fail(const struct Effect *e, const char *build, const char *what) {
    if (failures++ < 40) {
        fprintf(stderr, "FAIL %s: %s: %s\n    ", form_info[e->step.form].name, build, what);
        effect_print(stderr, e);
    }
}

static void compare_extents(const struct Effect *e, const char *verb, struct Extent is,
                            struct Extent should) {
    char what[80];
    if (is.count == should.count && is.first == should.first && is.end == should.end &&
        is.digest == should.digest) {
        return;
    }
    snprintf(what, sizeof what, "%s %u in %u..%u", verb, is.count, is.first, is.end);
    fail(e, "the checked twin", what);
}

/* The next vector instruction of a record; NULL: there is none. before: mask and mode. */
static const char *next_instruction(const char *text, struct twin_instruction *before) {
    while (text && *text && *text != '-') {
        const char *repeats = strstr(text, " x"), *comma = strchr(text, ',');
        char mode[8];
        bool copies = !strncmp(text, "copy_", 5);
        if (sscanf(text, "mask %" SCNx64 ":%" SCNx64, &before->mask[1], &before->mask[0]) != 2 &&
            sscanf(text, "mode %7[a-z]", mode) == 1) {
            before->counter = !strcmp(mode, "count");
        }
        const char *next = comma ? comma + 2 : NULL;
        if (!copies && repeats && (!comma || repeats < comma)) {
            before->repeats = (uint32_t)atoi(repeats + 2);
            return next ? next : "";
        }
        text = copies ? NULL : next; /* the rest of a copy has commas, too */
    }
    return NULL;
}

static void compare_instructions(const struct Effect *e) {
    const char *text = e->instructions;
    struct twin_instruction now = {false, {e->before[0], e->before[1]}, 0, 0};
    if (form_info[e->step.form].kind == TRANSPOSE) { /* knows no mask */
        now.mask[0] = now.mask[1] = ~0ull;
    }
    for (uint32_t i = 0; i < run.effect.issued; i++) {
        const struct twin_instruction *is = &run.effect.instruction[i];
        for (uint32_t k = 0; k < is->times; k++) {
            text = next_instruction(text, &now);
            if (!text || now.counter != is->counter || now.mask[0] != is->mask[0] ||
                (!now.counter && (now.mask[1] != is->mask[1] || now.repeats != is->repeats))) {
                fail(e, "the checked twin", "issues other instructions");
                return;
            }
        }
    }
    if (next_instruction(text, &now)) fail(e, "the checked twin", "issues too few instructions");
}

static void replay(const struct Effect *e, int arch, bool checked) {
    const char *build = checked ? "the checked twin" : "the fast twin";
    struct Program p;
    char what[80];
    effect_program(e, &p);
    program_start(EFFECT_SEED, run.start);
    if (!run_on_twin(&p, arch, checked, &run)) {
        fail(e, build, run.why);
        return;
    }
    const struct State *s = &run.behind[1];
    if (memcmp(s->mask, e->left, sizeof s->mask) != 0) {
        snprintf(what, sizeof what, "leaves the mask %" PRIx64 ":%" PRIx64, s->mask[1], s->mask[0]);
        fail(e, build, what);
    }
    if (s->counts != e->counts) fail(e, build, "leaves the other mask mode");
    if (effect_result(run.end, run.stored) != e->result) {
        fail(e, build, "leaves another UB or memory");
    }
    if (checked) {
        if (arch != ARCH_950) compare_instructions(e); /* whose library calls functions instead */
        compare_extents(e, "reads", effect_bytes(run.read), e->read);
        compare_extents(e, "writes", effect_bytes(run.written), e->written);
    }
}

static void replay_file(const char *path) {
    static char line[2 * EFFECT_TEXT];
    static uint32_t rows[FORMS];
    const char *name = strrchr(path, '/');
    int arch = atoi(name ? name + 1 : path);
    uint32_t all = 0, forms = 0;
    FILE *in = fopen(path, "r");
    if (!in) {
        perror(path);
        failures++;
        return;
    }
    memset(rows, 0, sizeof rows);
    while (fgets(line, sizeof line, in)) {
        struct Effect e;
        if (!effect_parse(line, &e)) {
            fprintf(stderr, "FAIL %s: no row: %s\n", path, line);
            failures++;
        } else if (e.step.form < FORMS) {
            rows[e.step.form]++;
            all++;
            replay(&e, arch, true);
            replay(&e, arch, false);
        }
    }
    fclose(in);
    for (uint32_t i = 0; i < FORMS; i++) {
        forms += rows[i] > 0;
        if (!rows[i] && form_on(i, arch)) {
            fprintf(stderr, "FAIL %s: %s is not in the record\n", path, form_info[i].name);
            failures++;
        }
    }
    printf("%s: %u rows of %u forms\n", path, all, forms);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        replay_file(argv[i]);
    printf("%d failures\n", failures);
    return failures || argc < 2;
}
