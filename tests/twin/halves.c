/* SPDX-License-Identifier: Apache-2.0
 *
 * fp16 and bf16 to fp32 and back in each table of vector arithmetic that this CPU has: the bits of
 * the plain functions in half.h for every fp16 and bf16, and for fp32 every 257th pattern with what
 * is next to a tie. fp32 is narrowed in any mixture of numbers: NaNs and subnormals among others.
 */
#include "half.h"
#include "prims.h"

#include <stdio.h>

enum { ROOM = 4096 };

static uint64_t failed;

static void widen(void) {
    const union twin_scalar s = {.i = TWIN_NONE};
    uint16_t from[ROOM];
    float to[ROOM];
    for (uint32_t first = 0; first < 65536; first += ROOM - 3) { /* no whole number of blocks */
        for (uint32_t i = 0; i < ROOM - 3; i++)
            from[i] = (uint16_t)(first + i);
        twin_prims[TWIN_F16_F32].flat(to, from, NULL, ROOM - 3, s);
        for (uint32_t i = 0; i < ROOM - 3; i++)
            failed += twin_bits(to[i]) != twin_bits(twin_f16_to_f32(from[i]));
        twin_prims[TWIN_BF16_F32].flat(to, from, NULL, ROOM - 3, s);
        for (uint32_t i = 0; i < ROOM - 3; i++)
            failed += twin_bits(to[i]) != (uint32_t)from[i] << 16;
    }
}

static void narrow(const uint32_t *bits, uint32_t n) {
    const union twin_scalar s = {.i = TWIN_RINT};
    static float from[ROOM];
    static uint16_t to[ROOM];
    for (uint32_t i = 0; i < n; i++)
        from[i] = twin_float(bits[i]);
    twin_prims[TWIN_F32_F16].flat(to, from, NULL, n, s);
    for (uint32_t i = 0; i < n; i++)
        failed += to[i] != twin_narrow_f16(from[i], TWIN_RINT);
    twin_prims[TWIN_F32_BF16].flat(to, from, NULL, n, s);
    for (uint32_t i = 0; i < n; i++)
        failed += to[i] != twin_narrow_bf16(from[i], TWIN_RINT);
}

/* A number that stands among 31 others, in each place of a block of 16. */
static void narrow_among(uint32_t special) {
    for (uint32_t at = 0; at < 16; at++) {
        uint32_t bits[32];
        for (uint32_t i = 0; i < 32; i++)
            bits[i] = i % 16 == at ? special : 0x3f808000u + i * 0x00010001u;
        narrow(bits, 32);
    }
}

int main(void) {
    uint32_t bits[ROOM], n = 0;
    twin_prims_init();
    widen();
    for (uint64_t u = 0; u < (uint64_t)1 << 32; u += 257) {
        bits[n++] = (uint32_t)u;
        if (n < ROOM - 5) continue;
        narrow(bits, n);
        n = 0;
    }
    narrow(bits, n);
    for (uint32_t h = 0; h < 65536; h++) { /* halfway to the next fp16, and beside it */
        uint32_t middle = twin_bits(twin_f16_to_f32((uint16_t)h)) + 0x1000u;
        narrow((uint32_t[]){middle - 1, middle, middle + 1}, 3);
        middle = h << 16 | 0x8000u; /* the same of bf16 */
        narrow_among(middle - 1);
        narrow_among(middle);
        narrow_among(middle + 1);
    }
    printf("%llu of all conversions differ\n", (unsigned long long)failed);
    return failed != 0;
}
