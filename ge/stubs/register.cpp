/* SPDX-License-Identifier: Apache-2.0
 *
 * A stand-in for libregister.so and what it pulls in, to link and load our libraries on machines
 * without CANN. It has the name (SONAME) and the symbols our libraries ask for, and is never
 * installed. The constructors do what GE's do in spirit: creating an operator runs its REG_OP
 * chain, and types are counted for the load test.
 */
#include "graph/operator_reg.h"

#define EXPORT __attribute__((visibility("default")))

static int registered;

/* The kernel compiler calls this on the handle of our tiling library. */
extern "C" EXPORT int TbeLoadSoAndSaveToRegistry(const char *path) {
    return path ? 1 : 0;
}

extern "C" EXPORT int stub_registered_operators(void) {
    return registered;
}

namespace ge {

AscendString::AscendString(const char *name) : name_(std::make_shared<std::string>(name)) {}
Operator::Operator(const AscendString &, const AscendString &) {}
void Operator::InputRegister(const char *, const char *) {}
void Operator::OptionalInputRegister(const char *, const char *) {}
void Operator::OutputRegister(const char *, const char *) {}
void Operator::RequiredAttrWithTypeRegister(const char *, const char *) {}
void Operator::AttrRegister(const char *, int64_t) {}
void Operator::AttrRegister(const char *, float) {}
void Operator::AttrRegister(const char *, bool) {}
void Operator::AttrRegister(const char *, const std::vector<int64_t> &) {}
void Operator::AttrRegister(const char *, const std::vector<float> &) {}

OperatorCreatorRegister::OperatorCreatorRegister(
    const char *type, const std::function<Operator(const AscendString &)> &create) {
    create(AscendString(type));
    registered++;
}

} // namespace ge
