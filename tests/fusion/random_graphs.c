/* SPDX-License-Identifier: Apache-2.0
 *
 * No false match: small random graphs over the operations that the matcher knows. Many are ropes
 * written in one of several ways and then spoilt in one place, some are nothing in particular.
 * Every match is checked by running the graph and the operator's formula on random numbers in
 * double; a rope that was not spoilt must be found.
 *
 * usage: random_graphs COUNT [SEED]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "evaluate.h"

static uint64_t state;

static uint32_t draw(uint32_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % below);
}

static struct fusion_graph *g;

/* Shapes are [B, S, lanes...]: two leading axes; tables have some of them, the others are 1. */
enum { B = 2, S = 2 };

static int32_t shaped(int32_t node, int32_t port, int32_t rank, const int64_t *dim) {
    struct fusion_tensor *t = &g->tensor[g->node[node].first + port];
    t->dtype = ASCGRAD_FP32;
    t->rank = rank;
    memcpy(t->dim, dim, (size_t)rank * sizeof *dim);
    return g->node[node].first + port;
}

static int32_t ints(const int64_t *values, int64_t count) {
    int32_t node = fusion_add_node(g, "Const", "k", 1);
    struct fusion_tensor *t = &g->tensor[g->node[node].first];
    t->dtype = 9;
    t->rank = 1;
    t->dim[0] = count;
    fusion_set_ints(g, g->node[node].first, values, count);
    return g->node[node].first;
}

static int32_t one_int(int64_t value) {
    int32_t tensor = ints(&value, 1);
    g->tensor[tensor].rank = 0;
    return tensor;
}

static int32_t data(int64_t b, int64_t s, int64_t lanes) {
    int64_t dim[] = {b, s, lanes};
    return shaped(fusion_add_node(g, "Data", "data", 1), 0, 3, dim);
}

static const struct fusion_tensor *of(int32_t tensor) {
    return &g->tensor[tensor];
}

/* A node with inputs and the shape of its output. */
static int32_t make(const char *type, const int32_t *in, int32_t count, int32_t rank,
                    const int64_t *dim) {
    int32_t node = fusion_add_node(g, type, type, 1);
    for (int32_t i = 0; i < count; i++)
        fusion_add_input(g, node, in[i]);
    return shaped(node, 0, rank, dim);
}

static int32_t elementwise(const char *type, int32_t a, int32_t b) {
    const struct fusion_tensor *x = of(a), *y = of(b);
    if (x->rank != y->rank) return a;
    int64_t dim[FUSION_MAX_RANK];
    for (int32_t k = 0; k < x->rank; k++) {
        if (x->dim[k] != y->dim[k] && x->dim[k] != 1 && y->dim[k] != 1) return a;
        dim[k] = x->dim[k] > y->dim[k] ? x->dim[k] : y->dim[k];
    }
    int32_t in[] = {a, b};
    if (strcmp(type, "AddN") == 0 && !fusion_same_shape(x, y)) type = "Add";
    return make(type, in, 2, x->rank, dim);
}

static int32_t negative(int32_t a) {
    int64_t dim[FUSION_MAX_RANK];
    memcpy(dim, of(a)->dim, sizeof dim);
    return make("Neg", &a, 1, of(a)->rank, dim);
}

/* Lanes begin, begin + step, ... of the last axis, written in one of three ways. */
static int32_t slice(int32_t a, int64_t begin, int64_t count, int64_t step) {
    int64_t dim[FUSION_MAX_RANK], start[FUSION_MAX_RANK] = {0}, size[FUSION_MAX_RANK];
    int32_t rank = of(a)->rank;
    memcpy(dim, of(a)->dim, sizeof dim);
    dim[rank - 1] = count;
    memcpy(size, dim, sizeof size);
    start[rank - 1] = begin;
    uint32_t way = draw(3);
    if (way == 0 && step == 1) {
        int32_t in[] = {a, ints(start, rank), ints(size, rank)};
        return make("Slice", in, 3, rank, dim);
    }
    int64_t end = begin + count * step, axis = rank - 1;
    if (way == 1) {
        int32_t in[] = {a, ints(&begin, 1), ints(&end, 1), ints(&axis, 1), ints(&step, 1)};
        return make("StridedSliceV2", in, 5, rank, dim);
    }
    int64_t from[] = {0, begin}, to[] = {0, end}, by[] = {1, step}, one = 1;
    int32_t in[] = {a, ints(from, 2), ints(to, 2), ints(by, 2)};
    int32_t tensor = make("StridedSlice", in, 4, rank, dim);
    fusion_add_attr(g, of(tensor)->node, "ellipsis_mask", &one, 1);
    return tensor;
}

/* The opposite: `wide` lanes, zero but for begin, begin + step, ... */
static int32_t spread(int32_t a, int64_t begin, int64_t wide, int64_t step) {
    int64_t dim[FUSION_MAX_RANK], full[FUSION_MAX_RANK];
    int32_t rank = of(a)->rank;
    memcpy(dim, of(a)->dim, sizeof dim);
    int64_t count = dim[rank - 1];
    dim[rank - 1] = wide;
    memcpy(full, dim, sizeof full);
    if (draw(2) == 0 && step == 1) {
        int64_t pads[2 * FUSION_MAX_RANK] = {0};
        pads[2 * (rank - 1)] = begin;
        pads[2 * rank - 1] = wide - begin - count;
        int32_t in[] = {a, ints(pads, 2 * rank)};
        return make("Pad", in, 2, rank, dim);
    }
    int64_t from[] = {0, begin}, to[] = {0, wide}, by[] = {1, step}, one = 1;
    int32_t shape = ints(full, rank);
    int32_t in[] = {shape, ints(from, 2), ints(to, 2), ints(by, 2), a};
    int32_t tensor = make("StridedSliceGrad", in, 5, rank, dim);
    fusion_add_attr(g, of(tensor)->node, "ellipsis_mask", &one, 1);
    return tensor;
}

static int32_t join(int32_t a, int32_t b) {
    int64_t dim[FUSION_MAX_RANK];
    memcpy(dim, of(a)->dim, sizeof dim);
    int32_t rank = of(a)->rank;
    for (int32_t k = 0; k < rank - 1; k++)
        if (of(b)->rank != rank || of(b)->dim[k] != dim[k]) return a;
    dim[rank - 1] += of(b)->dim[rank - 1];
    int32_t in[] = {a, b, one_int(draw(2) ? -1 : rank - 1)};
    return make("ConcatV2", in, 3, rank, dim);
}

static int32_t reshape(int32_t a, int32_t rank, const int64_t *dim) {
    int32_t in[] = {a, ints(dim, rank)};
    return make("Reshape", in, 2, rank, dim);
}

/* Two tensors, lane by lane in turns. */
static int32_t zip(int32_t a, int32_t b) {
    if (!fusion_same_shape(of(a), of(b)) || of(a)->rank != 3) return a;
    int64_t dim[] = {of(a)->dim[0], of(a)->dim[1], of(a)->dim[2], 2}, axis = draw(2) ? -1 : 3;
    int64_t flat[] = {dim[0], dim[1], 2 * dim[2]};
    int32_t in[] = {a, b}, packed = make("Pack", in, 2, 4, dim);
    fusion_add_attr(g, of(packed)->node, "axis", &axis, 1);
    return reshape(packed, 3, flat);
}

/* Of [.., h, 2] or [.., 2, h], one of the two. */
static int32_t pick(int32_t a, bool pairs, int64_t which) {
    if (of(a)->rank != 3 || of(a)->dim[2] % 2) return a;
    int64_t half = of(a)->dim[2] / 2;
    int64_t wide[] = {of(a)->dim[0], of(a)->dim[1], pairs ? half : 2, pairs ? 2 : half};
    int64_t dim[] = {wide[0], wide[1], half};
    int32_t x = reshape(a, 4, wide);
    int32_t in[] = {x, one_int(which), one_int(pairs ? 3 : 2)};
    return make("GatherV2", in, 3, 3, dim);
}

static int32_t turn_lanes(int32_t a) {
    if (of(a)->rank != 3 || of(a)->dim[2] % 2) return a;
    int64_t half = of(a)->dim[2] / 2, wide[] = {of(a)->dim[0], of(a)->dim[1], half, 2};
    int64_t turned[] = {wide[0], wide[1], 2, half}, perm[] = {0, 1, 3, 2};
    int64_t flat[] = {wide[0], wide[1], 2 * half};
    bool back = draw(2);
    int32_t x = reshape(a, 4, back ? turned : wide);
    int32_t in[] = {x, ints(perm, 4)};
    return reshape(make("Transpose", in, 2, 4, back ? wide : turned), 3, flat);
}

/* The two leading axes change places; their sizes are the same, so that no shape tells. */
static int32_t turn_lead(int32_t a) {
    if (of(a)->rank != 3 || of(a)->dim[0] != of(a)->dim[1]) return a;
    int64_t dim[] = {of(a)->dim[1], of(a)->dim[0], of(a)->dim[2]}, perm[] = {1, 0, 2};
    int32_t in[] = {a, ints(perm, 3)};
    return make("Transpose", in, 2, 3, dim);
}

/* What is spoilt: the number of the choice at which the wrong thing is done. */
static int32_t spoil_at, choices;

static bool spoil(void) {
    return choices++ == spoil_at;
}

static int32_t half_of(int32_t a, bool pairs, int32_t which) {
    int64_t half = of(a)->dim[of(a)->rank - 1] / 2;
    if (spoil()) which = !which;
    if (spoil()) pairs = !pairs;
    if (draw(3) == 0) return pick(a, pairs, which);
    return pairs ? slice(a, which, half, 2) : slice(a, which ? half : 0, half, 1);
}

static int32_t put_together(int32_t low, int32_t high, bool pairs) {
    int64_t lanes = 2 * of(low)->dim[of(low)->rank - 1];
    if (spoil()) pairs = !pairs;
    if (spoil()) {
        int32_t swap = low;
        low = high;
        high = swap;
    }
    if (draw(3) == 0)
        return elementwise(draw(2) ? "Add" : "AddN", spread(low, 0, lanes, pairs ? 2 : 1),
                           spread(high, pairs ? 1 : lanes / 2, lanes, pairs ? 2 : 1));
    return pairs ? zip(low, high) : join(low, high);
}

static int32_t sum(int32_t a, int32_t b) {
    if (spoil()) return elementwise("Sub", a, b);
    if (spoil()) return elementwise("Add", elementwise("Add", a, b), a);
    if (draw(4) == 0) return elementwise("Sub", a, negative(b));
    return draw(2) ? elementwise(draw(2) ? "Add" : "AddN", a, b) : elementwise("Add", b, a);
}

static int32_t product(int32_t a, int32_t b) {
    if (spoil()) return elementwise("Mul", a, a);
    if (spoil()) return elementwise("Mul", turn_lead(a), b);
    if (draw(6) == 0) return elementwise("Mul", negative(a), negative(b));
    return draw(2) ? elementwise("Mul", a, b) : elementwise("Mul", b, a);
}

static int32_t minus(int32_t a) {
    return spoil() ? a : negative(a);
}

/* The turned product on the lanes of x; x*sin may be taken before or after turning. */
static int32_t turned(int32_t dy, int32_t sin, bool pairs) {
    int32_t x = product(dy, sin);
    return put_together(half_of(x, pairs, 1), minus(half_of(x, pairs, 0)), pairs);
}

static int32_t rope(int32_t dy, int32_t cos, int32_t sin, bool small, bool pairs) {
    if (!small) return sum(product(dy, cos), turned(dy, sin, pairs));
    int32_t low = half_of(dy, pairs, 0), high = half_of(dy, pairs, 1);
    int32_t up = sum(product(low, cos), product(high, sin));
    int32_t down = sum(product(high, cos), minus(product(low, sin)));
    return put_together(up, down, pairs);
}

/* Quarters, and halves of a deinterleaved tensor. */
static int32_t rarer_rope(int32_t dy, int32_t cos, int32_t sin) {
    if (draw(2)) return turn_lanes(sum(product(dy, cos), turned(dy, sin, false)));
    int32_t x = product(dy, sin);
    int32_t a = half_of(x, false, 0), b = half_of(x, false, 1);
    int32_t left = put_together(half_of(a, false, 1), minus(half_of(a, false, 0)), false);
    int32_t right = put_together(half_of(b, false, 1), minus(half_of(b, false, 0)), false);
    return sum(product(dy, cos), put_together(left, right, false));
}

/* Anything: a few operations on whatever is there. */
static void anything(int32_t *pool, int32_t count, int32_t more) {
    for (int32_t i = 0; i < more; i++) {
        int32_t a = pool[draw((uint32_t)count)], b = pool[draw((uint32_t)count)], made;
        switch (draw(9)) {
        case 0:
        case 1:
            made = elementwise("Mul", a, b);
            break;
        case 2:
            made = elementwise(draw(2) ? "Add" : "Sub", a, b);
            break;
        case 3:
            made = negative(a);
            break;
        case 4:
            made = of(a)->dim[2] > 2
                       ? slice(a, draw(2) ? of(a)->dim[2] / 2 : 0, of(a)->dim[2] / 2, 1)
                       : a;
            break;
        case 5:
            made = of(a)->dim[2] < 9 ? join(a, b) : a;
            break;
        case 6:
            made = of(a)->dim[2] < 9 ? zip(a, b) : a;
            break;
        case 7:
            made = turn_lead(a);
            break;
        default:
            made = turn_lanes(a);
        }
        pool[count < 12 ? count++ : (int32_t)draw(12)] = made;
    }
}

static int64_t judge(const struct fusion_match *m, uint64_t seed) {
    struct numbers numbers;
    int64_t wrong = 0;
    start_numbers(&numbers, g, false);
    draw_inputs(&numbers, seed);
    const double *dx = compute(&numbers, m->dx);
    for (int64_t i = 0; i < elements_of(of(m->dx)); i++) {
        struct judged exact = judge_dx(&numbers, m, i);
        wrong += !dx || !(fabs(dx[i] - exact.value) <= 1e-12 * (1 + exact.magnitude));
    }
    for (int k = 0; k < 2; k++) {
        const double *sums = compute(&numbers, k ? m->dsin : m->dcos);
        for (int64_t i = 0; sums && i < elements_of(of(k ? m->dsin : m->dcos)); i++) {
            struct judged exact = judge_sum(&numbers, m, k, i);
            wrong += !(fabs(sums[i] - exact.value) <= 1e-12 * (1 + exact.magnitude));
        }
    }
    free_numbers(&numbers);
    return wrong;
}

/* A sum of products over the axes that the table lacks, or over one too few. */
static void add_sum(int32_t dy, int32_t cos, int32_t x) {
    int64_t axes[2], count = 0, one = 1, dim[] = {B, S, of(cos)->dim[2]};
    for (int64_t k = 0; k < 2; k++)
        if (of(cos)->dim[k] == 1 && draw(8) != 0) {
            axes[count++] = k;
            dim[k] = 1;
        }
    int32_t in[] = {product(dy, x), ints(axes, count)};
    int32_t tensor = make("ReduceSum", in, 2, 3, dim);
    fusion_add_attr(g, of(tensor)->node, "keep_dims", &one, 1);
    int32_t reader = fusion_add_node(g, "NetOutput", "reader", 0);
    fusion_add_input(g, reader, tensor);
}

/* One graph; returns whether it holds a rope that nothing spoilt. */
static bool build(void) {
    bool small = draw(3) == 0, pairs = draw(2), plain = draw(4) != 0;
    int64_t lanes = draw(2) ? 4 : 8, table = small && plain ? lanes / 2 : lanes;
    int64_t batch = draw(2) ? 1 : B, rows = draw(2) ? 1 : S;
    int32_t dy = data(B, S, lanes), cos = data(batch, rows, table), sin = data(batch, rows, table);
    int32_t x = data(B, S, lanes), made, pool[12] = {dy, cos, sin, x};
    spoil_at = draw(3) == 0 ? -1 : (int32_t)draw(32);
    choices = 0;
    uint32_t kind = draw(5);
    if (kind == 0) {
        anything(pool, 4, 10);
        made = pool[draw(12) % 12];
        if (!made) made = dy;
    } else {
        made = plain ? rope(dy, cos, sin, small, pairs) : rarer_rope(dy, cos, sin);
    }
    bool whole = kind != 0 && (spoil_at < 0 || spoil_at >= choices);
    if (draw(3) == 0 && !small) add_sum(dy, cos, draw(2) ? x : turned(x, x, pairs));
    for (int32_t t = 0, last = g->tensors; t < last; t++)
        if (kind == 0 || t == made) {
            int32_t reader = fusion_add_node(g, "NetOutput", "reader", 0);
            fusion_add_input(g, reader, t);
        }
    return whole;
}

int main(int argc, char **argv) {
    int64_t count = argc > 1 ? atoll(argv[1]) : 0, seed = argc > 2 ? atoll(argv[2]) : time(NULL);
    int64_t matches = 0, wrong = 0, whole = 0, missed = 0, sums = 0;
    state = (uint64_t)seed;
    for (int64_t i = 0; i < count; i++) {
        struct fusion_found found;
        struct ascgrad_error error;
        uint64_t start = state;
        g = fusion_graph_new();
        bool expected = build();
        if (fusion_find(g, &found, NULL, &error) != ASCGRAD_DONE) {
            fprintf(stderr, "graph %lld of seed %lld: %s\n", (long long)i, (long long)seed,
                    error.text);
            return 1;
        }
        whole += expected;
        if (expected && found.count == 0 && missed++ == 0)
            fprintf(stderr, "graph %lld of seed %lld: a rope is not found\n", (long long)i,
                    (long long)seed);
        for (int32_t k = 0; k < found.count; k++) {
            matches++;
            sums += found.match[k].x != FUSION_ABSENT;
            if (judge(&found.match[k], start) == 0) continue;
            if (wrong++ == 0)
                fprintf(stderr, "graph %lld of seed %lld: mode %d is not what it computes\n",
                        (long long)i, (long long)seed, found.match[k].mode);
        }
        free(found.match);
        fusion_graph_free(g);
    }
    printf("%lld graphs, seed %lld: %lld whole ropes, %lld of them missed; %lld matches, %lld with "
           "sums, %lld wrong\n",
           (long long)count, (long long)seed, (long long)whole, (long long)missed,
           (long long)matches, (long long)sums, (long long)wrong);
    return count < 1 || wrong || missed || matches < count / 20;
}
