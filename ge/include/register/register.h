/* SPDX-License-Identifier: Apache-2.0
 *
 * REGISTER_CUSTOM_OP for machines without a CANN toolkit: the part of GE's parser registration that
 * our plugins use. Names, parameter types and sizes are GE's, so that a plugin compiled here links
 * with the real libregister; a build that finds a toolkit does not see this file. There is no
 * protobuf in it.
 */
#ifndef ASCGRAD_REGISTER_REGISTER_H
#define ASCGRAD_REGISTER_REGISTER_H

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "graph/graph.h"
#include "graph/operator.h"

namespace domi {

using Status = uint32_t;
constexpr Status SUCCESS = 0;
constexpr Status FAILED = 0xFFFFFFFF;

enum FrameworkType { TENSORFLOW = 3, ONNX = 5 };
enum class ImplyType : unsigned int { TVM = 1 };

using ParseParamByOpFunc = std::function<Status(const ge::Operator &, ge::Operator &)>;
using ParseOpToGraphFunc = std::function<Status(const ge::Operator &, ge::Graph &)>;

Status AutoMappingByOpFn(const ge::Operator &source, ge::Operator &op)
    __attribute__((visibility("default")));

class OpRegistrationDataImpl;

GE_CLASS OpRegistrationData {
  public:
    OpRegistrationData(const char *type);
    ~OpRegistrationData();
    OpRegistrationData &FrameworkType(const domi::FrameworkType &framework);
    OpRegistrationData &OriginOpType(const char *type);
    OpRegistrationData &OriginOpType(const std::vector<ge::AscendString> &types);
    OpRegistrationData &ParseParamsByOperatorFn(const ParseParamByOpFunc &parse);
    OpRegistrationData &ParseOpToGraphFn(const ParseOpToGraphFunc &parse);
    OpRegistrationData &ImplyType(const domi::ImplyType &kind);

  private:
    friend class OpRegistrationDataImpl;
    std::shared_ptr<OpRegistrationDataImpl> impl_;
};

GE_CLASS OpReceiver {
  public:
    OpReceiver(OpRegistrationData & data);
};

} // namespace domi

#define ASCGRAD_REGISTER_NAME2(counter)                                                            \
    static ::domi::OpReceiver register_op_##counter __attribute__((unused))
#define ASCGRAD_REGISTER_NAME(counter) ASCGRAD_REGISTER_NAME2(counter)
#define REGISTER_CUSTOM_OP(type)                                                                   \
    ASCGRAD_REGISTER_NAME(__COUNTER__) = ::domi::OpRegistrationData(type)

#endif
