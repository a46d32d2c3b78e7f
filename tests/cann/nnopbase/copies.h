/* SPDX-License-Identifier: Apache-2.0
 *
 * The executor of aclnnContiguous: libopapi_math.so makes it, libnnopbase.so reads where the copies
 * will be.
 */
#ifndef ASCGRAD_STANDIN_COPIES_H
#define ASCGRAD_STANDIN_COPIES_H

#include "../standin.h"

#define STANDIN_COPIES 0x5e1f5e1f00000001ull

/* The executor of aclnnInplaceCopy. */
#define STANDIN_FILL 0x5e1f5e1f0000000full
struct standin_fill {
    uint64_t magic;
    aclTensor to, from;
};

struct standin_copies {
    uint64_t magic;
    bool repeatable;
    uint64_t count, size;
    aclTensor tensor[STANDIN_ARGS];
    uint64_t offset[STANDIN_ARGS];
};

#endif
