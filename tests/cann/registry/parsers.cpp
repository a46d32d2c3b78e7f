/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in's parser registry: it remembers what a plugin registers when it is loaded.
 */
#include "parsers.h"

namespace domi {

std::vector<OpRegistrationDataImpl> &standin_parsers() {
    static std::vector<OpRegistrationDataImpl> all;
    return all;
}

OpRegistrationData::OpRegistrationData(const char *type)
    : impl_(std::make_shared<OpRegistrationDataImpl>()) {
    impl_->type = type;
}
OpRegistrationData::~OpRegistrationData() = default;
OpRegistrationData &OpRegistrationData::FrameworkType(const domi::FrameworkType &framework) {
    impl_->framework = framework;
    return *this;
}
OpRegistrationData &OpRegistrationData::OriginOpType(const char *type) {
    impl_->origins = {type};
    return *this;
}
OpRegistrationData &OpRegistrationData::OriginOpType(const std::vector<ge::AscendString> &types) {
    for (const ge::AscendString &type : types)
        impl_->origins.push_back(type.GetString());
    return *this;
}
OpRegistrationData &OpRegistrationData::ParseParamsByOperatorFn(const ParseParamByOpFunc &parse) {
    impl_->parse = parse;
    return *this;
}
OpRegistrationData &OpRegistrationData::ParseOpToGraphFn(const ParseOpToGraphFunc &parse) {
    impl_->expand = parse;
    return *this;
}
OpRegistrationData &OpRegistrationData::ImplyType(const domi::ImplyType &) {
    return *this;
}

OpReceiver::OpReceiver(OpRegistrationData &data) {
    standin_parsers().push_back(OpRegistrationDataImpl::of(data));
}

/* Attributes and the number of inputs go over as they are. */
Status AutoMappingByOpFn(const ge::Operator &source, ge::Operator &op) {
    const ge::OperatorImpl &from = *ge::OperatorImpl::of(source);
    ge::OperatorImpl &to = *ge::OperatorImpl::of(op);
    for (const auto &entry : from.attributes)
        to.attributes[entry.first] = entry.second;
    to.dynamic_inputs = from.dynamic_inputs;
    return SUCCESS;
}

} // namespace domi
