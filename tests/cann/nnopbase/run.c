/* SPDX-License-Identifier: Apache-2.0
 *
 * The two steps of a call as nnopbase takes them: find the kernel by its key and ask tiling; then
 * launch. With two of nnopbase's peculiarities, because functions must live with them: an operator
 * type without optional inputs keeps the size of the attributes of its first call, and the memory
 * of a tiling context holds what it held before.
 */
#include "executor.h"

#include "../registry/fake_ge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))

enum { SLOT_KEY = 0, SLOT_BLOCK_DIM = 1, SLOT_SCHEDULE_MODE = 6 };

/* ExpSegsumGrad/d=0,p=0/1,2/1,2/1,2: required inputs and all outputs. */
static void make_key(const struct executor *e, char *key, size_t room) {
    size_t n = (size_t)snprintf(key, room, "%s/d=%d,p=0", e->type, standin_deterministic());
    for (uint32_t i = 0; i < e->inputs && n < room; i++) {
        if (e->required[i]) {
            n += (size_t)snprintf(key + n, room - n, "/%d,%d", e->in[i].dtype, e->in[i].format);
        }
    }
    for (uint32_t i = 0; i < e->outputs && n < room; i++) {
        n += (size_t)snprintf(key + n, room - n, "/%d,%d", e->out[i].dtype, e->out[i].format);
    }
}

static void shape_of(struct fake_tensor *to, const aclTensor *from, bool present) {
    to->absent = !present;
    if (present) {
        to->dtype = from->dtype;
        to->rank = (int64_t)from->rank;
        memcpy(to->dim, from->dim, sizeof to->dim);
    }
}

static void attr_of(struct fake_attr *to, const struct attribute *from) {
    static const char kinds[] = {
        [NNOPBASE_BOOL] = 'b', [NNOPBASE_FLOAT] = 'f', [NNOPBASE_INT] = 'i'};
    const bool real = from->kind == NNOPBASE_FLOAT;
    to->kind = from->element ? (real ? 'r' : 'l') : kinds[from->kind];
    to->values = from->at;
    to->count = from->element ? from->size / from->element : 0;
}

static uint64_t first_bytes(const struct executor *e) {
    return (uint64_t)standin_elements(&e->in[0]) * standin_size(e->in[0].dtype);
}

/* One wrong byte, if that fault is planted. */
static void spoil(struct executor *e, size_t size) {
    const char *byte = getenv("ASCGRAD_STANDIN_BYTE");
    const size_t at = byte ? strtoul(byte, NULL, 10) : 0;
    if (at < size && standin_fault("tiling", e->type, first_bytes(e))) {
        ((uint8_t *)e->tiling)[at] ^= 1;
    }
}

static aclnnStatus tile(struct executor *e, const struct ge_op_functions *functions) {
    struct fake_tensor in[STANDIN_ARGS] = {{0}}, out[STANDIN_ARGS] = {{0}};
    struct fake_attr attr[STANDIN_ATTRS] = {{0}};
    for (uint32_t i = 0; i < e->inputs; i++) {
        shape_of(&in[i], &e->in[i], e->has_in[i]);
    }
    for (uint32_t i = 0; i < e->outputs; i++) {
        shape_of(&out[i], &e->out[i], true);
    }
    for (uint32_t i = 0; i < e->attrs; i++) {
        attr_of(&attr[i], &e->attr[i]);
    }
    const struct fake_node node = {.type = e->type,
                                   .name = e->type,
                                   .in = in,
                                   .out = out,
                                   .ir_in = e->inputs,
                                   .ir_out = e->outputs,
                                   .attr = attr,
                                   .attrs = e->attrs,
                                   .aclnn = true};
    struct fake_ge ge;
    struct standin_launch *l = &e->launch;
    fake_tiling(&ge, &node, FAKE_2026, standin_platform(), NULL, l->kernel->room);
    put64(ge.slot[ge.inputs + SLOT_SCHEDULE_MODE], 0, 0);
    const bool done = functions->tiling(ge.context) == 0;
    if (done) {
        const struct ge_tiling_data *data = (const void *)ge.tiling_data;
        const struct ge_vector *workspace = (const void *)ge.workspace;
        l->key = get64(ge.slot[ge.inputs + SLOT_KEY], 0);
        l->block_dim = get32(ge.slot[ge.inputs + SLOT_BLOCK_DIM], 0);
        l->all_at_once = get32(ge.slot[ge.inputs + SLOT_SCHEDULE_MODE], 0) != 0;
        l->workspace = 0;
        for (uint64_t i = 0; i < workspace->size; i++) {
            l->workspace += get64(workspace + 1, 8 * i);
        }
        l->tiling_bytes = data->size;
        free(e->tiling);
        e->tiling = malloc(data->size ? data->size : 1);
        if (e->tiling) {
            memcpy(e->tiling, data->data, data->size);
            spoil(e, data->size);
        }
        l->tiling = e->tiling;
    }
    fake_end(&ge);
    return done && e->tiling ? ACL_SUCCESS : STANDIN_TILING;
}

static aclnnStatus check_attr_size(struct executor *e) {
    size_t size = 0;
    for (uint32_t i = 0; i < e->attrs; i++) {
        size += e->attr[i].size;
    }
    if (e->first_size && !e->optional && size != e->first_size) {
        standin_report("EZ9999", "%s: attributes of %zu bytes where the first call had %zu",
                       e->type, size, e->first_size);
        return STANDIN_TILING;
    }
    e->first_size = size;
    return ACL_SUCCESS;
}

API aclnnStatus NnopbaseRunForWorkspace(void *executor, uint64_t *size) {
    struct executor *e = executor;
    char key[1024];
    if (!e || !size) {
        return STANDIN_NULL;
    }
    e->empty = true;
    for (uint32_t i = 0; i < e->outputs; i++) {
        e->empty = e->empty && standin_elements(&e->out[i]) == 0;
    }
    make_key(e, key, sizeof key);
    e->launch.kernel = standin_find_kernel(e->type, key);
    e->launch.workspace = 0;
    if (!e->launch.kernel || access(e->launch.kernel->path, R_OK) != 0) {
        standin_report("EZ9999", "Cannot find kernel file for %s", key);
        return STANDIN_NO_KERNEL;
    }
    if (!e->empty) {
        const struct ge_op_functions *functions = standin_find_tiling(e->type);
        aclnnStatus code = functions ? check_attr_size(e) : STANDIN_TILING;
        if (code == ACL_SUCCESS) {
            code = tile(e, functions);
        }
        if (code != ACL_SUCCESS) {
            return code;
        }
    }
    *size = e->launch.workspace;
    e->prepared = true;
    standin_remember(e);
    return ACL_SUCCESS;
}

static void set_args(struct executor *e, char *copies) {
    struct standin_launch *l = &e->launch;
    l->type = e->type;
    l->inputs = e->inputs;
    l->outputs = e->outputs;
    for (uint32_t i = 0; i < e->inputs + e->outputs; i++) {
        const bool input = i < e->inputs;
        const aclTensor *t = input ? &e->in[i] : &e->out[i - e->inputs];
        const bool present = input ? e->has_in[i] : true;
        l->name[i] = input ? "an input" : "an output";
        l->dtype[i] = present ? (int32_t)t->dtype : -1;
        l->bytes[i] = present ? (uint64_t)standin_elements(t) * standin_size(t->dtype) : 0;
        l->data[i] = present ? standin_address(t) : NULL;
    }
    for (uint64_t i = 0; i < e->gaps.size; i++) {
        l->data[e->gap_index[i]] = copies + e->copy_offset[i];
    }
}

/* The twin has a workspace of its own; the caller's must be as large as it says. */
static void touch(char *workspace, uint64_t size) {
    if (size > 0) {
        ((volatile char *)workspace)[0] = 0;
        ((volatile char *)workspace)[size - 1] = 0;
    }
}

API aclnnStatus NnopbaseRunWithWorkspace(void *executor, aclrtStream stream, void *workspace,
                                         uint64_t size) {
    struct executor *e = executor;
    aclnnStatus code = ACL_SUCCESS;
    (void)stream;
    if (!e || (size > 0 && !workspace)) {
        return STANDIN_NULL;
    }
    if (e->magic != STANDIN_EXECUTOR || !e->taken || !e->prepared || size < e->launch.workspace) {
        standin_report("EZ9999", "%s: %llu bytes of workspace, prepared for %llu", e->type,
                       (unsigned long long)size, (unsigned long long)e->launch.workspace);
        return STANDIN_INVALID;
    }
    if (e->gaps.size > 0 && !e->copies) {
        standin_report("EZ9999", "%s: an input is not contiguous", e->type);
        code = STANDIN_INVALID;
    } else if (!e->empty) {
        set_args(e, (char *)workspace + size);
        touch(workspace, size);
        code = standin_launch(&e->launch);
    }
    if (!e->repeatable) {
        standin_give_back(e);
    }
    return code;
}
