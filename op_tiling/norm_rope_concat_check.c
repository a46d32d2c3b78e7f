/* SPDX-License-Identifier: Apache-2.0
 *
 * NormRopeConcatGrad: is everything there that the mode needs, and does it fit together?
 * A tensor that the mode does not use is not looked at; a stream without lines needs nothing.
 */
#include "norm_rope_concat.h"

enum { GRAD_QUERY, GRAD_KEY, GRAD_VALUE, QUERY, KEY, ENCODER_QUERY, ENCODER_KEY, TENSORS };
enum { FIRST_WEIGHT = 7, LAST_WEIGHT = 16, SIN = 19, COS = 20, WEIGHT_OUT = 6 };
enum { NORM_TYPE, NORM_ADDED_TYPE, ROPE_TYPE, CONCAT_ORDER, GRAD_LAYOUT, ATTRS };
enum { MOST_DIM = 1 << 29 }; /* gaps of the copy instruction are 32 bits of bytes */

static ascgrad_result read_attrs(const struct ascgrad_node *node, struct nrc_shapes *s,
                                 struct ascgrad_error *error) {
    static const int64_t most[ATTRS] = {NRC_NORM_TYPES - 1, NRC_NORM_TYPES - 1, 2, 1, 1};
    for (uint32_t i = 0; i < ATTRS; i++) {
        if (ascgrad_need_attr(node, i, most[i], error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
    }
    s->norm[0] = node->attr[NORM_TYPE].i;
    s->norm[1] = node->attr[NORM_ADDED_TYPE].i;
    s->rope = node->attr[ROPE_TYPE].i;
    s->order = node->attr[CONCAT_ORDER].i;
    s->layout = node->attr[GRAD_LAYOUT].i;
    return ASCGRAD_DONE;
}

/* What a tensor should be. Much smaller than a shape: there are up to 21 of them in each call. */
struct want {
    uint32_t rank;
    int32_t dtype;
    int64_t dim[4];
};

static bool has_shape(const struct ascgrad_shape *s, const struct want *want) {
    if (s->rank != want->rank) return false;
    for (uint32_t i = 0; i < want->rank; i++) {
        if (s->dim[i] != want->dim[i]) return false;
    }
    return true;
}

static ascgrad_result refuse_shape(const struct ascgrad_node *node, const char *name,
                                   const struct ascgrad_shape *s, const struct want *want,
                                   struct ascgrad_error *error) {
    struct ascgrad_text a, b;
    struct ascgrad_shape full = {.rank = want->rank};
    memcpy(full.dim, want->dim, sizeof want->dim);
    return ascgrad_refuse(error, node, "%s has shape %s, but must be %s", name,
                          ascgrad_shape_text(s, &a), ascgrad_shape_text(&full, &b));
}

/* A tensor of exactly this shape and dtype. */
static ascgrad_result need(const struct ascgrad_node *node, uint32_t input, const struct want *want,
                           struct ascgrad_error *error) {
    const struct ascgrad_arg *in = &node->in[input];
    if (ascgrad_need_concrete(node, input, error) != ASCGRAD_DONE) {
        return ASCGRAD_REFUSED;
    }
    if (!has_shape(in->shape, want)) {
        return refuse_shape(node, node->ir->in[input].name, in->shape, want, error);
    }
    if (in->dtype != want->dtype) {
        bool wide = in->dtype != ASCGRAD_FP32 &&
                    (input == SIN || (input >= FIRST_WEIGHT && input <= LAST_WEIGHT));
        const char *other = wide && want->dtype != ASCGRAD_FP32 ? " or fp32" : "";
        return ascgrad_refuse(error, node, "%s is %s, but must be %s%s", node->ir->in[input].name,
                              ascgrad_dtype_name(in->dtype), ascgrad_dtype_name(want->dtype),
                              other);
    }
    return ASCGRAD_DONE;
}

/* A gradient of an output: [B,N,S + encoder's S,D] or, by grad_layout, [B,S + encoder's S,N,D]. */
static ascgrad_result check_grad(const struct ascgrad_node *node, const struct nrc_shapes *s,
                                 uint32_t i, struct ascgrad_error *error) {
    uint32_t k = i == GRAD_QUERY ? 0 : 2;
    int64_t total;
    if (__builtin_add_overflow(s->seq[k], s->seq[k + 1], &total)) {
        return ascgrad_refuse(error, node, "sequences of %lld and %lld are too long together",
                              (long long)s->seq[k], (long long)s->seq[k + 1]);
    }
    struct want want = {4, s->dtype, {s->batch, s->heads[i], total, s->dim}};
    if (s->layout) want.dim[1] = total, want.dim[2] = s->heads[i];
    return need(node, i, &want, error);
}

/* query, key and their encoder parts [B,S,N,D], then the gradients. That of value says itself how
 * many heads there are, and may be [0]. */
static ascgrad_result check_streams(const struct ascgrad_node *node, struct nrc_shapes *s,
                                    struct ascgrad_error *error) {
    static const uint32_t input[NRC_NORMED] = {QUERY, ENCODER_QUERY, KEY, ENCODER_KEY};
    if (ascgrad_need_concrete(node, QUERY, error) != ASCGRAD_DONE) {
        return ASCGRAD_REFUSED;
    }
    const struct ascgrad_shape *query = node->in[QUERY].shape;
    if (query->rank == 4) s->batch = query->dim[0], s->dim = query->dim[3];
    for (uint32_t i = 0; i < NRC_NORMED; i++) {
        const struct ascgrad_arg *x = &node->in[input[i]];
        if (i % 2 && !x->present) continue;
        struct ascgrad_text text;
        if (x->present && x->shape && x->shape->rank != 4) {
            return ascgrad_refuse(error, node, "%s must have 4 dimensions [B,S,N,D], got %s",
                                  node->ir->in[input[i]].name, ascgrad_shape_text(x->shape, &text));
        }
        s->seq[i] = x->present && x->shape ? x->shape->dim[1] : 0;
        if (i % 2 == 0) s->heads[i / 2] = x->present && x->shape ? x->shape->dim[2] : 0;
        struct want want = {4, s->dtype, {s->batch, s->seq[i], s->heads[i / 2], s->dim}};
        if (need(node, input[i], &want, error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
    }
    const struct ascgrad_arg *value = &node->in[GRAD_VALUE];
    if (ascgrad_need_concrete(node, GRAD_VALUE, error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
    if (value->shape->rank == 4) s->heads[2] = value->shape->dim[s->layout ? 2 : 1];
    bool none = value->shape->rank == 1 && value->shape->dim[0] == 0;
    for (uint32_t i = GRAD_QUERY; i <= (none ? GRAD_KEY : GRAD_VALUE); i++) {
        if (check_grad(node, s, i, error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
    }
    return ASCGRAD_DONE;
}

/* The same for a tensor that only this value of an attribute needs. */
static ascgrad_result mode_needs(const struct ascgrad_node *node, uint32_t attr, uint32_t input,
                                 const struct want *want, struct ascgrad_error *error) {
    if (!node->in[input].present) {
        return ascgrad_refuse(error, node, "%s %lld needs %s, which is not connected",
                              node->ir->attr[attr].name, (long long)node->attr[attr].i,
                              node->ir->in[input].name);
    }
    return need(node, input, want, error);
}

/* Weight, mean and rstd of stream i, as its norm type asks. */
static ascgrad_result check_norm(const struct ascgrad_node *node, const struct nrc_shapes *s,
                                 uint32_t i, struct ascgrad_error *error) {
    static const uint32_t weight[NRC_NORMED] = {7, 13, 10, 16};
    uint32_t attr = i % 2; /* norm_type, norm_added_type */
    int64_t heads = s->heads[i / 2], rows = nrc_across(s->norm[attr]) ? heads : 1;
    if (s->norm[attr] == 0 || s->batch == 0 || heads == 0 || s->seq[i] == 0) {
        return ASCGRAD_DONE;
    }
    struct want row = {1, s->weights, {rows * s->dim}};
    struct want column = {4, ASCGRAD_FP32, {s->batch, s->seq[i], heads / rows, 1}};
    if ((nrc_centred(s->norm[attr]) &&
         mode_needs(node, attr, weight[i] + 1, &column, error) != ASCGRAD_DONE) ||
        mode_needs(node, attr, weight[i] + 2, &column, error) != ASCGRAD_DONE) {
        return ASCGRAD_REFUSED;
    }
    return nrc_weighted(s->norm[attr]) ? mode_needs(node, attr, weight[i], &row, error)
                                       : ASCGRAD_DONE;
}

static ascgrad_result check_rope(const struct ascgrad_node *node, struct nrc_shapes *s,
                                 struct ascgrad_error *error) {
    if (s->rope == 0) return ASCGRAD_DONE;
    if (s->dim % 2) {
        return ascgrad_refuse(error, node,
                              "rope_type %lld pairs columns, but D is %lld, an odd number",
                              (long long)s->rope, (long long)s->dim);
    }
    const struct ascgrad_shape *sin = node->in[SIN].present ? node->in[SIN].shape : NULL;
    s->tables = node->in[SIN].dtype == ASCGRAD_FP32 ? ASCGRAD_FP32 : s->dtype;
    struct want want = {2, s->tables, {sin && sin->rank ? sin->dim[0] : 0, s->dim}};
    if (mode_needs(node, ROPE_TYPE, SIN, &want, error) != ASCGRAD_DONE ||
        mode_needs(node, ROPE_TYPE, COS, &want, error) != ASCGRAD_DONE) {
        return ASCGRAD_REFUSED;
    }
    s->rope_rows = want.dim[0];
    for (uint32_t i = 0; i < NRC_NORMED; i += 2) {
        int64_t total = s->seq[i] + s->seq[i + 1];
        if (total && s->rope_rows > total) {
            return ascgrad_refuse(error, node,
                                  "rope_sin has %lld rows, but the sequence of %s is %lld",
                                  (long long)s->rope_rows,
                                  node->ir->in[i ? GRAD_KEY : GRAD_QUERY].name, (long long)total);
        }
    }
    return ASCGRAD_DONE;
}

/* The shapes that the graph has for the outputs must be those that inference gives. */
static ascgrad_result check_outputs(const struct ascgrad_node *node, const struct nrc_shapes *s,
                                    struct ascgrad_error *error) {
    static const uint32_t like[WEIGHT_OUT] = {QUERY,         KEY,         KEY,
                                              ENCODER_QUERY, ENCODER_KEY, ENCODER_KEY};
    for (uint32_t i = 0; i < node->ir->outputs; i++) {
        const struct ascgrad_arg *out = &node->out[i];
        if (!out->present || !out->shape) continue;
        struct want want = {1, i < WEIGHT_OUT ? s->dtype : s->weights, {0}};
        if (i >= WEIGHT_OUT) {
            int64_t norm = s->norm[i >= WEIGHT_OUT + 4]; /* weight, bias, weight, ... */
            bool there = nrc_weighted(norm) && (i % 2 == 0 || nrc_centred(norm));
            int64_t rows = nrc_across(norm) ? s->heads[(i - WEIGHT_OUT) / 2 % 2] : 1;
            if (there && __builtin_mul_overflow(rows, s->dim, &want.dim[0])) want.dim[0] = -1;
        } else if (node->in[like[i]].present &&
                   (i % 3 != 2 || node->in[GRAD_VALUE].shape->rank == 4)) {
            want.rank = 4;
            memcpy(want.dim, node->in[like[i]].shape->dim, sizeof want.dim);
            if (i % 3 == 2) want.dim[2] = s->heads[2];
        }
        if (!has_shape(out->shape, &want)) {
            return refuse_shape(node, node->ir->out[i].name, out->shape, &want, error);
        }
        if (out->dtype != want.dtype) {
            return ascgrad_refuse(error, node, "%s is %s, but must be %s", node->ir->out[i].name,
                                  ascgrad_dtype_name(out->dtype), ascgrad_dtype_name(want.dtype));
        }
    }
    return ASCGRAD_DONE;
}

ascgrad_result nrc_check(const struct ascgrad_node *node, struct nrc_shapes *shapes,
                         struct ascgrad_error *error) {
    memset(shapes, 0, sizeof *shapes);
    if (read_attrs(node, shapes, error) != ASCGRAD_DONE ||
        ascgrad_need_dtype(node, 0, TENSORS, error) != ASCGRAD_DONE) {
        return ASCGRAD_REFUSED;
    }
    shapes->dtype = shapes->weights = shapes->tables = node->in[QUERY].dtype;
    uint32_t first = FIRST_WEIGHT; /* it decides for all, and for their gradients */
    while (first < LAST_WEIGHT && !node->in[first].present) {
        first += 3;
    }
    if (node->in[first].present && node->in[first].dtype == ASCGRAD_FP32) {
        shapes->weights = ASCGRAD_FP32;
    }
    if (check_streams(node, shapes, error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
    if (shapes->dim > MOST_DIM) {
        return ascgrad_refuse(error, node,
                              "D is %lld, but a row pitch of the chip holds %d elements",
                              (long long)shapes->dim, MOST_DIM);
    }
    for (uint32_t i = 0; i < NRC_NORMED; i++) {
        if (check_norm(node, shapes, i, error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
    }
    if (check_rope(node, shapes, error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
    return check_outputs(node, shapes, error);
}
