/* SPDX-License-Identifier: Apache-2.0
 *
 * The least a call must move through HBM: every input element that takes part read once, every
 * output written once.
 */
#ifndef TWIN_ROOFLINE_H
#define TWIN_ROOFLINE_H

#include "../core/node.h"

/* The node has passed tiling, so shapes and attributes are sound. */
uint64_t twin_min_bytes(const struct ascgrad_node *node);

#endif
