/* SPDX-License-Identifier: Apache-2.0
 *
 * Replays recorded effects on the twin and compares: mask and mode left behind, blocks read, bytes
 * written, UB and memory afterwards, in the checked and in the fast build.
 *     replay FILE...    effects/<architecture>.txt
 */
#include "effects.h"
#include "program_twin.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct Run runs[2];
static int failures;

static void fail(const struct Effect *e, const char *what, const char *build) {
    if (failures++ < 40) {
        fprintf(stderr, "FAIL %s: %s, on %s\n    ", form_info[e->step.form].name, what, build);
        effect_print(stderr, e);
    }
}

static bool same_extent(struct Extent a, struct Extent b) {
    return a.count == b.count && a.first == b.first && a.end == b.end && a.digest == b.digest;
}

/* Bytes that are the same whatever stood there before: the destination's slot, turned over. */
static struct Extent written(const struct Effect *e, const struct Program *p, int arch,
                             bool checked) {
    static uint8_t marks[ARENA];
    enum Kind k = form_info[e->step.form].kind;
    memset(marks, 0, sizeof marks);
    if (k < SET_LANES || k == LOAD || k == LOAD_COUNT || k == LOAD_PAD || k >= MOVE) {
        uint32_t slot = e->step.dst / SLOT * SLOT;
        memcpy(runs[1].start, runs[0].start, ARENA);
        for (uint32_t i = slot; i < slot + SLOT; i++)
            runs[1].start[i] ^= 0xff;
        if (!run_on_twin(p, arch, checked, &runs[1])) fail(e, runs[1].why, "the second run");
        for (uint32_t i = slot; i < slot + SLOT; i++)
            marks[i] = runs[0].end[i] == runs[1].end[i];
    }
    return effect_bytes(marks);
}

static void replay(const struct Effect *e, int arch, bool checked) {
    const char *build = checked ? "the checked twin" : "the fast twin";
    struct Program p;
    effect_program(e, &p);
    program_start(EFFECT_SEED, runs[0].start);
    if (!run_on_twin(&p, arch, checked, &runs[0])) {
        fail(e, runs[0].why, build);
        return;
    }
    const struct State *s = &runs[0].behind[1];
    char left[80];
    if (checked && memcmp(s->mask, e->left, sizeof s->mask) != 0) {
        snprintf(left, sizeof left, "leaves the mask %" PRIx64 ":%" PRIx64, s->mask[1], s->mask[0]);
        fail(e, left, build);
    }
    if (checked && s->counts != e->counts) fail(e, "leaves the other mask mode", build);
    if (checked && !same_extent(effect_blocks(runs[0].read), e->read)) {
        struct Extent r = effect_blocks(runs[0].read);
        snprintf(left, sizeof left, "reads %u blocks in %u..%u", r.count, r.first, r.end);
        fail(e, left, build);
    }
    if (effect_result(runs[0].end, runs[0].stored) != e->result) {
        fail(e, "leaves another UB or memory", build);
    }
    struct Extent w = written(e, &p, arch, checked);
    if (!same_extent(w, e->written)) {
        snprintf(left, sizeof left, "writes %u bytes in %u..%u", w.count, w.first, w.end);
        fail(e, left, build);
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
        if (!rows[i] && (arch != ARCH_910 || form_info[i].first_910)) {
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
