/* SPDX-License-Identifier: Apache-2.0
 *
 * ascgrad_atb.h as ATB uses an operation in a graph: infer, set up before the tensors have
 * addresses, execute, execute again elsewhere, set up for other shapes; and what it refuses. The
 * results are compared with the formula.
 */
#include "ascgrad_atb.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr int D = 32, HEADS = 3, KV = 1, POSITIONS = 9;
int failures = 0;

void need(bool good, const char *what) {
    if (!good) {
        std::fprintf(stderr, "FAIL: %s\n", what);
        failures++;
    }
}
#define NEED(condition) need(condition, #condition)

class Stream : public atb::Context {
  public:
    aclrtStream GetExecuteStream() const override { return nullptr; }
};

atb::TensorDesc desc(int64_t rows, int64_t columns) {
    atb::TensorDesc d;
    d.dtype = ACL_FLOAT;
    d.format = ACL_FORMAT_ND;
    d.shape.dimNum = 2;
    d.shape.dims[0] = rows;
    d.shape.dims[1] = columns;
    return d;
}

/* Device memory of every tensor; the host reads and writes it, as the stand-in allows. */
struct Memory {
    explicit Memory(const atb::VariantPack &pack) {
        for (std::size_t i = 0; i < 6; i++) {
            const atb::Dims &s = at(pack, i).desc.shape;
            const std::size_t count = static_cast<std::size_t>(s.dims[0] * s.dims[1]);
            void *p = nullptr;
            if (aclrtMalloc(&p, count * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) {
                std::exit(1);
            }
            data[i] = static_cast<float *>(p);
            for (std::size_t k = 0; k < count; k++) {
                data[i][k] = std::sin(static_cast<float>(k * 5 + i * 11));
            }
        }
    }
    ~Memory() {
        for (float *p : data) {
            aclrtFree(p);
        }
    }
    static const atb::Tensor &at(const atb::VariantPack &pack, std::size_t i) {
        return i < 4 ? pack.inTensors[i] : pack.outTensors[i - 4];
    }
    void give(atb::VariantPack &pack) const {
        for (std::size_t i = 0; i < 6; i++) {
            (i < 4 ? pack.inTensors[i] : pack.outTensors[i - 4]).deviceData = data[i];
        }
    }
    float *data[6];
};

bool right(const Memory &m, const std::vector<int32_t> &lengths, bool exact) {
    for (int which = 0; which < 2; which++) {
        const int heads = which ? KV : HEADS;
        int token = 0;
        for (int32_t length : lengths) {
            for (int p = 0; p < length; p++, token++) {
                for (int i = 0; i < heads * D; i++) {
                    const int j = i % D, half = D / 2, other = j < half ? j + half : j - half;
                    const float *x = m.data[which] + token * heads * D + i - j;
                    const double c = m.data[2][p * D + j], s = m.data[3][p * D + other];
                    const double sign = j < half ? 1 : -1;
                    const double y = x[j] * c + sign * (exact ? x[other] : x[j]) * s;
                    if (std::fabs(m.data[4 + which][token * heads * D + i] - y) > 1e-5) {
                        return false;
                    }
                }
            }
        }
    }
    return true;
}

void run(const std::vector<int32_t> &lengths, bool exact) {
    ascgrad::RopeGradParam param;
    param.qSeqLen = lengths;
    param.exactGrad = exact;
    ascgrad::RopeGradOperation operation(param);
    atb::SVector<atb::TensorDesc> in, out;
    int64_t tokens = 0;
    for (int32_t length : lengths) {
        tokens += length;
    }
    in.resize(4);
    in[0] = desc(tokens, HEADS * D);
    in[1] = desc(tokens, KV * D);
    in[2] = in[3] = desc(POSITIONS, D);
    NEED(operation.InferShape(in, out) == atb::NO_ERROR && out.size() == 2);
    atb::VariantPack pack;
    pack.inTensors.resize(4);
    pack.outTensors.resize(2);
    for (std::size_t i = 0; i < 4; i++) {
        pack.inTensors[i].desc = in[i];
    }
    for (std::size_t i = 0; i < 2; i++) {
        pack.outTensors[i].desc = out[i];
    }
    Stream context;
    uint64_t size = 0;
    NEED(operation.Execute(pack, nullptr, 0, &context) != atb::NO_ERROR); /* not set up */
    for (int again = 0; again < 2; again++) {
        NEED(operation.Setup(pack, size, &context) == atb::NO_ERROR);
        std::vector<uint8_t> workspace(size);
        for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
            Memory memory(pack);
            atb::VariantPack now = pack;
            memory.give(now);
            NEED(operation.Execute(now, workspace.data(), size, &context) == atb::NO_ERROR);
            NEED(right(memory, lengths, exact));
        }
        NEED(operation.Execute(pack, workspace.data(), size - 1, &context) ==
             atb::ERROR_INVALID_WORKSPACE_SIZE);
    }
    NEED(operation.Setup(pack, size, nullptr) == atb::ERROR_INVALID_CONTEXT_ADDR);
    pack.inTensors[2].desc = desc(POSITIONS, D + 1);
    NEED(operation.Setup(pack, size, &context) == atb::ERROR_CANN_ERROR); /* tiling refuses */
    in.resize(3);
    NEED(operation.InferShape(in, out) == atb::ERROR_INVALID_IN_TENSOR_NUM);
}

} // namespace

int main() {
    if (aclInit(nullptr) != ACL_SUCCESS) {
        return 1;
    }
    run({7, 4}, true);
    run({7, 4}, false);
    run({9, 0, 1, 5, 2}, true);
    aclFinalize();
    std::printf(failures ? "%d failures\n" : "RopeGrad is a good operation of ATB\n", failures);
    return failures != 0;
}
