/* SPDX-License-Identifier: Apache-2.0
 *
 * What the stand-in's parser registry remembers.
 */
#ifndef STANDIN_REGISTRY_H
#define STANDIN_REGISTRY_H

#include <string>

#include "../graph/graph.h"
#include "register/register.h"

namespace domi {

class OpRegistrationDataImpl {
  public:
    static const OpRegistrationDataImpl &of(const OpRegistrationData &data) { return *data.impl_; }

    std::string type;
    domi::FrameworkType framework = TENSORFLOW;
    std::vector<std::string> origins;
    ParseParamByOpFunc parse;
    ParseOpToGraphFunc expand;
};

std::vector<OpRegistrationDataImpl> &standin_parsers();

} // namespace domi

#endif
