/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of GE's tensor classes that the graph pass and programs with graphs need, for machines
 * without a CANN toolkit. Each is one shared pointer, as in GE.
 */
#ifndef ASCGRAD_GRAPH_TENSOR_H
#define ASCGRAD_GRAPH_TENSOR_H

#include "graph/operator.h"

namespace ge {

class ShapeImpl;
class TensorDescImpl;
class TensorImpl;

GE_CLASS Shape {
  public:
    Shape();
    explicit Shape(const std::vector<int64_t> &dims);
    std::vector<int64_t> GetDims() const;

  private:
    std::shared_ptr<ShapeImpl> impl_;
};

GE_CLASS TensorDesc {
  public:
    TensorDesc();
    explicit TensorDesc(Shape shape, Format format = FORMAT_ND, DataType type = DT_FLOAT);
    TensorDesc(const TensorDesc &other);
    TensorDesc(TensorDesc && other);
    TensorDesc &operator=(const TensorDesc &other);
    TensorDesc &operator=(TensorDesc &&other);
    Shape GetShape() const;
    void SetShape(const Shape &shape);
    void SetOriginShape(const Shape &shape);
    DataType GetDataType() const;

  private:
    std::shared_ptr<TensorDescImpl> impl;
};

GE_CLASS Tensor {
  public:
    Tensor();
    Tensor(const TensorDesc &desc, const uint8_t *data, size_t size);
    TensorDesc GetTensorDesc() const;
    const uint8_t *GetData() const;
    size_t GetSize() const;

  private:
    std::shared_ptr<TensorImpl> impl;
};

static_assert(sizeof(Shape) == 16 && sizeof(TensorDesc) == 16 && sizeof(Tensor) == 16,
              "GE's object sizes");

} // namespace ge

#endif
