/* SPDX-License-Identifier: Apache-2.0
 *
 * A stand-in for libregister.so and what it pulls in, to link and load our libraries on machines
 * without CANN. It has the name (SONAME) and the symbols our libraries ask for, and is never
 * installed. The constructors do what GE's do in spirit: creating an operator runs its REG_OP
 * chain, registrations are counted, and of each type the first one's IR is kept.
 */
#include <map>

#include "graph/operator_factory.h"
#include "graph/operator_reg.h"

#define EXPORT __attribute__((visibility("default")))

static int registered;
static std::string ir; /* of the operator that is being created */

static std::map<std::string, std::string> &factory() {
    static std::map<std::string, std::string> all;
    return all;
}

/* The kernel compiler calls this on the handle of our tiling library. */
extern "C" EXPORT int TbeLoadSoAndSaveToRegistry(const char *path) {
    return path ? 1 : 0;
}

extern "C" EXPORT int stub_registered_operators(void) {
    return registered;
}

/* What "GE" knows of a type: "input x TensorType({DT_FLOAT}); attr mode"; NULL if nothing. */
extern "C" EXPORT const char *stub_ir(const char *type) {
    const auto found = factory().find(type);
    return found == factory().end() ? nullptr : found->second.c_str();
}

static void declare(const char *kind, const char *name, const char *types) {
    ir += std::string(ir.empty() ? "" : "; ") + kind + " " + name;
    ir += types[0] ? std::string(" ") + types : "";
}

namespace ge {

bool OperatorFactory::IsExistOp(const char *type) {
    return factory().count(type) > 0;
}

AscendString::AscendString(const char *name) : name_(std::make_shared<std::string>(name)) {}
Operator::Operator(const AscendString &, const AscendString &) {}
void Operator::InputRegister(const char *name, const char *types) {
    declare("input", name, types);
}
void Operator::OptionalInputRegister(const char *name, const char *types) {
    declare("optional", name, types);
}
void Operator::OutputRegister(const char *name, const char *types) {
    declare("output", name, types);
}
void Operator::RequiredAttrWithTypeRegister(const char *name, const char *) {
    declare("attr", name, "");
}
void Operator::AttrRegister(const char *name, int64_t) {
    declare("attr", name, "");
}
void Operator::AttrRegister(const char *name, float) {
    declare("attr", name, "");
}
void Operator::AttrRegister(const char *name, bool) {
    declare("attr", name, "");
}
void Operator::AttrRegister(const char *name, const std::vector<int64_t> &) {
    declare("attr", name, "");
}
void Operator::AttrRegister(const char *name, const std::vector<float> &) {
    declare("attr", name, "");
}

OperatorCreatorRegister::OperatorCreatorRegister(
    const char *type, const std::function<Operator(const AscendString &)> &create) {
    ir.clear();
    create(AscendString(type));
    registered++;
    factory().emplace(type, ir);
}

} // namespace ge
