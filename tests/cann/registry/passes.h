/* SPDX-License-Identifier: Apache-2.0
 *
 * What the stand-in's registry of passes remembers, and what a test may change of its GE.
 */
#ifndef STANDIN_PASSES_H
#define STANDIN_PASSES_H

#include "../graph/graph.h"
#include "register/register_custom_pass.h"

#define EXPORT __attribute__((visibility("default")))

namespace ge {

class PassRegistrationDataImpl {
  public:
    std::string name;
    CustomPassFunc run;
    CustomPassStage stage = CustomPassStage::kBeforeInferShape;

    static std::shared_ptr<PassRegistrationDataImpl> of(const PassRegistrationData &data) {
        return data.impl_;
    }
};

class CustomPassContext {
  public:
    virtual ~CustomPassContext() = default;
    graphStatus GetOptionValue(const AscendString &key, AscendString &value) const;
};

EXPORT std::vector<std::shared_ptr<PassRegistrationDataImpl>> &standin_passes();
EXPORT std::string &standin_soc();
EXPORT bool &standin_has_operator(); /* whether GE knows the type that the pass writes */
EXPORT int &standin_errors();        /* questions that GE would have written an error for */
EXPORT int &standin_refuse_after();  /* edges until AddDataEdge fails; negative: never */
EXPORT int &standin_throw_after();   /* changes of the graph until one throws; negative: never */

} // namespace ge

#endif
