/* SPDX-License-Identifier: Apache-2.0
 *
 * WholeReduce*, BlockReduce*, PairReduceSum: half and float. ReduceSum is left out on purpose: its
 * order across repeats depends on the variant, so its bits are not defined.
 */
#ifndef TWIN_ASCENDC_REDUCE_H
#define TWIN_ASCENDC_REDUCE_H

namespace AscendC {

template <bool isSetMask, typename T, typename M>
inline void TwinReduceCall(twin_reduce_kind kind, twin_reduce_op op, const LocalTensor<T> &dst,
                           const LocalTensor<T> &src, M mask, int64_t repeat, int64_t dstRep,
                           int64_t srcBlk, int64_t srcRep, ReduceOrder order,
                           const twin_site *site) {
    static_assert(TwinIsOneOf<T, half, float>(), "reductions: half, float");
    TwinFields f;
    f.Range(dstRep, 0, 65535), f.Range(srcBlk, 0, 65535), f.Range(srcRep, 0, 65535);
    twin_reduce v{kind,
                  op,
                  sizeof(T),
                  static_cast<uint8_t>(order),
                  TwinMaskLanes<isSetMask>(mask, repeat, 256 / sizeof(T), f),
                  TwinOperand(dst, 1, static_cast<uint32_t>(dstRep)),
                  TwinOperand(src, static_cast<uint32_t>(srcBlk), static_cast<uint32_t>(srcRep)),
                  false,
                  0};
#if TWIN_CHECKED
    v.bad_field = f.bad;
    v.bad_value = f.value;
    twin_reduce_checked(&v, site);
#else
    (void)site;
    twin_reduce_fast(&v);
#endif
}

/* The whole reductions take the mask before the repeats, the others after. */
#define TWIN_WHOLE_SUM(MaskType, cast)                                                             \
    template <typename T, bool isSetMask = true>                                                   \
    TWIN_CALL void WholeReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, MaskType,  \
                                  const int32_t repeatTime, const int32_t dstRepStride,            \
                                  const int32_t srcBlkStride,                                      \
                                  const int32_t srcRepStride TWIN_AT) {                            \
        TWIN_SITE("WholeReduceSum");                                                               \
        TwinReduceCall<isSetMask>(TWIN_WHOLE, TWIN_SUM, dst, src, cast(mask), repeatTime,          \
                                  dstRepStride, srcBlkStride, srcRepStride,                        \
                                  ReduceOrder::ORDER_ONLY_VALUE, TWIN_WHERE);                      \
    }
TWIN_WHOLE_SUM(const uint64_t mask[], static_cast<const uint64_t *>)
TWIN_WHOLE_SUM(const int32_t mask, static_cast<uint64_t>)

#define TWIN_WHOLE_EXTREME(Name, op, MaskType, cast)                                               \
    template <typename T, bool isSetMask = true>                                                   \
    TWIN_CALL void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, MaskType,            \
                        const int32_t repeatTime, const int32_t dstRepStride,                      \
                        const int32_t srcBlkStride, const int32_t srcRepStride,                    \
                        ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX TWIN_AT) {              \
        TWIN_SITE(#Name);                                                                          \
        TwinReduceCall<isSetMask>(TWIN_WHOLE, op, dst, src, cast(mask), repeatTime, dstRepStride,  \
                                  srcBlkStride, srcRepStride, order, TWIN_WHERE);                  \
    }
TWIN_WHOLE_EXTREME(WholeReduceMax, TWIN_MAX, const uint64_t mask[], static_cast<const uint64_t *>)
TWIN_WHOLE_EXTREME(WholeReduceMax, TWIN_MAX, const int32_t mask, static_cast<uint64_t>)
TWIN_WHOLE_EXTREME(WholeReduceMin, TWIN_MIN, const uint64_t mask[], static_cast<const uint64_t *>)
TWIN_WHOLE_EXTREME(WholeReduceMin, TWIN_MIN, const int32_t mask, static_cast<uint64_t>)

#define TWIN_PART_REDUCE(Name, kind, op)                                                           \
    template <typename T, bool isSetMask = true>                                                   \
    TWIN_CALL void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src,                      \
                        const int32_t repeatTime, const int32_t mask, const int32_t dstRepStride,  \
                        const int32_t srcBlkStride, const int32_t srcRepStride TWIN_AT) {          \
        TWIN_SITE(#Name);                                                                          \
        TwinReduceCall<isSetMask>(kind, op, dst, src, static_cast<uint64_t>(mask), repeatTime,     \
                                  dstRepStride, srcBlkStride, srcRepStride,                        \
                                  ReduceOrder::ORDER_ONLY_VALUE, TWIN_WHERE);                      \
    }                                                                                              \
    template <typename T, bool isSetMask = true>                                                   \
    TWIN_CALL void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src,                      \
                        const int32_t repeatTime, const uint64_t mask[],                           \
                        const int32_t dstRepStride, const int32_t srcBlkStride,                    \
                        const int32_t srcRepStride TWIN_AT) {                                      \
        TWIN_SITE(#Name);                                                                          \
        TwinReduceCall<isSetMask>(kind, op, dst, src, mask, repeatTime, dstRepStride,              \
                                  srcBlkStride, srcRepStride, ReduceOrder::ORDER_ONLY_VALUE,       \
                                  TWIN_WHERE);                                                     \
    }
TWIN_PART_REDUCE(BlockReduceSum, TWIN_BLOCK, TWIN_SUM)
TWIN_PART_REDUCE(BlockReduceMax, TWIN_BLOCK, TWIN_MAX)
TWIN_PART_REDUCE(BlockReduceMin, TWIN_BLOCK, TWIN_MIN)
TWIN_PART_REDUCE(PairReduceSum, TWIN_PAIR, TWIN_SUM)

} // namespace AscendC
#endif
