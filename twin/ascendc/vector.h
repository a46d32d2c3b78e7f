/* SPDX-License-Identifier: Apache-2.0
 *
 * Elementwise vector calls: two sources, source and scalar, one source, Axpy, Cast, Duplicate,
 * Copy. Every call has the count form and the forms with mask, repeat and strides.
 */
#ifndef TWIN_ASCENDC_VECTOR_H
#define TWIN_ASCENDC_VECTOR_H

namespace AscendC {

template <bool isSetMask, typename D, typename A, typename M>
inline void TwinBinaryCall(twin_prim_id prim, const LocalTensor<D> &dst, const LocalTensor<A> &a,
                           const LocalTensor<A> &b, M mask, const Narrow8 repeat,
                           const BinaryRepeatParams &p, const twin_site *site) {
    TwinFields f;
    f.Check(repeat), f.Check(p.dstBlkStride), f.Check(p.src0BlkStride), f.Check(p.src1BlkStride);
    f.Check(p.dstRepStride), f.Check(p.src0RepStride), f.Check(p.src1RepStride);
    constexpr uint32_t wide = sizeof(D) > sizeof(A) ? sizeof(D) : sizeof(A);
    twin_elementwise v{prim,
                       TwinMaskLanes<isSetMask>(mask, uint8_t(repeat), 256 / wide, f),
                       TwinNoScalar(),
                       TwinOperand(dst, uint8_t(p.dstBlkStride), uint8_t(p.dstRepStride)),
                       {TwinOperand(a, uint8_t(p.src0BlkStride), uint8_t(p.src0RepStride)),
                        TwinOperand(b, uint8_t(p.src1BlkStride), uint8_t(p.src1RepStride))},
                       false,
                       0};
    TwinRun(v, f, site);
}

template <bool isSetMask, typename D, typename A, typename M>
inline void TwinUnaryCall(twin_prim_id prim, const LocalTensor<D> &dst, const LocalTensor<A> &a,
                          twin_scalar s, M mask, const Narrow8 repeat, const UnaryRepeatParams &p,
                          const twin_site *site) {
    TwinFields f;
    f.Check(repeat), f.Check(p.dstBlkStride), f.Check(p.srcBlkStride), f.Check(p.dstRepStride),
        f.Check(p.srcRepStride);
    constexpr uint32_t wide = sizeof(D) > sizeof(A) ? sizeof(D) : sizeof(A);
    twin_elementwise v{
        prim,
        TwinMaskLanes<isSetMask>(mask, uint8_t(repeat), 256 / wide, f),
        s,
        TwinOperand(dst, uint16_t(p.dstBlkStride), uint8_t(p.dstRepStride)),
        {TwinOperand(a, uint16_t(p.srcBlkStride), uint8_t(p.srcRepStride)), twin_operand{}},
        false,
        0};
    TwinRun(v, f, site);
}

#define TWIN_BINARY_MASKED(Name, Prim)                                                             \
    template <typename T, bool isSetMask = true>                                                   \
    TWIN_CALL void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0,                     \
                        const LocalTensor<T> &src1, uint64_t mask[], const Narrow8 repeatTime,     \
                        const BinaryRepeatParams &repeatParams TWIN_AT) {                          \
        TWIN_SITE(#Name);                                                                          \
        TwinBinaryCall<isSetMask>(Prim<T>(), dst, src0, src1, static_cast<const uint64_t *>(mask), \
                                  repeatTime, repeatParams, TWIN_WHERE);                           \
    }                                                                                              \
    template <typename T, bool isSetMask = true>                                                   \
    TWIN_CALL void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0,                     \
                        const LocalTensor<T> &src1, uint64_t mask, const Narrow8 repeatTime,       \
                        const BinaryRepeatParams &repeatParams TWIN_AT) {                          \
        TWIN_SITE(#Name);                                                                          \
        TwinBinaryCall<isSetMask>(Prim<T>(), dst, src0, src1, mask, repeatTime, repeatParams,      \
                                  TWIN_WHERE);                                                     \
    }

#define TWIN_BINARY(Name, Prim)                                                                    \
    TWIN_BINARY_MASKED(Name, Prim)                                                                 \
    template <typename T>                                                                          \
    TWIN_CALL void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0,                     \
                        const LocalTensor<T> &src1, const int32_t &count TWIN_AT) {                \
        TWIN_SITE(#Name);                                                                          \
        TwinCountCall(Prim<T>(), dst, src0, src1, TwinNoScalar(), count, TWIN_WHERE);              \
    }

TWIN_BINARY(Add, TwinADDOf)
TWIN_BINARY(Sub, TwinSUBOf)
TWIN_BINARY(Mul, TwinMULOf)
TWIN_BINARY(Div, TwinDIVOf)
TWIN_BINARY(Max, TwinMAXOf)
TWIN_BINARY(Min, TwinMINOf)
TWIN_BINARY_MASKED(And, TwinANDOf)
TWIN_BINARY_MASKED(Or, TwinOROf)

/* The library also lets 32-bit integers through, and then works on `count` 16-bit ones, which is
 * half of them. */
#define TWIN_LOGIC(Name, Prim)                                                                     \
    template <typename T>                                                                          \
    TWIN_CALL void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0,                     \
                        const LocalTensor<T> &src1, const int32_t &count TWIN_AT) {                \
        TWIN_SITE(#Name);                                                                          \
        static_assert(TwinIsOneOf<T, int16_t, uint16_t>(), #Name ": int16_t, uint16_t");           \
        TwinCountCall(Prim, dst, src0, src1, TwinNoScalar(), count, TWIN_WHERE);                   \
    }
TWIN_LOGIC(And, TWIN_AND_B16)
TWIN_LOGIC(Or, TWIN_OR_B16)

template <typename T, typename U> constexpr twin_prim_id TwinMlaOf() {
    constexpr bool ff = std::is_same<T, float>::value && std::is_same<U, float>::value;
    constexpr bool hh = std::is_same<T, half>::value && std::is_same<U, half>::value;
    constexpr bool fh = std::is_same<T, float>::value && std::is_same<U, half>::value;
    static_assert(ff || hh || fh, "MulAddDst: half, float, or float with half sources");
    return ff ? TWIN_MLA_F32 : hh ? TWIN_MLA_F16 : TWIN_MLA_MIX;
}
template <typename T, typename U, bool isSetMask = true>
TWIN_CALL void MulAddDst(const LocalTensor<T> &dst, const LocalTensor<U> &src0,
                         const LocalTensor<U> &src1, const uint64_t mask[],
                         const Narrow8 repeatTime, const BinaryRepeatParams &repeatParams TWIN_AT) {
    TWIN_SITE("MulAddDst");
    TwinBinaryCall<isSetMask>(TwinMlaOf<T, U>(), dst, src0, src1, mask, repeatTime, repeatParams,
                              TWIN_WHERE);
}
template <typename T, typename U, bool isSetMask = true>
TWIN_CALL void MulAddDst(const LocalTensor<T> &dst, const LocalTensor<U> &src0,
                         const LocalTensor<U> &src1, uint64_t mask, const Narrow8 repeatTime,
                         const BinaryRepeatParams &repeatParams TWIN_AT) {
    TWIN_SITE("MulAddDst");
    TwinBinaryCall<isSetMask>(TwinMlaOf<T, U>(), dst, src0, src1, mask, repeatTime, repeatParams,
                              TWIN_WHERE);
}
template <typename T, typename U>
TWIN_CALL void MulAddDst(const LocalTensor<T> &dst, const LocalTensor<U> &src0,
                         const LocalTensor<U> &src1, const int32_t &count TWIN_AT) {
    TWIN_SITE("MulAddDst");
    TwinCountCall(TwinMlaOf<T, U>(), dst, src0, src1, TwinNoScalar(), count, TWIN_WHERE);
}

#define TWIN_SCALAR(Name, Prim)                                                                    \
    template <typename T, bool isSetMask = true>                                                   \
    TWIN_CALL void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src,                      \
                        const T &scalarValue, uint64_t mask[], const Narrow8 repeatTime,           \
                        const UnaryRepeatParams &repeatParams TWIN_AT) {                           \
        TWIN_SITE(#Name);                                                                          \
        TwinUnaryCall<isSetMask>(Prim<T>(), dst, src, TwinScalar(scalarValue),                     \
                                 static_cast<const uint64_t *>(mask), repeatTime, repeatParams,    \
                                 TWIN_WHERE);                                                      \
    }                                                                                              \
    template <typename T, bool isSetMask = true>                                                   \
    TWIN_CALL void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src,                      \
                        const T &scalarValue, uint64_t mask, const Narrow8 repeatTime,             \
                        const UnaryRepeatParams &repeatParams TWIN_AT) {                           \
        TWIN_SITE(#Name);                                                                          \
        TwinUnaryCall<isSetMask>(Prim<T>(), dst, src, TwinScalar(scalarValue), mask, repeatTime,   \
                                 repeatParams, TWIN_WHERE);                                        \
    }                                                                                              \
    template <typename T, bool isSetMask = true>                                                   \
    TWIN_CALL void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src,                      \
                        const T &scalarValue, const int32_t &count TWIN_AT) {                      \
        TWIN_SITE(#Name);                                                                          \
        static_assert(isSetMask, #Name ": with a count and without a mask of its own it works on " \
                                       "one repeat, whatever the count");                          \
        TwinCountCall(Prim<T>(), dst, src, src, TwinScalar(scalarValue), count, TWIN_WHERE);       \
    }
TWIN_SCALAR(Adds, TwinADDSOf)
TWIN_SCALAR(Muls, TwinMULSOf)
TWIN_SCALAR(Maxs, TwinMAXSOf)
TWIN_SCALAR(Mins, TwinMINSOf)
TWIN_SCALAR(ShiftLeft, TwinShiftLeftOf)
TWIN_SCALAR(ShiftRight, TwinShiftRightOf)

#define TWIN_UNARY(Name, Prim)                                                                     \
    template <typename T, bool isSetMask = true>                                                   \
    TWIN_CALL void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint64_t mask[],     \
                        const Narrow8 repeatTime, const UnaryRepeatParams &repeatParams TWIN_AT) { \
        TWIN_SITE(#Name);                                                                          \
        TwinUnaryCall<isSetMask>(Prim<T>(), dst, src, TwinNoScalar(),                              \
                                 static_cast<const uint64_t *>(mask), repeatTime, repeatParams,    \
                                 TWIN_WHERE);                                                      \
    }                                                                                              \
    template <typename T, bool isSetMask = true>                                                   \
    TWIN_CALL void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint64_t mask,       \
                        const Narrow8 repeatTime, const UnaryRepeatParams &repeatParams TWIN_AT) { \
        TWIN_SITE(#Name);                                                                          \
        TwinUnaryCall<isSetMask>(Prim<T>(), dst, src, TwinNoScalar(), mask, repeatTime,            \
                                 repeatParams, TWIN_WHERE);                                        \
    }                                                                                              \
    template <typename T>                                                                          \
    TWIN_CALL void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src,                      \
                        const int32_t &count TWIN_AT) {                                            \
        TWIN_SITE(#Name);                                                                          \
        TwinCountCall(Prim<T>(), dst, src, src, TwinNoScalar(), count, TWIN_WHERE);                \
    }
TWIN_UNARY(Abs, TwinABSOf)
TWIN_UNARY(Exp, TwinEXPOf)
TWIN_UNARY(Ln, TwinLNOf)
TWIN_UNARY(Sqrt, TwinSQRTOf)
TWIN_UNARY(Rsqrt, TwinRSQRTOf)
TWIN_UNARY(Reciprocal, TwinRECOf)
TWIN_UNARY(Relu, TwinRELUOf)
TWIN_UNARY(Not, TwinNOTOf)

template <typename T, typename U> constexpr twin_prim_id TwinAxpyOf() {
    constexpr bool ff = std::is_same<T, float>::value && std::is_same<U, float>::value;
    constexpr bool hh = std::is_same<T, half>::value && std::is_same<U, half>::value;
    constexpr bool fh = std::is_same<T, float>::value && std::is_same<U, half>::value;
    static_assert(ff || hh || fh, "Axpy: half, float, or float with a half source");
    return ff ? TWIN_AXPY_F32 : hh ? TWIN_AXPY_F16 : TWIN_AXPY_MIX;
}
template <typename T, typename U, bool isSetMask = true>
TWIN_CALL void Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U &scalarValue,
                    uint64_t mask, const Narrow8 repeatTime,
                    const UnaryRepeatParams &repeatParams TWIN_AT) {
    TWIN_SITE("Axpy");
    TwinUnaryCall<isSetMask>(TwinAxpyOf<T, U>(), dst, src, TwinScalar(scalarValue), mask,
                             repeatTime, repeatParams, TWIN_WHERE);
}
template <typename T, typename U, bool isSetMask = true>
TWIN_CALL void Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U &scalarValue,
                    uint64_t mask[], const Narrow8 repeatTime,
                    const UnaryRepeatParams &repeatParams TWIN_AT) {
    TWIN_SITE("Axpy");
    TwinUnaryCall<isSetMask>(TwinAxpyOf<T, U>(), dst, src, TwinScalar(scalarValue),
                             static_cast<const uint64_t *>(mask), repeatTime, repeatParams,
                             TWIN_WHERE);
}
template <typename T, typename U>
TWIN_CALL void Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U &scalarValue,
                    const int32_t &count TWIN_AT) {
    TWIN_SITE("Axpy");
    TwinCountCall(TwinAxpyOf<T, U>(), dst, src, src, TwinScalar(scalarValue), count, TWIN_WHERE);
}

} // namespace AscendC
#endif
