/* SPDX-License-Identifier: Apache-2.0
 *
 * Seams of RotaryMulGrad and RotaryPositionEmbeddingGrad: rows of dx that follow each other in
 * memory, on different cores, with a 32-byte block in which the one ends and the other begins. Two
 * cores must not write into one block, so the block belongs to the core of the second row: the
 * first leaves out the end of its row, the second computes these few elements as well. Only plans
 * with t.ragged have seams; a row then is at least two blocks long.
 */
#ifndef ROTARY_GRAD_SEAM_H
#define ROTARY_GRAD_SEAM_H

#include "rotary_grad.h"

namespace rotary {

/* Where a row of dy is: its row of cos, and the piece of work that has it. */
struct Place {
    int64_t cos_row, item;
};

__aicore__ inline Place place_of(const RotaryGradTiling &t, int64_t row) {
    int64_t slab = row / t.slab_stride, rest = row - slab * t.slab_stride, outer = 0, cos_row,
            inner;
    if (t.cos_last) {
        inner = rest / t.inner_stride;
        cos_row = rest - inner * t.inner_stride;
    } else {
        outer = rest / t.outer_stride;
        rest -= outer * t.outer_stride;
        cos_row = rest / t.cos_stride;
        inner = rest - cos_row * t.cos_stride;
    }
    int64_t chunk = outer * t.chunks_inner + inner / t.chunk_rows;
    int64_t segment = ((chunk + 1) * t.segments + t.chunks - 1) / t.chunks - 1;
    Place place;
    place.cos_row = slab * t.cos_rows + cos_row;
    place.item = place.cos_row * t.strips / t.unit * t.segments + segment;
    return place;
}

/* Whether a row is another core's. */
template <typename T> __aicore__ inline bool is_foreign(const Kernel<T> &k, int64_t row) {
    const RotaryGradTiling &t = *k.t;
    if (row < 0 || row >= t.lines / t.strips / t.cos_rows * t.slab_stride) {
        return false;
    }
    int64_t item = place_of(t, row).item;
    return item < k.item || item >= k.end;
}

/* Elements of the row before `row` that share a block with it. */
template <typename T>
__aicore__ inline uint32_t shared_with(const RotaryGradTiling &t, int64_t row) {
    return (uint32_t)(row * t.row * (int64_t)sizeof(T) % 32) / sizeof(T);
}

/* Rows of dx to memory. Where another core has the row behind a run, that core writes the end of
 * the run. All runs but the last are alike. */
template <typename T, bool PAIRS>
__aicore__ inline void store_runs(Kernel<T> &k, const LocalTensor<T> &out, const Area &area,
                                  const Strip &s, uint32_t apart) {
    const RotaryGradTiling &t = *k.t;
    constexpr uint32_t block = 32 / sizeof(T);
    int64_t last = area.first + (area.runs - 1) * area.stride;
    bool ends = t.strips == 1 || s.column + s.width + block > t.row / (PAIRS ? 2 : 1) - t.half;
    bool cut = ends && area.runs > 1 && is_foreign(k, area.first + area.rows);
    bool cut_last = ends && is_foreign(k, last + area.rows);
    if (!cut && !cut_last) {
        move_rows<T, PAIRS, false>(out, k.dx, area, s, t, t.dy_row);
        return;
    }
    if (!t.flat && !PAIRS) {
        move_rows<T, PAIRS, false, FIRST_HALVES>(out, k.dx, area, s, t, t.dy_row);
    }
    for (uint32_t run = 0; run < area.runs; run++) {
        bool here = run + 1 < area.runs ? cut : cut_last;
        int64_t first = area.first + run * area.stride;
        uint32_t left_out = here ? shared_with<T>(t, first + area.rows) : 0;
        move_cut<T, PAIRS>(out[run * apart], k.dx, first, area.rows, left_out, s, t);
    }
}

/* Steps whose rows begin at the same place of a block: their ends have one size, and one row of
 * cos. */
struct Phase {
    /* the row that ends */
    int64_t row;
    uint32_t size, count;
    /* the first of its ends among all that are made at once */
    uint32_t at;
};

constexpr uint32_t PHASES = 16;

struct Seams {
    Phase phase[PHASES];
    uint32_t phases, ends;
    /* from end to end of a phase, in rows */
    int64_t stride;
};

/* What is fetched, each thing in blocks: dy of all ends, in halves first of the second half and
 * then of the first; then, a block for every phase, sin and cos. Planes need both halves of all. A
 * block has the elements of a 32-byte block of dy, in all types. */
template <int MODE> struct Fetched {
    static constexpr uint32_t dys = MODE == ROTARY_PAIRS ? 1 : 2,
                              others = MODE == ROTARY_PLANES ? 4 : 2;
    uint32_t ends, phases;
    __aicore__ inline uint32_t dy(uint32_t i) const { return i * ends; }
    __aicore__ inline uint32_t other(uint32_t i) const { return dys * ends + i * phases; }
    __aicore__ inline uint32_t all() const { return other(others); }
    /* sin and cos in their own type */
    template <typename T>
    __aicore__ inline LocalTensor<Table<T>> tables(const LocalTensor<T> &fetched) const {
        return fetched[other(0)].template ReinterpretCast<Table<T>>();
    }
};

/* How many ends can be made at once: what is fetched fits a tile. */
template <typename T> __aicore__ inline int64_t most_ends(uint32_t tile) {
    constexpr int64_t block = 32 / sizeof(T), wider = sizeof(Table<T>) / sizeof(T);
    int64_t most = tile / (2 * block) - 2 * wider * PHASES;
    constexpr int64_t few = 12; /* with a phase each these fit the smallest tile, too */
    return wider > 1 && most < few ? few : most;
}

template <typename T, int MODE>
__aicore__ inline void fetch_ends(Kernel<T> &k, const LocalTensor<T> &to, const Seams &seams) {
    const RotaryGradTiling &t = *k.t;
    constexpr uint32_t block = 32 / sizeof(T);
    Fetched<MODE> f = {seams.ends * block, seams.phases * block};
    LocalTensor<Table<T>> tables = f.tables(to);
    int64_t partner = MODE == ROTARY_PAIRS ? 0 : t.half;
    for (uint32_t i = 0; i < seams.phases; i++) {
        const Phase &p = seams.phase[i];
        uint32_t n = MODE == ROTARY_PLANES ? p.size / 2 : p.size, zeros = block - n, at = i * block;
        uint32_t table_zeros = up(n, 32 / sizeof(Table<T>)) - n;
        int64_t table_length = n * sizeof(Table<T>), length = n * sizeof(T),
                gap = seams.stride * t.row * sizeof(T) - length;
        int64_t dy = (p.row + 1) * t.row - n, cos = (place_of(t, p.row).cos_row + 1) * t.row - n;
        copy_in(to[f.dy(0) + p.at * block], k.dy[dy], p.count, length, gap, 0, zeros);
        if constexpr (MODE != ROTARY_PAIRS) {
            copy_in(to[f.dy(1) + p.at * block], k.dy[dy - partner], p.count, length, gap, 0, zeros);
        }
        copy_in(tables[at], k.sin[cos - partner], 1, table_length, 0, 0, table_zeros);
        copy_in(tables[f.phases + at], k.cos[cos], 1, table_length, 0, 0, table_zeros);
        if constexpr (MODE == ROTARY_PLANES) {
            copy_in(tables[2 * f.phases + at], k.sin[cos], 1, table_length, 0, 0, table_zeros);
            copy_in(tables[3 * f.phases + at], k.cos[cos - partner], 1, table_length, 0, 0,
                    table_zeros);
        }
    }
}

/* to = dy times sin or cos of its phase. */
template <typename T>
__aicore__ inline void multiply_ends(const LocalTensor<float> &to, const LocalTensor<float> &dy,
                                     const LocalTensor<float> &other, const Seams &seams) {
    constexpr uint32_t block = 32 / sizeof(T);
    for (uint32_t i = 0; i < seams.phases; i++) {
        const Phase &p = seams.phase[i];
        apply_rows<MUL>(to[p.at * block], block, other[i * block], 0, dy[p.at * block], block,
                        p.count, block);
    }
}

/* Blocks of a wide table of which a transfer fills the first half only: the second becomes 0. */
template <int MODE>
__aicore__ inline void clear_ends(const LocalTensor<float> &tables, const Seams &seams) {
    constexpr uint32_t others = Fetched<MODE>::others, block = 2 * BLOCK;
    for (uint32_t i = 0; i < others * seams.phases; i++) {
        uint32_t size = seams.phase[i % seams.phases].size;
        if ((MODE == ROTARY_PLANES ? size / 2 : size) <= BLOCK) {
            Duplicate(tables[i * block + BLOCK], 0.0f, (int32_t)BLOCK);
        }
    }
}

/* dx of the ends: the operations of a tile on the numbers of a tile, so the bits of a tile. */
template <typename T, int MODE>
__aicore__ inline void make_ends(Kernel<T> &k, const LocalTensor<T> &in, const LocalTensor<T> &out,
                                 const Seams &seams) {
    constexpr bool wide = sizeof(T) == 4;
    constexpr uint32_t block = 32 / sizeof(T);
    Fetched<MODE> f = {seams.ends * block, seams.phases * block};
    uint32_t plane = wide ? k.t->tile / 2 : f.ends;
    LocalTensor<float> from = k.w_dy, dx = k.w_dx, other = k.w_other, tables = from[f.other(0)];
    if constexpr (wide) {
        from = in;
        tables = from[f.other(0)];
    } else if constexpr (MIXED<T>) {
        tables = f.tables(in);
        Cast(from, in, RoundMode::CAST_NONE, f.other(0));
        clear_ends<MODE>(tables, seams);
    } else {
        Cast(from, in, RoundMode::CAST_NONE, f.all());
    }
    if constexpr (wide && MODE != ROTARY_PLANES) {
        dx = out;
    }
    LocalTensor<float> second = MODE == ROTARY_PLANES ? dx[plane] : dx, partner = from,
                       sines = tables;
    if constexpr (MODE == ROTARY_PAIRS) { /* dy and sin with partners swapped */
        uint32_t count = MIXED<T> ? f.other(0) : f.other(1);
        partner = k.w_swap;
        sines = k.w_swap[f.other(0)];
        if constexpr (wide) {
            gather_all(partner, in, count, k.table, k.t->table, 4);
        } else {
            LocalTensor<T> swapped = dx.template ReinterpretCast<T>();
            swap_words(swapped, in, other.template ReinterpretCast<T>(), count);
            vector_done();
            Cast(partner, swapped, RoundMode::CAST_NONE, count);
        }
        if constexpr (MIXED<T>) { /* behind the barrier above: clear_ends is done */
            gather_all(sines, tables, f.phases, k.table, k.t->table, 4);
        }
    }
    vector_done();
    multiply_ends<T>(second, from, tables[f.phases], seams);
    multiply_ends<T>(other, partner[MODE == ROTARY_PAIRS ? 0 : f.dy(1)], sines, seams);
    if constexpr (MODE == ROTARY_PLANES) {
        multiply_ends<T>(dx, from[f.dy(1)], tables[3 * f.phases], seams);
        multiply_ends<T>(other[plane], from, tables[2 * f.phases], seams);
    }
    vector_done();
    if constexpr (MODE == ROTARY_PAIRS) {
        negate_odd(other, f.ends);
        vector_done();
        apply_flat<ADD>(dx, dx, other, f.ends);
    } else {
        apply_flat<SUB>(second, second, other, f.ends);
    }
    if constexpr (MODE == ROTARY_PLANES) {
        apply_flat<ADD>(dx, dx, other[plane], f.ends);
        vector_done();
        if constexpr (wide) {
            gather_all(out, dx, 2 * f.ends, k.table, k.t->table, 2);
        } else {
            interleave_words<T>(out, dx, plane, other, f.ends);
        }
    } else if constexpr (!wide) {
        vector_done();
        Cast(out, dx, RoundMode::CAST_RINT, f.ends);
    }
}

/* The ends before `n` rows, `stride` apart; slot: one that is free. */
template <typename T, int MODE>
__aicore__ inline void do_seams(Kernel<T> &k, int64_t row, int64_t stride, uint32_t n,
                                uint32_t slot) {
    const RotaryGradTiling &t = *k.t;
    constexpr uint32_t block = 32 / sizeof(T), pitch = MODE == ROTARY_PLANES ? 2 * block : block;
    uint32_t period = t.ragged < n ? t.ragged : n;
    Seams seams;
    seams.phases = seams.ends = 0;
    seams.stride = period * stride;
    for (uint32_t i = 0; i < period; i++, row += stride) {
        Phase p = {row - 1, shared_with<T>(t, row), (n - i + period - 1) / period, seams.ends};
        if (p.size > 0) {
            seams.phase[seams.phases++] = p;
            seams.ends += p.count;
        }
    }
    if (seams.phases == 0) {
        return;
    }
    take_in(k, slot);
    fetch_ends<T, MODE>(k, k.dy_in[slot], seams);
    send_in(k, slot);
    wait_in(k, slot);
    uint32_t to = take_out(k);
    LocalTensor<T> out = k.dx_out[to];
    vector_done();
    make_ends<T, MODE>(k, k.dy_in[slot], out, seams);
    free_in(k, slot);
    send_out(k, to);
    for (uint32_t i = 0; i < seams.phases; i++) {
        const Phase &p = seams.phase[i];
        int64_t length = p.size * sizeof(T), natural = (length + 31) / 32;
        copy_out(k.dx[(p.row + 1) * t.row - p.size], out[p.at * pitch], p.count, length,
                 seams.stride * t.row * sizeof(T) - length, pitch / block - natural);
    }
    free_out(k, to);
}

/* The ends of the rows before those of the first of the band, in every step of the chunks, where
 * they are another core's. With rows of cos last, and without segments, all steps but the first are
 * alike, and that one too unless its row before is in another step. */
template <typename T, int MODE>
__aicore__ inline void close_seams(Kernel<T> &k, const Band &band, uint32_t slot) {
    const RotaryGradTiling &t = *k.t;
    int64_t first_chunk = band.first_chunk, end_chunk = band.end_chunk;
    int64_t row = band.slab * t.slab_stride + band.cos_row * t.cos_stride, stride = t.inner_stride;
    int64_t step = first_chunk * t.chunk_rows, end = end_chunk * t.chunk_rows, inside = 0;
    if (t.cos_last) {
        end = end < t.inner ? end : t.inner;
    } else {
        stride = t.outer_stride;
        step = first_chunk / t.chunks_inner;
        end = (end_chunk + t.chunks_inner - 1) / t.chunks_inner;
        inside = (first_chunk - step * t.chunks_inner) * t.chunk_rows;
    }
    row += step * stride + inside;
    bool alike = t.cos_last || t.segments == 1, alone = band.cos_row == 0 || !alike;
    bool near = t.ragged * stride * t.row * (int64_t)sizeof(T) <= UINT32_MAX;
    int64_t most = alike && near ? most_ends<T>(t.tile) : 1;
    while (step < end) {
        int64_t n = alone ? 1 : end - step < most ? end - step : most;
        if (is_foreign(k, row - 1)) {
            do_seams<T, MODE>(k, row, stride, (uint32_t)n, slot);
        } else if (alike && !alone) {
            return;
        }
        step += n;
        row += n * stride - inside;
        inside = 0;
        alone = !alike;
    }
}

} // namespace rotary

#endif
