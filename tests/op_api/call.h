/* SPDX-License-Identifier: Apache-2.0
 *
 * One call of an aclnn function from a row of text (tests/op_tiling/rows.h): tensors on the device
 * with random contents, dense or with gaps, and the outputs that the twin gives for the same
 * inputs.
 */
#ifndef ASCGRAD_TEST_CALL_H
#define ASCGRAD_TEST_CALL_H

#include "../../op_api/include/ascgrad_acl.h"
#include "../op_tiling/rows.h"

union call_value {
    int64_t i;
    bool b;
    double f;
    const aclIntArray *list;
    const aclFloatArray *reals;
};

/* Both halves of a function, the first with arrays of arguments. Ends with a NULL type. */
struct call_functions {
    const char *type, *name;
    aclnnStatus (*prepare)(const aclTensor *const in[], const union call_value attr[],
                           const aclTensor *const out[], uint64_t *size, aclOpExecutor **executor);
    aclnnStatus (*run)(void *workspace, uint64_t size, aclOpExecutor *executor, aclrtStream stream);
};
extern const struct call_functions call_functions[];

struct call_tensor {
    aclTensor *acl; /* NULL: absent */
    void *device;   /* memory of the tensor, gaps included */
    uint8_t *dense; /* inputs: contents; outputs: what is expected */
    size_t bytes;   /* of dense */
};

struct call {
    const struct call_functions *functions;
    struct row_call row;
    struct call_tensor in[ASCGRAD_MAX_INPUTS], out[ASCGRAD_MAX_OUTPUTS];
    union call_value attr[ASCGRAD_MAX_ATTRS];
    aclIntArray *list, *second_list;
    aclFloatArray *reals;
    uint64_t random;
};

uint64_t call_draw(struct call *c, uint64_t n); /* 0 .. n - 1 */

/* Reads the row and its shapes, nothing else; false if it makes no sense or infer refuses it. */
bool call_read(struct call *c, const char *type, const char *row, const char *dtype, uint64_t seed);
int64_t call_elements(const struct call *c); /* of all tensors */

/* Makes the tensors. gaps: inputs in any order of axes, with holes; outputs with an offset. */
void call_make(struct call *c, bool gaps);
aclnnStatus call_prepare(struct call *c, uint64_t *size, aclOpExecutor **executor);

/* Both halves, with a workspace made for the call unless there is room in the one given. */
struct call_workspace {
    void *at;
    uint64_t size;
};
aclnnStatus call_run(struct call *c, struct call_workspace *workspace);

/* Runs the operator on the twin and compares; NULL, or what is different. */
const char *call_compare(struct call *c);
void call_end(struct call *c);

#endif
