/* SPDX-License-Identifier: Apache-2.0
 *
 * What a kernel of the counting build calls at the start of each basic block: so many instructions
 * of its own follow (count.awk).
 */
#include "core.h"

#define COUNT(n)                                                                                   \
    void twin_count_##n(void);                                                                     \
    void twin_count_##n(void) {                                                                    \
        if (twin_core) twin_core->own += n;                                                        \
    }
#define COUNTS(t)                                                                                  \
    COUNT(t##0)                                                                                    \
    COUNT(t##1)                                                                                    \
    COUNT(t##2) COUNT(t##3) COUNT(t##4) COUNT(t##5) COUNT(t##6) COUNT(t##7) COUNT(t##8) COUNT(t##9)

COUNT(1)
COUNT(2)
COUNT(3)
COUNT(4)
COUNT(5)
COUNT(6)
COUNT(7)
COUNT(8)
COUNT(9)
COUNTS(1)
COUNTS(2)
COUNTS(3)
COUNTS(4)
COUNTS(5)
COUNT(60)
COUNT(61)
COUNT(62)
COUNT(63)
COUNT(64)
