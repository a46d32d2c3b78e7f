/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations that move lanes: which lane of which input ends up where. The shape of the output is
 * known, so that only starts and strides are read from a node; whatever they reach beyond the input
 * is not a move.
 */
#include "lanes.h"

#include <string.h>

enum { RANK = FUSION_MAX_RANK };

/* One question: the lanes of `out` behind its first `lead` axes. */
struct question {
    const struct fusion_graph *graph;
    const struct fusion_node *node;
    const struct fusion_tensor *out;
    struct fusion_move *move;
    int32_t lead;
};

static const struct fusion_tensor *tensor_at(const struct question *q, int32_t input) {
    return &q->graph->tensor[q->move->input[input]];
}

/* The inputs called `name` are what is moved; they must be static and start with the leading axes
 * of the output. */
static bool take_inputs(const struct question *q, const char *name) {
    int32_t first, count = fusion_inputs(q->node, name, &first);
    if (count < 1) return false;
    q->move->input = q->node->input + first;
    q->move->inputs = count;
    q->move->lead = q->lead;
    for (int32_t i = 0; i < count; i++) {
        if (q->move->input[i] == FUSION_ABSENT) return false;
        const struct fusion_tensor *in = tensor_at(q, i);
        if (!fusion_static(in) || in->rank < q->lead || in->dtype != q->out->dtype) return false;
        for (int32_t k = 0; k < q->lead; k++)
            if (in->dim[k] != q->out->dim[k]) return false;
    }
    return true;
}

/* The index of a lane along each axis behind the leading ones, and back. */
static void lane_index(const struct fusion_tensor *t, int32_t lead, int64_t lane, int64_t *index) {
    for (int32_t k = t->rank - 1; k >= lead; k--) {
        index[k] = lane % t->dim[k];
        lane /= t->dim[k];
    }
}

static bool index_lane(const struct fusion_tensor *t, int32_t lead, const int64_t *index,
                       int32_t *lane) {
    int64_t flat = 0;
    for (int32_t k = lead; k < t->rank; k++) {
        if (index[k] < 0 || index[k] >= t->dim[k]) return false;
        flat = flat * t->dim[k] + index[k];
    }
    *lane = (int32_t)flat;
    return true;
}

static int32_t lanes_of(const struct question *q) {
    return (int32_t)fusion_elements(q->out, q->lead, q->out->rank);
}

/* An axis that a node names, counted from the front; it must be one of the lanes'. */
static bool read_axis(const struct question *q, const char *name, int64_t otherwise, int32_t rank,
                      int32_t *axis) {
    int64_t value;
    if (!fusion_int(q->graph, q->node, name, otherwise, &value)) return false;
    if (value < 0) value += rank;
    if (value < q->lead || value >= rank) return false;
    *axis = (int32_t)value;
    return true;
}

/* Along each axis of `whole`: where a part starts and how far it steps. cut: the part may be
 * shorter there; gone: the part has no such axis. */
struct window {
    int64_t start[RANK], step[RANK];
    bool cut[RANK], gone[RANK];
};

static void whole_window(struct window *w) {
    memset(w, 0, sizeof *w);
    for (int32_t k = 0; k < RANK; k++)
        w->step[k] = 1;
}

/* Is every leading axis of the window untouched? */
static bool lead_untouched(const struct window *w, int32_t lead) {
    for (int32_t k = 0; k < lead; k++)
        if (w->start[k] != 0 || w->step[k] != 1 || w->gone[k]) return false;
    return true;
}

/* The index in the whole of an index in the part. */
static void through_window(const struct window *w, int32_t rank, const int64_t *part,
                           int64_t *whole) {
    for (int32_t k = 0, p = 0; k < rank; k++)
        whole[k] = w->start[k] + (w->gone[k] ? 0 : part[p++] * w->step[k]);
}

/* Has the part the axes that the window leaves it, and its full length along those not cut? */
static bool window_fits(const struct window *w, const struct fusion_tensor *whole,
                        const struct fusion_tensor *part) {
    int32_t p = 0;
    for (int32_t k = 0; k < whole->rank; k++) {
        if (w->gone[k]) continue;
        if (p == part->rank || (!w->cut[k] && part->dim[p] != whole->dim[k])) return false;
        p++;
    }
    return p == part->rank;
}

/* The output is the part of its input that a window shows. */
static bool move_out_of(const struct question *q, const struct window *w) {
    const struct fusion_tensor *in = tensor_at(q, 0);
    if (!lead_untouched(w, q->lead) || !window_fits(w, in, q->out)) return false;
    int64_t part[RANK], whole[RANK];
    memset(part, 0, sizeof part);
    for (int32_t i = 0; i < lanes_of(q); i++) {
        lane_index(q->out, q->lead, i, part);
        through_window(w, in->rank, part, whole);
        q->move->from[i] = 0;
        if (!index_lane(in, q->lead, whole, &q->move->source[i])) return false;
    }
    return true;
}

/* The output is zero but for a window, in which the input is. */
static bool move_into(const struct question *q, const struct window *w) {
    const struct fusion_tensor *in = tensor_at(q, 0);
    if (!lead_untouched(w, q->lead) || !window_fits(w, q->out, in)) return false;
    int64_t part[RANK], whole[RANK];
    int64_t lanes = fusion_elements(in, q->lead, in->rank);
    memset(part, 0, sizeof part);
    for (int32_t i = 0; i < lanes_of(q); i++)
        q->move->from[i] = -1;
    if (lanes > FUSION_MAX_LANES) return false;
    for (int32_t i = 0; i < lanes; i++) {
        int32_t target;
        lane_index(in, q->lead, i, part);
        through_window(w, q->out->rank, part, whole);
        if (!index_lane(q->out, q->lead, whole, &target)) return false;
        if (q->move->from[target] != -1) return false;
        q->move->from[target] = 0;
        q->move->source[target] = i;
    }
    return true;
}

/* Begins, strides and masks of a strided slice of `whole`. new_axis_mask is not understood. */
static bool read_window(const struct question *q, const struct fusion_tensor *whole,
                        struct window *w) {
    int64_t begin[RANK], step[RANK], axes[RANK], mask[5];
    static const char *const masks[] = {"begin_mask", "ellipsis_mask", "shrink_axis_mask",
                                        "new_axis_mask", "end_mask"};
    for (int32_t i = 0; i < 5; i++)
        if (!fusion_int(q->graph, q->node, masks[i], 0, &mask[i])) return false;
    int64_t count = fusion_ints(q->graph, q->node, "begin", begin, RANK);
    if (count < 0 || mask[3] != 0) return false;
    int64_t steps = fusion_ints(q->graph, q->node, "strides", step, RANK);
    if (steps < 0 && fusion_input(q->node, "strides") == FUSION_ABSENT)
        for (steps = 0; steps < count; steps++)
            step[steps] = 1;
    if (steps != count) return false;
    bool named = fusion_input(q->node, "axes") != FUSION_ABSENT;
    if (named && fusion_ints(q->graph, q->node, "axes", axes, RANK) != count) return false;
    if (named && mask[1] != 0) return false;
    whole_window(w);
    int64_t axis = 0;
    for (int64_t i = 0; i < count; i++) {
        if (mask[1] >> i & 1) {
            axis += whole->rank - (count - 1);
            continue;
        }
        if (named) axis = axes[i] < 0 ? axes[i] + whole->rank : axes[i];
        if (axis < 0 || axis >= whole->rank || step[i] <= 0) return false;
        int64_t dim = whole->dim[axis], start = begin[i] < 0 ? begin[i] + dim : begin[i];
        w->cut[axis] = true;
        w->gone[axis] = mask[2] >> i & 1;
        if ((mask[0] >> i & 1) && !w->gone[axis]) start = 0;
        w->start[axis] = start < 0 ? 0 : start;
        w->step[axis] = w->gone[axis] ? 1 : step[i];
        axis++;
    }
    return true;
}

static bool move_strided(const struct question *q) {
    struct window w;
    return take_inputs(q, "x") && read_window(q, tensor_at(q, 0), &w) && move_out_of(q, &w);
}

static bool move_strided_grad(const struct question *q) {
    struct window w;
    return take_inputs(q, "dy") && read_window(q, q->out, &w) && move_into(q, &w);
}

static bool move_slice(const struct question *q) {
    struct window w;
    if (!take_inputs(q, "x")) return false;
    whole_window(&w);
    memset(w.cut, true, sizeof w.cut);
    return fusion_ints(q->graph, q->node, "offsets", w.start, RANK) == tensor_at(q, 0)->rank &&
           move_out_of(q, &w);
}

static bool move_pad(const struct question *q) {
    struct window w;
    int64_t pads[2 * RANK];
    if (!take_inputs(q, "x")) return false;
    whole_window(&w);
    if (fusion_ints(q->graph, q->node, "paddings", pads, 2 * RANK) != 2 * q->out->rank)
        return false;
    memset(w.cut, true, sizeof w.cut);
    for (int32_t k = 0; k < q->out->rank; k++)
        w.start[k] = pads[2 * k];
    return move_into(q, &w);
}

/* Output `port` of a split starts where the outputs before it end. */
static bool move_split(const struct question *q) {
    struct window w;
    int32_t axis;
    if (!take_inputs(q, "x") || !read_axis(q, "split_dim", RANK, tensor_at(q, 0)->rank, &axis))
        return false;
    whole_window(&w);
    w.cut[axis] = true;
    for (int32_t i = 0; i < q->out->port; i++) {
        const struct fusion_tensor *before = &q->graph->tensor[q->node->first + i];
        if (!fusion_static(before) || before->rank != q->out->rank) return false;
        w.start[axis] += before->dim[axis];
    }
    return move_out_of(q, &w);
}

static bool move_unpack(const struct question *q) {
    struct window w;
    int32_t axis;
    if (!take_inputs(q, "x") || !read_axis(q, "axis", 0, tensor_at(q, 0)->rank, &axis))
        return false;
    whole_window(&w);
    w.gone[axis] = true;
    w.start[axis] = q->out->port;
    return move_out_of(q, &w);
}

/* One index takes an axis away, a list of them rearranges it. */
static bool move_gather(const struct question *q) {
    int64_t picks[FUSION_MAX_LANES], batch, part[RANK], whole[RANK];
    int32_t axis;
    if (!take_inputs(q, "x") || !read_axis(q, "axis", 0, tensor_at(q, 0)->rank, &axis))
        return false;
    const struct fusion_tensor *in = tensor_at(q, 0);
    int32_t indices = fusion_input(q->node, "indices");
    if (!fusion_int(q->graph, q->node, "batch_dims", 0, &batch) || batch != 0 ||
        indices == FUSION_ABSENT)
        return false;
    int64_t count = fusion_ints(q->graph, q->node, "indices", picks, FUSION_MAX_LANES);
    int32_t rank = q->graph->tensor[indices].rank;
    if (count < 0 || rank < 0 || rank > 1 || q->out->rank != in->rank - 1 + rank ||
        (rank == 1 && q->out->dim[axis] != count) || (rank == 0 && count != 1))
        return false;
    for (int32_t i = 0; i < lanes_of(q); i++) {
        lane_index(q->out, q->lead, i, part);
        for (int32_t k = q->lead, p = q->lead; k < in->rank; k++) {
            if (k != axis) {
                whole[k] = part[p++];
                continue;
            }
            int64_t pick = picks[rank == 1 ? part[p++] : 0];
            whole[k] = pick < 0 ? pick + in->dim[axis] : pick;
        }
        q->move->from[i] = 0;
        if (!index_lane(in, q->lead, whole, &q->move->source[i])) return false;
    }
    return true;
}

static bool move_concat(const struct question *q) {
    int64_t index[RANK];
    int32_t axis;
    if (!take_inputs(q, "x") || !read_axis(q, "concat_dim", RANK, q->out->rank, &axis))
        return false;
    for (int32_t i = 0; i < q->move->inputs; i++)
        if (tensor_at(q, i)->rank != q->out->rank) return false;
    for (int32_t i = 0; i < lanes_of(q); i++) {
        int32_t from = 0;
        lane_index(q->out, q->lead, i, index);
        while (from < q->move->inputs && index[axis] >= tensor_at(q, from)->dim[axis])
            index[axis] -= tensor_at(q, from++)->dim[axis];
        if (from == q->move->inputs) return false;
        q->move->from[i] = from;
        if (!index_lane(tensor_at(q, from), q->lead, index, &q->move->source[i])) return false;
    }
    return true;
}

static bool move_pack(const struct question *q) {
    int64_t index[RANK], inner[RANK];
    int32_t axis;
    if (!take_inputs(q, "x") || !read_axis(q, "axis", 0, q->out->rank, &axis)) return false;
    for (int32_t i = 0; i < lanes_of(q); i++) {
        lane_index(q->out, q->lead, i, index);
        if (index[axis] >= q->move->inputs) return false;
        const struct fusion_tensor *in = tensor_at(q, (int32_t)index[axis]);
        if (in->rank != q->out->rank - 1) return false;
        for (int32_t k = q->lead, p = q->lead; k < q->out->rank; k++)
            if (k != axis) inner[p++] = index[k];
        q->move->from[i] = (int32_t)index[axis];
        if (!index_lane(in, q->lead, inner, &q->move->source[i])) return false;
    }
    return true;
}

static bool move_transpose(const struct question *q) {
    int64_t perm[RANK], index[RANK], inner[RANK];
    if (!take_inputs(q, "x") || tensor_at(q, 0)->rank != q->out->rank ||
        fusion_ints(q->graph, q->node, "perm", perm, RANK) != q->out->rank)
        return false;
    uint32_t seen = 0;
    for (int32_t k = 0; k < q->out->rank; k++) {
        if (perm[k] < 0) perm[k] += q->out->rank;
        if (perm[k] < 0 || perm[k] >= q->out->rank || (k < q->lead && perm[k] != k)) return false;
        seen |= 1u << perm[k];
    }
    if (seen != (1u << q->out->rank) - 1) return false;
    for (int32_t i = 0; i < lanes_of(q); i++) {
        lane_index(q->out, q->lead, i, index);
        for (int32_t k = q->lead; k < q->out->rank; k++)
            inner[perm[k]] = index[k];
        q->move->from[i] = 0;
        if (!index_lane(tensor_at(q, 0), q->lead, inner, &q->move->source[i])) return false;
    }
    return true;
}

static bool move_same(const struct question *q) {
    if (!take_inputs(q, "x")) return false;
    const struct fusion_tensor *in = tensor_at(q, 0);
    if (fusion_elements(in, q->lead, in->rank) != lanes_of(q)) return false;
    for (int32_t i = 0; i < lanes_of(q); i++) {
        q->move->from[i] = 0;
        q->move->source[i] = i;
    }
    return true;
}

/* As PyTorch's backward of a slice with a step is written: updates into zeros along the last axis,
 * at indices that are the same in every row. Two updates of one place are not understood. */
static bool move_scatter(const struct question *q) {
    int64_t places[FUSION_MAX_LANES], none;
    int32_t axis, data = fusion_input(q->node, "data");
    if (!take_inputs(q, "updates") || q->lead != q->out->rank - 1 || data == FUSION_ABSENT)
        return false;
    const struct fusion_tensor *in = tensor_at(q, 0);
    const struct fusion_node *zeros = &q->graph->node[q->graph->tensor[data].node];
    int32_t fill = fusion_kind_of(zeros) == FUSION_ZEROS ? fusion_input(zeros, "value") : data;
    bool empty = fill == FUSION_ABSENT || q->graph->tensor[fill].zeros;
    if (!empty || in->rank != q->out->rank || !read_axis(q, "axis", 0, in->rank, &axis) ||
        !fusion_int(q->graph, q->node, "reduction", 1, &none) || !none)
        return false;
    int64_t count = in->dim[q->lead];
    if (count > FUSION_MAX_LANES ||
        !fusion_lane_ints(q->graph, fusion_input(q->node, "indices"), places, count))
        return false;
    for (int32_t i = 0; i < lanes_of(q); i++)
        q->move->from[i] = -1;
    for (int32_t i = 0; i < count; i++) {
        int64_t place = places[i] < 0 ? places[i] + lanes_of(q) : places[i];
        if (place < 0 || place >= lanes_of(q) || q->move->from[place] == 0) return false;
        q->move->from[place] = 0;
        q->move->source[place] = i;
    }
    return true;
}

bool fusion_find_move(const struct fusion_graph *graph, int32_t tensor, int32_t lead,
                      struct fusion_move *move) {
    const struct fusion_tensor *out = &graph->tensor[tensor];
    struct question q = {graph, &graph->node[out->node], out, move, lead};
    switch (fusion_kind_of(q.node)) {
    case FUSION_SAME:
        return move_same(&q);
    case FUSION_TRANSPOSE:
        return move_transpose(&q);
    case FUSION_SLICE:
        return move_slice(&q);
    case FUSION_STRIDED:
        return move_strided(&q);
    case FUSION_STRIDED_GRAD:
        return move_strided_grad(&q);
    case FUSION_SPLIT:
        return move_split(&q);
    case FUSION_CONCAT:
        return move_concat(&q);
    case FUSION_PACK:
        return move_pack(&q);
    case FUSION_UNPACK:
        return move_unpack(&q);
    case FUSION_GATHER:
        return move_gather(&q);
    case FUSION_PAD:
        return move_pad(&q);
    case FUSION_SCATTER:
        return move_scatter(&q);
    default:
        return false;
    }
}
