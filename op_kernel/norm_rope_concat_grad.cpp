/* SPDX-License-Identifier: Apache-2.0
 *
 * NormRopeConcatGrad: 21 inputs, 14 outputs, see norm_rope_concat_grad.h for the formula.
 * Key 0: no weights, every core for itself. Key 1: dgamma and dbeta, with one SyncAll before the
 * last sums.
 */
#include "norm_rope_concat_grad_sums.h"

namespace norm_rope_concat {

/* The chunk that p.chunk names, and its first step; false beyond the last chunk. */
__aicore__ inline bool find_chunk(const Tiling &t, Step &p) {
    if (p.chunk >= t.chunks) return false;
    for (uint32_t i = 0; i < NRC_NORMED; i++) {
        if (!t.stream[i].copy && t.stream[i].lines && t.stream[i].first <= p.chunk) p.stream = i;
    }
    const NrcStreamTiling &s = t.stream[p.stream];
    p.begin = p.line = (p.chunk - s.first) * s.chunk_lines;
    p.end = p.begin + s.chunk_lines < s.lines ? p.begin + s.chunk_lines : s.lines;
    p.block = p.part = p.column = p.head = p.slot = 0;
    p.blocks = s.blocks;
    p.sums = s.norm != 0;
    p.finish = p.blocks == 1 || !p.sums;
    place(s, p.line, p.rect.at);
    return true;
}

/* Fills in what follows from chunk, block, line and its place. */
AICORE_INLINE void settle(const Tiling &t, Step &p) {
    const NrcStreamTiling &s = t.stream[p.stream];
    p.next = p.lines = least64(s.tile_lines, p.end - p.line);
    if (p.blocks > t.blocks) { /* heads of one token */
        p.lines = least64(s.across, s.heads - p.head);
        p.next = (uint32_t)s.heads;
    }
    start(t, s, p.lines, p.rect);
    p.first = p.line == p.begin;
    p.last = p.line + p.next == p.end;
    p.gamma = s.weighted && !s.across && (p.first || !p.finish);
}

/* With blocks: sums tile by tile, then dx block by block. False: the chunk is done. */
__aicore__ inline bool next_block(const Tiling &t, Step &p) {
    const NrcStreamTiling &s = t.stream[p.stream];
    if (!p.finish && p.block + 1 < p.blocks) {
        p.block++;
    } else if (!p.last) {
        p.line += p.next;
        p.slot++;
        p.block = p.finish ? p.block : 0;
    } else if (!p.finish || p.block + 1 < p.blocks) {
        p.block = p.finish ? p.block + 1 : 0;
        p.finish = true;
        p.sums = false;
        p.line = p.begin;
        p.slot = 0;
    } else {
        return false;
    }
    uint32_t part_of_heads = p.block / t.blocks;
    p.part = p.block - part_of_heads * t.blocks;
    p.column = p.part * (uint32_t)t.columns;
    p.head = part_of_heads * s.across;
    place(s, p.line + p.head, p.rect.at);
    return true;
}

/* Tiles of a chunk in order. The one behind a tile begins where load found its end. */
AICORE_INLINE bool advance(const Tiling &t, Step &p) {
    if (p.blocks == 1 && !p.last) {
        p.line += p.lines;
        p.rect.at = p.after;
    } else if (p.blocks == 1 || !next_block(t, p)) {
        p.chunk += GetBlockNum();
        if (!find_chunk(t, p)) return false;
    }
    settle(t, p);
    return true;
}

/* Jobs of this core: an even share of those of the busy cores, or of the others. */
__aicore__ inline Copies my_jobs(const Tiling &t) {
    int64_t core = GetBlockIdx(), cores = t.busy_cores, jobs = t.jobs_busy, first = 0;
    if (core >= cores) {
        core -= cores;
        cores = GetBlockNum() - cores;
        first = jobs;
        jobs = t.jobs - jobs;
    }
    Copies p;
    p.job = first + jobs * core / cores;
    p.end = first + jobs * (core + 1) / cores;
    find_job(t, p);
    return p;
}

/* Buffers that copy, per buffer that computes, as a fraction: copies keep pace with the tiles,
 * so that their data moves while the vector unit is busy. */
struct Pace {
    int64_t copies, steps, copied, due;
};

__aicore__ inline Pace pace_of(const Tiling &t, const Copies &mine) {
    Pace p;
    int64_t chunks = (t.chunks - GetBlockIdx() + GetBlockNum() - 1) / GetBlockNum();
    int64_t lines = (t.job_lines + t.copy_lines - 1) / t.copy_lines;
    p.copies = (mine.end - mine.job) * lines * ((t.dim + t.copy_columns - 1) / t.copy_columns);
    p.steps = chunks * t.steps;
    p.copied = p.due = 0;
    return p;
}

template <typename Y> __aicore__ inline void do_steps(Core<Y> &c) {
    const Tiling &t = *c.t;
    uint32_t slot = 0;
    Copies copies = my_jobs(t);
    Pace pace = pace_of(t, copies);
    Step next;
    next.chunk = GetBlockIdx();
    next.stream = 0;
    bool more = find_chunk(t, next);
    if (more) {
        settle(t, next);
        load(c, next, 0);
    }
    while (more) {
        receive(c.in_slot[slot]);
        const Step now = next;
        if (t.gamma_bytes && t.stream[now.stream].across && t.stream[now.stream].weighted) {
            fetch_gamma(c, now);
        }
        more = advance(t, next);
        if (more) load(c, next, slot ^ 1);
        compute(c, now, slot);
        slot ^= 1;
        if (now.last && now.finish && t.stream[now.stream].weighted) flush_sums(c, now);
        for (pace.due += pace.copies; pace.copied < pace.due; pace.copied += pace.steps) {
            if (!copy_next(c, copies)) break;
        }
    }
    while (copy_next(c, copies)) {
    }
}

/* Between rows of fp32 beside 16-bit data a block is not loaded: it is 0. */
template <typename Y> __aicore__ inline void open_gammas(Core<Y> &c, TPipe &pipe) {
    using W = typename Y::Weight;
    pipe.InitBuffer(c.gamma_buffer, c.t->gamma_bytes);
    c.gammas = c.gamma_buffer.template Get<W>()[NRC_PHASE / sizeof(W)];
    const LocalTensor<float> all = c.gamma_buffer.template Get<float>();
    ResetMask();
    Duplicate(all, 0.0f, (int32_t)(c.t->gamma_bytes / sizeof(float)));
    open_slot(pipe, c.gamma_slot);
}

template <typename Y> __aicore__ inline void open_slots(Core<Y> &c, TPipe &pipe) {
    using T = typename Y::Data;
    const Tiling &t = *c.t;
    pipe.InitBuffer(c.in_buffer, 2 * t.in_bytes);
    pipe.InitBuffer(c.copy_buffer, 2 * t.copy_bytes);
    pipe.InitBuffer(c.out_buffer, t.out_bytes);
    if (t.flush_bytes) {
        pipe.InitBuffer(c.sum_buffer, t.flush_bytes);
        c.sum = c.sum_buffer.template Get<float>();
    }
    c.gammas_of = NO_GAMMA;
    if (t.gamma_bytes) open_gammas(c, pipe);
    c.out = c.out_buffer.template Get<T>();
    c.next_copy = 0;
    open_slot(pipe, c.out_slot);
    open_slot(pipe, c.sum_slot);
    for (uint32_t i = 0; i < 2; i++) {
        c.in[i] = c.in_buffer.template Get<T>()[i * t.in_bytes / sizeof(T)];
        c.copy[i] = c.copy_buffer.template Get<T>()[i * t.copy_bytes / sizeof(T)];
        open_slot(pipe, c.in_slot[i]);
        open_slot(pipe, c.copy_slot[i]);
    }
}

template <typename Y> __aicore__ inline void close_slots(Core<Y> &c, TPipe &pipe) {
    close_slot(pipe, c.out_slot);
    close_slot(pipe, c.sum_slot);
    if (c.t->gamma_bytes) {
        if (c.gammas_of != NO_GAMMA) give_back(c.gamma_slot);
        close_slot(pipe, c.gamma_slot);
    }
    for (uint32_t i = 0; i < 2; i++) {
        close_slot(pipe, c.in_slot[i]);
        close_slot(pipe, c.copy_slot[i]);
    }
}

/* What follows from the shapes alone. */
template <typename Y> __aicore__ inline void prepare(Core<Y> &c, const Args &args) {
    using T = typename Y::Data;
    using W = typename Y::Weight;
    const Tiling &t = *c.t;
    c.args = &args;
    c.k[0] = columns_of<T>(t, false);
    c.k[1] = columns_of<T>(t, true);
    c.copied.width = least64(t.copy_columns, t.dim);
    c.copied.padded = c.copied.pitch = up(c.copied.width, 32 / sizeof(T));
    c.copied.blocks = c.copied.pitch * sizeof(T) / 32;
    c.copied.pieces = 1;
    c.copied.packed = c.copied.pitch == t.dim;
    for (uint32_t i = 0; i < NRC_STREAMS; i++) {
        open_stream(t, args, i, c.stream[i]);
    }
    for (uint32_t i = 0; i < NRC_NORMED; i++) {
        uint32_t weight = 7 + 3 * (i / 2) + 6 * (i % 2);
        c.gamma[i].SetGlobalBuffer((__gm__ W *)args.in[weight]);
    }
    c.sin.SetGlobalBuffer((__gm__ T *)args.in[19]);
    c.cos.SetGlobalBuffer((__gm__ T *)args.in[20]);
    c.wide_sin.SetGlobalBuffer((__gm__ float *)args.in[19]);
    c.wide_cos.SetGlobalBuffer((__gm__ float *)args.in[20]);
    Work &w = c.w;
    w.w0 = work_at(c, t.at_w0);
    w.w1 = work_at(c, t.at_w1);
    w.w2 = work_at(c, t.at_w2);
    w.sum = w.w2[OTHER_BANKS]; /* never in the banks of what they meet: w0, */
    w.dot = w.w2[4 * BLOCK];   /* w1 */
    w.cos = work_at(c, t.at_cos_wide);
    w.sin = work_at(c, t.at_sin_wide);
    w.gamma = work_at(c, t.at_gamma_wide);
    w.dbeta = work_at(c, t.at_dbeta);
    w.dgamma = work_at(c, t.at_dgamma);
    w.mean = work_at(c, t.at_mean_wide);
    w.rstd = work_at(c, t.at_rstd_wide);
    w.stat_wide = work_at(c, t.at_stat_wide);
    w.part = work_at(c, t.at_part);
    w.group = work_at(c, t.at_group);
    w.fold = work_at(c, t.at_fold);
    w.spare = work_at(c, t.at_fold + t.fold_bytes);
    w.stat = work_at(c, t.at_stat);
    if (t.swap_entries) w.swap = work_at(c, t.at_swap).template ReinterpretCast<int32_t>();
}

/* Tables and weights of fp32 beside 16-bit data are padded to 8 columns, not to the 16 that are
 * computed on: what lies between is 0, once for all. */
template <typename Y> __aicore__ inline void clear_tables(Core<Y> &c) {
    if constexpr (sizeof(typename Y::Data) == 2) {
        const Tiling &t = *c.t;
        if (!t.wide_tables && sizeof(typename Y::Weight) == 2) return;
        uint32_t bytes = t.at_gamma_wide - t.at_cos_wide + c.k[0].pitch * sizeof(float);
        Duplicate(c.w.cos, 0.0f, (int32_t)(bytes / sizeof(float)));
    }
}

template <typename Y, bool weights> __aicore__ inline void run(const Tiling &t, const Args &args) {
    TPipe pipe;
    Core<Y> c;
    if (t.dim == 0) return;
    c.t = &t;
    open_slots(c, pipe);
    pipe.InitBuffer(c.calc, t.calc_bytes);
    prepare(c, args);
    ResetMask();
    Duplicate(c.w.part, 0.0f, (int32_t)(t.zero_bytes / sizeof(float)));
    if (t.rope == 3) {
        constexpr uint32_t word = 4 / sizeof(typename Y::Data);
        uint32_t line = c.k[1].pitch / word;
        make_half_places(c.w.swap, t.swap_entries, line, line, c.k[1].half / word);
    } else if (t.swap_entries) {
        make_swap_table(c.w.swap, t.swap_entries);
        ResetMask();
    }
    clear_tables(c);
    do_steps(c);
    if constexpr (weights) {
        SyncAll();
        add_partials(c);
    }
    close_slots(c, pipe);
}

} // namespace norm_rope_concat

extern "C" __global__ __aicore__ void norm_rope_concat_grad(
    GM_ADDR grad_query_output, GM_ADDR grad_key_output, GM_ADDR grad_value_output, GM_ADDR query,
    GM_ADDR key, GM_ADDR encoder_query, GM_ADDR encoder_key, GM_ADDR norm_query_weight,
    GM_ADDR norm_query_mean, GM_ADDR norm_query_rstd, GM_ADDR norm_key_weight,
    GM_ADDR norm_key_mean, GM_ADDR norm_key_rstd, GM_ADDR norm_added_query_weight,
    GM_ADDR norm_added_query_mean, GM_ADDR norm_added_query_rstd, GM_ADDR norm_added_key_weight,
    GM_ADDR norm_added_key_mean, GM_ADDR norm_added_key_rstd, GM_ADDR rope_sin, GM_ADDR rope_cos,
    GM_ADDR grad_query, GM_ADDR grad_key, GM_ADDR grad_value, GM_ADDR grad_encoder_query,
    GM_ADDR grad_encoder_key, GM_ADDR grad_encoder_value, GM_ADDR grad_norm_query_weight,
    GM_ADDR grad_norm_query_bias, GM_ADDR grad_norm_key_weight, GM_ADDR grad_norm_key_bias,
    GM_ADDR grad_norm_added_query_weight, GM_ADDR grad_norm_added_query_bias,
    GM_ADDR grad_norm_added_key_weight, GM_ADDR grad_norm_added_key_bias, GM_ADDR workspace,
    GM_ADDR tiling) {
    REGISTER_TILING_DEFAULT(NormRopeConcatGradTilingData);
    GET_TILING_DATA(t, tiling);
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    KERNEL_TASK_TYPE(1, KERNEL_TYPE_MIX_AIV_1_0);
    norm_rope_concat::Args args = {{grad_query_output,
                                    grad_key_output,
                                    grad_value_output,
                                    query,
                                    key,
                                    encoder_query,
                                    encoder_key,
                                    norm_query_weight,
                                    norm_query_mean,
                                    norm_query_rstd,
                                    norm_key_weight,
                                    norm_key_mean,
                                    norm_key_rstd,
                                    norm_added_query_weight,
                                    norm_added_query_mean,
                                    norm_added_query_rstd,
                                    norm_added_key_weight,
                                    norm_added_key_mean,
                                    norm_added_key_rstd,
                                    rope_sin,
                                    rope_cos},
                                   {grad_query, grad_key, grad_value, grad_encoder_query,
                                    grad_encoder_key, grad_encoder_value, grad_norm_query_weight,
                                    grad_norm_query_bias, grad_norm_key_weight, grad_norm_key_bias,
                                    grad_norm_added_query_weight, grad_norm_added_query_bias,
                                    grad_norm_added_key_weight, grad_norm_added_key_bias},
                                   nullptr};
    using Y = norm_rope_concat::Types<DTYPE_QUERY, DTYPE_GRAD_NORM_QUERY_WEIGHT>;
    if (TILING_KEY_IS(0)) {
        norm_rope_concat::run<Y, false>(t, args);
    } else if (TILING_KEY_IS(1)) {
        args.workspace = AscendC::GetUserWorkspace(workspace);
        norm_rope_concat::run<Y, true>(t, args);
    }
}
