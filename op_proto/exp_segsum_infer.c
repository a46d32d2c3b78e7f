/* SPDX-License-Identifier: Apache-2.0
 *
 * ExpSegsumGrad: grad_output, grad_self [..., T, T] -> grad_input [..., T], same dtype.
 */
#include "../core/node.h"

enum { GRAD_OUTPUT, GRAD_SELF, INPUTS };

/* An unknown dimension agrees with everything. */
static bool agree(int64_t a, int64_t b) {
    return a < 0 || b < 0 || a == b;
}

static ascgrad_result check_matrix(const struct ascgrad_node *node, uint32_t input,
                                   struct ascgrad_error *error) {
    const struct ascgrad_shape *s = node->in[input].shape;
    const char *name = node->ir->in[input].name;
    struct ascgrad_text text;
    if (s->rank < 2 || s->rank > ASCGRAD_MOST_DIMS) {
        return ascgrad_refuse(error, node, "%s has shape %s, but a rank of 2 to %d is needed", name,
                              ascgrad_shape_text(s, &text), ASCGRAD_MOST_DIMS);
    }
    if (!agree(s->dim[s->rank - 2], s->dim[s->rank - 1])) {
        return ascgrad_refuse(error, node, "the last two dimensions of %s %s must be equal", name,
                              ascgrad_shape_text(s, &text));
    }
    return ASCGRAD_DONE;
}

static ascgrad_result check_pair(const struct ascgrad_node *node, const struct ascgrad_shape *a,
                                 const struct ascgrad_shape *b, struct ascgrad_error *error) {
    bool same = a->rank == b->rank;
    for (uint64_t i = 0; same && i < a->rank; i++) {
        same = agree(a->dim[i], b->dim[i]);
    }
    if (!same) {
        struct ascgrad_text at, bt;
        return ascgrad_refuse(error, node, "grad_self %s must have the shape of grad_output %s",
                              ascgrad_shape_text(b, &bt), ascgrad_shape_text(a, &at));
    }
    return ASCGRAD_DONE;
}

ascgrad_infer_fn ascgrad_infer_exp_segsum_grad;
ascgrad_infer_dtype_fn ascgrad_infer_dtype_exp_segsum_grad;

ascgrad_result ascgrad_infer_exp_segsum_grad(const struct ascgrad_node *node,
                                             struct ascgrad_shape *const out[],
                                             struct ascgrad_error *error) {
    const struct ascgrad_shape *known[INPUTS] = {NULL, NULL};
    for (uint32_t i = 0; i < INPUTS; i++) {
        if (ascgrad_need_input(node, i, error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
        if (ascgrad_rank_known(node->in[i].shape)) {
            known[i] = node->in[i].shape;
            if (check_matrix(node, i, error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
        }
    }
    if (known[0] && known[1] && check_pair(node, known[0], known[1], error) != ASCGRAD_DONE) {
        return ASCGRAD_REFUSED;
    }
    const struct ascgrad_shape *s = known[0] ? known[0] : known[1];
    if (!s) {
        *out[0] = (struct ascgrad_shape){.rank = 1, .dim = {ASCGRAD_UNKNOWN_RANK}};
        return ASCGRAD_DONE;
    }
    out[0]->rank = s->rank - 1;
    for (uint64_t i = 0; i + 1 < s->rank; i++) {
        out[0]->dim[i] = s->dim[i];
    }
    int64_t *t = &out[0]->dim[s->rank - 2];
    if (*t < 0) *t = s->dim[s->rank - 1]; /* square: either of the two will do */
    return ASCGRAD_DONE;
}

ascgrad_result ascgrad_infer_dtype_exp_segsum_grad(const struct ascgrad_node *node, int32_t out[],
                                                   struct ascgrad_error *error) {
    (void)error;
    out[0] = node->in[GRAD_OUTPUT].dtype;
    return ASCGRAD_DONE;
}
