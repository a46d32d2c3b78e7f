/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of op_reference through infer and tiling alone, in milliseconds: a CASE is accepted on
 * every chip, also with the output shapes that infer gave, and infer takes it with dimensions and
 * ranks that are not known yet; a REFUSE is refused with its words. Then
 * the tables of this folder: what infer answers, and refusals that a row of op_reference cannot
 * reach because infer refuses first.
 */
#include <stdio.h>

#include "rows.h"

enum kind { ACCEPT, EITHER, TILE_ONLY, TILES, INFER_ONLY, OUTPUTS };

static const struct row {
    enum kind kind;
    const char *op, *text, *words;
} rows[] = {
#define CASE(op, text)                {ACCEPT, op, text, NULL},
#define REFUSE(op, text, words)       {EITHER, op, text, words},
#define TILE_REFUSE(op, text, words)  {TILE_ONLY, op, text, words},
#define TILE_ACCEPT(op, text)         {TILES, op, text, NULL},
#define INFER_REFUSE(op, text, words) {INFER_ONLY, op, text, words},
#define INFER(op, text, outputs)      {OUTPUTS, op, text, outputs},
#include "ascgrad_rows.h"
#include "refusals.h"
};

static bool accepted(struct row_call *c) {
    static const struct ascgrad_chip chips[] = {
        {48, 2201, 196352, 0}, {1, 2201, 196352, 0}, {64, 3510, 253952, 0}, {7, 3510, 253952, 0}};
    for (int with_outputs = 0; with_outputs < 2; with_outputs++) {
        if (with_outputs && row_infer(c) != ASCGRAD_DONE) return false;
        for (size_t i = 0; i < sizeof chips / sizeof chips[0]; i++) {
            c->chip = chips[i];
            if (row_tile(c) != ASCGRAD_DONE) return false;
            if (c->launch.block_dim < 1 || c->launch.block_dim > chips[i].cores) {
                snprintf(c->error.text, sizeof c->error.text, "block_dim %u", c->launch.block_dim);
                return false;
            }
        }
    }
    return true;
}

/* Does infer, of this input (past the last one: of all) knowing no dimension or no rank, say
 * nothing else than it said of the whole row? */
static bool agrees_unknown(struct row_call *c, uint32_t input, bool rank) {
    static struct ascgrad_shape in[ASCGRAD_MAX_INPUTS], out[ASCGRAD_MAX_OUTPUTS];
    memcpy(in, c->in, sizeof in);
    memcpy(out, c->out, sizeof out);
    for (uint32_t i = 0; i < c->ir->inputs; i++) {
        if (i != input && input < c->ir->inputs) continue;
        if (rank) c->in[i].rank = 1;
        for (uint32_t k = 0; k < c->in[i].rank; k++)
            c->in[i].dim[k] = rank ? ASCGRAD_UNKNOWN_RANK : ASCGRAD_UNKNOWN_DIM;
    }
    bool good = row_infer(c) == ASCGRAD_DONE;
    for (uint32_t i = 0; good && i < c->ir->outputs; i++) {
        const struct ascgrad_shape *shape = &c->out[i];
        if (!ascgrad_rank_known(shape)) continue;
        good = shape->rank == out[i].rank;
        for (uint32_t k = 0; good && k < shape->rank; k++)
            good = shape->dim[k] == ASCGRAD_UNKNOWN_DIM || shape->dim[k] == out[i].dim[k];
        if (!good)
            snprintf(c->error.text, sizeof c->error.text, "another shape of output %u, input %u %s",
                     i, input, rank ? "of unknown rank" : "of unknown dimensions");
    }
    memcpy(c->in, in, sizeof in);
    memcpy(c->out, out, sizeof out);
    return good;
}

static bool judge(struct row_call *c, const struct row *row, char *said, size_t size) {
    ascgrad_result result = ASCGRAD_DONE;
    if (row->kind == ACCEPT) {
        bool good = accepted(c);
        for (uint32_t i = 0; good && i <= c->ir->inputs; i++)
            good = agrees_unknown(c, i, false) && agrees_unknown(c, i, true);
        snprintf(said, size, "%s", c->error.text);
        return good;
    }
    if (row->kind == TILES) {
        result = row_tile(c);
        snprintf(said, size, "%s", c->error.text);
        return result == ASCGRAD_DONE && c->launch.block_dim >= 1;
    }
    if (row->kind != TILE_ONLY) result = row_infer(c);
    if (row->kind == OUTPUTS) {
        row_print_outputs(c, said, size);
        if (result != ASCGRAD_DONE) snprintf(said, size, "%s", c->error.text);
        return result == ASCGRAD_DONE && strcmp(said, row->words) == 0;
    }
    if (result == ASCGRAD_DONE && row->kind != INFER_ONLY) result = row_tile(c);
    snprintf(said, size, "%s", result == ASCGRAD_DONE ? "nothing" : c->error.text);
    return result == ASCGRAD_REFUSED && strstr(c->error.text, row->words) != NULL;
}

int main(void) {
    static const char *const stars[] = {"fp32", "fp16", "bf16"};
    static struct row_call c;
    int passed = 0, failed = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int k = 0; k < (strchr(rows[i].text, '*') ? 3 : 1); k++) {
            char said[2000];
            bool good = row_read(&c, rows[i].op, rows[i].text, stars[k]);
            snprintf(said, sizeof said, "%s", c.error.text);
            if (good) good = judge(&c, &rows[i], said, sizeof said);
            good ? passed++ : failed++;
            if (!good)
                printf("FAIL %s %s (%s)\n     expected: %s\n     said:     %s\n", rows[i].op,
                       rows[i].text, stars[k], rows[i].words ? rows[i].words : "accepted", said);
        }
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
