/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include <stdio.h>
#include <stdlib.h>
#include "../functions.h"

static bool begin(struct row_call *c, const char *op) {
    memset(c, 0, sizeof *c);
    for (uint32_t i = 0; i < ascgrad_ir_count; i++)
        if (strcmp(ascgrad_ir_table[i].type, op) == 0) c->ir = &ascgrad_ir_table[i];
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (strcmp(functions[i].type, op) != 0) continue;
        c->infer = functions[i].infer;
        c->infer_dtype = functions[i].infer_dtype;
        c->tile = functions[i].tile;
    }
    if (!c->ir || !c->tile) return false;
    c->node = (struct ascgrad_node){.ir = c->ir, .name = "row"};
    for (uint32_t i = 0; i < c->ir->attrs; i++)
        c->node.attr[i] = ascgrad_attr_default(&c->ir->attr[i]);
    c->chip = (struct ascgrad_chip){48, 2201, 196352, 0};
    c->launch.capacity = sizeof c->data;
    return true;
}

static int64_t read_dims(const char *at, int64_t *dim, int64_t most) {
    int64_t n = 0;
    while (*at && *at != ']' && n < most) {
        char *end;
        dim[n++] = strtoll(at, &end, 10);
        if (end == at) return -1;
        at = *end == ',' ? end + 1 : end;
    }
    return n;
}

static bool read_arg(struct ascgrad_arg *arg, struct ascgrad_shape *shape, const char *text,
                     const char *star) {
    char dtype[16];
    size_t n = strcspn(text, "[");
    snprintf(dtype, sizeof dtype, "%.*s", (int)(n < 15 ? n : 15), text);
    if (strcmp(dtype, "*") == 0) snprintf(dtype, sizeof dtype, "%s", star);
    arg->present = true;
    for (arg->dtype = 0; strcmp(ascgrad_dtype_name(arg->dtype), dtype) != 0; arg->dtype++)
        if (arg->dtype == 40) return false;
    if (text[n] != '[') return true; /* no shape */
    int64_t rank = read_dims(text + n + 1, shape->dim, ASCGRAD_MAX_RANK);
    shape->rank = (uint64_t)rank;
    arg->shape = shape;
    return rank >= 0;
}

static bool read_word(struct row_call *c, const char *name, const char *value, const char *star) {
    for (uint32_t i = 0; i < c->ir->inputs; i++)
        if (strcmp(name, c->ir->in[i].name) == 0)
            return read_arg(&c->node.in[i], &c->in[i], value, star);
    for (uint32_t i = 0; i < c->ir->outputs && strncmp(name, "out.", 4) == 0; i++)
        if (strcmp(name + 4, c->ir->out[i].name) == 0)
            return read_arg(&c->node.out[i], &c->out[i], value, star);
    for (uint32_t i = 0; i < c->ir->attrs; i++) {
        if (strcmp(name, c->ir->attr[i].name) != 0) continue;
        bool yes = strcmp(value, "true") == 0, no = strcmp(value, "false") == 0;
        if (c->ir->attr[i].kind == ASCGRAD_ATTR_FLOAT) {
            c->node.attr[i].f = strtof(value, NULL);
            return true;
        }
        if (c->ir->attr[i].kind != ASCGRAD_ATTR_LIST_INT) {
            c->node.attr[i].i = yes;
            return yes || no || read_dims(value, &c->node.attr[i].i, 1) == 1;
        }
        int64_t *list = i == 0 ? c->list : c->second_list, n = read_dims(value, list, LIST_MAX);
        c->node.attr[i].list = list;
        c->node.attr[i].count = n < 0 ? 0 : (size_t)n;
        return n >= 0;
    }
    if (strcmp(name, "cores") == 0)
        c->chip.cores = (uint32_t)strtoul(value, NULL, 10);
    else if (strcmp(name, "ub") == 0)
        c->chip.ub = strtoull(value, NULL, 10);
    else if (strcmp(name, "capacity") == 0)
        c->launch.capacity = strtoull(value, NULL, 10);
    else if (strcmp(name, "rank26") == 0)
        c->in[strtoul(value, NULL, 10)].rank = 26;
    else if (strcmp(name, "ones") == 0) {
        c->node.attr[0].count = strtoul(value, NULL, 10);
        c->node.attr[0].list = c->list;
        for (size_t i = 0; i < c->node.attr[0].count; i++)
            c->list[i] = 1;
    } else if (strcmp(name, "nolist") == 0)
        c->node.attr[0].list = NULL;
    else if (strcmp(name, "nokind") == 0)
        c->node.attr[0].kind = ASCGRAD_ATTR_INT;
    else
        return strcmp(name, "fill") == 0;
    return true;
}

bool row_read(struct row_call *c, const char *op, const char *text, const char *star) {
    bool good = begin(c, op);
    char *copy = strdup(text), *save = NULL;
    for (char *word = strtok_r(copy, " ", &save); good && word; word = strtok_r(NULL, " ", &save)) {
        char *value = strchr(word, '=');
        good = value != NULL;
        if (good) *value = 0, good = read_word(c, word, value + 1, star);
        if (!good) snprintf(c->error.text, sizeof c->error.text, "not a word of a row: %s", word);
    }
    free(copy);
    return good;
}

ascgrad_result row_infer(struct row_call *c) {
    struct ascgrad_shape *out[ASCGRAD_MAX_OUTPUTS];
    int32_t dtype[ASCGRAD_MAX_OUTPUTS] = {0};
    for (uint32_t i = 0; i < ASCGRAD_MAX_OUTPUTS; i++)
        out[i] = &c->out[i];
    c->error.text[0] = 0;
    if (c->infer(&c->node, out, &c->error) != ASCGRAD_DONE ||
        c->infer_dtype(&c->node, dtype, &c->error) != ASCGRAD_DONE)
        return ASCGRAD_REFUSED;
    for (uint32_t i = 0; i < c->ir->outputs; i++)
        c->node.out[i] = (struct ascgrad_arg){true, dtype[i], &c->out[i]};
    return ASCGRAD_DONE;
}

ascgrad_result row_tile(struct row_call *c) {
    c->error.text[0] = 0;
    c->launch.data = c->data;
    c->launch.size = 0;
    return c->tile(&c->node, &c->chip, &c->launch, &c->error);
}

void row_print_outputs(const struct row_call *c, char *text, size_t size) {
    size_t n = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < c->ir->outputs && n < size; i++) {
        struct ascgrad_text shape;
        n += (size_t)snprintf(text + n, size - n, "%s%s=%s%s", i ? " " : "", c->ir->out[i].name,
                              ascgrad_dtype_name(c->node.out[i].dtype),
                              ascgrad_shape_text(&c->out[i], &shape));
    }
}
