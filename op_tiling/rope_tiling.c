/* SPDX-License-Identifier: Apache-2.0
 *
 * RopeGrad: how the work is cut up. q [tokens, heads * D], k [tokens, kv heads * D], cos, sin
 * [positions, D]. Every element stands alone, so any cut gives the same bits; what matters is that
 * all cores get the same number of bytes and that a row of cos and sin, which every sequence needs,
 * is not read once per sequence.
 */
#include <inttypes.h>

#include "../core/node.h"
#include "../op_kernel/rope_grad_tiling_data.h"
#include "arith.h"
#include "l2.h"

enum { Q, K, COS, SIN, INPUTS };
enum { SEQ_LEN, EXACT, HEAD_SIZE, SLICE_START, STARTS };

enum {
    GROUP = 32,       /* sequences that share cos and sin at most */
    RUN = 8,          /* rows in a row that a core should get of each of them */
    WIDEST = 512,     /* columns of a half head in one pass: repeat strides have 8 bits */
    HEAD = 1 << 28,   /* columns of a head: gaps of a copy have 32 bits */
    TABLE = 4096,     /* elements of cos in the UB */
    TABLE_ROWS = 128, /* repeats have 8 bits */
    LONGEST = 2040,   /* period of gathered heads: repeat strides have 8 bits */
    BLOCKS = 4094,    /* blocks of one copy have 12 bits */
};

_Static_assert(sizeof(RopeGradFew) % 8 == 0 && sizeof(RopeGradMany) % 8 == 0, "copied by 8 bytes");

ascgrad_tile_fn ascgrad_tile_rope_grad;

/* D: columns of a head, of which as many as cos has are rotated. */
static int64_t head_size(const struct ascgrad_node *node) {
    int64_t wanted = node->attr[HEAD_SIZE].i;
    return wanted == 0 ? node->in[COS].shape->dim[1] : wanted;
}

static ascgrad_result check_shapes(const struct ascgrad_node *node, struct ascgrad_error *error) {
    struct ascgrad_text a, b;
    if (ascgrad_need_inputs(node, error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
    for (uint32_t i = 0; i < INPUTS; i++) {
        if (node->in[i].shape->rank != 2) {
            return ascgrad_refuse(error, node, "%s must have 2 dimensions, got %s",
                                  node->ir->in[i].name, ascgrad_shape_text(node->in[i].shape, &a));
        }
    }
    const struct ascgrad_shape *q = node->in[Q].shape, *k = node->in[K].shape;
    const struct ascgrad_shape *cos = node->in[COS].shape, *sin = node->in[SIN].shape;
    if (q->dim[0] != k->dim[0]) {
        return ascgrad_refuse(error, node, "q and k must have the same tokens, got %s and %s",
                              ascgrad_shape_text(q, &a), ascgrad_shape_text(k, &b));
    }
    if (!ascgrad_shape_equal(cos, sin)) {
        return ascgrad_refuse(error, node, "cos and sin must have one shape, got %s and %s",
                              ascgrad_shape_text(cos, &a), ascgrad_shape_text(sin, &b));
    }
    int64_t rotated = cos->dim[1], wanted = node->attr[HEAD_SIZE].i, head = head_size(node);
    if (rotated < 2 || rotated > HEAD || rotated % 2 != 0) {
        return ascgrad_refuse(error, node,
                              "the last dimension of cos %s%s must be even and between 2 and %d",
                              ascgrad_shape_text(cos, &a), wanted ? "" : ", the head size,", HEAD);
    }
    if (head < rotated || head > HEAD) {
        return ascgrad_refuse(error, node,
                              "head_size is %" PRId64 ", but must be 0, or between the last "
                              "dimension of cos, %" PRId64 ", and %d",
                              wanted, rotated, HEAD);
    }
    int64_t slice = node->attr[SLICE_START].i;
    if (slice < 0 || slice > head - rotated) {
        return ascgrad_refuse(error, node,
                              "slice_start is %" PRId64 ", but must be between 0 and %" PRId64
                              ", the head size less the last dimension of cos",
                              slice, head - rotated);
    }
    for (uint32_t i = Q; i <= K; i++) {
        int64_t hidden = node->in[i].shape->dim[1];
        if (hidden % head != 0) {
            return ascgrad_refuse(error, node,
                                  "the hidden size of %s, %" PRId64
                                  ", must be a multiple of the head size %" PRId64,
                                  node->ir->in[i].name, hidden, head);
        }
        if (hidden / head > INT32_MAX) {
            return ascgrad_refuse(error, node, "%s has %" PRId64 " heads, more than 31 bits hold",
                                  node->ir->in[i].name, hidden / head);
        }
        if (ascgrad_need_output(node, i, node->in[i].shape, node->in[i].dtype, error) !=
            ASCGRAD_DONE) {
            return ASCGRAD_REFUSED;
        }
    }
    return ASCGRAD_DONE;
}

/* Checks the attribute. Empty sequences need no work and no room. */
static ascgrad_result see_lengths(const struct ascgrad_node *node, RopeGradPlan *t,
                                  uint32_t *longest, struct ascgrad_error *error) {
    const struct ascgrad_attr *attr = &node->attr[SEQ_LEN];
    int64_t tokens = node->in[Q].shape->dim[0], positions = node->in[COS].shape->dim[0];
    int64_t most_of_one = least(positions, INT32_MAX), sum = 0;
    for (uint32_t i = SEQ_LEN; i <= STARTS; i += STARTS - SEQ_LEN) {
        const struct ascgrad_attr *list = &node->attr[i];
        if (list->kind != ASCGRAD_ATTR_LIST_INT || (list->count && !list->list)) {
            return ascgrad_refuse(error, node, "%s must be a list of integers",
                                  node->ir->attr[i].name);
        }
    }
    t->shortest = UINT32_MAX;
    for (size_t i = 0; i < attr->count; i++) {
        int64_t length = ascgrad_list_at(attr, i);
        if (length < 0 || length > most_of_one) {
            return ascgrad_refuse(
                error, node,
                "qSeqLen[%zu] = %" PRId64 " must be between 0 and the %" PRId64 " rows of cos%s", i,
                length, positions, length > INT32_MAX ? ", and fit 31 bits" : "");
        }
        t->batch += length > 0;
        *longest = (uint32_t)most(*longest, length);
        t->shortest = (uint32_t)least(t->shortest, length > 0 ? length : UINT32_MAX);
        sum += length; /* a list of 2^32 lengths is 32 GB long */
    }
    if (sum != tokens) {
        return ascgrad_refuse(error, node,
                              "the sum of qSeqLen, %" PRId64
                              ", must be the number of tokens of q, %" PRId64,
                              sum, tokens);
    }
    return ASCGRAD_DONE;
}

/* Checks the starts, if there are any; those of empty sequences are not looked at further. */
static ascgrad_result see_starts(const struct ascgrad_node *node, RopeGradPlan *t, uint32_t *last,
                                 struct ascgrad_error *error) {
    const struct ascgrad_attr *starts = &node->attr[STARTS], *lengths = &node->attr[SEQ_LEN];
    int64_t positions = least(node->in[COS].shape->dim[0], INT32_MAX);
    if (starts->count == 0) return ASCGRAD_DONE;
    if (starts->count != lengths->count) {
        return ascgrad_refuse(error, node,
                              "start_positions has %zu entries, but must be empty, or have the %zu "
                              "of qSeqLen",
                              starts->count, lengths->count);
    }
    t->first_row = UINT32_MAX;
    for (size_t i = 0; i < starts->count; i++) {
        int64_t start = ascgrad_list_at(starts, i), length = ascgrad_list_at(lengths, i);
        if (start < 0 || start > positions - length) {
            return ascgrad_refuse(
                error, node,
                "start_positions[%zu] = %" PRId64 " must be between 0 and %" PRId64
                ": cos has %" PRId64 " rows and qSeqLen[%zu] is %" PRId64,
                i, start, positions - length, node->in[COS].shape->dim[0], i, length);
        }
        if (length == 0) continue;
        *last = (uint32_t)most(*last, start);
        t->first_row = (uint32_t)least(t->first_row, start);
    }
    return ASCGRAD_DONE;
}

static uint64_t list_bits(const RopeGradPlan *t) {
    return (uint64_t)t->batch * (t->bits + t->row_bits);
}

static bool is_many(const RopeGradPlan *t) {
    return list_bits(t) > 32 * ROPE_GRAD_FEW;
}

static uint32_t bits_of(uint32_t range) {
    uint32_t bits = 0;
    for (; range > 0; range >>= 1) {
        bits++;
    }
    return bits;
}

/* Numbers of some bits each, one behind the other in words. */
struct packer {
    uint32_t *words, held;
    uint64_t pending;
};

/* The entries of `attr` beyond `least_one`, those of empty sequences left out. */
static void pack(struct packer *p, const struct ascgrad_attr *attr,
                 const struct ascgrad_attr *lengths, uint32_t least_one, uint32_t bits) {
    for (size_t i = 0; bits > 0 && i < attr->count; i++) {
        if (ascgrad_list_at(lengths, i) > 0) {
            p->pending |= (uint64_t)(ascgrad_list_at(attr, i) - least_one) << p->held;
            p->held += bits;
        }
        if (p->held >= 32) {
            *p->words++ = (uint32_t)p->pending;
            p->pending >>= 32;
            p->held -= 32;
        }
    }
    *p->words = (uint32_t)p->pending;
}

/* Checks the attributes and packs lengths and starts: nothing else of the host reaches the kernel,
 * and GE has room for about 16 KB. */
static ascgrad_result take_lengths(const struct ascgrad_node *node, RopeGradMany *all,
                                   struct ascgrad_error *error) {
    const struct ascgrad_attr *attr = &node->attr[SEQ_LEN], *starts = &node->attr[STARTS];
    RopeGradPlan *t = &all->plan;
    uint32_t longest = 0, last = 0;
    if (see_lengths(node, t, &longest, error) != ASCGRAD_DONE ||
        see_starts(node, t, &last, error) != ASCGRAD_DONE) {
        return ASCGRAD_REFUSED;
    }
    if (t->batch == 0) return ASCGRAD_DONE;
    t->bits = bits_of(longest - t->shortest);
    t->row_bits = bits_of(last - t->first_row);
    if (list_bits(t) > 32 * ROPE_GRAD_MANY) {
        if (t->row_bits == 0) {
            return ascgrad_refuse(error, node,
                                  "the %" PRIu32
                                  " sequences of qSeqLen that are not empty differ by up "
                                  "to %" PRIu32 ", %" PRIu32 " bits each, more than the %d bits of "
                                  "tiling data hold",
                                  t->batch, longest - t->shortest, t->bits, 32 * ROPE_GRAD_MANY);
        }
        return ascgrad_refuse(
            error, node,
            "the %" PRIu32 " sequences that are not empty need %" PRIu32 " bits each for qSeqLen "
            "and %" PRIu32 " for start_positions, which differ by up to %" PRIu32
            ", more than the %d bits of tiling data hold",
            t->batch, t->bits, t->row_bits, last - t->first_row, 32 * ROPE_GRAD_MANY);
    }
    if (is_many(t)) {
        memset(&all->lengths[ROPE_GRAD_FEW + 2], 0, 4 * (ROPE_GRAD_MANY - ROPE_GRAD_FEW));
    }
    t->starts_at = t->batch * t->bits;
    struct packer p = {.words = all->lengths};
    pack(&p, attr, attr, t->shortest, t->bits);
    pack(&p, starts, attr, t->first_row, t->row_bits);
    return ASCGRAD_DONE;
}

/* As the kernel reads them. */
static uint32_t number_at(const RopeGradMany *all, uint32_t at, uint32_t bits) {
    uint32_t word = at / 32;
    uint64_t two = (uint64_t)all->lengths[word + 1] << 32 | all->lengths[word];
    return (uint32_t)(two >> at % 32) & ((UINT32_C(1) << bits) - 1);
}

static uint32_t length_of(const RopeGradMany *all, uint32_t seq) {
    const RopeGradPlan *t = &all->plan;
    return t->shortest + number_at(all, seq * t->bits, t->bits);
}

static uint32_t start_of(const RopeGradMany *all, uint32_t seq) {
    const RopeGradPlan *t = &all->plan;
    return t->first_row + number_at(all, t->starts_at + seq * t->row_bits, t->row_bits);
}

/* Items of a head until both begin at a block of 8 words, or more, again. */
static uint32_t in_blocks(uint32_t items, uint32_t block) {
    while (items % block != 0) {
        items *= 2;
    }
    return items;
}

/* What the dtypes mean for the kernel. */
struct kinds {
    int64_t size, table_size; /* of an element of q and of cos */
    bool halves, widened;     /* tiles are multiplied in fp16; they are widened to fp32 */
};

static struct kinds see_kinds(const struct ascgrad_node *node, const RopeGradPlan *t) {
    int32_t q = node->in[Q].dtype, cos = node->in[COS].dtype;
    struct kinds k = {(int64_t)ascgrad_dtype_size(q), (int64_t)ascgrad_dtype_size(cos),
                      q == ASCGRAD_FP16 && cos == ASCGRAD_FP16 && !t->exact, false};
    k.widened = k.size == 2 && !k.halves;
    return k;
}

/* Where everything lies in the UB for tiles of `tile` elements. Buffers begin at lines of 512
 * bytes, in which the banks repeat; what tiles are multiplied by lies half a line off, so that the
 * sources of an instruction are in different banks. Returns the bytes in all. */
static int64_t lay_out(RopeGradPlan *t, const struct kinds *k, int64_t tile) {
    enum { LINE = 512, OFF = 256 };
    int64_t table = (int64_t)t->table_rows * t->width, floats = round_up(4 * tile, LINE);
    int64_t wide = t->native ? 0 : round_up(4 * table, LINE);
    bool gathered = t->gathered, shifted = gathered || t->width % 256 == 0;
    t->x_bytes = (uint32_t)round_up(tile * k->size, LINE);
    t->table_in_bytes = (uint32_t)round_up(2 * t->table * k->table_size, LINE);
    t->cos_at = OFF;
    t->sin_at = (uint32_t)(OFF + wide);
    t->w_at = (uint32_t)(OFF + 2 * wide);
    t->table_bytes = (uint32_t)round_up(t->w_at + (k->halves ? 2 * table : 0), GM_BLOCK);
    t->x_sin_at = (uint32_t)((k->widened ? floats : 0) + (shifted ? OFF : 0));
    int64_t between = (k->widened ? floats : 0) + (t->exact ? floats + OFF : 0);
    if (gathered && k->table_size == 2) { /* rows of cos and sin in fp32 pass through here */
        between = most(between, round_up(8 * t->table, LINE));
    }
    t->tile_bytes = (uint32_t)between;
    return 2 * (int64_t)t->depth * t->x_bytes + (gathered ? 2 : 1) * (int64_t)t->table_in_bytes +
           t->table_bytes + t->tile_bytes + t->places_bytes;
}

/* The longest tile of whole grains, at most `grains` of them, that fits with t->depth buffers. */
static int64_t longest_tile(RopeGradPlan *t, const struct kinds *k, int64_t grain, int64_t grains,
                            int64_t ub) {
    int64_t fit = 0, too_many = least(grains, ub / (2 * t->depth * k->size * grain)) + 1;
    while (fit + 1 < too_many) {
        int64_t n = (fit + too_many) / 2;
        *(lay_out(t, k, n * grain) <= ub ? &fit : &too_many) = n;
    }
    lay_out(t, k, fit * grain);
    return fit;
}

/* Tiles of as many grains as fit, at most `most_grains`. Short rows make short copies, whose
 * latency two buffers do not hide. Returns how many. */
static int64_t plan_tile(const struct ascgrad_chip *chip, RopeGradPlan *t, const struct kinds *k,
                         int64_t grain, int64_t useful, int64_t most_grains) {
    int64_t ub = least((int64_t)(chip->ub >> 1), INT32_MAX / 2) * 2, fit;
    useful = least(useful, most_grains);
    t->depth = 4;
    fit = longest_tile(t, k, grain, useful, ub);
    if (fit < useful) {
        t->depth = 2;
        fit = longest_tile(t, k, grain, most_grains, ub);
    }
    return fit;
}

/* Heads as they lie in memory, or a strip of each of their halves. */
static bool plan_halves(const struct ascgrad_chip *chip, RopeGradPlan *t, const struct kinds *k) {
    int64_t unit = GM_BLOCK / k->size, half = t->rotated / 2;
    int64_t heads = most(1, most(t->q_heads, t->k_heads));
    t->columns = (uint32_t)least(half, WIDEST);
    int64_t padded = t->strips ? round_up(t->columns, unit) : half;
    int64_t grain = t->strips ? 2 * padded : t->head;
    t->width = (uint32_t)(2 * padded);
    t->table_rows = (uint32_t)most(1, least(TABLE / grain, TABLE_ROWS));
    t->table = t->table_rows * t->width;
    t->native = k->halves && padded % 16 == 0; /* halves start on blocks of fp16, too */
    t->places_bytes = 0;
    int64_t limit = t->strips ? BLOCKS / 2 : INT32_MAX / 8 / grain;
    t->piece = (uint32_t)plan_tile(chip, t, k, grain, heads * t->table_rows, limit);
    t->q_rows = t->q_heads ? t->piece / t->q_heads : 0;
    t->k_rows = t->k_heads ? t->piece / t->k_heads : 0;
    return t->piece > 0;
}

/* Tokens as they lie in GM: elements from one to the next, and the period of their partners. */
static bool plan_stream(const RopeGradPlan *t, const struct kinds *k, uint32_t heads,
                        uint32_t *pitch, uint32_t *pattern) {
    int64_t wide = (int64_t)heads * t->head, apart = round_up(wide, GM_BLOCK / k->size);
    *pattern = in_blocks(t->head / t->unit, 8);
    *pitch = (uint32_t)least(apart, UINT32_MAX - 31); /* a token that wide is cut into pieces */
    if (apart == wide) return true;
    if (apart / t->unit > ROPE_GRAD_PARTNERS) return false; /* one token at a time */
    *pattern = (uint32_t)(apart / t->unit);
    return true;
}

/* Can 16-bit elements be gathered two at a time? */
static bool in_pairs(const RopeGradPlan *t, const struct kinds *k) {
    return k->size == 2 && t->head % 2 == 0 && t->slice % 2 == 0 && t->rotated % 4 == 0;
}

/* tokens: what a core has of them. */
static bool plan_gathered(const struct ascgrad_chip *chip, RopeGradPlan *t, const struct kinds *k,
                          int64_t tokens) {
    int64_t sharing = most(1, least(least(tokens / RUN, GROUP), t->batch)), widest, grain;
    /* about as many rows of cos as a core needs */
    int64_t positions = tokens / sharing * (t->bits ? 2 : 1) + 2;
    t->unit = in_pairs(t, k) && t->exact ? 2 : 1;
    t->width = in_blocks(t->head, k->halves ? 16 : 8);
    t->table_rows = (uint32_t)most(1, least(least(TABLE / t->width, TABLE_ROWS), positions));
    t->table = (uint32_t)round_up((int64_t)t->table_rows * t->rotated, GM_BLOCK / k->table_size);
    bool q_many = plan_stream(t, k, t->q_heads, &t->q_pitch, &t->q_pattern);
    bool k_many = plan_stream(t, k, t->k_heads, &t->k_pitch, &t->k_pattern);
    bool shared = t->q_pattern == t->k_pattern && t->q_pattern == in_blocks(t->head / t->unit, 8) &&
                  (int64_t)t->q_heads * t->head / t->unit >= t->q_pattern;
    t->places_bytes = (uint32_t)(8 * round_up(most(ROPE_GRAD_SPREAD, t->width), 64) +
                                 (t->exact ? 4 * ROPE_GRAD_PARTNERS * (shared ? 1 : 2) : 0));
    grain = round_up(t->width, 16);
    widest = most(t->q_pitch, t->k_pitch);
    int64_t tile = grain * plan_tile(chip, t, k, grain, ceil_div(widest * t->table_rows, grain),
                                     INT32_MAX / 8 / grain);
    t->q_rows = t->q_heads ? (uint32_t)least(tile / t->q_pitch, q_many ? TABLE_ROWS : 1) : 0;
    t->k_rows = t->k_heads ? (uint32_t)least(tile / t->k_pitch, k_many ? TABLE_ROWS : 1) : 0;
    t->piece = (uint32_t)(tile / t->width * (t->width / t->head));
    return tile > 0;
}

/* Is a gather faster than copies of strips? In cycles of a core, which moves about 18 bytes in one
 * of them; a copy counts as 128 bytes at least, and a quarter more if its ends do not lie at
 * blocks. The vector unit needs `each` for 64 elements, CALL to begin, and what the coefficients of
 * a period take. Fitted to the model. */
static bool gather_pays(const RopeGradPlan *t, const struct kinds *k, int64_t tokens) {
    enum { BYTES = 18, COPY = 128, START = 4000, GATHER = 12, CALL = 9 };
    int64_t heads = (int64_t)t->q_heads + t->k_heads,
            period = in_blocks(t->head, k->halves ? 16 : 8);
    if (period > LONGEST || heads > INT32_MAX / 4) return false;
    bool rest_of_period = t->q_heads % (period / t->head) || t->k_heads % (period / t->head);
    int64_t each = !t->exact ? (k->widened ? 5 : 3) : k->size == 4 ? 16 : in_pairs(t, k) ? 17 : 22;
    int64_t calls = (period / 64 + 1) * (t->exact ? 2 : 1);
    int64_t vector = heads * t->head * each / 64 + 2 * CALL * calls * (rest_of_period ? 2 : 1) +
                     (period / 64 + 1) * (GATHER * (period == t->rotated ? 1 : 2) + 6);
    int64_t gathered = most(vector, 2 * heads * t->head * k->size / BYTES);
    int64_t before = t->slice * k->size, half = t->rotated / 2 * k->size;
    int64_t behind = (t->head - t->slice - t->rotated) * k->size;
    int64_t rest = (before ? most(COPY, before) : 0) + (behind ? most(COPY, behind) : 0);
    int64_t quarters = half % GM_BLOCK || before % GM_BLOCK || behind % GM_BLOCK ? 5 : 4;
    int64_t strips = 2 * heads * (2 * most(COPY, half) + rest) * quarters / 4 / BYTES;
    return gathered < strips && tokens * (strips - gathered) > START;
}

static ascgrad_result plan_buffers(const struct ascgrad_node *node, const struct ascgrad_chip *chip,
                                   RopeGradPlan *t, struct ascgrad_error *error) {
    struct kinds k = see_kinds(node, t);
    int64_t cores = least(most(chip->cores, 1), ROPE_GRAD_CORES);
    int64_t tokens = least(ceil_div(node->in[Q].shape->dim[0], cores), 1 << 20);
    bool in_place =
        t->head % 16 == 0 && t->rotated % 16 == 0 && t->slice % 16 == 0 && t->head <= 2 * WIDEST;
    t->gathered = !in_place && gather_pays(t, &k, tokens);
    if (t->gathered && plan_gathered(chip, t, &k, tokens)) return ASCGRAD_DONE;
    t->gathered = 0;
    t->strips = !in_place;
    if (plan_halves(chip, t, &k)) return ASCGRAD_DONE;
    return ascgrad_refuse(error, node,
                          "the unified buffer of %" PRIu64 " bytes cannot hold a head of %" PRIu32,
                          chip->ub, t->head);
}

/* What the cores before core c have of n. */
static int64_t share(int64_t n, int64_t c, int64_t cores) {
    return n / cores * c + least(n % cores, c);
}

/* Cuts at multiples of `step` tokens, so that no two cores write into one 32-byte block of GM. */
static void cut_tokens(RopeGradMany *all, int64_t tokens, int64_t step, uint32_t cores) {
    RopeGradPlan *t = &all->plan;
    int64_t units = ceil_div(tokens, step), first = 0;
    uint32_t seq = 0, length = length_of(all, 0);
    t->cut_pos[0] = start_of(all, 0);
    for (uint32_t c = 1; c < cores; c++) {
        int64_t token = share(units, c, cores) * step;
        while (token >= first + length) {
            first += length;
            length = length_of(all, ++seq);
        }
        t->cut_token[c] = first;
        t->cut_seq[c] = seq;
        t->cut_pos[c] = start_of(all, seq) + (uint32_t)(token - first);
    }
}

/* One group of sequences, what it costs in heads moved by DMA, and how far the cuts have come in
 * it: to a position, and what is spent before it. */
struct group {
    uint32_t count;
    int64_t tokens, cost;
    int64_t row, position; /* cost of a row of q and k in and out, and of a row of cos and sin */
    uint32_t pos;
    int64_t spent;
    uint32_t start[GROUP], end[GROUP];
};

/* The sequences that have position `pos`, and in *next the position where their number changes. */
static uint32_t live_at(const struct group *g, uint32_t pos, uint32_t *next) {
    uint32_t live = 0;
    *next = UINT32_MAX;
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t change = g->start[i] > pos ? g->start[i] : g->end[i];
        if (change <= pos) continue;
        live += g->start[i] <= pos;
        *next = change < *next ? change : *next;
    }
    return live;
}

/* What a position costs that so many sequences have. */
static int64_t price(const struct group *g, uint32_t live) {
    return live ? live * g->row + g->position : 0;
}

static void see_group(struct group *g, const RopeGradMany *all, uint32_t seq) {
    const RopeGradPlan *t = &all->plan;
    g->count = (uint32_t)least(t->batch - seq, t->group);
    g->tokens = 0;
    g->pos = UINT32_MAX;
    g->spent = 0;
    uint32_t last = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t length = length_of(all, seq + i);
        g->start[i] = start_of(all, seq + i);
        g->end[i] = g->start[i] + length;
        g->tokens += length;
        g->pos = g->start[i] < g->pos ? g->start[i] : g->pos;
        last = g->end[i] > last ? g->end[i] : last;
    }
    g->row = 2 * ((int64_t)t->q_heads + t->k_heads);
    g->position = 2;
    g->cost = g->tokens * g->row + (last - g->pos) * g->position;
    for (uint32_t pos = g->pos, next; t->row_bits > 0 && pos < last; pos = next) {
        if (live_at(g, pos, &next) == 0) { /* between sequences */
            g->cost -= (next - pos) * g->position;
        }
    }
}

/* Advances to the last position before which at most `cost` is spent, less than the whole group's;
 * returns how many rows of that position the rest pays for. */
static uint32_t advance(struct group *g, int64_t cost) {
    for (;;) {
        uint32_t next, live = live_at(g, g->pos, &next);
        int64_t each = price(g, live), rest = cost - g->spent;
        if (rest < each * (next - g->pos)) {
            g->pos += (uint32_t)(rest / each);
            g->spent += rest / each * each;
            return (uint32_t)least(rest % each / g->row, live - 1);
        }
        g->spent += each * (next - g->pos);
        g->pos = next;
    }
}

static void cut_groups(RopeGradMany *all, uint32_t cores) {
    RopeGradPlan *t = &all->plan;
    struct group g;
    int64_t total = 0, spent = 0;
    for (uint32_t seq = 0; seq < t->batch; seq += t->group) {
        see_group(&g, all, seq);
        total += g.cost;
    }
    int64_t token = 0;
    uint32_t seq = 0;
    see_group(&g, all, 0);
    t->cut_pos[0] = g.pos;
    for (uint32_t c = 1; c < cores; c++) {
        int64_t cost = share(total, c, cores);
        while (cost >= spent + g.cost) {
            spent += g.cost;
            token += g.tokens;
            seq += t->group;
            see_group(&g, all, seq);
        }
        t->cut_skip[c] = advance(&g, cost - spent);
        t->cut_token[c] = token;
        t->cut_seq[c] = seq;
        t->cut_pos[c] = g.pos;
    }
}

static uint32_t plan_cores(const struct ascgrad_node *node, const struct ascgrad_chip *chip,
                           RopeGradMany *all) {
    RopeGradPlan *t = &all->plan;
    int64_t size = (int64_t)ascgrad_dtype_size(node->in[Q].dtype), row = t->head * size;
    int64_t tokens = node->in[Q].shape->dim[0];
    int64_t step = most(rows_per_block(row * t->q_heads), rows_per_block(row * t->k_heads));
    int64_t cores = least(most(chip->cores, 1), ROPE_GRAD_CORES);
    cores = least(cores, ceil_div(tokens, step));
    t->group = (uint32_t)(step > 1 ? 1 : most(1, least(tokens / cores / RUN, GROUP)));
    t->stream = tokens > kept_in_l2(chip) / row / ((int64_t)t->q_heads + t->k_heads);
    if (t->group == 1 || t->batch == 1) {
        t->group = 1;
        cut_tokens(all, tokens, step, (uint32_t)cores);
    } else {
        cut_groups(all, (uint32_t)cores);
    }
    t->cut_token[cores] = tokens;
    t->cut_seq[cores] = t->batch;
    return (uint32_t)cores;
}

ascgrad_result ascgrad_tile_rope_grad(const struct ascgrad_node *node,
                                      const struct ascgrad_chip *chip,
                                      struct ascgrad_launch *launch, struct ascgrad_error *error) {
    if (ascgrad_need_later_chip(node, chip, error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
    if (check_shapes(node, error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
    RopeGradMany all;
    RopeGradPlan *t = &all.plan;
    memset(&all, 0, sizeof(RopeGradFew)); /* take_lengths clears the rest, if it is needed */
    t->head = (uint32_t)head_size(node);
    t->rotated = (uint32_t)node->in[COS].shape->dim[1];
    t->slice = (uint32_t)node->attr[SLICE_START].i;
    t->q_heads = (uint32_t)(node->in[Q].shape->dim[1] / t->head);
    t->k_heads = (uint32_t)(node->in[K].shape->dim[1] / t->head);
    t->exact = node->attr[EXACT].i != 0;
    if (take_lengths(node, &all, error) != ASCGRAD_DONE ||
        plan_buffers(node, chip, t, error) != ASCGRAD_DONE) {
        return ASCGRAD_REFUSED;
    }
    if (t->q_heads + t->k_heads == 0) {
        t->batch = 0; /* no columns, no work */
    }
    bool many = is_many(t);
    launch->key = many;
    launch->block_dim = t->batch ? plan_cores(node, chip, &all) : 1;
    launch->workspace = 0;
    launch->sync_all = false;
    return ascgrad_put(launch, node, &all, many ? sizeof all : sizeof(RopeGradFew), error);
}
