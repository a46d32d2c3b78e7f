/* SPDX-License-Identifier: Apache-2.0
 *
 * Gather, Gatherb, GatherMask, Brcb, Transpose, TransDataTo5HD, Compare, CompareScalar, Select.
 */
#ifndef TWIN_ASCENDC_SHUFFLE_H
#define TWIN_ASCENDC_SHUFFLE_H

namespace AscendC {

inline void TwinRun(twin_shuffle &v, const TwinFields &f, const twin_site *site) {
#if TWIN_CHECKED
    v.bad_field = f.bad;
    v.bad_value = f.value;
    twin_shuffle_checked(&v, site);
#else
    (void)f, (void)site;
    twin_shuffle_fast(&v);
#endif
}

template <typename T>
inline twin_shuffle TwinShuffle(twin_shuffle_kind kind, const twin_lanes &lanes) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "16- and 32-bit types");
    twin_shuffle v{};
    v.kind = kind;
    v.size = sizeof(T);
    v.lanes = lanes;
    return v;
}

template <typename T>
inline void TwinGatherCall(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                           const LocalTensor<uint32_t> &offsets, uint32_t base,
                           const twin_lanes &lanes, uint32_t dstRep, const TwinFields &f,
                           const twin_site *site) {
    twin_shuffle v = TwinShuffle<T>(TWIN_GATHER, lanes);
    v.base = base;
    v.dst = TwinOperand(dst, 1, dstRep);
    v.src[0] = TwinOperand(src);
    v.src[1] = TwinOperand(offsets);
    TwinRun(v, f, site);
}
template <typename T>
TWIN_CALL void Gather(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                      const LocalTensor<uint32_t> &srcOffset, const uint32_t srcBaseAddr,
                      const uint64_t mask, const Narrow8 repeatTime,
                      const Narrow16 dstRepStride TWIN_AT) {
    TWIN_SITE("Gather");
    TwinFields f;
    f.Check(repeatTime), f.Check(dstRepStride);
    TwinGatherCall(dst, src, srcOffset, srcBaseAddr,
                   TwinMaskLanes<true>(mask, uint8_t(repeatTime), 256 / sizeof(T), f),
                   uint16_t(dstRepStride), f, TWIN_WHERE);
}
template <typename T>
TWIN_CALL void Gather(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                      const LocalTensor<uint32_t> &srcOffset, const uint32_t srcBaseAddr,
                      const uint64_t mask[], const Narrow8 repeatTime,
                      const Narrow16 dstRepStride TWIN_AT) {
    TWIN_SITE("Gather");
    TwinFields f;
    f.Check(repeatTime), f.Check(dstRepStride);
    TwinGatherCall(dst, src, srcOffset, srcBaseAddr,
                   TwinMaskLanes<true>(mask, uint8_t(repeatTime), 256 / sizeof(T), f),
                   uint16_t(dstRepStride), f, TWIN_WHERE);
}
template <typename T>
TWIN_CALL void Gather(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                      const LocalTensor<uint32_t> &srcOffset, const uint32_t srcBaseAddr,
                      const uint32_t count TWIN_AT) {
    TWIN_SITE("Gather");
    TwinFields f;
    TwinGatherCall(dst, src, srcOffset, srcBaseAddr, TwinCountLanes(count, f), 8, f, TWIN_WHERE);
}

template <typename T>
TWIN_CALL void Gatherb(const LocalTensor<T> &dst, const LocalTensor<T> &src0,
                       const LocalTensor<uint32_t> &offset, const Narrow8 repeatTime,
                       const GatherRepeatParams &p TWIN_AT) {
    TWIN_SITE("Gatherb");
    TwinFields f;
    f.Check(repeatTime), f.Check(p.dstBlkStride), f.Check(p.dstRepStride);
    twin_shuffle v = TwinShuffle<T>(
        TWIN_GATHERB, twin_lanes{false, false, {~0ull, ~0ull}, uint8_t(repeatTime), false});
    v.dst = TwinOperand(dst, uint8_t(p.dstBlkStride), uint16_t(p.dstRepStride));
    v.src[0] = TwinOperand(src0);
    v.src[1] = TwinOperand(offset);
    TwinRun(v, f, TWIN_WHERE);
}

template <typename T, typename U>
inline void TwinGatherMaskCall(const LocalTensor<T> &dst, const LocalTensor<T> &src0,
                               const LocalTensor<U> &bits, uint8_t pattern, bool reduceMode,
                               uint32_t mask, const GatherMaskParams &p, uint64_t &kept,
                               const twin_site *site) {
    TwinFields f;
    f.Check(p.src0BlockStride), f.Check(p.repeatTimes), f.Check(p.src0RepeatStride),
        f.Check(p.src1RepeatStride);
    twin_shuffle v = TwinShuffle<T>(
        TWIN_GATHER_MASK, twin_lanes{false, false, {mask, 0}, uint16_t(p.repeatTimes), false});
    v.pattern = pattern;
    v.reduce_mode = reduceMode;
    v.dst = TwinOperand(dst);
    v.src[0] = TwinOperand(src0, uint8_t(p.src0BlockStride), uint16_t(p.src0RepeatStride));
    v.src[1] = TwinOperand(bits, 1, uint8_t(p.src1RepeatStride));
    TwinRun(v, f, site);
    kept = v.kept;
}
template <typename T, typename U, GatherMaskMode mode = defaultGatherMaskMode>
TWIN_CALL void GatherMask(const LocalTensor<T> &dst, const LocalTensor<T> &src0,
                          const LocalTensor<U> &src1Pattern, const bool reduceMode,
                          const uint32_t mask, const GatherMaskParams &gatherMaskParams,
                          uint64_t &rsvdCnt TWIN_AT) {
    TWIN_SITE("GatherMask");
    static_assert(sizeof(T) == sizeof(U) && std::is_unsigned<U>::value,
                  "GatherMask: uint16_t or uint32_t pattern");
    TwinGatherMaskCall(dst, src0, src1Pattern, 0, reduceMode, mask, gatherMaskParams, rsvdCnt,
                       TWIN_WHERE);
}
template <typename T, GatherMaskMode mode = defaultGatherMaskMode>
TWIN_CALL void GatherMask(const LocalTensor<T> &dst, const LocalTensor<T> &src0,
                          const uint8_t src1Pattern, const bool reduceMode, const uint32_t mask,
                          const GatherMaskParams &gatherMaskParams, uint64_t &rsvdCnt TWIN_AT) {
    TWIN_SITE("GatherMask");
    uint8_t pattern = src1Pattern == 0 ? 255 : src1Pattern; /* 0 would mean a tensor here */
    TwinGatherMaskCall(dst, src0, src0, pattern, reduceMode, mask, gatherMaskParams, rsvdCnt,
                       TWIN_WHERE);
}

template <typename T>
TWIN_CALL void Brcb(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const Narrow8 repeatTime,
                    const BrcbRepeatParams &p TWIN_AT) {
    TWIN_SITE("Brcb");
    TwinFields f;
    f.Check(repeatTime), f.Check(p.dstBlkStride), f.Check(p.dstRepStride);
    twin_shuffle v = TwinShuffle<T>(
        TWIN_BRCB, twin_lanes{false, false, {~0ull, ~0ull}, uint8_t(repeatTime), false});
    v.dst = TwinOperand(dst, uint16_t(p.dstBlkStride), uint16_t(p.dstRepStride));
    v.src[0] = TwinOperand(src0);
    TwinRun(v, f, TWIN_WHERE);
}

template <typename T>
TWIN_CALL void Transpose(const LocalTensor<T> &dst, const LocalTensor<T> &src TWIN_AT) {
    TWIN_SITE("Transpose");
    static_assert(sizeof(T) == 2, "Transpose: 16 x 16 of a 16-bit type");
    TwinFields f;
    twin_shuffle v =
        TwinShuffle<T>(TWIN_TRANSPOSE, twin_lanes{false, false, {~0ull, ~0ull}, 1, false});
    v.dst = TwinOperand(dst);
    v.src[0] = TwinOperand(src);
    TwinRun(v, f, TWIN_WHERE);
}

template <typename T>
TWIN_CALL void TransDataTo5HD(const LocalTensor<T> (&dstList)[NCHW_CONV_ADDR_LIST_SIZE],
                              const LocalTensor<T> (&srcList)[NCHW_CONV_ADDR_LIST_SIZE],
                              const TransDataTo5HDParams &p TWIN_AT) {
    TWIN_SITE("TransDataTo5HD");
    TwinFields f;
    f.Check(p.repeatTimes), f.Check(p.dstRepStride), f.Check(p.srcRepStride);
    twin_local to[NCHW_CONV_ADDR_LIST_SIZE], from[NCHW_CONV_ADDR_LIST_SIZE];
    for (int i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; i++)
        to[i] = dstList[i].raw, from[i] = srcList[i].raw;
    twin_shuffle v = TwinShuffle<T>(
        TWIN_TO_5HD, twin_lanes{false, false, {~0ull, ~0ull}, uint8_t(p.repeatTimes), false});
    v.dst_list = to;
    v.src_list = from;
    v.dst.repeat_stride = uint16_t(p.dstRepStride);
    v.src[0].repeat_stride = uint16_t(p.srcRepStride);
    TwinRun(v, f, TWIN_WHERE);
}

/* Compare and Select: half and float; int32 for equality. */
template <typename T> constexpr uint8_t TwinCompareType() {
    static_assert(TwinIsOneOf<T, half, float, int32_t>(), "Compare: half, float, int32_t");
    return std::is_same<T, half>::value ? 0 : std::is_same<T, float>::value ? 1 : 2;
}
template <typename T, typename U>
inline void TwinCompareCall(const LocalTensor<U> &dst, const twin_operand &a, const twin_operand *b,
                            twin_scalar s, CMPMODE mode, const twin_lanes &lanes, TwinFields &f,
                            const twin_site *site) {
    static_assert(TwinIsOneOf<U, uint8_t, int8_t>(),
                  "Compare: the result is a tensor of uint8_t or int8_t");
    if (std::is_same<T, int32_t>::value) f.Range(static_cast<int>(mode), 2, 2);
    twin_shuffle v = TwinShuffle<T>(TWIN_COMPARE, lanes);
    v.type = TwinCompareType<T>();
    v.mode = static_cast<uint8_t>(mode);
    v.scalar_src1 = b == nullptr;
    v.scalar = s;
    v.dst = TwinOperand(dst);
    v.src[0] = a;
    v.src[1] = b ? *b : a;
    TwinRun(v, f, site);
}
template <typename T, typename U>
TWIN_CALL void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0,
                       const LocalTensor<T> &src1, CMPMODE cmpMode, uint32_t count TWIN_AT) {
    TWIN_SITE("Compare");
    TwinFields f;
    twin_operand b = TwinOperand(src1);
    TwinCompareCall<T>(dst, TwinOperand(src0), &b, TwinNoScalar(), cmpMode,
                       TwinCountLanes(count, f), f, TWIN_WHERE);
}
template <typename T, typename U, bool isSetMask = true>
TWIN_CALL void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0,
                       const LocalTensor<T> &src1, CMPMODE cmpMode, const uint64_t mask,
                       Narrow8 repeatTime, const BinaryRepeatParams &p TWIN_AT) {
    TWIN_SITE("Compare");
    TwinFields f;
    f.Check(repeatTime), f.Check(p.src0BlkStride), f.Check(p.src1BlkStride),
        f.Check(p.src0RepStride), f.Check(p.src1RepStride);
    twin_operand b = TwinOperand(src1, uint8_t(p.src1BlkStride), uint8_t(p.src1RepStride));
    TwinCompareCall<T>(dst, TwinOperand(src0, uint8_t(p.src0BlkStride), uint8_t(p.src0RepStride)),
                       &b, TwinNoScalar(), cmpMode,
                       TwinMaskLanes<isSetMask>(mask, uint8_t(repeatTime), 256 / sizeof(T), f), f,
                       TWIN_WHERE);
}
template <typename T, typename U>
TWIN_CALL void CompareScalar(const LocalTensor<U> &dst, const LocalTensor<T> &src0,
                             const T src1Scalar, CMPMODE cmpMode, uint32_t count TWIN_AT) {
    TWIN_SITE("CompareScalar");
    TwinFields f;
    TwinCompareCall<T>(dst, TwinOperand(src0), nullptr, TwinScalar(src1Scalar), cmpMode,
                       TwinCountLanes(count, f), f, TWIN_WHERE);
}

template <typename T, typename U>
inline void TwinSelectCall(const LocalTensor<T> &dst, const LocalTensor<U> &sel,
                           const twin_operand &a, const twin_operand *b, twin_scalar s,
                           SELMODE mode, const twin_lanes &lanes, uint32_t dstBlk, uint32_t dstRep,
                           TwinFields &f, const twin_site *site) {
    static_assert(TwinIsOneOf<T, half, float>(), "Select: half, float");
    twin_shuffle v = TwinShuffle<T>(TWIN_SELECT, lanes);
    v.type = TwinCompareType<T>();
    v.mode = static_cast<uint8_t>(mode);
    v.scalar_src1 = b == nullptr;
    v.scalar = s;
    v.dst = TwinOperand(dst, dstBlk, dstRep);
    v.src[0] = a;
    v.src[1] = b ? *b : a;
    v.src[2] = TwinOperand(sel);
    TwinRun(v, f, site);
}
template <typename T, typename U>
TWIN_CALL void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask,
                      const LocalTensor<T> &src0, const LocalTensor<T> &src1, SELMODE selMode,
                      uint32_t count TWIN_AT) {
    TWIN_SITE("Select");
    TwinFields f;
    twin_operand b = TwinOperand(src1);
    TwinSelectCall(dst, selMask, TwinOperand(src0), &b, TwinNoScalar(), selMode,
                   TwinCountLanes(count, f), 1, 8, f, TWIN_WHERE);
}
template <typename T, typename U>
TWIN_CALL void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask,
                      const LocalTensor<T> &src0, T src1, SELMODE selMode, uint32_t count TWIN_AT) {
    TWIN_SITE("Select");
    TwinFields f;
    TwinSelectCall(dst, selMask, TwinOperand(src0), nullptr, TwinScalar(src1), selMode,
                   TwinCountLanes(count, f), 1, 8, f, TWIN_WHERE);
}
template <typename T, typename U, bool isSetMask = true>
TWIN_CALL void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask,
                      const LocalTensor<T> &src0, const LocalTensor<T> &src1, SELMODE selMode,
                      uint64_t mask, Narrow8 repeatTime, const BinaryRepeatParams &p TWIN_AT) {
    TWIN_SITE("Select");
    static_assert(isSetMask, "Select: the library sets its mask whatever isSetMask says");
    TwinFields f;
    f.Check(repeatTime), f.Check(p.dstBlkStride), f.Check(p.src0BlkStride),
        f.Check(p.src1BlkStride);
    f.Check(p.dstRepStride), f.Check(p.src0RepStride), f.Check(p.src1RepStride);
    twin_operand b = TwinOperand(src1, uint8_t(p.src1BlkStride), uint8_t(p.src1RepStride));
    TwinSelectCall(dst, selMask,
                   TwinOperand(src0, uint8_t(p.src0BlkStride), uint8_t(p.src0RepStride)), &b,
                   TwinNoScalar(), selMode,
                   TwinMaskLanes<isSetMask>(mask, uint8_t(repeatTime), 256 / sizeof(T), f),
                   uint8_t(p.dstBlkStride), uint8_t(p.dstRepStride), f, TWIN_WHERE);
}

} // namespace AscendC
#endif
