/* SPDX-License-Identifier: Apache-2.0
 *
 * Contexts of GE with any of their numbers changed, through the bridge into the real operators:
 * counts, instances, descriptions, attribute blocks, ranks and dimensions. Pointers and the sizes
 * of GE's own blocks are what they say; anything else may be wrong, and must end in an answer or a
 * refusal.
 *
 * Input: byte 0 operator, byte 1 call, then 4-byte changes: place, offset, offset, value.
 */
#include <stdlib.h>
#include <string.h>

#include "../../ge/probes.h"
#include "../../functions.h"

enum {
    SLACK = 1 << 16
}; /* bytes behind the node information, so that a smaller or larger attribute block stays inside */

static uint8_t *info_copy;
static const volatile char no_chips[ASCGRAD_CHIPS];

/* ComputeNodeInfo with room behind it. */
static void widen_info(struct fake_ge *ge, const struct fake_node *node) {
    size_t size = ge->attrs_at + get64(ge->info, 48) + 48 * node->ir_out;
    free(info_copy);
    info_copy = calloc(1, size + SLACK);
    memcpy(info_copy, ge->info, size);
    memcpy((uint8_t *)ge->context + 16, &info_copy, sizeof info_copy);
}

static void change_shape(struct fake_ge *ge, unsigned slot, unsigned at, int8_t value, bool range) {
    if (slot >= ge->n_in + ge->n_out) return;
    uint8_t *p = (uint8_t *)(uintptr_t)get64(ge->slot[slot], 0);
    if (range && p) p = (uint8_t *)(uintptr_t)get64(p, at & 64 ? 8 : 0);
    static const int64_t odd[] = {INT64_MAX, INT64_MIN, 1ll << 40, 1ll << 31, 26, 25, -2, -1};
    int64_t v = value < -100 ? odd[(unsigned)(value + 128) % 8] : value;
    for (int part = 0; p && part < (range ? 1 : 2); part++)
        put64(p + 248 * part, 8 * (at % 26), (uint64_t)v);
}

static void change(struct fake_ge *ge, const struct fake_node *node, int call, const uint8_t *c) {
    unsigned offset = c[1] | c[2] << 8;
    size_t end = ge->attrs_at + get64(ge->info, 48) + 48 * node->ir_out;
    switch (c[0] % 4) {
    case 0: /* a byte of instances, descriptions, attributes */
        info_copy[80 + offset % (end - 80)] = c[3];
        break;
    case 1: { /* one of the counts; the attribute block stays inside our allocation */
        unsigned field = offset % 5;
        if (call == 3 && (field == 1 || field == 2))
            break; /* these say which slot is the platform, a pointer */
        uint64_t v = field == 4 ? c[3] * 64u + (offset >> 8) : c[3] == 255 ? UINT64_MAX : c[3];
        put64(info_copy, 16 + 8 * field, v);
        break;
    }
    case 2:
        change_shape(ge, c[1], c[2], (int8_t)c[3], call == 2);
        break;
    default: /* eight bytes of the attribute block */
        put64(info_copy, ge->attrs_at + offset % 256, (uint64_t)(int64_t)(int8_t)c[3]);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct fake_node *const nodes[] = {&mul_node, &rpe_node, &rope_node, &norm_node,
                                                    &exp_node};
    static bool begun;
    if (!begun) make_norm(NULL), begun = true;
    if (size < 2) return 0;
    size_t op = data[0] % 5;
    int call = data[1] % 4;
    const struct fake_node *node = nodes[op];
    const struct ascgrad_ir *ir = ir_of(node->type);
    for (op = 0; strcmp(functions[op].type, node->type) != 0;)
        op++;
    struct fake_ge ge;
    if (call == 0) fake_infer_shape(&ge, node);
    if (call == 1) fake_infer_dtype(&ge, node);
    if (call == 2) fake_infer_range(&ge, node);
    if (call == 3)
        fake_tiling(&ge, node, data[1] & 4 ? FAKE_8_1 : FAKE_2026, chip_8_1, ge_compile_info(),
                    16384);
    widen_info(&ge, node);
    for (size_t i = 2; i + 4 <= size && i < 130; i += 4)
        if (call != 1 || data[i] % 4 != 2) change(&ge, node, call, data + i);
    logged[0] = 0;
    uint32_t status = GE_FAILED;
    if (call == 0) status = ascgrad_ge_infer_shape(ge.context, ir, functions[op].infer);
    if (call == 1) status = ascgrad_ge_infer_dtype(ge.context, ir, functions[op].infer_dtype);
    if (call == 2) status = ascgrad_ge_infer_shape_range(ge.context, ir, functions[op].infer);
    if (call == 3) status = ascgrad_ge_tiling(ge.context, ir, functions[op].tile, no_chips);
    if (status == GE_FAILED ? !logged[0] : logged[0] != 0)
        abort(); /* a refusal is told, an answer is silent */
    fake_end(&ge);
    return 0;
}
