/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in's operators and graphs: they remember what they are told.
 */
#include "graph.h"

#include <functional>

#include "graph/operator_factory.h"
#include "graph/operator_reg.h"

namespace ge {

namespace {

using Creator = std::function<Operator(const AscendString &)>;

std::map<std::string, Creator> &creators() {
    static std::map<std::string, Creator> all;
    return all;
}

template <class T>
graphStatus read(const OperatorImpl &op, const char *name, int kind, T Attribute::*field,
                 T &value) {
    auto found = op.attributes.find(name);
    if (found == op.attributes.end() || found->second.kind != kind) return 1;
    value = found->second.*field;
    return GRAPH_SUCCESS;
}

} // namespace

bool AscendString::operator<(const AscendString &other) const {
    return std::string(GetString()) < other.GetString();
}

Operator::Operator(const AscendString &name, const AscendString &type)
    : impl_(std::make_shared<OperatorImpl>()) {
    impl_->name = name.GetString();
    impl_->type = type.GetString();
}

graphStatus Operator::GetName(AscendString &name) const {
    name = AscendString(impl_->name.c_str());
    return GRAPH_SUCCESS;
}
size_t Operator::GetInputsSize() const {
    return impl_->dynamic_inputs ? impl_->dynamic_inputs : impl_->inputs.size();
}
size_t Operator::GetOutputsSize() const {
    return impl_->outputs.size();
}

Operator &Operator::SetInput(const char *input, const Operator &source, uint32_t output) {
    impl_->edges[input] = {source.impl_, output};
    return *this;
}
Operator &Operator::SetInput(const char *input, const Operator &source) {
    return SetInput(input, source, 0u);
}
Operator &Operator::SetInput(const char *input, const Operator &source, const char *output) {
    uint32_t index = 0;
    while (index < source.impl_->outputs.size() && source.impl_->outputs[index] != output)
        index++;
    return SetInput(input, source, index);
}

graphStatus Operator::UpdateInputDesc(const char *, const TensorDesc &) {
    return GRAPH_SUCCESS;
}
graphStatus Operator::UpdateOutputDesc(const char *output, const TensorDesc &desc) {
    impl_->descs[output] = desc;
    return GRAPH_SUCCESS;
}

Operator &Operator::SetAttr(const char *name, int64_t value) {
    impl_->attributes[name] = {Attribute::Int, value, {}, {}, {}, 0, {}};
    return *this;
}
Operator &Operator::SetAttr(const char *name, bool value) {
    impl_->attributes[name] = {Attribute::Bool, value, {}, {}, {}, 0, {}};
    return *this;
}
Operator &Operator::SetAttr(const char *name, const char *value) {
    impl_->attributes[name] = {Attribute::Text, 0, {}, value, {}, 0, {}};
    return *this;
}
Operator &Operator::SetAttr(const char *name, const std::vector<int64_t> &value) {
    impl_->attributes[name] = {Attribute::List, 0, value, {}, {}, 0, {}};
    return *this;
}
Operator &Operator::SetAttr(const char *name, float value) {
    impl_->attributes[name] = {Attribute::Real, 0, {}, {}, {}, value, {}};
    return *this;
}
Operator &Operator::SetAttr(const char *name, const std::vector<float> &value) {
    impl_->attributes[name] = {Attribute::Reals, 0, {}, {}, {}, 0, value};
    return *this;
}

graphStatus Operator::GetAttr(const char *name, int64_t &value) const {
    return read(*impl_, name, Attribute::Int, &Attribute::value, value);
}
graphStatus Operator::GetAttr(const char *name, bool &value) const {
    int64_t number = 0;
    const graphStatus status = read(*impl_, name, Attribute::Bool, &Attribute::value, number);
    if (status == GRAPH_SUCCESS) value = number != 0;
    return status;
}
graphStatus Operator::GetAttr(const char *name, AscendString &value) const {
    std::string text;
    const graphStatus status = read(*impl_, name, Attribute::Text, &Attribute::text, text);
    if (status == GRAPH_SUCCESS) value = AscendString(text.c_str());
    return status;
}
graphStatus Operator::GetAttr(const char *name, std::vector<DataType> &value) const {
    return read(*impl_, name, Attribute::Types, &Attribute::types, value);
}
graphStatus Operator::GetAttr(const char *name, float &value) const {
    return read(*impl_, name, Attribute::Real, &Attribute::real, value);
}
graphStatus Operator::GetAttr(const char *name, std::vector<int64_t> &value) const {
    return read(*impl_, name, Attribute::List, &Attribute::list, value);
}
graphStatus Operator::GetAttr(const char *name, std::vector<float> &value) const {
    return read(*impl_, name, Attribute::Reals, &Attribute::reals, value);
}

void Operator::InputRegister(const char *name, const char *) {
    impl_->inputs.push_back(name);
}
void Operator::OptionalInputRegister(const char *name, const char *) {
    impl_->inputs.push_back(name);
}
void Operator::OutputRegister(const char *name, const char *) {
    impl_->outputs.push_back(name);
}
void Operator::RequiredAttrWithTypeRegister(const char *, const char *) {}
void Operator::AttrRegister(const char *name, int64_t value) {
    SetAttr(name, value);
}
void Operator::AttrRegister(const char *name, bool value) {
    SetAttr(name, value);
}
void Operator::AttrRegister(const char *name, float value) {
    SetAttr(name, value);
}
void Operator::AttrRegister(const char *name, const std::vector<int64_t> &value) {
    SetAttr(name, value);
}
void Operator::AttrRegister(const char *name, const std::vector<float> &value) {
    SetAttr(name, value);
}

OperatorCreatorRegister::OperatorCreatorRegister(const char *type, const Creator &create) {
    creators().emplace(type, create);
}

Operator OperatorImpl::create(const std::string &name, const std::string &type) {
    auto found = creators().find(type);
    if (found != creators().end()) return found->second(AscendString(name.c_str()));
    Operator op(AscendString(name.c_str()), AscendString(type.c_str()));
    if (type == "Data") op.impl_->outputs.push_back("y");
    return op;
}

Operator OperatorFactory::CreateOperator(const char *name, const char *type) {
    return OperatorImpl::create(name, type);
}

Graph::Graph(const char *) : impl_(std::make_shared<GraphImpl>()) {}
Graph &Graph::SetInputs(const std::vector<Operator> &inputs) {
    for (const Operator &op : inputs)
        impl_->inputs.push_back(OperatorImpl::of(op));
    return *this;
}
Graph &Graph::SetOutputs(const std::vector<std::pair<Operator, std::vector<size_t>>> &outputs) {
    for (const auto &entry : outputs) {
        for (size_t index : entry.second)
            impl_->outputs.push_back({OperatorImpl::of(entry.first), index});
    }
    return *this;
}

} // namespace ge
