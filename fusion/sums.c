/* SPDX-License-Identifier: Apache-2.0
 *
 * The gradients of the tables: sums of dy*x, and of dy times the rotated x, over the axes along
 * which the tables are broadcast. The operator gives them beside dx if it is given x.
 */
#include "search.h"

/* Does the node sum over exactly the axes that the table lacks? Axes of one element do not count.
 */
static bool sums_the_right_axes(const struct fusion_search *search, const struct fusion_node *node,
                                const struct fusion_tensor *dy, const struct fusion_tensor *table) {
    int64_t axes[FUSION_MAX_RANK];
    uint32_t summed = 0;
    int64_t count = fusion_ints(search->graph, node, "axes", axes, FUSION_MAX_RANK);
    if (count < 0) return false;
    for (int64_t i = 0; i < count; i++) {
        int64_t axis = axes[i] < 0 ? axes[i] + dy->rank : axes[i];
        if (axis < 0 || axis >= dy->rank) return false;
        summed |= 1u << axis;
    }
    for (int32_t k = 0; k < dy->rank; k++) {
        int32_t own = k - (dy->rank - table->rank);
        bool lacks = own < 0 || table->dim[own] == 1;
        if (dy->dim[k] != 1 && lacks != (summed >> k & 1)) return false;
    }
    return true;
}

/* Is `product` dy times x, lane by lane as the formula has it? *x is the first lane of x. */
static bool is_product(struct fusion_search *search, const struct fusion_match *match,
                       int32_t product, bool of_sin, fusion_lane *x) {
    fusion_lane dy;
    *x = 0;
    const struct fusion_value *value = fusion_last_axis(search, product, false);
    if (!value || !fusion_is_run(search, match->dy, &dy)) return false;
    for (int32_t i = 0; i < value->lanes; i++) {
        struct fusion_formula f = fusion_formula(match->mode, value->lanes, i);
        int32_t at = of_sin ? f.crossed : f.straight;
        const struct fusion_term *term = value->term[at];
        fusion_lane known = dy + (uint64_t)at;
        fusion_lane other = fusion_other_factor(term, known);
        if (i == 0) *x = other;
        if (value->terms[at] != 1 || term->sign != (of_sin ? f.sign : 1) || other == 0 ||
            other != *x + (uint64_t)i)
            return false;
    }
    return true;
}

/* The tensor, of those met, that is the run of lanes from `base` on and has dy's shape. */
static int32_t find_run(struct fusion_search *search, int32_t dy, fusion_lane base) {
    const struct fusion_graph *graph = search->graph;
    for (int32_t i = 0; i < search->values.count; i++) {
        int32_t t = search->values.known[i].tensor;
        fusion_lane first;
        if (search->values.known[i].moves &&
            fusion_same_shape(&graph->tensor[t], &graph->tensor[dy]) &&
            graph->tensor[t].dtype == graph->tensor[dy].dtype && fusion_is_run(search, t, &first) &&
            first == base)
            return t;
    }
    return FUSION_ABSENT;
}

/* A node less deep than another can never be behind it. If all inputs of every new node are less
 * deep than all it replaces, that order stays true in the new graph, whatever else is replaced. */
static bool keeps_order(const struct fusion_search *search, const struct fusion_match *match,
                        int32_t x, int32_t sum) {
    const struct fusion_tensor *tensor = search->graph->tensor;
    const int32_t in[] = {match->dy, match->cos.tensor, match->sin.tensor, x};
    const int32_t out[] = {match->dx, match->dcos, match->dsin, sum};
    for (int32_t i = 0; i < 4; i++)
        for (int32_t o = 0; o < 4; o++)
            if (out[o] != FUSION_ABSENT &&
                search->depth[tensor[in[i]].node] >= search->depth[tensor[out[o]].node])
                return false;
    return true;
}

static void try_sum(struct fusion_search *search, struct fusion_match *match, int32_t product,
                    int32_t n) {
    const struct fusion_graph *graph = search->graph;
    const struct fusion_node *node = &graph->node[n];
    const struct fusion_tensor *dy = &graph->tensor[match->dy], *out = &graph->tensor[node->first];
    if (fusion_kind_of(node) != FUSION_SUM || node->control || node->outputs != 1 ||
        search->taken[n] || fusion_input(node, "x") != product || out->dtype != dy->dtype)
        return;
    if (!fusion_static(out)) {
        fusion_say(search, node->first, "may sum a table's gradient, but its shape is not known");
        return;
    }
    for (int32_t of_sin = 0; of_sin < 2; of_sin++) {
        const struct fusion_table *table = of_sin ? &match->sin : &match->cos;
        int32_t *gradient = of_sin ? &match->dsin : &match->dcos;
        fusion_lane base;
        if (*gradient != FUSION_ABSENT || table->how != FUSION_WHOLE ||
            !sums_the_right_axes(search, node, dy, &graph->tensor[table->tensor]) ||
            !is_product(search, match, product, of_sin, &base))
            continue;
        int32_t x = find_run(search, match->dy, base);
        if (x == FUSION_ABSENT || (match->x != FUSION_ABSENT && match->x != x)) continue;
        if (!keeps_order(search, match, x, node->first)) {
            fusion_say(search, node->first, "sums a table's gradient, but dx may be needed for it");
            continue;
        }
        match->x = x;
        *gradient = node->first;
        search->taken[n] = true;
        return;
    }
}

void fusion_find_sums(struct fusion_search *search, struct fusion_match *match) {
    const struct fusion_graph *graph = search->graph;
    for (int32_t r = search->start[match->dy]; r < search->start[match->dy + 1]; r++) {
        const struct fusion_node *mul = &graph->node[search->reader[r]];
        if (fusion_kind_of(mul) != FUSION_MUL || mul->control || mul->outputs != 1 ||
            !fusion_same_shape(&graph->tensor[mul->first], &graph->tensor[match->dy]))
            continue;
        for (int32_t s = search->start[mul->first]; s < search->start[mul->first + 1]; s++)
            try_sum(search, match, mul->first, search->reader[s]);
    }
}
