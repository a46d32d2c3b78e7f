/* SPDX-License-Identifier: Apache-2.0
 *
 * What nnopbase leaves to the function: null pointers, dtypes of optional tensors, formats, tensors
 * that overlap. Shapes and the values of attributes are tiling's business.
 */
#include "aclnn.h"

#include <stdio.h>
#include <string.h>

#include "../core/node.h"

enum { NONE = -1, FORMAT_DHWCN = 31 };

/* The names for the layouts of plain arrays: nnopbase takes them all for ND. PyTorch gives tensors
 * of four axes to aclnn as NCHW. */
static bool plain(aclFormat format) {
    switch ((int)format) {
    case ACL_FORMAT_ND:
    case ACL_FORMAT_NCHW:
    case ACL_FORMAT_NHWC:
    case ACL_FORMAT_NCDHW:
    case ACL_FORMAT_NCL:
    case FORMAT_DHWCN:
        return true;
    default:
        return false;
    }
}

static aclnnStatus check_pointers(const struct aclnn_op *op, const struct aclnn_arg *arg,
                                  const aclTensor *const tensor[], uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (!tensor[i] && !arg[i].optional) {
            return aclnn_refuse(ACLNN_NULL, op, "%s must not be NULL", arg[i].name);
        }
    }
    return ACL_SUCCESS;
}

bool aclnn_is_empty(const aclTensor *tensor) {
    int64_t *dim = NULL;
    uint64_t rank = 0;
    bool empty = false;
    if (aclGetViewShape(tensor, &dim, &rank) != ACL_SUCCESS) return false;
    for (uint64_t i = 0; i < rank; i++) {
        empty = empty || dim[i] == 0;
    }
    aclnn_delete_array(dim);
    return empty;
}

/* dtype[i] becomes that of tensor i, or NONE; also NONE for an output without elements, which may
 * say what it likes. */
static aclnnStatus read_dtypes(const struct aclnn_op *op, const struct aclnn_arg *arg,
                               const aclTensor *const tensor[], uint32_t count, int32_t dtype[]) {
    for (uint32_t i = 0; i < count; i++) {
        aclDataType type = ACL_DT_UNDEFINED;
        aclFormat format = ACL_FORMAT_UNDEFINED;
        dtype[i] = NONE;
        if (!tensor[i]) {
            continue;
        }
        if (aclGetDataType(tensor[i], &type) != ACL_SUCCESS ||
            aclGetFormat(tensor[i], &format) != ACL_SUCCESS) {
            return aclnn_refuse(ACLNN_INVALID, op, "%s cannot be read", arg[i].name);
        }
        if (!plain(format)) {
            return aclnn_refuse(ACLNN_INVALID, op, "the format of %s must be ND, not number %d",
                                arg[i].name, (int)format);
        }
        dtype[i] = arg == op->out && aclnn_is_empty(tensor[i]) ? NONE : (int32_t)type;
    }
    return ACL_SUCCESS;
}

/* The call's dtypes against one column. Returns the number of the first tensor, inputs before
 * outputs, that has another; the count of all if there is none. */
static uint32_t first_other(const struct aclnn_op *op, const struct nnopbase_column *column,
                            const int32_t dtype[]) {
    for (uint32_t i = 0; i < op->inputs + op->outputs; i++) {
        const int32_t wanted =
            i < op->inputs ? column->in[i].dtype : column->out[i - op->inputs].dtype;
        if (dtype[i] != NONE && dtype[i] != wanted) {
            return i;
        }
    }
    return op->inputs + op->outputs;
}

/* Tensor i fits none of the columns that the tensors before it leave: what it may be in these. */
static aclnnStatus refuse_dtype(const struct aclnn_op *op, const int32_t dtype[], uint32_t i) {
    const struct nnopbase_chip *chip = &op->support->chip[0];
    const bool input = i < op->inputs;
    char wanted[64] = "";
    size_t used = 0;
    for (size_t c = 0; i > 0 && c < chip->columns; c++) {
        const struct nnopbase_column *column = &chip->column[c];
        const char *name =
            ascgrad_dtype_name(input ? column->in[i].dtype : column->out[i - op->inputs].dtype);
        if (first_other(op, column, dtype) == i && !strstr(wanted, name)) {
            used += (size_t)snprintf(wanted + used, sizeof wanted - used, "%s%s",
                                     used ? " or " : "", name);
        }
    }
    const char *name = input ? op->in[i].name : op->out[i - op->inputs].name;
    if (i == 0) {
        return aclnn_refuse(ACLNN_INVALID, op, "%s is %s, it must be fp16, bf16 or fp32", name,
                            ascgrad_dtype_name(dtype[0]));
    }
    return aclnn_refuse(ACLNN_INVALID, op, "%s is %s, but beside %s of %s it must be %s", name,
                        ascgrad_dtype_name(dtype[i]), op->in[0].name, ascgrad_dtype_name(dtype[0]),
                        wanted);
}

/* The dtypes must be those of one column. */
static aclnnStatus check_dtypes(const struct aclnn_op *op, const aclTensor *const in[],
                                const aclTensor *const out[],
                                const struct nnopbase_column **found) {
    int32_t dtype[2 * ACLNN_MAX_TENSORS];
    aclnnStatus code = read_dtypes(op, op->in, in, op->inputs, dtype);
    if (code == ACL_SUCCESS) {
        code = read_dtypes(op, op->out, out, op->outputs, dtype + op->inputs);
    }
    if (code != ACL_SUCCESS) {
        return code;
    }
    const struct nnopbase_chip *chip = &op->support->chip[0];
    uint32_t furthest = 0;
    for (size_t c = 0; c < chip->columns; c++) {
        const uint32_t other = first_other(op, &chip->column[c], dtype);
        if (other == op->inputs + op->outputs) {
            *found = &chip->column[c];
            return ACL_SUCCESS;
        }
        furthest = other > furthest ? other : furthest;
    }
    return refuse_dtype(op, dtype, furthest);
}

/* As nnopbase judges inputs: an axis of one element may have any stride, and so may a tensor of
 * none. */
static bool contiguous(const int64_t *dim, const int64_t *stride, uint64_t rank) {
    int64_t expected = 1;
    bool dense = true;
    for (uint64_t i = rank; i-- > 0;) {
        if (dim[i] == 0) {
            return true;
        }
        dense = dense && (dim[i] == 1 || stride[i] == expected);
        expected *= dim[i];
    }
    return dense;
}

bool aclnn_is_dense(const aclTensor *tensor) {
    int64_t *dim = NULL, *stride = NULL;
    uint64_t rank = 0, strides = 0;
    const bool known = aclGetViewShape(tensor, &dim, &rank) == ACL_SUCCESS &&
                       aclGetViewStrides(tensor, &stride, &strides) == ACL_SUCCESS &&
                       strides == rank;
    const bool dense = known && contiguous(dim, stride, rank);
    aclnn_delete_array(dim);
    aclnn_delete_array(stride);
    return dense;
}

/* The bytes that a kernel gets the address of. There are none where it gets another: a tensor with
 * gaps is copied before or behind it. */
struct span {
    uintptr_t from, to;
};

static struct span span_of(const aclTensor *tensor) {
    struct span none = {0, 0};
    void *data = NULL;
    int64_t *dim = NULL, offset = 0;
    uint64_t rank = 0;
    aclDataType type = ACL_DT_UNDEFINED;
    if (!tensor || !aclnn_is_dense(tensor) || aclGetRawTensorAddr(tensor, &data) != ACL_SUCCESS ||
        !data || aclGetViewOffset(tensor, &offset) != ACL_SUCCESS ||
        aclGetDataType(tensor, &type) != ACL_SUCCESS ||
        aclGetViewShape(tensor, &dim, &rank) != ACL_SUCCESS) {
        return none;
    }
    const uintptr_t size = ascgrad_dtype_size((int32_t)type);
    uintptr_t bytes = size;
    for (uint64_t i = 0; i < rank; i++) {
        bytes *= (uintptr_t)dim[i];
    }
    aclnn_delete_array(dim);
    const uintptr_t from = (uintptr_t)data + (uintptr_t)offset * size;
    return (struct span){from, from + bytes};
}

/* An output has memory of its own, or that of the input that the IR names. */
static aclnnStatus check_overlap(const struct aclnn_op *op, const aclTensor *const in[],
                                 const aclTensor *const out[]) {
    struct span span[2 * ACLNN_MAX_TENSORS];
    for (uint32_t i = 0; i < op->inputs + op->outputs; i++) {
        span[i] = span_of(i < op->inputs ? in[i] : out[i - op->inputs]);
        for (uint32_t k = 0; i >= op->inputs && k < i; k++) {
            const struct aclnn_arg *me = &op->out[i - op->inputs];
            const bool pair = me->in_place == k + 1;
            if (span[i].from >= span[k].to || span[k].from >= span[i].to ||
                (pair && span[i].from == span[k].from && span[i].to == span[k].to)) {
                continue;
            }
            return aclnn_refuse(ACLNN_INVALID, op, "%s must not overlap %s%s", me->name,
                                k < op->inputs ? op->in[k].name : op->out[k - op->inputs].name,
                                pair ? " in part" : "");
        }
    }
    return ACL_SUCCESS;
}

aclnnStatus aclnn_check(const struct aclnn_op *op, const aclTensor *const in[],
                        const union aclnn_value attr[], const aclTensor *const out[],
                        const struct nnopbase_column **column) {
    aclnnStatus code = check_pointers(op, op->in, in, op->inputs);
    if (code == ACL_SUCCESS) {
        code = check_pointers(op, op->out, out, op->outputs);
    }
    for (uint32_t i = 0; code == ACL_SUCCESS && i < op->attrs; i++) {
        const enum aclnn_kind kind = op->attr[i].kind;
        if (((kind == ACLNN_LIST || kind == ACLNN_LENGTHS) && !attr[i].list) ||
            (kind == ACLNN_FLOATS && !attr[i].floats)) {
            code = aclnn_refuse(ACLNN_NULL, op, "%s must not be NULL", op->attr[i].name);
        }
    }
    if (code == ACL_SUCCESS) {
        code = check_dtypes(op, in, out, column);
    }
    if (code == ACL_SUCCESS) {
        code = check_overlap(op, in, out);
    }
    return code;
}
