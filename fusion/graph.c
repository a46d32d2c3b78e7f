/* SPDX-License-Identifier: Apache-2.0
 *
 * Building and checking the view of a graph.
 */
#include "types.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fusion_graph *fusion_graph_new(void) {
    return calloc(1, sizeof(struct fusion_graph));
}

void fusion_graph_free(struct fusion_graph *graph) {
    if (!graph) return;
    for (int32_t n = 0; n < graph->nodes; n++) {
        struct fusion_node *node = &graph->node[n];
        for (int32_t i = 0; i < node->attrs; i++)
            free(node->attr[i].ints);
        free(node->attr);
        free(node->input);
        free(node->after);
        free(node->type);
        free(node->name);
    }
    for (int32_t t = 0; t < graph->tensors; t++)
        free(graph->tensor[t].ints);
    free(graph->node);
    free(graph->tensor);
    free(graph);
}

/* Room for `more` items behind the `used` that an array has. */
static bool grow(void **array, int32_t *room, int32_t used, int32_t more, size_t size) {
    if (more < 0 || used > INT32_MAX / 2 - more) return false;
    if (used + more <= *room) return true;
    int32_t wanted = used + more + used / 2 + 8;
    void *grown = realloc(*array, (size_t)wanted * size);
    if (!grown) return false;
    *array = grown;
    *room = wanted;
    return true;
}

int32_t fusion_add_node(struct fusion_graph *graph, const char *type, const char *name,
                        int32_t outputs) {
    if (!grow((void **)&graph->node, &graph->node_room, graph->nodes, 1, sizeof *graph->node) ||
        !grow((void **)&graph->tensor, &graph->tensor_room, graph->tensors, outputs,
              sizeof *graph->tensor))
        return FUSION_ABSENT;
    struct fusion_node *node = &graph->node[graph->nodes];
    *node = (struct fusion_node){.type = strdup(type),
                                 .name = strdup(name),
                                 .known = fusion_find_type(type),
                                 .first = graph->tensors,
                                 .outputs = outputs};
    for (int32_t i = 0; i < outputs; i++)
        graph->tensor[graph->tensors++] = (struct fusion_tensor){
            .node = graph->nodes, .port = i, .rank = FUSION_UNKNOWN_RANK, .dtype = -1};
    graph->nodes++;
    return node->type && node->name ? graph->nodes - 1 : FUSION_ABSENT;
}

/* Appends to an array of 4, 8, 16, ... numbers: full when it has as many as one of these. */
static bool append(int32_t **array, int32_t *used, int32_t value) {
    if (*used == 0 || (*used >= 4 && (*used & (*used - 1)) == 0)) {
        size_t room = *used ? (size_t)*used * 2 : 4;
        int32_t *grown = realloc(*array, room * sizeof *grown);
        if (!grown) return false;
        *array = grown;
    }
    (*array)[(*used)++] = value;
    return true;
}

bool fusion_add_input(struct fusion_graph *graph, int32_t node, int32_t tensor) {
    return append(&graph->node[node].input, &graph->node[node].inputs, tensor);
}

bool fusion_add_control(struct fusion_graph *graph, int32_t from, int32_t to) {
    graph->node[from].control = graph->node[to].control = true;
    return append(&graph->node[to].after, &graph->node[to].afters, from);
}

static int64_t *copy_ints(const int64_t *ints, int64_t count) {
    int64_t *copy = malloc((size_t)(count > 0 ? count : 1) * sizeof *copy);
    if (copy && count > 0) memcpy(copy, ints, (size_t)count * sizeof *copy);
    return copy;
}

bool fusion_add_attr(struct fusion_graph *graph, int32_t n, const char *name, const int64_t *ints,
                     int64_t count) {
    struct fusion_node *node = &graph->node[n];
    struct fusion_attr *grown = realloc(node->attr, (size_t)(node->attrs + 1) * sizeof *grown);
    if (!grown) return false;
    node->attr = grown;
    int64_t *copy = copy_ints(ints, count);
    if (!copy) return false;
    node->attr[node->attrs++] = (struct fusion_attr){.name = name, .count = count, .ints = copy};
    return true;
}

bool fusion_set_ints(struct fusion_graph *graph, int32_t t, const int64_t *ints, int64_t count) {
    struct fusion_tensor *tensor = &graph->tensor[t];
    free(tensor->ints);
    tensor->count = count;
    tensor->ints = copy_ints(ints, count);
    if (!tensor->ints) tensor->count = 0;
    return tensor->ints != NULL;
}

bool fusion_broadcasts(const struct fusion_tensor *a, const struct fusion_tensor *b) {
    if (a->rank > b->rank) return false;
    for (int32_t i = 0; i < a->rank; i++) {
        int64_t mine = a->dim[i], theirs = b->dim[i + b->rank - a->rank];
        if (mine != theirs && mine != 1) return false;
    }
    return true;
}

__attribute__((format(printf, 2, 3))) static ascgrad_result refuse(struct ascgrad_error *error,
                                                                   const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    return ASCGRAD_REFUSED;
}

static ascgrad_result check_tensor(const struct fusion_graph *graph, int32_t t,
                                   struct ascgrad_error *error) {
    const struct fusion_tensor *tensor = &graph->tensor[t];
    if (tensor->node < 0 || tensor->node >= graph->nodes)
        return refuse(error, "tensor %d belongs to node %d of %d", t, tensor->node, graph->nodes);
    const char *name = graph->node[tensor->node].name;
    if (tensor->rank < FUSION_UNKNOWN_RANK || tensor->rank > FUSION_MAX_RANK)
        return refuse(error, "output %d of '%s' has rank %d", tensor->port, name, tensor->rank);
    int64_t elements = 1;
    for (int32_t i = 0; i < tensor->rank; i++) {
        int64_t dim = tensor->dim[i];
        if (dim < ASCGRAD_UNKNOWN_DIM ||
            (dim > 0 && __builtin_mul_overflow(elements, dim, &elements)))
            return refuse(error, "output %d of '%s' has an absurd dimension %lld", tensor->port,
                          name, (long long)dim);
    }
    if (tensor->count < 0 || (tensor->count > 0 && !tensor->ints))
        return refuse(error, "constant '%s' says it has %lld elements and has none", name,
                      (long long)tensor->count);
    return ASCGRAD_DONE;
}

static ascgrad_result check_node(const struct fusion_graph *graph, int32_t n,
                                 struct ascgrad_error *error) {
    const struct fusion_node *node = &graph->node[n];
    if (!node->type || !node->name) return refuse(error, "node %d has no name or no type", n);
    if (node->inputs < 0 || (node->inputs > 0 && !node->input) || node->afters < 0 ||
        (node->afters > 0 && !node->after) || node->outputs < 0 || node->first < 0 ||
        node->outputs > graph->tensors - node->first)
        return refuse(error, "'%s' has inputs or outputs that are not there", node->name);
    for (int32_t i = 0; i < node->inputs; i++)
        if (node->input[i] < FUSION_ABSENT || node->input[i] >= graph->tensors)
            return refuse(error, "input %d of '%s' is tensor %d of %d", i, node->name,
                          node->input[i], graph->tensors);
    for (int32_t i = 0; i < node->afters; i++)
        if (node->after[i] < 0 || node->after[i] >= graph->nodes)
            return refuse(error, "'%s' waits for node %d of %d", node->name, node->after[i],
                          graph->nodes);
    for (int32_t i = 0; i < node->outputs; i++)
        if (graph->tensor[node->first + i].node != n || graph->tensor[node->first + i].port != i)
            return refuse(error, "output %d of '%s' belongs to another node", i, node->name);
    return ASCGRAD_DONE;
}

/* The node behind the i-th edge into n, data edges first; FUSION_ABSENT if nothing is connected. */
static int32_t edge_from(const struct fusion_graph *graph, int32_t n, int32_t i) {
    const struct fusion_node *node = &graph->node[n];
    if (i >= node->inputs) return node->after[i - node->inputs];
    int32_t tensor = node->input[i];
    return tensor == FUSION_ABSENT ? FUSION_ABSENT : graph->tensor[tensor].node;
}

static int32_t edges_into(const struct fusion_graph *graph, int32_t n) {
    return graph->node[n].inputs + graph->node[n].afters;
}

/* Nodes become ready when all they read is done; what never becomes ready lies on a cycle. */
static ascgrad_result find_depth(const struct fusion_graph *graph, int32_t *depth, int32_t *work,
                                 struct ascgrad_error *error) {
    int32_t nodes = graph->nodes, from;
    /* The readers of n are reader[start[n]] to reader[start[n + 1] - 1]. */
    int32_t *waits = work, *ready = waits + nodes, *start = ready + nodes;
    int32_t *reader = start + nodes + 1;
    for (int32_t n = 0; n < nodes; n++) {
        depth[n] = 0;
        for (int32_t i = 0; i < edges_into(graph, n); i++) {
            if ((from = edge_from(graph, n, i)) == FUSION_ABSENT) continue;
            waits[n]++;
            start[from]++;
        }
    }
    for (int32_t n = 0; n < nodes; n++)
        start[n + 1] += start[n];
    for (int32_t n = 0; n < nodes; n++)
        for (int32_t i = 0; i < edges_into(graph, n); i++)
            if ((from = edge_from(graph, n, i)) != FUSION_ABSENT) reader[--start[from]] = n;
    int32_t first = 0, last = 0;
    for (int32_t n = 0; n < nodes; n++)
        if (waits[n] == 0) ready[last++] = n;
    while (first < last) {
        int32_t n = ready[first++];
        for (int32_t e = start[n]; e < start[n + 1]; e++) {
            if (depth[reader[e]] <= depth[n]) depth[reader[e]] = depth[n] + 1;
            if (--waits[reader[e]] == 0) ready[last++] = reader[e];
        }
    }
    for (int32_t n = 0; n < nodes; n++)
        if (waits[n] > 0)
            return refuse(error, "'%s' is on a cycle, or behind one", graph->node[n].name);
    return ASCGRAD_DONE;
}

ascgrad_result fusion_check(const struct fusion_graph *graph, int32_t *depth,
                            struct ascgrad_error *error) {
    size_t edges = 0;
    for (int32_t t = 0; t < graph->tensors; t++)
        if (check_tensor(graph, t, error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
    for (int32_t n = 0; n < graph->nodes; n++) {
        if (check_node(graph, n, error) != ASCGRAD_DONE) return ASCGRAD_REFUSED;
        edges += (size_t)edges_into(graph, n);
    }
    if (edges > INT32_MAX / 2) return refuse(error, "%zu edges are too many", edges);
    int32_t *work = calloc(3 * (size_t)graph->nodes + 1 + edges, sizeof *work);
    if (!work) return refuse(error, "no memory for a graph of %d nodes", graph->nodes);
    ascgrad_result result = find_depth(graph, depth, work, error);
    free(work);
    return result;
}
