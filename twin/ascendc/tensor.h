/* SPDX-License-Identifier: Apache-2.0
 *
 * LocalTensor and GlobalTensor.
 */
#ifndef TWIN_ASCENDC_TENSOR_H
#define TWIN_ASCENDC_TENSOR_H

namespace AscendC {

template <typename T> class LocalTensor {
  public:
    using PrimType = T;
    twin_local raw{};

    uint32_t GetSize() const { return raw.bytes / static_cast<uint32_t>(sizeof(T)); }
    void SetSize(const uint32_t size) { raw.bytes = size * static_cast<uint32_t>(sizeof(T)); }
    int32_t GetPosition() const { return raw.position; }
    uint64_t GetPhyAddr() const { return reinterpret_cast<uint64_t>(raw.at); }
    uint64_t GetPhyAddr(const uint32_t offset) const {
        return GetPhyAddr() + uint64_t(offset) * sizeof(T);
    }

    TWIN_CALL LocalTensor operator[](const TwinIndex index) const {
        LocalTensor t = *this;
#if TWIN_CHECKED
        const uint64_t offset = index.value;
        const twin_site site{"operator[]", index.here.file, index.here.line};
        if (offset >= GetSize()) twin_fail_index(offset, GetSize(), &site);
#else
        const uint32_t offset = index;
#endif
        uint64_t skip = uint64_t(offset) * sizeof(T);
        t.raw.at = raw.at + skip;
        t.raw.bytes = skip > raw.bytes ? 0 : raw.bytes - static_cast<uint32_t>(skip);
        return t;
    }

    template <typename U> TWIN_CALL LocalTensor<U> ReinterpretCast() const {
        LocalTensor<U> t;
        t.raw = raw;
        return t;
    }

    T GetValue(const uint32_t index TWIN_AT) const {
        TWIN_SITE("GetValue");
        T value;
        twin_local_get(&raw, index, sizeof(T), &value, TWIN_WHERE);
        return value;
    }

    template <typename T1> void SetValue(const uint32_t index, const T1 v TWIN_AT) const {
        TWIN_SITE("SetValue");
        T value = static_cast<T>(v);
        twin_local_set(&raw, index, sizeof(T), &value, TWIN_WHERE);
    }
};

template <typename T> class GlobalTensor {
  public:
    using PrimType = T;
    uint64_t address = 0, bufferSize_ = 0;

    void SetGlobalBuffer(__gm__ T *buffer) { address = reinterpret_cast<uint64_t>(buffer); }
    void SetGlobalBuffer(__gm__ T *buffer, uint64_t size) {
        address = reinterpret_cast<uint64_t>(buffer);
        bufferSize_ = size;
    }
    const __gm__ T *GetPhyAddr() const { return reinterpret_cast<const T *>(address); }
    __gm__ T *GetPhyAddr(const uint64_t offset) const {
        return reinterpret_cast<T *>(address + offset * sizeof(T));
    }
    uint64_t GetSize() const { return bufferSize_; }

    TWIN_CALL GlobalTensor operator[](const uint64_t offset) const {
        GlobalTensor t = *this;
        t.address = address + offset * sizeof(T);
        t.bufferSize_ = bufferSize_ > offset ? bufferSize_ - offset : 0;
        return t;
    }

    T GetValue(const uint64_t offset TWIN_AT) const {
        TWIN_SITE("GetValue");
        T value;
        twin_global_get(address + offset * sizeof(T), sizeof(T), &value, TWIN_WHERE);
        return value;
    }
    void SetValue(const uint64_t offset, T value TWIN_AT) {
        TWIN_SITE("SetValue");
        twin_global_set(address + offset * sizeof(T), sizeof(T), &value, TWIN_WHERE);
    }
    template <CacheRwMode rwMode = CacheRwMode::RW> void SetL2CacheHint(CacheMode) {}
};

} // namespace AscendC
#endif
