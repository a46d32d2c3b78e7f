/* SPDX-License-Identifier: Apache-2.0
 *
 * Every vector and copy call of the twin against a plain model, lane by lane, over types, forms,
 * masks, strides, repeats, counts and rounding modes, with NaN, infinities, subnormals and ties
 * among the data; and the fast build against the checked one, bit by bit.   calls [seed] [runs per
 * call and type]
 */
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include "calls_reference.h"
#include "launch.h"

struct Random {
    uint64_t state;
    uint32_t next() {
        return uint32_t((state = state * 6364136223846793005ull + 1442695040888963407ull) >> 33);
    }
    int below(int n) { return int(next() % uint32_t(n)); }
    int between(int a, int b) { return a + below(b - a + 1); }
};

static Random rng;
static std::vector<uint8_t> checked_out(REGION), fast_out(REGION);

/* Data: a third plain numbers, a third raw bits, a third specials, ties and neighbours of powers of
 * two. */
static void fill(int region, int type) {
    static const uint16_t odd16[] = {0,      0x8000, 1,      0x03ff, 0x0400, 0x7bff,
                                     0x7c00, 0xfc00, 0x7e01, 0x3c00, 0x3c01, 0xbc00};
    static const uint32_t odd32[] = {
        0,          0x80000000, 1,          0x007fffff, 0x00800000, 0x7f7fffff, 0x7f800000,
        0xff800000, 0x7fc00001, 0x3f801000, 0x3f803000, 0x477ff000, 0x477fefff, 0x33000000,
        0x33000001, 0x38800000, 0x387fffff, 0x3f808000, 0x3f818000, 0x7f7f8000, 0x4b000001,
        0x4f000000, 0xcf000000, 0x3f000000, 0xbfc00000, 0x40200000};
    uint8_t *at = &in[size_t(region) * REGION];
    int size = type_size[type];
    for (int i = 0; i < REGION; i += size) {
        uint32_t kind = rng.next() % 3, raw = rng.next() << 16 ^ rng.next();
        if (type == F16 || type == BF16) {
            uint16_t h = kind == 0   ? encode16(to_half((rng.below(4001) - 2000) / 256.0, 1), 5)
                         : kind == 1 ? uint16_t(raw)
                                     : odd16[rng.next() % 12];
            memcpy(at + i, &h, 2);
        } else if (type == F32) {
            float f = (rng.below(2000001) - 1000000) / 65536.0f;
            uint32_t u;
            memcpy(&u, &f, 4);
            if (kind == 1) u = raw;
            if (kind == 2) u = odd32[rng.next() % 26] ^ (rng.next() & 1) << 31;
            memcpy(at + i, &u, 4);
        } else {
            uint64_t v = kind == 0 ? uint64_t(int64_t(rng.below(2001) - 1000))
                                   : uint64_t(raw) << (raw & 31) ^ rng.next();
            memcpy(at + i, &v, size_t(size));
        }
    }
}

/* Lanes and strides that stay inside the region, dst repeats apart from each other. */
static void draw_lanes(Program &p, int form, int dst_size, int src_size, int sources) {
    int wide = dst_size > src_size ? dst_size : src_size, lanes = all_lanes(wide);
    int dst_span = 8 * dst_size / wide, src_span = 8 * src_size / wide;
    p.form = form;
    if (form == COUNT || form == REGISTER) {
        int most = (REGION - 256) / wide;
        p.count = rng.below(4) ? rng.below(3 * lanes) : rng.below(most);
        p.dst_blk = p.src0_blk = p.src1_blk = 1;
        p.dst_rep = dst_span;
        p.src0_rep = p.src1_rep = src_span;
        if (form == REGISTER && rng.below(2)) { /* with gaps, or a source again and again */
            p.count = rng.below(20 * lanes);
            p.dst_rep += rng.below(9);
            p.src0_rep = rng.below(20);
            p.src1_rep = rng.below(20);
        }
        return;
    }
    p.repeat = rng.below(5) ? rng.below(20) : rng.below(256);
    p.dst_blk = rng.below(3) ? 1 : rng.between(1, 4);
    p.src0_blk = rng.below(3) ? 1 : rng.between(0, 4);
    p.src1_blk = rng.below(3) ? 1 : rng.between(0, 4);
    p.dst_rep = rng.below(2) ? dst_span * p.dst_blk : dst_span * p.dst_blk + rng.below(9);
    p.src0_rep = rng.below(2) ? src_span : rng.below(20);
    p.src1_rep = rng.below(2) ? src_span : rng.below(20);
    if (sources == 1) p.src1_rep = p.src0_rep, p.src1_blk = p.src0_blk;
    int blocks = REGION / 32;
    for (int pass = 0; pass < 2; pass++) {
        int rep = p.dst_rep > p.src0_rep ? p.dst_rep : p.src0_rep;
        if (sources == 2 && p.src1_rep > rep) rep = p.src1_rep;
        if (rep && p.repeat * rep + 40 > blocks) p.repeat = (blocks - 40) / rep;
    }
    if (form == MASK) {
        p.mask[0] = rng.below(2) ? uint64_t(lanes) : uint64_t(rng.below(lanes + 1));
    } else {
        for (int k = 0; k < 2; k++)
            p.mask[k] = (uint64_t(rng.next()) << 32 | rng.next()) &
                        (rng.below(2) ? ~0ull : uint64_t(rng.next()) << 20);
        if (lanes <= 64) p.mask[1] = 0;
        if (lanes < 64) p.mask[0] &= (1ull << lanes) - 1;
    }
}

/* Draws one program of a call and type, fills the data, computes the model. */
static void draw(Program &p, int call, int type, int from, int form) {
    memset(&p, 0, sizeof p);
    p.call = call;
    p.type = type;
    p.from = from;
    p.scalar = (rng.below(2001) - 1000) / 64.0f;
    p.integer = rng.below(401) - 200;
    int ds = type_size[type], ss = type_size[from], lanes = all_lanes(ds);
    int sources = call <= MLA || call == COMPARE || call == SELECT ? 2 : 1;
    draw_lanes(p, form, ds, ss, sources);
    fill(0, from);
    fill(1, from);
    fill(2, type);
    if (call == SHL || call == SHR) p.integer = rng.below(ds * 8);
    if (call >= COMPARE && call <= SELECT_SCALAR) {
        p.mode = type == I32 ? 2 : rng.below(call == SELECT ? 3 : 6);
        if (call == SELECT_SCALAR) p.mode = 1;
        if (form == COUNT) p.count = (call == SELECT ? 1 + rng.below(20) : rng.below(20)) * lanes;
        if (form == COUNT && call == SELECT && p.mode == 0) p.count = lanes;
        int rep = p.src0_rep > p.src1_rep ? p.src0_rep : p.src1_rep;
        if (form != COUNT && p.dst_rep > rep) rep = p.dst_rep;
        if (form != COUNT && rep && p.repeat * rep > 900) p.repeat = 900 / rep;
        if (p.count > 32000 / ds) p.count = 32000 / 256 * 256 / ds;
    }
    if (call == WHOLE_MAX) p.mode = rng.below(4);
    if (call >= WHOLE_SUM && call <= BLOCK_MIN) {
        int results = call == WHOLE_SUM || call == WHOLE_MAX ? 1 : call == PAIR_SUM ? lanes / 2 : 8;
        p.dst_rep = 1 + rng.below(3);
        if (p.repeat * p.dst_rep * results * ds * 2 > REGION) p.repeat = 60;
        if (call == WHOLE_MAX) /* an index must be found: no NaN */
            for (int i = 0; i < REGION; i += ds)
                if (std::isnan(get(&in[size_t(i)], type))) put(&in[size_t(i)], type, 1);
    }
    if (call == GATHER || call == GATHERB) {
        p.integer = 64;
        if (p.count > 8192) p.count = 8192;
        if (p.repeat > 60) p.repeat = 60;
        bool swap = rng.below(4) != 0; /* neighbours change places, with a few exceptions */
        if (swap && form == COUNT) p.count = rng.below(4096);
        for (uint32_t i = 0; i < REGION / 4; i++) {
            uint32_t offset = call == GATHERB
                                  ? uint32_t(rng.below(1500)) * 32
                                  : uint32_t(rng.below((REGION - 128) / ds)) * uint32_t(ds);
            if (swap && call == GATHER && rng.below(300)) offset = (i % 8192 ^ 1) * uint32_t(ds);
            memcpy(&in[REGION + i * 4], &offset, 4);
        }
        if (call == GATHER && p.dst_rep < 8) p.dst_rep = 8;
    }
    if (call == GATHER_MASK) {
        p.mode = rng.below(8);
        p.repeat = rng.below(12);
        p.count = 1 + rng.below(2 * lanes);
        p.src0_blk = 1 + rng.below(2);
        p.src0_rep = rng.below(40);
        p.src1_rep = rng.below(3);
    }
    if (call == BRCB && p.repeat > 100) p.repeat = 100;
    if (call == TO_5HD)
        p.repeat = rng.below(20), p.dst_rep = 1 + rng.below(3), p.src0_rep = rng.below(3);
    if (call >= LOAD) {
        p.blocks = rng.below(3) ? rng.below(9) : rng.below(40);
        p.length = rng.below(900) * 4;
        bool padded = call == LOAD_PAD || call == STORE_PAD;
        if (!padded) p.length = p.length / 32 * 32;
        p.gm_gap = rng.below(2) ? 0 : rng.below(60) * (padded ? ds : 32);
        p.ub_gap = rng.below(2) ? 0 : rng.below(4) * 32;
        if (form == COUNT) p.blocks = 1, p.gm_gap = p.ub_gap = 0;
        if (call == LOAD_PAD && rng.below(2))
            p.is_pad = 1, p.left = rng.below(32 / ds), p.right = rng.below(32 / ds);
        if (call == LOAD_PAD) { /* all of a block is defined: no filler in what is stored */
            p.is_pad = 1;
            p.right = 0;
            int rest = (p.length + p.left * ds) % 32;
            if (rest) p.right = (32 - rest) / ds;
        }
        while ((p.length + 64 + p.gm_gap + p.ub_gap) * p.blocks > REGION)
            p.blocks /= 2;
    }
}

static int execute(const Program &p, bool checked, uint8_t *out, char *why) {
    twin_arg arg[2] = {{"in", TWIN_INPUT, &in[0], in.size()}, {"out", TWIN_OUTPUT, out, REGION}};
    twin_launch l = {};
    l.op = "calls";
    l.entry = checked ? calls_kernel_checked : calls_kernel_fast;
    l.arity = 4;
    l.arg = arg;
    l.args = 2;
    l.tiling = &p;
    l.tiling_bytes = sizeof p;
    l.block_dim = 1;
    l.soc = twin_find_soc("ascend910b1");
    l.checked = checked;
    memset(out, 0xee, REGION);
    return twin_run(&l, nullptr, why);
}

static const char *const call_name[] = {"Add",
                                        "Sub",
                                        "Mul",
                                        "Div",
                                        "Max",
                                        "Min",
                                        "And",
                                        "Or",
                                        "MulAddDst",
                                        "Adds",
                                        "Muls",
                                        "Maxs",
                                        "Mins",
                                        "ShiftLeft",
                                        "ShiftRight",
                                        "Axpy",
                                        "Abs",
                                        "Exp",
                                        "Ln",
                                        "Sqrt",
                                        "Rsqrt",
                                        "Reciprocal",
                                        "Relu",
                                        "Not",
                                        "Cast",
                                        "Duplicate",
                                        "Copy",
                                        "WholeReduceSum",
                                        "BlockReduceSum",
                                        "PairReduceSum",
                                        "WholeReduceMax",
                                        "BlockReduceMin",
                                        "Gather",
                                        "Gatherb",
                                        "GatherMask",
                                        "Brcb",
                                        "Transpose",
                                        "TransDataTo5HD",
                                        "Compare",
                                        "CompareScalar",
                                        "Select",
                                        "SelectScalar",
                                        "DataCopy in",
                                        "DataCopyPad in",
                                        "DataCopy out",
                                        "DataCopyPad out",
                                        "DataCopy UB"};
static const char *const type_name[] = {"half",   "float", "int16", "int32", "uint16",
                                        "uint32", "bf16",  "int64", "int8",  "uint8"};

static int passed, failed;

static bool try_one(const Program &p) {
    char why[TWIN_WHY];
    compute_model(p);
    bool moves =
        p.call >= GATHER || p.call == COPY || p.call == DUPLICATE; /* bits are only moved */
    bool any_zero =
        p.call == MAX || p.call == MIN || p.call == MAXS || p.call == MINS || p.call == BLOCK_MIN;
    double tolerance =
        p.call == EXP || p.call == LN || p.call == RSQRT ? (p.type == F16 ? 1e-3 : 1.2e-7) : 0;
    if (execute(p, true, &checked_out[0], why) || execute(p, false, &fast_out[0], why)) {
        printf("FAIL %s %s form %d: %s\n", call_name[p.call], type_name[p.type], p.form, why);
        return false;
    }
    int type = p.call >= COMPARE && p.call <= COMPARE_SCALAR ? U8
               : moves && p.call < COMPARE                   ? U16
                                                             : p.type;
    for (int i = 0; i < REGION; i += type_size[type]) {
        if (same(&checked_out[size_t(i)], &model[size_t(i)], type, any_zero, tolerance)) continue;
        printf("FAIL %s %s<-%s form %d mode %d at byte %d: %.9g, model %.9g\n", call_name[p.call],
               type_name[p.type], type_name[p.from], p.form, p.mode, i,
               get(&checked_out[size_t(i)], type), get(&model[size_t(i)], type));
        return false;
    }
    if (memcmp(&checked_out[0], &fast_out[0], REGION)) {
        printf("FAIL %s %s: the fast build differs from the checked one\n", call_name[p.call],
               type_name[p.type]);
        return false;
    }
    return true;
}

static int runs = 6;

static void test(int call, int type, int from, int mode, std::initializer_list<int> forms) {
    for (int form : forms) {
        bool good = true;
        for (int i = 0; i < runs && good; i++) {
            Program p;
            draw(p, call, type, from, form);
            if (mode >= 0) p.mode = mode;
            good = try_one(p);
        }
        good ? passed++ : failed++;
    }
}

static void test_casts() {
    static const struct {
        int to, from, modes;
    } rows[] = {
        {F32, F16, 1},    {F32, BF16, 1},   {F32, I16, 1},     {F32, I32, 0x3f},  {F32, I64, 0x3e},
        {F32, F32, 0x3e}, {F16, F32, 0x7f}, {BF16, F32, 0x3e}, {I16, F32, 0x3e},  {I32, F32, 0x3e},
        {I64, F32, 0x3e}, {I8, F16, 0x3f},  {U8, F16, 0x3f},   {I16, F16, 0x3e},  {I32, F16, 0x3e},
        {F16, I8, 1},     {F16, U8, 1},     {F16, I16, 0x3f},  {I32, BF16, 0x3e}, {I16, I32, 1},
        {I64, I32, 1},    {I32, I64, 1},
    };
    for (auto &row : rows)
        for (int mode = 0; mode < 7; mode++)
            if (row.modes >> mode & 1) test(CAST, row.to, row.from, mode, {COUNT, MASK, BITS});
}

int main(int argc, char **argv) {
    uint64_t seed = argc > 1 ? strtoull(argv[1], nullptr, 0) : 20260801;
    if (argc > 2) runs = atoi(argv[2]);
    printf("seed %llu, %d runs per row\n", (unsigned long long)seed, runs);
    rng.state = seed;
    for (int type : {F16, F32, I16, I32})
        for (int call : {ADD, SUB, MUL, MAX, MIN})
            test(call, type, type, -1, {COUNT, MASK, BITS, REGISTER});
    for (int type : {F16, F32, I16, I32})
        for (int call : {ADDS, MULS, MAXS, MINS})
            test(call, type, type, -1, {COUNT, MASK, BITS});
    for (int type : {F16, F32}) {
        for (int call : {DIV})
            test(call, type, type, -1, {COUNT, MASK, BITS, REGISTER});
        for (int call : {ABS, EXP, LN, SQRT, RSQRT, REC, RELU, AXPY, MLA})
            test(call, type, type, -1, {COUNT, MASK, BITS});
        for (int call : {WHOLE_SUM, BLOCK_SUM, PAIR_SUM, WHOLE_MAX, BLOCK_MIN})
            test(call, type, type, -1, {MASK, BITS});
        for (int call : {COMPARE, SELECT})
            test(call, type, type, -1, {COUNT, MASK});
        for (int call : {COMPARE_SCALAR, SELECT_SCALAR})
            test(call, type, type, -1, {COUNT});
    }
    test(COMPARE, I32, I32, 2, {COUNT, MASK});
    for (int call : {AXPY, MLA})
        test(call, F32, F16, -1, {COUNT, MASK, BITS});
    for (int call : {AND, OR})
        test(call, U16, U16, -1, {COUNT, MASK, BITS, REGISTER});
    test(NOT, U16, U16, -1, {COUNT, MASK, BITS});
    for (int type : {I16, U16, I32, U32})
        for (int call : {SHL, SHR})
            test(call, type, type, -1, {COUNT, MASK, BITS});
    test_casts();
    for (int type : {F16, BF16, F32}) {
        test(DUPLICATE, type, type, -1, {COUNT, MASK, BITS});
        test(COPY, type, type, -1, {MASK, BITS});
        test(GATHER, type, type, -1, {COUNT, MASK, BITS});
        test(GATHERB, type, type, -1, {MASK});
        test(GATHER_MASK, type, type, -1, {COUNT, MASK});
        test(BRCB, type, type, -1, {MASK});
        if (type != F32) test(TRANSPOSE, type, type, -1, {MASK});
        test(TO_5HD, type, type, -1, {MASK});
        for (int call : {LOAD, STORE, MOVE})
            test(call, type, type, -1, {COUNT, MASK});
        for (int call : {LOAD_PAD, STORE_PAD})
            if (type != BF16) test(call, type, type, -1, {MASK});
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
