/* SPDX-License-Identifier: Apache-2.0
 *
 * Recorded graphs as text, one word-separated line per node:
 *
 *   input  NAME fp32[2,8]                  what is fed
 *   const  NAME int64[2] 0,8               integers
 *   zeros  NAME fp32[2,4]                  a constant of zeros
 *   node   NAME TYPE out=fp32[2,4] [out=..] [in=a,b:1,-] [NAME=1,2 ..] [after=a]
 *   output NAME[:PORT] ..                  what is wanted
 *   expect nothing
 *   expect mode=0 dx=a dy=b cos=c sin=d [x=e] [dcos=f] [dsin=g]     cos=c/halves, c/pairs
 *
 * Inputs are in the order of the IR, a dynamic one's members in their places; '-' is an optional
 * input that is not connected. A node may read only what stands above it.
 */
#ifndef ASCGRAD_TESTS_FUSION_TEXT_H
#define ASCGRAD_TESTS_FUSION_TEXT_H

#include "../../fusion/match.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TEXT_MATCHES = 8 };

struct recorded {
    struct fusion_graph *graph;
    struct fusion_match expect[TEXT_MATCHES];
    int32_t expected;
    bool said; /* there is an expect line */
};

/* Says on stderr what is wrong with the file and returns false. */
bool read_recorded(const char *path, struct recorded *recorded);
void free_recorded(struct recorded *recorded);

/* The tensor "NAME" or "NAME:PORT", or FUSION_ABSENT. */
int32_t find_tensor(const struct fusion_graph *graph, const char *word);

#ifdef __cplusplus
}
#endif
#endif
