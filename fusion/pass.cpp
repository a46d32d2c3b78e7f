/* SPDX-License-Identifier: Apache-2.0
 *
 * The custom pass that GE loads from custom_fusion_passes/ and runs on every graph once shapes are
 * known. It never fails: GE stops a compilation, or does not even start, if a pass does.
 */
#include "register/register_custom_pass.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "../core/verbose.h"
#include "adapter.h"
#include "graph/operator_factory.h"
#include "own.h"

/* How the chip can be asked for: the context of the pass since 9.0, GE's options before, and the
 * runtime. Whatever of them there is. */
extern "C" {
extern uint32_t pass_option(
    const ge::CustomPassContext *self, const ge::AscendString &key,
    ge::AscendString
        &value) __asm__("_ZNK2ge17CustomPassContext14GetOptionValueERKNS_12AscendStringERS1_")
    __attribute__((weak));
extern void *thread_options(void) __asm__("_ZN2ge21GetThreadLocalContextEv") __attribute__((weak));
extern uint32_t thread_option(void *self, const std::string &key, std::string &value) __asm__(
    "_ZN2ge20GEThreadLocalContext9GetOptionERKSsRSs") __attribute__((weak));
extern const char *aclrtGetSocName(void) __attribute__((weak));
bool fusion_ge_is_complete(void);
}

namespace {

std::string chip(const ge::CustomPassContext &context) {
    ge::AscendString text;
    std::string value;
    if (pass_option && pass_option(&context, "ge.socVersion", text) == ge::GRAPH_SUCCESS &&
        text.GetString() && *text.GetString())
        return text.GetString();
    if (thread_options && thread_option &&
        thread_option(thread_options(), "ge.socVersion", value) == ge::GRAPH_SUCCESS &&
        !value.empty())
        return value;
    const char *name = aclrtGetSocName ? aclrtGetSocName() : nullptr;
    return name ? name : "";
}

void explain(void *, const char *sentence) {
    fusion_explain(sentence);
}

void report(const fusion::View &view, const fusion_match &match, bool done) {
    const fusion_graph *graph = view.graph.get();
    char sentence[512];
    std::snprintf(sentence, sizeof sentence,
                  done ? "'%.160s' is one RotaryPositionEmbeddingGrad now, mode %d, dy from "
                         "'%.160s'%s"
                       : "'%.160s' is rope's backward in mode %d of '%.160s', but GE would not "
                         "have it changed%s",
                  graph->node[graph->tensor[match.dx].node].name, match.mode,
                  graph->node[graph->tensor[match.dy].node].name,
                  done && match.x != FUSION_ABSENT ? ", with gradients of its tables" : "");
    fusion_report(sentence);
}

/* How many matches became operators. */
int32_t run_once(ge::Graph &graph) {
    fusion::View view;
    fusion_found found;
    ascgrad_error error;
    const fusion_listener listener = {explain, nullptr};
    if (!fusion::read_graph(graph, view)) return 0;
    if (fusion_find(view.graph.get(), &found, ascgrad_verbose() ? &listener : nullptr, &error) !=
        ASCGRAD_DONE) {
        fusion_explain(error.text);
        return 0;
    }
    std::unique_ptr<fusion_match, void (*)(void *)> matches(found.match, std::free);
    std::vector<bool> done;
    for (int32_t i = 0; i < found.count; i++)
        done.push_back(fusion::rewrite(graph, view, found.match[i]));
    int32_t count = 0;
    for (int32_t i = 0; i < found.count; i++) {
        report(view, found.match[i], done[i]);
        if (done[i]) fusion::remove_dead(graph, view, found.match[i]);
        count += done[i];
    }
    return count;
}

/* A rope inside another that has a reader of its own shows only once the outer one is replaced. */
void run_on(ge::Graph &graph) {
    int32_t turns = 0;
    while (run_once(graph) > 0 && ++turns < 16) {
    }
}

/* Nodes of a subgraph can only be changed through the subgraph. Any node of the root knows all of
 * them; GE writes an error if it is asked and there are none. */
void run_on_all(ge::Graph &root) {
    std::vector<ge::GNode> direct = root.GetDirectNode();
    std::vector<ge::GraphPtr> inner;
    if (!direct.empty() && root.GetAllNodes().size() > direct.size())
        (void)direct[0].GetALLSubgraphs(inner);
    run_on(root);
    for (const ge::GraphPtr &graph : inner)
        if (graph) run_on(*graph);
}

ge::Status run(ge::GraphPtr &graph, ge::CustomPassContext &context) {
    try {
        if (!graph || fusion_switched_off()) return ge::GRAPH_SUCCESS;
        std::string soc = chip(context);
        if (!ge::OperatorFactory::IsExistOp("RotaryPositionEmbeddingGrad")) {
            fusion_explain("left alone: this GE does not know RotaryPositionEmbeddingGrad");
        } else if (fusion_operator_is_ours(soc.c_str())) {
            run_on_all(*graph);
        } else {
            fusion_explain(("left alone: RotaryPositionEmbeddingGrad is not this package's on "
                            "chip '" +
                            soc + "'")
                               .c_str());
        }
    } catch (...) {
        fusion_explain("stopped by an exception");
    }
    return ge::GRAPH_SUCCESS;
}

/* Not a static object of GE's own macro: that would call GE before anyone can look whether it is
 * there. */
__attribute__((constructor)) void enlist() {
    if (!fusion_ge_is_complete()) {
        fusion_explain("this GE lacks functions that the pass needs; it is not used");
        return;
    }
    try {
        ge::PassRegistrationData data("AscgradRotaryGrad");
        data.CustomPassFn(run).Stage(ge::CustomPassStage::kAfterInferShape);
        ge::PassReceiver receiver(data);
    } catch (...) {
        fusion_explain("could not be registered");
    }
}

} // namespace
