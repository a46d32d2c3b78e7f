/* SPDX-License-Identifier: Apache-2.0
 *
 * A stand-in for the second session API of GE (CANN 9), on top of the first one. Tests only.
 */
#ifndef STANDIN_GE_API_V2_H
#define STANDIN_GE_API_V2_H

#include <memory>

#include "ge/ge_api.h"

namespace gert {

class Shape {
  public:
    Shape &AppendDim(int64_t n) {
        dims.push_back(n);
        return *this;
    }
    std::vector<int64_t> dims;
};

class StorageShape {
  public:
    Shape &MutableOriginShape() { return origin_; }
    Shape &MutableStorageShape() { return storage_; }
    const Shape &GetStorageShape() const { return storage_; }

  private:
    Shape origin_, storage_;
};

struct ExpandDimsType {};
struct StorageFormat {
    StorageFormat(ge::Format, ge::Format, const ExpandDimsType &) {}
};
enum TensorPlacement : int32_t { kOnHost = 1 };

/* Like GE's it does not own the data it is given, and cannot be copied. */
class Tensor {
  public:
    Tensor(const StorageShape &shape, const StorageFormat &, TensorPlacement, ge::DataType type,
           void *address)
        : shape_(shape), type_(type), address_(address) {
        size_ = type == ge::DT_FLOAT ? 4 : 2;
        for (int64_t n : shape.GetStorageShape().dims)
            size_ *= static_cast<size_t>(n);
    }
    Tensor(Tensor &&) = default;
    Tensor &operator=(Tensor &&) = default;
    const void *GetAddr() const { return address_; }
    size_t GetSize() const { return size_; }
    ge::DataType GetDataType() const { return type_; }
    const StorageShape &GetShape() const { return shape_; }
    void Own(std::vector<uint8_t> bytes) { /* the stand-in's own */
        owned_ = std::make_unique<std::vector<uint8_t>>(std::move(bytes));
        address_ = owned_->data();
    }

  private:
    StorageShape shape_;
    ge::DataType type_;
    void *address_;
    size_t size_;
    std::unique_ptr<std::vector<uint8_t>> owned_;
};

} // namespace gert

namespace ge {

Status GEInitializeV2(const std::map<AscendString, AscendString> &options);
Status GEFinalizeV2();
AscendString GEGetErrorMsgV3();

class GeSession {
  public:
    explicit GeSession(const std::map<AscendString, AscendString> &options) : session_(options) {}
    Status AddGraph(uint32_t id, const Graph &graph) { return session_.AddGraph(id, graph); }
    Status RunGraph(uint32_t id, const std::vector<gert::Tensor> &inputs,
                    std::vector<gert::Tensor> &outputs);

  private:
    Session session_;
};

} // namespace ge

#endif
