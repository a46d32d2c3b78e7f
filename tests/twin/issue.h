/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes the call that a step describes. Include behind kernel_operator.h, the twin's or CANN's own.
 */
#ifndef TESTS_TWIN_ISSUE_H
#define TESTS_TWIN_ISSUE_H

#include "forms.h"

namespace forms {

using namespace AscendC;

/* Where steps work. */
struct Place {
    LocalTensor<uint32_t> ub;
    GM_ADDR from; /* memory that is loaded */
    GM_ADDR to;   /* memory that is stored */
};

template <typename T> __aicore__ inline LocalTensor<T> at(const Place &p, uint32_t byte) {
    return p.ub[byte / 4].template ReinterpretCast<T>();
}

template <typename T> __aicore__ inline GlobalTensor<T> memory(GM_ADDR from, uint32_t byte) {
    GlobalTensor<T> t;
    t.SetGlobalBuffer((__gm__ T *)(from + byte));
    return t;
}

template <typename T> __aicore__ inline T scalar_of(const Step &s) {
    union {
        uint32_t bits;
        T value;
    } u = {s.scalar};
    return u.value;
}

__aicore__ inline BinaryRepeatParams two(const Step &s) {
    return BinaryRepeatParams((uint8_t)s.dst_block, (uint8_t)s.src0_block, (uint8_t)s.src1_block,
                              (uint8_t)s.dst_repeat, (uint8_t)s.src0_repeat,
                              (uint8_t)s.src1_repeat);
}

__aicore__ inline UnaryRepeatParams one(const Step &s) {
    return UnaryRepeatParams((uint16_t)s.dst_block, (uint16_t)s.src0_block, (uint8_t)s.dst_repeat,
                             (uint8_t)s.src0_repeat);
}

__aicore__ inline DataCopyParams blocks(const Step &s) {
    return DataCopyParams((uint16_t)s.repeat, (uint16_t)s.count, (uint16_t)s.src0_repeat,
                          (uint16_t)s.dst_repeat);
}

__aicore__ inline DataCopyExtParams bytes(const Step &s) {
    return DataCopyExtParams((uint16_t)s.repeat, s.count, s.src0_repeat, s.dst_repeat, 0);
}

template <typename T> __aicore__ inline DataCopyPadExtParams<T> padding(const Step &s) {
    DataCopyPadExtParams<T> pad;
    pad.isPad = s.mode & 1;
    pad.rightPadding = (uint8_t)(s.mode / 256);
    return pad;
}

template <typename T> __aicore__ inline void transpose(const Place &p, const Step &s) {
    LocalTensor<T> to[16], from[16];
    for (uint32_t i = 0; i < 16; i++) {
        to[i] = at<T>(p, s.dst + i * 32 * s.dst_block);
        from[i] = at<T>(p, s.src0 + i * 32 * s.src0_block);
    }
    TransDataTo5HD<T>(to, from,
                      TransDataTo5HDParams(false, false, (uint8_t)s.repeat, (uint16_t)s.dst_repeat,
                                           (uint16_t)s.src0_repeat));
}

/* The call of each kind; D, S: types of destination and source. */
#define FORM_DST(D)    at<D>(p, s.dst)
#define FORM_SRC(S)    at<S>(p, s.src0)
#define FORM_OTHER(S)  at<S>(p, s.src1)
#define FORM_REPEAT    (uint8_t) s.repeat
#define FORM_ROUND     (RoundMode) s.mode
#define FORM_FAR       (int32_t) s.dst_repeat, (int32_t)s.src0_block, (int32_t)s.src0_repeat
#define FORM_THREE(T)  FORM_DST(T), FORM_SRC(T), FORM_OTHER(T)
#define FORM_SCALED(T) FORM_DST(T), FORM_SRC(T), scalar_of<T>(s)
#define FORM_FILLED(T) FORM_DST(T), scalar_of<T>(s)
#define FORM_NEAR      (uint16_t) s.dst_block, (uint8_t)s.dst_repeat

#define CALL_BINARY(C, D, S)       C(FORM_THREE(D), s.mask[0], FORM_REPEAT, two(s))
#define CALL_BINARY_BITS(C, D, S)  C(FORM_THREE(D), bits, FORM_REPEAT, two(s))
#define CALL_BINARY_KEPT(C, D, S)  C<D, false>(FORM_THREE(D), MASK_PLACEHOLDER, FORM_REPEAT, two(s))
#define CALL_BINARY_COUNT(C, D, S) C(FORM_THREE(D), (int32_t)s.count)
#define CALL_SCALAR(C, D, S)       C(FORM_SCALED(D), s.mask[0], FORM_REPEAT, one(s))
#define CALL_SCALAR_BITS(C, D, S)  C(FORM_SCALED(D), bits, FORM_REPEAT, one(s))
#define CALL_SCALAR_KEPT(C, D, S)  C<D, false>(FORM_SCALED(D), MASK_PLACEHOLDER, FORM_REPEAT, one(s))
#define CALL_SCALAR_COUNT(C, D, S) C(FORM_SCALED(D), (int32_t)s.count)
#define CALL_CAST(C, D, S)         C(FORM_DST(D), FORM_SRC(S), FORM_ROUND, s.mask[0], FORM_REPEAT, one(s))
#define CALL_CAST_KEPT(C, D, S)                                                                    \
    C<D, S, false>(FORM_DST(D), FORM_SRC(S), FORM_ROUND, MASK_PLACEHOLDER, FORM_REPEAT, one(s))
#define CALL_CAST_COUNT(C, D, S) C(FORM_DST(D), FORM_SRC(S), FORM_ROUND, s.count)
#define CALL_FILL(C, D, S)       C(FORM_FILLED(D), s.mask[0], FORM_REPEAT, FORM_NEAR)
#define CALL_FILL_BITS(C, D, S)  C(FORM_FILLED(D), bits, FORM_REPEAT, FORM_NEAR)
#define CALL_FILL_KEPT(C, D, S)                                                                    \
    C<D, false>(FORM_FILLED(D), MASK_PLACEHOLDER, FORM_REPEAT, FORM_NEAR)
#define CALL_FILL_COUNT(C, D, S) C(FORM_FILLED(D), (int32_t)s.count)
#define CALL_REDUCE(C, D, S)                                                                       \
    C<D>(FORM_DST(D), FORM_SRC(S), (int32_t)s.repeat, (int32_t)s.mask[0], FORM_FAR)
#define CALL_REDUCE_BITS(C, D, S)                                                                  \
    C<D>(FORM_DST(D), FORM_SRC(S), (int32_t)s.repeat, (const uint64_t *)bits, FORM_FAR)
#define CALL_REDUCE_KEPT(C, D, S)                                                                  \
    C<D, false>(FORM_DST(D), FORM_SRC(S), (int32_t)s.repeat, (int32_t)MASK_PLACEHOLDER, FORM_FAR)
#define CALL_COPY(C, D, S)                                                                         \
    C(FORM_DST(D), FORM_SRC(S), s.mask[0], FORM_REPEAT,                                            \
      CopyRepeatParams((uint16_t)s.dst_block, (uint16_t)s.src0_block, (uint16_t)s.dst_repeat,      \
                       (uint16_t)s.src0_repeat))
#define CALL_SPREAD(C, D, S)                                                                       \
    C(FORM_DST(D), FORM_SRC(S), FORM_REPEAT,                                                       \
      BrcbRepeatParams((uint16_t)s.dst_block, (uint16_t)s.dst_repeat))
#define CALL_GATHER_COUNT(C, D, S)                                                                 \
    C(FORM_DST(D), FORM_SRC(S), FORM_OTHER(uint32_t), s.scalar, s.count)
#define CALL_GATHER_BLOCKS(C, D, S)                                                                \
    C(FORM_DST(D), FORM_SRC(S), FORM_OTHER(uint32_t), FORM_REPEAT,                                 \
      GatherRepeatParams((uint8_t)s.dst_block, (uint16_t)s.dst_repeat))
#define CALL_TRANSPOSE(C, D, S)   transpose<D>(p, s)
#define CALL_SET_LANES(C, D, S)   C<D>((int32_t)s.mask[0])
#define CALL_SET_BITS(C, D, S)    C<D>(s.mask[1], s.mask[0])
#define CALL_RESET(C, D, S)       C()
#define CALL_LOAD(C, D, S)        C(FORM_DST(D), memory<D>(p.from, s.src0), blocks(s))
#define CALL_LOAD_COUNT(C, D, S)  C(FORM_DST(D), memory<D>(p.from, s.src0), s.count)
#define CALL_LOAD_PAD(C, D, S)    C(FORM_DST(D), memory<D>(p.from, s.src0), bytes(s), padding<D>(s))
#define CALL_STORE(C, D, S)       C(memory<D>(p.to, s.dst), FORM_SRC(D), blocks(s))
#define CALL_STORE_COUNT(C, D, S) C(memory<D>(p.to, s.dst), FORM_SRC(D), s.count)
#define CALL_STORE_PAD(C, D, S)   C(memory<D>(p.to, s.dst), FORM_SRC(D), bytes(s))
#define CALL_MOVE(C, D, S)        C(FORM_DST(D), FORM_SRC(D), blocks(s))
#define CALL_MOVE_COUNT(C, D, S)  C(FORM_DST(D), FORM_SRC(D), s.count)

#define FORM_CASE(name, kind, call, to, from)                                                      \
    case FORM_##name:                                                                              \
        CALL_##kind(call, to, from);                                                               \
        break;
#if defined(__NPU_ARCH__) && __NPU_ARCH__ == 1001 /* the first 910 has no others */
#define FORM_910 FORM_CASE
#define FORM(name, kind, call, to, from)
#else
#define FORM FORM_CASE
#endif
__aicore__ inline void issue(const Place &p, const Step &s) {
    uint64_t bits[2] = {s.mask[0], s.mask[1]};
    switch (s.form) {
#include "form_rows.h"
    }
}

} // namespace forms

#endif
