/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in's sessions: every node of a graph runs on the checked twin of libascgrad, its
 * sources first.
 */
#include <ascgrad.h>

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "ge/ge_api.h"
#include "ge/ge_api_v2.h"
#include "graph.h"

namespace {

using ge::NodeImpl;
using ge::Tensor;

bool running;
int sessions;
std::string reason;

/* A leak is a failed run: the example programs promise to clean up on every path. */
struct AtExit {
    ~AtExit() {
        if (standin_is_clean()) return;
        std::fprintf(stderr, "stand-in: GE is still up, %d session(s) left\n", sessions);
        std::_Exit(99);
    }
} at_exit;

ascgrad_tensor describe(const Tensor &tensor) {
    ascgrad_tensor out = {};
    const std::vector<int64_t> dims = tensor.GetTensorDesc().GetShape().GetDims();
    out.dtype = tensor.GetTensorDesc().GetDataType();
    out.rank = static_cast<int32_t>(dims.size());
    for (size_t i = 0; i < dims.size(); i++)
        out.dim[i] = dims[i];
    out.data = tensor.GetSize() ? const_cast<uint8_t *>(tensor.GetData()) : nullptr;
    return out;
}

/* ASCGRAD_STANDIN_FAULT=KIND:TYPE:BYTES, as in the stand-in of aclnn. */
bool fault(const char *kind, const char *type, const Tensor &first) {
    const char *planted = std::getenv("ASCGRAD_STANDIN_FAULT");
    const std::string wanted =
        std::string("ge-") + kind + ":" + type + ":" + std::to_string(first.GetSize());
    return planted && wanted == planted;
}

void spoil(const char *type, const Tensor &first, std::vector<uint8_t> &output) {
    if (fault("hang", type, first)) pause();
    if (fault("crash", type, first)) std::raise(SIGSEGV);
    if (fault("bit", type, first)) output.at(0) ^= 1;
}

struct Evaluation {
    const std::vector<Tensor> &inputs;
    uint32_t cores;
    std::map<NodeImpl *, std::vector<Tensor>> done;

    bool evaluate(NodeImpl &node);
    bool run(NodeImpl &node, const ascgrad_op_info &ir);
};

bool Evaluation::run(NodeImpl &node, const ascgrad_op_info &ir) {
    std::vector<ascgrad_tensor> in(ir.inputs), out(ir.outputs);
    std::vector<ascgrad_setting> settings(ir.attrs);
    for (uint32_t i = 0; i < ir.inputs; i++) {
        in[i].rank = -1;
        const NodeImpl::Input *input = node.input(ir.in[i].name);
        if (!input || !input->from) continue;
        if (!evaluate(*input->from)) return false;
        in[i] = describe(done[input->from.get()].at(static_cast<size_t>(input->port)));
    }
    for (uint32_t i = 0; i < ir.attrs; i++) {
        auto found = node.attributes.find(ir.attr[i].name);
        if (found == node.attributes.end()) continue;
        const ge::Attribute &given = found->second;
        settings[i].set = true;
        if (given.kind == ge::Attribute::Real) {
            settings[i].real = given.reals.at(0);
        } else if (given.kind == ge::Attribute::Reals) {
            settings[i].reals = given.reals.data();
            settings[i].count = given.reals.size();
        } else if (given.kind == ge::Attribute::List) {
            settings[i].list = given.ints.data();
            settings[i].count = given.ints.size();
        } else {
            settings[i].value = given.ints.at(0);
        }
    }
    ascgrad_call call = {};
    call.size = sizeof call;
    call.op = ir.type;
    call.in = in.data(), call.inputs = ir.inputs;
    call.out = out.data(), call.outputs = ir.outputs;
    call.attr = settings.data(), call.attrs = ir.attrs;
    call.cores = cores;

    char why[ASCGRAD_WHY];
    std::vector<std::vector<uint8_t>> bytes(ir.outputs);
    int code = ascgrad_infer(&call, why);
    for (uint32_t i = 0; code == ASCGRAD_OK && i < ir.outputs; i++) {
        size_t size = out[i].dtype == ASCGRAD_TYPE_FP32 ? 4 : 2;
        for (int32_t k = 0; k < out[i].rank; k++)
            size *= static_cast<size_t>(out[i].dim[k]);
        bytes[i].assign(size, 0xEE);
        out[i].data = size ? bytes[i].data() : nullptr;
    }
    if (code == ASCGRAD_OK) code = ascgrad_run(&call, nullptr, why);
    if (code != ASCGRAD_OK) {
        reason = why;
        return false;
    }
    if (!inputs.empty() && !bytes.empty()) spoil(ir.type, inputs[0], bytes[0]);
    std::vector<Tensor> &results = done[&node];
    for (uint32_t i = 0; i < ir.outputs; i++) {
        const ge::Shape shape(std::vector<int64_t>(out[i].dim, out[i].dim + out[i].rank));
        const ge::TensorDesc desc(shape, ge::FORMAT_ND, static_cast<ge::DataType>(out[i].dtype));
        results.emplace_back(desc, bytes[i].data(), bytes[i].size());
    }
    return true;
}

bool Evaluation::evaluate(NodeImpl &node) {
    if (done.count(&node)) return true;
    if (node.type == "Data") {
        const size_t index = static_cast<size_t>(node.attributes["index"].ints.at(0));
        if (index < inputs.size())
            done[&node] = {inputs[index]};
        else
            reason = "there is no input for " + node.name;
        return index < inputs.size();
    }
    ascgrad_op_info ir;
    for (uint32_t i = 0; ascgrad_describe(i, &ir); i++) {
        if (node.type == ir.type) return run(node, ir);
    }
    reason = "there is no operator " + node.type;
    return false;
}

} // namespace

bool standin_is_clean() {
    return !running && sessions == 0;
}

namespace ge {

Status GEInitialize(const std::map<AscendString, AscendString> &) {
    if (std::getenv("STANDIN_NO_DEVICE")) {
        reason = "there is no device";
        return FAILED;
    }
    running = true;
    return SUCCESS;
}
Status GEFinalize() {
    running = false;
    return SUCCESS;
}
AscendString GEGetErrorMsgV2() {
    return AscendString(reason.c_str());
}
Status GEInitializeV2(const std::map<AscendString, AscendString> &options) {
    return GEInitialize(options);
}
Status GEFinalizeV2() {
    return GEFinalize();
}
AscendString GEGetErrorMsgV3() {
    return GEGetErrorMsgV2();
}

/* "cube cores|vector cores" */
Session::Session(const std::map<AscendString, AscendString> &options) {
    const auto found = options.find("ge.aicoreNum");
    const char *bar =
        found == options.end() ? nullptr : std::strchr(found->second.GetString(), '|');
    cores_ = bar ? static_cast<uint32_t>(std::strtoul(bar + 1, nullptr, 10)) : 0;
    sessions++;
}
Session::~Session() {
    sessions--;
}

Status Session::AddGraph(uint32_t id, const Graph &graph) {
    graphs_.emplace(id, graph);
    return running ? SUCCESS : FAILED;
}

/* What was run three times with the same inputs is known, as where times are taken. */
Status Session::RunGraph(uint32_t id, const std::vector<Tensor> &inputs,
                         std::vector<Tensor> &outputs) {
    auto graph = graphs_.find(id);
    if (graph == graphs_.end()) return FAILED;
    std::string all;
    for (const Tensor &tensor : inputs) {
        for (int64_t n : tensor.GetTensorDesc().GetShape().GetDims())
            all += std::to_string(n) + ",";
        all.append(reinterpret_cast<const char *>(tensor.GetData()), tensor.GetSize());
    }
    const bool same = last_.id == id && last_.inputs == all;
    if (same && last_.times == 3) {
        outputs = last_.outputs;
        return SUCCESS;
    }
    const uint32_t times = same ? last_.times + 1 : 1;
    last_ = {id, 0, all, {}};
    Evaluation evaluation = {inputs, cores_, {}};
    for (const auto &output : GraphImpl::of(graph->second)->outputs) {
        if (!evaluation.evaluate(*output.first)) return FAILED;
        outputs.push_back(evaluation.done[output.first.get()].at(output.second));
    }
    last_.times = times;
    last_.outputs = outputs;
    return SUCCESS;
}

Status GeSession::RunGraph(uint32_t id, const std::vector<gert::Tensor> &inputs,
                           std::vector<gert::Tensor> &outputs) {
    std::vector<Tensor> in, out;
    for (const gert::Tensor &tensor : inputs) {
        const TensorDesc desc(Shape(tensor.GetShape().GetStorageShape().dims), FORMAT_ND,
                              tensor.GetDataType());
        in.emplace_back(desc, static_cast<const uint8_t *>(tensor.GetAddr()), tensor.GetSize());
    }
    const Status status = session_.RunGraph(id, in, out);
    for (const Tensor &tensor : out) {
        gert::StorageShape shape;
        for (int64_t n : tensor.GetTensorDesc().GetShape().GetDims()) {
            shape.MutableStorageShape().AppendDim(n);
        }
        const gert::StorageFormat format(FORMAT_ND, FORMAT_ND, {});
        outputs.emplace_back(shape, format, gert::kOnHost, tensor.GetTensorDesc().GetDataType(),
                             nullptr);
        outputs.back().Own(
            std::vector<uint8_t>(tensor.GetData(), tensor.GetData() + tensor.GetSize()));
    }
    return status;
}

} // namespace ge
