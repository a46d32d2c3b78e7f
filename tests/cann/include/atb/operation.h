/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for the few classes of ATB that an operation of one's own uses.
 */
#ifndef STANDIN_ATB_OPERATION_H
#define STANDIN_ATB_OPERATION_H

#include <cstdint>
#include <string>
#include <vector>

#include "acl/acl.h"

namespace atb {

using Status = int32_t;
constexpr uint32_t MAX_DIM = 8;

enum ErrorType : int {
    NO_ERROR = 0,
    ERROR_INVALID_PARAM = 1,
    ERROR_INVALID_IN_TENSOR_NUM = 5,
    ERROR_INVALID_TENSOR_DIM = 8,
    ERROR_CANN_ERROR = 12,
    ERROR_INVALID_CONTEXT_ADDR = 20,
    ERROR_INVALID_WORKSPACE_SIZE = 22,
};

template <typename T> class SVector {
  public:
    std::size_t size() const { return items_.size(); }
    void resize(std::size_t size) { items_.resize(size); }
    T &operator[](std::size_t i) { return items_.at(i); }
    const T &operator[](std::size_t i) const { return items_.at(i); }

  private:
    std::vector<T> items_;
};

struct Dims {
    int64_t dims[MAX_DIM];
    uint64_t dimNum = 0;
};

struct TensorDesc {
    aclDataType dtype = ACL_DT_UNDEFINED;
    aclFormat format = ACL_FORMAT_UNDEFINED;
    Dims shape;
};

struct Tensor {
    TensorDesc desc;
    void *deviceData = nullptr;
    void *hostData = nullptr;
    uint64_t dataSize = 0;
};

struct VariantPack {
    SVector<Tensor> inTensors, outTensors;
};

class Context {
  public:
    virtual ~Context() = default;
    virtual aclrtStream GetExecuteStream() const = 0;
};

class Operation {
  public:
    virtual ~Operation() = default;
    virtual std::string GetName() const = 0;
    virtual Status InferShape(const SVector<TensorDesc> &in, SVector<TensorDesc> &out) const = 0;
    virtual uint32_t GetInputNum() const = 0;
    virtual uint32_t GetOutputNum() const = 0;
    virtual Status Setup(const VariantPack &pack, uint64_t &workspaceSize, Context *context) = 0;
    virtual Status Execute(const VariantPack &pack, uint8_t *workspace, uint64_t workspaceSize,
                           Context *context) = 0;
};

} // namespace atb

#endif
