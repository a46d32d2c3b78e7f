/* SPDX-License-Identifier: Apache-2.0
 *
 * Random programs of call forms on the twin: no rule is broken, nothing undefined is read, and the
 * fast build leaves the same UB, memory and mask as the checked one.
 *     random_programs ARCH COUNT [SEED [FILE]]    SEED 0: from the clock
 * FILE gets a line for each program: its seed, digests of what it left in UB and memory and of the
 * masks behind its steps. Whoever has CANN's headers can compare them with those of the library.
 */
#include "effects.h"
#include "program_twin.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct Run checked, fast;

static uint64_t digest_of(const struct State *behind, uint64_t steps) {
    uint64_t d = 14695981039346656037ull;
    for (uint64_t i = 0; i < steps; i++) {
        uint64_t word[3] = {behind[i].mask[0], behind[i].mask[1], behind[i].counts};
        const uint8_t *at = (const uint8_t *)word;
        for (size_t k = 0; k < sizeof word; k++)
            d = (d ^ at[k]) * 1099511628211ull;
    }
    return d;
}

static const char *try_program(uint64_t seed, int arch, struct Program *p) {
    draw_program(seed, arch, p);
    program_start(seed, checked.start);
    memcpy(fast.start, checked.start, ARENA);
    if (!run_on_twin(p, arch, true, &checked)) return checked.why;
    if (!run_on_twin(p, arch, false, &fast)) return fast.why;
    if (memcmp(checked.end, fast.end, ARENA) != 0 ||
        memcmp(checked.stored, fast.stored, ARENA) != 0) {
        return "the fast twin leaves another UB or memory";
    }
    if (memcmp(checked.behind, fast.behind, p->steps * sizeof *fast.behind) != 0) {
        return "the fast twin leaves another mask";
    }
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fputs("usage: random_programs ARCH COUNT [SEED [FILE]]\n", stderr);
        return 1;
    }
    int arch = atoi(argv[1]), failures = 0;
    uint64_t count = strtoull(argv[2], NULL, 10), seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    FILE *out = argc > 4 ? fopen(argv[4], "w") : NULL;
    if (seed == 0) seed = (uint64_t)time(NULL) * 1000000;
    printf("architecture %d, %" PRIu64 " programs from seed %" PRIu64 "\n", arch, count, seed);
    for (uint64_t i = 0; i < count; i++) {
        struct Program p;
        const char *why = try_program(seed + i, arch, &p);
        if (why) {
            printf("FAIL seed %" PRIu64 ": %s\n", seed + i, why);
            if (++failures == 20) break;
        } else if (out) {
            const struct State *last = &checked.behind[p.steps - 1];
            fprintf(out, "%" PRIu64 " %016x %016" PRIx64 " %" PRIx64 ":%" PRIx64 "\n", seed + i,
                    effect_result(checked.end, checked.stored), digest_of(checked.behind, p.steps),
                    last->mask[1], last->mask[0]);
        }
    }
    printf("%d failures\n", failures);
    return failures || (out && fclose(out) != 0);
}
