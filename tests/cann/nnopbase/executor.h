/* SPDX-License-Identifier: Apache-2.0
 *
 * An executor: what a function has told of a call (executor.c), and what is to be launched for it
 * (run.c).
 */
#ifndef ASCGRAD_STANDIN_EXECUTOR_H
#define ASCGRAD_STANDIN_EXECUTOR_H

#include "copies.h"

#include <pthread.h>

#define STANDIN_EXECUTOR 0x5e1f5e1f00000002ull

struct attribute {
    const void *at;
    size_t size;
    size_t element; /* 0: not a list */
    enum nnopbase_attr kind;
};

struct executor {
    uint64_t magic;
    struct space *space;
    struct executor *next;
    bool taken, repeatable, optional;
    bool cached; /* the launch may come from the cache, and go there */
    char type[64];
    uint32_t inputs, outputs, attrs;
    char required[STANDIN_ARGS]; /* inputs */
    bool has_in[STANDIN_ARGS], has_out[STANDIN_ARGS];
    aclTensor in[STANDIN_ARGS], out[STANDIN_ARGS];
    struct attribute attr[STANDIN_ATTRS];
    size_t first_size; /* of the attributes */
    aclTensorList gaps;
    const aclTensor *gap[STANDIN_ARGS];
    uint32_t gap_index[STANDIN_ARGS];
    struct standin_copies *copies; /* gone once it has run, unless repeatable */
    uint64_t copy_offset[STANDIN_ARGS];
    size_t copies_size;
    bool prepared, empty;
    struct standin_launch launch;
    void *tiling;
};

struct space {
    pthread_mutex_t lock;
    struct executor *first;
    struct cached *cache;
};

/* Puts a prepared launch into the cache (cache.c). */
void standin_remember(const struct executor *e);

/* Makes an executor free for the next call. */
void standin_give_back(struct executor *e);

#endif
