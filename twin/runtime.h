/* SPDX-License-Identifier: Apache-2.0
 *
 * What the Ascend C headers of the twin call. The templates check types, fill one of these plain
 * structures and call one function of the fast or the checked half. Both halves move and compute
 * through the same code; the checked half checks and records first.
 */
#ifndef TWIN_RUNTIME_H
#define TWIN_RUNTIME_H

#include "prims.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where in the kernel source a call stands. NULL in the fast build. */
struct twin_site {
    const char *call; /* "Add" */
    const char *file;
    int line;
};

/* The numbers of AscendC::TPosition that a vector core has. */
enum { TWIN_GM = 0, TWIN_VECIN = 9, TWIN_VECOUT = 10, TWIN_VECCALC = 11 };

/* A piece of UB. at is NULL in a LocalTensor that was never given a buffer. */
struct twin_local {
    uint8_t *at;
    uint32_t bytes;
    uint16_t buffer; /* index of the buffer it came from */
    uint8_t position;
    uint8_t stale; /* generation of the buffer when the tensor was handed out, modulo 256 */
};

/* A vector operand with its strides in 32-byte blocks. */
struct twin_operand {
    struct twin_local t;
    uint32_t block_stride, repeat_stride;
};

/* Which lanes work. counter: mask[0] elements in all and the repeats follow from it; else mask[] is
 * the bit mask of every repeat. current: take mask and mode from the registers, as isSetMask ==
 * false does. */
struct twin_lanes {
    bool counter, current;
    uint64_t mask[2];
    int64_t repeat;
    bool bits; /* the mask was given bit by bit, not as a number of lanes */
};

/* An instruction that works element by element: dst[i] = f(src0[i], src1[i], scalar). */
struct twin_elementwise {
    enum twin_prim_id prim;
    struct twin_lanes lanes;
    union twin_scalar scalar;
    struct twin_operand dst, src[2];
    bool bad_field; /* a stride or repeat did not fit its field */
    int64_t bad_value;
};

/* Count form, contiguous operands. */
void twin_count_fast(enum twin_prim_id prim, void *dst, const void *a, const void *b, int64_t n,
                     union twin_scalar s);
void twin_elementwise_fast(const struct twin_elementwise *v);
void twin_elementwise_checked(const struct twin_elementwise *v, const struct twin_site *site);

enum twin_reduce_kind { TWIN_WHOLE, TWIN_BLOCK, TWIN_PAIR };
enum twin_reduce_op { TWIN_SUM, TWIN_MAX, TWIN_MIN };

struct twin_reduce {
    enum twin_reduce_kind kind;
    enum twin_reduce_op op;
    uint8_t size;  /* 2: fp16, 4: fp32 */
    uint8_t order; /* AscendC::ReduceOrder of the whole max and min */
    struct twin_lanes lanes;
    struct twin_operand dst, src; /* dst.repeat_stride in results of one repeat */
    bool bad_field;
    int64_t bad_value;
};

void twin_reduce_fast(const struct twin_reduce *v);
void twin_reduce_checked(const struct twin_reduce *v, const struct twin_site *site);

enum twin_shuffle_kind {
    TWIN_GATHER,      /* src[0] data, src[1] byte offsets, base added */
    TWIN_GATHERB,     /* src[0] data, src[1] byte offsets of 32-byte blocks */
    TWIN_GATHER_MASK, /* src[0] data, src[1] mask bits or pattern */
    TWIN_BRCB,
    TWIN_TRANSPOSE, /* 16 x 16 of 2 bytes */
    TWIN_TO_5HD,
    TWIN_COMPARE,
    TWIN_SELECT,
};

struct twin_shuffle {
    enum twin_shuffle_kind kind;
    uint8_t size;    /* bytes of an element */
    uint8_t pattern; /* GatherMask: 1..7, or 0 for mask bits in src[1] */
    uint8_t mode;    /* CMPMODE or SELMODE; RoundMode is never used here */
    uint8_t type;    /* Compare, Select: 0 fp16, 1 fp32, 2 int32 */
    bool scalar_src1, reduce_mode, high_dst, high_src;
    uint32_t base;
    union twin_scalar scalar;
    struct twin_lanes lanes;
    struct twin_operand dst, src[3];
    const struct twin_local *dst_list, *src_list; /* TransDataTo5HD: 16 each */
    uint64_t kept;                                /* GatherMask: elements written */
    bool bad_field;
    int64_t bad_value;
};

void twin_shuffle_fast(struct twin_shuffle *v);
void twin_shuffle_checked(struct twin_shuffle *v, const struct twin_site *site);

enum twin_dma_kind {
    TWIN_LOAD,
    TWIN_STORE,
    TWIN_MOVE
}; /* GM to UB, UB to GM, UB to UB on the vector pipe */

struct twin_dma {
    enum twin_dma_kind kind;
    struct twin_local ub, ub2; /* ub2: source of a move */
    uint64_t gm, gm_bytes;     /* address; size given to SetGlobalBuffer, 0 if none */
    bool pad;                  /* DataCopyPad */
    bool is_pad;               /* fill left and right with value */
    uint8_t size;              /* bytes of an element */
    uint8_t left, right;       /* elements */
    uint8_t value[8];
    uint64_t blocks, length;         /* length in bytes */
    int64_t gm_gap, ub_gap, ub2_gap; /* end to start, bytes */
    uint64_t cut;                    /* bytes that the count form rounds away */
    uint8_t type; /* for atomics: 0 fp16, 1 fp32, 2 int32, 3 int16, 4 int8, 5 bf16 */
    bool bad_field;
    int64_t bad_value;
};

void twin_dma_fast(const struct twin_dma *v);
void twin_dma_checked(const struct twin_dma *v, const struct twin_site *site);

/* Scalar access. */
void twin_local_get(const struct twin_local *t, uint32_t index, uint32_t size, void *value,
                    const struct twin_site *);
void twin_local_set(const struct twin_local *t, uint32_t index, uint32_t size, const void *value,
                    const struct twin_site *);
void twin_global_get(uint64_t address, uint32_t size, void *value, const struct twin_site *);
void twin_global_set(uint64_t address, uint32_t size, const void *value, const struct twin_site *);
void twin_cache_clean(uint64_t address, bool entire, const struct twin_site *);

/* Buffers, queues, events. Queue and buffer numbers are those of the core, in order of InitBuffer.
 */
uint16_t twin_init_buffer(uint8_t position, uint32_t count, uint64_t bytes, bool queue,
                          uint32_t depth, uint8_t enque_event, uint8_t free_event,
                          const struct twin_site *);
struct twin_local twin_buf_get(uint16_t first, uint32_t offset, uint32_t bytes,
                               const struct twin_site *);
struct twin_local twin_que_alloc(uint16_t que, const struct twin_site *);
void twin_que_push(uint16_t que, const struct twin_local *t, const struct twin_site *);
struct twin_local twin_que_pop(uint16_t que, const struct twin_site *);
void twin_que_free(uint16_t que, const struct twin_local *t, const struct twin_site *);
uint32_t twin_que_count(uint16_t que, int what); /* 0: in queue, 1: idle buffers */
void twin_pipe_reset(const struct twin_site *);
void twin_pipe_init(const struct twin_site *);
void twin_pipe_end(const struct twin_site *);

int32_t twin_event_alloc(uint8_t event, bool keep,
                         const struct twin_site *); /* keep: AllocEventID, else Fetch */
void twin_event_release(uint8_t event, int32_t id, const struct twin_site *);
void twin_flag_set(uint8_t event, int32_t id, const struct twin_site *);
void twin_flag_wait(uint8_t event, int32_t id, const struct twin_site *);
void twin_barrier(int pipe, const struct twin_site *); /* enum twin_pipe, or TWIN_PIPES for all */
void twin_sync_all(const struct twin_site *);
void twin_sync_all_soft(uint64_t gm, const struct twin_local *ub, int32_t cores,
                        const struct twin_site *);

void twin_mask_mode(bool counter, const struct twin_site *);
/* lanes: of a repeat that the mask is made for; 0: ResetMask */
void twin_mask_set(uint64_t high, uint64_t low, uint32_t lanes, const struct twin_site *);
void twin_atomic(int type, const struct twin_site *); /* -1: none */
enum { TWIN_TASK_MIX_AIV = 2 };                       /* KERNEL_TYPE_MIX_AIV_1_0 */
void twin_task_type(int type);
void twin_fail_index(uint64_t index, uint64_t size, const struct twin_site *);
void twin_fail_field(const char *what, int64_t value, const struct twin_site *);

uint32_t twin_block_idx(void);
uint32_t twin_block_num(void);
uint64_t twin_tiling_key(void);
uint32_t twin_arch(void);
void twin_copy_tiling(void *to, size_t bytes, const struct twin_site *);
uint64_t twin_user_workspace(void);

#ifdef __cplusplus
}
#endif
#endif
