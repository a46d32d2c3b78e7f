/* SPDX-License-Identifier: Apache-2.0
 *
 * For every rule of the checker a kernel that breaks exactly that rule, and the same kernel with
 * the line put right. AT marks the line the message must point to. The kernels are in broken_*.h.
 */
#include "standard.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "launch.h"

namespace checked {
#define TWIN_CHECKED 1
#include "kernel_operator.h"
using namespace AscendC;
#include "bench.h"
#include "../../op_kernel/rows.h"

#include "broken_core.h"
#include "broken_memory.h"
#include "broken_order.h"
#include "broken_queue.h"
#include "broken_parameters.h"
#include "broken_state.h"
#include "broken_gm.h"
#include "broken_in_place.h"
#include "broken_910.h"
#include "broken_nothing.h"

struct Case {
    const char *name;
    kernel_fn *kernel;
    /* NULL: no violation in either form; "warn:...": a warning in the broken form */
    const char *expect;
    uint32_t cores = 1;
    bool sync = false;
    const char *soc = "ascend910b1";
    bool in_place = false;
    uint64_t order = 0;
};

static const Case cases[] = {
    {"ub_overflow", ub_overflow, "UB overflow"},
    {"past_tensor", past_tensor, "needs 1028 bytes"},
    {"past_tensor_strided", past_tensor_strided, "needs 1280 bytes"},
    {"past_slice", past_slice, "its tensor has 512"},
    {"bad_index", bad_index, "element 256 of a tensor of 256"},
    {"misaligned", misaligned, "not 32-byte aligned"},
    {"misaligned_reduce", misaligned_reduce, "not 32-byte aligned"},
    {"no_buffer", no_buffer, "has no buffer"},
    {"count_rounds_down", count_rounds_down, "drop the last 20 bytes"},
    {"select_reserve", select_reserve, "last 8 KB of UB"},
    {"never_written", never_written, "nothing has written"},
    {"fresh_tensor", fresh_tensor, "nothing has written"},
    {"filler_stored", filler_stored, "stores undefined bytes"},
    {"filler_summed", filler_summed, "sums undefined bytes"},
    {"filler_compared", filler_compared, "undefined bytes"},
    {"undefined_index", undefined_index, "the offset tensor uses undefined bytes"},
    {"undefined_scalar", undefined_scalar, "reads undefined bytes"},
    {"bad_gather_offset", bad_gather_offset, "outside the source tensor"},
    {"vector_raw", vector_raw, "read after write: src0"},
    {"vector_war", vector_war, "write after read: dst"},
    {"vector_waw", vector_waw, "write after write: dst"},
    {"load_to_vector", load_to_vector, "SetFlag/WaitFlag<MTE2_V> is missing"},
    {"vector_to_store", vector_to_store, "SetFlag/WaitFlag<V_MTE3> is missing"},
    {"store_to_vector", store_to_vector, "write after"},
    {"vector_to_load", vector_to_load, "SetFlag/WaitFlag<V_MTE2> is missing"},
    {"load_to_load", load_to_load, "PipeBarrier<PIPE_MTE2> is missing"},
    {"load_to_store", load_to_store, "SetFlag/WaitFlag<MTE2_MTE3> is missing"},
    {"vector_to_scalar", vector_to_scalar, "SetFlag/WaitFlag<V_S> is missing"},
    {"scalar_to_vector", scalar_to_vector, "SetFlag/WaitFlag<S_V> is missing"},
    {"set_twice", set_twice, "set twice without a wait"},
    {"wait_unset", wait_unset, "which nobody has set"},
    {"left_set", left_set, "still set when the kernel ends"},
    {"bad_event_id", bad_event_id, "event id 8"},
    {"event_ids_run_out", event_ids_run_out, "all 8 event ids of MTE2_V"},
    {"release_unknown", release_unknown, "was not allocated"},
    {"not_freed", not_freed, "was never freed"},
    {"freed_twice", freed_twice, "already free"},
    {"used_after_free", used_after_free, "used after FreeTensor"},
    {"empty_queue", empty_queue, "empty VECIN queue"},
    {"wrong_queue", wrong_queue, "another queue"},
    {"too_deep", too_deep, "more than 1 tensors"},
    {"buffers_run_out", buffers_run_out, "all 2 buffers of the VECIN queue"},
    {"nine_live", nine_live, "9 tensors of position VECIN"},
    {"no_init", no_init, "never given to InitBuffer"},
    {"too_many_buffers", too_many_buffers, "a kernel may have 64"},
    {"second_pipe", second_pipe, "a second TPipe"},
    {"repeat_overflow", repeat_overflow, "is 260"},
    {"narrowed_repeat", narrowed_repeat, "is 260"},
    {"narrowed_length", narrowed_length, "is 65538"},
    {"no_repeat_950", no_repeat_950, "no repeat", 1, false, "ascend950"},
    {"no_count_950", no_count_950, "no repeat", 1, false, "ascend950"},
    {"no_block_950", no_block_950, "no repeat", 1, false, "ascend950"},
    {"stride_overflow", stride_overflow, "is 264"},
    {"mask_too_wide", mask_too_wide, "is 65"},
    {"negative_count", negative_count, "is -8"},
    {"copy_field_overflow", copy_field_overflow, "is 65538"},
    {"too_many_blocks", too_many_blocks, "blockCount 4096"},
    {"wide_padding", wide_padding, "each at most 32 bytes"},
    {"part_overlap", part_overlap, "overlap in part"},
    {"repeat_feeds_repeat", repeat_feeds_repeat, "one repeat feeds the next"},
    {"rounding_mode", rounding_mode, "rounding mode"},
    {"mask_in_counter_mode", mask_in_counter_mode, "counter mode"},
    {"gather_tail", gather_tail, "left 000000000000000000000000000000ff behind"},
    {"gather_whole", gather_whole, "left 0000000000000000ffffffffffffffff behind"},
    {"gather_lanes_950", gather_lanes_950, "for repeats of 64 lanes, and has repeats of 128", 1,
     false, "ascend950"},
    {"gather_too_long", gather_too_long, "256 repeats, which the library counts in 8 bits"},
    {"gather_far_950", gather_far_950, "counts the elements up to it in 16 bits", 1, false,
     "ascend950"},
    {"gather_mask_left", gather_mask_left, "left 00000000000000000000000000000040 behind"},
    {"gather_mask_left_950", gather_mask_left_950, "left 00000000000000005555555555555555 behind",
     1, false, "ascend950"},
    {"mask_left_behind", mask_left_behind, "nothing has written", 1, false, "ascend950"},
    {"half_the_lanes", half_the_lanes, "for repeats of 64 lanes, and has repeats of 128"},
    {"lanes_of_another_type", lanes_of_another_type, "SetVectorMask at broken_state.h"},
    {"full_mask_as_count", full_mask_as_count, "in counter mode, where it is a count"},
    {"brcb_in_counter_mode", brcb_in_counter_mode, "knows no counter mode"},
    {"mask_at_start_910", mask_at_start_910, "nothing has set since the kernel began", 1, false,
     "ascend910a"},
    {"count_tail_910", count_tail_910, "left 000000000000000000000000000000ff behind", 1, false,
     "ascend910a"},
    {"compare_part", compare_part, "whole repeats"},
    {"veccalc_dma", veccalc_dma, "VECCALC"},
    {"gm_read_past", gm_read_past, "bytes 65504..65540 of in, which has 65536"},
    {"gm_write_past", gm_write_past, "of out, which has 65536"},
    {"gm_strided_past", gm_strided_past, "of in, which has 65536"},
    {"gm_absent", gm_absent, "belongs to no argument"},
    {"input_written", input_written, "writes to the input in"},
    {"workspace_unwritten", workspace_unwritten, "of workspace, which nothing has written"},
    {"own_write_read", own_write_read, "before its own write"},
    {"own_write_write", own_write_write, "twice without PipeBarrier<PIPE_MTE3>"},
    {"cores_overlap", cores_overlap, "is also written by another core", 2},
    {"shared_block", shared_block, "writes into the same 32 bytes", 2},
    {"read_before_sync", read_before_sync, "nothing has written", 2, true},
    {"write_under_reader", write_under_reader, "which another core reads without a SyncAll", 2,
     true},
    {"add_to_nothing", add_to_nothing, "which nothing has set"},
    {"cache_not_cleaned", cache_not_cleaned, "DataCacheCleanAndInvalid"},
    {"sync_under_aiv_only", sync_under_aiv_only, "KERNEL_TYPE_MIX_AIV_1_0", 2, true},
    {"sync_skipped", sync_skipped, "the chip hangs", 3, true},
    {"tiling_size", tiling_size, "tiling wrote 8"},
    {"pad_910", pad_910, "does not have DataCopyPad", 1, false, "ascend910a"},
    {"rounding_910", rounding_910, "but CAST_NONE and CAST_ODD", 1, false, "ascend910a"},
    {"bf16_910", bf16_910, "does not have BF16_F32", 1, false, "ascend910a"},
    {"block_sum_910", block_sum_910, "sums of blocks or pairs in fp32", 1, false, "ascend910a"},
    {"whole_max_910", whole_max_910, "smallest of a repeat in fp32", 1, false, "ascend910a"},
    {"brcb_910", brcb_910, "does not have this call", 1, false, "ascend910a"},
    {"gather_910", gather_910, "does not have this call", 1, false, "ascend910a"},
    {"place_of_other", place_of_other,
     "lost: DataCopy at broken_in_place.h:9 reads byte 255 of in, "
     "which core 0 has overwritten by out",
     2, false, "ascend910b1", true},
    {"place_of_later", place_of_later, "which core 1 has overwritten by out", 2, false,
     "ascend910b1", true, UINT64_MAX},
    {"place_of_own", place_of_own, "which core 0 has overwritten by out", 1, false, "ascend910b1",
     true},
    {"place_read_by_scalar", place_read_by_scalar,
     "reads byte 0 of in, which core 0 has overwritten by out", 1, false, "ascend910b1", true},
    {"place_under_way", place_under_way, "its own read of the input in this memory may still be", 1,
     false, "ascend910b1", true},
    {"place_unused", place_unused, nullptr, 1, false, "ascend910b1", true},
    {"copy_910", copy_910, "does not have COPY_B32", 1, false, "ascend910a"},
    {"maxs_910", maxs_910, "does not have MAXS_F32", 1, false, "ascend910a"},
    {"shift_910", shift_910, "does not have SHL_B32", 1, false, "ascend910a"},
    {"axpy_910", axpy_910, "a right Axpy of 510 repeats", 1, false, "ascend910a"},
    {"select_910", select_910, "a Select but VSEL_CMPMASK_SPR", 1, false, "ascend910a"},
    {"transpose_910", transpose_910, "transpositions of 32 bits", 1, false, "ascend910a"},
    {"atomic_910", atomic_910, "atomic additions but of fp32", 1, false, "ascend910a"},
    {"event_id_910", event_id_910, "event id 4, ids are 0..3", 1, false, "ascend910a"},
    {"event_ids_910", event_ids_910, "all 4 event ids of V_MTE2", 1, false, "ascend910a"},
    {"sync_910", sync_910, "a SyncAll in hardware", 2, true, "ascend910a"},
    {"unread_load", unread_load, "warn:never read"},
    {"float_atomics", float_atomics, "warn:their order decides the bits", 4, true},
    {"strided_halves", strided_halves, nullptr},
    {"in_place", in_place, nullptr},
    {"masks_kept", masks_kept, nullptr},
    {"masks_kept_950", masks_kept, nullptr, 1, false, "ascend950"},
    {"v_to_v_950", v_to_v_950, nullptr, 1, false, "ascend950"},
    {"double_buffer", double_buffer, nullptr, 1},
    {"pipe_reset", pipe_reset, nullptr},
};

/* The kernels whose next step might depend on data. */
#define READING                                                                                    \
    " undefined_scalar vector_to_scalar gather_mask_left gather_mask_left_950 "                    \
    "place_read_by_scalar"

static int failures;

static void complain(const Case &c, const char *form, const char *what, const char *why) {
    printf("FAIL %s (%s): %s: %s\n", c.name, form, what, why);
    failures++;
}

static void check_broken(const Case &c, Launch l, twin_report *report) {
    char why[TWIN_WHY];
    l.fixed = false;
    fault_line = 0;
    int code = bench_run(c.kernel, l, report, why);
    bool warns = !strncmp(c.expect, "warn:", 5);
    const char *text = warns ? report->warning[0] : why;
    if (code != (warns ? TWIN_OK : TWIN_VIOLATION) ||
        !strstr(text, warns ? c.expect + 5 : c.expect))
        return complain(c, "broken", "expected",
                        (std::string(c.expect) + " / got: " + text).c_str());
    std::string place = ".h:" + std::to_string(fault_line) + ":";
    if (!warns && fault_line && !strstr(text, place.c_str()))
        complain(c, "broken", place.c_str(), text);
    if (getenv("VERBOSE")) printf("%s\n", text);
}

static void check_fixed(const Case &c, const Launch &l, twin_report *report) {
    char why[TWIN_WHY];
    int code = bench_run(c.kernel, l, report, why);
    if (code != TWIN_OK) complain(c, "fixed", "violation", why);
    if (code == TWIN_OK && report->warnings) complain(c, "fixed", "warning", report->warning[0]);
}

/* Without data, behind the same run with it: the same times, unless the kernel reads a value, which
 * some here do and no other may. Returns whether it does. */
static bool check_steps(const Case &c, Launch l, const twin_report *whole) {
    static twin_report report;
    char why[TWIN_WHY];
    l.steps_only = true;
    l.in = l.out = nullptr;
    int code = bench_run(c.kernel, l, &report, why);
    if (code == TWIN_VIOLATION && strstr(why, "reads a value")) return true;
    if (code != TWIN_OK) complain(c, "steps only", "violation", why);
    if (code == TWIN_OK && (report.cycles != whole->cycles || report.gm_read != whole->gm_read ||
                            report.cycles_l2 != whole->cycles_l2))
        complain(c, "steps only", "other times than with data", "");
    return false;
}

static int run(const char *only) {
    static twin_report report;
    int done = 0;
    std::string reading;
    uint32_t *in = static_cast<uint32_t *>(calloc(1, 65536)),
             *out = static_cast<uint32_t *>(calloc(1, 65536));
    for (const Case &c : cases) {
        if (only && strcmp(only, c.name)) continue;
        Launch l;
        l.cores = c.cores;
        l.sync_all = c.sync;
        l.soc = c.soc;
        l.in_place = c.in_place;
        l.order = c.order;
        l.in = in;
        l.out = out;
        int before = failures;
        if (c.expect) check_broken(c, l, &report);
        check_fixed(c, l, &report);
        if (check_steps(c, l, &report)) reading += std::string(" ") + c.name;
        if (c.cores > 1) { /* again with the cores in another order */
            l.order = 7;
            check_fixed(c, l, &report);
        }
        done += failures == before;
    }
    free(in);
    free(out);
    if (!only && reading != READING) {
        printf("FAIL these read values:%s\n", reading.c_str());
        failures++;
    }
    printf("%d passed, %d failed\n", done, failures);
    return failures != 0;
}
} // namespace checked

int main(int argc, char **argv) {
    return checked::run(argc > 1 ? argv[1] : nullptr);
}
