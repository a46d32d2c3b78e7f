/* SPDX-License-Identifier: Apache-2.0
 *
 * Executes one Program: loads src0, src1 and the old dst, makes the call, stores dst. Built twice,
 * checked and fast.
 */
#include "standard.h"

#include "calls.h"

#if TWIN_CHECKED
#define SPACE calls_checked
#define ENTRY calls_kernel_checked
#else
#define SPACE calls_fast
#define ENTRY calls_kernel_fast
#endif

namespace SPACE {
#include "kernel_operator.h"
using namespace AscendC;

struct Work {
    LocalTensor<uint8_t> src0, src1, dst;
    GlobalTensor<uint8_t> gsrc0, gout;
    const Program *p;
    mutable uint64_t kept = 0;

    template <typename T> LocalTensor<T> Src0() const { return src0.ReinterpretCast<T>(); }
    template <typename T> LocalTensor<T> Src1() const { return src1.ReinterpretCast<T>(); }
    template <typename T> LocalTensor<T> Dst() const { return dst.ReinterpretCast<T>(); }
    BinaryRepeatParams Strides2() const {
        return BinaryRepeatParams(uint8_t(p->dst_blk), uint8_t(p->src0_blk), uint8_t(p->src1_blk),
                                  uint8_t(p->dst_rep), uint8_t(p->src0_rep), uint8_t(p->src1_rep));
    }
    UnaryRepeatParams Strides1() const {
        return UnaryRepeatParams(uint16_t(p->dst_blk), uint16_t(p->src0_blk), uint8_t(p->dst_rep),
                                 uint8_t(p->src0_rep));
    }
};

template <typename T> static void CounterOn(const Program &p) {
    SetMaskCount();
    SetVectorMask<T, MaskMode::COUNTER>(0, uint64_t(p.count));
}
static void CounterOff() {
    SetMaskNorm();
    ResetMask();
}

/* The four forms of a call with two sources, with one source and a scalar, with one source. */
#define TWO(Name, D, A)                                                                            \
    do {                                                                                           \
        uint64_t bits[2] = {p.mask[0], p.mask[1]};                                                 \
        if (p.form == COUNT) Name(w.Dst<D>(), w.Src0<A>(), w.Src1<A>(), p.count);                  \
        if (p.form == MASK)                                                                        \
            Name(w.Dst<D>(), w.Src0<A>(), w.Src1<A>(), p.mask[0], uint8_t(p.repeat),               \
                 w.Strides2());                                                                    \
        if (p.form == BITS)                                                                        \
            Name(w.Dst<D>(), w.Src0<A>(), w.Src1<A>(), bits, uint8_t(p.repeat), w.Strides2());     \
    } while (0)
#define TWO_SAME(Name)                                                                             \
    do {                                                                                           \
        TWO(Name, T, T);                                                                           \
        if (p.form == REGISTER) {                                                                  \
            CounterOn<T>(p);                                                                       \
            Name<T, false>(w.Dst<T>(), w.Src0<T>(), w.Src1<T>(), MASK_PLACEHOLDER, 1,              \
                           w.Strides2());                                                          \
            CounterOff();                                                                          \
        }                                                                                          \
    } while (0)
#define SCALAR(Name, D, A, value)                                                                  \
    do {                                                                                           \
        uint64_t bits[2] = {p.mask[0], p.mask[1]};                                                 \
        A s = value;                                                                               \
        if (p.form == COUNT) Name(w.Dst<D>(), w.Src0<A>(), s, p.count);                            \
        if (p.form == MASK)                                                                        \
            Name(w.Dst<D>(), w.Src0<A>(), s, p.mask[0], uint8_t(p.repeat), w.Strides1());          \
        if (p.form == BITS)                                                                        \
            Name(w.Dst<D>(), w.Src0<A>(), s, bits, uint8_t(p.repeat), w.Strides1());               \
    } while (0)
#define ONE(Name)                                                                                  \
    do {                                                                                           \
        uint64_t bits[2] = {p.mask[0], p.mask[1]};                                                 \
        if (p.form == COUNT) Name(w.Dst<T>(), w.Src0<T>(), p.count);                               \
        if (p.form == MASK)                                                                        \
            Name(w.Dst<T>(), w.Src0<T>(), p.mask[0], uint8_t(p.repeat), w.Strides1());             \
        if (p.form == BITS) Name(w.Dst<T>(), w.Src0<T>(), bits, uint8_t(p.repeat), w.Strides1());  \
    } while (0)

template <typename T> static T Value(const Program &p) {
    if constexpr (std::is_integral<T>::value)
        return T(p.integer);
    else
        return T(p.scalar);
}

template <typename T> static void Arithmetic(const Work &w, const Program &p) {
    switch (p.call) {
    case ADD:
        TWO_SAME(Add);
        break;
    case SUB:
        TWO_SAME(Sub);
        break;
    case MUL:
        TWO_SAME(Mul);
        break;
    case MAX:
        TWO_SAME(Max);
        break;
    case MIN:
        TWO_SAME(Min);
        break;
    case ADDS:
        SCALAR(Adds, T, T, Value<T>(p));
        break;
    case MULS:
        SCALAR(Muls, T, T, Value<T>(p));
        break;
    case MAXS:
        SCALAR(Maxs, T, T, Value<T>(p));
        break;
    case MINS:
        SCALAR(Mins, T, T, Value<T>(p));
        break;
    }
}

template <typename T> static void Floating(const Work &w, const Program &p) {
    switch (p.call) {
    case DIV:
        TWO_SAME(Div);
        break;
    case ABS:
        ONE(Abs);
        break;
    case EXP:
        ONE(Exp);
        break;
    case LN:
        ONE(Ln);
        break;
    case SQRT:
        ONE(Sqrt);
        break;
    case RSQRT:
        ONE(Rsqrt);
        break;
    case REC:
        ONE(Reciprocal);
        break;
    case RELU:
        ONE(Relu);
        break;
    case AXPY:
        SCALAR(Axpy, T, T, Value<T>(p));
        break;
    case MLA:
        TWO(MulAddDst, T, T);
        break;
    default:
        Arithmetic<T>(w, p);
    }
}

template <typename T> static void Integers(const Work &w, const Program &p) {
    switch (p.call) {
    case SHL:
        SCALAR(ShiftLeft, T, T, T(p.integer));
        break;
    case SHR:
        SCALAR(ShiftRight, T, T, T(p.integer));
        break;
    }
}

static void Logic(const Work &w, const Program &p) {
    using T = uint16_t;
    switch (p.call) {
    case AND:
        TWO_SAME(And);
        break;
    case OR:
        TWO_SAME(Or);
        break;
    case NOT:
        ONE(Not);
        break;
    default:
        Integers<T>(w, p);
    }
}

template <typename D, typename S> static void CastOne(const Work &w, const Program &p) {
    uint64_t bits[2] = {p.mask[0], p.mask[1]};
    RoundMode mode = RoundMode(p.mode);
    if (p.form == COUNT) Cast(w.Dst<D>(), w.Src0<S>(), mode, p.count);
    if (p.form == MASK)
        Cast(w.Dst<D>(), w.Src0<S>(), mode, p.mask[0], uint8_t(p.repeat), w.Strides1());
    if (p.form == BITS) Cast(w.Dst<D>(), w.Src0<S>(), mode, bits, uint8_t(p.repeat), w.Strides1());
}

#define PAIR(d, s, D, S)                                                                           \
    if (p.type == d && p.from == s) return CastOne<D, S>(w, p)
static void Casts(const Work &w, const Program &p) {
    PAIR(F32, F16, float, half);
    PAIR(F32, BF16, float, bfloat16_t);
    PAIR(F32, I16, float, int16_t);
    PAIR(F32, I32, float, int32_t);
    PAIR(F32, I64, float, int64_t);
    PAIR(F32, F32, float, float);
    PAIR(F16, F32, half, float);
    PAIR(BF16, F32, bfloat16_t, float);
    PAIR(I16, F32, int16_t, float);
    PAIR(I32, F32, int32_t, float);
    PAIR(I64, F32, int64_t, float);
    PAIR(I8, F16, int8_t, half);
    PAIR(U8, F16, uint8_t, half);
    PAIR(I16, F16, int16_t, half);
    PAIR(I32, F16, int32_t, half);
    PAIR(F16, I8, half, int8_t);
    PAIR(F16, U8, half, uint8_t);
    PAIR(F16, I16, half, int16_t);
    PAIR(I32, BF16, int32_t, bfloat16_t);
    PAIR(I16, I32, int16_t, int32_t);
    PAIR(I64, I32, int64_t, int32_t);
    PAIR(I32, I64, int32_t, int64_t);
}

template <typename T> static void Reduce(const Work &w, const Program &p) {
    uint64_t bits[2] = {p.mask[0], p.mask[1]};
    int32_t n = int32_t(p.mask[0]), r = p.repeat, d = p.dst_rep, b = p.src0_blk, s = p.src0_rep;
    bool whole = p.form == MASK;
    switch (p.call) {
    case WHOLE_SUM:
        if (whole)
            WholeReduceSum(w.Dst<T>(), w.Src0<T>(), n, r, d, b, s);
        else
            WholeReduceSum(w.Dst<T>(), w.Src0<T>(), bits, r, d, b, s);
        break;
    case WHOLE_MAX:
        if (whole)
            WholeReduceMax(w.Dst<T>(), w.Src0<T>(), n, r, d, b, s, ReduceOrder(p.mode));
        else
            WholeReduceMax(w.Dst<T>(), w.Src0<T>(), bits, r, d, b, s, ReduceOrder(p.mode));
        break;
    case BLOCK_SUM:
        if (whole)
            BlockReduceSum(w.Dst<T>(), w.Src0<T>(), r, n, d, b, s);
        else
            BlockReduceSum(w.Dst<T>(), w.Src0<T>(), r, bits, d, b, s);
        break;
    case BLOCK_MIN:
        if (whole)
            BlockReduceMin(w.Dst<T>(), w.Src0<T>(), r, n, d, b, s);
        else
            BlockReduceMin(w.Dst<T>(), w.Src0<T>(), r, bits, d, b, s);
        break;
    case PAIR_SUM:
        if (whole)
            PairReduceSum(w.Dst<T>(), w.Src0<T>(), r, n, d, b, s);
        else
            PairReduceSum(w.Dst<T>(), w.Src0<T>(), r, bits, d, b, s);
        break;
    }
}

template <typename T> static void Shuffles(const Work &w, const Program &p) {
    using U = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
    uint64_t bits[2] = {p.mask[0], p.mask[1]};
    switch (p.call) {
    case DUPLICATE:
        if (p.form == COUNT) Duplicate(w.Dst<T>(), Value<T>(p), p.count);
        if (p.form == MASK)
            Duplicate(w.Dst<T>(), Value<T>(p), p.mask[0], uint8_t(p.repeat), uint16_t(p.dst_blk),
                      uint8_t(p.dst_rep));
        if (p.form == BITS)
            Duplicate(w.Dst<T>(), Value<T>(p), bits, uint8_t(p.repeat), uint16_t(p.dst_blk),
                      uint8_t(p.dst_rep));
        break;
    case COPY: {
        CopyRepeatParams s(uint16_t(p.dst_blk), uint16_t(p.src0_blk), uint16_t(p.dst_rep),
                           uint16_t(p.src0_rep));
        if (p.form == MASK) Copy(w.Dst<T>(), w.Src0<T>(), p.mask[0], uint8_t(p.repeat), s);
        if (p.form == BITS) Copy(w.Dst<T>(), w.Src0<T>(), bits, uint8_t(p.repeat), s);
        break;
    }
    case GATHER:
        if (p.form == COUNT)
            Gather(w.Dst<T>(), w.Src0<T>(), w.Src1<uint32_t>(), uint32_t(p.integer),
                   uint32_t(p.count));
        if (p.form == MASK)
            Gather(w.Dst<T>(), w.Src0<T>(), w.Src1<uint32_t>(), uint32_t(p.integer), p.mask[0],
                   uint8_t(p.repeat), uint16_t(p.dst_rep));
        if (p.form == BITS)
            Gather(w.Dst<T>(), w.Src0<T>(), w.Src1<uint32_t>(), uint32_t(p.integer), bits,
                   uint8_t(p.repeat), uint16_t(p.dst_rep));
        break;
    case GATHERB:
        Gatherb(w.Dst<T>(), w.Src0<T>(), w.Src1<uint32_t>(), uint8_t(p.repeat),
                GatherRepeatParams(uint8_t(p.dst_blk), uint8_t(p.dst_rep)));
        break;
    case GATHER_MASK: {
        GatherMaskParams g(uint8_t(p.src0_blk), uint16_t(p.repeat), uint16_t(p.src0_rep),
                           uint8_t(p.src1_rep));
        bool counter = p.form == COUNT;
        if (p.mode)
            GatherMask(w.Dst<T>(), w.Src0<T>(), uint8_t(p.mode), counter, uint32_t(p.count), g,
                       w.kept);
        else
            GatherMask(w.Dst<T>(), w.Src0<T>(), w.Src1<U>(), counter, uint32_t(p.count), g, w.kept);
        break;
    }
    case BRCB:
        Brcb(w.Dst<T>(), w.Src0<T>(), uint8_t(p.repeat),
             BrcbRepeatParams(uint16_t(p.dst_blk), uint16_t(p.dst_rep)));
        break;
    case TO_5HD: {
        LocalTensor<T> to[16], from[16];
        for (uint32_t i = 0; i < 16; i++) {
            to[i] = w.Dst<T>()[i * 64 * 32 / sizeof(T)];
            from[i] = w.Src0<T>()[(15 - i) * 64 * 32 / sizeof(T)];
        }
        TransDataTo5HD(to, from,
                       TransDataTo5HDParams(false, false, uint8_t(p.repeat), uint16_t(p.dst_rep),
                                            uint16_t(p.src0_rep)));
        break;
    }
    }
    if constexpr (sizeof(T) == 2)
        if (p.call == TRANSPOSE) Transpose(w.Dst<T>(), w.Src0<T>());
}

template <typename T> static void Choose(const Work &w, const Program &p) {
    LocalTensor<uint8_t> bits = w.Dst<uint8_t>();
    switch (p.call) {
    case COMPARE:
        if (p.form == COUNT)
            Compare(bits, w.Src0<T>(), w.Src1<T>(), CMPMODE(p.mode), uint32_t(p.count));
        else
            Compare(bits, w.Src0<T>(), w.Src1<T>(), CMPMODE(p.mode), p.mask[0], uint8_t(p.repeat),
                    w.Strides2());
        break;
    case COMPARE_SCALAR:
        CompareScalar(bits, w.Src0<T>(), Value<T>(p), CMPMODE(p.mode), uint32_t(p.count));
        break;
    }
    if constexpr (!std::is_same<T, int32_t>::value) {
        LocalTensor<uint8_t> sel = w.Src1<uint8_t>()[32768]; /* behind the values of src1 */
        switch (p.call) {
        case SELECT:
            if (p.form == COUNT)
                Select(w.Dst<T>(), sel, w.Src0<T>(), w.Src1<T>(), SELMODE(p.mode),
                       uint32_t(p.count));
            else
                Select(w.Dst<T>(), sel, w.Src0<T>(), w.Src1<T>(), SELMODE(p.mode), p.mask[0],
                       uint8_t(p.repeat), w.Strides2());
            break;
        case SELECT_SCALAR:
            Select(w.Dst<T>(), sel, w.Src0<T>(), Value<T>(p), SELMODE::VSEL_TENSOR_SCALAR_MODE,
                   uint32_t(p.count));
            break;
        }
    }
}

template <typename T> static void Moves(const Work &w, const Program &p) {
    GlobalTensor<T> from, to;
    from.SetGlobalBuffer((__gm__ T *)w.gsrc0.GetPhyAddr(0));
    to.SetGlobalBuffer((__gm__ T *)w.gout.GetPhyAddr(0));
    DataCopyParams blocks(uint16_t(p.blocks), uint16_t(p.length / 32), uint16_t(p.gm_gap / 32),
                          uint16_t(p.ub_gap / 32));
    DataCopyParams back(uint16_t(p.blocks), uint16_t(p.length / 32), uint16_t(p.ub_gap / 32),
                        uint16_t(p.gm_gap / 32));
    DataCopyExtParams padded(uint16_t(p.blocks), uint32_t(p.length), uint32_t(p.gm_gap),
                             uint32_t(p.ub_gap / 32), 0);
    DataCopyExtParams padded_back(uint16_t(p.blocks), uint32_t(p.length), uint32_t(p.ub_gap / 32),
                                  uint32_t(p.gm_gap), 0);
    switch (p.call) {
    case LOAD:
        if (p.form == COUNT)
            DataCopy(w.Dst<T>(), from, uint32_t(p.length / sizeof(T)));
        else
            DataCopy(w.Dst<T>(), from, blocks);
        break;
    case LOAD_PAD:
        DataCopyPad(
            w.Dst<T>(), from, padded,
            DataCopyPadExtParams<T>(p.is_pad, uint8_t(p.left), uint8_t(p.right), Value<T>(p)));
        break;
    case STORE:
        if (p.form == COUNT)
            DataCopy(to, w.Src0<T>(), uint32_t(p.length / sizeof(T)));
        else
            DataCopy(to, w.Src0<T>(), back);
        break;
    case STORE_PAD:
        DataCopyPad(to, w.Src0<T>(), padded_back);
        break;
    case MOVE:
        if (p.form == COUNT)
            DataCopy(w.Dst<T>(), w.Src0<T>(), uint32_t(p.length / sizeof(T)));
        else
            DataCopy(w.Dst<T>(), w.Src0<T>(),
                     DataCopyParams(uint16_t(p.blocks), uint16_t(p.length / 32),
                                    uint16_t(p.gm_gap / 32), uint16_t(p.ub_gap / 32)));
        break;
    }
}

static void Dispatch(const Work &w, const Program &p) {
    if (p.call == CAST) return Casts(w, p);
    if (p.call == AXPY && p.type == F32 && p.from == F16) {
        SCALAR(Axpy, float, half, half(p.scalar));
        return;
    }
    if (p.call == MLA && p.type == F32 && p.from == F16) {
        TWO(MulAddDst, float, half);
        return;
    }
    bool moves = p.call >= LOAD,
         shuffles = p.call == DUPLICATE || p.call == COPY || (p.call >= GATHER && p.call <= TO_5HD);
    bool chooses = p.call >= COMPARE && p.call <= SELECT_SCALAR,
         reduces = p.call >= WHOLE_SUM && p.call <= BLOCK_MIN;
    if (moves)
        return p.type == F16    ? Moves<half>(w, p)
               : p.type == BF16 ? Moves<bfloat16_t>(w, p)
                                : Moves<float>(w, p);
    if (shuffles)
        return p.type == F16    ? Shuffles<half>(w, p)
               : p.type == BF16 ? Shuffles<bfloat16_t>(w, p)
                                : Shuffles<float>(w, p);
    if (chooses)
        return p.type == F16   ? Choose<half>(w, p)
               : p.type == F32 ? Choose<float>(w, p)
                               : Choose<int32_t>(w, p);
    if (reduces) return p.type == F16 ? Reduce<half>(w, p) : Reduce<float>(w, p);
    switch (p.type) {
    case F16:
        return Floating<half>(w, p);
    case F32:
        return Floating<float>(w, p);
    case I16:
        return p.call >= SHL ? Integers<int16_t>(w, p) : Arithmetic<int16_t>(w, p);
    case I32:
        return p.call >= SHL ? Integers<int32_t>(w, p) : Arithmetic<int32_t>(w, p);
    case U16:
        return Logic(w, p);
    case U32:
        return Integers<uint32_t>(w, p);
    }
}

static void Kernel(GM_ADDR in, GM_ADDR out, GM_ADDR tiling) {
    GET_TILING_DATA_WITH_STRUCT(Program, p, tiling);
    TPipe pipe;
    TBuf<TPosition::VECIN> buf[3];
    Work w;
    w.p = &p;
    LocalTensor<uint8_t> *t[3] = {&w.src0, &w.src1, &w.dst};
    for (int i = 0; i < 3; i++) {
        pipe.InitBuffer(buf[i], REGION);
        *t[i] = buf[i].Get<uint8_t>();
        w.gsrc0.SetGlobalBuffer(in + i * REGION);
        DataCopy(*t[i], w.gsrc0, REGION);
    }
    w.gsrc0.SetGlobalBuffer(in);
    w.gout.SetGlobalBuffer(out);
    PipeBarrier<PIPE_ALL>();
    Dispatch(w, p);
    PipeBarrier<PIPE_ALL>();
    if (p.call == GATHER_MASK) { /* the number of elements kept goes into the last bytes */
        w.dst.ReinterpretCast<uint64_t>().SetValue(REGION / 8 - 1, w.kept);
        PipeBarrier<PIPE_ALL>();
    }
    if (p.call != STORE && p.call != STORE_PAD) DataCopy(w.gout, w.dst, REGION);
}
} // namespace SPACE

extern "C" void ENTRY(uint8_t **args) {
    SPACE::Kernel(args[0], args[1], args[3]);
}
