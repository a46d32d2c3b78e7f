/* SPDX-License-Identifier: Apache-2.0
 *
 * Mask registers, block numbers, SyncAll, workspace, and the macros of the operator project.
 */
#ifndef TWIN_ASCENDC_SYSTEM_H
#define TWIN_ASCENDC_SYSTEM_H

/* clang-format off */
enum KernelMetaType : uint8_t {
    KERNEL_TYPE_AIV_ONLY, KERNEL_TYPE_AIC_ONLY, KERNEL_TYPE_MIX_AIV_1_0,
    KERNEL_TYPE_MIX_AIC_1_0, KERNEL_TYPE_MIX_AIC_1_1, KERNEL_TYPE_MIX_AIC_1_2,
    KERNEL_TYPE_AICORE, KERNEL_TYPE_VECTORCORE, KERNEL_TYPE_MIX_AICORE,
    KERNEL_TYPE_MIX_VECTOR_CORE, KERNEL_TYPE_MAX,
};
/* clang-format on */

#define TILING_KEY_IS(k)               (twin_tiling_key() == static_cast<uint64_t>(k))
#define KERNEL_TASK_TYPE_DEFAULT(type) twin_task_type(type)
#define KERNEL_TASK_TYPE(key, type)                                                                \
    do {                                                                                           \
        if (TILING_KEY_IS(key)) twin_task_type(type);                                              \
    } while (0)
#define REGISTER_TILING_DEFAULT(Struct) using TwinTilingDefault [[maybe_unused]] = Struct
#define REGISTER_TILING_FOR_TILINGKEY(expression, Struct)                                          \
    static_assert(sizeof(Struct) > 0, expression)
#define GET_TILING_DATA(name, from) GET_TILING_DATA_WITH_STRUCT(TwinTilingDefault, name, from)
/* const, as in the device's compile for static shapes */
#define GET_TILING_DATA_WITH_STRUCT(Struct, name, from)                                            \
    const Struct name =                                                                            \
        AscendC::TwinTilingData<Struct>(from, twin_site{"GET_TILING_DATA", __FILE__, __LINE__})
#define ASCENDC_ASSERT(condition, ...) ((void)0)

namespace AscendC {

template <typename S> inline S TwinTilingData(GM_ADDR, const twin_site &site) {
    S data;
    twin_copy_tiling(&data, sizeof data, &site);
    return data;
}

inline int64_t GetBlockIdx() {
    return twin_block_idx();
}
inline int64_t GetBlockNum() {
    return twin_block_num();
}
inline int64_t GetSubBlockIdx() {
    return 0;
}
inline int64_t GetTaskRation() {
    return 1;
}
inline GM_ADDR GetUserWorkspace(GM_ADDR workspace) {
    return workspace;
}

TWIN_CALL void SetMaskCount(TWIN_ALONE) {
    TWIN_SITE("SetMaskCount");
    twin_mask_mode(true, TWIN_WHERE);
}
TWIN_CALL void SetMaskNorm(TWIN_ALONE) {
    TWIN_SITE("SetMaskNorm");
    twin_mask_mode(false, TWIN_WHERE);
}
TWIN_CALL void ResetMask(TWIN_ALONE) {
    TWIN_SITE("ResetMask");
    twin_mask_set(~0ull, ~0ull, 0, TWIN_WHERE);
}
template <typename T, MaskMode mode = MaskMode::NORMAL>
TWIN_CALL void SetVectorMask(const uint64_t maskHigh, const uint64_t maskLow TWIN_AT) {
    TWIN_SITE("SetVectorMask");
    twin_mask_set(maskHigh, maskLow, 256 / sizeof(T), TWIN_WHERE);
}
template <typename T, MaskMode mode = MaskMode::NORMAL>
TWIN_CALL void SetVectorMask(int32_t len TWIN_AT) {
    TWIN_SITE("SetVectorMask");
    if (mode == MaskMode::COUNTER) {
        twin_mask_set(0, static_cast<uint64_t>(len), 256 / sizeof(T), TWIN_WHERE);
    } else {
        TwinFields f;
        twin_lanes l = TwinMaskLanes<true>(static_cast<uint64_t>(len), 1, 256 / sizeof(T), f);
#if TWIN_CHECKED
        if (f.bad) twin_fail_field("the mask", f.value, TWIN_WHERE);
#endif
        twin_mask_set(l.mask[1], l.mask[0], 256 / sizeof(T), TWIN_WHERE);
    }
}

template <bool isAIVOnly = true> TWIN_CALL void SyncAll(TWIN_ALONE) {
    TWIN_SITE("SyncAll");
    static_assert(isAIVOnly,
                  "SyncAll<false> also waits for cube cores, which the twin does not have");
    twin_sync_all(TWIN_WHERE);
}
template <bool isAIVOnly = true>
TWIN_CALL void SyncAll(const GlobalTensor<int32_t> &gmWorkspace,
                       const LocalTensor<int32_t> &ubWorkspace,
                       const int32_t usedCores = 0 TWIN_AT) {
    TWIN_SITE("SyncAll");
    twin_sync_all_soft(gmWorkspace.address, &ubWorkspace.raw, usedCores, TWIN_WHERE);
}

} // namespace AscendC
#endif
