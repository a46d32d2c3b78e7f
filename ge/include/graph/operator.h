/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of GE's ge::Operator that REG_OP, the parser plugins and the example graphs need, for
 * machines without a CANN toolkit. Names, parameter types, member layout and the one virtual
 * function are GE's, so that an object compiled here links with the real libgraph; a build that
 * finds a toolkit does not see this file.
 */
#ifndef ASCGRAD_GRAPH_OPERATOR_H
#define ASCGRAD_GRAPH_OPERATOR_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "graph/types.h"

/* The methods live in GE's library, also for objects that are compiled with hidden visibility. */
#define GE_CLASS class __attribute__((visibility("default")))

namespace ge {

using graphStatus = uint32_t;
constexpr graphStatus GRAPH_SUCCESS = 0;
class Tensor; /* whoever sets constants or descriptors brings the definitions */
class TensorDesc;
class OperatorImpl; /* GE's own; the IR recorder and test doubles bring theirs */

GE_CLASS AscendString {
  public:
    AscendString() = default;
    AscendString(const char *name);
    const char *GetString() const;
    bool operator<(const AscendString &other) const;

  private:
    std::shared_ptr<std::string> name_;
};

GE_CLASS Operator {
  public:
    using OpInt = int64_t;
    using OpFloat = float;
    using OpBool = bool;
    using OpListInt = std::vector<int64_t>;
    using OpListFloat = std::vector<float>;

    Operator() = default;
    Operator(const AscendString &name, const AscendString &type);
    virtual ~Operator() = default;

    graphStatus GetName(AscendString & name) const;
    size_t GetInputsSize() const;
    size_t GetOutputsSize() const;
    Operator &SetInput(const char *input, const Operator &source);
    Operator &SetInput(const char *input, const Operator &source, const char *output);
    Operator &SetInput(const char *input, const Operator &source, uint32_t output);
    graphStatus UpdateInputDesc(const char *input, const TensorDesc &desc);
    graphStatus UpdateOutputDesc(const char *output, const TensorDesc &desc);
    Operator &SetAttr(const char *name, int64_t value);
    Operator &SetAttr(const char *name, const char *value);
    Operator &SetAttr(const char *name, float value);
    Operator &SetAttr(const char *name, bool value);
    Operator &SetAttr(const char *name, const std::vector<int64_t> &value);
    Operator &SetAttr(const char *name, const std::vector<float> &value);
    Operator &SetAttr(const char *name, const Tensor &value);
    graphStatus GetAttr(const char *name, int64_t &value) const;
    graphStatus GetAttr(const char *name, bool &value) const;
    graphStatus GetAttr(const char *name, AscendString &value) const;
    graphStatus GetAttr(const char *name, std::vector<DataType> &value) const;
    graphStatus GetAttr(const char *name, float &value) const;
    graphStatus GetAttr(const char *name, std::vector<int64_t> &value) const;
    graphStatus GetAttr(const char *name, std::vector<float> &value) const;

  protected:
    void InputRegister(const char *name, const char *types);
    void OptionalInputRegister(const char *name, const char *types);
    void OutputRegister(const char *name, const char *types);
    void RequiredAttrWithTypeRegister(const char *name, const char *type);
    void AttrRegister(const char *name, int64_t value);
    void AttrRegister(const char *name, float value);
    void AttrRegister(const char *name, bool value);
    void AttrRegister(const char *name, const std::vector<int64_t> &value);
    void AttrRegister(const char *name, const std::vector<float> &value);

  private:
    friend class OperatorImpl;
    std::shared_ptr<OperatorImpl> impl_;
};

static_assert(sizeof(AscendString) == 16 && sizeof(Operator) == 24, "GE's object sizes");

} // namespace ge

#endif
