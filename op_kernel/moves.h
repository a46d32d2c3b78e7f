/* SPDX-License-Identifier: Apache-2.0
 *
 * Words of all kernels but those of the first 910: copies between memory and the UB, of runs of
 * elements with gaps between them. Runs begin at 32-byte blocks in the UB, anywhere in memory.
 */
#ifndef MOVES_H
#define MOVES_H

#include "rows.h"

namespace rows {

using namespace AscendC;

/* `count` runs of `length` elements, `gap` elements from the end of one to the next in memory. In
 * the UB `fill` zeros follow each run, up to the end of a block, and `skip` blocks that nothing
 * writes. */
struct Runs {
    uint32_t count, length, gap, fill, skip;
};

template <typename T>
AICORE_INLINE void copy_in(const LocalTensor<T> &to, const GlobalTensor<T> &from, const Runs &r) {
    DataCopyExtParams sizes(Narrow16(r.count), Narrow32(r.length * sizeof(T)),
                            Narrow32(r.gap * sizeof(T)), Narrow32(r.skip), 0);
    DataCopyPadExtParams<T> zeros;
    zeros.isPad = r.fill != 0;
    zeros.rightPadding = Narrow8(r.fill);
    DataCopyPad(to, from, sizes, zeros);
}

template <typename T>
AICORE_INLINE void copy_out(const GlobalTensor<T> &to, const LocalTensor<T> &from, const Runs &r) {
    DataCopyExtParams sizes(Narrow16(r.count), Narrow32(r.length * sizeof(T)), Narrow32(r.skip),
                            Narrow32(r.gap * sizeof(T)), 0);
    DataCopyPad(to, from, sizes);
}

/* `rows` rows of `columns` elements that lie one behind the other in memory; in the UB each begins
 * at a block, and zeros follow it. */
template <typename T>
AICORE_INLINE void copy_rows_in(const LocalTensor<T> &to, const GlobalTensor<T> &from,
                                uint32_t rows, uint32_t columns) {
    constexpr uint32_t block = 32 / sizeof(T);
    if (columns % block == 0) {
        DataCopy(to, from, rows * columns);
    } else {
        copy_in(to, from, {rows, columns, 0, block - columns % block, 0});
    }
}

template <typename T>
AICORE_INLINE void copy_rows_out(const GlobalTensor<T> &to, const LocalTensor<T> &from,
                                 uint32_t rows, uint32_t columns) {
    if (columns % (32 / sizeof(T)) == 0) {
        DataCopy(to, from, rows * columns);
    } else {
        copy_out(to, from, {rows, columns, 0, 0, 0});
    }
}

} // namespace rows

#endif
