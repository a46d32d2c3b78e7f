/* SPDX-License-Identifier: Apache-2.0 */
#include "roofline.h"

static uint64_t elements(const struct ascgrad_arg *arg) {
    return arg->present && arg->shape ? (uint64_t)ascgrad_elements(arg->shape, 0, arg->shape->rank)
                                      : 0;
}

/* dy, x and cos/sin in; dx and dcos/dsin out. Without x: dy, cos, sin in and dx out. */
static uint64_t rotary(const struct ascgrad_node *node, uint32_t dy, uint32_t cos, bool sums) {
    uint64_t n = elements(&node->in[dy]), c = elements(&node->in[cos]);
    return (sums ? 3 * n + 4 * c : 2 * n + 2 * c) * ascgrad_dtype_size(node->in[dy].dtype);
}

/* cos and sin are needed up to the longest sequence, once. */
static uint64_t rope(const struct ascgrad_node *node) {
    int64_t longest = 0;
    for (size_t i = 0; i < node->attr[0].count; i++)
        if (ascgrad_list_at(&node->attr[0], i) > longest)
            longest = ascgrad_list_at(&node->attr[0], i);
    uint64_t table = (uint64_t)longest * (uint64_t)node->in[2].shape->dim[1];
    return (2 * (elements(&node->in[0]) + elements(&node->in[1])) + 2 * table) *
           ascgrad_dtype_size(node->in[0].dtype);
}

/* Gradient in and out for every stream; x, mean and rstd too where there is a norm; sin and cos
 * once. */
static uint64_t norm_rope_concat(const struct ascgrad_node *node) {
    enum { VALUE = 2, QUERY = 3, ENCODER_QUERY = 5, SIN = 19 };
    uint64_t size = ascgrad_dtype_size(node->in[QUERY].dtype);
    uint64_t bytes = 2 * elements(&node->in[VALUE]) * size;
    for (uint32_t i = QUERY; i < QUERY + 4; i++) {
        bool norm = node->attr[i < ENCODER_QUERY ? 0 : 1].i != 0;
        uint64_t n = elements(&node->in[i]);
        bytes += (norm ? 3 : 2) * n * size;
        if (norm && n) bytes += 8 * (n / (uint64_t)node->in[i].shape->dim[3]);
    }
    if (node->attr[2].i != 0) bytes += 2 * elements(&node->in[SIN]) * size;
    return bytes;
}

/* The strict lower triangles of both matrices, and one row out. */
static uint64_t exp_segsum(const struct ascgrad_node *node) {
    const struct ascgrad_shape *s = node->in[0].shape;
    uint64_t t = (uint64_t)s->dim[s->rank - 1];
    uint64_t matrices = t ? (uint64_t)ascgrad_elements(s, 0, s->rank - 2) : 0;
    return matrices * (t * (t - 1) + t) * ascgrad_dtype_size(node->in[0].dtype);
}

uint64_t twin_min_bytes(const struct ascgrad_node *node) {
    if (strcmp(node->ir->type, "RotaryMulGrad") == 0) return rotary(node, 3, 1, node->attr[0].i != 0);
    if (strcmp(node->ir->type, "RotaryPositionEmbeddingGrad") == 0)
        return rotary(node, 0, 1, node->in[3].present);
    if (strcmp(node->ir->type, "RopeGrad") == 0) return rope(node);
    if (strcmp(node->ir->type, "NormRopeConcatGrad") == 0) return norm_rope_concat(node);
    return exp_segsum(node);
}
