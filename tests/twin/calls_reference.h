/* SPDX-License-Identifier: Apache-2.0
 *
 * What each Program of calls.h must do, lane by lane: the plain model that calls.cpp compares with.
 */
#ifndef TESTS_TWIN_CALLS_REFERENCE_H
#define TESTS_TWIN_CALLS_REFERENCE_H

#include <vector>

#include "calls_model.h"

static std::vector<uint8_t> in(3 * REGION), model(REGION); /* src0, src1, old dst; expected dst */

static int all_lanes(int size) {
    return 256 / size;
}

static int repeats_of(const Program &p, int lanes) {
    return p.form == COUNT || p.form == REGISTER ? (p.count + lanes - 1) / lanes : p.repeat;
}

static bool works(const Program &p, int lanes, int repeat, int lane) {
    if (p.form == COUNT || p.form == REGISTER) return repeat * lanes + lane < p.count;
    if (p.form == MASK) return uint64_t(lane) < p.mask[0];
    return p.mask[lane / 64] >> (lane % 64) & 1;
}

static int place(int size, int blk, int rep, int repeat, int lane) {
    int per_block = 32 / size;
    return (repeat * rep + lane / per_block * blk) * 32 + lane % per_block * size;
}

static double cast_value(double v, const Program &p) {
    static const double least[] = {0,    0, -32768, -2147483648.0, 0, 0, 0, -9223372036854775808.0,
                                   -128, 0};
    static const double most[] = {
        0, 0, 32767, 2147483647.0, 65535, 4294967295.0, 0, 9223372036854775807.0, 127, 255};
    switch (p.type) {
    case F16:
        return to_half(v, p.mode);
    case BF16:
        return to_bf16(v, p.mode);
    case F32:
        if (p.from == F32)
            return std::isinf(v)
                       ? v
                       : std::copysign(round_magnitude(std::fabs(v), p.mode, std::signbit(v)), v);
        return to_f32(v, p.mode);
    default:
        if (std::isnan(v)) return 0;
        v = std::isinf(v)
                ? v
                : std::copysign(round_magnitude(std::fabs(v), p.mode, std::signbit(v)), v);
        return v < least[p.type] ? least[p.type] : v > most[p.type] ? most[p.type] : v;
    }
}

static double element(const Program &p, double a, double b, double d) {
    double s = p.type == F32 || p.type == F16 ? p.scalar : p.integer;
    int t = p.type;
    float fs = float(s);
    switch (p.call) {
    case ADD:
        return rounded(a + b, t);
    case SUB:
        return rounded(a - b, t);
    case MUL:
        return t == I32 ? double(int32_t(uint32_t(int64_t(a)) * uint32_t(int64_t(b))))
                        : rounded(a * b, t);
    case DIV:
        return t == F32 ? double(float(a) / float(b)) : rounded(a / b, t);
    case MAX:
        return std::isnan(a) ? a : std::isnan(b) ? b : a > b ? a : b;
    case MIN:
        return std::isnan(a) ? a : std::isnan(b) ? b : a < b ? a : b;
    case AND:
        return uint16_t(a) & uint16_t(b);
    case OR:
        return uint16_t(a) | uint16_t(b);
    case MLA:
        return rounded(to_f32(d + to_f32(a * b, 1), 1), t);
    case ADDS:
        return rounded(a + s, t);
    case MULS:
        return t == I32 ? double(int32_t(uint32_t(int64_t(a)) * uint32_t(int32_t(s))))
                        : rounded(a * s, t);
    case MAXS:
        return std::isnan(a) ? a : a > s ? a : s;
    case MINS:
        return std::isnan(a) ? a : a < s ? a : s;
    case SHL:
        return t == I16 || t == U16 ? uint16_t(uint32_t(int64_t(a)) << p.integer)
                                    : double(uint32_t(int64_t(a)) << p.integer);
    case SHR:
        return std::floor(a / std::ldexp(1, p.integer));
    case AXPY:
        return rounded(to_f32(d + to_f32(a * fs, 1), 1), t);
    case ABS:
        return std::fabs(a);
    case EXP:
        return t == F16 ? rounded(std::exp(a), t) : double(float(std::exp(a)));
    case LN:
        return rounded(double(float(std::log(a))), t);
    case SQRT:
        return rounded(double(sqrtf(float(a))), t);
    case RSQRT:
        return rounded(double(float(1 / std::sqrt(a))), t);
    case REC:
        return rounded(double(1.0f / float(a)), t);
    case RELU:
        return std::isnan(a) ? a : a > 0 ? a : 0;
    case NOT:
        return uint16_t(~uint16_t(a));
    case CAST:
        return cast_value(a, p);
    case DUPLICATE:
        return p.type == F16    ? to_half(p.scalar, 1)
               : p.type == BF16 ? to_bf16(p.scalar, 1)
                                : double(p.scalar);
    case COPY:
        return a;
    }
    return 0;
}

static void model_elementwise(const Program &p) {
    int ds = type_size[p.type], ss = type_size[p.from], wide = ds > ss ? ds : ss,
        lanes = all_lanes(wide);
    const uint8_t *a = &in[0], *b = &in[REGION];
    for (int r = 0; r < repeats_of(p, lanes); r++)
        for (int lane = 0; lane < lanes; lane++) {
            if (!works(p, lanes, r, lane)) continue;
            uint8_t *d = &model[size_t(place(ds, p.dst_blk, p.dst_rep, r, lane))];
            const uint8_t *x = a + place(ss, p.src0_blk, p.src0_rep, r, lane);
            const uint8_t *y = b + place(ss, p.src1_blk, p.src1_rep, r, lane);
            if (p.call == COPY) {
                memcpy(d, x, size_t(ds));
            } else if (p.type == I64 || p.from == I64) { /* 64 bits do not fit a double */
                int64_t v = 0;
                memcpy(&v, x, size_t(ss));
                if (p.from == I32) v = int32_t(v);
                if (p.from == F32) {
                    double w = cast_value(get(x, F32), p);
                    v = w >= 9223372036854775807.0 ? INT64_MAX : int64_t(w);
                }
                if (p.type == I64) memcpy(d, &v, 8);
                if (p.type == I32)
                    put(d, I32, double(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v));
                if (p.type == F32) { /* long double holds 64 bits */
                    bool negative = v < 0;
                    long double m = negative ? -(long double)v : (long double)v;
                    int e = 0;
                    while (m >= 16777216.0L)
                        m /= 2, e++;
                    double low = double(floorl(m)), rest = double(m - floorl(m));
                    double whole = round_magnitude(low + rest, p.mode, negative);
                    put(d, F32, (negative ? -1 : 1) * std::ldexp(whole, e));
                }
            } else {
                put(d, p.type, element(p, get(x, p.from), get(y, p.from), get(d, p.type)));
            }
        }
}

/* Reductions: adjacent pairs, again and again; masked lanes take no part. */
static void model_reduce(const Program &p) {
    int size = type_size[p.type], lanes = all_lanes(size), per_block = 32 / size;
    int group = p.call == WHOLE_SUM || p.call == WHOLE_MAX ? lanes
                : p.call == PAIR_SUM                       ? 2
                                                           : per_block;
    for (int r = 0; r < p.repeat; r++)
        for (int g = 0; g < lanes / group; g++) {
            std::vector<double> level;
            std::vector<bool> there;
            int best = -1;
            for (int k = 0; k < group; k++) {
                int lane = g * group + k;
                double v = get(&in[size_t(place(size, p.src0_blk, p.src0_rep, r, lane))], p.type);
                level.push_back(v);
                there.push_back(works(p, lanes, r, lane));
                if (there.back() && (best < 0 || v > level[size_t(best)])) best = k;
            }
            if (p.call == WHOLE_MAX) {
                if (best < 0) continue;
                int step = p.mode < 2 ? 2 : 1;
                uint8_t *d = &model[size_t(r * p.dst_rep * step * size)];
                uint32_t index = uint32_t(best);
                bool value_first = p.mode == 0 || p.mode == 2;
                if (p.mode != 3) put(d + (value_first ? 0 : size), p.type, level[size_t(best)]);
                if (p.mode != 2) memcpy(d + (p.mode == 0 ? size : 0), &index, size_t(size));
                continue;
            }
            for (size_t n = level.size(); n > 1; n /= 2)
                for (size_t i = 0; i < n / 2; i++) {
                    double a = level[2 * i], b = level[2 * i + 1];
                    bool ta = there[2 * i], tb = there[2 * i + 1];
                    double both = p.call == BLOCK_MIN ? (std::isnan(a)   ? a
                                                         : std::isnan(b) ? b
                                                         : a < b         ? a
                                                                         : b)
                                                      : rounded(a + b, p.type);
                    level[i] = ta && tb ? both : ta ? a : b;
                    there[i] = ta || tb;
                }
            if (there[0])
                put(&model[size_t(r * p.dst_rep * (lanes / group) * size + g * size)], p.type,
                    level[0]);
        }
}

static bool pattern(int kind, int i, const uint8_t *bits) {
    if (kind == 0) return bits[i / 8] >> (i % 8) & 1;
    return kind == 1 ? i % 2 == 0 : kind == 2 ? i % 2 == 1 : kind == 7 ? true : i % 4 == kind - 3;
}

static void model_shuffle(const Program &p) {
    int size = type_size[p.type], lanes = all_lanes(size);
    const uint8_t *a = &in[0], *b = &in[REGION];
    uint32_t offset;
    uint64_t kept = 0;
    switch (p.call) {
    case GATHER:
        for (int r = 0; r < repeats_of(p, lanes); r++)
            for (int lane = 0; lane < lanes; lane++) {
                if (!works(p, lanes, r, lane)) continue;
                memcpy(&offset, b + (r * lanes + lane) * 4, 4);
                memcpy(&model[size_t(r * p.dst_rep * 32 + lane * size)], a + p.integer + offset,
                       size_t(size));
            }
        break;
    case GATHERB:
        for (int k = 0; k < 8 * p.repeat; k++) {
            memcpy(&offset, b + k * 4, 4);
            memcpy(&model[size_t((k / 8 * p.dst_rep + k % 8 * p.dst_blk) * 32)], a + offset, 32);
        }
        break;
    case GATHER_MASK: {
        int n = p.form == COUNT ? p.count : lanes;
        for (int r = 0; r < p.repeat; r++)
            for (int i = 0; i < n; i++)
                if (pattern(p.mode, i, b + r * p.src1_rep * 32))
                    memcpy(&model[kept++ * size_t(size)],
                           a + place(size, p.src0_blk, p.src0_rep, r, i), size_t(size));
        memcpy(&model[REGION - 8], &kept, 8);
        break;
    }
    case BRCB:
        for (int k = 0; k < 8 * p.repeat; k++)
            for (int i = 0; i < 32; i += size)
                memcpy(&model[size_t((k / 8 * p.dst_rep + k % 8 * p.dst_blk) * 32 + i)],
                       a + k * size, size_t(size));
        break;
    case TRANSPOSE:
        for (int i = 0; i < 256; i++)
            memcpy(&model[size_t(i % 16 * 16 + i / 16) * 2], a + i * 2, 2);
        break;
    case TO_5HD: /* row i of the source list lies at block (15 - i) * 64 */
        for (int r = 0; r < p.repeat; r++)
            for (int i = 0; i < 16; i++)
                for (int j = 0; j < 32 / size; j++) {
                    int row = size == 2 ? j : i % 2 * 8 + j, column = size == 2 ? i : i / 2;
                    memcpy(&model[size_t((i * 64 + r * p.dst_rep) * 32 + j * size)],
                           a + ((15 - row) * 64 + r * p.src0_rep) * 32 + column * size,
                           size_t(size));
                }
        break;
    }
}

static void model_choose(const Program &p) {
    int size = type_size[p.type], lanes = all_lanes(size);
    const uint8_t *a = &in[0], *b = &in[REGION], *sel = b + 32768;
    double s = p.type == I32 ? p.integer : p.type == F16 ? to_half(p.scalar, 1) : double(p.scalar);
    if (p.form == MASK && p.mask[0] == 0) return; /* nothing happens at all */
    for (int r = 0; r < repeats_of(p, lanes); r++)
        for (int lane = 0; lane < lanes; lane++) {
            const uint8_t *px = a + place(size, p.src0_blk, p.src0_rep, r, lane);
            const uint8_t *py = b + place(size, p.src1_blk, p.src1_rep, r, lane);
            double x = get(px, p.type), y = p.call == COMPARE_SCALAR ? s : get(py, p.type);
            if (p.call == COMPARE || p.call == COMPARE_SCALAR) {
                bool yes[] = {x<y, x> y, x == y, x <= y, x >= y, x != y};
                uint8_t *d = &model[size_t((r * lanes + lane) / 8)], bit = uint8_t(1 << (lane % 8));
                *d = uint8_t(yes[p.mode] ? *d | bit : *d & ~bit);
            } else if (works(p, lanes, r, lane)) {
                int k = (p.mode == 0 && p.call == SELECT ? 0 : r * lanes) + lane;
                uint8_t *d = &model[size_t(place(size, p.dst_blk, p.dst_rep, r, lane))];
                if (sel[k / 8] >> (k % 8) & 1)
                    memcpy(d, px, size_t(size));
                else if (p.call == SELECT_SCALAR)
                    put(d, p.type, s);
                else
                    memcpy(d, py, size_t(size));
            }
        }
}

static int round32(int n) {
    return (n + 31) / 32 * 32;
}

static void model_move(const Program &p) {
    int size = type_size[p.type];
    for (int k = 0; k < p.blocks && p.length; k++) {
        bool padded = p.call == LOAD_PAD || p.call == STORE_PAD;
        int in_ub = padded ? round32(p.length + (p.left + p.right) * size) : p.length;
        int gm = k * (p.length + p.gm_gap), ub = k * (in_ub + p.ub_gap);
        switch (p.call) {
        case LOAD:
            memcpy(&model[size_t(ub)], &in[size_t(gm)], size_t(p.length));
            break;
        case STORE:
        case STORE_PAD:
            memcpy(&model[size_t(gm)], &in[size_t(ub)], size_t(p.length));
            break;
        case MOVE:
            memcpy(&model[size_t(ub)], &in[size_t(gm)], size_t(p.length));
            break;
        case LOAD_PAD:
            memcpy(&model[size_t(ub + p.left * size)], &in[size_t(gm)], size_t(p.length));
            for (int i = 0; i < p.left; i++)
                put(&model[size_t(ub + i * size)], p.type,
                    p.type == F32 ? double(p.scalar) : to_half(p.scalar, 1));
            for (int i = 0; i < p.right; i++)
                put(&model[size_t(ub + p.left * size + p.length + i * size)], p.type,
                    p.type == F32 ? double(p.scalar) : to_half(p.scalar, 1));
            break;
        }
    }
}

static void compute_model(const Program &p) {
    memcpy(&model[0], &in[2 * REGION], REGION);
    if (p.call == STORE || p.call == STORE_PAD) memset(&model[0], 0xee, REGION);
    if (p.call >= LOAD)
        model_move(p);
    else if (p.call >= COMPARE)
        model_choose(p);
    else if (p.call >= GATHER)
        model_shuffle(p);
    else if (p.call >= WHOLE_SUM)
        model_reduce(p);
    else
        model_elementwise(p);
}

#endif
