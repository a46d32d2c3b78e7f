/* SPDX-License-Identifier: Apache-2.0
 *
 * Words of Ascend C: qualifiers, scalar types, enumerations, parameter structures. Names, order and
 * defaults are those of the public headers (8.1 and 9.1).
 */
#ifndef TWIN_ASCENDC_TYPES_H
#define TWIN_ASCENDC_TYPES_H

#define __aicore__
#define __gm__
#define __ubuf__
/* never emitted on its own, only inlined into the entry of entry.cpp: many builds of one kernel in
 * one library */
#define __global__      __attribute__((gnu_inline, always_inline)) inline
#define TWIN_EVERY_CHIP 1 /* which one it is, is known at run time only */
#ifndef __NPU_ARCH__
#define __NPU_ARCH__ 2201
#endif
#ifndef __CCE_AICORE__
#define __CCE_AICORE__ 220
#endif

/* What a kernel calls is part of it in the build that counts. A call has a cost by its kind, so
 * handing arguments to the twin's own function is none of the kernel's work; and a compiler that
 * may choose stops inlining where a kernel grows large, so that one counted what another did not.
 */
#if TWIN_CHECKED
#define TWIN_CALL inline __attribute__((always_inline))
#else
#define TWIN_CALL inline
#endif

#define GM_ADDR __gm__ uint8_t *

enum pipe_t { PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_ALL, PIPE_FIX };
enum event_t {
    EVENT_ID0,
    EVENT_ID1,
    EVENT_ID2,
    EVENT_ID3,
    EVENT_ID4,
    EVENT_ID5,
    EVENT_ID6,
    EVENT_ID7
};
using TEventID = int8_t;

/* Storage types. Conversions follow the device: half is an arithmetic type there, bfloat16_t is
 * not. */
struct half {
    uint16_t bits;
    half() = default;
    template <typename N, typename = std::enable_if_t<std::is_arithmetic<N>::value>>
    half(N v) : bits(twin_f32_to_f16(static_cast<float>(v))) {}
    operator float() const { return twin_f16_to_f32(bits); }
};

struct bfloat16_t {
    uint16_t bits;
    bfloat16_t() = default;
    template <typename N, typename = std::enable_if_t<std::is_arithmetic<N>::value>>
    bfloat16_t(N v) : bits(twin_f32_to_bf16(static_cast<float>(v))) {}
};

namespace AscendC {

/* clang-format off */
enum class TPosition : uint8_t {
    GM, A1, A2, B1, B2, C1, C2, CO1, CO2, VECIN, VECOUT, VECCALC, LCM = VECCALC, SPM, SHM = SPM,
    TSCM, C2PIPE2GM, C2PIPE2LOCAL, MAX,
};
using QuePosition = TPosition;

enum class HardEvent : uint8_t {
    MTE2_MTE1, MTE1_MTE2, MTE1_M, M_MTE1, MTE2_V, V_MTE2, MTE3_V, V_MTE3, M_V, V_M, V_V,
    MTE3_MTE1, MTE1_MTE3, MTE1_V, MTE2_M, M_MTE2, V_MTE1, M_FIX, FIX_M, MTE3_MTE2, MTE2_MTE3,
    S_V, V_S, S_MTE2, MTE2_S, S_MTE3, MTE3_S, MTE2_FIX, FIX_MTE2, FIX_S, M_S, FIX_MTE3,
    MTE1_FIX, FIX_MTE1, FIX_FIX, MAX,
};
/* clang-format on */

enum class RoundMode : uint8_t {
    CAST_NONE,
    CAST_RINT,
    CAST_FLOOR,
    CAST_CEIL,
    CAST_ROUND,
    CAST_TRUNC,
    CAST_ODD
};
enum class CMPMODE : uint8_t { LT, GT, EQ, LE, GE, NE };
enum class SELMODE : uint8_t { VSEL_CMPMASK_SPR, VSEL_TENSOR_SCALAR_MODE, VSEL_TENSOR_TENSOR_MODE };
enum class MaskMode : uint8_t { NORMAL, COUNTER };
enum class ReduceOrder : uint8_t {
    ORDER_VALUE_INDEX,
    ORDER_INDEX_VALUE,
    ORDER_ONLY_VALUE,
    ORDER_ONLY_INDEX
};
enum class GatherMaskMode : uint8_t { VERSION_V1, VERSION_V2 };
enum class CacheMode {
    CACHE_MODE_DISABLE = 0,
    CACHE_MODE_NORMAL = 1,
    CACHE_MODE_LAST = 2,
    CACHE_MODE_PERSISTENT = 4
};
enum class CacheRwMode { READ = 1, WRITE = 2, RW = 3 };
enum class CacheLine : uint64_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum class DcciDst : uint64_t { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };

constexpr uint64_t MASK_PLACEHOLDER = 0;
constexpr uint64_t MASK_PLACEHOLDER_LIST[2] = {0, 0};
constexpr int32_t DEFAULT_BLK_NUM = 8;
constexpr uint8_t DEFAULT_BLK_STRIDE = 1;
constexpr uint8_t DEFAULT_REPEAT_STRIDE = 8;
constexpr uint16_t ONE_BLK_SIZE = 32;
constexpr uint32_t ONE_REPEAT_BYTE_SIZE = 256;
constexpr int32_t NCHW_CONV_ADDR_LIST_SIZE = 16;
constexpr GatherMaskMode defaultGatherMaskMode = GatherMaskMode::VERSION_V2;

inline float ToFloat(const bfloat16_t &v) {
    return twin_bf16_to_f32(v.bits);
}
inline bfloat16_t ToBfloat16(const float &v) {
    return bfloat16_t(v);
}

/* A parameter that is narrow on the device. The checked build keeps the value as given, so that
 * what would be cut off silently is reported; the fast build has the device's type. */
#if TWIN_CHECKED
template <typename N> struct TwinField {
    int64_t raw;
    TwinField() = default;
    template <typename I,
              typename = std::enable_if_t<std::is_arithmetic<I>::value || std::is_enum<I>::value>>
    constexpr TwinField(I v) : raw(static_cast<int64_t>(v)) {}
    template <typename M> constexpr TwinField(const TwinField<M> &v) : raw(v.raw) {}
    constexpr operator N() const { return static_cast<N>(raw); }
    TwinField &operator+=(int64_t v) {
        raw += v;
        return *this;
    }
    TwinField &operator-=(int64_t v) {
        raw -= v;
        return *this;
    }
    TwinField &operator*=(int64_t v) {
        raw *= v;
        return *this;
    }
};
template <typename N> inline bool TwinBad(const TwinField<N> &f) {
    return f.raw < static_cast<int64_t>(std::numeric_limits<N>::min()) ||
           f.raw > static_cast<int64_t>(std::numeric_limits<N>::max());
}
template <typename N> inline int64_t TwinRaw(const TwinField<N> &f) {
    return f.raw;
}
#else
template <typename N> using TwinField = N;
#endif

/* The kernels know these by name: rows.h of op_kernel. */
using Narrow8 = TwinField<uint8_t>;
using Narrow16 = TwinField<uint16_t>;
using Narrow32 = TwinField<uint32_t>;

struct BinaryRepeatParams {
    BinaryRepeatParams() {}
    BinaryRepeatParams(const Narrow8 dstBlk, const Narrow8 src0Blk, const Narrow8 src1Blk,
                       const Narrow8 dstRep, const Narrow8 src0Rep, const Narrow8 src1Rep)
        : dstBlkStride(dstBlk), src0BlkStride(src0Blk), src1BlkStride(src1Blk),
          dstRepStride(dstRep), src0RepStride(src0Rep), src1RepStride(src1Rep) {}
    uint32_t blockNumber = DEFAULT_BLK_NUM;
    Narrow8 dstBlkStride = DEFAULT_BLK_STRIDE, src0BlkStride = DEFAULT_BLK_STRIDE,
            src1BlkStride = DEFAULT_BLK_STRIDE;
    Narrow8 dstRepStride = DEFAULT_REPEAT_STRIDE, src0RepStride = DEFAULT_REPEAT_STRIDE,
            src1RepStride = DEFAULT_REPEAT_STRIDE;
    bool repeatStrideMode = false, strideSizeMode = false;
};

struct UnaryRepeatParams {
    UnaryRepeatParams() {}
    UnaryRepeatParams(const Narrow16 dstBlk, const Narrow16 srcBlk, const Narrow8 dstRep,
                      const Narrow8 srcRep)
        : dstBlkStride(dstBlk), srcBlkStride(srcBlk), dstRepStride(dstRep), srcRepStride(srcRep) {}
    uint32_t blockNumber = DEFAULT_BLK_NUM;
    Narrow16 dstBlkStride = DEFAULT_BLK_STRIDE, srcBlkStride = DEFAULT_BLK_STRIDE;
    Narrow8 dstRepStride = DEFAULT_REPEAT_STRIDE, srcRepStride = DEFAULT_REPEAT_STRIDE;
    bool repeatStrideMode = false, strideSizeMode = false, halfBlock = false;
};

struct CopyRepeatParams {
    CopyRepeatParams() {}
    CopyRepeatParams(const Narrow16 dstBlk, const Narrow16 srcBlk, Narrow16 dstRep, Narrow16 srcRep)
        : dstStride(dstBlk), srcStride(srcBlk), dstRepeatSize(dstRep), srcRepeatSize(srcRep) {}
    Narrow16 dstStride = 0, srcStride = 0;
    Narrow16 dstRepeatSize = DEFAULT_REPEAT_STRIDE, srcRepeatSize = DEFAULT_REPEAT_STRIDE;
};

struct BrcbRepeatParams {
    BrcbRepeatParams() {}
    BrcbRepeatParams(const Narrow16 dstBlk, const Narrow16 dstRep)
        : dstRepStride(dstRep), dstBlkStride(dstBlk) {}
    uint32_t blockNumber = DEFAULT_BLK_NUM;
    Narrow16 dstRepStride = DEFAULT_REPEAT_STRIDE, dstBlkStride = DEFAULT_BLK_STRIDE;
};

struct GatherRepeatParams {
    GatherRepeatParams() {}
    GatherRepeatParams(const Narrow8 dstBlk, const Narrow8 dstRep)
        : dstRepStride(dstRep), dstBlkStride(dstBlk) {}
    uint32_t blockNumber = DEFAULT_BLK_NUM;
    Narrow16 dstRepStride = DEFAULT_REPEAT_STRIDE;
    Narrow8 dstBlkStride = DEFAULT_BLK_STRIDE;
};

struct GatherMaskParams {
    GatherMaskParams() {}
    GatherMaskParams(const Narrow8 src0Blk, const Narrow16 repeats, const Narrow16 src0Rep,
                     const Narrow8 src1Rep)
        : src0BlockStride(src0Blk), repeatTimes(repeats), src0RepeatStride(src0Rep),
          src1RepeatStride(src1Rep) {}
    Narrow8 src0BlockStride = DEFAULT_BLK_STRIDE;
    Narrow16 repeatTimes = 0, src0RepeatStride = DEFAULT_REPEAT_STRIDE;
    Narrow8 src1RepeatStride = DEFAULT_REPEAT_STRIDE;
};

struct TransDataTo5HDParams {
    TransDataTo5HDParams() {}
    TransDataTo5HDParams(const bool dstHigh, const bool srcHigh, const Narrow8 repeats,
                         const Narrow16 dstRep, const Narrow16 srcRep)
        : dstHighHalf(dstHigh), srcHighHalf(srcHigh), repeatTimes(repeats), dstRepStride(dstRep),
          srcRepStride(srcRep) {}
    bool dstHighHalf = false, srcHighHalf = false;
    Narrow8 repeatTimes = 1;
    Narrow16 dstRepStride = 0, srcRepStride = 0;
};

/* 32-byte units; DataCopyPad reads blockLen and the GM stride as bytes. */
struct DataCopyParams {
    DataCopyParams() {}
    DataCopyParams(const Narrow16 count, const Narrow16 len, const Narrow16 srcGap,
                   const Narrow16 dstGap)
        : blockCount(count), blockLen(len), srcStride(srcGap), dstStride(dstGap) {}
    Narrow16 blockCount = 1, blockLen = 0, srcStride = 0, dstStride = 0;
};

struct DataCopyPadParams {
    DataCopyPadParams() {}
    DataCopyPadParams(const bool pad, const Narrow8 left, const Narrow8 right, const uint64_t value)
        : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}
    bool isPad = false;
    Narrow8 leftPadding = 0, rightPadding = 0;
    uint64_t paddingValue = 0;
};

struct DataCopyExtParams {
    DataCopyExtParams() {}
    DataCopyExtParams(const Narrow16 count, const Narrow32 len, const Narrow32 srcGap,
                      const Narrow32 dstGap, const Narrow32 reserved)
        : blockCount(count), blockLen(len), srcStride(srcGap), dstStride(dstGap), rsv(reserved) {}
    Narrow16 blockCount = 1;
    Narrow32 blockLen = 0, srcStride = 0, dstStride = 0, rsv = 0;
};

template <typename T> struct DataCopyPadExtParams {
    DataCopyPadExtParams() {}
    DataCopyPadExtParams(const bool pad, const Narrow8 left, const Narrow8 right, T value)
        : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}
    bool isPad = false;
    Narrow8 leftPadding = 0, rightPadding = 0;
    T paddingValue = 0;
};

/* Where the kernel's call stands: a trailing default argument in the checked build, nothing in the
 * fast one. It cannot be made from any other argument, so overloads resolve as with the device's
 * headers. */
#if TWIN_CHECKED
class TwinHere {
  public:
    static constexpr TwinHere Now(const char *f = __builtin_FILE(), int l = __builtin_LINE()) {
        return TwinHere(f, l, 0);
    }
    const char *file;
    int line;

  private:
    constexpr TwinHere(const char *f, int l, int) : file(f), line(l) {}
};
/* The same for an operator, which has no room for default arguments. */
struct TwinIndex {
    uint64_t value;
    TwinHere here;
    template <typename N,
              typename = std::enable_if_t<std::is_arithmetic<N>::value || std::is_enum<N>::value>>
    constexpr TwinIndex(N v, const char *f = __builtin_FILE(), int l = __builtin_LINE())
        : value(static_cast<uint64_t>(v)), here(TwinHere::Now(f, l)) {}
    template <typename M>
    constexpr TwinIndex(const TwinField<M> &v, const char *f = __builtin_FILE(),
                        int l = __builtin_LINE())
        : value(static_cast<uint64_t>(v.raw)), here(TwinHere::Now(f, l)) {}
};
#define TWIN_ALONE AscendC::TwinHere here = AscendC::TwinHere::Now()
#define TWIN_AT    , TWIN_ALONE
#define TWIN_SITE(name)                                                                            \
    const twin_site here_site {                                                                    \
        name, here.file, here.line                                                                 \
    }
#define TWIN_WHERE (&here_site)
#define TWIN_PASS  , here
#else
using TwinIndex = uint32_t;
#define TWIN_ALONE
#define TWIN_AT
#define TWIN_SITE(name)
#define TWIN_WHERE nullptr
#define TWIN_PASS
#endif

template <typename T, typename U> struct IsSameType : std::is_same<T, U> {};

template <typename T, typename... Us> constexpr bool TwinIsOneOf() {
    return (std::is_same<T, Us>::value || ...);
}

} // namespace AscendC
#endif
