/* SPDX-License-Identifier: Apache-2.0
 *
 * The constants of the cycle model. Start-up and slope of each vector call are in prims.h, reduce
 * and lane-crossing calls in check_vector.c and check_shuffle.c. tests/twin/measured.h holds the
 * model against everything that was measured in public. Sources:
 * [M] measured figures printed in the samples of asc-devkit
 * [V] profiles of a 910B3 in vTriton (shane-kshongmo/vTriton)
 * [K] MindStudio mskpp performance tables
 * [P] cost model of pto-isa
 * [D] asc-devkit documentation, 9.1
 * [F] fitted here to [M] or [V] figures
 * [?] estimate
 */
#ifndef TWIN_CYCLE_CONSTANTS_H
#define TWIN_CYCLE_CONSTANTS_H

/* Vector pipe. */
#define TWIN_V_DRAIN       19.0 /* [M] 1000 dependent Adds: 88 cycles = 19 + 6 + 64 */
#define TWIN_V_ISSUE_FLOOR 3.0  /* [K] back to back */
#define TWIN_MODE_CYCLES   1.0  /* [K] a mask or mode call; a count form makes four */
#define TWIN_MODE_DRAIN    16.0 /* [V] V empties where count mode begins or ends: Add of 256 fp16 */
#define TWIN_READ_READ     2.0  /* [M] 154 cycles: two sources in one bank group */
#define TWIN_READ_WRITE    1.8  /* [M] 75 ns = 139 cycles: destination in a bank being read */
#define TWIN_VF_START      30.0 /* [M] the 950: a call is a loop of the register unit, 36 cycles */
#define TWIN_VF_TWO        2.0  /* [M][P] and two sources take 2 per repeat: Add of 32 and 170 */
#define TWIN_BANK_GROUPS   16   /* [D] group = address / 32 mod 16 */
#define TWIN_BANK_THIRD    65536 /* [D] 48 banks of 4 KB: three per group, 64 KB apart */

/* Data movement: issue, then bytes / rate; the first 128 bytes flow during the issue. Which rows of
 * tests/twin/measured.h each constant comes from, or is held to; "alone": no other row confirms it;
 * "none": a published table that no row confirms.
 *   DMA_ISSUE_2201, DMA_COVERED: "loads of 128 B, 48 cores" alone
 *   DMA_ISSUE_3510: "950: loads of 128 B, 64 cores" alone
 *   DMA_LEAST: none
 *   DMA_UNALIGNED: "loads of 64 x 2046 B, 48 cores" alone
 *   LOAD_LATENCY_2201, STORE_LATENCY_2201: "z = x + y, 403 MB, one core, tiles of 8 KB" alone
 *   LOAD_LATENCY_3510, STORE_LATENCY_3510, LOAD_PEAK_3510, STORE_PEAK_3510: none
 *   LOAD_PEAK_2201: "the loads of it", "64 KB in and out at once, one core"
 *   STORE_PEAK_2201: "the stores of it", "TensorMove, 67 MB, in the L2"
 *   L2_LOAD_PEAK_2201: "loads of 1208 MB, 75 % in the L2",
 *     "copy of 100 MB by 24 programs, in the L2"
 *   L2_LOAD_PEAK_3510: "950: loads of 1208 MB, 67 % in the L2" alone
 *   HBM_STREAM_2201: "loads of 64 x 2 KB, 48 cores", "loads of 256 KB by every core",
 *     "loads of 1208 MB, none in the L2", "ZerosLike, 67 MB, in memory"
 *   HBM_MIXED_2201: "TensorMove, 134 MB, in memory", "TensorMove, 268 MB, in memory",
 *     "Cast fp32 to bf16, 201 MB", "the same, two buffers"
 *   HBM_STREAM_3510: "950: loads of 64 x 2 KB, 64 cores",
 *     "950: loads of 1208 MB, none in the L2", "950: z = x + y, two buffers"
 */
#define TWIN_DMA_ISSUE_2201     20.0  /* [M] */
#define TWIN_DMA_ISSUE_3510     40.0  /* [F] 128 B DMAs at 0.34 TB/s on 64 cores */
#define TWIN_DMA_COVERED        128.0 /* bytes */
#define TWIN_DMA_LEAST          128.0 /* [D] bytes charged per block */
#define TWIN_DMA_UNALIGNED      1.25  /* [M] rows of 2046 B: -22 % */
#define TWIN_LOAD_LATENCY_2201  215.0 /* [K] */
#define TWIN_STORE_LATENCY_2201 130.0 /* [K] */
#define TWIN_LOAD_LATENCY_3510  236.0 /* [K] */
#define TWIN_STORE_LATENCY_3510 303.0 /* [K] */
#define TWIN_LOAD_PEAK_2201     47.0 /* [K] bytes per cycle of one core; [V] 48.4, stores going on */
#define TWIN_STORE_PEAK_2201    66.0  /* [K]; [V] 67.5, loads going on */
#define TWIN_LOAD_PEAK_3510     57.0  /* [K] 94 GB/s at 1650 MHz */
#define TWIN_STORE_PEAK_3510    44.0  /* [K] 73 GB/s */
#define TWIN_L2_LOAD_PEAK_2201  113.0 /* [K] 190 GB/s, taken to be hits; [V] 72.8 with 40 cores */
#define TWIN_L2_LOAD_PEAK_3510  71.0  /* [F] 64 cores, two thirds hits */

/* What of the data sheet's figure a stream from memory reaches, and what is lost of that where as
 * much is written as read; in between by 4 x read share x written share. */
#define TWIN_HBM_STREAM_2201 0.95 /* [M][V] */
#define TWIN_HBM_MIXED_2201  0.15 /* [V] 1.29 TB/s */
#define TWIN_HBM_STREAM_3510 1.0  /* [M] 1.63 TB/s */

/* The scalar unit issues everything. Its work is in instructions of a 64-bit CPU: what stands
 * between the calls is counted by the kernel itself (count.awk), the calls are [C]: the Ascend
 * C 9.1 headers in device mode, clang -O3, one core single-stepped. So counted, the totals of the
 * 30 rows of docs/benchmarks.md are met with an rms of 9 %. */
#define TWIN_SCALAR_CYCLES      0.334 /* [F] per instruction: Add sample, 38.9 cycles per tile [M] */
#define TWIN_SCALAR_LOW         0.13  /* [V] four count-form unary calls in a chain: 16.2 cycles */
#define TWIN_SCALAR_HIGH        0.41  /* [V] a count-form binary call: 13.2 cycles */
#define TWIN_SCALAR_WORST       1.0 /* a core that starts one instruction per cycle, never fewer */
#define TWIN_QUEUE_DEPTH        32 /* [D] of MTE1 (matmul_basic_api_high_performance); all pipes [?] */
#define TWIN_SCALAR_OWN         1.0  /* [C] of the twin's build of a kernel */
#define TWIN_SCALAR_VECTOR      12.0 /* [C] a vector call, its masks not included */
#define TWIN_SCALAR_MASK        4.0  /* [C] a mask or mode call */
#define TWIN_SCALAR_COPY        16.0 /* [C] DataCopy */
#define TWIN_SCALAR_COPY_PAD    21.0 /* [C] DataCopyPad: 19 to 23 */
#define TWIN_SCALAR_FLAG        4.0  /* [C] SetFlag, WaitFlag */
#define TWIN_SCALAR_QUEUE       26.0 /* [C] AllocTensor, EnQue, DeQue, FreeTensor, beside the flag */
#define TWIN_SCALAR_BARRIER     2.0  /* [C] */
#define TWIN_SCALAR_SYNC_ALL    40.0 /* [?] */
#define TWIN_SCALAR_ELEMENT     32.0 /* [M] 34 cycles for two GetValue and a SetValue */
#define TWIN_SCALAR_INIT_BUFFER 30.0 /* [?] per buffer */

/* Cross-core. */
/* After the last core has arrived: 1 us on 910B1. [D] "1 to 2 us", a remark in a kernel of CANN's
 * own operator library (compressor_epilogue_kernel_c128.h, 2026); no measurement is public. */
#define TWIN_SYNC_ALL 1850.0

#endif
