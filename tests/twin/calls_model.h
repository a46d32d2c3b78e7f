/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers for the model of calls.cpp, written without the twin's own conversions: a 16-bit float is
 * a double rounded by arithmetic, not by bit tricks.
 */
#ifndef TESTS_TWIN_CALLS_MODEL_H
#define TESTS_TWIN_CALLS_MODEL_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "calls.h"

static const int type_size[] = {2, 4, 2, 4, 2, 4, 2, 8, 1, 1};

/* Rounds |x| to an integer. odd: what the last digit kept is decided by the value itself. */
static double round_magnitude(double x, int mode, bool negative) {
    double low = std::floor(x), rest = x - low;
    bool odd = std::fmod(low, 2) != 0;
    if (rest == 0) return low;
    switch (mode) {
    case 2:
        return negative ? low + 1 : low;
    case 3:
        return negative ? low : low + 1;
    case 4:
        return rest >= 0.5 ? low + 1 : low;
    case 5:
        return low;
    case 6:
        return odd ? low : low + 1;
    default:
        return rest > 0.5 || (rest == 0.5 && odd) ? low + 1 : low;
    }
}

/* A double as a float of `digits` significant bits and least exponent `least` (of the unit in the
 * last place). */
static double round_float(double v, int digits, int least, double largest, int mode) {
    if (v == 0 || std::isnan(v) || std::isinf(v)) return v;
    bool negative = std::signbit(v);
    int e;
    std::frexp(v, &e);
    int unit = e - digits < least ? least : e - digits;
    double r = std::ldexp(round_magnitude(std::ldexp(std::fabs(v), -unit), mode, negative), unit);
    if (r > largest) {
        bool finite = mode == 5 || mode == 6 || (mode == 2 && !negative) || (mode == 3 && negative);
        r = finite ? largest : std::numeric_limits<double>::infinity();
    }
    return negative ? -r : r;
}

static double to_half(double v, int mode) {
    return round_float(v, 11, -24, 65504.0, mode);
}
static double to_bf16(double v, int mode) {
    return round_float(v, 8, -133, std::ldexp(255.0, 120), mode);
}
static double to_f32(double v, int mode) {
    return round_float(v, 24, -149, std::ldexp(16777215.0, 104), mode);
}

static double decode16(uint16_t bits, int exponent_bits) {
    int mantissa_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
    int e = bits >> mantissa_bits & ((1 << exponent_bits) - 1),
        m = bits & ((1 << mantissa_bits) - 1);
    double v;
    if (e == (1 << exponent_bits) - 1)
        v = m ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
    else if (e == 0)
        v = std::ldexp(m, 1 - bias - mantissa_bits);
    else
        v = std::ldexp(m + (1 << mantissa_bits), e - bias - mantissa_bits);
    return bits & 0x8000 ? -v : v;
}

static uint16_t encode16(double v, int exponent_bits) {
    int mantissa_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
    uint16_t sign = std::signbit(v) ? 0x8000 : 0,
             all = uint16_t(((1 << exponent_bits) - 1) << mantissa_bits);
    if (std::isnan(v)) return uint16_t(all | 1 << (mantissa_bits - 1));
    if (std::isinf(v)) return sign | all;
    if (v == 0) return sign;
    int e;
    double f = std::frexp(std::fabs(v), &e); /* f in [0.5, 1) */
    if (e - 1 < 1 - bias)
        return uint16_t(sign | int(std::ldexp(std::fabs(v), bias - 1 + mantissa_bits)));
    return uint16_t(sign | (e - 1 + bias) << mantissa_bits |
                    (int(std::ldexp(f, mantissa_bits + 1)) - (1 << mantissa_bits)));
}

static double get(const uint8_t *at, int type) {
    union {
        uint16_t h;
        int16_t s;
        float f;
        int32_t i;
        uint32_t u;
    } x;
    memcpy(&x, at, type_size[type] < 4 ? 2 : 4);
    switch (type) {
    case F16:
        return decode16(x.h, 5);
    case BF16:
        return decode16(x.h, 8);
    case F32:
        return x.f;
    case I16:
        return x.s;
    case U16:
        return x.h;
    case I32:
        return x.i;
    case U32:
        return x.u;
    case I8:
        return int8_t(*at);
    case U8:
        return *at;
    default:
        return 0;
    }
}

/* v is already a value of the type. */
static void put(uint8_t *at, int type, double v) {
    float f = float(v);
    uint16_t h = type == BF16  ? encode16(v, 8)
                 : type == F16 ? encode16(v, 5)
                               : uint16_t(int64_t(type == F32 ? 0 : v));
    uint32_t u = type == F32 ? 0 : uint32_t(int64_t(std::isnan(v) ? 0 : v));
    switch (type) {
    case F16:
    case BF16:
    case I16:
    case U16:
        memcpy(at, &h, 2);
        break;
    case F32:
        memcpy(at, &f, 4);
        break;
    case I8:
    case U8:
        *at = uint8_t(h);
        break;
    default:
        memcpy(at, &u, 4);
    }
}

/* The one rounding of an arithmetic result; integers wrap. */
static double rounded(double v, int type) {
    switch (type) {
    case F16:
        return to_half(v, 1);
    case F32:
        return to_f32(v, 1);
    case I16:
        return int16_t(uint64_t(int64_t(v)));
    case I32:
        return int32_t(uint64_t(int64_t(v)));
    default:
        return v;
    }
}

/* Equal bits; any NaN equals any NaN, and where the chip's choice of a zero is not known, any zero
 * any zero. */
static bool same(const uint8_t *a, const uint8_t *b, int type, bool any_zero, double tolerance) {
    if (!memcmp(a, b, type_size[type])) return true;
    if (type != F16 && type != F32 && type != BF16) return false;
    double x = get(a, type), y = get(b, type);
    if (std::isnan(x) && std::isnan(y)) return true;
    if (any_zero && x == 0 && y == 0) return true;
    return tolerance > 0 && std::fabs(x - y) <= tolerance * std::fabs(y);
}

#endif
