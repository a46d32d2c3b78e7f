/* SPDX-License-Identifier: Apache-2.0
 *
 * Words of the kernels that pass buffers from pipe to pipe by flags of their own: a queue costs the
 * scalar unit five times as much. A slot is a buffer that one pipe fills and another empties.
 */
#ifndef PIPES_H
#define PIPES_H

#include "rows.h"

namespace rows {

using namespace AscendC;

/* FULL: from the pipe that fills to the pipe that empties; FREE: the way back. */
template <HardEvent FULL, HardEvent FREE> struct Slot { TEventID full, free; };

using SlotIn = Slot<HardEvent::MTE2_V, HardEvent::V_MTE2>;
using SlotOut = Slot<HardEvent::V_MTE3, HardEvent::MTE3_V>;
using SlotThrough = Slot<HardEvent::MTE2_MTE3, HardEvent::MTE3_MTE2>;

/* A slot is free at first. */
template <HardEvent FULL, HardEvent FREE>
__aicore__ inline void open_slot(TPipe &pipe, Slot<FULL, FREE> &s) {
    s.full = pipe.AllocEventID<FULL>();
    s.free = pipe.AllocEventID<FREE>();
    SetFlag<FREE>(s.free);
}

/* No flag stays set behind the kernel. */
template <HardEvent FULL, HardEvent FREE>
__aicore__ inline void close_slot(TPipe &pipe, const Slot<FULL, FREE> &s) {
    WaitFlag<FREE>(s.free);
    pipe.ReleaseEventID<FULL>(s.full);
    pipe.ReleaseEventID<FREE>(s.free);
}

/* The pipe that fills takes the slot and sends it; the other one receives it and gives it back. */
template <HardEvent FULL, HardEvent FREE> AICORE_INLINE void take(const Slot<FULL, FREE> &s) {
    WaitFlag<FREE>(s.free);
}

template <HardEvent FULL, HardEvent FREE> AICORE_INLINE void send(const Slot<FULL, FREE> &s) {
    SetFlag<FULL>(s.full);
}

template <HardEvent FULL, HardEvent FREE> AICORE_INLINE void receive(const Slot<FULL, FREE> &s) {
    WaitFlag<FULL>(s.full);
}

template <HardEvent FULL, HardEvent FREE> AICORE_INLINE void give_back(const Slot<FULL, FREE> &s) {
    SetFlag<FREE>(s.free);
}

} // namespace rows

#endif
