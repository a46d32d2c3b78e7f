/* SPDX-License-Identifier: Apache-2.0
 *
 * REG_OP for machines without a CANN toolkit: enough of GE's macro language to compile
 * ascgrad_ops.h into an object that the real libgraph accepts, and to write graphs with the
 * resulting classes.
 *
 * REG_OP(X).INPUT(..)...OP_END_FACTORY_REG(X) makes a class ge::op::X and a static object that
 * registers its creator. The items read as a chain of calls but are declarations: each one closes
 * the member function that the item before it left open ("chain_()" is the left side of the next
 * item's dot), and opens its own. So the constructor's declare_() calls the first item, which calls
 * the second, and so on, in the order written.
 */
#ifndef ASCGRAD_GRAPH_OPERATOR_REG_H
#define ASCGRAD_GRAPH_OPERATOR_REG_H

#include <functional>
#include <string>
#include <vector>

#include "graph/operator.h"

namespace ge {

GE_CLASS OperatorCreatorRegister {
  public:
    OperatorCreatorRegister(const char *type,
                            const std::function<Operator(const AscendString &)> &create);
};

struct RegOpChain {
    void next() const {}
};

} // namespace ge

#define REG_OP(Type)                                                                               \
    namespace op {                                                                                 \
    class Type : public ::ge::Operator {                                                           \
        using Self = Type;                                                                         \
                                                                                                   \
      public:                                                                                      \
        Type() : Type(::ge::AscendString("")) {}                                                   \
        explicit Type(const char *name) : Type(::ge::AscendString(name)) {}                        \
        explicit Type(const std::string &name) : Type(::ge::AscendString(name.c_str())) {}         \
        explicit Type(const ::ge::AscendString &name)                                              \
            : ::ge::Operator(name, ::ge::AscendString(#Type)) {                                    \
            declare_();                                                                            \
        }                                                                                          \
                                                                                                   \
      private:                                                                                     \
        static ::ge::RegOpChain chain_() { return {}; }                                            \
        void declare_() {                                                                          \
            chain_()

/* Closes the open function with a call of this item's own. */
#define ASCGRAD_REG_OP_ITEM(name)                                                                  \
    next();                                                                                        \
    declare_##name##_();                                                                           \
    }                                                                                              \
                                                                                                   \
  public:

#define ASCGRAD_REG_OP_OPEN(name)                                                                  \
  private:                                                                                         \
    void declare_##name##_() {

#define ASCGRAD_REG_OP_INPUT(name, Register, ...)                                                  \
    ASCGRAD_REG_OP_ITEM(input_##name)                                                              \
    Self &set_input_##name(::ge::Operator &source) {                                               \
        SetInput(#name, source);                                                                   \
        return *this;                                                                              \
    }                                                                                              \
    Self &set_input_##name(::ge::Operator &source, uint32_t output) {                              \
        SetInput(#name, source, output);                                                           \
        return *this;                                                                              \
    }                                                                                              \
    Self &set_input_##name##_by_name(::ge::Operator &source, const char *output) {                 \
        SetInput(#name, source, output);                                                           \
        return *this;                                                                              \
    }                                                                                              \
    ::ge::graphStatus update_input_desc_##name(const ::ge::TensorDesc &desc) {                     \
        return UpdateInputDesc(#name, desc);                                                       \
    }                                                                                              \
    ASCGRAD_REG_OP_OPEN(input_##name)                                                              \
    Register(#name, #__VA_ARGS__);                                                                 \
    chain_()

#define ASCGRAD_REG_OP_SET_ATTR(name, Type)                                                        \
    Self &set_attr_##name(const Op##Type &value) {                                                 \
        SetAttr(#name, value);                                                                     \
        return *this;                                                                              \
    }

#define INPUT(name, ...)          ASCGRAD_REG_OP_INPUT(name, InputRegister, __VA_ARGS__)
#define OPTIONAL_INPUT(name, ...) ASCGRAD_REG_OP_INPUT(name, OptionalInputRegister, __VA_ARGS__)

#define OUTPUT(name, ...)                                                                          \
    ASCGRAD_REG_OP_ITEM(output_##name)                                                             \
    ::ge::graphStatus update_output_desc_##name(const ::ge::TensorDesc &desc) {                    \
        return UpdateOutputDesc(#name, desc);                                                      \
    }                                                                                              \
    ASCGRAD_REG_OP_OPEN(output_##name)                                                             \
    OutputRegister(#name, #__VA_ARGS__);                                                           \
    chain_()

#define ATTR(name, Type, ...)                                                                      \
    ASCGRAD_REG_OP_ITEM(attr_##name)                                                               \
    ASCGRAD_REG_OP_SET_ATTR(name, Type)                                                            \
    ASCGRAD_REG_OP_OPEN(attr_##name)                                                               \
    AttrRegister(#name, Op##Type(__VA_ARGS__));                                                    \
    chain_()

#define REQUIRED_ATTR(name, Type)                                                                  \
    ASCGRAD_REG_OP_ITEM(attr_##name)                                                               \
    ASCGRAD_REG_OP_SET_ATTR(name, Type)                                                            \
    ASCGRAD_REG_OP_OPEN(attr_##name)                                                               \
    RequiredAttrWithTypeRegister(#name, #Type);                                                    \
    chain_()

#define OP_END_FACTORY_REG(Type)                                                                   \
    next();                                                                                        \
    }                                                                                              \
    }                                                                                              \
    ;                                                                                              \
    }                                                                                              \
    static const ::ge::OperatorCreatorRegister register_##Type##_(                                 \
        #Type, [](const ::ge::AscendString &name) -> ::ge::Operator { return op::Type(name); });

#endif
