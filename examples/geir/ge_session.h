/* SPDX-License-Identifier: Apache-2.0
 *
 * GE's session under one name. The two APIs of GE, that of CANN 8.x and, with ASCGRAD_GE_V2, that
 * of CANN 9, differ in names and in the class of a tensor.
 */
#ifndef ASCGRAD_GE_SESSION_H
#define ASCGRAD_GE_SESSION_H

#include <cstdint>
#include <map>
#include <vector>

#include "graph/tensor.h"

#ifdef ASCGRAD_GE_V2
#include "ge/ge_api_v2.h"
#else
#include "ge/ge_api.h"
#endif

namespace {

using Options = std::map<ge::AscendString, ge::AscendString>;
using Bytes = std::vector<uint8_t>;

#ifdef ASCGRAD_GE_V2

using Session = ge::GeSession;
using SessionTensor = gert::Tensor;
ge::Status start(const Options &options) {
    return ge::GEInitializeV2(options);
}
ge::Status stop() {
    return ge::GEFinalizeV2();
}
ge::AscendString why() {
    return ge::GEGetErrorMsgV3();
}

SessionTensor tensor_of(const std::vector<int64_t> &shape, ge::DataType type, Bytes &bytes) {
    gert::StorageShape both;
    for (int64_t n : shape) {
        both.MutableOriginShape().AppendDim(n);
        both.MutableStorageShape().AppendDim(n);
    }
    const gert::StorageFormat format(ge::FORMAT_ND, ge::FORMAT_ND, {});
    return SessionTensor(both, format, gert::kOnHost, type, bytes.data());
}

Bytes bytes_of(const SessionTensor &tensor) {
    const uint8_t *data = static_cast<const uint8_t *>(tensor.GetAddr());
    return data ? Bytes(data, data + tensor.GetSize()) : Bytes();
}

#else

using Session = ge::Session;
using SessionTensor = ge::Tensor;
ge::Status start(const Options &options) {
    return ge::GEInitialize(options);
}
ge::Status stop() {
    return ge::GEFinalize();
}
ge::AscendString why() {
    return ge::GEGetErrorMsgV2();
}

SessionTensor tensor_of(const std::vector<int64_t> &shape, ge::DataType type, Bytes &bytes) {
    return SessionTensor(ge::TensorDesc(ge::Shape(shape), ge::FORMAT_ND, type), bytes.data(),
                         bytes.size());
}

Bytes bytes_of(const SessionTensor &tensor) {
    const uint8_t *data = tensor.GetData();
    return data ? Bytes(data, data + tensor.GetSize()) : Bytes();
}

#endif

} // namespace

#endif
