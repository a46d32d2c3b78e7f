/* SPDX-License-Identifier: Apache-2.0
 *
 * The three functions GE looks up in a library of operators: how many operators, their functions,
 * and how many compile-time ones (none, but without the symbol GE drops the library). Compiled into
 * both libraries: with ASCGRAD_LIB_PROTO it offers shape and dtype inference, with
 * ASCGRAD_LIB_TILING tiling.
 *
 * There is one row per operator type in a process, and both roads to a kernel read it: GE's graphs
 * and aclnn (nnopbase). The rows of all libraries are merged into it field by field, first come
 * first served, custom packages before built-in ones. CANN has some of our types itself, more in
 * each version, so whatever belongs together is set together: a built-in tiling_parse or creator
 * must never meet our tiling. What stays 0 here may be filled by CANN's row, with functions that
 * serve its own road to its own binaries.
 *
 * The kernel is not in the row. GE compiles ours from the package; aclnn takes the one its index of
 * binaries has, which is ours only if binaries of ours are installed. Tiling for another package's
 * kernel is refused: guard.c.
 */
#include "context.h"

#if defined(ASCGRAD_LIB_PROTO) == defined(ASCGRAD_LIB_TILING)
#error "define one of ASCGRAD_LIB_PROTO and ASCGRAD_LIB_TILING"
#endif

/* The operators, in the order of ascgrad_ops.h and so of ascgrad_ir_table. */
enum {
#define ASCGRAD_OP(Type, op) INDEX_##op,
#include "ascgrad_ops.inc"
#undef ASCGRAD_OP
    COUNT
};

/* Switches in the library's own bytes, so that they need no file and no environment. The installer
 * finds the text and overwrites what follows it. Volatile, because the compiler must not believe
 * what it reads; arrays with an initialiser, so that text and value are one piece of the file.
 *
 * offers: the 1 becomes a 0 for a type that is left to CANN, because CANN has it and there are no
 * complete binaries of ours, or by --no-override. Such a type must vanish here too, or our tiling
 * would be merged with CANN's kernel, and our IR would hide CANN's (op_proto/register_ir.cpp). */
#define ASCGRAD_OP(Type, op) static const volatile char offer_##op[] = "ascgrad-offers:" #Type "=1";
#include "ascgrad_ops.inc"
#undef ASCGRAD_OP

/* binaries: the short names of the chips for which complete kernel binaries of the type are
 * installed, "ascend910b,ascend910_93"; none as long as all bytes behind the text are NUL. The last
 * one always is. */
#ifdef ASCGRAD_LIB_TILING
#define BINARIES(Type) "ascgrad-binaries:" #Type "="
#define ASCGRAD_OP(Type, op)                                                                       \
    static const volatile char binaries_##op[sizeof BINARIES(Type) - 1 + ASCGRAD_CHIPS] =          \
        BINARIES(Type);
#include "ascgrad_ops.inc"
#undef ASCGRAD_OP
#endif

#ifdef ASCGRAD_LIB_PROTO
#define ASCGRAD_OP(Type, op)                                                                       \
    ascgrad_infer_fn ascgrad_infer_##op;                                                           \
    ascgrad_infer_dtype_fn ascgrad_infer_dtype_##op;                                               \
    static uint32_t infer_shape_##op(struct ge_context *c) {                                       \
        return ascgrad_ge_infer_shape(c, &ascgrad_ir_table[INDEX_##op], ascgrad_infer_##op);       \
    }                                                                                              \
    static uint32_t infer_shape_range_##op(struct ge_context *c) {                                 \
        return ascgrad_ge_infer_shape_range(c, &ascgrad_ir_table[INDEX_##op], ascgrad_infer_##op); \
    }                                                                                              \
    static uint32_t infer_dtype_##op(struct ge_context *c) {                                       \
        return ascgrad_ge_infer_dtype(c, &ascgrad_ir_table[INDEX_##op], ascgrad_infer_dtype_##op); \
    }
#else
#define ASCGRAD_OP(Type, op)                                                                       \
    ascgrad_tile_fn ascgrad_tile_##op;                                                             \
    static uint32_t tiling_##op(struct ge_context *c) {                                            \
        return ascgrad_ge_tiling(c, &ascgrad_ir_table[INDEX_##op], ascgrad_tile_##op,              \
                                 &binaries_##op[sizeof binaries_##op - ASCGRAD_CHIPS]);            \
    }
#endif
#include "ascgrad_ops.inc"
#undef ASCGRAD_OP

struct row {
    const char *type;
    const volatile char *offered; /* '1' or '0' */
#ifdef ASCGRAD_LIB_PROTO
    uint32_t (*infer_shape)(struct ge_context *);
    uint32_t (*infer_shape_range)(struct ge_context *);
    uint32_t (*infer_dtype)(struct ge_context *);
#else
    uint32_t (*tiling)(struct ge_context *);
#endif
};

static const struct row rows[COUNT] = {
#ifdef ASCGRAD_LIB_PROTO
#define ASCGRAD_OP(Type, op)                                                                       \
    {#Type, &offer_##op[sizeof offer_##op - 2], infer_shape_##op, infer_shape_range_##op,          \
     infer_dtype_##op},
#else
#define ASCGRAD_OP(Type, op) {#Type, &offer_##op[sizeof offer_##op - 2], tiling_##op},
#endif
#include "ascgrad_ops.inc"
#undef ASCGRAD_OP
};

#ifdef ASCGRAD_LIB_PROTO
/* Called by constructors of register_ir.cpp while the library is loaded. */
bool ascgrad_offers(const char *type);

bool ascgrad_offers(const char *type) {
    bool offered = false;
    for (size_t i = 0; i < COUNT; i++) {
        if (strcmp(rows[i].type, type) == 0) {
            offered = *rows[i].offered == '1';
        }
    }
    return offered;
}
#endif

/* Tiling buffer of a node: the same as the compile-time route gives, so that what fits there fits
 * always. The other library leaves it at 0, which GE takes for "not said". */
enum { MAX_TILING_DATA = 16 * 1024 };

/* Every pointer and number, 0 included: in CANN 8.1 they arrive uninitialised. Not the two
 * containers. */
static void fill(struct ge_op_functions *to, const struct row *row) {
    to->type = row->type;
#ifdef ASCGRAD_LIB_PROTO
    to->infer_shape = row->infer_shape;
    to->infer_shape_range = row->infer_shape_range;
    to->infer_dtype = row->infer_dtype;
    to->tiling = NULL;
    to->tiling_parse = NULL;
    to->compile_info_creator = NULL;
    to->compile_info_deleter = NULL;
    to->max_tiling_data_size = 0;
#else
    to->infer_shape = NULL;
    to->infer_shape_range = NULL;
    to->infer_dtype = NULL;
    to->tiling = row->tiling;
    to->tiling_parse = ascgrad_ge_tiling_parse;
    to->compile_info_creator = ascgrad_ge_compile_info_new;
    to->compile_info_deleter = ascgrad_ge_compile_info_delete;
    to->max_tiling_data_size = MAX_TILING_DATA;
#endif
    to->inputs_dependency = 0;
    to->host_inputs = 0;
    to->op_execute = NULL;
    to->tiling_dependency = 0;
    to->simplified_key = NULL;
    to->tiling_dependency_placements = 0;
    to->output_shape_depend_compute = 0;
}

#define EXPORT __attribute__((visibility("default")))

EXPORT size_t GetRegisteredOpNum(void);
EXPORT int32_t GetOpImplFunctions(struct ge_op_functions *table, size_t count);
EXPORT size_t GetRegisteredOpCtNum(void);

size_t GetRegisteredOpNum(void) {
    size_t offered = 0;
    for (size_t i = 0; i < COUNT; i++) {
        offered += *rows[i].offered == '1';
    }
    return offered;
}

int32_t GetOpImplFunctions(struct ge_op_functions *table, size_t count) {
    if (!table || count != GetRegisteredOpNum()) {
        return (int32_t)GE_FAILED;
    }
    for (size_t i = 0; i < COUNT; i++) {
        if (*rows[i].offered == '1') {
            fill(table++, &rows[i]);
        }
    }
    return (int32_t)GE_SUCCESS;
}

size_t GetRegisteredOpCtNum(void) {
    return 0;
}
