/* SPDX-License-Identifier: Apache-2.0
 *
 * DataCopy, DataCopyPad, atomics on the way to GM, data cache.
 */
#ifndef TWIN_ASCENDC_MOVE_H
#define TWIN_ASCENDC_MOVE_H

namespace AscendC {

inline void TwinRun(twin_dma &v, const TwinFields &f, const twin_site *site) {
#if TWIN_CHECKED
    v.bad_field = f.bad;
    v.bad_value = f.value;
    twin_dma_checked(&v, site);
#else
    (void)f, (void)site;
    twin_dma_fast(&v);
#endif
}

template <typename T>
inline twin_dma TwinDma(twin_dma_kind kind, const LocalTensor<T> &ub, uint64_t gm, uint64_t blocks,
                        uint64_t length, int64_t gmGap, int64_t ubGap) {
    twin_dma v{};
    v.kind = kind;
    v.ub = ub.raw;
    v.gm = gm;
    v.size = sizeof(T);
    v.blocks = blocks;
    v.length = length;
    v.gm_gap = gmGap;
    v.ub_gap = ubGap;
    return v;
}

/* Count form: whole 32-byte blocks; the rest is lost, which the checked build reports. */
template <typename T>
inline twin_dma TwinDmaCount(twin_dma_kind kind, const LocalTensor<T> &ub, uint64_t gm,
                             uint32_t count) {
    uint64_t bytes = uint64_t(count) * sizeof(T);
    twin_dma v = TwinDma(kind, ub, gm, 1, bytes / 32 * 32, 0, 0);
    v.cut = bytes % 32;
    return v;
}
template <typename T>
TWIN_CALL void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src,
                        const uint32_t count TWIN_AT) {
    TWIN_SITE("DataCopy");
    twin_dma v = TwinDmaCount(TWIN_LOAD, dst, src.address, count);
    TwinRun(v, TwinFields(), TWIN_WHERE);
}
template <typename T>
TWIN_CALL void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src,
                        const uint32_t count TWIN_AT) {
    TWIN_SITE("DataCopy");
    twin_dma v = TwinDmaCount(TWIN_STORE, src, dst.address, count);
    TwinRun(v, TwinFields(), TWIN_WHERE);
}
template <typename T>
TWIN_CALL void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                        const uint32_t count TWIN_AT) {
    TWIN_SITE("DataCopy");
    twin_dma v = TwinDmaCount(TWIN_MOVE, dst, 0, count);
    v.ub2 = src.raw;
    TwinRun(v, TwinFields(), TWIN_WHERE);
}

inline TwinFields TwinCheckCopy(const DataCopyParams &p) {
    TwinFields f;
    f.Check(p.blockCount), f.Check(p.blockLen), f.Check(p.srcStride), f.Check(p.dstStride);
    return f;
}
template <typename T>
TWIN_CALL void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src,
                        const DataCopyParams &p TWIN_AT) {
    TWIN_SITE("DataCopy");
    twin_dma v =
        TwinDma(TWIN_LOAD, dst, src.address, uint16_t(p.blockCount), uint16_t(p.blockLen) * 32u,
                uint16_t(p.srcStride) * 32, uint16_t(p.dstStride) * 32);
    TwinRun(v, TwinCheckCopy(p), TWIN_WHERE);
}
template <typename T>
TWIN_CALL void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src,
                        const DataCopyParams &p TWIN_AT) {
    TWIN_SITE("DataCopy");
    twin_dma v =
        TwinDma(TWIN_STORE, src, dst.address, uint16_t(p.blockCount), uint16_t(p.blockLen) * 32u,
                uint16_t(p.dstStride) * 32, uint16_t(p.srcStride) * 32);
    TwinRun(v, TwinCheckCopy(p), TWIN_WHERE);
}
template <typename T>
TWIN_CALL void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                        const DataCopyParams &p TWIN_AT) {
    TWIN_SITE("DataCopy");
    twin_dma v = TwinDma(TWIN_MOVE, dst, 0, uint16_t(p.blockCount), uint16_t(p.blockLen) * 32u, 0,
                         uint16_t(p.dstStride) * 32);
    v.ub2 = src.raw;
    v.ub2_gap = uint16_t(p.srcStride) * 32;
    TwinRun(v, TwinCheckCopy(p), TWIN_WHERE);
}

/* DataCopyPad: bytes on the GM side, 32-byte units between blocks in UB. */
template <typename T>
TWIN_CALL void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src,
                           const DataCopyExtParams &p, const DataCopyPadExtParams<T> &pad TWIN_AT) {
    TWIN_SITE("DataCopyPad");
    TwinFields f;
    f.Check(p.blockCount), f.Check(p.blockLen), f.Check(p.srcStride), f.Check(p.dstStride);
    f.Check(pad.leftPadding), f.Check(pad.rightPadding);
    twin_dma v = TwinDma(TWIN_LOAD, dst, src.address, uint16_t(p.blockCount), uint32_t(p.blockLen),
                         uint32_t(p.srcStride), int64_t(uint32_t(p.dstStride)) * 32);
    v.pad = true;
    v.is_pad = pad.isPad;
    v.left = uint8_t(pad.leftPadding);
    v.right = uint8_t(pad.rightPadding);
    memcpy(v.value, &pad.paddingValue, sizeof(T));
    TwinRun(v, f, TWIN_WHERE);
}
template <typename T>
TWIN_CALL void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src,
                           const DataCopyParams &p, const DataCopyPadParams &pad TWIN_AT) {
    TWIN_SITE("DataCopyPad");
    TwinFields f = TwinCheckCopy(p);
    f.Check(pad.leftPadding), f.Check(pad.rightPadding);
    twin_dma v = TwinDma(TWIN_LOAD, dst, src.address, uint16_t(p.blockCount), uint16_t(p.blockLen),
                         uint16_t(p.srcStride), int64_t(uint16_t(p.dstStride)) * 32);
    v.pad = true;
    v.is_pad = pad.isPad;
    v.left = uint8_t(pad.leftPadding);
    v.right = uint8_t(pad.rightPadding);
    memcpy(v.value, &pad.paddingValue, sizeof(T) < 8 ? sizeof(T) : 8);
    TwinRun(v, f, TWIN_WHERE);
}
template <typename T>
TWIN_CALL void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src,
                           const DataCopyExtParams &p TWIN_AT) {
    TWIN_SITE("DataCopyPad");
    TwinFields f;
    f.Check(p.blockCount), f.Check(p.blockLen), f.Check(p.srcStride), f.Check(p.dstStride);
    twin_dma v = TwinDma(TWIN_STORE, src, dst.address, uint16_t(p.blockCount), uint32_t(p.blockLen),
                         uint32_t(p.dstStride), int64_t(uint32_t(p.srcStride)) * 32);
    v.pad = true;
    TwinRun(v, f, TWIN_WHERE);
}
template <typename T>
TWIN_CALL void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src,
                           const DataCopyParams &p TWIN_AT) {
    TWIN_SITE("DataCopyPad");
    twin_dma v = TwinDma(TWIN_STORE, src, dst.address, uint16_t(p.blockCount), uint16_t(p.blockLen),
                         uint16_t(p.dstStride), int64_t(uint16_t(p.srcStride)) * 32);
    v.pad = true;
    TwinRun(v, TwinCheckCopy(p), TWIN_WHERE);
}

template <typename T> TWIN_CALL void SetAtomicAdd(TWIN_ALONE) {
    TWIN_SITE("SetAtomicAdd");
    static_assert(TwinIsOneOf<T, half, float, int32_t, int16_t, int8_t, bfloat16_t>(),
                  "SetAtomicAdd: no such type");
    twin_atomic(std::is_same<T, half>::value      ? 0
                : std::is_same<T, float>::value   ? 1
                : std::is_same<T, int32_t>::value ? 2
                : std::is_same<T, int16_t>::value ? 3
                : std::is_same<T, int8_t>::value  ? 4
                                                  : 5,
                TWIN_WHERE);
}
TWIN_CALL void SetAtomicNone(TWIN_ALONE) {
    TWIN_SITE("SetAtomicNone");
    twin_atomic(-1, TWIN_WHERE);
}

template <typename T, CacheLine entireType, DcciDst dcciDst = DcciDst::CACHELINE_ALL>
TWIN_CALL void DataCacheCleanAndInvalid(const GlobalTensor<T> &dst TWIN_AT) {
    TWIN_SITE("DataCacheCleanAndInvalid");
    twin_cache_clean(dst.address, entireType == CacheLine::ENTIRE_DATA_CACHE, TWIN_WHERE);
}

} // namespace AscendC
#endif
