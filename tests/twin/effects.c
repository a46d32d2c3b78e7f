/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of recorded effects as text; see effects.h.
 */
#include "effects.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static uint32_t mix(uint32_t digest, const void *data, size_t bytes) {
    const uint8_t *at = data;
    for (size_t i = 0; i < bytes; i++)
        digest = (digest ^ at[i]) * 16777619u;
    return digest;
}

struct Extent effect_bytes(const uint8_t marks[ARENA]) {
    struct Extent e = {0, 0, 0, 2166136261u};
    for (uint32_t i = 0; i < ARENA; i++) {
        if (!marks[i]) continue;
        if (e.count++ == 0) e.first = i;
        e.end = i + 1;
        e.digest = mix(e.digest, &i, sizeof i);
    }
    return e;
}

uint32_t effect_result(const uint8_t ub[ARENA], const uint8_t stored[ARENA]) {
    return mix(mix(2166136261u, ub, ARENA), stored, ARENA);
}

/* Before the call the mask is one that no call would leave by itself, but where the call needs a
 * full one and on the first 910, where nothing sets another. */
void effect_draw(uint64_t *seed, uint32_t form, int index, int arch, struct Effect *e) {
    static const uint64_t low[] = {0x00000000000fffff, 0x5555555555555555, 0xfffffffffffffffe,
                                   0x0000000000000001};
    do {
        draw_step(seed, form, index, arch, &e->step);
    } while (e->step.src0 == e->step.dst && form_info[form].kind < SET_LANES);
    e->before[0] = e->before[1] = ~0ull;
    bool needs_full = arch == ARCH_910 || form == FORM_OR_U16_KEPT;
    if (!needs_full && index % 5) {
        e->before[0] = low[index % 4];
        e->before[1] = 3;
    }
}

void effect_program(const struct Effect *e, struct Program *p) {
    memset(p, 0, sizeof *p);
    p->steps = 2;
    bool full = e->before[0] == ~0ull && e->before[1] == ~0ull;
    p->step[0].form = full ? FORM_RESET_MASK : FORM_SET_MASK_F32_BITS;
    p->step[0].mask[0] = e->before[0];
    p->step[0].mask[1] = e->before[1];
    p->step[1] = e->step;
}

/* Operands: address+block stride/repeat stride. A copy has gaps instead, and no block stride. */
#define OPERANDS(X) X(dst) X(src0) X(src1)
#define NUMBERS(X)  X(count) X(repeat) X(mode) X(scalar)

static void print_extent(FILE *to, struct Extent e) {
    if (e.count) {
        fprintf(to, "| %u in %u..%u #%08x ", e.count, e.first, e.end, e.digest);
    } else {
        fputs("| - ", to);
    }
}

void effect_print(FILE *to, const struct Effect *e) {
    const struct Step *s = &e->step;
    fprintf(to, "%s | %s |", form_info[s->form].name, e->library);
#define X(name)                                                                                    \
    if (s->name || s->name##_block || s->name##_repeat)                                            \
        fprintf(to, " " #name "=%u+%u/%u", s->name, s->name##_block, s->name##_repeat);
    OPERANDS(X)
#undef X
#define X(name)                                                                                    \
    if (s->name) fprintf(to, " " #name "=%u", s->name);
    NUMBERS(X)
#undef X
    if (s->mask[0]) fprintf(to, " mask=%#" PRIx64, s->mask[0]);
    if (s->mask[1]) fprintf(to, " high=%#" PRIx64, s->mask[1]);
    fprintf(to, " | %" PRIx64 ":%" PRIx64 " | %s | %" PRIx64 ":%" PRIx64 " %s ", e->before[1],
            e->before[0], e->instructions[0] ? e->instructions : "-", e->left[1], e->left[0],
            e->counts ? "count" : "norm");
    print_extent(to, e->read);
    print_extent(to, e->written);
    fprintf(to, "| %08x\n", e->result);
}

static bool parse_step(char *text, struct Step *s) {
    char *rest = NULL;
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        if (!value) return false;
        *value++ = '\0';
        uint64_t n = strtoull(value, NULL, 0);
        bool found = false;
#define X(name)                                                                                    \
    if (!strcmp(word, #name)) {                                                                    \
        s->name = (uint32_t)n;                                                                     \
        found = true;                                                                              \
    }
        NUMBERS(X)
#undef X
#define X(name)                                                                                    \
    if (!strcmp(word, #name)) {                                                                    \
        found = sscanf(value, "%u+%u/%u", &s->name, &s->name##_block, &s->name##_repeat) == 3;     \
    }
        OPERANDS(X)
#undef X
        if (!strcmp(word, "mask")) {
            s->mask[0] = n;
            found = true;
        }
        if (!strcmp(word, "high")) {
            s->mask[1] = n;
            found = true;
        }
        if (!found) return false;
    }
    return true;
}

static bool parse_extent(const char *text, struct Extent *e) {
    *e = (struct Extent){0, 0, 0, 2166136261u};
    if (!strcmp(text, "-")) return true;
    return sscanf(text, "%u in %u..%u #%x", &e->count, &e->first, &e->end, &e->digest) == 4;
}

bool effect_parse(char *line, struct Effect *e) {
    enum { NAME, LIBRARY, STEP, BEFORE, INSTRUCTIONS, LEFT, READ, WRITTEN, RESULT, CELLS };
    char *cell[CELLS], mode[8], *at = line;
    memset(e, 0, sizeof *e);
    e->step.form = FORMS;
    line[strcspn(line, "\n")] = '\0';
    if (!line[0] || line[0] == '#') return true;
    for (int i = 0; i < CELLS; i++) {
        char *end = strchr(at, '|');
        if (!end != (i + 1 == CELLS)) return false;
        cell[i] = at + strspn(at, " ");
        if (end) *end = '\0';
        for (char *last = at + strlen(at); last > cell[i] && last[-1] == ' ';)
            *--last = '\0';
        at = end ? end + 1 : at;
    }
    for (uint32_t i = 0; i < FORMS; i++) {
        if (!strcmp(cell[NAME], form_info[i].name)) e->step.form = i;
    }
    if (e->step.form == FORMS) return false;
    snprintf(e->library, sizeof e->library, "%s", cell[LIBRARY]);
    snprintf(e->instructions, sizeof e->instructions, "%s", cell[INSTRUCTIONS]);
    if (sscanf(cell[LEFT], "%" SCNx64 ":%" SCNx64 " %7s", &e->left[1], &e->left[0], mode) != 3 ||
        sscanf(cell[BEFORE], "%" SCNx64 ":%" SCNx64, &e->before[1], &e->before[0]) != 2 ||
        sscanf(cell[RESULT], "%x", &e->result) != 1) {
        return false;
    }
    e->counts = !strcmp(mode, "count");
    return parse_step(cell[STEP], &e->step) && parse_extent(cell[READ], &e->read) &&
           parse_extent(cell[WRITTEN], &e->written);
}
