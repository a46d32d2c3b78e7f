/* SPDX-License-Identifier: Apache-2.0
 *
 * What chips were measured to do, in public, and how near the model claims to be. Every row is a
 * kernel of measured_kernels.h. Include after it.
 */
#ifndef TESTS_TWIN_MEASURED_H
#define TESTS_TWIN_MEASURED_H

/* Where the figures stand. Chips: the samples of asc-devkit say 48 vector cores at 1850 MHz, and 64
 * of a 950; vTriton and pto-isa a 910B3. */
enum Source {
    BANKS,    /* asc-devkit, sample of bank conflicts */
    COPIES,   /* asc-devkit, sample data_copy */
    SAMPLE,   /* asc-devkit, sample add_high_performance */
    FITS,     /* pto-isa, costmodel/a2a3: fits of one instruction, head + slope x repeats */
    FORMULAS, /* pto-isa, costmodel/a2a3: formula_params.csv */
    PEAKS,    /* vTriton, calibration/bench_output: msprof of micro-kernels, median of 45 runs */
    SWEEP,    /* vTriton, hbm_bw_sweep and stream_copy_eta_sweep: 118 us of host time taken off */
    MODEL,    /* vTriton, msprof of operators around a model; TensorMove, Cast: medians */
};
static const char *const source_names[] = {
    "asc-devkit, bank conflicts", "asc-devkit, data_copy",       "asc-devkit, add_high_performance",
    "pto-isa, instruction fits",  "pto-isa, formula_params.csv", "vTriton, micro-kernels",
    "vTriton, copy sweep",        "vTriton, operators"};

/* What of a run is compared. All but US are per unit of work of one core. */
enum Unit { CYCLES, V_BUSY, MTE2_BUSY, MTE3_BUSY, S_BUSY, TB_S, US, US_LAUNCHED };
static const char *const unit_names[] = {
    "cycles", "cycles of V", "cycles of MTE2", "cycles of MTE3", "cycles of S", "TB/s", "us", "us"};

/* Where the data lie: in memory; in the L2; loads in memory, and stores that stay in the L2; the
 * same kernel has gone over the same data again and again, and twin_again says what is left. */
enum Where { COLD, NEAR, STAYS, AGAIN };

struct Row {
    const char *what;
    Source source;
    kernel_fn *kernel;
    const char *soc;
    uint32_t cores;
    double measured, before; /* on a chip; by the model of 2.0.0 */
    Unit unit;
    double work;        /* calls, DMAs, bytes of one core; US: bytes of all, a part is scaled up */
    double claimed;     /* per cent; more than 25 needs a reason */
    Where where = COLD; /* the data */
    double hits = 0;    /* a share of the time with data in the L2, the rest with data in memory */
    const char *why = nullptr; /* it is not nearer */
};

#define B1 "ascend910b1"
#define B3 "ascend910b3"
#define A5 "ascend950"

static const char *const scalar_range =
    "a scalar instruction takes 0.13 to 0.41 cycles, by what stands around it: time_us has a band";
static const char *const little_more = "1.4 times the L2, again and again: half of it stays if "
                                       "lines are driven out at random, nothing if "
                                       "in order (261 us); the chip is in between";

static const Row rows[] = {
    /* vector calls */
    {"Add of 4096 floats", BANKS, adds<32768 + 256, 131072>, B1, 1, 88, 89.9, CYCLES, CALLS, 10},
    {"the same, sources in one bank group", BANKS, adds<32768, 131072>, B1, 1, 154, 154, CYCLES,
     CALLS, 10},
    {"the same, destination in a bank being read", BANKS, adds<16384 + 256, 49152 + 64>, B1, 1, 139,
     141, CYCLES, CALLS, 10},
    {"Add, 64 repeats", FITS, one_instruction<ADD>, B3, 1, 2.11 * 64 + 24, 154, CYCLES, CALLS, 10},
    {"Sub, 64 repeats", FITS, one_instruction<SUB>, B3, 1, 2.11 * 64 + 24, 154, CYCLES, CALLS, 10},
    {"Mul, 64 repeats", FITS, one_instruction<MUL>, B3, 1, 2.3 * 64 + 25, 155, CYCLES, CALLS, 15},
    {"Max, 64 repeats", FITS, one_instruction<MAX>, B3, 1, 2.01 * 64 + 23, 154, CYCLES, CALLS, 10},
    {"Div, 64 repeats", FITS, one_instruction<DIV>, B3, 1, 4.03 * 64 + 31, 289, CYCLES, CALLS, 10},
    {"And, 64 repeats", FITS, one_instruction<AND>, B3, 1, 2.03 * 64 + 20, 150, CYCLES, CALLS, 10},
    {"Or, 64 repeats", FITS, one_instruction<OR>, B3, 1, 2.03 * 64 + 20, 150, CYCLES, CALLS, 10},
    {"Muls, 64 repeats", FITS, one_instruction<MULS>, B3, 1, 64 + 26, 90.9, CYCLES, CALLS, 10},
    {"Adds, 64 repeats", FORMULAS, one_instruction<ADDS>, B3, 1, 64 + 25, 89.9, CYCLES, CALLS, 10},
    {"Maxs, 64 repeats", FITS, one_instruction<MAXS>, B3, 1, 64 + 23, 89.9, CYCLES, CALLS, 10},
    {"Exp, 64 repeats", FITS, one_instruction<EXP>, B3, 1, 2 * 64 + 31, 161, CYCLES, CALLS, 10},
    {"Ln, 64 repeats", FITS, one_instruction<LN>, B3, 1, 2 * 64 + 33, 162, CYCLES, CALLS, 10},
    {"Sqrt, 64 repeats", FORMULAS, one_instruction<SQRT>, B3, 1, 2.01 * 64 + 31.1, 161, CYCLES,
     CALLS, 10},
    {"Rsqrt, 64 repeats", FITS, one_instruction<RSQRT>, B3, 1, 1.07 * 64 + 24, 88.9, CYCLES, CALLS,
     10},
    {"Relu, 64 repeats", FITS, one_instruction<RELU>, B3, 1, 64 + 23, 88.9, CYCLES, CALLS, 10},
    {"Add of 256 fp16, count form", PEAKS, count_form<ADD>, B3, 1, 30.25, 14.4, CYCLES, CALLS, 10},
    {"Mul of 256 fp16, count form", PEAKS, count_form<MUL>, B3, 1, 31.27, 15.4, CYCLES, CALLS, 10},
    {"Max of 256 fp16, count form", PEAKS, count_form<MAX>, B3, 1, 28.25, 14.4, CYCLES, CALLS, 10},
    {"Min of 256 fp16, count form", PEAKS, count_form<MIN>, B3, 1, 28.28, 14.4, CYCLES, CALLS, 10},
    {"Exp, Ln, Sqrt, Rsqrt of 256 fp16, count form", PEAKS, count_form<EXP>, B3, 1, 138.3, 88.5,
     CYCLES, CALLS / 4., 10},
    {"V's time of that Add", PEAKS, count_form<ADD>, B3, 1, 26.0, 10.0, V_BUSY, CALLS, 10},
    {"V's time of those four", PEAKS, count_form<EXP>, B3, 1, 122.0, 71.1, V_BUSY, CALLS / 4., 10},
    {"V's time of Add, 4096 fp16, one bank group", SAMPLE, tile_adds<4096, 8192>, B1, 1, 86.1, 70.3,
     V_BUSY, CALLS, 10},
    {"the same, 16384 fp16", SAMPLE, tile_adds<16384, 32768>, B1, 1, 278.5, 263, V_BUSY, CALLS, 10},
    {"the same, 16256 fp16, two bank groups", SAMPLE, tile_adds<16256, 32512>, B1, 1, 149.6, 134,
     V_BUSY, CALLS, 10},
    {"950: V's time of Add, 4096 fp16", SAMPLE, tile_adds<4096, 8192>, A5, 1, 99.7, 38.3, V_BUSY,
     CALLS, 10},
    {"950: the same, 21760 fp16", SAMPLE, tile_adds<21760, 43520>, A5, 1, 376, 178, V_BUSY, CALLS,
     10},
    /* the scalar unit */
    {"scalar time of the Add sample, one tile", SAMPLE, plain_add<PLAIN_TILE>, B1, 48, 38.9, 39.9,
     S_BUSY, PLAIN_TILES, 10},
    {"scalar time of a count-form Add", PEAKS, count_form<ADD>, B3, 1, 13.2, 10.9, S_BUSY, CALLS,
     30, COLD, 0, scalar_range},
    {"scalar time of the four count forms", PEAKS, count_form<EXP>, B3, 1, 16.2, 40.2, S_BUSY,
     CALLS / 4., 200, COLD, 0, scalar_range},
    {"scalar multiply and add, each on the last", PEAKS, scalar_chain, B3, 1, 6.0, 2.03, CYCLES,
     SPINS, 90, COLD, 0, "the latency of one instruction on the result of another is not modelled"},
    /* copies by size and direction */
    {"64 KB in and out at once, one core", PEAKS, both_ways, B3, 1, 1361, 1627, CYCLES, LOADS, 25},
    {"the loads of it", PEAKS, both_ways, B3, 1, 1354, 1412, MTE2_BUSY, LOADS, 10},
    {"the stores of it", PEAKS, both_ways, B3, 1, 971, 1011, MTE3_BUSY, LOADS, 10},
    {"loads of 128 B, 48 cores", COPIES, loads<4096, 1, 128, 1024>, B1, 48, 20.6, 20.2, CYCLES,
     4096, 10},
    {"loads of 64 x 128 B, 48 cores", COPIES, loads<64, 64, 128, 16>, B1, 48, 1.37, 1.51, TB_S,
     64. * 64 * 128, 10},
    {"loads of 64 x 2 KB, 48 cores", COPIES, loads<32, 64, 2048, 1>, B1, 48, 1.49, 1.55, TB_S,
     32. * 64 * 2048, 10},
    {"loads of 64 x 2046 B, 48 cores", COPIES, loads<32, 64, 2046, 1>, B1, 48, 1.17, 1.25, TB_S,
     32. * 64 * 2046, 10},
    {"loads of 1208 MB, none in the L2", COPIES, loads_ahead, B1, 48, 816, 759, US, 1208e6, 10},
    {"loads of 1208 MB, 75 % in the L2", COPIES, loads_ahead, B1, 48, 354.6, 759, US, 1208e6, 10,
     COLD, 0.75},
    {"loads of 256 KB by every core", PEAKS, loads_ahead, B3, 40, 1.55, 1.59, TB_S, 64. * LOADS *KB,
     10},
    {"950: loads of 128 B, 64 cores", COPIES, loads<4096, 1, 128, 1024>, A5, 64, 0.34, 0.34, TB_S,
     4096. * 128, 10},
    {"950: loads of 64 x 128 B, 64 cores", COPIES, loads<64, 64, 128, 16>, A5, 64, 1.466, 1.47,
     TB_S, 64. * 64 * 128, 10},
    {"950: loads of 64 x 2 KB, 64 cores", COPIES, loads<32, 64, 2048, 1>, A5, 64, 1.63, 1.55, TB_S,
     32. * 64 * 2048, 10},
    {"950: loads of 1208 MB, none in the L2", COPIES, loads_ahead, A5, 64, 740.8, 761, US, 1208e6,
     10},
    {"950: loads of 1208 MB, 67 % in the L2", COPIES, loads_ahead, A5, 64, 354.2, 761, US, 1208e6,
     20, COLD, 0.6664},
    /* streams */
    {"z = x + y, 403 MB, one core, tiles of 8 KB", SAMPLE, plain_add<PLAIN_TILE>, B1, 1, 6909, 6120,
     US, 403e6, 25},
    {"the same, 48 cores", SAMPLE, plain_add<PLAIN_TILE>, B1, 48, 297.1, 313, US, 403e6, 10, AGAIN},
    {"the same, tiles of 32 KB", SAMPLE, plain_add<PLAIN_TILE * 4>, B1, 48, 261.5, 277, US, 403e6,
     10, AGAIN},
    {"the same, two buffers", SAMPLE, stream_add, B1, 48, 264, 260, US_LAUNCHED, 403e6, 10, AGAIN},
    {"the same, x and y past the L2", SAMPLE, stream_add, B1, 48, 184.5, 260, US_LAUNCHED, 403e6,
     10, STAYS},
    {"950: z = x + y, two buffers", SAMPLE, stream_add, A5, 64, 247.7, 256, US_LAUNCHED, 403e6, 10,
     AGAIN},
    {"950: the same, x and y past the L2", SAMPLE, stream_add, A5, 64, 182, 256, US_LAUNCHED, 403e6,
     10, STAYS},
    {"TensorMove, 67 MB moved, in memory", MODEL, copy<96 * KB, 1, 768 * KB, 40>, B3, 40, 52.0,
     43.8, US, 67.1e6, 10},
    {"TensorMove, 134 MB, in memory", MODEL, copy<96 * KB, 1, 768 * KB, 40>, B3, 40, 104.4, 87.5,
     US, 134.2e6, 10},
    {"TensorMove, 268 MB, in memory", MODEL, copy<96 * KB, 1, 768 * KB, 40>, B3, 40, 206.4, 175, US,
     268.4e6, 10},
    {"TensorMove, 67 MB, in the L2", MODEL, copy<96 * KB, 1, 768 * KB, 40>, B3, 40, 15.0, 43.8, US,
     67.1e6, 10, NEAR},
    {"TensorMove, 34 MB, in the L2", MODEL, copy<96 * KB, 1, 768 * KB, 40>, B3, 40, 8.9, 21.9, US,
     33.6e6, 15, NEAR},
    {"Cast fp32 to bf16, 201 MB", MODEL, cast_stream<float, bfloat16_t>, B3, 40, 155.7, 129, US,
     201.3e6, 10},
    {"Cast fp32 to bf16, 403 MB", MODEL, cast_stream<float, bfloat16_t>, B3, 40, 340, 257, US,
     402.7e6, 15},
    {"Cast int64 to fp32, 101 MB, in the L2", MODEL, cast_stream<int64_t, float>, B3, 40, 22.2,
     63.7, US, 100.7e6, 15, NEAR},
    {"ZerosLike, 67 MB, in memory", MODEL, fill, B3, 40, 43.4, 42.6, US, 67.1e6, 10},
    {"ZerosLike, 134 MB, in the L2", MODEL, fill, B3, 40, 42.9, 85.1, US, 134.2e6, 50, NEAR, 0,
     "runs of 39 to 70 us: a part is written back to memory, and how much is not known"},
    {"copy of 100 MB by 24 programs, in the L2", SWEEP, copy<32 * KB, 2, 512 * KB, 24>, B3, 24,
     26.7, 64.0, US, 100.7e6, 15, NEAR},
    {"copy of 168 MB by 40 programs, in the L2", SWEEP, copy<32 * KB, 2, 512 * KB, 40>, B3, 40,
     30.7, 106, US, 167.8e6, 15, NEAR},
    {"copy of 268 MB by 64 programs on 40 cores", SWEEP, copy<32 * KB, 2, 512 * KB, 64>, B3, 40,
     187.2, 211, US, 268.4e6, 45, AGAIN, 0, little_more},
    {"copy of 201 MB by 48, packets of 8 KB, in the L2", SWEEP, copy<8 * KB, 2, 512 * KB, 48>, B3,
     40, 108.3, 214, US, 201.3e6, 25, AGAIN},
    {"the same, packets of 2 KB", SWEEP, copy<2 * KB, 2, 512 * KB, 48>, B3, 40, 324.5, 318, US,
     201.3e6, 25, AGAIN},
};

#endif
