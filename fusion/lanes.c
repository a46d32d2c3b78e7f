/* SPDX-License-Identifier: Apache-2.0
 *
 * The algebra of lanes: sums, products and moves of values, each found once per neighbourhood.
 */
#include "lanes.h"

#include <stdlib.h>
#include <string.h>

void fusion_forget(struct fusion_values *values) {
    for (int32_t i = 0; i < values->count; i++)
        free(values->known[i].value.term);
    values->count = 0;
}

/* The terms and, behind them, how many each lane has; all zero. */
static bool make_value(struct fusion_values *values, int64_t lanes, struct fusion_value *value) {
    value->lanes = (int32_t)lanes;
    value->term = calloc((size_t)lanes, sizeof *value->term + 1);
    value->terms = value->term ? (uint8_t *)(value->term + lanes) : NULL;
    values->work += lanes;
    return value->term != NULL;
}

static bool add_term(struct fusion_value *value, int32_t lane, struct fusion_term term,
                     int32_t sign) {
    if (value->terms[lane] == FUSION_MAX_TERMS) return false;
    term.sign *= sign;
    value->term[lane][value->terms[lane]++] = term;
    return true;
}

/* The tensor stands for itself. */
static void be_itself(struct fusion_value *value, int32_t tensor, int32_t lead) {
    for (int32_t i = 0; i < value->lanes; i++) {
        value->terms[i] = 1;
        value->term[i][0] = (struct fusion_term){1, fusion_lane_of(tensor, lead, i), 0};
    }
}

/* An operand of an elementwise operation: its value, and the lane of it that meets lane i of the
 * output, in reach[i]. Leading axes are those to the left of the lanes, aligned at the right. */
static const struct fusion_value *operand(struct fusion_values *values, int32_t out, int32_t lead,
                                          int32_t in, bool moves, int32_t *reach) {
    const struct fusion_tensor *o = &values->graph->tensor[out], *t;
    if (in == FUSION_ABSENT) return NULL;
    t = &values->graph->tensor[in];
    if (!fusion_static(t) || t->dtype != o->dtype || !fusion_broadcasts(t, o)) return NULL;
    int32_t missing = o->rank - t->rank, own = lead > missing ? lead - missing : 0;
    const struct fusion_value *value = fusion_value(values, in, own, moves);
    if (!value) return NULL;
    int64_t lanes = fusion_elements(o, lead, o->rank);
    for (int32_t i = 0; i < lanes; i++) {
        int64_t rest = i, stride = 1, at = 0;
        for (int32_t k = o->rank - 1; k >= lead && k - missing >= 0; k--) {
            if (t->dim[k - missing] != 1) at += rest % o->dim[k] * stride;
            rest /= o->dim[k];
            stride *= t->dim[k - missing];
        }
        reach[i] = (int32_t)at;
    }
    return value;
}

static bool find_sum(struct fusion_values *values, int32_t out, int32_t lead,
                     struct fusion_value *value, int32_t *reach) {
    const struct fusion_node *node = &values->graph->node[values->graph->tensor[out].node];
    bool sub = fusion_kind_of(node) == FUSION_SUB;
    for (int32_t k = 0; k < node->inputs; k++) {
        const struct fusion_value *in = operand(values, out, lead, node->input[k], false, reach);
        if (!in) return false;
        for (int32_t i = 0; i < value->lanes; i++)
            for (int32_t t = 0; t < in->terms[reach[i]]; t++)
                if (!add_term(value, i, in->term[reach[i]][t], sub && k == 1 ? -1 : 1))
                    return false;
    }
    return node->inputs > 0;
}

/* A factor is a lane of a tensor of the graph; products of products are not followed. */
static bool find_product(struct fusion_values *values, int32_t out, int32_t lead,
                         struct fusion_value *value, int32_t *reach) {
    const struct fusion_node *node = &values->graph->node[values->graph->tensor[out].node];
    int32_t *other = reach + value->lanes;
    if (node->inputs != 2) return false;
    const struct fusion_value *a = operand(values, out, lead, node->input[0], true, reach);
    const struct fusion_value *b =
        a ? operand(values, out, lead, node->input[1], true, other) : NULL;
    for (int32_t i = 0; b && i < value->lanes; i++) {
        if (a->terms[reach[i]] == 0 || b->terms[other[i]] == 0) continue;
        const struct fusion_term *x = a->term[reach[i]], *y = b->term[other[i]];
        (void)add_term(value, i, (struct fusion_term){x->sign * y->sign, x->a, y->a}, 1);
    }
    return b != NULL;
}

static bool find_negative(struct fusion_values *values, int32_t out, int32_t lead, bool moves,
                          struct fusion_value *value, int32_t *reach) {
    const struct fusion_node *node = &values->graph->node[values->graph->tensor[out].node];
    const struct fusion_value *in =
        node->inputs == 1 ? operand(values, out, lead, node->input[0], moves, reach) : NULL;
    for (int32_t i = 0; in && i < value->lanes; i++)
        for (int32_t t = 0; t < in->terms[reach[i]]; t++)
            (void)add_term(value, i, in->term[reach[i]][t], -1);
    return in != NULL;
}

/* Broadcasting over the lanes, and over leading axes, where it changes nothing. */
static bool find_expanded(struct fusion_values *values, int32_t out, int32_t lead, bool moves,
                          struct fusion_value *value, int32_t *reach) {
    const struct fusion_node *node = &values->graph->node[values->graph->tensor[out].node];
    const struct fusion_value *in =
        operand(values, out, lead, fusion_input(node, "x"), moves, reach);
    for (int32_t i = 0; in && i < value->lanes; i++) {
        value->terms[i] = in->terms[reach[i]];
        memcpy(value->term[i], in->term[reach[i]], sizeof value->term[i]);
    }
    return in != NULL;
}

static bool find_moved(struct fusion_values *values, int32_t out, int32_t lead, bool moves,
                       struct fusion_value *value, int32_t *reach) {
    struct fusion_move move = {.from = reach, .source = reach + value->lanes};
    if (!fusion_find_move(values->graph, out, lead, &move)) return false;
    for (int32_t k = 0; k < move.inputs; k++) {
        const struct fusion_value *in = fusion_value(values, move.input[k], move.lead, moves);
        if (!in) return false;
        for (int32_t i = 0; i < value->lanes; i++) {
            if (move.from[i] != k) continue;
            value->terms[i] = in->terms[move.source[i]];
            memcpy(value->term[i], in->term[move.source[i]], sizeof value->term[i]);
        }
    }
    return true;
}

static bool is_zero(const struct fusion_graph *graph, int32_t tensor) {
    const struct fusion_node *node = &graph->node[graph->tensor[tensor].node];
    if (graph->tensor[tensor].zeros) return true;
    if (fusion_kind_of(node) != FUSION_ZEROS) return false;
    int32_t filled = fusion_input(node, "value");
    return filled == FUSION_ABSENT || graph->tensor[filled].zeros;
}

/* reach is scratch for twice the lanes. */
static bool find_value(struct fusion_values *values, int32_t tensor, int32_t lead, bool moves,
                       struct fusion_value *value, int32_t *reach) {
    const struct fusion_graph *graph = values->graph;
    if (is_zero(graph, tensor)) return true;
    switch (fusion_kind_of(&graph->node[graph->tensor[tensor].node])) {
    case FUSION_OPAQUE:
        return false;
    case FUSION_ADD:
    case FUSION_SUB:
        return !moves && find_sum(values, tensor, lead, value, reach);
    case FUSION_MUL:
        return !moves && find_product(values, tensor, lead, value, reach);
    case FUSION_NEG:
        return find_negative(values, tensor, lead, moves, value, reach);
    case FUSION_EXPAND:
        return find_expanded(values, tensor, lead, moves, value, reach);
    default:
        return find_moved(values, tensor, lead, moves, value, reach);
    }
}

const struct fusion_value *fusion_value(struct fusion_values *values, int32_t tensor, int32_t lead,
                                        bool moves) {
    const struct fusion_tensor *t = &values->graph->tensor[tensor];
    if (!fusion_static(t) || lead < 0 || lead > t->rank) return NULL;
    for (int32_t i = 0; i < values->count; i++)
        if (values->known[i].tensor == tensor && values->known[i].lead == lead &&
            values->known[i].moves == moves)
            return values->known[i].value.term ? &values->known[i].value : NULL;
    int64_t lanes = fusion_elements(t, lead, t->rank);
    if (lanes < 1 || lanes > FUSION_MAX_LANES || values->count == FUSION_MAX_VALUES) return NULL;
    /* The place is taken before its inputs are looked at, so that their depth is bounded, too. */
    int32_t place = values->count++;
    values->known[place].tensor = tensor;
    values->known[place].lead = lead;
    values->known[place].moves = moves;
    struct fusion_value *value = &values->known[place].value;
    *value = (struct fusion_value){0};
    struct fusion_value found;
    int32_t *reach = malloc(2 * (size_t)lanes * sizeof *reach);
    if (reach && make_value(values, lanes, &found)) {
        if (!find_value(values, tensor, lead, moves, &found, reach))
            be_itself(&found, tensor, lead);
        *value = found;
    }
    free(reach);
    return value->term ? value : NULL;
}

/* As long as `flat` is false, the lanes are the last axis of the tensor; behind a reshape of
 * nothing but the lanes they are all its elements. */
bool fusion_lane_ints(const struct fusion_graph *graph, int32_t tensor, int64_t *ints,
                      int64_t lanes) {
    bool flat = false;
    for (int32_t steps = 0; tensor != FUSION_ABSENT && steps < FUSION_MAX_RANK; steps++) {
        const struct fusion_tensor *t = &graph->tensor[tensor];
        const struct fusion_node *node = &graph->node[t->node];
        if (!fusion_static(t) || t->rank < 1) return false;
        int64_t elements = fusion_elements(t, 0, t->rank), start, delta;
        if (flat ? elements != lanes : t->dim[t->rank - 1] != lanes) return false;
        if (t->ints) {
            if (t->count != elements) return false;
            for (int64_t i = 0; i < t->count; i++)
                if (t->ints[i] != t->ints[i % lanes]) return false;
            memcpy(ints, t->ints, (size_t)lanes * sizeof *ints);
            return true;
        }
        switch (fusion_kind_of(node)) {
        case FUSION_RANGE:
            if (elements != lanes || !fusion_int(graph, node, "start", 0, &start) ||
                !fusion_int(graph, node, "delta", 1, &delta))
                return false;
            for (int64_t i = 0; i < lanes; i++)
                if (__builtin_mul_overflow(i, delta, &ints[i]) ||
                    __builtin_add_overflow(ints[i], start, &ints[i]))
                    return false;
            return true;
        case FUSION_SAME:
            if (elements != lanes) return false;
            flat = true;
            break;
        case FUSION_EXPAND:
            if (flat) return false;
            break;
        default:
            return false;
        }
        tensor = fusion_input(node, "x");
    }
    return false;
}
