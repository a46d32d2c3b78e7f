/* SPDX-License-Identifier: Apache-2.0
 *
 * Strings and tensors of the stand-in, for graphs that programs make and for those that a pass
 * sees.
 */
#include "graph/tensor.h"

namespace ge {

AscendString::AscendString(const char *name) : name_(std::make_shared<std::string>(name)) {}

const char *AscendString::GetString() const {
    return name_ ? name_->c_str() : "";
}

class ShapeImpl {
  public:
    std::vector<int64_t> dims;
};

Shape::Shape() : impl_(std::make_shared<ShapeImpl>()) {}

Shape::Shape(const std::vector<int64_t> &dims) : Shape() {
    impl_->dims = dims;
}

std::vector<int64_t> Shape::GetDims() const {
    return impl_->dims;
}

class TensorDescImpl {
  public:
    Shape shape, origin;
    DataType type = DT_FLOAT;
};

TensorDesc::TensorDesc() : impl(std::make_shared<TensorDescImpl>()) {}

TensorDesc::TensorDesc(Shape shape, Format, DataType type) : TensorDesc() {
    impl->shape = shape;
    impl->type = type;
}

TensorDesc::TensorDesc(const TensorDesc &other)
    : impl(std::make_shared<TensorDescImpl>(*other.impl)) {}
TensorDesc::TensorDesc(TensorDesc &&other) : TensorDesc(other) {}

TensorDesc &TensorDesc::operator=(const TensorDesc &other) {
    impl = std::make_shared<TensorDescImpl>(*other.impl);
    return *this;
}

TensorDesc &TensorDesc::operator=(TensorDesc &&other) {
    return *this = other;
}

Shape TensorDesc::GetShape() const {
    return impl->shape;
}

void TensorDesc::SetShape(const Shape &shape) {
    impl->shape = shape;
}

void TensorDesc::SetOriginShape(const Shape &shape) {
    impl->origin = shape;
}

DataType TensorDesc::GetDataType() const {
    return impl->type;
}

class TensorImpl {
  public:
    TensorDesc desc;
    std::vector<uint8_t> data;
};

Tensor::Tensor() : impl(std::make_shared<TensorImpl>()) {}

Tensor::Tensor(const TensorDesc &desc, const uint8_t *data, size_t size) : Tensor() {
    impl->desc = desc;
    impl->data.assign(data, data + size);
}

const uint8_t *Tensor::GetData() const {
    return impl->data.data();
}

size_t Tensor::GetSize() const {
    return impl->data.size();
}

TensorDesc Tensor::GetTensorDesc() const {
    return impl->desc;
}

} // namespace ge
