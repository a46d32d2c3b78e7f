/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in's operators and graphs, as programs make them: they remember what they are told.
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

/* The types that are nobody's REG_OP here: inputs and outputs by name. */
using Names = std::vector<std::string>;
const std::map<std::string, std::pair<Names, Names>> known = {
    {"Data", {{}, {"y"}}},
    {"Const", {{}, {"y"}}},
    {"Reshape", {{"x", "shape"}, {"y"}}},
    {"Tile", {{"x", "multiples"}, {"y"}}},
    {"RotaryPositionEmbeddingGrad", {{"dy", "cos", "sin", "x"}, {"dx", "dcos", "dsin"}}},
};

template <class T>
graphStatus read(const OperatorImpl &op, const char *name, Attribute::Kind kind,
                 T Attribute::*field, T &value) {
    auto found = op.attributes.find(name);
    if (found == op.attributes.end() || found->second.kind != kind) return 1;
    value = found->second.*field;
    return GRAPH_SUCCESS;
}

/* The first of what is kept as a list. */
template <class T, class Value>
graphStatus read_one(const OperatorImpl &op, const char *name, Attribute::Kind kind,
                     std::vector<T> Attribute::*field, Value &value) {
    std::vector<T> all;
    const graphStatus status = read(op, name, kind, field, all);
    if (status == GRAPH_SUCCESS) value = static_cast<Value>(all.at(0));
    return status;
}

Attribute of_ints(Attribute::Kind kind, const std::vector<int64_t> &ints) {
    Attribute made;
    made.kind = kind;
    made.ints = ints;
    return made;
}

Attribute of_reals(Attribute::Kind kind, const std::vector<float> &reals) {
    Attribute made;
    made.kind = kind;
    made.reals = reals;
    return made;
}

} // namespace

const NodeImpl::Input *NodeImpl::input(const std::string &wanted) const {
    for (const Input &input : inputs)
        if (input.name == wanted) return &input;
    return nullptr;
}

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
    auto *found = const_cast<NodeImpl::Input *>(impl_->input(input));
    if (!found) found = &*impl_->inputs.insert(impl_->inputs.end(), {input, nullptr, -1});
    found->from = source.impl_;
    found->port = static_cast<int32_t>(output);
    return *this;
}
Operator &Operator::SetInput(const char *input, const Operator &source) {
    return SetInput(input, source, 0u);
}
Operator &Operator::SetInput(const char *input, const Operator &source, const char *output) {
    uint32_t index = 0;
    while (index < source.impl_->outputs.size() && source.impl_->outputs[index].name != output)
        index++;
    return SetInput(input, source, index);
}

graphStatus Operator::UpdateInputDesc(const char *input, const TensorDesc &) {
    return impl_ && impl_->input(input) ? GRAPH_SUCCESS : STANDIN_FAILED;
}
graphStatus Operator::UpdateOutputDesc(const char *output, const TensorDesc &desc) {
    for (size_t i = 0; impl_ && i < impl_->outputs.size(); i++) {
        if (impl_->outputs[i].name != output) continue;
        impl_->outputs[i].desc = desc;
        return GRAPH_SUCCESS;
    }
    return STANDIN_FAILED;
}

Operator &Operator::SetAttr(const char *name, int64_t value) {
    if (impl_) impl_->attributes[name] = of_ints(Attribute::Int, {value});
    return *this;
}
Operator &Operator::SetAttr(const char *name, bool value) {
    impl_->attributes[name] = of_ints(Attribute::Bool, {value});
    return *this;
}
Operator &Operator::SetAttr(const char *name, const char *value) {
    Attribute &set = impl_->attributes[name] = of_ints(Attribute::Text, {});
    set.text = value;
    return *this;
}
Operator &Operator::SetAttr(const char *name, const std::vector<int64_t> &value) {
    impl_->attributes[name] = of_ints(Attribute::List, value);
    return *this;
}
Operator &Operator::SetAttr(const char *name, float value) {
    impl_->attributes[name] = of_reals(Attribute::Real, {value});
    return *this;
}
Operator &Operator::SetAttr(const char *name, const std::vector<float> &value) {
    impl_->attributes[name] = of_reals(Attribute::Reals, value);
    return *this;
}
Operator &Operator::SetAttr(const char *name, const Tensor &value) {
    if (!impl_) return *this;
    Attribute &set = impl_->attributes[name] = of_ints(Attribute::Data, {});
    set.tensor = std::make_shared<Tensor>(value);
    return *this;
}

graphStatus Operator::GetAttr(const char *name, int64_t &value) const {
    return read_one(*impl_, name, Attribute::Int, &Attribute::ints, value);
}
graphStatus Operator::GetAttr(const char *name, bool &value) const {
    return read_one(*impl_, name, Attribute::Bool, &Attribute::ints, value);
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
    return read_one(*impl_, name, Attribute::Real, &Attribute::reals, value);
}
graphStatus Operator::GetAttr(const char *name, std::vector<int64_t> &value) const {
    return read(*impl_, name, Attribute::List, &Attribute::ints, value);
}
graphStatus Operator::GetAttr(const char *name, std::vector<float> &value) const {
    return read(*impl_, name, Attribute::Reals, &Attribute::reals, value);
}

void Operator::InputRegister(const char *name, const char *) {
    impl_->inputs.push_back({name, nullptr, -1});
}
void Operator::OptionalInputRegister(const char *name, const char *) {
    impl_->inputs.push_back({name, nullptr, -1});
}
void Operator::OutputRegister(const char *name, const char *) {
    impl_->outputs.push_back({name, {}});
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
    auto registered = creators().find(type);
    if (registered != creators().end()) return registered->second(AscendString(name.c_str()));
    auto found = known.find(type);
    if (found == known.end()) return Operator();
    Operator op(AscendString(name.c_str()), AscendString(type.c_str()));
    for (const std::string &input : found->second.first)
        op.impl_->inputs.push_back({input, nullptr, -1});
    for (const std::string &output : found->second.second)
        op.impl_->outputs.push_back({output, {}});
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
