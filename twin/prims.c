/* SPDX-License-Identifier: Apache-2.0
 *
 * One function per row of TWIN_PRIM_LIST, plain loops for the compiler to vectorise. No fused
 * multiply-add anywhere (-ffp-contract=off), so that every instruction set gives the same bits.
 * fp16 arithmetic is done in fp32 and rounded once: fp32 is wide enough that the second rounding
 * never shows for + - * / sqrt.
 */
#include "prims.h"

#include "half.h"

#include <math.h>
#include <stddef.h>
#ifdef __F16C__
#include <immintrin.h>
#endif

/* Elements of a temporary: a multiple of every vector length, small enough for the stack. */
#define CHUNK 256

#if defined(__clang__) /* finds out at run time */
#define INDEPENDENT
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

#define ARGS void *dst, const void *pa, const void *pb, uint32_t n, union twin_scalar s

/* dst may be exactly a or b: every loop reads element i before it writes element i, and
 * INDEPENDENT says that this is the only overlap there is. */
#define LOOP(D, A, B, expression)                                                                  \
    D *d = dst;                                                                                    \
    const A *pA = pa;                                                                              \
    const B *pB = pb;                                                                              \
    (void)pB;                                                                                      \
    (void)s;                                                                                       \
    INDEPENDENT for (uint32_t i = 0; i < n; i++) {                                                 \
        const A a = pA[i];                                                                         \
        (void)a;                                                                                   \
        d[i] = (D)(expression);                                                                    \
    }

#define BINARY(name, T, expression)                                                                \
    static void name(ARGS) {                                                                       \
        LOOP(T, T, T, ((void)0, (expression)))                                                     \
    }
#define b (pB[i])

/* A block of 8 at once: left to itself, the compiler makes scalars of it. */
typedef float eight __attribute__((vector_size(32), aligned(4), may_alias));
#define ARITHMETIC(name, op)                                                                       \
    static void name(ARGS) {                                                                       \
        if (n == 8) {                                                                              \
            *(eight *)dst = *(const eight *)pa op * (const eight *)pb;                             \
            return;                                                                                \
        }                                                                                          \
        LOOP(float, float, float, a op b)                                                          \
    }                                                                                              \
    static void name##_SPREAD(ARGS) {                                                              \
        float *d = dst;                                                                            \
        const float *a = pa;                                                                       \
        const eight all = *(const eight *)pb;                                                      \
        (void)s;                                                                                   \
        for (uint32_t i = 0; i < n; i += 8)                                                        \
            *(eight *)(d + i) = *(const eight *)(a + i) op all;                                    \
    }
/* clang-format off */
ARITHMETIC(ADD_F32, +)
ARITHMETIC(SUB_F32, -)
ARITHMETIC(MUL_F32, *)
BINARY(DIV_F32, float, a / b)
BINARY(MAX_F32, float, a > b || a != a ? a : b)
BINARY(MIN_F32, float, a < b || a != a ? a : b)
BINARY(MLA_F32, float, d[i] + a * b)
BINARY(ADD_I16, int16_t, (int16_t)((uint16_t)a + (uint16_t)b))
BINARY(SUB_I16, int16_t, (int16_t)((uint16_t)a - (uint16_t)b))
BINARY(MUL_I16, int16_t, (int16_t)((uint32_t)a * (uint32_t)b))
BINARY(MAX_I16, int16_t, a > b ? a : b)
BINARY(MIN_I16, int16_t, a < b ? a : b)
BINARY(ADD_I32, int32_t, (int32_t)((uint32_t)a + (uint32_t)b))
BINARY(SUB_I32, int32_t, (int32_t)((uint32_t)a - (uint32_t)b))
BINARY(MUL_I32, int32_t, (int32_t)((uint32_t)a * (uint32_t)b))
BINARY(MAX_I32, int32_t, a > b ? a : b)
BINARY(MIN_I32, int32_t, a < b ? a : b)
BINARY(AND_B16, uint16_t, a & b)
BINARY(OR_B16, uint16_t, a | b)
#undef b

#define UNARY(name, D, A, expression)                                                              \
    static void name(ARGS) {                                                                       \
        LOOP(D, A, A, expression)                                                                  \
    }

UNARY(ADDS_F32, float, float, a + s.f)
UNARY(MULS_F32, float, float, a * s.f)
UNARY(MAXS_F32, float, float, a > s.f || a != a ? a : s.f)
UNARY(MINS_F32, float, float, a < s.f || a != a ? a : s.f)
UNARY(ADDS_I16, int16_t, int16_t, (int16_t)((uint32_t)a + s.u))
UNARY(MULS_I16, int16_t, int16_t, (int16_t)((uint32_t)a * s.u))
UNARY(MAXS_I16, int16_t, int16_t, a > s.i ? a : s.i)
UNARY(MINS_I16, int16_t, int16_t, a < s.i ? a : s.i)
UNARY(ADDS_I32, int32_t, int32_t, (int32_t)((uint32_t)a + s.u))
UNARY(MULS_I32, int32_t, int32_t, (int32_t)((uint32_t)a * s.u))
UNARY(MAXS_I32, int32_t, int32_t, a > s.i ? a : s.i)
UNARY(MINS_I32, int32_t, int32_t, a < s.i ? a : s.i)
UNARY(SHL_B16, uint16_t, uint16_t, s.u > 15 ? 0 : (uint32_t)a << (s.u & 15))
UNARY(SHR_U16, uint16_t, uint16_t, s.u > 15 ? 0 : (uint32_t)a >> (s.u & 15))
UNARY(SHR_I16, int16_t, int16_t, (int32_t)a >> (s.u > 15 ? 15 : s.u))
UNARY(SHL_B32, uint32_t, uint32_t, s.u > 31 ? 0 : a << (s.u & 31))
UNARY(SHR_U32, uint32_t, uint32_t, s.u > 31 ? 0 : a >> (s.u & 31))
UNARY(SHR_I32, int32_t, int32_t, a >> (s.u > 31 ? 31 : s.u))
UNARY(AXPY_F32, float, float, d[i] + a * s.f)
UNARY(ABS_F32, float, float, twin_float(twin_bits(a) & 0x7fffffffu))
UNARY(SQRT_F32, float, float, sqrtf(a))
UNARY(RSQRT_F32, float, float, 1.0 / sqrt((double)a))
UNARY(REC_F32, float, float, 1.0f / a)
UNARY(RELU_F32, float, float, a > 0 || a != a ? a : 0.0f)
UNARY(RELU_I32, int32_t, int32_t, a > 0 ? a : 0)
UNARY(NOT_B16, uint16_t, uint16_t, ~a)
UNARY(DUP_B16, uint16_t, uint16_t, s.u)
UNARY(DUP_B32, uint32_t, uint32_t, s.u)
UNARY(BF16_F32, float, uint16_t, twin_bf16_to_f32(a))
UNARY(I16_F32, float, int16_t, a)
UNARY(I32_I64, int64_t, int32_t, a)
UNARY(I32_I16, int16_t, int32_t, a > 32767 ? 32767 : a < -32768 ? -32768 : a)
UNARY(I64_I32, int32_t, int64_t, a > INT32_MAX ? INT32_MAX : a < INT32_MIN ? INT32_MIN : a)
UNARY(I8_F16, uint16_t, int8_t, twin_f32_to_f16(a))
UNARY(U8_F16, uint16_t, uint8_t, twin_f32_to_f16(a))

/* clang-format on */

/* fp16 and bf16: the processor converts a block of 8 or 16 where it can; loops do the rest, and all
 * where it cannot. The bits are the same. */
#if defined(__AVX512F__)
static uint32_t widen_blocks(float *d, const uint16_t *a, uint32_t n) {
    uint32_t i = 0;
    for (; i + 16 <= n; i += 16)
        _mm512_storeu_ps(d + i, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(a + i))));
    return i;
}

static uint32_t narrow_blocks(uint16_t *d, const float *a, uint32_t n) {
    const __m256i nan = _mm256_set1_epi16(0x7e00);
    uint32_t i = 0;
    for (; i + 16 <= n; i += 16) {
        const __m512 x = _mm512_loadu_ps(a + i);
        const __m256i h = _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        const __mmask16 lost = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
        _mm256_storeu_si256((__m256i *)(d + i), _mm256_mask_mov_epi16(h, lost, nan));
    }
    return i;
}
#elif defined(__F16C__)
static uint32_t widen_blocks(float *d, const uint16_t *a, uint32_t n) {
    uint32_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(d + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(a + i))));
    return i;
}

static uint32_t narrow_blocks(uint16_t *d, const float *a, uint32_t n) {
    const __m128i nan = _mm_set1_epi16(0x7e00);
    uint32_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m256 x = _mm256_loadu_ps(a + i);
        const __m256i no = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
        const __m128i lost =
            _mm_packs_epi32(_mm256_castsi256_si128(no), _mm256_extracti128_si256(no, 1));
        const __m128i h = _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        _mm_storeu_si128((__m128i *)(d + i), _mm_blendv_epi8(h, nan, lost));
    }
    return i;
}
#else
#define widen_blocks(d, a, n)  0
#define narrow_blocks(d, a, n) 0
#endif

#ifdef __AVX512BF16__
/* The instruction takes subnormal numbers for 0 and keeps bits of a NaN: blocks with one of these
 * go without it. */
static uint32_t narrow_bf16_blocks(uint16_t *d, const float *a, uint32_t n) {
    enum { QUIET_NAN = 0x01, SUBNORMAL = 0x20, SIGNALLING_NAN = 0x80 };
    uint32_t i = 0;
    for (; i + 16 <= n; i += 16) {
        const __m512 x = _mm512_loadu_ps(a + i);
        if (_mm512_fpclass_ps_mask(x, QUIET_NAN | SUBNORMAL | SIGNALLING_NAN))
            for (uint32_t k = i; k < i + 16; k++)
                d[k] = twin_f32_to_bf16(a[k]);
        else
            _mm256_storeu_si256((__m256i *)(d + i), (__m256i)_mm512_cvtneps_pbh(x));
    }
    return i;
}
#else
#define narrow_bf16_blocks(d, a, n) 0
#endif

static void F16_F32(ARGS) {
    const uint32_t done = widen_blocks(dst, pa, n);
    dst = (float *)dst + done;
    pa = (const uint16_t *)pa + done;
    n -= done;
    LOOP(float, uint16_t, uint16_t, twin_f16_to_f32(a))
}

static void narrow_f16(ARGS) {
    const uint32_t done = narrow_blocks(dst, pa, n);
    dst = (uint16_t *)dst + done;
    pa = (const float *)pa + done;
    n -= done;
    LOOP(uint16_t, float, float, twin_f32_to_f16(a))
}

/* The sums of neighbours and of eight neighbours, adjacent pairs first. */
#if defined(__AVX__) && __has_builtin(__builtin_shuffle)
/* Pairs of x and y, within each half of a vector. */
static inline eight add_pairs(eight x, eight y) {
    typedef int32_t lanes __attribute__((vector_size(32)));
    return __builtin_shuffle(x, y, (lanes){0, 2, 8, 10, 4, 6, 12, 14}) +
           __builtin_shuffle(x, y, (lanes){1, 3, 9, 11, 5, 7, 13, 15});
}

static inline eight add_eights(const float *from) {
    typedef int32_t lanes __attribute__((vector_size(32)));
    const eight *v = (const eight *)(const void *)from;
    eight x = add_pairs(add_pairs(v[0], v[1]), add_pairs(v[2], v[3]));
    eight y = add_pairs(add_pairs(v[4], v[5]), add_pairs(v[6], v[7]));
    return __builtin_shuffle(x, y, (lanes){0, 1, 2, 3, 8, 9, 10, 11}) +
           __builtin_shuffle(x, y, (lanes){4, 5, 6, 7, 12, 13, 14, 15});
}
#endif

static void EIGHTS_F32(ARGS) {
    float *d = dst;
    const float *a = pa;
    uint32_t i = 0;
    (void)pb, (void)s;
#if defined(__AVX__) && __has_builtin(__builtin_shuffle)
    for (; i + 8 <= n; i += 8)
        *(eight *)(d + i) = add_eights(a + 8 * (size_t)i);
#endif
    for (; i < n; i++) {
        const float *p = a + 8 * (size_t)i;
        d[i] = ((p[0] + p[1]) + (p[2] + p[3])) + ((p[4] + p[5]) + (p[6] + p[7]));
    }
}

static void PAIRS_F32(ARGS) {
    float *d = dst;
    const float *a = pa;
    (void)pb, (void)s;
    INDEPENDENT for (uint32_t i = 0; i < n; i++) d[i] = a[2 * i] + a[2 * i + 1];
}

static void PAIRS_F16(ARGS) {
    uint16_t *d = dst;
    const uint16_t *a = pa;
    (void)pb, (void)s;
    for (uint32_t i = 0; i < n; i++)
        d[i] = twin_f32_to_f16(twin_f16_to_f32(a[2 * i]) + twin_f16_to_f32(a[2 * i + 1]));
}

/* Eight at a time where they come from one block. */
static void gather(uint8_t *d, const uint8_t *a, const uint32_t *from, uint32_t n) {
    uint32_t i = 0;
#if defined(__AVX2__) && __has_builtin(__builtin_shuffle)
    typedef uint32_t words __attribute__((vector_size(32), aligned(4), may_alias));
    for (; i + 8 <= n; i += 8) {
        uint32_t block = from[i] / 32 * 32;
        words in_block = *(const words *)(from + i) - block, high = in_block / 32;
        uint64_t far[4];
        memcpy(far, &high, sizeof far);
        if (far[0] | far[1] | far[2] | far[3])
            for (uint32_t k = i; k < i + 8; k++)
                memcpy(d + 4 * (size_t)k, a + from[k], 4);
        else
            *(words *)(void *)(d + 4 * (size_t)i) =
                __builtin_shuffle(*(const words *)(const void *)(a + block), in_block / 4);
    }
#endif
    for (; i < n; i++)
        memcpy(d + 4 * (size_t)i, a + from[i], 4);
}

/* Are these the offsets of neighbours that change places? */
static uint32_t is_swap(const uint32_t *from, uint32_t n) {
    uint32_t differ = 0;
    for (uint32_t i = 0; i < n; i++)
        differ |= from[i] ^ (from[0] - 4 + 4 * (i ^ 1));
    return differ == 0;
}

static void swap_neighbours(uint8_t *d, const uint8_t *a, uint32_t n) {
    for (uint32_t i = 0; i < n / 2; i++) {
        uint64_t pair;
        memcpy(&pair, a + 8 * (size_t)i, 8);
        pair = pair >> 32 | pair << 32;
        memcpy(d + 8 * (size_t)i, &pair, 8);
    }
}

static void GATHER_B32(ARGS) {
    uint8_t *d = dst;
    const uint32_t *from = pb;
    (void)s;
    for (uint32_t i = 0, m; i < n; i += m, from += m, d += 4 * (size_t)m) {
        m = n - i < CHUNK ? n - i : CHUNK;
        if (m == CHUNK && is_swap(from, CHUNK))
            swap_neighbours(d, (const uint8_t *)pa + from[1], CHUNK);
        else
            gather(d, pa, from, m);
    }
}

static void COPY_B16(ARGS) {
    (void)pb, (void)s;
    memmove(dst, pa, (size_t)n * 2);
}

static void COPY_B32(ARGS) {
    (void)pb, (void)s;
    memmove(dst, pa, (size_t)n * 4);
}

/* exp in double by range reduction and a polynomial: within 2^-40 before the one rounding to fp32.
 * The chip's own exp is not public; this is the correctly rounded value except in about one case in
 * 2^16. */
static inline double exponential(double x) {
    x = x < -200.0 ? -200.0 : x;
    x = x > 200.0 ? 200.0 : x;
    double shifted = x * 1.4426950408889634 + 0x1.8p52; /* the integer lands in the low bits */
    double k = shifted - 0x1.8p52;
    double r = (x - k * 0x1.62e42fefa3800p-1) - k * 0x1.ef35793c76730p-45;
    double p = 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    uint64_t low, scale;
    memcpy(&low, &shifted, sizeof low);
    scale = (low + 1023) << 52;
    double power;
    memcpy(&power, &scale, sizeof power);
    return p * power;
}

UNARY(EXP_F32, float, float, exponential(a))
UNARY(LN_F32, float, float,
      log((double)a)) /* rounded once from double: libm's last bit never shows */

/* Casts with a rounding mode. */

static inline float integral(float x, int mode) {
    switch (mode) {
    case TWIN_FLOOR:
        return floorf(x);
    case TWIN_CEIL:
        return ceilf(x);
    case TWIN_AWAY:
        return roundf(x);
    case TWIN_TRUNC:
        return truncf(x);
    default:
        return rintf(x);
    }
}

static inline int64_t saturate(float x, int mode, int64_t least, int64_t most) {
    float r = integral(x, mode);
    if (r != r) return 0;
    if (r >= (float)most) return most;
    if (r <= (float)least) return least;
    return (int64_t)r;
}

static void F32_F16(ARGS) {
    if (s.i == TWIN_NONE || s.i == TWIN_RINT) {
        narrow_f16(dst, pa, pb, n, s);
    } else {
        LOOP(uint16_t, float, float, twin_narrow_f16(a, s.i))
    }
}

static void F32_BF16(ARGS) {
    if (s.i == TWIN_RINT) {
        const uint32_t done = narrow_bf16_blocks(dst, pa, n);
        dst = (uint16_t *)dst + done;
        pa = (const float *)pa + done;
        n -= done;
        LOOP(uint16_t, float, float, twin_f32_to_bf16(a))
    } else {
        LOOP(uint16_t, float, float, twin_narrow_bf16(a, s.i))
    }
}

UNARY(F32_F32, float, float, integral(a, s.i))
UNARY(F32_I16, int16_t, float, saturate(a, s.i, -32768, 32767))
UNARY(F32_I32, int32_t, float, saturate(a, s.i, INT32_MIN, INT32_MAX))
UNARY(F32_I64, int64_t, float, saturate(a, s.i, INT64_MIN, INT64_MAX))
UNARY(F16_I8, int8_t, uint16_t, saturate(twin_f16_to_f32(a), s.i, -128, 127))
UNARY(F16_U8, uint8_t, uint16_t, saturate(twin_f16_to_f32(a), s.i, 0, 255))
UNARY(F16_I16, int16_t, uint16_t, saturate(twin_f16_to_f32(a), s.i, -32768, 32767))
UNARY(F16_I32, int32_t, uint16_t, saturate(twin_f16_to_f32(a), s.i, INT32_MIN, INT32_MAX))
UNARY(BF16_I32, int32_t, uint16_t, saturate(twin_bf16_to_f32(a), s.i, INT32_MIN, INT32_MAX))
UNARY(I16_F16, uint16_t, int16_t, twin_narrow_f16((float)a, s.i))

/* Integers of up to 64 bits to fp32 in any mode: keep 24 bits, round on what is cut off. */
static float narrow_int(int64_t v, int mode) {
    int negative = v < 0;
    uint64_t u = negative ? 0 - (uint64_t)v : (uint64_t)v;
    int shift = 0;
    while ((u >> shift) >= 1u << 24)
        shift++;
    uint64_t kept = u >> shift, cut = u - (kept << shift), half = shift ? 1ull << (shift - 1) : 1;
    /* only the order of cut and half matters */
    uint32_t low = cut == 0 ? 0 : cut < half ? 1 : cut == half ? 2 : 3;
    kept += (uint64_t)twin_round_up(mode, negative, (int)(kept & 1), low, 2);
    float f = ldexpf((float)kept, shift);
    return negative ? -f : f;
}

UNARY(I32_F32, float, int32_t, narrow_int(a, s.i))
UNARY(I64_F32, float, int64_t, narrow_int(a, s.i))

/* fp16 arithmetic: widen a chunk, run the fp32 function, round once. */

static void through_f32(twin_prim_fn *f32, int sources, int reads_dst, ARGS) {
    uint16_t *d = dst;
    const uint16_t *a = pa, *b = pb;
    float fa[CHUNK], fb[CHUNK], fd[CHUNK];
    for (uint32_t at = 0; at < n; at += CHUNK) {
        uint32_t m = n - at < CHUNK ? n - at : CHUNK;
        F16_F32(fa, a + at, NULL, m, s);
        if (sources == 2) F16_F32(fb, b + at, NULL, m, s);
        if (reads_dst) F16_F32(fd, d + at, NULL, m, s);
        f32(fd, fa, fb, m, s);
        narrow_f16(d + at, fd, NULL, m, s);
    }
}

#define HALF2(op, reads_dst)                                                                       \
    static void op##_F16(ARGS) {                                                                   \
        through_f32(op##_F32, 2, reads_dst, dst, pa, pb, n, s);                                    \
    }
#define HALF1(op, reads_dst)                                                                       \
    static void op##_F16(ARGS) {                                                                   \
        through_f32(op##_F32, 1, reads_dst, dst, pa, pb, n, s);                                    \
    }

HALF2(ADD, 0)
HALF2(SUB, 0)
HALF2(MUL, 0)
HALF2(DIV, 0)
HALF2(MAX, 0)
HALF2(MIN, 0)
HALF2(MLA, 1)
HALF1(ADDS, 0)
HALF1(MULS, 0)
HALF1(MAXS, 0)
HALF1(MINS, 0)
HALF1(AXPY, 1)
HALF1(ABS, 0)
HALF1(EXP, 0)
HALF1(LN, 0)
HALF1(SQRT, 0)
HALF1(RSQRT, 0)
HALF1(REC, 0)
HALF1(RELU, 0)

/* fp32 destination, fp16 sources */
static void mixed(twin_prim_fn *f32, int sources, ARGS) {
    float *d = dst;
    const uint16_t *a = pa, *b = pb;
    float fa[CHUNK], fb[CHUNK];
    for (uint32_t at = 0; at < n; at += CHUNK) {
        uint32_t m = n - at < CHUNK ? n - at : CHUNK;
        F16_F32(fa, a + at, NULL, m, s);
        if (sources == 2) F16_F32(fb, b + at, NULL, m, s);
        f32(d + at, fa, fb, m, s);
    }
}

static void MLA_MIX(ARGS) {
    mixed(MLA_F32, 2, dst, pa, pb, n, s);
}
static void AXPY_MIX(ARGS) {
    mixed(AXPY_F32, 1, dst, pa, pb, n, s);
}

/* The same over rows. Repeats of 64 floats and blocks of 8 are what kernels ask for most. */
#define P(name, ...)                                                                               \
    __attribute__((flatten)) static void name##_rows(ARGS, const struct twin_prim_rows *rows) {    \
        uint8_t *d = dst;                                                                          \
        const uint8_t *a = pa, *b = pb;                                                            \
        for (uint32_t r = 0; r < rows->count; r++) {                                               \
            if (n == 64)                                                                           \
                name(d, a, b, 64, s);                                                              \
            else if (n == 8)                                                                       \
                name(d, a, b, 8, s);                                                               \
            else                                                                                   \
                name(d, a, b, n, s);                                                               \
            d += rows->dst;                                                                        \
            a += rows->a;                                                                          \
            b += rows->b;                                                                          \
        }                                                                                          \
    }
TWIN_PRIM_LIST(P)
#undef P

#define JOIN_(x, y) x##y
#define JOIN(x, y)  JOIN_(x, y)

const struct twin_prim JOIN(twin_prims_, TWIN_ISA)[TWIN_PRIM_COUNT] = {
#define P(name, ...) [TWIN_##name] = {name, name##_rows},
    TWIN_PRIM_LIST(P)
#undef P
};
