/* SPDX-License-Identifier: Apache-2.0 */
#include "request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int32_t dtype;
    int size;
} dtypes[] = {
    {"fp32", ASCGRAD_TYPE_FP32, 4},
    {"fp16", ASCGRAD_TYPE_FP16, 2},
    {"bf16", ASCGRAD_TYPE_BF16, 2},
};

const char *text_dtype(int32_t dtype) {
    for (int i = 0; i < 3; i++)
        if (dtypes[i].dtype == dtype) return dtypes[i].name;
    return "?";
}

int64_t text_tensor_elements(const struct ascgrad_tensor *tensor) {
    int64_t n = 1;
    for (int i = 0; i < tensor->rank; i++)
        if (tensor->dim[i] < 0 || __builtin_mul_overflow(n, tensor->dim[i], &n)) return -1;
    return n;
}

int64_t text_tensor_bytes(const struct ascgrad_tensor *tensor) {
    int64_t n = text_tensor_elements(tensor);
    for (int i = 0; i < 3; i++)
        if (dtypes[i].dtype == tensor->dtype)
            return n < 0 || __builtin_mul_overflow(n, (int64_t)dtypes[i].size, &n) ? -1 : n;
    return -1;
}

bool text_parse_spec(const char *text, struct ascgrad_tensor *tensor) {
    memset(tensor, 0, sizeof *tensor);
    for (int i = 0; i < 3; i++) {
        if (strncmp(text, dtypes[i].name, 4) != 0 || text[4] != '[') continue;
        tensor->dtype = dtypes[i].dtype;
        const char *at = text + 5;
        if (strcmp(at, "]") == 0) return true;
        for (;;) {
            char *end;
            errno = 0;
            long long dim = strtoll(at, &end, 10);
            if (end == at || errno || dim < -2 || tensor->rank == ASCGRAD_RANK_MAX) return false;
            tensor->dim[tensor->rank++] = dim;
            if (strcmp(end, "]") == 0) return true;
            if (*end != ',') return false;
            at = end + 1;
        }
    }
    return false;
}

void text_print_dims(char *out, size_t size, const struct ascgrad_tensor *tensor) {
    size_t n = 0;
    out[0] = 0;
    for (int i = 0; i < tensor->rank && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%lld", i ? "," : "", (long long)tensor->dim[i]);
}

bool request_begin(struct request *r, const char *op) {
    memset(r, 0, sizeof *r);
    for (uint32_t i = 0; ascgrad_describe(i, &r->op); i++) {
        if (strcmp(r->op.type, op) != 0 && strcmp(r->op.kernel, op) != 0) continue;
        r->number = i;
        for (int k = 0; k < ASCGRAD_INPUTS_MAX; k++)
            r->in[k].rank = -1;
        request_free_outputs(r);
        return true;
    }
    return false;
}

void request_free_outputs(struct request *r) {
    for (int i = 0; i < ASCGRAD_OUTPUTS_MAX; i++) {
        free(r->out[i].data);
        r->out[i].data = NULL;
        r->out[i].rank = -1;
    }
}

void request_free(struct request *r) {
    for (int i = 0; i < ASCGRAD_INPUTS_MAX; i++)
        free(r->in[i].data);
    request_free_outputs(r);
    for (int i = 0; i < ASCGRAD_ATTRS_MAX; i++)
        free(r->list[i]);
    memset(r, 0, sizeof *r);
}

static void *make_output(void *context, uint32_t output, size_t bytes) {
    (void)context;
    (void)output;
    return calloc(1, bytes);
}

struct ascgrad_call request_call(struct request *r) {
    return (struct ascgrad_call){
        .size = sizeof(struct ascgrad_call),
        .number = r->number,
        .in = r->in,
        .inputs = r->op.inputs,
        .out = r->out,
        .outputs = r->op.outputs,
        .attr = r->attr,
        .attrs = r->op.attrs,
        .soc = r->soc,
        .cores = r->cores,
        .fast = r->fast,
        .trace = r->trace,
        .watch = r->watch,
        .allocate = make_output,
    };
}

static int find_arg(const struct ascgrad_arg_info *args, uint32_t n, const char *name) {
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(args[i].name, name) == 0) return (int)i;
    return -1;
}

int request_input(const struct request *r, const char *name) {
    return find_arg(r->op.in, r->op.inputs, name);
}

int request_output(const struct request *r, const char *name) {
    return find_arg(r->op.out, r->op.outputs, name);
}

const char *text_print_float(float value, struct text_float *buffer) {
    for (int digits = 1; digits <= 9; digits++) {
        snprintf(buffer->s, sizeof buffer->s, "%.*g", digits, (double)value);
        if (strtof(buffer->s, NULL) == value) break;
    }
    return buffer->s;
}

/* One number at text; where it ends, or NULL. A float underflows to what strtof makes of it. */
static const char *parse_number(const char *text, bool real, void *to) {
    char *end;
    errno = 0;
    float f = real ? strtof(text, &end) : 0;
    int64_t i = real ? 0 : strtoll(text, &end, 10);
    if (end == text || (errno && !(real && f < 1 && f > -1))) return NULL;
    memcpy(to, real ? (const void *)&f : (const void *)&i, real ? sizeof f : sizeof i);
    return end;
}

/* "5,7,9" or "" -> list; false if a piece is not a number. */
static bool parse_list(const char *text, bool real, void **list, size_t *count) {
    size_t n = 1, each = real ? sizeof(float) : sizeof(int64_t);
    for (const char *c = text; *c; c++)
        n += *c == ',';
    char *values = malloc(n * each);
    if (!values) return false;
    *count = 0;
    while (*text) {
        const char *end = parse_number(text, real, values + *count * each);
        if (!end || (*end && *end != ',') || (*end == ',' && !end[1])) {
            free(values);
            return false;
        }
        ++*count;
        text = *end ? end + 1 : end;
    }
    *list = values;
    return true;
}

static bool parse_bool(const char *text, int64_t *value) {
    *value = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
    return *value || strcmp(text, "false") == 0 || strcmp(text, "0") == 0;
}

/* "int", "bool", "float", "listInt" or "listFloat" */
static bool parse_value(const char *type, const char *text, struct ascgrad_setting *s,
                        void **list) {
    bool real = strstr(type, "loat") != NULL;
    if (strncmp(type, "list", 4) == 0) {
        if (!parse_list(text, real, list, &s->count)) return false;
        s->list = *list;
        return true;
    }
    if (strcmp(type, "bool") == 0) return parse_bool(text, &s->value);
    const char *end = parse_number(text, real, real ? (void *)&s->real : (void *)&s->value);
    return end && !*end;
}

bool request_attr(struct request *r, const char *text, char why[ASCGRAD_WHY]) {
    for (uint32_t i = 0; i < r->op.attrs; i++) {
        const struct ascgrad_attr_info *a = &r->op.attr[i];
        size_t n = strlen(a->name);
        if (strncmp(text, a->name, n) != 0 || text[n] != '=') continue;
        struct ascgrad_setting *s = &r->attr[i];
        if (s->set) {
            snprintf(why, ASCGRAD_WHY, "attribute %s is given twice", a->name);
            return false;
        }
        s->set = parse_value(a->type, text + n + 1, s, &r->list[i]);
        if (!s->set)
            snprintf(why, ASCGRAD_WHY, "attribute %s is of type %s, '%s' is not", a->name, a->type,
                     text + n + 1);
        return s->set;
    }
    int n = snprintf(why, ASCGRAD_WHY, "%s has no attribute '%.*s'; it has", r->op.type,
                     (int)strcspn(text, "="), text);
    for (uint32_t i = 0; i < r->op.attrs && n > 0 && n < ASCGRAD_WHY; i++)
        n +=
            snprintf(why + n, (size_t)(ASCGRAD_WHY - n), "%s %s", i ? "," : "", r->op.attr[i].name);
    if (!r->op.attrs && n < ASCGRAD_WHY) snprintf(why + n, (size_t)(ASCGRAD_WHY - n), " none");
    return false;
}
