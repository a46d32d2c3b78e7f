/* SPDX-License-Identifier: Apache-2.0
 *
 * One build of one kernel: -DTWIN_OP=exp_segsum_grad -DTWIN_COLUMN=0 -DTWIN_CHECKED=1|0, with
 * <op>_dtypes.h and <op>.cpp on the include path. The column of dtypes is one of the IR; nothing is
 * built where another column has the same kernel. Everything lives in a namespace of this build, so
 * that builds never share an inline function. Defines twin_entry_<op>_<column>_<checked|fast> and
 * twin_arity_<same>.
 */
#include "standard.h"

#define TWIN_JOIN_(a, b, c, d) a##b##_##c##_##d
#define TWIN_JOIN(a, b, c, d)  TWIN_JOIN_(a, b, c, d)
#define TWIN_TEXT_(x)          #x
#define TWIN_TEXT(x)           TWIN_TEXT_(x)
#if TWIN_CHECKED
#define TWIN_MODE checked
#else
#define TWIN_MODE fast
#endif
#define TWIN_SPACE TWIN_JOIN(twin_, TWIN_OP, TWIN_COLUMN, TWIN_MODE)

#define TWIN_DTYPES_(op) op##_dtypes.h
#define TWIN_DTYPES(op)  TWIN_DTYPES_(op)

#include TWIN_TEXT(TWIN_DTYPES(TWIN_OP))

#ifndef TWIN_NO_KERNEL
namespace TWIN_SPACE {
#include "kernel_operator.h"
#include TWIN_TEXT(TWIN_OP.cpp)

template <typename F> struct Parameters;
template <typename... A> struct Parameters<void(A...)> {
    static constexpr uint32_t count = sizeof...(A);
};
constexpr uint32_t kParameters = Parameters<decltype(TWIN_OP)>::count;

template <std::size_t... I> inline void Spread(uint8_t **args, std::index_sequence<I...>) {
    TWIN_OP(args[I]...);
}
} // namespace TWIN_SPACE

extern "C" {
extern const uint32_t TWIN_JOIN(twin_arity_, TWIN_OP, TWIN_COLUMN, TWIN_MODE);
const uint32_t TWIN_JOIN(twin_arity_, TWIN_OP, TWIN_COLUMN, TWIN_MODE) = TWIN_SPACE::kParameters;

void TWIN_JOIN(twin_entry_, TWIN_OP, TWIN_COLUMN, TWIN_MODE)(uint8_t **args) {
    TWIN_SPACE::Spread(args, std::make_index_sequence<TWIN_SPACE::kParameters>());
}
}
#endif
