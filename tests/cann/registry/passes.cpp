/* SPDX-License-Identifier: Apache-2.0
 *
 * Passes of the stand-in. Built once as the GE of 8.1, which keeps
 * the chip in its options, and once as that of 2026, which also tells it to a pass.
 */
#include <cstring>

#include "graph/operator_factory.h"
#include "passes.h"

namespace ge {

bool &standin_has_operator() {
    static bool has = true;
    return has;
}

bool OperatorFactory::IsExistOp(const char *type) {
    return standin_has_operator() && OperatorImpl::of(OperatorImpl::create("", type)) != nullptr;
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
    if (std::strcmp(key.GetString(), "ge.socVersion") != 0) return STANDIN_FAILED;
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
    if (key != "ge.socVersion") return STANDIN_FAILED;
    value = standin_soc();
    return GRAPH_SUCCESS;
}

GEThreadLocalContext &GetThreadLocalContext() {
    static GEThreadLocalContext context;
    return context;
}
#endif

} // namespace ge
