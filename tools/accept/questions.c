/* SPDX-License-Identifier: Apache-2.0 */
#include "questions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NEWER    "the first 910 has no such call"
#define ONE_CORE "the probe runs on one core"

/* clang-format off */
const struct question questions[] = {
    {"mask-at-start", "TPipe sets all 128 bits of the mask; nothing does on the first 910",
     "headers, InitSocState", PROBE_MASK_AT_START, READ_LANES, {0}, 1, {"128", "128", NULL},
     "the mask of the first 910 is taken for rubbish"},
    {"mask-after-count",
     "a call with a count leaves all 128 bits on A2, the mask alone on the 950, that of its last "
     "repeat on the first 910", "headers", PROBE_MASK_AFTER_COUNT, READ_LANES, {0}, 1, {"128", "8",
     "36"}, NULL},
    {"mask-after-gather",
     "a Gather with a count leaves the mask of its last repeat on A2, the mask alone on the 950",
     "headers", PROBE_MASK_AFTER_GATHER, READ_LANES, {0}, 1, {"36", "128", NULL}, NEWER},
    {"mask-number-950",
     "a number of lanes does not reach the mask register of the 950, a mask of bits does",
     "headers", PROBE_MASK_NUMBER, READ_LANES, {0}, 2, {"8 8", "128 8", NULL},
     "nobody relies on it there"},
    {"zero-in-pair-sum", "a masked lane counts as -0 in PairReduceSum", "no text",
     PROBE_ZERO_IN_PAIR_SUM, READ_WORDS, {0, 31}, 2, {"80000000 80000000", "80000000 80000000",
     NULL}, NEWER},
    {"empty-group-sum", "a block without a lane leaves its sum alone on A2, gives 0 on the 950",
     "manual, BlockReduceSum", PROBE_EMPTY_GROUP_SUM, READ_WORDS, {0, 1, 7}, 3,
     {"41000003 a5a5a5a5 a5a5a5a5", "41000003 00000000 00000000", NULL},
     "nobody relies on it there"},
    {"sum-order", "sums add neighbours, then neighbours of those sums", "manual", PROBE_SUM_ORDER,
     READ_WORDS, {0, 8, 16}, 3, {"3f80001f 3f800001 3f800001", "3f80001f 3f800001 3f800001",
     NULL}, "nobody relies on it there"},
    {"cast-none-910", "CAST_NONE of the first 910 rounds to nearest, ties to even", "manual, Cast",
     PROBE_CAST_NONE, READ_HALVES, {0, 1, 2, 3, 4, 5}, 6, {NULL, NULL,
     "1 1.00195 1.00098 -1 5.96046e-08 0"}, "the first 910 only"},
    {"overflow-to-inf", "beyond 65504 fp16 is infinity, and NaN stays NaN", "headers, SetOverflow",
     PROBE_OVERFLOW, READ_HALVES, {0, 1, 2, 3, 4}, 5, {"65504 inf inf -inf nan",
     "65504 inf inf -inf nan", "65504 inf inf -inf nan"}, NULL},
    {"widen-keeps-bits", "from bf16 to fp32 the bits move up, subnormal or not", "manual, Cast",
     PROBE_WIDEN, READ_WORDS, {0, 1, 2, 3}, 4, {"00010000 007f0000 80010000 00800000",
     "00010000 007f0000 80010000 00800000", NULL}, NEWER},
    {"subnormal-sums", "Add, Sub and Mul take and give subnormal fp32 numbers", "manual: IEEE 754",
     PROBE_SUBNORMAL, READ_WORDS, {0, 9, 18}, 3, {"00000003 007fffff 00000200",
     "00000003 007fffff 00000200", "00000003 007fffff 00000200"}, NULL},
    {"pad-bytes", "what DataCopyPad leaves behind the data without isPad is rubbish", "manual",
     PROBE_PAD_BYTES, READ_WORDS, {0, 1, 7}, 3, {"*", "*", NULL}, NEWER},
    {"pad-value", "with isPad the value stands behind the data up to 32 bytes", "manual",
     PROBE_PAD_VALUE, READ_WORDS, {0, 1, 7}, 3, {"3f800000 40e00000 40e00000",
     "3f800000 40e00000 40e00000", NULL}, NEWER},
    {"gatherb-end",
     "Gatherb reads eight offsets and 32 bytes at each, so both may end with the UB", "manual",
     PROBE_GATHERB_END, READ_WORDS, {0, 63, 64, 127}, 4, {"3f800038 3f800007 3f800038 3f800007",
     "3f800038 3f800007 3f800038 3f800007", NULL}, NEWER},
    {"gather-offsets-end",
     "Gather takes the offsets of its lanes only, so they may end with the UB", "headers",
     PROBE_GATHER_OFFSETS_END, READ_WORDS, {0, 7, 8}, 3, {"3f800001 3f800006 a5a5a5a5",
     "3f800001 3f800006 a5a5a5a5", NULL}, NEWER},
    {"masked-blocks", "a block with no lane on is neither read nor written, so it may lie outside",
     "manual", PROBE_MASKED_BLOCKS, READ_WORDS, {0, 7, 8}, 3, {"40000000 40000007 a5a5a5a5",
     "40000000 40000007 a5a5a5a5", "40000000 40000007 a5a5a5a5"}, NULL},
    {"zero-repeats", "no repeats, or a count of 0, do nothing on A2 and the first 910", "manual",
     PROBE_ZERO_REPEATS, READ_LANES, {0}, 2, {"0 0", NULL, "0 0"},
     "no kernel may make such a call there"},
    {"event-ids", "a pair of pipes has eight event ids, four on the first 910", "AllocEventID",
     PROBE_EVENT_IDS, READ_WORDS, {0, 24, 56}, 3, {"3f800000 3f800018 3f800038",
     "3f800000 3f800018 3f800038", "3f800000 3f800018 a5a5a5a5"}, NULL},
    {"sync-sees-stores", "what a core stored before SyncAll, any core loads after it",
     "manual, SyncAll", PROBE_NONE, READ_WORDS, {0}, 0, {NULL, NULL, NULL},
     ONE_CORE "; the rows of operators whose cores meet show it"},
    {"order-on-950", "vector calls of the 950 see what those before them wrote, without a barrier",
     "headers: PipeBarrier<PIPE_V> is empty there", PROBE_ORDER, READ_WORDS, {0, 63}, 2, {NULL,
     "42040000 42040002", NULL}, "the 950 only"},
    {"ub-end", "the last 256 bytes of the UB of A2 are not for kernels", "GetCoreMemSize",
     PROBE_NONE, READ_WORDS, {0}, 0, {NULL, NULL, NULL},
     "nobody uses them, and they may be the chip's own"},
};
/* clang-format on */
const size_t question_count = sizeof questions / sizeof questions[0];

enum question_chip question_chip_of(const char *short_name) {
    static const struct {
        const char *name;
        enum question_chip chip;
    } known[] = {{"ascend910b", CHIP_A2}, {"ascend910_93", CHIP_A2}, {"ascend950", CHIP_950},
                 {"ascend350", CHIP_950}, {"ascend960dt", CHIP_950}, {"ascend910", CHIP_910}};
    for (size_t i = 0; short_name && i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].name, short_name) == 0) return known[i].chip;
    return CHIPS;
}

static uint32_t bits(double value) {
    const float f = (float)value;
    uint32_t word;
    memcpy(&word, &f, sizeof word);
    return word;
}

static void operands(uint32_t *x) {
    static const double ties[8] = {1 + 0x1p-11,    1 + 0x3p-11, 1 + 0x1p-11 + 0x1p-20,
                                   -(1 + 0x1p-11), 0x3p-26,     0x1p-25};
    static const double large[8] = {65519, 65520, 1e6, -1e6};
    static const uint32_t bf16[4] = {0x007f0001, 0x00808001};
    for (uint32_t i = 0; i < 128; i++) {
        x[PROBE_NUMBERS + i] = bits(1) + i;
        x[PROBE_OFFSETS + i] = 4 * (i ^ 1);
    }
    for (uint32_t i = 0; i < 64; i++) {
        x[PROBE_SMALL + i] = bits(i == 0 ? 1 : 0x1p-24);
        x[PROBE_FOUR + i] = bits(i == 0 ? 1 : i == 2 || i == 3 ? 0x1p-24 : 0);
        x[PROBE_ZEROS + i] = bits(-0.0);
    }
    for (uint32_t i = 0; i < 8; i++) {
        x[PROBE_BLOCKS + i] = 32 * (7 - i);
        x[PROBE_TIES + i] = bits(ties[i]);
        x[PROBE_LARGE + i] = i == 4 ? 0x7fc00000 : bits(large[i]);
        x[PROBE_LANDING + i] = 0x5a5a5a5a;
    }
    memcpy(x + PROBE_BF16, bf16, sizeof bf16);
    /* 1 + 2 units; the smallest normal number less one unit; 2^-70 squared */
    x[PROBE_TINY] = 1, x[PROBE_TINY + 8] = 2;
    x[PROBE_TINY + 1] = 0x00800000, x[PROBE_TINY + 9] = 1;
    x[PROBE_TINY + 2] = x[PROBE_TINY + 10] = bits(0x1p-70);
}

void question_ask(const struct question *q, enum question_chip chip, uint32_t *x,
                  AscgradProbeTilingData *tiling) {
    static const uint32_t ub[CHIPS] = {196608 - 256, 253952, 262144};
    memset(x, 0, PROBE_WORDS * sizeof *x);
    operands(x);
    for (uint32_t i = 0; i < PROBE_WORDS; i++)
        x[PROBE_WORDS + i] = PROBE_UNTOUCHED;
    *tiling = (AscgradProbeTilingData){.question = q->key,
                                       .ub = ub[chip],
                                       .events = chip == CHIP_910 ? 4 : 8,
                                       .first = chip == CHIP_910};
}

static double half_of(uint16_t h) {
    const int exponent = h >> 10 & 31, mantissa = h & 1023;
    const double value = exponent == 31 ? (mantissa ? NAN : INFINITY)
                         : exponent     ? ldexp(1024 + mantissa, exponent - 25)
                                        : ldexp(mantissa, -24);
    return h >> 15 ? -value : value;
}

static unsigned lanes(const uint32_t *y) {
    unsigned n = 0;
    for (int i = 0; i < 64; i++)
        n += (y[i] & 0xffff) != (PROBE_UNTOUCHED & 0xffff);
    for (int i = 0; i < 64; i++)
        n += y[i] >> 16 != PROBE_UNTOUCHED >> 16;
    return n;
}

void question_read(const struct question *q, const uint32_t *y, char answer[QUESTION_ANSWER]) {
    size_t used = 0;
    answer[0] = 0;
    for (uint8_t i = 0; i < q->count; i++) {
        char one[24];
        const uint16_t half = (uint16_t)(y[q->at[i] / 2] >> 16 * (q->at[i] % 2));
        if (q->reading == READ_LANES)
            snprintf(one, sizeof one, "%u", lanes(y + 64 * i));
        else if (q->reading == READ_WORDS)
            snprintf(one, sizeof one, "%08x", y[q->at[i]]);
        else if (isnan(half_of(half)))
            snprintf(one, sizeof one, "nan");
        else
            snprintf(one, sizeof one, "%.6g", half_of(half));
        used += (size_t)snprintf(answer + used, QUESTION_ANSWER - used, "%s%s", i ? " " : "", one);
    }
}
