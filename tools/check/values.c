/* SPDX-License-Identifier: Apache-2.0 */
#include "values.h"

#include <math.h>
#include <string.h>

#include "../call/request.h"

/* bits of precision (with the hidden one), smallest exponent of a subnormal's last bit, largest
 * finite value */
struct format {
    int precision, lowest;
    double largest;
};

static struct format format_of(int32_t dtype) {
    if (dtype == ASCGRAD_TYPE_FP16) return (struct format){11, -24, 65504.0};
    if (dtype == ASCGRAD_TYPE_BF16) return (struct format){8, -133, 0x1.FEp127};
    return (struct format){24, -149, 0x1.FFFFFEp127};
}

/* Weight of the last bit that the format has at this value. */
static double ulp_at(struct format f, double value) {
    int e;
    frexp(fabs(value), &e);
    int last = e - f.precision;
    return ldexp(1.0, value == 0 || last < f.lowest ? f.lowest : last);
}

double value_ulp(int32_t dtype, double value) {
    return ulp_at(format_of(dtype), value);
}

double value_largest(int32_t dtype) {
    return format_of(dtype).largest;
}

static double round_to(struct format f, double value) {
    if (!isfinite(value) || value == 0) return value;
    double ulp = ulp_at(f, value);
    double r = nearbyint(value / ulp) * ulp; /* powers of two: both steps are exact */
    return fabs(r) > f.largest ? copysign(INFINITY, value) : r;
}

double value_get(int32_t dtype, const void *data, int64_t index) {
    if (dtype == ASCGRAD_TYPE_FP32) return ((const float *)data)[index];
    uint16_t bits = ((const uint16_t *)data)[index];
    if (dtype == ASCGRAD_TYPE_BF16) {
        uint32_t wide = (uint32_t)bits << 16;
        float v;
        memcpy(&v, &wide, sizeof v);
        return v;
    }
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double v = exponent == 31  ? (fraction ? NAN : INFINITY)
               : exponent == 0 ? ldexp(fraction, -24)
                               : ldexp(fraction + 1024, exponent - 25);
    return bits >> 15 ? -v : v;
}

void value_set(int32_t dtype, void *data, int64_t index, double value) {
    double r = round_to(format_of(dtype), value);
    float single = (float)r;
    if (dtype == ASCGRAD_TYPE_FP32) {
        ((float *)data)[index] = single;
        return;
    }
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000), half;
    if (dtype == ASCGRAD_TYPE_BF16) {
        half = isnan(r) ? 0x7fc0 : (uint16_t)(bits >> 16);
    } else if (isnan(r)) {
        half = 0x7e00;
    } else if (isinf(r)) {
        half = sign | 0x7c00;
    } else {
        int e;
        double m = frexp(fabs(r), &e); /* m in [0.5, 1) */
        half = r == 0    ? sign
               : e < -13 ? sign | (uint16_t)ldexp(m, e + 24)
                         : sign | (uint16_t)(((e + 14) << 10) + ((int)ldexp(m, 11) - 1024));
    }
    ((uint16_t *)data)[index] = half;
}

static uint64_t next(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static double uniform(uint64_t *state) {
    return (double)(next(state) >> 11) * 0x1p-53;
}

static double draw(enum fill fill, uint64_t *state) {
    if (fill == FILL_ONES) return 1;
    if (fill == FILL_ZEROS) return 0;
    if (fill == FILL_SMALL) return 2 * uniform(state) - 1;
    if (fill == FILL_INF || fill == FILL_NAN) {
        uint64_t dice = next(state) % 64;
        if (dice == 0) return fill == FILL_NAN ? NAN : INFINITY;
        if (dice == 1) return -INFINITY;
    }
    double a = uniform(state), b = uniform(state);
    return sqrt(-2 * log(1 - a)) * cos(6.283185307179586 * b);
}

void value_fill(struct ascgrad_tensor *tensor, enum fill fill, uint64_t seed) {
    int64_t n = text_tensor_elements(tensor);
    for (int64_t i = 0; i < n; i++)
        value_set(tensor->dtype, tensor->data, i, draw(fill, &seed));
}

double value_error(int32_t dtype, double got, double want, double magnitude) {
    const double wrong = 1e30;
    struct format f = format_of(dtype);
    if (isnan(want)) return isnan(got) ? 0 : wrong;
    if (isinf(want)) return got == want ? 0 : wrong;
    double rounding = ulp_at(f, want) / 2, allowed = 0x1p-20 * magnitude;
    if (isinf(got)) {
        double edge = f.largest + ulp_at(f, f.largest) / 2;
        return copysign(1, got) == copysign(1, want) && fabs(want) + rounding + allowed >= edge
                   ? 0
                   : wrong;
    }
    if (isnan(got)) return wrong;
    double beyond = fabs(got - want) - rounding;
    return beyond <= 0 ? 0 : beyond <= allowed * wrong ? beyond / allowed : wrong;
}
