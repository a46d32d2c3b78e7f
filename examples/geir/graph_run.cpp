/* SPDX-License-Identifier: Apache-2.0
 *
 * GraphRun: see graph_run.h.
 */
#include "graph_run.h"

#include <cmath>
#include <cstdio>
#include <cstring>

#include "ge_session.h"
#include "graph/operator_factory.h"

namespace {

void complain(const char *name, const char *what) {
    const ge::AscendString reason = why();
    std::fprintf(stderr, "%s: %s: %s\n", name, what,
                 reason.GetString() ? reason.GetString() : "no reason given");
}

/* float to the 16 bits of fp16 or bf16: the top bits of a number with its exponent re-biased. The
 * example numbers are small integers, so nothing is rounded and there is no underflow to care for.
 */
uint16_t narrow(float value, ge::DataType type) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    if (type == ge::DT_BF16) return static_cast<uint16_t>(bits >> 16);
    if (value == 0) return 0;
    return static_cast<uint16_t>(((bits >> 16) & 0x8000) |
                                 (((bits & 0x7FFFFFFF) >> 13) - (112u << 10)));
}

float widen(uint16_t half, ge::DataType type) {
    uint32_t bits = static_cast<uint32_t>(half) << 16;
    if (type == ge::DT_FLOAT16) {
        const uint32_t size = half & 0x7FFF;
        bits = (half & 0x8000u) << 16 | (size ? (size << 13) + (112u << 23) : 0);
    }
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

Bytes encode(const std::vector<float> &values, ge::DataType type) {
    const size_t each = type == ge::DT_FLOAT ? 4 : 2;
    Bytes bytes(values.size() * each);
    for (size_t i = 0; i < values.size(); i++) {
        const uint16_t half = narrow(values[i], type);
        std::memcpy(bytes.data() + i * each,
                    type == ge::DT_FLOAT ? static_cast<const void *>(&values[i]) : &half, each);
    }
    return bytes;
}

float decode(const Bytes &bytes, size_t index, ge::DataType type) {
    float value;
    uint16_t half;
    if (type == ge::DT_FLOAT) {
        std::memcpy(&value, bytes.data() + index * 4, 4);
        return value;
    }
    std::memcpy(&half, bytes.data() + index * 2, 2);
    return widen(half, type);
}

} // namespace

std::vector<float> counting(size_t count, float first, float step) {
    std::vector<float> values(count);
    for (size_t i = 0; i < count; i++)
        values[i] = first + step * static_cast<float>(i);
    return values;
}

GraphRun::GraphRun(const char *name, int argc, char **argv) : name_(name) {
    const char *type = argc > 1 ? argv[1] : "fp32";
    if (std::strcmp(type, "fp32") == 0) {
        type_ = ge::DT_FLOAT;
    } else if (std::strcmp(type, "fp16") == 0) {
        type_ = ge::DT_FLOAT16;
    } else if (std::strcmp(type, "bf16") == 0) {
        type_ = ge::DT_BF16;
    } else {
        std::fprintf(stderr, "%s: '%s' is none of fp32, fp16, bf16\n", name, type);
        return;
    }
    /* graphRunMode 1 is training; precision as the graph says, not reduced */
    const Options options = {{"ge.exec.deviceId", "0"},
                             {"ge.graphRunMode", "1"},
                             {"ge.exec.precision_mode", "must_keep_origin_dtype"}};
    ready_ = start(options) == ge::SUCCESS;
    if (!ready_) complain(name, "GE does not start");
}

GraphRun::~GraphRun() {
    if (ready_ && stop() != ge::SUCCESS) complain(name_, "GE does not stop");
}

ge::Operator GraphRun::add_input(const char *name, const Array &array, ge::DataType type) {
    if (!ready_) return ge::Operator();
    const ge::TensorDesc desc(ge::Shape(array.shape), ge::FORMAT_ND, type);
    ge::Operator data = ge::OperatorFactory::CreateOperator(name, "Data");
    data.SetAttr("index", static_cast<int64_t>(data_.size()));
    data.UpdateInputDesc("x", desc);
    data.UpdateOutputDesc("y", desc);
    inputs_.push_back({array, type});
    data_.push_back(data);
    return data;
}

ge::Operator GraphRun::input(const char *name, const Array &array) {
    return add_input(name, array, type_);
}

ge::Operator GraphRun::input_fp32(const char *name, const Array &array) {
    return add_input(name, array, ge::DT_FLOAT);
}

void GraphRun::expect(const ge::Operator &node, size_t index, const char *name,
                      const Array &array) {
    nodes_.push_back({node, {index}});
    outputs_.push_back({name, array});
}

bool GraphRun::execute(std::vector<Bytes> &results) {
    ge::Graph graph(name_);
    graph.SetInputs(data_).SetOutputs(nodes_);

    std::vector<Bytes> storage;
    std::vector<SessionTensor> in, out;
    for (const Input &input : inputs_)
        storage.push_back(encode(input.array.values, input.type));
    for (size_t i = 0; i < inputs_.size(); i++)
        in.push_back(tensor_of(inputs_[i].array.shape, inputs_[i].type, storage[i]));

    Session session{Options{}};
    if (session.AddGraph(0, graph) != ge::SUCCESS) {
        complain(name_, "the graph is not accepted");
        return false;
    }
    if (session.RunGraph(0, in, out) != ge::SUCCESS) {
        complain(name_, "the graph does not run");
        return false;
    }
    for (const SessionTensor &tensor : out)
        results.push_back(bytes_of(tensor));
    return true;
}

size_t GraphRun::compare(const Output &wanted, const Bytes &result) const {
    const std::vector<float> &numbers = wanted.array.values;
    const size_t each = type_ == ge::DT_FLOAT ? 4 : 2;
    if (result.size() != numbers.size() * each) {
        std::fprintf(stderr, "%s: %s has %zu bytes, expected %zu\n", name_, wanted.name,
                     result.size(), numbers.size() * each);
        return 1;
    }
    size_t wrong = 0;
    for (size_t i = 0; i < numbers.size(); i++) {
        const float got = decode(result, i, type_);
        if (got == numbers[i]) continue;
        if (wrong++ == 0)
            std::fprintf(stderr, "%s: %s[%zu] is %g, expected %g\n", name_, wanted.name, i, got,
                         numbers[i]);
    }
    return wrong;
}

int GraphRun::finish() {
    std::vector<Bytes> results;
    if (!ready_ || !execute(results)) return 1;
    if (results.size() != outputs_.size()) {
        std::fprintf(stderr, "%s: %zu outputs, expected %zu\n", name_, results.size(),
                     outputs_.size());
        return 1;
    }
    size_t wrong = 0, all = 0;
    for (size_t i = 0; i < results.size(); i++) {
        wrong += compare(outputs_[i], results[i]);
        all += outputs_[i].array.values.size();
    }
    std::printf("%s: %zu of %zu numbers as expected\n", name_, all - wrong, all);
    return wrong != 0;
}
