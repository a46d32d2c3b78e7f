/* SPDX-License-Identifier: Apache-2.0
 *
 * The two halves of an aclnn function: aclnn_prepare tells nnopbase everything about the call and
 * learns the size of the workspace; aclnn_run launches. The order of the calls is that of CANN's
 * generated code, which the cache of launches relies on.
 */
#include "gaps.h"

#include "../core/verbose.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

/* A list of lengths goes to nnopbase with this many entries, zeros behind, whatever its length:
 * nnopbase (2026) keeps the size of the first call's attributes for types without optional inputs
 * and would write past it. It copies them all in every call, so this is not the most that tiling
 * takes. */
enum { LENGTHS = 2048 };

typedef aclnnStatus contiguous_size_fn(const aclTensorList *tensors, uint64_t *size,
                                       aclOpExecutor **executor);
typedef aclnnStatus contiguous_fn(void *workspace, uint64_t size, aclOpExecutor *executor,
                                  aclrtStream stream);

/* CANN's function that copies tensors to make them contiguous. */
union api {
    void *object;
    contiguous_size_fn *size;
    contiguous_fn *run;
};

static aclnnStatus find_contiguous(const struct aclnn_op *op, const char *name, union api *api) {
    api->object = NnopbaseGetApiFunc(name);
    return api->object
               ? ACL_SUCCESS
               : aclnn_refuse(ACLNN_INNER, op,
                              "an input is not contiguous, and CANN's %s, which copies it, is not "
                              "found (libopapi_math.so)",
                              name);
}

/* Two threads may both make one; a second space is harmless, and nnopbase keeps it. */
static aclnnStatus open_space(const struct aclnn_op *op, void *_Atomic *place, void **space) {
    *space = atomic_load_explicit(place, memory_order_acquire);
    if (*space) {
        return ACL_SUCCESS;
    }
    void *made = NULL;
    const aclnnStatus code = NnopbaseCreateExecutorSpace(&made);
    if (code != ACL_SUCCESS || !made) {
        return aclnn_refuse(code != ACL_SUCCESS ? code : ACLNN_INNER, op,
                            "CANN (code %" PRId32 ") found no kernel binaries of any operator; "
                            "ascgrad's are made by scripts/compile.sh of the installed package",
                            code);
    }
    *space = made;
    void *none = NULL;
    if (!atomic_compare_exchange_strong(place, &none, made)) {
        *space = none;
    }
    return ACL_SUCCESS;
}

static aclnnStatus open_executor(const struct aclnn_op *op, void *_Atomic *place, void **executor) {
    void *space;
    const aclnnStatus code = open_space(op, place, &space);
    if (code != ACL_SUCCESS) {
        return code;
    }
    *executor = NnopbaseGetExecutor(space, op->type, op->in_kinds, op->inputs, op->out_kinds,
                                    op->outputs, op->attr_kinds, op->attrs);
    return *executor ? ACL_SUCCESS
                     : aclnn_refuse(ACLNN_NO_KERNEL, op,
                                    "no kernel binaries of %s for this chip are installed; "
                                    "scripts/compile.sh of the package makes them",
                                    op->type);
}

/* What nnopbase is given for the lists of lengths and of starts. */
struct lists {
    int64_t lengths[LENGTHS], starts[LENGTHS];
};

/* In a list longer than LENGTHS the zeros give way, with their starts. False if that is not enough.
 */
static bool fit_lists(struct lists *to, const int64_t *lengths, const int64_t *starts,
                      size_t count) {
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (count <= LENGTHS || lengths[i] != 0) {
            if (n == LENGTHS) return false;
            to->lengths[n] = lengths[i];
            to->starts[n++] = starts ? starts[i] : 0;
        }
    }
    return true;
}

/* CANN has no function that reads an aclIntArray, but an executor tells the address of an attribute
 * that it was given. */
static const int64_t *list_values(void *executor, const aclIntArray *list, size_t index) {
    void *at = NULL;
    size_t size = 0;
    return NnopbaseAddIntArrayAttr(executor, list, index) == ACL_SUCCESS &&
                   NnopbaseGetAttrAddr(executor, index, &at, &size) == ACL_SUCCESS
               ? at
               : NULL;
}

/* The executor that reads lists is one that is never run: destroying one that has run would let its
 * launch be taken from the cache while it is still in use. */
static aclnnStatus read_lists(const struct aclnn_op *op, const union aclnn_value attr[],
                              struct lists *to) {
    uint32_t index[2] = {op->attrs, op->attrs}; /* of the lengths, and of the starts */
    uint64_t count[2] = {0, 0};
    memset(to, 0, sizeof *to);
    for (uint32_t i = 0; i < op->attrs; i++) {
        const bool starts = op->attr[i].kind == ACLNN_STARTS;
        if (starts || op->attr[i].kind == ACLNN_LENGTHS) {
            index[starts] = i;
            if (attr[i].list && aclGetIntArraySize(attr[i].list, &count[starts]) != ACL_SUCCESS) {
                return aclnn_refuse(ACLNN_INVALID, op, "%s cannot be read", op->attr[i].name);
            }
        }
    }
    if (count[1] != 0 && count[1] != count[0]) {
        return aclnn_refuse(ACLNN_INVALID, op, "%s has %" PRIu64 " entries, but %s %" PRIu64,
                            op->attr[index[1]].name, count[1], op->attr[index[0]].name, count[0]);
    }
    if (count[0] == 0) {
        return ACL_SUCCESS; /* an executor takes no list without values */
    }
    void *executor;
    aclnnStatus code = open_executor(op, &op->state->lists, &executor);
    if (code != ACL_SUCCESS) {
        return code;
    }
    const int64_t *values[2] = {NULL, NULL};
    bool known = true;
    for (int which = 0; which < 2 && count[which] > 0; which++) {
        values[which] = list_values(executor, attr[index[which]].list, index[which]);
        known = known && values[which];
    }
    const bool fits = known && fit_lists(to, values[0], values[1], count[0]);
    aclDestroyAclOpExecutor(executor);
    if (!known) {
        return aclnn_refuse(ACLNN_INVALID, op, "%s cannot be read", op->attr[index[0]].name);
    }
    return fits ? ACL_SUCCESS
                : aclnn_refuse(ACLNN_INVALID, op,
                               "%s has %" PRIu64
                               " entries, more than %d of them not 0: split the call",
                               op->attr[index[0]].name, count[0], LENGTHS);
}

/* nnopbase keeps the addresses until tiling is done. */
static aclnnStatus add_attrs(const struct aclnn_op *op, void *executor, union aclnn_value attr[],
                             struct lists *lists) {
    aclnnStatus code = ACL_SUCCESS;
    for (uint32_t i = 0; code == ACL_SUCCESS && i < op->attrs; i++) {
        switch (op->attr[i].kind) {
        case ACLNN_INT:
            code =
                NnopbaseAddAttrWithDtype(executor, &attr[i].i, sizeof attr[i].i, i, NNOPBASE_INT);
            break;
        case ACLNN_BOOL:
            code =
                NnopbaseAddAttrWithDtype(executor, &attr[i].b, sizeof attr[i].b, i, NNOPBASE_BOOL);
            break;
        case ACLNN_FLOAT:
            code =
                NnopbaseAddAttrWithDtype(executor, &attr[i].f, sizeof attr[i].f, i, NNOPBASE_FLOAT);
            break;
        case ACLNN_LIST:
            code = NnopbaseAddIntArrayAttr(executor, attr[i].list, i);
            break;
        case ACLNN_FLOATS:
            code = NnopbaseAddFloatArrayAttr(executor, attr[i].floats, i);
            break;
        case ACLNN_LENGTHS:
            code = NnopbaseAddArrayAttrWithDtype(executor, lists->lengths, LENGTHS,
                                                 sizeof lists->lengths[0], i, NNOPBASE_INT);
            break;
        case ACLNN_STARTS:
            code = NnopbaseAddArrayAttrWithDtype(executor, lists->starts, LENGTHS,
                                                 sizeof lists->starts[0], i, NNOPBASE_INT);
            break;
        }
    }
    return code;
}

/* An empty tensor in place of an output that the caller does not want. There is one for each dtype,
 * for good: an executor may be run long after the call. */
static const aclTensor *no_output(int32_t dtype) {
    static aclTensor *_Atomic empty[32];
    const int64_t zero = 0, one = 1;
    aclTensor *_Atomic *place = &empty[(uint32_t)dtype % 32];
    aclTensor *tensor = atomic_load_explicit(place, memory_order_acquire);
    if (!tensor) {
        aclTensor *made =
            aclCreateTensor(&zero, 1, (aclDataType)dtype, &one, 0, ACL_FORMAT_ND, &zero, 1, NULL);
        tensor = made;
        aclTensor *none = NULL;
        if (made && !atomic_compare_exchange_strong(place, &none, made)) {
            aclDestroyTensor(made);
            tensor = none;
        }
    }
    return tensor;
}

/* What nnopbase gets for an output. Kernels are found by the dtypes of all outputs, so that one
 * without elements must have that of the column, too. */
static const aclTensor *output(const aclTensor *given, int32_t dtype) {
    aclDataType type = ACL_DT_UNDEFINED;
    const bool fits = given && aclGetDataType(given, &type) == ACL_SUCCESS && (int)type == dtype;
    return fits ? given : no_output(dtype);
}

static aclnnStatus add_all(const struct aclnn_op *op, void *executor, const aclTensor *const in[],
                           union aclnn_value attr[], const aclTensor *const out[],
                           struct lists *lists, const struct nnopbase_column *column) {
    aclnnStatus code = NnopbaseAddTilingId(executor, &op->state->tiling_id);
    if (code == ACL_SUCCESS && NnopbaseSetMatchArgsFlag && NnopbaseMatchArgs) {
        NnopbaseSetMatchArgsFlag(executor);
    }
    for (uint32_t i = 0; code == ACL_SUCCESS && i < op->inputs; i++) {
        code = NnopbaseAddInput(executor, in[i], i);
    }
    if (code == ACL_SUCCESS) {
        code = add_attrs(op, executor, attr, lists);
    }
    for (uint32_t i = 0; code == ACL_SUCCESS && i < op->outputs; i++) {
        const aclTensor *tensor = output(out[i], column->out[i].dtype);
        code = tensor ? NnopbaseAddOutput(executor, tensor, i) : ACLNN_INNER;
    }
    return code;
}

/* What nnopbase needs for its own messages and checks when the launch is not in its cache. */
static aclnnStatus describe(const struct aclnn_op *op, void *executor) {
    aclnnStatus code = ACL_SUCCESS;
    if (NnopbaseAddParamName) {
        for (uint32_t i = 0; code == ACL_SUCCESS && i < op->inputs; i++) {
            code = NnopbaseAddParamName(executor, i, op->in[i].name, true);
        }
        for (uint32_t i = 0; code == ACL_SUCCESS && i < op->outputs; i++) {
            code = NnopbaseAddParamName(executor, i, op->out[i].name, false);
        }
    }
    if (code != ACL_SUCCESS) {
        return code;
    }
    const size_t chips = op->support->chips;
    return NnopbaseAddSocNameList
               ? NnopbaseAddSocNameList(executor, op->support, op->chip_names, chips)
               : NnopbaseAddSupportList(executor, op->support, op->chip_numbers, chips);
}

/* Inputs with gaps are copied by CANN in front of the launch, into workspace of their own behind
 * the operator's. */
static aclnnStatus prepare_copies(const struct aclnn_op *op, void *executor, uint64_t *size) {
    const aclTensorList *tensors = NULL;
    *size = 0;
    aclnnStatus code = NnopbaseGetUnContiguousTensors(executor, &tensors);
    if (code != ACL_SUCCESS || !tensors) {
        return code;
    }
    union api api;
    aclOpExecutor *copies = NULL;
    code = find_contiguous(op, "aclnnContiguousGetWorkspaceSize", &api);
    if (code == ACL_SUCCESS) {
        code = api.size(tensors, size, &copies);
    }
    return code == ACL_SUCCESS ? NnopbaseSetUnContExecutor(executor, copies, (size_t)*size) : code;
}

/* An executor whose preparation fails stays taken, as with CANN's own functions: nnopbase would
 * take the unfinished launch of a destroyed one from its cache for the next call of the same kind.
 */
static aclnnStatus prepare(const struct aclnn_op *op, void *executor, uint64_t *workspace_size) {
    uint64_t copies = 0;
    if (NnopbaseSetMatchArgsFlag && NnopbaseMatchArgs &&
        NnopbaseMatchArgs(executor, workspace_size)) {
        return ACL_SUCCESS;
    }
    aclnnStatus code = describe(op, executor);
    if (code == ACL_SUCCESS) {
        code = prepare_copies(op, executor, &copies);
    }
    if (code == ACL_SUCCESS) {
        code = NnopbaseRunForWorkspace(executor, workspace_size);
    }
    if (code == ACL_SUCCESS) {
        *workspace_size += copies;
    }
    return code;
}

static void tell_tensors(struct ascgrad_line *line, const struct aclnn_arg *arg,
                         const aclTensor *const tensor[], uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        aclDataType type = ACL_DT_UNDEFINED;
        int64_t *dim = NULL;
        uint64_t rank = 0;
        struct ascgrad_shape shape;
        if (!tensor[i] || aclGetDataType(tensor[i], &type) != ACL_SUCCESS ||
            aclGetViewShape(tensor[i], &dim, &rank) != ACL_SUCCESS) {
            continue;
        }
        shape.rank = rank < ASCGRAD_MAX_RANK ? rank : ASCGRAD_MAX_RANK;
        for (uint64_t k = 0; k < shape.rank; k++) {
            shape.dim[k] = dim[k];
        }
        aclnn_delete_array(dim);
        ascgrad_line_arg(line, arg[i].name, &(struct ascgrad_arg){true, (int32_t)type, &shape});
    }
}

/* The line of ASCGRAD_VERBOSE. */
static void tell(const struct aclnn_op *op, const aclTensor *const in[],
                 const aclTensor *const out[], aclnnStatus code, uint64_t workspace, double begin) {
    struct ascgrad_line line = {.size = 0};
    ascgrad_line_add(&line, "%s", op->function);
    tell_tensors(&line, op->in, in, op->inputs);
    if (code == ACL_SUCCESS) {
        ascgrad_line_add(&line, " ->");
        tell_tensors(&line, op->out, out, op->outputs);
        ascgrad_line_add(&line, ", workspace %" PRIu64, workspace);
    } else {
        ascgrad_line_add(&line, ": code %" PRId32, code);
    }
    ascgrad_line_end(&line, begin);
}

aclnnStatus aclnn_prepare(const struct aclnn_op *op, const aclTensor *const in[],
                          union aclnn_value attr[], const aclTensor *const out[],
                          uint64_t *workspace_size, aclOpExecutor **executor) {
    const uint64_t begin = NnopbaseMsprofSysTime();
    const double told = ascgrad_verbose_clock();
    const struct nnopbase_column *column;
    const aclTensor *given[ACLNN_MAX_TENSORS];
    struct aclnn_gaps *gaps = NULL;
    struct lists lists;
    void *opened;
    if (!workspace_size || !executor) {
        return aclnn_refuse(ACLNN_NULL, op, "workspaceSize and executor must not be NULL");
    }
    aclnnStatus code = aclnn_check(op, in, attr, out, &column);
    if (code == ACL_SUCCESS) {
        code = read_lists(op, attr, &lists);
    }
    if (code == ACL_SUCCESS) {
        code = open_executor(op, &op->state->calls, &opened);
    }
    if (code == ACL_SUCCESS) {
        code = aclnn_gaps_open(op, out, given, &gaps);
    }
    if (code == ACL_SUCCESS) {
        code = add_all(op, opened, in, attr, given, &lists, column);
    }
    if (code == ACL_SUCCESS) {
        code = prepare(op, opened, workspace_size);
    }
    if (code == ACL_SUCCESS) {
        code = aclnn_gaps_size(op, gaps, workspace_size);
    }
    if (code == ACL_SUCCESS) {
        *executor = opened;
        aclnn_gaps_keep(opened, gaps);
        NnopbaseReportApiInfo(begin, &op->state->prepare_id);
    } else {
        aclnn_gaps_free(gaps);
    }
    if (told > 0) {
        tell(op, in, out, code, *workspace_size, told);
    }
    return code;
}

aclnnStatus aclnn_run(const struct aclnn_op *op, void *workspace, uint64_t workspace_size,
                      aclOpExecutor *executor, aclrtStream stream) {
    const uint64_t begin = NnopbaseMsprofSysTime();
    aclOpExecutor *copies = NULL;
    size_t size = 0;
    if (!executor || (workspace_size > 0 && !workspace)) {
        return aclnn_refuse(ACLNN_NULL, op, "%s must not be NULL",
                            executor ? "workspace" : "executor");
    }
    struct aclnn_gaps *gaps = aclnn_gaps_find(executor);
    aclnnStatus code =
        gaps ? aclnn_gaps_place(op, gaps, executor, workspace, &workspace_size) : ACL_SUCCESS;
    void *rest = (char *)workspace + workspace_size;
    if (code == ACL_SUCCESS) {
        code = NnopbaseGetUnContExecutor(executor, &copies, &size);
    }
    if (code == ACL_SUCCESS && copies) {
        union api api;
        if (workspace_size < size) {
            return aclnn_refuse(ACLNN_INVALID, op,
                                "the workspace has %" PRIu64
                                " bytes, the copies of inputs that are "
                                "not contiguous alone need %zu",
                                workspace_size, size);
        }
        workspace_size -= size;
        code = find_contiguous(op, "aclnnContiguous", &api);
        if (code == ACL_SUCCESS) {
            code = api.run((char *)workspace + workspace_size, size, copies, stream);
        }
    }
    if (code == ACL_SUCCESS) {
        code = NnopbaseRunWithWorkspace(executor, stream, workspace, workspace_size);
    }
    if (code == ACL_SUCCESS && gaps) {
        code = aclnn_gaps_fill(op, gaps, rest, stream);
    }
    if (code == ACL_SUCCESS) {
        NnopbaseReportApiInfo(begin, &op->state->run_id);
    }
    return code;
}
