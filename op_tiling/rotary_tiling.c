/* SPDX-License-Identifier: Apache-2.0
 *
 * Tiling of RotaryMulGrad(x, r1, r2, dy) and RotaryPositionEmbeddingGrad(dy, cos, sin, [x]).
 * Checks the node and collapses its axes; rotary_plan.c does the rest.
 */
#include "rotary.h"

ascgrad_tile_fn ascgrad_tile_rotary_mul_grad;
ascgrad_tile_fn ascgrad_tile_rotary_position_embedding_grad;

/* The accumulators of more do not fit the UB. */
static const int64_t MOST_BYTES = (int64_t)1 << 44;

/* The two operators as one. Indices of the node's inputs. */
struct request {
    uint32_t dy, cos, sin, x;
    int64_t mode;
    int64_t slice; /* the first column that is rotated */
    bool has_x;    /* x is connected, */
    bool with_x;   /* and the gradients that need it are wanted */
};

static const char *name(const struct ascgrad_node *node, uint32_t input) {
    return node->ir->in[input].name;
}

static ascgrad_result check_shapes(const struct ascgrad_node *node, const struct request *q,
                                   struct ascgrad_error *error) {
    const struct ascgrad_shape *dy = node->in[q->dy].shape, *cos = node->in[q->cos].shape;
    const struct ascgrad_shape *sin = node->in[q->sin].shape, *x = node->in[q->x].shape;
    struct ascgrad_text a, b;
    if (dy->rank == 0) {
        return ascgrad_refuse(error, node, "%s must have at least 1 dimension, got []",
                              name(node, q->dy));
    }
    if (!ascgrad_shape_equal(cos, sin)) {
        return ascgrad_refuse(error, node, "%s and %s must have one shape, got %s and %s",
                              name(node, q->cos), name(node, q->sin), ascgrad_shape_text(cos, &a),
                              ascgrad_shape_text(sin, &b));
    }
    if (q->has_x && !ascgrad_shape_equal(dy, x)) {
        return ascgrad_refuse(error, node, "%s and %s must have one shape, got %s and %s",
                              name(node, q->dy), name(node, q->x), ascgrad_shape_text(dy, &a),
                              ascgrad_shape_text(x, &b));
    }
    if (dy->rank != cos->rank) {
        return ascgrad_refuse(error, node, "%s and %s must have one rank, got %s and %s",
                              name(node, q->dy), name(node, q->cos), ascgrad_shape_text(dy, &a),
                              ascgrad_shape_text(cos, &b));
    }
    int64_t d = dy->dim[dy->rank - 1], rotated = cos->dim[dy->rank - 1];
    if (rotated > d || (rotated == 0 && d > 0)) {
        return ascgrad_refuse(
            error, node, "the last dimension of %s must be 2 to that of %s, got %lld and %lld",
            name(node, q->cos), name(node, q->dy), (long long)rotated, (long long)d);
    }
    for (uint64_t i = 0; i + 1 < dy->rank; i++) {
        if (cos->dim[i] != 1 && cos->dim[i] != dy->dim[i]) {
            return ascgrad_refuse(error, node,
                                  "dimension %llu of %s must be 1 or that of %s, got %lld and %lld",
                                  (unsigned long long)i, name(node, q->cos), name(node, q->dy),
                                  (long long)cos->dim[i], (long long)dy->dim[i]);
        }
    }
    if (q->slice < 0 || q->slice > d - rotated) {
        return ascgrad_refuse(error, node,
                              "slice_start is %lld, but must be between 0 and %lld, the last "
                              "dimension of %s less that of %s",
                              (long long)q->slice, (long long)(d - rotated), name(node, q->dy),
                              name(node, q->cos));
    }
    int64_t multiple = q->mode == QUARTER ? 4 : 2;
    if (rotated % multiple != 0) {
        return ascgrad_refuse(error, node,
                              "the last dimension of %s must be a multiple of %lld, got %lld",
                              name(node, q->cos), (long long)multiple, (long long)rotated);
    }
    return ASCGRAD_DONE;
}

/* The outputs as the graph has them. *sums: whether dcos and dsin have room for anything. */
static ascgrad_result check_outputs(const struct ascgrad_node *node, const struct request *q,
                                    bool *sums, struct ascgrad_error *error) {
    const struct ascgrad_shape *dy = node->in[q->dy].shape, *cos = node->in[q->cos].shape;
    *sums = ascgrad_elements(cos, 0, cos->rank) > 0;
    for (uint32_t i = 0; i < 3; i++) {
        const struct ascgrad_arg *out = &node->out[i];
        if (!out->shape) {
            continue;
        }
        const struct ascgrad_shape *want = i == 0 ? dy : cos;
        if (i > 0 && !q->with_x && ascgrad_shape_concrete(out->shape) &&
            ascgrad_elements(out->shape, 0, out->shape->rank) == 0) {
            *sums = false; /* the caller does not want them at all */
            continue;
        }
        int32_t dtype = node->in[i == 0 ? q->dy : q->cos].dtype;
        if (ascgrad_need_output(node, i, want, dtype, error) != ASCGRAD_DONE) {
            return ASCGRAD_REFUSED;
        }
    }
    return ASCGRAD_DONE;
}

/* False if kept and summed axes alternate more often than K R K R: not before rank 5. */
static bool collapse(const struct ascgrad_shape *dy, const struct ascgrad_shape *cos,
                     struct rotary_axes *axes) {
    int64_t slot[4] = {1, 1, 1, 1};
    uint32_t at = 0;
    for (uint64_t i = 0; i + 1 < dy->rank; i++) {
        if (dy->dim[i] == 1) {
            continue;
        }
        at += (at & 1) != (cos->dim[i] == 1);
        if (at > 3) {
            return false;
        }
        slot[at] *= dy->dim[i];
    }
    bool short_form = slot[2] == 1 && slot[3] == 1; /* K R is the end of K R K R */
    axes->k0 = short_form ? 1 : slot[0];
    axes->r0 = short_form ? 1 : slot[1];
    axes->k1 = short_form ? slot[0] : slot[2];
    axes->r1 = short_form ? slot[1] : slot[3];
    return true;
}

static ascgrad_result tile(const struct ascgrad_node *node, const struct request *q,
                           const struct ascgrad_chip *chip, struct ascgrad_launch *launch,
                           struct ascgrad_error *error) {
    bool sums;
    if (ascgrad_need_inputs(node, error) != ASCGRAD_DONE ||
        check_shapes(node, q, error) != ASCGRAD_DONE ||
        check_outputs(node, q, &sums, error) != ASCGRAD_DONE) {
        return ASCGRAD_REFUSED;
    }
    const struct ascgrad_shape *dy = node->in[q->dy].shape, *cos = node->in[q->cos].shape;
    int64_t elements = ascgrad_elements(dy, 0, dy->rank);
    int64_t size = (int64_t)ascgrad_dtype_size(node->in[q->dy].dtype);
    struct rotary_axes axes = {1, 1, 1, 1};
    struct ascgrad_text a, b;
    if (elements > 0 && !collapse(dy, cos, &axes)) {
        return ascgrad_refuse(
            error, node, "the axes of %s %s alternate too often between kept and summed in %s %s",
            name(node, q->dy), ascgrad_shape_text(dy, &a), name(node, q->cos),
            ascgrad_shape_text(cos, &b));
    }
    if (elements > MOST_BYTES / size) {
        return ascgrad_refuse(error, node, "%s must have at most %lld bytes, got %s of %lld",
                              name(node, q->dy), (long long)MOST_BYTES, ascgrad_shape_text(dy, &a),
                              (long long)size);
    }
    if (chip->ub < SMALLEST_UB) {
        return ascgrad_refuse(error, node, "the kernel needs %d bytes of UB, the chip has %llu",
                              SMALLEST_UB, (unsigned long long)chip->ub);
    }
    struct rotary_work work = {.mode = (enum rotary_mode)q->mode,
                               .axes = axes,
                               .elements = elements,
                               .row = cos->dim[dy->rank - 1],
                               .dy_row = dy->dim[dy->rank - 1],
                               .slice = q->slice,
                               .size = size,
                               .table = (int64_t)ascgrad_dtype_size(node->in[q->cos].dtype),
                               .with_x = q->with_x};
    if (sums && (!q->with_x || elements == 0)) { /* there is nothing to sum */
        work.zeros = ascgrad_elements(cos, 0, cos->rank);
    }
    RotaryGradTiling t;
    if (chip->arch != ASCGRAD_ARCH_910) {
        ascgrad_rotary_plan(&work, chip, &t, launch);
        if (t.ub_bytes > chip->ub) { /* many terabytes, and a sum for every level of a tree */
            return ascgrad_refuse(error, node,
                                  "the sums of %s %s need %u bytes of UB, the chip has %llu",
                                  name(node, q->dy), ascgrad_shape_text(dy, &a), t.ub_bytes,
                                  (unsigned long long)chip->ub);
        }
    } else if (ascgrad_rotary_check_910(node, &work, error) != ASCGRAD_DONE ||
               ascgrad_rotary_plan_910(node, &work, chip, &t, launch, error) != ASCGRAD_DONE) {
        return ASCGRAD_REFUSED;
    }
    return ascgrad_put(launch, node, &t, sizeof t, error);
}

ascgrad_result ascgrad_tile_rotary_mul_grad(const struct ascgrad_node *node,
                                            const struct ascgrad_chip *chip,
                                            struct ascgrad_launch *launch,
                                            struct ascgrad_error *error) {
    struct request q = {.dy = 3, .cos = 1, .sin = 2, .x = 0, .mode = HALF};
    q.has_x = true;
    q.with_x = node->attr[0].i != 0;
    return tile(node, &q, chip, launch, error);
}

ascgrad_result ascgrad_tile_rotary_position_embedding_grad(const struct ascgrad_node *node,
                                                           const struct ascgrad_chip *chip,
                                                           struct ascgrad_launch *launch,
                                                           struct ascgrad_error *error) {
    if (ascgrad_need_later_chip(node, chip, error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
    struct request q = {.dy = 0, .cos = 1, .sin = 2, .x = 3};
    q.mode = node->attr[0].i;
    q.slice = node->attr[1].i;
    if (ascgrad_need_attr(node, 0, INTERLEAVE_HALF, error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
    q.has_x = q.with_x = node->in[3].present;
    return tile(node, &q, chip, launch, error);
}
