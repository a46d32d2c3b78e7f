/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of GE's registration of custom passes that the graph pass needs, for machines without a
 * CANN toolkit. The stages are those that 8.1 and later have in common.
 */
#ifndef ASCGRAD_REGISTER_CUSTOM_PASS_H
#define ASCGRAD_REGISTER_CUSTOM_PASS_H

#include <functional>
#include <string>

#include "graph/gnode.h"

namespace ge {

using Status = uint32_t;
class PassRegistrationDataImpl;
class CustomPassContext; /* only ever passed by reference */
using CustomPassFunc = std::function<Status(GraphPtr &, CustomPassContext &)>;

enum class CustomPassStage : uint32_t { kBeforeInferShape = 0, kAfterInferShape = 1 };

GE_CLASS PassRegistrationData {
  public:
    PassRegistrationData(std::string name);
    PassRegistrationData &CustomPassFn(const CustomPassFunc &run);
    PassRegistrationData &Stage(CustomPassStage stage);

  private:
    friend class PassRegistrationDataImpl;
    std::shared_ptr<PassRegistrationDataImpl> impl_;
};

GE_CLASS PassReceiver {
  public:
    PassReceiver(PassRegistrationData & data);
};

} // namespace ge

#endif
