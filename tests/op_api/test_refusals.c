/* SPDX-License-Identifier: Apache-2.0
 *
 * What the aclnn functions answer when a call is not good, and to the calls at the edge that are:
 * codes as documented, and the sentence that aclGetRecentErrMsg shows.
 */
#include "call.h"

#include "acl/acl.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

enum { NULL_POINTER = 161001, INVALID = 161002, TILING = 561002 };

#define SEGSUM "grad_output=*[2,3,8,8] grad_self=*[2,3,8,8]"
#define ROPE   "q=*[11,128] k=*[11,128] cos=*[11,64] sin=*[11,64] qSeqLen=2,1,4,4"
#define ROTARY "dy=*[2,3,4,32] cos=*[1,3,1,32] sin=*[1,3,1,32] x=*[2,3,4,32] mode=1"
#define MUL    "x=*[2,3,4,32] r1=*[1,3,1,32] r2=*[1,3,1,32] dy=*[2,3,4,32]"
#define CONCAT                                                                                     \
    "grad_query_output=*[1,2,5,16] grad_key_output=*[1,2,7,16] grad_value_output=*[1,2,7,16] "     \
    "query=*[1,3,2,16] key=*[1,4,2,16] encoder_query=*[1,2,2,16] encoder_key=*[1,3,2,16] "         \
    "rope_sin=*[2,16] rope_cos=*[2,16] norm_query_mean=fp32[1,3,2,1] "                             \
    "norm_query_rstd=fp32[1,3,2,1] norm_key_mean=fp32[1,4,2,1] norm_key_rstd=fp32[1,4,2,1] "       \
    "norm_type=1 rope_type=2"

static const struct {
    const char *type, *row;
} good[] = {
    {"ExpSegsumGrad", SEGSUM},
    {"RopeGrad", ROPE},
    {"RotaryPositionEmbeddingGrad", ROTARY},
    {"RotaryMulGrad", MUL},
    {"NormRopeConcatGrad", CONCAT},
};
enum { GOOD = sizeof good / sizeof good[0], HOLE = 0x5a };

static struct call call;
static struct call_workspace workspace;

static void make(const char *type, const char *row, const char *dtype) {
    assert_true(call_read(&call, type, row, dtype, 1));
    call_make(&call, false);
    while (aclGetRecentErrMsg()) {
    }
}

/* The call in `call` ends with this code and a sentence that begins with the function's name and
 * has these words; then it is taken down. */
static void refused(aclnnStatus code, const char *words) {
    char start[96];
    const aclnnStatus got = call_run(&call, &workspace);
    const char *message = aclGetRecentErrMsg();
    snprintf(start, sizeof start, "EU0001: %s", code == TILING ? "" : call.functions->name);
    if (got != code || !message || !strstr(message, start) || !strstr(message, words)) {
        fail_msg("%s: code %d, not %d; '%s', not '%s'", call.functions->name, got, code,
                 message ? message : "", words);
    }
    call_end(&call);
}

static void accepted(void) {
    const aclnnStatus got = call_run(&call, &workspace);
    const char *message = aclGetRecentErrMsg();
    if (got != ACL_SUCCESS || message) {
        fail_msg("%s: code %d, '%s'", call.functions->name, got, message ? message : "");
    }
    const char *why = call_compare(&call);
    if (why) {
        fail_msg("%s: %s", call.functions->name, why);
    }
    call_end(&call);
}

static void drop(struct call_tensor *t) {
    aclDestroyTensor(t->acl);
    t->acl = NULL;
}

/* In place of a tensor one of the same memory with another description. */
static void put(struct call_tensor *t, const struct ascgrad_shape *s, aclDataType dtype,
                aclFormat format) {
    drop(t);
    t->acl = aclCreateTensor(s->dim, s->rank, dtype, NULL, 0, format, s->dim, s->rank, t->device);
    assert_non_null(t->acl);
}

static void good_calls(void **state) {
    (void)state;
    for (size_t i = 0; i < GOOD; i++) {
        make(good[i].type, good[i].row, "bf16");
        accepted();
    }
}

/* Every pointer that must be given, left out in turn. */
static void null_pointers(void **state) {
    (void)state;
    for (size_t i = 0; i < GOOD; i++) {
        const bool concat = strcmp(good[i].type, "NormRopeConcatGrad") == 0;
        for (uint32_t k = 0; k < ASCGRAD_MAX_INPUTS + ASCGRAD_MAX_OUTPUTS; k++) {
            make(good[i].type, good[i].row, "fp16");
            const struct ascgrad_ir *ir = call.row.ir;
            const uint32_t o = k - ir->inputs;
            if (k < ir->inputs && !ir->in[k].optional) {
                drop(&call.in[k]);
                refused(NULL_POINTER, "must not be NULL");
            } else if (k >= ir->inputs && o < ir->outputs && (!concat || o < 3)) {
                drop(&call.out[o]);
                refused(NULL_POINTER, "must not be NULL");
            } else {
                call_end(&call);
            }
        }
    }
    make("RopeGrad", ROPE, "fp16");
    call.attr[0].list = NULL;
    refused(NULL_POINTER, "qSeqLen must not be NULL");
}

static void null_results(void **state) {
    (void)state;
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    make("ExpSegsumGrad", SEGSUM, "fp16");
    assert_int_equal(call_prepare(&call, NULL, &executor), NULL_POINTER);
    assert_int_equal(call_prepare(&call, &size, NULL), NULL_POINTER);
    assert_int_equal(call.functions->run(NULL, 0, NULL, NULL), NULL_POINTER);
    assert_int_equal(call_prepare(&call, &size, &executor), ACL_SUCCESS);
    assert_true(size > 0);
    assert_int_equal(call.functions->run(NULL, size, executor, NULL), NULL_POINTER);
    void *small = NULL;
    assert_int_equal(aclrtMalloc(&small, size - 1, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    assert_int_equal(call.functions->run(small, size - 1, executor, NULL), INVALID);
    aclrtFree(small);
    call_end(&call);
}

/* Every tensor in turn with a dtype that is not its own, and in a layout that is not plain. */
static void dtypes_and_formats(void **state) {
    (void)state;
    for (size_t i = 0; i < GOOD; i++) {
        for (uint32_t k = 0; k < ASCGRAD_MAX_INPUTS + ASCGRAD_MAX_OUTPUTS; k++) {
            for (int spoil = 0; spoil < 3; spoil++) {
                make(good[i].type, good[i].row, "fp32");
                const struct ascgrad_node *node = &call.row.node;
                const bool input = k < node->ir->inputs;
                const uint32_t o = k - node->ir->inputs;
                if (input ? !node->in[k].present : o >= node->ir->outputs) {
                    call_end(&call);
                    continue;
                }
                const aclDataType dtype = spoil == 0   ? ACL_INT32
                                          : spoil == 1 ? ACL_FLOAT16
                                                       : ACL_FLOAT;
                put(input ? &call.in[k] : &call.out[o], input ? &call.row.in[k] : &call.row.out[o],
                    dtype, spoil == 2 ? ACL_FORMAT_FRACTAL_NZ : ACL_FORMAT_ND);
                if (!input && spoil < 2 && call.out[o].bytes == 0) {
                    assert_int_equal(call_run(&call, &workspace), ACL_SUCCESS); /* nobody's */
                    call_end(&call);
                    continue;
                }
                refused(INVALID, spoil == 2 ? "must be ND" : "must be");
            }
        }
    }
}

/* The means stay fp32 where everything else is fp16. */
static void mixed_dtypes(void **state) {
    (void)state;
    make("NormRopeConcatGrad", CONCAT, "fp16");
    put(&call.in[8], &call.row.in[8], ACL_FLOAT16, ACL_FORMAT_ND);
    refused(INVALID, "normQueryMean is fp16, but beside gradQueryOutput of fp16 it must be fp32");
}

/* An output with a hole behind every element; its memory, or NULL if it has no elements. */
static uint8_t *spread(struct call_tensor *t, const struct ascgrad_shape *s, int32_t dtype) {
    int64_t stride[ASCGRAD_MAX_RANK], step = 2;
    if (t->bytes == 0) return NULL;
    for (uint64_t k = s->rank; k-- > 0; step *= s->dim[k])
        stride[k] = step;
    const size_t bytes = (size_t)step * ascgrad_dtype_size(dtype);
    uint8_t *wide = malloc(bytes);
    assert_non_null(wide);
    memset(wide, HOLE, bytes);
    drop(t);
    t->acl = aclCreateTensor(s->dim, s->rank, (aclDataType)dtype, stride, 0, ACL_FORMAT_ND, &step,
                             1, wide);
    return wide;
}

/* Takes the elements out of the holes, which must be as they were. */
static void collect(struct call_tensor *t, const uint8_t *wide, size_t size) {
    for (size_t k = 0; k < t->bytes / size; k++) {
        memcpy((uint8_t *)t->device + k * size, wide + 2 * k * size, size);
        for (size_t j = 0; j < size; j++)
            assert_int_equal(wide[(2 * k + 1) * size + j], HOLE);
    }
}

/* Every output in turn, and all at once, with gaps: the results come to their places, and what is
 * between them stays. Then once more without gaps, with the same executors from the pool. */
static void with_gaps(const char *type, const char *row, const char *dtype) {
    make(type, row, dtype);
    const uint32_t outputs = call.row.ir->outputs;
    call_end(&call);
    for (uint32_t which = 0; which <= outputs; which++) {
        uint8_t *wide[ASCGRAD_MAX_OUTPUTS] = {NULL};
        make(type, row, dtype);
        for (uint32_t o = 0; o < outputs; o++)
            if (which == outputs || which == o)
                wide[o] = spread(&call.out[o], &call.row.out[o], call.row.node.out[o].dtype);
        const aclnnStatus got = call_run(&call, &workspace);
        if (got != ACL_SUCCESS)
            fail_msg("%s, %s, %u: %d, %s", call.functions->name, dtype, which, got,
                     aclGetRecentErrMsg());
        for (uint32_t o = 0; o < outputs; o++)
            if (wide[o])
                collect(&call.out[o], wide[o], ascgrad_dtype_size(call.row.node.out[o].dtype));
        const char *why = call_compare(&call);
        if (why) fail_msg("%s, %s, %u: %s", call.functions->name, dtype, which, why);
        call_end(&call);
        for (uint32_t o = 0; o < outputs; o++)
            free(wide[o]);
        make(type, row, dtype);
        accepted();
    }
}

static void outputs_with_gaps(void **state) {
    (void)state;
    static const char *const dtypes[] = {"bf16", "fp16", "fp32"};
    for (size_t i = 0; i < GOOD; i++)
        for (size_t d = 0; d < 3; d++)
            with_gaps(good[i].type, good[i].row, dtypes[d]);
}

/* Do the inputs have dtypes that do not go together? That is refused before tiling. */
static bool mixed(void) {
    struct ascgrad_node node = call.row.node;
    memset(node.out, 0, sizeof node.out);
    return ascgrad_column(&node) < 0;
}

/* Tiling's sentences, and its code. */
static void shapes_and_values(void **state) {
    (void)state;
    static const struct {
        const char *type, *text, *words;
    } rows[] = {
#define CASE(type, text)
#define REFUSE(type, text, words) {type, text, words},
#include "ascgrad_rows.h"
#undef CASE
#undef REFUSE
    };
    int tried = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (call_read(&call, rows[i].type, rows[i].text, "fp16", 1) && call_elements(&call) > 0 &&
            call_elements(&call) < 100000) {
            make(rows[i].type, rows[i].text, "fp16");
            if (call.out[0].bytes == 0) {
                call_end(&call); /* nothing to do: nobody asks tiling */
                continue;
            }
            if (mixed()) {
                refused(INVALID, "it must be");
            } else if (strstr(rows[i].words, "start_positions has")) { /* not as long as qSeqLen */
                refused(INVALID, "startPositions has");
            } else {
                refused(TILING, rows[i].words);
            }
            tried++;
        }
    }
    assert_true(tried >= 5);
    make("RotaryPositionEmbeddingGrad", ROTARY, "fp16");
    call.attr[0].i = 7;
    refused(TILING, "mode is 7, but must be 0 to 3");
    make("ExpSegsumGrad", SEGSUM, "fp16");
    const struct ascgrad_shape other = {3, {2, 3, 7}};
    put(&call.out[0], &other, ACL_FLOAT16, ACL_FORMAT_ND);
    refused(TILING, "grad_input");
}

/* The document's own example: without x, dcos and dsin are [1,1,1,0]; strides are all zero. */
static void unwanted_outputs(void **state) {
    (void)state;
    const struct ascgrad_shape none = {4, {1, 1, 1, 0}};
    const int64_t stride[] = {0, 0, 0, 0};
    make("RotaryPositionEmbeddingGrad", "dy=*[1,1,1,128] cos=*[1,1,1,128] sin=*[1,1,1,128] mode=1",
         "fp32");
    for (uint32_t i = 1; i < 3; i++) {
        drop(&call.out[i]);
        call.out[i].acl =
            aclCreateTensor(none.dim, 4, ACL_FLOAT, stride, 0, ACL_FORMAT_ND, none.dim, 4, NULL);
        call.row.out[i] = none;
        call.out[i].bytes = 0;
    }
    accepted();
    make("NormRopeConcatGrad",
         "grad_query_output=*[1,2,3,16] grad_key_output=*[1,2,4,16] grad_value_output=*[1,2,4,16] "
         "query=*[1,3,2,16] key=*[1,4,2,16]",
         "fp16");
    for (uint32_t i = 3; i < call.row.ir->outputs; i++) {
        assert_int_equal(call.out[i].bytes, 0);
        drop(&call.out[i]);
    }
    const aclnnStatus code = call_run(&call, &workspace);
    assert_int_equal(code, ACL_SUCCESS);
    for (uint32_t i = 3; i < call.row.ir->outputs; i++) { /* the comparison reads them */
        put(&call.out[i], &call.row.out[i], ACL_FLOAT16, ACL_FORMAT_ND);
    }
    assert_null(call_compare(&call));
    call_end(&call);
}

static void empty_tensors(void **state) {
    (void)state;
    uint64_t size = 1;
    aclOpExecutor *executor = NULL;
    make("ExpSegsumGrad", "grad_output=*[0,3,8,8] grad_self=*[0,3,8,8]", "fp16");
    assert_int_equal(call_prepare(&call, &size, &executor), ACL_SUCCESS);
    assert_int_equal(size, 0);
    assert_int_equal(call.functions->run(NULL, 0, executor, NULL), ACL_SUCCESS);
    call_end(&call);
    make("RotaryPositionEmbeddingGrad",
         "dy=*[0,3,4,32] cos=*[1,3,1,32] sin=*[1,3,1,32] x=*[0,3,4,32]",
         "fp16"); /* dcos and dsin are zeros, for which there is a launch */
    accepted();
}

/* Outputs that nobody wants may be empty tensors of any dtype: fp16 beside fp32 tables, integers.
 */
static void unwanted_of_any_dtype(void **state) {
    (void)state;
    static const aclDataType dtypes[] = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT32};
    static const struct ascgrad_shape none = {.rank = 1, .dim = {0}};
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        make("RotaryPositionEmbeddingGrad", "dy=*[2,3,4,32] cos=fp32[1,3,1,32] sin=fp32[1,3,1,32]",
             "fp16");
        put(&call.out[1], &none, dtypes[i], ACL_FORMAT_ND);
        put(&call.out[2], &none, dtypes[i], ACL_FORMAT_ND);
        assert_int_equal(call_run(&call, &workspace), ACL_SUCCESS);
        for (int o = 1; o < 3; o++) { /* the comparison reads them; without x they are zeros */
            put(&call.out[o], &call.row.out[o], ACL_FLOAT, ACL_FORMAT_ND);
            memset(call.out[o].device, 0, call.out[o].bytes);
        }
        const char *why = call_compare(&call);
        if (why) fail_msg("%s", why);
        call_end(&call);
    }
}

/* Lists of any length in any order, although nnopbase keeps the size of the first. */
static void lists(void **state) {
    (void)state;
    int64_t list[5000];
    static const struct {
        size_t count, every; /* of the first `count` entries each `every`-th is a 1 */
    } rows[] = {{2, 1}, {2048, 1}, {5, 1}, {5000, 5000}, {3000, 2}, {100, 7}, {2049, 0}, {0, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char row[160];
        size_t tokens = 0;
        for (size_t k = 0; k < rows[i].count; k++) {
            list[k] = rows[i].every == 0 || k % rows[i].every == 0;
            tokens += (size_t)list[k];
        }
        snprintf(row, sizeof row, "q=*[%zu,16] k=*[%zu,32] cos=*[2,16] sin=*[2,16] qSeqLen=1",
                 tokens, tokens);
        make("RopeGrad", row, "fp16");
        aclDestroyIntArray(call.list);
        call.attr[0].list = call.list = aclCreateIntArray(list, rows[i].count);
        if (rows[i].every == 0) {
            refused(INVALID, "qSeqLen has 2049 entries, more than 2048 of them not 0");
            continue;
        }
        /* the twin gets the list without the zeros */
        size_t n = 0;
        for (size_t k = 0; k < rows[i].count; k++) {
            if (list[k]) {
                call.row.list[n++] = list[k];
            }
        }
        call.row.node.attr[0].count = n;
        accepted();
    }
    /* where zeros give way, their starts do: 3,000 lengths of which every second is 1, at row 1 */
    make("RopeGrad", "q=*[1500,16] k=*[1500,32] cos=*[2,16] sin=*[2,16] qSeqLen=1", "fp16");
    for (size_t k = 0; k < 3000; k++) {
        list[k] = k % 2;
        call.row.list[k % 1500] = call.row.second_list[k % 1500] = 1;
    }
    aclDestroyIntArray(call.list);
    aclDestroyIntArray(call.second_list);
    call.attr[0].list = call.list = aclCreateIntArray(list, 3000);
    call.attr[4].list = call.second_list = aclCreateIntArray(list, 3000);
    call.row.node.attr[4].list = call.row.second_list;
    call.row.node.attr[0].count = call.row.node.attr[4].count = 1500;
    accepted();
    make("RopeGrad", ROPE, "fp16");
    call.attr[4].list = NULL; /* no starts */
    accepted();
    make("RopeGrad", ROPE, "fp16");
    const int64_t wrong[] = {2, -1, 4, 4};
    aclDestroyIntArray(call.list);
    call.attr[0].list = call.list = aclCreateIntArray(wrong, 4);
    refused(TILING, "qSeqLen[1] = -1");
}

static void repeatable_executor(void **state) {
    (void)state;
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    assert_true(call_read(&call, "ExpSegsumGrad", SEGSUM, "fp32", 3));
    call_make(&call, true);
    assert_int_equal(call_prepare(&call, &size, &executor), ACL_SUCCESS);
    assert_int_equal(aclSetAclOpExecutorRepeatable(executor), ACL_SUCCESS);
    void *memory = NULL;
    assert_int_equal(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    for (int i = 0; i < 3; i++) {
        aclrtMemset(call.out[0].device, call.out[0].bytes, 0, call.out[0].bytes);
        assert_int_equal(call.functions->run(memory, size, executor, NULL), ACL_SUCCESS);
        assert_null(call_compare(&call));
    }
    assert_int_equal(aclDestroyAclOpExecutor(executor), ACL_SUCCESS);
    aclrtFree(memory);
    call_end(&call);
}

/* Output k at the memory of input i, some elements behind its beginning. */
static void share(uint32_t k, uint32_t i, int64_t offset) {
    const struct ascgrad_shape *s = &call.row.out[k];
    drop(&call.out[k]);
    aclrtFree(call.out[k].device);
    call.out[k].device = call.in[i].device;
    call.out[k].acl =
        aclCreateTensor(s->dim, s->rank, (aclDataType)call.row.node.out[k].dtype, NULL, offset,
                        ACL_FORMAT_ND, s->dim, s->rank, call.out[k].device);
    assert_non_null(call.out[k].acl);
}

/* Every output in the memory of every input of its shape: fine where the IR says so, and only whole
 * tensors. */
static void in_place(void **state) {
    (void)state;
    int shared = 0;
    for (size_t g = 0; g < GOOD; g++) {
        make(good[g].type, good[g].row, "bf16");
        const struct ascgrad_ir *ir = call.row.ir;
        call_end(&call);
        for (uint32_t k = 0; k < ir->outputs; k++) {
            for (uint32_t i = 0; i < ir->inputs; i++) {
                const bool pair = ir->out[k].in_place == i + 1;
                make(good[g].type, good[g].row, "bf16");
                if (!call.in[i].acl || call.in[i].bytes == 0 || call.out[k].bytes == 0) {
                    call_end(&call);
                    continue;
                }
                share(k, i, pair ? 1 : 0);
                assert_int_equal(call_run(&call, &workspace), INVALID);
                const char *message = aclGetRecentErrMsg();
                assert_non_null(message);
                assert_non_null(strstr(message, pair ? "in part" : "must not overlap"));
                call.out[k].device = NULL;
                call_end(&call);
                if (!pair) continue;
                make(good[g].type, good[g].row, "bf16");
                share(k, i, 0);
                assert_int_equal(call_run(&call, &workspace), ACL_SUCCESS);
                assert_null(call_compare(&call));
                call.out[k].device = NULL;
                call_end(&call);
                shared++;
            }
        }
    }
    assert_int_equal(shared, 4);
}

static void deterministic(void **state) {
    (void)state;
    assert_int_equal(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1), ACL_SUCCESS);
    good_calls(state);
    assert_int_equal(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 0), ACL_SUCCESS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_calls),
        cmocka_unit_test(null_pointers),
        cmocka_unit_test(null_results),
        cmocka_unit_test(dtypes_and_formats),
        cmocka_unit_test(mixed_dtypes),
        cmocka_unit_test(outputs_with_gaps),
        cmocka_unit_test(shapes_and_values),
        cmocka_unit_test(unwanted_outputs),
        cmocka_unit_test(empty_tensors),
        cmocka_unit_test(unwanted_of_any_dtype),
        cmocka_unit_test(lists),
        cmocka_unit_test(repeatable_executor),
        cmocka_unit_test(in_place),
        cmocka_unit_test(deterministic),
    };
    if (aclInit(NULL) != ACL_SUCCESS) {
        return 1;
    }
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (workspace.at) {
        aclrtFree(workspace.at);
    }
    aclFinalize();
    return failed;
}
