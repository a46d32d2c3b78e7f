/* SPDX-License-Identifier: Apache-2.0
 *
 * Cast with exactly the type pairs and rounding modes of A2; Duplicate; Copy.
 */
#ifndef TWIN_ASCENDC_CAST_H
#define TWIN_ASCENDC_CAST_H

namespace AscendC {

/* One row per pair: the arithmetic, and the set of rounding modes as bits. */
struct TwinCastRow {
    int prim; /* -1: the chip has no such cast */
    uint8_t modes;
};
constexpr uint8_t kTwinExact = 1, kTwinRounded = 0x3e, kTwinBoth = 0x3f,
                  kTwinAll = 0x7f; /* NONE; RINT..TRUNC; both; also ODD */

template <typename D, typename S> constexpr TwinCastRow kTwinCast{-1, 0};
template <> constexpr TwinCastRow kTwinCast<float, half>{TWIN_F16_F32, kTwinExact};
template <> constexpr TwinCastRow kTwinCast<float, bfloat16_t>{TWIN_BF16_F32, kTwinExact};
template <> constexpr TwinCastRow kTwinCast<float, int16_t>{TWIN_I16_F32, kTwinExact};
template <> constexpr TwinCastRow kTwinCast<float, int32_t>{TWIN_I32_F32, kTwinBoth};
template <> constexpr TwinCastRow kTwinCast<float, int64_t>{TWIN_I64_F32, kTwinRounded};
template <> constexpr TwinCastRow kTwinCast<float, float>{TWIN_F32_F32, kTwinRounded};
template <> constexpr TwinCastRow kTwinCast<half, float>{TWIN_F32_F16, kTwinAll};
template <> constexpr TwinCastRow kTwinCast<bfloat16_t, float>{TWIN_F32_BF16, kTwinRounded};
template <> constexpr TwinCastRow kTwinCast<int16_t, float>{TWIN_F32_I16, kTwinRounded};
template <> constexpr TwinCastRow kTwinCast<int32_t, float>{TWIN_F32_I32, kTwinRounded};
template <> constexpr TwinCastRow kTwinCast<int64_t, float>{TWIN_F32_I64, kTwinRounded};
template <> constexpr TwinCastRow kTwinCast<int8_t, half>{TWIN_F16_I8, kTwinBoth};
template <> constexpr TwinCastRow kTwinCast<uint8_t, half>{TWIN_F16_U8, kTwinBoth};
template <> constexpr TwinCastRow kTwinCast<int16_t, half>{TWIN_F16_I16, kTwinRounded};
template <> constexpr TwinCastRow kTwinCast<int32_t, half>{TWIN_F16_I32, kTwinRounded};
template <> constexpr TwinCastRow kTwinCast<half, int8_t>{TWIN_I8_F16, kTwinExact};
template <> constexpr TwinCastRow kTwinCast<half, uint8_t>{TWIN_U8_F16, kTwinExact};
template <> constexpr TwinCastRow kTwinCast<half, int16_t>{TWIN_I16_F16, kTwinBoth};
template <> constexpr TwinCastRow kTwinCast<int32_t, bfloat16_t>{TWIN_BF16_I32, kTwinRounded};
template <> constexpr TwinCastRow kTwinCast<int16_t, int32_t>{TWIN_I32_I16, kTwinExact};
template <> constexpr TwinCastRow kTwinCast<int64_t, int32_t>{TWIN_I32_I64, kTwinExact};
template <> constexpr TwinCastRow kTwinCast<int32_t, int64_t>{TWIN_I64_I32, kTwinExact};

template <typename D, typename S>
inline twin_prim_id TwinCastOf(RoundMode mode, const twin_site *site) {
    static_assert(kTwinCast<D, S>.prim >= 0, "Cast: this pair of types does not exist on A2");
#if TWIN_CHECKED
    if (!(kTwinCast<D, S>.modes >> static_cast<int>(mode) & 1))
        twin_fail_field("the rounding mode of this pair of types", static_cast<int>(mode), site);
#else
    (void)mode, (void)site;
#endif
    return static_cast<twin_prim_id>(kTwinCast<D, S>.prim);
}

template <typename T1, typename T2, bool isSetMask = true>
TWIN_CALL void Cast(const LocalTensor<T1> &dst, const LocalTensor<T2> &src,
                    const RoundMode &roundMode, const uint64_t mask[], const Narrow8 repeatTime,
                    const UnaryRepeatParams &repeatParams TWIN_AT) {
    TWIN_SITE("Cast");
    TwinUnaryCall<isSetMask>(TwinCastOf<T1, T2>(roundMode, TWIN_WHERE), dst, src,
                             TwinScalar(static_cast<int32_t>(roundMode)), mask, repeatTime,
                             repeatParams, TWIN_WHERE);
}
template <typename T1, typename T2, bool isSetMask = true>
TWIN_CALL void Cast(const LocalTensor<T1> &dst, const LocalTensor<T2> &src,
                    const RoundMode &roundMode, const uint64_t mask, const Narrow8 repeatTime,
                    const UnaryRepeatParams &repeatParams TWIN_AT) {
    TWIN_SITE("Cast");
    TwinUnaryCall<isSetMask>(TwinCastOf<T1, T2>(roundMode, TWIN_WHERE), dst, src,
                             TwinScalar(static_cast<int32_t>(roundMode)), mask, repeatTime,
                             repeatParams, TWIN_WHERE);
}
template <typename T1, typename T2>
TWIN_CALL void Cast(const LocalTensor<T1> &dst, const LocalTensor<T2> &src,
                    const RoundMode &roundMode, const uint32_t count TWIN_AT) {
    TWIN_SITE("Cast");
    TwinCountCall(TwinCastOf<T1, T2>(roundMode, TWIN_WHERE), dst, src, src,
                  TwinScalar(static_cast<int32_t>(roundMode)), count, TWIN_WHERE);
}

/* Duplicate moves bits: every 16- and 32-bit type. */
template <typename T> inline twin_scalar TwinBits(const T &v) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "16- and 32-bit types");
    twin_scalar s;
    s.u = 0;
    memcpy(&s.u, &v, sizeof(T));
    return s;
}
template <bool isSetMask, typename T, typename M>
inline void TwinDuplicateCall(const LocalTensor<T> &dst, const T &scalar, M mask,
                              const Narrow8 repeat, const Narrow16 block, const Narrow8 stride,
                              const twin_site *site) {
    TwinFields f;
    f.Check(repeat), f.Check(block), f.Check(stride);
    twin_elementwise v{sizeof(T) == 2 ? TWIN_DUP_B16 : TWIN_DUP_B32,
                       TwinMaskLanes<isSetMask>(mask, uint8_t(repeat), 256 / sizeof(T), f),
                       TwinBits(scalar),
                       TwinOperand(dst, uint16_t(block), uint8_t(stride)),
                       {twin_operand{}, twin_operand{}},
                       false,
                       0};
    TwinRun(v, f, site);
}
template <typename T, bool isSetMask = true>
TWIN_CALL void Duplicate(const LocalTensor<T> &dst, const T &scalarValue, uint64_t mask,
                         const Narrow8 repeatTime, const Narrow16 dstBlockStride,
                         const Narrow8 dstRepeatStride TWIN_AT) {
    TWIN_SITE("Duplicate");
    TwinDuplicateCall<isSetMask>(dst, scalarValue, mask, repeatTime, dstBlockStride,
                                 dstRepeatStride, TWIN_WHERE);
}
template <typename T, bool isSetMask = true>
TWIN_CALL void Duplicate(const LocalTensor<T> &dst, const T &scalarValue, uint64_t mask[],
                         const Narrow8 repeatTime, const Narrow16 dstBlockStride,
                         const Narrow8 dstRepeatStride TWIN_AT) {
    TWIN_SITE("Duplicate");
    TwinDuplicateCall<isSetMask>(dst, scalarValue, static_cast<const uint64_t *>(mask), repeatTime,
                                 dstBlockStride, dstRepeatStride, TWIN_WHERE);
}
template <typename T>
TWIN_CALL void Duplicate(const LocalTensor<T> &dst, const T &scalarValue,
                         const int32_t &count TWIN_AT) {
    TWIN_SITE("Duplicate");
    TwinCountCall(sizeof(T) == 2 ? TWIN_DUP_B16 : TWIN_DUP_B32, dst, dst, dst,
                  TwinBits(scalarValue), count, TWIN_WHERE);
}

template <bool isSetMask, typename T, typename M>
inline void TwinCopyCall(const LocalTensor<T> &dst, const LocalTensor<T> &src, M mask,
                         const Narrow8 repeat, const CopyRepeatParams &p, const twin_site *site) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Copy: 16- and 32-bit types");
    TwinFields f;
    f.Check(repeat), f.Check(p.dstStride), f.Check(p.srcStride), f.Check(p.dstRepeatSize),
        f.Check(p.srcRepeatSize);
    twin_elementwise v{
        sizeof(T) == 2 ? TWIN_COPY_B16 : TWIN_COPY_B32,
        TwinMaskLanes<isSetMask>(mask, uint8_t(repeat), 256 / sizeof(T), f),
        TwinNoScalar(),
        TwinOperand(dst, uint16_t(p.dstStride), uint16_t(p.dstRepeatSize)),
        {TwinOperand(src, uint16_t(p.srcStride), uint16_t(p.srcRepeatSize)), twin_operand{}},
        false,
        0};
    TwinRun(v, f, site);
}
template <typename T, bool isSetMask = true>
TWIN_CALL void Copy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint64_t mask[],
                    const Narrow8 repeatTime, const CopyRepeatParams &repeatParams TWIN_AT) {
    TWIN_SITE("Copy");
    TwinCopyCall<isSetMask>(dst, src, mask, repeatTime, repeatParams, TWIN_WHERE);
}
template <typename T, bool isSetMask = true>
TWIN_CALL void Copy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint64_t mask,
                    const Narrow8 repeatTime, const CopyRepeatParams &repeatParams TWIN_AT) {
    TWIN_SITE("Copy");
    TwinCopyCall<isSetMask>(dst, src, mask, repeatTime, repeatParams, TWIN_WHERE);
}

} // namespace AscendC
#endif
