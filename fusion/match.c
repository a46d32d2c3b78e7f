/* SPDX-License-Identifier: Apache-2.0
 *
 * The search for dx: which tensors are worth a proof, the proof, and the tensors that hold dy, cos
 * and sin.
 */
#include "match.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "search.h"

/* NEAR: nodes looked at around a candidate before anything is proven. WORK: lanes written in one
 * graph; a graph of 100000 nodes that is nothing but rope needs a fifth of it. */
enum { NEAR = 64, WORK = 100000000 };

void fusion_say(const struct fusion_search *search, int32_t tensor, const char *format, ...) {
    if (!search->listener) return;
    char sentence[320];
    va_list args;
    int n = snprintf(sentence, sizeof sentence, "'%.120s' ",
                     search->graph->node[search->graph->tensor[tensor].node].name);
    va_start(args, format);
    vsnprintf(sentence + n, sizeof sentence - (size_t)n, format, args);
    va_end(args);
    search->listener->say(search->listener->self, sentence);
}

bool fusion_mode_fits(int32_t mode, int32_t lanes) {
    return lanes >= 2 && lanes % (mode == 2 ? 4 : 2) == 0;
}

struct fusion_formula fusion_formula(int32_t mode, int32_t lanes, int32_t lane) {
    int32_t half = lanes / 2, quarter = lanes / 4;
    bool plus;
    switch (mode) {
    case 0:
        plus = lane < half;
        return (struct fusion_formula){lane, plus ? lane + half : lane - half, plus ? 1 : -1};
    case 1:
        return (struct fusion_formula){lane, lane ^ 1, lane % 2 ? -1 : 1};
    case 2:
        plus = lane % half < quarter;
        return (struct fusion_formula){lane, plus ? lane + quarter : lane - quarter, plus ? 1 : -1};
    default:
        plus = lane % 2 == 0;
        return (struct fusion_formula){lane / 2 + (plus ? 0 : half), lane / 2 + (plus ? half : 0),
                                       plus ? 1 : -1};
    }
}

const struct fusion_value *fusion_last_axis(struct fusion_search *search, int32_t tensor,
                                            bool moves) {
    return fusion_value(&search->values, tensor, search->graph->tensor[tensor].rank - 1, moves);
}

bool fusion_is_run(struct fusion_search *search, int32_t tensor, fusion_lane *base) {
    const struct fusion_value *value = fusion_last_axis(search, tensor, true);
    if (!value) return false;
    for (int32_t i = 0; i < value->lanes; i++)
        if (value->terms[i] != 1 || value->term[i]->sign != 1 ||
            value->term[i]->a != value->term[0]->a + (uint64_t)i)
            return false;
    *base = value->term[0]->a;
    return true;
}

/* One lane of a table as the formula wants it. */
struct wanted {
    int32_t sign;
    fusion_lane lane;
};

/* Does `value` hold what is wanted, if it is used so? */
static bool holds(const struct fusion_value *value, enum fusion_how how, const struct wanted *want,
                  int32_t lanes) {
    if (value->lanes != (how == FUSION_WHOLE ? lanes : lanes / 2)) return false;
    for (int32_t i = 0; i < lanes; i++) {
        int32_t k = how == FUSION_WHOLE ? i : how == FUSION_HALVES ? i % (lanes / 2) : i / 2;
        if (value->terms[k] != 1 || value->term[k]->sign != want[i].sign ||
            value->term[k]->a != want[i].lane)
            return false;
    }
    return true;
}

/* Of all tensors met on the way, the smallest that holds the table; a whole one before others. That
 * it was met means that its leading axes broadcast to those of dx. */
static bool find_table(struct fusion_search *search, int32_t dx, const struct wanted *want,
                       int32_t lanes, struct fusion_table *table) {
    const struct fusion_graph *graph = search->graph;
    for (enum fusion_how how = FUSION_WHOLE; how <= FUSION_PAIRS; how++) {
        table->tensor = FUSION_ABSENT;
        table->how = how;
        int64_t least = INT64_MAX;
        for (int32_t i = 0; i < search->values.count; i++) {
            int32_t t = search->values.known[i].tensor;
            const struct fusion_tensor *tensor = &graph->tensor[t];
            if (!search->values.known[i].moves || search->values.known[i].lead != tensor->rank - 1)
                continue;
            int64_t elements = fusion_elements(tensor, 0, tensor->rank);
            if (elements < least && tensor->dtype == graph->tensor[dx].dtype &&
                search->values.known[i].value.term &&
                holds(&search->values.known[i].value, how, want, lanes)) {
                table->tensor = t;
                least = elements;
            }
        }
        if (table->tensor != FUSION_ABSENT) return true;
    }
    return false;
}

/* The proof. Each lane of dx has exactly two terms, and they are those of the formula with dy's
 * lanes from `base` on; their other factors are what the tables must hold. */
static bool prove(const struct fusion_value *dx, fusion_lane base, int32_t mode, struct wanted *cos,
                  struct wanted *sin) {
    for (int32_t i = 0; i < dx->lanes; i++) {
        struct fusion_formula f = fusion_formula(mode, dx->lanes, i);
        fusion_lane straight = base + (uint64_t)f.straight, crossed = base + (uint64_t)f.crossed;
        const struct fusion_term *one = &dx->term[i][0], *two = &dx->term[i][1];
        if (dx->terms[i] != 2) return false;
        if (!fusion_other_factor(one, straight) || !fusion_other_factor(two, crossed)) {
            const struct fusion_term *swap = one;
            one = two;
            two = swap;
        }
        cos[f.straight] = (struct wanted){one->sign, fusion_other_factor(one, straight)};
        sin[f.crossed] = (struct wanted){two->sign * f.sign, fusion_other_factor(two, crossed)};
        if (!cos[f.straight].lane || !sin[f.crossed].lane) return false;
    }
    return true;
}

/* The shape of a table as the operator sees it is that of its tensor with ones in front, and with
 * the last axis as long as dx's. */
static bool same_table_shape(const struct fusion_tensor *a, const struct fusion_tensor *b) {
    int32_t rank = a->rank > b->rank ? a->rank : b->rank;
    for (int32_t k = 2; k <= rank; k++) {
        int64_t one = k <= a->rank ? a->dim[a->rank - k] : 1;
        int64_t two = k <= b->rank ? b->dim[b->rank - k] : 1;
        if (one != two) return false;
    }
    return true;
}

/* Was the tensor explained by others, as far as it was looked at? */
static bool explained(const struct fusion_values *values, int32_t tensor, int32_t *place) {
    bool is = false;
    for (int32_t i = 0; i < values->count; i++) {
        const struct fusion_value *value = &values->known[i].value;
        if (values->known[i].tensor != tensor || !value->term) continue;
        *place = i;
        is |= value->terms[0] != 1 ||
              value->term[0]->a != fusion_lane_of(tensor, values->known[i].lead, 0);
    }
    return is;
}

/* Everything between dx and what it is made from: control edges there are orders that one node
 * could not keep. With `take` the nodes are marked as used up. */
static bool walk_between(struct fusion_search *search, int32_t tensor,
                         const struct fusion_match *match, bool take, bool *seen) {
    const struct fusion_graph *graph = search->graph;
    int32_t place;
    if (tensor == match->dy || tensor == match->cos.tensor || tensor == match->sin.tensor ||
        !explained(&search->values, tensor, &place) || seen[place])
        return true;
    const struct fusion_node *node = &graph->node[graph->tensor[tensor].node];
    seen[place] = true;
    if (node->control) return false;
    if (take) search->taken[graph->tensor[tensor].node] = true;
    for (int32_t i = 0; i < node->inputs; i++)
        if (node->input[i] != FUSION_ABSENT &&
            !walk_between(search, node->input[i], match, take, seen))
            return false;
    return true;
}

/* dy is one of the tensors met on the way: of dx's shape, and a run of lanes. */
static bool match_dy(struct fusion_search *search, const struct fusion_value *value,
                     struct wanted *want, struct fusion_match *match) {
    const struct fusion_graph *graph = search->graph;
    const struct fusion_tensor *dx = &graph->tensor[match->dx];
    int32_t lanes = value->lanes;
    for (int32_t i = 0; i < search->values.count; i++) {
        int32_t t = search->values.known[i].tensor;
        fusion_lane base;
        if (!search->values.known[i].moves || !fusion_same_shape(&graph->tensor[t], dx) ||
            graph->tensor[t].dtype != dx->dtype || !fusion_is_run(search, t, &base))
            continue;
        for (int32_t mode = 0; mode < FUSION_MODES; mode++) {
            if (!fusion_mode_fits(mode, lanes) || !prove(value, base, mode, want, want + lanes))
                continue;
            match->mode = mode;
            match->dy = t;
            if (!find_table(search, match->dx, want, lanes, &match->cos) ||
                !find_table(search, match->dx, want + lanes, lanes, &match->sin)) {
                fusion_say(search, match->dx,
                           "rotates '%s' in mode %d, but no tensor holds its %s as it is used",
                           graph->node[graph->tensor[t].node].name, mode,
                           match->cos.tensor == FUSION_ABSENT ? "cos" : "sin");
                continue;
            }
            return true;
        }
    }
    return false;
}

/* What makes a proven match useless for the operator. */
static bool usable(struct fusion_search *search, const struct fusion_match *match) {
    const struct fusion_graph *graph = search->graph;
    const struct fusion_tensor *dx = &graph->tensor[match->dx];
    if (ascgrad_dtype_size(dx->dtype) == 0) {
        fusion_say(search, match->dx, "is rope's backward in %s, which the operator does not have",
                   ascgrad_dtype_name(dx->dtype));
        return false;
    }
    if (!same_table_shape(&graph->tensor[match->cos.tensor], &graph->tensor[match->sin.tensor])) {
        fusion_say(search, match->dx, "is rope's backward with a cos and a sin of two shapes");
        return false;
    }
    bool seen[FUSION_MAX_VALUES] = {false};
    if (!walk_between(search, match->dx, match, false, seen)) {
        fusion_say(search, match->dx, "is rope's backward, but control edges hold its nodes");
        return false;
    }
    return true;
}

/* Products and moved lanes within reach? Most sums of a graph have not, and are passed over. */
static bool looks_like_rope(const struct fusion_graph *graph, int32_t tensor) {
    struct {
        int32_t tensor;
        bool moves;
    } queue[NEAR];
    int32_t first = 0, last = 1, products = 0, moves = 0;
    queue[0].tensor = tensor;
    queue[0].moves = false;
    while (first < last) {
        const struct fusion_node *node = &graph->node[graph->tensor[queue[first].tensor].node];
        enum fusion_kind kind = fusion_kind_of(node);
        bool only_moves = queue[first++].moves;
        if (kind == FUSION_OPAQUE || kind == FUSION_SUM || kind == FUSION_RANGE) continue;
        bool sum = kind == FUSION_ADD || kind == FUSION_SUB, product = kind == FUSION_MUL;
        if (only_moves && (sum || product)) continue;
        products += product;
        moves += !sum && !product && kind != FUSION_NEG && kind != FUSION_SAME;
        if (products > 1 && moves > 0) return true;
        for (int32_t i = 0; i < node->inputs && last < NEAR; i++) {
            int32_t in = node->input[i];
            if (in == FUSION_ABSENT || !graph->node[graph->tensor[in].node].known) continue;
            queue[last].tensor = in;
            queue[last++].moves = only_moves || product;
        }
    }
    return false;
}

/* A tensor that only renames another is not looked at: the other is. */
static bool may_be_dx(const struct fusion_search *search, int32_t n) {
    const struct fusion_graph *graph = search->graph;
    const struct fusion_node *node = &graph->node[n];
    if (search->taken[n] || node->outputs != 1 || node->inputs < 1) return false;
    const struct fusion_tensor *out = &graph->tensor[node->first];
    switch (fusion_kind_of(node)) {
    case FUSION_ADD:
    case FUSION_SUB:
    case FUSION_CONCAT:
        break;
    case FUSION_SAME:
        if (node->input[0] == FUSION_ABSENT ||
            fusion_same_shape(&graph->tensor[node->input[0]], out))
            return false;
        break;
    default:
        return false;
    }
    if (out->rank < 2 || out->dim[out->rank - 1] % 2 != 0 ||
        out->dim[out->rank - 1] > FUSION_MAX_LANES)
        return false;
    return search->start[node->first] < search->start[node->first + 1];
}

static bool find_at(struct fusion_search *search, int32_t n, struct fusion_match *match) {
    const struct fusion_graph *graph = search->graph;
    const struct fusion_tensor *out = &graph->tensor[graph->node[n].first];
    if (!may_be_dx(search, n) || !looks_like_rope(graph, graph->node[n].first)) return false;
    *match = (struct fusion_match){.dx = graph->node[n].first,
                                   .x = FUSION_ABSENT,
                                   .dcos = FUSION_ABSENT,
                                   .dsin = FUSION_ABSENT};
    if (!fusion_static(out)) {
        fusion_say(search, match->dx, "has a dimension that is not known, so nothing is proven");
        return false;
    }
    if (fusion_elements(out, 0, out->rank) == 0) return false;
    bool matched = false;
    const struct fusion_value *value = fusion_last_axis(search, match->dx, false);
    struct wanted *want = value ? malloc(2 * (size_t)value->lanes * sizeof *want) : NULL;
    if (want) matched = match_dy(search, value, want, match) && usable(search, match);
    free(want);
    if (matched) {
        bool seen[FUSION_MAX_VALUES] = {false};
        walk_between(search, match->dx, match, true, seen);
        fusion_find_sums(search, match);
    }
    fusion_forget(&search->values);
    return matched;
}

/* Which nodes read a tensor. */
static void list_readers(struct fusion_search *search) {
    const struct fusion_graph *graph = search->graph;
    for (int32_t n = 0; n < graph->nodes; n++)
        for (int32_t i = 0; i < graph->node[n].inputs; i++)
            if (graph->node[n].input[i] != FUSION_ABSENT) search->start[graph->node[n].input[i]]++;
    for (int32_t t = 0; t < graph->tensors; t++)
        search->start[t + 1] += search->start[t];
    for (int32_t n = 0; n < graph->nodes; n++)
        for (int32_t i = 0; i < graph->node[n].inputs; i++)
            if (graph->node[n].input[i] != FUSION_ABSENT)
                search->reader[--search->start[graph->node[n].input[i]]] = n;
}

/* Deepest nodes first, so that of two nested matches the outer one is found. */
static void sort_by_depth(const struct fusion_search *search, int32_t *order, int32_t *room) {
    int32_t nodes = search->graph->nodes;
    for (int32_t n = 0; n < nodes; n++)
        room[nodes - 1 - search->depth[n] + 1]++;
    for (int32_t d = 0; d < nodes; d++)
        room[d + 1] += room[d];
    for (int32_t n = 0; n < nodes; n++)
        order[room[nodes - 1 - search->depth[n]]++] = n;
}

static ascgrad_result find_all(struct fusion_search *search, int32_t *order, int32_t *room,
                               struct fusion_found *found, struct ascgrad_error *error) {
    if (fusion_check(search->graph, search->depth, error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
    list_readers(search);
    sort_by_depth(search, order, room);
    int32_t capacity = 0;
    for (int32_t k = 0; k < search->graph->nodes && search->values.work < WORK; k++) {
        struct fusion_match match;
        if (found->count == capacity) {
            int32_t wanted = 2 * capacity + 8;
            struct fusion_match *grown = realloc(found->match, (size_t)wanted * sizeof *grown);
            if (!grown) break;
            found->match = grown;
            capacity = wanted;
        }
        if (find_at(search, order[k], &match)) found->match[found->count++] = match;
    }
    return ASCGRAD_DONE;
}

ascgrad_result fusion_find(const struct fusion_graph *graph, struct fusion_found *found,
                           const struct fusion_listener *listener, struct ascgrad_error *error) {
    size_t nodes = (size_t)graph->nodes, tensors = (size_t)graph->tensors, edges = 0;
    for (int32_t n = 0; n < graph->nodes; n++)
        edges += graph->node[n].inputs > 0 ? (size_t)graph->node[n].inputs : 0;
    *found = (struct fusion_found){0};
    struct fusion_search *search = calloc(1, sizeof *search);
    /* depth, order, room, start, reader */
    int32_t *numbers = calloc(3 * nodes + 1 + tensors + 1 + edges, sizeof *numbers);
    bool *taken = calloc(nodes + 1, sizeof *taken);
    ascgrad_result result = ASCGRAD_REFUSED;
    if (search && numbers && taken) {
        search->graph = search->values.graph = graph;
        search->listener = listener;
        search->depth = numbers;
        search->start = numbers + 3 * nodes + 1;
        search->reader = search->start + tensors + 1;
        search->taken = taken;
        result = find_all(search, numbers + nodes, numbers + 2 * nodes, found, error);
    } else {
        snprintf(error->text, sizeof error->text, "no memory for a graph of %d nodes",
                 graph->nodes);
    }
    free(search);
    free(numbers);
    free(taken);
    return result;
}
