/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators and passes of the stand-in. Built once as the GE of 8.1, which keeps
 * the chip in its options, and once as that of 2026, which also tells it to a pass.
 */
#include <cstring>

#include "graph/operator_factory.h"
#include "../graph/nodes.h"

namespace ge {

/* The types that a pass may make: inputs and outputs by name. */
class OperatorImpl {
  public:
    std::string name, type;
    std::vector<std::string> inputs, outputs;
    std::map<std::string, TensorDesc> descs;
    std::map<std::string, Attribute> attrs;

    static Operator make(const char *name, const char *type) {
        static const std::map<std::string,
                              std::pair<std::vector<std::string>, std::vector<std::string>>>
            known = {{"Const", {{}, {"y"}}},
                     {"Reshape", {{"x", "shape"}, {"y"}}},
                     {"Tile", {{"x", "multiples"}, {"y"}}},
                     {"RotaryPositionEmbeddingGrad",
                      {{"dy", "cos", "sin", "x"}, {"dx", "dcos", "dsin"}}}};
        Operator op;
        auto found = known.find(type);
        if (found == known.end()) return op;
        op.impl_ = std::make_shared<OperatorImpl>();
        op.impl_->name = name;
        op.impl_->type = type;
        op.impl_->inputs = found->second.first;
        op.impl_->outputs = found->second.second;
        return op;
    }

    static std::shared_ptr<OperatorImpl> of(const Operator &op) { return op.impl_; }
};

Operator OperatorFactory::CreateOperator(const char *name, const char *type) {
    return OperatorImpl::make(name, type);
}

bool &standin_has_operator() {
    static bool has = true;
    return has;
}

bool OperatorFactory::IsExistOp(const char *type) {
    return standin_has_operator() && OperatorImpl::of(OperatorImpl::make("", type)) != nullptr;
}

graphStatus Operator::UpdateInputDesc(const char *input, const TensorDesc &desc) {
    if (!impl_) return 0xFFFFFFFF;
    impl_->descs[input] = desc;
    return GRAPH_SUCCESS;
}

graphStatus Operator::UpdateOutputDesc(const char *output, const TensorDesc &desc) {
    return UpdateInputDesc(output, desc);
}

Operator &Operator::SetAttr(const char *name, int64_t value) {
    if (impl_) impl_->attrs[name].ints.assign(1, value);
    return *this;
}

Operator &Operator::SetAttr(const char *name, const Tensor &value) {
    if (impl_) impl_->attrs[name].tensor = std::make_shared<Tensor>(value);
    return *this;
}

GNode Graph::AddNodeByOp(const Operator &op) {
    standin_perhaps_throw();
    auto from = OperatorImpl::of(op);
    if (!from) return GNode();
    auto node = std::make_shared<NodeImpl>();
    node->name = from->name;
    node->type = from->type;
    node->attrs = from->attrs;
    node->owner = impl_.get();
    for (const std::string &input : from->inputs) {
        NodeImpl::Input added;
        added.name = input;
        node->inputs.push_back(added);
    }
    for (const std::string &output : from->outputs)
        node->outputs.push_back(from->descs[output]);
    impl_->nodes.push_back(node);
    return NodeImpl::wrap(node);
}

std::vector<std::shared_ptr<PassRegistrationDataImpl>> &standin_passes() {
    static std::vector<std::shared_ptr<PassRegistrationDataImpl>> passes;
    return passes;
}

std::string &standin_soc() {
    static std::string soc;
    return soc;
}

PassRegistrationData::PassRegistrationData(std::string name)
    : impl_(std::make_shared<PassRegistrationDataImpl>()) {
    impl_->name = name;
}

PassRegistrationData &PassRegistrationData::CustomPassFn(const CustomPassFunc &run) {
    impl_->run = run;
    return *this;
}

PassReceiver::PassReceiver(PassRegistrationData &data) {
    standin_passes().push_back(PassRegistrationDataImpl::of(data));
}

PassRegistrationData &PassRegistrationData::Stage(CustomPassStage stage) {
    impl_->stage = stage;
    return *this;
}

#ifdef STANDIN_2026
EXPORT graphStatus CustomPassContext::GetOptionValue(const AscendString &key,
                                                     AscendString &value) const {
    if (std::strcmp(key.GetString(), "ge.socVersion") != 0) return 0xFFFFFFFF;
    value = AscendString(standin_soc().c_str());
    return GRAPH_SUCCESS;
}
#else
class EXPORT GEThreadLocalContext {
  public:
    graphStatus GetOption(const std::string &key, std::string &value);
};
EXPORT GEThreadLocalContext &GetThreadLocalContext();

graphStatus GEThreadLocalContext::GetOption(const std::string &key, std::string &value) {
    if (key != "ge.socVersion") return 0xFFFFFFFF;
    value = standin_soc();
    return GRAPH_SUCCESS;
}

GEThreadLocalContext &GetThreadLocalContext() {
    static GEThreadLocalContext context;
    return context;
}
#endif

} // namespace ge
