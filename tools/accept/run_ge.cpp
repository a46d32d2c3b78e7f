/* SPDX-License-Identifier: Apache-2.0
 *
 * accept_ge DEVICE: runs single operators in GE graphs for `ascgrad accept`. Requests come on
 * standard input, answers go to standard output (wire.h). build_ge.sh compiles this against the
 * toolkit of the machine.
 */
#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "ascgrad_ops.h"
#include "ge_session.h"
#include "graph/graph.h"
#include "graph/operator_factory.h"
#include "wire.h"

namespace {

struct Call {
    wire_request request;
    std::vector<Bytes> inputs; /* of the inputs that are there */
    std::vector<const wire_tensor *> present;
    std::vector<Bytes> lists; /* by attribute */
};

std::vector<int64_t> dims_of(const wire_tensor &tensor, bool unknown) {
    std::vector<int64_t> dims(tensor.dim, tensor.dim + tensor.rank);
    if (unknown) dims.assign(dims.size(), -1);
    return dims;
}

template <typename T> std::vector<T> list_of(const Bytes &bytes) {
    std::vector<T> list(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(list.data(), bytes.data(), bytes.size());
    return list;
}

void set_attr(ge::Operator &node, const wire_attr &attr, const Bytes &list) {
    if (attr.kind == 'i') node.SetAttr(attr.name, attr.value);
    if (attr.kind == 'b') node.SetAttr(attr.name, attr.value != 0);
    if (attr.kind == 'f') node.SetAttr(attr.name, attr.real);
    if (attr.kind == 'l') node.SetAttr(attr.name, list_of<int64_t>(list));
    if (attr.kind == 'r') node.SetAttr(attr.name, list_of<float>(list));
}

/* A Data node per input, the operator, and all its outputs. */
ge::Graph build(const Call &call, bool unknown) {
    const wire_request &r = call.request;
    ge::Operator node = ge::OperatorFactory::CreateOperator("node", r.type);
    std::vector<ge::Operator> data;
    for (const wire_tensor *tensor : call.present) {
        const ge::TensorDesc desc(ge::Shape(dims_of(*tensor, unknown)), ge::FORMAT_ND,
                                  static_cast<ge::DataType>(tensor->dtype));
        ge::Operator source = ge::OperatorFactory::CreateOperator(tensor->name, "Data");
        source.SetAttr("index", static_cast<int64_t>(data.size()));
        source.UpdateInputDesc("x", desc);
        source.UpdateOutputDesc("y", desc);
        node.SetInput(tensor->name, source);
        data.push_back(source);
    }
    for (uint32_t i = 0; i < r.used; i++) /* CANN's own operator may have no more */
        set_attr(node, r.attr[i], call.lists[i]);
    std::vector<size_t> all;
    for (size_t i = 0; i < r.outputs; i++)
        all.push_back(i);
    ge::Graph graph("accept");
    graph.SetInputs(data).SetOutputs({{node, all}});
    return graph;
}

/* A graph in a session, ready to be run as often as one likes. */
class Runner {
  public:
    Runner(Call &call, uint32_t cores, bool unknown) : call_(call), session_(options(cores)) {
        ready_ = session_.AddGraph(0, build(call, unknown)) == ge::SUCCESS;
    }

    bool run(Bytes &outputs) {
        std::vector<SessionTensor> in, out;
        for (size_t i = 0; i < call_.present.size(); i++)
            in.push_back(tensor_of(dims_of(*call_.present[i], false),
                                   static_cast<ge::DataType>(call_.present[i]->dtype),
                                   call_.inputs[i]));
        if (!ready_ || session_.RunGraph(0, in, out) != ge::SUCCESS) return false;
        const wire_request &r = call_.request;
        if (out.size() != r.outputs) return false;
        for (size_t i = 0; i < out.size(); i++) {
            const Bytes bytes = bytes_of(out[i]);
            const size_t want = r.tensor[r.inputs + i].bytes;
            if (bytes.size() < want) return false;
            outputs.insert(outputs.end(), bytes.begin(), bytes.begin() + static_cast<long>(want));
        }
        return true;
    }

  private:
    /* "cube cores|vector cores" */
    static Options options(uint32_t cores) {
        if (cores == 0) return {};
        const std::string both = std::to_string((cores + 1) / 2) + "|" + std::to_string(cores);
        return {{"ge.aicoreNum", both.c_str()}};
    }

    Call &call_;
    Session session_;
    bool ready_;
};

void fail(wire_answer &answer, const char *what) {
    const ge::AscendString reason = why();
    const char *text = reason.GetString() ? reason.GetString() : "";
    answer.status = WIRE_FAILED;
    std::snprintf(answer.text, sizeof answer.text, "%s: %.*s", what,
                  static_cast<int>(std::strcspn(text, "\n")), *text ? text : "no reason given");
}

/* The time of a whole RunGraph on the host: GE copies inputs and outputs, too. */
bool take_times(Runner &runner, uint32_t count, wire_answer &answer) {
    for (uint32_t i = 0; i < count; i++) {
        Bytes outputs;
        const auto before = std::chrono::steady_clock::now();
        if (!runner.run(outputs)) return false;
        const std::chrono::duration<float, std::micro> took =
            std::chrono::steady_clock::now() - before;
        answer.us[answer.times++] = took.count();
    }
    answer.on_host = 1;
    return true;
}

void answer_call(Call &call, wire_answer &answer, std::vector<Bytes> &results) {
    const wire_request &r = call.request;
    Runner plain(call, 0, false);
    answer.status = WIRE_DONE;
    for (uint32_t i = 0; i < r.runs; i++) {
        const wire_run &run = r.run[i];
        if (run.in_place) continue; /* GE gives every tensor memory of its own */
        const bool all = run.cores == 0 && !run.dynamic;
        std::unique_ptr<Runner> other;
        if (!all) other = std::make_unique<Runner>(call, run.cores, run.dynamic != 0);
        const bool good = (all ? plain : *other).run(results[i]);
        if (!good && run.cores == 0) { /* not every GE lets one choose the cores */
            fail(answer, run.dynamic ? "the graph with unknown dimensions does not run"
                                     : "the graph does not run");
            answer.broken = 1;
            return;
        }
        if (good) answer.done |= 1u << i;
    }
    if (!take_times(plain, r.times, answer)) fail(answer, "the graph does not run again");
}

bool serve(int out, Call &call) {
    const wire_request &r = call.request;
    if (r.inputs + r.outputs > WIRE_TENSORS || r.attrs > WIRE_ATTRS || r.runs > WIRE_RUNS ||
        r.times > WIRE_TIMES)
        return false;
    call.lists.resize(r.attrs);
    for (uint32_t i = 0; i < r.inputs; i++) {
        if (r.tensor[i].rank < 0) continue;
        Bytes bytes(r.tensor[i].bytes);
        if (!wire_read(STDIN_FILENO, bytes.data(), bytes.size())) return false;
        call.present.push_back(&r.tensor[i]);
        call.inputs.push_back(bytes);
    }
    for (uint32_t i = 0; i < r.attrs; i++) {
        if (r.attr[i].kind != 'l' && r.attr[i].kind != 'r') continue;
        call.lists[i].resize(r.attr[i].bytes);
        if (!wire_read(STDIN_FILENO, call.lists[i].data(), r.attr[i].bytes)) return false;
    }
    wire_answer answer = {};
    answer.magic = WIRE_MAGIC;
    std::vector<Bytes> results(r.runs);
    answer_call(call, answer, results);
    bool good = wire_write(out, &answer, sizeof answer);
    for (uint32_t i = 0; good && answer.status == WIRE_DONE && i < r.runs; i++)
        if (answer.done >> i & 1) good = wire_write(out, results[i].data(), results[i].size());
    return good;
}

/* The chip's name, which GE does not tell. */
std::string chip() {
    void *library = dlopen("libascendcl.so", RTLD_LAZY);
    if (!library) library = dlopen("libacl_rt.so", RTLD_LAZY);
    void *symbol = library ? dlsym(library, "aclrtGetSocName") : nullptr;
    const char *name = symbol ? reinterpret_cast<const char *(*)()>(symbol)() : nullptr;
    return name ? name : "";
}

bool hello(int out, bool up) {
    wire_answer answer = {};
    answer.magic = WIRE_MAGIC;
    answer.status = WIRE_DONE;
    std::snprintf(answer.text, sizeof answer.text, "soc=%s\ncores=varied\nl2=warm\n",
                  chip().c_str());
    if (!up) fail(answer, "GE does not start");
    return wire_write(out, &answer, sizeof answer) && up;
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: accept_ge DEVICE, as `ascgrad accept` does\n");
        return 2;
    }
    /* What the libraries print is no part of an answer. */
    const int out = dup(STDOUT_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    const bool up = start({{"ge.exec.deviceId", argv[1]},
                           {"ge.graphRunMode", "1"},
                           {"ge.exec.precision_mode", "must_keep_origin_dtype"}}) == ge::SUCCESS;
    for (bool good = true; good;) {
        Call call = {};
        if (!wire_read(STDIN_FILENO, &call.request, sizeof call.request) ||
            call.request.magic != WIRE_MAGIC)
            break;
        good = call.request.kind == WIRE_CALL && up ? serve(out, call) : hello(out, up);
    }
    if (up) stop();
    return 0;
}
