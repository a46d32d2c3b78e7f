/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading recorded graphs.
 */
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../fusion/types.h"

enum { WORDS = 64, LINE = 65536 };

static const struct {
    const char *name;
    int32_t dtype;
} dtypes[] = {{"fp32", 0},  {"fp16", 1},  {"int32", 3}, {"int64", 9},
              {"fp64", 11}, {"bool", 12}, {"bf16", 27}};

int32_t find_tensor(const struct fusion_graph *graph, const char *word) {
    size_t size = strcspn(word, ":/");
    int32_t port = word[size] == ':' ? atoi(word + size + 1) : 0;
    for (int32_t n = graph->nodes - 1; n >= 0; n--)
        if (strlen(graph->node[n].name) == size && memcmp(graph->node[n].name, word, size) == 0)
            return port < graph->node[n].outputs ? graph->node[n].first + port : FUSION_ABSENT;
    return FUSION_ABSENT;
}

/* "1,-2,3" up to the end or a ']'. */
static int64_t read_ints(const char *text, int64_t *ints, int64_t room) {
    int64_t count = 0;
    while (*text && *text != ']') {
        char *end;
        if (count == room) return -1;
        ints[count++] = strtoll(text, &end, 10);
        if (end == text) return -1;
        text = *end == ',' ? end + 1 : end;
    }
    return count;
}

static bool read_shape(const char *text, struct fusion_tensor *tensor) {
    size_t size = strcspn(text, "[");
    if (text[size] != '[') return false;
    /* A rank that the view has no room for is one that it does not know. */
    tensor->rank = (int32_t)read_ints(text + size + 1, tensor->dim, FUSION_MAX_RANK);
    if (strcmp(text + size, "[-2]") == 0) tensor->rank = FUSION_UNKNOWN_RANK;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (strlen(dtypes[i].name) == size && memcmp(dtypes[i].name, text, size) == 0) {
            tensor->dtype = dtypes[i].dtype;
            return true;
        }
    return false;
}

static bool read_inputs(struct fusion_graph *graph, int32_t node, char *list) {
    for (char *save, *word = strtok_r(list, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        int32_t tensor = strcmp(word, "-") == 0 ? FUSION_ABSENT : find_tensor(graph, word);
        if (tensor == FUSION_ABSENT && *word != '-') return false;
        if (!fusion_add_input(graph, node, tensor)) return false;
    }
    return true;
}

/* Names of attributes are not copied by the view: here they come from the table of types. */
static const char *attr_name(const struct fusion_type *type, const char *word, size_t size) {
    for (int32_t i = 0; type && i < FUSION_TYPE_ATTRS && type->attr[i].name; i++)
        if (strlen(type->attr[i].name) == size && memcmp(type->attr[i].name, word, size) == 0)
            return type->attr[i].name;
    return NULL;
}

static bool read_node(struct fusion_graph *graph, char **word, int32_t words) {
    int32_t outputs = 0, port = 0;
    for (int32_t i = 3; i < words; i++)
        outputs += strncmp(word[i], "out=", 4) == 0;
    int32_t node = fusion_add_node(graph, word[2], word[1], outputs);
    for (int32_t i = 3; i < words; i++) {
        size_t size = strcspn(word[i], "=");
        char *value = word[i] + size + 1;
        int64_t ints[64], count;
        const char *name = attr_name(graph->node[node].known, word[i], size);
        if (word[i][size] != '=') return false;
        if (strncmp(word[i], "out=", 4) == 0) {
            if (!read_shape(value, &graph->tensor[graph->node[node].first + port++])) return false;
        } else if (strncmp(word[i], "in=", 3) == 0) {
            if (!read_inputs(graph, node, value)) return false;
        } else if (strncmp(word[i], "after=", 6) == 0) {
            int32_t before = find_tensor(graph, value);
            if (before == FUSION_ABSENT) return false;
            if (!fusion_add_control(graph, graph->tensor[before].node, node)) return false;
        } else if (!name || (count = read_ints(value, ints, 64)) < 0 ||
                   !fusion_add_attr(graph, node, name, ints, count)) {
            return false;
        }
    }
    return true;
}

static bool read_constant(struct fusion_graph *graph, char **word, int32_t words) {
    bool data = strcmp(word[0], "input") == 0;
    int32_t node = fusion_add_node(graph, data ? "Data" : "Const", word[1], 1);
    int32_t tensor = graph->node[node].first;
    if (!read_shape(word[2], &graph->tensor[tensor])) return false;
    graph->tensor[tensor].zeros = strcmp(word[0], "zeros") == 0;
    if (words < 4) return true;
    int64_t *ints = malloc(LINE * sizeof *ints), count = read_ints(word[3], ints, LINE);
    bool done = count >= 0 && fusion_set_ints(graph, tensor, ints, count);
    bool zeros = count > 0;
    for (int64_t i = 0; i < count; i++)
        zeros &= ints[i] == 0;
    graph->tensor[tensor].zeros = zeros;
    free(ints);
    return done;
}

static bool read_expect(struct recorded *r, char **word, int32_t words) {
    r->said = true;
    if (words == 2 && strcmp(word[1], "nothing") == 0) return true;
    if (r->expected == TEXT_MATCHES) return false;
    struct fusion_match *m = &r->expect[r->expected++];
    *m = (struct fusion_match){.x = FUSION_ABSENT, .dcos = FUSION_ABSENT, .dsin = FUSION_ABSENT};
    const struct {
        const char *name;
        int32_t *tensor;
        enum fusion_how *how;
    } fields[] = {{"dx", &m->dx, NULL},     {"dy", &m->dy, NULL},
                  {"x", &m->x, NULL},       {"cos", &m->cos.tensor, &m->cos.how},
                  {"dcos", &m->dcos, NULL}, {"sin", &m->sin.tensor, &m->sin.how},
                  {"dsin", &m->dsin, NULL}};
    for (int32_t i = 1; i < words; i++) {
        size_t size = strcspn(word[i], "=");
        bool known = strncmp(word[i], "mode=", 5) == 0;
        if (known) m->mode = atoi(word[i] + 5);
        for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
            if (strlen(fields[f].name) != size || memcmp(fields[f].name, word[i], size) != 0)
                continue;
            const char *slash = strchr(word[i], '/');
            *fields[f].tensor = find_tensor(r->graph, word[i] + size + 1);
            if (fields[f].how && slash)
                *fields[f].how = slash[1] == 'h' ? FUSION_HALVES : FUSION_PAIRS;
            known = *fields[f].tensor != FUSION_ABSENT;
        }
        if (!known) return false;
    }
    return true;
}

static bool read_line(struct recorded *r, char *line) {
    char *word[WORDS], *save;
    int32_t words = 0;
    for (char *w = strtok_r(line, " \n", &save); w && words < WORDS;
         w = strtok_r(NULL, " \n", &save))
        word[words++] = w;
    if (words == 0 || word[0][0] == '#') return true;
    if (strcmp(word[0], "expect") == 0) return read_expect(r, word, words);
    if (strcmp(word[0], "node") == 0) return words > 3 && read_node(r->graph, word, words);
    if (strcmp(word[0], "output") == 0) {
        char name[32];
        snprintf(name, sizeof name, "outputs%d", r->graph->nodes);
        int32_t node = fusion_add_node(r->graph, "NetOutput", name, 0);
        for (int32_t i = 1; i < words; i++)
            if (!read_inputs(r->graph, node, word[i])) return false;
        return true;
    }
    return words > 2 && read_constant(r->graph, word, words);
}

bool read_recorded(const char *path, struct recorded *r) {
    *r = (struct recorded){.graph = fusion_graph_new()};
    FILE *file = fopen(path, "r");
    char *line = malloc(LINE);
    bool good = file && line && r->graph;
    for (int number = 1; good && fgets(line, LINE, file); number++) {
        good = read_line(r, line);
        if (!good) fprintf(stderr, "%s:%d: not understood\n", path, number);
    }
    if (!file) perror(path);
    if (file) fclose(file);
    free(line);
    if (!good) free_recorded(r);
    return good;
}

void free_recorded(struct recorded *r) {
    fusion_graph_free(r->graph);
    r->graph = NULL;
}
