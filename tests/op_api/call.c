/* SPDX-License-Identifier: Apache-2.0 */
#include "call.h"

#include "../../twin/ascgrad.h"
#include "../../twin/half.h"
#include "acl/acl.h"

#include <stdio.h>
#include <stdlib.h>

#include "calls.inc"

uint64_t call_draw(struct call *c, uint64_t n) {
    uint64_t z = c->random += 0x9e3779b97f4a7c15u; /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (z ^ z >> 31) % n;
}

static void *need(void *p) {
    if (!p) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return p;
}

bool call_read(struct call *c, const char *type, const char *row, const char *dtype,
               uint64_t seed) {
    memset(c, 0, sizeof *c);
    c->random = seed;
    for (c->functions = call_functions; c->functions->type; c->functions++) {
        if (strcmp(c->functions->type, type) == 0) {
            break;
        }
    }
    return c->functions->type && row_read(&c->row, type, row, dtype) &&
           row_infer(&c->row) == ASCGRAD_DONE;
}

static int64_t elements(const struct ascgrad_shape *s) {
    return ascgrad_elements(s, 0, s->rank);
}

int64_t call_elements(const struct call *c) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < c->row.ir->inputs; i++) {
        sum += c->row.node.in[i].present ? elements(&c->row.in[i]) : 0;
    }
    for (uint32_t i = 0; i < c->row.ir->outputs; i++) {
        sum += elements(&c->row.out[i]);
    }
    return sum;
}

static void fill(struct call *c, struct call_tensor *t, int32_t dtype) {
    for (size_t i = 0; i < t->bytes / ascgrad_dtype_size(dtype); i++) {
        const float value = (float)((int64_t)call_draw(c, 8001) - 4000) / 2000.0f;
        if (dtype == ASCGRAD_FP32) {
            memcpy(t->dense + 4 * i, &value, 4);
        } else {
            const uint16_t half =
                dtype == ASCGRAD_FP16 ? twin_f32_to_f16(value) : twin_f32_to_bf16(value);
            memcpy(t->dense + 2 * i, &half, 2);
        }
    }
}

/* A tensor with a random order of axes in memory and holes between them. Returns the number of
 * elements of the memory. */
static int64_t draw_strides(struct call *c, const struct ascgrad_shape *s, int64_t *stride) {
    uint64_t order[8];
    int64_t next = 1;
    for (uint64_t i = 0; i < s->rank; i++) {
        order[i] = i;
    }
    for (uint64_t i = s->rank; i-- > 1;) {
        const uint64_t k = call_draw(c, i + 1), swapped = order[i];
        order[i] = order[k];
        order[k] = swapped;
    }
    for (uint64_t i = 0; i < s->rank; i++) {
        stride[order[i]] = next;
        next *= s->dim[order[i]] + (int64_t)call_draw(c, 3);
    }
    return next;
}

static void make_tensor(struct call *c, struct call_tensor *t, const struct ascgrad_shape *s,
                        int32_t dtype, bool input, bool gaps) {
    const size_t size = ascgrad_dtype_size(dtype);
    int64_t stride[8], n = elements(s), room = 1;
    for (uint64_t i = s->rank; i-- > 0;) {
        stride[i] = room;
        room *= s->dim[i];
    }
    const int64_t offset = gaps ? (int64_t)call_draw(c, 9) : 0;
    if (gaps && input) {
        room = draw_strides(c, s, stride);
    }
    room += offset;
    t->bytes = (size_t)n * size;
    t->dense = need(malloc(t->bytes ? t->bytes : 1));
    if (input) {
        fill(c, t, dtype);
    }
    if (n > 0 && aclrtMalloc(&t->device, (size_t)room * size, ACL_MEM_MALLOC_HUGE_FIRST) != 0) {
        need(NULL);
    }
    for (int64_t k = 0; input && k < n; k++) {
        int64_t rest = k, at = offset;
        for (uint64_t i = s->rank; i-- > 0; rest /= s->dim[i]) {
            at += rest % s->dim[i] * stride[i];
        }
        memcpy((uint8_t *)t->device + (size_t)at * size, t->dense + (size_t)k * size, size);
    }
    static const aclFormat plain[] = {ACL_FORMAT_ND, ACL_FORMAT_NCHW, ACL_FORMAT_NHWC};
    t->acl = need(aclCreateTensor(s->dim, s->rank, (aclDataType)dtype, stride, offset,
                                  plain[gaps ? call_draw(c, 3) : 0], &room, 1, t->device));
}

void call_make(struct call *c, bool gaps) {
    const struct ascgrad_node *node = &c->row.node;
    for (uint32_t i = 0; i < node->ir->inputs; i++) {
        if (node->in[i].present) {
            make_tensor(c, &c->in[i], &c->row.in[i], node->in[i].dtype, true, gaps);
        }
    }
    for (uint32_t i = 0; i < node->ir->outputs; i++) {
        make_tensor(c, &c->out[i], &c->row.out[i], node->out[i].dtype, false, gaps);
    }
    for (uint32_t i = 0; i < node->ir->attrs; i++) {
        const struct ascgrad_attr *attr = &node->attr[i];
        if (attr->kind == ASCGRAD_ATTR_LIST_INT) {
            aclIntArray **list = i == 0 ? &c->list : &c->second_list;
            c->attr[i].list = *list = need(aclCreateIntArray(attr->list, attr->count));
        } else if (attr->kind == ASCGRAD_ATTR_LIST_FLOAT) {
            c->attr[i].reals = c->reals = need(aclCreateFloatArray(attr->list, attr->count));
        } else if (attr->kind == ASCGRAD_ATTR_FLOAT) {
            c->attr[i].f = attr->f;
        } else if (attr->kind == ASCGRAD_ATTR_BOOL) {
            c->attr[i].b = attr->i != 0;
        } else {
            c->attr[i].i = attr->i;
        }
    }
}

aclnnStatus call_prepare(struct call *c, uint64_t *size, aclOpExecutor **executor) {
    const aclTensor *in[ASCGRAD_MAX_INPUTS], *out[ASCGRAD_MAX_OUTPUTS];
    for (uint32_t i = 0; i < ASCGRAD_MAX_INPUTS; i++) {
        in[i] = c->in[i].acl;
    }
    for (uint32_t i = 0; i < ASCGRAD_MAX_OUTPUTS; i++) {
        out[i] = c->out[i].acl;
    }
    return c->functions->prepare(in, c->attr, out, size, executor);
}

aclnnStatus call_run(struct call *c, struct call_workspace *workspace) {
    aclOpExecutor *executor = NULL;
    uint64_t size = 0;
    aclnnStatus code = call_prepare(c, &size, &executor);
    if (code != ACL_SUCCESS) {
        return code;
    }
    if (size > workspace->size) {
        if (workspace->at) {
            aclrtFree(workspace->at);
        }
        if (aclrtMalloc(&workspace->at, size, ACL_MEM_MALLOC_HUGE_FIRST) != 0) {
            need(NULL);
        }
        workspace->size = size;
    }
    return c->functions->run(size ? workspace->at : NULL, size, executor, NULL);
}

static void describe(struct ascgrad_tensor *t, const struct ascgrad_shape *s, int32_t dtype,
                     void *data) {
    t->dtype = dtype;
    t->rank = (int32_t)s->rank;
    memcpy(t->dim, s->dim, sizeof s->dim);
    t->data = data;
}

const char *call_compare(struct call *c) {
    static _Thread_local char why[ASCGRAD_WHY];
    struct ascgrad_tensor in[ASCGRAD_MAX_INPUTS], out[ASCGRAD_MAX_OUTPUTS];
    struct ascgrad_setting set[ASCGRAD_MAX_ATTRS];
    const struct ascgrad_node *node = &c->row.node;
    for (uint32_t i = 0; i < node->ir->inputs; i++) {
        in[i].rank = -1;
        if (node->in[i].present) {
            describe(&in[i], &c->row.in[i], node->in[i].dtype, c->in[i].dense);
        }
    }
    for (uint32_t i = 0; i < node->ir->outputs; i++) {
        describe(&out[i], &c->row.out[i], node->out[i].dtype, c->out[i].dense);
    }
    for (uint32_t i = 0; i < node->ir->attrs; i++) {
        const struct ascgrad_attr *attr = &node->attr[i];
        set[i] = (struct ascgrad_setting){
            .set = true, .value = attr->i, .list = attr->list, .count = attr->count};
        if (attr->kind == ASCGRAD_ATTR_FLOAT) {
            set[i].real = attr->f;
        }
    }
    const struct ascgrad_call call = {.size = sizeof call,
                                      .op = node->ir->type,
                                      .in = in,
                                      .inputs = node->ir->inputs,
                                      .out = out,
                                      .outputs = node->ir->outputs,
                                      .attr = set,
                                      .attrs = node->ir->attrs,
                                      .fast = true};
    if (ascgrad_run(&call, NULL, why) != ASCGRAD_OK) {
        return why;
    }
    for (uint32_t i = 0; i < node->ir->outputs; i++) {
        int64_t offset = 0;
        aclGetViewOffset(c->out[i].acl, &offset);
        const size_t skip = (size_t)offset * ascgrad_dtype_size(out[i].dtype);
        if (c->out[i].bytes &&
            memcmp((uint8_t *)c->out[i].device + skip, c->out[i].dense, c->out[i].bytes) != 0) {
            snprintf(why, sizeof why, "%s differs from the twin's", c->row.ir->out[i].name);
            return why;
        }
    }
    return NULL;
}

static void end_tensor(struct call_tensor *t) {
    aclDestroyTensor(t->acl);
    if (t->device) {
        aclrtFree(t->device);
    }
    free(t->dense);
    memset(t, 0, sizeof *t);
}

void call_end(struct call *c) {
    for (uint32_t i = 0; i < ASCGRAD_MAX_INPUTS; i++) {
        end_tensor(&c->in[i]);
    }
    for (uint32_t i = 0; i < ASCGRAD_MAX_OUTPUTS; i++) {
        end_tensor(&c->out[i]);
    }
    aclDestroyIntArray(c->list);
    aclDestroyIntArray(c->second_list);
    aclDestroyFloatArray(c->reals);
    c->list = c->second_list = NULL;
    c->reals = NULL;
}
