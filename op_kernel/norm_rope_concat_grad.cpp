/* SPDX-License-Identifier: Apache-2.0
 *
 * NormRopeConcatGrad: 21 inputs, 14 outputs, see norm_rope_concat_grad.h for the formula.
 * Key 0: no weights, every core for itself. Key 1: dgamma and dbeta, with one SyncAll before the
 * last sums.
 */
#include "kernel_operator.h"
#include "norm_rope_concat_grad_sums.h"

namespace norm_rope_concat {

/* The chunk that p.chunk names, and its first step; false beyond the last chunk. */
__aicore__ inline bool find_chunk(const Tiling &t, Step &p) {
    if (p.chunk >= t.chunks) return false;
    for (uint32_t i = 0; i < NRC_NORMED; i++) {
        if (!t.stream[i].copy && t.stream[i].lines && t.stream[i].first <= p.chunk) p.stream = i;
    }
    const NrcStreamTiling &s = t.stream[p.stream];
    p.begin = (p.chunk - s.first) * t.chunk_lines;
    p.end = p.begin + t.chunk_lines < s.lines ? p.begin + t.chunk_lines : s.lines;
    p.block = p.slot = 0;
    p.sums = s.norm != 0;
    p.finish = t.blocks == 1 || !p.sums;
    p.range.line = p.begin;
    return true;
}

/* Fills in what follows from chunk, block and line. */
__aicore__ inline void settle(const Tiling &t, Step &p) {
    const NrcStreamTiling &s = t.stream[p.stream];
    p.range = range_of(t, s, p.range.line, least64(t.tile_lines, p.end - p.range.line));
    p.first = p.range.line == p.begin;
    p.last = p.range.line + p.range.lines == p.end;
    p.gamma = s.weighted && (p.first || !p.finish);
}

/* Tiles of a chunk in order; with column blocks: sums tile by tile, then dx block by block. */
__aicore__ inline bool advance(const Tiling &t, Step &p) {
    bool found = true;
    if (!p.finish && p.block + 1 < t.blocks) {
        p.block++;
    } else if (!p.last) {
        p.range.line += p.range.lines;
        p.slot += t.blocks > 1;
        p.block = p.finish ? p.block : 0;
    } else if (!p.finish || p.block + 1 < t.blocks) {
        p.block = p.finish ? p.block + 1 : 0;
        p.finish = true;
        p.sums = false;
        p.range.line = p.begin;
        p.slot = 0;
    } else {
        p.chunk += GetBlockNum();
        found = find_chunk(t, p);
    }
    if (found) settle(t, p);
    return found;
}

/* Jobs of this core; see tiling. */
__aicore__ inline Copies my_jobs(const Tiling &t) {
    int64_t core = GetBlockIdx(), busy = t.busy_cores;
    int64_t each = core < busy ? t.jobs_busy : t.jobs_free;
    Copies p;
    p.job = core < busy ? core * each : busy * t.jobs_busy + (core - busy) * each;
    p.end = p.job + each < t.jobs ? p.job + each : t.jobs;
    find_job(t, p);
    return p;
}

/* Buffers that copy, per buffer that computes, as a fraction: copies keep pace with the tiles,
 * so that their data moves while the vector unit is busy. */
struct Pace {
    int64_t copies, steps, copied, stepped;
};

__aicore__ inline Pace pace_of(const Tiling &t, const Copies &mine) {
    Pace p;
    int64_t chunks = (t.chunks - GetBlockIdx() + GetBlockNum() - 1) / GetBlockNum();
    int64_t tiles = (t.chunk_lines + t.tile_lines - 1) / t.tile_lines;
    int64_t lines = (t.job_lines + t.copy_lines - 1) / t.copy_lines;
    p.copies = (mine.end - mine.job) * lines * ((t.dim + t.copy_columns - 1) / t.copy_columns);
    p.steps = chunks * tiles * (t.blocks > 1 ? 2 * t.blocks : 1);
    p.copied = p.stepped = 0;
    return p;
}

template <typename T> __aicore__ inline void do_steps(Core<T> &c) {
    const Tiling &t = *c.t;
    Copies copies = my_jobs(t);
    Pace pace = pace_of(t, copies);
    Step now;
    now.chunk = GetBlockIdx();
    now.stream = 0;
    bool more = find_chunk(t, now);
    if (more) {
        settle(t, now);
        load(c, now);
    }
    while (more) {
        LocalTensor<T> in = c.in.template DeQue<T>();
        Step next = now;
        more = advance(t, next);
        if (more) load(c, next);
        compute(c, in, now);
        if (t.stream[now.stream].weighted && now.finish && now.last) flush_sums(c, now);
        pace.stepped++;
        for (; pace.copied * pace.steps < pace.copies * pace.stepped; pace.copied++) {
            if (!copy_next(c, copies)) break;
        }
        now = next;
    }
    while (copy_next(c, copies)) {
    }
}

template <typename T, bool weights> __aicore__ inline void run(const Tiling &t, const Args &args) {
    TPipe pipe;
    Core<T> c;
    c.t = &t;
    c.args = &args;
    if (t.dim == 0) return;
    pipe.InitBuffer(c.in, 2, t.in_bytes);
    pipe.InitBuffer(c.out, 1, t.out_bytes);
    pipe.InitBuffer(c.copy, 2, t.copy_bytes);
    if constexpr (weights) pipe.InitBuffer(c.flush, 1, t.flush_bytes);
    pipe.InitBuffer(c.calc, t.calc_bytes);
    Duplicate(work_at(c, t.at_part), 0.0f, static_cast<int32_t>(t.zero_bytes / sizeof(float)));
    if constexpr (sizeof(T) == 4) {
        if (t.swap_entries) {
            make_swap_table(work_at(c, t.at_swap).template ReinterpretCast<int32_t>(),
                            t.swap_entries);
        }
    }
    do_steps(c);
    if constexpr (weights) {
        SyncAll();
        add_partials(c);
    }
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
    if (TILING_KEY_IS(0)) {
        norm_rope_concat::run<DTYPE_QUERY, false>(t, args);
    } else if (TILING_KEY_IS(1)) {
        args.workspace = AscendC::GetUserWorkspace(workspace);
        norm_rope_concat::run<DTYPE_QUERY, true>(t, args);
    }
}
