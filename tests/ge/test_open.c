/* SPDX-License-Identifier: Apache-2.0
 *
 * What GE's layout leaves open must not change an answer: reserved bytes, padding, dimensions
 * behind the rank, descriptions of absent inputs, slots that are not ours to read. The rows of
 * tests/cases, good and bad, go through every call twice: with zeros there, and with random bytes
 * or what malloc gives (which MALLOC_PERTURB_ decides). Status, answer and sentence must be the
 * same, and what is not the answer must be as it was. Then each input in turn has no tensor in its
 * slot, which is the same as an input that is not connected.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../op_tiling/rows.h"
#include "probes.h"

enum { CONTEXTS = 10000, CAPACITY = 16384, MAX_RANK = 8, MAX_LIST = 16 };

enum call { SHAPE, RANGE, DTYPE, TILING_8_1, TILING_2026, TILING_ACLNN, CALLS };
static const char *const call_names[CALLS] = {"infer shape",      "infer range",  "infer dtype",
                                              "tiling, CANN 8.1", "tiling, 2026", "tiling, aclnn"};

static const struct {
    const char *op, *text;
} rows[] = {
#define CASE(op, text)          {op, text},
#define REFUSE(op, text, words) {op, text},
#include "ascgrad_rows.h"
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* ---- a row as a node of fake GE */

struct row_node {
    struct row_call call;
    struct fake_tensor in[ASCGRAD_MAX_INPUTS], out[ASCGRAD_MAX_OUTPUTS];
    struct fake_attr attr[ASCGRAD_MAX_ATTRS];
    struct fake_node node;
};

static bool put_tensor(struct fake_tensor *to, const struct ascgrad_arg *from) {
    *to = (struct fake_tensor){.absent = !from->present, .dtype = from->dtype};
    if (!from->present) return true;
    if (!from->shape || from->shape->rank > MAX_RANK) return false;
    to->rank = (int64_t)from->shape->rank;
    for (int64_t i = 0; i < to->rank; i++)
        to->dim[i] = to->max[i] = from->shape->dim[i];
    return true;
}

/* False for what fake GE has no room for. */
static bool make_node(struct row_node *r, size_t row, const char *star) {
    struct row_call *c = &r->call;
    if (!row_read(c, rows[row].op, rows[row].text, star)) return false;
    const bool inferred = row_infer(c) == ASCGRAD_DONE;
    for (uint32_t i = 0; i < c->ir->inputs; i++)
        if (!put_tensor(&r->in[i], &c->node.in[i])) return false;
    for (uint32_t o = 0; o < c->ir->outputs; o++) {
        r->out[o] = (struct fake_tensor){.rank = 1, .dim = {-1}};
        if (inferred && !put_tensor(&r->out[o], &c->node.out[o])) return false;
    }
    for (uint32_t a = 0; a < c->ir->attrs; a++) {
        static const char kinds[] = {
            [ASCGRAD_ATTR_INT] = 'i', [ASCGRAD_ATTR_BOOL] = 'b', [ASCGRAD_ATTR_LIST_INT] = 'l'};
        const struct ascgrad_attr *from = &c->node.attr[a];
        if (from->count > MAX_LIST) return false;
        r->attr[a] =
            (struct fake_attr){.kind = kinds[from->kind], .i = from->i, .count = from->count};
        if (from->count) memcpy(r->attr[a].list, from->list, 8 * from->count);
    }
    r->node = (struct fake_node){c->ir->type,    "row",   r->in,        r->out, c->ir->inputs,
                                 c->ir->outputs, r->attr, c->ir->attrs, false};
    return true;
}

/* ---- a call and its answer, as bytes */

struct answer {
    uint32_t status;
    size_t size;
    uint8_t bytes[32768];
    char said[512];
};

static void add(struct answer *a, const void *bytes, size_t size) {
    if (a->size + size > sizeof a->bytes) abort();
    memcpy(a->bytes + a->size, bytes, size);
    a->size += size;
}

static void add_shape(struct answer *a, const uint8_t *shape) {
    const uint64_t rank = get64(shape, 0);
    add(a, shape, 8 + 8 * (rank > ASCGRAD_MAX_RANK ? 0 : rank));
}

static void add_tiling(struct answer *a, const struct fake_ge *ge) {
    uint8_t *const *slot = ge->slot + ge->inputs;
    add(a, slot[0], 8);
    add(a, slot[1], 4);
    add(a, ge->tiling_data + 8, 8);
    add(a, ge->tiling_buffer, get64(ge->tiling_data, 8));
    add(a, ge->workspace + 8, 8);
    add(a, ge->workspace + 56, 8);
}

/* Bytes of the output slots that a call may write, from the front; none of what lies behind them,
 * and nothing at all when it refuses. */
static size_t may_write(enum call call, uint64_t output) {
    if (call == DTYPE) return 4;
    if (call < TILING_8_1) return 0;
    return output == 0 ? 8 : output == 1 || output == 6 ? 4 : 0;
}

/* hide: an IR input of which the slot has no tensor, or -1. */
static bool ask(enum call call, struct row_node *r, int hide, struct answer *a) {
    static const volatile char all_chips[ASCGRAD_CHIPS] = "ascend910b";
    const struct ascgrad_ir *ir = r->call.ir;
    struct fake_ge ge;
    uint8_t before[FAKE_SLOTS][16];
    r->node.aclnn = call == TILING_ACLNN;
    if (call == SHAPE) fake_infer_shape(&ge, &r->node);
    if (call == RANGE) fake_infer_range(&ge, &r->node);
    if (call == DTYPE) fake_infer_dtype(&ge, &r->node);
    if (call >= TILING_8_1)
        fake_tiling(&ge, &r->node, call == TILING_8_1 ? FAKE_8_1 : FAKE_2026, chip_8_1,
                    call == TILING_ACLNN ? NULL : ge_compile_info(), CAPACITY);
    if (hide >= 0) put64(ge.slot[get32(ge.info, 80 + 48 * (uint64_t)hide)], 0, 0);
    for (uint64_t o = 0; o < ge.outputs; o++)
        memcpy(before[o], ge.slot[ge.inputs + o], 16);
    logged[0] = '\0';
    if (call == SHAPE) a->status = ascgrad_ge_infer_shape(ge.context, ir, r->call.infer);
    if (call == RANGE) a->status = ascgrad_ge_infer_shape_range(ge.context, ir, r->call.infer);
    if (call == DTYPE) a->status = ascgrad_ge_infer_dtype(ge.context, ir, r->call.infer_dtype);
    if (call >= TILING_8_1) a->status = ascgrad_ge_tiling(ge.context, ir, r->call.tile, all_chips);
    a->size = 0;
    memcpy(a->said, logged, sizeof a->said);
    bool kept = true;
    const bool done = a->status == GE_SUCCESS;
    for (uint64_t o = 0; o < ge.outputs; o++) {
        const size_t written = done ? may_write(call, o) : 0;
        const uint8_t *slot = ge.slot[ge.inputs + o];
        kept &= memcmp(slot + written, before[o] + written, 16 - written) == 0;
        if (done && call == DTYPE) add(a, slot, 4);
        /* the schedule mode is an answer only where it is given */
        if (done && call >= TILING_8_1 && o == 6) add(a, &(bool){get32(slot, 0) == 1}, 1);
    }
    for (uint64_t o = 0; done && call <= RANGE && o < ge.n_out * (call == RANGE ? 2 : 1); o++)
        add_shape(a, ge.tensor[o]);
    if (done && call >= TILING_8_1) add_tiling(a, &ge);
    fake_end(&ge);
    return kept;
}

static bool same(const struct answer *a, const struct answer *b) {
    return a->status == b->status && a->size == b->size && !memcmp(a->bytes, b->bytes, a->size) &&
           !strcmp(a->said, b->said);
}

/* ---- */

static int asked, accepted, hidden_inputs, failures, of_type[16];

/* Whether the row is accepted. */
static bool check(struct row_node *r, size_t row, enum call call) {
    static struct answer zeros, other;
    static const char *const names[] = {"", "random bytes", "what malloc gives"};
    fake_open = FAKE_ZEROS;
    bool kept = ask(call, r, -1, &zeros);
    for (fake_open = FAKE_RANDOM; fake_open <= FAKE_AS_MALLOC_GIVES; fake_open++) {
        const uint64_t seed = fake_seed;
        kept &= ask(call, r, -1, &other);
        if (!kept || !same(&zeros, &other)) {
            failures++;
            fprintf(stderr, "%s %s\n  %s, seed %llu, %s: %s\n  with zeros: %u %s\n  else: %u %s\n",
                    rows[row].op, rows[row].text, call_names[call], (unsigned long long)seed,
                    names[fake_open], kept ? "another answer" : "wrote where it must not",
                    zeros.status, zeros.said, other.status, other.said);
        }
    }
    asked++;
    accepted += zeros.status == GE_SUCCESS;
    for (uint32_t i = 0; i < ascgrad_ir_count; i++)
        of_type[i] += r->call.ir == &ascgrad_ir_table[i];
    return zeros.status == GE_SUCCESS;
}

static void check_hidden(struct row_node *r, size_t row, enum call call) {
    static struct answer absent, hidden;
    fake_open = FAKE_RANDOM;
    for (uint32_t i = 0; i < r->call.ir->inputs; i++) {
        if (r->in[i].absent || call == DTYPE) continue;
        ask(call, r, (int)i, &hidden);
        r->in[i].absent = true;
        ask(call, r, -1, &absent);
        r->in[i].absent = false;
        const struct ascgrad_ir_arg *arg = &r->call.ir->in[i];
        const bool needed = !arg->optional && call >= TILING_8_1; /* inference may do without */
        const bool named = hidden.status == GE_FAILED && strstr(hidden.said, arg->name);
        if (!same(&absent, &hidden) || (needed && !named)) {
            failures++;
            fprintf(stderr, "%s %s\n  %s, %s without a tensor: %u %s\n  not connected: %u %s\n",
                    rows[row].op, rows[row].text, call_names[call], arg->name, hidden.status,
                    hidden.said, absent.status, absent.said);
        }
        hidden_inputs++;
    }
}

/* If the environment asks for a byte, malloc must really give it: the second time too, when it
 * could hand out what was just freed. */
static bool perturbed(void) {
    const char *value = getenv("MALLOC_PERTURB_");
    bool good = true;
    for (int i = 0; value && i < 2; i++) {
        uint8_t *p = malloc(752), *q = malloc(752);
        good &= p && p[400] == (0xFF ^ (uint8_t)atoi(value));
        if (p) memset(p, 0, 752);
        free(p);
        free(q);
    }
    return good;
}

int main(void) {
    static const char *const stars[] = {"fp32", "fp16", "bf16"};
    static struct row_node r;
    if (!perturbed()) {
        fprintf(stderr, "MALLOC_PERTURB_ has no effect here; set tcache_count=0 as ctest does\n");
        return 1;
    }
    fake_seed = 20261116;
    printf("seed %llu\n", (unsigned long long)fake_seed);
    for (int round = 0; asked < CONTEXTS && failures < 10; round++) {
        for (size_t row = 0; row < ROWS && failures < 10; row++) {
            if (!make_node(&r, row, stars[round % 3])) continue;
            for (enum call call = SHAPE; call < CALLS; call++)
                if (check(&r, row, call) && round == 0) check_hidden(&r, row, call);
        }
    }
    for (uint32_t i = 0; i < ascgrad_ir_count; i++) {
        printf("%s: %d\n", ascgrad_ir_table[i].type, of_type[i]);
        failures += of_type[i] == 0; /* no rows for this type: nothing was tested */
    }
    printf("%d contexts, %d of them accepted, %d inputs hidden, %d failures\n", asked, accepted,
           hidden_inputs, failures);
    return failures != 0 || accepted < asked / 4;
}
