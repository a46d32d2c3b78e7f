/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of op_reference, what they read as, and the double-precision reference of a call: what
 * `ascgrad check` and `ascgrad accept` have in common.
 */
#ifndef ASCGRAD_TOOLS_CHECK_H
#define ASCGRAD_TOOLS_CHECK_H

#include "../../op_reference/reference.h"
#include "../call/request.h"
#include "values.h"

struct row {
    const char *op, *text, *refusal; /* refusal: words its sentence must have, or NULL */
};

/* Row number index, or NULL past the last one. Large rows are a list of their own. */
const struct row *check_row(size_t index);
const struct row *check_large_row(size_t index);

/* The row as a request, with star ("fp16") for every *. False with a sentence in why; release the
 * request in both cases. */
bool check_read_row(struct request *r, const struct row *row, const char *star, enum fill *fill,
                    char *why);
uint64_t check_seed(const struct row *row);

/* Memory for n tensors, filled with rubbish. */
bool check_make_data(struct ascgrad_tensor *t, uint32_t n, char *why);

/* What the outputs of a call must be. False: no memory. Release in both cases. */
bool check_reference(const struct request *r, struct ref_tensor out[]);
void check_reference_free(const struct request *r, struct ref_tensor out[]);

/* Bits, except that any NaN is as good as another. */
bool check_same_values(const struct ascgrad_tensor *t, const void *a, const void *b);

#endif
