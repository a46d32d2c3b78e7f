/* SPDX-License-Identifier: Apache-2.0
 *
 * NormRopeConcatGrad: lines of all streams cut into chunks for the cores, chunks into tiles for UB.
 * Tiles and chunks follow from the shapes alone, never from the chip: the sums of dgamma and dbeta
 * come out with the same bits everywhere. Only who works on what depends on the number of cores.
 */
#include "arith.h"
#include "norm_rope_concat.h"

enum {
    UB = SMALLEST_UB, /* the plan is made for it */
    ALIGN = 512,
    PHASE = 256,        /* two sources of one instruction: 256 bytes apart modulo 512 */
    MOST_PITCH = 2032,  /* floats of a line whose stride in blocks still fits 8 bits */
    MOST_WHOLE = 2016,  /* columns of a line that is not parted */
    MOST_BESIDE = 1024, /* the same, if there is a norm across heads, which needs room of its own */
    MOST_LINES = 255,   /* repeats of one instruction */
    COPY_BYTES = 6144,
    COPY_LESS = 4096,    /* beside fp32 tables or weights, or for one more token in a tile */
    MOST_SUMS = 1 << 28, /* columns of a sum across heads */
    SUM_SHARE = 2,       /* lines of a tile per line of the running sums */
    MOST_TILES = 16,     /* in a chunk, */
    MOST_TOKENS = 128,   /* and in one of a norm across heads, whose sums are long */
    FEW_CORES = 40,      /* a small call should give so many cores a tile */
    SWAP_TABLES = 256,   /* of the Gather table for sin alone */
    SWAP_ENTRIES = 1024, /* of the Gather table of lines */
};
#define MOST_WORKSPACE 0x1p62 /* bytes */

/* Bytes of an element of the data, of weights and their gradients, of sin and cos; the most heads
 * of query and key; whether a norm is across heads, and whether one is not; whether one of the
 * others has weights, and one across heads weights, and biases. */
struct sizes {
    int64_t data, weight, table, heads;
    bool across, by_line, short_sums, long_sums, long_biases;
};

/* How a line lies in UB: pieces, column blocks, floats from line to line. */
static int64_t plan_line(NormRopeConcatGradTilingData *d, const struct sizes *z) {
    int64_t es = z->data;
    /* Halves that begin at whole blocks of fp32 need not be parted: they rotate after widening.
     * Others are gathered, of 16-bit types in pairs, if a line fits. */
    int64_t most_whole = z->across ? MOST_BESIDE : MOST_WHOLE;
    bool whole = d->dim % 16 == 0 && d->dim <= most_whole;
    if (d->rope == 2 && !whole && d->dim <= most_whole && z->table == es &&
        d->dim / 2 * es % 4 == 0) {
        d->rope = 3;
    }
    d->pieces = d->rope == 2 && !whole ? 2 : 1;
    int64_t most_pitch = z->across ? MOST_BESIDE : MOST_PITCH;
    int64_t piece = d->dim / d->pieces, widest = most_pitch / d->pieces / 16 * 16;
    int64_t blocks = ceil_div(piece, widest);
    d->columns = blocks == 1 ? piece : round_up(ceil_div(piece, blocks), 16);
    d->blocks = (uint32_t)ceil_div(piece, d->columns);
    int64_t pitch = round_up(d->columns, 32 / es) * d->pieces;
    int64_t last = piece - (d->blocks - 1) * d->columns;
    d->width = (d->blocks - 1) * pitch + round_up(last, 32 / es) * d->pieces;
    for (d->fold = 1; d->fold * 64 < pitch;) {
        d->fold *= 2;
    }
    /* Blocks of halves take turns: what they are multiplied by begins a block further, in another
     * bank. */
    d->halves = d->blocks == 1 && pitch > 64 && pitch < 128 && pitch % 16 == 0;
    return pitch;
}

/* The next place that is `phase` bytes after a multiple of 512. */
static uint32_t place(uint32_t *end, int64_t bytes, uint32_t phase) {
    uint32_t at = (uint32_t)round_up(*end - (*end < phase ? *end : phase), ALIGN) + phase;
    *end = (uint32_t)round_up(at + bytes, 32);
    return at;
}

static uint32_t pack(uint32_t *end, int64_t bytes) {
    uint32_t at = *end;
    *end += (uint32_t)round_up(bytes, 32);
    return at;
}

static void lay_input(NormRopeConcatGradTilingData *d, const struct sizes *z, int64_t pitch,
                      int64_t rows) {
    int64_t lines = d->tile_lines, tile = lines * pitch * z->data;
    uint32_t end = (uint32_t)tile, phase = d->halves ? GM_BLOCK : PHASE;
    d->at_x = place(&end, tile, PHASE);
    d->at_mean = pack(&end, lines * 4);
    d->at_rstd = pack(&end, lines * 4);
    d->at_cos = place(&end, rows * pitch * z->table, phase);
    d->at_sin = place(&end, rows * pitch * z->table, phase);
    d->at_gamma = pack(&end, pitch * z->weight);
    d->in_bytes = (uint32_t)round_up(most(end, 8192), ALIGN);
    d->batch = 256;
    while (d->batch * NRC_SEGMENT * 4 > d->in_bytes) {
        d->batch /= 2;
    }
}

/* Entries of the table of a gather. */
static uint32_t plan_swaps(const NormRopeConcatGradTilingData *d, const struct sizes *z,
                           int64_t pitch, int64_t rows) {
    int64_t lines = d->tile_lines;
    if (d->rope == 3) { /* whole lines, in words */
        int64_t line = pitch * z->data / 4;
        return (uint32_t)(line * least(lines, most(1, SWAP_ENTRIES / line)));
    }
    bool wide = z->data == 4;
    return (uint32_t)least(wide ? SWAP_ENTRIES : SWAP_TABLES,
                           round_up((wide ? lines : rows) * pitch, 64));
}

/* What the groups of the streams need, at most: numbers that lines become, tokens of a tile, tiles
 * of a chunk whose numbers are kept, heads of a tile. */
struct groups {
    int64_t numbers, tokens, kept, heads;
};

static struct groups count_groups(const NormRopeConcatGradTilingData *d) {
    struct groups g = {0, 0, 1, 0};
    for (int i = 0; i < NRC_NORMED; i++) {
        const NrcStreamTiling *s = &d->stream[i];
        if (s->copy || !s->lines) continue;
        int64_t tokens = s->across ? most(1, s->tile_lines / most(s->across, 1)) : 0;
        int64_t step = s->blocks > d->blocks ? s->heads : s->tile_lines;
        g.numbers = most(g.numbers, tokens * s->fold);
        g.tokens = most(g.tokens, tokens);
        g.heads = most(g.heads, s->across);
        if (s->blocks > 1) g.kept = most(g.kept, ceil_div(s->chunk_lines, step));
    }
    return g;
}

static void lay_work(NormRopeConcatGradTilingData *d, const struct sizes *z, int64_t pitch,
                     int64_t rows, const struct groups *g) {
    int64_t lines = d->tile_lines, tile = lines * pitch * 4, table = rows * pitch * 4;
    int64_t sums = z->short_sums ? ceil_div(lines, SUM_SHARE) * pitch * 4 : 0;
    bool wide = z->data == 4, gather = d->rope == 3 || (z->table == 4 && d->rope == 1);
    uint32_t end = 0, phase = d->halves ? GM_BLOCK : PHASE;
    int64_t number = d->halves ? 2 * GM_BLOCK : GM_BLOCK; /* in blocks of its own */
    d->at_w0 = place(&end, wide ? 0 : tile, 0);
    d->at_w1 = place(&end, wide ? 0 : tile, PHASE);
    d->at_w2 = place(&end, tile + PHASE, 0);
    d->at_cos_wide = place(&end, wide ? 0 : table, phase);
    d->at_sin_wide =
        place(&end, wide && !gather ? 0 : table, d->rope != 2 && phase == PHASE ? 0 : phase);
    d->at_gamma_wide = place(&end, pitch * 4, phase);
    d->at_dbeta = place(&end, sums, PHASE);
    d->at_dgamma = place(&end, sums, PHASE);
    int64_t eights = round_up(z->by_line ? lines : most(g->tokens, 1), 8);
    end = (uint32_t)round_up(end, number); /* the first is where lines have their first, in turns */
    d->at_mean_wide = pack(&end, eights * number);
    d->at_rstd_wide = pack(&end, eights * number);
    d->at_stat_wide = pack(&end, 2 * eights * number);
    d->swap_entries = gather ? plan_swaps(d, z, pitch, rows) : 0;
    d->at_swap = pack(&end, round_up(d->swap_entries, 64) * 4);
    d->at_part = pack(&end, round_up(2 * eights * d->fold * 8, 64) * 4);
    d->fold_bytes = (uint32_t)round_up(most(2 * eights * d->fold, g->numbers), 64) * 4;
    d->at_fold = pack(&end, d->fold > 1 || g->numbers ? 2 * d->fold_bytes : d->fold_bytes);
    d->stat_floats = (uint32_t)round_up(2 * eights, 32);
    if (z->across) d->stat_floats += 32; /* the last sum writes so many at a time */
    d->at_stat = pack(&end, g->kept * d->stat_floats * 4);
    if (g->numbers) d->at_group = pack(&end, round_up(g->numbers * 8, 64) * 4);
    d->zero_bytes = end - d->at_part;
    d->calc_bytes = (uint32_t)round_up(end, ALIGN);
}

/* Rows of sin and cos that a tile can meet: fewer if all tiles, and so all chunks, are whole
 * (b, s). */
static int64_t table_rows(const NormRopeConcatGradTilingData *d, int64_t unit) {
    int64_t rows = 0;
    for (int i = 0; d->rope && i < NRC_NORMED; i++) {
        const NrcStreamTiling *s = &d->stream[i];
        int64_t heads = most(s->heads, 1), lines = s->tile_lines;
        if (lines % heads == 0 && (s->across || lines % unit == 0)) {
            rows = most(rows, lines / heads);
        } else {
            rows = most(rows, least(lines, (lines + heads - 2) / heads + 1));
        }
    }
    return rows;
}

/* Tiles and chunks of a stream, n tiles in a chunk, which ends at a block of memory. Of a norm
 * across heads a tile has whole tokens, or a part of one if that does not fit. */
static void cut_stream(const NormRopeConcatGradTilingData *d, NrcStreamTiling *s, int64_t es,
                       int64_t lines, int64_t n) {
    s->blocks = d->blocks;
    s->tile_lines = (uint32_t)lines;
    s->sum_lines = (uint32_t)ceil_div(lines, SUM_SHARE);
    s->chunk_lines = round_up(n * lines, rows_per_block(d->dim * es));
    if (!s->across) return;
    int64_t heads = most(s->heads, 1), parts = ceil_div(heads, lines);
    int64_t tokens = parts > 1 || d->blocks > 1 ? 1 : lines / heads;
    s->across = s->sum_lines = (uint32_t)ceil_div(heads, parts);
    s->blocks = (uint32_t)(ceil_div(heads, s->across) * d->blocks);
    s->tile_lines = (uint32_t)(tokens * s->across);
    s->chunk_lines = round_up(n * tokens, rows_per_block(heads * d->dim * es)) * heads;
    for (s->fold = 1; s->fold < s->across * d->fold;) {
        s->fold *= 2;
    }
}

/* Everything that follows from the lines of a tile and the tiles of a chunk. Returns the UB it
 * takes. */
static int64_t lay_out(NormRopeConcatGradTilingData *d, const struct sizes *z, int64_t pitch,
                       int64_t lines, int64_t n) {
    int64_t es = z->data;
    d->tile_lines = (uint32_t)lines;
    for (int i = 0; i < NRC_NORMED; i++) {
        cut_stream(d, &d->stream[i], es, lines, n);
    }
    const struct groups g = count_groups(d);
    int64_t rows = table_rows(d, rows_per_block(d->dim * es));
    lay_input(d, z, pitch, rows);
    lay_work(d, z, pitch, rows, &g);
    d->out_bytes = (uint32_t)round_up(lines * pitch * es, ALIGN);
    d->flush_bytes = d->vectors ? (uint32_t)round_up(2 * pitch * 4, ALIGN) : 0;
    if (z->long_sums) {
        int64_t sums = round_up(g.heads * pitch * 4, ALIGN);
        d->flush_bytes = (uint32_t)round_up(
            most(d->flush_bytes, NRC_PHASE + (z->long_biases ? 2 : 1) * sums), ALIGN);
        d->gamma_bytes = (uint32_t)round_up(NRC_PHASE + g.heads * pitch * z->weight, ALIGN);
    }
    return 2 * (int64_t)d->in_bytes + d->out_bytes + d->flush_bytes + d->gamma_bytes +
           2 * d->copy_bytes + d->calc_bytes;
}

/* The numbers of a chunk's tiles are kept between two passes. */
static bool blocked(const NormRopeConcatGradTilingData *d) {
    bool found = false;
    for (int i = 0; i < NRC_NORMED; i++) {
        found |= d->stream[i].lines && d->stream[i].blocks > 1;
    }
    return found;
}

/* Tiles in a chunk: many, as each chunk ends with a sum over its lines, but such that the chunks
 * divide well among the numbers of cores that chips have, whichever of them this one has. An
 * estimate, so in floating point: it is faster. */
static int64_t plan_chunk(const NormRopeConcatGradTilingData *d, const struct sizes *z) {
    static const double cores[2] = {40, 48}; /* of A2 and A3 */
    /* In tiles: the time to end a chunk, and that of every core to add up its sum in the end.
     * Across heads a sum is as long as a token, of which a tile moves three in the data's type. */
    double flush = d->vectors ? 0.13 : 0.01, sum = d->vectors ? 0.0008 : 0;
    if (z->long_sums) {
        flush += (double)z->heads / (double)most(z->heads, d->tile_lines) *
                 (z->long_biases ? 8.0 : 4.0) / (3.0 * (double)z->data);
        sum += flush / cores[0];
    }
    double best = 0;
    int64_t chosen = 1, most_tiles = MOST_TILES;
    if (z->across && !blocked(d)) most_tiles = MOST_TOKENS;
    for (int64_t n = 1; n <= most_tiles; n++) {
        double chunks = 0, time = 0;
        for (int i = 0; i < NRC_NORMED; i++) {
            const NrcStreamTiling *s = &d->stream[i];
            if (s->copy || !s->lines) continue;
            double share =
                1.0 / (double)(n * (s->across ? most(s->heads, s->tile_lines) : s->tile_lines));
            chunks += (double)((int64_t)((double)(s->lines - 1) * share) + 1);
        }
        for (int i = 0; i < 2; i++) {
            double each = (double)((int64_t)((chunks - 1) * (1 / cores[i])) + 1);
            time += cores[i] * (each * ((double)n + flush) + sum * chunks);
        }
        if (n == 1 || time < best) best = time, chosen = n;
    }
    return chosen;
}

/* The largest number of lines that fits, if possible of whole (b, s), for which the buffers of
 * copies may be smaller. */
static int64_t most_lines(NormRopeConcatGradTilingData *d, const struct sizes *z, int64_t pitch,
                          int64_t unit) {
    int64_t es = z->data, heads = most(z->heads, 1), lines = 0;
    int64_t row_bytes = d->rope ? (es == 4 ? 20 : 8 + 4 * z->table) * pitch : 0;
    int64_t line_bytes = (es == 4 ? 24 : 22) * pitch + 8 * pitch / SUM_SHARE + 144 + 80 * d->fold +
                         row_bytes / heads;
    uint32_t usual = z->table > es || z->weight > es ? COPY_LESS : COPY_BYTES;
    for (d->copy_bytes = usual; d->copy_bytes >= COPY_LESS;
         d->copy_bytes -= COPY_BYTES - COPY_LESS) {
        lines = least(MOST_LINES, (UB - 2 * d->copy_bytes) / line_bytes + 1);
        int64_t whole = lines / heads * heads;
        if (!z->across && whole && whole % unit == 0 && whole * 5 >= lines * 4 &&
            lay_out(d, z, pitch, whole, MOST_TILES) <= UB) {
            return whole;
        }
    }
    d->copy_bytes = usual;
    while (lines > 1 && lay_out(d, z, pitch, lines, MOST_TILES) > UB) {
        lines--;
    }
    return lines;
}

/* The largest tile that fits and, if there is little to do, still leaves one for every core; of
 * whole (b, s) where that costs little, of whole 32-byte blocks where that is possible. */
static int64_t plan_tile(NormRopeConcatGradTilingData *d, const struct sizes *z, int64_t pitch) {
    int64_t heads = most(z->heads, 1), unit = rows_per_block(d->dim * z->data), all = 0;
    for (int i = 0; i < NRC_NORMED; i++) {
        all += d->stream[i].copy ? 0 : d->stream[i].lines;
    }
    int64_t lines = most_lines(d, z, pitch, unit), wish = most(ceil_div(all, FEW_CORES), 1);
    bool whole_tokens = !z->across || heads <= lines; /* smaller parts of tokens help nobody */
    if (wish < lines && whole_tokens)
        lines = least(lines, round_up(wish, heads <= lines ? heads : unit));
    int64_t whole = lines / heads * heads;
    if (z->across) { /* tiles are cut to tokens already */
    } else if (whole % unit == 0 && whole * 5 >= lines * 4) {
        lines = whole;
    } else if (lines > unit) {
        lines = lines / unit * unit;
    }
    lay_out(d, z, pitch, lines, MOST_TILES);
    return lay_out(d, z, pitch, lines, plan_chunk(d, z));
}

/* Streams that are only copied: large calls move full buffers, small ones spread over the cores. */
static void plan_copies(NormRopeConcatGradTilingData *d, int64_t es) {
    int64_t line = round_up(d->dim * es, 32), unit = rows_per_block(d->dim * es), all = 0;
    for (int i = 0; i < NRC_STREAMS; i++) {
        all += d->stream[i].copy ? d->stream[i].lines : 0;
    }
    int64_t lines = most(1, d->copy_bytes / line);
    d->copy_columns = (uint32_t)least(d->dim, d->copy_bytes / es);
    int64_t heads = d->stream[NRC_NORMED].heads; /* value's, the most of what is copied */
    if (heads && heads < lines) lines = lines / heads * heads;
    d->copy_lines = (uint32_t)lines;
    int64_t job = most(ceil_div(all, 256), ceil_div(2048, line));
    d->job_lines = round_up(least(job, lines), unit);
}

/* Tiles of a chunk, each time they are loaded. */
static int64_t steps_of(const NormRopeConcatGradTilingData *d, const NrcStreamTiling *s) {
    int64_t step = s->blocks > d->blocks ? s->heads : s->tile_lines;
    return ceil_div(s->chunk_lines, step) * (s->blocks > 1 ? 2 * s->blocks : 1);
}

/* Norms across heads leave a whole token of sums behind every chunk, so that the workspace of
 * tensors that nobody has the memory for is the first number to leave its 64 bits. */
static ascgrad_result check_workspace(const struct ascgrad_node *node,
                                      const NormRopeConcatGradTilingData *d,
                                      struct ascgrad_error *error) {
    double bytes = 0;
    for (int i = 0; i < NRC_NORMED; i++) {
        const NrcStreamTiling *s = &d->stream[i];
        if (s->weighted)
            bytes += 8.0 * (double)ceil_div(s->lines, s->chunk_lines) * (double)s->width;
    }
    if (bytes < MOST_WORKSPACE) return ASCGRAD_DONE;
    return ascgrad_refuse(error, node, "the sums need a workspace of %.0f bytes, more than %.0f",
                          bytes, MOST_WORKSPACE);
}

/* Numbers the chunks and jobs, and gives the cores with fewer chunks more jobs. Returns the cores
 * that have something to do; floats: of the workspace. */
static int64_t share(NormRopeConcatGradTilingData *d, int64_t cores, int64_t *floats) {
    int64_t workspace = 0, chunk = 1;
    for (int i = 0; i < NRC_STREAMS; i++) {
        NrcStreamTiling *s = &d->stream[i];
        int64_t *count = s->copy ? &d->jobs : &d->chunks;
        s->first = *count;
        int64_t each = s->copy ? d->job_lines : s->chunk_lines, have = ceil_div(s->lines, each);
        s->sums = workspace;
        workspace += s->weighted ? 2 * have * s->width : 0;
        *count += have;
        if (!s->copy && s->lines) {
            chunk = most(chunk, (s->norm ? 3 : 2) * s->chunk_lines);
            d->steps = (uint32_t)most(d->steps, steps_of(d, s));
        }
    }
    cores = least(cores, most(most(d->chunks + d->jobs, d->units), 1));
    /* A normed line is read twice and written once, any other one read and written. */
    double each = (double)chunk, job = 2.0 * (double)d->job_lines;
    double fair = ((double)d->chunks * each + (double)d->jobs * job) / (double)cores;
    int64_t busy = d->chunks % cores;
    double left = (double)busy * (fair - (double)(d->chunks / cores + 1) * each) / job;
    d->busy_cores = (uint32_t)busy;
    d->jobs_busy = left > 0 ? least((int64_t)left, d->jobs) : 0;
    *floats = workspace;
    return cores;
}

static void read_streams(NormRopeConcatGradTilingData *d, const struct nrc_shapes *s) {
    d->dim = s->dim;
    d->layout = (uint32_t)s->layout;
    d->rope = s->rope_rows ? (uint32_t)s->rope : 0;
    d->rope_rows = d->rope ? s->rope_rows : 0;
    for (int i = 0; i < NRC_STREAMS; i++) {
        NrcStreamTiling *t = &d->stream[i];
        int k = i < NRC_NORMED ? i : i - 2, added = i % 2; /* value is as long as key */
        t->seq = s->seq[k];
        t->heads = s->heads[i / 2];
        t->total = s->seq[k - added] + s->seq[k - added + 1];
        t->offset = added == (int)s->order ? 0 : s->seq[k - added + !added];
        t->lines = s->batch * t->seq * t->heads;
        int64_t norm = i < NRC_NORMED ? s->norm[added] : 0;
        t->norm = norm != 0;
        t->centred = nrc_centred(norm);
        t->weighted = nrc_weighted(norm);
        t->across = nrc_across(norm); /* how many heads of a tile, cut_stream says */
        int64_t columns = t->across ? t->heads * s->dim : s->dim;
        t->inverse = norm == NRC_L2 || columns == 0 ? 1.0f : 1.0f / (float)columns;
        t->copy = i >= NRC_NORMED || (t->norm == 0 && d->rope == 0);
        if (t->weighted) d->vectors |= (t->centred ? 3u : 1u) << 2 * i;
    }
}

/* The distance of two partial sums across heads is a gap of the copy instruction, 32 bits of bytes.
 */
static ascgrad_result check_sums(const struct ascgrad_node *node,
                                 const NormRopeConcatGradTilingData *d,
                                 struct ascgrad_error *error) {
    for (int i = 0; i < NRC_NORMED; i++) {
        const NrcStreamTiling *s = &d->stream[i];
        if (s->across && s->heads > MOST_SUMS / d->width) {
            return ascgrad_refuse(error, node,
                                  "a norm across %lld heads of %lld columns is too long: the chip "
                                  "takes %d columns in blocks",
                                  (long long)s->heads, (long long)d->dim, MOST_SUMS);
        }
    }
    return ASCGRAD_DONE;
}

/* What kinds of norms there are. */
static void sum_up(const NormRopeConcatGradTilingData *d, struct sizes *z) {
    for (int i = 0; i < NRC_NORMED; i++) {
        const NrcStreamTiling *s = &d->stream[i];
        z->short_sums |= s->weighted && !s->across;
        z->by_line |= s->norm && !s->across;
        if (!s->across || !s->lines) continue;
        z->across = true;
        z->long_sums |= s->weighted;
        z->long_biases |= s->weighted && s->centred;
    }
}

/* The last sums: every vector of D, or of heads * D, in segments; one core takes a whole line, or
 * several, if segments of two cores would meet inside 32 bytes. */
static void plan_sums(NormRopeConcatGradTilingData *d, int64_t es, int64_t pitch) {
    int64_t segments = d->blocks * d->pieces * ceil_div(d->columns, NRC_SEGMENT);
    bool apart = d->pieces == 1 || d->dim / 2 * es % 32 == 0;
    for (int i = 0; i < NRC_NORMED; i++) {
        NrcStreamTiling *s = &d->stream[i];
        s->segment = NRC_SEGMENT;
        s->unit_segments = apart ? 1 : segments;
        s->units = segments / s->unit_segments;
        s->width = d->width;
        if (s->across) {
            int64_t lines = rows_per_block(d->dim * es); /* that end at a block of memory */
            s->width = s->heads * d->width;
            if (d->blocks == 1 && pitch == d->dim) {
                s->segment = NRC_LONG_SEGMENT;
                s->units = ceil_div(s->width, NRC_LONG_SEGMENT);
            } else if (lines > 1) {
                s->unit_segments = lines * segments;
                s->units = ceil_div(s->heads, lines);
            } else {
                s->units *= s->heads;
            }
        }
        for (uint32_t v = d->vectors >> 2 * i & 3; v; v &= v - 1) {
            d->units += s->units;
        }
    }
}

ascgrad_tile_fn ascgrad_tile_norm_rope_concat_grad;

ascgrad_result ascgrad_tile_norm_rope_concat_grad(const struct ascgrad_node *node,
                                                  const struct ascgrad_chip *chip,
                                                  struct ascgrad_launch *launch,
                                                  struct ascgrad_error *error) {
    if (ascgrad_need_later_chip(node, chip, error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
    struct nrc_shapes s;
    if (nrc_check(node, &s, error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
    NormRopeConcatGradTilingData d;
    memset(&d, 0, sizeof d);
    int64_t es = (int64_t)ascgrad_dtype_size(s.dtype), cores = chip->cores ? chip->cores : 1;
    int64_t floats = 0;
    struct sizes z = {.data = es,
                      .weight = (int64_t)ascgrad_dtype_size(s.weights),
                      .table = (int64_t)ascgrad_dtype_size(s.tables),
                      .heads = most(s.heads[0], s.heads[1])};
    if (s.dim > 0) { /* else there is nothing at all */
        read_streams(&d, &s);
        sum_up(&d, &z);
        d.wide_tables = z.table > z.data;
        int64_t pitch = plan_line(&d, &z);
        if (check_sums(node, &d, error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
        int64_t need = plan_tile(&d, &z, pitch);
        if (need > (int64_t)chip->ub) {
            return ascgrad_refuse(error, node,
                                  "the tiles need %lld bytes of UB, this chip has %lld",
                                  (long long)need, (long long)chip->ub);
        }
        plan_copies(&d, es);
        plan_sums(&d, z.weight, pitch);
        if (check_workspace(node, &d, error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
        cores = share(&d, cores, &floats);
    }
    launch->key = d.vectors != 0;
    launch->block_dim = (uint32_t)(s.dim > 0 ? cores : 1);
    launch->workspace = d.vectors ? (uint64_t)most(floats * 4, 32) : 0;
    launch->sync_all = d.vectors != 0;
    return ascgrad_put(launch, node, &d, sizeof d, error);
}
