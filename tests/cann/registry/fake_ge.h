/* SPDX-License-Identifier: Apache-2.0
 *
 * Plays GE: lays contexts out byte by byte, from the documented offsets and not from ge/layout.h,
 * which is what the tests are to check. Every object is its own allocation of exactly its size, so
 * that a memory checker sees any access beside it. The bytes that the layout leaves open (reserved,
 * padding, behind the rank, slots nobody may read) are zero unless fake_open says otherwise.
 */
#ifndef ASCGRAD_FAKE_GE_H
#define ASCGRAD_FAKE_GE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FAKE_SLOTS = 64, FAKE_BLOCKS = 256 };

struct fake_tensor {
    bool absent;
    int32_t dtype;
    int64_t rank;
    int64_t dim[8];
    int64_t max[8]; /* range inference: upper bounds, dim holds the lower ones */
};

struct fake_attr {
    char kind; /* 'i' int, 'b' bool, 'f' float, 'l' list of int, 'r' list of float */
    int64_t i;
    int64_t list[16];
    uint64_t count;
    float f[16];
    const void *values; /* instead of all these, of any length */
};

struct fake_node {
    const char *type, *name;
    const struct fake_tensor *in, *out;
    uint64_t ir_in, ir_out;
    const struct fake_attr *attr;
    uint64_t attrs;
    bool aclnn; /* as nnopbase's plain route has it: an absent input keeps its place, with no
                   instance, a NULL tensor and a description that nobody wrote */
};

/* KernelExtendInfo: as nnopbase has it, 16 bytes and nothing behind. */
struct fake_kernel {
    const char *name, *type;
};

enum fake_open { FAKE_ZEROS, FAKE_RANDOM, FAKE_AS_MALLOC_GIVES };
extern enum fake_open fake_open;
extern uint64_t fake_seed; /* of FAKE_RANDOM; moves on */

/* One call of GE. `context` is what the library gets; the rest is for the test to look at or to
 * spoil. */
struct fake_ge {
    void *context;
    uint8_t *info;     /* ComputeNodeInfo */
    uint64_t attrs_at; /* offset of the attribute block in info */
    uint8_t *slot[FAKE_SLOTS];
    uint64_t inputs, outputs; /* slots of the context */
    uint64_t n_in, n_out;     /* tensors of the node */
    uint8_t *tensor[FAKE_SLOTS];
    uint8_t *tiling_data, *tiling_buffer, *workspace;
    void *block[FAKE_BLOCKS];
    uint32_t blocks;
};

enum fake_era { FAKE_8_1 = 8, FAKE_2026 = 11 }; /* outputs of a tiling context */

void fake_infer_shape(struct fake_ge *ge, const struct fake_node *node);
void fake_infer_range(struct fake_ge *ge, const struct fake_node *node);
void fake_infer_dtype(struct fake_ge *ge, const struct fake_node *node);
void fake_tiling_parse(struct fake_ge *ge, const struct fake_node *node, const void *platform,
                       const struct fake_kernel *kernel, void *compile_info);
void fake_tiling(struct fake_ge *ge, const struct fake_node *node, enum fake_era era,
                 const void *platform, void *compile_info, uint64_t tiling_capacity);
void fake_end(struct fake_ge *ge);

void put32(void *at, uint64_t offset, uint32_t v);
void put64(void *at, uint64_t offset, uint64_t v);
uint32_t get32(const void *at, uint64_t offset);
uint64_t get64(const void *at, uint64_t offset);

/* Values by which the tests recognise slots that must be left alone. */
#define FAKE_UNTOUCHED 0x5A5A5A5A5A5A5A5Aull

#endif
