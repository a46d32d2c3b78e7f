/* SPDX-License-Identifier: Apache-2.0
 *
 * Small state a kernel sets or asks for: mask mode, atomics, task type, block index, tiling key and
 * data; and SyncAll.
 */
#include "check.h"

#include <string.h>

static void told(const struct twin_site *site) {
    struct twin_effect effect = {.issued = 0};
    twin_cost_mode(twin_core, site);
    twin_tell(twin_core, site, &effect);
}

void twin_mask_mode(bool counter, const struct twin_site *site) {
    twin_core->counter = counter;
    if (twin_core->checked) told(site);
}

void twin_mask_set(uint64_t high, uint64_t low, uint32_t lanes, const struct twin_site *site) {
    twin_state_set(twin_core, high, low, lanes, site);
    if (twin_core->checked) told(site);
}

void twin_atomic(int type, const struct twin_site *site) {
    if (twin_core->checked) twin_check_910_atomic(type, site);
    twin_core->atomic = type;
}

void twin_task_type(int type) {
    twin_core->task_type = type;
}
uint32_t twin_block_idx(void) {
    return twin_core->index;
}
uint32_t twin_block_num(void) {
    return twin_core->job->launch->block_dim;
}
uint64_t twin_tiling_key(void) {
    return twin_core->job->launch->key;
}
uint32_t twin_arch(void) {
    return twin_core->job->launch->soc->arch;
}
uint64_t twin_user_workspace(void) {
    return (uint64_t)(uintptr_t)twin_core->job->arg[twin_core->job->launch->args];
}

void twin_copy_tiling(void *to, size_t bytes, const struct twin_site *site) {
    const struct twin_launch *l = twin_core->job->launch;
    if (twin_core->checked && bytes != l->tiling_bytes)
        twin_violation(site, "the kernel's tiling struct has %zu bytes, tiling wrote %zu", bytes,
                       l->tiling_bytes);
    memcpy(to, l->tiling, bytes < l->tiling_bytes ? bytes : l->tiling_bytes);
}

static void meet(const struct twin_site *site) {
    if (twin_core->checked)
        twin_sync_checked(twin_core, site);
    else
        twin_sync_fast(twin_core->job);
}

void twin_sync_all(const struct twin_site *site) {
    if (twin_core->checked) twin_check_910_sync(site);
    meet(site);
}

/* The soft SyncAll works in GM and UB memory of its own; here only its demands and its effect
 * matter. */
void twin_sync_all_soft(uint64_t gm, const struct twin_local *ub, int32_t cores,
                        const struct twin_site *site) {
    struct twin_core *c = twin_core;
    if (c->checked) {
        if (!gm) twin_violation(site, "SyncAll without a GM workspace");
        if (ub->bytes < 32u * twin_block_num())
            twin_violation(site, "SyncAll needs 32 bytes of UB per block");
        if (cores && (uint32_t)cores != twin_block_num())
            twin_violation(site, "SyncAll of %d of %u blocks is not modelled", cores,
                           twin_block_num());
        c->task_type = TWIN_TASK_MIX_AIV;
    }
    meet(site);
}
