/* SPDX-License-Identifier: Apache-2.0
 *
 * fp16 and bf16 as bit patterns: exact widening, narrowing with any rounding mode of the chip's
 * Cast. The ties-to-even forms are branch-free so that loops over them vectorise. A NaN narrows to
 * the canonical one.
 */
#ifndef TWIN_HALF_H
#define TWIN_HALF_H

#include <stdint.h>
#include <string.h>

/* The numbers of AscendC::RoundMode. */
enum twin_round { TWIN_NONE, TWIN_RINT, TWIN_FLOOR, TWIN_CEIL, TWIN_AWAY, TWIN_TRUNC, TWIN_ODD };

static inline uint32_t twin_bits(float f) {
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static inline float twin_float(uint32_t u) {
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

/* Scaling by 2^112 rebiases the exponent and turns subnormals into normals, exactly. A NaN keeps
 * its bits and becomes quiet. */
static inline float twin_f16_to_f32(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16;
    uint32_t rest = (uint32_t)(h & 0x7fffu) << 13;
    uint32_t finite = twin_bits(twin_float(rest) * 0x1p112f);
    uint32_t special = rest | (rest > 0x0f800000u ? 0x7fc00000u : 0x7f800000u);
    return twin_float(sign | (rest >= 0x0f800000u ? special : finite));
}

static inline uint16_t twin_f32_to_f16(float f) {
    uint32_t bits = twin_bits(f), sign = (bits >> 16) & 0x8000u, abs = bits & 0x7fffffffu;
    uint32_t normal = (abs - 0x38000000u + 0x0fffu + ((abs >> 13) & 1u)) >> 13;
    /* 0.5 has the ulp of the smallest fp16 subnormal, so the addition does the rounding */
    uint32_t tiny = twin_bits(twin_float(abs) + 0.5f) - 0x3f000000u;
    uint32_t h = abs < 0x38800000u ? tiny : normal;
    h = abs >= 0x477ff000u ? 0x7c00u : h;
    h = abs > 0x7f800000u ? 0x7e00u : h;
    h = abs > 0x7f800000u ? h : h | sign;
    return (uint16_t)h;
}

static inline float twin_bf16_to_f32(uint16_t h) {
    return twin_float((uint32_t)h << 16);
}

static inline uint16_t twin_f32_to_bf16(float f) {
    uint32_t bits = twin_bits(f);
    uint32_t h = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : h);
}

/* Shall the magnitude go up to the next representable one? odd: the truncated magnitude is odd;
 * low, half: the bits cut off and the value of their highest bit. */
static inline int twin_round_up(int mode, int negative, int odd, uint32_t low, uint32_t half) {
    if (!low) return 0;
    switch (mode) {
    case TWIN_FLOOR:
        return negative;
    case TWIN_CEIL:
        return !negative;
    case TWIN_AWAY:
        return low >= half;
    case TWIN_TRUNC:
        return 0;
    case TWIN_ODD:
        return !odd;
    default:
        return low > half || (low == half && odd);
    }
}

/* Any mode. Overflow: modes that round down to finite give the largest finite value, others
 * infinity. */
static inline uint16_t twin_narrow_f16(float f, int mode) {
    uint32_t bits = twin_bits(f), abs = bits & 0x7fffffffu;
    int negative = (int)(bits >> 31);
    uint16_t sign = negative ? 0x8000u : 0;
    if (abs > 0x7f800000u) return 0x7e00u;
    if (abs == 0x7f800000u) return (uint16_t)(sign | 0x7c00u);
    uint32_t exponent = abs >> 23, mantissa = (abs & 0x7fffffu) | (exponent ? 0x800000u : 0);
    uint32_t shift = 13, base = 0;
    if (exponent < 113) { /* below 2^-14 */
        shift = 13 + (113 - (exponent ? exponent : 1));
        if (shift > 31) { /* far below half of the smallest subnormal */
            mantissa = mantissa ? 1 : 0;
            shift = 30;
        }
    } else {
        base = (exponent - 113) << 10; /* the implicit bit of the mantissa adds the missing one */
    }
    uint32_t low = mantissa & ((1u << shift) - 1), h = base + (mantissa >> shift);
    if (h >= 0x7c00u) { /* beyond 65504 even when truncated */
        int finite = mode == TWIN_TRUNC || mode == TWIN_ODD || (mode == TWIN_FLOOR && !negative) ||
                     (mode == TWIN_CEIL && negative);
        return (uint16_t)(sign | (finite ? 0x7bffu : 0x7c00u));
    }
    h += (uint32_t)twin_round_up(mode, negative, (int)(h & 1), low, 1u << (shift - 1));
    return (uint16_t)(sign | h);
}

static inline uint16_t twin_narrow_bf16(float f, int mode) {
    uint32_t bits = twin_bits(f), abs = bits & 0x7fffffffu;
    int negative = (int)(bits >> 31);
    if (abs > 0x7f800000u) return 0x7fc0u;
    uint32_t h = abs >> 16;
    h += (uint32_t)twin_round_up(mode, negative, (int)(h & 1), abs & 0xffffu, 0x8000u);
    return (uint16_t)((negative ? 0x8000u : 0) | h);
}

#endif
