/* SPDX-License-Identifier: Apache-2.0
 *
 * GE's tiling calls. Input slots with N inputs and M outputs: N input shapes, M output shapes,
 * compile info, platform, then slots that are GE's own. The compile info says who asks (guard.c)
 * and nothing about the chip: a node may be tiled under another platform object than it was parsed
 * with (core limits per node), so the platform is asked in the call itself.
 */
#include "context.h"
#include "../core/verbose.h"
#include "platform.h"

#include <inttypes.h>

/* Output slots. CANN 8.1 has the first eight, later ones more. Slot 2, which asks GE to clear the
 * outputs beforehand, is preset by some callers and left as it is: no kernel of ours relies on it.
 */
enum {
    SLOT_KEY = 0,
    SLOT_BLOCK_DIM = 1,
    SLOT_TILING_DATA = 3,
    SLOT_WORKSPACE = 4,
    SLOT_SCHEDULE_MODE = 6,
};

/* Schedule mode 1: all blocks start together or not at all, without which SyncAll could wait for
 * ever. */
enum { SCHEDULE_ALL_AT_ONCE = 1 };

struct answer_slots {
    struct ge_slot *key, *block_dim, *schedule_mode;
    struct ge_tiling_data *data;
    struct ge_vector *workspace;
};

static void *output_pointer(const struct ge_context *context, uint64_t index) {
    const struct ge_slot *slot = ascgrad_output_slot(context, index);
    return slot ? slot->value.pointer : NULL;
}

/* Everything the answer needs, found before any work is done. */
static ascgrad_result find_slots(const struct ge_context *context, const struct ascgrad_node *node,
                                 struct answer_slots *slots, struct ascgrad_error *error) {
    slots->key = ascgrad_output_slot(context, SLOT_KEY);
    slots->block_dim = ascgrad_output_slot(context, SLOT_BLOCK_DIM);
    slots->schedule_mode = ascgrad_output_slot(context, SLOT_SCHEDULE_MODE);
    slots->data = output_pointer(context, SLOT_TILING_DATA);
    slots->workspace = output_pointer(context, SLOT_WORKSPACE);
    if (!slots->key || !slots->block_dim || !slots->data || !slots->workspace) {
        return ascgrad_refuse(error, node,
                              "GE's tiling context has %" PRIu64
                              " outputs; key, block dim, tiling data or workspace is missing",
                              context->outputs);
    }
    if (!slots->data->data || slots->data->size > slots->data->capacity) {
        return ascgrad_refuse(error, node,
                              "GE's tiling buffer holds %" PRIu64 " of %" PRIu64 " bytes",
                              slots->data->size, slots->data->capacity);
    }
    if (slots->workspace->capacity < 1) {
        return ascgrad_refuse(error, node, "GE has room for %" PRIu64 " workspaces, 1 is needed",
                              slots->workspace->capacity);
    }
    return ASCGRAD_DONE;
}

/* What every tiling must keep to; a breach is our own mistake and must not reach the chip. */
static ascgrad_result check_launch(const struct ascgrad_launch *launch,
                                   const struct ascgrad_chip *chip, const struct ascgrad_node *node,
                                   struct ascgrad_error *error) {
    if (launch->block_dim < 1 || launch->block_dim > chip->cores) {
        return ascgrad_refuse(error, node, "tiling chose %" PRIu32 " blocks on %" PRIu32 " cores",
                              launch->block_dim, chip->cores);
    }
    if (launch->workspace > UINT64_MAX / 2) {
        return ascgrad_refuse(error, node, "tiling asks for %" PRIu64 " bytes of workspace",
                              launch->workspace);
    }
    return ASCGRAD_DONE;
}

static void write_answer(const struct answer_slots *slots, const struct ascgrad_launch *launch,
                         const struct ascgrad_chip *chip) {
    const uint64_t bytes = ascgrad_system_workspace(chip->arch) + launch->workspace;
    slots->key->value.u64 = launch->key;
    slots->block_dim->value.u32 = launch->block_dim;
    slots->data->size += launch->size;
    slots->workspace->size = 1;
    memcpy(slots->workspace + 1, &bytes, sizeof bytes);
    if (launch->sync_all && slots->schedule_mode) {
        slots->schedule_mode->value.u32 = SCHEDULE_ALL_AT_ONCE;
    }
}

/* The line of ASCGRAD_VERBOSE. */
static void tell(const struct ge_context *context, const struct ascgrad_node *node,
                 const struct ascgrad_launch *launch, const struct ascgrad_chip *chip,
                 double begin) {
    const struct ascgrad_ir *ir = node->ir;
    struct ascgrad_line line = {.size = 0};
    ascgrad_line_add(&line, "tiling %s", ir->type);
    for (uint32_t i = 0; i < ir->inputs; i++) {
        if (node->in[i].present) {
            ascgrad_line_arg(&line, ir->in[i].name, &node->in[i]);
        }
    }
    ascgrad_line_add(&line,
                     " -> key %" PRIu64 ", %" PRIu32 " of %" PRIu32 " blocks, workspace %" PRIu64
                     ", %zu bytes, for %s",
                     launch->key, launch->block_dim, chip->cores, launch->workspace, launch->size,
                     ascgrad_asked_by_aclnn(context) ? "aclnn" : "GE");
    ascgrad_line_end(&line, begin);
}

static ascgrad_result tiling(struct ge_context *context, const struct ascgrad_ir *ir,
                             ascgrad_tile_fn *tile, const volatile char *chips,
                             struct ascgrad_error *error) {
    struct ascgrad_node node;
    struct ascgrad_chip chip;
    struct answer_slots slots;
    const double begin = ascgrad_verbose_clock();
    if (ascgrad_read_context(context, ir, ASCGRAD_STORAGE_SHAPES, &node, error) != ASCGRAD_DONE ||
        find_slots(context, &node, &slots, error) != ASCGRAD_DONE) {
        return ASCGRAD_REFUSED;
    }
    const struct ge_slot *slot =
        ascgrad_input_slot(context, context->node->inputs + context->node->outputs + 1);
    void *platform = slot ? slot->value.pointer : NULL;
    if (ascgrad_read_chip(platform, &node, &chip, error) != ASCGRAD_DONE ||
        ascgrad_guard(context, &node, platform, chips, error) != ASCGRAD_DONE) {
        return ASCGRAD_REFUSED;
    }
    struct ascgrad_launch launch = {
        .data = (char *)slots.data->data + slots.data->size,
        .capacity = slots.data->capacity - slots.data->size,
    };
    if (tile(&node, &chip, &launch, error) != ASCGRAD_DONE ||
        check_launch(&launch, &chip, &node, error) != ASCGRAD_DONE) {
        return ASCGRAD_REFUSED;
    }
    write_answer(&slots, &launch, &chip);
    if (begin > 0) {
        tell(context, &node, &launch, &chip, begin);
    }
    return ASCGRAD_DONE;
}

uint32_t ascgrad_ge_tiling(struct ge_context *context, const struct ascgrad_ir *ir,
                           ascgrad_tile_fn *tile, const volatile char *chips) {
    struct ascgrad_error error;
    return tiling(context, ir, tile, chips, &error) == ASCGRAD_DONE ? GE_SUCCESS
                                                                    : ascgrad_ge_fail(&error);
}
