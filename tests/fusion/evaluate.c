/* SPDX-License-Identifier: Apache-2.0
 *
 * The definitions of the operations, element by element.
 */
#include "evaluate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../fusion/types.h"
#include "../../twin/half.h"

enum { RANK = FUSION_MAX_RANK };

int64_t elements_of(const struct fusion_tensor *t) {
    int64_t n = 1;
    for (int32_t i = 0; i < t->rank; i++)
        n *= t->dim[i];
    return n;
}

double round_to(int32_t dtype, double value) {
    if (dtype == ASCGRAD_FP16) return (double)twin_f16_to_f32(twin_f32_to_f16((float)value));
    if (dtype == ASCGRAD_BF16) return (double)twin_bf16_to_f32(twin_f32_to_bf16((float)value));
    return dtype == ASCGRAD_FP32 ? (double)(float)value : value;
}

static void index_of(const struct fusion_tensor *t, int64_t flat, int64_t *index) {
    for (int32_t k = t->rank - 1; k >= 0; k--) {
        index[k] = flat % t->dim[k];
        flat /= t->dim[k];
    }
}

static int64_t flat_of(const struct fusion_tensor *t, const int64_t *index) {
    int64_t flat = 0;
    for (int32_t k = 0; k < t->rank; k++)
        flat = flat * t->dim[k] + index[k];
    return flat;
}

/* The element of t that meets index `at` of a tensor of shape o, broadcast. */
static int64_t broadcast_of(const struct fusion_tensor *t, const struct fusion_tensor *o,
                            const int64_t *at) {
    int64_t own[RANK] = {0};
    for (int32_t k = 0; k < t->rank; k++)
        own[k] = t->dim[k] == 1 ? 0 : at[k + o->rank - t->rank];
    return flat_of(t, own);
}

/* One operation on its way: node, output, and the numbers to fill. */
struct job {
    struct numbers *numbers;
    const struct fusion_node *node;
    const struct fusion_tensor *out;
    double *y;
};

static const struct fusion_tensor *shape_of(const struct job *j, int32_t tensor) {
    return &j->numbers->graph->tensor[tensor];
}

static int32_t named(const struct job *j, const char *name) {
    return fusion_input(j->node, name);
}

static int64_t ints(const struct job *j, const char *name, int64_t *to) {
    return fusion_ints(j->numbers->graph, j->node, name, to, 2 * RANK);
}

static int64_t int_or(const struct job *j, const char *name, int64_t otherwise) {
    int64_t v;
    return fusion_int(j->numbers->graph, j->node, name, otherwise, &v) ? v : otherwise;
}

static bool elementwise(const struct job *j, enum fusion_kind kind) {
    int64_t at[RANK];
    for (int32_t k = 0; k < j->node->inputs; k++) {
        const struct fusion_tensor *in = shape_of(j, j->node->input[k]);
        const double *x = compute(j->numbers, j->node->input[k]);
        if (!x) return false;
        for (int64_t i = 0; i < elements_of(j->out); i++) {
            index_of(j->out, i, at);
            double v = x[broadcast_of(in, j->out, at)];
            if (kind == FUSION_NEG) v = -v;
            if (k == 0)
                j->y[i] = v;
            else
                j->y[i] = kind == FUSION_MUL   ? j->y[i] * v
                          : kind == FUSION_SUB ? j->y[i] - v
                                               : j->y[i] + v;
            if (j->numbers->rounded) j->y[i] = round_to(j->out->dtype, j->y[i]);
        }
    }
    return true;
}

static bool copied(const struct job *j) {
    const double *x = compute(j->numbers, named(j, "x"));
    if (x) memcpy(j->y, x, (size_t)elements_of(j->out) * sizeof *x);
    return x != NULL;
}

static bool expanded(const struct job *j) {
    int64_t at[RANK];
    const double *x = compute(j->numbers, named(j, "x"));
    for (int64_t i = 0; x && i < elements_of(j->out); i++) {
        index_of(j->out, i, at);
        j->y[i] = x[broadcast_of(shape_of(j, named(j, "x")), j->out, at)];
    }
    return x != NULL;
}

static bool transposed(const struct job *j) {
    int64_t perm[2 * RANK], at[RANK], from[RANK];
    const double *x = compute(j->numbers, named(j, "x"));
    if (!x || ints(j, "perm", perm) != j->out->rank) return false;
    for (int64_t i = 0; i < elements_of(j->out); i++) {
        index_of(j->out, i, at);
        for (int32_t k = 0; k < j->out->rank; k++)
            from[perm[k]] = at[k];
        j->y[i] = x[flat_of(shape_of(j, named(j, "x")), from)];
    }
    return true;
}

/* start and step along each axis of a strided slice, and which axes it takes away. */
static bool strides(const struct job *j, const struct fusion_tensor *whole, int64_t *start,
                    int64_t *step, bool *gone) {
    int64_t begin[2 * RANK], by[2 * RANK], axes[2 * RANK];
    int64_t count = ints(j, "begin", begin), ellipsis = int_or(j, "ellipsis_mask", 0);
    bool stepped = ints(j, "strides", by) == count, listed = ints(j, "axes", axes) == count;
    if (count < 0) return false;
    for (int32_t k = 0; k < whole->rank; k++) {
        start[k] = 0;
        step[k] = 1;
        gone[k] = false;
    }
    int64_t axis = 0;
    for (int64_t i = 0; i < count; i++) {
        if (ellipsis & 1 << i) {
            axis = whole->rank - (count - 1 - i);
            continue;
        }
        int64_t k = listed ? (axes[i] + whole->rank) % whole->rank : axis++;
        gone[k] = (int_or(j, "shrink_axis_mask", 0) & 1 << i) != 0;
        step[k] = stepped && !gone[k] ? by[i] : 1;
        if (gone[k] || !(int_or(j, "begin_mask", 0) & 1 << i))
            start[k] = begin[i] < 0 ? begin[i] + whole->dim[k] : begin[i];
    }
    return true;
}

/* Reads (or, for the gradient, writes) a part of a whole. */
static bool windowed(const struct job *j, bool grad, const char *input, const int64_t *start,
                     const int64_t *step, const bool *gone) {
    int64_t at[RANK], whole_at[RANK];
    const double *x = compute(j->numbers, named(j, input));
    if (!x) return false;
    const struct fusion_tensor *in = shape_of(j, named(j, input));
    const struct fusion_tensor *part = grad ? in : j->out, *whole = grad ? j->out : in;
    for (int64_t i = 0; i < elements_of(part); i++) {
        index_of(part, i, at);
        for (int32_t k = 0, p = 0; k < whole->rank; k++)
            whole_at[k] = start[k] + (gone && gone[k] ? 0 : at[p++] * (step ? step[k] : 1));
        if (grad)
            j->y[flat_of(whole, whole_at)] = x[i];
        else
            j->y[i] = x[flat_of(whole, whole_at)];
    }
    return true;
}

static bool strided(const struct job *j, bool grad) {
    int64_t start[RANK], step[RANK];
    bool gone[RANK];
    const char *input = grad ? "dy" : "x";
    const struct fusion_tensor *whole = grad ? j->out : shape_of(j, named(j, "x"));
    return strides(j, whole, start, step, gone) && windowed(j, grad, input, start, step, gone);
}

static bool part_of(const struct job *j, enum fusion_kind kind) {
    int64_t start[2 * RANK] = {0}, pads[2 * RANK];
    bool gone[RANK] = {false};
    int32_t rank = shape_of(j, named(j, "x"))->rank;
    if (kind == FUSION_SLICE && ints(j, "offsets", start) != rank) return false;
    if (kind == FUSION_PAD) {
        if (ints(j, "paddings", pads) != 2 * rank) return false;
        for (int32_t k = 0; k < rank; k++)
            start[k] = pads[2 * k];
    }
    if (kind == FUSION_SPLIT || kind == FUSION_UNPACK) {
        int64_t axis = int_or(j, kind == FUSION_SPLIT ? "split_dim" : "axis", 0);
        if (axis < 0) axis += rank;
        gone[axis] = kind == FUSION_UNPACK;
        for (int32_t p = 0; p < j->out->port; p++)
            start[axis] += gone[axis] ? 1 : shape_of(j, j->node->first + p)->dim[axis];
    }
    return windowed(j, kind == FUSION_PAD, "x", start, NULL, gone);
}

static bool joined(const struct job *j, bool pack) {
    int64_t at[RANK], from[RANK], axis = int_or(j, pack ? "axis" : "concat_dim", 0);
    int32_t first, count = fusion_inputs(j->node, "x", &first);
    if (axis < 0) axis += j->out->rank;
    for (int64_t i = 0; i < elements_of(j->out); i++) {
        index_of(j->out, i, at);
        int32_t k = 0;
        for (; k < count; k++) {
            int64_t size = pack ? 1 : shape_of(j, j->node->input[first + k])->dim[axis];
            if (at[axis] < size) break;
            at[axis] -= size;
        }
        int32_t p = 0;
        for (int32_t d = 0; d < j->out->rank; d++)
            if (!pack || d != axis) from[p++] = at[d];
        const double *x = compute(j->numbers, j->node->input[first + k]);
        if (!x) return false;
        j->y[i] = x[flat_of(shape_of(j, j->node->input[first + k]), from)];
    }
    return true;
}

static bool gathered(const struct job *j) {
    int64_t at[RANK], from[RANK], axis = int_or(j, "axis", 0);
    const double *x = compute(j->numbers, named(j, "x"));
    const double *pick = compute(j->numbers, named(j, "indices"));
    if (!x || !pick) return false;
    const struct fusion_tensor *in = shape_of(j, named(j, "x"));
    bool scalar = shape_of(j, named(j, "indices"))->rank == 0;
    if (axis < 0) axis += in->rank;
    for (int64_t i = 0; i < elements_of(j->out); i++) {
        index_of(j->out, i, at);
        for (int32_t k = 0, p = 0; k < in->rank; k++)
            from[k] = k != axis ? at[p++] : (int64_t)pick[scalar ? 0 : at[p++]];
        j->y[i] = x[flat_of(in, from)];
    }
    return true;
}

static bool scattered(const struct job *j) {
    int64_t at[RANK], axis = int_or(j, "axis", 0);
    const double *data = compute(j->numbers, named(j, "data"));
    const double *place = compute(j->numbers, named(j, "indices"));
    const double *update = compute(j->numbers, named(j, "updates"));
    if (!data || !place || !update) return false;
    const struct fusion_tensor *in = shape_of(j, named(j, "updates"));
    if (axis < 0) axis += in->rank;
    memcpy(j->y, data, (size_t)elements_of(j->out) * sizeof *data);
    for (int64_t i = 0; i < elements_of(in); i++) {
        index_of(in, i, at);
        at[axis] = (int64_t)place[i];
        j->y[flat_of(j->out, at)] = update[i];
    }
    return true;
}

static bool ranged(const struct job *j) {
    for (int64_t i = 0; i < elements_of(j->out); i++)
        j->y[i] = (double)(int_or(j, "start", 0) + i * int_or(j, "delta", 1));
    return true;
}

/* A kernel sums in float32 and rounds once. */
static bool summed(const struct job *j) {
    int64_t axes[2 * RANK], at[RANK], own[RANK], count = ints(j, "axes", axes);
    const double *x = compute(j->numbers, named(j, "x"));
    if (!x || count < 0) return false;
    const struct fusion_tensor *in = shape_of(j, named(j, "x"));
    bool keep = int_or(j, "keep_dims", 0) != 0, gone[RANK] = {false};
    for (int64_t i = 0; i < count; i++)
        gone[(axes[i] + in->rank) % in->rank] = true;
    for (int64_t i = 0; i < elements_of(in); i++) {
        int32_t p = 0;
        index_of(in, i, at);
        for (int32_t k = 0; k < in->rank; k++)
            if (!gone[k] || keep) own[p++] = gone[k] ? 0 : at[k];
        double *y = &j->y[flat_of(j->out, own)];
        *y = j->numbers->rounded ? (double)((float)*y + (float)x[i]) : *y + x[i];
    }
    for (int64_t i = 0; j->numbers->rounded && i < elements_of(j->out); i++)
        j->y[i] = round_to(j->out->dtype, j->y[i]);
    return true;
}

/* A rewritten graph has two types more, which the matcher does not know: inputs by position. */
static bool tiled(const struct job *j) {
    int64_t at[RANK];
    const struct fusion_tensor *in = shape_of(j, j->node->input[0]);
    const double *x = compute(j->numbers, j->node->input[0]);
    for (int64_t i = 0; x && i < elements_of(j->out); i++) {
        index_of(j->out, i, at);
        for (int32_t k = 0; k < in->rank; k++)
            at[k] %= in->dim[k];
        j->y[i] = x[flat_of(in, at)];
    }
    return x != NULL;
}

static bool operated(const struct job *j) {
    const int32_t *in = j->node->input;
    struct fusion_match m = {.mode = (int32_t)int_or(j, "mode", 0),
                             .dy = in[0],
                             .cos.tensor = in[1],
                             .sin.tensor = in[2],
                             .x = in[3]};
    for (int32_t k = 0; k < 3; k++)
        if (!compute(j->numbers, in[k])) return false;
    if (j->out->port > 0 && !compute(j->numbers, m.x)) return false;
    for (int64_t i = 0; i < elements_of(j->out); i++)
        j->y[i] = j->out->port == 0 ? judge_dx(j->numbers, &m, i).value
                                    : judge_sum(j->numbers, &m, j->out->port == 2, i).value;
    return true;
}

static bool run_node(const struct job *j) {
    if (strcmp(j->node->type, "Tile") == 0) return tiled(j);
    if (strcmp(j->node->type, "RotaryPositionEmbeddingGrad") == 0) return operated(j);
    enum fusion_kind kind = fusion_kind_of(j->node);
    switch (kind) {
    case FUSION_MUL:
    case FUSION_ADD:
    case FUSION_SUB:
    case FUSION_NEG:
        return elementwise(j, kind);
    case FUSION_ZEROS:
        return true;
    case FUSION_SAME:
        return copied(j);
    case FUSION_EXPAND:
        return expanded(j);
    case FUSION_TRANSPOSE:
        return transposed(j);
    case FUSION_STRIDED:
        return strided(j, false);
    case FUSION_STRIDED_GRAD:
        return strided(j, true);
    case FUSION_SLICE:
    case FUSION_SPLIT:
    case FUSION_UNPACK:
    case FUSION_PAD:
        return part_of(j, kind);
    case FUSION_CONCAT:
        return joined(j, false);
    case FUSION_PACK:
        return joined(j, true);
    case FUSION_GATHER:
        return gathered(j);
    case FUSION_SCATTER:
        return scattered(j);
    case FUSION_RANGE:
        return ranged(j);
    case FUSION_SUM:
        return summed(j);
    default:
        return false;
    }
}

bool start_numbers(struct numbers *numbers, const struct fusion_graph *graph, bool rounded) {
    *numbers =
        (struct numbers){graph, calloc((size_t)graph->tensors + 1, sizeof(double *)), rounded};
    return numbers->of != NULL;
}

void free_numbers(struct numbers *numbers) {
    for (int32_t t = 0; numbers->of && t < numbers->graph->tensors; t++)
        free(numbers->of[t]);
    free(numbers->of);
}

bool draw_inputs(struct numbers *numbers, uint64_t seed) {
    for (int32_t t = 0; t < numbers->graph->tensors; t++) {
        const struct fusion_tensor *tensor = &numbers->graph->tensor[t];
        const struct fusion_node *node = &numbers->graph->node[tensor->node];
        bool data = strcmp(node->type, "Data") == 0, constant = strcmp(node->type, "Const") == 0;
        if ((!data && !constant) || !fusion_static(tensor)) continue;
        int64_t n = elements_of(tensor);
        numbers->of[t] = calloc((size_t)n + 1, sizeof(double));
        if (!numbers->of[t]) return false;
        for (int64_t i = 0; i < n; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            double v = (double)(int64_t)(seed >> 11) * 0x1p-52 - 1.0;
            if (tensor->ints)
                v = (double)tensor->ints[i];
            else if (tensor->zeros)
                v = 0.0;
            else
                v = round_to(tensor->dtype, v);
            numbers->of[t][i] = v;
        }
    }
    return true;
}

const double *compute(struct numbers *numbers, int32_t tensor) {
    if (tensor == FUSION_ABSENT) return NULL;
    if (numbers->of[tensor]) return numbers->of[tensor];
    const struct fusion_tensor *out = &numbers->graph->tensor[tensor];
    if (!fusion_static(out)) return NULL;
    struct job job = {numbers, &numbers->graph->node[out->node], out,
                      calloc((size_t)elements_of(out) + 1, sizeof(double))};
    if (job.y && !run_node(&job)) {
        free(job.y);
        job.y = NULL;
    }
    return numbers->of[tensor] = job.y;
}

/* The element of a table that belongs to lane `lane` at index `at` of dy. */
static double table_at(struct numbers *numbers, const struct fusion_table *table,
                       const struct fusion_tensor *dy, const int64_t *at, int64_t lane) {
    const struct fusion_tensor *t = &numbers->graph->tensor[table->tensor];
    int64_t own[RANK] = {0}, lanes = dy->dim[dy->rank - 1];
    for (int32_t k = 0; k < t->rank - 1; k++)
        own[k] = t->dim[k] == 1 ? 0 : at[k + dy->rank - t->rank];
    own[t->rank - 1] = table->how == FUSION_WHOLE    ? lane
                       : table->how == FUSION_HALVES ? lane % (lanes / 2)
                                                     : lane / 2;
    return compute(numbers, table->tensor)[flat_of(t, own)];
}

/* The four modes as the operator's page gives them. */
static void lanes_of_mode(int32_t mode, int64_t d, int64_t j, int64_t *cos_at, int64_t *sin_at,
                          double *sign) {
    int64_t h = d / 2, q = d / 4;
    *cos_at = j;
    switch (mode) {
    case 0:
        *sin_at = (j + h) % d, *sign = j < h ? 1 : -1;
        return;
    case 1:
        *sin_at = j % 2 ? j - 1 : j + 1, *sign = j % 2 ? -1 : 1;
        return;
    case 2:
        *sin_at = j / h * h + (j + q) % h, *sign = j % h < q ? 1 : -1;
        return;
    default:
        *cos_at = j % 2 ? j / 2 + h : j / 2;
        *sin_at = j % 2 ? j / 2 : j / 2 + h;
        *sign = j % 2 ? -1 : 1;
    }
}

struct judged judge_dx(struct numbers *numbers, const struct fusion_match *match, int64_t i) {
    const struct fusion_tensor *dy = &numbers->graph->tensor[match->dy];
    const double *g = compute(numbers, match->dy);
    int64_t at[RANK], d = dy->dim[dy->rank - 1], row = i / d * d, cos_at, sin_at;
    double sign;
    index_of(dy, i, at);
    lanes_of_mode(match->mode, d, i % d, &cos_at, &sin_at, &sign);
    double one = table_at(numbers, &match->cos, dy, at, cos_at) * g[row + cos_at];
    double two = sign * table_at(numbers, &match->sin, dy, at, sin_at) * g[row + sin_at];
    return (struct judged){one + two, fabs(one) + fabs(two)};
}

struct judged judge_sum(struct numbers *numbers, const struct fusion_match *match, bool of_sin,
                        int64_t i) {
    const struct fusion_table *table = of_sin ? &match->sin : &match->cos;
    const struct fusion_tensor *dy = &numbers->graph->tensor[match->dy];
    const struct fusion_tensor *t = &numbers->graph->tensor[table->tensor];
    const double *g = compute(numbers, match->dy), *x = compute(numbers, match->x);
    struct judged sum = {0, 0};
    for (int64_t e = 0; e < elements_of(dy); e++) {
        int64_t at[RANK], d = dy->dim[dy->rank - 1], cos_at, sin_at;
        double sign;
        index_of(dy, e, at);
        lanes_of_mode(match->mode, d, e % d, &cos_at, &sin_at, &sign);
        /* x's element e meets the gradient at lane cos_at (sin_at) of the same row. */
        int64_t lane = of_sin ? sin_at : cos_at;
        at[dy->rank - 1] = lane;
        if (broadcast_of(t, dy, at) != i) continue;
        double term = g[e / d * d + lane] * x[e] * (of_sin ? sign : 1);
        sum.value += term;
        sum.magnitude += fabs(term);
    }
    return sum;
}
