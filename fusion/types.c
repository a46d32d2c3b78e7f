/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of types, with the names that CANN's operator prototypes give to inputs and
 * attributes, and how a node's parameters are read through it.
 */
#include "types.h"

#include <string.h>

#define MASKS                                                                                      \
    {"begin_mask", FUSION_INT}, {"end_mask", FUSION_INT}, {"ellipsis_mask", FUSION_INT},           \
        {"new_axis_mask", FUSION_INT}, {                                                           \
        "shrink_axis_mask", FUSION_INT                                                             \
    }

/* In the order of strcmp. */
static const struct fusion_type table[] = {
    {"Add", FUSION_ADD, {"x1", "x2"}, {{0}}},
    {"AddN", FUSION_ADD, {"*x"}, {{0}}},
    {"AddV2", FUSION_ADD, {"x1", "x2"}, {{0}}},
    {"BroadcastTo", FUSION_EXPAND, {"x", "shape"}, {{0}}},
    {"BroadcastToD", FUSION_EXPAND, {"x"}, {{0}}},
    {"Concat", FUSION_CONCAT, {"concat_dim", "*x"}, {{0}}},
    {"ConcatD", FUSION_CONCAT, {"*x"}, {{"concat_dim", FUSION_INT}}},
    {"ConcatV2", FUSION_CONCAT, {"*x", "concat_dim"}, {{0}}},
    {"ConcatV2D", FUSION_CONCAT, {"*x"}, {{"concat_dim", FUSION_INT}}},
    {"Expand", FUSION_EXPAND, {"x", "shape"}, {{0}}},
    {"ExpandD", FUSION_EXPAND, {"x"}, {{0}}},
    {"ExpandDims", FUSION_SAME, {"x", "axis"}, {{0}}},
    {"Fill", FUSION_ZEROS, {"dims", "value"}, {{0}}},
    {"FlattenV2", FUSION_SAME, {"x"}, {{0}}},
    {"GatherV2", FUSION_GATHER, {"x", "indices", "axis"}, {{"batch_dims", FUSION_INT}}},
    {"GatherV2D", FUSION_GATHER, {"x", "indices"}, {{"axis", FUSION_INT}}},
    {"Identity", FUSION_SAME, {"x"}, {{0}}},
    {"Mul", FUSION_MUL, {"x1", "x2"}, {{0}}},
    {"Neg", FUSION_NEG, {"x"}, {{0}}},
    {"Pack", FUSION_PACK, {"*x"}, {{"axis", FUSION_INT}}},
    {"Pad", FUSION_PAD, {"x", "paddings"}, {{0}}},
    {"PadD", FUSION_PAD, {"x"}, {{"paddings", FUSION_LIST_LIST}}},
    {"Range", FUSION_RANGE, {"start", "limit", "delta"}, {{0}}},
    {"ReduceSum", FUSION_SUM, {"x", "axes"}, {{"keep_dims", FUSION_BOOL}}},
    {"ReduceSumD", FUSION_SUM, {"x"}, {{"axes", FUSION_LIST}, {"keep_dims", FUSION_BOOL}}},
    {"Reshape", FUSION_SAME, {"x", "shape"}, {{0}}},
    {"ScatterElements",
     FUSION_SCATTER,
     {"data", "indices", "updates"},
     {{"axis", FUSION_INT}, {"reduction", FUSION_NONE}}},
    {"Slice", FUSION_SLICE, {"x", "offsets", "size"}, {{0}}},
    {"SliceD", FUSION_SLICE, {"x"}, {{"offsets", FUSION_LIST}}},
    {"Split", FUSION_SPLIT, {"split_dim", "x"}, {{0}}},
    {"SplitD", FUSION_SPLIT, {"x"}, {{"split_dim", FUSION_INT}}},
    {"SplitV", FUSION_SPLIT, {"x", "size_splits", "split_dim"}, {{0}}},
    {"SplitVD", FUSION_SPLIT, {"x"}, {{"split_dim", FUSION_INT}}},
    {"Squeeze", FUSION_SAME, {"x"}, {{0}}},
    {"SqueezeV2", FUSION_SAME, {"x"}, {{0}}},
    {"SqueezeV3", FUSION_SAME, {"x", "?axes"}, {{0}}},
    {"StridedSlice", FUSION_STRIDED, {"x", "begin", "end", "strides"}, {MASKS}},
    {"StridedSliceD",
     FUSION_STRIDED,
     {"x"},
     {{"begin", FUSION_LIST}, {"strides", FUSION_LIST}, MASKS}},
    {"StridedSliceGrad", FUSION_STRIDED_GRAD, {"shape", "begin", "end", "strides", "dy"}, {MASKS}},
    {"StridedSliceV2", FUSION_STRIDED, {"x", "begin", "end", "?axes", "?strides"}, {MASKS}},
    {"Sub", FUSION_SUB, {"x1", "x2"}, {{0}}},
    {"TensorMove", FUSION_SAME, {"x"}, {{0}}},
    {"Transpose", FUSION_TRANSPOSE, {"x", "perm"}, {{0}}},
    {"TransposeD", FUSION_TRANSPOSE, {"x"}, {{"perm", FUSION_LIST}}},
    {"Unpack", FUSION_UNPACK, {"x"}, {{"axis", FUSION_INT}}},
    {"Unsqueeze", FUSION_SAME, {"x"}, {{0}}},
    {"UnsqueezeV2", FUSION_SAME, {"x"}, {{0}}},
    {"UnsqueezeV3", FUSION_SAME, {"x", "axes"}, {{0}}},
    {"ZerosLike", FUSION_ZEROS, {"x"}, {{0}}},
};

const struct fusion_type *fusion_find_type(const char *name) {
    size_t from = 0, to = sizeof table / sizeof *table;
    while (from < to) {
        size_t middle = (from + to) / 2;
        int order = strcmp(name, table[middle].name);
        if (order == 0) return &table[middle];
        if (order < 0)
            to = middle;
        else
            from = middle + 1;
    }
    return NULL;
}

int32_t fusion_inputs(const struct fusion_node *node, const char *name, int32_t *first) {
    if (!node->known) return 0;
    /* All inputs but the dynamic one have one place each, connected or not. */
    int32_t others = 0, place = 0;
    const char *const *input = node->known->input;
    for (int32_t i = 0; i < FUSION_TYPE_INPUTS && input[i]; i++)
        if (*input[i] != '*') others++;
    for (int32_t i = 0; i < FUSION_TYPE_INPUTS && input[i]; i++) {
        bool dynamic = *input[i] == '*';
        const char *plain = input[i] + (dynamic || *input[i] == '?');
        int32_t places = dynamic ? node->inputs - others : 1;
        if (strcmp(plain, name) == 0) {
            *first = place;
            return places > 0 && place + places <= node->inputs ? places : 0;
        }
        place += places;
    }
    return 0;
}

int32_t fusion_input(const struct fusion_node *node, const char *name) {
    int32_t first;
    return fusion_inputs(node, name, &first) == 1 ? node->input[first] : FUSION_ABSENT;
}

int64_t fusion_ints(const struct fusion_graph *graph, const struct fusion_node *node,
                    const char *name, int64_t *ints, int64_t room) {
    const int64_t *given = NULL;
    int64_t count = -1;
    for (int32_t i = 0; i < node->attrs; i++)
        if (strcmp(node->attr[i].name, name) == 0) {
            given = node->attr[i].ints;
            count = node->attr[i].count;
        }
    int32_t tensor = given ? FUSION_ABSENT : fusion_input(node, name);
    if (tensor != FUSION_ABSENT && graph->tensor[tensor].ints) {
        given = graph->tensor[tensor].ints;
        count = graph->tensor[tensor].count;
    }
    if (!given || count < 0 || count > room) return -1;
    memcpy(ints, given, (size_t)count * sizeof *ints);
    return count;
}

bool fusion_int(const struct fusion_graph *graph, const struct fusion_node *node, const char *name,
                int64_t otherwise, int64_t *value) {
    *value = otherwise;
    if (fusion_ints(graph, node, name, value, 1) == 1) return true;
    for (int32_t i = 0; i < node->attrs; i++)
        if (strcmp(node->attr[i].name, name) == 0) return false;
    return fusion_input(node, name) == FUSION_ABSENT;
}
