/* SPDX-License-Identifier: Apache-2.0
 *
 * One call of infer or tiling from a row of text, with no GE and no twin in sight. The words of
 * op_reference, and more:
 *
 *     q=fp16[2,3]      an input, with any dtype that core/node.c has a name for
 *     q=fp16           an input that GE gave no shape for
 *     out.dx=fp16[2]   an output as the graph has it
 *     mode=1           an attribute; a list is 1,2,3
 *     cores=3 ub=9000 capacity=8      the chip, and the room for tiling data
 *     rank26=0                        input 0 has an impossible rank
 *     ones=2049                       attribute 0 is a list of so many ones
 *     nolist=1 nokind=1               attribute 0 has no list, or is not one
 */
#ifndef ASCGRAD_TEST_ROWS_H
#define ASCGRAD_TEST_ROWS_H

#include "../../core/node.h"

enum { LIST_MAX = 2200 };

struct row_call {
    const struct ascgrad_ir *ir;
    ascgrad_infer_fn *infer;
    ascgrad_infer_dtype_fn *infer_dtype;
    ascgrad_tile_fn *tile;
    struct ascgrad_node node;
    struct ascgrad_shape in[ASCGRAD_MAX_INPUTS], out[ASCGRAD_MAX_OUTPUTS];
    int64_t list[LIST_MAX], second_list[LIST_MAX];
    struct ascgrad_chip chip;
    struct ascgrad_launch launch;
    unsigned char data[16384];
    struct ascgrad_error error;
};

/* star: the dtype that * stands for. False if the row makes no sense; error.text says why. */
bool row_read(struct row_call *c, const char *op, const char *text, const char *star);

ascgrad_result row_infer(struct row_call *c); /* outputs into c->out */
ascgrad_result row_tile(struct row_call *c);

/* "dx=fp16[2,3] dr1=fp16[1,3]": what infer found. */
void row_print_outputs(const struct row_call *c, char *text, size_t size);

#endif
