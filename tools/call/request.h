/* SPDX-License-Identifier: Apache-2.0
 *
 * A call put together from words: dtypes, shapes, attribute values. One parser for the command and
 * for the rows of `ascgrad check`.
 */
#ifndef ASCGRAD_TOOLS_REQUEST_H
#define ASCGRAD_TOOLS_REQUEST_H

#include "../../twin/ascgrad.h"

/* One operator call being put together. All storage is owned by the request; release with
 * request_free. */
struct request {
    uint32_t number; /* of the operator */
    struct ascgrad_op_info op;
    struct ascgrad_tensor in[ASCGRAD_INPUTS_MAX], out[ASCGRAD_OUTPUTS_MAX];
    struct ascgrad_setting attr[ASCGRAD_ATTRS_MAX];
    void *list[ASCGRAD_ATTRS_MAX]; /* storage of list attributes */
    const char *soc;
    uint32_t cores;
    bool fast;
    const char *trace;
    const struct ascgrad_watch *watch;
};

const char *text_dtype(int32_t dtype);                          /* "fp32", ... */
int64_t text_tensor_bytes(const struct ascgrad_tensor *tensor); /* -1 on overflow */
int64_t text_tensor_elements(const struct ascgrad_tensor *tensor);

/* "bf16[2,-1,5,128]" -> dtype, rank, dims. false if it is something else. */
bool text_parse_spec(const char *text, struct ascgrad_tensor *tensor);

/* "2,-1,5" as it is printed inside brackets. */
void text_print_dims(char *out, size_t size, const struct ascgrad_tensor *tensor);

/* false: no such operator. */
bool request_begin(struct request *request, const char *op);
void request_free(struct request *request);
void request_free_outputs(struct request *request);
/* Outputs without a shape are inferred, and those without data made, where they are needed. */
struct ascgrad_call request_call(struct request *request);

int request_input(const struct request *request, const char *name);  /* index or -1 */
int request_output(const struct request *request, const char *name); /* index or -1 */

/* The fewest digits that give this float back, as in "1e-05". */
struct text_float {
    char s[24];
};
const char *text_print_float(float value, struct text_float *buffer);

/* "mode=1", "epsilon=1e-5", "qSeqLen=5,7,9": false with a sentence in why. */
bool request_attr(struct request *request, const char *text, char why[ASCGRAD_WHY]);

#endif
