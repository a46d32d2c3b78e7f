/* SPDX-License-Identifier: Apache-2.0
 *
 * The recorded graphs: what is to be found in each is found, with the right tensors, and nothing
 * else; the operator then gives what the graph gave, within the contract, and is at least as close
 * to the truth as the graph's own operations.
 *
 * usage: test_match GRAPH...
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evaluate.h"
#include "operate.h"
#include "text.h"

static int failed;

#define FAIL(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), failed++)

static bool same(const struct fusion_match *a, const struct fusion_match *b) {
    return a->mode == b->mode && a->dx == b->dx && a->dy == b->dy &&
           a->cos.tensor == b->cos.tensor && a->cos.how == b->cos.how &&
           a->sin.tensor == b->sin.tensor && a->sin.how == b->sin.how && a->x == b->x &&
           a->dcos == b->dcos && a->dsin == b->dsin;
}

static const char *name_of(const struct fusion_graph *graph, int32_t tensor) {
    return tensor == FUSION_ABSENT ? "-" : graph->node[graph->tensor[tensor].node].name;
}

static void print_match(const struct fusion_graph *g, const struct fusion_match *m) {
    static const char *const how[] = {"", "/halves", "/pairs"};
    fprintf(stderr, "  mode=%d dx=%s dy=%s cos=%s%s sin=%s%s x=%s dcos=%s dsin=%s\n", m->mode,
            name_of(g, m->dx), name_of(g, m->dy), name_of(g, m->cos.tensor), how[m->cos.how],
            name_of(g, m->sin.tensor), how[m->sin.how], name_of(g, m->x), name_of(g, m->dcos),
            name_of(g, m->dsin));
}

/* Half a unit in the last place of a number of this dtype. */
static double half_ulp(int32_t dtype, double value) {
    int exponent, bits = dtype == ASCGRAD_FP32 ? 24 : dtype == ASCGRAD_FP16 ? 11 : 8;
    int least = dtype == ASCGRAD_FP16 ? -24 : -149 + (dtype == ASCGRAD_BF16 ? 16 : 0);
    frexp(value, &exponent);
    return ldexp(0.5, exponent - bits > least ? exponent - bits : least);
}

struct error {
    double total;
    int64_t count, outside;
};

/* exact: the same sums in double, on inputs that both saw. */
static void add_error(struct error *error, int32_t dtype, double value, struct judged exact) {
    double off = fabs(value - exact.value);
    error->total += off;
    error->count++;
    error->outside += off > half_ulp(dtype, exact.value) + 0x1p-20 * exact.magnitude;
}

/* The table that the operator is given: the tensor's numbers, each lane where the match wants it.
 */
static double *make_table(struct numbers *numbers, const struct fusion_table *table, int64_t lanes,
                          int32_t rank, struct fusion_tensor *shape) {
    const struct fusion_tensor *t = &numbers->graph->tensor[table->tensor];
    const double *from = compute(numbers, table->tensor);
    int64_t width = t->dim[t->rank - 1], rows = elements_of(t) / width;
    double *to = malloc((size_t)(rows * lanes) * sizeof *to);
    for (int64_t i = 0; i < rows * lanes; i++) {
        int64_t lane = i % lanes;
        if (table->how == FUSION_HALVES) lane %= width;
        if (table->how == FUSION_PAIRS) lane /= 2;
        to[i] = from[i / lanes * width + lane];
    }
    *shape = (struct fusion_tensor){.rank = rank, .dtype = t->dtype};
    for (int32_t k = 0; k < rank; k++) {
        int32_t own = k - (rank - t->rank);
        shape->dim[k] = own < 0 ? 1 : t->dim[own];
    }
    shape->dim[rank - 1] = lanes;
    return to;
}

/* One result of the operator and of the graph's own operations, against the double. Of sums in
 * float32 both are as good: only the order of the terms differs. */
static void compare(const char *path, const char *what, const struct error *fused,
                    const struct error *apart, bool closer) {
    if (fused->outside > 0)
        FAIL("%s: %lld of %lld elements of %s are outside the contract", path,
             (long long)fused->outside, (long long)fused->count, what);
    if (closer && fused->total > apart->total)
        FAIL("%s: the operator's %s is off by %g on average, the graph's by %g", path, what,
             fused->total / (double)fused->count, apart->total / (double)apart->count);
}

/* The graph rounded after every operation, and the operator on the same dy, cos and sin, both
 * against the formula in double. */
static void check_numbers(const char *path, const struct fusion_graph *graph,
                          const struct fusion_match *m) {
    struct numbers rounded;
    const struct fusion_tensor *dy = &graph->tensor[m->dy];
    struct fusion_tensor table;
    start_numbers(&rounded, graph, true);
    draw_inputs(&rounded, 19);
    int64_t lanes = dy->dim[dy->rank - 1], large = elements_of(dy), small;
    double *cos = make_table(&rounded, &m->cos, lanes, dy->rank, &table);
    double *sin = make_table(&rounded, &m->sin, lanes, dy->rank, &table);
    small = elements_of(&table);
    double *dx = calloc((size_t)large, sizeof *dx), *sums[2];
    for (int k = 0; k < 2; k++)
        sums[k] = calloc((size_t)small, sizeof *dx);
    struct operation operation = {
        m->mode, dy,      &table, compute(&rounded, m->dy), cos, sin, compute(&rounded, m->x),
        dx,      sums[0], sums[1]};
    if (!operate(&operation)) FAIL("%s: the operator refuses", path);
    const double *apart = compute(&rounded, m->dx);
    struct error fused = {0}, separate = {0};
    for (int64_t i = 0; i < large; i++) {
        struct judged exact = judge_dx(&rounded, m, i);
        add_error(&fused, dy->dtype, dx[i], exact);
        add_error(&separate, dy->dtype, apart[i], exact);
    }
    compare(path, "dx", &fused, &separate, true);
    for (int k = 0; k < 2; k++) {
        const double *graphs = compute(&rounded, k ? m->dsin : m->dcos);
        fused = separate = (struct error){0};
        for (int64_t i = 0; graphs && i < small; i++) {
            struct judged exact = judge_sum(&rounded, m, k, i);
            add_error(&fused, dy->dtype, sums[k][i], exact);
            add_error(&separate, dy->dtype, graphs[i], exact);
        }
        bool closer = dy->dtype != ASCGRAD_FP32;
        if (graphs) compare(path, k ? "dsin" : "dcos", &fused, &separate, closer);
        free(sums[k]);
    }
    free(dx);
    free(cos);
    free(sin);
    free_numbers(&rounded);
}

static void check_file(const char *path) {
    struct recorded r;
    struct fusion_found found;
    struct ascgrad_error error;
    if (!read_recorded(path, &r) || !r.said) {
        FAIL("%s: cannot be read, or does not say what to expect", path);
        return;
    }
    if (fusion_find(r.graph, &found, NULL, &error) != ASCGRAD_DONE) {
        FAIL("%s: %s", path, error.text);
        found.count = 0;
    }
    int32_t right = 0;
    for (int32_t i = 0; i < found.count; i++)
        for (int32_t k = 0; k < r.expected; k++)
            right += same(&found.match[i], &r.expect[k]);
    if (right != r.expected || found.count != r.expected) {
        FAIL("%s: %d matches where %d are expected, %d of them right", path, found.count,
             r.expected, right);
        for (int32_t i = 0; i < found.count; i++)
            print_match(r.graph, &found.match[i]);
    }
    for (int32_t i = 0; i < found.count; i++)
        check_numbers(path, r.graph, &found.match[i]);
    free(found.match);
    free_recorded(&r);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        check_file(argv[i]);
    printf("%d recorded graphs, %d complaints\n", argc - 1, failed);
    return argc < 2 || failed ? 1 : 0;
}
