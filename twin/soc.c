/* SPDX-License-Identifier: Apache-2.0
 *
 * The chips the twin knows. Cores, clock and UB: CANN 8.1 platform files. HBM: 864 bytes per cycle
 * on 910B1 (48 cores x 18, the planning figure behind 1.6 TB/s at 1850 MHz), the others in
 * proportion to their bandwidth and clock. 350: the platform files of CANN 9 (cores, clock, UB; HBM
 * from their bytes per cycle and AI core, 27 and 31, which for the 950 are 31 and give its 1.6
 * TB/s). The first 910: 32 bytes per cycle and core in its platform file, as for A2 and the 950.
 * There is no 960DT: nothing about it is public. L2: bytes from the platform files of CANN 8.1 (the
 * 350: those of the 950, for want of better). Its rate is measured on A2 with 48 and with 40 cores,
 * 5.2 to 6 TB/s, and asc-devkit states 5.2 for A2, A3 and 950; slower chips in proportion to their
 * clock. Of the first 910 nothing is known: 110 bytes per cycle and core as its platform file has.
 */
#include "launch.h"

#include <string.h>

#define HBM_64GB 1598.4e9 /* bytes per second: 864 x 1850 MHz */
#define HBM_32GB 799.2e9
#define HBM_950  1600.0e9
#define HBM_910  1024.0e9 /* 32 bytes per cycle of 32 cores at 1000 MHz */

#define A2_UB  (196608 - 256)
#define UB_950 253952
#define UB_910 262144

#define MIB      (1024u * 1024u)
#define L2_RATE  5.2e12 /* of a chip at 1800 MHz and more */
#define L2_SLOW  (L2_RATE * 1500 / 1850)
#define L2_950   128 * MIB
#define L2_910   32 * MIB
#define RATE_910 110.0

#define A2(name, cores, mhz, hbm, l2, l2_rate)                                                     \
    {                                                                                              \
        name, ASCGRAD_ARCH_A2, cores, mhz, A2_UB, (hbm) / ((mhz)*1e6), 3.0, 0.05,                  \
            (l2_rate) / ((mhz)*1e6), (l2)*MIB                                                      \
    }
#define A1(name, cores, mhz)                                                                       \
    {                                                                                              \
        name, ASCGRAD_ARCH_910, cores, mhz, UB_910, HBM_910 / ((mhz)*1e6), 3.0, 0.05,              \
            RATE_910 *(cores), L2_910                                                              \
    }
#define A5(name, cores, hbm_per_cycle)                                                             \
    {                                                                                              \
        name, ASCGRAD_ARCH_950, cores, 1650, UB_950, hbm_per_cycle, 0.8, 0.0, L2_RATE / 1650e6,    \
            L2_950                                                                                 \
    }

/* The first one is the default. */
static const struct twin_soc table[] = {
    A2("ascend910b1", 48, 1850, HBM_64GB, 192, L2_RATE),
    A2("ascend910b2", 48, 1800, HBM_64GB, 192, L2_RATE),
    A2("ascend910b2c", 48, 1800, HBM_64GB, 192, L2_RATE),
    A2("ascend910b3", 40, 1800, HBM_64GB, 192, L2_RATE),
    A2("ascend910b4", 40, 1500, HBM_32GB, 96, L2_SLOW),
    A2("ascend910b4-1", 40, 1500, HBM_32GB, 168, L2_SLOW), /* bandwidth not confirmed */
    A2("ascend910_9391", 48, 1850, HBM_64GB, 192, L2_RATE),
    A2("ascend910_9392", 48, 1850, HBM_64GB, 192, L2_RATE),
    A2("ascend910_9381", 48, 1800, HBM_64GB, 192, L2_RATE),
    A2("ascend910_9382", 48, 1800, HBM_64GB, 192, L2_RATE),
    A2("ascend910_9372", 40, 1800, HBM_64GB, 192, L2_RATE),
    A2("ascend910_9362", 40, 1500, HBM_32GB, 168, L2_SLOW), /* bandwidth not confirmed */
    A5("ascend950", 64, HBM_950 / 1650e6),
    A5("ascend350_354f", 28, 14 * 27),
    A5("ascend350_355e", 32, 16 * 31),
    A1("ascend910a", 32, 1000),
    A1("ascend910proa", 32, 1100),
    A1("ascend910prob", 30, 1150),
    A1("ascend910premiuma", 32, 1220),
};

const struct twin_soc *twin_soc_at(size_t index) {
    return index < sizeof table / sizeof *table ? &table[index] : NULL;
}

const struct twin_soc *twin_find_soc(const char *name) {
    for (size_t i = 0; twin_soc_at(i); i++)
        if (!strcmp(table[i].name, name)) return &table[i];
    return NULL;
}
