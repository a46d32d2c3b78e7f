/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_ge.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void put32(void *at, uint64_t offset, uint32_t v) {
    memcpy((uint8_t *)at + offset, &v, sizeof v);
}

void put64(void *at, uint64_t offset, uint64_t v) {
    memcpy((uint8_t *)at + offset, &v, sizeof v);
}

uint32_t get32(const void *at, uint64_t offset) {
    uint32_t v;
    memcpy(&v, (const uint8_t *)at + offset, sizeof v);
    return v;
}

uint64_t get64(const void *at, uint64_t offset) {
    uint64_t v;
    memcpy(&v, (const uint8_t *)at + offset, sizeof v);
    return v;
}

static void put_pointer(void *at, uint64_t offset, const void *p) {
    put64(at, offset, (uint64_t)(uintptr_t)p);
}

enum fake_open fake_open = FAKE_ZEROS;
uint64_t fake_seed;

static uint64_t next_random(void) {
    uint64_t z = fake_seed += 0x9E3779B97F4A7C15ull; /* splitmix64 */
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
}

/* A block of which all bytes are open. */
static void *block(struct fake_ge *ge, size_t size) {
    assert(ge->blocks < FAKE_BLOCKS);
    uint8_t *p = fake_open == FAKE_ZEROS ? calloc(1, size) : malloc(size);
    assert(p);
    for (size_t i = 0; fake_open == FAKE_RANDOM && i < size; i += 8) {
        const uint64_t r = next_random();
        memcpy(p + i, &r, size - i < 8 ? size - i : 8);
    }
    ge->block[ge->blocks++] = p;
    return p;
}

void fake_end(struct fake_ge *ge) {
    for (uint32_t i = 0; i < ge->blocks; i++) {
        free(ge->block[i]);
    }
    memset(ge, 0, sizeof *ge);
}

/* Shape: 248 bytes, rank at 0, dims at 8. */
static void put_shape(uint8_t *at, const int64_t *dim, int64_t rank) {
    put64(at, 0, (uint64_t)rank);
    for (int64_t i = 0; i < rank && i < 8; i++) {
        put64(at, 8 + 8 * (uint64_t)i, (uint64_t)dim[i]);
    }
}

/* Tensor: 752 bytes, StorageShape first: origin at 0, storage at 248. Its dtype at 636 is wrong on
 * purpose: in a tiling context nobody may look there. */
static uint8_t *tensor(struct fake_ge *ge, const int64_t *dim, int64_t rank) {
    uint8_t *t = block(ge, 752);
    put_shape(t, dim, rank);
    put_shape(t + 248, dim, rank);
    put32(t, 636, 99);
    return t;
}

/* Attribute block: count at 0, offsets at 48; the values behind are packed with no alignment at
 * all. */
static uint64_t put_attrs(uint8_t *at, const struct fake_node *node) {
    uint64_t end = 48 + 8 * node->attrs + 3; /* 3: the first value is off balance already */
    for (uint64_t a = 0; a < node->attrs; a++) {
        const struct fake_attr *attr = &node->attr[a];
        const bool list = attr->kind == 'l' || attr->kind == 'r', real = strchr("fr", attr->kind);
        const uint64_t each = attr->kind == 'b' ? 1 : real ? 4 : 8;
        const void *value = attr->values ? attr->values
                            : real       ? (const void *)attr->f
                            : list       ? attr->list
                                         : &attr->i;
        uint64_t size = list ? 56 + each * attr->count : each;
        if (at) {
            put64(at, 48 + 8 * a, end);
            if (list) {
                put64(at, end, attr->count);
                put64(at, end + 8, attr->count);
                memcpy(at + end + 56, value, each * attr->count);
            } else {
                memcpy(at + end, value, each);
            }
        }
        end += size;
    }
    if (at) {
        put64(at, 0, node->attrs);
    }
    return end;
}

static bool takes_place(const struct fake_node *node, uint64_t input) {
    return node->aclnn || !node->in[input].absent;
}

/* CompileTimeTensorDesc: dtype at 0, formats at 8 and 12; 2 is ND. */
static void put_desc(uint8_t *at, const struct fake_tensor *tensor) {
    put32(at, 0, (uint32_t)tensor->dtype);
    put32(at, 8, 2);
    put32(at, 12, 2);
}

/* ComputeNodeInfo: 80 bytes, then instances of the IR inputs (48 each), descriptions of the tensors
 * (144 each), attributes, instances of the IR outputs. */
static void make_info(struct fake_ge *ge, const struct fake_node *node) {
    ge->n_in = ge->n_out = 0;
    for (uint64_t i = 0; i < node->ir_in; i++) {
        ge->n_in += takes_place(node, i);
    }
    for (uint64_t o = 0; o < node->ir_out; o++) {
        ge->n_out += !node->out[o].absent;
    }
    const uint64_t attrs_size = put_attrs(NULL, node);
    ge->attrs_at = 80 + 48 * node->ir_in + 144 * (ge->n_in + ge->n_out);
    uint8_t *info = block(ge, ge->attrs_at + attrs_size + 48 * node->ir_out);
    ge->info = info;
    put_pointer(info, 0, node->type);
    put_pointer(info, 8, node->name);
    put64(info, 16, node->ir_in);
    put64(info, 24, ge->n_in);
    put64(info, 32, ge->n_out);
    put64(info, 40, node->ir_out);
    put64(info, 48, attrs_size);
    put_attrs(info + ge->attrs_at, node);
    uint32_t instance = 0;
    for (uint64_t i = 0; i < node->ir_in; i++) {
        put32(info, 80 + 48 * i, instance);
        put32(info, 80 + 48 * i + 4, !node->in[i].absent);
        if (!node->in[i].absent) {
            put_desc(info + 80 + 48 * node->ir_in + 144 * instance, &node->in[i]);
        }
        instance += takes_place(node, i);
    }
    const uint64_t out_desc = 80 + 48 * node->ir_in + 144 * ge->n_in;
    uint8_t *out_instances = info + ge->attrs_at + attrs_size;
    instance = 0;
    for (uint64_t o = 0; o < node->ir_out; o++) {
        put32(out_instances, 48 * o, instance);
        put32(out_instances, 48 * o + 4, !node->out[o].absent);
        if (!node->out[o].absent) {
            put_desc(info + out_desc + 144 * instance, &node->out[o]);
            instance++;
        }
    }
}

/* KernelRunContext: 40 bytes and a pointer per slot. Slots: 16 bytes each, those of the outputs
 * with the untouched value. */
static void make_context(struct fake_ge *ge, uint64_t inputs, uint64_t outputs) {
    uint8_t *context = block(ge, 40 + 8 * (inputs + outputs));
    ge->context = context;
    ge->inputs = inputs;
    ge->outputs = outputs;
    put64(context, 0, inputs);
    put64(context, 8, outputs);
    put_pointer(context, 16, ge->info);
    put_pointer(context, 32, context + 40 + 8 * inputs);
    for (uint64_t s = 0; s < inputs + outputs; s++) {
        ge->slot[s] = block(ge, 16);
        if (s >= inputs && fake_open == FAKE_ZEROS) {
            put64(ge->slot[s], 0, FAKE_UNTOUCHED);
        }
        put_pointer(context, 40 + 8 * s, ge->slot[s]);
    }
}

void fake_infer_shape(struct fake_ge *ge, const struct fake_node *node) {
    memset(ge, 0, sizeof *ge);
    make_info(ge, node);
    make_context(ge, ge->n_in + 2, ge->n_out);
    uint64_t s = 0;
    for (uint64_t i = 0; i < node->ir_in; i++) {
        if (!node->in[i].absent) {
            put_pointer(ge->slot[s++], 0, tensor(ge, node->in[i].dim, node->in[i].rank));
        }
    }
    for (uint64_t o = 0; o < ge->n_out; o++) {
        ge->tensor[o] = block(ge, 752);
        put_pointer(ge->slot[ge->inputs + o], 0, ge->tensor[o]);
    }
}

/* Range: 56 bytes, min at 0, max at 8. */
void fake_infer_range(struct fake_ge *ge, const struct fake_node *node) {
    memset(ge, 0, sizeof *ge);
    make_info(ge, node);
    make_context(ge, ge->n_in + 2, ge->n_out);
    uint64_t s = 0;
    for (uint64_t i = 0; i < node->ir_in; i++) {
        const struct fake_tensor *t = &node->in[i];
        if (!t->absent) {
            uint8_t *range = block(ge, 56);
            put_pointer(range, 0, tensor(ge, t->dim, t->rank));
            put_pointer(range, 8, tensor(ge, t->max, t->rank));
            put_pointer(ge->slot[s++], 0, range);
        }
    }
    for (uint64_t o = 0; o < ge->n_out; o++) {
        uint8_t *range = block(ge, 56);
        ge->tensor[2 * o] = block(ge, 248);
        ge->tensor[2 * o + 1] = block(ge, 248);
        put_pointer(range, 0, ge->tensor[2 * o]);
        put_pointer(range, 8, ge->tensor[2 * o + 1]);
        put_pointer(ge->slot[ge->inputs + o], 0, range);
    }
}

void fake_infer_dtype(struct fake_ge *ge, const struct fake_node *node) {
    memset(ge, 0, sizeof *ge);
    make_info(ge, node);
    make_context(ge, ge->n_in, ge->n_out);
    uint64_t s = 0;
    for (uint64_t i = 0; i < node->ir_in; i++) {
        if (!node->in[i].absent) {
            put32(ge->slot[s++], 0, (uint32_t)node->in[i].dtype);
        }
    }
}

void fake_tiling_parse(struct fake_ge *ge, const struct fake_node *node, const void *platform,
                       const struct fake_kernel *kernel, void *compile_info) {
    memset(ge, 0, sizeof *ge);
    make_info(ge, node);
    make_context(ge, 3, 1);
    put_pointer(ge->slot[0], 0, "{}");
    put_pointer(ge->slot[1], 0, platform);
    put_pointer(ge->slot[2], 0, node->type);
    put_pointer(ge->slot[3], 0, compile_info);
    put_pointer(ge->context, 24, NULL);
    if (kernel) {
        uint8_t *extend = block(ge, 16);
        put_pointer(extend, 0, kernel->name);
        put_pointer(extend, 8, kernel->type);
        put_pointer(ge->context, 24, extend);
    }
}

void fake_tiling(struct fake_ge *ge, const struct fake_node *node, enum fake_era era,
                 const void *platform, void *compile_info, uint64_t tiling_capacity) {
    memset(ge, 0, sizeof *ge);
    make_info(ge, node);
    /* shapes, compile info, platform, framework, deterministic; 2026 has a level behind that */
    make_context(ge, ge->n_in + ge->n_out + (era == FAKE_2026 ? 5 : 4), (uint64_t)era);
    uint64_t s = 0;
    for (uint64_t i = 0; i < node->ir_in; i++) {
        if (!node->in[i].absent) {
            /* StorageShape only, 536 bytes: there is no Tensor behind it */
            uint8_t *shape = block(ge, 536);
            put_shape(shape, node->in[i].dim, node->in[i].rank);
            put_shape(shape + 248, node->in[i].dim, node->in[i].rank);
            ge->tensor[s] = shape;
        }
        if (takes_place(node, i)) {
            put_pointer(ge->slot[s], 0, ge->tensor[s]);
            s++;
        }
    }
    for (uint64_t o = 0; o < node->ir_out; o++) {
        if (!node->out[o].absent) {
            ge->tensor[s] = tensor(ge, node->out[o].dim, node->out[o].rank);
            put_pointer(ge->slot[s], 0, ge->tensor[s]);
            s++;
        }
    }
    put_pointer(ge->slot[s], 0, compile_info);
    put_pointer(ge->slot[s + 1], 0, platform);
    const size_t room = tiling_capacity ? tiling_capacity : 1;
    ge->tiling_buffer = block(ge, room);
    memset(ge->tiling_buffer, 0xEE, room);
    ge->tiling_data = block(ge, 64);
    put64(ge->tiling_data, 0, tiling_capacity);
    put64(ge->tiling_data, 8, 0);
    put_pointer(ge->tiling_data, 16, ge->tiling_buffer);
    ge->workspace = block(ge, 56 + 8 * 8);
    put64(ge->workspace, 0, 8);
    put_pointer(ge->slot[ge->inputs + 3], 0, ge->tiling_data);
    put_pointer(ge->slot[ge->inputs + 4], 0, ge->workspace);
}
