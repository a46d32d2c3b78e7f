/* SPDX-License-Identifier: Apache-2.0
 *
 * TPipe, TQue, TQueBind, TBuf, events and barriers. All state lives in the core, so these objects
 * own nothing.
 */
#ifndef TWIN_ASCENDC_PIPE_H
#define TWIN_ASCENDC_PIPE_H

namespace AscendC {

constexpr uint8_t TwinQueEvent(TPosition src, TPosition dst, bool forward) {
    return static_cast<uint8_t>(
        src == TPosition::GM   ? (forward ? HardEvent::MTE2_V : HardEvent::V_MTE2)
        : dst == TPosition::GM ? (forward ? HardEvent::V_MTE3 : HardEvent::MTE3_V)
                               : (forward ? HardEvent::MTE2_MTE3 : HardEvent::MTE3_MTE2));
}

/* The queue's own position: that of the UB side. */
constexpr TPosition TwinUbSide(TPosition src, TPosition dst) {
    return src == TPosition::GM ? dst : src;
}

template <TPosition src, TPosition dst, int32_t depth, auto mask = 0> class TQueBind {
  public:
    static constexpr TPosition position = TwinUbSide(src, dst);
    static constexpr uint8_t forwardEvent = TwinQueEvent(src, dst, true),
                             backEvent = TwinQueEvent(src, dst, false);
    static constexpr int32_t queDepth = depth;
    uint16_t number = UINT16_MAX;

    template <typename T> TWIN_CALL LocalTensor<T> AllocTensor(TWIN_ALONE) {
        TWIN_SITE("AllocTensor");
        LocalTensor<T> t;
        t.raw = twin_que_alloc(number, TWIN_WHERE);
        return t;
    }
    template <typename T> TWIN_CALL void FreeTensor(LocalTensor<T> &tensor TWIN_AT) {
        TWIN_SITE("FreeTensor");
        twin_que_free(number, &tensor.raw, TWIN_WHERE);
    }
    template <typename T> TWIN_CALL bool EnQue(const LocalTensor<T> &tensor TWIN_AT) {
        TWIN_SITE("EnQue");
        twin_que_push(number, &tensor.raw, TWIN_WHERE);
        return true;
    }
    template <typename T> TWIN_CALL LocalTensor<T> DeQue(TWIN_ALONE) {
        TWIN_SITE("DeQue");
        LocalTensor<T> t;
        t.raw = twin_que_pop(number, TWIN_WHERE);
        return t;
    }
    bool VacantInQue() { return GetTensorCountInQue() < depth; }
    bool HasTensorInQue() { return GetTensorCountInQue() > 0; }
    int32_t GetTensorCountInQue() { return static_cast<int32_t>(twin_que_count(number, 0)); }
    bool HasIdleBuffer() { return twin_que_count(number, 1) > 0; }
};

constexpr TPosition TwinQueSource(TPosition pos) {
    return pos == TPosition::VECIN ? TPosition::GM : pos;
}
constexpr TPosition TwinQueTarget(TPosition pos) {
    return pos == TPosition::VECOUT ? TPosition::GM : pos;
}

template <TPosition pos, int32_t depth, auto mask = 0>
class TQue : public TQueBind<TwinQueSource(pos), TwinQueTarget(pos), depth, mask> {
    static_assert(pos == TPosition::VECIN || pos == TPosition::VECOUT,
                  "a vector core has VECIN and VECOUT queues");
};

template <TPosition pos = TPosition::LCM> class TBuf {
    static_assert(pos == TPosition::VECIN || pos == TPosition::VECOUT || pos == TPosition::VECCALC,
                  "a vector core has VECIN, VECOUT and VECCALC");

  public:
    uint16_t number = UINT16_MAX;

    template <typename T> TWIN_CALL LocalTensor<T> Get(TWIN_ALONE) {
        TWIN_SITE("Get");
        LocalTensor<T> t;
        t.raw = twin_buf_get(number, 0, UINT32_MAX, TWIN_WHERE);
        return t;
    }
    template <typename T> TWIN_CALL LocalTensor<T> Get(uint32_t len TWIN_AT) {
        TWIN_SITE("Get");
        LocalTensor<T> t;
        t.raw = twin_buf_get(number, 0, len * static_cast<uint32_t>(sizeof(T)), TWIN_WHERE);
        return t;
    }
    template <typename T>
    TWIN_CALL LocalTensor<T> GetWithOffset(uint32_t size, uint32_t bufOffset TWIN_AT) {
        TWIN_SITE("GetWithOffset");
        LocalTensor<T> t;
        t.raw =
            twin_buf_get(number, bufOffset, size * static_cast<uint32_t>(sizeof(T)), TWIN_WHERE);
        return t;
    }
};

class TPipe {
  public:
    TPipe(TWIN_ALONE) {
        TWIN_SITE("TPipe");
        twin_pipe_init(TWIN_WHERE);
    }
    explicit TPipe(std::nullptr_t) {}

    template <class T> bool InitBuffer(T &que, Narrow8 num, Narrow32 len TWIN_AT) {
        TWIN_SITE("InitBuffer");
#if TWIN_CHECKED
        if (TwinBad(num)) twin_fail_field("the number of buffers", TwinRaw(num), TWIN_WHERE);
        if (TwinBad(len)) twin_fail_field("the length", TwinRaw(len), TWIN_WHERE);
#endif
        que.number = twin_init_buffer(static_cast<uint8_t>(T::position), static_cast<uint8_t>(num),
                                      static_cast<uint32_t>(len), true, T::queDepth,
                                      T::forwardEvent, T::backEvent, TWIN_WHERE);
        return true;
    }
    template <TPosition pos> bool InitBuffer(TBuf<pos> &buf, Narrow32 len TWIN_AT) {
        TWIN_SITE("InitBuffer");
#if TWIN_CHECKED
        if (TwinBad(len)) twin_fail_field("the length", TwinRaw(len), TWIN_WHERE);
#endif
        buf.number = twin_init_buffer(static_cast<uint8_t>(pos), 1, static_cast<uint32_t>(len),
                                      false, 0, 0, 0, TWIN_WHERE);
        return true;
    }
    template <HardEvent evt> TWIN_CALL TEventID AllocEventID(TWIN_ALONE) {
        TWIN_SITE("AllocEventID");
        return static_cast<TEventID>(twin_event_alloc(static_cast<uint8_t>(evt), true, TWIN_WHERE));
    }
    template <HardEvent evt> TWIN_CALL void ReleaseEventID(TEventID id TWIN_AT) {
        TWIN_SITE("ReleaseEventID");
        twin_event_release(static_cast<uint8_t>(evt), id, TWIN_WHERE);
    }
    template <HardEvent evt> TWIN_CALL TEventID FetchEventID(TWIN_ALONE) {
        TWIN_SITE("FetchEventID");
        return static_cast<TEventID>(
            twin_event_alloc(static_cast<uint8_t>(evt), false, TWIN_WHERE));
    }
    TEventID FetchEventID(HardEvent evt TWIN_AT) {
        TWIN_SITE("FetchEventID");
        return static_cast<TEventID>(
            twin_event_alloc(static_cast<uint8_t>(evt), false, TWIN_WHERE));
    }
    void Reset(TWIN_ALONE) {
        TWIN_SITE("Reset");
        twin_pipe_reset(TWIN_WHERE);
    }
    void Destroy(TWIN_ALONE) {
        TWIN_SITE("Destroy");
        twin_pipe_reset(TWIN_WHERE);
    }
};

inline TPipe *GetTPipePtr() {
    static TPipe pipe(nullptr); /* stateless: every TPipe speaks for the core it is used on */
    return &pipe;
}

template <HardEvent event> TWIN_CALL void SetFlag(int32_t eventID TWIN_AT) {
    TWIN_SITE("SetFlag");
    twin_flag_set(static_cast<uint8_t>(event), eventID, TWIN_WHERE);
}

template <HardEvent event> TWIN_CALL void WaitFlag(int32_t eventID TWIN_AT) {
    TWIN_SITE("WaitFlag");
    twin_flag_wait(static_cast<uint8_t>(event), eventID, TWIN_WHERE);
}

template <pipe_t pipe> TWIN_CALL void PipeBarrier(TWIN_ALONE) {
    TWIN_SITE("PipeBarrier");
    static_assert(pipe == PIPE_V || pipe == PIPE_MTE2 || pipe == PIPE_MTE3 || pipe == PIPE_ALL,
                  "a vector core has the pipes V, MTE2 and MTE3");
    twin_barrier(pipe == PIPE_V      ? 1
                 : pipe == PIPE_MTE2 ? 2
                 : pipe == PIPE_MTE3 ? 3
                                     : 4,
                 TWIN_WHERE);
}

} // namespace AscendC
#endif
