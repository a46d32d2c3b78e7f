/* SPDX-License-Identifier: Apache-2.0
 *
 * A stand-in for GE's tensor classes, as far as the example graphs use them. Tests only.
 */
#ifndef STANDIN_GRAPH_TENSOR_H
#define STANDIN_GRAPH_TENSOR_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/operator.h"
#include "graph/types.h"

namespace ge {

class Shape {
  public:
    Shape() = default;
    explicit Shape(const std::vector<int64_t> &dims) : dims_(dims) {}
    std::vector<int64_t> GetDims() const { return dims_; }

  private:
    std::vector<int64_t> dims_;
};

class TensorDesc {
  public:
    TensorDesc() = default;
    explicit TensorDesc(Shape shape, Format = FORMAT_ND, DataType type = DT_FLOAT)
        : shape_(shape), type_(type) {}
    Shape GetShape() const { return shape_; }
    DataType GetDataType() const { return type_; }

  private:
    Shape shape_;
    DataType type_ = DT_FLOAT;
};

class Tensor {
  public:
    Tensor() = default;
    Tensor(const TensorDesc &desc, const uint8_t *data, size_t size)
        : desc_(desc), data_(data, data + size) {}
    TensorDesc GetTensorDesc() const { return desc_; }
    const uint8_t *GetData() const { return data_.data(); }
    size_t GetSize() const { return data_.size(); }

  private:
    TensorDesc desc_;
    std::vector<uint8_t> data_;
};

} // namespace ge

#endif
