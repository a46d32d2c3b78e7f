/* SPDX-License-Identifier: Apache-2.0
 *
 * RopeGrad as an operation of the Ascend Transformer Boost library, over aclnnRopeGrad. ATB takes
 * any class derived from atb::Operation as an operation or as a node of a graph:
 *
 *     ascgrad::RopeGradParam param;
 *     param.qSeqLen = {7, 4};
 *     node.operation = new ascgrad::RopeGradOperation(param);     // ATB deletes it with the graph
 *
 * In: q [tokens, heads * D], k [tokens, kv heads * D], cos and sin [positions, D], or fewer columns
 * beside param.headSize = D. Out: qGrad, kGrad as q and k. Everything is in this header, so it fits
 * whatever C++ ABI ATB was built with. Link with -lcust_opapi -lnnopbase.
 */
#ifndef ASCGRAD_ATB_H
#define ASCGRAD_ATB_H

#include <cstdint>
#include <string>
#include <vector>

#include "aclnn_rope_grad.h"
#include "atb/operation.h"

namespace ascgrad {

struct RopeGradParam {
    std::vector<int32_t> qSeqLen; /* tokens of each sequence; their sum is the rows of q */
    bool exactGrad = false;       /* the true gradient; false: ATB's own formula */
    int64_t headSize = 0;         /* columns of a head; 0: those of cos, all are rotated */
};

class RopeGradOperation : public atb::Operation {
  public:
    explicit RopeGradOperation(const RopeGradParam &param)
        : exact_(param.exactGrad), head_(param.headSize) {
        const std::vector<int64_t> lengths(param.qSeqLen.begin(), param.qSeqLen.end());
        lengths_ = aclCreateIntArray(lengths.data(), lengths.size());
    }
    RopeGradOperation(const RopeGradOperation &) = delete;
    RopeGradOperation &operator=(const RopeGradOperation &) = delete;

    ~RopeGradOperation() override {
        Release();
        if (lengths_) {
            aclDestroyIntArray(lengths_);
        }
    }

    std::string GetName() const override { return "AscgradRopeGradOperation"; }

    uint32_t GetInputNum() const override { return INPUTS; }

    uint32_t GetOutputNum() const override { return OUTPUTS; }

    atb::Status InferShape(const atb::SVector<atb::TensorDesc> &in,
                           atb::SVector<atb::TensorDesc> &out) const override {
        if (in.size() != INPUTS) {
            return atb::ERROR_INVALID_IN_TENSOR_NUM;
        }
        out.resize(OUTPUTS);
        for (uint32_t i = 0; i < OUTPUTS; i++) {
            out[i] = in[i];
        }
        return atb::NO_ERROR;
    }

    /* The addresses of a graph's own tensors are not known yet; Execute sets them. */
    atb::Status Setup(const atb::VariantPack &pack, uint64_t &workspaceSize,
                      atb::Context *context) override {
        if (!context) {
            return atb::ERROR_INVALID_CONTEXT_ADDR;
        }
        if (pack.inTensors.size() != INPUTS || pack.outTensors.size() != OUTPUTS) {
            return atb::ERROR_INVALID_IN_TENSOR_NUM;
        }
        Release();
        for (uint32_t i = 0; i < INPUTS + OUTPUTS; i++) {
            tensor_[i] = Make(At(pack, i));
            if (!tensor_[i]) {
                return atb::ERROR_INVALID_TENSOR_DIM;
            }
        }
        aclOpExecutor *executor = nullptr;
        aclnnStatus code =
            aclnnRopeGradGetWorkspaceSize(tensor_[0], tensor_[1], tensor_[2], tensor_[3], lengths_,
                                          exact_, head_, tensor_[4], tensor_[5], &size_, &executor);
        if (code == 0) {
            code = aclSetAclOpExecutorRepeatable(executor);
            executor_ = executor;
        }
        workspaceSize = size_;
        return code == 0 ? atb::NO_ERROR : atb::ERROR_CANN_ERROR;
    }

    atb::Status Execute(const atb::VariantPack &pack, uint8_t *workspace, uint64_t workspaceSize,
                        atb::Context *context) override {
        if (!context) {
            return atb::ERROR_INVALID_CONTEXT_ADDR;
        }
        if (!executor_ || pack.inTensors.size() != INPUTS || pack.outTensors.size() != OUTPUTS) {
            return atb::ERROR_INVALID_PARAM;
        }
        if (workspaceSize < size_) {
            return atb::ERROR_INVALID_WORKSPACE_SIZE;
        }
        for (uint32_t i = 0; i < INPUTS + OUTPUTS; i++) {
            void *address = At(pack, i).deviceData;
            const aclnnStatus code =
                i < INPUTS ? aclSetInputTensorAddr(executor_, i, tensor_[i], address)
                           : aclSetOutputTensorAddr(executor_, i - INPUTS, tensor_[i], address);
            if (code != 0) {
                return atb::ERROR_CANN_ERROR;
            }
        }
        const aclnnStatus code =
            aclnnRopeGrad(workspace, size_, executor_, context->GetExecuteStream());
        return code == 0 ? atb::NO_ERROR : atb::ERROR_CANN_ERROR;
    }

  private:
    enum : uint32_t { INPUTS = 4, OUTPUTS = 2 };

    static const atb::Tensor &At(const atb::VariantPack &pack, uint32_t i) {
        return i < INPUTS ? pack.inTensors[i] : pack.outTensors[i - INPUTS];
    }

    /* No strides: ATB's tensors are dense. */
    static aclTensor *Make(const atb::Tensor &t) {
        const atb::Dims &shape = t.desc.shape;
        return aclCreateTensor(shape.dims, shape.dimNum, t.desc.dtype, nullptr, 0, t.desc.format,
                               shape.dims, shape.dimNum, t.deviceData);
    }

    void Release() {
        if (executor_) {
            aclDestroyAclOpExecutor(executor_);
            executor_ = nullptr;
        }
        for (aclTensor *&tensor : tensor_) {
            if (tensor) {
                aclDestroyTensor(tensor);
                tensor = nullptr;
            }
        }
    }

    bool exact_;
    int64_t head_;
    aclIntArray *lengths_ = nullptr;
    aclTensor *tensor_[INPUTS + OUTPUTS] = {};
    aclOpExecutor *executor_ = nullptr;
    uint64_t size_ = 0;
};

} // namespace ascgrad

#endif
