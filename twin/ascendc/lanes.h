/* SPDX-License-Identifier: Apache-2.0
 *
 * What all vector templates share: which arithmetic a type selects, masks, strides, and the way
 * into the runtime.
 */
#ifndef TWIN_ASCENDC_LANES_H
#define TWIN_ASCENDC_LANES_H

namespace AscendC {

/* Operations that exist for fp32, fp16, int16, int32 on A2, and those for fp32 and fp16 only. */
/* clang-format off */
#define TWIN_PRIM4(Name)                                                                           \
    template <typename T> constexpr twin_prim_id Twin##Name##Of() {                                \
        static_assert(TwinIsOneOf<T, half, float, int16_t, int32_t>(),                             \
                      #Name ": half, float, int16_t, int32_t");                                    \
        return std::is_same<T, float>::value  ? TWIN_##Name##_F32                                  \
               : std::is_same<T, half>::value ? TWIN_##Name##_F16                                  \
               : sizeof(T) == 2               ? TWIN_##Name##_I16                                  \
                                              : TWIN_##Name##_I32;                                 \
    }
#define TWIN_PRIM2(Name)                                                                           \
    template <typename T> constexpr twin_prim_id Twin##Name##Of() {                                \
        static_assert(TwinIsOneOf<T, half, float>(), #Name ": half, float");                       \
        return std::is_same<T, float>::value ? TWIN_##Name##_F32 : TWIN_##Name##_F16;              \
    }
TWIN_PRIM4(ADD)   TWIN_PRIM4(SUB)   TWIN_PRIM4(MUL)   TWIN_PRIM4(MAX)   TWIN_PRIM4(MIN)
TWIN_PRIM4(ADDS)  TWIN_PRIM4(MULS)  TWIN_PRIM4(MAXS)  TWIN_PRIM4(MINS)
TWIN_PRIM2(DIV)   TWIN_PRIM2(ABS)   TWIN_PRIM2(EXP)   TWIN_PRIM2(LN)
TWIN_PRIM2(SQRT)  TWIN_PRIM2(RSQRT) TWIN_PRIM2(REC)
#undef TWIN_PRIM4
#undef TWIN_PRIM2
    /* clang-format on */

    template <typename T>
    constexpr twin_prim_id TwinRELUOf() {
    static_assert(TwinIsOneOf<T, half, float, int32_t>(), "Relu: half, float, int32_t");
    return std::is_same<T, float>::value ? TWIN_RELU_F32
           : sizeof(T) == 2              ? TWIN_RELU_F16
                                         : TWIN_RELU_I32;
}
template <typename T> constexpr twin_prim_id TwinNOTOf() {
    static_assert(TwinIsOneOf<T, int16_t, uint16_t>(), "Not: int16_t, uint16_t");
    return TWIN_NOT_B16;
}
template <typename T> constexpr twin_prim_id TwinANDOf() {
    static_assert(TwinIsOneOf<T, int16_t, uint16_t>(),
                  "And with mask and repeat: int16_t, uint16_t");
    return TWIN_AND_B16;
}
template <typename T> constexpr twin_prim_id TwinOROf() {
    static_assert(TwinIsOneOf<T, int16_t, uint16_t>(),
                  "Or with mask and repeat: int16_t, uint16_t");
    return TWIN_OR_B16;
}
template <typename T> constexpr twin_prim_id TwinShiftLeftOf() {
    static_assert(TwinIsOneOf<T, uint16_t, int16_t, uint32_t, int32_t>(),
                  "ShiftLeft: 16- and 32-bit integers");
    return sizeof(T) == 2 ? TWIN_SHL_B16 : TWIN_SHL_B32;
}
template <typename T> constexpr twin_prim_id TwinShiftRightOf() {
    static_assert(TwinIsOneOf<T, uint16_t, int16_t, uint32_t, int32_t>(),
                  "ShiftRight: 16- and 32-bit integers");
    return sizeof(T) == 2 ? (std::is_signed<T>::value ? TWIN_SHR_I16 : TWIN_SHR_U16)
                          : (std::is_signed<T>::value ? TWIN_SHR_I32 : TWIN_SHR_U32);
}

/* A scalar as the arithmetic wants it: floats as float, integers sign-extended, others as bits. */
inline twin_scalar TwinScalar(float v) {
    twin_scalar s;
    s.f = v;
    return s;
}
inline twin_scalar TwinScalar(half v) {
    twin_scalar s;
    s.f = static_cast<float>(v);
    return s;
}
inline twin_scalar TwinScalar(int32_t v) {
    twin_scalar s;
    s.i = v;
    return s;
}
inline twin_scalar TwinScalar(uint32_t v) {
    twin_scalar s;
    s.u = v;
    return s;
}
inline twin_scalar TwinScalar(int16_t v) {
    return TwinScalar(static_cast<int32_t>(v));
}
inline twin_scalar TwinScalar(uint16_t v) {
    return TwinScalar(static_cast<uint32_t>(v));
}
inline twin_scalar TwinNoScalar() {
    return TwinScalar(0.0f);
}

template <typename T>
inline twin_operand TwinOperand(const LocalTensor<T> &t, uint32_t block = 1, uint32_t repeat = 8) {
    return twin_operand{t.raw, block, repeat};
}

/* Collects the first parameter that does not fit its field on the device. */
struct TwinFields {
    bool bad = false;
    int64_t value = 0;
#if TWIN_CHECKED
    template <typename N> void Check(const TwinField<N> &f) {
        if (!bad && TwinBad(f)) bad = true, value = TwinRaw(f);
    }
    void Range(int64_t v, int64_t least, int64_t most) {
        if (!bad && (v < least || v > most)) bad = true, value = v;
    }
#else
    template <typename N> void Check(const N &) {}
    void Range(int64_t, int64_t, int64_t) {}
#endif
};

inline twin_lanes TwinCountLanes(int64_t count, TwinFields &fields) {
    fields.Range(count, 0, INT32_MAX);
    return twin_lanes{true, false, {count > 0 ? static_cast<uint64_t>(count) : 0, 0}, 1, false};
}

template <bool isSetMask>
inline twin_lanes TwinMaskLanes(uint64_t mask, int64_t repeat, uint32_t perRepeat,
                                TwinFields &fields) {
    twin_lanes l{false, !isSetMask, {0, 0}, repeat, false};
    fields.Range(repeat, 0, 255);
    if (isSetMask) fields.Range(static_cast<int64_t>(mask), 0, perRepeat);
    l.mask[0] = mask >= 64 ? ~0ull : (1ull << mask) - 1;
    l.mask[1] = mask >= 128 ? ~0ull : mask > 64 ? (1ull << (mask - 64)) - 1 : 0;
    return l;
}

template <bool isSetMask>
inline twin_lanes TwinMaskLanes(const uint64_t *mask, int64_t repeat, uint32_t,
                                TwinFields &fields) {
    twin_lanes l{false, !isSetMask, {0, 0}, repeat, true};
    fields.Range(repeat, 0, 255);
    if (isSetMask) l.mask[0] = mask[0], l.mask[1] = mask[1];
    return l;
}

#if TWIN_CHECKED
inline void TwinRun(twin_elementwise &v, const TwinFields &f, const twin_site *site) {
    v.bad_field = f.bad;
    v.bad_value = f.value;
    twin_elementwise_checked(&v, site);
}
#else
inline void TwinRun(twin_elementwise &v, const TwinFields &, const twin_site *) {
    twin_elementwise_fast(&v);
}
#endif

template <typename D, typename A, typename B>
inline void TwinCountCall(twin_prim_id prim, const LocalTensor<D> &dst, const LocalTensor<A> &a,
                          const LocalTensor<B> &b, twin_scalar s, int64_t count,
                          const twin_site *site) {
#if TWIN_CHECKED
    TwinFields f;
    uint32_t wide = sizeof(D) > sizeof(A)
                        ? sizeof(D)
                        : sizeof(A); /* a repeat has 256 bytes of the wider type */
    twin_elementwise v{
        prim,
        TwinCountLanes(count, f),
        s,
        TwinOperand(dst, 1, 8 * sizeof(D) / wide),
        {TwinOperand(a, 1, 8 * sizeof(A) / wide), TwinOperand(b, 1, 8 * sizeof(A) / wide)},
        false,
        0};
    TwinRun(v, f, site);
#else
    (void)site;
    twin_count_fast(prim, dst.raw.at, a.raw.at, b.raw.at, count, s);
#endif
}

} // namespace AscendC
#endif
